r"""Two exact comparisons of texts: letter for letter, and as plain numbers. All else is left to the model of a judge.

A plain number is one number and at most a few words that name its unit: digits, also in groups of thousands, or number
words. Versions (3.10), codes (02134), clauses (2.1.4), scores (3-2), brackets ((412)) and what stands behind a bullet
("- 1912") are none. Numbers with other units are not compared.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from unicodedata import numeric

from .quantities import NUMBER_WORD, NUMBER_WORDS, SCALES, value_of_words

LONGEST = 400  # characters of a number
YEARS = 2_100  # whole numbers up to this one are never taken for rounded
NEAR = Fraction(1, 20)  # relative difference that rounding explains
_QUOTES = "\"'“”‘’«»`"
_SAME_SIGNS = str.maketrans(
    {"≥": ">=", "≤": "<=", "≠": "!=", "−": "-", "–": "-", "×": "*", "·": "*", "’": "'", "\u2009": " ", "\u202f": " "}
    | dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True))
)
_SUPERSCRIPT = re.compile("[⁰¹²³⁴-⁹⁺⁻]+")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
# Signs that change what letters and digits say, unlike punctuation: \d and \D, C++, A-, x += 1, a && b, 10^6, !ready.
_OPERATOR = re.compile(
    r"\\[dDsSwWbBntr](?![^\W_])|[-+*/<>!=]=+|&&|\|\||±|(?<=[^\W\d])\+\+?\Z|(?<=\w)\+(?=\w)|(?<=\b[A-Z])[-#]\Z|(?<=\b[A-Z]{2})-\Z"
    r"|(?<=\s)[+*/<>](?=\s)|[<>](?=\d)|(?<=\w)[*](?=\w)|(?<=\d)\^(?=\d)|(?<![\w!?])!(?=\w)|(?<=\s)-[A-Za-z](?!\w)"
)
# Plain words, of which only short ones and code depend on capitals: Paris and PARIS, but not mW, None or getName.
_WORDS = re.compile(r"(?=.{5})(?:(?:[^\W\d_A-Z]+|[A-Z][^\W\d_A-Z]+|[A-Z]+)(?:[ ,.']+(?!\Z)|-|\Z))+")
# Addresses, files and paths, which are other ones if a letter differs.
_ADDRESS = re.compile(
    r"(?:mailto:|https?://(?:www\.)?|www\.)?([\w.+-]+@[\w.-]+|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,5}(?:/\S*)?|/\S+)"
)
_VERSION = re.compile(
    r"((?:(?!(?:About|Around|Roughly|Nearly|Some) )[A-Z][A-Za-z]+ |[Vv](?:ersion )?|[Ss]ection |§ ?)?)(\d+(?:\.\d+)+)"
)
_ASKS_VERSION = re.compile(r"(?i)\b(?:version|release|section|chapter|clause|paragraph|article|build|edition)\b")


def _plain(text: str) -> str:
    """Return a text with one form of signs and blanks, without quotes and the full stop of a sentence around it.

    >>> _plain('"Paris."'), _plain("C++."), _plain("..."), _plain("O(n²)"), _plain("H₂O"), _plain("x ≥ 5")
    ('Paris', 'C++', '...', 'O(n^2)', 'H2O', 'x >= 5')
    """
    text = _SUPERSCRIPT.sub(lambda power: f"^{power[0].translate(_RAISED)}", text.translate(_SAME_SIGNS))
    text = " ".join(text.replace("+/-", "±").replace("\\pm", "±").replace("± ", "±").split())
    text = re.sub(rf"(?<=[^.\s{_QUOTES}])[{_QUOTES}]*\.[{_QUOTES}]*\Z", "", text)
    inner = text if re.match(r"['’]\d\d\b", text) else text.strip(_QUOTES)  # '74
    return inner if any(map(str.isalnum, inner)) else text


def identical(reference: str, answer: str, question: str = "") -> bool | None:
    r"""Return whether an answer is a reference letter for letter; None where that does not settle it.

    Case counts in code and short words, symbols everywhere: "c++" is left to the model. The same letters with another
    operator, another address, and another version are wrong.

    >>> identical("Paris", '"Paris".'), identical("C++", "C"), identical(r"\\d+", r"\\D+"), identical("n²", "n^2")
    (True, False, False, True)
    >>> identical("Paris", "paris"), identical("MW", "mW"), identical("x + 1", "x+1"), identical("==", "=")
    (True, None, None, False)
    >>> identical("a@b.org", "a@b.com"), identical("Go 1.10", "Go 1.1"), identical("3.10", "3.1", "Which version?")
    (False, False, False)
    """
    first, second = _plain(reference), _plain(answer)
    if first == second:
        return True
    if first.casefold() == second.casefold() and _WORDS.fullmatch(first) and _WORDS.fullmatch(second):
        return True
    address, other = _ADDRESS.fullmatch(first), _ADDRESS.fullmatch(second)
    if address and other:
        return address[1].rstrip("/").casefold() == other[1].rstrip("/").casefold()
    version, other = _VERSION.fullmatch(first), _VERSION.fullmatch(second)
    if version and other and (version[1] == other[1] or not (version[1] and other[1])):
        is_version = version[1] or other[1] or version[2].count(".") > 1 or _ASKS_VERSION.search(question)
        return version[2] == other[2] if is_version else None
    letters = ("".join(filter(str.isalnum, text)).casefold() for text in (first, second))
    if len(set(letters)) > 1:
        return None
    return None if _OPERATOR.findall(first) == _OPERATOR.findall(second) else False


_MONEY = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
_SCALES = SCALES | {"k": 10**3, "mn": 10**6, "bn": 10**9, "M": 10**6}
_SCALE = "thousand|million|billion|trillion"
_NUMBER = re.compile(
    rf"(?P<sign>[-+](?=[\d$€£¥₹])|(?:[Mm]inus|[Nn]egative) )?(?P<money>[$€£¥₹] ?)?"
    r"(?:(?P<whole>\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d{1,3}(?:'\d{3})+|\d{1,3}(?:\.\d{3}){2,}|\d+|(?=[½⅓⅔¼¾⅛]))"
    r"(?:\.(?P<decimals>\d+))?(?:(?: ?\* ?10\^|[eE])(?P<power>[-+]?\d{1,2}))?(?P<part>[½⅓⅔¼¾⅛])?"
    rf"|(?P<words>(?i:(?:an? (?=hundred|{_SCALE}))?(?:{NUMBER_WORD})\b(?:(?:[ -]| and )(?:{NUMBER_WORD})\b)*)))"
    rf"(?: ?(?P<scale>(?i:{_SCALE})|k|mn|bn|M(?=\Z))\b)?(?:[ -]?(?P<unit>[^\W\d_]\S*(?: \S+){{0,2}}|[%°]\S*))?"
)
_NO_UNIT = re.compile(rf"(?i)[\d:;]|\b(?:{NUMBER_WORD}|half|quarters?|dozen|not|or|to|and)\b")
_LETTER_SIZES = frozenset("W Wh V A Hz J Pa N Ω".split())  # units with both m (milli) and M (mega)
_ROUGHLY = re.compile(r"(?i)\b(?:about|roughly|approximate(?:ly)?|around|estimated?|thousands|millions|billions)\b")


@dataclass(frozen=True)
class _Number:
    value: Fraction
    step: Fraction  # place value of its last digit that is sure to count
    unit: str


def _number(text: str) -> _Number | None:
    """Return the plain number that a text is; None of any other text.

    >>> [float(_number(text).value) for text in ("1,234.5", "$1.2 million", "ten jars", "-3 %", "10^6", "1½")]
    [1234.5, 1200000.0, 10.0, -3.0, 1000000.0, 1.5]
    >>> [_number(text) for text in ("3.10", "02134", "- 1912", "(412)", "3-2", "1.500", "nineteen eighty-four", "'74")]
    [None, None, None, None, None, None, None, None]
    """
    text = re.sub(r"\A10\^", "1 * 10^", text)
    match = _NUMBER.fullmatch(text) if len(text) <= LONGEST else None
    if not match or _NO_UNIT.search(match["unit"] or ""):
        return None
    unit, money = _unit(match["unit"] or ""), (match["money"] or "").strip()
    if (money and unit) or (match["scale"] == "M" and not money):
        return None
    unit = _MONEY.get(money, unit)
    step, decimals = Fraction(1), match["decimals"] or ""
    if match["words"]:
        words = match["words"].lower()
        small = [NUMBER_WORDS.get(word, 100) for word in re.findall("[a-z]{3,}", words) if word != "and"]
        if any(not a >= 20 > 10 > b for a, b in pairwise(small) if 100 not in (a, b)):
            return None
        value = Fraction(value_of_words(re.sub(r"\Aan? ", "", words)))
    else:
        digits = re.sub(r"\D", "", match["whole"])
        is_code = len(digits) > 1 and digits[0] == "0"
        is_version = decimals.endswith("0") and not (money or unit == "%")
        is_either = len(decimals) == 3 and digits == match["whole"] != "0" and len(digits) <= 3  # 1.500 or 1500
        if is_code or is_version or is_either or (decimals and "." in match["whole"]):
            return None
        factor = Fraction(10) ** int(match["power"] or 0)
        value, step = Fraction(f"{digits or 0}.{decimals or 0}") * factor, factor / 10 ** len(decimals)
        value += Fraction(numeric(match["part"])).limit_denominator(9) if match["part"] else 0
    scale = match["scale"] or ""
    factor = _SCALES.get(scale, _SCALES.get(scale.lower(), 1))
    value, step = value * factor, step * factor
    if value > YEARS and value % 1000 == 0 and step < 1000:
        step = Fraction(10 ** (len(str(int(value))) - len(str(int(value)).rstrip("0"))))
    if scale or match["power"]:
        step = max(step, 2 * NEAR * value)
    return _Number(-value if (match["sign"] or "+") != "+" else value, step, unit)


def _unit(text: str) -> str:
    """Return a unit, in small letters and the singular where it is a word.

    >>> [_unit(text) for text in ("per cent", "Jars", "mW", "km/h")]
    ['%', 'jar', 'mW', 'km/h']
    """
    if text.lower() in ("percent", "per cent"):
        return "%"
    return re.sub(r"(?<=[a-rt-z])s\b", "", text.lower()) if re.fullmatch(r"[^\W\d_]{4,}(?: .+)?", text) else text


def same_number(reference: str, answer: str, question: str = "") -> bool | None:
    """Return whether two texts are one plain number with one unit; None where either is none, or one may be rounded.

    >>> same_number("1,000", "1000"), same_number("24 months", "25 months"), same_number("twelve", "12")
    (True, False, True)
    >>> same_number("5 km", "5 miles"), same_number("3.14", "3.1416"), same_number("5 MW", "5 mW")
    (None, None, False)
    """
    first, second = _number(_plain(reference)), _number(_plain(answer))
    if first is None or second is None:
        return None
    if first.unit != second.unit:
        is_other_size = {first.unit[:1], second.unit[:1]} == {"m", "M"} and first.unit[1:] == second.unit[1:]
        return False if is_other_size and first.unit[1:] in _LETTER_SIZES else None
    if first.value == second.value:
        return True
    gap, step = abs(first.value - second.value), max(first.step, second.step)
    is_rounded = 2 * gap <= step and gap <= NEAR * abs(first.value)
    return None if is_rounded or _ROUGHLY.search(question) else False
