"""Rows of texts: JSON (lines, or one document), CSV and TSV, a few at a time."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import BinaryIO

from .csv_cells import has_marks, without_mark
from .row import MAX_COLUMNS, FileError, Row, check_columns

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
    found = bytearray()
    for line in lines:
        found += line
        if len(found) > limit:
            break
    return bytes(found)


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
