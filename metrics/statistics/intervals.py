"""Intervals of shares where rows of one question are correlated. Arrays in, arrays out.

A share has Wilson's interval with an effective sample size from the variance between questions (Korn & Graubard 1998).
It is at least the number of questions, which is that of fully correlated answers, and about the number of rows for
independent ones. `UNSEEN` questions that are all wrong and as many that are all right are added to the variance, which
is hardly known where few questions have an error. scipy's and statsmodels' Wilson intervals take whole counts of
independent rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

CONFIDENCE = 0.95
MIN_QUESTIONS = 5  # of fewer no interval is given
UNSEEN = 0.1  # questions that are all wrong, and as many that are all right, which are added to the variance
FEW_ERRORS = 3  # right or wrong answers up to which a limit is that of a Poisson count


def kish(sizes: np.ndarray) -> np.ndarray:
    """Return the (...) effective number of equally large questions (Kish 1965), from (..., questions) sizes.

    >>> float(kish(np.array([2, 2, 2]))), float(kish(np.array([4, 1, 1])))
    (3.0, 2.0)
    """
    sizes = np.asarray(sizes, dtype=float)
    return sizes.sum(axis=-1) ** 2 / np.maximum((sizes**2).sum(axis=-1), 1e-300)


def effective_size(share, influence: np.ndarray, sizes: np.ndarray, confidence: float = CONFIDENCE):
    """Return the (...) number of independent answers with the same variance of the share as these rows.

    It is at least the effective number of questions: no variance exceeds that of questions whose answers are all
    equal.

    Args:
        share: (...) 0 to 1.
        influence: (..., questions) influence of each question on the share: (sum over its rows - share * rows) / all
            rows.
        sizes: (..., questions) number of rows, or their weight.
        confidence: of the interval; the number makes up for Student's t.

    All answers to a question alike: ten questions inform as ten answers. Answers of which one to each of ten questions
    is wrong inform as more.

    >>> float(effective_size(0.9, (np.repeat([10.0, 0], [9, 1]) - 9) / 100, np.full(10, 10)))
    10.0
    >>> round(float(effective_size(0.9, np.zeros(10), np.full(10, 10))))
    82
    """
    from scipy.special import stdtrit

    share, questions = np.asarray(share, dtype=float), kish(sizes)
    freedom = np.maximum(questions - 1, 1)
    unseen = UNSEEN * (share**2 + (1 - share) ** 2) / questions**2
    variance = (influence**2).sum(axis=-1) * questions / freedom + unseen
    t = stdtrit(freedom, (1 + confidence) / 2) / NormalDist().inv_cdf((1 + confidence) / 2)
    size = share * (1 - share) / np.maximum(variance * t**2, 1e-300)
    return np.maximum(size, questions)


def wilson(share, number, z: float):
    """Return Wilson's (1927) lower and upper (...) limits of a share of independent answers.

    Limits near 0 and 1 are those of a Poisson count where these are wider (Brown, Cai & DasGupta 2001, "Interval
    estimation for a binomial proportion", section 4.1.1). The (...) number of answers need not be whole; `z` is a
    quantile of the normal distribution, 1.96 for 95%.

    >>> [round(float(limit), 3) for limit in wilson(0.8, 20, 1.959964)]
    [0.584, 0.919]
    >>> [round(float(limit), 3) for limit in wilson(0.9, 10, 1.959964)]
    [0.596, 0.995]
    """
    from scipy.special import gammaincinv

    share, number = np.asarray(share, dtype=float), np.asarray(number, dtype=float)
    center = (share + z**2 / (2 * number)) / (1 + z**2 / number)
    half = z / (1 + z**2 / number) * np.sqrt(share * (1 - share) / number + z**2 / (4 * number**2))
    tail, limits = 2 * NormalDist().cdf(-z), []
    for limit, right in ((center - half, share), (1 - center - half, 1 - share)):
        limit, count = np.clip(limit, 0, 1), np.round(right * number, 9)  # 3 of 100, not 3.0000000000000027
        rare = gammaincinv(np.clip(count, 1e-9, None), tail) / number
        limits.append(np.where((count > 0) & (count <= FEW_ERRORS), np.minimum(limit, rare), limit))
    return np.minimum(share, limits[0]), np.maximum(share, 1 - limits[1])


def share_interval(share, influence: np.ndarray, sizes: np.ndarray):
    """Return the 95% limits of a share, or of a mean of numbers from 0 to 1; NaN for fewer than `MIN_QUESTIONS`.

    Arguments are those of `effective_size`.

    >>> verdicts = np.repeat([1.0, 0], [29, 15])
    >>> [round(float(end), 3) for end in share_interval(29 / 44, (verdicts - 29 / 44) / 44, np.ones(44))]
    [0.511, 0.781]
    """
    size = effective_size(share, influence, sizes)
    enough = kish(sizes) >= MIN_QUESTIONS - 1e-9
    limits = wilson(share, size, NormalDist().inv_cdf((1 + CONFIDENCE) / 2))
    return tuple(np.where(enough, limit, np.nan) for limit in limits)


COUNTS = ("accepted", "correct", "rejected", "incorrect")


@dataclass(frozen=True)
class Counts:
    """How often a judge was right about answers that people judged too; counts may be fractional."""

    accepted: float  # correct answers that the judge accepted
    correct: float
    rejected: float  # incorrect answers that the judge rejected
    incorrect: float

    def __post_init__(self):
        for judged_right, kind in (COUNTS[:2], COUNTS[2:]):
            hits, total = getattr(self, judged_right), getattr(self, kind)
            if not total > 0:
                raise ValueError(f"{kind}: expected answers, got {total}; judge some by hand")
            if not 0 <= hits <= total:
                raise ValueError(f"{judged_right}: expected 0 to {total}, the number of {kind} answers, got {hits}")


def read_counts(groups: Iterable[Mapping[str, float]]) -> list[Counts]:
    """Return the counts in mappings, which may have other keys too."""
    return [Counts(*(float(group[name]) for name in COUNTS)) for group in groups]


def pooled(groups: Sequence[Counts]) -> tuple[float, float, float, float]:
    """Return accepted, correct, rejected and incorrect counts of one sample, pooled over several systems.

    A judge errs more often on one system's answers than on another's. Both shares are those of all answers together;
    the sample sizes are reduced until the variance of each share equals that between systems (Kish's design effect).

    >>> pooled([Counts(90, 100, 40, 50), Counts(90, 100, 40, 50)])
    (180.0, 200.0, 80.0, 100.0)
    >>> [round(count, 1) for count in pooled([Counts(95, 100, 42, 50), Counts(85, 100, 38, 50)])]
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
    """Return the (...) accuracy corrected for the judge's sensitivity and specificity, and its limits.

    The estimate is Rogan & Gladen's (1978), (share + specificity - 1) / (sensitivity + specificity - 1). The interval
    is that of Lang & Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated sensitivity and
    specificity", Preventive Veterinary Medicine 113 (2014); it is slightly conservative. Both assume that the judge
    errs on this system's answers as often as on the calibration sample. NaN where it is no better than chance.

    Args:
        positives: (...) number of answers that the judge accepts.
        number: (...) of answers.
        accepted: of the `correct` answers of the calibration sample, those that the judge accepted.
        correct: their number.
        rejected: of the `incorrect` answers of the calibration sample, those that the judge rejected.
        incorrect: their number.
        confidence: of the interval.

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
    return tuple(np.clip(end, 0, 1) for end in (estimate, center + shift - half, center + shift + half))
