"""Files that appear under their name when they are complete, and not at all after a failure."""

import csv
import io
import json
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import FileError
from .marks import marked, marked_list
from .sources import CODECS, format_of

TEMPORARY = ".genqa-metrics-{}.part"  # unique, beside the file
ROW_GROUP_BYTES = 2**25  # of text in memory before a Parquet row group is written
ROW_GROUP_ROWS = 2**16


def output_path(path: str | os.PathLike, inputs: Iterable[str | os.PathLike | None] = ()) -> Path:
    """Return the place of an output, links followed: a file, or a new name in a folder; never one of the inputs."""
    if not os.fspath(path):
        raise FileError("output: expected the name of a file, got an empty one; is a shell variable unset?")
    if "://" in os.fspath(path):
        raise FileError(f"{path}: only --engine ray writes to an address; name a file here")
    real = Path(os.path.realpath(path))
    with can_be_written(path):
        if not real.parent.is_dir():
            raise FileError(f"{path}: there is no folder {real.parent}; make it first")
        mode = real.stat().st_mode if real.exists() else stat.S_IFREG
    if stat.S_ISDIR(mode):
        raise FileError(f"{path}: is a folder; name a file in it")
    if not stat.S_ISREG(mode) or real.is_symlink():
        raise FileError(f"{path}: is not a file but a device, a pipe or a broken link, which stays; name a file")
    for file in inputs:
        if file in (None, "-") or not os.path.exists(file) or not real.exists():
            continue
        if os.path.samefile(file, real) or Path(os.path.realpath(file)) in real.parents:
            raise FileError(f"{path}: is an input of this run, which would be lost; name another file")
    return real


@contextmanager
def can_be_written(path: str | os.PathLike) -> Iterator[None]:
    """Raise a `FileError` that names a file or folder for an OSError inside."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces the file of its name, with its permissions, only when it is complete.

    After an error nothing stays. After SIGKILL a hidden file that ends in .part may stay.
    """
    temporary = path.with_name(TEMPORARY.format(secrets.token_hex(8)))
    try:
        with open(temporary, "xb") as raw:
            yield raw
            raw.flush()
            if path.exists():
                os.chmod(raw.fileno() if os.chmod in os.supports_fd else temporary, stat.S_IMODE(path.stat().st_mode))
            os.fsync(raw.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def compressed(raw: BinaryIO, ending: str) -> BinaryIO:
    """Return a file that compresses what is written into another one, which stays open."""
    import pyarrow

    copy = os.fdopen(os.dup(raw.fileno()), "wb")  # which pyarrow closes
    return io.BufferedWriter(pyarrow.CompressedOutputStream(copy, CODECS[ending]))


def type_of(cells: Sequence[object]) -> str:
    """Return the type of a column, see `Writer`; None has every type.

    >>> type_of([1, None, 2.5]), type_of([True]), type_of(["a", 1]), type_of([2**70]), type_of([None])
    ('number', 'truth', 'any', 'any', 'any')
    """
    types = {type(cell) for cell in cells if cell is not None}
    if types == {int} and all(cell is None or -(2**63) <= cell < 2**63 for cell in cells):  # type: ignore[operator]
        return "integer"
    return "truth" if types == {bool} else "number" if types in ({float}, {int, float}) else "any"


def _schema(columns: Mapping[str, str], metadata: Mapping[str, str]):
    """Return the Arrow schema of columns with their types, see `Writer`."""
    import pyarrow

    types = {"text": pyarrow.string(), "integer": pyarrow.int64(), "number": pyarrow.float64()}
    types |= {"any": types["text"], "truth": pyarrow.bool_()}
    types |= {"texts": pyarrow.list_(types["text"]), "numbers": pyarrow.list_(types["number"])}
    return pyarrow.schema([(name, types[kind]) for name, kind in columns.items()], metadata=dict(metadata))


class _UnixLines:
    """Takes the lines of `csv.writer`, and writes them with a line feed at the end."""

    def __init__(self, text: io.TextIOBase):
        self._text = text

    def write(self, line: str) -> None:
        self._text.write(line.removesuffix("\r\n") + "\n")


def _csv_cell(cell: object) -> object:
    if isinstance(cell, str):
        return marked(cell)
    if isinstance(cell, bool | dict):
        return marked(json.dumps(cell, ensure_ascii=False))
    return marked_list(cell) if isinstance(cell, list) else cell


def _text(cell: object) -> str | None:
    return cell if cell is None or isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)


class Writer:
    """One output file, which appears under its name when it is complete and not at all after a failure.

    Its ending says the format. Types of columns are "text", "integer", "number", "truth", "texts" and "numbers"
    (lists), and "any": JSON in Parquet and CSV where it is no text. Only Parquet has a place for metadata.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        columns: Mapping[str, str],
        metadata: Mapping[str, str],
        inputs: Iterable[str | os.PathLike | None] = (),
    ):
        self.path = output_path(path, inputs)  # through a link, so that the rename replaces the file and not the link
        self.format, self.compression = format_of(path)
        self.columns = dict(columns)
        self.metadata = dict(metadata)

    def __enter__(self) -> "Writer":
        self._stack = ExitStack()
        with can_be_written(self.path):
            raw = self._stack.enter_context(new_file(self.path))
        if self.format == "Parquet":
            import pyarrow.parquet

            self._schema, self._pending = _schema(self.columns, self.metadata), []
            options = {"compression": "zstd", "write_page_checksum": True}
            self._parquet = self._stack.enter_context(pyarrow.parquet.ParquetWriter(raw, self._schema, **options))
            return self
        packed = self._stack.enter_context(compressed(raw, self.compression)) if self.compression else raw
        self._text = io.TextIOWrapper(packed, encoding="utf-8", newline="")
        self._stack.callback(self._text.detach)  # which writes the rest, and leaves the file open
        if self.format != "JSON lines":
            delimiter = "\t" if self.format == "TSV" else ","
            # Cells with any character of the line's end are quoted; so a carriage return must be one of them.
            self._csv = csv.writer(_UnixLines(self._text), delimiter=delimiter, lineterminator="\r\n")
            self._csv.writerow(map(marked, self.columns))
        return self

    def write(self, rows: Mapping[str, Sequence]) -> None:
        """Write rows, one list of equal length per column."""
        with can_be_written(self.path):
            if self.format == "Parquet":
                import pyarrow

                kinds = self.columns.items()
                columns = (map(_text, rows[name]) if kind == "any" else rows[name] for name, kind in kinds)
                arrays = [pyarrow.array(cells, field.type) for cells, field in zip(columns, self._schema, strict=True)]
                self._pending.append(pyarrow.Table.from_arrays(arrays, schema=self._schema))
                held = sum(table.nbytes for table in self._pending)
                if held >= ROW_GROUP_BYTES or sum(map(len, self._pending)) >= ROW_GROUP_ROWS:
                    self._flush()
                return
            for cells in zip(*(rows[name] for name in self.columns), strict=True):
                if self.format == "JSON lines":
                    row = dict(zip(self.columns, cells, strict=True))
                    self._text.write(json.dumps(row, ensure_ascii=False) + "\n")
                else:
                    self._csv.writerow(map(_csv_cell, cells))

    def note(self, facts: Mapping[str, str]) -> None:
        """Add facts about the whole file that are known at its end; only Parquet has a place for them."""
        if self.format == "Parquet":
            self._parquet.add_key_value_metadata(dict(facts))

    def _flush(self) -> None:
        import pyarrow

        if self._pending:
            self._parquet.write_table(pyarrow.concat_tables(self._pending))
            self._pending.clear()

    def __exit__(self, kind, error, trace) -> None:
        if error is not None:
            with suppress(OSError):
                self._stack.__exit__(kind, error, trace)
            return
        with can_be_written(self.path), self._stack:
            if self.format == "Parquet":
                self._flush()


def lock_folder(folder: Path, wait: bool = True) -> int | None:
    """Lock a folder against other processes until `os.close` of the returned descriptor; None on Windows."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(lock)
        raise
    return lock


def write_text(path: Path, text: str) -> None:
    """Write a text file; through a link, so that the file is replaced and not the link."""
    with new_file(Path(os.path.realpath(path))) as file:
        file.write(text.encode())
