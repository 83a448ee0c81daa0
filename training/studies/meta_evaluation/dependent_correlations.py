"""Tests two correlations with the same human scores by formulas, which take rows for independent.

`genqa-metrics agree` tests by permutation of whole questions: where several answers to a question are alike, these
formulas find differences too easily.
"""

import numpy as np
from scipy import stats


def williams(r1: float, r2: float, r12: float, rows: int) -> tuple[float, float]:
    """Return Williams' t and its two-sided p for two correlations that share the human side.

    Williams 1959 ("The comparison of regression variables"), equation 7 of Steiger 1980 ("Tests for comparing elements
    of a correlation matrix"). It takes rows for independent and scores for normal.

    Args:
        r1: correlation of the first metric with the humans.
        r2: correlation of the second metric with the humans.
        r12: correlation of the two metrics with each other.
        rows: number of rows, at least 4.

    Returns:
        t with rows - 3 degrees of freedom, and p; NaN where not defined.

    >>> tuple(round(value, 4) for value in williams(0.3, 0.4, 0.5, 100))  # Silver, Hittner & May 2006
    (-1.0767, 0.2843)
    """
    if rows < 4 or not np.all(np.isfinite([r1, r2, r12])) or r12 > 1 - 1e-12:
        return float("nan"), float("nan")
    determinant = max(0.0, 1 - r1**2 - r2**2 - r12**2 + 2 * r1 * r2 * r12)
    below = 2 * (rows - 1) / (rows - 3) * determinant + ((r1 + r2) / 2) ** 2 * (1 - r12) ** 3
    t = (r1 - r2) * np.sqrt((rows - 1) * (1 + r12) / below)
    return float(t), float(2 * stats.t.sf(abs(t), rows - 3))


def steiger(r1: float, r2: float, r12: float, rows: int) -> tuple[float, float]:
    """Return Steiger's Z and its two-sided p for two correlations that share the human side.

    Steiger 1980, equation 14: the test of Dunn and Clark (1969) with the mean correlation in the covariance.

    Args:
        r1: correlation of the first metric with the humans.
        r2: correlation of the second metric with the humans.
        r12: correlation of the two metrics with each other.
        rows: number of rows, at least 4.

    Returns:
        Z and p; NaN where not defined.

    >>> tuple(round(value, 4) for value in steiger(0.3, 0.4, 0.5, 100))  # Silver, Hittner & May 2006
    (-1.0718, 0.2838)
    """
    nan = float("nan"), float("nan")
    if rows < 4 or not np.all(np.isfinite([r1, r2, r12])) or max(abs(r1), abs(r2)) > 1 - 1e-12 or r12 > 1 - 1e-12:
        return nan
    square = ((r1 + r2) / 2) ** 2
    covariance = (r12 * (1 - 2 * square) - square * (1 - 2 * square - r12**2) / 2) / (1 - square) ** 2
    if covariance > 1 - 1e-12:
        return nan
    z = (np.arctanh(r1) - np.arctanh(r2)) * np.sqrt((rows - 3) / (2 - 2 * covariance))
    return float(z), float(2 * stats.norm.sf(abs(z)))
