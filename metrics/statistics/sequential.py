"""Anytime-valid tests of a mean of labels, with the judge as control variate. Arrays in, numbers out.

Labels arrive one by one, of questions in random order. Every label is a bet against the claim that the mean is at most
`mean`. If the claim is true, the wealth reaches 1 / level with a probability of at most `level`, whenever people look
or stop (Ville's inequality; Waudby-Smith & Ramdas 2024, "Estimating means of bounded random variables by betting").
The confidence sequence has the means that no bet has rejected.

The judge reduces the variance: its probability of the labelled row, minus its mean on unlabelled rows, is subtracted
(Csillag, Struchiner & Goedert 2025, "Prediction-powered e-values"). Every unlabelled row is used once, and weights and
bets depend on earlier labels only, so the level holds for any judge. `tests/programs/sequential_simulations.py`
measures the level and the number of labels. The package confseq has no control variate; its last release is of 2023.
"""

import numpy as np

from .resampling import LEVEL

_MOST_FRESH, _QUESTIONS_PER_FRESH = 8, 120
_PRIOR, _PRIOR_WEIGHT, _PRIOR_SPREAD = 6.0, 0.6, 0.1  # labels that the first weight counts as; variance of the judge
_RESTRAINT = 0.65  # of the weight with the least variance: a larger one allows larger losses, and bets get smaller
_STAKES, _SHARE_OF_STAKES = (0.4, 0.8), 0.4  # shares of the wealth that are bet, and how much of it in this way
_GAIN, _SQUARE, _COUNT, _MOST = 0.15, 0.16, 3.0, 0.95  # of bets by earlier gains: what is assumed, as so many labels
_MEANS = 200  # of a confidence sequence


def fresh_rows(questions: int) -> int:
    """Return how many unlabelled questions each label is compared with; few questions are all kept for labels.

    >>> fresh_rows(72), fresh_rows(500), fresh_rows(10_000)
    (0, 4, 8)
    """
    return min(_MOST_FRESH, questions // _QUESTIONS_PER_FRESH)


def _before(terms: np.ndarray) -> np.ndarray:
    """Return (..., labels) sums of the terms before each label."""
    return np.cumsum(terms, axis=-1) - terms


def controlled(labels, judged, fresh, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (..., labels) labels minus a control variate, and the (..., labels) weight of the judge in each.

    The control variate is weight * (judged - fresh); every weight depends on earlier labels only.

    Args:
        labels: (..., labels) 0 to 1, in the order in which they came.
        judged: (..., labels) the judge's probabilities of the labelled rows.
        fresh: (..., labels) mean of the judge's probabilities of `number` unlabelled rows, each used once.
        number: of unlabelled rows per label; 0 leaves the labels as they are.

    >>> moved, weight = controlled(np.ones(2), np.array([0.9, 0.5]), np.array([0.7, 0.7]), 4)
    >>> weight.round(3).tolist(), moved.round(3).tolist()
    ([0.312, 0.312], [0.938, 1.062])
    """
    if not number:
        return labels, np.zeros(np.shape(judged))
    count = np.maximum(np.arange(labels.shape[-1]), 1)
    label_sums, judge_sums, products, squares = (
        _before(terms) for terms in (labels, judged, judged * labels, judged**2)
    )
    together = products - label_sums * judge_sums / count + _PRIOR * _PRIOR_WEIGHT * _PRIOR_SPREAD
    weight = together / (squares - judge_sums**2 / count + _PRIOR * _PRIOR_SPREAD)
    weight = _RESTRAINT * number / (number + 1) * np.clip(weight, 0, 1)
    return labels - weight * (judged - fresh), weight


def log_wealth(moved: np.ndarray, weight: np.ndarray, mean: float, side: int, least: float = 0.0) -> np.ndarray:
    """Return the (..., labels) logarithm of the wealth after each label; it starts at 0.

    Args:
        moved: (..., labels) see `controlled`.
        weight: (..., labels) of the judge.
        mean: the claimed mean.
        side: 1 bets against "the mean is at most `mean`", -1 against "the mean is at least `mean`".
        least: lower bound of labels and of the judge's probabilities; -1 for differences of two systems.
    """
    gain = side * (moved - mean)
    worst = (mean - least if side > 0 else 1 - mean) + (1 - least) * weight  # that a label can lose
    fixed = [np.cumsum(np.log1p(stake / worst * gain), axis=-1) for stake in _STAKES]
    count, scale = np.arange(gain.shape[-1]) + _COUNT, 1 - least
    gains = (_before(gain) + _COUNT * _GAIN * scale) / count
    squares = (_before(gain**2) + _COUNT * _SQUARE * scale**2) / count
    learned = np.cumsum(np.log1p(np.clip(gains / squares, 0, _MOST / worst) * gain), axis=-1)
    fixed_bets = np.logaddexp.reduce(fixed, axis=0) - np.log(len(_STAKES))
    return np.logaddexp(np.log(_SHARE_OF_STAKES) + fixed_bets, np.log(1 - _SHARE_OF_STAKES) + learned)


def rejects(moved, weight, mean: float, side: int, level: float = LEVEL, least: float = 0.0) -> np.ndarray:
    """Return whether the claim was rejected after any of the (..., labels); see `log_wealth`.

    >>> labels = np.repeat([1.0, 0.0], [30, 1])
    >>> [bool(rejects(labels, np.zeros(31), mean, 1)) for mean in (0.75, 0.95)]
    [True, False]
    """
    return log_wealth(moved, weight, mean, side, least).max(axis=-1, initial=0) >= -np.log(level)


def confidence_sequence(moved, weight, level: float = LEVEL, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the (...) lower and upper limits of the mean after (..., labels) labels, valid whenever labelling stops.

    >>> [round(float(end), 2) for end in confidence_sequence(np.tile([1.0, 1, 1, 1, 0], 6), np.zeros(30))]
    [0.54, 0.98]
    """
    means = np.linspace(least, 1, _MEANS + 1)[1:-1]
    above, below = (
        np.stack([rejects(moved, weight, mean, side, level / 2, least) for mean in means], axis=-1) for side in (1, -1)
    )
    low = np.where(above.any(axis=-1), means[len(means) - 1 - np.argmax(above[..., ::-1], axis=-1)], least)
    return low, np.where(below.any(axis=-1), means[np.argmax(below, axis=-1)], 1.0)
