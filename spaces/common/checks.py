"""Checks of what visitors type and programs send: limits, and messages that name the field and the fix."""

import re

from genqa_metrics.verbs.label import guard

MAX_TEXT = 2_000  # characters of a typed question, answer or reference
MAX_REFERENCES = 10
MAX_MESSAGE = 1_000  # characters; column names alone can fill a file
MAX_FILE = guard.MAX_UPLOAD


class Problem(ValueError):
    """Input that cannot be used; the message says why and what to do."""


def text(name: str, entry: object, limit: int = MAX_TEXT, required: bool = True) -> str:
    """Return a text without surrounding white space; a `Problem` names the field.

    >>> text("Question", " Who? ")
    'Who?'
    """
    typed = "" if entry is None else entry
    if not isinstance(typed, str):
        raise Problem(f"{name}: expected a text.")
    if len(typed) > limit:
        raise Problem(f"{name}: {len(typed):,} characters are too many for this page; the limit is {limit:,}.")
    if any("\ud800" <= character <= "\udfff" for character in typed):
        raise Problem(f"{name}: this is not valid Unicode text; type it again.")
    typed = typed.strip()
    if required and not typed:
        raise Problem(f"{name}: this field is empty; fill it in.")
    return typed


def texts(
    name: str, entry: object, most: int = MAX_REFERENCES, limit: int = MAX_TEXT, separator: str = r"\n"
) -> list[str]:
    r"""Return the texts of a list, or of a text in which a pattern separates them: `most`, each of `limit` characters.

    >>> texts("References", "four\n\n 4 "), texts("references", ["four", "4"])
    (['four', '4'], ['four', '4'])
    """
    items = entry
    if isinstance(entry, str):
        typed = text(name, entry, most * (limit + 1))
        items = [item for item in re.split(separator, typed) if item.strip()]
    if not isinstance(items, list | tuple):
        got = "null" if entry is None else type(entry).__name__
        raise Problem(f'{name}: expected a text or a list of texts such as ["four", "4"], got {got}.')
    if not items:
        raise Problem(f"{name}: this field is empty; give at least one text.")
    if len(items) > most:
        raise Problem(f"{name}: {len(items)} texts are too many for this page; the limit is {most}.")
    return [text(name if len(items) == 1 else f"{name}, text {i}", item, limit) for i, item in enumerate(items, 1)]
