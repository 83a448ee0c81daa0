"""Rows of files -> the tasks of people who label them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..rows.files import sources_of
from ..rows.formats import FileError, Row
from ..rows.items import RowError, RowReader
from ..rows.reading import Skips, good_rows
from .labelling import Task, plan


def tasks_of(
    rows: Any,
    form: str,
    number: int,
    seed: int = 0,
    uniform_share: float = 0.5,
    columns: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    skip_bad_rows: bool = False,
    problem: Callable[[str], None] = lambda message: None,
    progress: Callable[[str, int, int], None] = lambda name, done, rows: None,
) -> Sequence[Task]:
    """Return what people are asked about.

    Args:
        rows: paths, a list of dicts, a DataFrame or a Dataset.
        form: a key of `labelling.FORMS`.
        number: rows of every system.
        seed: the same seed draws the same rows.
        uniform_share: share drawn from all rows alike; 1 needs no judge.
        columns: see `items.RowReader`; "judge" names a column with a judge's probabilities.
        settings: settings of ava.
        skip_bad_rows: leave bad rows out.
        problem: called with each bad row that is left out.
        progress: called with what is judged, rows that are done, and all rows.

    Raises:
        FileError: if a file cannot be read, a row is bad, or there is none.
    """
    if form == "questions":
        skips, readers, items = Skips(skip_bad_rows, problem), {}, []

        def convert(source, row: Row):
            reader = readers.setdefault(source.name, RowReader(source, dict(columns or {})))
            kind = reader.row_kind(row.values)
            if not kind.sets or kind.ceiling:
                raise RowError("predictions: expected a set of generated questions; another --form is for answers")
            return reader.read(row)

        for _, _, found in good_rows(sources_of(rows), convert, skips):
            items += found
        if not items:
            raise FileError("no row with a set of generated questions; is this the right file?")
        return plan(items, None, number, seed)
    from .accuracy_run import AccuracyRun

    run = AccuracyRun(rows, columns=columns, settings=settings, on_error="skip" if skip_bad_rows else "fail")
    items, judged = run.judged(problem, progress, uniform_share < 1)
    return plan(items, judged, number, seed, uniform_share)
