"""How near a judge's measures of several systems are to those of people.

Vu & Moschitti, "AVA: an Automatic eValuation Approach for Question Answering Systems", NAACL 2021, section 6 (the
measures of Table 5). Arrays in, numbers out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

DIGITS = 12  # of measures: sums of the same numbers in another order differ after them, and are ties


@dataclass(frozen=True)
class RankAgreement:
    """How near estimates over systems are to the truth.

    Attributes:
        rmse: root of the mean squared error.
        std: standard deviation of the absolute errors, so that rmse**2 = mean absolute error**2 + std**2.
        tau: Kendall's tau-b of the two rankings, NaN if one of them has all systems equal.
        p: its two-sided p-value, exact where no two systems are equal.
    """

    rmse: float
    std: float
    tau: float
    p: float


def rank_agreement(estimated: Sequence[float], true: Sequence[float]) -> RankAgreement:
    """Return how near the estimated measures of systems are to the true ones (Table 5).

    Args:
        estimated: (systems,) measures from a judge's labels.
        true: (systems,) measures from human labels, in the same order.

    Raises:
        ValueError: if the lengths differ, there are fewer than two systems, or a value is not finite.

    Errors 0.03 and -0.01: RMSE is the root of (0.0009 + 0.0001) / 2, the absolute errors 0.03 and 0.01 lie 0.01 from
    their mean.

    >>> agreement = rank_agreement([0.53, 0.79], [0.5, 0.8])
    >>> round(agreement.rmse, 4), round(agreement.std, 4), agreement.tau
    (0.0224, 0.01, 1.0)
    """
    estimated, true = np.asarray(estimated, dtype=float), np.asarray(true, dtype=float)
    if estimated.ndim != 1 or estimated.shape != true.shape or len(true) < 2:
        raise ValueError(
            f"estimated: expected one value for each of at least 2 systems, as many as true, got shapes "
            f"{estimated.shape} and {true.shape}"
        )
    for name, values in (("estimated", estimated), ("true", true)):
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise ValueError(f"{name}, row {bad[0]}: expected a number, got {values[bad[0]]}; leave the system out")
    errors = np.abs(estimated - true)
    tau = stats.kendalltau(estimated.round(DIGITS), true.round(DIGITS))
    return RankAgreement(
        float(np.sqrt((errors**2).mean())), float(errors.std()), float(tau.statistic), float(tau.pvalue)
    )
