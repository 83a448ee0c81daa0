"""Accuracy from a judge of every answer and the labels of people for some; arrays in, numbers out.

Prediction-powered inference (Angelopoulos, Duchi & Zrnic, "PPI++: Efficient Prediction-Powered Inference", 2023) in
the form that surveys call the difference estimator: the judge's mean over all answers, moved by what people and judge
disagree about on the labelled ones, each of which counts 1 / its probability of being drawn. It is not biased by the
judge's errors. Rows of one question are one cluster.

The interval is Wilson's with the effective sample size of the estimate, as surveys do for shares with
clusters and weights (Korn & Graubard 1998; Dean & Pagano 2015): it stays within 0 and 1 and holds near the ends.
`tests/test_coverage.py` measures how often it holds the truth.

Left out after a comparison: strata by the judge's probability (errors 5 to 9% larger with few labels, as large with
many), and the judge calibrated anew on the labels, cross-fitted in five parts (3 to 9% smaller in those worlds, whose
judge is badly calibrated; the same within 2% on EVOUNA with the bundled judge).
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

PAIRS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])  # each pair of human and judged verdict
# Weight of each pair that is added for the interval, as Agresti & Min (2005) do for matched pairs with 0.5; this holds
# the truth nearer to 95% of the times in tests/test_coverage.py and on EVOUNA (training/studies/accuracy).
PRIOR = 0.35
MIN_LABELS = 2


@dataclass(frozen=True)
class Estimate:
    """Accuracy of a system from labels and judge; arrays of (...) for a batch.

    Attributes:
        value: the estimate, within 0 and 1.
        low: lower limit of the interval.
        high: upper limit.
        error: standard error that the interval is made of.
        effective_sample_size: number of labels, drawn by chance, that give the same standard error without a judge.
        trust: weight of the judge's numbers: 0 ignores the judge, 1 takes its numbers as they are.
        residual: variance of one label around the judge's prediction, for `labels_needed`.
        spread: variance of one label.
        influence: (..., clusters) what every cluster moves the estimate by, for differences.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    error: np.ndarray
    effective_sample_size: np.ndarray
    trust: np.ndarray
    residual: np.ndarray
    spread: np.ndarray
    influence: np.ndarray


def prediction_powered(
    judged: np.ndarray,
    labels: np.ndarray,
    probabilities: np.ndarray,
    clusters: np.ndarray | None = None,
    finite: bool = False,
    confidence: float = 0.95,
    trusted: bool = True,
) -> Estimate:
    """Return the accuracy from the judge's numbers of all rows and people's labels of some.

    Args:
        judged: (..., rows) the judge's verdicts or probabilities, 0 to 1.
        labels: (..., rows) labels, 0 to 1: the mean where several people labelled a row; NaN where nobody did.
        probabilities: (..., rows) probability with which each row was drawn; read where there are labels.
        clusters: (rows,) whole numbers from 0, the same for rows of one question; None: each row is its own.
        finite: the truth is the share among these very rows, not among questions like them: a narrower interval.
        confidence: probability that the interval holds the truth.
        trusted: False leaves the judge out: labels alone.

    Returns:
        The estimate, with arrays of (...).

    Raises:
        ValueError: if there are fewer than two labelled rows.

    >>> judged, labels = np.tile([1.0, 1, 0, 0], 250), np.full(1000, np.nan)
    >>> labels[:80] = np.tile([1, 1, 0, 1], 20)
    >>> found = prediction_powered(judged, labels, np.full(1000, 0.08))
    >>> round(float(found.value), 2), round(float(found.low), 2), round(float(found.high), 2)
    (0.75, 0.66, 0.82)
    """
    from scipy.special import stdtrit  # half a second, which a judge without labels does not need

    judged, labels = np.asarray(judged, dtype=float), np.asarray(labels, dtype=float)
    known = ~np.isnan(labels)
    number = known.sum(axis=-1).astype(float)
    if number.min() < MIN_LABELS:
        raise ValueError(f"labels: expected at least {MIN_LABELS} labelled rows, got {int(number.min())}; label more")
    rows = judged.shape[-1]
    human = np.where(known, labels, 0.0)
    drawn = np.where(known, probabilities, 1.0)
    weights = known / drawn
    weights *= (number / weights.sum(axis=-1))[..., None]  # they sum to the number of labels
    trust = _trust(judged, human, weights, number, PRIOR) if trusted else np.zeros(number.shape)
    rest = human - trust[..., None] * judged
    rest_mean = (weights * rest).sum(axis=-1) / number
    judged_mean = judged.mean(axis=-1)
    value = trust * judged_mean + rest_mean

    # The interval is made with a part of a row of each pair of verdicts added: few labels show no error of the judge.
    total = number + PRIOR * len(PAIRS)
    added = PAIRS[:, 0] - trust[..., None] * PAIRS[:, 1]
    center_rest = (rest_mean * number + PRIOR * added.sum(axis=-1)) / total
    center = np.clip(trust * judged_mean + center_rest, 0.5 / total, 1 - 0.5 / total)
    own = weights * (rest - center_rest[..., None])
    share = 1 - number / rows
    influence = own / total[..., None]
    if finite:
        influence = influence * np.sqrt(1 - np.where(known, drawn, 0.0))
    else:
        influence = influence + trust[..., None] * (judged - judged_mean[..., None]) / rows
    influence = cluster_sums(influence, clusters)
    added_squares = PRIOR * ((added - center_rest[..., None]) ** 2).sum(axis=-1)
    # Where labels are drawn more often at unsure rows, half of what is added weighs as the rows that the judge is seen
    # to be wrong about; the other half as a row drawn by chance, for errors where it is sure are rarely seen.
    misses = np.maximum(weights * np.abs(rest - center_rest[..., None]), 1e-12)
    heavy = (1 + (weights * misses).sum(axis=-1) / misses.sum(axis=-1)) / 2
    added_variance = heavy * added_squares / total**2
    # Few questions with many rows: degrees of freedom are those of the questions.
    rows_kish, kish = (number**2 / (sums**2).sum(axis=-1) for sums in (weights, cluster_sums(weights, clusters)))
    freedom = np.maximum(kish - 1, 1)
    few = kish / freedom * np.maximum(rows_kish - 1, 1) / rows_kish
    error = np.sqrt((influence**2).sum(axis=-1) * few + added_variance * (share if finite else 1))

    variance = center * (1 - center)
    size = variance / np.maximum(error, 1e-9) ** 2
    z, t = NormalDist().inv_cdf((1 + confidence) / 2), stdtrit(freedom, (1 + confidence) / 2)
    value = np.clip(value, 0, 1)
    low, high = wilson(value, size * (z / t) ** 2, z)
    residual = ((weights * (rest - center_rest[..., None]) ** 2).sum(axis=-1) + added_squares) / total
    return Estimate(value, low, high, error, size, trust, residual, variance, influence)


def _trust(judged, human, weights, number, prior: float) -> np.ndarray:
    """Return the slope of the labels on the judge's numbers, at least 0: what makes the estimate's variance least."""
    total = number + prior * len(PAIRS)
    human_mean = ((weights * human).sum(axis=-1) + prior * 2) / total
    judged_mean = ((weights * judged).sum(axis=-1) + prior * 2) / total
    together = ((weights * human * judged).sum(axis=-1) + prior) / total - human_mean * judged_mean
    alone = ((weights * judged**2).sum(axis=-1) + prior * 2) / total - judged_mean**2
    return np.maximum(0, together / np.maximum(alone, 1e-12))


def cluster_sums(values: np.ndarray, clusters: np.ndarray | None) -> np.ndarray:
    """Return (..., clusters) the sums of (..., rows) values over the rows of each cluster.

    >>> cluster_sums(np.array([1, 2, 3]), np.array([1, 0, 1]))
    array([2, 4])
    """
    if clusters is None:
        return values
    order = np.argsort(clusters, kind="stable")
    _, starts = np.unique(clusters[order], return_index=True)
    return np.add.reduceat(values[..., order], starts, axis=-1)


def wilson(value, number, z: float):
    """Return Wilson's limits (Wilson 1927) for a share of independent answers.

    Args:
        value: (...) shares, 0 to 1.
        number: (...) numbers of answers above 0, which need not be whole.
        z: quantile of the normal distribution, 1.96 for 95%.

    Returns:
        (...) lower and upper limits, within 0 and 1.

    >>> [round(float(limit), 3) for limit in wilson(0.8, 10, 1.959964)]
    [0.49, 0.943]
    """
    center = (value + z**2 / (2 * number)) / (1 + z**2 / number)
    half = z / (1 + z**2 / number) * np.sqrt(value * (1 - value) / number + z**2 / (4 * number**2))
    return np.minimum(value, np.clip(center - half, 0, 1)), np.maximum(value, np.clip(center + half, 0, 1))


def difference(first: Estimate, second: Estimate) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the difference of two systems that answered the same questions, with its limits.

    The limits of both systems are put together with the correlation of the two estimates, as Newcombe (1998) does for
    paired shares: like those they stay in range.

    Args:
        first: the one system, with clusters numbered as those of `second`.
        second: the other.

    Returns:
        (...) differences, lower and upper limits.
    """
    together = (first.influence * second.influence).sum(axis=-1)
    size = np.sqrt((first.influence**2).sum(axis=-1) * (second.influence**2).sum(axis=-1))
    correlation = together / np.maximum(size, 1e-12)
    return newcombe(
        (first.value, first.low, first.high), (second.value, second.low, second.high), np.clip(correlation, -1, 1)
    )


def paired_difference(
    judged: np.ndarray,
    labels: np.ndarray,
    probabilities: np.ndarray,
    finite: bool = False,
    confidence: float = 0.95,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the difference of two systems that people labelled on the same questions, with its limits.

    What is estimated are the differences of the two answers to each question, which vary less than the answers: where
    two systems err on the same hard questions the interval is narrower than that of `difference`.

    Args:
        judged: (2, questions) the judge's numbers of both systems.
        labels: (2, questions) labels; NaN where nobody labelled, for both systems at the same questions.
        probabilities: (questions,) probability with which each question was drawn.
        finite: as for `prediction_powered`.
        confidence: as for `prediction_powered`.

    >>> judged = np.array([np.tile([1.0, 1, 0, 1], 50), np.tile([1.0, 0, 0, 0], 50)])
    >>> labels = np.where(np.arange(200) < 40, judged, np.nan)
    >>> [round(float(end), 2) for end in paired_difference(judged, labels, np.full(200, 0.2))]
    [0.5, 0.39, 0.6]
    """
    scaled = ((first - second + 1) / 2 for first, second in (judged, labels))  # from -1 to 1 -> from 0 to 1
    found = prediction_powered(*scaled, probabilities, finite=finite, confidence=confidence)
    return 2 * found.value - 1, 2 * found.low - 1, 2 * found.high - 1


def newcombe(first, second, correlation=0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the difference of two estimates with its limits (Newcombe 1998).

    Args:
        first: (value, low, high), arrays of (...).
        second: the same of the other system, which is subtracted.
        correlation: (...) of the two estimates, -1 to 1.

    Returns:
        (...) differences, lower and upper limits.

    >>> [round(float(x), 3) for x in newcombe((0.8, 0.7, 0.87), (0.6, 0.5, 0.69))]
    [0.2, 0.065, 0.322]
    """
    (a, a_low, a_high), (b, b_low, b_high) = first, second

    def half(up, down):
        return np.sqrt(np.maximum(up**2 + down**2 - 2 * correlation * up * down, 0))

    return a - b, a - b - half(a - a_low, b_high - b), a - b + half(a_high - a, b - b_low)


def wider(low, high, error: float, least: float = 0.0) -> tuple[float, float]:
    """Return limits that also hold where a share of the labels is wrong, whichever ones: wider by it on both sides.

    Args:
        low: lower limit.
        high: upper limit.
        error: share of wrong labels, 0 to 0.5.
        least: what the lower limit is at least, -1 for a difference; the upper one is at most 1.

    >>> [round(end, 2) for end in wider(0.7, 0.95, 0.1)]
    [0.6, 1.0]
    """
    return max(least, float(low) - error), min(1.0, float(high) + error)


def labels_needed(found: Estimate, labels: int, rows: int, half_width: float, finite: bool, confidence=0.95):
    """Return how many more labels, drawn by chance, make the interval about +- `half_width`; None if no number does.

    Args:
        found: an estimate without batch.
        labels: labelled rows that it was made of.
        rows: rows of the system.
        half_width: half of the width wanted, 0.05 for 5 points.
        finite: as for `prediction_powered`.
        confidence: as for `prediction_powered`.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if half_width <= 0:
        return None
    allowed = (half_width / z) ** 2 - (0 if finite else float(found.spread) / rows)
    if allowed <= 0:
        return None
    needed = 1 / (allowed / max(float(found.residual), 1e-9) + 1 / rows)
    return max(0, int(np.ceil(needed)) - labels)
