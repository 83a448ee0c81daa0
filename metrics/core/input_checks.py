"""Checks of the inputs of all metrics.

`evaluate` itself checks only the first row of a column: in later rows numbers become strings, None passes, and a
string in place of a list is split into characters. These functions check every row and name the first bad one.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np


def shown(value: object) -> str:
    """Return a value as an error message shows it, not longer than 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _rows(argument: str, column: object) -> list:
    if column is None:
        raise ValueError(f"{argument}: expected a list with one entry per row, got None")
    if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
        raise ValueError(
            f"{argument}: expected a list with one entry per row, got {type(column).__name__} {shown(column)}; "
            f"put a single row into a list: {argument}=[...]"
        )
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, or pandas' NA and NaT."""
    is_nan = isinstance(value, float | np.floating) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def _text(where: str, value: object, needed: bool = False) -> str:
    """Return a text; raise a ValueError if it is not a text, or if it is required but empty."""
    fix = "drop the row, or write the missing text" if needed else 'use "" for an empty answer, or drop the row'
    if not isinstance(value, str):
        fix = fix if _is_missing(value) else "convert it with str() if that is what you mean"
        raise ValueError(f"{where}: expected a string, got {type(value).__name__} {shown(value)}; {fix}")
    if needed and not value.strip():
        raise ValueError(f"{where}: expected a text, got {shown(value)}; {fix}")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"{where}: the text {shown(value)} holds a lone surrogate and is not valid Unicode; "
                'repair it with text.encode("utf-8", "replace").decode("utf-8")'
            ) from None
    return str(value)


def _text_list(where: str, value: object, needed: bool = False) -> list[str]:
    if isinstance(value, Mapping | bytes | str) or not isinstance(value, Sequence | np.ndarray):
        fix = "; drop the row, or write the missing text" if _is_missing(value) else ""
        raise ValueError(f"{where}: expected a list of strings, got {type(value).__name__} {shown(value)}{fix}")
    return [_text(f"{where}, item {i}", text, needed) for i, text in enumerate(value)]


def checked_texts(argument: str, column: object, first_row: int = 0, needed: bool = False) -> list[str]:
    """Return a column of texts as a list of strings.

    Args:
        argument: name of the argument, for the error message.
        column: list, tuple, array or other sequence of strings, one per row.
        first_row: number of the column's first row, for the error message.
        needed: refuse empty texts.

    Returns:
        The texts, one per row.

    Raises:
        ValueError: if the column is not a sequence of strings; names argument, row and fix.

    >>> checked_texts("predictions", ("four", "seven"))
    ['four', 'seven']
    """
    return [_text(f"{argument}, row {i}", text, needed) for i, text in enumerate(_rows(argument, column), first_row)]


def checked_references(argument: str, column: object, first_row: int = 0) -> list[list[str]]:
    """Return a column of references as lists of strings; a row may be one string or a non-empty list of strings.

    Args:
        argument: name of the argument, for the error message.
        column: sequence of strings or of lists of strings, one per row.
        first_row: number of the column's first row, for the error message.

    Returns:
        One non-empty list of references per row.

    Raises:
        ValueError: if a row is neither, has no reference or an empty one; names argument, row and fix.

    >>> checked_references("references", ["four", ["4", "four"]])
    [['four'], ['4', 'four']]
    """
    checked = []
    for i, row in enumerate(_rows(argument, column), first_row):
        where = f"{argument}, row {i}"
        single = isinstance(row, str | float) or row is None
        texts = [_text(where, row, needed=True)] if single else _text_list(where, row, needed=True)
        if not texts:
            raise ValueError(f"{where}: expected at least one reference, got an empty list; drop the row or add one")
        checked.append(texts)
    return checked


def checked_text_sets(argument: str, column: object, first_row: int = 0, needed: bool = False) -> list[list[str]]:
    """Return a column of sets of texts as lists of strings; a row must be a list and may be empty.

    Args:
        argument: name of the argument, for the error message.
        column: sequence of lists of strings, one per row.
        first_row: number of the column's first row, for the error message.
        needed: refuse empty sets and empty texts.

    Returns:
        One list of texts per row.

    Raises:
        ValueError: if a row is not a list of strings; names argument, row and fix.

    >>> checked_text_sets("predictions", [["who won?", "when?"], []])
    [['who won?', 'when?'], []]
    """
    checked = []
    for i, row in enumerate(_rows(argument, column), first_row):
        if isinstance(row, str):
            raise ValueError(
                f"{argument}, row {i}: expected a list of strings, got the string {shown(row)}; "
                "wrap a single text in a list"
            )
        checked.append(_text_list(f"{argument}, row {i}", row, needed))
        if needed and not checked[-1]:
            raise ValueError(
                f"{argument}, row {i}: expected at least one reference, got an empty list; drop the row or add one"
            )
    return checked


def check_same_length(**columns: list) -> None:
    """Raise a ValueError that names both lengths if the columns differ in length.

    Args:
        **columns: checked columns by argument name.

    Raises:
        ValueError: if two columns have different numbers of rows.
    """
    (first, rows), *others = columns.items()
    for name, column in others:
        if len(column) != len(rows):
            raise ValueError(
                f"{name}: expected as many rows as {first} ({len(rows)}), got {len(column)}; "
                f"every row needs one entry in each of {', '.join(columns)}"
            )
