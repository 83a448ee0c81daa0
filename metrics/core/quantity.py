"""One quantity, and whether an answer is that of a reference: rounded, in another unit, as a question asks for it."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from .quantities import CURRENCIES, UNITS

EXACT = Fraction(1, 10**9)  # relative difference of equal numbers, for roots and powers
CONVERTED = Fraction(1, 40)  # relative difference that rounding after a conversion of units can explain
ROUNDED = Fraction(1, 20)  # the same of a number that is called approximate, or is written as "120k"
MONTH = 2_629_800  # seconds
_DOLLARS = {"dollars", "Canadian dollars", "Australian dollars"}


@dataclass(frozen=True)
class Quantity:
    """What a text that is one quantity can mean."""

    # What the unit measures, or "number", "ordinal", "times" (doubled), "date", "clock", "range", "tuple", "named".
    kind: str
    # In the smallest unit of the kind; minutes after midnight of a clock time; the items of a range or tuple;
    # (first year, last year, month, day) of a date, None for what it does not give.
    value: object
    size: object = 1  # of the unit as written, in the smallest unit of the kind
    step: object = 0  # place value of the last digit that counts, in the smallest unit; 0 where it is exact
    noun: str = ""  # an unknown word behind a number ("77 jars"), or the words before it ("Louis XIV")
    rounded: int = 0  # 1 for a rounded form ("120k"), 2 where the text calls it approximate, else 0
    bound: str = ""  # "less", "least", "more", "most" or "not" of "at most 5" and the like, "" for a value
    certain: bool = True  # whether it is the usual reading of the text; 1.500 can be 1500
    half: bool = True  # whether a clock time says which half of the day it means
    exact: bool = True  # whether its decimals are all of it; 1/3 and a root have no end

    @property
    def number(self) -> object:
        """The number as written, before the unit."""
        return self.value / self.size


def _near(first, second, share: float = EXACT) -> bool:
    if isinstance(first, Fraction | int) and isinstance(second, Fraction | int) and share == EXACT:
        return first == second
    return abs(first - second) <= share * max(abs(first), abs(second))


def same(reference: Quantity, answer: Quantity, question: str) -> bool | None:
    """Return whether a quantity of an answer is that of a reference; None where that cannot be known."""
    kinds = {reference.kind, answer.kind}
    if reference.bound != answer.bound:
        upwards = [item.bound in ("more", "least") for item in (reference, answer)]
        return False if reference.bound and answer.bound and upwards[0] != upwards[1] else None
    for kind, comparison in _COMPARISONS.items():
        if kind in kinds:
            return comparison(reference, answer, question)
    if "percent" in kinds and kinds != {"percent"}:
        return _same_share(reference, answer, question)
    if kinds <= {"number", "ordinal"}:
        return _same_count(reference, answer, question)
    if reference.kind == answer.kind:
        return _same_measure(reference, answer, question)
    for rate, plain in ((reference, answer), (answer, reference)):  # the question may have said per what
        of, slash, _ = rate.kind.replace("km/h", "metres/h").partition("/")
        if slash and of == plain.kind and rate.number == plain.number:
            return None
    return _same_kinds(reference, answer, question)


def _same_tuple(reference: Quantity, answer: Quantity, question: str) -> bool | None:
    if reference.kind != answer.kind:
        return False if "number" in (reference.kind, answer.kind) else None
    if reference.value == answer.value:
        return True if reference.noun == answer.noun or "" in (reference.noun, answer.noun) else None
    is_ordered = reference.noun and answer.noun
    return None if sorted(reference.value) == sorted(answer.value) and not is_ordered else False


def _same_range(reference: Quantity, answer: Quantity, question: str) -> bool | None:
    if reference.kind == answer.kind:
        ends = list(zip(reference.value, answer.value, strict=True))
        verdicts = [same(item, other, question) for item, other in ends]
        measures = all(item.kind == other.kind not in ("date", "clock", "number", "ordinal") for item, other in ends)
        if None in verdicts or (measures and all(_near(item.value, other.value, ROUNDED) for item, other in ends)):
            return True if all(verdicts) else None
        return all(verdicts)
    if answer.kind == "range" and reference.kind == answer.value[0].kind and reference.kind not in ("date", "clock"):
        low, high = (end.value for end in answer.value)
        return None if _near(low, high, 4 * ROUNDED) and low <= reference.value <= high else False
    return None


def _same_date(reference: Quantity, answer: Quantity, question: str) -> bool | None:
    if reference.kind != answer.kind:
        date, other = (reference, answer) if reference.kind == "date" else (answer, reference)
        first, last, *_ = date.value
        if other.kind != "number" or other.noun or first is None:
            return None
        if first <= other.value <= last:  # a year in a decade is less exact, a day in a year more exact
            return True if (date is answer) == (first == last) else None
        return False if 1000 <= other.value < 2100 and first >= 1000 else None
    (first, last, *parts), (early, late, *others) = reference.value, answer.value
    both = [pair for pair in zip(parts, others, strict=True) if None not in pair]
    if reference.noun and answer.noun and reference.noun != answer.noun:
        return False
    years = None not in (first, early)
    if years and (late < first or early > last):
        return False
    if years and last - first > 90 and abs(first - early) <= 1 >= abs(last - late):
        return True  # the 1800s are the 19th century
    if any(part != other for part, other in both):
        return False
    less_exact = (years and not first <= early <= late <= last) or (first is not None and early is None)
    less_exact = less_exact or any(part and not other for part, other in zip(parts, others, strict=True))
    return True if (years or both) and not less_exact and (answer.noun or not reference.noun) else None


def _same_clock(reference: Quantity, answer: Quantity, question: str) -> bool | None:
    if reference.kind != answer.kind:
        return None
    if reference.half and answer.half:
        return reference.value == answer.value
    if reference.value % 720 != answer.value % 720:
        return False
    return True if reference.half == answer.half or not reference.half else None


def _same_change(reference: Quantity, answer: Quantity, question: str) -> bool | None:
    if reference.kind == answer.kind:
        return _near(reference.value, answer.value)
    times, other = (reference, answer) if reference.kind == "times" else (answer, reference)
    if other.kind == "percent":
        if _near(other.value, abs(times.value - 1) * 100):
            return True
        return None if _near(other.value, times.value * 100) or times.noun else False
    return _near(times.value, other.value) if other.kind == "number" and not times.noun else None


_COMPARISONS = {
    "tuple": _same_tuple,
    "range": _same_range,
    "named": lambda a, b, _: a.value == b.value if a.kind == b.kind and a.noun == b.noun else None,
    "date": _same_date,
    "clock": _same_clock,
    "times": _same_change,
}
_ASKS_SHARE = re.compile(r"(?i)(?:what|which|how many|how much) (?:percent|per cent|%)|percentage|in percent|in %")


def _same_share(reference: Quantity, answer: Quantity, question: str) -> bool | None:
    """Return whether a percentage is the same as a number: 20% is 20 where a percentage is asked for, or 0.2."""
    percent, other = (reference, answer) if reference.kind == "percent" else (answer, reference)
    if other.kind != "number" or (other.noun and not _in_question(other.noun, question)):
        return None if other.kind in ("number", "percentage points") else False
    if _near(percent.value, other.value * 100) or (not other.exact and _rounds(other.value * 100, percent)):
        return True
    if not _near(percent.value, other.value):
        return False
    is_large = abs(other.value) > 1
    if _ASKS_SHARE.search(question) or (is_large and percent is reference):
        return True
    return None if is_large or percent is reference else False


_COUNTED = frozenset([*"people persons times items pieces units of them in total".split(), "in total", "of them"])
_GROUP = re.compile(r"\b(?:pairs?|sets?|groups?|packs?|boxes|rows?|times|parts?|gross|score)\b")  # of several


def _in_question(noun: str, question: str) -> bool:
    asked = question.lower()
    return noun in _COUNTED or any(len(word) > 2 and word[:4] in asked for word in noun.split())


def _same_count(reference: Quantity, answer: Quantity, question: str) -> bool | None:
    item, other = reference.noun, answer.noun
    if any(word[:4] != like[:4] for word, like in zip(item.split(), other.split(), strict=False)):
        return None
    verdict = _same_value(reference, answer, question)
    if bool(item) == bool(other):
        return verdict
    is_known = _in_question(item or other, question)
    return None if _GROUP.search(item or other) or (verdict is False and not is_known) else verdict


def _rounds(value, decimal: Quantity) -> bool:
    """Return whether a decimal number is a rounded form of a value."""
    is_close = bool(decimal.step) and abs(value - decimal.value) <= decimal.step / 2
    return is_close and _near(value, decimal.value, CONVERTED)


_ASKS_SCALED = re.compile(r"(?i)\b(?:in|units of) (?:thousands|millions|billions)|\b(?:thousand|million|billion)s\b")
_ASKS_ROUGHLY = re.compile(r"(?i)\b(?:about|roughly|approximate(?:ly)?|around|estimated?)\b")


def _same_value(reference: Quantity, answer: Quantity, question: str) -> bool | None:
    """Return whether two values of one kind are equal, as exactly as they are written."""
    first, second = reference.value, answer.value
    if _near(first, second):
        return True
    if (not reference.exact and _rounds(first, answer)) or (not answer.exact and _rounds(second, reference)):
        return True
    if _ASKS_SCALED.search(question):
        return None
    gap, asked = abs(first - second), 2 * bool(_ASKS_ROUGHLY.search(question))
    roughly = max(reference.rounded, answer.rounded, asked)
    if roughly and reference.step and -reference.step / 2 <= second - first < reference.step / 2:
        return True if _near(first, second, ROUNDED) else None
    if max(answer.rounded, asked) and answer.step and gap <= answer.step / 2:
        return True if _near(first, second, CONVERTED) else None if _near(first, second, 2 * ROUNDED) else False
    if roughly == 2 and _near(first, second, 2 * ROUNDED):
        return None
    for long, short in ((reference, answer), (answer, reference)):  # 3.14 and 3.1416
        if 0 < long.step < short.step < short.size and gap <= short.step / 2 and _near(first, second, CONVERTED):
            return None
    return False


def _same_measure(reference: Quantity, answer: Quantity, question: str) -> bool | None:
    verdict, first, second = _same_value(reference, answer, question), reference.value, answer.value
    if verdict is not False or reference.size == answer.size:
        return verdict
    if reference.kind == "bytes" and _near(first, second, 2 * ROUNDED):
        return None  # 1,000 and 1,024
    if _near(first, second, CONVERTED / 5) or _rounds(first, answer):
        return True
    return None if _near(first, second, CONVERTED) else False


def _same_kinds(reference: Quantity, answer: Quantity, question: str) -> bool | None:
    """Return whether quantities of different kinds are the same: bare numbers, degrees, months and days."""
    kinds = {reference.kind, answer.kind}
    if kinds == {"celsius", "fahrenheit"}:
        celsius, fahrenheit = (reference, answer) if reference.kind == "celsius" else (answer, reference)
        return abs(celsius.value * Fraction(9, 5) + 32 - fahrenheit.value) < 1
    if "degrees" in kinds and kinds & {"celsius", "fahrenheit", "number"}:
        return reference.value == answer.value
    if kinds == {"seconds", "months"}:
        first, second = (item.value * (MONTH if item.kind == "months" else 1) for item in (reference, answer))
        return None if _near(first, second, ROUNDED * (1 + max(reference.rounded, answer.rounded))) else False
    if kinds <= _DOLLARS:
        return None
    if "number" not in kinds:
        return False if "ordinal" not in kinds else None
    bare, measure = (reference, answer) if reference.kind == "number" else (answer, reference)
    if bare.noun:
        return None

    def compared(comparison, bare: Quantity, measure: Quantity) -> bool | None:
        return comparison(*((bare, measure) if reference.kind == "number" else (measure, bare)), question)

    for kind, size in _asked_units(question):
        if kind == measure.kind:
            with_unit = replace(bare, kind=kind, value=bare.value * size, size=size, step=bare.step * size)
            return compared(_same_measure, with_unit, measure)
    if _near(bare.value, measure.number):
        return True if measure.kind in CURRENCIES else None
    sizes = {size for kind, size in UNITS.values() if kind == measure.kind}
    is_other_unit = any(_near(bare.value * size, measure.value, CONVERTED) for size in sizes)
    is_other_scale = bare.value and measure.number / bare.value in (10**3, 10**6, 10**9)  # 4.2 and $4.2 billion
    if is_other_unit or is_other_scale:
        return None
    return compared(_same_value, bare, replace(measure, value=measure.number))


@lru_cache(2**12)
def _asked_units(question: str) -> tuple[tuple[str, Fraction], ...]:
    """Return (kind, size) of the units that a question asks for: how many minutes, in metres, how old."""
    words = re.findall(r"(?i)\bhow many ([a-z]+)|\bin ([a-z°]+(?: per [a-z]+)?)|\bhow (old)\b", question)
    names = ["".join(groups).lower().replace("old", "years") for groups in words]
    units = (name for name in names if len(name) > 2 or name in ("km", "cm", "mm", "kg"))
    return tuple(UNITS[name] for name in units if name in UNITS)
