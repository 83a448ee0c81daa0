"""The accuracy of systems with intervals that count the judge's errors: what `genqa-metrics accuracy` prints."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...registry import JUDGE
from ...reports.charts import Intervals, accuracy_intervals
from ...reports.report import (
    Finding,
    Report,
    as_sentence,
    briefly,
    from_first,
    highest_accuracy,
    lead,
    lead_in_words,
    print_first_screen,
    screen_header,
    short_names,
    untold,
)
from ...reports.table import Table, accuracy_cell, estimate, number, print_table, source_cell, visible
from ...reports.viewer import ViewedAnswer
from ...rows.errors import bad_usage
from ...rows.reading import Message, Progress, Skips, ignore, inputs_of
from ...scale.options import OnError, Settings, check_options
from ...scale.scoring import CONFUSION
from ...statistics.estimation import MEASURED, Reason
from ..inputs import digested_sources, read_answers
from ..judge_errors import (
    CAN_ERR_MORE,
    OF_CONFUSION,
    SHORT_CELLS,
    JudgeErrors,
    best_first,
    checked_judge,
    confusion_table,
    differences_of_pairs,
    help_of_judge,
    judge_answers,
    judge_settings,
    measured_fact,
    methods,
    to_label,
    what_decides,
)
from ..label.labels import (
    LABELS_TO_BEGIN,
    agreement_fact,
    file_for_labels,
    label_more,
    read_labels,
    selection_notes,
    what_labels_give,
)
from ..label.stopping import stopped_outcomes
from ..view.rows import viewed_answers
from .estimates import JudgedAnswers

SYSTEMS, JUDGE_AND_PEOPLE, DIFFERENCES = "Accuracy of the systems", "Judge and people", "Differences of systems"
MAX_PAIRS_OF = 30  # systems, above which differences are left out
MOST_STEPS = 2  # that a first screen proposes
CORRECTION = "holm"  # of differences by labels, as in `compare`


def accuracy(
    rows: Any,
    labels: Any = None,
    columns: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    *,
    by: str | None = None,
    confidence: float = 0.95,
    calibration: str | None = None,
    on_error: OnError = "fail",
    problem: Message = ignore,
    progress: Progress = ignore,
) -> "AccuracyReport":
    """Estimate how many answers of each system are right, as `genqa-metrics accuracy` does.

    Args:
        rows: as for `score`, one answer a row.
        labels: labels of people for some of the rows, as `label` writes them: label with question and prediction, or
            with id; system; the probability of being drawn. Default: those in a column label of the rows.
        columns: where a column has another name; {"judge": column} takes the verdicts or probabilities of another
            judge from a column.
        settings: settings of the judge, {"checkpoint": "large"} or, as for `--set`, {"ava.checkpoint": "large"}.
        by: also report results for each value of this column, such as a topic; COLUMN.KEY goes into objects.
        confidence: probability that an interval holds the truth.
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
        settings = judge_settings(settings, calibration)
        columns, judge_column = checked_judge(columns, settings, labels is not None)
        if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
            raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence!r}; 0.95 is usual")
        sources = digested_sources(rows)
        label_sources = None if labels is None else digested_sources(labels, "labels")
    skips, notes = Skips(on_error == "skip", problem), []
    items, judged, slices, ratings, not_numbers = read_answers(sources, columns, skips, judge_column, by)
    inputs = inputs_of(sources, skips)
    if not_numbers:
        unread = "values of score or label are no numbers, nor words such as correct or wrong; they were not used"
        notes.append(f"{not_numbers:,} {unread}")
    label_notes: list[str] = []
    people = read_labels(label_sources, items, ratings, columns, skips, label_notes)
    labels = people.mean if people else np.full(len(items), np.nan)
    if people:
        people.replace_those_of(items)
    else:  # numbers that are no labels
        for item in items:
            item.human = item.human[0], None
    if judge_column is None:
        judged, verdicts, scorer, errors, judge_notes = judge_answers(items, settings, sources, progress)
        notes += judge_notes
        judge, judged_by, rate_name = scorer.signature, scorer.title, scorer.main
    else:
        unknown = [Reason("the errors of a judge in a column are only known from labels")]
        verdicts, errors = (judged >= 0.5).astype(float), JudgeErrors(None, unknown)
        judge, judged_by, rate_name = f"column:{judge_column}", f"the column {judge_column}", ""
    if people and people.until:  # these decide, and stand first
        notes = [*stopped_outcomes(items, judged, labels, people.until), *label_notes, *notes]
    else:
        notes += label_notes
    answers = JudgedAnswers(items, judged, verdicts, people, errors, rate_name, confidence)
    estimated = answers.systems()
    systems = {system: accuracy for system, (accuracy, *_) in estimated.items()}
    if people:
        notes += selection_notes(items, judged, people.probability)
    estimates = {system: estimate for system, (_, estimate, _) in estimated.items()}
    notes += errors.notes(systems, estimates)
    sliced, differences = None, []
    if by:
        sliced, slice_remarks = answers.by_slice(by, slices, label_sources is not None)
        notes += slice_remarks
    if len(systems) <= MAX_PAIRS_OF:
        totals = {system: sums for system, (*_, sums) in estimated.items()}
        options = {"confidence": confidence, "label_error": answers.label_error}
        differences = differences_of_pairs(estimates, totals, **options)
    shown_judge = "" if judge_column else JUDGE
    return AccuracyReport(
        genqa_metrics=__version__,
        inputs=inputs,
        labels=inputs_of(label_sources, skips) if label_sources else [] if people else None,
        judge=judge,
        judged_by=judged_by,
        settings={
            "confidence": confidence,
            "rater_error": people.error if people else None,
            "correction": CORRECTION if len(_tested(differences)) > 1 else "none",
            "columns": columns | ({"judge": judge_column} if judge_column else {}),
        },
        raters=people.raters if people else None,
        measured=dict(errors.measured.facts) if errors.measured else None,
        unlike={system: list(map(str, others)) for system, others in errors.unlike.items()},
        systems=systems,
        differences=differences,
        sliced=sliced,
        bad_rows=skips.skipped,
        notes=notes,
        worst=answers.worst(),
        _rate_name=rate_name or "judged",
        _label_file=file_for_labels(label_sources or []),
        _answers=partial(viewed_answers, items, judged, verdicts, labels, slices if by else (), judge=shown_judge),
    )


@dataclass(frozen=True, eq=False, repr=False)
class AccuracyReport(Report):
    """The accuracy of every system.

    Attributes:
        systems: {system: "rows", "questions", "labelled", "judged", "accuracy", "low", "high", "method", "declined",
            "wrong" (shares), "accuracy_given_attempted" ("value", "low", "high", or None), and with labels
            "effective_sample_size", "agreement", "kappa", "confusion"; with an interval by labels "needed" (labels),
            "questions_needed", "half_width_of_all" (with a label of every row)}; where AVA judged, its main score is
            "judged".
        differences: [{"first", "second", "difference": {"value", "low", "high"}}] of every pair of systems.
        judge: signature of the judge.
        worst: the rows that are most surely wrong.
        notes: what a reader must know before the numbers.
    """

    title = "Accuracy"

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
    _label_file: str = ""  # to which `label` adds
    _rate_name: str = "judged"  # what tables call the share of answers that are judged right
    _answers: Callable[[], list[ViewedAnswer]] = list  # what the row viewer shows

    def answers_of_page(self) -> list[ViewedAnswer]:
        """Return all answers with their verdicts and labels."""
        return self._answers()

    def __repr__(self) -> str:
        text = ", ".join(f"{visible(system)} {accuracy_cell(accuracy)}" for system, accuracy in self.systems.items())
        return f"AccuracyReport({text})"

    def to_pandas(self):
        """Return a `pandas.DataFrame` with one row per system."""
        import pandas

        flat = {
            system: {name: number for name, number in accuracy.items() if not isinstance(number, Mapping)}
            for system, accuracy in self.systems.items()
        }
        return pandas.DataFrame.from_dict(flat, orient="index").rename_axis("system")

    @property
    def slices(self) -> dict[str, Any] | None:
        """{slice: systems} with `by`, else None."""
        return self.sliced and self.sliced["values"]

    def to_dict(self) -> dict:
        """Return everything as one object of types that JSON has."""
        return {"slices" if name == "sliced" else name: content for name, content in super().to_dict().items()}

    def tables(self) -> list[Table]:
        """Return the tables."""
        return [self._systems(), *filter(None, (self._agreement(), self._by_slice(), self._differences()))]

    @property
    def page_headline(self) -> str:
        """What was judged by what."""
        return f"{self._counts}, judged by {self.judged_by}"

    @property
    def _what_decides(self) -> str:
        is_column = self.judge.startswith("column:")
        return what_decides(self.systems, self.judged_by if is_column else f"the judge {self.judged_by}")

    @property
    def _counts(self) -> str:
        answers, systems = self._sum("rows"), len(self.systems)
        return f"{answers:,} answer{'s' * (answers != 1)} of {systems} system{'s' * (systems != 1)}"

    @property
    def certainty(self) -> list[str]:
        """The interval of the highest of several accuracies, and what these rest on."""
        decides = self._what_decides
        if len(self.systems) < 3 or any(of["low"] is None for of in self.systems.values()):
            return [decides]
        right, low, high = (number(self.systems[self._first][end]) for end in ("accuracy", "low", "high"))
        return [f"The {self._percent()} interval of {right} is {low} to {high}.", decides]

    @property
    def conclusions(self) -> list[Finding]:
        """Which system has the highest accuracy, and which others may be as good; which accuracies cannot be told."""
        (why, _), confidence = untold(self.notes), self.settings["confidence"]
        estimated = {system: accuracy for system, accuracy in self.systems.items() if accuracy["low"] is not None}
        if why:
            others = [f"Of the others, {highest_accuracy(estimated, self._as_good)}"] * (len(estimated) > 1)
            return [*why, *map(Finding, others)]
        if len(self.systems) == 2:
            return [lead(from_first(self.differences[0], self._first), bool(self._as_good), confidence=confidence)]
        return [highest_accuracy(self.systems, self._as_good, confidence)]

    @property
    def _first(self) -> str | None:
        """The system with the highest accuracy among those that have an interval; None without one."""
        with_interval = [system for system, accuracy in self.systems.items() if accuracy["low"] is not None]
        return max(with_interval, key=lambda system: self.systems[system]["accuracy"], default=None)

    @property
    def _as_good(self) -> list[str]:
        """The systems whose lower accuracy than the highest one may be chance."""
        open_pairs = [(p["first"], p["second"]) for p in self.differences if not _is_clear(p["difference"])]
        return [system for pair in open_pairs if self._first in pair for system in pair]

    @property
    def next_steps(self) -> list[str]:
        """What to do next: how to get an accuracy or a narrower interval, and to compare; the better one first."""
        unclear, labelled = untold(self.notes)[1], self._sum("labelled")
        if unclear or not labelled:
            return unclear or [as_sentence(self._to_label())]
        compares = len(self.systems) > 1 and not self.judge.startswith("column:")
        files = "FILE" + " --labels LABELS" * bool(self.labels)
        steps = [f"read the answers on which systems differ: genqa-metrics compare {files}"] * compares
        more = self._more_labels()
        return list(map(as_sentence, more + steps if labelled < self._sum("rows") else steps + more))

    def _to_label(self) -> str:
        """Return how many answers to label where none is, and what that gives."""
        number = min([LABELS_TO_BEGIN, *(accuracy["rows"] for accuracy in self.systems.values())])
        gives = f" ({what_labels_give(number)})" * bool(what_labels_give(number))
        return to_label(self.systems, "accuracy", CAN_ERR_MORE + gives)

    def help_of_judge(self, brief: bool = False) -> str:
        """Return whether the judge helps beside the labels, in one sentence; "" without labels."""
        systems = {name: accuracy for name, accuracy in self.systems.items() if "confusion" in accuracy}
        confusion = {case: sum(accuracy["confusion"][case] for accuracy in systems.values()) for case in CONFUSION}
        return help_of_judge(systems, confusion, brief=brief)

    def _sum(self, name: str) -> int:
        return sum(accuracy[name] for accuracy in self.systems.values())

    @property
    def headline(self) -> str:
        """What was judged, and what the numbers rest on, in one line."""
        return f"{self._counts}. {self._what_decides}"

    def show(self, console: Any) -> None:
        """Print the findings, one line a system, and what to do next; `show_all` prints all tables."""
        steps, confidence = self.next_steps, self.settings["confidence"]
        names = ["accuracy", *["labelled"] * bool(self._sum("labelled")), *["declined"] * self._declines]
        rows = [
            [name, *(SHORT_CELLS[cell](self.systems[name]) for cell in names)] for name in best_first(self.systems)
        ]
        table = Table("", ["system", *names], rows)
        notes = [*self.notes, *filter(None, [self.help_of_judge(brief=True)])]
        print_first_screen(
            console,
            self.conclusions,
            self.headline,
            replace(table, header=screen_header(table, confidence)),
            notes,
            "All tables and what the numbers rest on: --verbose",
            lambda room: self._print_slices(console),
            steps=steps[:MOST_STEPS],
        )

    def _print_slices(self, console: Any) -> None:
        if table := self._by_slice():
            with console.capture() as captured:
                print_table(table, console)
            console.file.write("\n" + captured.get().rstrip("\n") + "\n")

    def _rows(self, header: Sequence[str]) -> list[list[str]]:
        """Return the cells of a table of the systems, the most accurate first."""
        ordered = sorted(self.systems.items(), key=lambda item: -(item[1]["accuracy"] or 0))
        return [[system, *_cells(accuracy, header[1:])] for system, accuracy in ordered]

    def _more_labels(self) -> list[str]:
        """Return [what to label next, and what that gives]; [] where intervals are narrow enough."""
        assumed = [system for system, of in self.systems.items() if of["basis"] == MEASURED]
        if assumed:
            number = min([LABELS_TO_BEGIN, *(self.systems[system]["rows"] for system in assumed)])
            more, others = label_more(self._label_file, number, "accuracy"), self.systems.keys() - {*assumed}
            is_asked = any(self.systems[name]["labelled"] < min(number, self.systems[name]["rows"]) for name in others)
            whose, which = ("every system", briefly(assumed)) if is_asked else (f"{briefly(assumed)} too", "them")
            return [f"label {number} answers of {whose}, since the judge can err more on {which}{more}"]
        return self._plan()

    def _plan(self) -> list[str]:
        """Return [how many labels or questions narrower intervals need]; [] where they are narrow enough."""
        planned = [accuracy for accuracy in self.systems.values() if "needed" in accuracy]
        needed = [accuracy["needed"]["0.05"] for accuracy in planned]
        if None not in needed:
            most = max(needed, default=0)
            return [f"label about {most:,} more answers of each system for +-5 points"] * bool(most)
        questions = [accuracy["questions_needed"]["0.05"] for accuracy in planned]
        rows, widest = self._sum("rows"), 100 * max(accuracy["half_width_of_all"] for accuracy in planned)
        about = (
            "" if None in questions else f"+-5 points need labels on about {rounded(max(questions))} such questions"
        )
        if self._sum("labelled") == rows:
            return [f"add questions: {about}"] * bool(about)
        more = label_more(self._label_file, max(accuracy["rows"] for accuracy in self.systems.values()), "accuracy")
        left = f"the other {rows - self._sum('labelled'):,}" if self._sum("labelled") else f"all {rows:,}"
        return [f"label {left} answers for about +-{widest:.0f} points{f' ({about})' * bool(about)}{more}"]

    def intervals(self) -> dict[str, Intervals]:
        """Return the intervals of the accuracy and of its differences, for their tables."""
        caption = f"{self._percent()} interval"
        pictures = {SYSTEMS: accuracy_intervals(self.systems, caption)}
        if pairs := {lead_in_words(pair): pair["difference"] for pair in self._leads()}:
            pictures[DIFFERENCES] = Intervals("difference of accuracy", pairs, caption, has_zero=True)
        return {title: picture for title, picture in pictures.items() if picture}

    @property
    def _declines(self) -> bool:
        """Whether any answer gives none."""
        return any(of["declined"] for of in self.systems.values())

    def _leads(self) -> list[Mapping[str, Any]]:
        """Return the differences, with the better system of each pair first."""
        first = ("second" if (pair["difference"]["value"] or 0) < 0 else "first" for pair in self.differences)
        return [from_first(pair, pair[ahead]) for pair, ahead in zip(self.differences, first, strict=True)]

    def page_tables(self) -> list[Table]:
        """Return the tables; further columns of the systems are shown when a reader asks for them."""
        systems, *further = self.tables()
        shown = ("system", "accuracy", "from", "labelled")
        extra = [name for name in systems.header if name not in shown] if "from" in systems.header else ()
        in_words = {}
        if pairs := self._leads():
            cells = ["cannot tell" if p["difference"]["value"] is None else estimate(p["difference"]) for p in pairs]
            rows = [list(of) for of in zip(map(lead_in_words, pairs), cells, self._in_common(pairs), strict=True)]
            in_words[DIFFERENCES] = {"header": ["comparison", "difference of accuracy", self._common]}
            in_words[DIFFERENCES] |= {"rows": rows, "explanation": "Bold: chance is unlikely to explain it."}
        in_words[JUDGE_AND_PEOPLE] = {"explanation": OF_CONFUSION}
        further = [replace(table, **in_words.get(table.title, {})) for table in further]
        return [replace(systems, explanation="", extra=extra), *further]

    def page_facts(self) -> list[str]:
        """Return what the numbers rest on, with what the columns of the systems are."""
        further = (table for table in self.tables()[1:] if table.title in (DIFFERENCES, JUDGE_AND_PEOPLE))
        explained = (f"{table.title}: {table.explanation.removesuffix(OF_CONFUSION).strip()}" for table in further)
        return [*self.facts(), self._systems().explanation, *explained]

    def _percent(self) -> str:
        return f"{self.settings['confidence']:.0%}"

    def _systems(self) -> Table:
        is_labelled = bool(self._sum("labelled"))
        is_estimated = any(accuracy["low"] is not None for accuracy in self.systems.values())
        header = ["system", "accuracy", *["source", "wrong"] * is_estimated, "declined"]
        header += [*["accuracy_given_attempted"] * is_estimated, "answers"]
        header += ["judged", *["labelled", "effective_sample_size"] * is_labelled]
        rows = self._rows(header)
        explanation = "Judged right: the share of the answers by the judge's verdicts, its errors included."
        if is_estimated:
            explanation = f"Accuracy with its {self._percent()} interval; {methods(self.systems)}. "
            explanation += "The interval is for questions like these."
        attempted = "; attempted: the other answers" * is_estimated
        explanation += f" Declined: gives no answer, such as 'I don't know'{attempted}."
        if is_labelled:
            explanation += " Worth: labels and judge give an interval as narrow as this many labels alone."
        names = {"judged": self._rate_name, "source": "from"}
        header = [names.get(name, name) for name in header]
        return Table(SYSTEMS, header, rows, explanation, short=short_names(header) | {self._rate_name: "judged right"})

    def _agreement(self) -> Table | None:
        compared = {system: accuracy for system, accuracy in self.systems.items() if "confusion" in accuracy}
        agreed = {system: {**accuracy, **accuracy["confusion"]} for system, accuracy in compared.items()}
        explanation = (
            "Verdicts of the judge beside the labels; agreement and Cohen's kappa are weighted by the probability of "
            "being drawn."
        )
        return confusion_table(JUDGE_AND_PEOPLE, agreed, explanation) if agreed else None

    def _by_slice(self) -> Table | None:
        """Return the accuracy of every system in every slice; slices of which it cannot be told are one line."""
        if not self.sliced:
            return None
        column = self.sliced["column"]
        header = ["accuracy", "wrong", "declined", "answers", *["labelled"] * bool(self.labels)]
        rows, without_interval = [], defaultdict(list)
        for name, systems in self.sliced["values"].items():
            for system, accuracy in systems.items():
                if accuracy["low"] is None:
                    without_interval[system].append((name, accuracy))
                else:
                    rows.append([name, system, *_cells(accuracy, header)])
        shown = len(rows)
        for system, slices in without_interval.items():
            sums = {key: sum(of[key] for _, of in slices) for key in ("rows", "labelled", "labelled_right")}
            for key in ("judged", "declined"):
                sums[key] = sum(of[key] * of["rows"] for _, of in slices) / sums["rows"]
            together = {"accuracy": None, "low": None, "wrong": None, **sums}
            rows.append([briefly([name for name, _ in slices]), system, *_cells(together, header)])
        explanation = f"Each interval by itself: of {shown:,} intervals about "
        explanation += f"{shown * (1 - self.settings['confidence']):.1f} miss the truth."
        return Table(f"Accuracy by {column}", [column, "system", *header], rows, explanation if shown else "")

    def _differences(self) -> Table | None:
        if all(pair["difference"]["value"] is None for pair in self.differences):
            return None
        rows = [
            [f"{pair['first']} - {pair['second']}", estimate(pair["difference"]), common]
            for pair, common in zip(self.differences, self._in_common(self.differences), strict=True)
        ]
        marked = {row for row, pair in enumerate(self.differences) if _is_clear(pair["difference"])}
        explanation = f"With {self._percent()} intervals"
        if self.settings["correction"] == CORRECTION:
            tests = len(_tested(self.differences))
            explanation += f", corrected for {tests:,} tests (Holm), as those of `compare`"
        header = ["pair", "difference of accuracy", self._common]
        return Table(DIFFERENCES, header, rows, f"{explanation}. Bold: leaves out 0.", marked)

    @property
    def _common(self) -> str:
        """What `_in_common` counts."""
        return "questions in common" + " with labels" * bool(self._sum("labelled"))

    def _in_common(self, pairs: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return how many of the questions that both systems of each pair answer have labels, or without any these."""
        has_labels = bool(self._sum("labelled"))
        return [f"{pair['labelled_questions']:,} of " * has_labels + f"{pair['shared_questions']:,}" for pair in pairs]

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        facts = [*self._inputs(), f"judge: {self.judge}"]
        if self.raters:
            facts.append(agreement_fact(self.raters))
            if error := self.settings["rater_error"]:
                facts.append(f"wrong labels: {error:.1%}, added to the intervals on both sides")
        facts += [measured_fact(self.measured, self.unlike)] if self.measured else []
        facts += filter(None, [self.help_of_judge(), *self._plan()])
        facts += [f"left out: {self.bad_rows:,} bad rows"] * bool(self.bad_rows)
        return [*facts, f"genqa-metrics {self.genqa_metrics}"]


_CELLS = {  # of a system, by the name of the number
    "accuracy": accuracy_cell,
    "source": source_cell,
    "wrong": lambda accuracy: number(accuracy["wrong"]),
    "declined": lambda accuracy: number(accuracy["declined"]),
    "accuracy_given_attempted": lambda accuracy: estimate(accuracy["accuracy_given_attempted"]),
    "answers": lambda accuracy: f"{accuracy['rows']:,}",
    "judged": lambda accuracy: number(accuracy["judged"]),
    "labelled": lambda accuracy: f"{accuracy['labelled']:,}",
    "effective_sample_size": lambda of: f"{size:,.0f}" if (size := of.get("effective_sample_size")) else "-",
}


def _cells(accuracy: Mapping, names: Iterable[str]) -> list[str]:
    return [_CELLS[name](accuracy) for name in names]


def rounded(count: int) -> str:
    """Return a count with two significant digits.

    >>> rounded(347), rounded(12)
    ('350', '12')
    """
    return f"{int(float(f'{count:.2g}')):,}"


def _tested(differences: Sequence[Mapping]) -> list[Mapping]:
    """Return the differences of pairs that both have an accuracy."""
    return [pair for pair in differences if pair["difference"]["value"] is not None]


def _is_clear(difference: Mapping) -> bool:
    """Return whether a difference has an interval without 0."""
    return difference["low"] is not None and not difference["low"] <= 0 <= difference["high"]
