"""Score files of any size: rows come in, statistics are summed per system, one result row goes out for each row in."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .files import FileError, Source, Writer
from .rows import COLUMNS, SPLIT_HALF, Item, RowError, RowReader, Shape
from .scorers import make_scorer

CHUNK_PREDICTIONS = 1000
CHUNK_CHARACTERS = 2**21
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


class _Totals:
    """Sums of statistics by system."""

    def __init__(self, scorer):
        self.scorer = scorer
        self.sums: dict[str, np.ndarray] = {}
        self.counts: dict[str, int] = {}

    def add(self, items: Sequence[Item]) -> dict[str, list]:
        """Add a chunk; return its per-row scores, lists of them where an item has several rows."""
        statistics = self.scorer.statistics(items)
        systems = list(dict.fromkeys(item.system for item in items))
        index = {system: i for i, system in enumerate(systems)}
        owners = np.array([index[item.system] for item in items])
        lengths = [len(item.predictions) for item in items]
        if self.scorer.per_prediction:
            owners = np.repeat(owners, lengths)
        for i, system in enumerate(systems):
            mine = statistics[owners == i]
            self.sums[system] = self.sums.get(system, 0) + mine.sum(axis=0)
            self.counts[system] = self.counts.get(system, 0) + len(mine)
        scores = {name: values.tolist() for name, values in self.scorer.row_scores(statistics).items()}
        if not self.scorer.per_prediction:
            return scores
        starts = np.cumsum([0, *lengths]).tolist()
        return {name: [values[start:stop] for start, stop in pairwise(starts)] for name, values in scores.items()}

    def results(self, total_name: str | None) -> dict[str, dict[str, float]]:
        results = {
            system: self.scorer.corpus_scores(total, self.counts[system]) for system, total in self.sums.items()
        }
        if total_name:
            results[total_name] = self.scorer.corpus_scores(sum(self.sums.values()), sum(self.counts.values()))
        return results


class _Reading:
    """Items of several files in order, with what was found on the way."""

    def __init__(self, sources, columns, skip, notify, problem):
        self.sources = sources
        self.columns = columns
        self.skip = skip
        self.notify = notify
        self.problem = problem
        self.shape: Shape | None = None
        self.good = self.skipped = self.single = self.not_numbers = 0

    def items(self) -> Iterator[Item]:
        for source in self.sources:
            yield from self._file(source)
        if not self.good:
            if self.skipped:
                raise FileError(f"no row could be scored: all {self.skipped:,} rows are bad")
            raise FileError(f"{', '.join(source.name for source in self.sources)}: no rows; is this the right file?")
        if self.single == self.good:
            raise FileError(
                f"no row could be scored: without predictions a context needs at least two references, and each of "
                f"the {self.single:,} contexts has one"
            )

    def _file(self, source: Source) -> Iterator[Item]:
        reader = RowReader(source, self.columns)
        shape = None
        for row in source.rows():
            try:
                if row.problem:
                    raise RowError(row.problem)
                row_shape = shape or reader.shape(row.values)
                items = reader.items(row.number, row.values, row_shape)
            except RowError as error:
                where = f"{source.name}, {source.unit} {row.number}"
                if not self.skip:
                    raise FileError(f"{where}: {error}", bad_row=self.good > 0) from error
                self.skipped += 1
                self.problem(f"{where}: {error}")
                continue
            if shape is None:
                shape = row_shape
                self._check_shape(source, shape, row.values)
            self.good += 1
            self.single += not items
            yield from items
        self.not_numbers += reader.not_numbers

    def _check_shape(self, source: Source, shape: Shape, values: dict) -> None:
        if self.shape is not None and self.shape.sets != shape.sets:
            kinds = ("single answers", "sets of questions")
            raise FileError(
                f"{source.name}: holds {kinds[shape.sets]}, the files before it {kinds[self.shape.sets]}; "
                "score them in two runs"
            )
        self.shape = shape
        if shape.ceiling:
            self.notify(
                f"{source.name} has human questions but no predictions. This is the HUMAN CEILING, not the score of a "
                f"system: in each context references 1, 3, 5 ... are scored as predictions against references 2, 4, "
                f"6 ... under the name {SPLIT_HALF!r}. Contexts with one reference are left out. To score a system, "
                f"add a column 'predictions', or name yours with --column prediction=NAME; columns found: "
                f"{', '.join(values)}."
            )


def _chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    chunk, predictions, characters = [], 0, 0
    for item in items:
        chunk.append(item)
        predictions += max(len(item.predictions), 1)
        characters += sum(map(len, item.predictions)) + sum(map(len, item.references)) + len(item.text or "")
        if predictions >= CHUNK_PREDICTIONS or characters >= CHUNK_CHARACTERS:
            yield chunk
            chunk, predictions, characters = [], 0, 0
    if chunk:
        yield chunk


def _output_columns(shape: Shape, totals: Mapping[str, _Totals]) -> dict[str, str]:
    columns = {"file": "text", "line": "integer", "id": "text", "system": "text"}
    columns |= {shape.text: "text", **({"predictions": "texts"} if shape.sets else {"prediction": "text"})}
    columns |= {"references": "texts", "score": "number", "label": "number"}
    for metric in totals.values():
        lists = shape.sets and metric.scorer.per_prediction
        columns |= dict.fromkeys(metric.scorer.names, "numbers" if lists else "number")
    return columns


def _output_rows(items: Sequence[Item], shape: Shape) -> dict[str, list]:
    rows = {name: [getattr(item, name) for item in items] for name in ("file", "line", "id", "system", "references")}
    rows[shape.text] = [item.text for item in items]
    if shape.sets:
        rows["predictions"] = [item.predictions for item in items]
    else:
        rows["prediction"] = [item.predictions[0] for item in items]
    rows["score"], rows["label"] = (list(values) for values in zip(*(item.human for item in items), strict=True))
    return rows


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
        output: file for one result row per row and system; its ending says the format.

    Raises:
        ValueError: if an argument is bad. Nothing has been read or written yet.
    """

    def __init__(self, inputs, metrics=(), settings=None, columns=None, output=None):
        columns, settings = dict(columns or {}), dict(settings or {})
        for name in columns:
            if name not in COLUMNS:
                raise ValueError(f"column: expected one of {', '.join(COLUMNS)} before the '=', got {name!r}")
        for metric in settings:
            if metrics and metric not in metrics:
                raise ValueError(f"{metric}: has settings but is not computed; add --metric {metric} or drop them")
        self.metrics = tuple(dict.fromkeys(metrics))
        self.scorers = {
            metric: make_scorer(metric, settings.get(metric)) for metric in dict.fromkeys((*self.metrics, *settings))
        }
        self.columns = columns
        self.output = output
        try:
            wanted = {columns.get(name, default) for name, names in COLUMNS.items() for default in names}
            wanted |= {name.split(".")[0] for name in wanted}
            self.sources = [Source(path, sorted(wanted)) for path in inputs]
            if output == "-":
                raise FileError("output: standard output has the table; name a file")
            if output is not None:
                Writer(output, {}, {})
        except FileError as error:
            raise ValueError(str(error)) from error
        if len({source.path for source in self.sources}) < len(self.sources):
            raise ValueError("input: the same file is named twice; name it once")

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
                then as it was before.
        """
        sizes = [source.size for source in self.sources]
        size = None if None in sizes else sum(sizes)
        reading = _Reading(self.sources, self.columns, skip_bad_rows, notify, problem)
        chunks = _chunks(reading.items())
        # The first chunk says what the rows are, and with that which metrics and columns there will be.
        chunk = next(chunks)
        shape = reading.shape
        metrics = self.metrics or tuple(dict.fromkeys((*default_metrics(shape.sets), *self.scorers)))
        totals = {metric: _Totals(self.scorers.get(metric) or make_scorer(metric)) for metric in metrics}
        for metric, sums in totals.items():
            if sums.scorer.needs_question and shape.text != "question":
                raise FileError(f"{metric}: needs rows with a question, got rows with a {shape.text}")
        signatures = {metric: sums.scorer.signature for metric, sums in totals.items()}
        rows: dict[str, int] = {}
        predictions: dict[str, int] = {}
        writer = nullcontext()
        if self.output is not None:
            writer = Writer(self.output, _output_columns(shape, totals), {"genqa_metrics": json.dumps(signatures)})
        with writer as output:
            while chunk:
                for item in chunk:
                    rows[item.system] = rows.get(item.system, 0) + 1
                    predictions[item.system] = predictions.get(item.system, 0) + len(item.predictions)
                if len(rows) > MAX_SYSTEMS:
                    raise FileError(
                        f"more than {MAX_SYSTEMS:,} systems, the last is {chunk[-1].system!r:.60}; "
                        "is that the right column? Name another with --column system=NAME, none with --column system="
                    )
                columns = _output_rows(chunk, shape) if output else {}
                for sums in totals.values():
                    values = sums.add(chunk)
                    if sums.scorer.per_prediction and not shape.sets:
                        values = {name: [value for (value,) in lists] for name, lists in values.items()}
                    columns |= values
                if output:
                    output.write(columns)
                progress(sum(source.position for source in self.sources), size)
                chunk = next(chunks, None)
        name = None
        if total:
            name = "all" if "all" not in rows else "all systems"
            rows[name], predictions[name] = sum(rows.values()), sum(predictions.values())
        return Report(
            sets=shape.sets,
            total=name,
            scores={metric: sums.results(name) for metric, sums in totals.items()},
            rows=rows,
            predictions=predictions,
            signatures=signatures,
            skipped=reading.skipped,
            single=reading.single,
            not_numbers=reading.not_numbers,
            warnings=[
                f"{metric}: {warning}"
                for metric, sums in totals.items()
                for warning in sums.scorer.warnings(sums.sums)
            ],
        )
