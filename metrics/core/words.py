"""Words of texts, and numbers with their units; keys that their forms share; marks of words that two texts share."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from fractions import Fraction
from functools import lru_cache

from .reading import COMMON
from .scorer import Stemmer

# --- words of numbers and units ----------------------------------------------------------------------------------

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
} | {word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
NUMBER_WORD = "|".join(sorted([*NUMBER_WORDS, *SCALES], key=len, reverse=True))  # pattern
_SCALE_LETTERS = {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9}
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


def value_of_words(words: str) -> int:
    """Return the value of number words, or of digits.

    >>> value_of_words("twelve hundred and fifty"), value_of_words("two million five hundred thousand")
    (1250, 2500000)
    """
    if words.isdigit():
        return int(words)
    total = group = 0
    for word in re.findall(r"[a-z]+", words):
        if word == "hundred":
            group = min((group or 1) * 100, 10**400)  # more than a float holds
        elif word in SCALES:
            total, group = total + (group or 1) * SCALES[word], 0
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
_AMBIGUOUS = frozenset([*"shdlgvwj", "in"])  # units that are also words or names: not read behind a number


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
        number = float(
            match["digits"].replace(",", "") if match["digits"] else f"{value_of_words(match['words'].lower())}"
        )
        number = -number if match["sign"] else number
        unit, letter = (match["unit"] or "").lower(), (match["letter"] or "").lower()
        unit = re.sub(r"^degrees? |\s(?=[cf]$)", "", unit)
        kind, size = UNITS.get(unit, (None, 1)) if unit not in _AMBIGUOUS else (None, 1)
        if unit and kind is None:  # not a unit
            end = len(text[: match.start("unit")].rstrip(" -"))
        if match["scale"]:
            number *= SCALES[match["scale"].lower()]
        elif letter and match["money"]:
            number *= _SCALE_LETTERS[letter]
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


# --- words ---------------------------------------------------------------------------------------------------------

WORD = re.compile(r"\w+")
MARKS = ("valued",)  # kinds of marks, see `word_marks`
MARK_TYPES = 6  # number of token types of marks
LONG = 5  # least letters of a stem that may be misspelt
ASKED = 3  # added to the mark of a word of the question
LARGEST_WORD = 20  # number words up to this one equal their digits
_STEMMER = Stemmer("porter")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation.

    >>> words("In 1,905 B.C.")
    ['in', '1', '905', 'b', 'c']
    """
    return WORD.findall(text.lower())


@lru_cache(2**16)
def _stem(word: str) -> str:
    """Return the key shared by the forms of a word: its stem, or the digits of a number."""
    ordinal = re.fullmatch(r"(\d+)(?:st|nd|rd|th)", word)
    if NUMBER_WORDS.get(word, LARGEST_WORD + 1) <= LARGEST_WORD:
        return str(NUMBER_WORDS[word])
    return ordinal[1] if ordinal else _STEMMER.stem(word)


def keys(text: str) -> list[str]:
    """Return the keys of the words of a text; forms of one word, and a number and its word, have one key.

    >>> keys("Two cities"), keys("2 city")
    (['2', 'citi'], ['2', 'citi'])
    """
    return [_stem(word) for word in words(text)]


def content(text: str) -> list[str]:
    """Return the keys of the words of a text that carry meaning.

    >>> content("In the city of the cities")
    ['citi', 'citi']
    """
    return [key for key in keys(text) if key not in COMMON]


def nearest_reference(references: Sequence[str], answer: str) -> str:
    """Return the accepted answer that has the largest share of its words in an answer, of several the shortest.

    Where none shares a word it is the first one.

    >>> references = ["in Upper Austria", "Graz on the Danube", "Graz"]
    >>> nearest_reference(references, "It was Graz."), nearest_reference(references, "Bonn")
    ('Graz', 'in Upper Austria')
    """
    in_answer = set(content(answer))

    def likeness(reference: str) -> tuple[float, int]:
        words = set(content(reference))
        share = len(words & in_answer) / max(1, len(words))
        return share, -len(reference.split()) if share else 0

    return max(references, key=likeness)


@lru_cache(2**12)
def _keyed(text: str) -> tuple[tuple[tuple[str, int, int], ...], dict[str, NumberInText]]:
    """Return (key, start, end) of the words of a text and of its numbers with units, in order; and these by key."""
    numbers = quantities(text)
    taken = {position for number in numbers for position in range(number.start, number.end)}
    keyed = [(_stem(word[0].lower()), *word.span()) for word in WORD.finditer(text) if word.start() not in taken]
    keyed += [(number.key, number.start, number.end) for number in numbers]
    return tuple(sorted(keyed, key=lambda word: word[1])), {number.key: number for number in numbers}


def misspelt(word: str, other: str) -> bool:
    """Return whether one of two words is the other with a letter more, fewer, changed, or two neighbours swapped.

    >>> misspelt("digestve", "digestive"), misspelt("recieve", "receive"), misspelt("north", "south")
    (True, True, False)
    """
    if abs(len(word) - len(other)) > 1:
        return False
    shorter, start, end = min(len(word), len(other)), 0, 0
    while start < shorter and word[start] == other[start]:
        start += 1
    while end < shorter - start and word[-1 - end] == other[-1 - end]:
        end += 1
    left, right = word[start : len(word) - end], other[start : len(other) - end]
    return max(len(left), len(right)) <= 1 or (len(left) == 2 and left == right[::-1])


def word_marks(question: str, reference: str, candidate: str, longest: int | None = None) -> dict[str, int]:
    """Return the marks of the words that are not 0, by the keys of `_keyed`.

    1 is a word of both reference and candidate, 2 if it comes in the same order in both; a word of the question has 3
    more. Words with one stem match, numbers match if they are `equal`, and long words may be `misspelt`. Only the
    first `longest` words are compared, because the time grows with the square of their number.

    >>> word_marks("who won", "Ann Lee beat Bob.", "Bob lost: Ann Lee beat him")
    {'ann': 2, 'lee': 2, 'beat': 2, 'bob': 1, 'who': 3, 'won': 3}
    >>> word_marks("How long?", "two years", "24 months")
    {'#24|months': 2, 'how': 3, 'long': 3}
    """
    (asked, _), (expected, expected_numbers), (answered, answered_numbers) = map(
        _keyed, (question, reference, candidate)
    )
    first, second = ([key for key, *_ in result[:longest]] for result in (expected, answered))
    alias = {}
    for key in filter(answered_numbers.get, dict.fromkeys(second)):
        numbers = (other for other in first if other in expected_numbers)
        match = next((other for other in numbers if equal(answered_numbers[key], expected_numbers[other])), key)
        alias |= {} if match == key else {key: match}
    long = [word for word in set(first).difference(second) if len(word) >= LONG and word.isalpha()]
    for word in set(second).difference(first) if long else ():
        if len(word) >= LONG and word.isalpha():
            match = min((other for other in long if misspelt(word, other)), default=None)
            alias |= {} if match is None else {word: match}
    second = [alias.get(key, key) for key in second]
    both = set(second)
    result = {word: 1 for word in first if word in both}
    if len(result) > 1:
        for start, _, size in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
            result.update(dict.fromkeys(first[start : start + size], 2))
    else:
        result = dict.fromkeys(result, 2)
    result.update({key: result[match] for key, match in alias.items() if match in result})
    for word, *_ in asked:
        result[word] = result.get(word, 0) % ASKED + ASKED
    return result


def absent_words(text: str, reference: str, question: str = "") -> list[tuple[int, int]]:
    """Return (start, end) of the words and numbers of a text that neither reference nor question has in any form.

    >>> absent_words("24 months in Bonn", "two years in Graz"), absent_words("He won", "", "Who won?")
    ([(13, 17)], [(0, 2)])
    """
    marks = word_marks(question, reference, text)
    return [(start, end) for key, start, end in _keyed(text)[0] if key not in marks]


def marked(encoding, pair: tuple[str, str], mark_by_key: dict[str, int]) -> list[int]:
    """Return the mark of the word that each word piece of a pair of segments belongs to, 0 for words without one."""
    mark_at = [
        {position: mark_by_key.get(key, 0) for key, *span in _keyed(text)[0] for position in range(*span)}
        for text in pair
    ]
    pieces = zip(encoding.sequence_ids, encoding.offsets, strict=True)
    return [0 if segment is None else mark_at[segment].get(start, 0) for segment, (start, _) in pieces]
