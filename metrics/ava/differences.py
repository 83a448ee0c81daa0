"""Says in words how an answer that a judge rejects differs from the accepted one: what it lacks, adds, contradicts.

Both texts are split into parts: items of lists, clauses, sentences. What makes an answer wrong is the smallest change
with which the judge accepts it: a part of the accepted answer is added (it was missing), a part of the answer is left
out (it was added), or gives way to a part of the accepted answer (it contradicts that). Where the judge accepts no
change, dates, numbers, names and negations are compared.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.quantities import NumberInText, equal, quantities
from ..core.reading import COMMON
from ..core.replacing import FIRST_WORDS, instead
from ..core.words import WORD, keys

SURE = 0.8  # probability from which a changed answer counts as accepted, see training/ava/results/reasons.json
SURE_WITHOUT = 0.95  # the same of the answer itself, where a part of the accepted answer is left out instead
MOST_CHANGES = 3
MOST_PARTS = 12  # of a text that are changed; longer ones get reasons from their first parts
LONG = 25  # words of an answer above which one change is tried
NEAREST = 2  # parts of the accepted answer that are tried in the place of a part of the answer
ITEM = 4  # words up to which a part is an item of a list
ROUNDED = 0.05  # relative difference of two numbers that another unit explains
_MARK = re.compile(r"[ \t]*(?:[-*•–+]|\(?\d{1,2}[.)]|#{1,6})[ \t]+")  # of an item of a list, or of a heading
_BORDER = re.compile(
    r"(?<=[.!?])\s++|(?<!\s)\s*\n\s*|;\s++|:\s++|(?<!\s)\s++[–—-]\s++"
    r"|,\s+(?:(?:and|or|but|nor|then|so|because|since|while|where|which|who|if|as well as)\s++(?:also\s++|then\s++)?)?"
    r"|(?<!\s)\s++(?:and|but|because|so that|as well as|plus)\s++(?:also\s++|then\s++)?"
)
_BETWEEN = re.compile(r"(?i)\bbetween\b[^,;]*\Z")
_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w'’-]*"
_NAME = re.compile(rf"{_CAPITAL}(?: {_CAPITAL})*")
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? )?{_MONTH}\b(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}}\b)?"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"
)
_NEGATION = re.compile(r"(?i)\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b")
_EDGE = ' \t\n.,;:!?*_`"“”'

Probabilities = Callable[[Sequence[str], Sequence[Sequence[str]], Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class Difference:
    """One difference between an answer and the accepted answer."""

    kind: str  # "missing", "adds" or "contradicts"
    text: str  # of the accepted answer where it is missing, else of the answer
    accepted: str = ""  # what a contradicting text stands in the place of
    start: int = 0  # of a text of the answer, in characters

    def __str__(self) -> str:
        """Return the difference in words.

        >>> str(Difference("contradicts", "15 May", "15 February"))
        '"15 May" is not "15 February"'
        """
        return f'"{self.text}" is not "{self.accepted}"' if self.accepted else f'{self.kind}: "{self.text}"'

    @property
    def brief(self) -> str:
        """The difference where the accepted answer stands beside it: 'missing "Polish"'."""
        return f'{self.kind} "{self.text}"'


@dataclass(frozen=True)
class Change:
    """A change of an answer: a part is left out, a part of the accepted answer is added, or both in one place."""

    removed: tuple[int, int] | None  # characters of the answer
    inserted: str = ""
    exclusive: bool = False  # the answer stays, and the accepted answer loses the part


@dataclass
class Repair:
    """The changes with which a judge accepts an answer, as far as they are known."""

    question: str
    references: Sequence[str]
    answer: str
    reference: str = ""  # the accepted answer that shares most words with the answer
    changes: tuple[Change, ...] = ()  # the best so far
    probability: float = 0.0  # with these changes
    accepted: bool = False
    spans: Sequence[tuple[int, int]] = ()  # parts of the answer that the reference lacks
    reference_parts: Sequence[str] = ()
    lacking: Sequence[str] = ()  # those that the answer lacks

    def __post_init__(self):
        asked = _content(self.question)
        self.reference = nearest_reference(self.references, self.answer)
        self.reference_parts = [self.reference[start:end] for start, end in spans_of_parts(self.reference)]
        texts = [text for text in self.reference_parts if _content(text) - asked]
        self.lacking = [text for text in texts if not _stands_in(text, self.answer)]
        self.spans = [
            (start, end)
            for start, end in spans_of_parts(self.answer)
            if not any(_stands_in(self.answer[start:end], reference) for reference in self.references)
        ]

    def is_open(self, number: int) -> bool:
        """Return whether one more change is tried; long answers, which cost more, are changed once."""
        return not self.accepted and (number == 0 or (bool(self.changes) and len(self.answer.split()) <= LONG))

    def trials(self, kind: str) -> list[Change]:
        """Return changes to try: "simple" adds or leaves out a part, "replacing" does both in one place.

        An "exclusive" answer ("Only Ann.") is accepted where the accepted answer lacks a part.
        """
        left = [text for text in self.lacking if all(change.inserted != text for change in self.changes)]
        spans = [span for span in self.spans if all(change.removed != span for change in self.changes)]
        if kind == "simple":
            return [*(Change(None, text) for text in left), *map(Change, spans)]
        if kind == "exclusive":
            return [] if self.changes else [Change(None, text, True) for text in left if self._without(text)]
        result = []
        for index, (start, end) in enumerate(spans):
            content = _content(self.answer[start:end])

            def distance(text: str, index: int = index, content: set[str] = content) -> tuple[float, float]:
                return -_share(content, _content(text)), abs(left.index(text) - index * len(left) / len(spans))

            result += [Change((start, end), text) for text in sorted(left, key=distance)[:NEAREST]]
        return result

    def read_with(self, change: Change) -> Sequence[str]:
        """Return the accepted answers with which a changed answer is read."""
        return [self._without(change.inserted)] if change.exclusive else self.references

    def _without(self, text: str) -> str:
        """Return the accepted answer without one of its parts."""
        return ", ".join(each for each in self.reference_parts if each != text)

    def changed(self, *more: Change) -> str:
        """Return the answer with the changes so far, and more; "" where nothing is left."""
        text, spans = self.answer, spans_of_parts(self.answer)
        changes = [change for change in (*self.changes, *more) if not change.exclusive]
        for change in sorted((c for c in changes if c.removed), key=lambda change: change.removed, reverse=True):
            start, end = change.removed
            if not change.inserted:  # it goes with what links it to the part before, or the first one to the next
                before = max((last for _, last in spans if last <= start), default=None)
                behind = min((first for first, _ in spans if first >= end), default=end)
                start, end = (start, behind) if before is None else (before, end)
            text = text[:start] + change.inserted + text[end:]
        added = [change.inserted for change in changes if not change.removed]
        text = "; ".join([text.rstrip(" .\n"), *added]) + "." if added else text
        return text.strip() if any(map(str.isalnum, text)) else ""

    def differences(self) -> list[Difference]:
        """Return what the changes say of the answer.

        A part that has to go contradicts the part of the accepted answer with which it shares words; others are added.
        """
        result = []
        for change in self.changes:
            start, end = change.removed or (0, 0)
            removed, accepted = self.answer[start:end], change.inserted
            if removed and not accepted:
                accepted = self._counterpart(removed)
            elif removed and self._is_item(change):
                result.append(Difference("missing", accepted))
                accepted = ""
            if not removed:
                result.append(Difference("missing", _lacking(accepted, self.answer)))
            elif accepted:
                text, accepted = _unlike(removed, accepted)
                result.append(Difference("contradicts", text, accepted, start + removed.index(text)))
            else:
                text = _lacking(removed, self.reference)
                result.append(Difference("adds", text, start=start + removed.index(text)))
        return result

    def _counterpart(self, text: str) -> str:
        """Return the part of the accepted answer that shares most words with one of the answer; "" for none."""
        wanted = _content(text) - _content(self.question)
        best = max(self.reference_parts, key=lambda each: len(wanted & _content(each)), default="")
        return best if wanted & _content(best) else ""

    def _is_item(self, change: Change) -> bool:
        """Return whether another item of a list stands in the place of one: this one is missing, that one added."""
        removed = self.answer[slice(*change.removed)]
        longest = max(len(text.split()) for text in (removed, *self.reference_parts))
        return len(self.reference_parts) > 1 and longest <= ITEM and not _content(removed) & _content(change.inserted)


def in_words(differences: Sequence[Difference], start: str = "") -> str:
    """Return one sentence that names differences.

    >>> in_words([Difference("missing", "the lid"), Difference("adds", "the cable")])
    'Missing: "the lid"; adds: "the cable".'
    """
    text = start + "; ".join(map(str, differences))
    return f"{text[:1].upper()}{text[1:]}."


def stated_differences(question: str, references: Sequence[str], answer: str) -> list[Difference]:
    """Return how dates, numbers, names and a negation of a wrong answer differ from the accepted one, by their words.

    Empty for answers of more than `LONG` words, in which something else can be wrong.

    >>> pairs = ("On 15 May.", "on 15 February"), ("The Bo Lee.", "Ann Ray"), ("Yes.", "not in June"), ("red", "blue")
    >>> [in_words(stated_differences("When and who?", [accepted], answer)) for answer, accepted in pairs]
    ['"15 May" is not "15 February".', '"Bo Lee" is not "Ann Ray".', 'Missing: "not in June".', '.']
    """
    if len(answer.split()) > LONG:
        return []
    reference = nearest_reference(references, answer)
    stated, accepted, asked = map(_values, (answer, reference, question))
    added = [value for value in stated if not any(_same(value, other) for other in accepted + asked)]
    lacking = [value for value in accepted if not any(_same(value, other) for other in stated + asked)]
    result = []
    for value in added:
        if other := next((other for other in lacking if _comparable(value, other)), None):
            lacking.remove(other)
            result.append(Difference("contradicts", value.text, other.text, value.start))
    result = result or _other_name(question, reference, answer)
    negation = _NEGATION.search(reference)
    if not result and negation and not any(map(_NEGATION.search, (answer, question))):
        spans = [(start, end) for start, end in spans_of_parts(reference) if start <= negation.start() < end]
        start, end = (*spans, (0, len(reference)))[0]
        return [Difference("missing", reference[start:end].strip(_EDGE))]
    return (result or [Difference("missing", value.text) for value in lacking])[:MOST_CHANGES]


def nearest_reference(references: Sequence[str], answer: str) -> str:
    """Return the accepted answer that shares the largest part of its words with an answer."""
    in_answer = _content(answer)
    return max(references, key=lambda text: _share(_content(text), in_answer))


class _Value(NamedTuple):
    """A date or number of a text."""

    text: str
    start: int
    number: NumberInText | None = None  # None for a date


def _values(text: str) -> list[_Value]:
    matches = (m for m in _DATE.finditer(text) if m[0] != "May" or text[: m.start()].rstrip()[-1:].isalnum())
    dates = [_Value(match[0], match.start()) for match in matches]  # without the verb that begins a sentence
    in_dates = {position for date in dates for position in range(date.start, date.start + len(date.text))}
    numbers = [each for each in quantities(text) if each.start not in in_dates]
    # "eight in the morning" are no inches.
    texts = (text[each.start : each.end].rstrip(_EDGE).removesuffix(" in") for each in numbers)
    return dates + [_Value(shown, each.start, each) for shown, each in zip(texts, numbers, strict=True)]


def _same(first: _Value, second: _Value) -> bool:
    """Return whether two values may be the same; a date may be a part of another one."""
    if first.number and second.number:
        return not surely_differ(first.number, second.number)
    words = set(keys(first.text)), set(keys(second.text))
    return words[0] <= words[1] or words[1] <= words[0]


def surely_differ(first: NumberInText, second: NumberInText) -> bool:
    """Return whether two numbers surely differ: 2 GB may be 2,048 MB, and 100.000 may be 100,000."""
    if first.kind != second.kind or equal(first, second):
        return False
    low, high = sorted((abs(first.value), abs(second.value)))
    if first.kind is None:
        return high != 1000 * low
    units = {number.value / number.number if number.number else 0 for number in (first, second)}
    return len(units) == 1 or high - low > ROUNDED * high


def _comparable(first: _Value, second: _Value) -> bool:
    """Return whether a value can stand in the place of another: both have one kind, or are dates or years."""
    if first.number and second.number:
        return first.number.kind == second.number.kind
    return all(value.number is None or len(value.text) == 4 for value in (first, second))


def _other_name(question: str, reference: str, answer: str) -> list[Difference]:
    """Return the only name of an answer that has another one of the accepted answer in its place."""
    result, numbers = [], quantities(answer)
    for match in _NAME.finditer(answer):
        if any(number.start <= match.start() < number.end for number in numbers):  # a unit
            continue
        name = re.sub(rf"^(?:(?:{'|'.join(FIRST_WORDS)})\s+)+", "", match[0], flags=re.IGNORECASE)
        if (
            not quantities(name)
            and (other := instead(question, reference, answer, name))
            and {*keys(name)} != {*keys(other)}
        ):
            result.append(Difference("contradicts", name, other, match.end() - len(name)))
    return result if len(result) == 1 else []


def spans_of_parts(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the parts of a text: items of lists, clauses, sentences; those without a word are none.

    >>> text = "The foil, the sabre and a mask. Gloves may be lent between May and July."
    >>> [text[start:end] for start, end in spans_of_parts(text)]
    ['The foil', 'the sabre', 'a mask', 'Gloves may be lent between May and July']
    """
    result, start = [], 0
    for border in [*_BORDER.finditer(text), None]:
        end = border.start() if border else len(text)
        if border and re.match(r"\s+and\b", border[0]) and _BETWEEN.search(text[start:end]):
            continue
        mark = _MARK.match(text, start)
        start = mark.end() if mark else start
        piece = text[start:end]
        first = start + len(piece) - len(piece.lstrip(_EDGE))
        if _content(piece):
            result.append((first, first + len(piece.strip(_EDGE))))
        start = border.end() if border else end
    return result[:MOST_PARTS]


def _content(text: str) -> set[str]:
    return set(keys(text)) - COMMON


def _share(wanted: set[str], there: set[str]) -> float:
    return len(wanted & there) / max(1, len(wanted))


def _stands_in(phrase: str, text: str) -> bool:
    return f" {' '.join(keys(phrase))} " in f" {' '.join(keys(text))} "


def _unlike(removed: str, accepted: str) -> tuple[str, str]:
    """Return what differs between two texts: a number or name, or what is left without the same beginning and end.

    They come back whole where they share few words, or one has all words of the other.

    >>> _unlike("It has ten legs", "twelve"), _unlike("before eight in the morning", "before six in the morning")
    (('ten', 'twelve'), ('eight', 'six'))
    >>> _unlike("It was Ann Lee.", "Bob Ray"), _unlike("the hall was sold out", "The hall had no heating")
    (('Ann Lee', 'Bob Ray'), ('the hall was sold out', 'The hall had no heating'))
    >>> _unlike("more than ten kilos", "less than ten kilos"), _unlike("in May", "in May or June")
    (('more', 'less'), ('in May', 'in May or June'))
    """
    for difference in stated_differences("", [accepted], removed):
        if difference.accepted:
            return difference.text, difference.accepted
    first, second = removed.split(), accepted.split()
    same = [a.casefold() == b.casefold() for a, b in zip(first, second, strict=False)]
    start = same.index(False) if False in same else len(same)
    rest = list(zip(first[start:][::-1], second[start:][::-1], strict=False))
    end = next((i for i, (a, b) in enumerate(rest) if a.casefold() != b.casefold()), len(rest))
    texts = [_words(text, start, end) for text in (removed, accepted)]
    is_short = start + end >= max(len(first), len(second)) / 2
    return tuple(texts) if is_short and all(_content(text) for text in texts) else (removed, accepted)


def _words(text: str, before: int, behind: int) -> str:
    """Return a text without its first and last words, as many as the arguments say.

    >>> _words("in the  old town hall", 1, 2)
    'the  old'
    """
    words = [*re.finditer(r"\S+", text)]
    return text[words[before].start() : words[-1 - behind].end()].strip(_EDGE) if before + behind < len(words) else ""


def _lacking(phrase: str, text: str) -> str:
    """Return a part without the words at its beginning that a text has in the same order.

    >>> _lacking("On Thursdays at seven in the town hall", "On Thursdays at seven."), _lacking("the lid", "a lid")
    ('in the town hall', 'the lid')
    """
    for word in reversed([*WORD.finditer(phrase)]):
        rest = phrase[word.end() :].strip(_EDGE)
        if _content(rest) and len(keys(phrase[: word.end()])) > 1 and _stands_in(phrase[: word.end()], text):
            return re.sub(r"\A(?:and|or|but)\s+", "", rest)
    return phrase


def repairs(
    questions: Sequence[str],
    references: Sequence[Sequence[str]],
    answers: Sequence[str],
    probabilities: Probabilities,
    most: int = MOST_CHANGES,
    sure: float = SURE,
) -> list[Repair]:
    """Return the smallest changes with which a judge accepts answers that it rejects; see the head of this file.

    Args:
        questions: (n,) questions.
        references: (n,) accepted answers of each.
        answers: (n,) answers that the judge rejects.
        probabilities: returns those of (questions, references, answers) by the judge.
        most: number of changes of one answer.
        sure: probability from which a changed answer counts as accepted.
    """
    rows = [Repair(*row) for row in zip(questions, references, answers, strict=True)]
    for number in range(most):
        best = [(0.0, row.changes) for row in rows]
        for kind in ("simple", "replacing", "exclusive"):
            trials = [
                (i, change, text)
                for i, row in enumerate(rows)
                if row.is_open(number) and best[i][0] < sure
                for change in row.trials(kind)
                if (text := row.changed(change))
            ]
            results = probabilities(
                [rows[i].question for i, *_ in trials],
                [rows[i].read_with(change) for i, change, _ in trials],
                [text for *_, text in trials],
            )
            for (i, change, _), probability in zip(trials, results, strict=True):
                if probability > max(SURE_WITHOUT if change.exclusive else 0.0, best[i][0]):
                    best[i] = float(probability), (*rows[i].changes, change)
        for row, (probability, changes) in zip(rows, best, strict=True):
            if row.is_open(number):
                row.probability, row.changes, row.accepted = probability, changes, probability >= sure
    return rows
