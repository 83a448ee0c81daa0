"""What rows are like, as counts that can be added up: lengths of answers and references, and unsure verdicts.

How often a judge errs was measured on some data. These counts show whether other data are like them.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

UNSURE = (0.1, 0.9)  # the judge's own probabilities between which it is unsure
LONGEST = 10  # lengths from 2^9 words on are one class
LENGTHS = ("answer_words", "reference_words")


def length_class(words: int) -> int:
    """Return the class of a length: 0, 1, 2-3, 4-7, 8-15 words and so on.

    >>> [length_class(words) for words in (0, 1, 3, 8, 5000)]
    [0, 1, 2, 4, 10]
    """
    return min(words.bit_length(), LONGEST)


def profile(references: Sequence[Sequence[str]], predictions: Sequence[str], probabilities: np.ndarray) -> Counter:
    """Return counts of rows: "profiled", "unsure", and "answer_words:CLASS" and "reference_words:CLASS".

    Args:
        references: n lists of references; the shortest of a row counts.
        predictions: n answers.
        probabilities: (n,) the judge's own probabilities.

    >>> sorted(profile([["Paris", "in Paris"]], ["I think it is Paris"], np.array([0.5])).items())
    [('answer_words:3', 1), ('profiled', 1), ('reference_words:1', 1), ('unsure', 1)]
    """
    found = Counter(profiled=len(predictions))
    found["unsure"] = int(((probabilities > UNSURE[0]) & (probabilities < UNSURE[1])).sum())
    found.update(f"answer_words:{length_class(len(text.split()))}" for text in predictions)
    found.update(f"reference_words:{length_class(min(len(text.split()) for text in texts))}" for texts in references)
    return found
