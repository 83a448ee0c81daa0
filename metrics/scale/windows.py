"""Cuts rows into windows that are scored at once, in threads, and into parts of an output folder.

Reading, scoring and writing overlap: the calling thread reads ahead and writes behind, workers score. Where a window
and a part end depends on the rows alone, never on the machine or on where an earlier run was killed: so a run that is
resumed computes what an uninterrupted one does.
"""

import math
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from itertools import chain
from threading import Lock
from typing import Any, Literal

from ..core.inference import cores, listening
from ..core.scorer import Scorer
from ..rows.errors import Advice, FileError, name_column
from ..rows.reading import (
    GOOD,
    NOT_NUMBERS,
    SINGLE,
    SKIPPED,
    SPLIT_HALF,
    Item,
    Message,
    RowKind,
    RowReader,
    Skips,
    good_rows,
    ignore,
)
from ..rows.sources import Source
from ..rows.values import Row, json_value
from ..rows.writing import type_of

# Predictions that are scored at once, by device: a model sorts them by length, and batches for a GPU are large. They
# depend on the rows alone, never on the number of threads, so that every machine gives the same numbers.
WINDOWS = {None: 1000, "cpu": 256, "cuda": 10_000, "mps": 10_000}
WINDOW_CHARACTERS = 2**20
WORKERS = "scoring"  # their names begin with it


def window_predictions(scorers: Iterable[Scorer]) -> int:
    """Return the number of predictions of a window for scorers that work side by side."""
    sizes = [WINDOWS[scorer.device] for scorer in scorers if scorer.device is not None]
    return max(sizes, default=WINDOWS[None])


@dataclass
class Window:
    """Items that are scored at once; no items where only a part ends."""

    items: list[Item] = field(default_factory=list)
    part: int = 0  # number of their part, from 0
    end: dict | None = None  # of the last window of a part: how far reading was and what it had found, as JSON
    done: bool = False  # an earlier run finished the part, and noted `end`
    predictions: int = 0  # an item without any counts as one
    characters: int = 0  # of all texts

    def add(self, items: Sequence[Item]) -> None:
        """Add items."""
        self.items += items
        self.predictions += sum(max(len(item.predictions), 1) for item in items)
        self.characters += sum(map(characters_of, items))

    def is_full(self, limits: tuple[int, int]) -> bool:
        """Return whether it reaches a number of predictions or of characters."""
        return self.predictions >= limits[0] or self.characters >= limits[1]


def characters_of(item: Item) -> int:
    """Return the number of characters of an item's texts."""
    texts = (*item.predictions, *item.references, *item.contexts)
    return sum(map(len, texts)) + len(item.text or "")


def cut(items: Iterable[Item], limits: tuple[int, int]) -> Iterator[list[Item]]:
    """Yield items in windows of about a number of predictions, and of characters at most."""
    window = Window()
    for item in items:
        window.add([item])
        if window.is_full(limits):
            yield window.items
            window = Window()
    if window.items:
        yield window.items


@dataclass(eq=False)
class Reading:
    """Reads sources, checks every row, and cuts the items into windows.

    `asks` gets the kind of the rows and returns {column: metric that needs it in every row}. `keeps` says what becomes
    of columns that no metric reads: None drops them, "any" keeps every value, and "typed" keeps values of one type per
    column, as Parquet needs them.
    """

    sources: Sequence[Source]
    columns: Mapping[str, str]
    skips: Skips = field(default_factory=Skips)
    notify: Message = ignore
    asks: Callable[[RowKind], Mapping[str, str]] = lambda row_kind: {}
    keeps: Literal["any", "typed"] | None = None
    row_kind: RowKind | None = field(default=None, init=False)  # of the first file; None before `windows`
    extra: dict[str, str] | None = field(default=None, init=False)  # {kept column: type}, of the first window
    _noted: set[str] = field(default_factory=set, init=False)  # columns of which `notify` was told
    _file: int = field(default=0, init=False)  # number of the file that is read; `skips` has that of the row
    _file_kind: RowKind | None = field(default=None, init=False)  # of the file's rows; None at its start

    def __post_init__(self):
        self.asks, self.counts = cache(self.asks), self.skips.counts

    @property
    def position(self) -> int:
        """Number of bytes read so far, where it is known."""
        before = sum(source.size or 0 for source in self.sources[: self._file])
        return before + self.sources[self._file].position

    def windows(
        self,
        limits: Callable[[RowKind], tuple[int, int]],
        part_rows: float = math.inf,
        finished: Mapping[int, dict] | None = None,
    ) -> Iterator[Window]:
        """Return the items of all files; `row_kind` is known when this returns, for the first window is read then.

        `limits` gets the kind of the rows and returns about how many predictions and characters a window has. A part
        has about `part_rows` items, all of a row in one. `finished` parts, {number: `end` of its last window}, are not
        read.
        """
        windows = self._windows(limits, part_rows, finished or {})
        return chain([next(windows)], windows)

    def _windows(self, limits: Callable, part_rows: float, finished: Mapping[int, dict]) -> Iterator[Window]:
        part = 0
        while True:
            while part in finished:
                self._jump(finished[part])
                yield Window([], part, finished[part], done=True)
                part += 1
            rows, window, before = 0, Window(part=part), self.counts.copy()
            with closing(self.good_rows()) as good_rows:
                for items in good_rows:
                    window.add(items)
                    rows += len(items)
                    ends = rows >= part_rows
                    if not ends and not window.is_full(limits(self.row_kind)):
                        continue
                    self.fit(window.items)
                    window.end = self._end(before, last=False) if ends else None
                    yield window
                    part += ends
                    window = Window(part=part)
                    if ends:
                        rows, before = 0, self.counts.copy()
                        if part in finished:
                            break
                else:
                    self._check_any()
                    if rows:
                        self.fit(window.items)
                        window.end = self._end(before, last=True)
                        yield window
                    return

    def _end(self, before: Counter, last: bool) -> dict:
        end = {"last": last, "place": [self._file, self.skips.row], "row_kind": asdict(self.row_kind)}
        end["file_kind"] = self._file_kind and asdict(self._file_kind)
        return end | {"counts": self.counts - before, "extra": self.extra}

    def _jump(self, end: dict) -> None:
        self._file, self.skips.row = end["place"]
        self.row_kind = RowKind(**end["row_kind"])
        self._file_kind = end["file_kind"] and RowKind(**end["file_kind"])
        self.counts.update(end["counts"])
        self.extra = end["extra"]

    def _check_any(self) -> None:
        good, single, skipped = (self.counts[name] for name in (GOOD, SINGLE, SKIPPED))
        if not good and skipped:
            raise FileError(f"no row could be scored: all {skipped:,} rows are bad; see the messages above")
        if not good:
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
        """Reduce the extra columns of items to those of the first items, with their types; report what is dropped."""
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
                    self._note(name, f"column {name!r} is not in the first rows, and is left out of the output")
            item.extra = {name: self._fitted(name, json_value(item.extra.get(name))) for name in self.extra}

    def _fitted(self, name: str, value: object) -> object:
        kind = self.extra[name]
        if value is None or kind == "any" or type_of([value]) in (kind, "integer" if kind == "number" else kind):
            return value
        self._note(name, f"column {name!r}: the output has null for values such as {value!r:.40}, which are no {kind}")
        return None

    def _note(self, name: str, message: str) -> None:
        if name not in self._noted:
            self._noted.add(name)
            self.notify(message)

    def _items(self, reader: RowReader, source: Source, row: Row) -> list[Item]:
        items = reader.read(row)
        if self._file_kind is None:
            self._file_kind = reader.kind
            self._check_row_kind(source, reader.kind, row.values)
        self.counts.update({SINGLE: int(not items), NOT_NUMBERS: reader.not_numbers})
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


def counted(
    function: Callable, tell: Callable[[int], object], passes: int = 1, size: Callable[[Any], int] = len
) -> Callable:
    """Return `function`, which calls `tell` with the number of finished rows after every batch and window.

    `tell` gets a number that never falls, after every batch and window; `passes` is how often models read a row.
    """
    lock, running, finished = Lock(), {}, 0

    def run(window: Any) -> Any:
        nonlocal finished
        rows, share = size(window), 0.0

        def batch(part: float) -> None:
            nonlocal share
            with lock:
                share = min(1.0, share + part / passes)
                running[id(window)] = int(rows * share + 1e-6)
                tell(finished + sum(running.values()))

        with listening(batch):
            result = function(window)
        with lock:
            running.pop(id(window), None)
            finished += rows
            tell(finished + sum(running.values()))
        return result

    return run


def worker_count(scorers: Iterable[Scorer]) -> int:
    """Return how many windows are best scored at once; 0 for one at a time, without a thread of its own.

    A model on a CPU gets a thread for every core that this process may use: small batches on one core each are quicker
    than one batch on all of them. Beside a model on a GPU, a second thread makes the next batch.
    """
    devices = {scorer.device for scorer in scorers} - {None}
    if devices != {"cpu"}:
        return 2 if devices else 0
    torch = sys.modules.get("torch")
    return min(torch.get_num_threads(), cores()) if torch else cores()


def map_in_order(function: Callable, windows: Iterable, workers: int) -> Iterator[tuple]:
    """Yield (window, function(window)) in the order of the windows; worker threads compute the next ones ahead.

    torch uses one core in a worker. When reading fails, what was read before still comes out.
    """
    if not workers:
        yield from ((window, function(window)) for window in windows)
        return
    torch, windows, failure = sys.modules.get("torch"), iter(windows), None
    threads = torch.get_num_threads() if torch else 1
    one_core = {"initializer": torch.set_num_threads, "initargs": (1,)} if torch else {}
    pool = ThreadPoolExecutor(workers, WORKERS, **one_core)
    pending: deque = deque()
    try:
        while failure is None:
            try:
                window = next(windows)
            except (FileError, StopIteration) as end:
                failure = end
            else:
                pending.append((window, pool.submit(function, window)))
            while pending and (failure or len(pending) > workers + 1):
                window, result = pending.popleft()
                yield window, result.result()
        if not isinstance(failure, StopIteration):
            raise failure
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        if torch:
            torch.set_num_threads(threads)
