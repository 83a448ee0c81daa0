"""Windows of passages that a judge reads, and which of them are nearest to a sentence."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..core.reading import COMMON, overlapping_runs, readable
from ..core.words import keys
from .sentences import sentence_spans

WINDOW = 120  # words of a window at most
NEAR = 0.5  # of the share of words of the nearest window, below which a window is not read
HEADING = 8  # words of a heading at most
_BOLD = re.compile(r"(?:\*\*|__)[^\n]+(?<![.!?])(?:\*\*|__):?")
_WORD = re.compile(r"\S{1,100}")  # a longer run of characters counts as several words
_COMMON_KEYS = frozenset(key for word in COMMON for key in keys(word))  # "is" has the key "i"
_NUMBERED = re.compile(r"\s*\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a passage."""

    passage: int  # index of the passage in its row
    start: int  # its place in the passage, in characters
    end: int
    text: str
    keys: frozenset[str]  # the words that show its topic, by `words.keys`

    @property
    def read(self) -> str:
        """The text as the judge reads it."""
        return readable(self.text) or self.text


def content_keys(text: str) -> frozenset[str]:
    """Return the keys of the words of a text that show its topic.

    >>> sorted(content_keys("The two cities were in France"))
    ['2', 'citi', 'franc']
    """
    return frozenset(keys(readable(text))) - COMMON


def pieces(passage: str, most: int) -> list[tuple[int, int, int]]:
    """Return the sentences of a passage, as (start, end, words); one that is too long is cut.

    >>> pieces("One two three. Four.", most=2)
    [(0, 7, 2), (8, 14, 1), (15, 20, 1)]
    """
    result = []
    for start, end in sentence_spans(passage):
        words = [word.span() for word in _WORD.finditer(passage, start, end)]
        for first in range(0, len(words), most):
            part = words[first : first + most]
            result.append((part[0][0], part[-1][1], len(part)))
    return result


def windows_of(passage: str, number: int = 0, most: int = WINDOW) -> list[Window]:
    """Return the windows of a passage: runs of its sentences, of at most `most` words, that overlap by half.

    >>> [window.text for window in windows_of("One two. Three four. Five six.", most=4)]
    ['One two. Three four.', 'Three four. Five six.']
    """
    parts = pieces(passage, most)
    result = []
    for first, end in overlapping_runs([words for *_, words in parts], most):
        begin, stop = parts[first][0], parts[end - 1][1]
        result.append(Window(number, begin, stop, passage[begin:stop], content_keys(passage[begin:stop])))
    return result


def nearest_windows(wanted: Collection[str], windows: Sequence[Window], count: int) -> list[Window]:
    """Return up to `count` windows that share most words with a sentence, nearest first; of equal texts the first.

    Words that are rare in their passage weigh more; windows that share much less than the nearest are left out. How
    near a window is depends on its passage alone. So neither the order of the passages nor an irrelevant one changes
    which windows of the others are read.
    """
    near: dict[str, tuple[float, Window]] = {}
    passages: dict[int, list[Window]] = {}
    for window in windows:
        passages.setdefault(window.passage, []).append(window)
    for own in passages.values():
        for window, share in zip(own, _shares(frozenset(wanted), own), strict=True):
            if window.text not in near or share > near[window.text][0]:
                near[window.text] = share, window
    least = NEAR * max((share for share, _ in near.values()), default=0.0)
    kept = [(-share, text) for text, (share, _) in near.items() if share >= least]
    return [near[text][1] for _, text in sorted(kept)[:count]]


def _shares(wanted: frozenset[str], windows: Sequence[Window]) -> list[float]:
    """Return (windows,) shares, by weight, of the words of a sentence that windows of one passage have."""
    frequency = Counter(key for window in windows for key in window.keys & wanted)
    weight = {key: math.log(1 + len(windows) / max(frequency[key], 0.5)) for key in sorted(wanted)}
    whole = sum(weight.values()) or 1.0
    return [sum(weight[key] for key in sorted(window.keys & wanted)) / whole for window in windows]


def is_heading(text: str, following: str) -> bool:
    """Return whether a line of a passage is a heading, which says what follows is about and is evidence of nothing.

    >>> is_heading("## Benefits", ""), is_heading("Benefits", "Staff have 28 days of leave."), is_heading("Paris", "")
    (True, True, False)
    """
    if text.startswith("#") or _BOLD.fullmatch(text):
        return True
    words, after = len(text.split()), following.split("\n", 1)[0]
    if words > HEADING or text[-1:] in ".!?|" or text[:1] in "-*•|" or any(map(str.isdigit, text)):
        return False
    return bool(after) and after[-1] in ".!?" and len(after.split()) > words


def evidence_spans(window: Window) -> list[tuple[int, int]]:
    """Return the places in its passage of the sentences of a window; its headings left out, if it has more."""
    text, spans, stated = window.text, sentence_spans(window.text), []
    for start, end in spans:
        rest, _, following = text[end:].partition("\n")
        alone = not text[:start].rpartition("\n")[2].strip() and not rest.strip()
        if not (alone and is_heading(text[start:end], following.strip())):
            stated.append((start, end))
    return [(window.start + start, window.start + end) for start, end in stated or spans]


def evidence_span(wanted: Collection[str], window: Window, passage: str) -> tuple[int, int]:
    """Return the place of the sentence of a window that shares most words with a claim, or the first with content."""

    def near(span: tuple[int, int]) -> tuple[int, bool]:
        words = content_keys(passage[slice(*span)])
        return len(words & set(wanted)), bool(words)

    return max(evidence_spans(window), key=near)


def nearest_sentences(wanted: Collection[str], windows: Sequence[Window]) -> list[tuple[Window, tuple[int, int]]]:
    """Return the sentences of windows that share most words with a claim, with their windows; none if none shares one.

    >>> windows = windows_of("The tower is high. It was opened in 1889.")
    >>> [(window.text[slice(*span)]) for window, span in nearest_sentences({"tower", "open", "1887"}, windows)]
    ['The tower is high.', 'It was opened in 1889.']
    >>> nearest_sentences(content_keys("It is in Paris."), windows)
    []
    """
    wanted = set(wanted) - _COMMON_KEYS
    near = [window for window in windows if not window.keys.isdisjoint(wanted)]
    spans = [(window, span) for window in near for span in evidence_spans(window)]
    texts = [window.text[start - window.start : end - window.start] for window, (start, end) in spans]
    shares = [len(wanted & content_keys(text)) for text in texts]
    most = max(shares, default=0)
    return [pair for pair, share in zip(spans, shares, strict=True) if share == most > 0]


def passage_numbers(passages: Sequence[str]) -> dict[int, int]:
    """Return {number: index} of passages: numbers that all (but empty ones) begin with, else 1, 2, 3, ...

    >>> passage_numbers(["[4] The tower", "[7] A bridge"]), passage_numbers(["The tower", "A bridge"])
    ({4: 0, 7: 1}, {1: 0, 2: 1})
    """
    values = {i: _NUMBERED.match(text) for i, text in enumerate(passages) if text.strip()}
    numbers = {int(match[1]): i for i, match in values.items() if match}
    if numbers and len(numbers) == len(values):
        return numbers
    return {index + 1: index for index in range(len(passages))}
