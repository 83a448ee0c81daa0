"""Agreement of metric scores with human judgments: arrays in, numbers out. No input or output.

Answers to one question are correlated, so whole questions ("clusters" of rows) are resampled and swapped. Undefined
numbers are NaN, such as a correlation with scores that are all equal.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy import stats

from .intervals import CONFIDENCE, MIN_QUESTIONS, UNSEEN, kish, wilson
from .resampling import MIN_ROWS, standard_error, swaps

LEAST_EACH = 3  # rows needed on each side of the mean for limits; `MIN_QUESTIONS` where scores have two values
MAX_GROUPS = 400  # groups of questions that are left out in turn for Kendall's limits
_INSIDE = 1e-9 - 1, 1 - 1e-9  # coefficients of which Fisher's z is finite
# Standard error of Fisher's z for normal scores, in units of 1 / sqrt(rows - 3) (Fieller, Hartley & Pearson 1957).
_NORMAL_ERROR = {"pearson": 1.0, "spearman": 1.06**0.5, "kendall": 0.437**0.5}
_MAX_SIGNS = 2000  # rows up to which all pairs of rows are compared at once, in 96 MiB


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


def _varies(scores: np.ndarray) -> bool:
    return len(scores) > 1 and bool(np.ptp(scores) > 0)


def ratio(numerators: np.ndarray, denominators: np.ndarray) -> np.ndarray:
    """Return (...) numerators divided by (...) denominators, NaN where the denominator is 0."""
    return np.divide(numerators, denominators, out=np.full(np.shape(denominators), np.nan), where=denominators > 0)


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


def correlation_limits(kind: str, x: np.ndarray, y: np.ndarray, clusters: np.ndarray) -> tuple[float, float]:
    """Return the limits of a correlation coefficient; NaN where too few rows are on one side of the mean.

    The interval is Student's t around Fisher's z, with the standard error of the jackknife over questions, at least
    that of normal scores (Fieller, Hartley & Pearson 1957). A judge's scores are mostly near 0 or 1, and its rare
    errors may all be missing from a small sample. So the limits are widened to the correlations that result when as
    many questions are added as are missed with a probability of 2.5%, all of them errors or all of them right.
    `tests/programs/level_simulations.py` measures the coverage.

    Args:
        kind: "pearson", "spearman" or "kendall".
        x: (rows,) scores of a metric.
        y: (rows,) scores of humans.
        clusters: (rows,) number of every row's question: 0, 1, ... without gaps.

    >>> x, y = np.array([[1.0, 2], [2, 1], [3, 4], [4, 3], [5, 6], [6, 5]]).T
    >>> [round(limit, 2) for limit in correlation_limits("pearson", x, y, np.arange(6))]
    [-0.29, 0.99]
    """
    undefined = float("nan"), float("nan")
    if len(x) < MIN_ROWS or not (is_varied(x) and is_varied(y)):
        return undefined
    if kind == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    if kind == "kendall":
        coefficient, resampled = kendall(x, y), resampled_kendall
        groups = clusters % MAX_GROUPS  # of more questions groups are left out (Kott 2001, "Delete-a-group jackknife")
        without = resampled(x, y, (np.arange(groups.max() + 1)[:, None] != groups).astype(float))
    else:
        coefficient, resampled, without = pearson(x, y), resampled_pearson, pearson_without(x, y, clusters)
    z, error = np.arctanh(np.clip(coefficient, *_INSIDE)), standard_error(np.arctanh(np.clip(without, *_INSIDE)))
    if not np.isfinite(error):
        return undefined
    questions, rows = float(kish(np.bincount(clusters))), len(x)
    error = max(error, _NORMAL_ERROR[kind] * (rows - 3) ** -0.5)
    half = stats.t.isf((1 - CONFIDENCE) / 2, max(questions - 1, 1)) * error
    low_x, low_y = (side[side <= side.mean()].mean() for side in (x, y))
    high_x, high_y = (side[side > side.mean()].mean() for side in (x, y))
    unseen = -np.log((1 - CONFIDENCE) / 2) * rows / questions
    counts = np.hstack([np.ones((4, rows)), unseen * np.eye(4)])
    x_with_unseen, y_with_unseen = np.append(x, [high_x, low_x] * 2), np.append(y, [low_y, high_y, high_y, low_y])
    ends = [*resampled(x_with_unseen, y_with_unseen, counts), np.tanh(z - half), np.tanh(z + half)]
    return float(min(ends)), float(max(ends))


def pearson_without(x: np.ndarray, y: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Return (clusters,) Pearson's r without each cluster."""
    x, y = x - x.mean(), y - y.mean()
    sums = np.stack([np.bincount(clusters, terms) for terms in (np.ones(len(x)), x, y, x * x, y * y, x * y)])
    rows, x_sum, y_sum, xx, yy, xy = sums.sum(axis=1, keepdims=True) - sums
    with np.errstate(divide="ignore", invalid="ignore"):
        return (rows * xy - x_sum * y_sum) / np.sqrt((rows * xx - x_sum**2) * (rows * yy - y_sum**2))


def is_varied(scores: np.ndarray) -> bool:
    """Return whether enough scores are on each side of their mean for limits of a correlation.

    >>> is_varied(np.array([1.0, 2, 3, 4, 5, 6])), is_varied(np.array([0.0, 0, 0, 1, 1, 1]))
    (True, False)
    """
    return fewer_side(scores) >= (MIN_QUESTIONS if len(np.unique(scores)) == 2 else LEAST_EACH)


def fewer_side(scores: np.ndarray) -> int:
    """Return the number of scores above or below their mean, whichever is smaller.

    >>> fewer_side(np.array([1.0, 1, 1, 1, 0])), fewer_side(np.ones(3))
    (1, 0)
    """
    above = int((scores > scores.mean() + 1e-12 * np.abs(scores).max()).sum())
    return min(above, len(scores) - above)


def auc_limits(scores: np.ndarray, positive: np.ndarray, clusters: np.ndarray) -> tuple[float, float, float]:
    """Return the area under the ROC curve and its limits; NaN limits for fewer than `MIN_QUESTIONS` of one class.

    The limits are Wilson's for a share, with the effective number of answers that gives the variance of DeLong et al.
    (1988), summed by question (Obuchowski 1997). `UNSEEN` answers above all others and as many below all are added to
    each class. The effective number is at least that of the rarer class: no area has a larger variance than a share
    of it (Birnbaum & Klose 1957). A percentile bootstrap of 3 wrong answers of 40 gives [1, 1] where the judge ranks
    them correctly.

    Scores are (rows,); so are the booleans, which answers humans accept, and the number of every row's question.

    >>> scores, positive = np.array([0.1, 0.2, 0.3, 0.4, 0.35, 0.6, 0.7, 0.8, 0.9, 1]), np.arange(10) > 4
    >>> [round(float(end), 2) for end in auc_limits(scores, positive, np.arange(10))]
    [1.0, 0.57, 1.0]
    """
    rank = stats.rankdata(scores)
    placement, sizes = np.empty(len(scores)), np.empty(len(scores))
    for side, is_right in ((positive, True), (~positive, False)):
        below = (rank[side] - stats.rankdata(scores[side])) / (~side).sum()  # share of the other class
        placement[side], sizes[side] = below if is_right else 1 - below, side.sum()
    area = float(placement[positive].mean())
    classes = np.array([kish(np.bincount(clusters[side])) for side in (positive, ~positive)])
    fewest = classes.min()
    if fewest < MIN_QUESTIONS - 1e-9:
        return area, float("nan"), float("nan")
    influence = np.bincount(clusters, (placement - area) / sizes)
    unseen = UNSEEN * (area**2 + (1 - area) ** 2) * (classes**-2.0).sum()
    variance = (influence**2).sum() * fewest / (fewest - 1) + unseen
    low, high = wilson(area, max(area * (1 - area) / variance, fewest), stats.norm.isf((1 - CONFIDENCE) / 2))
    return area, float(low), float(high)


def resampled_kendall(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b of every resample; see `resampled_pearson`."""
    if len(x) > _MAX_SIGNS:
        return np.array([_weighted_kendall(x, y, sample) for sample in counts])
    # All pairs of rows at once: many small calls of scipy take longer.
    signs_x, signs_y = (np.sign(side[:, None] - side) for side in (x, y))
    weighted = (((counts @ pairs) * counts).sum(axis=1) for pairs in (signs_x * signs_y, signs_x**2, signs_y**2))
    concordant, untied_x, untied_y = weighted
    return ratio(concordant, np.sqrt(untied_x * untied_y))


def _weighted_kendall(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> float:
    """Return Kendall's tau-b of rows that stand (rows,) times in a sample; parts of a row are slower to count."""
    rows = np.flatnonzero(counts)
    if (counts == np.round(counts)).all():
        rows = np.repeat(rows, counts[rows].astype(int))
        return kendall(x[rows], y[rows])
    x, y, weight = x[rows], y[rows], counts[rows].__getitem__
    if not (_varies(x) and _varies(y)):
        return float("nan")
    return float(stats.weightedtau(x, y, np.arange(len(rows)), weight, additive=False).statistic)


def permutation_p(
    x: np.ndarray, y: np.ndarray, human: np.ndarray, clusters: np.ndarray, number: int, seed: int
) -> np.ndarray:
    """Return (pairs,) two-sided p-values of the difference of two metrics' Pearson correlations with the humans.

    The test is that of Deutsch, Dror & Roth (2021) by question: both metrics are standardized, and every permutation
    swaps their scores in a random half of the questions. p is (1 + permutations with at least such a difference) / (1
    + permutations). For Spearman's correlation pass ranks.

    Args:
        x: (pairs, rows) scores of the first metric of every pair; p is NaN where one side is constant.
        y: (pairs, rows) scores of the second one.
        human: (rows,) scores of humans.
        clusters: (rows,) number of every row's question.
        number: of permutations.
        seed: of these.
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
    # What swapping a question adds to the first metric's sum, sum of squares and sum of products with the humans.
    changes = []
    for terms in (y - x, y**2 - x**2, (y - x) * human):
        sums = np.zeros((size, len(x)))
        np.add.at(sums, clusters, terms.T)
        changes.append(sums)
    first, second = x @ human, y @ human
    observed, extreme = np.abs(first - second) / rows, np.zeros(len(x), dtype=int)
    for swapped in swaps(size, number, seed):
        total, squares, products = (swapped @ sums for sums in changes)
        swapped_r = (first + products) / np.sqrt(np.maximum(rows * (rows + squares) - total**2, 1e-12))
        other_r = (second - products) / np.sqrt(np.maximum(rows * (rows - squares) - total**2, 1e-12))
        extreme += (np.abs(swapped_r - other_r) >= observed - 1e-12).sum(axis=0)
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
    every = ((i, j) if human[i] > human[j] else (j, i) for rows in groups.values() for i, j in combinations(rows, 2))
    pairs = [(i, j) for i, j in every if human[i] - human[j] > gap and (systems is None or systems[i] != systems[j])]
    better, worse = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return better, worse


def system_pairs(human: np.ndarray, metric: np.ndarray) -> tuple[int, int]:
    """Return how many pairs of systems a metric ranks as humans do, and how many pairs there are (Kocmi et al. 2021).

    Both sides are (systems,) scores; pairs that humans score equally are left out.

    >>> system_pairs(np.array([0.1, 0.5, 0.9]), np.array([1.0, 3.0, 2.0]))
    (2, 3)
    """
    i, j = np.triu_indices(len(human), 1)
    human_sign, metric_sign = np.sign(human[i] - human[j]), np.sign(metric[i] - metric[j])
    return int(((human_sign == metric_sign) & (human_sign != 0)).sum()), int((human_sign != 0).sum())
