"""Resamples systems on the same rows: intervals, tests, corrections of p-values and ranks. Arrays in, numbers out.

A score of a corpus need not be a mean of row scores, so the sufficient statistics of rows are resampled, as in
sacrebleu: AEv sums counts of n-grams, a mean sums scores and rows. All systems share the resampled rows, so tests are
paired. Rows of one question are correlated, so whole questions ("clusters") are drawn.

`mean_interval` has the jackknife's standard error (Efron & Tibshirani 1993, "An Introduction to the Bootstrap",
chapter 11) with Student's t. statsmodels is no dependency for one correction of p-values.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .intervals import CONFIDENCE, MIN_QUESTIONS

FEW = 30  # questions, below which tests find large differences only
MIN_ROWS = 5  # of fewer a bootstrap has too few different samples (35 of 4 rows) for an interval or a test
_CELLS = 2**22  # resamples x rows that are in memory at once: 32 MiB
_BOOTSTRAP, _SWAPS = 0, 1  # streams of one seed


def _steps(rows: int, samples: int) -> Iterator[int]:
    step = max(1, _CELLS // max(rows, 1))
    return (min(step, samples - start) for start in range(0, samples, step))


def bootstrap_counts(rows: int | np.ndarray, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield (samples, rows) counts of every row in every bootstrap sample, a chunk of samples at a time.

    `rows` is their number, or (rows,) number of every row's cluster: 0, 1, ... without gaps. A sample has as many
    rows, or clusters, as there are.

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


def swaps(rows: int, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield (permutations, rows) chunks of 1 where two systems swap a row, with probability 1/2, else 0."""
    rng = np.random.default_rng([seed, _SWAPS])
    for step in _steps(rows, samples):
        bits = rng.integers(256, size=(step, -(-rows // 8)), dtype=np.uint8)
        yield np.unpackbits(bits, axis=1, count=rows).astype(float)


def adjust_p_values(p_values: np.ndarray) -> np.ndarray:
    """Return p-values corrected for the number of tests by Holm's method; NaN means no test and stays NaN.

    The i-th smallest is multiplied by the number of those that are not smaller, and is never below one before it.
    """
    array = np.array(p_values, dtype=float)
    tests = np.flatnonzero(np.isfinite(array))
    tests = tests[np.argsort(array[tests], kind="stable")]
    array[tests] = np.minimum(np.maximum.accumulate(array[tests] * np.arange(len(tests), 0, -1)), 1)
    return array


def ranking(scores: np.ndarray, better: np.ndarray) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the clusters of systems, from 1, and their best and worst ranks, by the rules of the WMT shared tasks.

    A line is drawn between two systems of the ranked list if every system above it is significantly better than every
    system below it; systems without a line between them are one cluster. The ranks of a system run from 1 + the number
    of systems that are significantly better to the number of systems - those than which it is significantly better
    (Bojar et al. 2014, "Findings of the 2014 Workshop on Statistical Machine Translation", section 3). In `better`,
    (systems, systems) booleans, the system of the row is significantly better than that of the column.
    """
    order = np.argsort(-scores, kind="stable")
    ranked = better[np.ix_(order, order)]
    clusters, cluster = [0] * len(order), 1
    for i, system in enumerate(order):
        cluster += bool(i) and bool(ranked[:i, i:].all())
        clusters[system] = cluster
    ranks = zip((1 + better.sum(axis=0)).tolist(), (len(scores) - better.sum(axis=1)).tolist(), strict=True)
    return clusters, list(ranks)


def standard_error(without: np.ndarray) -> np.ndarray:
    """Return the standard error of a statistic, from its (clusters, ...) values without each cluster.

    Without one of 1, 2 and 6 the mean is 4, 3.5 and 1.5: the standard error is that of a mean, 2.646 / 3^.5.

    >>> round(float(standard_error(np.array([4, 3.5, 1.5]))), 3)
    1.528
    """
    number = len(without)
    return np.sqrt((number - 1) / number * ((without - without.mean(axis=0)) ** 2).sum(axis=0))


def mean_interval(statistic, without: np.ndarray, clusters: float):
    """Return the (...) limits of a statistic without bounds, from its (clusters, ...) values without each cluster.

    `clusters` is their effective number; NaN for fewer than `MIN_ROWS`, or where a statistic is not defined.

    The mean of 1, 2, 3, 6 and 8 is 4; its standard error is 1.304, Student's t with 4 degrees of freedom 2.776.

    >>> [round(float(end), 2) for end in mean_interval(4, np.array([4.75, 4.5, 4.25, 3.5, 3]), 5)]
    [0.38, 7.62]
    """
    from scipy.special import stdtrit

    half = float(stdtrit(max(clusters - 1, 1), (1 + CONFIDENCE) / 2)) * standard_error(without)
    half = np.where((clusters >= MIN_ROWS) & np.isfinite(statistic), half, np.nan)
    return statistic - half, statistic + half


LEVEL = 0.05


def influences(without: np.ndarray) -> np.ndarray:
    """Return (questions, ...) centred jackknife pseudo-values, from the values of a statistic without each question.

    Their standard error is that of the statistic.
    """
    return (len(without) - 1) * (without.mean(axis=0) - without)


@dataclass(frozen=True)
class PairedTests:
    """Two-sided tests of differences from 0, with intervals that exclude 0 exactly where p is below the level.

    The test is a bootstrap-t (Efron & Tibshirani 1993, chapter 12): questions are drawn with replacement, and every
    resampled difference is divided by its own standard error. It keeps the level for skewed differences, where sign
    flips and percentiles do not: a sample without the few large differences has a small error, and so a large
    statistic. Influences of questions (jackknife pseudo-values) are drawn, so scores need not be means of rows.

    Where the score is bounded, the largest possible difference is added to the variance once (as in Agresti & Min 2005
    for matched pairs): a sample may lack the few rows that differ much. Limits then also include those of Clopper &
    Pearson for the widest distribution within the bounds, or, where all questions have the same difference, those for
    an unseen opposite difference. `tests/programs/level_simulations.py` measures the level.
    """

    differences: np.ndarray  # (tests,)
    p_values: np.ndarray  # (tests,) NaN where a difference is not defined
    spread: np.ndarray  # (tests,) standard error, 0 where all questions have the same difference
    largest: np.ndarray  # (tests, m) the largest studentized statistics of the bootstrap, falling
    samples: int  # number of bootstrap samples
    questions: float | np.ndarray  # effective number, or (tests,) numbers
    bound: np.ndarray  # (tests,) the largest possible difference; infinity for an unbounded score
    differing: np.ndarray  # (tests,) effective number of questions on which systems differ

    def limits(self, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (tests,) lower and upper limits, without 0 exactly where the p-value is below the level.

        (tests,) levels are one minus the confidence of the intervals, at most `LEVEL`.
        """
        from scipy.special import betaincinv

        rank = np.ceil(levels * (1 + self.samples) - 1).astype(int) - 1  # the statistic that must be surpassed
        varied, bounded = self.spread > 0, np.isfinite(self.bound)
        is_enough = varied & (rank >= 0) & (levels > smallest_p(self.differing))
        statistic = self.largest[np.arange(len(levels)), np.clip(rank, 0, self.largest.shape[1] - 1)]
        half = np.where(is_enough, statistic * (1 + 1e-6), np.inf) * np.where(varied, self.spread, 1)
        low, high = self.differences - half, self.differences + half

        bound, number = np.where(bounded, self.bound, 1.0), self.questions
        right = np.clip((1 + self.differences / bound) / 2, 0, 1) * number
        ends = [
            np.where(right > 1e-9, betaincinv(np.maximum(right, 1e-9), number - right + 1, levels / 2), 0),
            np.where(right < number, betaincinv(right + 1, np.maximum(number - right, 1e-9), 1 - levels / 2), 1),
        ]
        unseen = 1 - (levels / 2) ** (1 / number)
        equal = [(1 - unseen) * self.differences + sign * unseen * bound for sign in (-1, 1)]
        inner = [np.where(varied, bound * (2 * end - 1), center) for end, center in zip(ends, equal, strict=True)]
        low = np.where(bounded, np.maximum(np.maximum(low, inner[0]), -bound), low)
        high = np.where(bounded, np.minimum(np.minimum(high, inner[1]), bound), high)
        nothing = ~np.isfinite(low) | ~np.isfinite(high) | np.isnan(self.p_values)
        nothing |= self.questions < MIN_QUESTIONS - 1e-9
        return np.where(nothing, np.nan, low), np.where(nothing, np.nan, high)


LEAST_DIFFERING = 6  # questions on which systems differ, below which no difference is significant


def smallest_p(questions: float) -> float:
    """Return the smallest p-value that `questions` differing questions allow: a sign test in which all agree.

    >>> smallest_p(LEAST_DIFFERING - 1), smallest_p(LEAST_DIFFERING)
    (0.0625, 0.03125)
    """
    return 2.0 ** (1 - questions)


def paired_tests(
    differences: np.ndarray,
    influence: np.ndarray,
    questions: float | np.ndarray,
    bound: np.ndarray,
    draws: Iterable[np.ndarray],
    level: float = LEVEL,
) -> PairedTests:
    """Test differences between paired systems; the order of questions and of the two systems changes no p-value.

    Args:
        differences: (tests,).
        influence: (questions, tests) `influences` of the questions on the differences.
        questions: see `PairedTests`, as `bound`.
        bound: (tests,).
        draws: `bootstrap_counts` of the questions.
        level: the largest level of `PairedTests.limits`.

    A difference of 1 in each of 8 questions: p is that of a sign test, 2 / 2^8.

    >>> result = paired_tests(np.ones(1), np.zeros((8, 1)), 8, np.ones(1), bootstrap_counts(8, 100, 0))
    >>> result.p_values.tolist()
    [0.0078125]
    """
    from scipy.special import betainc

    number, bounded = len(influence), np.isfinite(bound)
    influence = np.sort(np.where(differences < 0, -1, 1) * influence, axis=0)
    spread = np.sqrt((influence**2).mean(axis=0) / number * number / max(number - 1, 1))
    negligible = 1e-9 * np.maximum(np.maximum(np.abs(differences), np.where(bounded, bound, 0)), 1e-300)
    spread = np.where(spread > negligible, spread, 0.0)
    differ = np.abs(influence + np.abs(differences)) > negligible
    differing = np.minimum(questions, differ.sum(axis=0))
    squares, chunks = influence**2, []
    with np.errstate(divide="ignore", invalid="ignore"):
        for counts in draws:
            mean = counts @ influence / number
            variance = (counts @ squares / number - mean**2) / max(number - 1, 1)
            studentized = np.abs(mean) / np.sqrt(np.maximum(variance, 0))
            lost = variance <= 1e-18 * np.maximum(spread, 1e-300) ** 2
            moved = np.abs(mean) > 1e-9 * spread
            chunks.append(np.where(lost, np.where(moved, np.inf, 0.0), studentized).astype(np.float32))
        statistics = np.concatenate(chunks)
        samples = len(statistics)
        spread = np.sqrt(spread**2 + (np.where((spread > 0) & bounded, bound, 0.0) / questions) ** 2)
        observed = (np.abs(differences) / spread).astype(np.float32)
    p_values = (1 + (statistics >= observed).sum(axis=0)) / (1 + samples)
    kept = min(samples, int(level * (1 + samples)) + 1)
    largest = -np.sort(-np.partition(statistics, samples - kept, axis=0)[samples - kept :], axis=0).T

    p_values = np.where(spread > 0, np.maximum(p_values, smallest_p(differing)), 1.0)
    relative = np.clip(np.abs(differences) / np.where(bounded, bound, 1.0), 0, 1)
    right = questions * (1 + relative) / 2
    widest = 2 * betainc(right, questions - right + 1, 0.5)
    rare = 2 * (1 + relative) ** -questions
    p_values = np.where(bounded, np.minimum(p_values, np.where(spread > 0, widest, rare)), p_values)
    p_values = np.where(np.isfinite(differences) & np.isfinite(influence).all(axis=0), np.minimum(p_values, 1), np.nan)
    return PairedTests(differences, p_values, spread, largest, samples, questions, bound, differing)


def corrected(
    all_tests: Sequence[PairedTests], level: float = LEVEL
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return (corrected p-values, lower limits, upper limits) of every set of tests; all sets are one family.

    Limits exclude 0 where the corrected p is below `level`, which is one minus the confidence of uncorrected limits.
    """
    raw = np.concatenate([tests.p_values for tests in all_tests])
    adjusted = adjust_p_values(raw)
    levels = level * np.where(np.isnan(raw), 1.0, raw / adjusted)
    starts = np.cumsum([len(tests.p_values) for tests in all_tests])[:-1]
    families = zip(all_tests, np.split(adjusted, starts), np.split(levels, starts), strict=True)
    return [(p_values, *tests.limits(levels)) for tests, p_values, levels in families]
