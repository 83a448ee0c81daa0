"""Answers that are changed so that they become wrong."""

import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from training.ava.triples import Triple, normalised

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
MONTHS = "January February March April May June July August September October November December".split()
_MONTH = re.compile(rf"\b({'|'.join(MONTHS)})\b", re.IGNORECASE)
NUMBERS = "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred".split()
_NUMBER = re.compile(rf"\d+(?:[.,]\d+)*|\b(?:{'|'.join(NUMBERS)})\b", re.IGNORECASE)
_YEAR = re.compile(r"\b1[0-9]\d\d\b|\b20\d\d\b")
_AUXILIARY = re.compile(r"\b(is|are|was|were|has|have|had|can|could|will|would|should|did|does|do)\b(?! not|n't)")
_NOT = re.compile(r"\b(is|are|was|were|has|have|had|can|could|will|would|should|did|does|do)(?: not|n't)\b")
_PAIRS = [pair.split("/") for pair in WORDS["opposites"]]
_OPPOSITES = {word: other for pair in _PAIRS for word, other in (pair, reversed(pair))}
_OPPOSITE = re.compile(rf"\b({'|'.join(_OPPOSITES)})\b")
_NAME = re.compile(r"(?<!\w)[A-Z][\w'-]+(?: (?:of |the )?[A-Z][\w'-]+)*")
_SYMMETRIC = re.compile(r"(?: (?:and|or|with|met|married|versus|vs)|,| ?&)+ ?(?:the )?", re.IGNORECASE)
STARTERS = frozenset("The A An In On At It He She They This That These Those As By For From There When While".split())


def answer_type(question: str, answer: str) -> str:
    """Return what kind of thing an answer is, so that another of its kind can stand in its place.

    >>> answer_type("When did it start?", "May 1, 1990"), answer_type("who won", "Ann Lee")
    ('date', 'who')
    """
    if _MONTH.search(answer) or _YEAR.search(answer):
        return "date"
    if _NUMBER.search(answer):
        return "number"
    asked = set(re.findall(r"\w+", question.lower())[:4] + re.findall(r"\w+", question.lower())[-2:])
    for word in ("who", "where", "when", "why", "how"):
        if word in asked:
            return word
    return "name" if answer[:1].isupper() else "thing"


class Answers:
    """Short answers by their type, to take wrong ones from."""

    def __init__(self, pairs: Iterable[tuple[str, str]]):
        self._by_type = defaultdict(dict)
        for question, answer in pairs:
            if len(answer.split()) <= 6:
                self._by_type[answer_type(question, answer)][answer] = None
        self._by_type = {name: list(texts) for name, texts in self._by_type.items()}

    def another(self, question: str, references: Sequence[str], rng: random.Random) -> str | None:
        """Return an answer of the same type that shares nothing with the references, or None."""
        accepted = [normalised(text) for text in references]
        words = {word for text in accepted for word in text.split()}
        pool = self._by_type.get(answer_type(question, references[0]), ())
        for _ in range(8 if pool else 0):
            plain = normalised(text := rng.choice(pool))
            if plain and not words & set(plain.split()) and not any(plain in k for k in accepted):
                return text
        return None


def occurrence(references: Sequence[str], text: str) -> re.Match | None:
    """Return where the first of the longest references stands in a text as words of its own, or None."""
    longest = (text.strip() for text in sorted(references, key=len, reverse=True) if text.strip())
    places = (re.search(rf"(?<!\w){re.escape(each)}(?!\w)", text, re.IGNORECASE) for each in longest)
    return next(filter(None, places), None)


def changed_number(text: str, rng: random.Random) -> str:
    """Return a number or number word changed into another one of the same form.

    >>> changed_number("1984", random.Random(0)) != "1984"
    True
    """
    if text.lower() in NUMBERS:
        return rng.choice([word for word in NUMBERS if word != text.lower()])
    if _YEAR.fullmatch(text):
        return str(int(text) + rng.choice([-20, -10, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 10, 20]))
    digits = [i for i, character in enumerate(text) if character.isdigit()]
    position = rng.choice(digits)
    changed = rng.choice([d for d in "0123456789" if d != text[position] and not (position == digits[0] and d == "0")])
    return text[:position] + changed + text[position + 1 :]


def replaced(triple: Triple, answer: str | None) -> str | None:
    """Return the candidate with another answer in the place of the right one, which must be nowhere else in it."""
    right = occurrence(triple.references, triple.candidate)
    if right is None or answer is None:
        return None
    pattern = rf"(?<!\w){re.escape(right[0])}(?!\w)"
    text = re.sub(pattern, lambda _: answer, triple.candidate, flags=re.IGNORECASE)
    return None if occurrence(triple.references, text) else text


def with_wrong_answer(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """Return the candidate with a wrong answer of the same type in it, or this answer alone."""
    wrong = answers.another(triple.question, triple.references, rng)
    return replaced(triple, wrong) if occurrence(triple.references, triple.candidate) else wrong


def _with_wrong_number(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """Return the candidate with another number or month in its answer."""
    right = occurrence(triple.references, triple.candidate)
    places = [m for pattern in (_NUMBER, _MONTH) for m in pattern.finditer(right[0])] if right else []
    if not places:
        return None
    match = rng.choice(places)
    months = [month for month in MONTHS if month.lower() != match[0].lower()]
    new = rng.choice(months) if _MONTH.fullmatch(match[0]) else changed_number(match[0], rng)
    return replaced(triple, right[0][: match.start()] + new + right[0][match.end() :])


def _with_wrong_name(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """Return the candidate with another first or last word in the name of several words that is its answer."""
    right = occurrence(triple.references, triple.candidate)
    words = right[0].split() if right else []
    other = answers.another(triple.question, triple.references, rng) or ""
    others = [word for word in other.split() if word[:1].isupper() and len(word) > 2]
    if len(words) < 2 or not others or not all(word[:1].isupper() and not _NUMBER.search(word) for word in words):
        return None
    words[rng.choice([0, -1])] = rng.choice(others)
    return replaced(triple, " ".join(words))


def _negated(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """The sentence that holds the answer says that it is not so, or the opposite."""
    result = occurrence(triple.references, triple.candidate)
    text = triple.candidate
    start = max((text.rfind(mark, 0, result.start() if result else 0) for mark in ".!?\n"), default=-1) + 1
    ends = [end for mark in ".!?\n" if (end := text.find(mark, result.end() if result else start)) >= 0]
    end = min(ends, default=len(text))
    if removed := _NOT.search(text, start, end):
        return text[: removed.start()] + removed[1] + text[removed.end() :]
    opposite, verb = _OPPOSITE.search(text, start, end), _AUXILIARY.search(text, start, end)
    if opposite and (verb is None or rng.random() < 0.5):
        return text[: opposite.start()] + _OPPOSITES[opposite[1]] + text[opposite.end() :]
    if verb is None:
        return None
    new = rng.choice([f"{verb[1]} not", f"{verb[1]}n't"]) if verb[1] not in ("can", "will") else f"{verb[1]} not"
    return text[: verb.start()] + new + text[verb.end() :]


def _swapped(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """Two names of the sentence that holds the answer change places: who did it to whom."""
    result = occurrence(triple.references, triple.candidate)
    text = triple.candidate
    names = [m for m in _NAME.finditer(text) if m[0] not in STARTERS and not _MONTH.search(m[0])]
    pairs = [
        (first, second)
        for first, second in pairwise(names)
        if not _SYMMETRIC.fullmatch(text[first.end() : second.start()])
        and not re.search(r"[.!?;]", text[first.end() : second.start()])
        and (result is None or any(m.start() < result.end() and result.start() < m.end() for m in (first, second)))
        and first[0].lower() not in second[0].lower()
        and second[0].lower() not in first[0].lower()
    ]
    if not pairs:
        return None
    (a, b), (c, d) = (name.span() for name in rng.choice(pairs))
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _neighbour(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """Return another name or number of the candidate, alone or in the place of the right one."""
    right = occurrence(triple.references, triple.candidate)
    if right is None or not (_NUMBER.search(right[0]) or right[0][:1].isupper()):
        return None
    text, pattern = triple.candidate, _NUMBER if _NUMBER.search(right[0]) else _NAME
    accepted_words = set(normalised(f"{triple.question} {' '.join(triple.references)}").split())
    others = [
        other[0]
        for other in pattern.finditer(text)
        if not accepted_words & set(normalised(other[0]).split())
        and other[0] not in STARTERS
        and not (pattern is _NAME and _MONTH.search(other[0]))
        and not _SYMMETRIC.fullmatch(text[min(other.end(), right.end()) : max(other.start(), right.start())])
    ]
    if not others:
        return None
    other = rng.choice(others)
    if rng.random() < 0.4:
        return replaced(triple, other)
    return other if rng.random() < 0.5 else rng.choice(WORDS["frames"]).format(other)


CHANGES: dict[str, Callable] = {  # every one makes an incorrect answer of a correct one
    "wrong_answer": with_wrong_answer,
    "wrong_number": _with_wrong_number,
    "wrong_name": _with_wrong_name,
    "neighbour": _neighbour,
    "negated": _negated,
    "swapped": _swapped,
}


def changed(triples: Sequence[Triple], kind: str, answers: Answers, rng: random.Random) -> Iterator[Triple]:
    """Yield incorrect answers made of the correct ones by a change of `CHANGES`, where it can be made.

    For half of them the unchanged answer takes the place of the references, so that all else agrees. A change that
    says "not" also goes the other way round: what the reference denies is wrong to say and right to deny.
    """
    for triple in triples:
        text = CHANGES[kind](triple, answers, rng) if triple.label == 1 else None
        if not text or normalised(text) == normalised(triple.candidate):
            continue
        shape = rng.random()
        if shape < 0.5:
            yield replace(triple, candidate=text, label=0.0, kind=kind)
        elif shape < 0.8 or kind not in ("negated", "swapped"):
            yield replace(triple, references=(triple.candidate,), candidate=text, label=0.0, kind=kind)
        else:
            stated = rng.choice([text, triple.candidate])
            yield replace(triple, references=(text,), candidate=stated, label=float(stated == text), kind=kind)


def off_topic(triples: Sequence[Triple], rng: random.Random) -> Iterator[Triple]:
    """Yield answers to other questions, evasions and the question itself as candidates: all incorrect."""
    for triple in triples:
        chance, question = rng.random(), triple.question.rstrip("?. ")
        if chance < 0.3:
            text = rng.choice(triples).candidate
        elif chance < 0.5:
            text = rng.choice(WORDS["evasions"])
        elif chance < 0.7:
            text = question + rng.choice(["?", "", "."])
        else:
            text = rng.choice(WORDS["circular"]).format(question)
        if occurrence(triple.references, text) is None:
            yield replace(triple, candidate=text, label=0.0, kind="off_topic")


def span_triples(rows: Iterable, answers: Answers, rng: random.Random) -> Iterator[Triple]:
    """Yield a correct and an incorrect triple of each row of extractive QA; sides are span or sentence by turns."""
    for row in rows:
        if not (span := row.span):
            continue
        right = Triple(row.question, (span,), row.text, 1.0, "span")
        wrong, shape = with_wrong_answer(right, answers, rng), rng.random()
        # Below .25 spans on both sides, .55 the span as reference, .8 as candidate; else only the answer in common.
        right = replace(right, references=(span if shape < 0.55 else row.text,))
        if shape < 0.25 or 0.55 <= shape < 0.8:
            right, wrong = replace(right, candidate=span), answers.another(row.question, [span], rng)
        yield right
        if wrong and normalised(wrong) != normalised(right.candidate):
            yield replace(right, candidate=wrong, label=0.0, kind="span_wrong")
