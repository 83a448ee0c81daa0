"""Words and numbers of texts, keys that their forms share, and marks of those that two texts have in common."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from .quantities import NUMBER_WORDS, NumberInText, equal, quantities
from .reading import COMMON
from .scorer import Stemmer

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


def contains(text: str, phrase: str) -> bool:
    """Return whether a text has the words of a phrase in their order, in any form.

    >>> contains("It has two cities.", "2 city"), contains("It has cities two.", "2 city")
    (True, False)
    """
    return f" {' '.join(keys(phrase))} " in f" {' '.join(keys(text))} "


def nearest_reference(references: Sequence[str], answer: str) -> str:
    """Return the accepted answer that has the largest share of its words in an answer, of several the shortest.

    Where none shares a word it is the first one.

    >>> references = ["in Upper Austria", "Linz on the Danube", "Linz"]
    >>> nearest_reference(references, "It was Linz."), nearest_reference(references, "Graz")
    ('Linz', 'in Upper Austria')
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

    1 is a word of both reference and candidate, 2 if it comes in the same order in both; 3 more is a word of the
    question. Words of one stem are the same, and numbers that `quantities.equal` calls equal, and long words may be
    `misspelt`. At most `longest` words are compared, since the time grows with their square; a model's `max_length`
    loses none, as every word has a piece.

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

    >>> absent_words("24 months in Graz", "two years in Linz"), absent_words("He won", "", "Who won?")
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
