"""Names what is wrong with an answer that was judged wrong, where its words show it.

The rules were tested on wrong answers whose authors noted the error that they made. A rule stays if at least 70% of
the faults that it names are these errors. Negations, long answers and invented details have no such rule.
"""

from collections.abc import Sequence

from ..core.answers import attempts
from ..core.words import NumberInText, content, equal, nearest_reference, quantities
from .judging import Rules

ROUNDED = 0.05  # relative difference that another unit explains
LONGEST = 25  # content words of an answer
LONG_REFERENCE = 8  # content words of a reference of which a part can be missing
ORDERED = 3  # words in another order; two are two spellings, or one thing that is said the other way round
FAULTS = DECLINES, VALUE, ORDER, PART = "declined", "another value", "another order", "lacks a part"


def fault(question: str, references: Sequence[str], answer: str) -> str:
    """Return what is wrong with an answer that was judged wrong; "" where its words do not show it.

    >>> fault("How many legs has an insect?", ["six legs"], "An insect has eight legs.")
    'another value'
    >>> fault("Who was she?", ["a painter from Vienna"], "I don't know."), fault("Who?", ["Ann"], "Ben")
    ('declined', '')
    """
    if not attempts(answer):
        return DECLINES
    answer = Rules().read(question, references, answer).answer
    answer_words, asked = content(answer), set(content(question))
    reference = nearest_reference(references, answer)
    accepted = content(reference)
    if not answer_words or len(answer_words) > LONGEST:
        return ""
    needed = [key for key in accepted if key not in asked]
    lacks = [key for key in needed if key not in answer_words]
    extra = [key for key in answer_words if key not in accepted and key not in asked]
    if _has_other_value(reference, answer):  # what else is new may be the fault
        return VALUE if sum(not quantities(key) for key in extra) <= 2 else ""
    places = [accepted.index(key) for key in answer_words if key in accepted]
    if len(set(places)) >= ORDERED and places != sorted(places):
        return ORDER if not lacks and len(extra) <= 2 else ""
    lacks_some = len(needed) / 4 <= len(lacks) < len(needed)
    return PART if lacks_some and len(extra) <= 1 and len(accepted) >= LONG_REFERENCE else ""


def _has_other_value(reference: str, answer: str) -> bool:
    """Return whether answer and reference each have a number that differs from all numbers of the other.

    Numbers with other units, or with and without one, can be equal: 90 days and 3 months.

    >>> _has_other_value("14 days", "30 days"), _has_other_value("2 GB", "2,048 MB"), _has_other_value("2 GB", "2 MB")
    (True, False, True)
    """
    accepted, answered = quantities(reference), quantities(answer)

    def lacks(numbers: Sequence[NumberInText], others: Sequence[NumberInText]) -> bool:
        return any(all(surely_differ(number, other) for other in others) for number in numbers)

    return bool(accepted and answered) and lacks(accepted, answered) and lacks(answered, accepted)


def surely_differ(first: NumberInText, second: NumberInText) -> bool:
    """Return whether two numbers surely differ: 2 GB may be 2,048 MB, and 100.000 may be 100,000."""
    if first.kind != second.kind or equal(first, second):
        return False
    low, high = sorted((abs(first.value), abs(second.value)))
    if first.kind is None:
        return high != 1000 * low
    units = {number.value / number.number if number.number else 0 for number in (first, second)}
    return len(units) == 1 or high - low > ROUNDED * high
