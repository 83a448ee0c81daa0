"""Names what is wrong with an answer that was judged wrong, where its words show it: what `explain` states, briefly.

The rules were tested on wrong answers whose authors noted the error that they made. A rule stays if at least 70% of
the faults that it names are these errors. That an answer adds something was not tested so: it is a fact of the texts,
as `explain` states it, and need not be the error.
"""

from collections.abc import Sequence

from ..core.answers import attempts
from ..core.words import content, nearest_reference
from .differences import ORDERED, stated_differences
from .judging import Rules

LONGEST = 25  # content words of an answer
LONG_REFERENCE = 8  # content words of a reference of which a part can be missing
FAULTS = DECLINES, VALUE, ORDER, PART, ADDS = (
    "declined",
    "another value",
    "another order",
    "lacks a part",
    "adds something",
)


def fault(question: str, references: Sequence[str], answer: str) -> str:
    """Return what is wrong with an answer that was judged wrong; "" where its words do not show it.

    >>> fault("How many legs has an insect?", ["six legs"], "An insect has eight legs.")
    'another value'
    >>> fault("Who was she?", ["a painter from Vienna"], "I don't know."), fault("Who?", ["Ann"], "Ben")
    ('declined', 'another value')
    >>> fault("What does it cost?", ["40 euros"], "It costs 40 euros, and you pay by card.")
    'adds something'
    """
    if not attempts(answer):
        return DECLINES
    answer = Rules().read(question, references, answer).answer
    if stated := stated_differences(question, references, answer):
        return VALUE if stated[0].accepted else PART if stated[0].kind == "missing" else ADDS
    answer_words, asked = content(answer), set(content(question))
    reference = nearest_reference(references, answer)
    accepted = content(reference)
    if not answer_words or len(answer_words) > LONGEST:
        return ""
    needed = [key for key in accepted if key not in asked]
    lacks = [key for key in needed if key not in answer_words]
    extra = [key for key in answer_words if key not in accepted and key not in asked]
    places = [accepted.index(key) for key in answer_words if key in accepted]
    if len(set(places)) >= ORDERED and places != sorted(places):
        return ORDER if not lacks and len(extra) <= 2 else ""
    lacks_some = len(needed) / 4 <= len(lacks) < len(needed)
    return PART if lacks_some and len(extra) <= 1 and len(accepted) >= LONG_REFERENCE else ""
