"""Questions with their candidate answers, as rankers order them."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from training.ava.triples import detokenized


@dataclass(frozen=True)
class Question:
    """A question and its candidate answers; `labels` are 1 for correct ones, 0 for others."""

    text: str
    candidates: tuple[str, ...]
    labels: tuple[int, ...]


def questions_of(rows: Iterable[dict]) -> list[Question]:
    """Return the questions of an answer-sentence selection corpus; equal answers are one, correct if any is."""
    grouped = defaultdict(dict)
    for row in rows:
        answers, answer = grouped[detokenized(row["question"])], detokenized(row["answer"])
        answers[answer] = max(int(row["label"]), answers.get(answer, 0))
    return [Question(text, tuple(answers), tuple(answers.values())) for text, answers in grouped.items()]


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return re.findall(r"\w+", text.lower())
