"""Number words, and quantities in a text: numbers with their units, and which are equal ("24 months", "two years")."""

import re
from dataclasses import dataclass

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS = {word: value for value, word in enumerate(_SMALL.split())}
NUMBER_WORDS |= {word: 10 * tens for tens, word in enumerate(_TENS.split(), 2)}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_LETTERS = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "b": 1e9}  # after amounts of money only
# word -> (kind, size in the smallest unit of the kind)
_UNITS = {
    word: (kind, size)
    for kind, size, words in (
        ("seconds", 1, "second seconds sec secs"),
        ("seconds", 60, "minute minutes min mins"),
        ("seconds", 3600, "hour hours hr hrs"),
        ("seconds", 86400, "day days"),
        ("seconds", 604800, "week weeks"),
        ("seconds", 1209600, "fortnight fortnights"),
        ("months", 1, "month months"),
        ("months", 12, "year years yr yrs"),
        ("months", 120, "decade decades"),
        ("months", 1200, "century centuries"),
        ("metres", 0.001, "mm millimetre millimetres millimeter millimeters"),
        ("metres", 0.01, "cm centimetre centimetres centimeter centimeters"),
        ("metres", 1, "m metre metres meter meters"),
        ("metres", 1000, "km kilometre kilometres kilometer kilometers"),
        ("metres", 0.0254, "inch inches"),
        ("metres", 0.3048, "ft foot feet"),
        ("metres", 0.9144, "yard yards"),
        ("metres", 1609.344, "mile miles"),
        ("grams", 0.001, "mg milligram milligrams"),
        ("grams", 1, "g gram grams"),
        ("grams", 1000, "kg kilo kilos kilogram kilograms"),
        ("grams", 1e6, "tonne tonnes"),
        ("grams", 453.592, "lb lbs"),
        ("grams", 28.3495, "oz ounce ounces"),
        ("litres", 0.001, "ml millilitre millilitres milliliter milliliters"),
        ("litres", 1, "l litre litres liter liters"),
        ("litres", 3.78541, "gallon gallons"),
        ("km/h", 1, "km/h kph"),
        ("km/h", 1.609344, "mph"),
        ("percent", 1, "% percent"),
        ("celsius", 1, "°c celsius centigrade"),
        ("fahrenheit", 1, "°f fahrenheit"),
        ("dollars", 1, "dollar dollars usd"),
        ("dollars", 0.01, "cent cents"),
        ("euros", 1, "euro euros eur"),
        ("pounds", 1, "gbp"),
    )
    for word in words.split()
}
_MONEY = {"$": "dollars", "€": "euros", "£": "pounds"}
NUMBER_WORD = "|".join(sorted([*NUMBER_WORDS, *_SCALES], key=len, reverse=True))  # pattern
_CLOCK = (
    r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?\s?(?P<half>[ap])\.?m\b\.?|(?P<hour24>\d{1,2}):(?P<minute24>\d\d)\b"
)
_QUANTITY = re.compile(
    rf"(?i)(?<![\w.])(?:{_CLOCK}"
    rf"|(?P<sign>(?<![\w-])[-−]|(?<!\w)minus )?(?:(?P<money>[$€£])\s?)?"
    rf"(?:(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:(?:st|nd|rd|th)\b)?"
    rf"|(?P<words>\b(?:{NUMBER_WORD})(?:(?:[ -]|(?<=hundred) and |(?<=thousand) and )(?:{NUMBER_WORD}))*\b))"
    rf"(?:[ -]?(?P<scale>hundred|thousand|million|billion|trillion)\b|(?P<letter>k|mn|m|bn|b)\b)?"
    rf"(?:[ -]?(?P<unit>%|per cent\b|°\s?[cf]\b|degrees? (?:celsius|centigrade|fahrenheit)\b|km/h|kilomet(?:er|re)s "
    rf"per hour\b|miles per hour\b|[a-z]+\b))?)"
)
_LONG_UNITS = {"per cent": "%", "miles per hour": "mph", "kilometres per hour": "km/h", "kilometers per hour": "km/h"}


@dataclass(frozen=True)
class Quantity:
    """A number with its unit.

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


def _number(words: str) -> float:
    """Return the value of number words.

    >>> _number("twelve hundred and fifty"), _number("two million five hundred thousand")
    (1250.0, 2500000.0)
    """
    total, group = 0.0, 0.0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word == "hundred":
            group = (group or 1) * 100
        elif word in _SCALES:
            total, group = total + (group or 1) * _SCALES[word], 0.0
        elif word != "and":
            group += NUMBER_WORDS[word]
    return total + group


def quantities(text: str) -> list[Quantity]:
    """Return the numbers of a text, in order.

    >>> [(q.value, q.kind) for q in quantities("$4.2 billion in 24 months, at 9 pm, -12 and twenty-five")]
    [(4200000000.0, 'dollars'), (24.0, 'months'), (1260.0, 'clock'), (-12.0, None), (25.0, None)]
    """
    found = []
    for match in _QUANTITY.finditer(text):
        end = match.end()
        if match["hour24"] or match["hour"]:
            hour, minute = int(match["hour24"] or match["hour"]), int(match["minute24"] or match["minute"] or 0)
            if match["half"]:
                hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
            found.append(Quantity(match.start(), end, 60.0 * hour + minute, "clock", hour + minute / 100))
            continue
        number = float(match["digits"].replace(",", "")) if match["digits"] else _number(match["words"])
        if match["sign"]:
            number = -number
        unit = (match["unit"] or "").lower()
        unit = re.sub(r"^degrees? |\s(?=[cf]$)", "", _LONG_UNITS.get(unit, unit))
        kind, size = _UNITS.get(unit, (None, 1.0))
        if match["unit"] and kind is None:
            end = match.start("unit")  # not a unit
            end -= len(text[:end]) - len(text[:end].rstrip(" -"))
        if match["letter"]:
            if match["money"]:
                number *= _LETTERS[match["letter"].lower()]
            elif match["letter"].lower() == "m" and kind is None:
                kind, size, end = "metres", 1.0, match.end("letter")
            else:
                end = match.start("letter")
        elif match["scale"]:
            number *= _SCALES[match["scale"].lower()]
        if match["money"]:
            kind, size = _MONEY[match["money"]], 1.0
        found.append(Quantity(match.start(), end, number * size, kind, number))
    return found


def equal(first: Quantity, second: Quantity) -> bool:
    """Return whether two quantities are equal.

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
    if first.number == second.number or "clock" == first.kind:
        return first.value == second.value
    return abs(first.value - second.value) <= 0.01 * max(abs(first.value), abs(second.value)) and (
        first.value / first.number != second.value / second.number if first.number and second.number else False
    )
