"""Rows of JSON lines, CSV, TSV and Parquet files, compressed or not, read and written a few at a time.

Reading never stops at a bad row: the row comes with its number and the reason, and the caller decides. What makes the
whole file unreadable (no such file, damaged compression, a broken header) is a `FileError`.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

FORMATS = {
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".json": "JSON lines",
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
}
COMPRESSIONS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".zst": b"\x28\xb5\x2f\xfd"}
MAX_CELL = 2**24  # characters; a quotation mark that is never closed must not read the whole file into one cell
ROW_GROUP_BYTES = 2**25  # of text in memory before a Parquet row group is written
ROW_GROUP_ROWS = 2**16
_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)


class FileError(Exception):
    """A file cannot be read or written; the message names it, says why, and how to mend it.

    Attributes:
        bad_row: it is only one row that is bad; it could be left out.
    """

    def __init__(self, message: str, bad_row: bool = False):
        super().__init__(message)
        self.bad_row = bad_row


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file.

    Attributes:
        number: its line in a text file (for CSV the last one of the row), else its number, from 1.
        values: by column; None for a bad row.
        problem: why the row is bad, and the fix; "" for a good row.
    """

    number: int
    values: dict | None
    problem: str = ""


def format_of(path: str | os.PathLike) -> tuple[str, str]:
    """Return the format and the compression that the name of a file asks for.

    Args:
        path: name of a file; "-" is standard input, JSON lines.

    Returns:
        A value of `FORMATS`, and a key of `COMPRESSIONS` or "".

    Raises:
        FileError: if the ending is unknown.

    >>> format_of("answers.csv.gz")
    ('CSV', '.gz')
    """
    if str(path) == "-":
        return "JSON lines", ""
    name = Path(path).name.lower()
    compression = next((ending for ending in COMPRESSIONS if name.endswith(ending)), "")
    ending = Path(name.removesuffix(compression)).suffix
    if ending not in FORMATS:
        raise FileError(
            f"{path}: expected a name that ends in {', '.join(FORMATS)} (and {', '.join(COMPRESSIONS)} where "
            f"compressed), got {ending or 'no ending'!r}; rename the file, or pipe JSON lines into '-'"
        )
    if FORMATS[ending] == "Parquet" and compression:
        raise FileError(f"{path}: Parquet files are compressed inside; unpack it, or drop {compression} from its name")
    return FORMATS[ending], compression


def _decompressed(raw: BinaryIO) -> BinaryIO:
    """Unpack by the first bytes, not by the name: a wrong ending, and compressed standard input, are no obstacle."""
    start = raw.peek(8)
    if start.startswith(COMPRESSIONS[".gz"]):
        return io.BufferedReader(gzip.GzipFile(fileobj=raw))
    if start.startswith(COMPRESSIONS[".bz2"]):
        return bz2.BZ2File(raw)
    if start.startswith(COMPRESSIONS[".xz"]):
        return lzma.LZMAFile(raw)
    if start.startswith(COMPRESSIONS[".zst"]):
        import pyarrow

        return io.BufferedReader(pyarrow.CompressedInputStream(raw, "zstd"))
    return raw


def _not_utf8(line: bytes, error: UnicodeDecodeError) -> str:
    return (
        f"not UTF-8: byte 0x{line[error.start]:02x} at position {error.start + 1} of the line; "
        "convert the file, for example with iconv -f latin1 -t utf-8"
    )


def _json_rows(stream: BinaryIO, after: int) -> Iterator[Row]:
    for number, line in enumerate(stream, 1):
        if number <= after:
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        try:
            values = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            yield Row(number, None, _not_utf8(line, error))
        except RecursionError:
            yield Row(number, None, "not JSON that can be read: nested too deeply")
        except ValueError as error:
            reason = f"{error.msg} at character {error.colno}" if isinstance(error, json.JSONDecodeError) else error
            problem = f"not JSON: {reason}; expected one object per line"
            if number == 1 and line.strip() in (b"[", b"{"):
                problem += "; for a file that is one JSON array, write the lines with jq -c '.[]' FILE"
            yield Row(number, None, problem)
        else:
            if isinstance(values, dict):
                yield Row(number, values)
            else:
                fix = "; write the lines with jq -c '.[]' FILE" if isinstance(values, list) else ""
                kind = {list: "array", str: "string", type(None): "null", bool: "truth value"}
                got = kind.get(type(values), "number")
                yield Row(number, None, f"expected a JSON object with one value per column, got a JSON {got}{fix}")


def _csv_rows(stream: BinaryIO, path: str, delimiter: str, after: int) -> Iterator[Row]:
    # The limit is csv's own global; it is never lowered, so that it does no harm to other users of csv.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    header = None
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if header is None:
                raise FileError(f"{path}, line {reader.line_num}: the header is not CSV: {error}") from error
            if reader.line_num > after:
                problem = f"not CSV: {error}; look for a stray or missing quotation mark above"
                yield Row(reader.line_num, None, problem)
            continue
        number = reader.line_num
        if not cells or (header is not None and number <= after):
            continue
        if any("\udc80" <= letter <= "\udcff" for cell in cells if not cell.isascii() for letter in cell):
            problem = "not UTF-8; convert the file, for example with iconv -f latin1 -t utf-8"
            if header is None:
                raise FileError(f"{path}, line {number}: the header is {problem}")
            yield Row(number, None, problem)
        elif header is None:
            header = cells
            double = next((name for i, name in enumerate(header) if name in header[:i]), None)
            if double is not None:
                raise FileError(f"{path}, line {number}: two columns are named {double!r}; rename one of them")
        elif len(cells) != len(header):
            yield Row(
                number,
                None,
                f"expected {len(header)} cells as in the header, got {len(cells)}; put cells with "
                f"{'a tab' if delimiter == chr(9) else 'commas'} or line breaks into quotation marks",
            )
        else:
            yield Row(number, dict(zip(header, cells, strict=True)))


def _parquet_rows(
    raw: BinaryIO, path: str, columns: Sequence[str] | None, after: int, progress: list
) -> Iterator[Row]:
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(raw, pre_buffer=False)
        names = file.schema_arrow.names
        wanted = None if columns is None else [name for name in names if name in columns]
        # Leaving out columns must not hide them from a message that lists the columns found.
        unread = dict.fromkeys(name for name in names if wanted is not None and name not in wanted)
        number, groups = 0, list(range(file.num_row_groups))
        while groups and number + file.metadata.row_group(groups[0]).num_rows <= after:
            number += file.metadata.row_group(groups.pop(0)).num_rows
        for batch in file.iter_batches(batch_size=500, row_groups=groups, columns=wanted):
            if number + len(batch) <= after:
                number += len(batch)
                continue
            for values in batch.to_pylist(maps_as_pydicts="strict") if batch.num_columns else [{}] * batch.num_rows:
                number += 1
                if number > after:
                    yield Row(number, {**values, **unread} if unread else values)
            progress[0] = number / max(file.metadata.num_rows, 1)
    except (pyarrow.ArrowException, OSError) as error:
        raise FileError(f"{path}: not a Parquet file that can be read: {error}") from error


def _printable(path: str) -> str:
    """A file's name can be any bytes; what is not UTF-8 in it is shown as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class Source:
    """One input file; `position` of `size` bytes are read while `rows` is iterated.

    Args:
        path: name of the file, or "-" for JSON lines on standard input.
        columns: the columns that are needed, for formats that can leave out the others; None for all.
        opened: opens the file where the path is only a name, as of what lies on another machine.

    Raises:
        FileError: if the file does not exist, is a folder, or has an unknown ending.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        columns: Sequence[str] | None = None,
        opened: Callable[[], BinaryIO] | None = None,
    ):
        self.path = str(path)
        self.columns = columns
        self.format, _ = format_of(path)
        self.name = "standard input" if self.path == "-" else _printable(self.path)
        self.unit = "row" if self.format == "Parquet" else "line"
        self.size = None
        self._raw = None
        self._share = [0.0]
        self._opened = opened or (_standard_input if self.path == "-" else lambda: open(self.path, "rb"))
        if self.path != "-" and opened is None:
            if not Path(path).exists():
                raise FileError(f"{path}: no such file; check the name")
            if Path(path).is_dir():
                raise FileError(
                    f"{path}: is a folder; name the files in it, for example {self.path.rstrip('/')}/*.jsonl.gz"
                )
            self.size = Path(path).stat().st_size

    @property
    def stem(self) -> str:
        """The name without folders and endings."""
        if self.path == "-":
            return "standard input"
        name = Path(self.name).name
        for ending in (*COMPRESSIONS, *FORMATS):
            name = name[: -len(ending)] if name.lower().endswith(ending) else name
        return name

    @property
    def position(self) -> int:
        """Number of bytes read so far; 0 where it is unknown."""
        if not self.size or self._raw is None:
            return 0
        if self.format == "Parquet":
            return int(self._share[0] * self.size)
        return self.size if self._raw.closed else self._raw.tell()

    def rows(self, after: int = 0) -> Iterator[Row]:
        """Yield every row, the bad ones too.

        Args:
            after: number of a row; rows up to it are passed over, nearly for nothing.

        Yields:
            Rows in order.

        Raises:
            FileError: if the file cannot be read on; names the last row that could be.
        """
        number = after
        try:
            with self._opened() as self._raw:
                if self.format == "Parquet":
                    rows = _parquet_rows(self._raw, self.name, self.columns, after, self._share)
                else:
                    stream = _decompressed(self._raw)
                    if self.format == "JSON lines":
                        rows = _json_rows(stream, after)
                    else:
                        rows = _csv_rows(stream, self.name, "\t" if self.format == "TSV" else ",", after)
                for row in rows:
                    number = row.number
                    yield row
        except _DAMAGED as error:
            reason = str(error) or type(error).__name__
            after = f", after {self.unit} {number}" if number else ""
            raise FileError(f"{self.name}{after}: cannot be read (on): {reason}; is the file complete?") from error


def _standard_input() -> BinaryIO:
    # A copy of the descriptor, so that closing it leaves standard input open; tests replace sys.stdin by a buffer.
    try:
        return open(os.dup(sys.stdin.fileno()), "rb")
    except (OSError, ValueError, AttributeError):
        return io.BufferedReader(io.BytesIO(sys.stdin.buffer.read()))


def _nameless(folder: Path) -> BinaryIO | None:
    """Open a file without a name, of which nothing stays if the process is killed; None where that is unknown."""
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
    except (AttributeError, OSError):  # not Linux, or a file system that cannot; another reason comes up again
        return None


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name, and the place of an older one, only when it is complete.

    After an error there is no trace of it. After SIGKILL a hidden file that ends in .part may stay; on file systems of
    Linux that have files without a name only if the kill falls between its two last steps, naming and replacing.

    Args:
        path: name of the file.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    nameless = _nameless(path.parent)
    try:
        with nameless or open(temporary, "wb") as raw:
            yield raw
            raw.flush()
            os.fsync(raw.fileno())
            if nameless:
                folder = os.open(path.parent, os.O_RDONLY)  # named, because only then link follows the link in /proc
                try:
                    os.link(f"/proc/self/fd/{raw.fileno()}", temporary, src_dir_fd=folder, follow_symlinks=True)
                finally:
                    os.close(folder)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def arrow_schema(columns: Mapping[str, str], metadata: Mapping[str, str] | None = None):
    """Return the Arrow schema of columns.

    Args:
        columns: the columns and their types, see `Writer`.
        metadata: facts about the whole table.
    """
    import pyarrow

    types = {"text": pyarrow.string(), "integer": pyarrow.int64(), "number": pyarrow.float64()}
    types |= {"texts": pyarrow.list_(types["text"]), "numbers": pyarrow.list_(types["number"])}
    return pyarrow.schema([(name, types[kind]) for name, kind in columns.items()], metadata=metadata)


class Writer:
    """One output file, which appears under its name when it is complete and not at all after a failure.

    Args:
        path: name of the file; its ending says the format and the compression.
        columns: the columns and their types: "text", "integer", "number", "texts" or "numbers" (lists).
        metadata: facts about the whole file; only Parquet has a place for them.

    Raises:
        FileError: if the ending is unknown or the folder does not exist.
    """

    def __init__(self, path: str | os.PathLike, columns: Mapping[str, str], metadata: Mapping[str, str]):
        self.format, self.compression = format_of(path)
        self.path = Path(path).resolve()  # through a link, so that the rename replaces the file and not the link
        self.columns = dict(columns)
        self.metadata = dict(metadata)
        if not self.path.parent.is_dir():
            raise FileError(f"{path}: there is no folder {self.path.parent}; make it first")
        if self.path.is_dir():
            raise FileError(f"{path}: is a folder; name a file in it")

    def _failure(self, error: OSError) -> FileError:
        return FileError(f"{self.path}: cannot be written: {error.strerror or error}")

    def __enter__(self) -> "Writer":
        try:
            self._file = new_file(self.path)
            self._raw = self._file.__enter__()
        except OSError as error:
            raise self._failure(error) from error
        if self.format == "Parquet":
            self._open_parquet()
        else:
            self._open_text()
        return self

    def _open_parquet(self) -> None:
        import pyarrow.parquet

        self._schema = arrow_schema(self.columns, self.metadata)
        self._pending, self._pending_rows, self._pending_bytes = [], 0, 0
        self._parquet = pyarrow.parquet.ParquetWriter(self._raw, self._schema, compression="zstd")

    def _open_text(self) -> None:
        if self.compression == ".gz":
            self._packed = gzip.GzipFile("", "wb", fileobj=self._raw, mtime=0)
        elif self.compression == ".bz2":
            self._packed = bz2.BZ2File(self._raw, "wb")
        elif self.compression == ".xz":
            self._packed = lzma.LZMAFile(self._raw, "wb")
        elif self.compression == ".zst":
            import pyarrow

            raw = os.fdopen(os.dup(self._raw.fileno()), "wb")  # which pyarrow closes
            self._packed = io.BufferedWriter(pyarrow.CompressedOutputStream(raw, "zstd"))
        else:
            self._packed = self._raw
        self._text = io.TextIOWrapper(self._packed, encoding="utf-8", newline="")
        if self.format != "JSON lines":
            delimiter = "\t" if self.format == "TSV" else ","
            self._csv = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
            self._csv.writerow(self.columns)

    def write(self, rows: Mapping[str, Sequence]) -> None:
        """Write rows.

        Args:
            rows: one list of equal length per column.

        Raises:
            FileError: if the file cannot be written, for example because the disk is full.
        """
        try:
            self._write(rows)
        except OSError as error:
            raise self._failure(error) from error

    def note(self, facts: Mapping[str, str]) -> None:
        """Add facts about the whole file that are known at its end; only Parquet has a place for them."""
        if self.format == "Parquet":
            self._parquet.add_key_value_metadata(dict(facts))

    def _write(self, rows: Mapping[str, Sequence]) -> None:
        if self.format == "Parquet":
            import pyarrow

            arrays = [pyarrow.array(rows[field.name], field.type) for field in self._schema]
            table = pyarrow.Table.from_arrays(arrays, schema=self._schema)
            self._pending.append(table)
            self._pending_rows += len(table)
            self._pending_bytes += table.nbytes
            if self._pending_rows >= ROW_GROUP_ROWS or self._pending_bytes >= ROW_GROUP_BYTES:
                self._flush()
            return
        for values in zip(*(rows[name] for name in self.columns), strict=True):
            if self.format == "JSON lines":
                row = dict(zip(self.columns, values, strict=True))
                self._text.write(json.dumps(row, ensure_ascii=False) + "\n")
            else:
                self._csv.writerow(
                    json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value for value in values
                )

    def _flush(self) -> None:
        import pyarrow

        if self._pending:
            self._parquet.write_table(pyarrow.concat_tables(self._pending))
            self._pending, self._pending_rows, self._pending_bytes = [], 0, 0

    def _close(self, complete: bool) -> None:
        if self.format == "Parquet":
            if complete:
                self._flush()
            self._parquet.close()
        elif self._packed is self._raw:
            self._text.flush()
        else:
            self._text.close()

    def __exit__(self, kind, error, trace) -> None:
        failed = error
        try:
            self._close(complete=error is None)
        except OSError as problem:
            failed = failed or problem
        try:
            self._file.__exit__(failed and type(failed), failed, None)
        except OSError as problem:
            failed = failed or problem
        if failed is not error:
            raise self._failure(failed) from failed


def write_text(path: Path, text: str) -> None:
    """Write a file under a temporary name beside it and rename it, so that there is never half a file.

    Args:
        path: name of the file; through a link, so that the file is replaced and not the link.
        text: its content.

    Raises:
        OSError: if it cannot be written.
    """
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.write_text(text, encoding="utf-8", newline="")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
