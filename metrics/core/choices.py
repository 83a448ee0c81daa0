"""Options of a question and items of a list: which of them a text names, where it names nothing else."""

import re
from functools import lru_cache

_OPTION = re.compile(r"(?m)^[ \t]*\(?([A-J])[).:][ \t]+(\S.*?)[ \t]{0,9}$")
_INLINE = re.compile(r"(?<!\w)\(?([A-J])[).:][ \t]*(\S.*?)(?=[\s,;]{0,9}(?<!\w)\(?[A-J][).:][ \t]|[\n?]|\Z)")
_AROUND = " \t\n*_`$\"'“”.,:;!()[]"
_LETTER = r"\(?(?P<letter>[A-HJ])\)?"
_FORMS = [
    re.compile(pattern)
    for pattern in (
        rf"{_LETTER}\s*[.):–-]+\s*(?P<text>\S.*)",
        rf"{_LETTER}(?:,|\s+(?:because|since|as|for|is (?:the )?(?:correct|right|best|answer))\b).*",
        rf"(?P<text>\S.*?)\s*\((?:option )?{_LETTER}\)",
    )
]
_SEVERAL_LETTERS = re.compile(r"(?i)\(?[A-J]\)?(?:\s*(?:,|and|&|/|or)\s*\(?[A-J]\)?)+|[A-J]{2,4}")
_ITEM_ENDS = re.compile(r"(?i)\s{0,9}(?:[,;\n•|]|(?<!\w)(?:and|or|&)(?!\w))+\s{0,9}")
LONGEST_ITEM = 4  # words of an item
_CLAUSE = re.compile(
    r"(?:with|in|of|from|by|on|at|for|as|who|which|whose|his|her|its|their|where|when|because|i\.e|e\.g|it|he|she|they|we|you|i|there|this|that|"
    r"nobody|is|was)\b"
)
_ARTICLE = re.compile(r"\A(?:(?:the|an?|also|and)\s+)+")
MOST_ALTERNATIVES = 8  # items between commas of an answer to a question for one; an address has fewer
MOST_BULLETS = 4  # lines of such an answer
_ONE = re.compile(
    r"(?i)\b(?:who|where|when)\b|\b(?:what|which) (?:is|was) the \w+|\b(?:what|which) (?:\w+ ){1,3}"
    r"(?:is|was|did|does|do|were|has|have)\b"
)
_IN_ORDER = re.compile(
    r"(?i)\b(?:order|rank\w*|sequence|first|last|respectively|from|up|down|upwards|downwards|starting|beginning|steps?|then)\b"
)
_SEVERAL = re.compile(
    r"(?i)\b(?:all|both|list)\b|\b(?:what|which|who) (?:are|were)\b|\b(?:what|which) "
    r"(?!(?:is|was|does|has)\b)(?:\w+ )?(?!(?:is|was|does|has|his|this|its|as)\b)\w+[^siu\W]s\b"
)
_SOME = re.compile(r"(?i)\b(?:an?|one|some|any|example|e\.g\.|examples|name an?|at least|either)\b")
_LOOSE = re.compile(
    r"(?i)\b(?:sometimes|often|also|optionally|usually|mainly|mostly|not|nor|no|rather|instead|never|such as"
    r"|including|e\.g|i\.e|etc)\b"
)
_NUMBERS = {word: number for number, word in enumerate("two three four five six seven eight nine ten".split(), 2)}


def options(question: str) -> dict[str, str]:
    r"""Return the options that a question lists, by their letters.

    >>> options("Which is red?\nA. Mars\nB. Venus"), options("Which is red? (A) Mars (B) Venus"), options("Who?")
    ({'A': 'Mars', 'B': 'Venus'}, {'A': 'Mars', 'B': 'Venus'}, {})
    """
    for pattern in (_OPTION, _INLINE):
        found = {letter: text.strip() for letter, text in pattern.findall(question)}
        if len(found) > 1 and list(found) == [chr(ord("A") + i) for i in range(len(found))]:
            return found
    return {}


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(_AROUND).split())


def chosen(text: str, given: dict[str, str]) -> frozenset[str] | None:
    """Return the letters of the options that a text chooses, None if it does something else.

    Args:
        text: the text: a letter, a letter with its text or a reason, or the text of an option.
        given: the options of the question; empty if they are not known.

    >>> metals = {"A": "Iron", "B": "Mercury"}
    >>> [sorted(chosen(text, metals)) for text in ("b", "(B) Mercury", "mercury", "B because it flows", "AB")]
    [['B'], ['B'], ['B'], ['B'], ['A', 'B']]
    >>> chosen("A. Mercury", metals), chosen("Lead", metals), chosen("A cat", {})
    (None, None, None)
    """
    text = re.sub(r"(?i)\A(?:option|choice|letter|answer)\s+(?=\(?[A-J]\b)", "", text.strip().strip("*_`$").strip())
    bare = text.strip(_AROUND)
    if re.fullmatch(r"[A-Ja-j]", bare) and (not given or bare.upper() in given):
        return frozenset(bare.upper())
    texts = {_plain(option): letter for letter, option in given.items()}
    if _plain(text) in texts:
        return frozenset(texts[_plain(text)])
    if _SEVERAL_LETTERS.fullmatch(bare) and (bare.isupper() or not bare.isalpha()):
        letters = frozenset(re.sub(r"(?i)\b(?:and|or)\b", "", bare).upper()) & frozenset("ABCDEFGHIJ")
        if given and letters <= set(given):
            return letters
    for pattern in _FORMS:
        match = pattern.fullmatch(text)
        if match:
            letter, said = match["letter"], match.groupdict().get("text")
            other = texts.get(_plain(said or ""))
            if (given and letter not in given) or (other and other != letter):
                return None
            return frozenset(letter)
    return None


@lru_cache(2**14)
def items(text: str) -> tuple[str, ...] | None:
    r"""Return the items of a text that is a list of short items, or one; None of any other text.

    >>> items("Red, Blue and the Green"), items("- Ohio\n- Utah"), items("It is far away and nobody lives there now")
    (('red', 'blue', 'green'), ('ohio', 'utah'), None)
    """
    text = re.sub(r"(?m)^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+", "", text.strip())
    if len(text) > 300 or re.search(r"[.!?:]\s+\S|\d,\d|\(", text):
        return None
    found = [_ARTICLE.sub("", _plain(item)) for item in _ITEM_ENDS.split(text)]
    found = tuple(item for item in found if item)
    return (
        found
        if found
        and not any(_CLAUSE.match(item) for item in found)
        and all(len(item.split()) <= LONGEST_ITEM for item in found)
        else None
    )


def same_list(question: str, reference: str, answer: str) -> bool | None:
    """Return whether an answer has the items of a list, in any order; None where that cannot be known.

    An answer that lacks items, or has further ones, is wrong only if all of its other items are those of the
    reference and the question asks for all of them.

    >>> same_list("Which states?", "Ohio, Utah", "Utah and Ohio"), same_list("Which states?", "Ohio, Utah", "Ohio")
    (True, False)
    >>> same_list("What is the capital?", "Paris, France", "Paris"), same_list("Name a state.", "Ohio, Utah", "Ohio")
    (None, None)
    """
    given, said = items(reference), items(answer)
    if not given or not said or (len(given) < 2 and len(said) < 2):
        return None
    first, second = set(given), set(said)
    if len(given) == 1 and given[0] in second and _ONE.search(question) and not _SEVERAL.search(question):
        bullets = len(re.findall(r"(?m)^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+", answer))
        return False if len(said) >= MOST_ALTERNATIVES or bullets >= MOST_BULLETS else None
    if _IN_ORDER.search(question):
        return None
    if first == second:
        return True if len(first) > 1 else None
    if (
        _LOOSE.search(answer)
        or not (first < second or second < first)
        or not _SEVERAL.search(question)
        or _SOME.search(question)
    ):
        return None
    asked = [
        _NUMBERS.get(word, 0) or int(word)
        for word in re.findall(rf"(?i)\b(?:{'|'.join(_NUMBERS)}|\d{{1,2}})\b", question.lower())
    ]
    return None if asked and asked != [len(first)] else False
