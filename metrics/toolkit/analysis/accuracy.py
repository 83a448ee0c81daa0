"""Accuracy of a system with an interval, from a judge's verdicts; arrays in, numbers out.

Three ways, from the least to the most that must be known:

- `from_verdicts`: the verdicts alone. The interval is of the share judged correct, not of the accuracy.
- `corrected`: also how often the judge was right on a calibration sample, for correct and for incorrect answers.
- `prediction_powered`: also the human verdicts of some answers of the same system, drawn by chance.

The intervals are of answers drawn independently; `estimation` has those for questions with several answers, and for
labels drawn with other probabilities. `tests/test_accuracy.py` measures how often they hold the truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .estimation import powered, wilson


@dataclass(frozen=True)
class Accuracy:
    """An estimate between 0 and 1 with its interval, the name of the method, and what it does not cover."""

    estimate: float
    low: float
    high: float
    method: str
    note: str


@dataclass(frozen=True)
class Calibration:
    """How a judge did on answers that humans judged too.

    Attributes:
        accepted: correct answers that the judge accepted.
        correct: correct answers.
        rejected: incorrect answers that the judge rejected.
        incorrect: incorrect answers.

    Raises:
        ValueError: if a count is no whole number in its range.
    """

    accepted: int
    correct: int
    rejected: int
    incorrect: int

    def __post_init__(self):
        for part, whole in (("accepted", "correct"), ("rejected", "incorrect")):
            hits, total = getattr(self, part), getattr(self, whole)
            for name, count in ((whole, total), (part, hits)):
                if isinstance(count, bool) or not isinstance(count, int | np.integer):
                    raise ValueError(f"{name}: expected a whole number, got {count!r}; pass how many answers")
            if total < 1:
                raise ValueError(f"{whole}: expected at least 1 answer, got {total}; judge some by hand")
            if not 0 <= hits <= total:
                raise ValueError(f"{part}: expected 0 to {total}, the number of {whole} answers, got {hits}")

    @property
    def sensitivity(self) -> float:
        """Share of the correct answers that the judge accepted."""
        return self.accepted / self.correct

    @property
    def specificity(self) -> float:
        """Share of the incorrect answers that the judge rejected."""
        return self.rejected / self.incorrect


def calibration(human: Sequence, verdicts: Sequence) -> Calibration:
    """Return how often a judge was right about correct and about incorrect answers.

    Args:
        human: (answers,) human verdicts, 0 or 1.
        verdicts: (answers,) the judge's verdicts of the same answers, 0 or 1.

    Raises:
        ValueError: if a verdict is neither 0 nor 1, the lengths differ, or one kind of answer is missing.

    >>> calibration([1, 1, 1, 0, 0], [1, 1, 0, 0, 1])
    Calibration(accepted=2, correct=3, rejected=1, incorrect=2)
    """
    human, verdicts = _zeros_and_ones(human, "human"), _zeros_and_ones(verdicts, "verdicts")
    _same_length(human, verdicts, "human", "verdicts")
    right = human == 1
    return Calibration(
        int(verdicts[right].sum()), int(right.sum()), int((1 - verdicts[~right]).sum()), int((~right).sum())
    )


def pooled(groups: Sequence[Calibration]) -> tuple[float, float, float, float]:
    """Return one calibration sample of several, counted as fewer answers where they differ more than by chance.

    A judge errs on one system's answers more often than on another's. What was measured on some systems says as much
    of a new one as a smaller sample of its own answers would: both shares keep their value, and their numbers are cut
    so that their variance is the one between groups (Kish's design effect, by groups).

    Args:
        groups: counts of the answers of one system each.

    Returns:
        accepted, correct, rejected and incorrect, as in `Calibration`, not whole.

    >>> pooled([Calibration(90, 100, 40, 50), Calibration(90, 100, 40, 50)])
    (180.0, 200.0, 80.0, 100.0)
    >>> [round(count, 1) for count in pooled([Calibration(95, 100, 42, 50), Calibration(85, 100, 38, 50)])]
    [15.4, 17.1, 80.0, 100.0]
    """
    hits = np.array([[group.accepted, group.rejected] for group in groups], dtype=float)
    totals = np.array([[group.correct, group.incorrect] for group in groups], dtype=float)
    number = totals.sum(axis=0)
    shares = hits.sum(axis=0) / number
    if len(groups) > 1:
        binomial = shares * (1 - shares)
        excess = (((hits / totals - shares) ** 2).sum(axis=0) - (binomial / totals).sum(axis=0)) / (len(groups) - 1)
        between = np.maximum(excess, 0)  # variance of the shares of systems
        worth = binomial / np.maximum(binomial / number + between * (1 + 1 / len(groups)), 1e-12)
        number = np.where(between > 0, np.clip(worth, 1, number), number)
    hit, right = (shares * number).tolist(), number.tolist()
    return hit[0], right[0], hit[1], right[1]


def from_verdicts(verdicts: Sequence, confidence: float = 0.95) -> Accuracy:
    """Return the share of answers judged correct with Wilson's interval, which ignores the errors of the judge.

    It holds that share in 93 to 97% of samples of 100 answers or more, if the share is 0.3 to 0.95.

    Args:
        verdicts: (answers,) the judge's verdicts, 0 or 1.
        confidence: probability that the interval holds the share judged correct.

    Raises:
        ValueError: if there are no verdicts, one is neither 0 nor 1, or `confidence` is not between 0 and 1.

    >>> result = from_verdicts([1] * 8 + [0] * 2)
    >>> result.estimate, round(result.low, 3), round(result.high, 3)
    (0.8, 0.49, 0.943)
    """
    _checked_confidence(confidence)
    verdicts = _zeros_and_ones(verdicts, "verdicts")
    low, high = wilson(verdicts.mean(), len(verdicts), NormalDist().inv_cdf((1 + confidence) / 2))
    return Accuracy(
        float(verdicts.mean()),
        float(low),
        float(high),
        "wilson",
        "the judge's own errors are ignored: the interval is of the share judged correct, and can miss the accuracy",
    )


def corrected(verdicts: Sequence, calibration: Calibration, confidence: float = 0.95) -> Accuracy:
    """Return the accuracy corrected for the judge's sensitivity and specificity, both estimated from a sample.

    The estimate is Rogan & Gladen's (1978), (share + specificity - 1) / (sensitivity + specificity - 1), within 0 and
    1. The interval is that of Lang & Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated
    sensitivity and specificity", Preventive Veterinary Medicine 113 (2014), which is a little wider than it need be.
    It holds if the judge errs on this system's answers as often as on the calibration sample.

    Args:
        verdicts: (answers,) the judge's verdicts of the system's answers, 0 or 1.
        calibration: counts of another sample of answers, see `Calibration`.
        confidence: probability that the interval holds the accuracy.

    Raises:
        ValueError: if there are no verdicts, one is neither 0 nor 1, `confidence` is not between 0 and 1, or the judge
            is no better than chance.

    90 of 100 correct and 80 of 100 incorrect answers judged rightly, 62 of 100 accepted: (0.62 - 0.2) / 0.7 = 0.6.

    >>> result = corrected([1] * 62 + [0] * 38, Calibration(90, 100, 80, 100))
    >>> round(result.estimate, 3), round(result.low, 3), round(result.high, 3)
    (0.6, 0.443, 0.749)
    """
    _checked_confidence(confidence)
    verdicts = _zeros_and_ones(verdicts, "verdicts")
    estimate, low, high = lang_reiczigel(
        verdicts.sum(),
        len(verdicts),
        *(calibration.accepted, calibration.correct, calibration.rejected, calibration.incorrect),
        confidence,
    )
    if np.isnan(estimate):
        raise ValueError(
            "calibration: expected sensitivity + specificity above 1, got "
            f"{calibration.sensitivity:.3f} + {calibration.specificity:.3f} from {calibration.correct} correct and "
            f"{calibration.incorrect} incorrect answers; a judge no better than chance tells nothing, take another "
            "threshold or more answers"
        )
    return Accuracy(
        float(estimate),
        float(low),
        float(high),
        "rogan-gladen, lang-reiczigel",
        "the judge is taken to err on these answers as often as on the calibration sample",
    )


def lang_reiczigel(
    positives, number, accepted, correct, rejected, incorrect, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Rogan & Gladen's estimate and Lang & Reiczigel's limits for counts; see `corrected`.

    Args:
        positives: (...) answers judged correct.
        number: (...) answers judged.
        accepted: (...) correct answers of the calibration sample that the judge accepted.
        correct: (...) correct answers of the calibration sample.
        rejected: (...) its incorrect answers that the judge rejected.
        incorrect: (...) its incorrect answers.
        confidence: probability that the limits hold the accuracy.

    Returns:
        (...) estimates, lower and upper limits, within 0 and 1; NaN where the judge is no better than chance.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    positives, accepted, rejected = (np.asarray(count, dtype=float) for count in (positives, accepted, rejected))
    gain = accepted / correct + rejected / incorrect - 1
    share = (positives + z**2 / 2) / (number + z**2)
    sensitivity, specificity = (accepted + 1) / (correct + 2), (rejected + 1) / (incorrect + 2)
    adjusted_gain = sensitivity + specificity - 1
    useful = (gain > 1e-12) & (adjusted_gain > 1e-12)
    gain, adjusted_gain = np.where(useful, gain, np.nan), np.where(useful, adjusted_gain, np.nan)
    center = (share + specificity - 1) / adjusted_gain
    missed = sensitivity * (1 - sensitivity) / (correct + 2)
    false = specificity * (1 - specificity) / (incorrect + 2)
    shift = 2 * z**2 * (center * missed - (1 - center) * false)
    variance = share * (1 - share) / (number + z**2) + center**2 * missed + (1 - center) ** 2 * false
    half = z * np.sqrt(variance) / adjusted_gain
    estimate = (positives / number + rejected / incorrect - 1) / gain
    return tuple(np.clip(value, 0, 1) for value in (estimate, center + shift - half, center + shift + half))


def prediction_powered(
    human: Sequence, judged: Sequence, unlabelled: Sequence, confidence: float = 0.95, published: bool = False
) -> Accuracy:
    """Return the accuracy from a few human verdicts and many of the judge, however often the judge errs.

    PPI++ for a mean (Angelopoulos, Duchi & Zrnic, "PPI++: Efficient Prediction-Powered Inference", 2023): the human
    mean, moved by what the judge says of the other answers as far as the judge has proved useful. It is not biased by
    the judge's errors, only widened. Few labels often show no error of the judge by chance, and the published interval
    is too narrow then; `estimation.powered` says what is done about it.

    Args:
        human: (labelled,) human verdicts, 0 or 1, of answers drawn by chance from the system's answers.
        judged: (labelled,) the judge's verdicts or probabilities of the same answers, 0 to 1.
        unlabelled: (others,) the judge's verdicts or probabilities of the system's other answers, 0 to 1.
        confidence: probability that the interval holds the accuracy.
        published: take estimate and interval as they were published.

    Raises:
        ValueError: if a value is out of range, lengths differ, there are fewer than two labelled answers or no others,
            or `confidence` is out of range.

    >>> result = prediction_powered([1, 1, 0, 1] * 20, [1, 1, 0, 0] * 20, [1, 0] * 400)
    >>> round(result.estimate, 2), round(result.low, 2), round(result.high, 2)
    (0.75, 0.66, 0.82)
    """
    _checked_confidence(confidence)
    human = _zeros_and_ones(human, "human")
    judged, unlabelled = _shares(judged, "judged"), _shares(unlabelled, "unlabelled")
    _same_length(human, judged, "human", "judged")
    if len(human) < 2:
        raise ValueError(f"human: expected at least 2 labelled answers, got {len(human)}; judge more by hand")
    if published:
        others = len(unlabelled), unlabelled.sum(), (unlabelled**2).sum()
        estimate, error = ppi_mean(human, judged, np.ones(len(human)), *others)
        half = NormalDist().inv_cdf((1 + confidence) / 2) * error
        low, high = estimate - half, estimate + half
    else:
        both = np.r_[judged, unlabelled]
        labels = np.r_[human, np.full(len(unlabelled), np.nan)]
        found = powered(both, labels, np.full(len(both), len(human) / len(both)), confidence=confidence)
        estimate, low, high = found.value, found.low, found.high
    return Accuracy(
        *(float(np.clip(value, 0, 1)) for value in (estimate, low, high)),
        "ppi++",
        "the labelled answers are taken to be drawn by chance from the system's answers",
    )


def ppi_mean(human, judged, weights, others, total, squares) -> tuple[np.ndarray, np.ndarray]:
    """Return the PPI++ estimate of the mean of human verdicts and its standard error; see `prediction_powered`.

    The same numbers as `ppi_mean_ci` of the package ppi-python 0.2.3 (MIT), which brings numba and a downloader, knows
    no clusters of rows, and whose interval is the plain normal one: in worlds like those of `tests/test_coverage.py`
    it held the truth in 87, 94 and 94% of draws with 30, 100 and 300 labels, and left 0 to 1 in 26% of those with 30;
    `estimation.powered` held it in 97, 96 and 95%, 14, 3 and 0% wider.

    Args:
        human: (rows,) human verdicts.
        judged: (rows,) the judge's verdicts of the same answers.
        weights: (..., rows) how often each row counts.
        others: number of answers that only the judge judged.
        total: (...) sum of its verdicts of those.
        squares: (...) sum of their squares.

    Returns:
        (...) estimates and standard errors.
    """
    number = weights.sum(axis=-1)
    judged_mean, other_mean = weights @ judged / number, total / others
    covariance = weights @ (human * judged) / number - weights @ human / number * judged_mean
    count = number + others
    mean = (weights @ judged + total) / count
    variance = (weights @ judged**2 + squares - count * mean**2) / (count - 1)
    varies = variance > 1e-12
    trust = np.where(varies, covariance / ((1 + number / others) * np.where(varies, variance, 1)), 0).clip(0, 1)
    rest = human - trust[..., None] * judged
    rest_mean = (weights * rest).sum(axis=-1) / number
    rest_variance = (weights * (rest - rest_mean[..., None]) ** 2).sum(axis=-1) / number
    other_variance = np.maximum(0, squares / others - other_mean**2)
    return trust * other_mean + rest_mean, np.sqrt(trust**2 * other_variance / others + rest_variance / number)


def _checked_confidence(confidence: object) -> None:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence!r}; 0.95 is usual")


def _same_length(first: np.ndarray, second: np.ndarray, first_name: str, second_name: str) -> None:
    if len(first) != len(second):
        raise ValueError(
            f"{second_name}: expected {len(first)} values, as many as {first_name}, got {len(second)}; "
            "pass one per answer"
        )


def _numbers(values: Sequence, name: str) -> np.ndarray:
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise ValueError(f"{name}: expected a list of numbers, got {values!r:.80}; pass one number per answer")
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:
        for row, value in enumerate(values):
            if isinstance(value, str) or not np.isscalar(value):
                raise ValueError(f"{name}, row {row}: expected a number, got {value!r:.80}; convert or drop it")
        raise ValueError(f"{name}: expected a list of numbers, got {values!r:.80}; pass one number per answer")
    if numbers.ndim != 1:
        raise ValueError(f"{name}: expected a flat list, got {numbers.ndim} dimensions; pass one number per answer")
    if not len(numbers):
        raise ValueError(f"{name}: expected at least one answer, got none; pass one number per answer")
    return numbers


def _zeros_and_ones(values: Sequence, name: str) -> np.ndarray:
    numbers = _numbers(values, name)
    bad = np.flatnonzero((numbers != 0) & (numbers != 1))
    if len(bad):
        raise ValueError(
            f"{name}, row {bad[0]}: expected 0 or 1, got {values[bad[0]]!r:.80}; "
            "compare probabilities with a threshold"
        )
    return numbers


def _shares(values: Sequence, name: str) -> np.ndarray:
    numbers = _numbers(values, name)
    bad = np.flatnonzero(~((numbers >= 0) & (numbers <= 1)))
    if len(bad):
        raise ValueError(
            f"{name}, row {bad[0]}: expected a number from 0 to 1, got {values[bad[0]]!r:.80}; pass probabilities"
        )
    return numbers
