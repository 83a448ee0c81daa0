"""The accuracy of systems and of parts of their answers, from a judge and labels: arrays in, numbers out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...scale.tally import CONFUSION, QuestionTotals, agreement, confusion_counts
from ...statistics.estimation import AccuracyEstimate, LabelPlan, Powered, difference, paired_difference, wider
from ...statistics.intervals import newcombe
from ..judge_errors import JudgeErrors
from ..labels import Labels

POINTS = (0.01, 0.02, 0.05)  # half widths of an interval for which the labels needed are reported


@dataclass(frozen=True)
class JudgedAnswers:
    """Answers of all systems, judged, some of them labelled.

    Attributes:
        judged: (answers,) the judge's probabilities or verdicts, 0 to 1.
        verdicts: (answers,) 1 where the judge accepts, else 0.
        asked: (answers,) the question of every answer, see `questions.question_key`.
        sums: (answers, 9) see `estimation.row_sums`.
        tried: (answers,) whether an answer is correct or an attempt.
        labels: labels of people, None without any.
        errors: what is known of the judge's errors.
        by_ava: whether the judge is AVA, which names the share of verdicts "ava_accuracy" as `score` and `compare` do.
        finite: see `estimation.powered`.
        confidence: probability that an interval holds the truth.
    """

    judged: np.ndarray
    verdicts: np.ndarray
    asked: np.ndarray
    sums: np.ndarray
    tried: np.ndarray
    labels: Labels | None
    errors: JudgeErrors
    by_ava: bool
    finite: bool
    confidence: float

    def accuracy(self, mine: np.ndarray) -> tuple[dict[str, Any], AccuracyEstimate]:
        """Return the accuracy of some answers, and the shares of them that decline and that are wrong.

        Args:
            mine: (n,) their places.

        Returns:
            What `accuracy_run.AccuracyRun.report` says of a system; and the estimate.
        """
        values, result = self._estimated(mine)
        attempted = mine[self.tried[mine]]
        declined = 1 - len(attempted) / len(mine)
        given = None
        if len(attempted):
            ends = values if not declined else self._estimated(attempted)[0]
            given = {"value": ends["accuracy"], "low": ends["low"], "high": ends["high"]}
        accuracy = values["accuracy"]
        wrong = None if accuracy is None else max(0.0, 1 - declined - accuracy)
        return values | {"declined": declined, "wrong": wrong, "accuracy_given_attempted": given}, result

    def _estimated(self, mine: np.ndarray) -> tuple[dict[str, Any], AccuracyEstimate]:
        labels = self.labels
        totals = QuestionTotals(self.asked[mine], self.sums[mine])
        sums = totals.question_sums
        values, result = self.errors.accuracy(
            sums,
            finite=self.finite,
            confidence=self.confidence,
            label_error=labels.error if labels else 0.0,
        )
        rate = values["judged"]
        values |= {
            "rows": len(mine),
            "questions": len(totals.keys),
            **({"ava_accuracy": rate} if self.by_ava else {}),
            "labels": int(labels.number[mine].sum()) if labels else 0,
        }
        if result.powered is not None:
            values |= self._with_labels(mine, result.powered)
            if not np.isnan(result.powered.low):
                values |= self._more_labels(LabelPlan.of(result.powered, sums, self.finite, self.confidence))
            whole = np.zeros(len(self._questions))
            whole[np.searchsorted(self._questions, totals.keys)] = result.powered.influence
            result = replace(result, powered=replace(result.powered, influence=whole))
        return values, result

    @cached_property
    def _questions(self) -> np.ndarray:
        return np.unique(self.asked)

    def _with_labels(self, mine: np.ndarray, estimate: Powered) -> dict[str, Any]:
        """Return what labels say of the judge on some answers."""
        human = self.labels.mean[mine]
        known = ~np.isnan(human)
        weight = 1 / np.where(known, self.labels.probability[mine], 1)
        cases = confusion_counts(self.verdicts[mine][known], human[known])
        alone = estimate.labels_high - estimate.labels_low
        width = estimate.high - estimate.low
        return {
            "gain": float((alone / width) ** 2) if width > 0 else 1.0,
            **agreement((weight[known][:, None] * cases).sum(axis=0)),
            "confusion": dict(zip(CONFUSION, cases.sum(axis=0).astype(int).tolist(), strict=True)),
        }

    def _more_labels(self, plan: LabelPlan) -> dict[str, Any]:
        """Return how many more labels, or questions, are needed, and what labels of all rows would give."""
        left = {f"{points:g}": points - self.labels.error for points in POINTS}  # of the half width, beside the error
        return {
            "needed": {points: plan.labels_needed(half) for points, half in left.items()},
            "questions_needed": {points: plan.questions_needed(half) for points, half in left.items()},
            "half_width_of_all": plan.half_width() + self.labels.error,
        }

    def difference(self, places: Sequence[Sequence[int]], estimates: Sequence[AccuracyEstimate]) -> dict[str, Any]:
        """Return the difference of the accuracies of two systems with its limits, and how many questions they share.

        Args:
            places: of the answers of both.
            estimates: what `accuracy` returned of both.
        """
        value = low = high = None
        told = all(estimate.low is not None for estimate in estimates)
        powered = [estimate.powered for estimate in estimates if estimate.labels_alone]
        if len(powered) == 2 and told:
            ends = self._paired(places) or difference(*powered)
            value, (low, high) = float(ends[0]), wider(ends[1], ends[2], 2 * self.labels.error, -1.0)
        elif told:
            value, low, high = map(
                float, newcombe(*((estimate.value, estimate.low, estimate.high) for estimate in estimates))
            )
        return {
            "shared_questions": len(np.intersect1d(*(self.asked[mine] for mine in places))),
            "difference": {"value": value, "low": low, "high": high},
        }

    def _paired(self, places: Sequence[Sequence[int]]) -> tuple | None:
        """Return the difference of two systems with labels for the same questions, drawn alike; None for others."""
        pair = [np.array(mine)[np.argsort(self.asked[mine], kind="stable")] for mine in places]
        value, other = (self.asked[mine] for mine in pair)
        if len(np.unique(value)) < len(value) or not np.array_equal(value, other):
            return None
        human, odds, judged = (
            np.stack([column[mine] for mine in pair])
            for column in (self.labels.mean, self.labels.probability, self.judged)
        )
        if not np.array_equal(*np.isnan(human)) or not np.allclose(*odds, equal_nan=True):
            return None
        return paired_difference(judged, human, odds[0], self.finite, self.confidence)
