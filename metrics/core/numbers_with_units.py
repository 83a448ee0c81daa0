"""Numbers with their units: a sign, a currency, digits or words, a scale, and a unit or a noun."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from .quantities import (
    CURRENCIES,
    MORE_SCALES,
    NUMBER_WORD,
    NUMBER_WORDS,
    ORDINALS,
    PARTS,
    POUND_OF_MASS,
    SCALE_LETTERS,
    SCALES,
    UNITS,
    VULGAR,
    value_of_ordinal,
    value_of_words,
)
from .quantity import Quantity

LONGEST = 1_000  # characters of a number in digits
_SCALE = "|".join(sorted(MORE_SCALES, key=len, reverse=True))
_SIGN = r"us\$|ca\$|au\$|c\$|a\$|[$€£¥₹]"
_PREFIX = re.compile(
    rf"(?P<sign>(?:-|minus |negative )\s*(?=[\d.$€£a-z√{''.join(VULGAR)}]))?\+?(?:the )?"
    rf"(?:(?:(?P<sign_of_money>{_SIGN})|(?P<code>usd|eur|gbp|jpy|inr|chf|cny|cad|aud)(?= ?\d))\s*"
    r"(?P<minus>-\s*(?=\d))?)?(?P<half>half (?:of )?(?:an? )(?=[a-z]))?"
)
_BELOW = re.compile(r"(?: degrees?)? below (?:zero|0|freezing)$")
_AND_A_HALF = re.compile(r"(.+ )?([a-z]+) and (?:an? |one )?(half|quarter)")


def numbers(text: str) -> Iterator[Quantity]:
    """Yield the numbers with a unit, or an unknown noun, that a text can be."""
    prefix, below = _PREFIX.match(text), _BELOW.search(text)
    sign = -1 if prefix["sign"] or prefix["minus"] or below else 1
    symbol = prefix["sign_of_money"] or prefix["code"]
    currency = UNITS[symbol][0] if symbol else None
    text = ("1/2 " if prefix["half"] else "") + text[prefix.end() : below.start() if below else None]
    more = _AND_A_HALF.fullmatch(text)
    if more and more[2] in UNITS:  # an hour and a half
        kind, size = UNITS[more[2]]
        first = re.sub(r"^an?$", "one", (more[1] or "one").strip())
        counts = [number.value for number in numbers(first) if number.kind == "number"]
        yield from (Quantity(kind, (count + Fraction(1, PARTS[more[3]])) * size, size) for count in counts)
        return
    article = re.fullmatch(r"an? ([a-z]+)", text)
    if article and article[1] in UNITS:
        text = f"1 {article[1]}"
    for start in _leading(text):
        if start.kind == "ordinal":
            noun = re.fullmatch(r" ?((?:[a-z'-]+ ?){0,3})", start.rest)
            yield from [Quantity(start.kind, sign * start.value, noun=noun[1].strip())] if noun else []
            continue
        for factor, is_sure, tail in _scales(start.rest, currency):
            for number in _with_unit(start.value * factor, start.step * factor, tail, currency):
                rounded, certain = int(factor > 100 and start.step != 0), start.certain and is_sure and number.certain
                signed = sign * number.value
                yield replace(number, value=signed, rounded=rounded, exact=has_end(start.value), certain=certain)


_FRACTION = re.compile(
    rf"(?:(\d+)(?: |-| and ))?(\d+) ?/ ?(\d+)(?![\d/.])|(?:(?P<whole>\d+) ?)?(?P<part>[{''.join(VULGAR)}])"
)
_SHARE = re.compile(r"(\d+|[a-z]+)(?: in (?:every )?| out of (?:every )?)(\d[\d,]*|[a-z]+)\b")
_ORDINAL = re.compile(r"(?:the )?(\d+(?:st|nd|rd|th)|(?:[a-z]+-)?[a-z]+)\b")
_DIGITS = re.compile(
    r"(?P<whole>\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d{1,3}(?:'\d{3})+|\d{1,3}(?:\.\d{3}){2,}"
    r"|\d{1,3}(?:\.\d{3})+(?=,\d)|\d{1,2}(?:,\d{2})+,\d{3}|\d+)(?:(?P<mark>[.,])(?P<decimals>\d+))?(?!\d)"
    r"|\.(?P<only>\d+)"
)
_POWER = re.compile(r"(?:e|\s*[x*·]\s*10\s*(?:\^|\*\*)\s*)\(?(?P<power>[+-]?\d{1,3})\)?")
_ARTICLE_PART = re.compile(
    r"(?:(?:an? )?(half|quarter)|an? (third|fifth|sixth|eighth|tenth|hundredth|thousandth))\b(?: of)?"
    r"(?: an? (?=million|billion|thousand|dozen))?"
)
_WORDS = re.compile(rf"(?:{NUMBER_WORD})\b(?:(?:[ -]|,? and |, )(?:{NUMBER_WORD})\b)*")
_MORE_PARTS = re.compile(r" and (?:an? )?(?:(one|two|three)[ -])?(half|thirds?|quarters?|fifths?)\b")


class _Start(NamedTuple):
    """A number at the start of a text."""

    value: Fraction
    rest: str  # of the text
    step: Fraction = Fraction(0)  # see `Quantity`
    kind: str = "number"  # or "ordinal"
    certain: bool = True


def _leading(text: str) -> list[_Start]:
    """Return what the number at the start of a text can be."""
    if mixed := _FRACTION.match(text):
        part = Fraction(VULGAR[mixed["part"]]) if mixed["part"] else Fraction(int(mixed[2]), int(mixed[3]))
        return [_Start(int(mixed[1] or mixed["whole"] or 0) + part, text[mixed.end() :])]
    if share := _SHARE.match(text):
        parts = (part.replace(",", "") for part in share.groups())
        top, bottom = (Fraction(part) if part[0].isdigit() else NUMBER_WORDS.get(part) for part in parts)
        if top is not None and bottom and top < bottom:
            return [_Start(Fraction(top) / bottom, text[share.end() :])]
    ordinal = _ORDINAL.match(text)
    if ordinal and (ordinal[1][0].isdigit() or ordinal[1].rpartition("-")[2] in ORDINALS):
        if value := value_of_ordinal(ordinal[1]):
            return [_Start(Fraction(value), text[ordinal.end() :], kind="ordinal")]
    if digits := _DIGITS.match(text):
        return _of_digits(digits, text[digits.end() :])
    if part := _ARTICLE_PART.match(text):
        return [_Start(Fraction(1, PARTS[part[1] or part[2]]), text[part.end() :])]
    if words := _WORDS.match(text):
        return _in_words(words[0], text[words.end() :])
    scale = re.match(r"an? (?=(?:hundred|thousand|million|billion|dozen)\b)", text)
    return [_Start(Fraction(1), text[scale.end() - 1 :])] if scale else []


def has_end(value: Fraction) -> bool:
    """Return whether a number has finitely many decimals."""
    return pow(10, LONGEST, value.denominator) == 0


def _of_digits(digits: re.Match, rest: str) -> list[_Start]:
    """Return what a number in digits can be: 1.500 is 1.5, or 1500."""
    whole, mark, decimals = digits["whole"] or "0", digits["mark"], digits["decimals"] or digits["only"] or ""
    is_grouped, plain = not whole.isdigit(), re.sub(r"\D", "", whole)
    if mark and is_grouped and (mark in whole or (mark == "." and "." in whole)):
        return []  # 1,234,5 is no number
    other = None
    if re.fullmatch(r"\d+,\d{3}", whole) and not mark:
        other = Fraction(whole.replace(",", "."))
    elif mark == "." and not is_grouped and len(decimals) == 3 and len(whole) <= 3 and whole.strip("0"):
        other = Fraction(whole + decimals)
    value = Fraction(f"{plain}.{decimals or 0}")
    zeros = 0 if decimals else len(plain[1:]) - len(plain[1:].rstrip("0"))
    step = Fraction(10) ** (zeros - len(decimals))
    if power := _POWER.match(rest):
        factor = Fraction(10) ** int(power["power"])
        value, step, rest, other = value * factor, step * factor, rest[power.end() :], None
    elif re.match(r" ?[*x·^] ?\d|e\d", rest):
        return []  # a calculation
    return [_Start(value, rest, step), *([] if other is None else [_Start(other, rest, certain=False)])]


def _in_words(words: str, rest: str) -> list[_Start]:
    """Return what number words and what follows them say: twenty-five, two thirds, one and a half."""
    values = [NUMBER_WORDS.get(word, 100) for word in re.findall(r"[a-z]+", words) if word != "and"]
    if any(not a >= 20 > 10 > b for a, b in pairwise(values) if 100 not in (a, b)):
        return []  # five two one, fifty-four ten
    value = Fraction(value_of_words(words))
    if (part := re.match(r"[ -]([a-z]+)\b", rest)) and part[1] in PARTS:
        value, rest = value / PARTS[part[1]], rest[part.end() :]
    elif more := _MORE_PARTS.match(rest):
        value, rest = value + Fraction(NUMBER_WORDS[more[1] or "one"], PARTS[more[2]]), rest[more.end() :]
    return [_Start(value, rest)]


def _scales(rest: str, currency: str | None) -> list[tuple[int, bool, str]]:
    """Return (factor, is the usual reading, rest) of the scale behind a number: million, k, dozen."""
    if scale := re.match(rf"[ -]?({_SCALE})\b\.?(?:[ -]?(million|billion|trillion)\b)?", rest):
        return [(MORE_SCALES[scale[1]] * SCALES.get(scale[2], 1), True, rest[scale.end() :])]
    letter = re.match(r" ?([mb])\b", rest)
    scaled = [(SCALE_LETTERS[letter[1]], bool(currency) or letter[1] == "b", rest[letter.end() :])] if letter else []
    return scaled if letter and currency else [*scaled, (1, True, rest)]


RELATION = re.compile(  # what stands behind a number and is not its noun
    r"\b(?:and|or|but|not|no|before|after|later|earlier|ago|more|less|fewer|than|plus|minus|times|each|every|per|apart|"
    r"another|to|in|on|at|of|for|with|from|by|until|is|was|are|were|if|other|others|short|million|thousand|the|century|"
    r"bc|ad|bce|ce|am|pm|noon|midnight|point)\b"
)
_NOUN = re.compile(r"(?:of (?:the |all |its |their )?)?((?:[a-z][a-z'-]*)(?: [a-z][a-z'-]*){0,2})")


def _with_unit(value: Fraction, step: Fraction, rest: str, currency: str | None) -> Iterator[Quantity]:
    """Yield a number with the unit, the units or the noun that follow it."""
    rest = rest.removeprefix("-") if rest.startswith("-") else rest.strip()
    rest = re.sub(r"^of (?:an?|one) (?=[a-z]+$)", "", rest)  # three quarters of an hour
    rest = re.sub(r"^(?:degrees?|°) (?=(?:celsius|centigrade|fahrenheit|c|f)$)", "°", rest)
    unit, per = rest, re.fullmatch(r"([a-zµ%²]*) ?(?:/|per|an?) ?([a-z]+)", rest)
    if currency and (not rest or UNITS.get(unit, ("", 0))[0] in CURRENCIES):
        yield Quantity(currency, value, step=step)
    elif not rest:
        yield Quantity("number", value, step=step)
    elif unit in UNITS and not currency:
        for kind, size in [UNITS[unit], *([POUND_OF_MASS] if unit in ("pound", "pounds") else [])]:
            yield Quantity(kind, value * size, size, step * size)
    elif per and (per[1] in UNITS or (currency and not per[1])) and per[2] in UNITS:
        (kind, size), (of, each) = (currency, 1) if currency else UNITS[per[1]], UNITS[per[2]]
        kind, size = f"{kind}/{of}", Fraction(size) / each
        kind, size = ("km/h", size * Fraction(18, 5)) if kind == "metres/seconds" else (kind, size)
        yield Quantity(kind, value * size, size, step * size)
    elif not currency:
        parts = re.match(r"([a-z]{1,40})\.?(?:,? and |, | )?(?=\d|[a-z]{1,40} )", rest)
        kind, size = UNITS.get(parts[1], ("", 0)) if parts else ("", 0)
        for more in numbers(rest[parts.end() :]) if kind else ():  # 2 hours and 15 minutes
            if more.kind == kind and more.size < size and more.certain:
                yield replace(more, value=value * size + more.value)
                return
        noun = _NOUN.fullmatch(rest)
        if noun and not RELATION.search(rest):
            yield Quantity("number", value, step=step, noun=noun[1])
