"""Score files of any size: rows come in, statistics are summed per system, one result row goes out for each row in.

Reading, scoring and writing overlap: the calling thread reads ahead and writes behind, workers score.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .. import __version__
from ..core.scorer import Scorer
from ..registry import SCORERS, scorer_class
from ..rows.errors import Advice, FileError, too_many_systems
from ..rows.inputs import sources_of
from ..rows.items import DIGEST, RowKind
from ..rows.reading import Message, Reading, RowCounts, Skips, Window, check_columns, ignore, is_judged
from ..rows.sources import format_of
from ..rows.values import COLUMNS
from ..rows.writing import Writer
from .options import (
    OnError,
    Settings,
    check_options,
    checked_columns,
    default_metrics,
    length_note,
    listed_names,
    make_scorers,
    needed_columns,
    with_calibration,
)
from .parts import PART_ROWS, Parts, is_folder
from .pipeline import (
    WINDOW_CHARACTERS,
    counted,
    map_in_order,
    output_columns,
    scored,
    warn_of_recorded,
    window_predictions,
    worker_count,
)
from .tally import FAULTS, LABELLED, TOGETHER, AnswersToRead, QuestionTotals, Tally, cell_shares, named_faults

MAX_SYSTEMS = 1000


@dataclass
class Scores:
    """Scores of every system, and what happened on the way.

    Attributes:
        sets: rows were sets of predictions.
        total: name of the row for all systems together, or None.
        scores: {metric: {system: {name: value}}}, systems in the order in which they came.
        rows: {system: rows (contexts, for sets) that were scored}.
        predictions: {system: predictions that were scored}.
        signatures: {metric: what its numbers depend on}.
        skipped: number of bad rows that were left out.
        skipped_of: {system: its bad rows that were left out}, where the system of such a row is known.
        single: number of contexts that were left out because their one reference cannot be halved.
        not_numbers: number of values of `score` and `label` that are not numbers; the output has null for them.
        warnings: what the metrics say about scores that mean less than they seem to, one sentence each.
        notes: what must be read with the scores, one sentence each.
        columns: {column: values} of the rows with their scores, as they are written; None where they are not kept.
        cells: with ava and grounding, {system: shares of its answers}, see `tally.cell_shares`.
        counts: {metric: counts of its rows, see `Scorer.statistics`}.
        labelled: with ava, {system: the four counts of its rows with labels of people, see `tally.CONFUSION`}.
        faults: with ava, {system: {what is wrong: answers}} of answers judged wrong, see `tally.fault_counts`.
        questions: with ava, {system: sums of its answers by question}.
        to_read: the answers that a person should read first.
        titles: {metric: what people call it, with the judge's size}.
    """

    sets: bool
    total: str | None
    scores: dict[str, dict[str, dict[str, float]]]
    rows: dict[str, int]
    predictions: dict[str, int]
    signatures: dict[str, str]
    skipped: int
    skipped_of: dict[str, int]
    single: int
    not_numbers: int
    warnings: list[str]
    notes: list[str]
    columns: dict[str, list] | None = field(default=None, repr=False)
    cells: dict[str, dict[str, float]] = field(default_factory=dict)
    labelled: dict[str, list[float]] = field(default_factory=dict)
    faults: dict[str, dict[str, int]] = field(default_factory=dict)
    counts: dict[str, Mapping[str, int]] = field(default_factory=dict, repr=False)
    questions: dict[str, QuestionTotals] = field(default_factory=dict, repr=False, compare=False)
    to_read: AnswersToRead = field(default_factory=AnswersToRead, repr=False, compare=False)
    titles: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def systems(self) -> dict[str, dict[str, float]]:
        """{system: {score: value}}, of all metrics."""
        result: dict[str, dict[str, float]] = {system: {} for system in self.rows}
        for systems in self.scores.values():
            for system, scores in systems.items():
                result[system] |= scores
        for system, shares in self.cells.items():
            result[system] |= shares
        return result


class _OneFile:
    """A single output file, or none; keeps the rows in memory where that is asked for."""

    def __init__(self, path: str | None, keep: bool):
        self.path = path
        self.kept: dict[str, list] | None = {} if keep else None
        self.writer = None

    def __enter__(self) -> "_OneFile":
        return self

    def write(self, part: int, columns: Mapping[str, str], metadata: Mapping[str, str], rows: Mapping) -> None:
        if self.path is not None:
            self.writer = self.writer or Writer(self.path, columns, metadata).__enter__()
            self.writer.write(rows)
        if self.kept is not None:
            for name in columns:
                self.kept.setdefault(name, []).extend(rows[name])

    def end(self, part: int, state: Mapping) -> None:
        pass

    def complete(self, facts: Mapping) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if self.writer is not None:
            self.writer.__exit__(kind, error, trace)


class Run:
    """Scores the rows of files, in memory that does not grow with them.

    Args:
        inputs: names of files, or "-" for JSON lines on standard input; or rows in memory, see `inputs.sources_of`.
        metrics, settings, columns, output, resume, part_rows, address, total, worst, calibration, on_error, keep,
            explain: see `genqa_metrics.score`; rows are not kept unless that is asked for.

    Raises:
        ValueError: if an argument is bad. Nothing has been written yet.
    """

    def __init__(
        self,
        inputs: Any,
        metrics: str | Sequence[str] | None = None,
        settings: Settings | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        output: str | None = None,
        resume: bool = False,
        part_rows: int = PART_ROWS,
        address: str | None = None,
        total: bool = False,
        worst: int = 10,
        calibration: str | None = None,
        on_error: OnError = "fail",
        keep: bool = False,
        explain: bool = False,
    ):
        check_options(on_error, settings=settings, columns=columns, worst=worst)
        self.output, self.part_rows, self.resume, self.address = output, part_rows, resume, address
        self.total, self.worst, self.skips, self.keep, self.explain = total, worst, on_error == "skip", keep, explain
        if part_rows < 1:
            raise ValueError(f"part_rows: expected at least 1, got {part_rows}")
        self.metrics = tuple(listed_names("metrics", metrics))
        self.settings = dict(settings or {})
        if calibration is not None:
            self.settings["ava"] = with_calibration(self.settings.get("ava", {}), calibration)
        self.columns = checked_columns(columns)
        try:
            self.keeps: Literal["any", "typed"] | None = None
            self._find(inputs, resume)
            self.scorers = make_scorers(self.metrics, self.settings, not is_judged(self.sources))
            if self.in_parts:
                self._parts = Parts(str(self.output), self._facts(), self.sources, resume)
        except FileError as error:  # bad usage: nothing was read yet
            raise ValueError(Advice(error)) from error

    def _find(self, inputs: Any, resume: bool) -> None:
        """Find the input, and a place for the output."""
        self.in_parts = bool(self.output) and is_folder(str(self.output))
        if self.output or self.keep:
            typed = self.in_parts or (self.output and format_of(self.output)[0] == "Parquet")
            self.keeps = "typed" if typed else "any"
        if resume and not self.in_parts:
            raise ValueError("resume: only the output to a folder can be resumed; end its name with a slash")
        self.sources = sources_of(inputs, self._wanted())
        if resume and any(source.path == "-" for source in self.sources):
            raise ValueError("resume: standard input cannot be read again; name files")
        if self.output == "-":
            raise FileError("output: standard output has the table; name a file")
        if self.output is not None and not self.in_parts:
            Writer(self.output, {}, {}, [source.path for source in self.sources])
        check_columns(self.sources, self.columns)

    def _wanted(self) -> list[str] | None:
        """Return the columns of the input that may be needed; None for all, where they are kept."""
        if self.keeps:
            return None
        wanted = {self.columns.get(name, default) for name, names in COLUMNS.items() for default in names}
        for metric in [name for name in (*self.metrics, *self.settings) if name in SCORERS] or ["ava"]:
            if (scorer := scorer_class(metric)).recalls:  # what an earlier run may have written
                wanted |= {*scorer.row_names, metric + DIGEST}
        return sorted(wanted | {re.split(r"[.\[]", name)[0] for name in wanted})

    def _facts(self) -> dict:
        """Return everything but the input that the numbers depend on, as JSON."""
        facts = {
            "version": __version__,
            "metrics": self.metrics,
            "signatures": {metric: scorer.signature for metric, scorer in self.scorers.items()},
            "set": self.settings,
            "columns": self.columns,
            "part_rows": self.part_rows,
        }
        # What JSON cannot hold, such as a function for a setting, is known by its name.
        named = json.dumps(facts, default=lambda value: getattr(value, "__qualname__", None) or str(value))
        return json.loads(named)

    def score(
        self, notify: Message = ignore, problem: Message = ignore, progress: Callable[[int, int | None], None] = ignore
    ) -> Scores:
        """Read, score and write.

        Args:
            notify: called with what a user must know about the input.
            problem: called with each bad row that is left out.
            progress: called with the number of rows that are done and of all rows, from any thread. Until the end of
                the input is read all rows are an estimate, None where the size of the input is unknown.

        Returns:
            The scores of every system.

        Raises:
            FileError: if a file cannot be read or written, a row is bad, or no row can be scored. The output file is
                then as it was before; of a folder the finished parts are kept.
        """
        reading = Reading(self.sources, self.columns, Skips(self.skips, problem), notify, self._needs, self.keeps)
        if not self.in_parts:
            output = _OneFile(self.output, self.keep)
            report = self._score(reading, output, progress)
            report.columns = output.kept
            return report
        if self.finished_parts:
            notify(f"{self.finished_parts:,} finished parts in {self.output} are kept")
        return self._score(reading, self._parts, progress)

    @property
    def finished_parts(self) -> int:
        """Number of finished parts in the output folder."""
        return len(self._parts.finished) if self.in_parts else 0

    def _score(self, reading: Reading, output, progress: Callable) -> Scores:
        with output:
            sizes = [source.size for source in self.sources]
            size = None if None in sizes else sum(sizes)
            parts = (self.part_rows, self._parts.finished) if self.in_parts else ()
            windows = reading.windows(self._limits, *parts)
            row_kind = reading.row_kind
            scorers = self._checked_scorers(row_kind)
            signatures = {metric: scorer.signature for metric, scorer in scorers.items()}
            explain = self.explain
            layout = (
                output_columns(row_kind, scorers, explain, reading.extra),
                {"genqa_metrics": json.dumps(signatures)},
            )
            overall, of_part = Tally(), Tally()
            rows = _RowsRead(reading, windows, size)
            run = counted(
                lambda window: scored(window.items, row_kind, scorers, self.worst, explain) if window.items else None,
                lambda done: progress(done, rows.expected),
                sum(scorer.passes for scorer in scorers.values()),
                lambda window: len(window.items),
            )
            for window, result in map_in_order(run, rows, worker_count(scorers.values())):
                if result:
                    columns, tally = result
                    of_part.add(tally)
                    if len(overall.rows | of_part.rows) > MAX_SYSTEMS:
                        raise FileError(too_many_systems(f"more than {MAX_SYSTEMS:,}", window.items[-1].system))
                    output.write(window.part, *layout, columns)
                if window.done:
                    overall.add(Tally(**window.end["tally"]))
                elif window.end is not None:
                    output.end(window.part, {**window.end, "tally": of_part.as_json()})
                    overall.add(of_part)
                    of_part = Tally()
            report = report_of(overall, row_kind, scorers, reading.counts, self.total)
            output.complete(facts_of(report))
        return report

    def _checked_scorers(self, row_kind: RowKind) -> dict[str, Scorer]:
        if not self.scorers:
            self.scorers = make_scorers(default_metrics(row_kind), ready=not is_judged(self.sources))
        for metric, scorer in self.scorers.items():
            if scorer.needs_question and row_kind.text != "question":
                raise FileError(f"{metric}: needs rows with a question, got rows with a {row_kind.text}")
        return self.scorers

    def _limits(self, row_kind: RowKind) -> tuple[int, int]:
        return window_predictions(self._checked_scorers(row_kind).values()), WINDOW_CHARACTERS

    def _needs(self, row_kind: RowKind) -> dict[str, str]:
        metrics = tuple(self.scorers) or default_metrics(row_kind)
        return needed_columns({metric: scorer_class(metric) for metric in metrics}, row_kind)


class _RowsRead:
    """Windows as they are read, and how many rows they will have.

    Attributes:
        expected: an estimate from the bytes read so far, None where it is unknown; exact when all are read.
    """

    def __init__(self, reading: Reading, windows: Iterable[Window], size: int | None):
        self.reading, self.windows, self.size = reading, windows, size
        self.rows, self.expected = 0, None

    def __iter__(self) -> Iterator[Window]:
        for window in self.windows:
            self.rows += len(window.items)
            if self.size and (read := self.reading.position):
                self.expected = max(self.rows, round(self.rows * self.size / read))
            yield window
        self.expected = self.rows


def facts_of(report: Scores) -> dict:
    """Return what the manifest of a folder of parts says about a finished run."""
    systems = [system for system in report.rows if system != report.total]
    scores = {metric: {system: of_metric[system] for system in systems} for metric, of_metric in report.scores.items()}
    return {
        "rows": {system: report.rows[system] for system in systems},
        "scores": scores,
        "signatures": report.signatures,
        "skipped_rows": report.skipped,
        "skipped": report.skipped_of,
    }


def report_of(overall: Tally, row_kind: RowKind, scorers: Mapping, counts: RowCounts, total: bool) -> Scores:
    """Return the scores of every system.

    Args:
        overall: the sums over all rows.
        row_kind: what the rows are.
        scorers: {metric: what computes it}.
        counts: what became of the rows.
        total: add a row for all systems together.
    """
    warn_of_recorded(overall.warning_counts)
    judge = next((scorer for scorer in scorers.values() if scorer.verdict), None)
    rows, predictions, name = dict(overall.rows), dict(overall.predictions), None
    scores, warnings, notes = {}, [], []
    if total:
        name = "all" if "all" not in rows else "all systems"
        rows[name], predictions[name] = sum(rows.values()), sum(predictions.values())
    for metric, scorer in scorers.items():
        sums = overall.sums[metric]
        totals = {system: values[:-1] for system, values in sums.items()}
        warnings += [f"{metric}: {warning}" for warning in scorer.warnings(totals, overall.warning_counts[metric])]
        notes += scorer.remarks(totals, overall.warning_counts[metric])
        if total:
            sums = {**sums, name: sum(sums.values())}
        scores[metric] = {
            system: scorer.corpus_scores(values[:-1], int(values[-1])) for system, values in sums.items()
        }
    together = overall.sums.get(TOGETHER, {})
    if total and together:
        together = {**together, name: sum(together.values())}
    skipped = dict(counts.skipped_of)
    notes += [length_note(metric, of_metric) for metric, of_metric in scores.items()]
    if len({skipped.get(system, 0) for system in (*overall.rows, *skipped)}) > 1:
        text = ", ".join(f"{system} {rows:,}" for system, rows in skipped.items())
        notes.append(
            f"skipped rows differ between systems ({text}): their scores are over unequal rows, and a skipped answer "
            'lowers no score; write "" for a system that gave no answer, which scores 0'
        )
    return Scores(
        sets=row_kind.sets,
        total=name,
        scores=scores,
        rows=rows,
        predictions=predictions,
        signatures={metric: scorer.signature for metric, scorer in scorers.items()},
        skipped=counts.skipped,
        skipped_of=skipped,
        single=counts.single,
        not_numbers=counts.not_numbers,
        warnings=warnings,
        notes=[note for note in notes if note],
        cells=cell_shares(together),
        labelled={
            system: counts.tolist() for system, counts in overall.sums.get(LABELLED, {}).items() if counts.any()
        },
        faults=named_faults(judge, overall.sums[FAULTS]) if FAULTS in overall.sums else {},
        counts=dict(overall.warning_counts),
        questions=overall.questions,
        to_read=overall.to_read,
        titles={metric: scorer.title for metric, scorer in scorers.items()},
    )
