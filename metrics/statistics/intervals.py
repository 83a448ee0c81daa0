"""Intervals of shares where rows of one question are alike. Arrays in, arrays out.

The unit is the question. A share has Wilson's interval with an effective sample size between the number of questions
(all answers to a question alike) and the number of rows (answers independent). How alike answers are is estimated from
the variance between questions (Korn & Graubard 1998), to which a part of a question that is all wrong and of one that
is all right is added: where few questions have an error, that variance is hardly known and the number of questions
decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

CONFIDENCE = 0.95
MIN_QUESTIONS = 5  # of fewer no interval is given
UNSEEN = 0.1  # of a question that is all wrong, and of one that is all right, which is added to the variance
FEW_ERRORS = 3  # up to which a limit near 0 or 1 is that of a rare event


def kish(sizes: np.ndarray) -> np.ndarray:
    """Return the number of equal questions that inform as much as these (Kish 1965); (...) of (..., questions) sizes.

    >>> float(kish(np.array([2, 2, 2]))), float(kish(np.array([4, 1, 1])))
    (3.0, 2.0)
    """
    sizes = np.asarray(sizes, dtype=float)
    return sizes.sum(axis=-1) ** 2 / np.maximum((sizes**2).sum(axis=-1), 1e-300)


def effective_size(value, influence: np.ndarray, sizes: np.ndarray, confidence: float = CONFIDENCE, drawn=1.0):
    """Return (...) the number of independent answers that inform about a share as much as these rows.

    `influence`, (..., questions), is what each question moves the share by: (sum of its rows - share * rows) / all
    rows; `sizes`, (..., questions), has its rows, or their weight; `drawn` is the part of the variance that is left in
    a finite population. At least the effective number of questions: no variance is larger than that of questions whose
    answers are all alike.

    All answers to a question alike: ten questions inform as ten answers. Answers of which one to each of ten questions
    is wrong inform as more.

    >>> float(effective_size(0.9, (np.repeat([10.0, 0], [9, 1]) - 9) / 100, np.full(10, 10)))
    10.0
    >>> round(float(effective_size(0.9, np.zeros(10), np.full(10, 10))))
    82
    """
    from scipy.special import stdtrit

    value, sizes = np.asarray(value, dtype=float), np.asarray(sizes, dtype=float)
    questions = kish(sizes)
    freedom = np.maximum(questions - 1, 1)
    unseen = UNSEEN * (value**2 + (1 - value) ** 2) / questions**2
    variance = (influence**2).sum(axis=-1) * questions / freedom + unseen * drawn
    t = stdtrit(freedom, (1 + confidence) / 2) / NormalDist().inv_cdf((1 + confidence) / 2)
    size = value * (1 - value) / np.maximum(variance * t**2, 1e-300)
    return np.maximum(size, questions / np.maximum(drawn, 1e-12))


def wilson(value, number, z: float):
    """Return Wilson's (...) limits (1927) for a share of independent answers, whose number need not be whole.

    Next to 0 and 1, where Wilson's limit is too near to them, it is that of a rare event (Brown, Cai & DasGupta 2001,
    "Interval estimation for a binomial proportion", section 4.1.1). `z` is a quantile of the normal distribution, 1.96
    for 95%.

    >>> [round(float(limit), 3) for limit in wilson(0.8, 20, 1.959964)]
    [0.584, 0.919]
    >>> [round(float(limit), 3) for limit in wilson(0.9, 10, 1.959964)]
    [0.596, 0.995]
    """
    from scipy.special import gammaincinv

    value, number = np.asarray(value, dtype=float), np.asarray(number, dtype=float)
    center = (value + z**2 / (2 * number)) / (1 + z**2 / number)
    with np.errstate(over="ignore"):  # labels of all rows are as infinitely many
        half = z / (1 + z**2 / number) * np.sqrt(value * (1 - value) / number + z**2 / (4 * number**2))
    low, high = np.clip(center - half, 0, 1), np.clip(center + half, 0, 1)
    tail = 2 * NormalDist().cdf(-z)
    right, wrong = (np.round(share * number, 9) for share in (value, 1 - value))  # 3 of 100, not 3.0000000000000027
    few = [(count > 0) & (count <= FEW_ERRORS) for count in (right, wrong)]
    rare = [gammaincinv(np.clip(count, 1e-9, None), tail) / number for count in (right, wrong)]
    low = np.where(few[0], np.minimum(low, rare[0]), low)
    high = np.where(few[1], np.maximum(high, 1 - rare[1]), high)
    return np.minimum(value, low), np.maximum(value, high)


def share_interval(value, influence: np.ndarray, sizes: np.ndarray, confidence: float = CONFIDENCE):
    """Return the limits of a share or a mean of numbers from 0 to 1, see `effective_size`; NaN for too few questions.

    >>> verdicts = np.repeat([1.0, 0], [29, 15])
    >>> [round(float(end), 3) for end in share_interval(29 / 44, (verdicts - 29 / 44) / 44, np.ones(44))]
    [0.511, 0.781]
    """
    size = effective_size(value, influence, sizes, confidence)
    enough = kish(sizes) >= MIN_QUESTIONS - 1e-9
    limits = wilson(value, size, NormalDist().inv_cdf((1 + confidence) / 2))
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
        for part, whole in (COUNTS[:2], COUNTS[2:]):
            hits, total = getattr(self, part), getattr(self, whole)
            if not total > 0:
                raise ValueError(f"{whole}: expected answers, got {total}; judge some by hand")
            if not 0 <= hits <= total:
                raise ValueError(f"{part}: expected 0 to {total}, the number of {whole} answers, got {hits}")


def pooled(groups: Sequence[Counts]) -> tuple[float, float, float, float]:
    """Return one calibration sample of several, with a smaller sample size where groups differ more than by chance.

    A judge errs more often on one system's answers than on another's. Measurements on other systems therefore inform
    as much as a smaller sample of the new system's own answers. Both shares keep their value; their sample sizes are
    reduced until their variance equals the variance between groups (Kish's design effect).

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
    """Return (...) the accuracy corrected for the judge's sensitivity and specificity, with its interval.

    The estimate is Rogan & Gladen's (1978), (share + specificity - 1) / (sensitivity + specificity - 1). The interval
    is that of Lang & Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated sensitivity and
    specificity", Preventive Veterinary Medicine 113 (2014); it is slightly conservative. Both assume that the judge
    errs on this system's answers as often as on the calibration sample, whose `Counts` are given beside the `number`
    of answers, and of those judged correct. NaN where the judge is no better than chance.

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
