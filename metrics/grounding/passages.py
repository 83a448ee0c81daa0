"""Chooses what is read of retrieved passages: the parts of long ones that are nearest to claims, and the evidence."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from ..core.reading import COMMON, readable
from ..core.words import keys
from .sentences import sentence_spans

PART = 120  # words of a part of a passage at most
HEADING = 8  # words of a heading at most
_BOLD = re.compile(r"(?:\*\*|__)[^\n]+(?<![.!?])(?:\*\*|__):?")
_WORD = re.compile(r"\S{1,15}")  # a longer run of characters counts as several words
_COMMON_KEYS = frozenset(key for word in COMMON for key in keys(word))  # "is" has the key "i"
_NUMBERED = re.compile(r"\s*\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Part:
    """Successive sentences of a passage."""

    start: int  # in characters of the passage, as the end
    end: int
    words: int
    keys: frozenset[str]  # see `content_keys`


@dataclass(frozen=True)
class Passage:
    """A passage; what is computed of its text is kept, because rows share passages."""

    text: str

    @cached_property
    def parts(self) -> list[Part]:
        """Its parts, see `parts_of`; of a long passage only the nearest ones are read."""
        return parts_of(self.text)

    @cached_property
    def sentences(self) -> list[tuple[tuple[int, int], frozenset[str]]]:
        """The (start, end) and the content keys of its sentences, headings left out, for finding evidence."""
        return [(span, content_keys(self.text[slice(*span)])) for span in stating_spans(self.text)]

    @cached_property
    def statements(self) -> frozenset[str]:
        """Its sentences by `plain`."""
        return frozenset(plain(self.text[slice(*span)]) for span in sentence_spans(self.text))


def plain(text: str) -> str:
    """Return a text for comparing it letter by letter: without differences of case, blanks and the last point."""
    return " ".join(readable(text).casefold().split()).strip(' ."')


def content_keys(text: str) -> frozenset[str]:
    """Return the keys of the words of a text that show its topic.

    >>> sorted(content_keys("The two cities were in France"))
    ['2', 'citi', 'franc']
    """
    return frozenset(keys(readable(text))) - _COMMON_KEYS


def parts_of(text: str, most: int = PART) -> list[Part]:
    """Return the parts of a passage: runs of its sentences of at most `most` words; a longer sentence is cut.

    >>> text = "One two. Three four. Five six seven."
    >>> [text[part.start : part.end] for part in parts_of(text, most=4)]
    ['One two. Three four.', 'Five six seven.']
    """
    spans: list[tuple[int, int, int]] = []
    for start, end in sentence_spans(text):
        words = [word.span() for word in _WORD.finditer(text, start, end)]
        for first in range(0, len(words), most):
            run = words[first : first + most]
            if spans and spans[-1][2] + len(run) <= most:
                spans[-1] = spans[-1][0], run[-1][1], spans[-1][2] + len(run)
            else:
                spans.append((run[0][0], run[-1][1], len(run)))
    return [Part(start, end, words, content_keys(text[start:end])) for start, end, words in spans]


def texts_to_read(passages: Iterable[Passage], claims: Sequence[Collection[str]], most: int) -> list[str]:
    """Return the texts of passages that are read for claims: whole passages, or their parts nearest to each claim.

    A part is near a claim by the share of its words, rare words more. The order of the passages changes nothing.

    Args:
        passages: those that may support the claims.
        claims: the `content_keys` of each claim.
        most: words that are read at most.
    """
    distinct = sorted({passage.text: passage for passage in passages}.items())
    if sum(len(_WORD.findall(text)) for text, _ in distinct) <= most:
        return [readable(text) for text, _ in distinct if text.strip()]
    every = [(text, run) for text, passage in distinct for run in passage.parts]
    frequency = Counter(key for _, run in every for key in run.keys)

    def ranked(claim: Collection[str]) -> list[int]:
        weights = {key: math.log(1 + len(every) / frequency[key]) for key in sorted(claim) if key in frequency}
        shares = [sum(weight for key, weight in weights.items() if key in run.keys) for _, run in every]
        return sorted(range(len(every)), key=lambda number: -shares[number])

    chosen, left = set(), most
    for number in dict.fromkeys(chain.from_iterable(zip(*map(ranked, claims), strict=True))):  # in turn for each claim
        left -= every[number][1].words
        if left < 0:
            break
        chosen.add(number)
    texts: dict[str, list[str]] = {}
    for number in sorted(chosen):
        text, run = every[number]
        texts.setdefault(text, []).append(readable(text[run.start : run.end]))
    return [" ".join(read) for read in texts.values()]


def is_heading(text: str, following: str) -> bool:
    """Return whether a line of a passage is a heading, which is no evidence.

    >>> is_heading("## Benefits", ""), is_heading("Benefits", "Staff have 28 days of leave."), is_heading("Paris", "")
    (True, True, False)
    """
    if text.startswith("#") or _BOLD.fullmatch(text):
        return True
    words, after = len(text.split()), following.split("\n", 1)[0]
    if words > HEADING or text[-1:] in ".!?|" or text[:1] in "-*•|" or any(map(str.isdigit, text)):
        return False
    return bool(after) and after[-1] in ".!?" and len(after.split()) > words


def stating_spans(text: str) -> list[tuple[int, int]]:
    r"""Return (start, end) of the sentences of a passage, without its headings if it has more.

    >>> text = "## Leave\n\nBenefits\nStaff have 28 days of leave."
    >>> [text[start:end] for start, end in stating_spans(text)]
    ['Staff have 28 days of leave.']
    """
    spans = sentence_spans(text)
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    gaps = ["\n", *(text[end:start] for end, start in zip(ends, starts[1:], strict=False)), "\n"]
    sentences = [*(text[start:end] for start, end in spans), ""]
    stating = [
        span
        for number, span in enumerate(spans)
        if not ("\n" in gaps[number] and "\n" in gaps[number + 1] and is_heading(*sentences[number : number + 2]))
    ]
    return stating or spans


def nearest_sentences(claim: str, passages: Mapping[int, Passage]) -> list[tuple[int, tuple[int, int]]]:
    """Return (index of the passage, (start, end)) of the sentences that share most words with a claim.

    Sentences with equally many words are ordered by how many words their whole passage shares. Empty if no sentence
    shares a word.

    >>> nearest_sentences("The tower opened in 1887.", {4: Passage("The tower is high. It was opened in 1889.")})
    [(4, (0, 18)), (4, (19, 41))]
    >>> nearest_sentences("It is in Paris.", {4: Passage("The tower is high.")})
    []
    """
    wanted = content_keys(claim)
    shared = [
        (len(wanted & sentence_keys), index, span)
        for index, passage in passages.items()
        for span, sentence_keys in passage.sentences
    ]
    most = max((count for count, *_ in shared), default=0)
    nearest = [(index, span) for count, index, span in shared if count == most > 0]
    whole = {
        index: frozenset().union(*(sentence_keys for _, sentence_keys in passages[index].sentences))
        for index, _ in nearest
    }
    return sorted(nearest, key=lambda sentence: -len(wanted & whole[sentence[0]]))


def passage_numbers(passages: Sequence[str]) -> dict[int, int]:
    """Return {number: index} of passages: numbers that all (but empty ones) begin with, else 1, 2, 3, ...

    >>> passage_numbers(["[4] The tower", "[7] A bridge"]), passage_numbers(["The tower", "A bridge"])
    ({4: 0, 7: 1}, {1: 0, 2: 1})
    """
    matches = {i: _NUMBERED.match(text) for i, text in enumerate(passages) if text.strip()}
    numbers = {int(match[1]): i for i, match in matches.items() if match}
    if numbers and len(numbers) == len(matches):
        return numbers
    return {index + 1: index for index in range(len(passages))}
