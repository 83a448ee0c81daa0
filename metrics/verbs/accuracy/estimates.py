"""Accuracy of systems and slices from verdicts and labels: arrays in, the numbers of the report out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ...rows.reading import Item
from ...scale.scoring import CONFUSION, QuestionTotals, agreement, confusion_counts
from ...statistics import estimation
from ..inputs import places_of, slice_notes
from ..judge_errors import JudgeErrors
from ..labels import Labels

POINTS = (0.01, 0.02, 0.05)  # half widths of an interval for which the labels needed are reported


@dataclass(frozen=True)
class JudgedAnswers:
    """Answers of all systems, judged, some of them labelled."""

    verdicts: np.ndarray  # (answers,) 1 where the judge accepts, else 0
    question_keys: np.ndarray  # (answers,) see `question_key`
    row_sums: np.ndarray  # (answers, 10) see `estimation.row_sums`
    labels: Labels | None  # of people, None without any
    errors: JudgeErrors
    rate_name: str  # what `score` and `compare` call the share of answers that the judge accepts; "" for a column
    finite: bool  # see `estimation.powered`
    confidence: float

    @property
    def label_error(self) -> float:
        """Share of the labels that are taken to be wrong."""
        return self.labels.error if self.labels else 0.0

    def totals(self, rows: np.ndarray) -> QuestionTotals:
        """Return the sums by question over some rows."""
        return QuestionTotals(self.question_keys[rows], self.row_sums[rows])

    def accuracy(self, system: str, rows: np.ndarray) -> tuple[dict[str, Any], estimation.AccuracyEstimate]:
        """Return the accuracy on some rows of a system as reports have it, and the estimate behind it.

        See `JudgeErrors.accuracy`; labels add how the judge agrees with them, and how many more would be needed.
        """
        labels, totals = self.labels, self.totals(rows)
        sums = totals.question_sums
        options = {"finite": self.finite, "confidence": self.confidence, "label_error": self.label_error}
        if self.finite and labels:
            right, labelled = np.nansum(labels.mean[rows]), np.isfinite(labels.mean[rows]).sum()
            options["possible"] = float(right / len(rows)), float(1 - (labelled - right) / len(rows))
        numbers, estimate = self.errors.accuracy(system, sums, **options)
        numbers["questions"] = len(totals.keys)
        numbers |= {self.rate_name: numbers["judged"]} if self.rate_name else {}
        numbers["labels"] = int(labels.number[rows].sum()) if labels else 0
        if estimate.powered is not None:
            numbers |= self._agreement(rows)
            if not np.isnan(estimate.powered.low):
                numbers |= self._labels_needed(
                    estimation.LabelPlan(estimate.powered, sums, self.finite, self.confidence)
                )
        return numbers, estimate

    def _agreement(self, rows: np.ndarray) -> dict[str, Any]:
        """Return agreement, kappa, sensitivity, specificity and confusion of the judge and the labels of some rows."""
        labels = self.labels.mean[rows]
        labelled = ~np.isnan(labels)
        weights = 1 / np.where(labelled, self.labels.probability[rows], 1)
        cases = confusion_counts(self.verdicts[rows][labelled], labels[labelled])
        return {
            **agreement((weights[labelled][:, None] * cases).sum(axis=0)),
            "confusion": dict(zip(CONFUSION, cases.sum(axis=0).astype(int).tolist(), strict=True)),
        }

    def _labels_needed(self, plan: estimation.LabelPlan) -> dict[str, Any]:
        """Return labels and questions needed for intervals of `POINTS`, and the half width with all labels."""
        half_widths = {f"{points:g}": points - self.label_error for points in POINTS}
        return {
            "needed": {points: plan.labels_needed(half) for points, half in half_widths.items()},
            "questions_needed": {points: plan.questions_needed(half) for points, half in half_widths.items()},
            "half_width_of_all": plan.half_width() + self.label_error,
        }

    def differences(
        self, rows_by_system: Mapping[str, np.ndarray], estimates: Mapping[str, estimation.AccuracyEstimate]
    ) -> list[dict[str, Any]]:
        """Return the differences of all pairs of systems with limits, and how many questions each pair shares."""
        if len(rows_by_system) < 2:
            return []
        keys = [self.totals(rows).keys for rows in rows_by_system.values()]
        aligned = estimation.numbered_alike([estimates[system] for system in rows_by_system], keys)
        limits = estimation.accuracy_differences(aligned, self.confidence, self.label_error, self.finite)
        pairs, keys_of_pairs = combinations(rows_by_system, 2), combinations(keys, 2)
        return [
            {
                "first": first,
                "second": second,
                "shared_questions": len(np.intersect1d(*pair_keys)),
                "difference": difference,
            }
            for (first, second), pair_keys, difference in zip(pairs, keys_of_pairs, limits, strict=True)
        ]

    def by_slice(
        self, column: str, slices: Sequence[str], rows_by_system: Mapping[str, np.ndarray], label_file: bool
    ) -> tuple[dict[str, Any], list[str]]:
        """Return {"column", "values": {slice: {system: accuracy}}}, and notes on the slices."""
        rows_by_slice, accuracies = places_of(column, slices), {}
        for name, of_slice in rows_by_slice.items():
            rows = {system: np.intersect1d(rows, of_slice) for system, rows in rows_by_system.items()}
            accuracies[name] = {system: self.accuracy(system, mine)[0] for system, mine in rows.items() if len(mine)}
        estimated = [
            name for name, by in accuracies.items() if any(system["low"] is not None for system in by.values())
        ]
        notes = slice_notes(column, {name: len(rows) for name, rows in rows_by_slice.items()}, "answers", estimated)
        least = estimation.MIN_LABELS
        few = [name for name, by in accuracies.items() if any(system["labelled"] < least for system in by.values())]
        if few and label_file:
            notes.append(f"by {column}: fewer than {least} labels in {', '.join(few)}: what the judge alone says")
        return {"column": column, "values": accuracies}, notes


def worst_answers(items: Sequence[Item], judged: np.ndarray, labels: np.ndarray, number: int = 10) -> list[dict]:
    """Return the answers most likely to be wrong, by (answers,) labels or, where these are NaN, by the judge."""
    answers = []
    order = np.argsort(np.where(np.isnan(labels), judged, labels * 1.001 - 0.001), kind="stable")
    for row in order[:number].tolist():
        item, label = items[row], None if np.isnan(labels[row]) else float(labels[row])
        texts = {"question": item.text, "references": item.references, "prediction": item.predictions[0]}
        where = {"system": item.system, "place": f"{item.file}:{item.line}"}
        answers.append({**where, **texts, "judged": float(judged[row]), "label": label})
    return answers
