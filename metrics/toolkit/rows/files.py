"""Where rows come from: files, and rows that are in memory."""

import hashlib
import io
import json
import lzma
import math
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from .formats import COMPRESSIONS, FORMATS, FileError, Row, csv_rows, decompressed, format_of, json_rows, parquet_rows

_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)


def digest(path: str | os.PathLike) -> str:
    """Return the SHA-256 of a file in hexadecimal.

    Raises:
        FileError: if it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{printable(str(path))}: cannot be read: {error.strerror}") from error


def printable(path: str) -> str:
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
        self.name = "standard input" if self.path == "-" else printable(self.path)
        self.unit = "row" if self.format == "Parquet" else "line"
        self.size = None
        self._stat: tuple | None = None
        self._raw = None
        self._share = [0.0]
        self._opened = opened or (_standard_input if self.path == "-" else lambda: open(self.path, "rb"))
        if self.path != "-" and opened is None:
            try:
                found = os.stat(path)
            except FileNotFoundError:
                raise FileError(f"{self.name}: no such file; check the name") from None
            except (OSError, ValueError) as error:  # a name that is too long, a loop of links, a zero byte
                reason = getattr(error, "strerror", None) or error
                raise FileError(f"{self.name:.200}: cannot be read: {reason}") from error
            if stat.S_ISDIR(found.st_mode):
                raise FileError(
                    f"{path}: is a folder; name the files in it, for example {self.path.rstrip('/')}/*.jsonl.gz"
                )
            if not stat.S_ISREG(found.st_mode):
                raise FileError(f"{self.name}: is a pipe or a device; let it write into '-', standard input")
            self.size, self._stat = found.st_size, self._state_of(found)

    @property
    def digest(self) -> str | None:
        """SHA-256 of the file; None for standard input, which cannot be read twice."""
        found = None if self.path == "-" else digest(self.path)
        self._check_unchanged()
        return found

    @property
    def identity(self) -> object:
        """What two names of one file have in common, also where they are links."""
        found = os.stat(self.path)
        return found.st_dev, found.st_ino

    @staticmethod
    def _state_of(found: os.stat_result) -> tuple[int, int, int]:
        return found.st_size, found.st_mtime_ns, found.st_ino

    def _check_unchanged(self) -> None:
        if self._stat and os.path.exists(self.path) and self._state_of(os.stat(self.path)) != self._stat:
            raise FileError(f"{self.name}: has changed while it was read; wait until it is complete, and begin again")

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
                    rows = parquet_rows(self._raw, self.name, self.columns, after, self._share)
                else:
                    stream = decompressed(self._raw)
                    if self.format == "JSON lines":
                        rows = json_rows(stream, after)
                    else:
                        rows = csv_rows(stream, self.name, "\t" if self.format == "TSV" else ",", after)
                for row in rows:
                    number = row.number
                    yield row
            self._check_unchanged()
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


class MemorySource:
    """Rows in memory, with what a `Source` has.

    Args:
        rows: one mapping from columns to values per row; NaN is a missing value.
        name: their name, and that of their system where no column says it.
    """

    path = None
    format = "memory"
    unit = "row"
    size: int | None = None
    position = 0

    def __init__(self, rows: Sequence[Any], name: str = "rows"):
        self.name = self.stem = name
        self._rows = rows

    @property
    def digest(self) -> str:
        """SHA-256 of the rows as JSON lines."""
        found = hashlib.sha256()
        for row in self.rows():
            found.update(json.dumps(row.values, default=str, ensure_ascii=True).encode() + b"\n")
        return found.hexdigest()

    def rows(self, after: int = 0) -> Iterator[Row]:
        """Yield every row behind the first `after`, the bad ones too."""
        for number, values in enumerate(self._rows, 1):
            if number <= after:
                continue
            if isinstance(values, Mapping):
                yield Row(number, {str(column): _plain(value) for column, value in values.items()})
            else:
                problem = f"expected a dict with one value per column, got {type(values).__name__} {values!r:.40}"
                yield Row(number, None, problem)


def _plain(value: Any) -> Any:
    """Return a value as JSON would hold it: arrays are lists, NaN is None."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return None if isinstance(value, float) and math.isnan(value) else value


def sources_of(rows: Any, columns: Sequence[str] | None = None, name: str = "rows") -> list[Source | MemorySource]:
    """Return sources of rows.

    Args:
        rows: a path or a list of paths; or a list of dicts, a pandas DataFrame (NaN is a missing value), or a
            `datasets.Dataset`.
        columns: see `Source`.
        name: see `MemorySource`.

    Raises:
        ValueError: if they are something else, or a file is named twice.

    >>> [row.values for row in sources_of([{"id": 1.5}, {"id": float("nan")}])[0].rows()]
    [{'id': 1.5}, {'id': None}]
    """
    if isinstance(rows, str | os.PathLike):
        rows = [rows]
    if isinstance(rows, Sequence) and rows and all(isinstance(path, str | os.PathLike) for path in rows):
        sources = [Source(path, columns) for path in rows]
        files: dict[object, str] = {}
        for source in sources:
            place = source.path if source.path == "-" else source.identity
            if place in files:
                names = dict.fromkeys((files[place], source.name))
                raise FileError(f"input: the same file is named twice, {' and '.join(names)}; name it once")
            files[place] = source.name
        return sources
    if hasattr(rows, "iterrows"):  # pandas
        if not rows.columns.is_unique:
            double = rows.columns[rows.columns.duplicated()][0]
            raise ValueError(f"rows: two columns are named {double!r}; rename one of them")
        rows = rows.astype(object).where(rows.notna(), None).to_dict("records")
    if isinstance(rows, Mapping | str | bytes) or not isinstance(rows, Iterable):
        fix = "; choose one of its splits" if hasattr(rows, "num_rows") else ""
        raise ValueError(
            "rows: expected a path, a list of paths or of dicts, a pandas DataFrame or a datasets.Dataset, got "
            f"{type(rows).__name__}{fix}"
        )
    return [MemorySource(rows if hasattr(rows, "__len__") else list(rows), name)]
