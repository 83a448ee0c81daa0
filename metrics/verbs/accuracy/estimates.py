"""Accuracy of systems and slices from verdicts and labels: the numbers of the report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...core.answers import attempts
from ...rows.reading import Item
from ...scale.scoring import CONFUSION, QuestionTotals, agreement, confusion_counts, rows_by_system, totals_by_system
from ...statistics import estimation
from ..inputs import places_of, slice_notes
from ..judge_errors import JudgeErrors
from ..label.labels import Labels

POINTS = (0.01, 0.02, 0.05)  # half widths of an interval for which the labels needed are reported


@dataclass(frozen=True)
class JudgedAnswers:
    """Answers of all systems, judged, some of them labelled; the items have the mean labels of people."""

    items: Sequence[Item]
    judged: np.ndarray  # (answers,) numbers of the judge, 0 to 1
    verdicts: np.ndarray  # (answers,) 1 where the judge calls them right, else 0
    labels: Labels | None  # of people, None without any
    errors: JudgeErrors
    rate_name: str  # what `score` and `compare` call the share of answers that are judged right; "" for a column
    confidence: float

    @property
    def label_error(self) -> float:
        """Share of the labels that are taken to be wrong."""
        return self.labels.error if self.labels else 0.0

    def systems(self) -> dict[str, tuple[dict[str, Any], estimation.AccuracyEstimate, QuestionTotals]]:
        """Return {system: its accuracy as reports have it, the estimate behind it, its sums by question}.

        See `JudgeErrors.accuracy`; labels add how the judge agrees with them, and how many more would be needed.
        """
        pairs = zip(self.items, self.verdicts, strict=True)
        declined = np.array([not verdict and not attempts(item.predictions[0]) for item, verdict in pairs])
        totals = totals_by_system(self.items, self.verdicts, self.judged, declined)
        rows_of = rows_by_system([item.system for item in self.items])
        return {system: (*self._accuracy(system, np.array(rows_of[system]), of), of) for system, of in totals.items()}

    def _accuracy(
        self, system: str, rows: np.ndarray, totals: QuestionTotals
    ) -> tuple[dict[str, Any], estimation.AccuracyEstimate]:
        sums, options = totals.sums, {"confidence": self.confidence, "label_error": self.label_error}
        numbers, estimate = self.errors.accuracy(system, sums, **options)
        numbers["questions"] = len(totals.keys)
        numbers |= {self.rate_name: numbers["judged"]} if self.rate_name else {}
        numbers["labels"] = int(self.labels.number[rows].sum()) if self.labels else 0
        if estimate.powered is None:
            return numbers, estimate
        labelled = rows[~np.isnan(self.labels.mean[rows])]
        cases = confusion_counts(self.verdicts[labelled], self.labels.mean[labelled])
        numbers |= agreement((cases / self.labels.probability[labelled, None]).sum(axis=0))
        numbers["confusion"] = dict(zip(CONFUSION, cases.sum(axis=0).astype(int).tolist(), strict=True))
        if not np.isnan(estimate.powered.low):
            plan = estimation.LabelPlan(estimate.powered, sums, self.confidence)
            half_widths = {f"{points:g}": points - self.label_error for points in POINTS}
            numbers["needed"] = {points: plan.labels_needed(half) for points, half in half_widths.items()}
            numbers["questions_needed"] = {points: plan.questions_needed(half) for points, half in half_widths.items()}
            numbers["half_width_of_all"] = plan.half_width() + self.label_error
        return numbers, estimate

    def by_slice(self, column: str, slices: Sequence[str], label_file: bool) -> tuple[dict[str, Any], list[str]]:
        """Return {"column", "values": {slice: {system: accuracy}}}, and notes on the slices."""
        rows_by_slice = places_of(column, slices)
        accuracies = {
            name: {system: of for system, (of, *_) in self._taken(rows).systems().items()}
            for name, rows in rows_by_slice.items()
        }
        estimated = [name for name, by in accuracies.items() if any(of["low"] is not None for of in by.values())]
        notes = slice_notes(column, {name: len(rows) for name, rows in rows_by_slice.items()}, "answers", estimated)
        least = estimation.MIN_LABELS
        few = [name for name, by in accuracies.items() if any(of["labelled"] < least for of in by.values())]
        if few and label_file:
            notes.append(f"by {column}: fewer than {least} labels in {', '.join(few)}: what the judge alone says")
        return {"column": column, "values": accuracies}, notes

    def _taken(self, rows: np.ndarray) -> "JudgedAnswers":
        labels = self.labels and self.labels.taken(rows)
        items = [self.items[row] for row in rows]
        return replace(self, items=items, judged=self.judged[rows], verdicts=self.verdicts[rows], labels=labels)

    def worst(self, number: int = 10) -> list[dict[str, Any]]:
        """Return the answers most likely to be wrong, by labels or, without one, by the judge."""
        labels = self.labels.mean if self.labels else np.full(len(self.items), np.nan)
        order = np.argsort(np.where(np.isnan(labels), self.judged, labels * 1.001 - 0.001), kind="stable")
        return [
            {
                "system": item.system,
                "place": f"{item.file}:{item.line}",
                "question": item.text,
                "references": item.references,
                "prediction": item.predictions[0],
                "judged": float(self.judged[row]),
                "label": None if np.isnan(labels[row]) else float(labels[row]),
            }
            for row, item in ((row, self.items[row]) for row in order[:number].tolist())
        ]
