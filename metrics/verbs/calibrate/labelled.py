"""Rows with labels of people -> answers, each with the mean of its labels and its weight."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...rows.errors import FileError, name_column
from ...rows.file_types import Row
from ...rows.items import Item, RowError, RowReader
from ...rows.reading import Skips, good_rows
from ...rows.sources import Source
from ..labelling import key_of
from ..labels import plan_of, read_labels


@dataclass(frozen=True)
class Labelled:
    """Answers that people labelled.

    Attributes:
        items: the answers, each once.
        labels: (answers,) mean label, 0 to 1.
        weights: (answers,) 1 / probability of being drawn, with mean 1; all 1 where the rows state none.
        number: labels; an answer may have several.
        unlabelled: rows without a label, which were left out.
    """

    items: Sequence[Item]
    labels: np.ndarray
    weights: np.ndarray
    number: int
    unlabelled: int


def labelled_rows(sources: Sequence[Source], columns: Mapping[str, str], skips: Skips) -> Labelled:
    """Return the labelled answers of files, as `genqa-metrics label` writes them, or any rows with a label.

    Args:
        sources: where the rows are from.
        columns: see `items.RowReader`.
        skips: what to do about bad rows.

    Raises:
        FileError: if a file cannot be read, a row is bad, or no row has a label.
    """
    readers: dict = {}

    def convert(source: Source, row: Row) -> tuple[Item, float | None, float | None]:
        reader = readers.setdefault(source.name, RowReader(source, columns, lambda kind: "ava"))
        if reader.row_kind(row.values).sets:
            raise RowError("prediction: expected one answer, got a set; labels are of answers")
        result = reader.read(row)
        if len(result) > 1:
            raise RowError("prediction: expected the answer of one system; a label is of one answer")
        score, label = result[0].human
        value = score if label is None else label
        if value is not None and not 0 <= value <= 1:
            raise RowError(f"label: expected 0 or 1, or a score between them, got {value:g}; scale it")
        return result[0], value, None if value is None else plan_of(row.values)[0]

    items: dict[str, Item] = {}
    labels: dict[str, list[float]] = {}
    odds: dict[str, float | None] = {}
    unlabelled = 0
    for _, _, (item, value, probability) in good_rows(sources, convert, skips):
        if value is None:
            unlabelled += 1
            continue
        key = key_of(item)
        items.setdefault(key, item)
        labels.setdefault(key, []).append(value)
        odds[key] = probability
    if not items:
        names = ", ".join(source.name for source in sources)
        problem = (
            f"{names}: no row has a label (a column label with 0 or 1, or score from 0 to 1); label some rows with "
        )
        raise FileError(problem, "genqa-metrics label, or name the column with ", name_column("label"))
    drawn = all(probability is not None for probability in odds.values())
    weights = np.array([1 / odds[key] if drawn else 1.0 for key in items])
    return Labelled(
        items=list(items.values()),
        labels=np.array([np.mean(labels[key]) for key in items]),
        weights=weights / weights.mean(),
        number=sum(map(len, labels.values())),
        unlabelled=unlabelled,
    )


def labels_beside(
    sources: Sequence[Source],
    label_sources: Sequence[Source],
    columns: Mapping[str, str],
    skips: Skips,
    notes: list[str],
) -> Labelled:
    """Return the labelled answers of rows whose labels stand in other files, see `labels.read_labels`.

    Args:
        sources: where the rows are from.
        label_sources: where the labels are from.
        columns: see `items.RowReader`.
        skips: what to do about bad rows.
        notes: what a reader must know is added to it.

    Raises:
        FileError: if a file cannot be read, a row is bad, or no label is of a row.
    """
    readers: dict = {}

    def convert(source: Source, row: Row) -> list[Item]:
        needs = {"question": "ava", "references": "ava"}
        return readers.setdefault(source.name, RowReader(source, columns, lambda kind: needs)).read(row)

    items = [item for _, _, of_row in good_rows(sources, convert, skips) for item in of_row]
    labels = read_labels(label_sources, items, [], columns, skips, notes)
    known = np.flatnonzero(~np.isnan(labels.mean))
    weights = 1 / labels.probability[known]
    return Labelled(
        items=[items[place] for place in known],
        labels=labels.mean[known],
        weights=weights / weights.mean(),
        number=int(labels.number.sum()),
        unlabelled=len(items) - len(known),
    )
