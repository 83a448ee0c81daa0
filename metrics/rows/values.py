"""Values inside rows: paths into objects and lists, and texts that hold a list."""

import json
import math
import re
from ast import literal_eval
from collections.abc import Mapping

MISSING = object()
MAX_PRINTED = 2**16  # characters of a text that may hold a list
_STEP = re.compile(r"\[(\*|\d+)\]|([^.\[\]]+)")
_SEPARATOR = re.compile(r"\s*,\s*|\s+|\Z")
_STRING = re.compile(r"""\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)

NO_ANSWER = "unanswerable"  # stands for the reference of a question that has no answer, as in SQuAD 2


def text_of_number(value: bool | float) -> str:
    """Return a number or truth value of JSON as a text.

    >>> text_of_number(1577), text_of_number(8.0), text_of_number(0.019), text_of_number(True)
    ('1577', '8', '0.019', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def json_value(value: object) -> object:
    """Return any value as JSON has it, in characters that a file can hold: a date as its text, NaN as None.

    >>> import datetime
    >>> json_value(datetime.date(2024, 5, 1)), json_value({"a": (1, "b")}), json_value(float("nan"))
    ('2024-05-01', {'a': [1, 'b']}, None)
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    try:
        text = value if isinstance(value, str) else json.dumps(value, default=str, allow_nan=False)
    except (TypeError, ValueError, RecursionError):  # keys that are no texts, or NaN inside
        return json_value(str(value))
    if isinstance(value, str):
        return text if text.isascii() else text.encode("utf-8", "replace").decode()
    found = json.loads(text)
    return json_value(found) if isinstance(found, str) else found


def answers_of(value: object, depth: int = 4) -> list[object] | None:
    """Return the right answers that a value of a data set holds; None where it is no such value.

    Args:
        value: a text, a number, true or false, a list of these, or an object as SQuAD, TriviaQA, DROP and CoQA write
            one. A list inside an object of DROP is one answer.
        depth: objects and lists to go into.

    Returns:
        The answers; items of a list that are no texts, numbers or objects stay as they are.

    >>> answers_of({"text": ["1820", "in 1820"], "answer_start": [3, 0]}), answers_of({"value": "A", "aliases": ["B"]})
    (['1820', 'in 1820'], ['A', 'B'])
    >>> answers_of(True), answers_of([7, "seven"]), answers_of({"number": "", "spans": ["Ohio", "Utah"]})
    (['yes', 'true'], ['7', 'seven'], ['Ohio, Utah'])
    """
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, bool):
        return ["yes", "true"] if value else ["no", "false"]
    if isinstance(value, int | float) and value == value:
        return [text_of_number(value)]
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        items: list[object] = []
        for item in value:
            inner = None if isinstance(item, list) or not depth else answers_of(item, depth - 1)
            items += [item] if inner is None else inner
        return items
    if not isinstance(value, Mapping):
        return None
    inner = {str(name).lower(): item.tolist() if hasattr(item, "tolist") else item for name, item in value.items()}
    if "spans" in inner:
        return _drop_answer(inner)
    known = [
        inner[name] for name in ("text", "input_text", "value", "answer", "aliases") if inner.get(name) is not None
    ]
    if not known or not depth:
        return None
    answers: list[object] = []
    for item in known:
        inner_answers = [] if item == [] else answers_of(item, depth - 1) or [item]
        answers += [answer for answer in inner_answers if answer not in answers]
    return answers


def _drop_answer(value: Mapping) -> list[object]:
    """Return the answer of an object of DROP: a number, a date or spans."""
    date, number = value.get("date") or {}, value.get("number", "")
    texts = [
        number if isinstance(number, str) else text_of_number(number),
        " ".join(str(date[name]) for name in ("day", "month", "year") if date.get(name)),
        ", ".join(map(str, value["spans"] or ())),
    ]
    return [text for text in texts if text][:1]


def chance_of(value: object) -> float | None:
    """Return a probability above 0, at most 1; None for anything else.

    >>> chance_of("0.25"), chance_of(None), chance_of(3)
    (0.25, None, None)
    """
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if 0 < number <= 1 else None


def value_at(value: object, path: str) -> object:
    """Return what a path says of a value: keys, numbers of items from 0, and `[*]` for all items of a list.

    Args:
        value: an object or a list.
        path: such as "answers.text", "choices.0.text", "choices[0].text" or "answers[*].text".

    Returns:
        The value, `MISSING` if there is none; with `[*]` the list of those that there are.

    >>> value_at({"answers": [{"text": "a"}, {"text": "b"}]}, "answers[*].text")
    ['a', 'b']
    """
    steps = [star or key for star, key in _STEP.findall(path)]
    return _follow(value, steps)


def _follow(value: object, steps: list[str]) -> object:
    for place, name in enumerate(steps):
        if name == "*":
            if not isinstance(value, list):
                return MISSING
            found = [inner for item in value if (inner := _follow(item, steps[place + 1 :])) is not MISSING]
            nested = "*" in steps[place + 1 :]
            return [one for inner in found for one in inner] if nested else found
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value


def is_path(name: str) -> bool:
    """Return whether the name of a column may be a path."""
    return "." in name or "[" in name


def printed_list(text: object) -> list[str] | None:
    r"""Return the strings of a text that is a printed list, else None.

    Known are JSON, and how Python and numpy print a list or a tuple of strings, as pandas writes them into CSV and
    lm-evaluation-harness into its samples.

    >>> printed_list("['30 days', \"thirty days\"]"), printed_list("['30 days' 'thirty days']")
    (['30 days', 'thirty days'], ['30 days', 'thirty days'])
    >>> printed_list("[30 days]"), printed_list("['a'] and ['b']"), printed_list("[]")
    (None, None, [])
    """
    if not isinstance(text, str) or text.lstrip()[:1] not in ("[", "("):
        return None
    text = text.strip()
    if (text[:1], text[-1:]) not in (("[", "]"), ("(", ")")):
        return None
    try:
        found = json.loads(text)
        return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else None
    except (ValueError, RecursionError):
        if len(text) > MAX_PRINTED:
            return None
    found, place, end = [], 1, len(text) - 1
    while place < end:
        string = _STRING.match(text, place, end)
        separator = _SEPARATOR.match(text, string.end(), end) if string else None
        if not string or not separator or (text[0] == "(" and "," not in separator[0] and separator.end() < end):
            return None
        try:
            found.append(literal_eval(string[0].strip()))
        except (ValueError, SyntaxError):
            return None
        place = separator.end()
    return found if found and (text[0] == "[" or len(found) > 1 or text[-2] == ",") else None
