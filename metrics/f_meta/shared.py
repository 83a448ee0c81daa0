"""What every metric of genqa-metrics shares: the version, the checking of texts, and the checked module.

`evaluate` itself checks only the first row of a column: later numbers become strings, None passes, and a string
where a list is expected is cut into characters. These functions check every row and name the first bad one.

This file stands in every metric folder, because a folder must work when it is copied alone. The copy in `aev` is
the original; `make copies` renews the others and a test keeps them identical.
"""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

VERSION = "0.1.0"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _rows(argument: str, column: object) -> list:
    if column is None:
        raise ValueError(f"{argument}: expected a list with one entry per row, got None")
    if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
        raise ValueError(
            f"{argument}: expected a list with one entry per row, got {type(column).__name__} {_shown(column)}; "
            f"put a single row into a list: {argument}=[...]"
        )
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        fix = 'use "" for a missing text' if value is None else "convert it with str() if that is what you mean"
        raise ValueError(f"{where}: expected a string, got {type(value).__name__} {_shown(value)}; {fix}")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"{where}: the text {_shown(value)} holds a lone surrogate and is not valid Unicode; "
                'repair it with text.encode("utf-8", "replace").decode("utf-8")'
            ) from None
    return str(value)


def _text_list(where: str, value: object) -> list[str]:
    if isinstance(value, Mapping | bytes | str) or not isinstance(value, Sequence | np.ndarray):
        raise ValueError(f"{where}: expected a list of strings, got {type(value).__name__} {_shown(value)}")
    return [_text(f"{where}, item {i}", text) for i, text in enumerate(value)]


def checked_texts(argument: str, column: object, first_row: int = 0) -> list[str]:
    """Return a column of texts as a list of strings.

    Args:
        argument: name of the argument, for the error message.
        column: list, tuple, array or other sequence of strings, one per row.
        first_row: number of the column's first row, for the error message.

    Returns:
        The texts, one per row.

    Raises:
        ValueError: if the column is not a sequence of strings; names argument, row and fix.

    >>> checked_texts("predictions", ("four", "seven"))
    ['four', 'seven']
    """
    return [_text(f"{argument}, row {i}", text) for i, text in enumerate(_rows(argument, column), first_row)]


def checked_references(argument: str, column: object, first_row: int = 0) -> list[list[str]]:
    """Return a column of references as lists of strings; a row may be one string or a non-empty list of strings.

    Args:
        argument: name of the argument, for the error message.
        column: sequence of strings or of lists of strings, one per row.
        first_row: number of the column's first row, for the error message.

    Returns:
        One non-empty list of references per row.

    Raises:
        ValueError: if a row is neither, or has no reference; names argument, row and fix.

    >>> checked_references("references", ["four", ["4", "four"]])
    [['four'], ['4', 'four']]
    """
    checked = []
    for i, row in enumerate(_rows(argument, column), first_row):
        where = f"{argument}, row {i}"
        texts = [_text(where, row)] if row is None or isinstance(row, str) else _text_list(where, row)
        if not texts:
            raise ValueError(f"{where}: expected at least one reference, got an empty list; drop the row or add one")
        checked.append(texts)
    return checked


def checked_text_sets(argument: str, column: object, first_row: int = 0) -> list[list[str]]:
    """Return a column of sets of texts as lists of strings; a row must be a list and may be empty.

    Args:
        argument: name of the argument, for the error message.
        column: sequence of lists of strings, one per row.
        first_row: number of the column's first row, for the error message.

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
                f"{argument}, row {i}: expected a list of strings, got the string {_shown(row)}; "
                "wrap a single text in a list"
            )
        checked.append(_text_list(f"{argument}, row {i}", row))
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


def read_settings(settings: Mapping | str | Path | None) -> dict:
    """Return settings of `compute` from a mapping or from a JSON file, as the scripts in `training` write them.

    Args:
        settings: the settings by name, or a path to a JSON object that is them or holds them under "settings".

    Returns:
        The settings by name; empty for None.

    Raises:
        ValueError: if the file is missing or holds no JSON object.
    """
    if settings is None or isinstance(settings, Mapping):
        return dict(settings or {})
    try:
        content = json.loads(Path(settings).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"settings: expected a mapping or a JSON file, got {settings!r}: {error}") from error
    content = content.get("settings", content) if isinstance(content, dict) else content
    if not isinstance(content, dict):
        raise ValueError(f"settings: expected a JSON object in {settings!r}, got {_shown(content)}")
    return content


class Stemmer(threading.local):
    """A stemmer that threads can share: each has one of its own, for a Snowball stemmer keeps its state in itself.

    Args:
        name: an algorithm of Snowball, "porter" for example.

    >>> Stemmer("porter").stem("cities")
    'citi'
    """

    def __init__(self, name: str):
        import snowballstemmer

        self.name = name
        self.stem = snowballstemmer.stemmer(name).stemWord

    def __reduce__(self):
        return Stemmer, (self.name,)


class CheckedModule:
    """What a metric module puts before `evaluate.Metric` so that rows and settings are checked before any work.

    A subclass names its settings in `setting_names` and defines `_checked(columns, first_row)`, which returns the
    checked columns, and `_check_settings(**settings)`, which raises for a bad setting. A refused call changes nothing:
    rows that were added before are still there.
    """

    setting_names: tuple[str, ...] = ()

    def __init__(self, *args, settings: Mapping | str | Path | None = None, **kwargs):
        super().__init__(*args, **kwargs)
        self.settings = read_settings(settings)
        self._refuse_bad(self.settings)
        self._rows_added = 0

    def _refuse_bad(self, settings: Mapping) -> None:
        for name in settings:
            if name not in self.setting_names:
                raise TypeError(
                    f"{name}: not a setting of {self.name}; its settings are {', '.join(self.setting_names)}"
                )
        self._check_settings(**settings)

    def add_batch(self, **columns) -> None:
        """Check and add rows; see `evaluate.Metric.add_batch`."""
        names = self._feature_names()
        for name in columns:
            if name not in names:
                raise TypeError(f"{name}: not an input of {self.name}; its inputs are {', '.join(names)}")
        checked = self._checked({name: columns.get(name) for name in names}, self._rows_added)
        check_same_length(**checked)
        super().add_batch(**checked)
        self._rows_added += len(checked[names[0]])

    def add(self, **row) -> None:
        """Check and add one row, each input in the singular (prediction=, reference=); see `evaluate.Metric.add`."""
        plural = {name.removesuffix("s"): name for name in self._feature_names()}
        self.add_batch(**{plural.get(name, name): [value] for name, value in row.items()})

    def compute(self, **inputs_and_settings) -> dict | None:
        """Check everything, then compute on the rows given and added; see `evaluate.Metric.compute`."""
        names = self._feature_names()
        settings = {**self.settings, **{k: v for k, v in inputs_and_settings.items() if k not in names}}
        inputs = {k: v for k, v in inputs_and_settings.items() if k in names and v is not None}
        self._refuse_bad(settings)
        if inputs:
            self.add_batch(**inputs)
        elif self.writer is None:
            raise ValueError(f"{names[0]}: nothing to compute on; pass {' and '.join(names)}, or add rows first")
        self._rows_added = 0
        return super().compute(**settings)
