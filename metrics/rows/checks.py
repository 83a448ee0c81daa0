"""Checks of single values of rows: texts, missing values, passages, lists in cells."""

import json
import math

from .csv_cells import PlainCell
from .row import RowError
from .values import MISSING, printed_list

# Where an object has the text of a passage.
_PASSAGE = ("text", "content", "page_content", "passage_text", "passage", "contents", "snippet")


def kind_of(value: object) -> str:
    """Return what a value is, for a message."""
    names = {type(None): "null", dict: "an object", list: "a list", str: "a string", bool: "a truth value"}
    return names.get(type(value), f"{type(value).__name__} {value!r:.40}")


def checked_text(column: str, value: object) -> str:
    """Return a value that is a text.

    Raises:
        RowError: if it is none, or no valid Unicode.
    """
    if not isinstance(value, str):
        fix = 'use "" for an empty text' if value is None else "put it into quotation marks"
        raise RowError(f"{column}: expected a string, got {kind_of(value)}; {fix}")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise RowError(f"{column}: holds half of a surrogate pair (\\ud800 to \\udfff); write it whole") from None
    return value


def is_given(value: object) -> bool:
    """Return whether a column has a value in a row: none is a null, NaN, an empty text or an empty list.

    >>> [is_given(value) for value in (None, math.nan, " ", [], MISSING, "Ann", ["Ann"], 0)]
    [False, False, False, False, False, True, True, True]
    """
    if value is MISSING or value is None or (isinstance(value, float) and math.isnan(value)):
        return False
    return bool(value.strip() if isinstance(value, str) else value) if isinstance(value, str | list) else True


def json_list(text: str) -> object:
    """Return the list of a text that is one in JSON; else the text."""
    try:
        found = json.loads(text) if text.startswith("[") else text
    except (ValueError, RecursionError):
        return text
    return found


def passages_in(value: object) -> list:
    """Return the passages of a value: a list, one text or object, or an object with a list, as MS MARCO has them.

    >>> passages_in({"passage_text": ["Ann won.", "Bo lost."], "is_selected": [1, 0]}), passages_in("Ann won.")
    (['Ann won.', 'Bo lost.'], ['Ann won.'])
    """
    if isinstance(value, dict):
        value = next((value[name] for name in _PASSAGE if isinstance(value.get(name), list)), value)
    return value if isinstance(value, list) else [value]


def passage_text(value: object) -> str:
    """Return the text of a retrieved passage; what has none is shown as JSON.

    >>> passage_text({"page_content": "Ann won.", "metadata": {"page": 2}}), passage_text(math.nan)
    ('Ann won.', '')
    """
    if isinstance(value, dict):
        value = next((value[name] for name in _PASSAGE if name in value), value)
    if isinstance(value, str) or not is_given(value):
        return value if isinstance(value, str) else ""
    return json.dumps(value, default=str, ensure_ascii=False)


def list_in_cell(value: object) -> object:
    """Return the texts of a cell of CSV that is a list, as JSON or as pandas writes it; else the value."""
    texts = None if isinstance(value, PlainCell) else printed_list(value)
    return value if texts is None else texts
