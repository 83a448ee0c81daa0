"""Scores files on a Ray cluster: every task reads a file, scores each n-th window of it, and writes its parts.

Input files and output folders are on any file system that pyarrow reads: this machine, s3://, gs://, hf:// ...
It needs the extra `ray`, and is imported only where that engine is asked for.

Rows, checks, windows, scorers and sums are those of the local engine. A task that is repeated, because its machine was
lost, does the same again: its parts replace those of the first attempt, and what it returns counts once.
"""

import io
import json
import logging
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import pyarrow
import ray
from pyarrow import fs
from ray import cloudpickle

from ..registry import make_scorer
from ..rows.errors import FileError
from ..rows.reading import Message, RowKind, Skips, ignore
from ..rows.sources import FORMATS, Source, digest, format_of
from ..rows.writing import Writer
from .options import check_questions
from .parts import MANIFEST, is_folder, manifest, part_name
from .run import WINDOWS, Reading, Run, Scores, cut, facts_of, finished
from .scoring import Tally, output_columns, scored, warn_of_recorded

CLAIM = "_claim-"  # start of the name of a file by which a run claims its folder


def file_system(path: str):
    """Return the pyarrow file system of a path or URI, and the path in it."""
    try:
        return fs.FileSystem.from_uri(path if "://" in path else os.path.abspath(path))
    except (pyarrow.ArrowException, OSError, ImportError, ValueError) as error:
        raise FileError(f"{path}: cannot be found: {error}; check the address") from error


def listed(inputs: Sequence[str]) -> list[dict]:
    """Return the files that inputs name: files, folders or URIs; all files of a folder with a known ending, by name.

    Each has its "name" for messages, "path" to open, "size" in bytes, and when it "changed"; None where unknown.
    """
    files = []
    for path in inputs:
        # What comes behind a question mark, such as a region, is for the file system.
        name, mark, options = path.partition("?") if "://" in path else (path, "", "")
        system, inner = file_system(path)
        try:
            info = system.get_file_info(inner)
            infos = [info]
            if info.type == fs.FileType.Directory:
                infos = system.get_file_info(fs.FileSelector(inner, recursive=True))
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {error}") from error
        if info.type == fs.FileType.NotFound:
            raise FileError(f"{path}: no such file; check the name")
        if info.type == fs.FileType.Directory:
            inside = (file for file in infos if file.is_file and _is_input(file.base_name))
            infos = sorted(inside, key=lambda file: file.path)
            if not infos:
                raise FileError(f"{path}: no file in it ends in {', '.join(FORMATS)}; name another folder")
        for file in infos:
            full = name.rstrip("/") + file.path.removeprefix(inner.rstrip("/"))
            format_of(full)
            address = full + mark + options if "://" in full else os.path.abspath(full)
            files.append({"name": full, "path": address, "size": file.size, "changed": file.mtime_ns})
    return files


def check_unchanged(files: Sequence[Mapping]) -> None:
    """Refuse files that have changed since they were `listed`."""
    for file in files:
        system, inner = file_system(file["path"])
        info = system.get_file_info(inner)
        if info.type == fs.FileType.NotFound:
            raise FileError(f"{file['name']}: is no longer there; score it again")
        if (info.size, info.mtime_ns) != (file["size"], file["changed"]):
            fix = "score it into another folder when it is complete"
            raise FileError(f"{file['name']}: has changed while it was read; {fix}")


@contextmanager
def claimed(folder: str) -> Iterator[None]:
    """Claim a folder for one run, on any file system: write a claim, then look for others.

    Of two runs that begin at the same time at least one sees the other's claim and gives up.
    """
    system, inner = file_system(folder)
    name = f"{CLAIM}{uuid.uuid4().hex}"
    try:
        system.create_dir(inner, recursive=True)
        write_file(folder, name, b"")
    except OSError as error:
        raise FileError(f"{folder}: cannot be written: {error}") from error
    try:
        check_unused(folder, name)
        yield
    finally:
        system.delete_file(f"{inner.rstrip('/')}/{name}")


def check_unused(folder: str, claim: str = "") -> None:
    """Refuse a folder that holds parts, or another claim than this run's."""
    system, inner = file_system(folder)
    names = [file.base_name for file in system.get_file_info(fs.FileSelector(inner, allow_not_found=True))]
    for name in names:
        if name.startswith(CLAIM) and name != claim:
            raise FileError(
                f"{folder}: another run is writing to it, or was killed; name another folder, or remove {name} if no "
                "run is left"
            )
    if any(name == MANIFEST or name.endswith(".parquet") for name in names):
        raise FileError(f"{folder}: holds the parts of an earlier run; name another folder")


def _is_input(name: str) -> bool:
    try:
        return not name.startswith(("_", ".")) and bool(format_of(name))
    except FileError:
        return False


def source_of(file: Mapping) -> Source:
    """Return one of the `listed` files as rows."""

    def opened():
        system, inner = file_system(file["path"])
        return io.BufferedReader(system.open_input_file(inner))

    return Source(file["name"], opened)


def write_file(folder: str, name: str, content: bytes | memoryview) -> None:
    """Write a file into a folder, both of any file system."""
    system, inner = file_system(folder)
    with system.open_output_stream(f"{inner.rstrip('/')}/{name}") as file:
        file.write(content)


RETRIES = 20  # of a task whose machine is lost


@lru_cache(maxsize=1)
def _scorers(pickled: bytes) -> dict:
    """Return {metric: what computes it}; a process of Ray works on many tasks, and loads the models once."""
    metrics, settings = cloudpickle.loads(pickled)
    return {metric: make_scorer(metric, settings.get(metric)) for metric in metrics}


@dataclass
class ShareResult:
    """What a task returns."""

    tally: Tally = field(default_factory=Tally)
    skips: Skips = field(default_factory=Skips)
    problems: list[str] = field(default_factory=list)  # of bad rows
    digests: dict[str, str] = field(default_factory=dict)  # {part: its SHA-256}
    kept: list[dict[str, list]] = field(default_factory=list)  # rows of every window, where they are kept in memory


def score_share(job: Mapping[str, Any], task: int, file: Mapping, share: int, shares: int) -> ShareResult:
    """Score windows `share`, `share` + `shares`, ... of a `listed` file: what one task does.

    `job` is equal in all tasks. All shares of a file read it whole; the first one tells of its bad rows.
    """
    result, options = ShareResult(), job["options"]
    skips = Skips(options.on_error == "skip", result.problems.append)
    reading = Reading([source_of(file)], options.columns, skips, needs=job["needs"], keeps=job["keeps"])
    reading.row_kind, reading.extra = job["row_kind"], job["extra"]
    scorers, digests = _scorers(job["metrics"]), result.digests
    metadata = {"genqa_metrics": json.dumps({metric: scorer.signature for metric, scorer in scorers.items()})}
    columns = output_columns(job["row_kind"], scorers, options.explain, job["extra"])
    windows = cut(reading.good_rows(), lambda: job["window"])

    def tables() -> Iterator[tuple[int, dict[str, list]]]:
        """Yield the numbers of rows, and the rows, of the windows of this task."""
        for window in islice(windows, share, None, shares):
            reading.fit(window.items)
            columns_of_window, sums = scored(window.items, job["row_kind"], scorers, options.worst, options.explain)
            result.tally.add(sums)
            if options.keep:
                result.kept.append({name: columns_of_window[name] for name in columns})
            yield len(window), columns_of_window

    with tempfile.TemporaryDirectory() as folder:
        path, scores = Path(folder, "part.parquet"), tables()
        for rows, columns_of_window in scores:
            if options.output is None:
                continue
            with Writer(path, columns, metadata) as writer:
                writer.write(columns_of_window)
                while rows < options.part_rows and (more := next(scores, None)):
                    writer.write(more[1])
                    rows += more[0]
            name = part_name(task + len(digests) * job["tasks"])  # that which an earlier attempt gave it
            write_file(options.output, name, path.read_bytes())
            digests[name] = digest(path)
    if share:
        result.problems.clear()
    else:
        result.skips = replace(skips, problem=ignore)
    return result


@contextmanager
def _connected(address: str | None) -> Iterator[None]:
    """Connect to a cluster, or start one on this machine, unless this process is connected already."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # Ray's own notes on standard error
    if ray.is_initialized():
        yield
        return
    starts = address is None and "RAY_ADDRESS" not in os.environ
    options = {"include_dashboard": False} if starts else {"address": address}
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except Exception as error:  # some are of no special kind
        fix = "start one with ray start --head, or leave address out"
        raise FileError(f"address: no Ray cluster at {address or 'this machine'}: {error}; {fix}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _cause(error: Exception) -> Exception:
    """Return the error of a task without the wrappers of Ray."""
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, FileError | ValueError | RuntimeError):
        return cause
    if isinstance(cause, OSError):
        return FileError(f"cannot be read or written: {cause}")
    return RuntimeError(f"ray: {type(cause).__name__}: {str(cause).strip().splitlines()[-1]}")


def _in_order(windows_of_shares: Sequence[Sequence[Mapping[str, list]]], files: int) -> dict[str, list]:
    """Return the rows of all windows in the order of the input; every file has the same number of shares.

    >>> _in_order([[{"n": [1]}, {"n": [3]}], [{"n": [2]}], [{"n": [4]}], []], files=2)
    {'n': [1, 2, 3, 4]}
    """
    shares, columns = len(windows_of_shares) // files, {}
    for first in range(0, len(windows_of_shares), shares):
        for windows in zip_longest(*windows_of_shares[first : first + shares]):
            for window in filter(None, windows):
                for name, column in window.items():
                    columns.setdefault(name, []).extend(column)
    return columns


class RayRun(Run):
    """Scores the rows of files on a Ray cluster; its numbers are those of `run.Run`.

    Inputs are files, folders, or URIs that pyarrow reads (s3://, gs://, hf:// ...); what is local must be there on
    every machine. Rows of the output folder are in no order: `file` and `line` name their origin. Rows that are kept
    in memory are in the order of the input.
    """

    def _find(self, inputs: Sequence[str]) -> None:
        output = self.options.output
        self.in_parts = False  # of the kind that can be resumed
        self.keeps = "typed" if output else "any" if self.options.keep else None
        if self.options.resume:
            raise ValueError("resume: only for the local engine; Ray repeats the work of a lost machine by itself")
        inputs = [inputs] if isinstance(inputs, str) else list(inputs)
        if "-" in inputs:
            raise ValueError("engine: ray reads files and URIs, not standard input")
        self.files = listed(inputs)
        if len({file["path"] for file in self.files}) < len(self.files):
            raise FileError("input: the same file is named twice; name it once")
        self.sources = list(map(source_of, self.files))
        if output is not None:
            if "://" not in output and not is_folder(output):
                raise FileError(f"output: ray writes parts into a folder; name it with a slash, {output}/")
            check_unused(output)

    def score(
        self, notify: Message = ignore, problem: Message = ignore, progress: Callable[[int, int | None], None] = ignore
    ) -> Scores:
        """Read, score and write, see `run.Run.score`; skipped rows are reported at the end."""
        first, output = self._reading(ignore, notify), self.options.output
        first.windows(lambda: WINDOWS[None])
        row_kind, scorers = first.row_kind, self.scorers
        check_questions(scorers, row_kind)
        with nullcontext() if output is None else claimed(output):
            with _connected(self.options.address):
                results = self._results(row_kind, scorers, first.extra, progress)
            overall, skips, digests = Tally(), Skips(), {}
            for result in results:
                overall.add(result.tally)
                skips.add(result.skips)
                digests |= result.digests
                for message in result.problems:
                    problem(message)
            warn_of_recorded(overall.warning_counts)
            scores = finished(overall, row_kind, scorers, skips)
            check_unchanged(self.files)
            if output is not None:
                inputs = [{name: file[name] for name in ("name", "size")} for file in self.files]
                facts = {"complete": True, **facts_of(scores), "parts": digests}
                write_file(output, MANIFEST, manifest(self._facts(), inputs, facts))
        if self.options.keep:
            scores.columns = _in_order([result.kept for result in results], len(self.files))
        return scores

    def _results(
        self, row_kind: RowKind, scorers: Mapping, extra: Mapping | None, progress: Callable
    ) -> list[ShareResult]:
        """Return the results of all tasks, in the order of the tasks."""
        has_model = any(scorer.device is not None for scorer in scorers.values())
        options = self.options
        wants_cpu = any(chosen.get("device") == "cpu" for chosen in options.settings.values())
        resources = ray.cluster_resources()
        gpus = 0 if wants_cpu or not has_model else int(resources.get("GPU", 0))
        shares = -(-(gpus or int(resources.get("CPU", 1))) // len(self.files))
        tasks = [(file, share, shares) for file in self.files for share in range(shares)]
        job = {"options": options, "row_kind": row_kind, "needs": self.needs}
        job |= {"extra": extra, "keeps": self.keeps, "tasks": len(tasks)}
        settings = {metric: dict(scorer.chosen_settings) for metric, scorer in scorers.items()}
        job["metrics"] = cloudpickle.dumps((list(scorers), settings))
        job["window"] = WINDOWS[None if not has_model else "cuda" if gpus else "cpu"]
        # A process stays for the next task: its models are loaded.
        task = ray.remote(num_cpus=1, num_gpus=1 if gpus else 0, max_retries=RETRIES, max_calls=0)(score_share)
        job = ray.put(job)
        running = {task.remote(job, number, *share): number for number, share in enumerate(tasks)}
        results: dict[int, ShareResult] = {}
        try:
            while len(results) < len(tasks):
                (done, *_), _ = ray.wait([reference for reference, number in running.items() if number not in results])
                results[running[done]] = ray.get(done)
                progress(sum(result.tally.rows.total() for result in results.values()), None)
        except Exception as error:  # Ray has many kinds, some made up at run time
            for reference in running:
                ray.cancel(reference, force=True)
            raise _cause(error) from error
        return [results[number] for number in range(len(tasks))]
