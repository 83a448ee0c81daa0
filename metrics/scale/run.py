"""Scores files of any size: rows come in, statistics are summed by system, one result row goes out for each row in."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal

from .. import __version__
from ..core.scorer import Scorer
from ..registry import scorer_class
from ..rows.errors import Advice, FileError, name_column, too_many_systems
from ..rows.reading import (
    NOT_NUMBERS,
    SINGLE,
    SKIPPED,
    Message,
    RowKind,
    Skips,
    check_columns,
    first_row_kind,
    ignore,
    skipped_of,
)
from ..rows.sources import format_of, sources_of
from ..rows.writing import Writer
from ..statistics.intervals import MIN_QUESTIONS
from .options import ScoreOptions, default_metrics, length_note, make_scorers, needed_columns
from .parts import Parts
from .scoring import output_columns, scored, warn_of_recorded
from .tally import (
    CONFUSION,
    AnswersToRead,
    QuestionTotals,
    Tally,
    agreement,
    cell_shares,
    faults_in_order,
    label_note,
)
from .windows import WINDOW_CHARACTERS, Reading, Window, counted, map_in_order, window_predictions, worker_count

MAX_SYSTEMS = 1000


@dataclass(frozen=True)
class MetricScores:
    """Scores of one metric, by system, and what must be known to read them."""

    by_system: Mapping[str, Mapping[str, float]]  # {system: {score: value}}
    signature: str  # what the numbers depend on
    title: str  # its name and judge
    measures: str  # what its main score is, in words
    error_rate: str  # how often its verdicts are wrong, in words; "" where scores alone say it
    stronger: str  # NAME=VALUE of a setting with which it errs less, and by how much
    threshold: float  # score from which it calls an answer right
    flagged: Mapping[str, str]  # {system: answers that it flags for reading, "2 of 5"}; empty where means say more
    counts: Mapping[str, int]  # of `RowStatistics`
    missing: str  # see `Scorer.missing`
    length_note: str | None  # why its scores show the lengths of answers; None where they do not


@dataclass(frozen=True)
class RowCounts:
    """Numbers of rows."""

    rows: Mapping[str, int]  # {system: rows (contexts, of sets) that were scored}
    predictions: Mapping[str, int]  # {system: predictions that were scored}
    skipped: int  # bad rows that were left out
    skipped_by_system: Mapping[str, int]  # those of them whose system is known
    single: int  # contexts that were left out because their one reference cannot be halved
    not_numbers: int  # values of `score` and `label` that are not numbers; the output has null for them
    too_few: str  # why differences between systems cannot be tested, in words; "" where they can


@dataclass(frozen=True)
class JudgeCounts:
    """What the verdicts of a judge of answers add up to, by system; empty without such a judge."""

    labels: Mapping[str, Mapping[str, Any]]  # {system: counts of `CONFUSION`, and `agreement` with its labels}
    faults: Mapping[str, Mapping[str, int]]  # {system: {fault: answers}}
    cells: Mapping[str, Mapping[str, float]]  # {system: {one of `CELLS`: share of its answers}}
    questions: Mapping[str, QuestionTotals] = field(compare=False)
    profiles: Mapping[str, Mapping[str, int]]  # see `Scorer.profile`


@dataclass
class Scores:
    """Finished numbers of every system, and what happened on the way."""

    sets: bool  # rows were sets of predictions
    counts: RowCounts
    metrics: Mapping[str, MetricScores]  # in the order of the columns
    judge: JudgeCounts = field(repr=False)
    words: Mapping[str, float] = field(repr=False)  # {system: words of its answers, on average}
    to_read: AnswersToRead = field(repr=False, compare=False)
    warnings: list[str]  # of scores that mean less than they seem to
    notes: list[str]  # what must be read with the scores
    columns: dict[str, list] | None = field(default=None, repr=False)  # rows with their scores, as written

    @property
    def scores(self) -> dict[str, Mapping[str, Mapping[str, float]]]:
        """{metric: {system: {score: value}}}."""
        return {name: metric.by_system for name, metric in self.metrics.items()}

    @property
    def signatures(self) -> dict[str, str]:
        """{metric: what its numbers depend on}."""
        return {name: metric.signature for name, metric in self.metrics.items()}

    @property
    def systems(self) -> dict[str, dict[str, float]]:
        """{system: {score: value}}, of all metrics."""
        systems: dict[str, dict[str, float]] = {system: {} for system in self.counts.rows}
        for by_system in (*self.scores.values(), self.judge.cells):
            for system, scores in by_system.items():
                systems[system] |= scores
        return systems


class _OneFile(ExitStack):
    """A single output file, or none; keeps the rows in memory where that is asked for."""

    def __init__(self, options: ScoreOptions):
        super().__init__()
        self.path, self.writer = options.output, None
        self.kept: dict[str, list] | None = {} if options.keep else None

    def write(self, part: int, columns: Mapping[str, str], metadata: Mapping[str, str], rows: Mapping) -> None:
        if self.path is not None:
            self.writer = self.writer or self.enter_context(Writer(self.path, columns, metadata))
            self.writer.write(rows)
        if self.kept is not None:
            for name in columns:
                self.kept.setdefault(name, []).extend(rows[name])

    complete = staticmethod(ignore)


class Run:
    """Scores the rows of files; memory does not grow with their number.

    A bad argument is a ValueError, raised before anything is written. Rows are not kept unless that is asked for.
    """

    def __init__(self, inputs: Any, options: ScoreOptions):
        self.options = options
        try:
            self.keeps: Literal["any", "typed"] | None = None
            self._find(inputs)
            row_kind = None if options.metrics or options.settings else first_row_kind(self.sources, options.columns)
            metrics = default_metrics(row_kind) if row_kind else options.metrics
            self.scorers = make_scorers(metrics, options.settings, self.sources)
            if self.in_parts:
                self._parts = Parts(str(options.output), self._facts(), self.sources, options.resume)
        except FileError as error:  # bad usage: nothing was read yet
            raise ValueError(Advice(error)) from error

    def _find(self, inputs: Any) -> None:
        """Open the sources, and check that the output can be written."""
        output, resume = self.options.output, self.options.resume
        self.in_parts = self.options.in_parts
        if output or self.options.keep:
            typed = self.in_parts or (output and format_of(output)[0] == "Parquet")
            self.keeps = "typed" if typed else "any"
        if resume and not self.in_parts:
            raise ValueError("resume: only the output to a folder can be resumed; end its name with a slash")
        self.sources = sources_of(inputs)
        if resume and any(source.path == "-" for source in self.sources):
            raise ValueError("resume: standard input cannot be read again; name files")
        if output == "-":
            raise FileError("output: standard output has the table; name a file")
        if output is not None and not self.in_parts:
            Writer(output, {}, {}, [source.path for source in self.sources])
        check_columns(self.sources, self.options.columns)

    def _facts(self) -> dict:
        """Return everything but the input that the numbers depend on, as JSON."""
        signatures = {metric: scorer.signature for metric, scorer in self.scorers.items()}
        options = self.options
        facts = {"version": __version__, "metrics": options.metrics, "signatures": signatures, "set": options.settings}
        facts |= {"columns": options.columns, "part_rows": options.part_rows}
        # What JSON cannot hold, such as a function for a setting, is known by its name.
        named = json.dumps(facts, default=lambda value: getattr(value, "__qualname__", None) or str(value))
        return json.loads(named)

    def score(
        self, notify: Message = ignore, problem: Message = ignore, progress: Callable[[int, int | None], None] = ignore
    ) -> Scores:
        """Read, score and write; after an error the output file is as before, and a folder keeps its finished parts.

        `notify` gets what a user must know about the input, `problem` each bad row that is left out, `progress` from
        any thread the rows that are done and of all: an estimate until all input is read, None where its size is
        unknown.
        """
        if self.finished_parts:
            notify(f"{self.finished_parts:,} finished parts in {self.options.output} are kept")
        reading = self._reading(problem, notify)
        sizes = [source.size for source in self.sources]
        size = None if None in sizes else sum(sizes)
        expected: int | None = None  # rows: an estimate from the bytes read so far; exact when all are read

        def read(windows: Iterable[Window]) -> Iterator[Window]:
            nonlocal expected
            rows = 0
            for window in windows:
                rows += len(window.items)
                if size and (position := reading.position):
                    expected = max(rows, round(rows * size / position))
                yield window
            expected = rows

        with self._parts if self.in_parts else _OneFile(self.options) as output:
            parts = (self.options.part_rows, self._parts.finished) if self.in_parts else ()
            windows = reading.windows(
                lambda kind: (window_predictions(self._checked_scorers(kind).values()), WINDOW_CHARACTERS), *parts
            )
            row_kind = reading.row_kind
            scorers = self._checked_scorers(row_kind)
            signatures = {metric: scorer.signature for metric, scorer in scorers.items()}
            columns = output_columns(row_kind, scorers, self.options.explain, reading.extra)
            metadata = {"genqa_metrics": json.dumps(signatures)}
            overall, of_part = Tally(), Tally()
            worst, explain = self.options.worst, self.options.explain
            run = counted(
                lambda window: window.items and scored(window.items, row_kind, scorers, worst, explain),
                lambda done: progress(done, expected),
                sum(scorer.passes for scorer in scorers.values()),
                lambda window: len(window.items),
            )
            for window, result in map_in_order(run, read(windows), worker_count(scorers.values())):
                if result:
                    rows, tally = result
                    of_part.add(tally)
                    if len(overall.rows | of_part.rows) > MAX_SYSTEMS:
                        raise FileError(too_many_systems(f"more than {MAX_SYSTEMS:,}", window.items[-1].system))
                    output.write(window.part, columns, metadata, rows)
                if window.done:
                    overall.add(Tally.from_json(window.end["tally"]))
                elif window.end is not None:
                    if self.in_parts:
                        self._parts.end(window.part, {**window.end, "tally": of_part.as_json()})
                    overall.add(of_part)
                    of_part = Tally()
            warn_of_recorded(overall.warning_counts)
            scores = finished(overall, row_kind, scorers, reading.counts)
            output.complete(facts_of(scores))
        scores.columns = output.kept
        return scores

    def _reading(self, problem: Message, notify: Message) -> Reading:
        skips = Skips(self.options.on_error == "skip", problem)
        return Reading(self.sources, self.options.columns, skips, notify, self._needs, self.keeps)

    @property
    def finished_parts(self) -> int:
        """Number of finished parts in the output folder."""
        return len(self._parts.finished) if self.in_parts else 0

    def _checked_scorers(self, row_kind: RowKind) -> dict[str, Scorer]:
        if not self.scorers:
            self.scorers = make_scorers(default_metrics(row_kind), sources=self.sources)
        for metric, scorer in self.scorers.items():
            if scorer.needs_question and row_kind.text != "question":
                problem = f"{metric}: needs rows with a question, got rows with a {row_kind.text}; leave it out, or "
                raise FileError(problem, "name the question with ", name_column("question"))
        return self.scorers

    def _needs(self, row_kind: RowKind) -> dict[str, str]:
        metrics = tuple(self.scorers) or default_metrics(row_kind)
        return needed_columns({metric: scorer_class(metric) for metric in metrics}, row_kind)


def facts_of(scores: Scores) -> dict[str, Any]:
    """Return the numbers of rows, scores (None without predictions) and signatures, for the manifest of the folder."""
    counts = scores.counts
    return {
        "rows": counts.rows,
        "scores": {
            name: {system: by_system.get(system) for system in counts.rows}
            for name, by_system in scores.scores.items()
        },
        "signatures": scores.signatures,
        "skipped_rows": counts.skipped,
        "skipped": counts.skipped_by_system,
    }


def finished(tally: Tally, row_kind: RowKind, scorers: Mapping[str, Scorer], counts: Mapping[str, int]) -> Scores:
    """Return the numbers of every system from the sums over all rows; `counts` are those of `Skips`."""
    metrics, warnings, notes = {}, [], []
    for metric, scorer in scorers.items():
        of_metric, counted_rows = tally.sums[metric], tally.warning_counts[metric]
        totals = {system: sums[:-1] for system, sums in of_metric.items()}
        warnings += [f"{metric}: {warning}" for warning in scorer.warnings(totals, counted_rows)]
        notes += scorer.remarks(totals, counted_rows)
        metrics[metric] = _metric_scores(metric, scorer, of_metric, counted_rows)
    judge = next((scorer for scorer in scorers.values() if scorer.verdict), None)
    labelled = {system: cases for system, cases in tally.confusion.items() if cases.any()}
    if number := int(sum(cases.sum() for cases in labelled.values())):
        notes.append(label_note(number, tally.rows.total()))
    skipped = skipped_of(counts)
    notes += filter(None, [scores.length_note for scores in metrics.values()])
    if len({skipped.get(system, 0) for system in (*tally.rows, *skipped)}) > 1:
        text = ", ".join(f"{system} {rows:,}" for system, rows in skipped.items())
        notes.append(
            f"skipped rows differ between systems ({text}): their scores are over unequal rows, and a skipped answer "
            'lowers no score; write "" for a system that gave no answer, which scores 0'
        )
    fewest = min(tally.rows.values())
    unit = ("context" if row_kind.sets else "row") + ("s are" if fewest != 1 else " is")
    return Scores(
        sets=row_kind.sets,
        counts=RowCounts(
            rows=dict(tally.rows),
            predictions=dict(tally.predictions),
            skipped=counts[SKIPPED],
            skipped_by_system=skipped,
            single=counts[SINGLE],
            not_numbers=counts[NOT_NUMBERS],
            too_few=f"{fewest} {unit} too few to test" * (fewest < MIN_QUESTIONS),
        ),
        metrics=metrics,
        judge=JudgeCounts(
            labels={
                system: {**dict(zip(CONFUSION, map(int, cases), strict=True)), **agreement(cases)}
                for system, cases in labelled.items()
            },
            faults=faults_in_order(judge, tally.faults) if judge else {},
            cells=cell_shares(tally.cells),
            questions=tally.questions,
            profiles=tally.profiles,
        ),
        words={system: words / tally.rows[system] for system, words in tally.words.items()},
        to_read=tally.to_read,
        warnings=warnings,
        notes=notes,
    )


def _metric_scores(metric: str, scorer: Scorer, sums: Mapping[str, Any], counts: Mapping[str, int]) -> MetricScores:
    """Return the scores of a metric from {system: (k + 1,) sums of statistics, the last one their number}."""
    by_system = {system: scorer.corpus_scores(of[:-1], int(of[-1])) for system, of in sums.items()}
    flagged = {system: scorer.flagged(of[:-1]) for system, of in sums.items()}
    return MetricScores(
        by_system=by_system,
        signature=scorer.signature,
        title=scorer.title,
        measures=scorer.measures,
        error_rate=scorer.error_rate,
        stronger=scorer.stronger,
        threshold=getattr(scorer, "threshold", 0.5),
        flagged=flagged if any(flagged.values()) else {},
        counts=counts,
        missing=scorer.missing,
        length_note=length_note(metric, by_system),
    )
