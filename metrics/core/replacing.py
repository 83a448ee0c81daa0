"""Numbers and names of an answer, and those of a reference that can replace them."""

import re
from itertools import dropwhile

from .reading import COMMON
from .words import NUMBER_WORD, equal, quantities

MOST_PARTS = 64  # longer answers are split into this many phrases, which bounds the time for a row
_ITEM = re.compile(r"(?m)^[ \t]*\d{1,2}[.)][ \t]+(?=\S)")  # the number of an item of a list
_PART = re.compile(r"(?<!\S)[^\w\s]*+\w\S*")
_BREAK = re.compile(r"[.!?]\s|\n")
_NUMBER = re.compile(rf"(?i)(?<![$€£+-])[$€£+-]*+\d(?:[\d.,:]*\d)?%?|(?<!\w)(?:{NUMBER_WORD})(?!\w)")
_NAME = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w'’-]+(?: (?:(?:da|de|der|van|von|of|the) )*[^\W\d_a-zß-öø-ÿ][\w'’-]+)*")
# Words that start sentences with a capital letter and are not names.
FIRST_WORDS = COMMON | set(
    "after all also although another any because before both but each either every few here however i if its many may "
    "more most much neither no nor once only or other our please several should since so some such than then there "
    "therefore these those though thus to under unless until use we whether while yes yet".split()
)


def parts(answer: str, most: int = MOST_PARTS) -> list[tuple[int, int]]:
    """Return (start, end) of the words of an answer, without punctuation at their edges.

    An answer of more than `most` words is cut into at most `most` phrases of two, three or more words, which stay
    within a sentence or line unless there are too many of these. The numbers of list items are left out.

    >>> parts("In 1944, (not 1945).")
    [(0, 2), (3, 7), (10, 13), (14, 18)]
    >>> parts("one two three", most=2)
    [(0, 7), (8, 13)]
    >>> parts("Yes. No, never.", most=2)
    [(0, 3), (5, 14)]
    """
    spans, items = [], [match.span() for match in _ITEM.finditer(answer)]
    for match in _PART.finditer(answer):
        if len(items) > 1 and any(start <= match.start() < end for start, end in items):
            continue
        left = re.match(r"[^\w$€£+-]*", match[0]).end()
        right = len(match[0]) - re.match(r"[^\w%]*", match[0][::-1]).end()
        spans.append((match.start() + left, match.start() + max(right, left + 1)))
    if len(spans) <= most:
        return spans
    ends = [i for i in range(1, len(spans)) if _BREAK.search(answer, spans[i - 1][1], spans[i][0])]
    groups = list(zip([0, *ends], [*ends, len(spans)], strict=True))
    if len(groups) > most:
        groups = [(0, len(spans))]
    size = -(-len(spans) // most)
    while sum(-(-(last - first) // size) for first, last in groups) > most:
        size += 1
    return [
        (spans[i][0], spans[min(i + size, last) - 1][1]) for first, last in groups for i in range(first, last, size)
    ]


def instead(question: str, reference: str, answer: str, phrase: str) -> str | None:
    """Return the first number or name of a reference that can replace a phrase of an answer, None if there is none.

    A number (digits or words) is replaced by a number, preferably of the same length, a name (a capitalized word) by a
    name. The replacement is in neither question nor answer; the phrase is in neither question nor reference.

    >>> instead("When?", "on 8 May 1945", "In May 1944", "1944"), instead("When?", "1945", "In May 1944", "In")
    ('1945', None)
    >>> instead("How many eggs are in a dozen?", "twelve", "There are ten.", "ten")
    'twelve'
    >>> instead("How many?", "Four steps.", "There are seven steps.", "There")
    >>> instead("Where?", "Berlin", "There was a wall in Bonn.", "There")
    >>> instead("Who?", "The tower is old.", "Ann built it.", "Ann")
    >>> instead("Who painted it?", "Leonardo da Vinci", "Michelangelo did", "Michelangelo")
    'Leonardo da Vinci'
    >>> instead("", "1.500 people came.", "There were 1500.", "1500")
    """
    kind = next((kind for kind in (_NUMBER, _NAME) if kind.fullmatch(phrase)), None)
    if kind is _NAME and phrase.lower() in FIRST_WORDS:
        return None
    if kind is None or any(
        re.search(rf"(?i)(?<!\w){re.escape(phrase)}(?!\w)", text) for text in (question, reference)
    ):
        return None
    if kind is _NUMBER and any(_may_be_equal(text, phrase) for text in kind.findall(reference)):
        return None  # the reference has it
    asked_and_answered = f"{question} {answer}".lower()
    candidates = [text for text in kind.findall(reference) if text.lower() not in asked_and_answered]
    if kind is _NAME:  # without words that only have a capital letter because they start a sentence
        names = (dropwhile(lambda word: word.lower() in FIRST_WORDS, name.split()) for name in candidates)
        candidates = list(filter(None, map(" ".join, names)))
    candidates = [text for text in candidates if kind is _NUMBER or not _NUMBER.fullmatch(text)]
    alike = [text for text in candidates if len(text) == len(phrase)] if kind is _NUMBER else []
    return (alike or candidates or [None])[0]


def _may_be_equal(first: str, second: str) -> bool:
    """Return whether two numbers are equal, or have the same digits in another notation.

    >>> _may_be_equal("1.500", "1500"), _may_be_equal("ten", "10"), _may_be_equal("5", "6")
    (True, True, False)
    """
    if re.sub(r"[.,]", "", first) == re.sub(r"[.,]", "", second):
        return True
    return any(equal(number, other) for number in quantities(first) for other in quantities(second))
