"""Score files of any size: rows come in, statistics are summed per system, one result row goes out for each row in.

Reading, scoring and writing overlap: the calling thread reads ahead and writes behind, workers score.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from ... import __version__
from ..rows.files import Source
from ..rows.formats import FileError
from ..rows.items import COLUMNS, Shape
from ..rows.reading import Reading, Skips
from ..rows.writing import Writer
from .parts import PART_ROWS, Parts, is_folder
from .pipeline import (
    CHUNK_CHARACTERS,
    CHUNK_PREDICTIONS,
    MODEL_CHUNKS,
    Tally,
    output_columns,
    overlapped,
    scored,
    spread,
    worker_count,
)
from .registry import make_scorer

MAX_SYSTEMS = 1000


@dataclass
class Report:
    """Scores of every system, and what happened on the way.

    Attributes:
        sets: rows were sets of predictions.
        total: name of the row for all systems together, or None.
        scores: {metric: {system: {name: value}}}, systems in the order in which they came.
        rows: {system: rows (contexts, for sets) that were scored}.
        predictions: {system: predictions that were scored}.
        signatures: {metric: what its numbers depend on}.
        skipped: number of bad rows that were left out.
        single: number of contexts that were left out because their one reference cannot be halved.
        not_numbers: number of values of `score` and `label` that are no numbers; the output has null for them.
        warnings: what the metrics say about scores that mean less than they seem to, one sentence each.
    """

    sets: bool
    total: str | None
    scores: dict[str, dict[str, dict[str, float]]]
    rows: dict[str, int]
    predictions: dict[str, int]
    signatures: dict[str, str]
    skipped: int
    single: int
    not_numbers: int
    warnings: list[str]


class _OneFile:
    """A single output file, or none."""

    def __init__(self, path: str | None):
        self.path = path
        self.writer = None

    def __enter__(self) -> "_OneFile":
        return self

    def write(self, part: int, columns: Mapping[str, str], metadata: Mapping[str, str], rows: Mapping) -> None:
        if self.path is not None:
            self.writer = self.writer or Writer(self.path, columns, metadata).__enter__()
            self.writer.write(rows)

    def end(self, part: int, state: Mapping) -> None:
        pass

    def complete(self, facts: Mapping) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if self.writer is not None:
            self.writer.__exit__(kind, error, trace)


def default_metrics(sets: bool) -> tuple[str, ...]:
    """Return the metrics that are computed when none is named: those that say something about such rows in no time.

    >>> default_metrics(sets=False)
    ('aev',)
    """
    return ("f_meta", "aev") if sets else ("aev",)


class Run:
    """Scores the rows of files, in memory that does not grow with them.

    Args:
        inputs: names of files, or "-" for JSON lines on standard input.
        metrics: names of metrics; none for `default_metrics` and those that `settings` names.
        settings: {metric: {setting: value}}.
        columns: names of columns in the files, by the names of `rows.COLUMNS`.
        output: file for one result row per row and system; its ending says the format. A folder (its name ends in a
            slash) gets Parquet parts, see `parts.Parts`.
        resume: go on with the parts that are in the folder.
        part_rows: rows of a part.

    Raises:
        ValueError: if an argument is bad. Nothing has been written yet.
    """

    def __init__(
        self, inputs, metrics=(), settings=None, columns=None, output=None, resume=False, part_rows=PART_ROWS
    ):
        columns, settings = dict(columns or {}), dict(settings or {})
        for name in columns:
            if name not in COLUMNS:
                raise ValueError(f"column: expected one of {', '.join(COLUMNS)} before the '=', got {name!r}")
        for metric in settings:
            if metrics and metric not in metrics:
                raise ValueError(f"{metric}: has settings but is not computed; add --metric {metric} or drop them")
        if part_rows < 1:
            raise ValueError(f"part_rows: expected at least 1, got {part_rows}")
        self.metrics = tuple(dict.fromkeys(metrics))
        self.settings = settings
        self.columns = columns
        self.output = output
        self.part_rows = part_rows
        try:
            self._find(inputs, resume)
            self.scorers = {
                metric: make_scorer(metric, settings.get(metric))
                for metric in dict.fromkeys((*self.metrics, *settings))
            }
            if self.in_parts:
                self._parts = Parts(output, self._facts(), self.sources, resume)
        except FileError as error:
            raise ValueError(str(error)) from error

    def _find(self, inputs: Sequence[str], resume: bool) -> None:
        """Find the input, and a place for the output."""
        self.in_parts = self.output is not None and is_folder(str(self.output))
        if resume and not self.in_parts:
            raise ValueError("resume: only a folder can be gone on with; end the name of the output with a slash")
        if resume and "-" in inputs:
            raise ValueError("resume: standard input cannot be read again; name files")
        self.sources = [Source(path, self._wanted()) for path in inputs]
        if len({source.path for source in self.sources}) < len(self.sources):
            raise FileError("input: the same file is named twice; name it once")
        if self.output == "-":
            raise FileError("output: standard output has the table; name a file")
        if self.output is not None and not self.in_parts:
            Writer(self.output, {}, {})

    def _wanted(self) -> list[str]:
        """Return the columns of the input that may be needed."""
        wanted = {self.columns.get(name, default) for name, names in COLUMNS.items() for default in names}
        return sorted(wanted | {name.split(".")[0] for name in wanted})

    def _facts(self) -> dict:
        """Return whatever the numbers depend on, beside the input, as JSON."""
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
        self,
        skip_bad_rows: bool = False,
        total: bool = False,
        notify: Callable[[str], None] = lambda message: None,
        problem: Callable[[str], None] = lambda message: None,
        progress: Callable[[int, int | None], None] = lambda done, size: None,
    ) -> Report:
        """Read, score and write.

        Args:
            skip_bad_rows: leave bad rows out instead of raising.
            total: add a row "all", the score of all systems' rows together.
            notify: called with what a user must know about the input.
            problem: called with each bad row that is left out.
            progress: called with the number of bytes read and of all bytes, None where that is unknown.

        Returns:
            The scores of every system.

        Raises:
            FileError: if a file cannot be read or written, a row is bad, or no row can be scored. The output file is
                then as it was before; of a folder the finished parts are kept.
        """
        reading = Reading(self.sources, self.columns, Skips(skip_bad_rows, problem), notify)
        if not self.in_parts:
            return self._score(reading, _OneFile(self.output), total, progress)
        if self.finished_parts:
            notify(f"{self.finished_parts:,} finished parts in {self.output} are kept")
        return self._score(reading, self._parts, total, progress)

    @property
    def finished_parts(self) -> int:
        """Number of finished parts in the output folder."""
        return len(self._parts.finished) if self.in_parts else 0

    def _score(self, reading: Reading, output, total: bool, progress: Callable) -> Report:
        sizes = [source.size for source in self.sources]
        size = None if None in sizes else sum(sizes)
        workers = worker_count(self.scorers.values())
        chunks = max((MODEL_CHUNKS.get(scorer.device, 1) for scorer in self.scorers.values()), default=1)
        limits = chunks * CHUNK_PREDICTIONS, CHUNK_CHARACTERS
        if self.in_parts:
            windows = reading.windows(*limits, self.part_rows, self._parts.finished)
        else:
            windows = spread(reading.windows(*limits), workers)
        # The first window says what the rows are, and with that which metrics and columns there will be.
        first = next(windows)
        shape = reading.shape
        scorers = self._checked_scorers(shape)
        signatures = {metric: scorer.signature for metric, scorer in scorers.items()}
        layout = output_columns(shape, scorers), {"genqa_metrics": json.dumps(signatures)}
        overall, of_part = Tally(), Tally()
        with output:
            for window, result in overlapped(
                lambda window: scored(window.items, shape, scorers) if window.items else None,
                chain([first], windows),
                workers,
            ):
                if result:
                    columns, tally = result
                    of_part.add(tally)
                    if len(overall.rows | of_part.rows) > MAX_SYSTEMS:
                        raise FileError(
                            f"more than {MAX_SYSTEMS:,} systems, the last is {window.items[-1].system!r:.60}; is that "
                            "the right column? Name another with --column system=NAME, none with --column system="
                        )
                    output.write(window.part, *layout, columns)
                if window.done:
                    overall.add(Tally(**window.end["tally"]))
                elif window.end is not None:
                    output.end(window.part, {**window.end, "tally": of_part.as_json()})
                    overall.add(of_part)
                    of_part = Tally()
                progress(reading.position, size)
            report = report_of(overall, shape, scorers, reading.counts, total)
            output.complete(facts_of(report))
        return report

    def _checked_scorers(self, shape: Shape) -> dict:
        metrics = self.metrics or tuple(dict.fromkeys((*default_metrics(shape.sets), *self.scorers)))
        scorers = {metric: self.scorers.get(metric) or make_scorer(metric) for metric in metrics}
        for metric, scorer in scorers.items():
            if scorer.needs_question and shape.text != "question":
                raise FileError(f"{metric}: needs rows with a question, got rows with a {shape.text}")
        return scorers


def facts_of(report: Report) -> dict:
    """Return what the manifest of a folder of parts says about a finished run."""
    systems = [system for system in report.rows if system != report.total]
    scores = {metric: {system: of_metric[system] for system in systems} for metric, of_metric in report.scores.items()}
    rows = {system: report.rows[system] for system in systems}
    return {"rows": rows, "scores": scores, "signatures": report.signatures, "skipped_rows": report.skipped}


def report_of(overall: Tally, shape: Shape, scorers: Mapping, counts: Mapping[str, int], total: bool) -> Report:
    """Return the scores of every system.

    Args:
        overall: the sums over all rows.
        shape: what the rows are.
        scorers: {metric: what `scorers.make_scorer` returns}.
        counts: see `reading.Reading`.
        total: add a row for all systems together.
    """
    rows, predictions, name = dict(overall.rows), dict(overall.predictions), None
    scores, warnings = {}, []
    if total:
        name = "all" if "all" not in rows else "all systems"
        rows[name], predictions[name] = sum(rows.values()), sum(predictions.values())
    for metric, scorer in scorers.items():
        sums = overall.sums[metric]
        totals = {system: values[:-1] for system, values in sums.items()}
        warnings += [f"{metric}: {warning}" for warning in scorer.warnings(totals, overall.cut[metric])]
        if total:
            sums = {**sums, name: sum(sums.values())}
        scores[metric] = {
            system: scorer.corpus_scores(values[:-1], int(values[-1])) for system, values in sums.items()
        }
    return Report(
        sets=shape.sets,
        total=name,
        scores=scores,
        rows=rows,
        predictions=predictions,
        signatures={metric: scorer.signature for metric, scorer in scorers.items()},
        skipped=counts["skipped"],
        single=counts["single"],
        not_numbers=counts["not_numbers"],
        warnings=warnings,
    )
