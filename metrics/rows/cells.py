"""Cells: the texts, numbers, lists and objects of a row, and the right answers in them."""

import json
import math
import re
from ast import literal_eval
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from .marks import PlainCell

NO_ANSWER = "unanswerable"  # stands for the reference of a question that has no answer, as in SQuAD 2
MAX_PRINTED = 2**16  # characters of a text that may hold a list
_STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_LIST = rf"\[\s*+(?:{_STRING.pattern})(?:(?:\s*+,\s*+|\s++(?!,))(?:{_STRING.pattern}))*+\s*+,?+\s*+\]"
_TUPLE = rf"\(\s*+(?:{_STRING.pattern})\s*+,\s*+(?:(?:{_STRING.pattern})\s*+,\s*+)*(?:(?:{_STRING.pattern})\s*+)?+\)"
_PRINTED = re.compile(f"{_LIST}|{_TUPLE}", re.DOTALL)


def kind_of(cell: object) -> str:
    """Return the type of a cell in words, for a message."""
    names = {type(None): "null", dict: "an object", list: "a list", str: "a string", bool: "a truth cell"}
    return names.get(type(cell), f"{type(cell).__name__} {cell!r:.40}")


def scalar_text(cell: object) -> str | None:
    """Return a number, truth value, date, time or decimal as JSON and spreadsheets write it; None for other cells.

    A time of 00:00:00 is that of a date, as Parquet and pandas hold one.

    >>> scalar_text(Decimal("12.50")), scalar_text(datetime(2020, 3, 4)), scalar_text(8.0), scalar_text("8")
    ('12.50', '2020-03-04', '8', None)
    """
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, Decimal):
        return f"{cell:f}"
    if isinstance(cell, datetime):
        return str(cell.date() if cell == datetime.combine(cell.date(), time(), cell.tzinfo) else cell)
    return str(cell) if isinstance(cell, int | float | date | time | timedelta) and cell == cell else None


def json_value(cell: object) -> object:
    """Return any cell as JSON has it, in characters that a file can hold: a date as its text, NaN as None.

    >>> import datetime
    >>> json_value(datetime.date(2024, 5, 1)), json_value({"a": (1, "b")}), json_value(float("nan"))
    ('2024-05-01', {'a': [1, 'b']}, None)
    """
    if cell is None or isinstance(cell, bool | int):
        return cell
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    try:
        content = cell if isinstance(cell, str) else json.loads(json.dumps(cell, default=str, allow_nan=False))
    except (TypeError, ValueError, RecursionError):  # keys that are no texts, or NaN inside
        content = str(cell)
    return whole_characters(content) if isinstance(content, str) else content


_ANSWERS = ("text", "input_text", "value", "answer", "aliases")  # where an object has them


def answers_of(cell: object, depth: int = 4) -> list[object] | None:
    """Return the right answers in a cell of a data set; None where a cell has no known form.

    It may be an object as SQuAD, TriviaQA, DROP (where a list is one answer), CoQA, QASPER and Natural Questions write
    one. In a list, objects without an answer are left out beside others, as KILT has them; other items stay.

    >>> answers_of({"text": ["1820", "in 1820"], "answer_start": [3, 0]}), answers_of({"value": "A", "aliases": ["B"]})
    (['1820', 'in 1820'], ['A', 'B'])
    """
    cell = cell.tolist() if hasattr(cell, "tolist") else cell
    if isinstance(cell, bool):
        return ["yes", "true"] if cell else ["no", "false"]
    if isinstance(cell, str):
        return [cell]
    if (text := scalar_text(cell)) is not None:
        return [text]
    if isinstance(cell, list | tuple):
        items: list[object] = []
        for item in cell:
            answers = None if isinstance(item, list) or not depth else answers_of(item, depth - 1)
            items += [item] if answers is None else answers
        return [item for item in items if not isinstance(item, Mapping)] or items
    if not isinstance(cell, Mapping):
        return None
    inner = {str(name).lower(): item.tolist() if hasattr(item, "tolist") else item for name, item in cell.items()}
    if "spans" in inner:  # of DROP: a number, a date or spans
        day = inner.get("date") or {}
        number, spans = inner.get("number", ""), ", ".join(map(str, inner["spans"] or ()))
        in_words = " ".join(str(day[name]) for name in ("day", "month", "year") if day.get(name))
        return [text for text in (scalar_text(number) or number, in_words, spans) if text][:1]
    if "free_form_answer" in inner:  # of QASPER
        spans = ", ".join(map(str, inner.get("extractive_spans") or ()))
        if isinstance(inner.get("yes_no"), bool):
            return answers_of(inner["yes_no"])
        return [text for text in (inner["free_form_answer"], spans) if text]
    if "short_answers" in inner:  # of Natural Questions
        yes_no = str(inner.get("yes_no_answer", "")).lower()
        return [yes_no] if yes_no in ("yes", "no") else answers_of(inner["short_answers"], depth - 1)
    listed = [inner[name] for name in _ANSWERS if inner.get(name) is not None]
    if not listed or not depth:
        return None
    answers = []
    for item in listed:
        texts = answers_of(item, depth - 1)
        answers += [text for text in ([item] if texts is None else texts) if text not in answers]
    return answers


def as_number(cell: object) -> float:
    """Return a cell as a number, NaN if it is none.

    >>> as_number("0.5"), as_number(None)
    (0.5, nan)
    """
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def printed_list(text: object) -> list[str] | None:
    r"""Return the strings of a text that is a printed list, else None.

    Known are JSON, and how Python and numpy print strings, as pandas writes them into CSV and lm-evaluation-harness.

    >>> printed_list("['30 days', \"thirty days\"]"), printed_list("['30 days' 'thirty days']")
    (['30 days', 'thirty days'], ['30 days', 'thirty days'])
    """
    if not isinstance(text, str) or text.lstrip()[:1] not in ("[", "("):
        return None
    text = text.strip()
    with suppress(ValueError, RecursionError):
        content = json.loads(text)
        return content if isinstance(content, list) and all(isinstance(text, str) for text in content) else None
    if len(text) <= MAX_PRINTED and _PRINTED.fullmatch(text):
        with suppress(ValueError, SyntaxError):
            return [literal_eval(string) for string in _STRING.findall(text)]
    return None


def list_in_cell(cell: object) -> object:
    """Return the texts of a cell of CSV that is a list, as JSON or as pandas writes it; else the cell."""
    texts = None if isinstance(cell, PlainCell) else printed_list(cell)
    return cell if texts is None else texts


def literal(cell: object) -> object:
    """Return the object or list that a text is in JSON or Python notation; any other cell unchanged.

    >>> literal('[{"a": null}]'), literal("{'a': None}"), literal("[sic]")
    ([{'a': None}], {'a': None}, '[sic]')
    """
    for parse in (json.loads, literal_eval) if isinstance(cell, str) and cell[:1] in ("{", "[") else ():
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return parse(cell if parse is json.loads else cell[:MAX_PRINTED])
    return cell


def whole_characters(text: str) -> str:
    r"""Return a text with U+FFFD for every half of a surrogate pair, which no file in UTF-8 can hold.

    >>> whole_characters("Lima \ud83d"), whole_characters("\ud83d\ude00")
    ('Lima �', '😀')
    """
    try:
        text.isascii() or text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
