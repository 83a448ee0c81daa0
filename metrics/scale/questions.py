"""Sums what an estimate of accuracy needs by question, in memory that does not grow with the rows."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from ..rows.items import Item
from ..statistics.estimation import QuestionSums, row_sums

MOST = 20_000  # questions of a system that are kept apart; of more, several count as one


def question_key(item: Item) -> int:
    """Return a number for a row's question: the same for equal texts; case and white space do not matter.

    A row without a question is known by its id, and without one by its place.
    """
    text = item.text if item.text else item.id or f"{item.file}:{item.line}"
    normal = " ".join(text.split()).casefold()
    return int.from_bytes(hashlib.blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=7).digest())


class QuestionTotals:
    """Sums over the rows of each question of a system, which can be added.

    Args:
        keys: (questions,) see `question_key`; of equal ones the sums are added.
        sums: (questions, 8) in the order of the fields of `QuestionSums`.
    """

    def __init__(self, keys: Sequence[int] | np.ndarray, sums: Sequence[Sequence[float]] | np.ndarray):
        self.keys, places = np.unique(np.asarray(keys, dtype=np.int64), return_inverse=True)
        if len(self.keys) > MOST:
            self.keys, places = np.unique(np.asarray(keys, dtype=np.int64) % MOST, return_inverse=True)
        self.sums = np.zeros((len(self.keys), np.shape(sums)[1]))
        np.add.at(self.sums, places, np.asarray(sums, dtype=float))

    def __add__(self, other: "QuestionTotals") -> "QuestionTotals":
        return QuestionTotals(np.r_[self.keys, other.keys], np.r_[self.sums, other.sums])

    @property
    def question_sums(self) -> QuestionSums:
        """The same for `estimation.estimate_accuracy`."""
        return QuestionSums(*self.sums.T)

    def as_json(self) -> dict[str, list]:
        """Return the arguments of equal totals, in types that JSON has."""
        return {"keys": self.keys.tolist(), "sums": self.sums.tolist()}


def label_of(item: Item) -> float:
    """Return the label of a row, NaN without one or if it is outside 0 to 1."""
    label = item.human[1]
    return label if label is not None and 0 <= label <= 1 else np.nan


def totals_by_system(items: Sequence[Item], judged: np.ndarray, verdicts: np.ndarray) -> Mapping[str, QuestionTotals]:
    """Return {system: sums of its answers by question}.

    Args:
        items: answers.
        judged: (answers,) the judge's probabilities.
        verdicts: (answers,) its verdicts, 0 or 1.
    """
    labels = np.array([label_of(item) for item in items])
    chances = np.array([item.chance or 1.0 for item in items])
    sums, keys = row_sums(judged, verdicts, labels, chances).T, np.array([question_key(item) for item in items])
    systems = np.array([item.system for item in items], dtype=object)
    return {name: QuestionTotals(keys[systems == name], sums[systems == name]) for name in dict.fromkeys(systems)}
