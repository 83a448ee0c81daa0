"""Bootstrap intervals of the studies. scipy.stats.bootstrap draws no clusters, such as all answers to a question."""

from collections.abc import Callable, Mapping

import numpy as np
from genqa_metrics.statistics.correlation import ratio, resampled_pearson
from genqa_metrics.statistics.intervals import CONFIDENCE
from genqa_metrics.statistics.resampling import MIN_ROWS, bootstrap_counts


def bootstrap(
    statistics: Mapping[str, Callable[[np.ndarray], np.ndarray]], rows: int | np.ndarray, samples: int, seed: int
) -> dict[str, np.ndarray]:
    """Return {name: (samples, ...) values} of statistics, which are functions of (samples, rows) counts."""
    all_counts = bootstrap_counts(rows, samples, seed)
    chunks = [{name: statistic(counts) for name, statistic in statistics.items()} for counts in all_counts]
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in statistics}


def interval(scores: np.ndarray, rows: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the (...) limits of the expanded percentile interval of (samples, ...) bootstrap scores.

    Percentile intervals of few rows are too narrow: they have z in place of t and n in place of n - 1. Expanded ones
    correct this (Hesterberg 2015, "What teachers should know about the bootstrap", section 5.2). `rows` is the
    effective number of rows. Limits are NaN where half of the scores or more are NaN, and for fewer rows than
    `MIN_ROWS`.
    """
    from scipy import stats

    if rows < MIN_ROWS:
        nothing = np.full(np.shape(scores)[1:], np.nan)
        return nothing[()], nothing[()]
    tail = stats.norm.sf(np.sqrt(rows / (rows - 1)) * stats.t.isf((1 - CONFIDENCE) / 2, rows - 1))
    enough = np.isnan(scores).mean(axis=0) < 0.5
    low, high = np.nanpercentile(np.where(enough, scores, 0.0), [100 * tail, 100 * (1 - tail)], axis=0)
    return np.where(enough, low, np.nan)[()], np.where(enough, high, np.nan)[()]


def resampled_ranks(scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return (samples, rows) ranks from 1 in every resample, ties with their mean; undefined for rows not drawn.

    >>> resampled_ranks(np.array([5.0, 7.0, 7.0]), np.array([[1.0, 1, 1], [2, 0, 1]]))
    array([[1. , 2.5, 2.5],
           [1.5, 3. , 3. ]])
    """
    distinct, score_numbers = np.unique(scores, return_inverse=True)
    order = np.argsort(score_numbers, kind="stable")
    first = np.searchsorted(score_numbers[order], np.arange(len(distinct)))
    ties = np.add.reduceat(counts[:, order], first, axis=1)
    rank = np.cumsum(ties, axis=1) - (ties - 1) / 2
    return rank[:, score_numbers]


def resampled_spearman(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return Spearman's rho of every resample, ranked anew; see `resampled_pearson`."""
    return resampled_pearson(resampled_ranks(x, counts), resampled_ranks(y, counts), counts)


def resampled_auc(scores: np.ndarray, positive: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the area under the ROC curve of (rows,) scores and booleans in every resample; NaN with one class."""
    right = (counts * positive).sum(axis=1)
    wrong = counts.sum(axis=1) - right
    above = (counts * positive * resampled_ranks(scores, counts)).sum(axis=1) - right * (right + 1) / 2
    return ratio(above, right * wrong)
