"""Quantities: numbers with units, dates, times, ranges and fractions, read from text, and which of them are equal.

`compare` decides whether two texts that are one quantity each mean the same; of any other text it says nothing.
`quantities` finds the numbers with their units in running text.
"""

import ast
import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import pi, sqrt
from unicodedata import numeric

from .reading import language_of

LONGEST, LONGEST_WORDS = 1_000, 120  # characters of a number in digits, and of any other quantity
MOST_WORDS = 20  # of such a text
EXACT = Fraction(1, 10**9)  # relative difference of equal numbers, for roots and powers
CONVERTED = Fraction(1, 40)  # relative difference that rounding after a conversion of units can explain
ROUNDED = Fraction(1, 20)  # the same of a number that is called approximate, or is written as "120k"
MONTH = 2_629_800  # seconds

# --- words of numbers and units -----------------------------------------------------------------------------------

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = dict(zip([*_SMALL, *_TENS], [*range(20), *range(20, 100, 10)], strict=True))
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
NUMBER_WORD = "|".join(sorted([*NUMBER_WORDS, *_SCALES], key=len, reverse=True))  # pattern
_LETTERS = {"m": 10**6, "b": 10**9}  # also metres, so a second reading
_MORE_SCALES = _SCALES | {"thousands": 10**3, "millions": 10**6, "billions": 10**9, "k": 10**3, "mn": 10**6}
_MORE_SCALES |= {"mln": 10**6, "mio": 10**6, "bn": 10**9, "tn": 10**12, "lakh": 10**5, "crore": 10**7, "dozen": 12}
_SCALE = "|".join(sorted(_MORE_SCALES, key=len, reverse=True))
_ORDINALS = dict(zip("first second third fourth fifth sixth seventh eighth ninth".split(), range(1, 10), strict=True))
_ORDINALS |= {"twelfth": 12} | {f"{word}th": NUMBER_WORDS[word] for word in _SMALL[10:] if word != "twelve"}
_ORDINALS |= {f"{word[:-1]}ieth": NUMBER_WORDS[word] for word in _TENS} | {"hundredth": 100, "thousandth": 1000}
_PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4}
_PARTS |= {word + plural: value for word, value in _ORDINALS.items() if value > 2 for plural in ("", "s")}
_VULGAR = {sign: Fraction(numeric(sign)).limit_denominator(8) for sign in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"}
_FACTORS = {
    word: Fraction(factor)
    for factor, *words in map(str.split, (
        "1 once", "2 twice double doubled doubling twofold two-fold", "1/2 halved", "4 quadrupled fourfold",
        "3 thrice triple tripled trebled threefold three-fold", "5 quintupled", "10 tenfold ten-fold",
    ))
    for word in words
}  # fmt: skip

# kind: size in the smallest unit of the kind, words; _ is a blank
_UNITS = """
seconds: 0.001 ms msec millisecond milliseconds, 1 s sec secs second seconds, 60 min mins minute minutes
seconds: 3600 h hr hrs hour hours, 86400 d day days, 604800 wk wks week weeks, 1209600 fortnight fortnights
months: 1 month months, 12 yr yrs year years years_old years_of_age, 120 decade decades, 1200 century centuries
metres: 1e-9 nm nanometre nanometres nanometer nanometers, 1e-3 mm millimetre millimetres millimeter millimeters
metres: 1e-6 µm micrometre micrometres micrometer micrometers micron microns
metres: 1e-2 cm centimetre centimetres centimeter centimeters, 1 m metre metres meter meters
metres: 1e3 km kms kilometre kilometres kilometer kilometers, 0.0254 in inch inches, 0.3048 ft foot feet
metres: 0.9144 yd yds yard yards, 1609.344 mi mile miles, 1852 nmi nautical_miles
grams: 1e-6 µg mcg microgram micrograms, 1e-3 mg milligram milligrams, 1 g gram grams gramme grammes
grams: 1e3 kg kgs kilo kilos kilogram kilograms kilogrammes, 1e6 tonne tonnes metric_tons metric_tonnes
grams: 453.59237 lb lbs, 28.349523125 oz ounce ounces, 6350.29318 stone
litres: 1e-3 ml cc millilitre millilitres milliliter milliliters, 1 l litre litres liter liters
litres: 1e-2 cl centilitre centilitres centiliter centiliters, 3.785411784 gal gallon gallons, 0.473176473 pint pints
square metres: 1 m2 m² sqm sq_m square_metres square_meters, 1e6 km2 km² sq_km square_kilometres square_kilometers
square metres: 1e4 ha hectare hectares, 4046.8564224 acre acres
bytes: 0.125 bit bits, 1 byte bytes, 1e3 kb kilobyte kilobytes, 1e6 mb megabyte megabytes
bytes: 1e9 gb gigabyte gigabytes, 1e12 tb terabyte terabytes
hertz: 1 hz hertz, 1e3 khz kilohertz, 1e6 mhz megahertz, 1e9 ghz gigahertz
watts: 1 w watt watts, 1e3 kw kilowatt kilowatts, 1e6 mw megawatt megawatts, 1e9 gw gigawatt gigawatts
volts: 1e-3 mv millivolt millivolts, 1 v volt volts, 1e3 kv kilovolt kilovolts
joules: 1 j joule joules, 1e3 kj kilojoule kilojoules, 4184 kcal kilocalorie kilocalories
km/h: 1 km/h kph kmh kilometres_per_hour kilometers_per_hour kilometres_an_hour kilometers_an_hour
km/h: 1.609344 mph miles_per_hour miles_an_hour, 3.6 m/s metres_per_second meters_per_second, 1.852 knot knots
percent: 1 % percent pct per_cent
percentage points: 1 pp percentage_point percentage_points
celsius: 1 °c celsius centigrade °celsius °centigrade
fahrenheit: 1 °f fahrenheit °fahrenheit
degrees: 1 ° degree degrees deg
dollars: 1 $ us$ usd dollar dollars us_dollars u.s._dollars american_dollars buck bucks, 0.01 cent cents
euros: 1 € eur euro euros
pounds: 1 £ gbp pound pounds sterling pounds_sterling british_pounds quid, 0.01 penny pence
yen: 1 ¥ jpy yen
rupees: 1 ₹ inr rupee rupees
francs: 1 chf franc francs swiss_francs
yuan: 1 cny rmb yuan renminbi
Canadian dollars: 1 c$ ca$ cad canadian_dollars
Australian dollars: 1 a$ au$ aud australian_dollars
"""
# word -> (kind, size)
UNITS = {
    word.replace("_", " "): (kind, Fraction(size))
    for kind, _, units in (line.partition(": ") for line in _UNITS.split("\n"))
    for size, *words in map(str.split, units.split(",") if units else ())
    for word in words
}
_MASS = UNITS["lb"]  # the second reading of "pounds"
_SIGN = r"us\$|ca\$|au\$|c\$|a\$|[$€£¥₹]"
CURRENCIES = {UNITS[code][0] for code in "usd eur gbp jpy inr chf cny cad aud".split()}
_DOLLARS = {UNITS[code][0] for code in ("usd", "cad", "aud")}


def _of_words(words: str) -> int:
    """Return the value of number words, or of digits.

    >>> _of_words("twelve hundred and fifty"), _of_words("two million five hundred thousand")
    (1250, 2500000)
    """
    if words.isdigit():
        return int(words)
    total = group = 0
    for word in re.findall(r"[a-z]+", words):
        if word == "hundred":
            group = min((group or 1) * 100, 10**400)  # more than a float holds
        elif word in _SCALES:
            total, group = total + (group or 1) * _SCALES[word], 0
        elif word != "and":
            group += NUMBER_WORDS[word]
    return total + group


# --- numbers in running text --------------------------------------------------------------------------------------

_IN_TEXT = re.compile(
    rf"(?i)(?<![\w.])(?:"
    rf"(?P<hour>\d{{1,2}})(?:[:.](?P<minute>\d\d))?\s?(?P<half>[ap])\.?m\b\.?"
    rf"|(?P<hour24>\d{{1,2}}):(?P<minute24>\d\d)\b"
    rf"|(?P<sign>(?<![\w-])[-−]|(?<!\w)minus )?(?:(?P<money>[$€£])\s?)?"
    rf"(?:(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:(?:st|nd|rd|th)\b)?"
    rf"|(?P<words>\b(?:{NUMBER_WORD})(?:(?:[ -]|(?<=hundred) and |(?<=thousand) and )(?:{NUMBER_WORD}))*\b))"
    rf"(?:[ -]?(?P<scale>hundred|thousand|million|billion|trillion)\b|(?P<letter>k|mn|m|bn|b)\b)?"
    rf"(?:[ -]?(?P<unit>%|per cent\b|°\s?[cf]\b|degrees? (?:celsius|centigrade|fahrenheit)\b|km/h|kilomet(?:er|re)s "
    rf"per hour\b|miles per hour\b|[a-z]+\b))?)"
)
_SINGLE = frozenset("shdlgvwjin")  # letters and words that are units only where the whole text is a quantity


@dataclass(frozen=True)
class NumberInText:
    """A number with its unit in a text."""

    start: int  # first character in the text, sign included
    end: int  # end in the text, unit included
    value: float  # the number in the smallest unit of its kind
    kind: str | None  # what the unit measures; None for a bare number
    number: float  # the number as written, before the unit

    @property
    def key(self) -> str:
        """Key that is equal for quantities of equal value and kind."""
        return f"#{self.value:.12g}|{self.kind or ''}"


def quantities(text: str) -> list[NumberInText]:
    """Return the numbers of a text, in order.

    >>> [(q.value, q.kind) for q in quantities("$4.2 billion in 24 months, at 9 pm, -12 and twenty-five")]
    [(4200000000.0, 'dollars'), (24.0, 'months'), (1260.0, 'clock'), (-12.0, None), (25.0, None)]
    """
    result = []
    for match in _IN_TEXT.finditer(text):
        start, end = match.span()
        if match["hour24"] or match["hour"]:
            hour, minute = int(match["hour24"] or match["hour"]), int(match["minute24"] or match["minute"] or 0)
            if match["half"]:
                hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
            result.append(NumberInText(start, end, 60.0 * hour + minute, "clock", hour + minute / 100))
            continue
        number = float(match["digits"].replace(",", "") if match["digits"] else f"{_of_words(match['words'].lower())}")
        number = -number if match["sign"] else number
        unit, letter = (match["unit"] or "").lower(), (match["letter"] or "").lower()
        unit = re.sub(r"^degrees? |\s(?=[cf]$)", "", unit)
        kind, size = UNITS.get(unit, (None, 1)) if unit not in _SINGLE else (None, 1)
        if unit and kind is None:  # not a unit
            end = len(text[: match.start("unit")].rstrip(" -"))
        if match["scale"]:
            number *= _SCALES[match["scale"].lower()]
        elif letter and match["money"]:
            number *= _LETTERS.get(letter) or _MORE_SCALES[letter]
        elif letter == "m" and kind is None:
            kind, size, end = "metres", 1, match.end("letter")
        elif letter:
            end = match.start("letter")
        kind, size = UNITS[match["money"]] if match["money"] else (kind, size)
        result.append(NumberInText(start, end, number * float(size), kind, number))
    return result


def equal(first: NumberInText, second: NumberInText) -> bool:
    """Return whether two numbers of texts are equal, with 1% for rounding in other units: 5 miles equal 8 km.

    >>> [equal(*quantities(text)) for text in ("24 months, two years", "5 miles, 5 km", "5 miles, 8 km", "12, -12")]
    [True, False, True, False]
    """
    if {first.kind, second.kind} == {"celsius", "fahrenheit"}:
        low, high = (first, second) if first.kind == "celsius" else (second, first)
        return abs(low.value * 1.8 + 32 - high.value) < 1
    if first.kind is None or second.kind is None:
        return first.number == second.number
    if first.kind != second.kind:
        return False
    if first.number == second.number or first.kind == "clock":
        return first.value == second.value
    if not first.number or not second.number or first.value / first.number == second.value / second.number:
        return False
    return abs(first.value - second.value) <= 0.01 * max(abs(first.value), abs(second.value))


# --- texts that are one quantity ----------------------------------------------------------------------------------


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


_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_OF = {name: i for i, month in enumerate(_MONTHS, 1) for name in (month, month[:3])} | {"sept": 9}
# What every text that is a quantity has; a quick way to pass others over.
_SAID = [NUMBER_WORD, *_ORDINALS, *_PARTS, *_FACTORS, "dozen", "noon", "midnight", "midday", "century", *_MONTHS]
NUMBER_IN_TEXT = re.compile(rf"(?i)[\d{''.join(_VULGAR)}√π]|\b(?:{'|'.join(_SAID)}|an? [a-z]+)\b|\b[IVXLCDM]{{2,}}\b")


def is_number_word(word: str) -> bool:
    """Return whether a word belongs to a number, a time or a date.

    >>> is_number_word("twenty-five"), is_number_word("noon"), is_number_word("Paris")
    (True, True, False)
    """
    return bool(NUMBER_IN_TEXT.search(word))


def compare(reference: str, answer: str, question: str = "") -> bool | None:
    r"""Return whether an answer is the quantity that a reference is, as a question has it; None if one is none.

    >>> [compare(*pair) for pair in (("1000", "1,000"), ("24 months", "two years"), (r"\frac12", "0.5"), ("$5", "€5"))]
    [True, True, True, False]
    >>> compare("3:30 pm", "15:30"), compare("20%", "120%"), compare("5 miles", "8 km"), compare("Paris", "2")
    (True, False, True, None)
    >>> compare("100,000", "100.000"), compare("1500", "1.500")
    (True, None)
    >>> compare("1500", "1.500", "Wie viele waren es im Jahr 1990?"), compare("1500", "1.500", "Of 1,234.5 in all?")
    (True, False)
    """
    reference, answer = in_one_notation((reference, answer), question)
    verdicts: dict[bool, set] = {True: set(), False: set()}
    for item, other in product(readings(reference), readings(answer)):
        same, certain = _same(item, other, question), item.certain and other.certain
        if same and _same_digits(reference, answer):
            certain = certain or item.number == other.number
        verdicts[certain].add(same)
    if True in verdicts[True]:
        return True
    return None if None in verdicts[True] or True in verdicts[False] or not verdicts[True] else False


# 1.500: one and a half, or 1500. The other forms show which mark separates decimals.
_EITHER = re.compile(r"(?<![\d.,])([1-9]\d{0,2})\.(\d{3})(?![\d.,]*\d)")
_COMMA = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|\d+,(?:\d\d?|\d{4,}))(?![\d.,]*\d)")
_POINT = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,})(?![\d.,]*\d)")
POINT_GROUPS = frozenset("da de el hr id is it nl pt ro sl sr tr".split())  # languages that write 1500 as 1.500


def decimal_mark(text: str) -> str:
    """Return what separates decimals in a text, by its numbers or else its language; "" if unsettled, as in English.

    >>> [decimal_mark(text) for text in ("3,5 km", "1,234.5 km", "Wie weit ist es dorthin?", "How far is it then?")]
    [',', '.', ',', '']
    """
    comma, point = bool(_COMMA.search(text)) and language_of(text) != "en", bool(_POINT.search(text))
    if comma or point:
        return "" if comma and point else "," if comma else "."
    return "," if language_of(text) in POINT_GROUPS else ""


def with_decimal_mark(text: str, mark: str) -> str:
    """Return a text with numbers such as 1.500 written so that they have one reading.

    >>> with_decimal_mark("about 1.500 km", ","), with_decimal_mark("about 1.500 km", ".")
    ('about 1500 km', 'about 1.5000 km')
    """
    return _EITHER.sub(r"\1\2" if mark == "," else r"\1.\g<2>0", text)


def in_one_notation(texts: Sequence[str], context: str) -> list[str]:
    """Return texts with numbers such as 1.500 written so that they have one reading, where the context settles it.

    >>> in_one_notation(["1500", "1.500"], "Wie weit ist es dorthin?"), in_one_notation(["1.500"], "How far is it?")
    (['1500', '1500'], ['1.500'])
    """
    mark = decimal_mark(context) if any(map(_EITHER.search, texts)) else ""
    return [with_decimal_mark(text, mark) for text in texts] if mark else list(texts)


def unsettled(reference: str, answer: str, question: str = "") -> str:
    """Return the number whose notation leaves open whether two quantities are equal, "" if there is none.

    >>> unsettled("1500", "1.500"), unsettled("1500", "1.500", "Wie viele waren es im Jahr 1990?")
    ('1.500', '')
    """
    number = _EITHER.search(answer) or _EITHER.search(reference)
    if not number or compare(reference, answer, question) is not None:
        return ""
    readings_of = ([with_decimal_mark(text, mark) for text in (reference, answer)] for mark in ".,")
    return number[0] if any(compare(*texts, question) for texts in readings_of) else ""


def _same_digits(first: str, second: str) -> bool:
    """Return whether two texts have one number with the same digits in groups of three, by two conventions.

    >>> _same_digits("100,000", "about 100.000 km"), _same_digits("100,000", "100000"), _same_digits("1,500", "1.50")
    (True, False, False)
    """
    numbers = [re.findall(r"\d[\d.,]*\d", text) for text in (first, second)]
    if any(len(found) != 1 or not re.fullmatch(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*", found[0]) for found in numbers):
        return False
    return numbers[0][0].replace(",", ".") == numbers[1][0].replace(",", ".")


@lru_cache(2**14)
def readings(text: str) -> tuple[Quantity, ...]:
    r"""Return what a text can mean that is one quantity and no more; nothing of any other text.

    >>> [(q.kind, q.value) for q in readings("$1.2 million")], readings("12 of them and 3 more")
    ([('dollars', Fraction(1200000, 1))], ())
    >>> [q.value for q in readings("1.500")], [q.value for q in readings("12th of May 1894")]
    ([Fraction(3, 2), Fraction(1500, 1)], [(1894, 1894, 5, 12)])
    """
    longest = LONGEST if re.fullmatch(r"\W?[\d\s.,]+", text) else LONGEST_WORDS
    if len(text) > longest or not 0 < len(text.split()) <= MOST_WORDS or re.match(r"\W*['’]\d\d\W*\Z", text):  # '74
        return ()
    written = re.sub(r"(?<=\d)D\Z", " dimensions", re.sub(r"(?<=\d) ?M\b", " million", _plain(text)))
    try:
        return tuple(dict.fromkeys(_read(written.lower(), written)))
    except (OverflowError, ValueError, ZeroDivisionError):
        return ()


_SIGNS = str.maketrans({"−": "-", "–": "-", "—": "-", "\xa0": " ", "\u2009": " ", "\u202f": " ", "’": "'", "×": "*"})
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RELATIONS = {"le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "neq": "≠", "lt": "<", "gt": ">"}
_LATEX = (
    (r"(?<!\\)\$\$?([^$]*(?:\\\$[^$]*)*?)(?<![\s\\])\$\$?(?!\d)", r"\1"),
    (r"\\[()\[\]]|\\(?:left|right)(?![a-z])|\\[,;! ]", ""),
    (r"\\(?:text|mathrm|mathbf|textbf|boxed)\s*\{([^{}]*)\}", r"\1"),
    (r"\\[dtc]?frac\s*(\d)\s*(\d)", r" \1/\2"),
    (r"\\[dtc]?frac\s*\{(-?\w+)\}\s*\{(\w+)\}", r" \1/\2"),
    (r"\\[dtc]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r" (\1)/(\2)"),
    (r"\\sqrt\s*(?:\{([^{}]*)\}|(\d))", r" √(\1\2)"),
    (r"\^\s{0,9}\{?\s{0,9}\\circ\s{0,9}\}?|\\degree", "°"),
    (r"\\(?:times|cdot)", "*"),
    (r"\\pi", " π"),
    (r"\{,\}", ","),
    (r"\\(?=[$%#&])", ""),
)


def _plain(text: str) -> str:
    r"""Return a text without LaTeX, Markdown and the signs around it.

    >>> _plain(r"$\frac{1}{2}$."), _plain(r"\$460"), _plain(r"**90^\circ**"), _plain(r"5\sqrt 2")
    ('1/2', '$460', '90°', '5 √(2)')
    """
    text = re.sub(r"\*\*|__|`", "", text.translate(_SIGNS)).strip()
    text = re.sub(r"(?<=\d) ?['′] ?(\d+) ?[\"”″]", r" ft \1 in", text)
    if "\\" in text or "$" in text:
        for pattern, plain in _LATEX:
            text = re.sub(pattern, plain, text)
        text = re.sub(rf"\\({'|'.join(_RELATIONS)})(?![a-z])", lambda sign: _RELATIONS[sign[1]], text)
    text = re.sub(r"√\s*(\d+)", r"√(\1)", text)
    text = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", text).translate(str.maketrans("{}", "()")) if "^{" in text else text
    text = re.sub(r"(?<=10)[⁰¹²³⁴-⁹⁻]+", lambda power: "^" + power[0].translate(_SUPERSCRIPTS), text)
    text = re.sub(r"\s+", " ", text).strip(" \"'“”!?;:*")
    text = text if re.search(r"(?i)\b(?:[ap]\.m|b\.c|a\.d|c\.e|b\.c\.e)\.$", text) else text.rstrip(".").rstrip()
    return text.removesuffix(",")


_PART = r"[-\d\s+*/x().,]{0,40}"  # of a calculation
_EQUATION = re.compile(rf"(?:[a-z]|{_PART}\d{_PART}?[+*/x-]{_PART}?\d[^=a-z]{{0,40}}) ?= ?([^=]+)")
_BOUND = re.compile(
    r"(?:[a-z] ?)?(?:is )?(?:(?P<more>>|more than|over|above|greater than|larger than|exceeding|in excess of)"
    r"|(?P<least>>=|≥|at least|no (?:less|fewer) than|a minimum of|minimum|min\.)"
    r"|(?P<less><|less than|fewer than|under|below|smaller than)"
    r"|(?P<most><=|≤|at most|up to|no more than|a maximum of|maximum|max\.)"
    r"|(?P<not>!=|≠|not equal to))\s*(?!=)(?=.)"
)
_OR_MORE = re.compile(
    r"(?:,? (?:or|and) (?:(?P<least>older|more|over|above|higher|greater|later|up|upwards)"
    r"|(?P<most>younger|less|fewer|under|below|lower|earlier))|(?<=\d)(?P<plus>\+))$"
)
_BEFORE = re.compile(
    r"(?:(?:in|on|at|by|for|from|since|of|is|was|be|it's|it is|it was|exactly|precisely|just|only|a total of|the year|"
    r"year|the number|number|no\.|equals?|=|#) ?(?=\W|\d|\b))+\s*(?=.)"
)
_ROUND = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|nearly|almost|circa|ca?\.|some|estimated(?: at)?|close to|~|≈|"
    r"an estimated|or so|give or take)\s*"
)
_AFTER = re.compile(r",? (?:(?P<round>or so|approximately|roughly|or thereabouts)|exactly|in total)$")


def _read(text: str, written: str) -> Sequence[Quantity]:
    """Return the readings of a plain text; `written` is the same text before it was lower-cased."""
    if equation := _EQUATION.fullmatch(text):
        return readings(equation[1])
    if bound := _BOUND.match(text):
        return [replace(reading, bound=bound.lastgroup) for reading in readings(text[bound.end() :])]
    if bound := _OR_MORE.search(text):
        name = "least" if bound["plus"] else bound.lastgroup
        return [replace(reading, bound=name) for reading in readings(text[: bound.start()])]
    tuples = _tuples(text)
    if tuples and (text[0] in "([" or "<" in text or "≤" in text or re.search(r",\s", text)):
        return tuples
    start = before.end() if (before := _BEFORE.match(text)) else 0
    around, after = _ROUND.match(text, start), _AFTER.search(text)
    span = slice(around.end() if around else start, after.start() if after else None)
    text, written = text[span], written[span]
    values = [*_dates(text), *_clocks(text), *_changes(text)]
    if not any(reading.certain for reading in values):
        values += list(_numbers(text)) or list(_ranges(text))
    values = values or [*_named(text, written)] or [*_expressions(text)] or [*_in_two_units(text)]
    is_loose = around or (after and after["round"])
    return [replace(reading, rounded=2 if is_loose else reading.rounded) for reading in values] + tuples


def _tuples(text: str) -> list[Quantity]:
    """Return the interval or vector that a text is: (0, 1), 0 < x < 1."""
    between = re.fullmatch(r"([^<≤]+?) ?([<≤]) ?[a-z] ?\2 ?([^<≤]+)", text)
    inside = re.fullmatch(r"([(\[]?)([^()\[\]]*[,;][^()\[\]]*)([)\]]?)", text)
    if between:
        ends, brackets = [between[1], between[3]], "()" if between[2] == "<" else "[]"
    elif inside and bool(inside[1]) == bool(inside[3]):
        ends, brackets = re.split(r"[;,]", inside[2]), inside[1] + inside[3]
    else:
        return []
    numbers = all(re.fullmatch(r" ?-?(?:\d+(?:\.\d+)?|\d+/\d+) ?", end) for end in ends)
    if not numbers or not (brackets or " " in text or max(map(len, ends)) == 1):
        return []
    return [Quantity("tuple", tuple(Fraction(end.replace(" ", "")) for end in ends), noun=brackets)]


# --- dates, times and changes

_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTH_OF, key=len, reverse=True))})\.?"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{3,4})"
_DATES = (
    rf"(?:the )?{_DAY}(?: of| day of)?[ -]+{_MONTH}(?:,?[ -]+(?:of |in )?{_YEAR})?",
    rf"{_MONTH} (?:the )?{_DAY}(?:,? (?:of |in )?{_YEAR})?",
    rf"(?:the month of )?{_MONTH}(?:,? (?:of )?{_YEAR})?",
    r"(?P<year>\d{4})[-/.](?P<month>0?[1-9]|1[0-2])[-/.](?P<day>[0-3]?\d)",
    r"(?P<day>0?[1-9]|[12]\d|3[01])(?P<mark>[/.-])(?P<month>0?[1-9]|1[0-2])(?P=mark)(?P<year>\d{4})",
    r"(?P<month>0?[1-9]|1[0-2])/(?P<day>0?[1-9]|[12]\d|3[01])/(?P<year>\d{4})",
)
_WEEKDAY = re.compile(r"(?:on )?(?P<day>mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?day,? (?:the )?")
_DECADE = re.compile(r"(?:the )?(?P<decade>[12]\d\d0)['’]?s")
_CENTURY = re.compile(r"(?:the )?(?P<number>[\w-]+)[ -](?:century|cent\.?|c\.)(?: ad| ce)?")
_ERA = re.compile(r"(?P<after>a\.?d\.? ?)?(?P<year>\d{1,5}) ?(?P<era>b\.?c\.?(?:e\.?)?|a\.?d\.?|c\.?e\.?)?")
_HOUR = rf"\d{{1,2}}|{'|'.join(_SMALL[1:13])}"
_TIME = re.compile(
    rf"(?:(?P<past>half|quarter|(?:{_HOUR}|twenty|twenty-five)(?: minutes)?) (?P<to>past|to) )?(?P<hour>{_HOUR})"
    r"(?:[:.h](?P<minute>\d\d))?(?: ?(?P<hours>hours|hrs|h))?(?P<clock> ?o['’]clock)?,? ?"
    r"(?P<half>a\.?m\.?|p\.?m\.?|(?:in the |this )?(?:morning|afternoon|evening)|at night)?"
)
_CHANGE = re.compile(
    r"(?:(?:it |they )?(?P<before>increased?|rose|rises?|grew|up|gained|decreased?|fell|falls?|dropped|down|declined?|"
    r"shrank|lost) (?:by )?)?(?P<sign>\+|-)?(?P<number>[\d.,]+) ?(?:%|percent|per cent)"
    r" ?(?P<after>increase|rise|growth|more|higher|decrease|fall|drop|decline|less|fewer|lower|loss)?"
)
_DOWN = re.compile(r"decrease|fell|fall|drop|down|decline|shrank|lost|loss|less|fewer|lower")
_FACTOR = re.compile(
    rf"(?:it |they )?(?:has )?(?:a )?(?P<word>{'|'.join(_FACTORS)})(?: (?:as (?:much|many|large|big|high|long)"
    r"(?: as (?:before|usual))?|the (?:price|number|amount|size)|in (?:size|number)|increase))?"
    r"|\*? ?(?P<number>[\d.]+) ?(?:x|times|-?fold)(?: (?:as (?:much|many|large|high)|increase|more))?"
    r"|[x*] ?(?P<by>[\d.]+)"
)


def _dates(text: str) -> Iterator[Quantity]:
    """Yield the dates that a text can be; a year without an era is a number."""
    if weekday := _WEEKDAY.match(text):
        yield from (replace(date, noun=weekday["day"]) for date in _dates(text[weekday.end() :]))
        return
    if re.search("|".join(_MONTHS), text):
        words = re.compile(rf"(?<![\w-])(?:{'|'.join(_ORDINALS)})(?!\w)")
        text = words.sub(lambda word: f"{_ORDINALS[word[0]]}th", text)
    periods: list[tuple] = []  # first year, last year, month, day; the usual reading first
    for pattern in _DATES:
        if match := re.fullmatch(pattern, text):
            part = match.groupdict()
            year, day = (int(part.get(name) or 0) or None for name in ("year", "day"))
            yield Quantity("date", (year, year, _MONTH_OF.get(part["month"]) or int(part["month"]), day))
    if match := _DECADE.fullmatch(text):
        first = int(match["decade"])
        periods = [(first, first + 99), (first, first + 9)] if first % 100 == 0 else [(first, first + 9)]
    elif (match := _CENTURY.fullmatch(text)) and (number := _ordinal_value(match["number"])):
        periods = [(100 * number - 99, 100 * number), (100 * number - 100, 100 * number - 1)]
    elif (match := _ERA.fullmatch(text)) and (match["era"] or match["after"]):
        year = int(match["year"]) * (-1 if (match["era"] or "").startswith("b") else 1)
        periods = [(year, year)]
    for number, period in enumerate(periods):
        yield Quantity("date", (*period, None, None), certain=number == 0)


_ROMAN = re.compile(r"(?=[ivxlcdm])m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})")
_ROMAN_DIGITS = dict(zip("ivxlcdm", (1, 5, 10, 50, 100, 500, 1000), strict=True))


def _ordinal_value(text: str) -> int | None:
    """Return the number of an ordinal, a Roman numeral or a number.

    >>> [_ordinal_value(text) for text in ("19th", "nineteenth", "xix", "twenty-second", "20", "blue")]
    [19, 19, 19, 22, 20, None]
    """
    if digits := re.fullmatch(r"(\d{1,6})(?:st|nd|rd|th)?", text):
        return int(digits[1])
    if _ROMAN.fullmatch(text):
        values = [_ROMAN_DIGITS[letter] for letter in text]
        return sum(-value if value < following else value for value, following in pairwise([*values, 0]))
    tens, _, last = text.replace("-", " ").rpartition(" ")
    if last in _ORDINALS and (not tens or (tens in _TENS and _ORDINALS[last] < 10)):
        return NUMBER_WORDS.get(tens, 0) + _ORDINALS[last]
    return NUMBER_WORDS.get(text)


def _clocks(text: str) -> Iterator[Quantity]:
    """Yield the time of day that a text is, in minutes after midnight."""
    if named := re.fullmatch(r"(?:(?:12|twelve) (?:o'clock )?)?(?:(noon|midday)|midnight)", text):
        yield Quantity("clock", 720 if named[1] else 0)
    match = _TIME.fullmatch(text)
    is_time = match and any(map(match.group, ("past", "minute", "clock", "half")))
    if not is_time or (match["hours"] and not match["minute"]):
        return
    hour, minute, half = _of_words(match["hour"]), int(match["minute"] or 0), match["half"] or ""
    if past := (match["past"] or "").removesuffix(" minutes"):
        minute = {"half": 30, "quarter": 15}.get(past) or _of_words(past)
        minute = -minute if match["to"] == "to" else minute
    is_late = half[:1] == "p" or "noon" in half or "evening" in half or (half == "at night" and 5 < hour != 12)
    if hour > 24 or minute > 59 or (half and hour > 12 and not is_late):
        return
    is_known = bool(half or match["hours"]) or hour > 12 or hour == 0 or text.startswith("0")
    is_decimal = bool(match["minute"]) and "." in text and not half and not match["clock"]
    hour = hour % 12 + 12 * is_late if half else hour
    yield Quantity("clock", (60 * hour + minute) % 1440, half=is_known, certain=not is_decimal)


def _changes(text: str) -> Iterator[Quantity]:
    """Yield what a text says about a change: doubled, twice as much, 2x, a 100% increase."""
    if match := _FACTOR.fullmatch(text):
        yield Quantity("times", _FACTORS[match["word"]] if match["word"] else Fraction(match["number"] or match["by"]))
    change = _CHANGE.fullmatch(text)
    if change and (change["before"] or change["after"] or change["sign"] == "+"):
        share = Fraction(change["number"].replace(",", "")) / 100
        down = _DOWN.search(f"{change['before'] or ''} {change['after'] or ''}")
        yield Quantity("times", 1 - share if down else 1 + share, noun="%")


_RANGE = re.compile(r"between (.+) and (.+)|(?:from )?(.+?) (?:to|until|through) (.+)|(.*\d[a-z%]*) ?- ?([$€£]?\d.*)")


def _ranges(text: str) -> Iterator[Quantity]:
    """Yield the range that a text is: between 5 and 10, 5 to 10 km, 1944-45."""
    match = _RANGE.fullmatch(text)
    if not match:
        return
    first, second = (part for part in match.groups() if part)
    if re.fullmatch(r"[12]\d{3}", first) and re.fullmatch(r"\d\d", second):
        second = first[:2] + second
    ends = ([*_dates(part), *_clocks(part)] or [n for n in _numbers(part) if n.certain] for part in (first, second))
    lows, highs = ends
    if len(lows) != 1 or not highs:
        return
    low, high = lows[0], highs[0]
    if low.kind in CURRENCIES and high.kind == "number":
        high = replace(high, kind=low.kind)
    if low.kind == "number" and high.kind not in ("number", "date", "clock", "ordinal"):
        low = replace(low, kind=high.kind, value=low.value * high.size, size=high.size)
    scale = re.search(r"[ \d](k|thousand|million|billion|trillion|bn|mn)\b", second)
    if scale and not re.search(r"[a-z]", first):
        low = replace(low, value=low.value * _MORE_SCALES[scale[1]])
    if low.kind == high.kind and low.noun in ("", high.noun):
        yield Quantity("range", (low, high))


# --- numbers: a sign, a currency, digits or words, a scale, a unit

_PREFIX = re.compile(
    rf"(?P<sign>(?:-|minus |negative )\s*(?=[\d.$€£a-z√{''.join(_VULGAR)}]))?\+?(?:the )?"
    rf"(?:(?:(?P<sign_of_money>{_SIGN})|(?P<code>usd|eur|gbp|jpy|inr|chf|cny|cad|aud)(?= ?\d))\s*"
    r"(?P<minus>-\s*(?=\d))?)?(?P<half>half (?:of )?(?:an? )(?=[a-z]))?"
)
_BELOW = re.compile(r"(?: degrees?)? below (?:zero|0|freezing)$")
_AND_A_HALF = re.compile(r"(.+ )?([a-z]+) and (?:an? |one )?(half|quarter)")


def _numbers(text: str) -> Iterator[Quantity]:
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
        counts = [number.value for number in _numbers(first) if number.kind == "number"]
        yield from (Quantity(kind, (count + Fraction(1, _PARTS[more[3]])) * size, size) for count in counts)
        return
    article = re.fullmatch(r"an? ([a-z]+)", text)
    if article and article[1] in UNITS:
        text = f"1 {article[1]}"
    for kind, value, step, is_usual, rest in _leading(text):
        if kind == "ordinal":
            noun = re.fullmatch(r" ?((?:[a-z'-]+ ?){0,3})", rest)
            yield from [Quantity(kind, sign * value, noun=noun[1].strip())] if noun else []
            continue
        for factor, is_sure, tail in _scales(rest, currency):
            for number in _with_unit(value * factor, step * factor, tail, currency):
                rounded, certain = int(factor > 100 and step != 0), is_usual and is_sure and number.certain
                signed = sign * number.value
                yield replace(number, value=signed, rounded=rounded, exact=_ends(value), certain=certain)


_FRACTION = re.compile(
    rf"(?:(\d+)(?: |-| and ))?(\d+) ?/ ?(\d+)(?![\d/.])|(?:(?P<whole>\d+) ?)?(?P<part>[{''.join(_VULGAR)}])"
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


def _leading(text: str) -> list[tuple[str, Fraction, Fraction, bool, str]]:
    """Return (kind, value, step, is the usual reading, rest of the text) of the number at the start of a text."""
    zero = Fraction(0)
    if mixed := _FRACTION.match(text):
        part = Fraction(_VULGAR[mixed["part"]]) if mixed["part"] else Fraction(int(mixed[2]), int(mixed[3]))
        return [("number", int(mixed[1] or mixed["whole"] or 0) + part, zero, True, text[mixed.end() :])]
    if share := _SHARE.match(text):
        parts = (part.replace(",", "") for part in share.groups())
        top, bottom = (Fraction(part) if part[0].isdigit() else NUMBER_WORDS.get(part) for part in parts)
        if top is not None and bottom and top < bottom:
            return [("number", Fraction(top) / bottom, zero, True, text[share.end() :])]
    ordinal = _ORDINAL.match(text)
    if ordinal and (ordinal[1][0].isdigit() or ordinal[1].rpartition("-")[2] in _ORDINALS):
        if value := _ordinal_value(ordinal[1]):
            return [("ordinal", Fraction(value), zero, True, text[ordinal.end() :])]
    if digits := _DIGITS.match(text):
        return _of_digits(digits, text[digits.end() :])
    if part := _ARTICLE_PART.match(text):
        return [("number", Fraction(1, _PARTS[part[1] or part[2]]), zero, True, text[part.end() :])]
    if words := _WORDS.match(text):
        return _in_words(words[0], text[words.end() :])
    scale = re.match(r"an? (?=(?:hundred|thousand|million|billion|dozen)\b)", text)
    return [("number", Fraction(1), zero, True, text[scale.end() - 1 :])] if scale else []


def _ends(value: Fraction) -> bool:
    """Return whether a number has finitely many decimals."""
    return pow(10, LONGEST, value.denominator) == 0


def _of_digits(digits: re.Match, rest: str) -> list[tuple[str, Fraction, Fraction, bool, str]]:
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
    usual = [("number", value, step, True, rest)]
    return usual if other is None else [*usual, ("number", other, Fraction(0), False, rest)]


def _in_words(words: str, rest: str) -> list[tuple[str, Fraction, Fraction, bool, str]]:
    """Return what number words and what follows them say: twenty-five, two thirds, one and a half."""
    values = [NUMBER_WORDS.get(word, 100) for word in re.findall(r"[a-z]+", words) if word != "and"]
    if any(not a >= 20 > 10 > b for a, b in pairwise(values) if 100 not in (a, b)):
        return []  # five two one, fifty-four ten
    value = Fraction(_of_words(words))
    if (part := re.match(r"[ -]([a-z]+)\b", rest)) and part[1] in _PARTS:
        value, rest = value / _PARTS[part[1]], rest[part.end() :]
    elif more := _MORE_PARTS.match(rest):
        value, rest = value + Fraction(NUMBER_WORDS[more[1] or "one"], _PARTS[more[2]]), rest[more.end() :]
    return [("number", value, Fraction(0), True, rest)]


def _scales(rest: str, currency: str | None) -> list[tuple[int, bool, str]]:
    """Return (factor, is the usual reading, rest) of the scale behind a number: million, k, dozen."""
    if scale := re.match(rf"[ -]?({_SCALE})\b\.?(?:[ -]?(million|billion|trillion)\b)?", rest):
        return [(_MORE_SCALES[scale[1]] * _SCALES.get(scale[2], 1), True, rest[scale.end() :])]
    letter = re.match(r" ?([mb])\b", rest)
    scaled = [(_LETTERS[letter[1]], bool(currency) or letter[1] == "b", rest[letter.end() :])] if letter else []
    return scaled if letter and currency else [*scaled, (1, True, rest)]


_RELATION = re.compile(  # what stands behind a number and is not its noun
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
        for kind, size in [UNITS[unit], *([_MASS] if unit in ("pound", "pounds") else [])]:
            yield Quantity(kind, value * size, size, step * size)
    elif per and (per[1] in UNITS or (currency and not per[1])) and per[2] in UNITS:
        (kind, size), (of, each) = (currency, 1) if currency else UNITS[per[1]], UNITS[per[2]]
        kind, size = f"{kind}/{of}", Fraction(size) / each
        kind, size = ("km/h", size * Fraction(18, 5)) if kind == "metres/seconds" else (kind, size)
        yield Quantity(kind, value * size, size, step * size)
    elif not currency:
        parts = re.match(r"([a-z]{1,40})\.?(?:,? and |, | )?(?=\d|[a-z]{1,40} )", rest)
        kind, size = UNITS.get(parts[1], ("", 0)) if parts else ("", 0)
        for more in _numbers(rest[parts.end() :]) if kind else ():  # 2 hours and 15 minutes
            if more.kind == kind and more.size < size and more.certain:
                yield replace(more, value=value * size + more.value)
                return
        noun = _NOUN.fullmatch(rest)
        if noun and not _RELATION.search(rest):
            yield Quantity("number", value, step=step, noun=noun[1])


_NAMED = re.compile(
    r"([a-z][\w'.&]*(?:[ -][a-z][\w'.&]*){0,3})[ -](?:the )?([ivxlcdm]+|\d{1,5}(?:\.\d+)?|[a-z]+(?:-[a-z]+)?)"
)


def _named(text: str, written: str) -> Iterator[Quantity]:
    """Yield a Roman numeral, or a name with its number: Apollo 11, Louis XIV, World War Two."""
    if len(written) > 1 and written.isupper() and _ROMAN.fullmatch(text):
        yield Quantity("number", Fraction(_ordinal_value(text)))
        return
    match = _NAMED.fullmatch(text)
    if not match or match[1].split()[0] in NUMBER_WORDS or len(match[1]) < 2 or written.endswith(" one"):
        return  # "one" is a pronoun there
    value = Fraction(match[2]) if match[2][0].isdigit() else _ordinal_value(match[2])
    name = re.sub(r"^(?:the |king |queen |pope |emperor )+| the$", "", match[1])
    if value is not None and name and not _RELATION.search(name):
        yield Quantity("named", Fraction(value), noun=name)


def _in_two_units(text: str) -> Iterator[Quantity]:
    """Yield the readings of one amount that is given twice: 24,901 miles (40,075 km), 5 ft or 152 cm."""
    match = re.fullmatch(r"(.+?)(?:,? or | ?\(|, | ?/ ?| ?= ?)([^()]+?)\)?", text)
    for item, other in product(*map(readings, match.groups())) if match else ():
        is_other_unit = item.kind == other.kind != "number" and item.size != other.size
        if is_other_unit or {item.kind, other.kind} == {"celsius", "fahrenheit"}:
            yield from [item] if _same(item, other, "") else []


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def _expressions(text: str) -> Iterator[Quantity]:
    """Yield the value of arithmetic with roots, powers and π.

    >>> [round(float(q.value), 3) for text in ("5 √(2)", "√(50)", "2^10", "3π", "2*(3+4)") for q in _expressions(text)]
    [7.071, 7.071, 1024.0, 9.425, 14.0]
    """
    if not re.fullmatch(r"[\d\s.+*/^()√π-]{1,60}", text) or not re.search(r"[√π^*(]", text) or "**" in text:
        return
    text = re.sub(r"(?<=[\dπ)]) ?(?=[√π(])", "*", text.replace(" ", ""))
    try:
        tree = ast.parse(text.replace("√", "root").replace("π", "pi").replace("^", "**"), mode="eval")
        value = _evaluated(tree.body)
    except (SyntaxError, RecursionError):
        return
    yield Quantity("number", value, exact=isinstance(value, Fraction) and _ends(value))


def _evaluated(node: ast.expr) -> Fraction | float:
    match node:
        case ast.Constant(value=int() | float()):
            return Fraction(str(node.value))
        case ast.Name(id="pi"):
            return pi
        case ast.UnaryOp(op=ast.USub()):
            return -_evaluated(node.operand)
        case ast.Call(func=ast.Name(id="root"), args=[of]):
            value = sqrt(_evaluated(of))
            return Fraction(int(value)) if value == int(value) else value
        case ast.BinOp(op=ast.Pow()):
            base, power = _evaluated(node.left), _evaluated(node.right)
            if abs(power) <= 64 and abs(base) < 10**6:
                return base**power if power == int(power) else float(base) ** float(power)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_evaluated(node.left), _evaluated(node.right))
    raise ValueError("not arithmetic")


# --- equality -----------------------------------------------------------------------------------------------------


def _near(first, second, share: float = EXACT) -> bool:
    if isinstance(first, Fraction | int) and isinstance(second, Fraction | int) and share == EXACT:
        return first == second
    return abs(first - second) <= share * max(abs(first), abs(second))


def _same(given: Quantity, said: Quantity, question: str) -> bool | None:
    """Return whether a quantity of an answer is that of a reference; None where that cannot be known."""
    kinds = {given.kind, said.kind}
    if given.bound != said.bound:
        upwards = [item.bound in ("more", "least") for item in (given, said)]
        return False if given.bound and said.bound and upwards[0] != upwards[1] else None
    for kind, comparison in _COMPARISONS.items():
        if kind in kinds:
            return comparison(given, said, question)
    if "percent" in kinds and kinds != {"percent"}:
        return _same_share(given, said, question)
    if kinds <= {"number", "ordinal"}:
        return _same_count(given, said, question)
    if given.kind == said.kind:
        return _same_measure(given, said, question)
    for rate, plain in ((given, said), (said, given)):  # the question may have said per what
        of, slash, _ = rate.kind.replace("km/h", "metres/h").partition("/")
        if slash and of == plain.kind and rate.number == plain.number:
            return None
    return _same_kinds(given, said, question)


def _same_tuple(given: Quantity, said: Quantity, question: str) -> bool | None:
    if given.kind != said.kind:
        return False if "number" in (given.kind, said.kind) else None
    if given.value == said.value:
        return True if given.noun == said.noun or "" in (given.noun, said.noun) else None
    is_ordered = given.noun and said.noun
    return None if sorted(given.value) == sorted(said.value) and not is_ordered else False


def _same_range(given: Quantity, said: Quantity, question: str) -> bool | None:
    if given.kind == said.kind:
        ends = list(zip(given.value, said.value, strict=True))
        verdicts = [_same(item, other, question) for item, other in ends]
        measures = all(item.kind == other.kind not in ("date", "clock", "number", "ordinal") for item, other in ends)
        if None in verdicts or (measures and all(_near(item.value, other.value, ROUNDED) for item, other in ends)):
            return True if all(verdicts) else None
        return all(verdicts)
    if said.kind == "range" and given.kind == said.value[0].kind and given.kind not in ("date", "clock"):
        low, high = (end.value for end in said.value)
        return None if _near(low, high, 4 * ROUNDED) and low <= given.value <= high else False
    return None


def _same_date(given: Quantity, said: Quantity, question: str) -> bool | None:
    if given.kind != said.kind:
        date, other = (given, said) if given.kind == "date" else (said, given)
        first, last, *_ = date.value
        if other.kind != "number" or other.noun or first is None:
            return None
        if first <= other.value <= last:  # a year in a decade is less exact, a day in a year more exact
            return True if (date is said) == (first == last) else None
        return False if 1000 <= other.value < 2100 and first >= 1000 else None
    (first, last, *parts), (early, late, *others) = given.value, said.value
    both = [pair for pair in zip(parts, others, strict=True) if None not in pair]
    if given.noun and said.noun and given.noun != said.noun:
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
    return True if (years or both) and not less_exact and (said.noun or not given.noun) else None


def _same_clock(given: Quantity, said: Quantity, question: str) -> bool | None:
    if given.kind != said.kind:
        return None
    if given.half and said.half:
        return given.value == said.value
    if given.value % 720 != said.value % 720:
        return False
    return True if given.half == said.half or not given.half else None


def _same_change(given: Quantity, said: Quantity, question: str) -> bool | None:
    if given.kind == said.kind:
        return _near(given.value, said.value)
    times, other = (given, said) if given.kind == "times" else (said, given)
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


def _same_share(given: Quantity, said: Quantity, question: str) -> bool | None:
    """Return whether a percentage is the same as a number: 20% is 20 where a percentage is asked for, or 0.2."""
    percent, other = (given, said) if given.kind == "percent" else (said, given)
    if other.kind != "number" or (other.noun and not _in_question(other.noun, question)):
        return None if other.kind in ("number", "percentage points") else False
    if _near(percent.value, other.value * 100) or (not other.exact and _rounds(other.value * 100, percent)):
        return True
    if not _near(percent.value, other.value):
        return False
    is_large = abs(other.value) > 1
    if _ASKS_SHARE.search(question) or (is_large and percent is given):
        return True
    return None if is_large or percent is given else False


_COUNTED = frozenset([*"people persons times items pieces units of them in total".split(), "in total", "of them"])
_GROUP = re.compile(r"\b(?:pairs?|sets?|groups?|packs?|boxes|rows?|times|parts?|gross|score)\b")  # of several


def _in_question(noun: str, question: str) -> bool:
    asked = question.lower()
    return noun in _COUNTED or any(len(word) > 2 and word[:4] in asked for word in noun.split())


def _same_count(given: Quantity, said: Quantity, question: str) -> bool | None:
    item, other = given.noun, said.noun
    if any(word[:4] != same[:4] for word, same in zip(item.split(), other.split(), strict=False)):
        return None
    verdict = _same_value(given, said, question)
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


def _same_value(given: Quantity, said: Quantity, question: str) -> bool | None:
    """Return whether two values of one kind are equal, as exactly as they are given."""
    first, second = given.value, said.value
    if _near(first, second):
        return True
    if (not given.exact and _rounds(first, said)) or (not said.exact and _rounds(second, given)):
        return True
    if _ASKS_SCALED.search(question):
        return None
    gap, asked = abs(first - second), 2 * bool(_ASKS_ROUGHLY.search(question))
    roughly = max(given.rounded, said.rounded, asked)
    if roughly and given.step and -given.step / 2 <= second - first < given.step / 2:
        return True if _near(first, second, ROUNDED) else None
    if max(said.rounded, asked) and said.step and gap <= said.step / 2:
        return True if _near(first, second, CONVERTED) else None if _near(first, second, 2 * ROUNDED) else False
    if roughly == 2 and _near(first, second, 2 * ROUNDED):
        return None
    for long, short in ((given, said), (said, given)):  # 3.14 and 3.1416
        if 0 < long.step < short.step < short.size and gap <= short.step / 2 and _near(first, second, CONVERTED):
            return None
    return False


def _same_measure(given: Quantity, said: Quantity, question: str) -> bool | None:
    verdict, first, second = _same_value(given, said, question), given.value, said.value
    if verdict is not False or given.size == said.size:
        return verdict
    if given.kind == "bytes" and _near(first, second, 2 * ROUNDED):
        return None  # 1,000 and 1,024
    if _near(first, second, CONVERTED / 5) or _rounds(first, said):
        return True
    return None if _near(first, second, CONVERTED) else False


def _same_kinds(given: Quantity, said: Quantity, question: str) -> bool | None:
    """Return whether quantities of different kinds are the same: bare numbers, degrees, months and days."""
    kinds = {given.kind, said.kind}
    if kinds == {"celsius", "fahrenheit"}:
        celsius, fahrenheit = (given, said) if given.kind == "celsius" else (said, given)
        return abs(celsius.value * Fraction(9, 5) + 32 - fahrenheit.value) < 1
    if "degrees" in kinds and kinds & {"celsius", "fahrenheit", "number"}:
        return given.value == said.value
    if kinds == {"seconds", "months"}:
        first, second = (item.value * (MONTH if item.kind == "months" else 1) for item in (given, said))
        return None if _near(first, second, ROUNDED * (1 + max(given.rounded, said.rounded))) else False
    if kinds <= _DOLLARS:
        return None
    if "number" not in kinds:
        return False if "ordinal" not in kinds else None
    bare, measure = (given, said) if given.kind == "number" else (said, given)
    if bare.noun:
        return None

    def compared(comparison, bare: Quantity, measure: Quantity) -> bool | None:
        return comparison(*((bare, measure) if given.kind == "number" else (measure, bare)), question)

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
