"""What several verbs read in the same way: digests, numbers in columns, answers, slices; and what they round."""

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np

from ..core.reading import text_key, the_first
from ..registry import JUDGE
from ..rows.cells import as_number
from ..rows.columns import Row, columns_found
from ..rows.errors import SKIP_BAD_ROWS, FileError
from ..rows.reading import MAX_SCORE, Item, RowError, RowReader, Skips, good_rows, same_text
from ..rows.sources import Source, sources_of

NONE = "(none)"  # the slice of rows without a value
MAX_SLICES = 100
FEW = 30  # rows of a slice, below which its intervals are rough
RATER_COLUMNS = ("rater", "annotator", "worker")
Plan = tuple[float | None, float | None, str | None]  # of a row, see `RowReader.sampling`
Rating = tuple[float | None, Plan, str]  # a label, how its row was drawn, and who gave it


def digested_sources(rows: object, name: str = "rows") -> list[Source]:
    """Return the sources of rows; standard input cannot be read twice, for a digest and rows, and is a ValueError."""
    sources = sources_of(rows, name=name)
    if any(source.path == "-" for source in sources):
        raise ValueError(f"{name}: standard input can be read only once, here rows are read twice; name a file")
    return sources


def share_of(name: str, cell: object) -> float:
    """Return a number from 0 to 1; anything else is a RowError."""
    number = as_number(cell)
    if not 0 <= number <= 1:
        raise RowError(f"{name}: expected a number from 0 to 1, got {cell!r:.40}; scale it, or name another column")
    return number


def score_in_column(column: str, row: Mapping[str, object], missing: bool = False) -> float:
    """Return the score in a row's column; `missing`: null, an empty cell and NaN are NaN instead of a bad row."""
    if column not in row:
        raise RowError(f"no column {column!r}, which --column names as a score; {columns_found(row)}")
    cell = row[column]
    try:
        score = float(cell) if cell is not None and cell != "" else math.nan
    except (ValueError, TypeError, OverflowError):
        score = None
    if score is not None and abs(score) > MAX_SCORE:
        raise RowError(f"{column}: expected a number of at most {MAX_SCORE:,.0f}, got {cell!r:.60}; scale the column")
    if score is None or not (missing or math.isfinite(score)):
        fix = "write it as a number" if missing else f"{SKIP_BAD_ROWS} leaves such questions out"
        raise RowError(f"{column}: expected a number, got {cell!r:.60}", fix)
    return score


def optional_texts(reader: RowReader, row: dict, text: str = "question") -> dict:
    """Return the texts of a row that is not scored: "id", "text", "system" (str or None), "prediction", "references".

    `text` names the column with what was asked, "question" or "context".
    """
    shown: dict = {}
    for name, column in (("id", "id"), ("text", text), ("system", "system")):
        cell = reader.optional(row, column)
        shown[name] = None if cell is None else str(cell)
    for name in ("prediction", "references"):
        cell = reader.optional(row, name)
        shown[name] = list(map(str, cell if isinstance(cell, list) else [] if cell is None else [cell]))
    return shown


def unscored_item(source: Source, row: Row, texts: Mapping) -> Item:
    """Return the item of a row with a score, which needs no answer or references, from its `optional_texts`."""
    system = source.stem if texts["system"] is None else texts["system"]
    answers, references = texts["prediction"], texts["references"]
    return Item(source.name, row.number, texts["id"], system, texts["text"], answers, references, (None, None))


def question_numbers(texts: Sequence[str | None]) -> np.ndarray:
    """Return the number of every row's question: 0, 1, ... in the order in which they come.

    Rows with the same text are one question; case and white space do not matter. A row without a text is its own.

    >>> question_numbers(["Who?", None, "who ? ", "who?", None]).tolist()
    [0, 1, 2, 0, 3]
    """
    numbers: dict[object, int] = {}
    keys = (row if text is None else text_key(text) for row, text in enumerate(texts))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def rounded(content: object) -> object:
    """Return a report for JSON: six significant digits, so that two machines print the same; null for NaN."""
    if isinstance(content, Mapping):
        return {name: rounded(inner) for name, inner in content.items()}
    if isinstance(content, list | tuple):
        return [rounded(inner) for inner in content]
    if isinstance(content, float):
        return float(f"{content:.6g}") if math.isfinite(content) else None
    return content


def item_key(system: str, question: str | None, answer: str | Sequence[str]) -> str:
    """Return the key by which a row and its label are matched, also where the labels came through a spreadsheet."""
    answers = same_text(answer) if isinstance(answer, str) else list(map(same_text, answer))
    text = json.dumps([same_text(system), same_text(question or ""), answers], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def key_of(item: Item) -> str:
    """Return the key of an answer."""
    return item_key(item.system, item.text, item.predictions[0] if len(item.predictions) == 1 else item.predictions)


def rater_of(row: Mapping[str, object]) -> str:
    """Return who rated a row; "" where no column says it."""
    return next((str(row[name]) for name in RATER_COLUMNS if row.get(name)), "")


def rows_of_answers(items: Sequence[Item], raters: Sequence[str]) -> list[list[int]]:
    """Return the rows of every answer: one for each of its raters, see `rater_of`."""
    if not any(raters):
        return [[row] for row in range(len(items))]
    rows_of: dict[object, list[int]] = defaultdict(list)
    times: Counter = Counter()
    for row, (item, rater) in enumerate(zip(items, raters, strict=True)):
        answer = key_of(item), tuple(item.references)
        times[answer, rater] += bool(rater)  # a system can give an answer twice
        rows_of[(answer, times[answer, rater]) if rater else row].append(row)
    return list(rows_of.values())


def read_answers(
    sources: Sequence[Source],
    columns: Mapping[str, str],
    skips: Skips,
    judge_column: str | None = None,
    by: str | None = None,
    judged: bool = True,
) -> tuple[list[Item], np.ndarray, list[str], list[list[Rating]], int]:
    """Return all answers, what another judge's column says of each, their slices, and their labels in the rows.

    The numbers of the judge's column are (answers,), NaN without one; last comes the number of values of score and
    label that are no labels. Rows of several raters are one answer, with the mean of their labels.

    `judged`: AVA will judge the answers, which need a question and references then.
    """
    asked = {"question": JUDGE, "references": JUDGE} if judged and judge_column is None else {}
    readers = [RowReader(source, columns, asked) for source in sources]

    def convert(reader: RowReader, row: Row) -> list[tuple]:
        if reader.row_kind(row.values).sets:
            raise RowError("prediction: expected one answer, got a set of questions; sets are scored by score")
        probability = math.nan
        if judge_column is not None:
            if judge_column not in row.values:
                raise RowError(f"judge: no column {judge_column!r}; {columns_found(row.values)}; name one of them")
            probability = share_of(judge_column, row.values[judge_column])
        name = slice_of(by, row.values) if by else ""
        read = reader.read(row)
        labelled = any(item.human[1] is not None for item in read)
        plan = reader.sampling(row.values) if labelled else (None, None, None)
        return [(item, probability, name, (item.human[1], plan, rater_of(row.values))) for item in read]

    rows = [answer for answers in good_rows(readers, convert, skips) for answer in answers]
    if not rows:
        names = ", ".join(source.name for source in sources)
        raise FileError(f"{names}: no rows with an answer; is this the right file?")
    items, judged_by_column, slices, ratings = map(list, zip(*rows, strict=True))
    answers = rows_of_answers(items, [rater for _, _, rater in ratings])
    first, ratings = [rows[0] for rows in answers], [[ratings[row] for row in rows] for rows in answers]
    for row, rated in zip(first, ratings, strict=True):
        labels = [label for label, _, _ in rated if label is not None]
        items[row].human = items[row].human[0], sum(labels) / len(labels) if labels else None
    items, slices = [items[row] for row in first], [slices[row] for row in first]
    not_numbers = sum(reader.not_numbers for reader in readers)
    return items, np.array(judged_by_column)[first], slices, ratings, not_numbers


def slice_of(column: str, row: Mapping[str, object]) -> str:
    """Return the slice that a row belongs to; `column` may go into objects with dots: "meta.topic".

    >>> slice_of("topic", {"topic": "law"}), slice_of("meta.hops", {"meta": {"hops": 2}}), slice_of("a", {"a": None})
    ('law', '2', '(none)')
    """
    cell: object = row
    for name in [column] if column in row else column.split("."):
        if not isinstance(cell, Mapping) or name not in cell:
            raise RowError(f"no column {column!r}, which --by names; {columns_found(row)}")
        cell = cell[name]
    if isinstance(cell, list | Mapping):
        raise RowError(f"{column}: expected one value for --by, got {cell!r:.40}; name a column with one value a row")
    return NONE if cell is None or cell == "" else str(cell)


def places_of(column: str, slices: Iterable[str]) -> dict[str, np.ndarray]:
    """Return the places of the rows of each slice, in the order of their names; too many slices are a FileError.

    >>> places_of("topic", ["law", "art", "law"])
    {'art': array([1]), 'law': array([0, 2])}
    """
    names, numbers = np.unique(np.array([*slices], dtype=object), return_inverse=True)
    if len(names) > MAX_SLICES:
        fix = "name a column with few values, such as a topic"
        raise FileError(f"by: column {column!r} has {len(names):,} values, more than {MAX_SLICES}; {fix}")
    return {name: np.flatnonzero(numbers == number) for number, name in enumerate(names)}


def slice_notes(column: str, rows: Mapping[str, int], unit: str, with_interval: Container[str]) -> list[str]:
    """Return notes on slices that have an interval of few rows, and on rows without a value; `unit`: what rows are."""
    notes = [f"by {column}: {rows[NONE]:,} {unit} have no value, see {NONE}"] if NONE in rows else []
    if few := [name for name, number in rows.items() if number < FEW and name in with_interval]:
        notes.insert(0, f"by {column}: fewer than {FEW} {unit} in {the_first(few, 3)}: their intervals are rough")
    return notes
