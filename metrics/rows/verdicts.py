"""Labels that are words: which count as correct, and which as wrong."""

from typing import Any

from .row import RowError

_CORRECT = (
    "correct, right, true, yes, y, t, c, pass, passed, accept, accepted, ok, correct answer, right answer, "
    "\N{CHECK MARK}, \N{HEAVY CHECK MARK}, \N{WHITE HEAVY CHECK MARK}"
)
_WRONG = (
    "incorrect, wrong, false, no, n, f, i, fail, failed, reject, rejected, not correct, incorrect answer, "
    "wrong answer, not attempted, no attempt, no answer, failed to answer, did not answer, refused, refusal, "
    "declined, abstained, \N{BALLOT X}, \N{HEAVY BALLOT X}, \N{CROSS MARK}, \N{MULTIPLICATION X}"
)
_VERDICTS = {word: verdict for words, verdict in ((_CORRECT, 1.0), (_WRONG, 0.0)) for word in words.split(", ")}


def verdict_of(value: object) -> float | None:
    """Return the label that a word stands for, 1 for correct and 0 for wrong; None for what is no such word.

    An answer that was not attempted is not correct. C and I are those of Inspect.

    >>> [verdict_of(word) for word in ("Correct answer", "FALSE", "NOT_ATTEMPTED", "I", "partly", 1)]
    [1.0, 0.0, 0.0, 0.0, None, None]
    """
    if not isinstance(value, str):
        return None
    return _VERDICTS.get(value.replace("_", " ").replace("-", " ").replace("\ufe0f", "").strip(" .!").casefold())


class Verdicts:
    """Reads the labels of one source; notes which words it read.

    Args:
        source: the source, see `sources.AnySource`.
    """

    def __init__(self, source: Any):
        self.source = source
        self._words: dict[str, float] = {}
        self._letters: set[str] = set()

    def read(self, column: str, value: object) -> float | None:
        """Return the label that a word stands for, see `verdict_of`; notes which words were read as what.

        Raises:
            RowError: if the words are the letters of SimpleQA, in which C is not correct.
        """
        word = value.strip() if isinstance(value, str) else ""
        if word.upper() in ("A", "B", "C"):
            self._letters.add(word.upper())
            if "C" in self._letters and len(self._letters) > 1:
                raise RowError(
                    f"{column}: A, B and C are grades of SimpleQA, and C alone is correct elsewhere; write CORRECT, "
                    "INCORRECT and NOT_ATTEMPTED, or 1 and 0"
                )
        label = verdict_of(word)
        if label is not None and word not in self._words:
            self._words[word] = label
            read = (
                f"{', '.join(repr(word) for word, of in self._words.items() if of == label)} as {label:g}"
                for label in dict.fromkeys(sorted(self._words.values(), reverse=True))
            )
            self.source.note(f"{column}: words were read as labels: {' and '.join(read)}", f"words of {column}")
        return label
