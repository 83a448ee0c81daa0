"""What several verbs read in the same way: digests, scores in columns, rows of one question; and what they round."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..core.scorer import Scorer
from ..rows.errors import SKIP_BAD_ROWS, Advice
from ..rows.reading import MAX_SCORE, RowError, RowReader
from ..rows.sources import Source, sources_of


def digested_sources(rows: object, name: str = "rows") -> list[Source]:
    """Return the sources of a report, which names their digests.

    Args:
        rows: see `sources.sources_of`.
        name: of rows in memory.

    Raises:
        ValueError: if they are something else, a file does not exist or is named twice, or one is standard input.
    """
    sources = sources_of(rows, name=name)
    if any(source.path == "-" for source in sources):
        raise ValueError("standard input cannot be read twice, for its digest and its rows; name a file")
    return sources


def calibrated_on(scorers: Iterable[Scorer], inputs: Sequence[Mapping]) -> list[str]:
    """Return a note for each judge that was calibrated on one of these inputs.

    Args:
        scorers: of the metrics.
        inputs: "name" and "sha256" of every file, see `reading.inputs_of`.
    """
    notes = []
    for scorer in scorers:
        calibration = getattr(scorer, "calibration", None)
        digests = set(calibration.content.get("data", {}).values()) if calibration else set()
        names = [source["name"] for source in inputs if source["sha256"] in digests]
        if names:
            notes.append(
                f"{scorer.name} was calibrated on {', '.join(names)}: it agrees with these labels more than with "
                "others; measure it on rows that it was not calibrated on"
            )
    return notes


def score_in_column(column: str, values: Mapping[str, object], missing: bool = False) -> float:
    """Return the score of a row in one of its columns.

    Args:
        column: its name.
        values: the row.
        missing: whether null, an empty cell and NaN are NaN instead of a bad row.

    Raises:
        RowError: if there is no such column, or it holds something else.
    """
    if column not in values:
        text = ", ".join(values) or "none"
        raise RowError(f"no column {column!r}, which --column names as a score; columns found: {text}")
    value = values[column]
    try:
        score = float(value) if value is not None and value != "" else math.nan
    except (ValueError, TypeError, OverflowError):
        score = None
    if score is not None and abs(score) > MAX_SCORE:
        raise RowError(f"{column}: expected a number of at most {MAX_SCORE:,.0f}, got {value!r:.60}; scale the column")
    if score is None or not (missing or math.isfinite(score)):
        fix = "write it as a number" if missing else Advice(SKIP_BAD_ROWS, " leaves such questions out")
        raise RowError(f"{column}: expected a number, got {value!r:.60}; ", fix)
    return score


def optional_texts(reader: RowReader, values: dict, text: str = "question") -> dict:
    """Return the texts of a row that is not scored: "id", "text", "system" (str or None), "prediction", "references".

    Args:
        reader: reads the row's columns.
        values: the row.
        text: the column with what was asked, "question" or "context".
    """
    names = {"id": "id", "text": text, "system": "system"}
    items = {name: reader.optional(values, column) for name, column in names.items()}
    shown: dict = {name: None if value is None else str(value) for name, value in items.items()}
    for name in ("prediction", "references"):
        value = reader.optional(values, name)
        value = [] if value is None else value if isinstance(value, list) else [value]
        shown[name] = [str(part) for part in value]
    return shown


def name_of_row(row) -> str:
    """Return which answer a row has: its id, else its file and line, and its system where the id does not name it.

    Args:
        row: with "id", "file", "line" and "system", such as a `rows.reading.Item`.
    """
    name = row.id or f"{row.file}, line {row.line}"
    return name if row.system in name else f"{name} of {row.system}"


def question_numbers(texts: Sequence[str | None]) -> np.ndarray:
    """Return the number of every row's question: 0, 1, ... in the order in which they come.

    Rows with the same text are one question; case and white space do not matter. A row without a text is its own.

    >>> question_numbers(["Who?", None, "who ? ", "who?", None]).tolist()
    [0, 1, 2, 0, 3]
    """
    numbers: dict[object, int] = {}
    keys = (row if text is None else " ".join(text.split()).casefold() for row, text in enumerate(texts))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def rounded(value: object) -> object:
    """Return a report for JSON: six significant digits, so that two machines print the same; null for NaN."""
    if isinstance(value, Mapping):
        return {name: rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value
