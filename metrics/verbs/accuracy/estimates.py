"""Accuracy of systems and slices from verdicts and labels: arrays in, the numbers of the report out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ...rows.reading import Item
from ...scale.scoring import CONFUSION, QuestionTotals, agreement, confusion_counts, totals_of
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
    sums: estimation.QuestionSums  # of the (answers,) answers, see `estimation.row_sums`
    labels: Labels | None  # of people, None without any
    label_error: float  # share of the labels that are taken to be wrong
    errors: JudgeErrors
    rate_name: str  # what `score` and `compare` call the share of answers that the judge accepts; "" for a column
    confidence: float

    def totals(self, rows: np.ndarray) -> QuestionTotals:
        """Return the sums by question over some rows."""
        return totals_of(self.question_keys, self.sums, rows)

    def accuracy(self, system: str, rows: np.ndarray) -> tuple[dict[str, Any], estimation.AccuracyEstimate]:
        """Return the accuracy on some rows of a system as reports have it, and the estimate behind it.

        See `JudgeErrors.accuracy`; labels add how the judge agrees with them, and how many more would be needed.
        """
        labels, totals = self.labels, self.totals(rows)
        options = {"confidence": self.confidence, "label_error": self.label_error}
        numbers, estimate = self.errors.accuracy(system, totals.sums, **options)
        numbers["questions"] = len(totals.keys)
        numbers |= {self.rate_name: numbers["judged"]} if self.rate_name else {}
        numbers["labels"] = int(labels.number[rows].sum()) if labels else 0
        if estimate.powered is None:
            return numbers, estimate
        labelled = rows[~np.isnan(labels.mean[rows])]
        cases = confusion_counts(self.verdicts[labelled], labels.mean[labelled])
        numbers |= agreement((cases / labels.probability[labelled, None]).sum(axis=0))
        numbers["confusion"] = dict(zip(CONFUSION, cases.sum(axis=0).astype(int).tolist(), strict=True))
        if not np.isnan(estimate.powered.low):
            plan = estimation.LabelPlan(estimate.powered, totals.sums, self.confidence)
            half_widths = {f"{points:g}": points - self.label_error for points in POINTS}
            numbers["needed"] = {points: plan.labels_needed(half) for points, half in half_widths.items()}
            numbers["questions_needed"] = {points: plan.questions_needed(half) for points, half in half_widths.items()}
            numbers["half_width_of_all"] = plan.half_width() + self.label_error
        return numbers, estimate

    def differences(
        self, rows_by_system: Mapping[str, np.ndarray], estimates: Mapping[str, estimation.AccuracyEstimate]
    ) -> list[dict[str, Any]]:
        """Return the differences of all pairs of systems with limits, and how many questions each pair shares."""
        if len(rows_by_system) < 2:
            return []
        keys = [self.totals(rows).keys for rows in rows_by_system.values()]
        aligned = estimation.numbered_alike([estimates[system] for system in rows_by_system], keys)
        limits = estimation.accuracy_differences(aligned, self.confidence, self.label_error)
        shared = [len(np.intersect1d(*pair)) for pair in combinations(keys, 2)]
        return [
            {"first": first, "second": second, "shared_questions": number, "difference": difference}
            for (first, second), number, difference in zip(
                combinations(rows_by_system, 2), shared, limits, strict=True
            )
        ]

    def by_slice(
        self, column: str, slices: Sequence[str], rows_by_system: Mapping[str, np.ndarray], label_file: bool
    ) -> tuple[dict[str, Any], list[str]]:
        """Return {"column", "values": {slice: {system: accuracy}}}, and notes on the slices."""
        rows_by_slice, accuracies = places_of(column, slices), {}
        for name, places in rows_by_slice.items():
            rows = {system: np.intersect1d(rows, places) for system, rows in rows_by_system.items()}
            accuracies[name] = {system: self.accuracy(system, mine)[0] for system, mine in rows.items() if len(mine)}
        estimated = [name for name, by in accuracies.items() if any(of["low"] is not None for of in by.values())]
        notes = slice_notes(column, {name: len(rows) for name, rows in rows_by_slice.items()}, "answers", estimated)
        least = estimation.MIN_LABELS
        few = [name for name, by in accuracies.items() if any(of["labelled"] < least for of in by.values())]
        if few and label_file:
            notes.append(f"by {column}: fewer than {least} labels in {', '.join(few)}: what the judge alone says")
        return {"column": column, "values": accuracies}, notes


def worst_answers(items: Sequence[Item], judged: np.ndarray, labels: np.ndarray, number: int = 10) -> list[dict]:
    """Return the answers most likely to be wrong, by (answers,) labels or, where these are NaN, by the judge."""
    order = np.argsort(np.where(np.isnan(labels), judged, labels * 1.001 - 0.001), kind="stable")[:number].tolist()
    return [
        {
            "system": item.system,
            "place": f"{item.file}:{item.line}",
            "question": item.text,
            "references": item.references,
            "prediction": item.predictions[0],
            "judged": float(judged[row]),
            "label": None if np.isnan(labels[row]) else float(labels[row]),
        }
        for row, item in ((row, items[row]) for row in order)
    ]
