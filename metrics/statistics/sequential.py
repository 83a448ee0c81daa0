"""Tests that may be looked at after every label, with the judge as control variate. Arrays in, numbers out.

Labels come one after the other, of questions in random order. A bet on every label is made against the claim that
the mean is at most `mean`; if the claim is true, the wealth reaches 1 / level with at most the probability `level`,
however often people look and whenever they stop (Ville's inequality; Waudby-Smith & Ramdas 2024, "Estimating means of
bounded random variables by betting"). The confidence sequence has the means against which no bet has won.

The judge makes the labels less variable: each is moved by what the judge says of its row, compared with other rows
that nobody labels (as the prediction-powered e-values of Csillag, Struchiner & Goedert 2025). Each of these rows is
used once, and every weight and bet depends on earlier labels only, so that the level holds whatever the judge's
quality. `tests/programs/sequential_simulations.py` measures the level and the number of labels. The package confseq
has such sequences without a judge; its last release is of January 2023.
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


def _before(values: np.ndarray) -> np.ndarray:
    """Return (..., labels) sums of what came before each label."""
    return np.cumsum(values, axis=-1) - values


def controlled(labels, judged, fresh, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (..., labels) labels moved by the judge, and the judge's weight in each, which earlier labels decide.

    `judged` has what the judge says of the labelled rows, `fresh` the mean of what it says of `number` other rows,
    others for each label. Without such rows labels stay as they are.

    >>> moved, weight = controlled(np.ones(2), np.array([0.9, 0.5]), np.array([0.7, 0.7]), 4)
    >>> weight.round(3).tolist(), moved.round(3).tolist()
    ([0.312, 0.312], [0.938, 1.062])
    """
    if not number:
        return labels, np.zeros(np.shape(judged))
    count = np.maximum(np.arange(labels.shape[-1]), 1)
    of_labels, of_judge, products, squares = (_before(part) for part in (labels, judged, judged * labels, judged**2))
    together = products - of_labels * of_judge / count + _PRIOR * _PRIOR_WEIGHT * _PRIOR_SPREAD
    weight = together / (squares - of_judge**2 / count + _PRIOR * _PRIOR_SPREAD)
    weight = _RESTRAINT * number / (number + 1) * np.clip(weight, 0, 1)
    return labels - weight * (judged - fresh), weight


def log_wealth(moved: np.ndarray, weight: np.ndarray, mean: float, side: int, least: float = 0.0) -> np.ndarray:
    """Return the (..., labels) logarithm of the wealth after each label, from 0.

    Args:
        moved: (..., labels) see `controlled`.
        weight: (..., labels) of the judge.
        mean: what is claimed.
        side: 1 against "the mean is at most `mean`", -1 against "at least".
        least: labels and what the judge says are from this to 1; -1 for differences of two systems.
    """
    gain = side * (moved - mean)
    worst = (mean - least if side > 0 else 1 - mean) + (1 - least) * weight  # that a label can lose
    fixed = [np.cumsum(np.log1p(stake / worst * gain), axis=-1) for stake in _STAKES]
    count, scale = np.arange(gain.shape[-1]) + _COUNT, 1 - least
    gains = (_before(gain) + _COUNT * _GAIN * scale) / count
    squares = (_before(gain**2) + _COUNT * _SQUARE * scale**2) / count
    learned = np.cumsum(np.log1p(np.clip(gains / squares, 0, _MOST / worst) * gain), axis=-1)
    of_stakes = np.logaddexp.reduce(fixed, axis=0) - np.log(len(_STAKES))
    return np.logaddexp(np.log(_SHARE_OF_STAKES) + of_stakes, np.log(1 - _SHARE_OF_STAKES) + learned)


def rejects(moved, weight, mean: float, side: int, level: float = LEVEL, least: float = 0.0) -> np.ndarray:
    """Return whether the claim was rejected after any of the (..., labels); see `log_wealth`.

    >>> labels = np.repeat([1.0, 0.0], [30, 1])
    >>> [bool(rejects(labels, np.zeros(31), mean, 1)) for mean in (0.75, 0.95)]
    [True, False]
    """
    return log_wealth(moved, weight, mean, side, least).max(axis=-1, initial=0) >= -np.log(level)


def confidence_sequence(moved, weight, level: float = LEVEL, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the (...) limits after all (..., labels), which hold at all numbers of labels at once.

    >>> [round(float(end), 2) for end in confidence_sequence(np.tile([1.0, 1, 1, 1, 0], 6), np.zeros(30))]
    [0.54, 0.98]
    """
    means = np.linspace(least, 1, _MEANS + 1)[1:-1]
    above, below = (
        np.stack([rejects(moved, weight, mean, side, level / 2, least) for mean in means], axis=-1) for side in (1, -1)
    )
    low = np.where(above.any(axis=-1), means[len(means) - 1 - np.argmax(above[..., ::-1], axis=-1)], least)
    return low, np.where(below.any(axis=-1), means[np.argmax(below, axis=-1)], 1.0)
