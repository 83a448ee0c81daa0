"""Shows an answer beside the text that it is compared with; of long ones the part that tells most."""

import re
from collections.abc import Sequence
from itertools import accumulate, takewhile
from textwrap import wrap

from ..core.reading import COMMON, one_line
from .table import visible

LABELS = 10  # columns of the names of lines
LEAST_ROOM = 20  # characters of a text, however narrow the terminal is
MOST_LINES = 3  # of an answer
LONGEST_WORD = 12  # characters, so that a text of three lines less a word seldom needs a fourth
_WORD = re.compile(r"\w+")


def excerpt(answer: str, beside: Sequence[str], room: int, name: str = "accepted") -> str:
    """Return an answer beside the first of the texts that it is compared with, in one line of so many characters."""
    if not beside:
        return quoted(answer, room)
    texts = one_line(answer), one_line(beside[0])
    if sum(map(len, texts)) + len(f"; {name} ") + 4 > room:
        texts = _from_difference(*texts)
    shown = f"; {name} {quoted(texts[1], max(room * 2 // 5, 12), texts[0])}"
    return quoted(texts[0], room - len(shown), texts[1]) + shown


def excerpt_lines(answer: str, beside: Sequence[str], width: int, name: str = "accepted") -> list[str]:
    """Return lines of so many characters: three at most of an answer, one of the first text that it is compared with.

    >>> excerpt_lines("An insect has eight legs.", ["An insect has six legs."], 60)
    ['answer    "An insect has eight legs."', 'accepted  "An insect has six legs."']
    >>> [line[:6] for line in excerpt_lines("Eight long legs and two wings.", ["Six"], 4)]  # of a narrow terminal
    ['answer', '      ', 'accept']
    """
    labels = max(LABELS, len(name) + 2)
    room, other = max(width - labels, LEAST_ROOM), beside[0] if beside else ""
    said = wrap(quoted(answer, 10**6), room)
    if len(said) > MOST_LINES:
        cut = quoted(answer, MOST_LINES * room - LONGEST_WORD, other)
        said = wrap(cut, room, max_lines=MOST_LINES, placeholder='..."')
    lines = list(zip(("answer", "", ""), said, strict=False))
    lines += [(name, quoted(other, room, answer))] * bool(beside)
    return [f"{label:<{labels}}{text}" for label, text in lines]


def quoted(text: str, room: int, other: str = "") -> str:
    """Return a text in quotes in so many characters, see `nearest_part`.

    >>> quoted("one  two three", 12), quoted(" ", 12)
    ('"one two..."', '(empty)')
    """
    shown = nearest_part(text, room - len('""'), other)
    return f'"{shown}"' if shown else "(empty)"


def nearest_part(text: str, room: int, other: str = "") -> str:
    """Return a text on one line, without marks; of a longer one so many characters of the part nearest to `other`.

    >>> nearest_part("Yes, of course. It has 3 ports.", 20, "four ports"), nearest_part("one two three", 10)
    ('...It has 3 ports.', 'one two...')
    """
    text = visible(one_line(text))
    if len(text) <= room:
        return text
    start = _nearest(text, room - len("......"), other)
    shown = "..." * bool(start) + text[start:]
    return shown if len(shown) <= room else f"{shown[: max(room - len('...'), 1)].rstrip()}..."


def _nearest(text: str, room: int, other: str) -> int:
    """Return where the first part begins that shares most words with another text; any number counts as two words."""
    telling = set(_WORD.findall(other.casefold())) - COMMON
    words = list(_WORD.finditer(text))
    sums = [0, *accumulate(2 if word[0].isnumeric() else word[0].casefold() in telling for word in words)]
    best, start, last = 0, 0, 0
    for first, word in enumerate(words if telling else []):
        while last < len(words) and words[last].end() <= word.start() + room:
            last += 1
        if sums[max(last, first)] - sums[first] > best:
            best, start = sums[last] - sums[first], word.start() if first else 0
    return start


def _from_difference(first: str, second: str) -> tuple[str, str]:
    """Return two texts from the word on before they differ.

    >>> _from_difference("An insect has eight legs.", "An insect has six legs.")
    ('...has eight legs.', '...has six legs.')
    """
    words = first.split(), second.split()
    same = sum(1 for _ in takewhile(lambda pair: pair[0].casefold() == pair[1].casefold(), zip(*words, strict=False)))
    if same < 2 or same == min(map(len, words)):
        return first, second
    return tuple("..." + " ".join(of_text[same - 1 :]) for of_text in words)
