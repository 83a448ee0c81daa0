"""Loops over rows, with one policy for bad rows; cuts items into windows that are scored at once.

Where a window and a part end depends on the rows alone, never on the machine or on where an earlier run was killed: so
a run that is resumed computes what an uninterrupted one does.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, TypeVar

from .errors import Advice, ColumnError, FileError, InputWarning, RowError, name_column
from .items import DIGEST, SPLIT_HALF, Item, RowKind, RowReader
from .sources import Source
from .values import Row, json_value
from .writing import type_of

Message = Callable[[str], None]  # called with one sentence
Progress = Callable[[str, int, int], None]  # called with what is scored, and the numbers of rows done and of all rows


def ignore(*given: object) -> None:
    """Do nothing; the default of every callback."""


_Converted = TypeVar("_Converted")
FIRST_ROWS = 20  # that show whether a column is missing everywhere


@dataclass
class RowCounts:
    """What became of the rows that were read.

    Attributes:
        good: rows that could be read.
        skipped: bad rows that were left out.
        single: contexts with one reference, which cannot be halved.
        not_numbers: values of `score` and `label` that are not numbers.
        skipped_of: {system: its bad rows}, where their system is known.
    """

    good: int = 0
    skipped: int = 0
    single: int = 0
    not_numbers: int = 0
    skipped_of: Counter[str] = field(default_factory=Counter)

    def add(self, other: Mapping) -> None:
        """Add counts, as `since` returns them."""
        for name in ("good", "skipped", "single", "not_numbers"):
            setattr(self, name, getattr(self, name) + other.get(name, 0))
        self.skipped_of.update(other.get("skipped_of", {}))

    def since(self, before: "RowCounts") -> dict:
        """Return what was counted since an earlier copy, in types that JSON has.

        >>> RowCounts(3, 1, skipped_of=Counter(bert=1)).since(RowCounts(2))
        {'good': 1, 'skipped': 1, 'single': 0, 'not_numbers': 0, 'skipped_of': {'bert': 1}}
        """
        names = ("good", "skipped", "single", "not_numbers")
        counted = {name: getattr(self, name) - getattr(before, name) for name in names}
        return counted | {"skipped_of": dict(self.skipped_of - before.skipped_of)}


class Skips:
    """The policy for bad rows: raise at the first one, or report it, count it and leave it out.

    Args:
        skip: leave bad rows out.
        problem: called with each bad row that is left out.

    Attributes:
        counts: the rows so far.
        good: {name of a source: rows of it that were good}.
        row: number of the last row that was read, of its source.
    """

    def __init__(self, skip: bool = False, problem: Message = ignore):
        self.skip, self.problem = skip, problem
        self.counts = RowCounts()
        self.good: Counter[str] = Counter()
        self.row = 0

    @property
    def skipped(self) -> int:
        """Number of rows that were left out."""
        return self.counts.skipped

    @property
    def by_system(self) -> dict[str, int]:
        """{system: rows that were left out}, for systems that have such rows."""
        return dict(self.counts.skipped_of)

    def bad(self, where: str, error: RowError) -> None:
        """Count a bad row.

        Raises:
            FileError: if bad rows are not to be left out.
        """
        if not self.skip:
            raise FileError(f"{where}: ", error, bad_row=self.counts.good > 0) from error
        self.counts.skipped += 1
        self.counts.skipped_of.update(error.systems)
        self.problem(Advice(f"{where}: ", error))


def good_rows(
    sources: Sequence[Source], convert: Callable[[Source, Row], _Converted], skips: Skips, after: int = 0
) -> Iterator[tuple[Source, Row, _Converted]]:
    """Yield every good row of sources, converted by a function.

    Args:
        sources: where the rows are from.
        convert: called with a source and a row; raises `RowError` if the row is bad.
        skips: what to do about bad rows.
        after: number of a row of the first source; rows up to it are skipped.

    Yields:
        (source, row, converted).

    Raises:
        FileError: if a source cannot be read, or a row is bad and bad rows are not to be left out.
    """
    for source in sources:
        skips.row = after
        for row in source.rows(after):
            skips.row = row.number
            try:
                if row.values is None:
                    raise RowError(row.problem)
                converted = convert(source, row)
            except RowError as error:
                skips.bad(f"{source.name}, {source.unit} {row.number}", error)
                continue
            skips.counts.good += 1
            skips.good[source.name] += 1
            yield source, row, converted
        for notice in source.notices:
            warnings.warn(f"{source.name}: {notice}", InputWarning, stacklevel=2)
        after = 0


def _first_rows(source: Source) -> list[Row]:
    """Return the first rows of a source; none of standard input, or where reading it will report why it cannot be."""
    if source.path == "-":
        return []
    try:
        with closing(source.rows()) as rows:
            return list(islice(rows, FIRST_ROWS))
    except FileError:
        if source.remote:
            raise
        return []


def check_columns(sources: Sequence[Source], columns: Mapping[str, str]) -> None:
    """Raise if the first rows of a source all lack a column, before any model is loaded.

    Args:
        sources: where the rows are from; standard input is skipped, for it cannot be read twice.
        columns: see `items.RowReader`.

    Raises:
        FileError: names the first row, the columns that are there, and the option.
    """
    for source in sources:
        problem = _missing_column(source, columns)
        if problem:
            raise FileError(problem)


def _missing_column(source: Source, columns: Mapping[str, str]) -> str:
    """Return the problem that the first rows of a source share, "" if one row has all columns."""
    reader, problem = RowReader(source, columns), ""
    for row in _first_rows(source):
        where = f"{source.name}, {source.unit} {row.number}: "
        if row.values is None:
            if not (source.form or source.options.systems):
                return ""
            problem = problem or Advice(where, row.problem)
            continue
        try:
            reader.check_columns(row.values)
        except ColumnError as error:
            problem = problem or Advice(where, error)
            continue
        except RowError:
            pass
        return ""
    return problem


def first_row_kind(sources: Sequence[Source], columns: Mapping[str, str]) -> RowKind | None:
    """Return what the first good row is; None where there is none, or it cannot be read ahead.

    Args:
        sources: where the rows are from.
        columns: see `items.RowReader`.
    """
    for source in sources[:1]:
        reader = RowReader(source, columns)
        for row in _first_rows(source):
            with suppress(RowError):
                return reader.row_kind(row.values or {})
    return None


def is_judged(sources: Sequence[Source]) -> bool:
    """Return whether the first row has the digest of an earlier judgment, so that a model may not be needed."""
    first = [row.values or {} for source in sources[:1] for row in _first_rows(source)[:1]]
    return any(name.endswith(DIGEST) and value for values in first for name, value in values.items())


def inputs_of(sources: Sequence[Source], skips: Skips) -> list[dict[str, Any]]:
    """Return name, SHA-256 and number of good rows of every source that was read, for a report.

    Files of one name are named with their folders.
    """
    names = [Path(source.name).name for source in sources]
    return [
        {
            "name": source.name if names.count(name) > 1 else name,
            "sha256": source.digest,
            "rows": skips.good[source.name],
        }
        for source, name in zip(sources, names, strict=True)
    ]


@dataclass
class Window:
    """Items that are scored at once.

    Attributes:
        items: at most a window's predictions and characters; none where only a part ends.
        part: number of the part that they belong to, from 0.
        end: for the last window of a part, how far reading was and what it had found, as JSON.
        done: the part was finished by an earlier run; `end` is what that run noted.
    """

    items: list[Item]
    part: int
    end: dict | None = None
    done: bool = False


def characters_of(item: Item) -> int:
    """Return the number of characters of an item's texts."""
    texts = (*item.predictions, *item.references, *item.contexts)
    return sum(map(len, texts)) + len(item.text or "")


class Reading:
    """Reads sources, checks every row, and cuts the items into windows.

    Args:
        sources: where the rows are from.
        columns: see `items.RowReader`.
        skips: what to do about bad rows.
        notify: called with what a user must know about the input.
        asks: called with the row_kind of rows; returns {column: metric that needs it in every row}.
        keeps: whether items have the columns that are not read: "any" values, or "typed" ones, where a column has
            values of one type, as in Parquet; None for no.

    Attributes:
        row_kind: what the rows of the first file are; None before `windows` is called.
        extra: {column that is kept: its type, see `writing.Writer`}, of the first window; None before it is read.
        counts: those of `Skips`.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        columns: Mapping[str, str],
        skips: Skips | None = None,
        notify: Message = ignore,
        asks: Callable[[RowKind], Mapping[str, str]] = lambda row_kind: {},
        keeps: Literal["any", "typed"] | None = None,
    ):
        self.sources = sources
        self.columns = columns
        self.skips = skips or Skips()
        self.notify = notify
        self.asks = cache(asks)
        self.keeps, self._told = keeps, set()
        self.extra: dict[str, str] | None = None
        self.row_kind: RowKind | None = None
        self.counts = self.skips.counts
        self._file = 0  # number of the file that is read; `skips` has that of the row
        self._file_kind: RowKind | None = None  # of the file's rows; None at its start

    @property
    def position(self) -> int:
        """Number of bytes read so far, where it is known."""
        before = sum(source.size or 0 for source in self.sources[: self._file])
        return before + self.sources[self._file].position

    def windows(
        self,
        limits: Callable[[RowKind], tuple[int, int]],
        part_rows: int | None = None,
        finished: Mapping[int, dict] | None = None,
    ) -> Iterator[Window]:
        """Return the items of all files; `row_kind` is known when this returns, for the first window is read then.

        Args:
            limits: called with the kind of the rows; returns about how many predictions and characters a window has.
            part_rows: items of a part, about: all items of a row are in one part. None for a single part.
            finished: number of a part that need not be read -> the `end` of its last window.

        Raises:
            FileError: if a file cannot be read, a row is bad, or there is nothing to score.
        """
        windows = self._windows(limits, part_rows, finished or {})
        return chain([next(windows)], windows)

    def _windows(self, limits: Callable, part_rows: int | None, finished: Mapping[int, dict]) -> Iterator[Window]:
        part = 0
        while True:
            while part in finished:
                self._jump(finished[part])
                yield Window([], part, finished[part], done=True)
                part += 1
            rows, chunk, held, texts, before = 0, [], 0, 0, deepcopy(self.counts)
            with closing(self.good_rows()) as good_rows:
                for items in good_rows:
                    predictions, characters = limits(self.row_kind)
                    rows += len(items)
                    chunk += items
                    for item in items:
                        held += max(len(item.predictions), 1)
                        texts += characters_of(item)
                    if part_rows is not None and rows >= part_rows:
                        self.fit(chunk)
                        yield Window(chunk, part, self._end(before, last=False))
                        rows, chunk, held, texts, before = 0, [], 0, 0, deepcopy(self.counts)
                        part += 1
                        if part in finished:
                            break
                    elif held >= predictions or texts >= characters:
                        self.fit(chunk)
                        yield Window(chunk, part)
                        chunk, held, texts = [], 0, 0
                else:
                    self._check_any()
                    if rows:
                        self.fit(chunk)
                        yield Window(chunk, part, self._end(before, last=True))
                    return

    def _end(self, before: RowCounts, last: bool) -> dict:
        return {
            "last": last,
            "place": [self._file, self.skips.row],
            "row_kind": asdict(self.row_kind),
            "file_kind": self._file_kind and asdict(self._file_kind),
            "counts": self.counts.since(before),
            "extra": self.extra,
        }

    def _jump(self, end: dict) -> None:
        self._file, self.skips.row = end["place"]
        self.row_kind = RowKind(**end["row_kind"])
        self._file_kind = end["file_kind"] and RowKind(**end["file_kind"])
        self.counts.add(end["counts"])
        self.extra = end["extra"]

    def _check_any(self) -> None:
        good, single = self.counts.good, self.counts.single
        if not good:
            if self.counts.skipped:
                raise FileError(f"no row could be scored: all {self.counts.skipped:,} rows are bad")
            raise FileError(f"{', '.join(source.name for source in self.sources)}: no rows; is this the right file?")
        if single == good:
            raise FileError(
                f"no row could be scored: without predictions a context needs at least two references, and each of "
                f"the {single:,} contexts has one"
            )

    def good_rows(self) -> Iterator[list[Item]]:
        """Yield the items of every good row behind the last one read; what is counted includes the yielded row."""
        first, after = self._file, self.skips.row
        for number, source in enumerate(self.sources[first:], first):
            if number != first:
                self._file, self._file_kind, after = number, None, 0
            reader = RowReader(
                source, self.columns, lambda kind: self.asks(self.row_kind or kind), self._file_kind, bool(self.keeps)
            )
            for _, _, items in good_rows([source], partial(self._items, reader), self.skips, after):
                yield items

    def fit(self, items: Sequence[Item]) -> None:
        """Let items have just the columns of the first ones, with values of their types; say what has no place."""
        if not self.keeps:
            return
        if self.extra is None:
            columns: dict[str, list] = {}
            for item in items:
                for name, value in item.extra.items():
                    columns.setdefault(name, []).append(json_value(value))
            self.extra = {name: "any" if self.keeps == "any" else type_of(values) for name, values in columns.items()}
        for item in items:
            for name in item.extra:
                if name not in self.extra:
                    self._tell(name, f"column {name!r} is not in the first rows, and is left out of the output")
            item.extra = {name: self._fitted(name, json_value(item.extra.get(name))) for name in self.extra}

    def _fitted(self, name: str, value: object) -> object:
        kind = self.extra[name]
        if value is None or kind == "any" or type_of([value]) in (kind, "integer" if kind == "number" else kind):
            return value
        self._tell(name, f"column {name!r}: the output has null for values such as {value!r:.40}, which are no {kind}")
        return None

    def _tell(self, name: str, message: str) -> None:
        if name not in self._told:
            self._told.add(name)
            self.notify(message)

    def _items(self, reader: RowReader, source: Source, row: Row) -> list[Item]:
        items = reader.read(row)
        if self._file_kind is None:
            self._file_kind = reader.kind
            self._check_row_kind(source, reader.kind, row.values)
        self.counts.single += not items
        self.counts.not_numbers += reader.not_numbers
        reader.not_numbers = 0
        return items

    def _check_row_kind(self, source: Source, row_kind: RowKind, values: dict) -> None:
        if self.row_kind is not None and self.row_kind.sets != row_kind.sets:
            kinds = ("single answers", "sets of questions")
            raise FileError(
                f"{source.name}: holds {kinds[row_kind.sets]}, the files before it {kinds[self.row_kind.sets]}; "
                "score them in two runs"
            )
        self.row_kind = self.row_kind or row_kind
        if row_kind.ceiling:
            ceiling = (
                f"{source.name} has human questions but no predictions. This is the HUMAN CEILING, not the score of a "
                "system: in each context references 1, 3, 5 ... are scored as predictions against references 2, 4, "
                f"6 ... under the name {SPLIT_HALF!r}. Contexts with one reference are left out. To score a system, "
                "add a column 'predictions', or name yours with "
            )
            self.notify(Advice(ceiling, name_column("prediction"), f"; columns found: {', '.join(values)}."))
