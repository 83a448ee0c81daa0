"""Columns: the roles that they have by their names, and paths to what stands inside objects and lists."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from ..core.reading import the_first


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

# How a labelled answer was sampled, as `label` writes it; the prefix keeps other columns from being read as these.
(SAMPLING_PROBABILITY,) = OWN_NAMES["probability"]  # with which the answer was drawn
PLANNED_LABELS = "genqa_planned"  # number of labels that its system was to get
STOPPED_BY = "genqa_until"  # the rule of `label --until` by which labelling stopped, and the seed of the order

# Columns of the files that verbs write. Cells of their CSV have marks; elsewhere an apostrophe is a part of the text.
SCORED_COLUMNS = frozenset({"file", "line", "id", "system"})
WRITTEN = (SCORED_COLUMNS, frozenset({"id", "mean_of_all"}))

_OPTION_COLUMN = re.compile(r"([A-J])|(?i:(?:option|choice|answer|op)[ _]?([a-j]))|(?i:option|choice)[ _]?(\d)")

MOST_NAMED = 30  # columns that a message names
MISSING = object()  # stands at a path that a row lacks
_STEP = re.compile(r"\[(\*|\d+|\w+=[^\]]{1,1000}+)\]|([^.\[\]]+)")

# Columns and keys in which a role that is missing is looked for, for a hint.
_LIKELY = {
    "references": re.compile(r"answ|gold|truth|target|refer|expect|ideal|correct|solution|output|respon|label|text"),
    "prediction": re.compile(r"answ|pred|output|respon|reply|completion|generat|candidate|hypothes|content|text"),
    "question": re.compile(r"quest|query|prompt|problem|instruct|input"),
}
_UNLIKELY = re.compile(r"wrong|incorrect|false|distract|confiden|type|start|offset|url|title|_id$|^id$|evidence")
_OF_QUESTIONS = re.compile(r"prompt|context")  # unlikely for answers


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


def columns_found(names: Iterable[str]) -> str:
    """Return the columns of a row for an error message, the first ones of many."""
    return f"columns found: {the_first(list(names), MOST_NAMED) or 'none'}"


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


def alias_columns(names: Iterable[str]) -> list[str]:
    """Return the columns that have further references by their names."""
    return [name for name in names if plain_name(name) in COLUMNS["aliases"]]


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
        is_likely = _LIKELY[role].search(key) and not _UNLIKELY.search(key)
        if isinstance(text, str) and is_likely and (role == "question" or not _OF_QUESTIONS.search(key)):
            return path if role == "references" else path.replace("[*]", "[0]")
    return "NAME"
