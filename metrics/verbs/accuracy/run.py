"""Reads and judges answers, and estimates the accuracy of systems and of parts of their answers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...core.scorer import Scorer
from ...registry import make_scorer
from ...rows.errors import FileError
from ...rows.reading import Item, Progress, RowError, RowReader, Skips, good_rows, inputs_of, is_judged
from ...rows.sources import Source
from ...rows.values import Row
from ...scale.options import Settings, checked_columns
from ...scale.tally import CONFUSION, QuestionTotals, agreement, confusion_counts
from ...statistics.estimation import (
    MIN_LABELS,
    AccuracyEstimate,
    LabelPlan,
    Powered,
    difference,
    paired_difference,
    wider,
)
from ...statistics.intervals import newcombe
from ..inputs import calibrated_on
from ..judge_errors import JudgeErrors
from ..labels import LABELS_TO_BEGIN, Labels, plan_of, share_of
from ..slices import places_of, slice_notes, slice_of

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
            What `accuracy` says of a system; and the estimate.
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


def checked_judge(
    columns: Mapping[str, str] | None, settings: Settings | None, label_file: bool = False
) -> tuple[dict[str, str], str | None]:
    """Return names of columns without that of the judge, and the column that has another judge's verdicts.

    Raises:
        ValueError: if a name is bad, AVA has settings but does not judge, or the column has the labels of people.
    """
    result = checked_columns(columns, ["judge"])
    judge = result.pop("judge", None)
    if judge and settings:
        raise ValueError("settings: the judge is a column, which has no settings; drop one of the two")
    if judge and not label_file and judge == result.get("label", "label"):
        raise ValueError(
            f"judge: column {judge!r} has the labels of people, with which the judge is compared; "
            "name another column, or leave the labels unread by naming no column for label (label=)"
        )
    return result, judge


def read_answers(
    sources: Sequence[Source],
    columns: Mapping[str, str],
    skips: Skips,
    judge_column: str | None = None,
    by: str | None = None,
    judged: bool = True,
) -> tuple[list[Item], np.ndarray, list[str], list[tuple[float | None, float | None]], int]:
    """Read the answers of all rows.

    Args:
        sources: where the rows are from.
        columns: where a column has another name.
        skips: what to do about bad rows.
        judge_column: the column with the judge's verdicts or probabilities; None: AVA judges.
        by: the column with slices.
        judged: AVA will judge the answers, so that they need question and references.

    Returns:
        The answers; (answers,) the judge's numbers in its column, NaN without one; the slice of every answer;
        probability and plan of its label; and the number of values of score and label that are no labels.
    """
    readers: dict[str, RowReader] = {}
    asked = {"question": "ava", "references": "ava"} if judged and judge_column is None else {}

    def convert(source: Source, row: Row) -> list[tuple]:
        reader = readers.setdefault(source.name, RowReader(source, columns, lambda kind: asked))
        if reader.row_kind(row.values).sets:
            raise RowError("prediction: expected one answer, got a set; accuracy is of answers")
        value = math.nan
        if judge_column is not None:
            if judge_column not in row.values:
                raise RowError(f"no column {judge_column!r}, which is to have the judge's verdicts")
            value = share_of(judge_column, row.values[judge_column])
        name = slice_of(by, row.values) if by else ""
        read = reader.read(row)
        labelled = any(item.human[1] is not None for item in read)
        plan = plan_of(row.values) if labelled else (None, None)
        return [(item, value, name, plan) for item in read]

    rows = [answer for _, _, answers in good_rows(sources, convert, skips) for answer in answers]
    if not rows:
        names = ", ".join(source.name for source in sources)
        raise FileError(f"{names}: no rows with an answer; is this the right file?")
    items, given, slices, plans = map(list, zip(*rows, strict=True))
    return items, np.array(given), slices, plans, sum(reader.not_numbers for reader in readers.values())


def judge_answers(
    items: Sequence[Item], settings: Settings, sources: Sequence[Source], ignore_judge_errors: bool, progress: Progress
) -> tuple[np.ndarray, np.ndarray, Scorer, JudgeErrors, list[str]]:
    """Return AVA's (items,) probabilities and verdicts, AVA, what is known of its errors, and notes."""
    from ...scale.run import item_statistics

    scorer = make_scorer("ava", settings, ready=not is_judged(sources))
    sums, counts = item_statistics(items, {"ava": scorer}, progress)
    notes = scorer.warnings({"all": sums["ava"].sum(axis=0)[:-1]}, counts["ava"])
    notes += calibrated_on([scorer], inputs_of(sources, Skips()))
    errors = JudgeErrors.of(scorer, counts["ava"], ignore_judge_errors)
    return sums["ava"][:, 1], sums["ava"][:, 0], scorer, errors, notes


def accuracy_of_slices(
    column: str, slices: Sequence[str], places: Mapping[str, Sequence[int]], answers: JudgedAnswers, label_file: bool
) -> tuple[dict[str, Any], list[str]]:
    """Return the accuracy of every system on the rows of every slice, and notes on the slices."""
    values: dict[str, dict] = {}
    by_slice = places_of(column, slices)
    for name, of_slice in by_slice.items():
        values[name] = {}
        for system, mine in places.items():
            mine = np.intersect1d(mine, of_slice)
            if len(mine):
                values[name][system] = answers.accuracy(mine)[0]
    told = [name for name, of in values.items() if any(value["low"] is not None for value in of.values())]
    notes = slice_notes(column, {name: len(mine) for name, mine in by_slice.items()}, "answers", told)
    few = [name for name, of in values.items() if any(value["labelled"] < MIN_LABELS for value in of.values())]
    if few and label_file:
        notes.append(f"by {column}: fewer than {MIN_LABELS} labels in {', '.join(few)}: what the judge alone says")
    return {"column": column, "values": values}, notes


def label_notes(systems: Mapping[str, Mapping], labelled: bool) -> list[str]:
    """Return notes on systems with few labels."""
    notes, few = [], []
    for system, result in systems.items():
        if labelled and result["labelled"] < MIN_LABELS:
            notes.append(f"{system}: no labels, or only one; what is said of it is by the judge")
        if "gain" not in result or result["low"] is None:
            continue
        if result["labelled"] < min(LABELS_TO_BEGIN, result["rows"]):
            few.append(f"{system} {result['labelled']}")
    if few:
        notes.append(f"with fewer than {LABELS_TO_BEGIN} labels an interval is rough: {', '.join(few)}")
    return notes


def worst_answers(judged: np.ndarray, labels: Labels | None, number: int = 10) -> list[int]:
    """Return the rows most likely to be wrong: by their labels, and without one by the judge."""
    value = judged if labels is None else np.where(np.isnan(labels.mean), judged, labels.mean * 1.001 - 0.001)
    return np.argsort(value, kind="stable")[:number].tolist()


def shown_answer(item: Item, judged: float, labels: Labels | None, place: int) -> dict[str, Any]:
    """Return what the report has of an answer, by its place."""
    label = None if labels is None or np.isnan(labels.mean[place]) else float(labels.mean[place])
    return {
        "system": item.system,
        "place": f"{item.file}:{item.line}",
        "question": item.text,
        "references": item.references,
        "prediction": item.predictions[0],
        "judged": float(judged),
        "label": label,
    }
