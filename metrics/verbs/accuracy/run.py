"""Rows of systems, a judge, and labels of people where there are some -> the accuracy of each system as one object."""

import math
from collections import defaultdict
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from ...core.answers import attempts
from ...registry import make_scorer
from ...rows.errors import FileError
from ...rows.items import Item, RowError, RowReader
from ...rows.reading import Message, Progress, Skips, good_rows, ignore, inputs_of, is_judged
from ...rows.values import Row
from ...scale.options import OnError, Settings, check_options, checked_columns, with_calibration
from ...scale.tally import question_key
from ...statistics.estimation import MIN_LABELS, row_sums
from ..inputs import calibrated_on, digested_sources
from ..judge_errors import JudgeErrors
from ..labels import LABELS_TO_BEGIN, Labels, plan_of, read_labels, selection_notes, share_of
from ..slices import places_of, slice_notes, slice_of
from .estimates import JudgedAnswers

MAX_PAIRS_OF = 30  # systems, above which differences are left out


class AccuracyRun:
    """Reads rows and labels, judges the rows, and estimates the accuracy of every system.

    Args:
        rows: paths, a list of dicts, a DataFrame or a Dataset; see `inputs.sources_of`.
        labels, columns, settings, finite_population, by, rater_error, confidence, ignore_judge_errors, calibration,
            on_error: see `genqa_metrics.accuracy`.

    Raises:
        ValueError: if an argument is bad. Nothing has been read yet.
    """

    def __init__(
        self,
        rows: Any,
        labels: Any = None,
        columns: Mapping[str, str] | None = None,
        settings: Settings | None = None,
        *,
        finite_population: bool = False,
        by: str | None = None,
        rater_error: float | None = None,
        confidence: float = 0.95,
        ignore_judge_errors: bool = False,
        calibration: str | None = None,
        on_error: OnError = "fail",
    ):
        check_options(on_error, settings=settings, columns=columns, by=by)
        self.columns = checked_columns(columns, ["judge"])
        self.settings = with_calibration(settings or {}, calibration)
        self.finite, self.by, self.confidence, self.rater_error = finite_population, by, confidence, rater_error
        self.ignore_judge_errors, self.skips_rows = ignore_judge_errors, on_error == "skip"
        self.judge_column = self.columns.pop("judge", None)
        if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
            raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence!r}; 0.95 is usual")
        number = isinstance(rater_error, int | float) and not isinstance(rater_error, bool)
        if rater_error is not None and not (number and 0 <= rater_error < 0.5):
            raise ValueError(f"rater_error: expected a share of wrong labels, 0 to below 0.5, got {rater_error!r}")
        if self.judge_column and self.settings:
            raise ValueError("settings: the judge is a column, which has no settings; drop one of the two")
        if self.judge_column and labels is None and self.judge_column == self.columns.get("label", "label"):
            raise ValueError(
                f"judge: column {self.judge_column!r} has the labels of people, with which the judge is compared; "
                "name another column, or leave the labels unread by naming no column for label (label=)"
            )
        self.sources = digested_sources(rows)
        self._not_numbers = 0  # values of score and label that are no labels
        self._plans: list[tuple[float | None, float | None]] = []  # probability and plan of labels in the rows
        self.label_sources = None if labels is None else digested_sources(labels, "labels")

    def report(self, problem: Message = ignore, progress: Progress = ignore) -> dict[str, Any]:
        """Read, judge and estimate.

        Args:
            problem: called with each row that is left out.
            progress: called with what is judged, rows that are done, and all rows.

        Returns:
            "systems": {system: "rows", "questions", "labelled", "judged", "accuracy", "low", "high", "method",
            "declined", "wrong" (shares), "accuracy_given_attempted" ("value", "low", "high", or None), and with labels
            "effective_sample_size", "agreement", "kappa", "confusion"; with an interval by labels "needed"
            (labels), "questions_needed", "half_width_of_all" (with a label of every row)}, "differences" of every
            pair, "notes", "judge" (signature), "judged_by" (title), "inputs", "settings",
            "raters" (see `labels.rater_agreement`), "worst" rows, and
            "slices": None, or "column" and "values", {slice: systems}.

        Raises:
            FileError: if a file cannot be read, a row is bad, or no label is of one of the rows.
        """
        from ... import __version__

        skips = Skips(self.skips_rows, problem)
        items, given, slices = self._items(skips)
        inputs = inputs_of(self.sources, skips)
        notes: list[str] = []
        if self._not_numbers:
            notes.append(
                f"{self._not_numbers:,} values of score or label are no numbers, nor words such as correct or wrong; "
                "they were not used"
            )
        if not self.label_sources and all(item.human[1] is None for item in items):
            for name, given_one in (("finite_population", self.finite), ("rater_error", self.rater_error)):
                if given_one:
                    raise FileError(f"{name}: needs labels; give some with labels, or in a column 'label' of the rows")
        judged, verdicts, judge, judged_by, errors = self._judge(items, given, progress, notes)
        labels = read_labels(self.label_sources, items, self._plans, self.columns, skips, notes, self.rater_error)
        places = defaultdict(list)
        for place, item in enumerate(items):
            places[item.system].append(place)
        tried = [bool(verdict) or attempts(item.predictions[0]) for item, verdict in zip(items, verdicts, strict=True)]
        answers = JudgedAnswers(
            judged=judged,
            verdicts=verdicts,
            asked=np.array([question_key(item) for item in items]),
            sums=row_sums(
                judged,
                verdicts,
                labels.mean if labels else np.nan,
                labels.probability if labels else 1.0,
            ).T,
            tried=np.array(tried),
            labels=labels,
            errors=errors,
            by_ava=self.judge_column is None,
            finite=self.finite,
            confidence=self.confidence,
        )
        systems: dict[str, dict] = {}
        estimates: dict[str, Any] = {}
        for system, mine in places.items():
            systems[system], estimates[system] = answers.accuracy(np.array(mine))
            if labels:
                notes += selection_notes(system, judged[mine], labels.probability[mine], answers.asked[mine])
        self._notes(systems, labels, errors, notes)
        measured = errors.measured
        sliced = self._slices(slices, places, answers, notes) if self.by else None
        pairs = combinations(systems, 2) if len(systems) <= MAX_PAIRS_OF else ()
        return {
            "genqa_metrics": __version__,
            "inputs": inputs,
            "labels": inputs_of(self.label_sources, skips) if self.label_sources else [] if labels else None,
            "judge": judge,
            "judged_by": judged_by,
            "settings": {
                "confidence": self.confidence,
                "truth": "these rows" if self.finite else "questions like these",
                "rater_error": labels.error if labels else None,
                "columns": self.columns | ({"judge": self.judge_column} if self.judge_column else {}),
            },
            "raters": labels.raters if labels else None,
            "measured": dict(measured.facts) if measured else None,
            "unlike": list(measured.unlike) if measured else [],
            "systems": systems,
            "differences": [
                {"first": pair[0], "second": pair[1]}
                | answers.difference(*([of[system] for system in pair] for of in (places, estimates)))
                for pair in pairs
            ],
            "slices": sliced,
            "bad_rows": skips.skipped,
            "notes": notes,
            "worst": [_shown(items[place], judged[place], labels, place) for place in _worst(judged, labels)],
        }

    def judged(self, problem, progress, needed: bool) -> tuple[list[Item], np.ndarray | None]:
        """Return the items of all rows and, where that is needed, the judge's (items,) probabilities."""
        items, given, _ = self._items(Skips(self.skips_rows, problem), needed)
        return items, self._judge(items, given, progress, [])[0] if needed else None

    def _items(self, skips: Skips, judged: bool = True) -> tuple[list[Item], list[float], list[str]]:
        """Return the answers, the judge's numbers from a column, and the slices that the answers belong to."""
        items, given, slices, readers = [], [], [], {}
        self._plans.clear()
        asked = {"question": "ava", "references": "ava"} if judged and self.judge_column is None else {}

        def convert(source, row: Row) -> list[tuple[Item, float, str, tuple]]:
            reader = readers.setdefault(source.name, RowReader(source, self.columns, lambda kind: asked))
            if reader.row_kind(row.values).sets:
                raise RowError("prediction: expected one answer, got a set; accuracy is of answers")
            value = self._given(row.values)
            name = slice_of(self.by, row.values) if self.by else ""
            read = reader.read(row)
            labelled = any(item.human[1] is not None for item in read)
            plan = plan_of(row.values) if labelled else (None, None)
            return [(item, value, name, plan) for item in read]

        for _, _, converted in good_rows(self.sources, convert, skips):
            items += [item for item, *_ in converted]
            self._plans += [plan for *_, plan in converted]
            given += [value for _, value, *_ in converted]
            slices += [name for *_, name, _ in converted]
        self._not_numbers = sum(reader.not_numbers for reader in readers.values())
        if not items:
            names = ", ".join(source.name for source in self.sources)
            raise FileError(f"{names}: no rows with an answer; is this the right file?")
        return items, given, slices

    def _given(self, values: Mapping) -> float:
        if self.judge_column is None:
            return math.nan
        if self.judge_column not in values:
            raise RowError(f"no column {self.judge_column!r}, which is to have the judge's verdicts")
        return share_of(self.judge_column, values[self.judge_column])

    def _judge(self, items, given, progress, notes) -> tuple[np.ndarray, np.ndarray, str, str, JudgeErrors]:
        ignored = self.ignore_judge_errors
        if self.judge_column is not None:
            judged = np.array(given)
            errors = JudgeErrors(None, "the errors of a judge in a column are only known from labels", ignored)
            names = f"column:{self.judge_column}", f"the column {self.judge_column}"
            return judged, (judged >= 0.5).astype(float), *names, errors
        from ...scale.run import item_statistics

        scorer = make_scorer("ava", self.settings, ready=not is_judged(self.sources))
        sums, counts = item_statistics(items, {"ava": scorer}, progress)
        verdicts, judged = sums["ava"][:, 0], sums["ava"][:, 1]
        notes += scorer.warnings({"all": sums["ava"].sum(axis=0)[:-1]}, counts["ava"])
        notes += calibrated_on([scorer], inputs_of(self.sources, Skips()))
        return judged, verdicts, scorer.signature, scorer.title, JudgeErrors.of(scorer, counts["ava"], ignored)

    def _slices(self, slices, places: Mapping, answers: JudgedAnswers, notes: list[str]) -> dict[str, Any]:
        """Return the accuracy of every system on the rows of every slice."""
        column = self.by
        values: dict[str, dict] = {}
        by_slice = places_of(column, slices)
        for name, of_slice in by_slice.items():
            values[name] = {}
            for system, mine in places.items():
                mine = np.intersect1d(mine, of_slice)
                if len(mine):
                    values[name][system] = answers.accuracy(mine)[0]
        told = [name for name, of in values.items() if any(value["low"] is not None for value in of.values())]
        notes += slice_notes(column, {name: len(mine) for name, mine in by_slice.items()}, "answers", told)
        few = [name for name, of in values.items() if any(value["labelled"] < MIN_LABELS for value in of.values())]
        if few and self.label_sources:
            notes.append(f"by {column}: fewer than {MIN_LABELS} labels in {', '.join(few)}: what the judge alone says")
        return {"column": column, "values": values}

    def _notes(self, systems: Mapping[str, Mapping], labels: Labels | None, errors, notes: list[str]) -> None:
        for system, result in systems.items():
            if labels and result["labelled"] < MIN_LABELS:
                notes.append(f"{system}: no labels, or only one; what is said of it is by the judge")
            if "gain" not in result or result["low"] is None:
                continue
            if result["labelled"] < min(LABELS_TO_BEGIN, result["rows"]):
                rough = f"below {LABELS_TO_BEGIN} an interval is rough"
                notes.append(f"{system}: {result['labelled']} labelled rows; {rough}")
        notes += errors.notes(systems)


def _worst(judged: np.ndarray, labels: Labels | None, number: int = 10) -> list[int]:
    """Return the rows most likely to be wrong: by their labels, and without one by the judge."""
    value = judged if labels is None else np.where(np.isnan(labels.mean), judged, labels.mean * 1.001 - 0.001)
    return np.argsort(value, kind="stable")[:number].tolist()


def _shown(item: Item, judged: float, labels: Labels | None, place: int) -> dict[str, Any]:
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
