"""Select the passage of a long answer that a judge reads: the sentences closest to question and reference.

A small judge overlooks an answer in the middle of a long text, because it classifies by a single vector. So it reads
only a passage of answers longer than its checkpoint's limit (`LONG_ANSWER` words by default).
"""

import re
from collections.abc import Callable, Sequence

LONG_ANSWER = 150  # words of an answer above which a passage is selected
PASSAGE = 40  # the most words of a passage, unless a single sentence is longer
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")
LEAST_ASKED = 0.5  # share of the words of the question in a passage that answers it
# Function words, which do not show the topic of a text.
COMMON = frozenset(
    "a an and are as at be been by did do does for from had has have he her his how in is it its no not of on or she "
    "that the their they this to was were what when where which who why with you your".split()
)


def passages(answer: str, most: int = PASSAGE) -> list[str]:
    """Return runs of sentences of an answer that overlap by half, in order.

    Args:
        answer: the answer.
        most: words of a run at most; a longer sentence is a run of its own.

    >>> passages("One two. Three four. Five six.", most=4)
    ['One two. Three four.', 'Three four. Five six.']
    """
    sentences = [text for text in _END.split(answer) if text.strip()]
    runs = overlapping_runs([len(text.split()) for text in sentences], most)
    return [" ".join(sentences[start:end]) for start, end in runs]


def overlapping_runs(lengths: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Return runs of sentences that overlap by half, as (first, last + 1).

    Args:
        lengths: words of every sentence.
        most: words of a run at most; a longer sentence is a run of its own.

    >>> overlapping_runs([2, 2, 2], most=4)
    [(0, 2), (1, 3)]
    """
    found, start = [], 0
    while start < len(lengths):
        end, words = start + 1, lengths[start]
        while end < len(lengths) and words + lengths[end] <= most:
            words, end = words + lengths[end], end + 1
        found.append((start, end))
        if end == len(lengths):
            break
        half, start = 0, start + 1
        while start < end and half + lengths[start - 1] < words / 2:
            half, start = half + lengths[start - 1], start + 1
    return found


def passage(
    answer: str,
    question: str,
    references: Sequence[str],
    keys: Callable[[str], list[str]],
    longest: int = LONG_ANSWER,
    most: int = PASSAGE,
) -> str:
    """Return an answer, or of a long one the passage closest to its question and to a reference.

    Args:
        answer: the answer.
        question: the question.
        references: the references.
        keys: from a text to the keys of its words, equal for forms of one word.
        longest: words of an answer up to which it is read whole.
        most: words of a passage.

    Returns:
        The passage with the largest share of the words of the question, and of those of the reference of which it has
        most; the first of equal ones. If another one has as many words of the question and none of the reference, it
        may give another answer: then both, in order.
    """
    if len(answer.split()) <= longest:
        return answer

    def content(text: str) -> set[str]:
        return {key for key in keys(text) if key not in COMMON}

    asked, wanted = content(question), [content(text) for text in references]

    def share(of: set[str], words: set[str]) -> float:
        return len(of & words) / max(1, len(of))

    def names(words: set[str]) -> bool:
        return any(words_of & words for words_of in wanted)

    def nearness(text: str) -> float:
        words = content(text)
        return share(asked, words) + max(share(words_of, words) for words_of in wanted)

    found = passages(answer, most)
    best = max(range(len(found)), key=lambda i: nearness(found[i]))
    about = share(asked, content(found[best]))
    others = [
        i
        for i, text in enumerate(found)
        if abs(i - best) > 1 and share(asked, content(text)) >= max(about, LEAST_ASKED) and not names(content(text))
    ]
    return " ".join(found[i] for i in sorted([best, *others[-1:]]))
