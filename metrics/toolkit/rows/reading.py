"""Items of several files in order, cut into windows that are scored at once and parts that are written at once.

Where a window and a part end depends on the rows alone, never on the machine or on where an earlier run was killed: so
a run that is resumed computes what an uninterrupted one does.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass

from .files import FileError, Row, Source
from .items import SPLIT_HALF, Item, RowError, RowReader, Shape


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


class Reading:
    """Reads files, checks every row, and cuts the items into windows.

    Args:
        sources: the files.
        columns: see `rows.RowReader`.
        skip: leave bad rows out instead of raising.
        notify: called with what a user must know about the input.
        problem: called with each bad row that is left out.

    Attributes:
        shape: what the rows of the first file are; None before the first window.
        counts: rows so far that were good, skipped, or single (contexts with one reference), and `not_numbers`, the
            values of `score` and `label` that are no numbers.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        columns: Mapping[str, str],
        skip: bool,
        notify: Callable[[str], None],
        problem: Callable[[str], None],
    ):
        self.sources = sources
        self.columns = columns
        self.skip = skip
        self.notify = notify
        self.problem = problem
        self.shape: Shape | None = None
        self.counts: Counter[str] = Counter()
        self._of_part: Counter[str] = Counter()
        self._place = (0, 0)  # number of the file, and of the last row of it that was read
        self._shape_here: Shape | None = None  # of the file's rows; None at its start

    @property
    def position(self) -> int:
        """Number of bytes read so far, where it is known."""
        number = self._place[0]
        return sum(source.size or 0 for source in self.sources[:number]) + self.sources[number].position

    def windows(
        self,
        predictions: int,
        characters: int,
        part_rows: int | None = None,
        finished: Mapping[int, dict] | None = None,
    ) -> Iterator[Window]:
        """Yield the items of all files.

        Args:
            predictions: predictions of a window, about.
            characters: characters of a window, about.
            part_rows: items of a part, about: all items of a row are in one part. None for a single part.
            finished: number of a part that need not be read -> the `end` of its last window.

        Raises:
            FileError: if a file cannot be read, a row is bad, or there is nothing to score.
        """
        finished = finished or {}
        part = 0
        while True:
            while part in finished:
                self._jump(finished[part])
                yield Window([], part, finished[part], done=True)
                part += 1
            rows, chunk, held, texts, before = 0, [], 0, 0, Counter(self.counts)
            with closing(self.good_rows()) as good_rows:
                for items in good_rows:
                    rows += len(items)
                    chunk += items
                    for item in items:
                        held += max(len(item.predictions), 1)
                        texts += sum(map(len, item.predictions)) + sum(map(len, item.references))
                        texts += len(item.text or "")
                    if part_rows is not None and rows >= part_rows:
                        yield Window(chunk, part, self._end(before, last=False))
                        rows, chunk, held, texts, before = 0, [], 0, 0, Counter(self.counts)
                        part += 1
                        if part in finished:
                            break
                    elif held >= predictions or texts >= characters:
                        yield Window(chunk, part)
                        chunk, held, texts = [], 0, 0
                else:
                    self._check_any()
                    if rows:
                        yield Window(chunk, part, self._end(before, last=True))
                    return

    def _end(self, before: Counter, last: bool) -> dict:
        return {
            "last": last,
            "place": list(self._place),
            "shape": asdict(self.shape),
            "shape_here": self._shape_here and asdict(self._shape_here),
            "counts": dict(self.counts - before),
        }

    def _jump(self, end: dict) -> None:
        self._place = tuple(end["place"])
        self.shape = Shape(**end["shape"])
        self._shape_here = end["shape_here"] and Shape(**end["shape_here"])
        self.counts.update(end["counts"])

    def _check_any(self) -> None:
        good, skipped, single = (self.counts[name] for name in ("good", "skipped", "single"))
        if not good:
            if skipped:
                raise FileError(f"no row could be scored: all {skipped:,} rows are bad")
            raise FileError(f"{', '.join(source.name for source in self.sources)}: no rows; is this the right file?")
        if single == good:
            raise FileError(
                f"no row could be scored: without predictions a context needs at least two references, and each of "
                f"the {single:,} contexts has one"
            )

    def good_rows(self) -> Iterator[list[Item]]:
        """Yield the items of every good row behind `_place`; what is counted includes the row that was yielded."""
        first = self._place[0]
        for number, source in enumerate(self.sources[first:], first):
            if number != self._place[0]:
                self._place, self._shape_here = (number, 0), None
            reader = RowReader(source, self.columns)
            for row in source.rows(after=self._place[1]):
                items = self._items(source, reader, row)
                self._place = (number, row.number)
                if items is not None:
                    yield items

    def _items(self, source: Source, reader: RowReader, row: Row) -> list[Item] | None:
        try:
            if row.problem:
                raise RowError(row.problem)
            shape = self._shape_here or reader.shape(row.values)
            items = reader.items(row.number, row.values, shape)
        except RowError as error:
            where = f"{source.name}, {source.unit} {row.number}"
            if not self.skip:
                raise FileError(f"{where}: {error}", bad_row=self.counts["good"] > 0) from error
            self.counts["skipped"] += 1
            self.problem(f"{where}: {error}")
            return None
        if self._shape_here is None:
            self._shape_here = shape
            self._check_shape(source, shape, row.values)
        self.counts["good"] += 1
        self.counts["single"] += not items
        self.counts["not_numbers"] += reader.not_numbers
        reader.not_numbers = 0
        return items

    def _check_shape(self, source: Source, shape: Shape, values: dict) -> None:
        if self.shape is not None and self.shape.sets != shape.sets:
            kinds = ("single answers", "sets of questions")
            raise FileError(
                f"{source.name}: holds {kinds[shape.sets]}, the files before it {kinds[self.shape.sets]}; "
                "score them in two runs"
            )
        self.shape = self.shape or shape
        if shape.ceiling:
            self.notify(
                f"{source.name} has human questions but no predictions. This is the HUMAN CEILING, not the score of a "
                f"system: in each context references 1, 3, 5 ... are scored as predictions against references 2, 4, "
                f"6 ... under the name {SPLIT_HALF!r}. Contexts with one reference are left out. To score a system, "
                f"add a column 'predictions', or name yours with --column prediction=NAME; columns found: "
                f"{', '.join(values)}."
            )
