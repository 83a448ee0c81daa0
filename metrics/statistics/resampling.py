"""Resamples systems on the same rows: intervals, corrections of p-values and ranks. Arrays in, numbers out.

A score of a corpus need not be the mean of the scores of its rows, so what is resampled is the statistics whose sums
make the score, as sacrebleu does it: AEv sums counts of n-grams, a mean sums scores and counts rows. Every resample
is the same rows for all systems, which makes the tests paired. Where several rows are alike, such as the answers to
one question, what is drawn and exchanged is such a cluster of rows.

From few clusters a bootstrap interval is too narrow; there one cluster is left out at a time. The standard error
is that of the jackknife (Efron & Tibshirani 1993, "An Introduction to the Bootstrap", chapter 11), with Student's t
for the number of clusters. `tests/test_few_questions.py` measures how often the intervals hold.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .intervals import kish

CONFIDENCE = 0.95
INTERVAL = "95% expanded percentile bootstrap interval, {} resampled"  # which reports state
JACKKNIFE = "95% jackknife interval with Student's t, {} left out in turn"
FEW = 30  # questions, below which intervals are the jackknife's
MIN_ROWS = 5  # of fewer a bootstrap has too few different samples (35 of 4 rows) for an interval or a test
CORRECTIONS = ("holm", "bonferroni", "fdr", "none")
_CELLS = 2**22  # resamples x rows that are in memory at once: 32 MiB
_BOOTSTRAP, _SWAPS = 0, 1  # streams of one seed


def _steps(rows: int, samples: int) -> Iterator[int]:
    step = max(1, _CELLS // max(rows, 1))
    return (min(step, samples - start) for start in range(0, samples, step))


def bootstrap_counts(rows: int | np.ndarray, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield how often every row is in every bootstrap sample, a chunk of samples at a time.

    Args:
        rows: number of rows; or (rows,) number of every row's cluster: 0, 1, ... without gaps. A sample has as many
            rows, or clusters, as there are.
        samples: number of samples.
        seed: the same seed gives the same samples.

    Yields:
        (samples of the chunk, rows) counts.

    >>> next(bootstrap_counts(3, 1, 0)).sum()
    np.float64(3.0)
    """
    rng = np.random.default_rng([seed, _BOOTSTRAP])
    clusters = None if np.ndim(rows) == 0 else np.asarray(rows)
    size = int(rows) if clusters is None else int(clusters.max()) + 1
    for step in _steps(size if clusters is None else len(clusters), samples):
        counts = np.empty((step, size))
        for sample in counts:  # one sample at a time stays in the processor's cache
            sample[:] = np.bincount(rng.integers(size, size=size), minlength=size)
        yield counts if clusters is None else counts[:, clusters]


def bootstrap(
    statistics: Mapping[str, Callable[[np.ndarray], np.ndarray]], rows: int | np.ndarray, samples: int, seed: int
) -> dict[str, np.ndarray]:
    """Return the values of statistics in the same bootstrap samples.

    Args:
        statistics: name -> function from (samples, rows) counts to (samples, ...) values.
        rows: see `bootstrap_counts`.
        samples: number of samples.
        seed: the same seed gives the same samples.

    Returns:
        name -> (samples, ...) values.
    """
    chunks = [
        {name: values(counts) for name, values in statistics.items()}
        for counts in bootstrap_counts(rows, samples, seed)
    ]
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in statistics}


def swaps(rows: int, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield which rows two systems exchange, each with probability 1/2, a chunk of permutations at a time.

    Args:
        rows: number of rows.
        samples: number of permutations.
        seed: the same seed gives the same permutations.

    Yields:
        (permutations of the chunk, rows) ones and zeros.
    """
    rng = np.random.default_rng([seed, _SWAPS])
    for step in _steps(rows, samples):
        bits = rng.integers(256, size=(step, -(-rows // 8)), dtype=np.uint8)
        yield np.unpackbits(bits, axis=1, count=rows).astype(float)


def resampled_sums(weights: Iterable[np.ndarray], statistics: np.ndarray) -> np.ndarray:
    """Return the weighted sums of the rows' statistics.

    Args:
        weights: chunks of (samples, rows) weights.
        statistics: (rows, systems, k) statistics of every row.

    Returns:
        (samples, systems, k) sums over the rows.
    """
    flat = np.ascontiguousarray(statistics, dtype=float).reshape(len(statistics), -1)
    return np.concatenate([chunk @ flat for chunk in weights]).reshape(-1, *statistics.shape[1:])


def interval(scores: np.ndarray, rows: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the expanded percentile interval of bootstrap scores.

    Percentiles of the bootstrap are too narrow for few rows, as if a mean had z in place of t and n in place of n - 1;
    expanded ones make up for it (Hesterberg 2015, "What teachers should know about the bootstrap", section 5.2).

    Args:
        scores: (samples, ...) scores of the bootstrap samples; NaN where they are not defined.
        rows: number of rows, or of clusters, that were drawn, at least 1; see `intervals.kish`.

    Returns:
        Lower and upper ends, (...) each; NaN where half of the scores or more are not defined, and for fewer rows than
        `MIN_ROWS`.
    """
    from scipy import stats

    if rows < MIN_ROWS:
        nothing = np.full(np.shape(scores)[1:], np.nan)
        return nothing[()], nothing[()]
    tail = stats.norm.sf(np.sqrt(rows / (rows - 1)) * stats.t.isf((1 - CONFIDENCE) / 2, rows - 1))
    missing = np.isnan(scores)
    if not missing.any():
        low, high = np.percentile(scores, [100 * tail, 100 * (1 - tail)], axis=0)
        return low, high
    enough = missing.mean(axis=0) < 0.5
    low, high = np.nanpercentile(np.where(enough, scores, 0.0), [100 * tail, 100 * (1 - tail)], axis=0)
    return np.where(enough, low, np.nan)[()], np.where(enough, high, np.nan)[()]


def adjust_p_values(p_values: np.ndarray, method: str = "holm") -> np.ndarray:
    """Return p-values corrected for the number of tests.

    Args:
        p_values: (tests,) p-values; NaN means no test and stays NaN.
        method: one of `CORRECTIONS`: "holm" and "bonferroni" keep the chance of one false finding or more at the
            level, "fdr" (Benjamini & Hochberg) the expected share of false ones among the findings.

    >>> adjust_p_values(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    from scipy import stats

    array = np.array(p_values, dtype=float)
    tests = np.flatnonzero(np.isfinite(array))
    if method == "fdr" and len(tests):
        array[tests] = stats.false_discovery_control(array[tests])
    elif method == "bonferroni":
        array[tests] = np.minimum(array[tests] * len(tests), 1)
    elif method == "holm":  # the i-th smallest times the number of those that are not smaller, never below one before
        tests = tests[np.argsort(array[tests], kind="stable")]
        steps = array[tests] * np.arange(len(tests), 0, -1)
        array[tests] = np.minimum(np.maximum.accumulate(steps), 1)
    return array


def ranking(scores: np.ndarray, better: np.ndarray) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the clusters of systems and the range of ranks of each, by the rules of the WMT shared tasks.

    A line is drawn between two systems of the ranked list if every system above it is significantly better than every
    system below it; systems without a line between them are one cluster. The ranks of a system run from 1 + the
    number of systems that are significantly better to the number of systems - those than which it is significantly
    better (Bojar et al. 2014, "Findings of the 2014 Workshop on Statistical Machine Translation", section 3).

    Args:
        scores: (systems,) scores.
        better: (systems, systems) booleans, the system of the row is significantly better than that of the column.

    Returns:
        Number of every system's cluster, from 1, and its best and its worst rank.

    >>> ranking(np.array([0.5, 0.9, 0.6]), np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]], dtype=bool))
    ([2, 1, 2], [(2, 3), (1, 1), (2, 3)])
    """
    order = np.argsort(-scores, kind="stable")
    ranked = better[np.ix_(order, order)]
    clusters, cluster = [0] * len(order), 1
    for place, system in enumerate(order):
        cluster += bool(place) and bool(ranked[:place, place:].all())
        clusters[system] = cluster
    ranks = zip((1 + better.sum(axis=0)).tolist(), (len(scores) - better.sum(axis=1)).tolist(), strict=True)
    return clusters, list(ranks)


def standard_error(without: np.ndarray) -> np.ndarray:
    """Return the standard error of a statistic.

    Args:
        without: (clusters, ...) its value without each cluster.

    Without one of 1, 2 and 6 the mean is 4, 3.5 and 1.5: the standard error is that of a mean, 2.646 / 3^.5.

    >>> round(float(standard_error(np.array([4, 3.5, 1.5]))), 3)
    1.528
    """
    number = len(without)
    return np.sqrt((number - 1) / number * ((without - without.mean(axis=0)) ** 2).sum(axis=0))


def _quantile(clusters: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(max(clusters - 1, 1), (1 + CONFIDENCE) / 2))


def _enough(value: np.ndarray, without: np.ndarray, clusters: float) -> np.ndarray:
    return (clusters >= MIN_ROWS) & np.isfinite(value) & np.isfinite(without).all(axis=0)


def mean_interval(value, without: np.ndarray, clusters: float):
    """Return the limits of a statistic without bounds, such as a difference.

    Args:
        value: (...) the statistic of all rows.
        without: (clusters, ...) its value without each cluster.
        clusters: their effective number, see `intervals.kish`.

    Returns:
        Lower and upper limits, (...) each; NaN for fewer than `MIN_ROWS` clusters, or where a value is not defined.

    The mean of 1, 2, 3, 6 and 8 is 4; its standard error is 1.304, Student's t with 4 degrees of freedom 2.776.

    >>> [round(float(end), 2) for end in mean_interval(4, np.array([4.75, 4.5, 4.25, 3.5, 3]), 5)]
    [0.38, 7.62]
    """
    value = np.asarray(value, dtype=float)
    half = np.where(_enough(value, without, clusters), _quantile(clusters) * standard_error(without), np.nan)
    return value - half, value + half


def share_interval(value, without: np.ndarray, clusters: float):
    """Return the limits of a statistic within 0 and 1, such as a share or a mean score.

    They are those of Clopper and Pearson with the effective sample size of the standard error and Student's t (Korn &
    Graubard 1998, "Confidence intervals for proportions with small expected number of positive counts"): they stay
    within 0 and 1, and hold where all clusters are equal. Arguments and results are those of `mean_interval`.

    All of 8 clusters right: Student's t is 1.207 times as wide as z, so they inform as 5.5 independent ones.

    >>> [round(float(end), 2) for end in share_interval(1.0, np.ones(8), 8)]
    [0.51, 1.0]
    """
    from scipy.special import betaincinv

    value = np.asarray(value, dtype=float)
    error, variance = standard_error(without), value * (1 - value)
    # Equal clusters show no error: they inform as independent answers do.
    size = np.where(error > 1e-9, variance / np.maximum(error, 1e-9) ** 2, clusters)
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    size = np.maximum(size, 1e-9) * (z / _quantile(clusters)) ** 2
    right, wrong, tail = value * size, (1 - value) * size, (1 - CONFIDENCE) / 2
    low = np.where(right > 1e-9, betaincinv(np.maximum(right, 1e-9), wrong + 1, tail), 0)
    high = np.where(wrong > 1e-9, betaincinv(right + 1, np.maximum(wrong, 1e-9), 1 - tail), 1)
    enough = _enough(value, without, clusters)
    return np.where(enough, np.minimum(low, value), np.nan), np.where(enough, np.maximum(high, value), np.nan)


def correlation_interval(value, without: np.ndarray, clusters: float):
    """Return the limits of a correlation, by Fisher's transformation; NaN for -1 and 1.

    Arguments and results are those of `mean_interval`.
    """
    value = np.asarray(value, dtype=float)
    inside = np.where(np.abs(value) < 1 - 1e-9, value, np.nan)
    low, high = mean_interval(np.arctanh(inside), np.arctanh(np.clip(without, 1e-9 - 1, 1 - 1e-9)), clusters)
    return np.tanh(low), np.tanh(high)


LIMITS = {"correlation": correlation_interval, "share": share_interval, "difference": mean_interval}


@dataclass(frozen=True)
class Resampler:
    """Resamples whole questions: a bootstrap, or where they are few a jackknife.

    Attributes:
        questions: (rows,) number of every row's question: 0, 1, ... without gaps.
        samples: number of bootstrap samples.
        seed: the same seed gives the same samples.
        least: number of questions below which there are no limits.
    """

    questions: np.ndarray
    samples: int
    seed: int
    least: int = MIN_ROWS

    @property
    def number(self) -> float:
        """Effective number of questions."""
        return float(kish(np.bincount(self.questions)))

    @property
    def interval(self) -> str:
        """Name of the method."""
        return (JACKKNIFE if self.number < FEW else INTERVAL).format("questions")

    def values(self, statistics: Mapping[str, Callable[[np.ndarray], np.ndarray]]) -> dict[str, np.ndarray]:
        """Return the values of statistics in every sample, see `bootstrap`."""
        if self.number < FEW:
            counts = (np.arange(self.questions.max() + 1)[:, None] != self.questions).astype(float)
            return {name: values(counts) for name, values in statistics.items()}
        return bootstrap(statistics, self.questions, self.samples, self.seed)

    def limits(self, kind: str, value, samples: np.ndarray):
        """Return lower and upper limit of a statistic, NaN for too few questions.

        Args:
            kind: a key of `LIMITS`.
            value: the statistic of all rows.
            samples: what `values` returns for it.
        """
        if self.number < self.least:
            return np.nan, np.nan
        if self.number < FEW:
            return LIMITS[kind](value, samples, self.number)
        return interval(samples, self.number)
