"""Rows of texts, which may be compressed: JSON (lines, or one document), CSV and TSV, a few at a time."""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import BinaryIO

from .errors import FileError
from .file_types import COMPRESSIONS, MAX_COLUMNS, MAX_LINE, Row, check_columns

UTF_16 = (b"\xff\xfe", b"\xfe\xff")
MAX_DOCUMENT = 2**28  # bytes of a JSON document, which is read as a whole
MAX_CELL = 2**24  # characters; a quotation mark that is never closed must not read the whole file into one cell
ENCODE = "name its encoding, for example --encoding cp1252 (Windows) or latin-1, or convert it with iconv"
NAMED = {",": "commas", ";": "semicolons", "\t": "a tab"}


def _once(pairs: list[tuple[str, object]]) -> dict:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        double = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise ValueError(f"the key {double!r:.60} stands in one object twice")
    return values


def encoding_of(stream: BinaryIO, encoding: str | None) -> str | None:
    """Return the encoding of a text: the one named, else UTF-16 if it begins so, else None for UTF-8."""
    return encoding or ("utf-16" if stream.peek(2)[:2] in UTF_16 else None)


def _not_utf8(line: bytes, error: UnicodeDecodeError) -> str:
    return f"not UTF-8: byte 0x{line[error.start]:02x} at position {error.start + 1} of the line; {ENCODE}"


def _up_to(limit: int, lines: Iterator[bytes]) -> bytes:
    """Return lines up to a number of bytes, about."""
    result = bytearray()
    for line in lines:
        result += line
        if len(result) > limit:
            break
    return bytes(result)


def _document(
    lines: Iterator[bytes], whole: Callable[[object], Iterator[dict] | None]
) -> tuple[Iterable[bytes], Iterator | None]:
    """Return the lines of JSON lines and None; or, if together they are one document, no lines and its rows."""
    head: list[bytes] = []
    for line in lines:
        head.append(line)
        if line.strip():
            break
    start = head[-1].removeprefix(b"\xef\xbb\xbf").strip() if head else b""
    if start[:1] not in (b"[", b"{"):
        return chain(head, lines), None
    try:
        document = json.loads(start, object_pairs_hook=_once)
        for rest in lines:
            head.append(rest)
            if rest.strip():
                return chain(head, lines), None
        rest = b""
    except (ValueError, RecursionError) as error:
        if not isinstance(error, json.JSONDecodeError) or error.pos < len(error.doc):  # bad, not only unfinished
            return chain(head, lines), None
        rest = _up_to(MAX_DOCUMENT, lines)
        try:
            document = json.loads(start + b"\n" + rest, object_pairs_hook=_once)
        except (ValueError, RecursionError):
            return chain(head, io.BytesIO(rest), lines), None
    rows = whole(document)
    if rows is None and rest:
        rows = iter([document])
    return (head, None) if rows is None else ((), rows)


def json_rows(
    stream: BinaryIO, after: int, whole: Callable[[object], Iterator[dict] | None], encoding: str | None = None
) -> Iterator[Row]:
    """Yield the rows of JSON lines, or of a JSON document, behind row `after`.

    Args:
        stream: the text.
        after: number of a row.
        whole: returns the rows of a document, None for one that has none.
        encoding: of the text, None for UTF-8.
    """
    encoding = encoding_of(stream, encoding)
    lines = iter(stream)
    if encoding is not None:
        lines = (line.encode() for line in io.TextIOWrapper(stream, encoding, newline="\n"))
    lines, rows = _document(lines, whole)
    if rows is not None:
        for number, values in enumerate(rows, 1):
            if number > after:
                yield _row_of(number, values)
        return
    for number, line in enumerate(lines, 1):
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
            yield Row(number, None, problem)
        else:
            yield _row_of(number, values)


def _row_of(number: int, value: object) -> Row:
    if isinstance(value, dict) and len(value) > MAX_COLUMNS:
        return Row(number, None, f"has {len(value):,} columns, more than {MAX_COLUMNS:,}; leave some out")
    if isinstance(value, dict):
        return Row(number, value)
    kind = {list: "array", str: "string", type(None): "null", bool: "truth value"}.get(type(value), "number")
    return Row(number, None, f"expected a JSON object with one value per column, got a JSON {kind}")


def _delimiter(start: bytes, encoding: str) -> str:
    """Return what separates the cells of a header: what stands in it most often, outside quotation marks.

    >>> _delimiter(b'question;"a, b";prediction', "utf-8"), _delimiter(b"sep=;", "utf-8"), _delimiter(b"text", "utf-8")
    (';', ';', ',')
    """
    header = re.split("[\r\n]", start.decode(encoding, "replace").lstrip("\ufeff"))[0]
    bare = re.sub('"[^"]*"', "", header)
    return max(",;\t", key=bare.count)


def csv_rows(
    stream: BinaryIO, path: str, delimiter: str | None, after: int, encoding: str | None = None
) -> Iterator[Row]:
    """Yield the rows of CSV behind row `after`; messages name `path`.

    Args:
        stream: the text.
        path: its name.
        delimiter: what separates cells; None for a comma, a semicolon or a tab, whichever the header has.
        after: number of a row.
        encoding: of the text, None for UTF-8.
    """
    encoding = encoding_of(stream, encoding) or "utf-8-sig"
    delimiter = delimiter or _delimiter(stream.peek(2**16), encoding)
    # The limit is csv's own global; it is never lowered, so that it does no harm to other users of csv.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
    errors = "surrogateescape" if encoding == "utf-8-sig" else "strict"
    text = io.TextIOWrapper(stream, encoding, errors, newline="")
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
            problem = f"not UTF-8; {ENCODE}"
            if header is None:
                raise FileError(f"{path}, line {number}: the header is {problem}")
            yield Row(number, None, problem)
        elif header is None and cells[0].startswith("sep=") and not any(cells[1:]):
            continue  # Excel's note on the delimiter
        elif header is None:
            header, written = cells, has_marks(cells)
            check_columns(header, path)
            if any(re.match(r"\[[^\]]+\] ", name) for name in header):  # promptfoo, with a Status for each prompt
                seen = [header[:place].count(name) for place, name in enumerate(header)]
                header = [
                    f"{name} {before + 1}" if before else name for name, before in zip(header, seen, strict=True)
                ]
            double = next((name for name, count in Counter(header).items() if count > 1), None)
            if double is not None:
                raise FileError(f"{path}, line {number}: two columns are named {double!r}; rename one of them")
        elif len(cells) != len(header):
            yield Row(
                number,
                None,
                f"expected {len(header)} cells as in the header, got {len(cells)}; put cells with "
                f"{NAMED[delimiter]} or line breaks into quotation marks",
            )
        else:
            cells = map(without_mark, cells) if written else cells
            yield Row(number, dict(zip(header, cells, strict=True)))


# A spreadsheet runs a cell that begins so as a formula. Written cells get an apostrophe before it, as OWASP advises
# against CSV injection; it is removed on reading, so that texts come back unchanged. A text that begins with a bracket
# gets one too, for it would be read as a JSON list. Many spreadsheets split at other separators than the file's: where
# a formula follows one of these, it gets an apostrophe there, and the cell one at its start.
_FORMULA = re.compile(r"'*[=+\-@\t\r\[＝＋－＠]")
_INSIDE = re.compile(r"""(?<=[,;|\t\r\n])(?=["']*[=+\-@＝＋－＠])""")
_MARKED_INSIDE = re.compile(r"""(?<=[,;|\t\r\n])'(?=["']*[=+\-@＝＋－＠])""")
_INSIDE_LIST = re.compile(r"""(?<=[,;|])(["'\\]*)([=+\-@＝＋－＠])""")


class PlainCell(str):
    """A cell of CSV that had a mark: a text, even if it begins with a bracket."""

    __slots__ = ()


def marked(cell: str) -> str:
    """Return a cell of CSV that no spreadsheet runs as a formula, whatever separator it splits at.

    >>> marked("=1+1"), marked("'=1+1"), marked("it's"), marked("a;=1+1")
    ("'=1+1", "''=1+1", "it's", "'a;'=1+1")
    """
    if _INSIDE.search(cell):
        return "'" + _INSIDE.sub("'", cell)
    return f"'{cell}" if _FORMULA.match(cell) else cell


def marked_list(values: list) -> str:
    r"""Return a list as a cell of CSV: JSON, in which what a spreadsheet might run as a formula is escaped.

    >>> marked_list(["a;=1+1", "-1"])
    '["a;\\u003d1+1", "-1"]'
    """
    text = json.dumps(values, ensure_ascii=False)
    return _INSIDE_LIST.sub(lambda found: f"{found[1]}\\u{ord(found[2]):04x}", text)


# Columns of the files that we write and read. In other files an apostrophe is a part of the text.
_WRITTEN = ({"file", "line"}, {"line", "id"}, {"id", "mean_of_all"})


def has_marks(header: Sequence[str]) -> bool:
    """Return whether the cells of a file of CSV have marks, because it has the columns of one that we write."""
    return any(columns <= set(header) for columns in _WRITTEN)


def without_mark(cell: str) -> str:
    """Return what `marked` was called with.

    >>> without_mark("'=1+1"), without_mark("''=1+1"), without_mark("'quoted'"), without_mark("'a;'=1+1")
    ('=1+1', "'=1+1", "'quoted'", 'a;=1+1')
    """
    if cell[:1] == "'" and _MARKED_INSIDE.search(cell):
        return PlainCell(_MARKED_INSIDE.sub("", cell[1:]))
    return PlainCell(cell[1:]) if cell[:1] == "'" and _FORMULA.match(cell) else cell


def decompressed(raw: BinaryIO) -> BinaryIO:
    """Unpack by the first bytes, not by the name, so that wrong endings and compressed standard input work.

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
    """Compressed streams one after the other; unlike bz2 and lzma it raises on corruption.

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
