"""What an answer asserts: not what it takes back, denies, only lists, repeats, or says about its own marks.

A judge is trained on answers that say one thing. These rules take out of an answer what asserts nothing: a text that
names the reference among others, or takes it back, is judged by what it says in the end. The rules read plain English
words, and leave all other answers as they are.
"""

import re
from collections.abc import Sequence

from .passages import COMMON

MOST_ALTERNATIVES = 4  # answers in a list where one is asked; a list of more asserts none
MOST_CHOICES = 2  # the same with "or" between them
LONGEST_ALTERNATIVE = 6  # words of a reference that can be one of a list
MORE_WORDS = 2  # of another alternative
MOST_LEAD = 100  # characters before a colon and a list
MOST_CHARACTERS = 2_000  # of an answer that can be a list
LEAST_DENIALS = 2  # sentences that only deny, from which they are left out
LEAST_REPETITIONS = 3
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_YES_NO = re.compile(
    r"(?i)\A\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must|true or false)\b"
)
_WRONG = r"(?:all )?(?:wrong|incorrect|false|not (?:right|correct|true)|(?:an?|my) (?:mistake|error))"
# The speaker takes back all that was said before, or calls it wrong and says what is right.
_TAKEN_BACK = re.compile(
    r"(?i)(?:\A|[.!?\n,;(—–*])\s{0,3}(?:"
    rf"(?:(?:no|wait|sorry|actually|hmm|oh)\b[\s,.;:!—–-]{{1,4}}){{1,3}}(?:that|this|it)(?:['’]s| is| was) {_WRONG}"
    r"|(?:(?:no|wait|sorry|actually|hmm|oh)\b[\s,.;:!—–-]{1,4}){1,3}"
    r"(?=(?:it(?:['’]s| is| was)|the (?:correct |right )?answer|i meant?|make that|rather)\b)"
    rf"|on (?:reflection|second thoughts?)(?:,? (?:that|this|it)(?:['’]s| is| was) {_WRONG})?"
    rf"|(?:that|this)(?:['’]s| is| was) {_WRONG}"
    r"(?=[\s,.;:!)—–-]{1,4}(?:it|the (?:correct |right |actual |real |true )?(?:answer|one)) (?:is|was|should|must)\b)"
    r"|scratch that|i take (?:that|it) back|i (?:was|am) (?:wrong|mistaken)|i made an? (?:mistake|error)|my mistake"
    r"|i stand corrected|correction *(?=:)|(?:or )?(?:sorry, )?i (?:mean|meant)(?= )"
    r")(?![\w'’])"
)
# An explicit answer; of several that differ the last one counts, as in a text that reasons.
_STATED = re.compile(
    r"(?i)(?:\bthe (?:final |correct |right |short )?answer (?:is|was)\b|(?m:^)\W{0,4}(?:final )?answer:)"
    r"[\s*:]*+([^.\n]+)"
)
_REST = re.compile(r"[\s,.;:!—–)\]*-]*(?:(?:and|but|so)\b\s*)?")
_DENIAL = re.compile(
    r"(?i)\A\W*+(?:(?:no|and|nor),?\s++)?(?:(?:it|that|this|he|she|they|the answer)\s*+)?"
    r"(?:(?:(?:is|was|are|were|['’]s)\s++)?(?:definitely |certainly )?not|(?:is|was|are|were)n['’]t"
    r"|cannot be|can['’]t be)\s++[^,;:]{1,80}\Z"
    r"|\A[^,;:]{1,80}\bis (?:wrong|incorrect|false|not (?:right|correct|it|the answer))\W*\Z"
)
_ASKED_AND_DENIED = re.compile(r"(?i)([^.?!\n]{1,60})\?\s{1,3}(?:no|nope)\b[.,!]?")
# Between sentences, and before parts of a sentence that deny or are in contrast.
_PIECE = re.compile(
    r"(?i)(?<=[.!?;])\s+|\n+|,\s+(?=(?:but|it is|it was|it['’]s|(?:and )?(?:not|(?:is|was)n['’]t|nor))\b)"
)
_CONTRAST = re.compile(r"(?i)\b(?:but|only|just|because|since|until|before|after|if|unless)\b")
# What an answer says to the grader, or about its own marks, says nothing about the question.
_TO_GRADER = re.compile(
    r"(?i)\b(?:ignore|disregard|forget)\b[^.!?\n]{0,40}\b(?:instructions?|prompt|rules)\b"
    r"|\b(?:mark|grade|rate|score|count|judge|accept|treat)\b[^.!?\n]{0,20}\b(?:this|the|my|it)\b[^.!?\n]{0,30}"
    r"\b(?:as )?(?:correct|right|true)\b"
    r"|\bthis (?:answer|response)\b[^.!?\n]{0,30}\b(?:is (?:entirely |fully |certainly )?(?:correct|right)|matches)\b"
    r"|\bnote to (?:the )?(?:grader|judge|evaluator)\b|\bgive (?:it |this |me )?full marks\b"
    r"|\A\W*(?:system|verdict|evaluation|label)\s*[:=][^.!?\n]{0,40}\b(?:correct|right)\b|\bscore\s*[:=]\s*1\b"
)
_BULLET = re.compile(r"(?m)^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+")
_OR = re.compile(r"(?i)\bor\b|(?<!\d)/|/(?!\d)")  # 11/11/1918 is one date
_COMMA = re.compile(r"(?i)[;\n،、|•]|,(?!\d{3}\b)|\bor\b|\s\d{1,2}[.)]\s|\s[–-]\s")
# Words around the alternatives of a list.
_AROUND = COMMON | set(
    "answer answers correct either could might may maybe perhaps possibly probably one following".split()
)
_SEVERAL = re.compile(
    r"(?i)\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|all|list|name|names|both|some|several|many"
    r"|which of|examples?|types?|kinds?|(?:what|who|which)(?: \w+s)? (?:are|were)"
    r"|who else|(?:what|which) (?!is|was|does|did)\w+s)\b"
)
_QUICK = re.compile(
    r"(?i)\bno[,.!]|\bnot\b|\bnor\b|n['’]t\b|wait|correction|mistake|error\b|reflection|second thought|scratch"
    r"|sorry|actually|\bi meant?\b|take (?:that|it) back|wrong|corrected|\bignore|\bdisregard|\bforget|\bgrade|\bmark"
    r"|\bscore|\bverdict|\brate\b|\bcount|\bjudge|\baccept|\btreat|answer (?:is|was)|answer:|this answer"
    r"|this response|note to|full marks|system|\?\s*no\b"
)


def asserted(answer: str, question: str, references: Sequence[str]) -> str:
    """Return what an answer asserts; nothing if it takes back or denies everything, or only lists alternatives.

    Args:
        answer: the answer.
        question: the question; one that is answered by yes or no is about a statement that an answer may deny, and one
            that asks for several things may have a list.
        references: the references; with a list or a repetition among them the answer may have one.

    >>> rows = ("Paris. No, that is wrong: Lyon", "It is not Rome. It is not Bonn. It is Lyon.", "Lyon Lyon Lyon")
    >>> [asserted(answer, "Capital of France?", ["Paris"]) for answer in rows]
    ['Lyon', 'It is Lyon.', 'Lyon']
    >>> asserted("Lyon, Nice, Paris, Brest, Metz", "Capital of France?", ["Paris"])
    ''
    """
    if _QUICK.search(answer):
        if not _YES_NO.match(question):
            answer = _without_denials(_last_stated(_not_taken_back(answer)))
        answer = _without_demands(answer)
    answer = _once(answer, references)
    return "" if _only_lists(answer, question, references) else answer


def _not_taken_back(answer: str) -> str:
    """Return what follows the last words that take back what was said before them.

    >>> _not_taken_back("Paris (this is a mistake, it should be Lyon)"), _not_taken_back("No, that is wrong.")
    ('it should be Lyon)', 'No, that is wrong.')
    """
    *_, last = None, *_TAKEN_BACK.finditer(answer)
    if last is None or not any(map(str.isalnum, answer[: last.start()])):
        return answer
    return answer[_REST.match(answer, last.end()).end() :]


def _last_stated(answer: str) -> str:
    """Return the last explicit answer of a text and what follows it, if the text states different ones.

    >>> _last_stated("The answer is Paris. Or so they say. The answer is Lyon."), _last_stated("The answer is Paris.")
    ('The answer is Lyon.', 'The answer is Paris.')
    """
    stated = list(_STATED.finditer(answer))
    if len({" ".join(_plain_words(one[1])) for one in stated}) < 2:
        return answer
    return answer[stated[-1].start() :].strip()


def _without_denials(answer: str) -> str:
    """Return an answer without the parts that only say what is not the case, if there are several.

    >>> _without_denials("Not Bonn, not Rome, but Paris"), _without_denials("Bonn? No. Rome? No. It is Paris.")
    ('but Paris', 'It is Paris.')
    """
    text = _ASKED_AND_DENIED.sub(r" Not \1.", answer)
    pieces = [piece for piece in _PIECE.split(text) if piece.strip()]
    denials = [bool(_DENIAL.match(piece)) and not _CONTRAST.search(piece) for piece in pieces]
    if sum(denials) < LEAST_DENIALS:
        return answer
    return " ".join(piece for piece, denies in zip(pieces, denials, strict=True) if not denies)


def _without_demands(answer: str) -> str:
    """Return an answer without sentences that speak to the grader; an answer of nothing else is left as it is."""
    sentences = _SENTENCE.split(answer)
    kept = [sentence for sentence in sentences if not _TO_GRADER.search(sentence)]
    return answer if len(kept) == len(sentences) or not kept else " ".join(kept)


def _once(answer: str, references: Sequence[str]) -> str:
    """Return a text that is repeated three times or more once, unless a reference repeats words.

    >>> _once("It is Lyon. It is Lyon. It is Lyon.", ["Paris"]), _once("Tora! Tora! Tora!", ["Tora Tora Tora"])
    ('It is Lyon.', 'Tora! Tora! Tora!')
    """
    ends = [found.end() for found in re.finditer(r"\S+", answer)]
    if len(ends) < LEAST_REPETITIONS:
        return answer
    period = _period(_plain_words(answer))
    if not period or any(_period(_plain_words(reference)) for reference in references):
        return answer
    return answer[: ends[period - 1]].rstrip(" ,;")


def _plain_words(text: str) -> list[str]:
    return [word.strip(".,;:!?\"'*()[]-").casefold() for word in text.split()]


def _period(words: Sequence[str]) -> int:
    """Return the number of words after which a text repeats to its end, 0 if not three times.

    >>> _period("a b a b a b".split()), _period("a b a b".split()), _period("a a b".split())
    (2, 0, 0)
    """
    border, length = [0], 0  # of every prefix the longest end that is also its start (Knuth, Morris and Pratt)
    for i in range(1, len(words)):
        while length and words[i] != words[length]:
            length = border[length - 1]
        length += words[i] == words[length]
        border.append(length)
    period = len(words) - border[-1] if words else 0
    return period if period and len(words) % period == 0 and len(words) >= LEAST_REPETITIONS * period else 0


def _only_lists(answer: str, question: str, references: Sequence[str]) -> bool:
    """Return whether an answer lists more alternatives than one has, a reference among them, where one is asked.

    >>> _only_lists("Lyon, Nice or Paris", "Capital of France?", ["Paris"])
    False
    >>> _only_lists("Lyon or Nice or Paris", "Capital of France?", ["Paris"])
    True
    >>> _only_lists("11/11/1918", "When did it end?", ["11 November 1918"])
    False
    """
    if len(answer) > MOST_CHARACTERS or _SEVERAL.search(question):
        return False
    asked = set(_plain_words(question))
    short = [words for words in map(_plain_words, references) if len(words) <= LONGEST_ALTERNATIVE]
    longest = MORE_WORDS + max(map(len, short), default=0)
    for pattern, most in ((_COMMA, MOST_ALTERNATIVES), (_OR, MOST_CHOICES)):
        items = [set(_plain_words(item)) for item in _items(answer, pattern, longest)]
        if len(items) <= most or any(item <= asked for item in items):  # the question names them
            continue
        if any(item - _AROUND and item - _AROUND <= set(words) for item in items for words in short):
            return all(len(_items(reference, pattern)) < 2 for reference in references)
    return False


def _items(text: str, pattern: re.Pattern, longest: int = LONGEST_ALTERNATIVE) -> list[str]:
    r"""Return the items of a list; none if one has too many words. The first may have words before it.

    >>> _items("- Bonn\n- Rome", _COMMA), _items("1,250 km, or so", _COMMA), _items("Bonn or Rome", _OR)
    (['Bonn', 'Rome'], ['1,250 km', 'so'], ['Bonn', 'Rome'])
    """
    _, _, text = text.partition(": ") if ": " in text[:MOST_LEAD] else ("", "", text)
    items = [item.strip(" \t,.") for item in pattern.split(_BULLET.sub("", text))]
    items = [item for item in items if any(map(str.isalnum, item))]
    lengths = [len(item.split()) for item in items]
    return items if not lengths or max([lengths[0] - MORE_WORDS, *lengths[1:]]) <= longest else []
