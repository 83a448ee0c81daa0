"""Rows of files -> the tasks of people who label them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ...rows.errors import FileError
from ...rows.inputs import sources_of
from ...rows.items import RowError, RowReader
from ...rows.reading import Message, Progress, Skips, good_rows, ignore
from ...rows.values import Row
from ...scale.options import OnError, Settings, check_options
from ..labelling import OF_SETS, Task, plan


def tasks_of(
    rows: Any,
    form: Literal["verdict", "grade", "questions", "questions-3"] = "verdict",
    number: int = 100,
    seed: int = 0,
    uniform_share: float = 0.5,
    *,
    columns: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    on_error: OnError = "fail",
    problem: Message = ignore,
    progress: Progress = ignore,
) -> Sequence[Task]:
    """Return what people are asked about.

    Args:
        rows: paths, a list of dicts, a DataFrame or a Dataset.
        form: a key of `FORMS`.
        number: rows of every system.
        seed: the same seed draws the same rows.
        uniform_share: share of the rows that are drawn by chance; the others by how unsure the judge is.
        columns: where a column has another name.
        settings: of ava.
        on_error: "fail" at the first bad row, or "skip".
        problem: called with each bad row that is left out.
        progress: called with what is judged, rows that are done, and all rows.

    Raises:
        FileError: if a file cannot be read, a row is bad, or there is none.
    """
    if form not in OF_SETS:
        from ..accuracy.run import AccuracyRun

        run = AccuracyRun(rows, columns=columns, settings=settings, on_error=on_error)
        items, judged = run.judged(problem, progress, uniform_share < 1)
        return plan(items, judged, number, seed, uniform_share)
    check_options(on_error, columns=columns, seed=seed)
    skips, readers, items = Skips(on_error == "skip", problem), {}, []

    def convert(source, row: Row):
        reader = readers.setdefault(source.name, RowReader(source, dict(columns or {})))
        kind = reader.row_kind(row.values)
        if not kind.sets or kind.ceiling:
            raise RowError("predictions: expected a set of generated questions; another --form is for answers")
        return reader.read(row)

    for _, _, value in good_rows(sources_of(rows), convert, skips):
        items += value
    if not items:
        raise FileError("no row with a set of generated questions; is this the right file?")
    return plan(items, None, number, seed)
