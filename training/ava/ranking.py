"""Questions with candidate answers, and measures of rankings, from human or from judged labels.

Vu & Moschitti, "AVA: an Automatic eValuation Approach for Question Answering Systems", NAACL 2021, section 6.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from training.ava.triples import detokenized

MEASURES = ("p_at_1", "map", "mrr")
DIGITS = 12  # of measures: sums of the same numbers in another order differ after them, and are ties


@dataclass(frozen=True)
class Question:
    """A question and its candidate answers; `labels` are 1 for correct ones, 0 for others."""

    text: str
    candidates: tuple[str, ...]
    labels: tuple[int, ...]


def questions_of(rows: Iterable[dict]) -> list[Question]:
    """Return the questions of an answer-sentence selection corpus; equal answers are one, correct if any is."""
    grouped = defaultdict(dict)
    for row in rows:
        answers, answer = grouped[detokenized(row["question"])], detokenized(row["answer"])
        answers[answer] = max(int(row["label"]), answers.get(answer, 0))
    return [Question(text, tuple(answers), tuple(answers.values())) for text, answers in grouped.items()]


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return re.findall(r"\w+", text.lower())


def is_usable(labels: Sequence) -> bool:
    """Return whether a question has both a correct and an incorrect answer, so that its ranking tells something."""
    return 0 < sum(labels) < len(labels)


def ranking_scores(rankings: Sequence[Sequence]) -> dict[str, float]:
    """Return P@1, mean average precision and mean reciprocal rank of labels (0 or 1) by question, best answer first.

    A question without a correct answer counts 0, as it must for a judge that accepts none; leave those without gold
    answers out (`is_usable`). Correct answers at ranks 1 and 3: P@1 1, average precision (1/1 + 2/3) / 2 = 0.833,
    reciprocal rank 1; at rank 2: 0, 1/2, 1/2.

    >>> {name: round(value, 3) for name, value in ranking_scores([[1, 0, 1], [0, 1]]).items()}
    {'p_at_1': 0.5, 'map': 0.667, 'mrr': 0.75}
    """
    totals = np.zeros(len(MEASURES))
    for labels in rankings:
        ranks = np.flatnonzero(labels) + 1
        if len(ranks):
            totals += ranks[0] == 1, (np.arange(1, len(ranks) + 1) / ranks).mean(), 1 / ranks[0]
    return dict(zip(MEASURES, (totals / len(rankings)).tolist(), strict=True))


def rank_agreement(estimated: Sequence[float], true: Sequence[float]) -> dict[str, float]:
    """Return RMSE, deviation of the errors, and Kendall's tau of estimated and true measures of systems (Table 5).

    rmse**2 = mean absolute error**2 + std**2. "tau" is Kendall's tau-b, NaN if one side has all systems equal, and "p"
    its two-sided p-value. Errors 0.03 and -0.01: RMSE is the root of (0.0009 + 0.0001) / 2; 0.03 and 0.01 lie 0.01
    from their mean.

    >>> {name: round(value, 4) for name, value in rank_agreement([0.53, 0.79], [0.5, 0.8]).items()}
    {'rmse': 0.0224, 'std': 0.01, 'tau': 1.0, 'p': 1.0}
    """
    estimated, true = np.asarray(estimated, dtype=float), np.asarray(true, dtype=float)
    errors = np.abs(estimated - true)
    tau = stats.kendalltau(estimated.round(DIGITS), true.round(DIGITS))
    measures = np.sqrt((errors**2).mean()), errors.std(), tau.statistic, tau.pvalue
    return dict(zip(("rmse", "std", "tau", "p"), map(float, measures), strict=True))


def resampled_agreement(estimated: np.ndarray, true: np.ndarray) -> dict[str, np.ndarray]:
    """Return (samples,) RMSE and tau-b of (samples, systems) measures, each as of `rank_agreement`."""
    first, second = np.triu_indices(estimated.shape[1], 1)
    sides = [side.round(DIGITS) for side in (estimated, true)]
    signs = [np.sign(side[:, first] - side[:, second]) for side in sides]
    ordered = np.prod([(column != 0).sum(axis=1) for column in signs], axis=0)
    with np.errstate(invalid="ignore"):
        tau = (signs[0] * signs[1]).sum(axis=1) / np.sqrt(ordered)
    return {"rmse": np.sqrt(((estimated - true) ** 2).mean(axis=1)), "tau": tau}
