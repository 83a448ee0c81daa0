"""Formats of files: rows of JSON lines, CSV, TSV and Parquet, a few at a time.

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
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
MAX_LINE = 2**25  # bytes, or characters of CSV: a line is read as a whole, and takes many times its size in memory
MAX_COLUMNS = 10_000
# A spreadsheet runs a cell that begins so as a formula. Written cells get an apostrophe before it, as OWASP advises
# against CSV injection; one is taken away on reading, so that texts come back unchanged. So does a text that begins
# with a bracket, which would be read as a JSON list.
_FORMULA = re.compile(r"'*[=+\-@\t\r\[]")


class PlainCell(str):
    """A cell of CSV that had a mark: a text, even if it begins with a bracket."""

    __slots__ = ()


class FileError(ValueError):
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


def marked(cell: str) -> str:
    """Return a cell of CSV that no spreadsheet runs as a formula.

    >>> marked("=1+1"), marked("'=1+1"), marked("it's")
    ("'=1+1", "''=1+1", "it's")
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def without_mark(cell: str) -> str:
    """Return what `marked` was called with.

    >>> without_mark("'=1+1"), without_mark("''=1+1"), without_mark("'quoted'")
    ('=1+1', "'=1+1", "'quoted'")
    """
    return PlainCell(cell[1:]) if cell[:1] == "'" and _FORMULA.match(cell) else cell


def decompressed(raw: BinaryIO) -> BinaryIO:
    """Unpack by the first bytes, not by the name: a wrong ending, and compressed standard input, are no obstacle.

    A line longer than `MAX_LINE` is an OSError.
    """
    return io.BufferedReader(_Bounded(_unpacked(raw)), 2**16)


def _unpacked(raw: BinaryIO) -> BinaryIO:
    start = raw.peek(8)
    if start.startswith(COMPRESSIONS[".gz"]):
        return io.BufferedReader(gzip.GzipFile(fileobj=raw))
    if start.startswith(COMPRESSIONS[".bz2"]):
        return io.BufferedReader(_Streams(raw, bz2.BZ2Decompressor))
    if start.startswith(COMPRESSIONS[".xz"]):
        return io.BufferedReader(_Streams(raw, lzma.LZMADecompressor))
    if start.startswith(COMPRESSIONS[".zst"]):
        import pyarrow

        return io.BufferedReader(pyarrow.CompressedInputStream(raw, "zstd"))
    return raw


class _Streams(io.RawIOBase):
    """Compressed streams one after the other; unlike bz2 and lzma it takes a damaged one for no end of the file.

    Args:
        raw: the compressed file.
        make: makes what unpacks one stream.
    """

    def __init__(self, raw: BinaryIO, make: Callable):
        self._raw, self._make, self._stream = raw, make, make()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer) -> int:
        """Fill a buffer as far as there is something; 0 at the end."""
        while True:
            packed = b""
            if self._stream.eof:
                packed = self._stream.unused_data or self._raw.read(io.DEFAULT_BUFFER_SIZE)
                packed = packed.lstrip(b"\0") if packed else b""  # xz may pad between streams
                self._stream = self._make()
                if not packed and not self._raw.peek(1):
                    return 0
            elif self._stream.needs_input:
                packed = self._raw.read(io.DEFAULT_BUFFER_SIZE)
                if not packed:
                    raise EOFError("the compressed file ends before its end-of-stream marker was reached")
            if data := self._stream.decompress(packed, len(buffer)):
                buffer[: len(data)] = data
                return len(data)


class _Bounded(io.RawIOBase):
    """A text whose lines are not too long: one is read as a whole, and takes many times its size in memory.

    Args:
        stream: the text.
    """

    def __init__(self, stream: BinaryIO):
        self._stream, self._length, self._number = stream, 0, 1

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer) -> int:
        """Fill a buffer as far as there is something; 0 at the end."""
        data = self._stream.read1(len(buffer))
        end = data.rfind(b"\n")
        self._number += data.count(b"\n")
        self._length = len(data) - 1 - end if end >= 0 else self._length + len(data)
        if self._length > MAX_LINE:
            raise OSError(f"line {self._number} is longer than {MAX_LINE:,} bytes; write one row a line")
        buffer[: len(data)] = data
        return len(data)


def _once(pairs: list[tuple[str, object]]) -> dict:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        double = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise ValueError(f"the key {double!r:.60} stands in one object twice")
    return values


def _not_utf8(line: bytes, error: UnicodeDecodeError) -> str:
    return (
        f"not UTF-8: byte 0x{line[error.start]:02x} at position {error.start + 1} of the line; "
        "convert the file, for example with iconv -f latin1 -t utf-8"
    )


def json_rows(stream: BinaryIO, after: int) -> Iterator[Row]:
    """Yield the rows of JSON lines behind row `after`."""
    for number, line in enumerate(stream, 1):
        if number <= after:
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        try:
            values = json.loads(line.decode("utf-8"), object_pairs_hook=_once)
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
            if isinstance(values, dict) and len(values) > MAX_COLUMNS:
                yield Row(number, None, f"has {len(values):,} columns, more than {MAX_COLUMNS:,}; leave some out")
            elif isinstance(values, dict):
                yield Row(number, values)
            else:
                fix = "; write the lines with jq -c '.[]' FILE" if isinstance(values, list) else ""
                kind = {list: "array", str: "string", type(None): "null", bool: "truth value"}
                got = kind.get(type(values), "number")
                yield Row(number, None, f"expected a JSON object with one value per column, got a JSON {got}{fix}")


def csv_rows(stream: BinaryIO, path: str, delimiter: str, after: int) -> Iterator[Row]:
    """Yield the rows of CSV behind row `after`; messages name `path`."""
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
            check_columns(header, path)
            double = next((name for name, count in Counter(header).items() if count > 1), None)
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
            yield Row(number, dict(zip(header, map(without_mark, cells), strict=True)))


def check_columns(names: Sequence[str], path: str) -> None:
    """Refuse a table with more columns than rows can be checked with.

    Raises:
        FileError: if it has more than `MAX_COLUMNS`.
    """
    if len(names) > MAX_COLUMNS:
        raise FileError(f"{path}: has {len(names):,} columns, more than {MAX_COLUMNS:,}; leave some out")


def parquet_rows(raw: BinaryIO, path: str, columns: Sequence[str] | None, after: int, progress: list) -> Iterator[Row]:
    """Yield the rows of Parquet behind row `after`; `progress[0]` is the share that was read."""
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(raw, pre_buffer=False)
        names = file.schema_arrow.names
        check_columns(names, path)
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
