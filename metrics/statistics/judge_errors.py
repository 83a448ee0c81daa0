"""A share of correct answers, corrected for the errors of the judge that counted them; arrays in, numbers out."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

COUNTS = ("accepted", "correct", "rejected", "incorrect")


@dataclass(frozen=True)
class Counts:
    """How often a judge was right about correct and about incorrect answers; counts may be fractional."""

    accepted: float
    correct: float
    rejected: float
    incorrect: float


@dataclass(frozen=True)
class Calibration(Counts):
    """How a judge did on answers that humans judged too.

    Attributes:
        accepted: correct answers that the judge accepted.
        correct: correct answers.
        rejected: incorrect answers that the judge rejected.
        incorrect: incorrect answers.

    Raises:
        ValueError: if a count is not a whole number in its range.
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


def pooled(groups: Sequence[Counts]) -> tuple[float, float, float, float]:
    """Return one calibration sample of several, with a smaller sample size where groups differ more than by chance.

    A judge errs more often on one system's answers than on another's. Measurements on other systems therefore inform
    as much as a smaller sample of the new system's own answers. Both shares keep their value; their sample sizes are
    reduced until their variance equals the variance between groups (Kish's design effect).

    Args:
        groups: counts of the answers of one system each.

    Returns:
        accepted, correct, rejected and incorrect, as in `Calibration`, possibly fractional.

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
        size = binomial / np.maximum(binomial / number + between * (1 + 1 / len(groups)), 1e-12)
        number = np.where(between > 0, np.clip(size, 1, number), number)
    hit, right = (shares * number).tolist(), number.tolist()
    return hit[0], right[0], hit[1], right[1]


def rogan_gladen(
    positives, number, accepted, correct, rejected, incorrect, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the accuracy corrected for the judge's sensitivity and specificity, with its interval.

    The estimate is Rogan & Gladen's (1978), (share + specificity - 1) / (sensitivity + specificity - 1). The interval
    is that of Lang & Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated sensitivity and
    specificity", Preventive Veterinary Medicine 113 (2014); it is slightly conservative. Both assume that the judge
    errs on this system's answers as often as on the calibration sample.

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

    90 of 100 correct and 80 of 100 incorrect answers judged rightly, 62 of 100 accepted: (0.62 - 0.2) / 0.7 = 0.6.

    >>> [round(float(end), 3) for end in rogan_gladen(62, 100, 90, 100, 80, 100)]
    [0.6, 0.443, 0.749]
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
