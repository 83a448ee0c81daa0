"""Says how an answer that a judge rejects differs from the nearest accepted answer, where the two texts show it.

A difference is a fact of the texts: another number, date or name, Yes for No, a negation, one place in otherwise equal
texts, or a part that one text has and the other, which says nothing else, does not have. Other words are no
difference, since they can say the same. A judge also finds the part of an answer that it does not accept, and the
parts of the accepted answer that the answer does not state.

Faults are kinds of differences, which are counted. They were tested on wrong answers whose authors noted the error
that they made: a rule stays if at least 70% of the faults that it names are these errors. That an answer adds
something was not tested so: it is a fact of the texts, and need not be the error.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from math import inf
from typing import NamedTuple

import numpy as np

from ..core.answers import attempted
from ..core.reading import COMMON
from ..core.replacing import FIRST_WORDS
from ..core.words import WORD, NumberInText, absent_words, content, equal, keys, nearest_reference, quantities
from .judging import Rules

SURE = 0.8  # probability from which an answer with another part counts as accepted
NOT_STATED = 0.2  # probability below which an answer does not state a part of the accepted answer
MOST = 3  # differences that are named
MOST_PARTS = 12  # of a text
LONG = 25  # words of an answer up to which its values, names and additions are named
LONGEST = 100  # words of a text in which one place is looked for
PLACE = 4  # words of a place in which two texts differ
NEAREST = 2  # parts of the accepted answer that are tried in the place of a part of the answer
ALIKE = 4  # letters with which names of one thing begin, as Germany and German
ORDERED = 3  # words in another order; two are two spellings, or one thing that is said the other way round
ROUNDED = 0.05  # relative difference of two numbers that another unit explains
ITEM = 4  # words up to which a part is an item of a list
LONG_REFERENCE = 8  # content words of a reference of which a part can be missing
FAULTS = DECLINES, VALUE, ORDER, PART, ADDS = (
    "declined",
    "wrong value",
    "wrong order",
    "part missing",
    "part added",
)
LINKING = frozenset(  # words beside COMMON that say nothing alone
    "about almost also although approximately around because but can could enough fairly fully here herself him "
    "himself however i if itself just me my nearly our please quite rather roughly since so some such them themselves "
    "then there therefore these those thus too us very we while will would".split()
)
# Words with which an answer or an accepted answer adds nothing to the other one.
_FRAME = (
    COMMON
    | LINKING
    | frozenset("all any both example get include included includes must need needs only s yes".split())
)
_MARK = re.compile(r"[ \t]*(?:[-*•–+]|\(?\d{1,2}[.)]|#{1,6})[ \t]+")  # of an item of a list, or of a heading
_BORDER = re.compile(
    r"(?<=[.!?])\s++|(?<!\s)\s*\n\s*|;\s++|:\s++|(?<!\s)\s++[–—-]\s++"
    r"|,\s+(?:(?:and|or|but|nor|then|so|because|since|while|where|which|who|if|as well as)\s++(?:also\s++|then\s++)?)?"
    r"|(?<!\s)\s++(?:and|but|because|so that|as well as|plus)\s++(?:also\s++|then\s++)?"
)
_BETWEEN = re.compile(r"(?i)\bbetween\b[^,;]*\Z")
_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w'’-]*"
_PARTICLES = "(?:al|bin|da|de|del|della|den|der|di|do|dos|du|el|ibn|la|le|van|von)"  # inside a name
_NAME = re.compile(rf"{_CAPITAL}(?: (?:{_PARTICLES} ){{0,2}}{_CAPITAL})*")
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? )?{_MONTH}\b(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}}\b)?"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"
)
NEGATION = re.compile(r"(?i)\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b")
_AND = ("and", "or", "but")
# Behind the first word of a text: "Red, green and blue" begins with no name.
_FURTHER_ITEMS = re.compile(r"(?:,\s+[a-zß-öø-ÿ]\w*)+(?:,?\s+(?:and|or)\s+[a-zß-öø-ÿ]\w*)?[.!]?\s*\Z")
_YES_OR_NO = re.compile(r"(?i)\W*(yes\b|no(?=[,;:!]|\.?\W*\Z|\.?\s+(?:he|i|it|she|that|there|they|this|we|you)\b))")
_CLAUSE = frozenset("has he her his i is it its may she their them they think was were will with you your".split())
_LIST = re.compile(r"(?i)\band\b|[;&\n]")
_NO_LIST = re.compile(
    r"(?i)\b(?:between|but|because|either|except|half|if|or|so|then|to|unless|when|where|which|while|who)\b"
)
_CONVERTED = [  # kinds of numbers of which one can be written as another
    {"seconds", "months"},
    {"celsius", "fahrenheit", "degrees"},
    {"dollars", "Canadian dollars", "Australian dollars"},
    {"percent", "percentage points"},
]
_EDGE = ' \t\n.,;:!?*_`"“”'

Probabilities = Callable[[Sequence[str], Sequence[Sequence[str]], Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class Difference:
    """One difference between an answer and the accepted answer."""

    kind: str  # "missing", "adds" or "contradicts"
    text: str  # of the accepted answer where it is missing, else of the answer
    accepted: str = ""  # what the answer has a contradicting text instead of
    start: int = 0  # of a text of the answer, in characters

    def __str__(self) -> str:
        """Return the difference in words.

        >>> str(Difference("contradicts", "15 May", "15 February"))
        '"15 May" instead of "15 February"'
        """
        return f'"{self.text}" instead of "{self.accepted}"' if self.accepted else f'{self.kind}: "{self.text}"'


def brief(differences: Sequence[Difference]) -> str:
    """Return differences in a list of answers: 'missing "Polish"'."""
    return ", ".join(str(each).replace(": ", " ", not each.accepted) for each in differences)


def stated_differences(question: str, references: Sequence[str], answer: str) -> list[Difference]:
    """Return how a wrong answer differs from the nearest accepted answer, as far as the two texts show it.

    >>> pairs = ("On 15 May.", "on 15 February"), ("The Bo Lee.", "Ann Ray"), ("Bo.", "Bo, not Al"), ("red", "blue")
    >>> for answer, accepted in pairs:
    ...     print(*stated_differences("When and who?", [accepted], answer))
    "15 May" instead of "15 February"
    "Bo Lee" instead of "Ann Ray"
    missing: "not Al"
    <BLANKLINE>
    """
    reference = nearest_reference(references, answer)
    ways = [_other_place, _negation, _parts]
    if len(answer.split()) <= LONG:  # in longer ones something else can be wrong
        ways = [_yes_or_no, _values_that_differ, _other_name, *ways]
    return next(filter(None, (way(question, reference, answer) for way in ways)), [])[:MOST]


def _yes_or_no(question: str, reference: str, answer: str) -> list[Difference]:
    """Return "Yes" for "No", or the reverse, at the beginning of two texts."""
    first, second = map(_YES_OR_NO.match, (answer, reference))
    if not first or not second or first[1].lower() == second[1].lower():
        return []
    return [Difference("contradicts", first[1], second[1], first.start(1))]


def _values_that_differ(question: str, reference: str, answer: str) -> list[Difference]:
    """Return the dates and numbers of an answer that contradict those of the accepted answer."""
    texts = answer, reference, question
    stated, accepted, asked = map(_values, texts, list(map(quantities, texts)))
    added = [figure for figure in stated if not any(_may_be_same(figure, other) for other in accepted + asked)]
    lacking = [figure for figure in accepted if not any(_may_be_same(figure, other) for other in stated + asked)]
    result = []
    for figure in added:
        if other := next((other for other in lacking if _comparable(figure, other)), None):
            lacking.remove(other)
            result.append(Difference("contradicts", figure.text, other.text, figure.start))
    return result


class _Value(NamedTuple):
    """A date or number of a text."""

    text: str
    start: int
    number: NumberInText | None = None  # None for a date


def _values(text: str, numbers: Sequence[NumberInText]) -> list[_Value]:
    """Return the dates of a text, and its numbers outside dates."""
    matches = (m for m in _DATE.finditer(text) if m[0] != "May" or text[: m.start()].rstrip()[-1:].isalnum())
    dates = [_Value(match[0], match.start()) for match in matches]  # without the verb that begins a sentence
    in_dates = {position for date in dates for position in range(date.start, date.start + len(date.text))}
    result = []
    for number in numbers:
        shown = text[number.start : number.end].rstrip(_EDGE)
        is_speed = number.kind == "metres" and re.match(r"\s*(?:an?|per)\b", text[number.end :])
        if is_speed or shown.endswith(" in"):  # "eight in the morning" are no inches
            shown, number = shown.removesuffix(" in"), replace(number, value=number.number, kind=None)
        result += [_Value(shown, number.start, number)] * (number.start not in in_dates)
    return dates + result


def _may_be_same(first: _Value, second: _Value) -> bool:
    """Return whether two values may be the same; a date may be a part of another one.

    >>> pairs = ("3 months", "90 days"), ("3 months", "3 days"), ("5 km", "2 hours"), ("in May", "2 May"), ("5", "5 m")
    >>> [_may_be_same(*(_values(text, quantities(text))[0] for text in pair)) for pair in pairs]
    [True, False, False, True, True]
    """
    if first.number and second.number:
        kinds = {first.number.kind, second.number.kind}
        if None in kinds or len(kinds) == 1:
            return not surely_differ(first.number, second.number)
        return any(kinds <= family for family in _CONVERTED) and first.number.number != second.number.number
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
    """Return whether a value can stand in the place of another: in one unit, one number in two, or dates and years."""
    if first.number and second.number:
        return first.number.kind == second.number.kind or first.number.number == second.number.number
    return all(figure.number is None or re.fullmatch(r"\d{4}", figure.text) for figure in (first, second))


def _other_name(question: str, reference: str, answer: str) -> list[Difference]:
    """Return the only new name of an answer, where one name of the accepted answer is missing."""
    stated, accepted = _new_names(answer, reference, question), _new_names(reference, answer, question)
    if len(stated) != 1 or len(accepted) != 1:
        return []
    (name, start), (other, _) = stated[0], accepted[0]
    is_short_form = _stands_for(name, reference) or _stands_for(other, answer)
    return [] if is_short_form else [Difference("contradicts", name, other, start)]


def _new_names(text: str, *others: str) -> list[tuple[str, int]]:
    """Return the names of a text, with their starts, of which no other text has a word."""
    there = {word[:ALIKE] for other in others for word in keys(other)}
    return [(name, start) for name, start in _names(text) if not {word[:ALIKE] for word in keys(name)} & there]


def _second_candidate(question: str, references: Sequence[str], answer: str) -> str:
    """Return the first new number or name of an answer that also has an accepted one; "" without one.

    >>> _second_candidate("Its capital?", ["Ottawa"], "Ottawa, though some say Toronto.")
    'Toronto'
    >>> _second_candidate("How many?", ["31%"], "31% or 26%"), _second_candidate("Who?", ["Ann Lee"], "It was Bo Ray.")
    ('26%', '')
    """
    accepted, asked = (
        [figure for text in texts for figure in _values(text, quantities(text))] for texts in (references, [question])
    )
    if accepted:
        stated = _values(answer, quantities(answer))
        new = [figure for figure in stated if not any(_may_be_same(figure, other) for other in accepted + asked)]
        new = [figure.text for figure in new if not any(figure.text in text for text in (question, *references))]
        if new and any(_may_be_same(figure, other) for figure in stated for other in accepted):
            return new[0]
    names = {word[:ALIKE] for text in references for name, _ in _names(text) for word in keys(name)}
    if names & {word[:ALIKE] for word in keys(answer)}:
        return next((name for name, _ in _new_names(answer, question, *references)), "")
    return ""


def _stands_for(name: str, text: str) -> bool:
    """Return whether a name has the initials of words of a text that follow each other, with or without "and".

    >>> _stands_for("RGB", "Red, green and blue"), _stands_for("IE", "Internet Explorer"), _stands_for("UN", "Bonn")
    (True, True, False)
    """
    words = [word.lower() for word in WORD.findall(text)]
    initials = ("".join(word[0] for word in each) for each in (words, [word for word in words if word not in COMMON]))
    return name.isupper() and any(name.lower() in letters for letters in initials)


def _names(text: str) -> list[tuple[str, int]]:
    """Return the names of a text with their starts: words with capital letters that do not only begin a sentence.

    >>> _names("Visitors pay Ann Lee. May they? On Monday Bo Ray may."), _names("Paris."), _names("Red, blue")
    ([('Ann Lee', 13), ('Bo Ray', 42)], [('Paris', 0)], [])
    >>> _names("Nearly 500 seconds"), _names("Will")
    ([], [('Will', 0)])
    >>> _names("Leonardo da Vinci"), _names("I'm sure, it's Ludwig Mies van der Rohe."), _names("It's Raphael.")
    ([('Leonardo da Vinci', 0)], [('Ludwig Mies van der Rohe', 15)], [('Raphael', 5)])
    """
    result, numbers = [], quantities(text)
    for match in _NAME.finditer(_DATE.sub(lambda date: "," * len(date[0]), text)):
        if any(number.start <= match.start() < number.end for number in numbers):  # a unit
            continue
        name = re.sub(rf"^(?:(?:{'|'.join(FIRST_WORDS)})\b(?:['’]\w+)?\s*)+", "", match[0], flags=re.IGNORECASE)
        begins = match[0] == name and not re.search(r"[\w,]", re.split(r"[.!?:\n]\s", text[: match.start()])[-1])
        behind = text[match.end() :]
        goes_on = re.match(rf"\s+(?!(?:and|or)\s+{_CAPITAL})[^\W\d_]", behind) or _FURTHER_ITEMS.match(behind)
        goes_on = goes_on or (name.lower() in LINKING and behind.strip(_EDGE))  # "Nearly 500"
        if name and not quantities(name) and not (begins and goes_on and " " not in name):
            result.append((name, match.end() - len(name)))
    return result


def _other_place(question: str, reference: str, answer: str) -> list[Difference]:
    """Return what differs between two texts that are equal but for one place of a few words.

    >>> texts = "It weighs more than ten kilos.", "It does not weigh less than ten kilos."
    >>> [str(*_other_place("", "it weighs less than ten kilos", text)) for text in texts]
    ['"more" instead of "less"', 'adds: "does not"']
    """
    texts = reference, answer
    words = [[*WORD.finditer(text)] for text in texts]
    if max(map(len, words)) > LONGEST:
        return []
    in_keys = [[*map(" ".join, (keys(word[0]) for word in each))] for each in words]
    changes = SequenceMatcher(None, *in_keys, autojunk=False).get_opcodes()
    changed = [places for kind, *places in changes if kind != "equal"]
    if len(changed) != 1:
        return []
    spans = changed[0][:2], changed[0][2:]
    rest = [*in_keys[0][: spans[0][0]], *in_keys[0][spans[0][1] :]]
    if len(rest) < max(ORDERED, max(map(len, words)) / 2) or not {*rest} - COMMON:
        return []
    places = []
    for text, other, in_text, (first, last) in zip(texts, texts[::-1], words, spans, strict=True):
        inner = [word for word in in_text[first:last] if word[0].lower() not in _AND]
        start, end = (inner[0].start(), inner[-1].end()) if inner else (0, 0)
        is_new = any(start <= word < end for word, _ in _new_words(text, other, question))
        if len(inner) > PLACE or (inner and not is_new):
            return []
        places.append((text[start:end], start))
    (missing, _), (added, start) = places
    if not added:
        return [Difference("missing", missing)]
    return [Difference("contradicts" if missing else "adds", added, missing, start)]


def _negation(question: str, reference: str, answer: str) -> list[Difference]:
    """Return the clause with a negation that only one of the texts has, if the other text says nothing new."""
    starts = [first.end() if (first := _YES_OR_NO.match(text)) else 0 for text in (reference, answer)]
    negations = [[*NEGATION.finditer(text, start)] for text, start in zip((reference, answer), starts, strict=True)]
    if sorted(map(len, negations)) != [0, 1] or NEGATION.search(question):
        return []
    kind, text, other = ("missing", reference, answer) if negations[0] else ("adds", answer, reference)
    ((negation,),) = filter(None, negations)
    if _new_words(other, text, question) or not {*content(other)} & {*content(text)}:
        return []
    start = negation.start() - len(re.match(r"\w*", text[: negation.start()][::-1])[0])  # of the word
    end = next((end for first, end in spans_of_parts(text) if first <= start < end), len(text))
    return [Difference(kind, text[start:end].strip(_EDGE), start=start if kind == "adds" else 0)]


def _parts(question: str, reference: str, answer: str) -> list[Difference]:
    """Return the parts that an answer lacks if it adds nothing, or the parts that it adds if it lacks nothing."""
    if not {*content(reference)} & {*content(answer)}:
        return []
    new, lacking = _new_words(answer, reference, question), _new_words(reference, answer, question)
    if lacking and not new:
        spans = [span for span in spans_of_parts(reference) if any(span[0] <= start < span[1] for start, _ in lacking)]
        return [Difference("missing", _lacking(reference, answer, *span)) for span in spans]
    added = [(start, end) for start, end in spans_of_parts(answer) if _is_new(answer, start, end, new)]
    unclear = lacking or len(added) > MOST or len(answer.split()) > LONG
    return [] if unclear else [Difference("adds", answer[a:b], start=a) for a, b in added]


def _lacking(reference: str, answer: str, start: int, end: int) -> str:
    """Return the words that an answer lacks of a part of the accepted answer, from the first to the last.

    Words at its ends that say nothing alone belong to it.

    >>> texts = "Free on Monday, if you ask for it.", "Free if you pay.", "On Monday it is free."
    >>> _lacking(texts[0], texts[1], 0, 14), _lacking(texts[0], texts[2], 19, 33)
    ('on Monday', 'if you ask for it')
    """
    absent = [span for span in absent_words(reference, answer) if start <= span[0] < end]
    first, last = absent[0][0], absent[-1][1]
    if not any(word[0].lower() not in _FRAME for word in WORD.finditer(reference, last, end)):
        last = end
    for word in reversed([*WORD.finditer(reference[:first])]):
        if word[0].lower() not in _FRAME - {*_AND} or not reference[word.end() : first].isspace():
            break
        first = word.start()
    return reference[first:last]


def _new_words(text: str, other: str, question: str) -> list[tuple[int, int]]:
    """Return (start, end) of the words of a text with a meaning that neither the other text nor the question has."""
    absent = [(start, end, text[start:end].lower()) for start, end in absent_words(text, other, question)]
    return [(start, end) for start, end, word in absent if word not in _FRAME or NEGATION.fullmatch(word)]


def _is_new(text: str, start: int, end: int, new: Sequence[tuple[int, int]]) -> bool:
    """Return whether a part of a text has new words, and no others but those of `_FRAME`."""
    words = [(word.start(), word[0].lower()) for word in WORD.finditer(text, start, end)]
    telling = [position for position, word in words if word not in _FRAME]
    return bool(telling) and all(any(first <= position < last for first, last in new) for position in telling)


def pairs_that_differ(question: str, reference: str, answer: str) -> list[Difference]:
    """Return pairs of texts in which a right answer differs from the accepted one; [] unless nothing else differs.

    >>> [*map(str, pairs_that_differ("Where?", "Oslo and Porto", "Oslo and Lisbon"))]
    ['"Lisbon" instead of "Porto"']
    >>> pairs_that_differ("Who built it?", "The bridge is by Ann Lee", "Bo Ray, a smith, made that arch.")
    []
    """
    stated = [each for each in stated_differences(question, [reference], answer) if each.accepted]
    sides = [(answer, reference, [(each.start, each.text) for each in stated])]
    sides.append((reference, answer, [(reference.find(each.accepted), each.accepted) for each in stated]))
    for text, other, places in sides:
        named = [(start, start + len(shown)) for start, shown in places]
        for start, end in _new_words(text, other, question):
            if not any(first < end and start < last for first, last in named):
                return []
    return stated


def doubt(question: str, references: Sequence[str], answer: str) -> str:
    """Return what to check of an answer that was judged right, beside the accepted answers; "" if nothing.

    It is an item that it lacks of an accepted answer that is plainly a list, or adds to it; or a second number or
    name.

    >>> doubt("Which?", ["Ann, Bo and Cy"], "Ann and Bo"), doubt("Which?", ["Ann and Bo"], "Ann, Cy and Bo")
    ('check: "Cy" is not in the answer', 'check: "Cy" is not in the accepted answer')
    >>> doubt("Which?", ["Ann or Bo"], "Ann"), doubt("Who is older?", ["Ann and Bo"], "Both of them")
    ('', '')
    >>> doubt("Who?", ["Ann Lee"], "Ann Lee, or was it Bo Ray?")
    'check: "Bo Ray" is not in the accepted answer'
    """
    if (item := _other_item(question, references, answer)) is not None:
        return item
    candidate = _second_candidate(question, references, answer)
    return f'check: "{candidate}" is not in the accepted answer' if candidate else ""


def _other_item(question: str, references: Sequence[str], answer: str) -> str | None:
    """Return which item an answer lacks of an accepted answer that is plainly a list, or adds to it; "" if none.

    None without such a list.
    """
    if not any(map(_LIST.search, references)):
        return None
    reference = nearest_reference(references, answer)
    items = [reference[start:end] for start, end in spans_of_parts(reference)]
    is_list = _LIST.search(reference) and not _NO_LIST.search(reference) and len(items) > 1
    if not is_list or not all(map(_is_item, items)):
        return None
    for each in filter(lambda each: _is_item(each.text), _parts(question, reference, answer)):
        if each.kind == "missing" and not {*content(each.text)} & {*content(answer)}:
            return f'check: "{each.text}" is not in the answer'
        if each.kind == "adds" and re.search(r"(?i)(?:,|\band)\s*\Z", answer[: each.start]):
            return f'check: "{each.text}" is not in the accepted answer'
    return ""


def doubts(questions: Sequence[str], references: Sequence[Sequence[str]], answers: Sequence[str]) -> list[str]:
    """Return what to check of answers that were judged right; see `Scorer.doubts`."""
    return list(map(doubt, questions, references, answers))


def _is_item(text: str) -> bool:
    """Return whether a part of a text can be an item of a list: a few words without pronouns and the like.

    >>> [_is_item(text) for text in ("the red door", "photo of the lock", "he stopped", "as it says")]
    [True, True, False, False]
    """
    words = [word.lower() for word in WORD.findall(text)]
    return len(words) <= ITEM and not {*words[:1]} & _FRAME - {"a", "an", "the"} and not {*words} & _CLAUSE


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
        if content(piece):
            result.append((first, first + len(piece.strip(_EDGE))))
        start = border.end() if border else end
    return result[:MOST_PARTS]


def _shared(text: str, words: Sequence[str]) -> int:
    """Return how many words of a text are among some; each counts once."""
    return len({*content(text)} & {*words})


def differences(
    questions: Sequence[str],
    references: Sequence[Sequence[str]],
    answers: Sequence[str],
    probabilities: Probabilities | None = None,
    longest: float = inf,
) -> list[list[Difference]]:
    """Return how wrong answers differ from the nearest accepted ones; [] where that is unknown, or one declines.

    Args:
        questions: (n,) questions.
        references: (n,) accepted answers of each.
        answers: (n,) answers that the judge rejects.
        probabilities: returns those of (questions, references, answers) by the judge. Where the texts show nothing,
            the judge is asked; see `_by_replacing` and `_not_stated`.
        longest: words of an answer up to which the judge is asked.
    """
    tried = attempted(answers)
    texts = zip(questions, references, answers, tried, strict=True)
    result = [stated_differences(*row) if answered else [] for *row, answered in texts]
    read = [answered and len(text.split()) <= longest for answered, text in zip(tried, answers, strict=True)]
    for way in (_by_replacing, _not_stated) if probabilities else ():
        rows = [row for row, stated in enumerate(result) if read[row] and not stated]
        taken = [[column[row] for row in rows] for column in (questions, references, answers)]
        for row, stated in zip(rows, way(*taken, probabilities), strict=True):
            result[row] = stated
    return result


def _by_replacing(questions, references, answers, probabilities: Probabilities) -> list[list[Difference]]:
    """Return the part of each answer without which the judge accepts it: a part of the accepted answer replaces it."""
    result: list[list[Difference]] = [[] for _ in answers]
    trials = []
    for row, answer in enumerate(answers):
        spans, phrases = spans_of_parts(answer), _phrases(references[row], answer)
        for start, end in spans if len(spans) > 1 else ():  # of one part it would say nothing
            words, rest = content(answer[start:end]), content(answer[:start] + answer[end:])
            lacking = [phrase for phrase in phrases if _mostly_lacks(rest, phrase)]
            nearest = sorted(lacking, key=lambda phrase, words=words: -_shared(phrase, words))[:NEAREST]
            trials += [(row, start, answer[start:end], phrase) for phrase in nearest]
    rows = [row for row, *_ in trials]
    texts = [
        f"{answers[row][:start]}{phrase}{answers[row][start + len(text) :]}" for row, start, text, phrase in trials
    ]
    best = [SURE] * len(answers)
    scores = probabilities([questions[row] for row in rows], [references[row] for row in rows], texts) if rows else ()
    for (row, start, text, phrase), score in zip(trials, scores, strict=True):
        if score > best[row]:
            shorter = [each for each in stated_differences(questions[row], [phrase], text) if each.accepted]
            first = shorter[0] if shorter else Difference("contradicts", text, phrase)
            best[row], result[row] = float(score), [replace(first, start=start + first.start)]
    return result


def _not_stated(questions, references, answers, probabilities: Probabilities) -> list[list[Difference]]:
    """Return the parts of the accepted answer that each answer does not state: alone accepted, they reject it too."""
    result: list[list[Difference]] = [[] for _ in answers]
    trials = []
    for row, answer in enumerate(answers):
        phrases, words = _phrases(references[row], answer), content(answer)
        if len(phrases) > 1:  # that a single part is not stated is the verdict itself
            trials += [(row, phrase) for phrase in phrases if _mostly_lacks(words, phrase)]
    columns = [(questions[row], [phrase], answers[row]) for row, phrase in trials]
    scores = probabilities(*map(list, zip(*columns, strict=True))) if columns else ()
    for (row, phrase), score in zip(trials, scores, strict=True):
        if score < NOT_STATED and len(result[row]) < MOST:
            result[row].append(Difference("missing", phrase))
    return result


def _phrases(references: Sequence[str], answer: str) -> list[str]:
    """Return the parts of the accepted answer that is nearest to an answer."""
    reference = nearest_reference(references, answer)
    return [reference[start:end] for start, end in spans_of_parts(reference)]


def _mostly_lacks(words: Sequence[str], phrase: str) -> bool:
    """Return whether less than half of the content words of a phrase are among some words."""
    return 2 * _shared(phrase, words) < len({*content(phrase)})


def faults_of(questions: Sequence[str], references: Sequence[Sequence[str]], answers: Sequence[str]) -> list[str]:
    """Return what is wrong with answers that were judged wrong, each one of `FAULTS`; "" where words do not show it.

    >>> faults_of(["How many legs?", "Who?"], [["six legs"], ["a painter"]], ["It has eight legs.", "I don't know."])
    ['wrong value', 'declined']
    >>> faults_of(["What does it cost?"], [["40 euros"]], ["It costs 40 euros, and you pay by card."])
    ['part added']
    """
    rows = Rules().rows(questions, references, answers)
    texts = zip(attempted(answers), questions, references, rows, strict=True)
    return [_fault(question, accepted, row.answer) if tried else DECLINES for tried, question, accepted, row in texts]


def _fault(question: str, references: Sequence[str], answer: str) -> str:
    """Return the fault of an answer that was judged wrong, as a judge reads it; "" where its words do not show it."""
    if stated := stated_differences(question, references, answer):
        return VALUE if stated[0].accepted else PART if stated[0].kind == "missing" else ADDS
    answer_words, asked = content(answer), set(content(question))
    accepted = content(nearest_reference(references, answer))
    if not answer_words or len(answer_words) > LONG:
        return ""
    needed = [key for key in accepted if key not in asked]
    lacks = [key for key in needed if key not in answer_words]
    extra = [key for key in answer_words if key not in accepted and key not in asked]
    order = [accepted.index(key) for key in answer_words if key in accepted]
    if len(set(order)) >= ORDERED and order != sorted(order):
        return ORDER if not lacks and len(extra) <= 2 else ""
    lacks_some = len(needed) / 4 <= len(lacks) < len(needed)
    return PART if lacks_some and len(extra) <= 1 and len(accepted) >= LONG_REFERENCE else ""
