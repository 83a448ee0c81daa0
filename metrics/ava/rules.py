"""What a judge reads of a row, and what is compared exactly before the model: choices, quantities, abstentions.

A rule takes a wrapper off, or compares two values of one type. What the model reads, the model decides: nothing here
makes an answer right or wrong because of how it is phrased.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..core.answers import (
    abstention,
    declines,
    extract_answer,
    identical,
    once,
    short_forms,
    without_bag,
    without_demands,
    without_retracted,
)
from ..core.quantities import NUMBER_IN_TEXT, compare, is_number_word, readings
from ..core.reading import readable, readable_answer

READING = ("answer", "retraction", "demand", "repetition", "bag", "passage")
EXACT = ("identity", "abstention", "choice", "quantity", "list")


@dataclass(frozen=True)
class Verdict:
    """What an exact comparison says of an answer and a reference.

    Attributes:
        right: whether they are the same.
        rule: which comparison it was, of `EXACT`.
    """

    right: bool
    rule: str


@dataclass(frozen=True)
class Row:
    """A row as it is read.

    Attributes:
        question: the question.
        references: the references; of an option's letter its text.
        answer: the answer, without wrapping and without what it takes back.
        verdicts: per reference what an exact comparison says, None where the model decides.
    """

    question: str
    references: list[str]
    answer: str
    verdicts: list[Verdict | None]

    @property
    def is_reference(self) -> bool:
        """Whether the answer is a reference itself, such as "%"."""
        return any(verdict is not None and verdict.rule == "identity" for verdict in self.verdicts)


@dataclass(frozen=True)
class Rules:
    """Which rules a judge applies; none of them, as in the paper, with `Rules(())`.

    Attributes:
        names: of `READING`, what is taken off a text: "answer" (wrapping and reasoning, `answers.extract_answer`),
            "retraction" (what an answer takes back), "demand" (what it says to the grader), "repetition", "bag" (words
            of the reference in no order), "passage" (all but a passage of a long answer); of `EXACT`, what is compared
            before the model: "identity", "abstention", "choice" (options of a question), "quantity", "list".
    """

    names: tuple[str, ...] = READING + EXACT

    def __str__(self) -> str:
        """Return the rules by name, for a signature.

        >>> str(Rules()), str(Rules(()))
        ('answer+retraction+demand+repetition+bag+passage+identity+abstention+choice+quantity+list', 'none')
        """
        return "+".join(self.names) or "none"

    def read(self, question: str, references: Sequence[str], output: str) -> Row:
        """Return a row as a judge reads it, with the verdicts of exact comparisons."""
        question, texts = readable(question), [readable(text) or text for text in references]
        answer = readable(output)
        if "answer" in self.names:
            texts = [extract_answer(text) or text for text in texts]
            answer = readable_answer(extract_answer(output), texts)
        unchanged = answer
        if "retraction" in self.names:
            answer = without_retracted(answer, question)
        if "demand" in self.names:
            answer = without_demands(answer, texts)
        if "repetition" in self.names:
            answer = once(answer, texts)
        if "bag" in self.names:
            answer = without_bag(answer, texts)
        if "identity" in self.names:
            answer = unchanged if any(identical(unchanged, text, question) for text in texts) else answer
        verdicts = self._verdicts(question, texts, answer)
        given = options(question) if "choice" in self.names else {}
        if given:
            letters = [chosen(text, given) for text in texts]
            texts = [
                given[min(letter)] if letter and len(letter) == 1 else text
                for text, letter in zip(texts, letters, strict=True)
            ]
        return Row(question, texts, answer, verdicts)

    def _verdicts(self, question: str, references: Sequence[str], answer: str) -> list[Verdict | None]:
        """Return what exact comparisons say of an answer and each reference."""
        result: list[Verdict | None] = []
        several = len(set(references)) > 1
        values = _Values(question, answer)
        for reference in references:
            verdict = None
            for rule, comparison in _COMPARISONS.items():
                right = comparison(values, reference) if rule in self.names and verdict is None else None
                if right is not None and not (rule == "list" and several and not right):
                    verdict = Verdict(right, rule)
            result.append(verdict)
        return result

    def declines(self, answer: str) -> bool:
        """Return whether an answer only declines, so that no model reads it."""
        return "abstention" in self.names and declines(answer)


class _Values:
    """The values of a row, each found when it is asked for."""

    def __init__(self, question: str, answer: str):
        self.question, self.answer = question, answer
        self.options = options(question)

    def of(self, text: str) -> tuple[str, ...]:
        return short_forms(text, self.question, is_number_word)

    def choice(self, text: str) -> frozenset[str] | None:
        return next(filter(None, (chosen(form, self.options) for form in self.of(text)[:8])), None)

    def quantities(self, text: str) -> Iterator[str]:
        """Yield the forms of a text that are one quantity, the longest first."""
        if NUMBER_IN_TEXT.search(text):
            whole, *shorter = self.of(text)
            if readings(whole):
                yield whole
            kept = (form for form in shorter if form.strip(" .").lower() != "one")  # a pronoun
            yield from (form for form in kept if any(reading.kind != "named" for reading in readings(form)))

    def quantity(self, text: str) -> str | None:
        return next(self.quantities(text), None)


def said_quantity(question: str, answer: str) -> str:
    """Return the quantity of an answer in the fewest words, the answer where it is none.

    >>> said_quantity("When did it end?", "It ended in 1944."), said_quantity("Who?", "Ann")
    ('1944.', 'Ann')
    """
    *_, shortest = answer, *_Values(question, answer).quantities(answer)
    return shortest


def _same_choice(values: _Values, reference: str) -> bool | None:
    known = values.options or len(reference.strip(" .()*")) == 1 or reference[1:2] == ")"
    given = values.choice(reference) if known else None
    said = values.choice(values.answer) if given else None
    return None if not given or not said else given == said


def _same_quantity(values: _Values, reference: str) -> bool | None:
    given = values.quantity(reference)
    said = values.quantity(values.answer) if given else None
    return compare(given, said, values.question) if said else None


def _same_list(values: _Values, reference: str) -> bool | None:
    given = items(reference)
    if not given or (len(given) < 2 and len(items(values.answer) or ()) < 2):
        return None
    verdicts = [
        same_list(values.question, reference, form) for form in short_forms(values.answer, values.question)[:60]
    ]
    return True if True in verdicts else verdicts[0]


_COMPARISONS: dict[str, Callable[[_Values, str], bool | None]] = {
    "identity": lambda values, reference: identical(values.answer, reference, values.question) or None,
    "abstention": lambda values, reference: abstention(values.question, reference, values.answer),
    "choice": _same_choice,
    "quantity": _same_quantity,
    "list": _same_list,
}


_OPTION = re.compile(r"(?m)^[ \t]*\(?([A-J])[).:][ \t]+(\S.*?)[ \t]{0,9}$")
_INLINE = re.compile(r"(?<!\w)\(?([A-J])[).:][ \t]*(\S.*?)(?=[\s,;]{0,9}(?<!\w)\(?[A-J][).:][ \t]|[\n?]|\Z)")
_AROUND = " \t\n*_`$\"'“”.,:;!()[]"
_LETTER = r"\(?(?P<letter>[A-HJ])\)?"
_FORMS = [
    re.compile(pattern)
    for pattern in (
        rf"{_LETTER}\s*[.):–-]+\s*(?P<text>\S.*)",
        rf"{_LETTER}(?:,|\s+(?:because|since|as|for|is (?:the )?(?:correct|right|best|answer))\b).*",
        rf"(?P<text>\S.*?)\s*\((?:option )?{_LETTER}\)",
    )
]
_SEVERAL_LETTERS = re.compile(r"(?i)\(?[A-J]\)?(?:\s*(?:,|and|&|/|or)\s*\(?[A-J]\)?)+|[A-J]{2,4}")
_ITEM_ENDS = re.compile(r"(?i)\s{0,9}(?:[,;\n•|]|(?<!\w)(?:and|or|&)(?!\w))+\s{0,9}")
LONGEST_ITEM = 4  # words of an item
_CLAUSE = re.compile(
    r"(?:with|in|of|from|by|on|at|for|as|who|which|whose|his|her|its|their|where|when|because|i\.e|e\.g|it|he|she|they|we|you|i|there|this|that|"
    r"nobody|is|was)\b"
)
_ARTICLE = re.compile(r"\A(?:(?:the|an?|also|and)\s+)+")
MOST_ALTERNATIVES = 8  # items between commas of an answer to a question for one; an address has fewer
MOST_BULLETS = 4  # lines of such an answer
_ONE = re.compile(
    r"(?i)\b(?:who|where|when)\b|\b(?:what|which) (?:is|was) the \w+|\b(?:what|which) (?:\w+ ){1,3}"
    r"(?:is|was|did|does|do|were|has|have)\b"
)
_IN_ORDER = re.compile(
    r"(?i)\b(?:order|rank\w*|sequence|first|last|respectively|from|up|down|upwards|downwards|starting|beginning|steps?|then)\b"
)
_SEVERAL = re.compile(
    r"(?i)\b(?:all|both|list)\b|\b(?:what|which|who) (?:are|were)\b|\b(?:what|which) "
    r"(?!(?:is|was|does|has)\b)(?:\w+ )?(?!(?:is|was|does|has|his|this|its|as)\b)\w+[^siu\W]s\b"
)
_SOME = re.compile(r"(?i)\b(?:an?|one|some|any|example|e\.g\.|examples|name an?|at least|either)\b")
_LOOSE = re.compile(
    r"(?i)\b(?:sometimes|often|also|optionally|usually|mainly|mostly|not|nor|no|rather|instead|never|such as"
    r"|including|e\.g|i\.e|etc)\b"
)
_NUMBERS = {word: number for number, word in enumerate("two three four five six seven eight nine ten".split(), 2)}


def options(question: str) -> dict[str, str]:
    r"""Return the options that a question lists, by their letters.

    >>> options("Which is red?\nA. Mars\nB. Venus"), options("Which is red? (A) Mars (B) Venus"), options("Who?")
    ({'A': 'Mars', 'B': 'Venus'}, {'A': 'Mars', 'B': 'Venus'}, {})
    """
    for pattern in (_OPTION, _INLINE):
        result = {letter: text.strip() for letter, text in pattern.findall(question)}
        if len(result) > 1 and list(result) == [chr(ord("A") + i) for i in range(len(result))]:
            return result
    return {}


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(_AROUND).split())


def chosen(text: str, given: dict[str, str]) -> frozenset[str] | None:
    """Return the letters of the options that a text chooses, None if it does something else.

    Args:
        text: the text: a letter, a letter with its text or a reason, or the text of an option.
        given: the options of the question; empty if they are not known.

    >>> metals = {"A": "Iron", "B": "Mercury"}
    >>> [sorted(chosen(text, metals)) for text in ("b", "(B) Mercury", "mercury", "B because it flows", "AB")]
    [['B'], ['B'], ['B'], ['B'], ['A', 'B']]
    >>> chosen("A. Mercury", metals), chosen("Lead", metals), chosen("A cat", {})
    (None, None, None)
    """
    text = re.sub(r"(?i)\A(?:option|choice|letter|answer)\s+(?=\(?[A-J]\b)", "", text.strip().strip("*_`$").strip())
    bare = text.strip(_AROUND)
    if re.fullmatch(r"[A-Ja-j]", bare) and (not given or bare.upper() in given):
        return frozenset(bare.upper())
    texts = {_plain(option): letter for letter, option in given.items()}
    if _plain(text) in texts:
        return frozenset(texts[_plain(text)])
    if _SEVERAL_LETTERS.fullmatch(bare) and (bare.isupper() or not bare.isalpha()):
        letters = frozenset(re.sub(r"(?i)\b(?:and|or)\b", "", bare).upper()) & frozenset("ABCDEFGHIJ")
        if given and letters <= set(given):
            return letters
    for pattern in _FORMS:
        match = pattern.fullmatch(text)
        if match:
            letter, said = match["letter"], match.groupdict().get("text")
            other = texts.get(_plain(said or ""))
            if (given and letter not in given) or (other and other != letter):
                return None
            return frozenset(letter)
    return None


@lru_cache(2**14)
def items(text: str) -> tuple[str, ...] | None:
    r"""Return the items of a text that is a list of short items, or one; None of any other text.

    >>> items("Red, Blue and the Green"), items("- Ohio\n- Utah"), items("It is far away and nobody lives there now")
    (('red', 'blue', 'green'), ('ohio', 'utah'), None)
    """
    text = re.sub(r"(?m)^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+", "", text.strip())
    if len(text) > 300 or re.search(r"[.!?:]\s+\S|\d,\d|\(", text):
        return None
    values = [_ARTICLE.sub("", _plain(item)) for item in _ITEM_ENDS.split(text)]
    values = tuple(item for item in values if item)
    return (
        values
        if values
        and not any(_CLAUSE.match(item) for item in values)
        and all(len(item.split()) <= LONGEST_ITEM for item in values)
        else None
    )


def same_list(question: str, reference: str, answer: str) -> bool | None:
    """Return whether an answer has the items of a list, in any order; None where that cannot be known.

    An answer that lacks items, or has further ones, is wrong only if all of its other items are those of the
    reference and the question asks for all of them.

    >>> same_list("Which states?", "Ohio, Utah", "Utah and Ohio"), same_list("Which states?", "Ohio, Utah", "Ohio")
    (True, False)
    >>> same_list("What is the capital?", "Paris, France", "Paris"), same_list("Name a state.", "Ohio, Utah", "Ohio")
    (None, None)
    """
    given, said = items(reference), items(answer)
    if not given or not said or (len(given) < 2 and len(said) < 2):
        return None
    first, second = set(given), set(said)
    if len(given) == 1 and given[0] in second and _ONE.search(question) and not _SEVERAL.search(question):
        bullets = len(re.findall(r"(?m)^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+", answer))
        return False if len(said) >= MOST_ALTERNATIVES or bullets >= MOST_BULLETS else None
    if _IN_ORDER.search(question):
        return None
    if first == second:
        return True if len(first) > 1 else None
    if (
        _LOOSE.search(answer)
        or not (first < second or second < first)
        or not _SEVERAL.search(question)
        or _SOME.search(question)
    ):
        return None
    asked = [
        _NUMBERS.get(word, 0) or int(word)
        for word in re.findall(rf"(?i)\b(?:{'|'.join(_NUMBERS)}|\d{{1,2}})\b", question.lower())
    ]
    return None if asked and asked != [len(first)] else False
