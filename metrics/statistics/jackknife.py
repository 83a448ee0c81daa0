"""Intervals from few questions, where a bootstrap is too narrow: one question is left out at a time.

The standard error is that of the jackknife (Efron & Tibshirani 1993, "An Introduction to the Bootstrap", chapter 11),
with Student's t for the number of questions. `tests/test_few_questions.py` measures how often the intervals hold.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from . import resampling
from .intervals import kish
from .resampling import CONFIDENCE, MIN_ROWS

FEW = 30  # questions, below which intervals are those of this file
INTERVAL = "95% jackknife interval with Student's t, {} left out in turn"  # which reports state


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
        return (INTERVAL if self.number < FEW else resampling.INTERVAL).format("questions")

    def values(self, statistics: Mapping[str, Callable[[np.ndarray], np.ndarray]]) -> dict[str, np.ndarray]:
        """Return the values of statistics in every sample, see `resampling.bootstrap`."""
        if self.number < FEW:
            counts = (np.arange(self.questions.max() + 1)[:, None] != self.questions).astype(float)
            return {name: values(counts) for name, values in statistics.items()}
        return resampling.bootstrap(statistics, self.questions, self.samples, self.seed)

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
        return resampling.interval(samples, self.number)
