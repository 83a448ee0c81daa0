"""Names what is wrong with an answer that was judged wrong, where its words show it.

A fault counts as right if the author of the wrong answer built it in. Rules that were right less than 70% of the time,
as one about negation, are left out; long answers and unsupported extras have none.
"""

import re
from collections.abc import Sequence

import numpy as np

from ..core.answers import attempts
from ..core.quantities import quantities
from ..core.quantity_readings import readings
from ..core.reading import COMMON
from ..core.same_quantity import compare
from ..core.words import keys
from .judging import Rules

LONGEST = 25  # content words of an answer
LONG_REFERENCE = 8  # content words of a reference of which a part can be missing
ORDERED = 3  # words in another order; two are two spellings, or one thing that is said the other way round
_RATE = re.compile(r"(?i)\s?(?:/|per\b|an?\b)\s?[a-z]+")
FAULTS = DECLINES, VALUE, ORDER, PART = "declines", "another value", "another order", "lacks a part"


def fault(question: str, references: Sequence[str], answer: str) -> str:
    """Return what is wrong with an answer that was judged wrong; "" where its words do not show it.

    >>> fault("How many legs has an insect?", ["six legs"], "An insect has eight legs.")
    'another value'
    >>> fault("Who was she?", ["a painter from Vienna"], "I don't know."), fault("Who?", ["Ann"], "Ben")
    ('declines', '')
    """
    if not attempts(answer):
        return DECLINES
    answer = Rules().read(question, references, answer).answer
    said, asked = _content(answer), set(_content(question))
    reference = max(references, key=lambda text: len({*_content(text)} & {*said}) / max(1, len({*_content(text)})))
    accepted = _content(reference)
    if not said or len(said) > LONGEST:
        return ""
    needed = [key for key in accepted if key not in asked]
    lacks = [key for key in needed if key not in said]
    extra = [key for key in said if key not in accepted and key not in asked]
    if _has_other_value(reference, answer):  # what else is new may be the fault
        return VALUE if sum(not quantities(key) for key in extra) <= 2 else ""
    places = [accepted.index(key) for key in said if key in accepted]
    if len(set(places)) >= ORDERED and places != sorted(places):
        return ORDER if not lacks and len(extra) <= 2 else ""
    some = len(needed) / 4 <= len(lacks) < len(needed)
    return PART if some and len(extra) <= 1 and len(accepted) >= LONG_REFERENCE else ""


def _has_other_value(reference: str, answer: str) -> bool:
    """Return whether an answer has a quantity that surely is none of a reference, which has one that it lacks.

    >>> _has_other_value("14 days", "30 days"), _has_other_value("2 GB", "2,048 MB"), _has_other_value("2 GB", "2 MB")
    (True, False, True)
    """
    accepted, given = map(_values, (reference, answer))
    differ = np.array([[compare(right, own) is False for own in given] for right in accepted], dtype=bool)
    return bool(differ.size and differ.all(axis=0).any() and differ.all(axis=1).any())


def _values(text: str) -> list[str]:
    """Return the quantities of a text as it writes them, rates with what they are of.

    >>> _values("About 300 kilometres per second for $5 a seat.")
    ['300 kilometres per second', '$5']
    """
    values = []
    for value in quantities(text):
        rate = _RATE.match(text, value.end) if value.kind else None
        whole = text[value.start : rate.end()] if rate else ""
        values.append(whole if readings(whole) else text[value.start : value.end])
    return values


def _content(text: str) -> list[str]:
    return [key for key in keys(text) if key not in COMMON]
