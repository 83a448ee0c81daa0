"""Says in a sentence why aev and f_meta scored answers of files, or sets of questions, as they did."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...registry import make_scorer
from ...reports.report import print_field
from ...reports.table import number
from .verdict import LABELS


class Reason(NamedTuple):
    """Why a row has its score."""

    question: str  # "" without one
    predictions: list[str]
    references: list[str]
    score: str  # its name and value
    reason: str


def reasons(
    rows: Sequence[tuple[str, str, list[str]]], metric: str, settings: Mapping[str, Any] | None = None
) -> list[Reason]:
    """Return why a metric scored rows as it did, each with its question, its predictions line by line, references."""
    scorer = make_scorer(metric, settings)
    answers = [[text] if not scorer.takes_sets else text.splitlines() for _, text, _ in rows]
    predictions = answers if scorer.takes_sets else [text for (text,) in answers]
    columns = scorer.checked({"predictions": predictions, "references": [texts for *_, texts in rows]})
    statistics, _, details, _ = scorer.statistics(columns, explain=True)
    scores, sentences = scorer.row_scores(statistics)[scorer.main], scorer.reasons(statistics, details)
    return [
        Reason(question, texts, references, f"{scorer.main} {number(score)}", reason)
        for (question, _, references), texts, score, reason in zip(
            rows, answers, scores.tolist(), sentences, strict=True
        )
    ]


def print_reason(row: Reason, console) -> None:
    """Print the texts of a row, its score and the reason."""
    several = len(row.predictions) > 1 or not row.question
    fields = [("Question", row.question)] * bool(row.question)
    fields += [("Generated" if several else "Answer", text.strip() or "(empty)") for text in row.predictions]
    fields += [("Reference", text) for text in row.references]
    for label, text in [*fields, ("Score", row.score), ("Reason", row.reason)]:
        print_field(console, label, text, LABELS)
