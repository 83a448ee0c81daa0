"""Why AVA judged one answer as it did: the reference that decided, and the words that speak for and against."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Word(NamedTuple):
    """A word or phrase of an answer.

    Attributes:
        start, end: where it stands, in characters.
        effect: the probability with it less the probability without it, -1 to 1.
    """

    start: int
    end: int
    effect: float


@dataclass(frozen=True)
class Verdict:
    """Why AVA judged one answer as it did.

    Attributes:
        question, answer, references: the texts.
        reference: number of the reference that decided, from 0.
        probability: that the answer is correct.
        threshold: probability from which it counts as correct.
        words: the words of the answer, in order.
        reason: one plain sentence.
        warnings: what a reader must know before the numbers.
        signature: what the numbers depend on, as the module's `signature()` says it.
    """

    question: str
    answer: str
    references: tuple[str, ...]
    reference: int
    probability: float
    threshold: float
    words: tuple[Word, ...]
    reason: str
    warnings: tuple[str, ...]
    signature: str

    @property
    def correct(self) -> bool:
        """Whether the judge calls the answer correct."""
        return self.probability >= self.threshold


def verdict(question: str, answer: str, references: Sequence[str], settings: Mapping | None = None) -> Verdict:
    """Return why AVA judged an answer as it did.

    Args:
        question: the question.
        answer: the answer.
        references: at least one reference answer.
        settings: settings of `ava`, such as `checkpoint` and `threshold`.

    Raises:
        ValueError: if a text or a setting is bad.
    """
    from ...registry import make_scorer

    scorer = make_scorer("ava", settings)
    columns = scorer.checked({"questions": [question], "predictions": [answer], "references": [list(references)]})
    statistics, counts, found = scorer.statistics_with_details(columns, explain=True)
    (explained,) = found["explanation"]
    return Verdict(
        question=columns["questions"][0],
        answer=columns["predictions"][0],
        references=tuple(columns["references"][0]),
        reference=explained["reference"],
        probability=explained["probability"],
        threshold=scorer.threshold,
        words=tuple(Word(start, end, effect) for _, effect, start, end in explained["words"]),
        reason=explained["reason"],
        warnings=tuple(scorer.warnings(dict(enumerate(statistics.sum(axis=0))), counts)),
        signature=scorer.signature,
    )
