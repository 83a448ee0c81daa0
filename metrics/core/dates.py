"""Dates, decades, centuries and times of day."""

import re
from collections.abc import Iterator
from dataclasses import replace

from .quantities import MONTH_OF, MONTHS, ORDINALS, SMALL_NUMBERS, value_of_ordinal, value_of_words
from .quantity import Quantity

_MONTH = rf"(?P<month>{'|'.join(sorted(MONTH_OF, key=len, reverse=True))})\.?"
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
_HOUR = rf"\d{{1,2}}|{'|'.join(SMALL_NUMBERS[1:13])}"
_TIME = re.compile(
    rf"(?:(?P<past>half|quarter|(?:{_HOUR}|twenty|twenty-five)(?: minutes)?) (?P<to>past|to) )?(?P<hour>{_HOUR})"
    r"(?:[:.h](?P<minute>\d\d))?(?: ?(?P<hours>hours|hrs|h))?(?P<clock> ?o['’]clock)?,? ?"
    r"(?P<half>a\.?m\.?|p\.?m\.?|(?:in the |this )?(?:morning|afternoon|evening)|at night)?"
)


def dates(text: str) -> Iterator[Quantity]:
    """Yield the dates that a text can be; a year without an era is a number."""
    if weekday := _WEEKDAY.match(text):
        yield from (replace(date, noun=weekday["day"]) for date in dates(text[weekday.end() :]))
        return
    if re.search("|".join(MONTHS), text):
        words = re.compile(rf"(?<![\w-])(?:{'|'.join(ORDINALS)})(?!\w)")
        text = words.sub(lambda word: f"{ORDINALS[word[0]]}th", text)
    periods: list[tuple] = []  # first year, last year, month, day; the usual reading first
    for pattern in _DATES:
        if match := re.fullmatch(pattern, text):
            part = match.groupdict()
            year, day = (int(part.get(name) or 0) or None for name in ("year", "day"))
            yield Quantity("date", (year, year, MONTH_OF.get(part["month"]) or int(part["month"]), day))
    if match := _DECADE.fullmatch(text):
        first = int(match["decade"])
        periods = [(first, first + 99), (first, first + 9)] if first % 100 == 0 else [(first, first + 9)]
    elif (match := _CENTURY.fullmatch(text)) and (number := value_of_ordinal(match["number"])):
        periods = [(100 * number - 99, 100 * number), (100 * number - 100, 100 * number - 1)]
    elif (match := _ERA.fullmatch(text)) and (match["era"] or match["after"]):
        year = int(match["year"]) * (-1 if (match["era"] or "").startswith("b") else 1)
        periods = [(year, year)]
    for number, period in enumerate(periods):
        yield Quantity("date", (*period, None, None), certain=number == 0)


def clocks(text: str) -> Iterator[Quantity]:
    """Yield the time of day that a text is, in minutes after midnight."""
    if named := re.fullmatch(r"(?:(?:12|twelve) (?:o'clock )?)?(?:(noon|midday)|midnight)", text):
        yield Quantity("clock", 720 if named[1] else 0)
    match = _TIME.fullmatch(text)
    is_time = match and any(map(match.group, ("past", "minute", "clock", "half")))
    if not is_time or (match["hours"] and not match["minute"]):
        return
    hour, minute, half = value_of_words(match["hour"]), int(match["minute"] or 0), match["half"] or ""
    if past := (match["past"] or "").removesuffix(" minutes"):
        minute = {"half": 30, "quarter": 15}.get(past) or value_of_words(past)
        minute = -minute if match["to"] == "to" else minute
    is_late = half[:1] == "p" or "noon" in half or "evening" in half or (half == "at night" and 5 < hour != 12)
    if hour > 24 or minute > 59 or (half and hour > 12 and not is_late):
        return
    is_known = bool(half or match["hours"]) or hour > 12 or hour == 0 or text.startswith("0")
    is_decimal = bool(match["minute"]) and "." in text and not half and not match["clock"]
    hour = hour % 12 + 12 * is_late if half else hour
    yield Quantity("clock", (60 * hour + minute) % 1440, half=is_known, certain=not is_decimal)
