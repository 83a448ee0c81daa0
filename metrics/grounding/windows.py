"""Windows of passages that a judge reads, and which of them are nearest to a sentence."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..core.judge_reading import keys
from ..core.passages import COMMON, overlapping_runs
from .sentences import sentence_spans

WINDOW = 120  # words of a window at most
_WORD = re.compile(r"\S{1,100}")  # a longer run of characters counts as several words
_NUMBERED = re.compile(r"\s*\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a passage.

    Attributes:
        passage: index of the passage in its row.
        start, end: its place in the passage, in characters.
        text: its text.
        keys: the words that show its topic, by `judge_reading.keys`.
    """

    passage: int
    start: int
    end: int
    text: str
    keys: frozenset[str]


def content_keys(text: str) -> frozenset[str]:
    """Return the keys of the words of a text that show its topic.

    >>> sorted(content_keys("The two cities were in France"))
    ['2', 'citi', 'franc']
    """
    return frozenset(keys(text)) - COMMON


def pieces(passage: str, most: int) -> list[tuple[int, int, int]]:
    """Return the sentences of a passage, as (start, end, words); one that is too long is cut.

    >>> pieces("One two three. Four.", most=2)
    [(0, 7, 2), (8, 14, 1), (15, 20, 1)]
    """
    found = []
    for start, end in sentence_spans(passage):
        words = [word.span() for word in _WORD.finditer(passage, start, end)]
        for first in range(0, len(words), most):
            part = words[first : first + most]
            found.append((part[0][0], part[-1][1], len(part)))
    return found


def windows_of(passage: str, number: int = 0, most: int = WINDOW) -> list[Window]:
    """Return the windows of a passage: runs of its sentences that overlap by half.

    Args:
        passage: the passage.
        number: its index in the row.
        most: words of a window at most.

    >>> [window.text for window in windows_of("One two. Three four. Five six.", most=4)]
    ['One two. Three four.', 'Three four. Five six.']
    """
    parts = pieces(passage, most)
    found = []
    for first, end in overlapping_runs([words for *_, words in parts], most):
        begin, stop = parts[first][0], parts[end - 1][1]
        found.append(Window(number, begin, stop, passage[begin:stop], content_keys(passage[begin:stop])))
    return found


def nearest_windows(wanted: Collection[str], windows: Sequence[Window], count: int) -> list[Window]:
    """Return the windows that share most words with a sentence; rare words weigh more.

    Args:
        wanted: keys of the words of the sentence.
        windows: windows of a row.
        count: number of windows at most.

    Returns:
        The windows, nearest first; of equal ones the first.
    """
    if len(windows) <= count:
        return list(windows)
    frequency = Counter(key for window in windows for key in window.keys & set(wanted))
    weight = {key: math.log(1 + len(windows) / n) for key, n in frequency.items()}
    shared = [sum(sorted(weight[key] for key in window.keys & weight.keys())) for window in windows]
    return [windows[i] for i in sorted(range(len(windows)), key=lambda i: (-shared[i], i))[:count]]


def evidence_span(wanted: Collection[str], window: Window, passage: str) -> tuple[int, int]:
    """Return the place in a passage of the sentence of a window that shares most words with a claim."""
    spans = [(window.start + start, window.start + end) for start, end in sentence_spans(window.text)]
    return max(spans, key=lambda span: len(content_keys(passage[slice(*span)]) & set(wanted)))


def passage_numbers(passages: Sequence[str]) -> dict[int, int]:
    """Return {number: index} of passages: the numbers that they begin with, if all have one, else 1, 2, 3, ...

    Empty passages need none, and count.

    >>> passage_numbers(["[4] The tower", "[7] A bridge"]), passage_numbers(["The tower", "A bridge"])
    ({4: 0, 7: 1}, {1: 0, 2: 1})
    """
    found = {i: _NUMBERED.match(text) for i, text in enumerate(passages) if text.strip()}
    numbers = {int(match[1]): i for i, match in found.items() if match}
    if numbers and len(numbers) == len(found):
        return numbers
    return {index + 1: index for index in range(len(passages))}
