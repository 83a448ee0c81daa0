"""Quantities: numbers with units, dates, times, ranges and fractions, read from text, and which of them are equal.

`compare` decides whether two texts that are one quantity each mean the same; of any other text it says nothing.
`quantities` finds the numbers with their units in running text.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import pi, sqrt

LONGEST, LONGEST_WORDS = 1_000, 120  # characters of a number in digits, and of any other quantity
MOST_WORDS = 20  # of such a text
EXACT = Fraction(1, 10**9)  # relative difference of equal numbers, for roots and powers
CONVERTED = Fraction(1, 40)  # relative difference that rounding after a conversion of units can explain
ROUNDED = Fraction(1, 20)  # the same of a number that is called approximate, or is written as "120k"
MONTH = 2_629_800  # seconds
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS = {word: value for value, word in enumerate(_SMALL.split())}
NUMBER_WORDS |= {word: 10 * tens for tens, word in enumerate(_TENS.split(), 2)}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
NUMBER_WORD = "|".join(sorted([*NUMBER_WORDS, *_SCALES], key=len, reverse=True))  # pattern
_MORE_SCALES = _SCALES | {"lakh": 10**5, "crore": 10**7, "dozen": 12, "mn": 10**6, "mln": 10**6, "bn": 10**9}
_MORE_SCALES |= {"k": 10**3, "tn": 10**12, "thousands": 10**3, "millions": 10**6, "billions": 10**9, "mio": 10**6}
_LETTERS = {"m": 10**6, "b": 10**9}  # also metres, so a second reading
_ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth".split(),
        1,
    )
}
_ORDINALS |= {word.removesuffix("y") + "ieth": NUMBER_WORDS[word] for word in _TENS.split()}
_ORDINALS |= {"hundredth": 100, "thousandth": 1000}
_PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4}
_PARTS |= {word + plural: value for word, value in _ORDINALS.items() if value > 2 for plural in ("", "s")}
_VULGAR = dict(
    zip("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", "1/2 1/3 2/3 1/4 3/4 1/5 2/5 3/5 4/5 1/6 5/6 1/8 3/8 5/8 7/8".split(), strict=True)
)
_TIMES = {"once": 1, "twice": 2, "double": 2, "doubled": 2, "doubling": 2, "twofold": 2, "two-fold": 2, "thrice": 3}
_TIMES |= {"triple": 3, "tripled": 3, "threefold": 3, "three-fold": 3, "trebled": 3, "quadrupled": 4, "fourfold": 4}
_TIMES |= {"halved": Fraction(1, 2), "quintupled": 5, "tenfold": 10, "ten-fold": 10}

# word -> (kind, size in the smallest unit of the kind)
UNITS = {
    word: (kind, Fraction(size))
    for kind, size, words in (
        ("seconds", "0.001", "ms msec millisecond milliseconds"),
        ("seconds", "1", "second seconds sec secs s"),
        ("seconds", "60", "minute minutes min mins"),
        ("seconds", "3600", "hour hours hr hrs h"),
        ("seconds", "86400", "day days"),
        ("seconds", "604800", "week weeks wk wks"),
        ("seconds", "1209600", "fortnight fortnights"),
        ("months", "1", "month months"),
        ("months", "12", "year years yr yrs"),
        ("months", "120", "decade decades"),
        ("months", "1200", "century centuries"),
        ("metres", "0.000000001", "nm nanometre nanometres nanometer nanometers"),
        ("metres", "0.000001", "µm micrometre micrometres micrometer micrometers micron microns"),
        ("metres", "0.001", "mm millimetre millimetres millimeter millimeters"),
        ("metres", "0.01", "cm centimetre centimetres centimeter centimeters"),
        ("metres", "1", "m metre metres meter meters"),
        ("metres", "1000", "km kms kilometre kilometres kilometer kilometers"),
        ("metres", "0.0254", "inch inches in"),
        ("metres", "0.3048", "ft foot feet"),
        ("metres", "0.9144", "yard yards yd yds"),
        ("metres", "1609.344", "mile miles mi"),
        ("metres", "1852", "nmi"),
        ("grams", "0.000001", "µg microgram micrograms mcg"),
        ("grams", "0.001", "mg milligram milligrams"),
        ("grams", "1", "g gram grams gramme grammes"),
        ("grams", "1000", "kg kgs kilo kilos kilogram kilograms kilogrammes"),
        ("grams", "1000000", "tonne tonnes"),
        ("grams", "453.59237", "lb lbs pound pounds"),
        ("grams", "28.349523125", "oz ounce ounces"),
        ("grams", "6350.29318", "stone"),
        ("litres", "0.001", "ml millilitre millilitres milliliter milliliters cc"),
        ("litres", "0.01", "cl centilitre centilitres centiliter centiliters"),
        ("litres", "1", "l litre litres liter liters"),
        ("litres", "3.785411784", "gallon gallons gal"),
        ("litres", "0.473176473", "pint pints"),
        ("square metres", "1", "m2 m² sqm"),
        ("square metres", "1000000", "km2 km²"),
        ("square metres", "10000", "hectare hectares ha"),
        ("square metres", "4046.8564224", "acre acres"),
        ("bytes", "0.125", "bit bits"),
        ("bytes", "1", "byte bytes"),
        ("bytes", "1000", "kb kilobyte kilobytes"),
        ("bytes", "1000000", "mb megabyte megabytes"),
        ("bytes", "1000000000", "gb gigabyte gigabytes"),
        ("bytes", "1000000000000", "tb terabyte terabytes"),
        ("hertz", "1", "hz hertz"),
        ("hertz", "1000", "khz kilohertz"),
        ("hertz", "1000000", "mhz megahertz"),
        ("hertz", "1000000000", "ghz gigahertz"),
        ("watts", "1", "w watt watts"),
        ("watts", "1000", "kw kilowatt kilowatts"),
        ("watts", "1000000", "mw megawatt megawatts"),
        ("watts", "1000000000", "gw gigawatt gigawatts"),
        ("volts", "1", "v volt volts"),
        ("volts", "1000", "kv kilovolt kilovolts"),
        ("volts", "0.001", "mv millivolt millivolts"),
        ("joules", "1", "j joule joules"),
        ("joules", "1000", "kj kilojoule kilojoules"),
        ("joules", "4184", "kcal kilocalorie kilocalories"),
        ("km/h", "1", "km/h kph kmh"),
        ("km/h", "1.609344", "mph"),
        ("km/h", "3.6", "m/s"),
        ("km/h", "1.852", "knot knots"),
        ("percent", "1", "% percent pct"),
        ("percentage points", "1", "pp"),
        ("celsius", "1", "°c celsius centigrade"),
        ("fahrenheit", "1", "°f fahrenheit"),
        ("degrees", "1", "° degree degrees deg"),
        ("dollars", "1", "dollar dollars usd us$ buck bucks"),
        ("dollars", "0.01", "cent cents"),
        ("euros", "1", "euro euros eur"),
        ("pounds", "1", "gbp pound pounds sterling quid"),
        ("pounds", "0.01", "penny pence"),
        ("yen", "1", "yen jpy"),
        ("rupees", "1", "rupee rupees inr"),
        ("francs", "1", "chf franc francs"),
        ("yuan", "1", "yuan cny rmb renminbi"),
        ("Canadian dollars", "1", "cad c$ ca$"),
        ("Australian dollars", "1", "aud a$ au$"),
    )
    for word in words.split()
} | {"pounds": ("pounds", Fraction(1)), "pound": ("pounds", Fraction(1))}
_MASS = ("grams", UNITS["lb"][1])  # the second reading of "pounds"
_LONG_UNITS = {
    "per cent": "%", "miles per hour": "mph", "kilometres per hour": "km/h", "kilometers per hour": "km/h",
    "metres per second": "m/s", "meters per second": "m/s", "square metres": "m2", "square meters": "m2",
    "square kilometres": "km2", "square kilometers": "km2", "sq km": "km2", "sq m": "m2", "percentage points": "pp",
    "percentage point": "pp", "miles an hour": "mph", "kilometres an hour": "km/h", "kilometers an hour": "km/h",
    "nautical miles": "nmi", "fluid ounces": "fl oz", "us dollars": "usd",
    "u.s. dollars": "usd", "american dollars": "usd", "canadian dollars": "cad", "australian dollars": "aud",
    "pounds sterling": "gbp", "british pounds": "gbp", "metric tons": "tonnes", "metric tonnes": "tonnes",
    "years old": "years", "years of age": "years", "swiss francs": "chf", "°celsius": "°c", "°fahrenheit": "°f",
}  # fmt: skip
_MONEY = {"us$": "dollars", "ca$": "Canadian dollars", "c$": "Canadian dollars", "au$": "Australian dollars"}
_MONEY |= {"a$": "Australian dollars", "$": "dollars", "€": "euros", "£": "pounds", "¥": "yen", "₹": "rupees"}
CURRENCIES = {kind for kind, _ in UNITS.values()} & {
    "dollars", "euros", "pounds", "yen", "rupees", "francs", "yuan", "Canadian dollars", "Australian dollars"
}  # fmt: skip
_DOLLARS = {"dollars", "Canadian dollars", "Australian dollars"}

# --- numbers in running text ------------------------------------------------------------------------------------

_CLOCK = (
    r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?\s?(?P<half>[ap])\.?m\b\.?|(?P<hour24>\d{1,2}):(?P<minute24>\d\d)\b"
)
_IN_TEXT = re.compile(
    rf"(?i)(?<![\w.])(?:{_CLOCK}"
    rf"|(?P<sign>(?<![\w-])[-−]|(?<!\w)minus )?(?:(?P<money>[$€£])\s?)?"
    rf"(?:(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:(?:st|nd|rd|th)\b)?"
    rf"|(?P<words>\b(?:{NUMBER_WORD})(?:(?:[ -]|(?<=hundred) and |(?<=thousand) and )(?:{NUMBER_WORD}))*\b))"
    rf"(?:[ -]?(?P<scale>hundred|thousand|million|billion|trillion)\b|(?P<letter>k|mn|m|bn|b)\b)?"
    rf"(?:[ -]?(?P<unit>%|per cent\b|°\s?[cf]\b|degrees? (?:celsius|centigrade|fahrenheit)\b|km/h|kilomet(?:er|re)s "
    rf"per hour\b|miles per hour\b|[a-z]+\b))?)"
)
_SINGLE = frozenset("shlgvwjin")  # letters and words that are units only where the whole text is a quantity


@dataclass(frozen=True)
class NumberInText:
    """A number with its unit in a text.

    Attributes:
        start: first character in the text, sign included.
        end: end in the text, unit included.
        value: the number in the smallest unit of its kind.
        kind: what the unit measures; None for a bare number.
        number: the number as written, before the unit.
    """

    start: int
    end: int
    value: float
    kind: str | None
    number: float

    @property
    def key(self) -> str:
        """Key that is equal for quantities of equal value and kind."""
        return f"#{self.value:.12g}|{self.kind or ''}"


def _of_words(words: str, zero: float = 0) -> float:
    """Return the value of number words; exactly, or as a float that cannot overflow with `zero=0.0`.

    >>> _of_words("twelve hundred and fifty"), _of_words("two million five hundred thousand", 0.0)
    (1250, 2500000.0)
    """
    total = group = zero
    for word in re.findall(r"[a-z]+", words):
        if word == "hundred":
            group = (group or zero + 1) * 100
        elif word in _SCALES:
            total, group = total + (group or zero + 1) * _SCALES[word], zero
        elif word != "and":
            group += NUMBER_WORDS[word]
    return total + group


def quantities(text: str) -> list[NumberInText]:
    """Return the numbers of a text, in order.

    >>> [(q.value, q.kind) for q in quantities("$4.2 billion in 24 months, at 9 pm, -12 and twenty-five")]
    [(4200000000.0, 'dollars'), (24.0, 'months'), (1260.0, 'clock'), (-12.0, None), (25.0, None)]
    """
    result = []
    for match in _IN_TEXT.finditer(text):
        end = match.end()
        if match["hour24"] or match["hour"]:
            hour, minute = int(match["hour24"] or match["hour"]), int(match["minute24"] or match["minute"] or 0)
            if match["half"]:
                hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
            result.append(NumberInText(match.start(), end, 60.0 * hour + minute, "clock", hour + minute / 100))
            continue
        number = float(match["digits"].replace(",", "")) if match["digits"] else _of_words(match["words"].lower(), 0.0)
        if match["sign"]:
            number = -number
        unit = (match["unit"] or "").lower()
        unit = re.sub(r"^degrees? |\s(?=[cf]$)", "", _LONG_UNITS.get(unit, unit))
        kind, size = UNITS.get(unit, (None, 1)) if unit not in _SINGLE else (None, 1)
        if match["unit"] and kind is None:
            end = match.start("unit")  # not a unit
            end -= len(text[:end]) - len(text[:end].rstrip(" -"))
        if match["letter"]:
            letter = match["letter"].lower()
            if match["money"]:
                number *= _LETTERS.get(letter) or _MORE_SCALES[letter]
            elif letter == "m" and kind is None:
                kind, size, end = "metres", 1, match.end("letter")
            else:
                end = match.start("letter")
        elif match["scale"]:
            number *= _SCALES[match["scale"].lower()]
        if match["money"]:
            kind, size = _MONEY[match["money"]], 1
        result.append(NumberInText(match.start(), end, number * float(size), kind, number))
    return result


def equal(first: NumberInText, second: NumberInText) -> bool:
    """Return whether two numbers of running texts are equal.

    A bare number equals one with a unit if the numbers are equal. Values in different units of one kind may differ by
    1%, for rounding: 5 miles equal 8 km.

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
    return abs(first.value - second.value) <= 0.01 * max(abs(first.value), abs(second.value)) and (
        first.value / first.number != second.value / second.number if first.number and second.number else False
    )


# --- texts that are one quantity --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity:
    """What a text that is one quantity can mean.

    Attributes:
        kind: what its unit measures, or "number", "ordinal", "times" (doubled), "date", "clock", "range", "tuple".
        value: in the smallest unit of its kind; minutes after midnight of a clock time; the items of a range or tuple;
            (first year, last year, month, day) of a date, None for what it does not give.
        size: of the unit as written, in the smallest unit of the kind.
        step: place value of the last digit that counts, in the smallest unit; 0 where it is exact.
        noun: an unknown word behind a number ("77 jars"), or the words before it ("Louis XIV").
        rounded: 1 for a rounded form ("120k"), 2 where the text calls it approximate, else 0.
        bound: "<", "<=", ">", ">=" of "at most 5" and the like, "" for a value.
        certain: whether it is the usual reading of the text; 1.500 can be 1500.
        half: whether a clock time says which half of the day it means.
        exact: whether its decimals are all of it; 1/3 and a root have no end.
    """

    kind: str
    value: object
    size: object = 1
    step: object = 0
    noun: str = ""
    rounded: int = 0
    bound: str = ""
    certain: bool = True
    half: bool = True
    exact: bool = True

    @property
    def number(self) -> object:
        """The number as written, before the unit."""
        return self.value / self.size


# What every text that is a quantity has; a quick way to pass others over.
_SAID = "|".join([NUMBER_WORD, *_ORDINALS, *_PARTS, *_TIMES, "dozen", "noon", "midnight", "midday", "century"])
_MONTHS = "january february march april may june july august september october november december".split()
NUMBER_IN_TEXT = re.compile(
    rf"(?i)[\d{''.join(_VULGAR)}√π]|\b(?:{_SAID}|{'|'.join(_MONTHS)}|an? [a-z]+)\b|\b[IVXLCDM]{{2,}}\b"
)


def is_number_word(word: str) -> bool:
    """Return whether a word belongs to a number, a time or a date.

    >>> is_number_word("twenty-five"), is_number_word("noon"), is_number_word("Paris")
    (True, True, False)
    """
    return bool(NUMBER_IN_TEXT.search(word))


_MONTH_OF = {name: i for i, month in enumerate(_MONTHS, 1) for name in (month, month[:3])} | {"sept": 9}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTH_OF, key=len, reverse=True))})\.?"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{3,4})"
_DATES = [
    re.compile(pattern)
    for pattern in (
        rf"(?:the )?{_DAY}(?: of| day of)?[ -]+{_MONTH}(?:,?[ -]+(?:of |in )?{_YEAR})?",
        rf"{_MONTH} (?:the )?{_DAY}(?:,? (?:of |in )?{_YEAR})?",
        rf"(?:the month of )?{_MONTH}(?:,? (?:of )?{_YEAR})?",
        r"(?P<year>\d{4})[-/.](?P<month>0?[1-9]|1[0-2])[-/.](?P<day>[0-3]?\d)",
        r"(?P<day>0?[1-9]|[12]\d|3[01])(?P<mark>[/.-])(?P<month>0?[1-9]|1[0-2])(?P=mark)(?P<year>\d{4})",
        r"(?P<month>0?[1-9]|1[0-2])/(?P<day>0?[1-9]|[12]\d|3[01])/(?P<year>\d{4})",
    )
]
_DECADE = re.compile(r"(?:the )?(?P<decade>[12]\d\d0)['’]?s")
_CENTURY = re.compile(r"(?:the )?(?P<number>[\w-]+)[ -](?:century|cent\.?|c\.)")
_ERA = re.compile(r"(?P<after>a\.?d\.? ?)?(?P<year>\d{1,5}) ?(?P<era>b\.?c\.?(?:e\.?)?|a\.?d\.?|c\.?e\.?)?")
_WEEKDAY = re.compile(r"(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day,? (?:the )?")
_HOUR_WORD = "|".join(_SMALL.split()[1:13])
_TIME = re.compile(
    rf"(?:(?P<past>half past|quarter past|quarter to|(?:\d{{1,2}}|{_HOUR_WORD}|twenty|twenty-five)(?: minutes)? "
    rf"(?:past|to)|half) )?(?P<hour>\d{{1,2}}|{_HOUR_WORD})(?:[:.h](?P<minute>\d\d))?(?: ?(?P<hours>hours|hrs|h))?"
    r"(?P<clock> ?o['’]clock)?,? ?"
    r"(?P<half>a\.?m\.?|p\.?m\.?|(?:in the |this )?(?:morning|afternoon|evening)|at night|noon|midnight)?"
)
_FORMS = str.maketrans({"−": "-", "–": "-", "—": "-", "\xa0": " ", "\u2009": " ", "\u202f": " ", "’": "'", "×": "*"})
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_ROUND = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|nearly|almost|circa|ca?\.|some|estimated(?: at)?|close to|~|≈|"
    r"an estimated|or so|give or take)\s*"
)
_BOUNDS = {
    ">": r">|more than|over|above|greater than|larger than|exceeding|in excess of",
    ">=": r">=|≥|at least|no (?:less|fewer) than|a minimum of|minimum|min\.",
    "<": r"<|less than|fewer than|under|below|smaller than",
    "<=": r"<=|≤|at most|up to|no more than|a maximum of|maximum|max\.",
    "!=": r"!=|≠|not equal to",
}
_BOUND = {sign: re.compile(rf"(?:[a-z] ?)?(?:is )?(?:{words})\s*(?!=)") for sign, words in _BOUNDS.items()}
_OR_MORE = re.compile(
    r",? (?:or|and) (?:(?P<more>older|more|over|above|higher|greater|later|up|upwards)|younger|less|fewer|under|below|"
    r"lower|earlier)$|(?<=\d)(?P<plus>\+)$"
)
_BEFORE = re.compile(
    r"(?:(?:in|on|at|by|for|from|since|of|is|was|be|it's|it is|it was|exactly|precisely|just|only|a total of|the year|"
    r"year|the number|number|no\.|equals?|=|#) ?(?=\W|\d|\b))+\s*"
)
_NAMED = re.compile(
    r"([a-z][\w'.&]*(?:[ -][a-z][\w'.&]*){0,3})[ -](?:the )?([ivxlcdm]+|\d{1,5}(?:\.\d+)?|[a-z]+(?:-[a-z]+)?)"
)
_ROMAN = re.compile(r"(?=[ivxlcdm])m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})")
_ROMAN_DIGITS = dict(zip("ivxlcdm", (1, 5, 10, 50, 100, 500, 1000), strict=True))
_GROUPED = r"\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d{1,3}(?:'\d{3})+|\d{1,3}(?:\.\d{3}){2,}"
_GROUPED += r"|\d{1,3}(?:\.\d{3})+(?=,\d)|\d{1,2}(?:,\d{2})+,\d{3}"
_DIGITS = re.compile(rf"(?P<whole>{_GROUPED}|\d+)(?:(?P<mark>[.,])(?P<decimals>\d+))?(?![\d])|(?P<none>\.\d+)")
_POWER = re.compile(r"(?:e|\s*[x*·]\s*10\s*(?:\^|\*\*)\s*)\(?(?P<power>[+-]?\d{1,3})\)?")
_ORDINAL = re.compile(r"(?:the )?(\d+)(?:st|nd|rd|th)\b")
_CHANGE = re.compile(
    r"(?:(?:it |they )?(?P<before>increased?|rose|rises?|grew|up|gained|decreased?|fell|falls?|dropped|down|declined?|"
    r"shrank|lost) (?:by )?)?(?P<sign>\+|-)?(?P<number>[\d.,]+) ?(?:%|percent|per cent)"
    r" ?(?P<after>increase|rise|growth|more|higher|decrease|fall|drop|decline|less|fewer|lower|loss)?"
)
_DOWN = re.compile(r"decrease|fell|fall|drop|down|decline|shrank|lost|loss|less|fewer|lower")


def compare(reference: str, answer: str, question: str = "") -> bool | None:
    r"""Return whether an answer is the quantity that a reference is; None if one of them is not one quantity.

    Args:
        reference: the reference.
        answer: the answer.
        question: the question: a unit that it asks for belongs to a bare number, and a noun behind a number may be its
            noun.

    >>> [compare(*pair) for pair in (("1000", "1,000"), ("24 months", "two years"), (r"\frac12", "0.5"), ("$5", "€5"))]
    [True, True, True, False]
    >>> compare("3:30 pm", "15:30"), compare("20%", "120%"), compare("5 miles", "8 km"), compare("Paris", "2")
    (True, False, True, None)
    """
    given, said = readings(reference), readings(answer)
    if not given or not said:
        return None
    verdicts: dict[bool, set] = {True: set(), False: set()}
    for item, other in product(given, said):
        verdicts[item.certain and other.certain].add(_same(item, other, question))
    if True in verdicts[True]:
        return True
    return None if None in verdicts[True] or True in verdicts[False] or not verdicts[True] else False


@lru_cache(2**14)
def readings(text: str) -> tuple[Quantity, ...]:
    r"""Return what a text can mean that is one quantity and no more; nothing of any other text.

    >>> [(q.kind, q.value) for q in readings("$1.2 million")], readings("12 of them and 3 more")
    ([('dollars', Fraction(1200000, 1))], ())
    >>> [q.value for q in readings("1.500")], [q.value for q in readings("12th of May 1894")]
    ([Fraction(3, 2), Fraction(1500, 1)], [(1894, 1894, 5, 12)])
    """
    if (
        len(text) > (LONGEST if re.fullmatch(r"\W?[\d\s.,]+", text) else LONGEST_WORDS)
        or not 0 < len(text.split()) <= MOST_WORDS
        or re.match(r"\W*['’]\d\d\W*\Z", text)
    ):  # '74
        return ()
    written = re.sub(r"(?<=\d) ?M\b", " million", _plain(text))
    text = written.lower()
    try:
        return tuple(dict.fromkeys(_read(text, written)))
    except (OverflowError, ValueError, ZeroDivisionError):
        return ()


def _plain(text: str) -> str:
    r"""Return a text without LaTeX, Markdown and the signs around it.

    >>> _plain(r"$\frac{1}{2}$."), _plain(r"\$460"), _plain(r"**90^\circ**"), _plain(r"5\sqrt 2")
    ('1/2', '$460', '90°', '5 √(2)')
    """
    text = re.sub(r"\*\*|__|`", "", text.translate(_FORMS)).strip()
    text = re.sub(r"(?<=\d) ?['′] ?(\d+) ?[\"”″]", r" ft \1 in", text)
    if "\\" in text or "$" in text:
        text = re.sub(r"(?<!\\)\$\$?([^$]*(?:\\\$[^$]*)*?)(?<![\s\\])\$\$?(?!\d)", r"\1", text)
        text = re.sub(r"\\[()\[\]]|\\(?:left|right)(?![a-z])|\\[,;! ]", "", text)
        text = re.sub(r"\\(?:text|mathrm|mathbf|textbf|boxed)\s*\{([^{}]*)\}", r"\1", text)
        text = re.sub(r"\\[dtc]?frac\s*(\d)\s*(\d)", r" \1/\2", text)
        text = re.sub(r"\\[dtc]?frac\s*\{(-?\w+)\}\s*\{(\w+)\}", r" \1/\2", text)
        text = re.sub(r"\\[dtc]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r" (\1)/(\2)", text)
        text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", r" √(\1)", text)
        text = re.sub(r"\\sqrt\s*(\d)", r" √(\1)", text)
        text = re.sub(r"\^\s{0,9}\{?\s{0,9}\\circ\s{0,9}\}?|\\degree", "°", text)
        text = re.sub(r"\\(?:times|cdot)", "*", text).replace("\\pi", " π").replace("{,}", ",")
        text = re.sub(r"\\(?=[$%#&])", "", text)
        signs = {"leq": "≤", "geq": "≥", "le": "≤", "ge": "≥", "neq": "≠", "lt": "<", "gt": ">"}
        for name, sign in signs.items():
            text = re.sub(rf"\\{name}(?![a-z])", sign, text)
    text = re.sub(r"√\s*(\d+)", r"√(\1)", text)
    text = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", text).translate(str.maketrans("{}", "()")) if "^{" in text else text
    text = re.sub(r"(?<=10)[⁰¹²³⁴-⁹⁻]+", lambda power: "^" + power[0].translate(_SUPERSCRIPTS), text)
    text = re.sub(r"\s+", " ", text).strip(" \"'“”!?;:*")
    text = text if re.search(r"(?i)\b(?:[ap]\.m|b\.c|a\.d|c\.e|b\.c\.e)\.$", text) else text.rstrip(".").rstrip()
    return text.removesuffix(",")


_SUM = r"[-\d\s+*/x().,]{0,40}"  # a part of a calculation
_EQUATION = re.compile(rf"(?:[a-z]|{_SUM}\d{_SUM}?[+*/x-]{_SUM}?\d[^=a-z]{{0,40}}) ?= ?([^=]+)")


def _read(text: str, written: str) -> Iterator[Quantity]:
    """Yield the readings of a plain text; `written` is the same text before it was lower-cased."""
    equation = _EQUATION.fullmatch(text)
    if equation:
        yield from readings(equation[1])
        return
    for sign, pattern in _BOUND.items():
        bound = pattern.match(text)
        if bound and bound.end() < len(text):
            yield from (replace(reading, bound=sign) for reading in readings(text[bound.end() :]))
            return
    tail = _OR_MORE.search(text)
    if tail:
        sign = ">=" if tail["more"] or tail["plus"] else "<="
        yield from (replace(reading, bound=sign) for reading in readings(text[: tail.start()]))
        return
    tuples = list(_tuple(text))
    if tuples and (text[0] in "([" or "<" in text or "≤" in text or re.search(r",\s", text)):
        yield from tuples
        return
    start = _BEFORE.match(text)
    if start and start.end() < len(text):
        text, written = text[start.end() :], written[start.end() :]
    around = _ROUND.match(text)
    loose = bool(around)
    if around:
        text, written = text[around.end() :], written[around.end() :]
    for tail in (" or so", " approximately", " exactly", " roughly", " in total", " or thereabouts"):
        if text.endswith(tail):
            loose, text = loose or tail != " exactly", text.removesuffix(tail).rstrip(" ,")
            written = written[: len(text)]
    values = [*_dates(text), *_clocks(text), *_twice(text)]
    if not any(reading.certain for reading in values):
        values += list(_numbers(text)) or list(_ranges(text))
    if not values or (len(values) == 1 and values[0].noun):
        values = [*_romans(text, written)] or values or [*_named(text, written)]
    if not values:
        values = [*_expression(text)] or [*_in_two_units(text)]
    yield from (replace(reading, rounded=2 if loose else reading.rounded) for reading in values)
    yield from tuples


def _tuple(text: str) -> Iterator[Quantity]:
    between = re.fullmatch(r"([^<≤]+?) ?([<≤]) ?[a-z] ?([<≤]) ?([^<≤]+)", text)
    if between and between[2] == between[3]:
        ends, brackets = [between[1], between[4]], "()" if between[2] == "<" else "[]"
    else:
        inside = re.fullmatch(r"([(\[]?)([^()\[\]]*[,;][^()\[\]]*)([)\]]?)", text)
        if inside is None or bool(inside[1]) != bool(inside[3]):
            return
        ends, brackets = re.split(r"[;,]", inside[2]), inside[1] + inside[3]
    items = []
    for end in ends:
        item = re.fullmatch(r" ?-?(?:\d+(?:\.\d+)?|\d+/\d+) ?", end)
        if item is None or (not brackets and " " not in text and len(end) > 1):
            return
        items.append(Fraction(end.replace(" ", "")))
    yield Quantity("tuple", tuple(items), noun=brackets)


def _date(first: float | None, last: float | None, month: int | None = None, day: int | None = None) -> Quantity:
    return Quantity("date", (first, last, month, day))


def _dates(text: str) -> Iterator[Quantity]:
    """Yield the dates that a text can be; a year without an era is a number."""
    weekday = _WEEKDAY.match(text)
    if weekday:
        day = weekday[0].removeprefix("on ")[:3]
        yield from (replace(date, noun=day) for date in _dates(text[weekday.end() :]))
        return
    for word, value in _ORDINALS.items():
        if word in text and re.search("|".join(_MONTHS), text):
            text = re.sub(rf"(?<![\w-]){word}(?!\w)", f"{value}th", text)
    for pattern in _DATES:
        match = pattern.fullmatch(text)
        if match:
            part = match.groupdict()
            year, month = part.get("year"), part["month"]
            number = int(month) if month.isdigit() else _MONTH_OF[month]
            day = int(part["day"]) if part.get("day") else None
            yield _date(year and int(year), year and int(year), number, day)
    decade, century = _DECADE.fullmatch(text), _CENTURY.fullmatch(text.removesuffix(" ad").removesuffix(" ce"))
    if decade:
        first = int(decade["decade"])
        yield _date(first, first + (99 if first % 100 == 0 else 9))
        if first % 100 == 0:
            yield replace(_date(first, first + 9), certain=False)
    if century:
        number = _ordinal_value(century["number"])
        if number:
            yield _date(100 * number - 99, 100 * number)
            yield replace(_date(100 * number - 100, 100 * number - 1), certain=False)
    era = _ERA.fullmatch(text)
    if era and (era["era"] or era["after"]):
        year = int(era["year"]) * (-1 if (era["era"] or "").startswith("b") else 1)
        yield _date(year, year)
    spoken = re.fullmatch(
        r"([a-z]+teen|twenty)[ -]((?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[ -][a-z]+)?|[a-z]+teen"
        r"|oh[ -][a-z]+|ten|eleven|twelve)",
        text,
    )
    if spoken and spoken[1] in NUMBER_WORDS:
        rest = re.split("[ -]", spoken[2].replace("oh", "zero"))
        if all(word in NUMBER_WORDS for word in rest):
            yield Quantity(
                "number", Fraction(100 * NUMBER_WORDS[spoken[1]] + sum(NUMBER_WORDS[word] for word in rest))
            )


def _ordinal_value(text: str) -> int | None:
    """Return the number of an ordinal, a Roman numeral or a number.

    >>> [_ordinal_value(text) for text in ("19th", "nineteenth", "xix", "twenty-second", "20", "blue")]
    [19, 19, 19, 22, 20, None]
    """
    digits = re.fullmatch(r"(\d{1,6})(?:st|nd|rd|th)?", text)
    if digits:
        return int(digits[1])
    if _ROMAN.fullmatch(text):
        return _roman(text)
    tens, _, last = text.rpartition("-") if "-" in text else text.rpartition(" ")
    if last in _ORDINALS and (not tens or (tens in _TENS.split() and _ORDINALS[last] < 10)):
        return NUMBER_WORDS.get(tens, 0) + _ORDINALS[last]
    return NUMBER_WORDS.get(text)


def _roman(text: str) -> int:
    values = [_ROMAN_DIGITS[letter] for letter in text]
    return sum(
        -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def _clocks(text: str) -> Iterator[Quantity]:
    """Yield the times of day that a text can be; minutes after midnight."""
    text = re.sub(r"^(?:12|twelve) (?:o'clock )?(?=noon$|midnight$|midday$)", "", text)
    if text in ("noon", "midday", "12 noon"):
        yield Quantity("clock", 720)
    elif text == "midnight":
        yield Quantity("clock", 0)
    match = _TIME.fullmatch(text)
    if not match or not any(match[name] for name in ("past", "minute", "clock", "half", "hours")):
        return
    if (match["half"] or "") in ("noon", "midnight") or (match["past"] == "half" and not match["clock"]):
        return
    if match["hours"] and not match["minute"] and not re.fullmatch(r"\d{4} ?(?:hours|hrs|h)", text):
        return
    hour = int(match["hour"]) if match["hour"].isdigit() else NUMBER_WORDS[match["hour"]]
    minute = int(match["minute"] or 0)
    if match["past"]:
        words = match["past"].split()
        amount = {"half": 30, "quarter": 15}.get(words[0])
        if amount is None:
            amount = int(words[0]) if words[0].isdigit() else sum(NUMBER_WORDS[word] for word in words[0].split("-"))
        minute = -amount if words[-1] == "to" else amount
    if hour > 24 or minute > 59:
        return
    half = match["half"] or ""
    if half:
        late = half.startswith("p") or "afternoon" in half or "evening" in half or (half == "at night" and hour > 5)
        if hour > 12 and not late:
            return
        hour = hour % 12 + 12 * late
        if half == "at night" and int(match["hour"] if match["hour"].isdigit() else 0) == 12:
            hour = 0
    dotted = bool(match["minute"]) and "." in text and not half and not match["clock"]
    known = bool(half) or hour > 12 or hour == 0 or bool(match["hours"]) or text.startswith("0")
    yield Quantity("clock", (60 * hour + minute) % 1440, half=known, certain=not dotted)


def _twice(text: str) -> Iterator[Quantity]:
    """Yield what a text says about a change: doubled, twice as much, 2x, a 100% increase."""
    first, *rest = text.removeprefix("it ").removeprefix("they ").removeprefix("has ").removeprefix("a ").split(" ", 1)
    if first in _TIMES and re.fullmatch(
        r"|as (?:much|many|large|big|high|long)(?: as (?:before|usual))?|the (?:price|number|amount|size)"
        r"|in (?:size|number)|increase",
        "".join(rest),
    ):
        yield Quantity("times", Fraction(_TIMES[first]))
    factor = re.fullmatch(
        r"\*? ?([\d.]+) ?(?:x|times|-?fold)(?: (?:as (?:much|many|large|high)|increase|more))?|[x*] ?([\d.]+)", text
    )
    if factor:
        yield Quantity("times", Fraction(factor[1] or factor[2]))
    change = _CHANGE.fullmatch(text)
    if change and (change["before"] or change["after"] or change["sign"] == "+"):
        share = Fraction(change["number"].replace(",", "")) / 100
        down = _DOWN.search(f"{change['before'] or ''} {change['after'] or ''}")
        yield Quantity("times", 1 - share if down else 1 + share, noun="%")


def _ranges(text: str) -> Iterator[Quantity]:
    """Yield the range that a text is: between 5 and 10, 5 to 10 km, 1944-45."""
    match = re.fullmatch(
        r"(?:between (.+) and (.+)|(?:from )?(.+?) (?:to|until|through) (.+)|(.*\d[a-z%]*) ?- ?([$€£]?\d.*))", text
    )
    if not match:
        return
    first, second = (part for part in match.groups() if part)
    years = re.fullmatch(r"[12]\d{3}", first) and re.fullmatch(r"\d\d", second)
    second = first[:2] + second if years else second
    lows, highs = list(_simple(first)), list(_simple(second))
    if len(lows) == 1 and len(highs) >= 1:
        low, high = lows[0], highs[0]
        if low.kind in CURRENCIES and high.kind == "number":
            high = replace(high, kind=low.kind)
        if low.kind == "number" and high.kind != "number" and high.kind not in ("date", "clock", "ordinal"):
            low = replace(low, kind=high.kind, value=low.value * high.size, size=high.size)
        scaled = re.search(r"[ \d](k|thousand|million|billion|trillion|bn|mn)\b", second)
        if scaled and not re.search(r"[a-z]", first):
            low = replace(low, value=low.value * (_MORE_SCALES | _LETTERS)[scaled[1]])
        if low.kind == high.kind and low.kind != "tuple" and low.noun in ("", high.noun):
            yield Quantity("range", (low, high))


def _simple(text: str) -> Iterator[Quantity]:
    """Yield readings of a part of a range."""
    values = [*_dates(text), *_clocks(text)]
    yield from values or [number for number in _numbers(text) if number.certain]


def _numbers(text: str) -> Iterator[Quantity]:
    """Yield the numbers with a unit, or an unknown noun, that a text can be."""
    sign = 1
    minus = re.match(r"(?:-|minus |negative )\s*(?=[\d.$€£a-z√½¼¾⅓⅔])", text)
    if minus:
        sign, text = -1, text[minus.end() :]
    text = text.removeprefix("+").removeprefix("the ")
    below = re.search(r"(?: degrees?)? below (?:zero|0|freezing)$", text)
    if below:
        sign, text = -1, text[: below.start()]
    money = None
    symbol = re.match(r"(us\$|ca\$|au\$|c\$|a\$|[$€£¥₹])\s*", text)
    code = re.match(r"(usd|eur|gbp|jpy|inr|chf|cny|cad|aud) ?(?=\d)", text)
    if symbol or code:
        money = _MONEY[symbol[1]] if symbol else UNITS[code[1]][0]
        text = text[(symbol or code).end() :]
        minus = re.match(r"-\s*(?=\d)", text)
        sign, text = (-1, text[1:]) if minus else (sign, text)
    half_of = re.match(r"half (?:of )?(?:an? )(?=[a-z])", text)
    if half_of:
        text = "1/2 " + text[half_of.end() :]
    halves = re.fullmatch(r"(.+ )?([a-z]+) and (?:an? |one )?(half|quarter)", text)
    if halves and halves[2] in UNITS:  # an hour and a half
        (kind, size), first = UNITS[halves[2]], (halves[1] or "one ").strip()
        count = (
            [1] if first in ("a", "an") else [number.value for number in _numbers(first) if number.kind == "number"]
        )
        yield from (Quantity(kind, (number + Fraction(1, _PARTS[halves[3]])) * size, size) for number in count)
        return
    article = re.fullmatch(r"an? ([a-z]+)", text)
    if article and article[1] in UNITS:
        text = f"1 {article[1]}"
    for value, step, certain, rest in _leading(text):
        for scaled, stepped, loose, tail, sure in _scaled(value, step, rest, money):
            for number in _with_unit(scaled, stepped, tail, money):
                yield replace(
                    number,
                    value=sign * number.value,
                    rounded=int(loose),
                    exact=_ends(value),
                    certain=certain and sure and number.certain,
                )


def _leading(text: str) -> Iterator[tuple]:
    """Yield (value, step, certain, rest of the text) of the number at the start of a text."""
    mixed = re.match(r"(?:(\d+)(?: |-| and ))?(\d+) ?/ ?(\d+)(?![\d/.])", text) or re.match(
        rf"(?:(\d+) ?)?([{''.join(_VULGAR)}])", text
    )
    if mixed:
        part = Fraction(_VULGAR[mixed[2]]) if mixed[2] in _VULGAR else Fraction(int(mixed[2]), int(mixed[3]))
        yield int(mixed[1] or 0) + part, Fraction(0), True, text[mixed.end() :]
        return
    share = re.match(r"(\d+|[a-z]+)(?: in (?:every )?| out of (?:every )?)(\d[\d,]*|[a-z]+)\b", text)
    if share:
        top, bottom = (
            Fraction(part.replace(",", "")) if part[0].isdigit() else NUMBER_WORDS.get(part) for part in share.groups()
        )
        if top is not None and bottom and top < bottom:
            yield Fraction(top) / bottom, Fraction(0), True, text[share.end() :]
            return
    digits = _DIGITS.match(text)
    if digits:
        yield from _of_digits(digits, text)
    elif in_words := _in_words(text):
        value, step, rest = in_words
        yield value, step, True, rest


def _ends(value: Fraction) -> bool:
    """Return whether a number has finitely many decimals."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _of_digits(digits: re.Match, text: str) -> Iterator[tuple]:
    whole, mark, decimals = digits["whole"] or "0", digits["mark"], digits["decimals"] or ""
    if digits["none"]:
        decimals = digits["none"][1:]
    rest = text[digits.end() :]
    ordinal = _ORDINAL.match(text)
    grouped = not whole.isdigit()
    dots = "." in whole  # 1.234.567
    plain = re.sub(r"\D", "", whole)
    if mark and ((grouped and mark in whole) or (dots and mark == ".")):
        return  # 1,234,5 is no number
    other = None
    if not mark and grouped and whole.count(",") == 1 and len(whole.split(",")[1]) == 3:
        other = Fraction(f"{whole.split(',')[0]}.{whole.split(',')[1]}")
    if mark == "." and not grouped and len(decimals) == 3 and len(whole) <= 3 and whole.strip("0"):
        other = Fraction(whole + decimals)
    value = Fraction(f"{plain}.{decimals or 0}")
    step = Fraction(1, 10 ** len(decimals))
    if not decimals:
        zeros = len(plain) - len(plain.rstrip("0"))
        step = Fraction(10 ** min(zeros, max(len(plain) - 1, 0)))
    power = _POWER.match(rest)
    if power:
        factor = Fraction(10) ** int(power["power"])
        value, step, rest, other = value * factor, step * factor, rest[power.end() :], None
    elif re.match(r" ?[*x·^] ?\d|e\d", rest):
        return
    if ordinal:
        yield Fraction(ordinal[1]), Fraction(0), True, "\0" + text[ordinal.end() :]
        return
    yield value, step, True, rest
    if other is not None:
        yield other, Fraction(0), False, rest


_ARTICLE_PART = re.compile(
    r"(?:an? )?(half|third|quarter|fifth|sixth|eighth|tenth|hundredth|thousandth)\b(?: of)?"
    r"(?: an? (?=million|billion|thousand|dozen))?"
)
_NUMBER_WORDS = re.compile(
    rf"an? (?=hundred|thousand|million|billion|dozen|half|third|quarter|fifth|tenth)"
    rf"|(?:{NUMBER_WORD})\b(?:(?:[ -]|,? and |, )(?:{NUMBER_WORD})\b)*"
)
_MORE_PARTS = re.compile(r" and (?:an? )?(half|(?:one|a|two|three)[ -](?:third|quarter|fifth)s?|quarter|third)\b")
_POINT = re.compile(r" point((?:[ -](?:zero|one|two|three|four|five|six|seven|eight|nine|oh))+)\b")


def _in_words(text: str) -> tuple[Fraction, Fraction, str] | None:
    """Return (value, step, rest of the text) of number words at its start: twenty-five, two thirds, half a million."""
    article = _ARTICLE_PART.match(text)
    if article and (text.startswith("a") or article[1] in ("half", "quarter")):
        return Fraction(1, _PARTS[article[1]]), Fraction(0), text[article.end() :]
    match = _NUMBER_WORDS.match(text)
    if match is None:
        ordinal = re.match(r"(?:the )?((?:[a-z]+-)?[a-z]+)\b", text)
        value = _ordinal_value(ordinal[1]) if ordinal and ordinal[1].rpartition("-")[2] in _ORDINALS else None
        return (Fraction(value), Fraction(0), "\0" + text[ordinal.end() :]) if value else None
    tail = text[match.end() :]
    if match[0].startswith("a"):
        value = Fraction(1)
        if not re.match(r"(?:hundred|thousand|million|billion|dozen)\b", tail):
            return None
    else:
        values = [NUMBER_WORDS.get(word, 100) for word in re.findall(r"[a-z]+", match[0]) if word != "and"]
        if any(not a >= 20 > 10 > b for a, b in pairwise(values) if 100 not in (a, b)):
            return None  # five two one, fifty-four ten
        value = Fraction(_of_words(match[0]))
    ordinal = re.match(r"-([a-z]+)\b", tail)
    if ordinal and ordinal[1] in _ORDINALS and match[0] in _TENS.split():
        return value + _ORDINALS[ordinal[1]], Fraction(0), "\0" + tail[ordinal.end() :]
    part = re.match(r"[ -]([a-z]+)\b", tail)
    if part and part[1] in _PARTS and part[1] != "second":
        return value / _PARTS[part[1]], Fraction(0), tail[part.end() :]
    if more := _MORE_PARTS.match(tail):
        top, _, bottom = more[1].replace("-", " ").rpartition(" ")
        return value + Fraction(NUMBER_WORDS.get(top, 1), _PARTS[bottom]), Fraction(0), tail[more.end() :]
    if point := _POINT.match(tail):
        digits = "".join(str(NUMBER_WORDS.get(word, 0)) for word in re.findall("[a-z]+", point[1]))
        return Fraction(f"{int(value)}.{digits}"), Fraction(1, 10 ** len(digits)), tail[point.end() :]
    return value, Fraction(0), tail


def _scaled(value, step, rest: str, money: str | None) -> Iterator[tuple]:
    """Yield (value, step, rounded form, rest, certain) with the scale behind a number: million, k, dozen."""
    scale = re.match(rf"[ -]?({'|'.join(sorted(_MORE_SCALES, key=len, reverse=True))})\b\.?", rest)
    if scale and not rest.startswith("\0"):
        factor = _MORE_SCALES[scale[1]]
        again = re.match(r"[ -]?(million|billion|trillion)\b", rest[scale.end() :])
        end = scale.end() + (again.end() if again else 0)
        factor *= _SCALES[again[1]] if again else 1
        rounded = scale[1] not in ("dozen", "hundred") and step != 0
        yield value * factor, step * factor, rounded, rest[end:], True
        return
    letter = re.match(r" ?([mb])\b", rest)
    if letter:
        factor = _LETTERS[letter[1]]
        if money:
            yield value * factor, step * factor, True, rest[letter.end() :], True
            return
        yield value * factor, step * factor, True, rest[letter.end() :], letter[1] == "b"
    yield value, step, False, rest, True


def _with_unit(value, step, rest: str, money: str | None) -> Iterator[Quantity]:
    """Yield a number with the unit, the units or the noun that follow it."""
    if rest.startswith("\0"):
        noun = re.fullmatch(r" ?((?:[a-z'-]+ ?){0,3})", rest[1:])
        if noun:
            yield Quantity("ordinal", Fraction(value), noun=noun[1].strip())
        return
    if money:
        if re.fullmatch(r"(?: ?(?:usd|us dollars|dollars|gbp|pounds|eur|euros|cad|aud))?", rest):
            yield Quantity(money, value, step=step)
            return
        per = re.fullmatch(r" ?(?:/|per|an?) ?([a-z]+)", rest)
        if per and per[1] in UNITS:
            size = 1 / UNITS[per[1]][1]
            yield Quantity(f"{money}/{UNITS[per[1]][0]}", value * size, size, step * size)
        return
    rest = rest.strip() if not rest.startswith("-") else rest[1:]
    rest = re.sub(r"^of (?:an?|one) (?=[a-z]+$)", "", rest)  # three quarters of an hour
    rest = re.sub(r"^degrees? (?=(?:celsius|centigrade|fahrenheit|c|f)$)|^° (?=[cf]$)", "°", rest)
    if rest in ("'", "ft", "feet", "foot") or not rest:
        rest = {"'": "ft"}.get(rest, rest)
    rest = re.sub(r"^['′] ?(?=\d)", " ft ", rest)
    rest = re.sub(r"(?<=\d) ?[\"”″]$", " in", rest).strip()
    if not rest:
        yield Quantity("number", value, step=step)
        return
    unit = _LONG_UNITS.get(rest, rest)
    unit = "°" + unit[1:] if re.fullmatch(r"°[cf]", unit) else unit
    if unit in UNITS:
        kind, size = UNITS[unit]
        yield Quantity(kind, value * size, size, step * size)
        if unit in ("pound", "pounds"):
            yield Quantity(_MASS[0], value * _MASS[1], _MASS[1], step * _MASS[1])
        return
    per = re.fullmatch(r"([a-zµ%²]+) ?(?:/|per|an?) ?([a-z]+)", unit)
    if per and per[1] in UNITS and per[2] in UNITS:
        (kind, size), (of, each) = UNITS[per[1]], UNITS[per[2]]
        size /= each
        if (kind, of) == ("metres", "seconds"):
            kind, of, size = "km", "h", size * Fraction(18, 5)
        yield Quantity(f"{kind}/{of}", value * size, size, step * size)
        return
    parts = re.match(r"([a-z]{1,40})\.?(?:,? and |, | )?(?=\d|[a-z]{1,40} )", rest)
    if parts and parts[1] in UNITS:
        kind, size = UNITS[parts[1]]
        more = [
            number
            for number in _numbers(rest[parts.end() :])
            if number.kind == kind and number.size < size and number.certain
        ]
        if more:
            yield replace(more[0], value=value * size + more[0].value)
            return
    noun = re.fullmatch(r"(?:of (?:the |all |its |their )?)?((?:[a-z][a-z'-]*)(?: [a-z][a-z'-]*){0,2})", rest)
    if noun and not _RELATION.search(rest):
        yield Quantity("number", value, step=step, noun=noun[1])


_RELATION = re.compile(  # what stands behind a number and is not its noun
    r"\b(?:and|or|but|not|no|before|after|later|earlier|ago|more|less|fewer|than|plus|minus|times|each|every|per|apart|"
    r"another|to|in|on|at|of|for|with|from|by|until|is|was|are|were|if|other|others|short|million|thousand|the|century|"
    r"bc|ad|bce|ce|am|pm|noon|midnight|point)\b"
)


def _romans(text: str, written: str) -> Iterator[Quantity]:
    if len(written) > 1 and written.isupper() and _ROMAN.fullmatch(text):
        yield Quantity("number", Fraction(_roman(text)))


def _named(text: str, written: str) -> Iterator[Quantity]:
    """Yield a name with its number: Apollo 11, Louis XIV, World War Two."""
    match = _NAMED.fullmatch(text)
    if match is None or match[1].split()[0] in NUMBER_WORDS or len(match[1]) < 2:
        return
    if match[2] == "one" and written.endswith("one"):
        return  # a pronoun
    value = Fraction(match[2]) if match[2][0].isdigit() else _ordinal_value(match[2])
    name = re.sub(r"^(?:the |king |queen |pope |emperor )+| the$", "", match[1])
    if value is not None and name and not _RELATION.search(name):
        yield Quantity("named", Fraction(value), noun=name)


def _in_two_units(text: str) -> Iterator[Quantity]:
    """Yield the readings of one amount that is given twice: 24,901 miles (40,075 km), 5 ft or 152 cm."""
    match = re.fullmatch(r"(.+?)(?:,? or | ?\(|, | ?/ ?| ?= ?)([^()]+?)\)?", text)
    first, second = (readings(part) for part in match.groups()) if match else ((), ())
    for item, other in product(first, second):
        if {item.kind, other.kind} == {"celsius", "fahrenheit"}:
            equal_amounts = _same_kinds(item, other, "")
        else:
            in_other_unit = item.kind == other.kind != "number" and item.size != other.size
            equal_amounts = in_other_unit and _same_measure(item, other, "")
        if equal_amounts:
            yield item


_OPERATORS = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b
}  # fmt: skip


def _expression(text: str) -> Iterator[Quantity]:
    """Yield the value of arithmetic with roots, powers and π.

    >>> [round(float(q.value), 3) for text in ("5 √(2)", "√(50)", "2^10", "3π", "2*(3+4)") for q in _expression(text)]
    [7.071, 7.071, 1024.0, 9.425, 14.0]
    """
    if not re.fullmatch(r"[\d\s.+*/^()√π-]{1,60}", text) or not re.search(r"[√π^*(]", text) or "**" in text:
        return
    text = re.sub(r"(?<=[\dπ)]) ?(?=[√π(])", "*", text.replace(" ", ""))
    text = text.replace("√", "root").replace("π", "pi").replace("^", "**")
    try:
        value = _evaluated(ast.parse(text, mode="eval").body)
    except (SyntaxError, RecursionError):
        return
    yield Quantity("number", value, exact=isinstance(value, Fraction) and _ends(value))


def _evaluated(node: ast.expr) -> Fraction | float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.Name) and node.id == "pi":
        return pi
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluated(node.operand)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "root"
        and len(node.args) == 1
    ):
        value = sqrt(_evaluated(node.args[0]))
        return Fraction(int(value)) if value == int(value) else value
    if isinstance(node, ast.BinOp):
        first, second = _evaluated(node.left), _evaluated(node.right)
        if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](first, second)
        if isinstance(node.op, ast.Pow) and abs(second) <= 64 and abs(first) < 10**6:
            return first**second if second == int(second) else float(first) ** float(second)
    raise ValueError("not arithmetic")


# --- equality ---------------------------------------------------------------------------------------------------


def _near(first, second, share: float = EXACT) -> bool:
    if isinstance(first, Fraction | int) and isinstance(second, Fraction | int) and share == EXACT:
        return first == second
    largest = max(abs(first), abs(second))
    return abs(first - second) <= share * largest


def _same(given: Quantity, said: Quantity, question: str) -> bool | None:
    """Return whether a quantity of an answer is that of a reference; None where that cannot be known."""
    kinds = {given.kind, said.kind}
    if given.bound != said.bound:
        opposite = given.bound and said.bound and given.bound[0] != said.bound[0]
        return False if opposite else None
    if kinds & {"tuple", "range"}:
        return _same_items(given, said, question)
    if "named" in kinds:
        if kinds == {"named"}:
            return given.value == said.value if given.noun == said.noun else None
        return None
    if "date" in kinds:
        return _same_date(given, said)
    if "clock" in kinds:
        return _same_clock(given, said)
    if "times" in kinds:
        return _same_change(given, said)
    if "percent" in kinds and kinds != {"percent"}:
        return _same_share(given, said, question)
    if kinds <= {"number", "ordinal"}:
        return _same_count(given, said, question)
    if given.kind == said.kind:
        return _same_measure(given, said, question)
    if _is_rate_of(given, said) or _is_rate_of(said, given):
        return None
    return _same_kinds(given, said, question)


def _is_rate_of(rate: Quantity, plain: Quantity) -> bool:
    """Return whether one quantity is another per time: the question may have said per what.

    >>> compare("8 euros per month", "€8"), compare("60 miles per hour", "60 miles"), compare("8 euros a day", "€9")
    (None, None, False)
    """
    of = rate.kind.replace("km/h", "metres/h").partition("/")
    return of[1] == "/" and of[0] == plain.kind and rate.value / rate.size == plain.value / plain.size


def _same_items(given: Quantity, said: Quantity, question: str) -> bool | None:
    if given.kind == said.kind == "tuple":
        if given.value == said.value:
            return True if given.noun == said.noun or "" in (given.noun, said.noun) else None
        ordered = given.noun and said.noun
        return None if sorted(given.value) == sorted(said.value) and not ordered else False
    if given.kind == said.kind == "range":
        ends = list(zip(given.value, said.value, strict=True))
        verdicts = [_same(item, other, question) for item, other in ends]
        measures = all(item.kind == other.kind not in ("date", "clock", "number", "ordinal") for item, other in ends)
        if None in verdicts or (measures and all(_near(item.value, other.value, ROUNDED) for item, other in ends)):
            return True if all(verdicts) else None
        return all(verdicts)
    if said.kind == "range" and given.kind == said.value[0].kind and given.kind not in ("date", "clock"):
        low, high = said.value[0].value, said.value[1].value
        wide = not _near(low, high, 4 * ROUNDED)
        return False if wide or not low <= given.value <= high else None
    if "tuple" in (given.kind, said.kind) and {given.kind, said.kind} == {"tuple", "number"}:
        return False
    return None


def _same_date(given: Quantity, said: Quantity) -> bool | None:
    if given.kind != said.kind:
        date, other = (given, said) if given.kind == "date" else (said, given)
        first, last, *_ = date.value
        if other.kind != "number" or other.noun or first is None:
            return None
        if first <= other.value <= last:
            return True if (date is said or first != last) and (first == last or date is given) else None
        return False if 1000 <= other.value < 2100 and first >= 1000 else None
    (first, last, *parts), (early, late, *others) = given.value, said.value
    if given.noun and said.noun and given.noun != said.noun:
        return False
    years = None not in (first, early)
    if years and (late < first or early > last):
        return False
    if years and last - first > 90 and abs(first - early) <= 1 >= abs(last - late):
        return True  # the 1800s are the 19th century
    if any(part != other for part, other in zip(parts, others, strict=True) if None not in (part, other)):
        return False
    if years and not (first <= early and late <= last):
        return None  # less exact
    missing = (first is not None and early is None) or any(
        part is not None and other is None for part, other in zip(parts, others, strict=True)
    )
    shared = years or any(None not in pair for pair in zip(parts, others, strict=True))
    return True if shared and not missing and (said.noun or not given.noun) else None


def _same_clock(given: Quantity, said: Quantity) -> bool | None:
    if given.kind != said.kind:
        return None
    if given.half and said.half:
        return given.value == said.value
    if given.value % 720 != said.value % 720:
        return False
    return True if given.half == said.half or not given.half else None


def _same_change(given: Quantity, said: Quantity) -> bool | None:
    if given.kind == said.kind:
        return _near(given.value, said.value)
    times, other = (given, said) if given.kind == "times" else (said, given)
    if other.kind == "percent":
        if _near(other.value, abs(times.value - 1) * 100):
            return True
        return None if _near(other.value, times.value * 100) or times.noun else False
    if other.kind == "number" and not times.noun:
        if other.value == Fraction(1, 2) and times.value == Fraction(1, 2):
            return True
        return _near(times.value, other.value)
    return None


def _same_share(given: Quantity, said: Quantity, question: str) -> bool | None:
    """Return whether a percentage is the same as a number: 20% is 20 where a percentage is asked for, or 0.2."""
    percent, other = (given, said) if given.kind == "percent" else (said, given)
    if other.kind != "number" or (other.noun and not _in_question(other.noun, question)):
        return None if other.kind in ("number", "percentage points") else False
    if _near(percent.value, other.value * 100) or (not other.exact and _rounds(other.value * 100, percent)):
        return True
    asked = re.search(
        r"(?i)(?:what|which|how many|how much) (?:percent|per cent|%)|percentage|in percent|in %", question
    )
    if _near(percent.value, other.value):
        is_large = abs(other.value) > 1
        return True if asked or (is_large and percent is given) else None if is_large or percent is given else False
    return False


def _in_question(noun: str, question: str) -> bool:
    asked = question.lower()
    return noun in _COUNTED or any(len(word) > 2 and word[:4] in asked for word in noun.split())


_COUNTED = frozenset("people persons times items pieces units of them in total".split()) | {"in total", "of them"}


_GROUP = re.compile(r"\b(?:pairs?|sets?|groups?|packs?|boxes|rows?|times|parts?|gross|score)\b")  # of several


def _rounds(value, decimal: Quantity) -> bool:
    """Return whether a decimal number of two digits or more is a rounded form of a value."""
    return (
        bool(decimal.step)
        and abs(value - decimal.value) <= decimal.step / 2
        and _near(value, decimal.value, CONVERTED)
    )


def _same_count(given: Quantity, said: Quantity, question: str) -> bool | None:
    item, other = given.noun, said.noun
    if any(word[:4] != same[:4] for word, same in zip(item.split(), other.split(), strict=False)):
        return None
    verdict = _same_value(given, said, question)
    if bool(item) == bool(other):
        return verdict
    known = _in_question(item or other, question)
    return None if _GROUP.search(item or other) or (verdict is False and not known) else verdict


def _same_value(given: Quantity, said: Quantity, question: str) -> bool | None:
    """Return whether two values of one kind are equal, as exactly as they are given."""
    first, second = given.value, said.value
    if _near(first, second):
        return True
    if (not given.exact and _rounds(first, said)) or (not said.exact and _rounds(second, given)):
        return True
    if re.search(r"(?i)\b(?:in|units of) (?:thousands|millions|billions)|\b(?:thousand|million|billion)s\b", question):
        return None
    gap = abs(first - second)
    asked = bool(re.search(r"(?i)\b(?:about|roughly|approximate(?:ly)?|around|estimated?)\b", question))
    roughly = max(given.rounded, said.rounded, 2 * asked)
    if roughly and given.step and -given.step / 2 <= second - first < given.step / 2:
        return True if _near(first, second, ROUNDED) else None
    if max(said.rounded, 2 * asked) and said.step and gap <= said.step / 2:
        return True if _near(first, second, CONVERTED) else None if _near(first, second, 2 * ROUNDED) else False
    if roughly == 2 and _near(first, second, 2 * ROUNDED):
        return None
    for long, short in ((given, said), (said, given)):  # 3.14 and 3.1416
        if 0 < long.step < short.step < short.size and gap <= short.step / 2 and _near(first, second, CONVERTED):
            return None
    return False


def _same_measure(given: Quantity, said: Quantity, question: str) -> bool | None:
    verdict = _same_value(given, said, question)
    if verdict is False and given.size != said.size:
        if given.kind == "bytes" and _near(given.value, said.value, 2 * ROUNDED):
            return None
        converted = abs(given.value - said.value) <= max(given.size, said.step) / 2 if said.step else False
        if _near(given.value, said.value, CONVERTED / 5) or (
            converted and abs(given.value - said.value) <= said.step / 2 and _near(given.value, said.value, CONVERTED)
        ):
            return True
        return None if _near(given.value, said.value, CONVERTED) else False
    return verdict


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
    for unit in _asked_units(question):
        if unit.kind == measure.kind:
            return _same_measure(
                *(replace(one, kind=unit.kind, value=one.value * unit.size, size=unit.size, step=one.step * unit.size)
                  if one is bare else one for one in (given, said)), question,
            )  # fmt: skip
    if _near(bare.value, measure.number):
        return True if measure.kind in CURRENCIES else None
    sizes = {size for kind, size in UNITS.values() if kind == measure.kind}
    if any(_near(bare.value * size, measure.value, CONVERTED) for size in sizes):
        return None
    mantissa = measure.number / bare.value if bare.value else 0
    if mantissa in (10**3, 10**6, 10**9):
        return None  # 4.2 and $4.2 billion
    return _same_value(replace(measure, value=measure.number) if measure is given else given,
                       replace(measure, value=measure.number) if measure is said else said, question)  # fmt: skip


@lru_cache(2**12)
def _asked_units(question: str) -> tuple[Quantity, ...]:
    """Return one of the unit that a question asks for: how many minutes, in metres, how old."""
    words = re.findall(r"(?i)\bhow many ([a-z]+)|\bin ([a-z°]+(?: per [a-z]+)?)|\bhow (old)\b", question)
    names = [next(filter(None, result)).lower().replace("old", "years") for result in words]
    return tuple(
        Quantity(UNITS[name][0], UNITS[name][1], UNITS[name][1])
        for name in (_LONG_UNITS.get(name, name) for name in names)
        if name in UNITS and (len(name) > 2 or name in ("km", "cm", "mm", "kg"))
    )
