"""The stages of `run` as a Ray Data pipeline: tasks read, a pool of actors that hold the models scores, tasks write.

It needs the extra `ray`, and is imported only where that engine is asked for.

Rows, checks, scorers and sums are those of the local engine. What is not a row, such as a row that was left out or the
sums of a window, goes through the pipeline as a row of its own with a note. So Ray's rule, that the output of a task
counts once however often the task had to run, holds for everything.
"""

import hashlib
import io
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import deepcopy

import pyarrow
import pyarrow.parquet
import ray
from ray.data import ActorPoolStrategy, DataContext, Datasink, Datasource, ReadTask
from ray.data.block import BlockMetadata

from ..registry import make_scorer
from ..rows.errors import FileError
from ..rows.items import Item, RowKind
from ..rows.reading import Message, Reading, RowCounts, Skips, ignore
from ..rows.writing import arrow_schema, arrow_table
from .parts import MANIFEST, is_folder, manifest, part_name
from .pipeline import WINDOW_CHARACTERS, WINDOWS, output_columns, scored
from .run import Run, Scores, facts_of, report_of
from .storage import check_unchanged, check_unused, claimed, listed, source_of, stamps, write_file
from .tally import Tally

CORES_PER_READER = 16  # one task that reads, and one that writes, keep far more actors busy than that
NOTE = "_note"
_TEXTS = {"file": "text", "line": "integer", "id": "text", "system": "text", "text": "text"}
_LISTS = ("predictions", "references", "contexts")
_JSON = ("extra", "recorded")
_ITEM = (
    _TEXTS
    | dict.fromkeys(_JSON, "text")
    | dict.fromkeys(_LISTS, "texts")
    | dict.fromkeys(("score", "label", "chance"), "number")
)


def _table(items: Sequence[Item], note: Mapping):
    """Return items and a note as an Arrow table."""
    rows = [
        {name: getattr(item, name) for name in (*_TEXTS, *_LISTS, "chance")}
        | {"score": item.human[0], "label": item.human[1]}
        | {name: json.dumps(getattr(item, name), default=str) for name in _JSON}
        for item in items
    ]
    return pyarrow.Table.from_pylist([*rows, {NOTE: json.dumps(note)}], schema=arrow_schema(_ITEM | {NOTE: "text"}))


def _items(rows: Sequence[Mapping]) -> list[Item]:
    names = [*_TEXTS, *_LISTS, "chance"]
    return [
        Item(
            **{name: row[name] for name in names},
            **{name: json.loads(row[name]) for name in _JSON},
            human=(row["score"], row["label"]),
        )
        for row in rows
    ]


class RowsDatasource(Datasource):
    """Items of files, one task for each; what a task counted, and the rows it left out, become notes.

    Args:
        files: see `storage.listed`.
        columns: see `rows.RowReader`.
        skip: leave bad rows out instead of raising.
        row_kind: what the rows are.
        rows: rows of a block, and so of a task of the next stage.
        wanted: columns of the files that may be needed; None for all.
        needs: {column: metric that needs it in every row}.
        extra: {column that is kept: its type}, None where none are.
    """

    def __init__(
        self,
        files: Sequence[Mapping],
        columns: Mapping[str, str],
        skip: bool,
        row_kind: RowKind,
        rows: int,
        wanted: Sequence[str] | None,
        needs: Mapping[str, str],
        extra: Mapping[str, str] | None,
    ):
        super().__init__()
        self.files, self.columns, self.skip, self.row_kind = files, columns, skip, row_kind
        self.rows, self.wanted, self.needs, self.extra = rows, wanted, needs, extra

    def estimate_inmemory_data_size(self) -> int | None:
        """Return None: the size of packed files says little."""
        return None

    def get_read_tasks(self, parallelism: int, per_task_row_limit=None, data_context=None) -> list[ReadTask]:
        """Return one task per file."""

        def task(file: Mapping) -> ReadTask:
            facts = BlockMetadata(num_rows=None, size_bytes=None, exec_stats=None, input_files=(file["name"],))
            return ReadTask(lambda: self._blocks(file), facts, per_task_row_limit=per_task_row_limit)

        return [task(file) for file in self.files]

    def _blocks(self, file: Mapping) -> Iterator[pyarrow.Table]:
        problems: list[str] = []
        source = source_of(file, self.wanted)
        skips, keeps = Skips(self.skip, problems.append), None if self.extra is None else "typed"
        reading = Reading([source], self.columns, skips, asks=lambda row_kind: self.needs, keeps=keeps)
        reading.row_kind, reading.extra = self.row_kind, self.extra
        counted, chunk = RowCounts(), []
        for items in reading.good_rows():
            reading.fit(items)
            chunk += items
            if len(chunk) >= self.rows:
                yield _table(chunk, {"counts": reading.counts.since(counted), "problems": problems})
                counted, chunk = deepcopy(reading.counts), []
                problems.clear()
        yield _table(chunk, {"counts": reading.counts.since(counted), "problems": problems})


class _Scoring:
    """An actor's own scorers; scores tables of items."""

    def __init__(self, metrics: Sequence[str], settings: Mapping[str, Mapping], row_kind: RowKind, extra: Mapping):
        self.scorers = {metric: make_scorer(metric, settings.get(metric)) for metric in metrics}
        self.row_kind = row_kind
        self.columns = output_columns(row_kind, self.scorers, extra=extra) | {NOTE: "text"}
        self.schema = arrow_schema(self.columns)

    def __call__(self, table):
        rows = table.to_pylist()
        notes = [row[NOTE] for row in rows if row[NOTE] is not None]
        items = _items([row for row in rows if row[NOTE] is None])
        tables = []
        if items:
            columns, tally = scored(items, self.row_kind, self.scorers)
            notes.append(json.dumps({"tally": tally.as_json()}))
            tables.append(arrow_table({**columns, NOTE: [None] * len(items)}, self.columns, self.schema))
        noted = pyarrow.Table.from_pylist([{NOTE: note} for note in notes], schema=self.schema)
        return pyarrow.concat_tables([*tables, noted])


class PartsDatasink(Datasink):
    """Writes parts and brings the notes back.

    Args:
        output: folder or URI; None writes nothing.
        metadata: facts about every file.
        rows: rows of a part, about.

    Attributes:
        notes: all notes, when the pipeline has run.
        parts: name of every part -> its SHA-256, then too.
    """

    def __init__(self, output: str | None, metadata: Mapping[str, str], rows: int):
        self.output, self.metadata, self.rows = output, metadata, rows
        self.notes: list[dict] = []
        self.parts: dict[str, str] = {}

    @property
    def min_rows_per_write(self) -> int:
        """Rows of a part."""
        return self.rows

    def write(self, blocks, ctx) -> tuple[int, list[str], str | None]:
        """Write one part; return its number, its notes, and its SHA-256 if it has rows."""
        table = pyarrow.concat_tables(list(blocks))
        notes = table[NOTE].drop_null().to_pylist()
        table = table.filter(table[NOTE].is_null()).drop_columns([NOTE]).replace_schema_metadata(self.metadata)
        written = None
        if self.output is not None and len(table):
            buffer = io.BytesIO()
            pyarrow.parquet.write_table(table, buffer, compression="zstd")
            # Under the name that an earlier attempt at the same task had, so that nothing is there twice.
            write_file(self.output, part_name(ctx.task_idx), buffer.getbuffer())
            written = hashlib.sha256(buffer.getbuffer()).hexdigest()
        return ctx.task_idx, notes, written

    def on_write_complete(self, write_result) -> None:
        """Keep the notes and digests of the attempts that count."""
        for number, notes, written in sorted(write_result.write_returns, key=lambda found: found[0]):
            self.notes += map(json.loads, notes)
            self.parts |= {part_name(number): written} if written else {}


@contextmanager
def _connected(address: str | None) -> Iterator[None]:
    """Connect to a cluster, or start one on this machine, unless this process is connected already."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # Ray's own notes on standard error
    connected = ray.is_initialized()
    if not connected:
        starts = address is None and "RAY_ADDRESS" not in os.environ
        options = {"include_dashboard": False} if starts else {"address": address}
        try:
            ray.init(log_to_driver=False, logging_level="error", **options)
        except Exception as error:  # some are of no special kind
            raise FileError(f"address: no Ray cluster at {address or 'this machine'}: {error}") from error
    context, logger = DataContext.get_current(), logging.getLogger("ray.data")
    wanted = {
        "enable_progress_bars": sys.stderr.isatty(),
        "print_on_execution_start": False,
        "raise_original_map_exception": True,
    }
    before, level = {name: getattr(context, name) for name in wanted}, logger.level
    logger.setLevel(logging.CRITICAL)  # the caller reports errors
    try:
        for name, value in wanted.items():
            setattr(context, name, value)
        yield
    finally:
        logger.setLevel(level)
        for name, value in before.items():
            setattr(context, name, value)
        if not connected:
            ray.shutdown()


def _cause(error: Exception) -> Exception:
    """Return the error of a task without the wrappers of Ray."""
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, FileError | ValueError | RuntimeError):
        return cause
    if isinstance(cause, OSError):
        return FileError(f"cannot be read or written: {cause}")
    return RuntimeError(f"ray: {type(cause).__name__}: {str(cause).strip().splitlines()[-1]}")


class RayRun(Run):
    """Scores the rows of files on a Ray cluster; its numbers are those of `run.Run`.

    Args:
        inputs: files, folders, or URIs that pyarrow reads (s3://, gs://, hf:// ...), in every format of `files`. What
            is local must be there on every machine of the cluster.
        *given, **options: see `ScoreOptions`. Rows of the output are in no order: `file` and `line` name their origin.

    Raises:
        ValueError: if an argument is bad. Nothing has been written yet.
    """

    def _find(self, inputs: Sequence[str], resume: bool) -> None:
        self.in_parts = False  # of the kind that can be resumed
        self.keeps = "typed" if self.output else None
        if resume:
            raise ValueError("resume: only for the local engine; Ray repeats the work of a lost machine by itself")
        if "-" in inputs:
            raise ValueError("engine: ray reads files and URIs, not standard input")
        self.files = listed(inputs)
        if len({file["path"] for file in self.files}) < len(self.files):
            raise FileError("input: the same file is named twice; name it once")
        self.sources = [source_of(file, self._wanted()) for file in self.files]
        if self.output is not None:
            if "://" not in self.output and not is_folder(self.output):
                raise FileError(f"output: ray writes parts into a folder; name it with a slash, {self.output}/")
            check_unused(self.output)
        self.stamps = stamps(self.files)

    def score(
        self, notify: Message = ignore, problem: Message = ignore, progress: Callable[[int, int | None], None] = ignore
    ) -> Scores:
        """Read, score and write, see `run.Run.score`; skipped rows are reported at the end.

        Raises:
            FileError: if a file cannot be read or written, a row is bad, or no row can be scored.
        """
        skip_bad_rows = self.options.skips
        first = Reading(self.sources, self.columns, Skips(skip_bad_rows), notify, self._needs, self.keeps)
        first.windows(lambda row_kind: (WINDOWS[None], WINDOW_CHARACTERS))
        row_kind = first.row_kind
        scorers = self._checked_scorers(row_kind)
        claim = nullcontext() if self.output is None else claimed(self.output)
        with claim:
            with _connected(self.options.address):
                sink = self._sink_of_run(row_kind, scorers, skip_bad_rows, first.extra)
            report = self._report_of(sink, row_kind, scorers, problem)
            check_unchanged(self.files, self.stamps)
            if self.output is not None:
                inputs = [{name: file[name] for name in ("name", "size")} for file in self.files]
                facts = {"complete": True, **facts_of(report), "parts": sink.parts}
                write_file(self.output, MANIFEST, manifest(self._facts(), inputs, facts))
        return report

    def _report_of(self, sink: PartsDatasink, row_kind: RowKind, scorers: Mapping, problem: Callable) -> Scores:
        """Return the results of the notes of a pipeline; tell its problems."""
        overall, counts = Tally(), RowCounts()
        for note in sink.notes:
            overall.add(Tally(**note.get("tally", {})))
            counts.add(note.get("counts", {}))
            for message in note.get("problems", ()):
                problem(message)
        return report_of(overall, row_kind, scorers, counts, self.options.total)

    def _sink_of_run(self, row_kind: RowKind, scorers: Mapping, skip: bool, extra: Mapping | None) -> PartsDatasink:
        """Run the pipeline; return its end, which has the notes."""
        has_model = any(scorer.device is not None for scorer in scorers.values())
        wants_cpu = any(given.get("device") == "cpu" for given in self.settings.values())
        resources = ray.cluster_resources()
        gpu = has_model and not wants_cpu and resources.get("GPU", 0) > 0
        window = WINDOWS[None if not has_model else "cuda" if gpu else "cpu"]
        few = max(1, int(resources.get("CPU", 1)) // CORES_PER_READER)
        metadata = {"genqa_metrics": json.dumps({metric: scorer.signature for metric, scorer in scorers.items()})}
        source = RowsDatasource(
            self.files, self.columns, skip, row_kind, window, self._wanted(), self._needs(row_kind), extra
        )
        sink = PartsDatasink(self.output, metadata, self.part_rows)
        try:
            # Few tasks read and write, and need no core of their own: the actors may take all cores, and as many as
            # the cluster grows to.
            rows = ray.data.read_datasource(source, override_num_blocks=len(self.files), num_cpus=0, concurrency=few)
            rows = rows.map_batches(
                _Scoring,
                fn_constructor_args=(list(scorers), self.settings, row_kind, extra or {}),
                batch_size=None,
                batch_format="pyarrow",
                compute=ActorPoolStrategy(min_size=1),
                num_cpus=1,
                num_gpus=1 if gpu else 0,
            )
            rows.write_datasink(sink, ray_remote_args={"num_cpus": 0}, concurrency=few)
        except Exception as error:  # Ray has many kinds, some made up at run time
            raise _cause(error) from error
        return sink
