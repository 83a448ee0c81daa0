"""Negated keyphrases: "not Canberra" does not mean Canberra, and -12 is not 12.

The words match regardless of the weight of "not" beside them. So a negated keyphrase is a different token: it
matches only where the other text negates it too.
"""

import re
from collections.abc import Sequence

import numpy as np

LEAST = 0.3  # a denied keyphrase weighs as much,
SHARE = 0.9  # and as large a part of the heaviest other piece but the cue: what the answer is, not a word beside it

_NEGATION = re.compile(
    r"\b(?:not|never|cannot|nor|neither)\b|n['\N{RIGHT SINGLE QUOTATION MARK}]\s?t\b", re.IGNORECASE
)
_MINUS = re.compile(r"(?<![\w.,)\]%])(?<!\d\s)[-\N{MINUS SIGN}](?=\s?\.?\d)")  # of a number, not of a range
_NEXT_WORD = re.compile(r"\s*([^\s,.;:!?]|[.,:](?=\d))+")


def denied_pieces(text: str, offsets: Sequence, weights: np.ndarray) -> np.ndarray:
    """Return which word pieces are keyphrases that the text denies.

    Args:
        text: the text.
        offsets: (tokens, 2) character offsets of its word pieces.
        weights: (tokens,) keyphrase weights.

    Returns:
        (tokens,) booleans: pieces of the word behind a negation or a minus sign.

    >>> denied_pieces("Not Canberra", [(0, 3), (4, 12)], np.array([0.0, 0.9])).tolist()
    [False, True]
    """
    weights = np.asarray(weights)
    denied = np.zeros(len(weights), dtype=bool)
    if not len(weights) or weights.max() < LEAST:
        return denied
    cues = [found.span() for pattern in (_NEGATION, _MINUS) for found in pattern.finditer(text)]
    if not cues:
        return denied
    in_cue = np.array([any(a <= start and end <= b for a, b in cues) for start, end in offsets])
    heavy = weights >= max(LEAST, SHARE * weights[~in_cue].max(initial=0.0))
    for _, behind in cues:
        word = _NEXT_WORD.match(text, behind)
        if word:
            denied |= heavy & np.array([behind <= start and end <= word.end() for start, end in offsets])
    return denied
