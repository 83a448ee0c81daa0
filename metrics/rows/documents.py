"""Whole JSON documents -> rows: lists, tables as pandas writes them, and the results of evaluation tools."""

from collections.abc import Iterator, Mapping

from .columns import recognized
from .data_sets import data_set_rows
from .formats import detect_tool_format, inspect, promptfoo
from .row import FileError
from .values import MISSING, value_at

# Where the rows of a document may be, if nothing else is known of it.
LISTS = (
    "data", "Data", "rows", "results", "samples", "testCases", "test_cases", "item_results", "items", "runs",
    "examples", "questions",
)  # fmt: skip


def document_rows(document: object) -> Iterator[dict] | None:
    """Return the rows of a whole JSON document: a list, a log of a tool, a data set; None for another one.

    >>> [row["references"] for row in document_rows([{"references": ["a"]}])]
    [['a']]
    """
    if isinstance(document, list):
        return iter(document)
    if not isinstance(document, dict):
        return None
    for rows_of in (inspect.document_rows, promptfoo.document_rows, data_set_rows):
        try:
            if (rows := rows_of(document)) is not None:
                return iter(list(rows))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            continue  # it only begins like one
    if (table := _table(document)) is not None:
        return iter(table)
    if {"prediction", "references"} <= set(recognized(tuple(document))) or detect_tool_format(document):
        return None  # one row
    listed = next((document[name] for name in LISTS if _is_rows(document.get(name))), None)
    if listed is None and (keyed := _keyed(document)) is not None:
        return keyed
    if listed is None:
        return iter(document["data"]) if isinstance(document.get("data"), list) else None
    if all(isinstance(row.get("row"), dict) and "row_idx" in row for row in listed):  # the viewer of the Hub
        return (row["row"] for row in listed)
    return iter(listed)


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _keyed(document: Mapping) -> Iterator[dict] | None:
    """Return the rows of an object {id: row}, as OpenCompass writes them; None of another object.

    >>> list(_keyed({"7": {"question": "Who?", "prediction": "Ann", "references": "Ann"}}))
    [{'id': '7', 'question': 'Who?', 'prediction': 'Ann', 'references': 'Ann'}]
    """
    rows = list(document.values())
    if not _is_rows(rows):
        return None
    if detect_tool_format(rows[0]) or {"prediction", "references"} & recognized(tuple(map(str, rows[0]))).keys():
        return ({"id": ident, **row} for ident, row in document.items())
    return None


def _table(document: Mapping) -> list[dict] | None:
    """Return the rows of a table as pandas writes it with `to_json` ("columns" or "split"), and MLflow; else None.

    >>> _table({"question": {"0": "Who?"}, "prediction": {"0": "Ann"}})
    [{'question': 'Who?', 'prediction': 'Ann'}]
    >>> _table({"columns": ["question", "prediction"], "data": [["Who?", "Ann"]]})
    [{'question': 'Who?', 'prediction': 'Ann'}]
    """
    names, data = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return [dict(zip(map(str, names), row, strict=False)) for row in data]
    columns = list(document.values())
    if not columns or not all(isinstance(column, dict) and column for column in columns):
        return None
    index = columns[0].keys()
    first = {name: next(iter(column.values())) for name, column in document.items()}
    known = {"prediction", "references"} & set(recognized(tuple(document))) or detect_tool_format(first)
    if not known or any(column.keys() != index for column in columns):
        return None
    return [{name: column[place] for name, column in document.items()} for place in index]


def rows_at(document: object, path: str, name: str) -> Iterator:
    """Return the rows that stand at a place of a document.

    Args:
        document: a JSON document.
        path: see `values.value_at`; "runs[*].items" is the items of all runs, one after the other.
        name: of the file, for the message.

    Raises:
        FileError: if there is no list.
    """
    found = value_at(document, path)
    if isinstance(found, list) and any(isinstance(one, list) for one in found):
        found = [row for one in found for row in (one if isinstance(one, list) else [one])]
    if isinstance(found, dict):
        table = _table(found)
        found = list(found.values()) if table is None else table
    if found is MISSING or not isinstance(found, list):
        keys = ", ".join(map(str, document)) if isinstance(document, dict) else "a list"
        raise FileError(
            f"{name}: --rows-at {path}: expected a list of rows there; the document has {keys or 'nothing'}"
        )
    return iter(found)


def place_of_rows(document: object, depth: int = 4) -> str:
    """Return where the rows of a document probably stand, as `rows_at` reads it; "" if there are none.

    Args:
        document: an object, or a list.
        depth: objects and lists to go into.

    >>> place_of_rows({"data": {"runs": [{"name": "a", "items": [{"prediction": "x", "references": "y"}]}]}})
    'data.runs[*].items'
    """
    if isinstance(document, list) and document and isinstance(document[0], dict):
        if "prediction" in recognized(tuple(map(str, document[0]))) or detect_tool_format(document[0]):
            return "."
        inner = place_of_rows(document[0], depth - 1) if depth else ""
        return f"[*].{inner}" if inner and inner != "." else ""
    if isinstance(document, Mapping) and depth:
        for name, value in document.items():
            if isinstance(name, str) and not set(".[]") & set(name) and (inner := place_of_rows(value, depth - 1)):
                return name if inner == "." else f"{name}{'' if inner[0] == '[' else '.'}{inner}"
    return ""
