"""Checks of what visitors type and programs send: limits, and messages that name the field and the fix."""

from genqa_metrics.verbs.label import guard

MAX_TEXT = 2_000  # characters of a typed question, answer or reference
MAX_REFERENCES = 10
MAX_MESSAGE = 1_000  # characters; column names alone can fill a file
MAX_FILE = guard.MAX_UPLOAD


class Problem(ValueError):
    """Input that cannot be used; the message says why and what to do."""


def text(name: str, entry: object, limit: int = MAX_TEXT, required: bool = True) -> str:
    """Return a typed text without surrounding white space; a `Problem` names the field.

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


def lines(name: str, entry: object, most: int = MAX_REFERENCES, limit: int = MAX_TEXT) -> list[str]:
    r"""Return the lines of a typed text, without empty ones; at most `most` of `limit` characters.

    >>> lines("References", "four\n\n 4 ")
    ['four', '4']
    """
    typed = [line.strip() for line in text(name, entry, most * (limit + 1)).splitlines() if line.strip()]
    if len(typed) > most:
        raise Problem(f"{name}: {len(typed)} lines are too many for this page; the limit is {most}.")
    return [text(f"{name}, line {i}", line, limit) for i, line in enumerate(typed, 1)]


def texts(name: str, sent: object, most: int = MAX_REFERENCES, limit: int = MAX_TEXT) -> list[str]:
    """Return the text or texts that a program sent; at most `most` of `limit` characters.

    >>> texts("references", "Paris"), texts("references", ["four", "4"])
    (['Paris'], ['four', '4'])
    """
    items = [sent] if isinstance(sent, str) else sent
    if not isinstance(items, list | tuple):
        got = "null" if sent is None else type(sent).__name__
        raise Problem(f'{name}: expected a text or a list of texts such as ["four", "4"], got {got}.')
    if not items:
        raise Problem(f"{name}: this field is empty; give at least one text.")
    if len(items) > most:
        raise Problem(f"{name}: {len(items)} texts are too many for this page; the limit is {most}.")
    return [text(name if len(items) == 1 else f"{name}, item {i}", item, limit) for i, item in enumerate(items, 1)]
