"""Values inside rows: paths into objects and lists, and texts that hold a list."""

import json
import re
from ast import literal_eval
from collections.abc import Mapping

MISSING = object()
MAX_PRINTED = 2**16  # characters of a text that may hold a list
_STEP = re.compile(r"\[(\*|\d+)\]|([^.\[\]]+)")
_SEPARATOR = re.compile(r"\s*,\s*|\s+|\Z")
_STRING = re.compile(r"""\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)


# What people write in a column of labels in place of 1 and 0.
_VERDICTS = {
    **dict.fromkeys(("correct", "right", "true", "yes", "y", "pass", "passed"), 1.0),
    **dict.fromkeys(("incorrect", "wrong", "false", "no", "n", "fail", "failed"), 0.0),
}


def verdict_of(value: object) -> float | None:
    """Return the label that a word stands for, 1 for correct and 0 for wrong; None for what is no such word.

    >>> verdict_of("Correct"), verdict_of("FALSE"), verdict_of("partly"), verdict_of(1)
    (1.0, 0.0, None, None)
    """
    return _VERDICTS.get(value.strip().lower()) if isinstance(value, str) else None


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
    if not isinstance(text, str) or len(text) > MAX_PRINTED:
        return None
    text = text.strip()
    if (text[:1], text[-1:]) not in (("[", "]"), ("(", ")")):
        return None
    try:
        found = json.loads(text)
        return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else None
    except (ValueError, RecursionError):
        pass
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
