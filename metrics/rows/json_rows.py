"""Rows of JSON: an object a line, or one document with rows in it, such as a table of pandas or the log of a tool."""

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, count
from typing import IO, BinaryIO

from .columns import MISSING, NAMES, Row, paths_in, recognized, value_at
from .errors import FileError
from .formats import adapters, detect_tool_format
from .formats.data_sets import data_set_rows
from .tables import ENCODE, MAX_COLUMNS

MARK = "\ufeff".encode()  # of the byte order, at the start of a text
MAX_LINE = 2**25  # bytes, or characters of CSV: a line is read as a whole, and takes many times its size in memory
MAX_DOCUMENT = 2**28  # bytes of a JSON document, which is read as a whole


def json_rows(stream: BinaryIO, encoding: str | None = None, path: str = "", name: str = "") -> Iterator[Row]:
    """Yield the rows of JSON lines, or of one JSON document: those at a path of it, or where they are found."""
    lines = lines_of(stream)
    if encoding is not None:
        lines = (line.encode() for line in lines_of(io.TextIOWrapper(stream, encoding, newline="\n")))
    lines, rows = _document(lines, partial(rows_at, path=path, name=name) if path else document_rows)
    if rows is not None:
        yield from (Row(number, *_checked(row)) for number, row in enumerate(rows, 1))
        return
    for number, line in enumerate(lines, 1):
        line = line.removeprefix(MARK) if number == 1 else line
        if not line.strip():
            continue
        try:
            yield Row(number, *_checked(json.loads(line.decode("utf-8"), object_pairs_hook=_without_repeated_keys)))
        except UnicodeDecodeError as error:
            problem = f"not UTF-8: byte 0x{line[error.start]:02x} at position {error.start + 1} of the line"
            yield Row(number, None, f"{problem}; {ENCODE}")
        except RecursionError:
            yield Row(number, None, "not JSON that can be read: nested too deeply")
        except ValueError as error:
            reason = str(error)
            if isinstance(error, json.JSONDecodeError):  # some of whose messages end with "at"
                ends = error.msg == "Invalid control character at" and not line[error.pos :].strip()
                reason = "the line ends inside a text" if ends else error.msg.removesuffix(" at")
                reason += f" at character {error.colno}" * (not ends)
            yield Row(number, None, f"not JSON: {reason}; expected one object per line")


def lines_of(text: IO) -> Iterator:
    """Yield the lines of a text; each is read whole, and takes many times its size, so that a long one is an error."""
    for number in count(1):
        if len(line := text.readline(MAX_LINE + 1)) > MAX_LINE:
            raise OSError(f"line {number} is longer than {MAX_LINE:,} bytes; write one row a line")
        if not line:
            return
        yield line


def _document(
    lines: Iterator[bytes], whole: Callable[[object], Iterator[dict] | None]
) -> tuple[Iterable[bytes], Iterator | None]:
    """Return (lines, None) of JSON lines, or (no lines, rows) if all lines together are one JSON document."""
    head: list[bytes] = []
    for line in lines:
        head.append(line)
        if line.strip():
            break
    start = head[-1].removeprefix(MARK).strip() if head else b""
    if start[:1] not in (b"[", b"{"):
        return chain(head, lines), None
    try:
        document = json.loads(start, object_pairs_hook=_without_repeated_keys)
        for rest in lines:
            head.append(rest)
            if rest.strip():
                return chain(head, lines), None
        rest = b""
    except (ValueError, RecursionError) as error:
        if not isinstance(error, json.JSONDecodeError) or error.pos < len(error.doc):  # bad, not only unfinished
            return chain(head, lines), None
        rest = bytearray()
        for line in lines:
            rest += line
            if len(rest) > MAX_DOCUMENT:
                break
        try:
            document = json.loads(start + b"\n" + rest, object_pairs_hook=_without_repeated_keys)
        except (ValueError, RecursionError):
            return chain(head, io.BytesIO(rest), lines), None
    rows = whole(document)
    if rows is None and rest:
        rows = iter([document])
    return (head, None) if rows is None else ((), rows)


def _without_repeated_keys(pairs: list[tuple[str, object]]) -> dict:
    """Return an object of JSON from its keys and values; a key that stands twice is a ValueError."""
    content = dict(pairs)
    if len(content) < len(pairs):
        double, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {double!r:.60} stands in one object twice")
    return content


def _checked(row: object) -> tuple[dict | None, str]:
    """Return (cells, "") of a JSON object, and (None, the problem) of anything that is no row."""
    if not isinstance(row, dict):
        kinds = {list: "array", str: "string", type(None): "null", bool: "truth value"}
        return None, f"expected a JSON object with one value per column, got a JSON {kinds.get(type(row), 'number')}"
    if len(row) > MAX_COLUMNS:
        return None, f"has {len(row):,} columns, more than {MAX_COLUMNS:,}; leave some out"
    return row, ""


def document_rows(document: object) -> Iterator[dict] | None:
    """Return the rows of a whole JSON document: a list, a log of a tool, a data set; None for another one.

    >>> [row["references"] for row in document_rows([{"references": ["a"]}])]
    [['a']]
    """
    if isinstance(document, list):
        return iter(document)
    if not isinstance(document, dict):
        return None
    for rows_of in (adapters.inspect_samples, adapters.promptfoo_results, data_set_rows):
        try:
            if (rows := rows_of(document)) is not None:
                return iter(list(rows))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            continue  # it only begins like one
    if (table := _table(document)) is not None:
        return iter(table)
    if _is_row(document):
        return None
    by_id = list(document.values())
    rows = next((document[name] for name in NAMES["tools"]["lists_of_rows"] if _are_rows(document.get(name))), None)
    if rows is None and _are_rows(by_id) and _is_row(by_id[0]):  # as OpenCompass writes them
        return ({"id": ident, **row} for ident, row in document.items())
    if rows is None:
        return iter(document["data"]) if isinstance(document.get("data"), list) else None
    if all(isinstance(row.get("row"), dict) and "row_idx" in row for row in rows):  # the viewer of the Hub
        return (row["row"] for row in rows)
    return iter(rows)


def rows_at(document: object, path: str, name: str) -> Iterator:
    """Return the rows at a path of a document; `runs[*].items` is the items of all runs, one after the other."""
    rows = value_at(document, path)
    if isinstance(rows, list) and any(isinstance(row, list) for row in rows):
        rows = [row for inner in rows for row in (inner if isinstance(inner, list) else [inner])]
    if isinstance(rows, dict):
        table = _table(rows)
        rows = list(rows.values()) if table is None else table
    if rows is MISSING or not isinstance(rows, list):
        keys = ", ".join(map(str, document)) if isinstance(document, dict) else "a list"
        problem = f"{name}: --rows-at {path}: expected a list of rows there; the document has {keys or 'nothing'}"
        raise FileError(problem)
    return iter(rows)


def place_of_rows(document: Mapping) -> str:
    """Return where the rows of a document stand, as `rows_at` reads it; "" if there are none.

    >>> place_of_rows({"data": {"runs": [{"name": "a", "items": [{"prediction": "x", "references": "y"}]}]}})
    'data.runs[*].items'
    """
    lists = dict.fromkeys(path.rpartition("[*]")[0] for path, _ in paths_in(document) if "[*]" in path)
    first_items = {path: value_at(document, f"{path.replace('[*]', '[0]')}[0]") for path in lists}
    return next((path for path, item in first_items.items() if isinstance(item, dict) and _is_row(item)), "")


def _is_row(content: Mapping) -> bool:
    """Return whether an object has the columns of a row, ours or those of a tool."""
    roles = recognized(tuple(map(str, content)))
    return {"prediction", "references"} <= roles.keys() or bool(detect_tool_format(content))


def _are_rows(content: object) -> bool:
    return isinstance(content, list) and bool(content) and all(isinstance(row, dict) for row in content)


def _table(document: Mapping) -> list[dict] | None:
    """Return the rows of a table as pandas writes it with `to_json` ("columns" or "split"), and MLflow; else None.

    >>> _table({"question": {"0": "Who?"}, "prediction": {"0": "Ann"}})
    [{'question': 'Who?', 'prediction': 'Ann'}]
    """
    names, rows = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        return [dict(zip(map(str, names), row, strict=False)) for row in rows]
    columns = list(document.values())
    if not columns or not all(isinstance(column, dict) and column for column in columns):
        return None
    index = columns[0].keys()
    first = {name: next(iter(column.values())) for name, column in document.items()}
    is_table = {"prediction", "references"} & set(recognized(tuple(document))) or detect_tool_format(first)
    if not is_table or any(column.keys() != index for column in columns):
        return None
    return [{name: column[key] for name, column in document.items()} for key in index]
