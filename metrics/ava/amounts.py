"""Amounts in a text: dates, times of day, money, measures and counts, each with the range of values that it can mean.

`core.numbers` reads numbers with their units. This module adds what a comparison of two texts needs: dates with the
parts that are given, more units, times of day in words, how exactly a number is written, and which numbers belong to
names or have a form that is not read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from ..core.numbers import NUMBER_WORDS, Quantity, quantities

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_OF = {name: i for i, month in enumerate(_MONTHS, 1) for name in (month, month[:3])} | {"sept": 9}
_MONTH = rf"(?P<month{{0}}>{'|'.join(sorted(_MONTH_OF, key=len, reverse=True))})\b\.?"
_DAY = r"(?P<day{0}>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?\b(?![.,:]?\d)"
_YEAR = r"(?P<year{0}>1\d{{3}}|20\d\d)(?![\d%]|[.,]\d)"
_ERA = r"(?:b\.?c\.?(?:e\.?)?|a\.?d\.?|c\.?e\.?)(?!\w)"
_MEASURED = r" ?(?:°|[a-z]*(?:metres|meters|miles|feet|people|dollars|euros|kg|km|mm|m|ml)\b)"
_DATE = re.compile(
    r"(?i)(?<![\w$€£.,/-])(?:"
    rf"{_YEAR.format(0)}-(?P<month0>0[1-9]|1[0-2])-(?P<day0>[0-3]\d)(?!\d)"
    rf"|{_DAY.format(1)}(?: of| day of)?[ -]+{_MONTH.format(1)}(?:,?[ -]+(?:of |in )?{_YEAR.format(1)})?"
    rf"|{_MONTH.format(2)} (?:the )?{_DAY.format(2)}(?:,? (?:of |in )?{_YEAR.format(2)})?"
    rf"|{_MONTH.format(3)},? (?:of )?{_YEAR.format(3)}"
    rf"|(?P<decade>[12]\d\d0)['’]?s\b"
    rf"|(?:the )?(?P<century>\d\d?)(?:st|nd|rd|th)[ -]century(?P<era0> {_ERA})?"
    rf"|(?P<era2>a\.?d\.? )(?P<year5>\d{{1,4}})\b|(?P<year6>\d{{1,4}}(?!,)) ?(?P<era1>{_ERA})"
    rf"|{_YEAR.format(4)}(?!['’]?s\b|{_MEASURED}))"
)
# unit -> (kind, size in the smallest unit of the kind); those that `core.numbers` does not know
_UNITS = {
    word: (kind, size)
    for kind, size, words in (
        ("seconds", 3600, "h"),
        ("bytes", 1e3, "kb kilobyte kilobytes"),
        ("bytes", 1e6, "mb megabyte megabytes"),
        ("bytes", 1e9, "gb gigabyte gigabytes"),
        ("bytes", 1e12, "tb terabyte terabytes"),
        ("hertz", 1, "hz hertz"),
        ("hertz", 1e3, "khz kilohertz"),
        ("hertz", 1e6, "mhz megahertz"),
        ("hertz", 1e9, "ghz gigahertz"),
        ("watts", 1, "w watt watts"),
        ("watts", 1e3, "kw kilowatt kilowatts"),
        ("watts", 1e6, "megawatt megawatts"),
        ("watts", 1e9, "gw gigawatt gigawatts"),
        ("volts", 1, "v volt volts"),
        ("grams", 453.592, "pound pounds"),
        ("litres", 0.01, "cl centilitre centilitres centiliter centiliters"),
        ("yen", 1, "yen jpy"),
        ("rupees", 1, "rupee rupees inr"),
        ("pounds", 1, "sterling quid"),
        ("milliseconds", 1, "ms millisecond milliseconds"),
        ("nanometres", 1, "nm nanometre nanometres nanometer nanometers"),
        ("nanometres", 1e3, "micrometre micrometres micrometer micrometers"),
    )
    for word in words.split()
}
CURRENCIES = ("dollars", "euros", "pounds", "yen", "rupees")
_WORD = re.compile(r"(?i)[ -]?([a-z]+)\b")
_ORDINAL = re.compile(r"(?i)\d(?:st|nd|rd|th)\b")
_BEFORE = re.compile(r"(?:\A|(?<=\s))([A-Z][\w'’]*)[ -]\Z")
_OPENING = frozenset(  # words that start a sentence and are not names
    "about after almost answer approximately around before between circa during early exactly from just late maybe "
    "nearly only over perhaps probably roughly since some there under until with".split()
)
_NOTE = re.compile(r"(?<=\S)\[\^?[\w ]{1,12}\^?\]|(?<=\w)【[^】]{1,12}】")  # sources of a text: [4], [note 2]
_INCHES = re.compile(r"(?i)(?<!\w)(\d+) ?(?:ft|feet|foot|['’′]),? ?(\d+) ?(?:in\b|[\"”″])")
_LOOSE = re.compile(
    r"(?i)(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|over|under|circa|ca?\.|some|up to|just|"
    r"estimated|(?:more|less|fewer) than|at (?:least|most)|close to|early|late|mid)|[~≈<>±])"
    r"[- ]*(?:[$€£]|an? |the )?\Z"
)
_HALF = re.compile(
    r"(?i)\A,? ?(?:o['’]clock,? ?)?(?:(?:in|at|during) (?:the )?)?(?P<half>morning|afternoon|evening|night)\b"
)
_CLOCK = re.compile(r"(?i)\A ?o['’]clock\b")
_UNREADABLE = re.compile(
    r"(?i)\b(?:dozens?|scores?|half|halves|thirds?|quarters?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?|"
    r"hundredths?|doubled?|twice|once|thrice|triple|couple|pairs?|several|few|hundreds|thousands|millions|billions|"
    r"decades?|centur(?:y|ies)|millenni(?:um|a)|generations?|fortnights?|noon|midnight|midday|eve|[ivx]{2,}|"
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ties|an? (?:second|minute|hour|day|week|month|year)|"
    r"(?:thousand|million) million|"
    r"point (?:zero|one|two|three|four|five|six|seven|eight|nine))\b"
    r"|\d ?[/x×*^+] ?\d|\de[+-]?\d|[½¼¾⅓⅔⅛²³]|\d[.,] \d|\d [.,]\d|\d \d{3}\b|[a-z]{2}\d|[$€£] ?\(|['’]\d\d\b(?!['’])"
    r"|\d ?(?:bn|mn|[kb])\b|\d ?m (?:usd|eur|gbp|dollars|euros|pounds)\b"
)


@dataclass(frozen=True)
class Amount:
    """An amount in a text.

    Attributes:
        start: first character.
        end: end.
        kind: "date", "clock", what the unit measures, or "count" for a number without a unit.
        low, high: smallest and largest value that it can mean, in the smallest unit of its kind; years of a date,
            None where a date has no year.
        number: as written; None of a date.
        month, day: of a date, where they are given.
        half: of a clock time, 0 before noon, 1 after noon, where it is given.
        loose: whether the text calls it approximate.
        named: whether it is a part of a name, or an ordinal.
    """

    start: int
    end: int
    kind: str
    low: float | None
    high: float | None
    number: float | None = None
    month: int | None = None
    day: int | None = None
    half: int | None = None
    loose: bool = False
    named: bool = False


def clean(text: str) -> str:
    """Return a text without notes on sources, commas of numbers in words, and short forms of inches.

    >>> clean("one thousand, nine hundred people[2]")
    'one thousand nine hundred people   '
    """
    text = _NOTE.sub(lambda note: " " * len(note[0]), text.replace("\xa0", " "))
    text = _INCHES.sub(r"\1 ft \2 inches", text)
    return re.sub(r"(?i)(?<=thousand),(?= )|(?<=million),(?= )", "", text)


def readable(text: str) -> bool:
    """Return whether every amount of a text has a form that `amounts` reads.

    >>> [readable(text) for text in ("165 minutes", "a score and ten", "half past nine", "2/3", "nineteen forty-five")]
    [True, False, False, False, False]
    """
    return not _UNREADABLE.search(_DATE.sub(_blank, text)) and not _spoken(text)


def amounts(text: str) -> list[Amount]:
    """Return the amounts of a text, in order.

    >>> [(a.kind, a.low, a.month, a.day) for a in amounts("on the 12th of May 1894, at 9 in the evening, for $40")]
    [('date', 1894.0, 5, 12), ('clock', 540.0, None, None), ('dollars', 40.0, None, None)]
    >>> [(a.low, a.high) for a in amounts("about 5,300 people in the 1890s")]
    [(5250.0, 5350.0), (1890.0, 1899.0)]
    """
    found = [_date(match, text) for match in _DATE.finditer(text)]
    found += [_number(quantity, text) for quantity in quantities(_DATE.sub(_blank, text))]
    return list(_merged(sorted(found, key=lambda amount: amount.start), text))


def _blank(match: re.Match) -> str:
    return ";" * len(match[0])


def _date(match: re.Match, text: str) -> Amount:
    part = {name: value for name, value in match.groupdict().items() if value}
    era, year, month, day = (
        next((value for name, value in part.items() if name[:-1] == wanted), None)
        for wanted in ("era", "year", "month", "day")
    )
    low = high = float(year) if year else None
    if "decade" in part:
        low = float(part["decade"])
        high = low + (99 if low % 100 == 0 else 9)
    elif "century" in part:
        high = 100.0 * int(part["century"])
        low = high - 99
    if era and era.strip().lower().startswith("b"):
        low, high = -high, -low
    return Amount(
        *match.span(),
        "date",
        low,
        high,
        month=None if month is None else int(month) if month.isdigit() else _MONTH_OF[month.lower()],
        day=int(day) if day else None,
        loose=bool(_LOOSE.search(text[: match.start()])),
    )


def _number(quantity: Quantity, text: str) -> Amount:
    """Return a number with its unit, the range that its digits leave open, and what stands around it."""
    start, end, kind, value = quantity.start, quantity.end, quantity.kind, quantity.value
    before, after, written = text[:start], text[end:], text[start:end]
    word = _WORD.match(after)
    if kind is None and word and word[1].lower() in _UNITS:
        kind, size = _UNITS[word[1].lower()]
        value, end = quantity.number * size, end + word.end()
    said = _HALF.match(after)
    if kind is None and (_CLOCK.match(after) or (said and 1 <= value <= 12)):
        kind, value = "clock", value * 60
    step, half = 0.0, None
    if kind == "clock":
        if said:
            late = said["half"].lower()
            half, end = int(late in ("afternoon", "evening") or (late == "night" and value > 300)), end + said.end()
        elif re.search(r"(?i)[ap]\.?m", written) or value >= 13 * 60 or written.startswith("0"):
            half = int(value >= 720)
        value %= 720
    else:
        step = _step(quantity.number, written) * (abs(value / quantity.number) if quantity.number else 1)
    return Amount(
        start,
        end,
        kind or "count",
        value - step / 2,
        value + step / 2,
        quantity.number,
        half=half,
        loose=bool(_LOOSE.search(before)),
        named=bool(_ORDINAL.search(written)) or _in_name(before),
    )


def _in_name(before: str) -> bool:
    """Return whether a text ends in a name that a number belongs to.

    >>> [_in_name(text) for text in ("Apollo ", "the Super Bowl ", "covid-", "About ", "He won. It has ")]
    [True, True, True, False, False]
    """
    word = _BEFORE.search(before)
    if word is None:
        return bool(re.search(r"[a-zA-Z][-–]\Z", before))
    first = before[: word.start()].rstrip()[-1:] in ("", ".", "!", "?", ":", "*", "|")
    return not first or (len(word[1]) > 3 and word[1].lower() not in _OPENING)


def _step(number: float, written: str) -> float:
    """Return the place value of the last digit that counts; 0 for a number below 1,000 without decimals.

    >>> _step(12000, "12,000"), _step(2.5, "2.5"), _step(40, "40"), _step(4.2e6, "4.2 million")
    (1000.0, 0.1, 0.0, 100000.0)
    """
    digits = re.search(r"\d[\d,]*(?:\.(\d+))?", written)
    if digits and digits[1]:
        mantissa = float(digits[0].replace(",", ""))
        return 10.0 ** -len(digits[1]) * (abs(number) / mantissa if mantissa else 1)
    whole, step = int(abs(number)), 1
    if whole < 1000 or whole != abs(number):
        return 0.0
    while whole % 10 == 0:
        whole, step = whole // 10, step * 10
    return float(step) if step > 1 else 0.0


def _spoken(text: str) -> bool:
    """Return whether number words follow each other as in years and codes: "fifty-four ten".

    >>> _spoken("nineteen forty-five"), _spoken("five two one"), _spoken("two hundred and forty-five")
    (True, True, False)
    """
    values = [NUMBER_WORDS.get(word.strip(".,;:!?"), -1) for word in re.split(r"[\s-]+", text.lower())]
    return any(
        first >= 0 and second >= 0 and not (first >= 20 and 0 < second < 10) for first, second in pairwise(values)
    )


def _merged(found: list[Amount], text: str) -> Iterator[Amount]:
    """Yield the amounts, a measure in several units as one: 2 hours and 15 minutes."""
    last: Amount | None = None
    for amount in found:
        if last is not None and amount.kind == last.kind and amount.kind not in ("count", "date", "clock"):
            sizes = [abs(each.low / each.number) if each.number else 0 for each in (last, amount)]
            if sizes[0] > 1.5 * sizes[1] and re.fullmatch(r",? (?:and )?", text[last.end : amount.start]):
                low, high = last.low + amount.low, last.high + amount.high
                last = replace(last, end=amount.end, low=low, high=high, number=low)
                continue
        if last is not None:
            yield last
        last = amount
    if last is not None:
        yield last
