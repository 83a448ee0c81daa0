"""A judge's scale, threshold and errors on a user's own data, from labels; arrays in, numbers out.

The judge's log-odds are scaled by the logistic regression of the labels on them (Platt 1999), with a prior that keeps
the judge's own scale where labels are few. An answer counts as correct from a scaled probability of 0.5 on. The errors
at this threshold are cross-fitted: the verdict on an answer is by a scale that was fitted on other questions.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from ...ava.calibration import log_odds, scaled
from ...statistics.intervals import COUNTS, Counts, effective_size, pooled
from ..label.labelling import hash_uniform

THRESHOLD = 0.5  # of the scaled probability
FOLDS = 10
LEAST_LABELS, LEAST_EACH = 20, 4  # answers with a label in all; correct and incorrect ones
SLOPE_SPREAD, INTERCEPT_SPREAD = 1.0, 2.0  # of the prior: of the slope's logarithm around 0, of the intercept around 0


def fitted_scale(probabilities: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the slope and the intercept that scale the judge's log-odds to (answers,) labels, 0 to 1.

    A probability of 0 is of an answer without any word, which is never scaled.

    >>> probabilities = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 0.95] * 20)
    >>> labels = np.array([0.0, 0, 0, 0, 1, 1] * 20)  # the judge accepts too much
    >>> slope, intercept = fitted_scale(probabilities, labels, np.ones(120))
    >>> bool(slope > 1), bool(0.7 < 1 / (1 + np.exp(intercept / slope)) < 0.9)
    (True, True)
    """
    from scipy.optimize import minimize

    kept = probabilities > 0
    odds, labels, weights = log_odds(probabilities[kept]), labels[kept], weights[kept]

    def loss(parameters):
        slope, intercept = np.exp(parameters[0]), parameters[1]
        scaled = slope * odds + intercept
        gap = weights * (1 / (1 + np.exp(-np.clip(scaled, -500, 500))) - labels)
        prior = parameters / np.array([SLOPE_SPREAD, INTERCEPT_SPREAD]) ** 2
        losses = (weights * (np.logaddexp(0, scaled) - labels * scaled)).sum() + (prior * parameters).sum() / 2
        return losses, np.array([(gap * odds).sum() * slope, gap.sum()]) + prior

    log_slope, intercept = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(-5, 5), (-20, 20)]).x
    return float(np.exp(log_slope)), float(intercept)


def folds_of(groups: Sequence[str], number: int = FOLDS) -> np.ndarray:
    """Return the (answers,) fold of each; questions are split evenly, and answers to one question stay together.

    >>> folds_of(["a", "b", "a", "c"], 2).tolist()
    [1, 0, 1, 0]
    """
    names = list(dict.fromkeys(groups))
    order = np.argsort(hash_uniform(names, 0), kind="stable")
    fold = {names[i]: rank % number for rank, i in enumerate(order)}
    return np.array([fold[name] for name in groups])


def cross_fitted(
    probabilities: np.ndarray, labels: np.ndarray, weights: np.ndarray, groups: Sequence[str]
) -> np.ndarray:
    """Return (answers,) the scaled probability of each, by a scale fitted on other questions (`groups`)."""
    folds, result = folds_of(groups), np.zeros(len(probabilities))
    for fold in np.unique(folds):
        rest = folds != fold
        scale = fitted_scale(probabilities[rest], labels[rest], weights[rest])
        result[~rest] = scaled(probabilities[~rest], *scale)
    return result


def error_counts(verdicts: np.ndarray, labels: np.ndarray, weights: np.ndarray | float = 1.0) -> dict[str, float]:
    """Return `COUNTS` of verdicts: a label between 0 and 1 counts in part as correct and in part as incorrect.

    >>> error_counts(np.array([1, 0, 0]), np.array([1, 1, 0]))
    {'accepted': 1.0, 'correct': 2.0, 'rejected': 1.0, 'incorrect': 1.0}
    """
    right, wrong = weights * labels, weights * (1 - labels)
    sums = (right * verdicts).sum(), right.sum(), (wrong * (1 - verdicts)).sum(), wrong.sum()
    return dict(zip(COUNTS, map(float, sums), strict=True))


def effective_counts(
    verdicts: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    groups: Sequence[Hashable],
    systems: Sequence[Hashable],
) -> dict[str, float]:
    """Return `COUNTS` of independent, equally weighted answers that inform as much as (answers,) weighted ones.

    Both shares are those of the weighted answers. Their sample sizes are what the weights leave (Kish), fewer where
    questions, the `groups`, have several answers (`intervals.effective_size`), and where systems differ by more than
    chance (`intervals.pooled`).

    >>> same = effective_counts(np.ones(4), np.ones(4), np.array([1, 1, 1, 3]), "abcd", "xxxx")
    >>> same["accepted"] == same["correct"] == 3.0
    True
    """
    cluster = np.unique(np.array([str(group) for group in groups]), return_inverse=True)[1]
    names = np.array([str(system) for system in systems])
    samples = [error_counts(verdicts[names == name], labels[names == name]) for name in dict.fromkeys(names)]
    samples = [Counts(**sample) for sample in samples if min(sample["correct"], sample["incorrect"]) >= LEAST_EACH]
    most = pooled(samples)[1::2] if len(samples) > 1 else (np.inf, np.inf)
    counts = dict.fromkeys(COUNTS, 0.0)
    sides = (*COUNTS[:2], labels, verdicts, most[0]), (*COUNTS[2:], 1 - labels, 1 - verdicts, most[1])
    for hit, whole, right, share, limit in sides:
        w = weights * right
        if total := w.sum():
            rate = float((w * share).sum() / total)
            moves, sizes = np.bincount(cluster, w * (share - rate)) / total, np.bincount(cluster, w)
            size = min(total**2 / (w**2).sum(), float(effective_size(rate, moves, sizes)), limit)
            counts |= {hit: rate * size, whole: size}
    return {name: round(float(count), 4) for name, count in counts.items()}


def shares_right(verdicts: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> dict[str, float]:
    """Return the weighted shares of all, correct and incorrect answers that verdicts are right about."""
    accepted, correct, rejected, incorrect = error_counts(verdicts, labels, weights).values()
    agreement = (accepted + rejected) / (correct + incorrect)
    return {"agreement": agreement, "sensitivity": accepted / correct, "specificity": rejected / incorrect}


def sign_test(
    before: np.ndarray, after: np.ndarray, labels: np.ndarray, groups: Sequence[str]
) -> tuple[int, int, float]:
    """Return how many questions a judge does better after a change, how many worse, and the p-value of the difference.

    All are (answers,); `groups` are questions. The p-value is that of the exact sign test of these questions
    (McNemar's, where each question has one answer).

    >>> verdicts, questions = np.repeat([1.0, 0], [30, 23]), [str(n) for n in range(53)]
    >>> better, worse, p = sign_test(1 - verdicts, verdicts, np.ones(53), questions)
    >>> better, worse, round(p, 2)
    (30, 23, 0.41)
    >>> sign_test(1 - verdicts, verdicts, np.ones(53), ["one question"] * 53)
    (1, 0, 1.0)
    """
    from scipy.stats import binomtest

    gains = (after - before) * (2 * labels - 1)
    by_question = np.bincount(np.unique(np.array(groups), return_inverse=True)[1], gains)
    better, worse = int((by_question > 1e-9).sum()), int((by_question < -1e-9).sum())
    return better, worse, float(binomtest(better, better + worse).pvalue) if better + worse else 1.0


def area_under_curve(probabilities: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """Return how often a correct answer has a higher probability than an incorrect one; ties count half.

    An answer with a label between 0 and 1, the mean of several raters, is in part correct and in part incorrect.

    >>> area_under_curve(np.array([0.2, 0.7, 0.7, 0.9]), np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4))
    0.875
    """
    from sklearn.metrics import roc_auc_score

    correct = np.repeat([True, False], len(labels))
    shares = np.concatenate([weights * labels, weights * (1 - labels)])
    return float(roc_auc_score(correct, np.tile(probabilities, 2), sample_weight=shares))
