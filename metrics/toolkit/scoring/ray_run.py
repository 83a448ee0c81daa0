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
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

import pyarrow
import pyarrow.parquet
import ray
from pyarrow import fs
from ray.data import ActorPoolStrategy, DataContext, Datasink, Datasource, ReadTask
from ray.data.block import BlockMetadata

from ..rows.callbacks import Message, ignore
from ..rows.files import Source
from ..rows.formats import FORMATS, FileError, format_of
from ..rows.items import Item, RowKind
from ..rows.reading import Reading, Skips
from ..rows.writing import arrow_schema
from .parts import MANIFEST, is_folder, manifest, part_name
from .pipeline import WINDOWS, Tally, output_columns, scored
from .registry import make_scorer
from .run import Run, Scores, facts_of, report_of

CORES_PER_READER = 16  # one task that reads, and one that writes, keep far more actors busy than that
NOTE = "_note"
CLAIM = "_claim-"  # start of the name of a file by which a run claims its folder
_TEXTS = {"file": "text", "line": "integer", "id": "text", "system": "text", "text": "text"}
_LISTS = ("predictions", "references", "contexts")
_ITEM = _TEXTS | dict.fromkeys(_LISTS, "texts") | {"score": "number", "label": "number"}


def file_system(path: str):
    """Return the pyarrow file system of a path or URI, and the path in it.

    Raises:
        FileError: if there is no such file system.
    """
    try:
        return fs.FileSystem.from_uri(path if "://" in path else os.path.abspath(path))
    except (pyarrow.ArrowException, OSError, ImportError, ValueError) as error:
        raise FileError(f"{path}: no such place: {error}") from error


def listed(inputs: Sequence[str]) -> list[dict]:
    """Return the files that inputs name.

    Args:
        inputs: files, folders or URIs; of a folder all files with a known ending count, sorted by name.

    Returns:
        Per file its "name" for results and messages, its "path" to open, and its "size" in bytes, None where unknown.

    Raises:
        FileError: if there is nothing.
    """
    files = []
    for given in inputs:
        # What comes behind a question mark, such as a region, is for the file system.
        name, mark, options = given.partition("?") if "://" in given else (given, "", "")
        system, inner = file_system(given)
        try:
            info = system.get_file_info(inner)
            found = [info]
            if info.type == fs.FileType.Directory:
                found = system.get_file_info(fs.FileSelector(inner, recursive=True))
        except OSError as error:
            raise FileError(f"{given}: cannot be read: {error}") from error
        if info.type == fs.FileType.NotFound:
            raise FileError(f"{given}: no such file; check the name")
        if info.type == fs.FileType.Directory:
            inside = (file for file in found if file.is_file and _is_input(file.base_name))
            found = sorted(inside, key=lambda file: file.path)
            if not found:
                raise FileError(f"{given}: no file in it ends in {', '.join(FORMATS)}")
        for file in found:
            full = name.rstrip("/") + file.path.removeprefix(inner.rstrip("/"))
            format_of(full)
            path = full + mark + options if "://" in full else os.path.abspath(full)
            files.append({"name": full, "path": path, "size": file.size})
    return files


def stamps(files: Sequence[Mapping]) -> list[tuple]:
    """Return size and time of the last change of files, by which a change is noticed; None where unknown.

    Raises:
        FileError: if one is no longer there.
    """
    found = []
    for file in files:
        system, inner = file_system(file["path"])
        info = system.get_file_info(inner)
        if info.type == fs.FileType.NotFound:
            raise FileError(f"{file['name']}: is no longer there; score it again")
        found.append((info.size, info.mtime_ns))
    return found


def check_unchanged(files: Sequence[Mapping], before: Sequence[tuple]) -> None:
    """Refuse files whose `stamps` are no longer those of before.

    Raises:
        FileError: names the first one.
    """
    for file, old, new in zip(files, before, stamps(files), strict=True):
        if old != new:
            raise FileError(
                f"{file['name']}: has changed while it was read; score it into another folder when it is complete"
            )


@contextmanager
def claimed(folder: str) -> Iterator[None]:
    """Claim a folder for one run, on any file system: write a claim, then look for others.

    Of two runs that begin at the same time at least one sees the other's claim and gives up.

    Raises:
        FileError: if another run has claimed the folder, or it holds parts. It is as it was before.
    """
    system, inner = file_system(folder)
    name = f"{CLAIM}{uuid.uuid4().hex}"
    try:
        system.create_dir(inner, recursive=True)
        _write(folder, name, b"")
    except OSError as error:
        raise FileError(f"{folder}: cannot be written: {error}") from error
    try:
        check_unused(folder, name)
        yield
    finally:
        system.delete_file(f"{inner.rstrip('/')}/{name}")


def check_unused(folder: str, own: str = "") -> None:
    """Refuse a folder that holds parts, or the claim of a run other than `own`.

    Raises:
        FileError: says which.
    """
    system, inner = file_system(folder)
    there = system.get_file_info(fs.FileSelector(inner, allow_not_found=True))
    for file in sorted(
        there, key=lambda file: not file.base_name.startswith(CLAIM)
    ):  # of a run that is not over first
        if file.base_name == MANIFEST or file.extension == "parquet":
            raise FileError(f"{folder}: holds the parts of an earlier run; name another folder")
        if file.base_name.startswith(CLAIM) and file.base_name != own:
            raise FileError(
                f"{folder}: another run is writing to it, or was killed; name another folder, or remove "
                f"{file.base_name} if no run is left"
            )


def _is_input(name: str) -> bool:
    try:
        return not name.startswith(("_", ".")) and bool(format_of(name))
    except FileError:
        return False


def source_of(file: Mapping, columns: Sequence[str] | None = None) -> Source:
    """Return one of the `listed` files as rows; `columns` as in `files.Source`."""

    def opened():
        system, inner = file_system(file["path"])
        return io.BufferedReader(system.open_input_file(inner))

    return Source(file["name"], columns, opened)


def _table(items: Sequence[Item], note: Mapping):
    """Return items and a note as an Arrow table."""
    rows = [
        {name: getattr(item, name) for name in (*_TEXTS, *_LISTS)} | {"score": item.human[0], "label": item.human[1]}
        for item in items
    ]
    return pyarrow.Table.from_pylist([*rows, {NOTE: json.dumps(note)}], schema=arrow_schema(_ITEM | {NOTE: "text"}))


def _items(rows: Sequence[Mapping]) -> list[Item]:
    names = [*_TEXTS, *_LISTS]
    return [Item(**{name: row[name] for name in names}, human=(row["score"], row["label"])) for row in rows]


class RowsDatasource(Datasource):
    """Items of files, one task for each; what a task counted, and the rows it left out, become notes.

    Args:
        files: see `listed`.
        columns: see `rows.RowReader`.
        skip: leave bad rows out instead of raising.
        row_kind: what the rows are.
        rows: rows of a block, and so of a task of the next stage.
        wanted: columns of the files that may be needed.
        needs: {column: metric that needs it in every row}.
    """

    def __init__(
        self,
        files: Sequence[Mapping],
        columns: Mapping[str, str],
        skip: bool,
        row_kind: RowKind,
        rows: int,
        wanted: Sequence[str],
        needs: Mapping[str, str],
    ):
        super().__init__()
        self.files, self.columns, self.skip, self.row_kind = files, columns, skip, row_kind
        self.rows, self.wanted, self.needs = rows, wanted, needs

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
        reading = Reading([source], self.columns, Skips(self.skip, problems.append), asks=lambda row_kind: self.needs)
        reading.row_kind = self.row_kind
        counted, chunk = Counter(), []
        for items in reading.good_rows():
            chunk += items
            if len(chunk) >= self.rows:
                yield _table(chunk, {"counts": dict(reading.counts - counted), "problems": problems})
                counted, chunk = Counter(reading.counts), []
                problems.clear()
        yield _table(chunk, {"counts": dict(reading.counts - counted), "problems": problems})


class _Scoring:
    """An actor's own scorers; scores tables of items."""

    def __init__(self, metrics: Sequence[str], settings: Mapping[str, Mapping], row_kind: RowKind):
        self.scorers = {metric: make_scorer(metric, settings.get(metric)) for metric in metrics}
        self.row_kind = row_kind
        self.schema = arrow_schema(output_columns(row_kind, self.scorers) | {NOTE: "text"})

    def __call__(self, table):
        rows = table.to_pylist()
        notes = [row[NOTE] for row in rows if row[NOTE] is not None]
        items = _items([row for row in rows if row[NOTE] is None])
        tables = []
        if items:
            columns, tally = scored(items, self.row_kind, self.scorers)
            notes.append(json.dumps({"tally": tally.as_json()}))
            tables.append(pyarrow.table({**columns, NOTE: [None] * len(items)}, schema=self.schema))
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
            _write(self.output, part_name(ctx.task_idx), buffer.getbuffer())
            written = hashlib.sha256(buffer.getbuffer()).hexdigest()
        return ctx.task_idx, notes, written

    def on_write_complete(self, write_result) -> None:
        """Keep the notes and digests of the attempts that count."""
        for number, notes, written in sorted(write_result.write_returns, key=lambda found: found[0]):
            self.notes += map(json.loads, notes)
            self.parts |= {part_name(number): written} if written else {}


def _write(folder: str, name: str, content) -> None:
    system, inner = file_system(folder)
    with system.open_output_stream(f"{inner.rstrip('/')}/{name}") as file:
        file.write(content)


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
        if resume:
            raise ValueError("resume: only for the local engine; Ray repeats the work of a lost machine by itself")
        if "-" in inputs:
            raise ValueError("engine: ray reads files and URIs, not standard input")
        self.files = listed(inputs)
        if len({file["path"] for file in self.files}) < len(self.files):
            raise FileError("input: the same file is named twice; name it once")
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
        sources = [source_of(file, self._wanted()) for file in self.files]
        skip_bad_rows = self.options.skips
        first = Reading(sources, self.columns, Skips(skip_bad_rows), notify, self._needs)
        first.windows(lambda row_kind: (1, 1))
        row_kind = first.row_kind
        scorers = self._checked_scorers(row_kind)
        claim = nullcontext() if self.output is None else claimed(self.output)
        with claim:
            with _connected(self.options.address):
                sink = self._sink_of_run(row_kind, scorers, skip_bad_rows)
            report = self._report_of(sink, row_kind, scorers, problem)
            check_unchanged(self.files, self.stamps)
            if self.output is not None:
                inputs = [{name: file[name] for name in ("name", "size")} for file in self.files]
                facts = {"complete": True, **facts_of(report), "parts": sink.parts}
                _write(self.output, MANIFEST, manifest(self._facts(), inputs, facts))
        return report

    def _report_of(self, sink: PartsDatasink, row_kind: RowKind, scorers: Mapping, problem: Callable) -> Scores:
        """Return the results of the notes of a pipeline; tell its problems."""
        overall, counts = Tally(), Counter()
        for note in sink.notes:
            overall.add(Tally(**note.get("tally", {})))
            counts.update(note.get("counts", {}))
            for message in note.get("problems", ()):
                problem(message)
        return report_of(overall, row_kind, scorers, counts, self.options.total)

    def _sink_of_run(self, row_kind: RowKind, scorers: Mapping, skip: bool) -> PartsDatasink:
        """Run the pipeline; return its end, which has the notes."""
        has_model = any(scorer.device is not None for scorer in scorers.values())
        wants_cpu = any(given.get("device") == "cpu" for given in self.settings.values())
        resources = ray.cluster_resources()
        gpu = has_model and not wants_cpu and resources.get("GPU", 0) > 0
        window = WINDOWS[None if not has_model else "cuda" if gpu else "cpu"]
        few = max(1, int(resources.get("CPU", 1)) // CORES_PER_READER)
        metadata = {"genqa_metrics": json.dumps({metric: scorer.signature for metric, scorer in scorers.items()})}
        source = RowsDatasource(
            self.files, self.columns, skip, row_kind, window, self._wanted(), self._needs(row_kind)
        )
        sink = PartsDatasink(self.output, metadata, self.part_rows)
        try:
            # Few tasks read and write, and need no core of their own: the actors may take all cores, and as many as
            # the cluster grows to.
            rows = ray.data.read_datasource(source, override_num_blocks=len(self.files), num_cpus=0, concurrency=few)
            rows = rows.map_batches(
                _Scoring,
                fn_constructor_args=(list(scorers), self.settings, row_kind),
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
