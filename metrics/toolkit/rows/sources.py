"""Where rows come from: files, folders of data sets, and rows that are in memory."""

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .documents import event_log_rows, squad_rows
from .files import Noted, ReadOptions, Source
from .formats import FileError, Row
from .tables import is_dataset, load_dataset
from .tool_formats import normalize_rows


class MemorySource(Noted):
    """Rows in memory, with what a `Source` has.

    Args:
        rows: one mapping from columns to values per row; NaN is a missing value.
        name: their name, and that of their system where no column says it.
        options: see `Source`.
    """

    path = None
    format = "memory"
    unit = "row"
    size: int | None = None
    position = 0

    columns: Sequence[str] | None = None

    def __init__(self, rows: Sequence[Any], name: str = "rows", options: ReadOptions | None = None):
        self.name = self.stem = name
        self.options = options or ReadOptions()
        self.form = self.options.form
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def digest(self) -> str:
        """SHA-256 of the rows as JSON lines."""
        found = hashlib.sha256()
        for row in self.rows():
            found.update(json.dumps(row.values, default=str, ensure_ascii=True).encode() + b"\n")
        return found.hexdigest()

    def rows(self, after: int = 0) -> Iterator[Row]:
        """Yield every row behind the first `after`, the bad ones too."""
        yield from normalize_rows(self._found(after), self.form, self.options.systems, self._set_tool_format)

    def _set_tool_format(self, form: str) -> None:
        self.form = form

    def elsewhere(self, values: Mapping) -> str:
        """Return "": there are no other rows."""
        return ""

    def _found(self, after: int) -> Iterator[Row]:
        for number, values in enumerate(self._rows, 1):
            if number <= after:
                continue
            if isinstance(values, Mapping):
                yield Row(number, {str(column): _plain(value) for column, value in values.items()})
            else:
                problem = f"expected a dict with one value per column, got {type(values).__name__} {values!r:.40}"
                yield Row(number, None, problem)


def _plain(value: Any) -> Any:
    """Return a value as JSON would hold it: arrays and tuples are lists, NaN is None."""
    value = value.tolist() if hasattr(value, "tolist") else list(value) if isinstance(value, tuple) else value
    return None if isinstance(value, float) and math.isnan(value) else value


AnySource = Source | MemorySource


def files(paths: Sequence[str | os.PathLike], options: ReadOptions | None = None) -> list[AnySource]:
    """Return files as rows, which stand where paths may stand.

    Args:
        paths: names or addresses of files, or folders of `Dataset.save_to_disk`. For the form "squad" files of
            predictions ({id: answer}) and one with the data set.
        options: how they are read; None for the defaults.

    Raises:
        ValueError: if a file does not exist or is named twice.
    """
    options = options or ReadOptions()
    if options.form is None and len(paths) > 1 and any(map(_holds_squad, paths)):
        options = replace(options, form="squad")
    folders = {path for path in paths if is_dataset(path)}
    found: list[AnySource] = [
        MemorySource(load_dataset(path), Path(path).name, options)
        if path in folders
        else _event_log(path, options.split)
        if options.form in (None, "openai-evals") and _starts(path, b'{"spec": ')
        else Source(path, options=options)
        for path in paths
    ]
    named: dict[object, str] = {}
    for path, source in zip(paths, found, strict=True):
        place = source.identity if isinstance(source, Source) else (os.stat(path).st_dev, os.stat(path).st_ino)
        if place in named:
            names = dict.fromkeys((named[place], source.name))
            raise FileError(f"input: the same file is named twice, {' and '.join(names)}; name it once")
        named[place] = source.name
    return _squad(found) if options.form == "squad" else found


def _starts(path: str | os.PathLike, start: bytes) -> bool:
    """Return whether a text file begins with some bytes."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(start)) == start


def _event_log(path: str | os.PathLike, split: str) -> AnySource:
    """Return a log of OpenAI evals, in which several lines are one row."""
    source = Source(path)
    source.form = ""  # events are no rows of a tool
    rows = event_log_rows([row.values or {} for row in source.rows()])
    if not rows:
        raise FileError(
            f"{source.name}: a log of OpenAI evals without answers: it has no events of type 'sampling'; let the eval "
            "record them, or name another file"
        )
    if not any("ideal" in row for row in rows):
        raise FileError(
            f"{source.name}: a log of OpenAI evals without right answers: it has no events of type 'match'"
        )
    kept = [row for row in rows if "ideal" in row]
    found = MemorySource(kept, source.stem, ReadOptions(form="openai-evals", split=split))
    if len(found) < len(rows):
        found.note(f"{len(rows) - len(found):,} samples without a right answer were left out")
    return found


def _holds_squad(path: str | os.PathLike) -> bool:
    """Return whether a file begins as a data set of SQuAD does."""
    if not (str(path).endswith(".json") and os.path.isfile(path)):
        return False
    with open(path, "rb") as file:
        start = file.read(2**12)
    return start.lstrip()[:1] == b"{" and b'"data"' in start and b'"paragraphs"' in start


def _squad(sources: Sequence[AnySource]) -> list[AnySource]:
    """Return files of predictions with the rows of their data set, which is among the sources."""
    answers, gold = {}, []
    for source in sources:
        rows = [row.values or {} for row in source.rows()]
        answered = {name: text for name, text in rows[0].items() if isinstance(text, str)} if len(rows) == 1 else {}
        # All values are texts, except for `references`, which were added.
        if answered and "question" not in answered and len(answered) >= len(rows[0]) - 1:
            answers[source.stem] = answered
        else:
            gold += rows
    if not answers or not all({"id", "question", "references"} <= set(row) for row in gold) or not gold:
        raise FileError(
            "--from squad: expected files of predictions, {id: answer}, and the data set that they answer (with id, "
            f"question and answers), got {', '.join(source.name for source in sources)}"
        )
    try:
        return [MemorySource(squad_rows(texts, gold), name) for name, texts in answers.items()]
    except ValueError as error:
        raise FileError(f"--from squad: {error}") from error


def sources_of(rows: Any, columns: Sequence[str] | None = None, name: str = "rows") -> list[AnySource]:
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
        rows = files(rows)
    if isinstance(rows, Sequence) and rows and all(isinstance(source, Source | MemorySource) for source in rows):
        for source in rows:
            source.columns = source.columns or columns
        return list(rows)
    if hasattr(rows, "iterrows"):  # pandas
        if not rows.columns.is_unique:
            double = rows.columns[rows.columns.duplicated()][0]
            raise ValueError(f"{name}: two columns are named {double!r}; rename one of them")
        rows = rows.astype(object).where(rows.notna(), None).to_dict("records")
    if isinstance(rows, Mapping | str | bytes) or not isinstance(rows, Iterable):
        fix = "; choose one of its splits" if hasattr(rows, "num_rows") else ""
        raise ValueError(
            f"{name}: expected a path, a list of paths or of dicts, a pandas DataFrame or a datasets.Dataset, got "
            f"{type(rows).__name__}{fix}"
        )
    return [MemorySource(rows if hasattr(rows, "__len__") else list(rows), name)]
