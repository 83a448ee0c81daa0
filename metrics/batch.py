"""Score files of any size: rows come in, statistics are summed per system, one result row goes out for each row in.

Reading, scoring and writing overlap: the calling thread reads ahead and writes behind, workers score.
"""

import json
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice, pairwise

import numpy as np

from . import __version__
from .files import FileError, Source, Writer
from .parts import PART_ROWS, Parts, is_folder
from .reading import Reading, Window
from .rows import COLUMNS, Item, Shape
from .scorers import make_scorer

CHUNK_PREDICTIONS = 1000
CHUNK_CHARACTERS = 2**20
MODEL_CHUNKS = {"cpu": 2, "cuda": 10, "mps": 10}  # a model sorts a window by length; large batches need larger windows
MIN_WINDOW = 64
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


class Tally:
    """What is summed over rows: all that the score of a corpus needs. Tallies can be added, and written as JSON.

    Attributes:
        rows: {system: rows that were scored}.
        predictions: {system: predictions that were scored}.
        sums: {metric: {system: (k + 1,) sums of its statistics, the last one their number}}.
        cut: {metric: texts of which a model could not read the end}.
    """

    def __init__(self, rows=None, predictions=None, sums=None, cut=None):
        self.rows = Counter(rows)
        self.predictions = Counter(predictions)
        self.sums = {
            metric: {system: np.array(values, dtype=float) for system, values in by_system.items()}
            for metric, by_system in (sums or {}).items()
        }
        self.cut = Counter(cut)

    def add(self, other: "Tally") -> None:
        """Add the sums of other rows."""
        self.rows.update(other.rows)
        self.predictions.update(other.predictions)
        self.cut.update(other.cut)
        for metric, by_system in other.sums.items():
            mine = self.sums.setdefault(metric, {})
            for system, values in by_system.items():
                mine[system] = mine[system] + values if system in mine else values

    def as_json(self) -> dict:
        """Return the arguments of an equal tally, in types that JSON has."""
        sums = {
            metric: {system: values.tolist() for system, values in by_system.items()}
            for metric, by_system in self.sums.items()
        }
        return {
            "rows": dict(self.rows),
            "predictions": dict(self.predictions),
            "sums": sums,
            "cut": dict(self.cut),
        }


def scored(items: Sequence[Item], shape: Shape, scorers: Mapping[str, object]) -> tuple[dict[str, list], Tally]:
    """Score items.

    Args:
        items: at least one.
        shape: what they are.
        scorers: {metric: what `scorers.make_scorer` returns}.

    Returns:
        The columns of the output, with one value per item, and the sums.
    """
    columns = _output_rows(items, shape)
    tally = Tally(Counter(columns["system"]))
    lengths = [len(item.predictions) for item in items]
    systems = list(tally.rows)
    index = {system: i for i, system in enumerate(systems)}
    owners = np.array([index[item.system] for item in items])
    for item in items:
        tally.predictions[item.system] += len(item.predictions)
    for metric, scorer in scorers.items():
        statistics, tally.cut[metric] = scorer.counted_statistics(items)
        counted = np.column_stack([statistics, np.ones(len(statistics))])
        of_system = np.repeat(owners, lengths) if scorer.per_prediction else owners
        tally.sums[metric] = {system: counted[of_system == i].sum(axis=0) for i, system in enumerate(systems)}
        scores = {name: values.tolist() for name, values in scorer.row_scores(statistics).items()}
        if scorer.per_prediction and shape.sets:  # lists of scores, one per prediction
            starts = np.cumsum([0, *lengths]).tolist()
            scores = {name: [values[a:b] for a, b in pairwise(starts)] for name, values in scores.items()}
        columns |= scores
    return columns, tally


def worker_count(scorers: Iterable) -> int:
    """Return how many windows are best scored at once; 0 for one at a time, without a thread of its own.

    A model on a CPU gets a thread for every core that this process may use (its affinity and the limit of its
    container count, and OMP_NUM_THREADS): small batches on one core each are quicker than one batch on all of them.
    Beside a model on a GPU, a second thread makes the next batch. Without a model more threads are of no use.
    """
    devices = {scorer.device for scorer in scorers} - {None}
    if devices != {"cpu"}:
        return 2 if devices else 0
    import torch

    if torch.get_num_threads() == 1:
        return 1
    import joblib

    return min(torch.get_num_threads(), joblib.cpu_count(only_physical_cores=True))


def overlapped(function: Callable, windows: Iterable, workers: int) -> Iterator[tuple]:
    """Yield every window and what a function makes of it, in order, while workers are busy with the next ones.

    Args:
        function: called with a window; torch uses one core in it.
        windows: read as far ahead as the workers need. When reading fails, what was read before still comes out.
        workers: number of threads; 0 to work in the calling one, where torch uses what cores it likes.

    Yields:
        (window, result).
    """
    if not workers:
        yield from ((window, function(window)) for window in windows)
        return
    import torch

    threads, windows, failure = torch.get_num_threads(), iter(windows), None
    pool = ThreadPoolExecutor(workers, "score", initializer=torch.set_num_threads, initargs=(1,))
    pending: deque = deque()
    try:
        while failure is None:
            try:
                window = next(windows)
            except (FileError, StopIteration) as end:
                failure = end
            else:
                pending.append((window, pool.submit(function, window)))
            while pending and (failure or len(pending) > workers + 1):
                window, result = pending.popleft()
                yield window, result.result()
        if not isinstance(failure, StopIteration):
            raise failure
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        torch.set_num_threads(threads)


def _spread(windows: Iterator[Window], workers: int) -> Iterator[Window]:
    """Cut an input that would not keep all workers busy into one window for each."""
    first = list(islice(windows, workers))
    if len(first) < workers and first:
        items = [item for window in first for item in window.items]
        size = max(MIN_WINDOW, math.ceil(len(items) / workers))
        pieces = [items[start : start + size] for start in range(0, len(items), size)] or [[]]
        first = [Window(piece, 0) for piece in pieces[:-1]] + [Window(pieces[-1], 0, first[-1].end)]
    yield from first
    yield from windows


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


def output_columns(shape: Shape, scorers: Mapping[str, object]) -> dict[str, str]:
    """Return the columns of the output and their types, see `files.Writer`."""
    columns = {"file": "text", "line": "integer", "id": "text", "system": "text"}
    columns |= {shape.text: "text", **({"predictions": "texts"} if shape.sets else {"prediction": "text"})}
    columns |= {"references": "texts", "score": "number", "label": "number"}
    for scorer in scorers.values():
        lists = shape.sets and scorer.per_prediction
        columns |= dict.fromkeys(scorer.names, "numbers" if lists else "number")
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
        reading = Reading(self.sources, self.columns, skip_bad_rows, notify, problem)
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
            windows = _spread(reading.windows(*limits), workers)
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
        scorer.cut = overall.cut[metric]
        warnings += [
            f"{metric}: {said}" for said in scorer.warnings({system: values[:-1] for system, values in sums.items()})
        ]
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
