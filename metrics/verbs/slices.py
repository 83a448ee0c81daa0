"""Slices of rows by the value of a column: what `--by` reads."""

from collections.abc import Container, Iterable, Mapping

import numpy as np

from ..rows.errors import FileError, RowError
from ..rows.values import MAX_NAMES

NONE = "(none)"  # the slice of rows without a value
MAX_SLICES = 100
FEW = 30  # rows of a slice, below which its intervals are rough


def slice_of(column: str, values: Mapping[str, object]) -> str:
    """Return the slice that a row belongs to.

    Args:
        column: a column, or with dots what is in its objects: "meta.topic".
        values: the row.

    Raises:
        RowError: if there is no such column, or it holds no single value.

    >>> slice_of("topic", {"topic": "law"}), slice_of("meta.hops", {"meta": {"hops": 2}}), slice_of("a", {"a": None})
    ('law', '2', '(none)')
    """
    value: object = values
    for part in [column] if column in values else column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            known = ", ".join(list(values)[:MAX_NAMES]) or "none"
            raise RowError(f"no column {column!r}, which --by names; columns found: {known}")
        value = value[part]
    if isinstance(value, list | Mapping):
        raise RowError(f"{column}: expected one value for --by, got {value!r:.40}; name a column with one value a row")
    return NONE if value is None or value == "" else str(value)


def places_of(column: str, slices: Iterable[str]) -> dict[str, np.ndarray]:
    """Return the places of the rows of each slice, in the order of their names.

    Args:
        column: its name, for the message.
        slices: the slice of every row.

    Raises:
        FileError: if there are too many slices.

    >>> places_of("topic", ["law", "art", "law"])
    {'art': array([1]), 'law': array([0, 2])}
    """
    values: dict[str, list[int]] = {}
    for place, name in enumerate(slices):
        values.setdefault(name, []).append(place)
    if len(values) > MAX_SLICES:
        raise FileError(
            f"by: column {column!r} has {len(values):,} values, more than {MAX_SLICES}; name a column with few "
            "values, such as a topic"
        )
    return {name: np.array(values[name]) for name in sorted(values)}


def slice_notes(column: str, rows: Mapping[str, int], what: str, told: Container[str]) -> list[str]:
    """Return notes on slices: that some are small, and that some rows have no value.

    Args:
        column: its name.
        rows: slice -> number of its rows.
        what: what they are, "questions" or "answers".
        told: slices with an interval.
    """
    few = [name for name, number in rows.items() if number < FEW and name in told]
    notes = []
    if few:
        more = f" and {len(few) - 3:,} more" if len(few) > 3 else ""
        notes.append(f"by {column}: fewer than {FEW} {what} in {', '.join(few[:3])}{more}: their intervals are rough")
    if NONE in rows:
        notes.append(f"by {column}: {rows[NONE]:,} {what} have no value, see {NONE}")
    return notes
