"""Judges rows: what a judge reads of them, what is compared exactly before the model, and each distinct triple once.

A rule takes a wrapper off, or compares two values of one type. What the model reads, the model decides: no rule makes
an answer right or wrong because of how it is phrased. References are ordered; triples go in batches of a token budget.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

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
from ..core.judge_model import LINEAR, PROMPT, JudgeReader
from ..core.quantities import NUMBER_IN_TEXT, is_number_word
from ..core.quantity_readings import readings
from ..core.reading import COMMON, passage, readable, readable_answer
from ..core.same_quantity import compare
from ..core.words import keys, words

# What is taken off a text: wrapping and reasoning, what it takes back, what it says to the grader, repetitions,
# words of the reference in no order, all but a passage of a long answer. And what is compared before the model.
READING = ("answer", "retraction", "demand", "repetition", "bag", "passage")
EXACT = ("identity", "abstention", "choice", "quantity", "list")


@dataclass(frozen=True)
class Verdict:
    """What an exact comparison says of an answer and a reference: whether they are the same, and which of `EXACT`."""

    right: bool
    rule: str


@dataclass(frozen=True)
class Row:
    """A row as it is read."""

    question: str
    references: list[str]  # of an option's letter its text
    answer: str  # without wrapping and without what it takes back
    verdicts: list[Verdict | None]  # per reference what an exact comparison says, None where the model decides

    @property
    def is_reference(self) -> bool:
        """Whether the answer is a reference itself, such as "%"."""
        return any(verdict is not None and verdict.rule == "identity" for verdict in self.verdicts)


@dataclass(frozen=True)
class Rules:
    """Which rules a judge applies; none of them, as in the paper, with `Rules(())`."""

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
        answer = without_retracted(answer, question) if "retraction" in self.names else answer
        for rule, shortened in (("demand", without_demands), ("repetition", once), ("bag", without_bag)):
            answer = shortened(answer, texts) if rule in self.names else answer
        if "identity" in self.names and any(identical(unchanged, text, question) for text in texts):
            answer = unchanged
        verdicts = self._verdicts(question, texts, answer)
        if given := options(question) if "choice" in self.names else {}:
            letters = {text: chosen(text, given) or () for text in texts}
            texts = [given[min(letters[text])] if len(letters[text]) == 1 else text for text in texts]
        return Row(question, texts, answer, verdicts)

    def _verdicts(self, question: str, references: Sequence[str], answer: str) -> list[Verdict | None]:
        """Return what exact comparisons say of an answer and each reference."""
        several, comparisons = len(set(references)) > 1, _Comparisons(question, answer)
        result = []
        for reference in references:
            verdicts = ((getattr(comparisons, rule)(reference), rule) for rule in EXACT if rule in self.names)
            sure = (Verdict(right, rule) for right, rule in verdicts if right is not None)
            result.append(next((v for v in sure if v.right or v.rule != "list" or not several), None))
        return result

    def declines(self, answer: str) -> bool:
        """Return whether an answer only declines, so that no model reads it."""
        return "abstention" in self.names and declines(answer)


class _Comparisons:
    """Says by each rule of `EXACT` whether an answer is a reference; None where that rule does not decide."""

    def __init__(self, question: str, answer: str):
        self.question, self.answer = question, answer
        self.options = options(question)

    def forms(self, text: str) -> tuple[str, ...]:
        return short_forms(text, self.question, is_number_word)

    def quantities(self, text: str) -> Iterator[str]:
        """Yield the forms of a text that are one quantity, the longest first."""
        if NUMBER_IN_TEXT.search(text):
            whole, *shorter = self.forms(text)
            if readings(whole):
                yield whole
            kept = (form for form in shorter if form.strip(" .").lower() != "one")  # a pronoun
            yield from (form for form in kept if any(reading.kind != "named" for reading in readings(form)))

    def identity(self, reference: str) -> bool | None:
        return identical(self.answer, reference, self.question) or None

    def abstention(self, reference: str) -> bool | None:
        return abstention(self.question, reference, self.answer)

    def choice(self, reference: str) -> bool | None:
        def letters(text: str) -> frozenset[str] | None:
            return next(filter(None, (chosen(form, self.options) for form in self.forms(text)[:8])), None)

        known = self.options or len(reference.strip(" .()*")) == 1 or reference[1:2] == ")"
        given = letters(reference) if known else None
        said = letters(self.answer) if given else None
        return given == said if given and said else None

    def quantity(self, reference: str) -> bool | None:
        given = next(self.quantities(reference), None)
        said = next(self.quantities(self.answer), None) if given else None
        return compare(given, said, self.question) if said else None

    def list(self, reference: str) -> bool | None:
        given = items(reference)
        if not given or (len(given) < 2 and len(items(self.answer) or ()) < 2):
            return None
        forms = short_forms(self.answer, self.question)[:60]
        verdicts = [same_list(self.question, reference, form) for form in forms]
        return True if True in verdicts else verdicts[0]


def said_quantity(question: str, answer: str) -> str:
    """Return the quantity of an answer in the fewest words, the answer where it is none.

    >>> said_quantity("When did it end?", "It ended in 1944."), said_quantity("Who?", "Ann")
    ('1944.', 'Ann')
    """
    *_, shortest = answer, *_Comparisons(question, answer).quantities(answer)
    return shortest


_OPTION = re.compile(r"(?m)^[ \t]*\(?([A-J])[).:][ \t]+(\S.*?)[ \t]{0,9}$")
_INLINE = re.compile(r"(?<!\w)\(?([A-J])[).:][ \t]*(\S.*?)(?=[\s,;]{0,9}(?<!\w)\(?[A-J][).:][ \t]|[\n?]|\Z)")
_AROUND = " \t\n*_`$\"'“”.,:;!()[]"
_LETTER = r"\(?(?P<letter>[A-HJ])\)?"
_FORMS = (
    rf"{_LETTER}\s*[.):–-]+\s*(?P<text>\S.*)",
    rf"{_LETTER}(?:,|\s+(?:because|since|as|for|is (?:the )?(?:correct|right|best|answer))\b).*",
    rf"(?P<text>\S.*?)\s*\((?:option )?{_LETTER}\)",
)
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
    """Return the letters of the given options (none if unknown) that a text chooses, None if it does something else.

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
        if match := re.fullmatch(pattern, text):
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
    are_items = values and all(len(item.split()) <= LONGEST_ITEM and not _CLAUSE.match(item) for item in values)
    return values if are_items else None


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
    is_part = first < second or second < first
    if not is_part or _LOOSE.search(answer) or _SOME.search(question) or not _SEVERAL.search(question):
        return None
    numbers = re.findall(rf"\b(?:{'|'.join(_NUMBERS)}|\d{{1,2}})\b", question.lower())
    asked = [_NUMBERS.get(word, 0) or int(word) for word in numbers]
    return None if asked and asked != [len(first)] else False


CERTAIN = 8.0  # logit of an answer that a rule decides; see `Judge.pairs`
READING_VERSION = 2  # version of the rules by which texts are read before the model; in signatures
LONG_REFERENCE = 20  # words from which a reference of several must share a word with the answer
SEPARATOR = "; "  # between references that are read together


def joined_references(references: Sequence[str], candidate: str) -> str:
    """Return the different references as one text, joined by "; ", the most similar to the candidate first.

    A model reads only the start of a long list, and the reference that decides should be in it. References that the
    candidate contains word for word come first, then by the share of their words in the candidate.

    >>> joined_references(["CA", "California", "california"], "It is in California.")
    'California; CA'
    """
    spoken, ranked = words(candidate), {}
    for reference in references:
        own = words(reference)
        key = " ".join(own) or reference
        if key not in ranked:
            ranked[key] = (*unlikeness(own, spoken), len(ranked), reference)
    return SEPARATOR.join(reference for *_, reference in sorted(ranked.values()))


def unlikeness(own: Sequence[str], spoken: Sequence[str]) -> tuple[bool, float]:
    """Return a sort key of the words of a reference, the likest to those of an answer first; see `joined_references`.

    >>> unlikeness(["paris", "france"], ["in", "paris"]), unlikeness(["paris"], ["in", "paris"])
    ((True, -0.5), (False, -1.0))
    """
    known = set(spoken)
    inside = own and f" {' '.join(own)} " in f" {' '.join(spoken)} "
    return not inside, -sum(word in known for word in own) / max(1, len(own))


def read_references(row: Row, joined: bool, best: bool) -> list[tuple[tuple[str, ...], bool | None]]:
    """Return (references read together, whether the answer is right by them, None for the model) of a row.

    Joined references lack those that an exact comparison rejects. With `best`, beside one that is the answer no other
    is read.
    """
    verdicts = {}
    for text, verdict in zip(row.references, row.verdicts, strict=True):
        verdicts[text] = None if verdict is None else verdict.right
    if joined:
        left = [text for text, right in verdicts.items() if right is None]
        right = True if True in verdicts.values() else None if left else False
        return [(tuple(left or verdicts), right)]
    if best and True in verdicts.values():
        return [((next(text for text, right in verdicts.items() if right),), True)]
    pairs = [((text,), right) for text, right in verdicts.items()]
    return [pair for pair in pairs if pair[1] is not None or _is_relevant(pair[0][0], row)] or pairs


def reference_words(references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return (rows,) mean number of words of the references of a row.

    >>> reference_words([["Paris", "the city of Paris"], ["4"]])
    array([2.5, 1. ])
    """
    return np.array([sum(len(words(text)) for text in texts) / len(texts) for texts in references])


def _is_relevant(reference: str, row: Row) -> bool:
    """Return whether a reference can make an answer right: a judge may agree to a long one about something else."""
    if len(reference.split()) <= LONG_REFERENCE:
        return True
    content = " ".join(word for word in words(row.answer) if word not in COMMON)
    new = set(keys(content)) - set(keys(row.question))
    return not new or bool(new & set(keys(reference)))


def default_rules(loaded) -> Rules:
    """Return the rules beside a judge; one that reads a prompt needs only the wrapping off and exact quantities."""
    return Rules(("answer", "quantity")) if loaded.configuration == PROMPT else Rules()


class Judge(JudgeReader):
    """Computes the probability that a candidate is correct; `cut_of_row` counts cut texts by row of one call."""

    def __init__(self, loaded, batch_tokens: int = 4096, rules: Rules | None = None):
        super().__init__(loaded, batch_tokens)
        self.rules = rules or default_rules(loaded)
        self.cut_of_row: Counter[int] = Counter()

    def probabilities(
        self,
        questions: Sequence[str],
        references: Sequence[Sequence[str]],
        predictions: Sequence[str],
        reference_aggregation: str | None = None,
        short_answers: Sequence[str] | None = None,
        early_stop: float | None = None,
    ) -> np.ndarray:
        """Return (n,) calibrated probabilities that answers are correct; 0 if it has no letter and is no reference.

        "joined" reads all references of a row at once, "max" and "mean" one at a time, "max" none behind one with the
        probability `early_stop`; None is the checkpoint's own. Only the linear judge reads short answers.
        """
        how, lengths = reference_aggregation or self.loaded.reference_aggregation, reference_words(references)

        def probabilities(logits: np.ndarray, rows: np.ndarray) -> np.ndarray:
            return self.loaded.calibrated(logits, lengths[rows])

        settled = None if early_stop is None else lambda logits, rows: probabilities(logits, rows) >= early_stop
        ways = how == "joined", how == "max", short_answers, settled
        logits, rows = self.pairs(questions, references, predictions, *ways)
        return aggregated(probabilities(logits, rows), rows, len(predictions), how)

    def pairs(
        self,
        questions: Sequence[str],
        references: Sequence[Sequence[str]],
        predictions: Sequence[str],
        joined: bool,
        best: bool = False,
        short_answers: Sequence[str] | None = None,
        settled: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (pairs,) logits of a row and one of its references, -inf if not read, and (pairs,) rows of them.

        No model is needed where answer and reference are the same text, or where both are a quantity, an option of the
        question, a list or a refusal: these are compared exactly, see `Rules`. For `joined` and `best` see
        `read_references`. `settled` says of (pairs,) logits and their (pairs,) rows which leave no need to read more
        of their row.
        """
        rows, triples, ruled = [], [], {}
        short = short_answers if short_answers is not None and self.loaded.configuration == LINEAR else None
        for i, columns in enumerate(zip(questions, references, predictions, strict=True)):
            row = self.rules.read(*columns)
            answer = row.answer
            if not answer.strip() or not (row.is_reference or any(map(str.isalnum, answer))):
                continue
            whole = self.loaded.configuration == PROMPT
            if "passage" in self.rules.names and not whole:
                lengths = self.loaded.long_answer, self.loaded.passage
                answer = passage(answer, row.question, row.references, keys, *lengths)
            for texts, right in read_references(row, joined, best):
                if right is not None:
                    ruled[len(rows)] = CERTAIN if right else -CERTAIN
                text = texts if whole else joined_references(texts, answer)
                triples.append((row.question, text, answer, *([short[i] or None] if short else [])))
                rows.append(i)
        logits, of_row = np.full(len(triples), -np.inf), np.array(rows, dtype=int)
        logits[list(ruled)] = list(ruled.values())
        asked = [number for number in range(len(triples)) if number not in ruled]
        if settled is not None:
            near = {number: unlikeness(*map(words, triples[number][1:3])) for number in asked}
            asked.sort(key=lambda number: (near[number], triples[number][1]))
        while asked:
            now, asked = asked, []
            if settled is not None:
                read = np.isfinite(logits)
                done = of_row[read][settled(logits[read], of_row[read])]
                now, asked = _next(now, rows, set(done.tolist()))
            logits[now] = self.logits([triples[number] for number in now])
        if self.cut:
            first = dict(zip(reversed(triples), reversed(rows), strict=True))
            self.cut_of_row.update(first[triple] for triple in self.cut if triple in first)
        return logits, of_row


def _next(asked: Sequence[int], rows: Sequence[int], done: Container[int]) -> tuple[list[int], list[int]]:
    """Return the first pair of every row that is not done, and the other pairs of these rows.

    >>> _next([0, 1, 2, 3, 4], [7, 7, 8, 9, 9], {8})
    ([0, 3], [1, 4])
    """
    first: dict[int, int] = {}
    left = [number for number in asked if rows[number] not in done]
    later = [number for number in left if first.setdefault(rows[number], number) != number]
    return list(first.values()), later


def aggregated(probabilities: np.ndarray, rows: np.ndarray, count: int, how: str) -> np.ndarray:
    """Return (count,) probabilities, 0 without a pair: "max" or "mean" (the paper's) over the (pairs,) of each row.

    >>> aggregated(np.array([0.2, 0.6, 0.5]), np.array([0, 0, 2]), 3, "mean")
    array([0.4, 0. , 0.5])
    """
    out = np.zeros(count)
    if how == "mean":
        np.add.at(out, rows, probabilities)
        return out / np.maximum(1, np.bincount(rows, minlength=count))
    np.maximum.at(out, rows, probabilities)
    return out
