"""Negated keyphrases: "not Canberra" does not mean Canberra, -12 is not 12, and >= 5 is not != 5.

The words match regardless of the weight of "not" beside them. So a negated keyphrase is a different token: it
matches only where the other text negates it too, or compares it in the same way.
"""

import re
import zlib
from collections.abc import Sequence

import numpy as np

LEAST = 0.3  # a denied keyphrase weighs as much,
SHARE = 0.9  # and as large a part of the heaviest other piece but the cue: what the answer is, not a word beside it

_NEGATION = re.compile(
    r"\b(?:not|never|cannot|nor|neither)\b|n['\N{RIGHT SINGLE QUOTATION MARK}]\s?t\b", re.IGNORECASE
)
_MINUS = re.compile(r"(?<![\w.,)\]%])(?<!\d\s)[-\N{MINUS SIGN}](?=\s?\.?\d)")  # of a number, not of a range
_SAME = {"\N{GREATER-THAN OR EQUAL TO}": ">=", "\N{LESS-THAN OR EQUAL TO}": "<=", "\N{NOT EQUAL TO}": "!=", "<>": "!="}
_COMPARISON = re.compile(rf"(?<=[\w)\]])\s*(>=|<=|!=|<>|[{''.join(list(_SAME)[:3])}]|[<>](?=\s*-?\.?\d))")
_IN_TAG = re.compile(r"<[/\w][^<>\s]*\Z")
_NEXT_WORD = re.compile(r"\s*([^\s,.;:!?]|[.,:](?=\d))+")


def denied_pieces(text: str, offsets: Sequence, weights: np.ndarray) -> np.ndarray:
    """Return which word pieces are keyphrases that the text denies, or compares by an operator other than equality.

    Args:
        text: the text.
        offsets: (tokens, 2) character offsets of its word pieces.
        weights: (tokens,) keyphrase weights.

    Returns:
        (tokens,) integers, above 0 for pieces of the word behind a negation, a minus sign (1) or an operator.

    >>> denied_pieces("Not Canberra", [(0, 3), (4, 12)], np.array([0.0, 0.9])).tolist()
    [0, 1]
    """
    weights = np.asarray(weights)
    denied = np.zeros(len(weights), dtype=np.int64)
    if not len(weights) or weights.max() < LEAST:
        return denied
    cues = [(*found.span(), 1) for pattern in (_NEGATION, _MINUS) for found in pattern.finditer(text)]
    for found in _COMPARISON.finditer(text):
        if _IN_TAG.search(text, 0, found.start(1)):
            continue
        operator = _SAME.get(found[1], found[1])
        cues.append((*found.span(1), 2 + zlib.crc32(operator.encode()) % 2**16))
    if not cues:
        return denied
    in_cue = np.array([any(a <= start and end <= b for a, b, _ in cues) for start, end in offsets])
    heavy = weights >= max(LEAST, SHARE * weights[~in_cue].max(initial=0.0))
    for _, behind, mark in cues:
        word = _NEXT_WORD.match(text, behind)
        if word:
            inside = np.array([behind <= start and end <= word.end() for start, end in offsets])
            denied[heavy & inside & (denied == 0)] = mark
    return denied
