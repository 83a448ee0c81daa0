"""Checks quantities by rule, beside the model: an answer whose number, date, time or amount conflicts is wrong.

A model that reads vectors takes "12th of May" for 12 March. The rule speaks only where it is sure: the question asks
for a quantity, the references are short and name one, and the answer asserts one of the same kind that cannot mean
the same. `training/studies/judges/quantity_precision.py` measures how often it is right where it speaks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from .amounts import CURRENCIES, Amount, amounts, clean, readable

LONGEST = 1000  # characters of a text that is read
LONGEST_REFERENCE = 12  # words of a reference that is read
LONGEST_ANSWER = 80  # words of an answer that is read
SHORT_ANSWER = 12  # words of an answer in which words of relation anywhere matter
NEAR = 25  # characters around an amount of a longer answer in which they matter
STEM = 4  # letters in which forms of a noun agree
BARE = 4  # words of an answer whose number without unit contradicts one with unit
LOOSE = 0.1  # values of which one is called approximate may differ by this share
CONVERTED = 0.015  # values in different units may differ by this share
_DEGREES = {"celsius", "fahrenheit"}
_TIMES = {"seconds", "months"}
_MONTH = 2629800  # seconds
_NUMBER = re.compile(
    r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|"
    r"seven|eigh|nine)ty|hundred|thousand|million|billion)\b"
)
_WHEN = re.compile(
    r"(?i)\b(?:when|(?:what|which|the|by|that) (?:exact |calendar )?"
    r"(?:years?|dates?|days?|months?|times?|decades?|century)|date of)\b"
)
_HOW = re.compile(
    r"(?i)\bhow (?:many|much|long|far|old|tall|high|deep|wide|big|fast|large|hot|cold|heavy|warm|often|thick|late|few|"
    r"loud|small)\b|\b(?:what(?:['’]?s)?|which)\b.{0,60}\b(?:numbers?|percent|percentage|share|proportion|price|"
    r"costs?|fee|rate|temperature|height|length|width|depth|speed|age|population|distance|amount|total|weight|mass|"
    r"size|area|ratio|salary|limit|duration|score|balance|capacity|pressure|revenue|income|deposit|budget|dose|voltage|"
    r"frequency|wavelength|minimum|maximum|sum|value|product|port|code|root|fine|rent|wage|tax|profit|expense|interest"
    r")\b"
)
_UNIT_ASKED = re.compile(r"(?i)\bhow (?:many (\w+)|old)\b")
_ROUGHLY = re.compile(r"(?i)\b(?:about|roughly|approximately|around|approximate|estimated?)\b")
_SCALED = re.compile(r"(?i)\b(?:thousands|millions|billions|units of)\b")  # the reference may be in another unit
_SAME_WAY = re.compile(r"(?i)\b(?:older|younger|more|less|since|until)\b")  # may repeat the question or a reference
_RELATION = re.compile(  # the amount is only a part of what is said
    r"(?i)\b(?:before|after|later|earlier|ago|older|younger|more|less|fewer|than|plus|minus|times|each|every|per|apart|"
    r"another|further|additional|addition|also|both|remaining|rest|short|shy|until|prior|previous|next|following|"
    r"above|below|past|together|combined|altogether|if|unless|either|except|without|since|as many|as much|counting|"
    r"including)\b|[+=]"
)
_DENIED = re.compile(
    r"(?i)\b(?:not|never|no longer|(?:is|was|are|were)n['’]t|rather than|instead of|nor|unlike|contrary to)\b"
    r"[^.;!?]{0,40}\Z"
)
_LOSS = re.compile(
    r"(?i)\b(?:loss|lost|decrease\w*|decreasing|declin\w*|drop\w*|fell|fall\w*|below|negative|minus|deficit|under|reduc\w*|change\w*|"
    r"difference)\b"
)
_NOUN = re.compile(r"(?i)[ -]?([a-z][a-z'’-]*)")
_NO_NOUN = frozenset(
    "a an and are as at be but by did do does for from had has have he her his i in is it its of on only or people "
    "she so that the their there they this to total was were which who with you your".split()
)
_COUNTED = ("only", "just", "exactly", "is", "are", "was", "were", "has", "have", "had")  # before "one" as a number


@dataclass(frozen=True)
class Conflict:
    """An amount of an answer that conflicts with what is accepted.

    Attributes:
        said: the amount of the answer.
        accepted: the reference.
    """

    said: str
    accepted: str


def conflict(question: str, references: Sequence[str], answer: str) -> Conflict | None:
    """Return the amount of an answer that shows that it is wrong, None where the rule does not speak.

    Args:
        question: the question.
        references: its references; those that are accepted must agree on one amount.
        answer: the answer.

    >>> conflict("When was it built?", ["12 March 1894"], "On the 12th of May 1894.").said
    '12th of May 1894'
    >>> conflict("How long is it?", ["5 miles"], "It is 8 km long.") is None
    True
    """
    if max(map(len, (question, answer, *references))) > LONGEST:
        return None
    when, how = bool(_WHEN.search(question)), bool(_HOW.search(question))
    if not (when or how) or not _NUMBER.search(answer) or _SCALED.search(question):
        return None
    question, references, answer = clean(question), [clean(text) for text in references], clean(answer)
    if len(answer.split()) > LONGEST_ANSWER or not readable(answer):
        return None
    asked, wanted = _read(question, when), _accepted(question, tuple(references), when, how)
    if not wanted:
        return None
    dated = wanted[0].kind in ("date", "clock")
    found, known = _read(answer, when), f"{question} {' '.join(references)}"
    if _LOSS.search(f"{known} {answer}"):
        found, wanted = ([_unsigned(amount) for amount in group] for group in (found, wanted))
    loose = bool(_ROUGHLY.search(question))
    if any(same(one, other, loose) for one in wanted for other in found) or (dated and re.search(r"\d{5}", answer)):
        return None
    bare = len(answer.split()) <= BARE
    others = [amount for amount in found if not any(same(amount, other) for other in asked)]
    rivals = [amount for amount in others if any(comparable(one, amount, bare) for one in wanted)]
    if wanted[0].kind != "count":  # "one" stands for a noun
        rivals = [amount for amount in rivals if answer[amount.start : amount.end].lower() != "one"]
    others = rivals if dated else others
    if not rivals or len({(each.low, each.high, each.month, each.day, each.half) for each in others}) != 1:
        return None
    rival = rivals[0]
    if rival.named or not _asserted(answer, rival, known):
        return None
    return Conflict(answer[rival.start : rival.end].strip(), references[0])


@lru_cache(2**12)
def _accepted(question: str, references: tuple[str, ...], when: bool, how: bool) -> tuple[Amount, ...]:
    """Return the amounts of references that name one each and agree; empty if one does not, or none can be read."""
    found, unit = [], _unit(question)
    for reference in references:
        if len(reference.split()) > LONGEST_REFERENCE or not _NUMBER.search(reference):
            return ()
        if not readable(reference):
            if len(reference.split()) > LONGEST_REFERENCE // 2:
                return ()
            continue
        own = _read(reference, when)
        if len(own) != 1 or own[0].named:
            return ()
        found.append(_in_unit(own[0], unit))
    if not all(same(found[0], other, loose=True) for other in found[1:]):
        return ()
    timed = not found or found[0].kind in ("date", "clock", *_TIMES)
    return tuple(found) if how or timed else ()


@lru_cache(2**12)
def _read(text: str, when: bool) -> tuple[Amount, ...]:
    """Return the amounts of a text: numbers are years where a question asks for a time, else years are numbers."""
    found = []
    for amount in amounts(text):
        written = text[amount.start : amount.end]
        if written.lower() == "one" and _is_pronoun(text, amount):
            continue
        if when and amount.kind == "count" and 1000 <= amount.low == amount.high < 2100 and written[0].isalpha():
            amount = replace(amount, kind="date")
        elif not when and amount.kind == "date" and amount.low == amount.high is not None and amount.month is None:
            amount = replace(amount, kind="count", number=amount.low, named=True)
        found.append(amount)
    return tuple(found)


def _is_pronoun(text: str, amount: Amount) -> bool:
    before, after = text[: amount.start].lower().split(), text[amount.end :]
    counted = not before or before[-1] in _COUNTED
    return not counted or bool(
        re.match(r"(?i) (?:of|more|less|who|that|which|right|above|below|after|before)\b", after)
    )


def _unit(question: str) -> Amount | None:
    """Return one unit of what a question asks for: a year for "how old", a minute for "how many minutes"."""
    asked = _UNIT_ASKED.search(question)
    unit = amounts(f"1 {asked[1] or 'years'}") if asked else []
    return unit[0] if unit and unit[0].kind != "count" else None


def _in_unit(amount: Amount, unit: Amount | None) -> Amount:
    if unit is None or amount.kind != "count":
        return amount
    return replace(amount, kind=unit.kind, low=amount.low * unit.low, high=amount.high * unit.low)


def _unsigned(amount: Amount) -> Amount:
    if amount.number is None or amount.high > 0:
        return amount
    return replace(amount, low=-amount.high, high=-amount.low, number=abs(amount.number))


def _asserted(answer: str, amount: Amount, known: str) -> bool:
    """Return whether an answer says that an amount is what was asked for.

    Args:
        answer: the answer.
        amount: its amount.
        known: question and references.
    """
    near = answer[max(0, amount.start - NEAR) : amount.end + NEAR]
    relations = _RELATION.findall(answer if len(answer.split()) <= SHORT_ANSWER else near)
    if any(not _SAME_WAY.fullmatch(word) or word.lower() not in known.lower() for word in relations):
        return False
    noun = _NOUN.match(answer, amount.end) if amount.kind == "count" else None
    if noun and noun[1].lower() not in _NO_NOUN:
        words = re.findall(r"[a-z]+", known.lower())
        if not any(word[:STEM] == noun[1].lower()[:STEM] for word in words):
            return False
    return not _DENIED.search(answer[: amount.start])


def comparable(wanted: Amount, amount: Amount, bare: bool = False) -> bool:
    """Return whether an amount can contradict a wanted one.

    Args:
        wanted: the amount of a reference.
        amount: the amount of an answer.
        bare: whether the answer consists of little else.
    """
    if wanted.kind == amount.kind == "date":
        pairs = (wanted.low, amount.low), (wanted.month, amount.month), (wanted.day, amount.day)
        return any(None not in pair for pair in pairs)
    if wanted.kind == amount.kind or (wanted.kind in CURRENCIES and amount.kind in CURRENCIES):
        return True
    if amount.kind == "count":
        return wanted.kind in (*CURRENCIES, "percent") or (bare and wanted.kind not in ("date", "clock"))
    return {wanted.kind, amount.kind} in (_DEGREES, _TIMES)


def same(one: Amount, other: Amount, loose: bool = False) -> bool:
    """Return whether two amounts can mean the same.

    Args:
        one: an amount.
        other: another one.
        loose: whether both are approximate.
    """
    kinds = {one.kind, other.kind}
    loose = loose or one.loose or other.loose
    if kinds == {"date"}:
        return _same_date(one, other, loose)
    if "date" in kinds:
        date, number = (one, other) if one.kind == "date" else (other, one)
        return date.low is not None and date.month is None and date.low <= number.number <= date.high
    if kinds == {"clock"}:
        return one.low == other.low and (None in (one.half, other.half) or one.half == other.half)
    if kinds == _DEGREES:
        celsius, fahrenheit = (one, other) if one.kind == "celsius" else (other, one)
        return abs(celsius.number * 1.8 + 32 - fahrenheit.number) < 1.5
    if kinds == _TIMES:
        seconds, months = (one, other) if one.kind == "seconds" else (other, one)
        return abs(seconds.low - months.low * _MONTH) <= LOOSE * seconds.low
    if len(kinds) == 2:
        if kinds != {"grams", "pounds"} and "count" not in kinds:
            return False
        factors = (1, 0.01, 100) if "percent" in kinds else (1,)
        return any(abs(one.number - factor * other.number) <= 0.006 * abs(one.number) for factor in factors)
    sizes = [each.low / each.number if each.number else 1 for each in (one, other)]
    slack = LOOSE if loose else CONVERTED if abs(sizes[0] - sizes[1]) > 0.01 * abs(sizes[0]) else 0
    gap = max(one.low, other.low) - min(one.high, other.high)
    return gap <= slack * max(abs(one.high), abs(other.high)) + 1e-9


def _same_date(one: Amount, other: Amount, loose: bool) -> bool:
    years = None not in (one.low, other.low)
    if years and max(one.low, other.low) - min(one.high, other.high) > (2 if loose else 0):
        return False
    pairs = [pair for pair in ((one.month, other.month), (one.day, other.day)) if None not in pair]
    return all(first == second for first, second in pairs) and (years or bool(pairs))
