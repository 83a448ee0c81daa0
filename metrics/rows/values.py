"""A row: its columns, found by their names, and its values: paths, lists in texts, words as labels, cells of CSV."""

import json
import math
import re
import tomllib
from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import takewhile
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file."""

    number: int  # its line in a text file (for CSV the last one of the row), else its number, from 1
    values: dict | None  # by column; None for a bad row
    problem: str = ""  # why the row is bad, and the fix; "" for a good row


def plain_name(name: str) -> str:
    """Return the name of a column without case, with underscores for blanks and hyphens, and "s" for "(s)".

    >>> plain_name("Expected answer"), plain_name("Reference(s)")
    ('expected_answer', 'references')
    """
    return name.strip().lower().replace(" ", "_").replace("-", "_").replace("(s)", "s")


NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
OWN_NAMES = {role: tuple(names) for role, names in NAMES["own"].items()}
COLUMNS = {role: (*names, *NAMES["other"].get(role, ())) for role, names in OWN_NAMES.items()}  # that are recognized
EITHER, KEYS, CHATS = (tuple(NAMES["further"][name]) for name in ("either", "keys", "chats"))
MAX_NAMES = 30  # of columns in a message

# How a labelled answer was sampled, as `label` writes it; the prefix keeps other columns from being read as these.
(SAMPLING_PROBABILITY,) = OWN_NAMES["probability"]  # with which the answer was drawn
PLANNED_LABELS = "genqa_planned"  # number of labels that its system was to get
STOPPED_BY = "genqa_until"  # the rule of `label --until` by which labelling stopped, and the seed of the order

MISSING = object()
MAX_PRINTED = 2**16  # characters of a text that may hold a list
_STEP = re.compile(r"\[(\*|\d+|\w+=[^\]]{1,1000}+)\]|([^.\[\]]+)")
_STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_LIST = rf"\[\s*+(?:{_STRING.pattern})(?:(?:\s*+,\s*+|\s++(?!,))(?:{_STRING.pattern}))*+\s*+,?+\s*+\]"
_TUPLE = rf"\(\s*+(?:{_STRING.pattern})\s*+,\s*+(?:(?:{_STRING.pattern})\s*+,\s*+)*(?:(?:{_STRING.pattern})\s*+)?+\)"
_PRINTED = re.compile(f"{_LIST}|{_TUPLE}", re.DOTALL)

NO_ANSWER = "unanswerable"  # stands for the reference of a question that has no answer, as in SQuAD 2


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


def value_at(cell: object, path: str) -> object:
    """Return the cell at a path such as `choices[0].text` or `answers[*].text`; `MISSING` where there is none.

    `options[tags=correct]` are the items of a list whose tags are, or have among them, "correct".

    >>> value_at({"answers": [{"text": "a"}, {"text": "b"}]}, "answers[*].text")
    ['a', 'b']
    """
    return _follow(cell, [star or key for star, key in _STEP.findall(path)])


def _follow(cell: object, steps: list[str]) -> object:
    for number, name in enumerate(steps, 1):
        key, equals, wanted = name.partition("=")
        if name == "*" or (equals and isinstance(cell, list)):
            if not isinstance(cell, list):
                return MISSING
            if equals:
                cell = [item for item in cell if isinstance(item, Mapping) and _is(item.get(key), wanted)]
            items = [inner for item in cell if (inner := _follow(item, steps[number:])) is not MISSING]
            return [element for inner in items for element in inner] if "*" in steps[number:] else items
        if isinstance(cell, Mapping) and name in cell:
            cell = cell[name]
        elif isinstance(cell, list) and name.isdecimal() and int(name) < len(cell):
            cell = cell[int(name)]
        else:
            return MISSING
    return cell


def _is(cell: object, wanted: str) -> bool:
    return wanted in map(str, cell) if isinstance(cell, list) else str(cell) == wanted


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


# A spreadsheet runs a cell that begins so as a formula. Written cells get an apostrophe before it, as OWASP advises
# against CSV injection; it is removed on reading, so that texts come back unchanged. A text that begins with a bracket
# gets one too, for it would be read as a JSON list. Many spreadsheets split at other separators than the file's: where
# a formula follows one of these, it gets an apostrophe there, and the cell one at its start.
_FORMULA = re.compile(r"'*[=+\-@\t\r\[＝＋－＠]")
_INSIDE = re.compile(r"""(?<=[,;|\t\r\n])(?=["']*[=+\-@＝＋－＠])""")
_MARKED_INSIDE = re.compile(r"""(?<=[,;|\t\r\n])'(?=["']*[=+\-@＝＋－＠])""")
_INSIDE_LIST = re.compile(r"""(?<=[,;|])(["'\\]*)([=+\-@＝＋－＠])""")


class PlainCell(str):
    """A cell of CSV that had a mark: a text, even if it begins with a bracket."""

    __slots__ = ()


def marked(cell: str) -> str:
    """Return a cell of CSV that no spreadsheet runs as a formula, whatever separator it splits at.

    >>> marked("=1+1"), marked("'=1+1"), marked("it's"), marked("a;=1+1")
    ("'=1+1", "''=1+1", "it's", "'a;'=1+1")
    """
    if _INSIDE.search(cell):
        return "'" + _INSIDE.sub("'", cell)
    return f"'{cell}" if _FORMULA.match(cell) else cell


def marked_list(texts: list) -> str:
    r"""Return a list as a cell of CSV: JSON, in which what a spreadsheet might run as a formula is escaped.

    >>> marked_list(["a;=1+1", "-1"])
    '["a;\\u003d1+1", "-1"]'
    """
    text = json.dumps(texts, ensure_ascii=False)
    return _INSIDE_LIST.sub(lambda match: f"{match[1]}\\u{ord(match[2]):04x}", text)


# Columns of the files that verbs write. Cells of their CSV have marks; elsewhere an apostrophe is a part of the text.
SCORED_COLUMNS = frozenset({"file", "line", "id", "system"})
WRITTEN = (SCORED_COLUMNS, frozenset({"id", "mean_of_all"}))


def without_mark(cell: str) -> str:
    """Return the cell from which `marked` made this one.

    >>> without_mark("'=1+1"), without_mark("''=1+1"), without_mark("'quoted'"), without_mark("'a;'=1+1")
    ('=1+1', "'=1+1", "'quoted'", 'a;=1+1')
    """
    if cell[:1] == "'" and _MARKED_INSIDE.search(cell):
        return PlainCell(_MARKED_INSIDE.sub("", cell[1:]))
    return PlainCell(cell[1:]) if cell[:1] == "'" and _FORMULA.match(cell) else cell


_OPTION_COLUMN = re.compile(r"([A-J])|(?i:(?:option|choice|answer|op)[ _]?([a-j]))|(?i:option|choice)[ _]?(\d)")


@lru_cache(maxsize=256)
def recognized(names: tuple[str, ...]) -> Mapping[str, str]:
    """Return {role: column} for the roles of `COLUMNS` whose column is recognized by its name.

    Case, and blanks or hyphens for underscores, do not count; a name that is spelled exactly so comes first.

    >>> dict(recognized(("Question", "Answer", "Expected")))
    {'question': 'Question', 'references': 'Expected', 'prediction': 'Answer'}
    >>> dict(recognized(("question", "model_answer", "answer")))
    {'question': 'question', 'prediction': 'model_answer', 'references': 'answer'}
    """
    plain = {plain_name(name): name for name in reversed(names)}
    roles: dict[str, str] = {}

    def take(role: str, usual: Iterable[str]) -> None:
        free = [name for name in usual if name in plain and plain[name] not in roles.values()]
        if role not in roles and free:
            roles[role] = next((name for name in free if name in names), plain[free[0]])

    for role, usual in (*OWN_NAMES.items(), *NAMES["other"].items()):
        take(role, usual)
    if "references" not in roles and "prediction" not in roles:
        take("references", ("answers",))
    if "prediction" in roles:
        if plain_name(roles.get("references", "")) in NAMES["other"]["aliases"]:
            first = next((plain[name] for name in EITHER if name in plain), None)
            roles |= {"references": first} if first not in (None, *roles.values()) else {}
        take("references", EITHER)
    elif {"references", "contexts", "label"} & roles.keys():
        take("prediction", ("answer", "final_answer"))
    if "options" in roles or option_columns(names):
        take("references", KEYS)
        if "references" not in roles and "label" in roles:  # then it says which option is right
            roles["references"] = roles.pop("label")
    if chat := next((plain[name] for name in CHATS if name in plain and plain[name] not in roles.values()), None):
        roles = {"question": chat, "prediction": chat} | roles
    return roles


def guessed_roles(roles: Mapping[str, str]) -> dict[str, str]:
    """Return the roles, but that of ids, whose columns have none of our own names.

    >>> guessed_roles({"question": "Question", "prediction": "answer", "id": "qid"})
    {'prediction': 'answer'}
    """
    return {role: name for role, name in roles.items() if role != "id" and plain_name(name) not in OWN_NAMES[role]}


def alias_columns(names: Iterable[str]) -> list[str]:
    """Return the columns that hold further references."""
    return [name for name in names if plain_name(name) in COLUMNS["aliases"]]


def option_columns(names: Iterable[str]) -> dict[str, str]:
    """Return {label: column} where options have a column each: A, B, C ...; option_a ..., opa ..., choice1 ....

    >>> option_columns(["Question", "A", "B", "C", "Answer"]), option_columns(["choice1", "choice2"])
    ({'A': 'A', 'B': 'B', 'C': 'C'}, {'1': 'choice1', '2': 'choice2'})
    """
    by_mark: dict[str, str] = {}
    for name in names:
        if match := _OPTION_COLUMN.fullmatch(name.strip()):
            by_mark.setdefault((match[1] or match[2] or match[3]).upper(), name)
    for marks in ("ABCDEFGHIJ", "123456789", "0123456789"):
        columns = {mark: by_mark[mark] for mark in takewhile(by_mark.__contains__, marks)}
        if len(columns) > 2 or (len(columns) == 2 and len(next(iter(columns.values()))) > 1):  # not systems A and B
            return columns
    return {}


# Columns and keys in which a role that is missing is looked for, for a hint.
_LIKELY = {
    "references": re.compile(r"answ|gold|truth|target|refer|expect|ideal|correct|solution|output|respon|label|text"),
    "prediction": re.compile(r"answ|pred|output|respon|reply|completion|generat|candidate|hypothes|content|text"),
}
_UNLIKELY = re.compile(
    r"wrong|incorrect|false|distract|confiden|type|start|offset|url|title|_id$|^id$|evidence|prompt|context"
)


def paths_in(cell: object, path: str = "", depth: int = 5) -> Iterator[tuple[str, object]]:
    """Yield (path, cell) of everything inside a cell but objects, outermost first; of a list only the first item.

    >>> list(paths_in({"a": [{"b": "x"}], "c": 1}))
    [('c', 1), ('a[*].b', 'x')]
    """
    nested: list[tuple[str, object]] = []
    items = cell.items() if isinstance(cell, Mapping) else ()
    for name, inner in items:
        step = f"{path}.{name}" if path else str(name)
        while isinstance(inner, list) and inner and not isinstance(inner[0], str):
            step, inner = f"{step}[*]", inner[0]
        if isinstance(inner, Mapping):
            nested.append((step, inner))
        elif not set(".[]") & set(str(name)):
            yield step, inner[0] if isinstance(inner, list) and inner else inner
    for step, inner in nested if depth else ():
        yield from paths_in(inner, step, depth - 1)


def likely_path(role: str, cells: Mapping) -> str:
    """Return the path of the first text that may have a role by its key, for a hint; "NAME" where there is none.

    >>> likely_path("prediction", {"question": "?", "run": [{"tokens": 3, "generated_answer": "x"}]})
    'run[0].generated_answer'
    """
    for path, text in paths_in(cells):
        key = path.rpartition(".")[2].lower()
        if isinstance(text, str) and _LIKELY[role].search(key) and not _UNLIKELY.search(key):
            return path if role == "references" else path.replace("[*]", "[0]")
    return "NAME"
