"""Rows of files -> the tasks of people who label them."""

from collections.abc import Sequence
from typing import Any

from ...rows.errors import FileError
from ...rows.inputs import sources_of
from ...rows.items import RowError, RowReader
from ...rows.reading import Message, Progress, Skips, good_rows, ignore
from ...rows.values import Row
from ...scale.options import LabelOptions
from ..labelling import OF_SETS, Task, plan


def tasks_of(
    rows: Any,
    *given: Any,
    problem: Message = ignore,
    progress: Progress = ignore,
    **options: Any,
) -> Sequence[Task]:
    """Return what people are asked about.

    Args:
        rows: paths, a list of dicts, a DataFrame or a Dataset.
        *given: see `LabelOptions`.
        **options: see `LabelOptions`.
        problem: called with each bad row that is left out.
        progress: called with what is judged, rows that are done, and all rows.

    Raises:
        FileError: if a file cannot be read, a row is bad, or there is none.
    """
    wanted = LabelOptions(*given, **options)
    if wanted.form in OF_SETS:
        skips, readers, items = Skips(wanted.skips, problem), {}, []

        def convert(source, row: Row):
            reader = readers.setdefault(source.name, RowReader(source, dict(wanted.columns or {})))
            kind = reader.row_kind(row.values)
            if not kind.sets or kind.ceiling:
                raise RowError("predictions: expected a set of generated questions; another --form is for answers")
            return reader.read(row)

        for _, _, value in good_rows(sources_of(rows), convert, skips):
            items += value
        if not items:
            raise FileError("no row with a set of generated questions; is this the right file?")
        return plan(items, None, wanted.number, wanted.seed)
    from ..accuracy.run import AccuracyRun

    run = AccuracyRun(rows, columns=wanted.columns, settings=wanted.settings, on_error=wanted.on_error)
    items, judged = run.judged(problem, progress, wanted.uniform_share < 1)
    return plan(items, judged, wanted.number, wanted.seed, wanted.uniform_share)
