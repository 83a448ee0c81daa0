"""The accuracy of systems with intervals that count the judge's errors: what `genqa-metrics accuracy` prints."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ...core.answers import attempts
from ...reports.charts import accuracy_chart
from ...reports.report import Report, as_sentence, highest_accuracy, print_first_screen, short_names, untold
from ...reports.table import Table, accuracy_cell, estimate, number, print_table, source_cell, visible
from ...reports.viewer import ViewedAnswer
from ...rows.errors import FileError, bad_usage
from ...rows.reading import Item, Message, Progress, Skips, ignore, inputs_of
from ...scale.options import OnError, Settings, check_options, with_calibration
from ...scale.tally import CONFUSION, QuestionTotals, agreement, confusion_counts, question_key
from ...statistics import estimation
from ..inputs import digested_sources, places_of, read_answers, slice_notes
from ..judge_errors import (
    JudgeErrors,
    assumption,
    checked_judge,
    confusion_table,
    help_of_judge,
    judge_answers,
    measured_fact,
    methods,
)
from ..labels import LABELS_TO_BEGIN, Labels, agreement_fact, read_labels, selection_notes, what_labels_give
from ..stopping import stopped_outcomes
from ..view.rows import viewed_answers

POINTS = (0.01, 0.02, 0.05)  # half widths of an interval for which the labels needed are reported
SYSTEMS = "Accuracy of the systems"  # a table
MAX_PAIRS_OF = 30  # systems, above which differences are left out
CORRECTION = "holm"  # of differences by labels, as in `compare`


def accuracy(
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
    problem: Message = ignore,
    progress: Progress = ignore,
) -> "AccuracyReport":
    """Estimate how many answers of each system are correct, as `genqa-metrics accuracy` does.

    Args:
        rows: as for `score`, one answer a row.
        labels: labels of people for some of the rows, as `label` writes them: label with question and prediction, or
            with id; system; the probability of being drawn. Default: those in a column label of the rows.
        columns: where a column has another name; {"judge": column} takes the verdicts or probabilities of another
            judge from a column.
        settings: settings of ava, such as threshold or checkpoint.
        finite_population: intervals of these very rows, not of questions like them: narrower, for a fixed test set.
            Needs labels.
        by: also report results for each value of this column, such as a topic; COLUMN.KEY goes into objects.
        rater_error: share of the labels that are wrong, 0.05 for 5%: intervals are wider by it on both sides. Default:
            what the disagreement of several raters shows; 0 where every row has one label.
        confidence: probability that an interval holds the truth.
        ignore_judge_errors: with ava, without labels: intervals of the accuracy that ignore the errors of the judge.
        calibration: with ava: file of `calibrate`. Default: calibration.json in the folder of the checkpoint, if there
            is one.
        on_error: "fail" at the first bad row, or "skip" and count bad rows.
        problem: called with each row that is left out.
        progress: called with what is scored, rows that are done, and all rows.

    Returns:
        `.systems` {system: {"judged", "accuracy", "low", "high", "method", ...}}, `.differences`, `.to_pandas()`.

    Raises:
        ValueError: if an argument or a row is bad.

    >>> answers = [{"question": f"{n}?", "prediction": "a", "references": "a", "by": n % 2} for n in range(200)]
    >>> labels = [{"question": f"{n}?", "prediction": "a", "system": "rows", "label": n % 2} for n in range(60)]
    >>> accuracy(answers, labels, columns={"judge": "by"})
    AccuracyReport(rows 0.500 [0.427, 0.573])
    """
    from ... import __version__

    with bad_usage():
        check_options(on_error, settings=settings, columns=columns, by=by)
        settings = with_calibration(settings or {}, calibration)
        columns, judge_column = checked_judge(columns, settings, labels is not None)
        if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
            raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence!r}; 0.95 is usual")
        is_number = isinstance(rater_error, int | float) and not isinstance(rater_error, bool)
        if rater_error is not None and not (is_number and 0 <= rater_error < 0.5):
            raise ValueError(f"rater_error: expected a share of wrong labels, 0 to below 0.5, got {rater_error!r}")
        sources = digested_sources(rows)
        label_sources = None if labels is None else digested_sources(labels, "labels")
    skips, notes = Skips(on_error == "skip", problem), []
    items, judged, slices, plans, not_numbers = read_answers(sources, columns, skips, judge_column, by)
    inputs = inputs_of(sources, skips)
    if not_numbers:
        unread = "values of score or label are no numbers, nor words such as correct or wrong; they were not used"
        notes.append(f"{not_numbers:,} {unread}")
    if not label_sources and all(item.human[1] is None for item in items):
        for name, value in (("finite_population", finite_population), ("rater_error", rater_error)):
            if value:
                raise FileError(f"{name}: needs labels; give some with labels, or in a column 'label' of the rows")
    label_notes: list[str] = []
    known = read_labels(label_sources, items, plans, columns, skips, label_notes, rater_error)
    if known:
        known.replace_those_of(items)
    if judge_column is None:
        judged, verdicts, scorer, errors, judge_notes = judge_answers(
            items, settings, sources, ignore_judge_errors, progress
        )
        notes += judge_notes
        judge, judged_by = scorer.signature, scorer.title
    else:
        unknown = "the errors of a judge in a column are only known from labels"
        verdicts, errors = (judged >= 0.5).astype(float), JudgeErrors(None, unknown, ignore_judge_errors)
        judge, judged_by = f"column:{judge_column}", f"the column {judge_column}"
    notes += label_notes
    if known and known.until:
        notes += stopped_outcomes(items, judged, known.mean, known.until)
    places = defaultdict(list)
    for place, item in enumerate(items):
        places[item.system].append(place)
    gives_none = np.array(
        [not v and not attempts(item.predictions[0]) for item, v in zip(items, verdicts, strict=True)]
    )
    means, chances = (known.mean, known.probability) if known else (np.nan, 1.0)
    answers = JudgedAnswers(
        verdicts=verdicts,
        asked=np.array([question_key(item) for item in items]),
        sums=estimation.row_sums(judged, verdicts, means, chances, gives_none).T,
        labels=known,
        errors=errors,
        by_ava=judge_column is None,
        finite=finite_population,
        confidence=confidence,
    )
    systems: dict[str, dict] = {}
    estimates: dict[str, Any] = {}
    for system, mine in places.items():
        systems[system], estimates[system] = answers.accuracy(system, np.array(mine))
        if known:
            notes += selection_notes(system, judged[mine], known.probability[mine], answers.asked[mine])
    notes += errors.notes(systems)
    sliced = None
    if by:
        sliced, slice_notes = accuracy_of_slices(by, slices, places, answers, label_sources is not None)
        notes += slice_notes
    measured = errors.measured
    differences = answers.differences(places, estimates) if len(systems) <= MAX_PAIRS_OF else []
    return AccuracyReport(
        genqa_metrics=__version__,
        inputs=inputs,
        labels=inputs_of(label_sources, skips) if label_sources else [] if known else None,
        judge=judge,
        judged_by=judged_by,
        settings={
            "confidence": confidence,
            "truth": "these rows" if finite_population else "questions like these",
            "rater_error": known.error if known else None,
            "correction": CORRECTION if len(differences) > 1 else "none",
            "columns": columns | ({"judge": judge_column} if judge_column else {}),
        },
        raters=known.raters if known else None,
        measured=dict(measured.facts) if measured else None,
        unlike={system: list(others) for system, others in errors.unlike.items()},
        systems=systems,
        differences=differences,
        sliced=sliced,
        bad_rows=skips.skipped,
        notes=notes,
        worst=worst_answers(items, judged, known),
        _answers=partial(
            viewed_answers,
            items,
            judged,
            verdicts,
            known.mean if known else np.full(len(items), np.nan),
            slices if by else (),
            judge="" if judge_column else "ava",
        ),
    )


@dataclass(frozen=True, eq=False, repr=False)
class AccuracyReport(Report):
    """The accuracy of every system.

    Attributes:
        systems: {system: "rows", "questions", "labelled", "judged", "accuracy", "low", "high", "method", "declined",
            "wrong" (shares), "accuracy_given_attempted" ("value", "low", "high", or None), and with labels
            "effective_sample_size", "agreement", "kappa", "confusion"; with an interval by labels "needed" (labels),
            "questions_needed", "half_width_of_all" (with a label of every row)}; where AVA judged, "ava_accuracy" is
            "judged".
        differences: [{"first", "second", "difference": {"value", "low", "high"}}] of every pair of systems.
        judge: signature of the judge.
        worst: the rows that are most surely wrong.
        notes: what a reader must know before the numbers.
    """

    title = "Accuracy"
    styles = ("forest.css",)

    genqa_metrics: str
    inputs: list[dict[str, Any]]
    labels: list[dict[str, Any]] | None
    judge: str
    judged_by: str
    settings: dict[str, Any]
    raters: dict[str, Any] | None  # see `labels.rater_agreement`
    measured: dict[str, Any] | None  # how often the judge was right, and on which data
    unlike: dict[str, list[str]]  # {system: in what its rows differ from these data}
    systems: dict[str, dict[str, Any]]
    differences: list[dict[str, Any]]
    sliced: dict[str, Any] | None  # "column" and "values", {slice: systems}; "slices" in `to_dict`
    bad_rows: int
    notes: list[str]
    worst: list[dict[str, Any]]
    _answers: Callable[[], list[ViewedAnswer]] = list  # what the row viewer shows

    def answers_of_page(self) -> list[ViewedAnswer]:
        """Return all answers with their verdicts and labels."""
        return self._answers()

    def __repr__(self) -> str:
        text = ", ".join(f"{visible(system)} {accuracy_cell(values)}" for system, values in self.systems.items())
        return f"AccuracyReport({text})"

    def to_pandas(self):
        """Return a `pandas.DataFrame` with one row per system."""
        import pandas

        flat = {
            system: {name: value for name, value in result.items() if not isinstance(value, Mapping)}
            for system, result in self.systems.items()
        }
        return pandas.DataFrame.from_dict(flat, orient="index").rename_axis("system")

    @property
    def slices(self) -> dict[str, Any] | None:
        """{slice: systems} with `by`, else None."""
        return self.sliced and self.sliced["values"]

    def to_dict(self) -> dict:
        """Return everything as one object of types that JSON has."""
        return {"slices" if name == "sliced" else name: value for name, value in super().to_dict().items()}

    def tables(self) -> list[Table]:
        """Return the tables."""
        further = self._agreement(), self._by_slice(), self._needed(), self._differences()
        return [self._systems(), *filter(None, further)]

    @property
    def findings(self) -> list[str]:
        """Which system has the highest accuracy, and which others may be as good."""
        told = [system for system, result in self.systems.items() if result["low"] is not None]
        first = max(told, key=lambda system: self.systems[system]["accuracy"], default=None)
        open_pairs = [(p["first"], p["second"]) for p in self.differences if not _is_clear(p["difference"])]
        why, _ = untold(self.notes)
        return why or [
            highest_accuracy(self.systems, [system for pair in open_pairs if first in pair for system in pair])
        ]

    @property
    def next_steps(self) -> list[str]:
        """What to do next: how to get an accuracy or a narrower interval, and to compare."""
        _, steps = untold(self.notes)
        if any("needed" in values for values in self.systems.values()):
            steps += [as_sentence(step) for step in self._more_labels() if step]
        compared = "Read the answers on which systems differ: genqa-metrics compare FILE --labels LABELS."
        return [*steps, *[compared] * (len(self.systems) > 1 and bool(self.labels))]

    def help_of_judge(self) -> str:
        """Whether the judge helps beside the labels, in one sentence; "" without labels."""
        systems = {name: values for name, values in self.systems.items() if "confusion" in values}
        confusion = {name: sum(values["confusion"][name] for values in systems.values()) for name in CONFUSION}
        return help_of_judge(systems, confusion)

    @property
    def headline(self) -> str:
        """What was judged by what, and what the numbers assume, in one line."""
        systems, assumes = self.systems.values(), assumption(self.systems)
        answers, labels = (sum(values[name] for values in systems) for name in ("rows", "labelled"))
        of = f"{answers:,} answer{'s' * (answers != 1)} of {len(systems)} system{'s' * (len(systems) != 1)}"
        labelled = f"{labels:,} labelled" if labels else "without labels"
        return f"{of}, judged by {self.judged_by}, {labelled}{f'; the accuracy {assumes}' * bool(assumes)}"

    def show(self, console: Any) -> None:
        """Print one line a system, the finding and what it rests on; `show_all` prints all tables."""
        systems = self.systems.values()
        labels = sum(values["labelled"] for values in systems)
        told = [values["low"] is not None for values in systems]
        interval = f"{self._percent()} interval for {self.settings['truth']}"
        rests_on = [f"right: {methods(self.systems)}, {interval}"] * any(told)
        rests_on += [*filter(None, [self.help_of_judge()]), *self._more_labels()]
        most = min([LABELS_TO_BEGIN, *(values["rows"] for values in systems)])
        print_first_screen(
            console,
            self.headline,
            self._short(),
            [*(self.findings if all(told) else []), *rests_on],  # a note says that it cannot be told
            [*self.notes, *filter(None, [what_labels_give(most) if not labels else ""])],
            "All tables, how many more labels, and the judge's signature: --verbose",
            lambda room: self._print_slices(console),
        )

    def _print_slices(self, console: Any) -> None:
        if table := self._by_slice():
            console.print()
            print_table(table, console)

    def _short(self) -> Table:
        told = any(values["low"] is not None for values in self.systems.values())
        rows = []
        for name, of in self._ordered():
            right, declined = _cells(of, ("accuracy", "of_rows"))
            rows.append([name, right, *[source_cell(of)] * told, declined])
        return Table("", ["system", "right", *["from"] * told, "declined"], rows, "")

    def _ordered(self) -> list[tuple[str, Mapping]]:
        return sorted(self.systems.items(), key=lambda item: -(item[1]["accuracy"] or 0))

    def _more_labels(self) -> list[str]:
        """Return how many more labels would give an interval of 5 points on both sides, or how many questions."""
        planned = [values for values in self.systems.values() if "needed" in values]
        needed = [values["needed"]["0.05"] for values in planned]
        if None not in needed:
            most = max(needed, default=0)
            return [f"about {most:,} more labels of each system would give +-5 points"] if most else []
        questions = [values["questions_needed"]["0.05"] for values in planned]
        each = "labels of every system" if len(planned) > 1 else "labels"
        more = "" if None in questions else f"+-5 points need {each} on about {rounded(max(questions))} such questions"
        rows, labels = (sum(values[name] for values in self.systems.values()) for name in ("rows", "labelled"))
        widest = 100 * max(values["half_width_of_all"] for values in planned)
        of_all = f"labelling all {rows:,} rows gives about +-{widest:.0f} points" if labels < rows else ""
        return ["; ".join(filter(None, [of_all, more]))]

    def charts(self) -> dict:
        """Return a chart of the accuracy, for the table of the systems."""
        chart = accuracy_chart(self.systems, (), self._percent())
        return {SYSTEMS: chart} if chart else {}

    def _percent(self) -> str:
        return f"{self.settings['confidence']:.0%}"

    def _systems(self) -> Table:
        ava = all("ava_accuracy" in result for result in self.systems.values())
        labelled = any(result["labelled"] for result in self.systems.values())
        told = any(result["low"] is not None for result in self.systems.values())
        header = ["system", "accuracy", *["from", "wrong"] * told, "declined"]
        header += [*["accuracy_given_attempted"] * told, "answers"]
        header += ["ava_accuracy" if ava else "judged", *["labelled", "effective_sample_size"] * labelled]
        rows = [[system, *_cells(result, header[1:])] for system, result in self._ordered()]
        said = "Judged: the share that the judge accepts, its errors included."
        if told:
            said = f"Accuracy with its {self._percent()} interval; {methods(self.systems)}. "
            said += f"The interval is of {self.settings['truth']}."
        said += f" Declined: gives no answer, such as 'I don't know'{'; attempted: the other answers' * told}."
        if labelled:
            said += " Worth: labels and judge give an interval as narrow as this many labels alone."
        return Table(SYSTEMS, header, rows, said, short=short_names(header) | {"ava_accuracy": "judged"})

    def _agreement(self) -> Table | None:
        known = {system: result for system, result in self.systems.items() if "confusion" in result}
        agreed = {system: {**result, **result["confusion"]} for system, result in known.items()}
        said = (
            "Verdicts of the judge beside the labels; agreement and Cohen's kappa are weighted by the probability of "
            "being drawn. Missed: correct but rejected; let through: wrong but accepted."
        )
        return confusion_table("Judge and people", agreed, said) if known else None

    def _needed(self) -> Table | None:
        planned = {system: result for system, result in self.systems.items() if "needed" in result}
        if not planned:
            return None
        points = next(iter(planned.values()))["needed"]
        header = ["system", *(f"+-{float(point) * 100:g} points" for point in points), "+- with all labels"]
        rows = []
        for system, result in planned.items():
            cells = [system]
            for point, count in result["needed"].items():
                questions = result["questions_needed"][point]
                of_questions = "-" if questions is None else f"{rounded(questions)} questions"
                cells.append(of_questions if count is None else f"{count:,}")
            rows.append([*cells, f"+-{100 * result['half_width_of_all']:.0f} points"])
        said = (
            "About how many more rows to label for such an interval; where labels of all rows do not give it, of how "
            "many questions like these they would. -: too many labels are wrong."
        )
        return Table("How many more labels", header, rows, said)

    def _by_slice(self) -> Table | None:
        """Return the accuracy of every system in every slice; None without `by`."""
        if not self.sliced:
            return None
        column, values, labelled = self.sliced["column"], self.sliced["values"], bool(self.labels)
        header = [column, "system", "accuracy", "wrong", "declined", "answers", *["labelled"] * labelled]
        results = [(name, system, result) for name, systems in values.items() for system, result in systems.items()]
        rows = [[name, system, *_cells(result, header[2:])] for name, system, result in results]
        told = sum(result["low"] is not None for *_, result in results)
        said = f"Each interval by itself: of {told:,} intervals about "
        said += f"{told * (1 - self.settings['confidence']):.1f} miss the truth."
        return Table(f"Accuracy by {column}", header, rows, said if told else "")

    def _differences(self) -> Table | None:
        if all(pair["difference"]["value"] is None for pair in self.differences):
            return None
        rows = [
            [f"{pair['first']} - {pair['second']}", estimate(pair["difference"]), f"{pair['shared_questions']:,}"]
            for pair in self.differences
        ]
        marked = {place for place, pair in enumerate(self.differences) if _is_clear(pair["difference"])}
        said = f"With {self._percent()} intervals"
        if self.settings["correction"] == CORRECTION:
            said += f", corrected by Holm's method for the {len(rows):,} pairs, as those of `compare`"
        elif len(rows) > 1:
            said += f", not corrected for the {len(rows):,} pairs"
        said += ". Bold: leaves out 0."
        header = ["pair", "difference of accuracy", "questions in common"]
        return Table("Differences of systems", header, rows, said, marked)

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        facts = [*self._inputs(), f"judge: {self.judge}"]
        if self.raters:
            facts.append(agreement_fact(self.raters))
            if error := self.settings["rater_error"]:
                facts.append(f"wrong labels: {error:.1%}, added to the intervals on both sides")
        facts += [measured_fact(self.measured, self.unlike)] if self.measured else []
        facts += filter(None, [self.help_of_judge()])
        facts += [f"left out: {self.bad_rows:,} bad rows"] * bool(self.bad_rows)
        return [*facts, f"genqa-metrics {self.genqa_metrics}"]


_CELLS = {  # of a system, by the name of the column
    "accuracy": accuracy_cell,
    "from": lambda result: result["source"],
    "wrong": lambda result: number(result["wrong"]),
    "declined": lambda result: number(result["declined"]),
    "of_rows": lambda result: f"{round(result['declined'] * result['rows']):,} of {result['rows']:,}",
    "accuracy_given_attempted": lambda result: estimate(result["accuracy_given_attempted"]),
    "answers": lambda result: f"{result['rows']:,}",
    "ava_accuracy": lambda result: number(result["judged"]),
    "judged": lambda result: number(result["judged"]),
    "labelled": lambda result: f"{result['labelled']:,}",
    "effective_sample_size": lambda result: f"{size:,.0f}" if (size := result.get("effective_sample_size")) else "-",
}


def _cells(result: Mapping, names: Iterable[str]) -> list[str]:
    return [_CELLS[name](result) for name in names]


@dataclass(frozen=True)
class JudgedAnswers:
    """Answers of all systems, judged, some of them labelled."""

    verdicts: np.ndarray  # (answers,) 1 where the judge accepts, else 0
    asked: np.ndarray  # (answers,) the question of every answer, see `question_key`
    sums: np.ndarray  # (answers, 10) see `estimation.row_sums`
    labels: Labels | None  # of people, None without any
    errors: JudgeErrors
    by_ava: bool  # the judge is AVA, whose share of verdicts is "ava_accuracy", as in `score` and `compare`
    finite: bool  # see `estimation.powered`
    confidence: float

    def accuracy(self, system: str, mine: np.ndarray) -> tuple[dict[str, Any], estimation.AccuracyEstimate]:
        """Return the accuracy of some answers of a system with its estimate; see `JudgeErrors.accuracy`."""
        labels = self.labels
        totals = QuestionTotals(self.asked[mine], self.sums[mine])
        sums = totals.question_sums
        known = {"finite": self.finite, "confidence": self.confidence, "label_error": labels.error if labels else 0.0}
        if self.finite and labels:
            right, number = np.nansum(labels.mean[mine]), np.isfinite(labels.mean[mine]).sum()
            known["possible"] = float(right / len(mine)), float(1 - (number - right) / len(mine))
        values, result = self.errors.accuracy(system, sums, **known)
        values |= {"questions": len(totals.keys)} | ({"ava_accuracy": values["judged"]} if self.by_ava else {})
        values["labels"] = int(labels.number[mine].sum()) if labels else 0
        if result.powered is not None:
            values |= self._with_labels(mine, result.powered)
            if not np.isnan(result.powered.low):
                values |= self._more_labels(estimation.LabelPlan(result.powered, sums, self.finite, self.confidence))
        return values, result

    def _with_labels(self, mine: np.ndarray, estimate: estimation.Powered) -> dict[str, Any]:
        """Return what labels say of the judge on some answers."""
        human = self.labels.mean[mine]
        known = ~np.isnan(human)
        weight = 1 / np.where(known, self.labels.probability[mine], 1)
        cases = confusion_counts(self.verdicts[mine][known], human[known])
        alone, width = estimate.labels_high - estimate.labels_low, estimate.high - estimate.low
        return {
            "gain": float((alone / width) ** 2) if width > 0 else 1.0,
            **agreement((weight[known][:, None] * cases).sum(axis=0)),
            "confusion": dict(zip(CONFUSION, cases.sum(axis=0).astype(int).tolist(), strict=True)),
        }

    def _more_labels(self, plan: estimation.LabelPlan) -> dict[str, Any]:
        """Return how many more labels, or questions, are needed, and what labels of all rows would give."""
        left = {f"{points:g}": points - self.labels.error for points in POINTS}  # of the half width, beside the error
        return {
            "needed": {points: plan.labels_needed(half) for points, half in left.items()},
            "questions_needed": {points: plan.questions_needed(half) for points, half in left.items()},
            "half_width_of_all": plan.half_width() + self.labels.error,
        }

    def differences(
        self, places: Mapping[str, Sequence[int]], estimates: Mapping[str, estimation.AccuracyEstimate]
    ) -> list[dict]:
        """Return the differences of all pairs of systems with limits, and how many questions each pair shares."""
        if len(places) < 2:
            return []
        keys = [QuestionTotals(self.asked[mine], self.sums[mine]).keys for mine in places.values()]
        alike = estimation.numbered_alike([estimates[system] for system in places], keys)
        error = self.labels.error if self.labels else 0.0
        ends = estimation.accuracy_differences(alike, self.confidence, error, self.finite)
        pairs, shared = combinations(places, 2), combinations(keys, 2)
        return [
            {
                "first": first,
                "second": second,
                "shared_questions": len(np.intersect1d(*both)),
                "difference": difference,
            }
            for (first, second), both, difference in zip(pairs, shared, ends, strict=True)
        ]


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
                values[name][system] = answers.accuracy(system, mine)[0]
    told = [name for name, of in values.items() if any(value["low"] is not None for value in of.values())]
    notes = slice_notes(column, {name: len(mine) for name, mine in by_slice.items()}, "answers", told)
    least = estimation.MIN_LABELS
    few = [name for name, of in values.items() if any(value["labelled"] < least for value in of.values())]
    if few and label_file:
        notes.append(f"by {column}: fewer than {least} labels in {', '.join(few)}: what the judge alone says")
    return {"column": column, "values": values}, notes


def worst_answers(items: Sequence[Item], judged: np.ndarray, labels: Labels | None, number: int = 10) -> list[dict]:
    """Return the answers most likely to be wrong: by their labels, and without one by the judge."""
    means, worst = np.full(len(items), np.nan) if labels is None else labels.mean, []
    value = np.where(np.isnan(means), judged, means * 1.001 - 0.001)
    for place in np.argsort(value, kind="stable")[:number].tolist():
        item, label = items[place], None if np.isnan(means[place]) else float(means[place])
        texts = {"question": item.text, "references": item.references, "prediction": item.predictions[0]}
        where = {"system": item.system, "place": f"{item.file}:{item.line}"}
        worst.append({**where, **texts, "judged": float(judged[place]), "label": label})
    return worst


def rounded(count: int) -> str:
    """Return a count with two significant digits.

    >>> rounded(347), rounded(12)
    ('350', '12')
    """
    return f"{int(float(f'{count:.2g}')):,}"


def _is_clear(difference: Mapping) -> bool:
    """Return whether a difference has an interval without 0."""
    return difference["low"] is not None and not difference["low"] <= 0 <= difference["high"]
