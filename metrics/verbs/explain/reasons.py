"""Says in a sentence why aev and f_meta scored answers of files, or sets of questions, as they did."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ...core.scorer import Scorer
from ...registry import make_scorer
from ...reports.report import print_field
from ...reports.table import number
from .explainer import Explainer
from .verdict import LABELS


class Reason(NamedTuple):
    """Why a row has its score."""

    question: str  # "" without one
    predictions: list[str]
    references: list[str]
    score: str  # its name and value
    reason: str


def explainer(metric: str, settings: Mapping[str, Any] | None, corpus: object = None) -> Callable[..., Reason]:
    """Return a function from a question, an answer (of sets a question a line) and references to the reason."""
    return partial(reason_of, make_scorer(metric, settings))


def reason_of(scorer: Scorer, question: str, prediction: str, references: Sequence[str]) -> Reason:
    """Return why a metric scored a row as it did."""
    texts = prediction.splitlines() if scorer.takes_sets else [prediction]
    columns = {"predictions": [texts if scorer.takes_sets else prediction], "references": [references]}
    statistics, _, details, _ = scorer.statistics(scorer.checked(columns), explain=True)
    (score,), (reason,) = scorer.row_scores(statistics)[scorer.main], scorer.reasons(statistics, details)
    return Reason(question, texts, list(references), f"{scorer.main} {number(score)}", reason)


def print_reason(row: Reason, console, legend: bool = True) -> None:
    """Print the texts of a row, its score and the reason."""
    several = len(row.predictions) > 1 or not row.question
    fields = [("Question", row.question)] * bool(row.question)
    fields += [("Generated" if several else "Answer", text.strip() or "(empty)") for text in row.predictions]
    fields += [("Reference", text) for text in row.references]
    for label, text in [*fields, ("Score", row.score), ("Reason", row.reason)]:
        print_field(console, label, text, LABELS)


EXPLAINER = Explainer(explainer, print_reason)
