"""The accuracy of systems and of parts of their answers, from a judge and labels: arrays in, numbers out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..scoring.confusion import CONFUSION, agreement, confusion_counts
from .estimation import (
    MIN_LABELS,
    Estimate,
    cluster_sums,
    difference,
    labels_needed,
    newcombe,
    paired_difference,
    prediction_powered,
    wider,
)
from .judge_errors import METHODS, Measured, effective_sample_size, from_rate, method_text
from .labels import Labels

POINTS = (0.01, 0.02, 0.05)  # half widths of an interval for which the labels needed are reported


@dataclass(frozen=True)
class JudgedAnswers:
    """Answers of all systems, judged, some of them labelled.

    Attributes:
        judged: (answers,) the judge's probabilities or verdicts, 0 to 1.
        verdicts: (answers,) 1 where the judge accepts, else 0.
        asked: (answers,) number of the question of every answer, from 0.
        tried: (answers,) whether an answer is correct or an attempt.
        labels: labels of people, None without any.
        measured: what is known of the judge's errors; None to ignore them.
        by_ava: whether the judge is AVA, which names the share of verdicts "ava_accuracy" as `score` and `compare` do.
        finite: see `estimation.prediction_powered`.
        confidence: probability that an interval holds the truth.
    """

    judged: np.ndarray
    verdicts: np.ndarray
    asked: np.ndarray
    tried: np.ndarray
    labels: Labels | None
    measured: Measured | None
    by_ava: bool
    finite: bool
    confidence: float

    def accuracy(self, mine: np.ndarray) -> tuple[dict[str, Any], Estimate | None]:
        """Return the accuracy of some answers, and the shares of them that decline and that are wrong.

        Args:
            mine: (n,) their places.

        Returns:
            What `accuracy_run.AccuracyRun.report` says of a system; and the estimate, None with fewer than
            `MIN_LABELS` labels.
        """
        found, estimate = self._estimated(mine)
        attempted = mine[self.tried[mine]]
        declined = 1 - len(attempted) / len(mine)
        given = None
        if len(attempted):
            ends = found if not declined else self._estimated(attempted)[0]
            given = {"value": ends["accuracy"], "low": ends["low"], "high": ends["high"]}
        wrong = max(0.0, 1 - declined - found["accuracy"])
        return found | {"declined": declined, "wrong": wrong, "accuracy_given_attempted": given}, estimate

    def _estimated(self, mine: np.ndarray) -> tuple[dict[str, Any], Estimate | None]:
        verdicts, asked, labels = self.verdicts[mine], self.asked[mine], self.labels
        clusters = np.unique(asked, return_inverse=True)[1]
        human = labels.mean[mine] if labels else np.full(len(mine), np.nan)
        number, rate = int((~np.isnan(human)).sum()), float(verdicts.mean())
        found: dict[str, Any] = {
            "rows": len(mine),
            "questions": int(clusters.max()) + 1,
            "judged": rate,
            **({"ava_accuracy": rate} if self.by_ava else {}),
            "labelled": number,
            "labels": int(labels.number[mine].sum()) if labels else 0,
        }
        if number >= MIN_LABELS:
            more, result = self._with_labels(mine, human, clusters)
            whole = np.zeros(int(self.asked.max()) + 1)
            whole[np.unique(asked)] = result.influence
            return found | more, replace(result, influence=whole)
        size = effective_sample_size(cluster_sums(verdicts, clusters), np.bincount(clusters))
        alone = from_rate(rate, size, self.measured, self.confidence)
        return found | alone | {"method": method_text(str(alone["method"]), self.measured)}, None

    def _with_labels(self, mine: np.ndarray, human: np.ndarray, clusters: np.ndarray) -> tuple[dict, Estimate]:
        """Return what labels say of some answers; `human` is NaN where nobody labelled one."""
        known, wrong = ~np.isnan(human), self.labels.error
        odds = np.where(known, self.labels.probability[mine], 1)
        options = {"clusters": clusters, "finite": self.finite, "confidence": self.confidence}
        result = prediction_powered(self.judged[mine], human, odds, **options)
        alone = prediction_powered(self.judged[mine], human, odds, **options, trusted=False)
        low, high = wider(result.low, result.high, wrong)
        number, rows = int(known.sum()), len(mine)
        cases = confusion_counts(self.verdicts[mine][known], human[known])
        more = {
            f"{points:g}": labels_needed(result, number, rows, points - wrong, self.finite, self.confidence)
            for points in POINTS
        }
        return {
            "accuracy": float(result.value),
            "low": float(low),
            "high": float(high),
            "method": METHODS["labels"],
            "effective_sample_size": float(min(result.effective_sample_size, np.inf if self.finite else rows)),
            "labels_alone": dict(zip(("low", "high"), wider(alone.low, alone.high, wrong), strict=True)),
            "gain": float(alone.error**2 / max(result.error**2, 1e-12)) if alone.error > 0 else 1.0,
            **agreement(((known / odds)[known][:, None] * cases).sum(axis=0)),
            "confusion": dict(zip(CONFUSION, cases.sum(axis=0).astype(int).tolist(), strict=True)),
            "needed": more,
        }, result

    def difference(
        self, places: Sequence[Sequence[int]], found: Sequence[dict], estimates: Sequence[Estimate | None]
    ) -> dict[str, Any]:
        """Return the difference of the accuracies of two systems with its limits, and how many questions they share.

        Args:
            places: of the answers of both.
            found: what `accuracy` returned of both.
            estimates: the same.
        """
        if None not in estimates:
            value, low, high = self._paired(places) or difference(*estimates)
            low, high = wider(low, high, 2 * self.labels.error, -1.0)
        else:
            value, low, high = newcombe(*([one[end] for end in ("accuracy", "low", "high")] for one in found))
        return {
            "shared_questions": len(np.intersect1d(*(self.asked[mine] for mine in places))),
            "difference": {"value": float(value), "low": float(low), "high": float(high)},
        }

    def _paired(self, places: Sequence[Sequence[int]]) -> tuple | None:
        """Return the difference of two systems with labels for the same questions, drawn alike; None for others."""
        pair = [np.array(mine)[np.argsort(self.asked[mine], kind="stable")] for mine in places]
        one, other = (self.asked[mine] for mine in pair)
        if len(np.unique(one)) < len(one) or not np.array_equal(one, other):
            return None
        human, odds, judged = (
            np.stack([column[mine] for mine in pair])
            for column in (self.labels.mean, self.labels.probability, self.judged)
        )
        if not np.array_equal(*np.isnan(human)) or not np.allclose(*odds, equal_nan=True):
            return None
        return paired_difference(judged, human, odds[0], self.finite, self.confidence)
