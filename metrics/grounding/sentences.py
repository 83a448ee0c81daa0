"""Splits an answer into sentences: what each one states, which passages it cites, and the line above its list."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..core.answers import declines

LONGEST = 1000  # characters of a line that are split at once, because the time for quotes in it grows as its square
MOST_CITED = 50  # passages of a range such as [1-50]
_LINE = re.compile(r"[^\n]+(?:(?<!```)\n+(?=[a-z])[^\n]+)*")  # a line that goes on in lower case is one text
_NUMBERS = r"(\d{1,3}(?:\s{0,3}[,;–-]\s{0,3}\d{1,3})*)"
_CALLED = r"(?:doc(?:ument)?|source|passage|context|chunk)s?\s{0,3}"
_CITATION = re.compile(rf"(?i)\s{{0,3}}(?:(?:\[\^?|【)(?:{_CALLED})?{_NUMBERS}(?:\^?\]|】)|\({_CALLED}{_NUMBERS}\))")
# Of OpenAI's file search; no number of a passage.
_OF_FILE = re.compile(r"\s{0,3}【\d{1,4}(?::\d{1,4})?†[^【】\n]{0,200}】")
_NO_CITATION_LEFT = re.compile(r"(?i)\s{0,3}\((?:see|cf\.?|source|ref\.?)[\s:,;]{0,9}\)")
_URL = re.compile(r"https?://\S{1,2000}")
_SOURCES = re.compile(  # a line that only names sources, or leads into a list of them
    r"(?i)(?:(?:sources?|references?|citations?|bibliography|works\ cited|further\ reading|see(?:\ also)?)\b)?"
    r"(?:[\s:,;.&()]|\band\b)*\Z"
)
_CODE = re.compile(r"(?ms)^[ \t]{0,8}```.*?(?:^[ \t]{0,8}```|\Z)")
_NUMBER_OF_LIST = re.compile(r"\(?\d{1,2}[.)]")
_HEADING = re.compile(r"(?:\*\*|__)[^\n]{1,200}?(?<![.!?])(?:\*\*|__)")
_LISTED_NEXT = re.compile(r"[^\S\n]*+\n\s*+(?:[-*•–+]\s|\(?\d{1,2}[.)]\s|\|)")
_MARK = re.compile(r"^\s*(?:#{1,6}\s|[-*•–+]\s|\(?\d{1,2}[.)]\s|>\s)\s*")  # of a list, a heading or a quotation
_EMPHASIS = re.compile(r"\*\*|__|`")
_BLOCK = re.compile(r"(?i)</?(?:p|br|li|ul|ol|div|table|tr|td|th|h[1-6])\b[^<>\n]{0,200}>")  # tags that separate texts
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")  # the others stand in a text
_LINK = re.compile(r"!?\[([^\[\]\n]{1,200})\]\([^()\s]{1,500}\)")
_CELLS = re.compile(r"\s{0,3}\|\s{0,3}")
# The line below the header of a table.
_RULE = re.compile(r"\s*\n[ \t]{0,3}\|?[ \t]{0,3}:?-{2,}[-:| \t]{0,500}(?:\n|\Z)")
_CHAT = re.compile(
    r"""(?ix)\A(?:
    (?:hi|hello|hey|dear|greetings|good\ (?:morning|afternoon|evening))\b[\w\ ,]{0,40}
    | (?:many\ )?thanks?\b[\w\ ,]{0,40} | thank\ you\b[\w\ ,]{0,40} | you(?:['’]re|\ are)\ (?:very\ )?welcome
    | (?:sure(?:\ thing)?|certainly|of\ course|absolutely|no\ problem|gladly
        |(?:that['’]s\ a\ )?(?:great|good)\ question)
      (?:,?\ (?:i\ can|i['’]d\ be|i['’]ll|here)\b[\w\ ,'’]{0,60})?
    | (?:i\ )?hope\ (?:this|that|it)\b.{0,200} | (?:please\ )?(?:let\ me\ know|feel\ free)\b.{0,200}
    | (?:i['’]?d|i\ would|i['’]m|i\ am)\ (?:be\ )?(?:happy|glad)\ to\b.{0,200} | happy\ to\ help\b.{0,200}
    | if\ you\ (?:have|need|want|would\ like|['’]?d\ like)\b.{0,200}
      \b(?:let\ me|ask|i\ can|feel\ free|happy|glad)\b.{0,200}
    | i(?:['’]ll|\ (?:can|could|will|would))\ (?:also\ |gladly\ |happily\ )?(?:help|assist)\b\D{0,200}
    | (?:could|can|would|will)\ you\ (?:please\ )?(?:clarify|tell|provide|specify|share|explain|rephrase)\b.{0,200}
    | (?:just\ let|let)\ me\ (?:know|check|look)\b.{0,200}
    | here(?:['’]s|\ is|\ are)\ (?:a|an|the|some|what|your)\b[\w\ ,'’-]{0,70}
    | (?:based\ on|according\ to)\ the\ [\w\ ]{0,40}(?:context|passages?|documents?|sources?)
    )[^\w]*\Z"""
)
# "Please contact HR": it sends the reader elsewhere; a number or an address in it would be a claim.
_REFERRAL = re.compile(
    r"""(?ix)\A
    (?:for\ (?:more|further|other|additional|specific|exact)\ [\w\ ]{1,40},?\ |(?:in|if)\ [\w\ ,'’]{1,60},\ )?
    (?:please\ |kindly\ |(?:try|feel\ free)\ to\ |you\ (?:can|may|could|should)\ (?:(?:also|always|want\ to)\ )?)*
    (?:(?:i|we)(?:['’]d|\ would)?\ (?:suggest|recommend|advise)\ (?:that\ you\ |you\ (?:to\ )?)?)?
    (?:directly\ )?(?:
        (?:contact(?!\ (?:lens|info|details|form|hours|between|with))|contacting|consult|consulting)\b
        | (?:reach|reaching)\ out\b | (?:get|getting)\ in\ touch\b
        | (?:speak|speaking|talk|talking|check|checking)\ (?:to|with)\b | refer\ to\b
        | (?<=please\ )(?:ask|see|visit|email|call|check|review)\b
    )[^\d@]{0,200}\Z"""
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer."""

    start: int  # its place in the answer, in characters
    end: int
    claim: str  # its text without citations and marks of lists
    citations: tuple[int, ...]  # numbers of the passages that it cites
    list_heading: str  # of an item of a list: the line above the list; else ""
    states: bool  # whether it states something that a passage can support


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the places of the sentences of a text, in characters; a line break ends a sentence.

    >>> text = "Dr. Ito won in 1999. He left."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. Ito won in 1999.', 'He left.']
    """
    result = []
    for match in _LINE.finditer(text):
        number = None  # start of the number of a list item, which is no sentence of its own
        before = len(result)
        for first, last in _sentences_of_line(match[0]):
            piece = match[0][first:last]
            if piece.strip():
                start = match.start() + first + len(piece) - len(piece.lstrip())
                end = start + len(piece.strip())
                leads = number is None and len(result) == before
                if leads and _NUMBER_OF_LIST.fullmatch(piece.strip()) and match[0][last:].strip():
                    number = start
                    continue
                result.append((start if number is None else number, end))
                number = None
    return result


def _sentences_of_line(line: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the sentences of a line; one that is longer than `LONGEST` is cut."""
    from sentencex import get_sentence_boundaries

    start = 0
    while start < len(line):
        block = line[start : start + LONGEST]
        spans = [(bounds["start_index"], bounds["end_index"]) for bounds in get_sentence_boundaries("en", block)]
        if start + LONGEST < len(line):  # the last sentence may go on
            spans = spans[:-1] or [(0, block.rfind(" ") + 1 or len(block))]
        yield from ((start + first, start + last) for first, last in spans)
        start += spans[-1][1]


def citations(text: str) -> tuple[int, ...]:
    """Return the numbers of the passages that a text cites, each once.

    >>> citations("It is tall [2], and old [1-3, 7]. See a[i] and [1889].")
    (2, 1, 3, 7)
    """
    cited: dict[int, None] = {}
    for match in _CITATION.finditer(text):
        for numbers in re.split("[,;]", match[1] or match[2]):
            first, *last = map(int, re.split("[–-]", numbers))
            cited |= dict.fromkeys(range(first, min(last[-1] if last else first, first + MOST_CITED) + 1))
    return tuple(cited)


def claim_of(text: str) -> str:
    """Return a sentence without citations and without the marks of Markdown and HTML.

    >>> claim_of("- **Paris** is the capital [2]."), claim_of("<p>It is [Paris](https://a.b)."), claim_of("| a | b |")
    ('Paris is the capital.', 'It is Paris.', 'a, b')
    """
    text = _TAG.sub("", _BLOCK.sub(" ", text))
    text = _LINK.sub(lambda link: f"[{link[1]}]" if link[1].isdecimal() else link[1], text)
    text = _NO_CITATION_LEFT.sub("", _OF_FILE.sub("", _CITATION.sub("", text)))
    text = _EMPHASIS.sub("", _MARK.sub("", text)).strip()
    return _CELLS.sub(", ", text.strip("| ")) if text[:1] == "|" else text


def states_something(text: str) -> bool:
    """Return whether a sentence states something that can be supported.

    Questions, greetings, offers, referrals, refusals, headings, tags alone, lines that lead into a list and lines that
    only name sources do not.

    >>> [states_something(t) for t in ("It is tall.", "Is it tall?", "I don't know.", "Hope this helps!", "Causes:")]
    [True, False, False, False, False]
    """
    claim = claim_of(text)
    bare = claim.rstrip("\"'”’)* ")
    if not any(letter.isalnum() for letter in bare) or bare.endswith(("?", ":")) or text.strip().startswith("#"):
        return False
    if declines(claim) or _CHAT.match(claim) or (_REFERRAL.match(claim) and not _URL.search(claim)):
        return False
    # A line that only names sources states nothing; an address alone can be the answer.
    return _URL.match(claim) is not None or not _SOURCES.match(_URL.sub("", claim))


def sentences_of(answer: str) -> list[Sentence]:
    r"""Return the sentences of an answer; an item of a list and a row of a table are sentences.

    >>> [(s.claim, s.list_heading) for s in sentences_of("Ann Lee won [1].\nCauses:\n- rain")]
    [('Ann Lee won.', ''), ('Causes:', ''), ('rain', 'Causes:')]
    """
    result: list[Sentence] = []
    line_above = ""  # the list
    code = [block.span() for block in _CODE.finditer(answer)][::-1]
    in_sources = False  # whether a list of sources goes on
    for start, end in sentence_spans(answer):
        text = answer[start:end]
        claim = claim_of(text)
        if not claim:
            continue
        cited = citations(text)
        listed = bool(_MARK.match(text)) and not text.lstrip().startswith("#")
        line_above = line_above if listed else ""
        is_header = text[:1] == "|" and _RULE.match(answer, end) is not None
        is_header = is_header or (_HEADING.fullmatch(text) is not None and _LISTED_NEXT.match(answer, end) is not None)
        while code and code[-1][1] <= start:
            code.pop()
        in_code = bool(code) and code[-1][0] <= start
        is_source = in_sources and (listed or any(pattern.match(text) for pattern in (_CITATION, _URL)))
        in_sources = is_source or (_SOURCES.match(claim.strip("# ")) is not None and not cited)
        states = not (is_header or in_code or is_source) and states_something(text)
        result.append(Sentence(start, end, claim, cited, line_above, states))
        if claim.endswith(":"):
            line_above = claim
    return result
