"""Agreement of metric scores with human judgments: arrays in, numbers out. No input or output.

Answers to one question are alike, so what is drawn and swapped at random is whole questions ("clusters" of rows), not
rows. A number that is not defined is NaN: a correlation with scores that are all equal.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy import stats

from .intervals import CONFIDENCE, kish
from .resampling import MIN_ROWS, standard_error, swaps

_MAX_SIGNS = 2000  # rows up to which all pairs of rows are compared at once, in 32 MiB


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    """Return Pearson's r, NaN where one side is constant.

    >>> round(pearson(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])), 3), pearson(np.ones(3), np.arange(3.0))
    (0.5, nan)
    """
    return float(stats.pearsonr(x, y).statistic) if _varies(x) and _varies(y) else float("nan")


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Return Spearman's rho, equal values with their mean rank; NaN where one side is constant."""
    return pearson(stats.rankdata(x), stats.rankdata(y))


def kendall(x: np.ndarray, y: np.ndarray) -> float:
    """Return Kendall's tau-b, which corrects for equal values; NaN where one side is constant."""
    return float(stats.kendalltau(x, y, method="asymptotic").statistic) if _varies(x) and _varies(y) else float("nan")


def _varies(values: np.ndarray) -> bool:
    return len(values) > 1 and bool(np.ptp(values) > 0)


def ratio(parts: np.ndarray, wholes: np.ndarray) -> np.ndarray:
    """Return (...) parts divided by (...) wholes, NaN where the whole is 0."""
    return np.divide(parts, wholes, out=np.full(np.shape(wholes), np.nan), where=wholes > 0)


def resampled_pearson(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return (samples,) Pearson's r of every resample, NaN where one side is constant.

    Scores are (rows,), or (samples, rows) where they differ by resample, as ranks do; counts are `bootstrap_counts`.
    """
    total = counts.sum(axis=1, keepdims=True)
    sides, defined = [], True
    for side in (x, y):
        centred = side - (counts * side).sum(axis=1, keepdims=True) / total
        squares = (counts * centred**2).sum(axis=1)
        # Rounding errors of equal values are not variation.
        defined = defined & (squares > total[:, 0] * (1e-12 * np.abs(side).max()) ** 2)
        sides.append((centred, squares))
    (x, xx), (y, yy) = sides
    return np.where(defined, ratio((counts * x * y).sum(axis=1), np.sqrt(xx * yy)), np.nan)


def pearson_limits(x: np.ndarray, y: np.ndarray, clusters: np.ndarray) -> tuple[float, float]:
    """Return the limits of Pearson's r: the jackknife of Fisher's z with Student's t; NaN where they are not defined.

    The error is never below Fisher's own, 1 / sqrt(rows - 3): scores of a judge are mostly near 0 or 1, and in few
    rows the rare ones that it gets wrong may all be missing. Percentiles, Fisher's error alone and a studentized
    bootstrap are too narrow there; `tests/programs/interval_simulations.py` measures how often these limits hold.
    Clusters are (rows,) the number of every row's question: 0, 1, ... without gaps.

    >>> x, y = np.array([[1.0, 2], [2, 1], [3, 4], [4, 3], [5, 6], [6, 5]]).T
    >>> [round(limit, 2) for limit in pearson_limits(x, y, np.arange(6))]
    [-0.29, 0.99]
    """
    x, y = x - x.mean(), y - y.mean()
    sums = np.stack([np.bincount(clusters, part) for part in (np.ones(len(x)), x, y, x * x, y * y, x * y)])
    rows, of_x, of_y, xx, yy, xy = sums.sum(axis=1, keepdims=True) - sums  # without one cluster
    with np.errstate(divide="ignore", invalid="ignore"):
        without = (rows * xy - of_x * of_y) / np.sqrt((rows * xx - of_x**2) * (rows * yy - of_y**2))
        z, error = np.arctanh(pearson(x, y)), standard_error(np.arctanh(np.clip(without, 1e-9 - 1, 1 - 1e-9)))
    if len(x) < MIN_ROWS or not (np.isfinite(z) and np.isfinite(error)):
        return float("nan"), float("nan")
    questions = float(kish(np.bincount(clusters)))
    half = stats.t.isf((1 - CONFIDENCE) / 2, max(questions - 1, 1)) * max(error, (len(x) - 3) ** -0.5)
    return float(np.tanh(z - half)), float(np.tanh(z + half))


def resampled_ranks(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return (samples, rows) ranks from 1, equal values with their mean; those of rows not in a sample mean nothing.

    >>> resampled_ranks(np.array([5.0, 7.0, 7.0]), np.array([[1.0, 1, 1], [2, 0, 1]]))
    array([[1. , 2.5, 2.5],
           [1.5, 3. , 3. ]])
    """
    equal, place = _equal(values, counts)
    rank = np.cumsum(equal, axis=1) - (equal - 1) / 2
    return rank[:, place]


def _equal(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how often every distinct value is in every resample, in rising order, and every row's place there."""
    distinct, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    first = np.searchsorted(place[order], np.arange(len(distinct)))
    return np.add.reduceat(counts[:, order], first, axis=1), place


def resampled_spearman(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return Spearman's rho of every resample, ranked anew; see `resampled_pearson`."""
    return resampled_pearson(resampled_ranks(x, counts), resampled_ranks(y, counts), counts)


def resampled_kendall(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b of every resample; see `resampled_pearson`."""
    if len(x) > _MAX_SIGNS:
        rows = np.arange(len(x))
        drawn = (np.repeat(rows, sample.astype(int)) for sample in counts)
        return np.array([kendall(x[picks], y[picks]) for picks in drawn])
    # All pairs of rows at once: many small calls of scipy take longer.
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    concordant = ((counts @ signs) * counts).sum(axis=1)
    total = counts.sum(axis=1) ** 2
    untied = [total - (_equal(side, counts)[0] ** 2).sum(axis=1) for side in (x, y)]
    return ratio(concordant, np.sqrt(untied[0] * untied[1]))


def resampled_auc(scores: np.ndarray, positive: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the area under the ROC curve of (rows,) scores and booleans in every resample; NaN with one class."""
    right = (counts * positive).sum(axis=1)
    wrong = counts.sum(axis=1) - right
    above = (counts * positive * resampled_ranks(scores, counts)).sum(axis=1) - right * (right + 1) / 2
    return ratio(above, right * wrong)


def permutation_p(
    x: np.ndarray, y: np.ndarray, human: np.ndarray, clusters: np.ndarray, number: int, seed: int
) -> np.ndarray:
    """Return the two-sided p of the difference of two metrics' Pearson correlations with the humans, by permutation.

    Both metrics are brought to mean 0 and deviation 1; under the null hypothesis it does not matter which of the two
    scored a question, so in every permutation they are swapped in about half of the questions, drawn at random (like
    the permutation tests of Deutsch, Dror & Roth 2021). For Spearman's correlation pass ranks.

    `x` and `y` are (pairs, rows), `human` and `clusters` (rows,), `number` that of permutations; the p-values (1 +
    permutations with at least such a difference) / (1 + permutations) are (pairs,), NaN where a side is constant.
    """
    out = np.full(len(x), np.nan)
    defined = (np.ptp(x, axis=1) > 0) & (np.ptp(y, axis=1) > 0)
    if not defined.any() or not _varies(human):
        return out
    x, y, human = (
        (side - side.mean(axis=-1, keepdims=True)) / side.std(axis=-1, keepdims=True)
        for side in (x[defined], y[defined], human)
    )
    size, rows = int(clusters.max()) + 1, len(human)
    # A swap moves these sums over rows from one side to the other: of the scores, their squares, and their products.
    moved = []
    for values in (y - x, y**2 - x**2, (y - x) * human):
        sums = np.zeros((size, len(x)))
        np.add.at(sums, clusters, values.T)
        moved.append(sums)
    first, second = x @ human, y @ human
    observed, extreme = np.abs(first - second) / rows, np.zeros(len(x), dtype=int)
    for swapped in swaps(size, number, seed):
        total, squares, products = (swapped @ sums for sums in moved)
        value = (first + products) / np.sqrt(np.maximum(rows * (rows + squares) - total**2, 1e-12))
        other = (second - products) / np.sqrt(np.maximum(rows * (rows - squares) - total**2, 1e-12))
        extreme += (np.abs(value - other) >= observed - 1e-12).sum(axis=0)
    out[defined] = (1 + extreme) / (1 + number)
    return out


def answer_pairs(
    questions: Sequence[object], systems: Sequence[object] | None, human: np.ndarray, gap: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of answers to one question between which humans see a clear difference (Lee et al., Table 7).

    They are (pairs,) row numbers of the better and of the worse answer, of two different systems where these are
    named; their human scores differ by more than `gap`.

    >>> answer_pairs(["a", "a", "b", "a"], None, np.array([0.1, 0.9, 0.5, 0.8]), gap=0.5)
    (array([1, 3]), array([0, 0]))
    """
    groups = defaultdict(list)
    for row, question in enumerate(questions):
        groups[question].append(row)
    # Generators: the pairs of a question with many answers do not fit into memory, those that are kept may.
    pairs = ((i, j) if human[i] > human[j] else (j, i) for of in groups.values() for i, j in combinations(of, 2))
    if systems is not None:
        pairs = ((i, j) for i, j in pairs if systems[i] != systems[j])
    pairs = [(i, j) for i, j in pairs if human[i] - human[j] > gap]
    better, worse = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return better, worse


def system_pairs(human: np.ndarray, metric: np.ndarray) -> tuple[int, int]:
    """Return for how many pairs of systems a metric has the sign of the humans' difference (Kocmi et al. 2021).

    The second number is that of all pairs; those that humans score equally are left out.

    >>> system_pairs(np.array([0.1, 0.5, 0.9]), np.array([1.0, 3.0, 2.0]))
    (2, 3)
    """
    i, j = np.triu_indices(len(human), 1)
    truth, guess = np.sign(human[i] - human[j]), np.sign(metric[i] - metric[j])
    return int(((truth == guess) & (truth != 0)).sum()), int((truth != 0).sum())
