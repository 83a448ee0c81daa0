"""One source of rows, whatever its format: its rows, digest and place."""

import hashlib
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from .documents import document_rows, place_of_rows, predictions_of, questions_of, rows_at
from .errors import FileError
from .file_types import COMPRESSIONS, PACKED, READABLE, Row, format_of
from .formats import COLUMNS_READ, TOOL_FORMATS, normalize_rows
from .tables import arrow_rows, excel_rows, inspect_rows, parquet_rows
from .text_rows import csv_rows, decompressed, json_rows

NOTICE = 40  # letters at the start of a notice that tell it from others
_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, UnicodeError)


def digest(path: str | os.PathLike) -> str:
    """Return the SHA-256 of a file in hexadecimal.

    Raises:
        FileError: if it cannot be read, or is not a regular file.
    """
    check_regular(path)
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{printable(str(path))}: cannot be read: {error.strerror}") from error


def check_regular(path: str | os.PathLike) -> None:
    """Refuse a pipe or a device in the place of a file: reading it might never end.

    Raises:
        FileError: if it exists and is not a regular file.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise FileError(f"{printable(str(path))}: expected a file, got a folder, pipe or device; remove it")


def printable(path: str) -> str:
    """A file's name can be any bytes; what is not UTF-8 in it is shown as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class ReadOptions:
    """How rows are read.

    Attributes:
        form: a key of `formats.TOOL_FORMATS`, None to recognise it.
        systems: columns that hold the answers of one system each.
        encoding: of text, None for UTF-8, or UTF-16 where a file begins so.
        rows_at: where the rows stand in a JSON document, see `values.value_at`; "" to look for them.
        sheet: name or number, from 1, of the sheet of a workbook.
        split: what stands between the references of one text; "" for none.

    Raises:
        ValueError: if there is no such form or encoding.
    """

    form: str | None = None
    systems: Sequence[str] = ()
    encoding: str | None = None
    rows_at: str = ""
    sheet: str = "1"
    split: str = ""

    def __post_init__(self):
        if self.form is not None and self.form not in TOOL_FORMATS:
            raise ValueError(f"from: expected one of {', '.join(TOOL_FORMATS)}, got {self.form!r}")
        try:
            "".encode(self.encoding or "utf-8")
        except LookupError:
            raise ValueError(
                f"encoding: expected one that Python knows, such as cp1252, got {self.encoding!r}"
            ) from None


class AnySource:
    """Rows under a name, wherever they are from; `position` of `size` bytes are read while `rows` is iterated.

    Args:
        name: for messages.
        stem: name of the system of rows without one.
        options: how they are read; None for the defaults.

    Attributes:
        path: name of the file; None for rows in memory.
        inputs: names of the files that it was made of.
        columns: the columns that are needed, for formats that can leave out the others; None for all.
        form: the format of the tool that wrote it, once a row was read; "" for rows as we write them.
        notices: what a user must know of how it was read, one sentence each, without the name of the file.
    """

    path: str | None = None
    format, unit = "memory", "row"
    size: int | None = None
    position = 0
    columns: Sequence[str] | None = None

    def __init__(self, name: str, stem: str, options: ReadOptions | None = None):
        self.name, self.stem, self.inputs = name, stem, (name,)
        self.options = options or ReadOptions()
        self.form = self.options.form
        self._notices: dict[str, str] = {}

    @property
    def notices(self) -> list[str]:
        """What a user must know of how the rows were read."""
        return list(self._notices.values())

    def note(self, message: str, subject: str | None = None) -> None:
        """Keep a notice: the first of those that begin alike, or the last one on a subject."""
        if subject is not None or message[:NOTICE] not in self._notices:
            self._notices[subject or message[:NOTICE]] = message

    def rows(self, after: int = 0) -> Iterator[Row]:
        """Yield every row behind the first `after`, the bad ones too."""

        def formatted(form: str) -> None:
            self.form = form

        yield from normalize_rows(self._found(after), self.form, self.options.systems, formatted)

    def _found(self, after: int) -> Iterator[Row]:
        """Yield the rows as they are."""
        raise NotImplementedError

    def elsewhere(self, values: Mapping) -> str:
        """Return where there are rows if these values are none, as a part of a sentence; "" if nowhere."""
        return ""

    def check_unchanged(self) -> None:
        """Refuse a source that has changed since it was opened; rows in memory have no state to compare."""


class Source(AnySource):
    """One input file.

    Args:
        path: name of the file, or its address (https://, s3://, hf:// ..., see `fsspec`), or "-" for JSON lines on
            standard input.
        columns: the columns that are needed, for formats that can leave out the others; None for all.
        opened: opens the file where the path is only a name, as of what lies on another machine.
        options: how it is read; None for the defaults.

    Raises:
        FileError: if the file does not exist, is a folder, or has an unknown ending.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        columns: Sequence[str] | None = None,
        opened: Callable[[], BinaryIO] | None = None,
        options: ReadOptions | None = None,
    ):
        self.path, self.columns = str(path), columns
        name = "standard input" if self.path == "-" else printable(self.path)
        super().__init__(name, _stem(name), options)
        self.inputs = (self.path,)
        if os.path.isdir(path):
            raise FileError(
                f"{path}: is a folder; name the files in it, for example {self.path.rstrip('/')}/*.jsonl.gz"
            )
        self.format, _ = format_of(path, READABLE)
        self.unit = "row" if self.format in PACKED else "line"
        self._stat: tuple | None = None
        self._sheets: list[str] = []
        self._raw = None
        self._share = [0.0]
        self._opened = opened or (_standard_input if self.path == "-" else lambda: open(self.path, "rb"))
        self.remote = "://" in self.path
        if self.remote:
            self._opened = opened or partial(remote_file, self.path)
        elif self.path != "-" and opened is None:
            try:
                found = os.stat(path)
            except FileNotFoundError:
                raise FileError(f"{self.name}: no such file; check the name") from None
            except (OSError, ValueError) as error:  # a name that is too long, a loop of links, a zero byte
                reason = getattr(error, "strerror", None) or error
                raise FileError(f"{self.name:.200}: cannot be read: {reason}") from error
            if not stat.S_ISREG(found.st_mode):
                raise FileError(f"{self.name}: is a pipe or a device; let it write into '-', standard input")
            self.size, self._stat = found.st_size, self._state_of(found)

    @property
    def digest(self) -> str | None:
        """SHA-256 of the file; None for standard input, which cannot be read twice."""
        if self.remote:
            with self._opened() as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        found = None if self.path == "-" else digest(self.path)
        self.check_unchanged()
        return found

    @property
    def identity(self) -> object:
        """What two names of one file have in common, also where they are links."""
        if self.path == "-" or self.remote:
            return self.path
        found = os.stat(self.path)
        return found.st_dev, found.st_ino

    @staticmethod
    def _state_of(found: os.stat_result) -> tuple[int, int, int]:
        return found.st_size, found.st_mtime_ns, found.st_ino

    def check_unchanged(self) -> None:
        """Refuse a file that is another one now than when this object was made.

        Raises:
            FileError: if its size, time or inode is another; nothing is known of an address.
        """
        if self._stat and os.path.exists(self.path) and self._state_of(os.stat(self.path)) != self._stat:
            raise FileError(f"{self.name}: has changed while it was read; wait until it is complete, and begin again")

    @property
    def position(self) -> int:
        """Number of bytes read so far; 0 where it is unknown."""
        if not self.size or self._raw is None:
            return 0
        if self.format in PACKED:
            return int(self._share[0] * self.size)
        return self.size if self._raw.closed else self._raw.tell()

    def rows(self, after: int = 0) -> Iterator[Row]:
        """Yield every row, the bad ones too.

        Args:
            after: number of a row; rows up to it are skipped cheaply.

        Yields:
            Rows in order.

        Raises:
            FileError: if the file cannot be read on; names the last row that could be.
        """
        number = after
        try:
            with self._opened() as self._raw:
                for row in super().rows(after):
                    number = row.number
                    yield row
            self.check_unchanged()
        except _DAMAGED as error:
            reason = str(error) or type(error).__name__
            after = f", after {self.unit} {number}" if number else ""
            raise FileError(f"{self.name}{after}: cannot be read (on): {reason}; is the file complete?") from error

    def _found_sheets(self, sheets: list[str]) -> None:
        self._sheets = sheets

    def elsewhere(self, values: Mapping) -> str:
        """Return where a file has rows if a row of it is none, as a part of a sentence; "" if nowhere."""
        if len(self._sheets) > 1:
            return f"the workbook has the sheets {', '.join(self._sheets)}: name another one with --sheet NAME"
        if predictions_of([values]) is not None:
            return f"it holds predictions alone: name the file with the questions and right answers beside {self.name}"
        if questions_of([values]) is not None:
            return f"it holds questions and right answers alone: name the file with the predictions beside {self.name}"
        place = "" if self.options.rows_at or self.format != "JSON lines" else place_of_rows(values)
        return f"rows stand at {place}: add --rows-at '{place}'" if place else ""

    def _found(self, after: int) -> Iterator[Row]:
        """Yield the rows as they are in the file."""
        raw, name = self._raw, self.name
        if self.format == "Parquet":
            columns = None if self.columns is None else [*self.columns, *COLUMNS_READ, *self.options.systems]
            return parquet_rows(raw, name, columns, after, self._share)
        if self.format in PACKED:
            excel = partial(excel_rows, sheet=self.options.sheet, found=self._found_sheets)
            read = {"Arrow": arrow_rows, "Excel": excel, "Inspect log": inspect_rows}[self.format]
            return read(raw, name, after)
        stream = decompressed(raw)
        if self.format == "JSON lines":
            place = self.options.rows_at
            found = partial(rows_at, path=place, name=name) if place else document_rows
            return json_rows(stream, after, found, self.options.encoding)
        return csv_rows(stream, name, "\t" if self.format == "TSV" else None, after, self.options.encoding)


def _stem(name: str) -> str:
    """Return the name of a file without folders and endings: that of its system, where no column names one."""
    name = Path(name).name
    for ending in (*COMPRESSIONS, *READABLE):
        name = name[: -len(ending)] if name.lower().endswith(ending) else name
    return name


def remote_file(address: str) -> BinaryIO:
    """Open a file by its address, see `fsspec`.

    Raises:
        FileError: if there is none, or the package for this kind of address is missing.
    """
    import fsspec

    try:
        file = fsspec.open(address, "rb").open()
    except ImportError as error:
        raise FileError(f"{address}: {error}") from error
    except Exception as error:  # every file system has kinds of its own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileError(f"{address}: cannot be read: {reason}") from error
    return file if hasattr(file, "peek") else io.BufferedReader(file)


def _standard_input() -> BinaryIO:
    # A copy of the descriptor, so that closing it leaves standard input open; tests replace sys.stdin by a buffer.
    try:
        return open(os.dup(sys.stdin.fileno()), "rb")
    except (OSError, ValueError, AttributeError):
        return io.BufferedReader(io.BytesIO(sys.stdin.buffer.read()))
