"""Values of word pieces: numbers, yes and no, which contradict each other although their vectors are near."""

import re
import zlib
from collections.abc import Sequence

import numpy as np

from ..core.quantities import NUMBER_WORDS

_SAME = {word: str(number) for word, number in NUMBER_WORDS.items()}
_SAME |= {word: word for word in ("hundred", "thousand", "million", "billion", "yes", "no")}
_VALUE = re.compile(rf".*\d|(?:{'|'.join(_SAME)})$", re.IGNORECASE | re.DOTALL)

_CONTINUES = re.compile(r"(?<=\d)|(?<=\d[.,])")  # the 5 of 1,945 is not the number 5


def values_of(text: str, offsets: Sequence) -> np.ndarray:
    """Return a code above 0 for every word piece that has a digit, is a number word, or is yes or no.

    Args:
        text: the text.
        offsets: (tokens, 2) character offsets of its word pieces.

    Returns:
        (tokens,) integers, equal where the values are ("2" and "two"); 0 for pieces without one.

    >>> values = values_of("Two of 2, no 3", [(0, 3), (4, 6), (7, 8), (10, 12), (13, 14)])
    >>> values[0] == values[2] != values[4], values[1]
    (np.True_, np.int64(0))
    """
    found = np.zeros(len(offsets), dtype=np.int64)
    for i, (start, end) in enumerate(np.asarray(offsets).reshape(-1, 2).tolist()):
        piece = text[start:end].lower()
        if _VALUE.match(piece):
            value = f"#{piece}" if _CONTINUES.match(text, start) else _SAME.get(piece, piece)
            found[i] = zlib.crc32(value.encode()) + 1
    return found
