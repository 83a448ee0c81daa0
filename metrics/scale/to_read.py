"""Keeps the answers that a person should read first, in memory that does not grow with the rows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

DISAGREE, WRONG, UNSURE, LOWEST = "label and judge disagree", "judged wrong", "unsure", "lowest score"
SHARES = {DISAGREE: 4, WRONG: 3, UNSURE: 3, LOWEST: 10}  # of a list of ten
BEST = 1.0  # no answer with this score need be read
BAND = 0.15  # probabilities this near to the threshold are unsure


@dataclass(frozen=True, eq=False)
class AnswerToRead:
    """An answer that a person should read, and why.

    Attributes:
        kind: a key of `SHARES`.
        rank: sort key within the kind, lower first.
        file: file of the row.
        line: its line.
        id: its id, None without one.
        system: its system.
        question: its question, None without one.
        prediction: the answer.
        references: the accepted answers.
        score: the probability of a judge, or the main score of another metric.
        label: label by people, 0 to 1; None without one.
    """

    kind: str
    rank: float
    file: str
    line: int
    id: str | None
    system: str
    question: str | None
    prediction: str
    references: list[str]
    score: float
    label: float | None


class AnswersToRead:
    """The first answers of every kind. Lists can be added, and written as JSON.

    Args:
        answers: answers, or the objects of `as_json`.
        number: answers of every kind that are kept.
        counts: answers of every kind that there are; those in `answers` by default.
    """

    def __init__(
        self,
        answers: Iterable[AnswerToRead | Mapping[str, Any]] = (),
        number: int = 10,
        counts: Mapping[str, int] | None = None,
    ):
        by_kind: dict[str, list[AnswerToRead]] = {kind: [] for kind in SHARES}
        for answer in answers:
            answer = answer if isinstance(answer, AnswerToRead) else AnswerToRead(**answer)
            by_kind[answer.kind].append(answer)
        self.number = number
        self.counts = Counter({kind: len(some) for kind, some in by_kind.items()} if counts is None else counts)
        self.by_kind = {kind: sorted(some, key=_order)[:number] for kind, some in by_kind.items()}

    def __add__(self, other: "AnswersToRead") -> "AnswersToRead":
        counts = self.counts + other.counts
        return AnswersToRead([*self, *other], max(self.number, other.number), counts)

    def __iter__(self) -> Iterator[AnswerToRead]:
        for some in self.by_kind.values():
            yield from some

    def as_json(self) -> dict[str, Any]:
        """Return the arguments of an equal list, in types that JSON has."""
        return {"answers": [asdict(answer) for answer in self], "number": self.number, "counts": dict(self.counts)}

    @property
    def first(self) -> list[AnswerToRead]:
        """The answers to read first: each kind its share of ten, and what one lacks from the next ones."""
        share = {kind: -(-share * self.number // 10) for kind, share in SHARES.items()}
        chosen = [answer for kind, some in self.by_kind.items() for answer in some[: share[kind]]]
        more = [answer for kind, some in self.by_kind.items() for answer in some[share[kind] :]]
        kinds = list(SHARES)
        return sorted([*chosen, *more][: self.number], key=lambda answer: (kinds.index(answer.kind), *_order(answer)))


def _order(answer: AnswerToRead) -> tuple:
    return answer.rank, answer.file, answer.line


def answers_to_read(
    columns: Mapping[str, Sequence],
    number: int,
    score: str,
    verdict: str | None = None,
    threshold: float | None = None,
) -> AnswersToRead:
    """Return the answers to read first among rows with their scores.

    Args:
        columns: columns of the output, see `pipeline.output_columns`.
        number: answers of every kind that are kept.
        score: column of the judge's probability, or of the score of another metric.
        verdict: column of the judge's verdicts, 0 or 1; None for a metric that judges nothing.
        threshold: probability from which an answer counts as correct.
    """
    answers = []
    questions = columns.get("question") or [None] * len(columns["prediction"])
    for place, value in enumerate(columns[score]):
        label = columns["label"][place]
        if verdict is None or threshold is None:
            kind, rank = LOWEST, value
            if value >= BEST:
                continue
        elif label in (0, 1) and label != columns[verdict][place]:
            kind, rank = DISAGREE, -abs(value - label)
        elif abs(value - threshold) < BAND:
            kind, rank = UNSURE, abs(value - threshold)
        elif not columns[verdict][place]:
            kind, rank = WRONG, value
        else:
            continue
        answers.append(
            AnswerToRead(
                kind=kind,
                rank=round(float(rank), 6),
                file=columns["file"][place],
                line=columns["line"][place],
                id=columns["id"][place],
                system=columns["system"][place],
                question=questions[place],
                prediction=columns["prediction"][place],
                references=list(columns["references"][place]),
                score=round(float(value), 6),
                label=label,
            )
        )
    return AnswersToRead(answers, number)
