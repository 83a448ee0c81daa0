"""Whether two texts that are one quantity each mean the same; 1.500 may be one and a half, or 1500."""

import re
from collections.abc import Sequence
from itertools import product

from .quantity import same
from .quantity_readings import readings
from .reading import language_of

# 1.500: one and a half, or 1500. The other forms show which mark separates decimals.
_EITHER = re.compile(r"(?<![\d.,])([1-9]\d{0,2})\.(\d{3})(?![\d.,]*\d)")
_COMMA = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|\d+,(?:\d\d?|\d{4,}))(?![\d.,]*\d)")
_POINT = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,})(?![\d.,]*\d)")
POINT_GROUPS = frozenset("da de el hr id is it nl pt ro sl sr tr".split())  # languages that write 1500 as 1.500


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
    verdicts: dict[bool, set] = {True: set(), False: set()}  # by whether both are the usual readings
    for item, other in product(readings(reference), readings(answer)):
        verdict, certain = same(item, other, question), item.certain and other.certain
        if verdict and _same_digits(reference, answer):
            certain = certain or item.number == other.number
        verdicts[certain].add(verdict)
    if True in verdicts[True]:
        return True
    return None if None in verdicts[True] or True in verdicts[False] or not verdicts[True] else False


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
