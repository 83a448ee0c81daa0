"""MLflow: scorers for `mlflow.genai.evaluate`, metrics for `mlflow.models.evaluate`, and logging of a whole report."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from ..core.scorer import require_extra
from .common import RowScorer, explained

require_extra("mlflow", "mlflow")

import mlflow
from mlflow.entities import Feedback
from mlflow.genai.scorers import Scorer
from mlflow.genai.scorers import scorer as mlflow_scorer
from mlflow.metrics import MetricValue
from mlflow.models import EvaluationMetric, make_metric

from ..verbs.score.report import ScoreReport

EXPECTED = ("references", "expected_response", "expected_facts")
RETRIEVED = ("contexts", "retrieved_contexts", "retrieval_context")


def scorer(
    metric: str = "ava", score: str | None = None, explain: bool = True, settings: Mapping[str, Any] | None = None
) -> Scorer:
    """Return a scorer for `mlflow.genai.evaluate`: a feedback with the score, one with the verdict of "ava", and why.

    Rows have `inputs` with "question" (or one text), `outputs` (a text), and `expectations` with one of `EXPECTED`.
    For "grounding" `inputs` has the passages beside the question, as one of `RETRIEVED`; expectations are not read.

    Args:
        metric: "ava", "kpqa", "aev" or "grounding".
        score: name of the score, see `common.RowScorer`.
        explain: whether the rationale says what decided.
        settings: of the metric, see its card.

    Raises:
        ValueError: if there is no such metric or score; for a row without expected answer.
    """
    rows = RowScorer(metric, score, explain, settings)

    def feedback(inputs: Any, outputs: Any, expectations: Any = None) -> list[Feedback]:
        evidence = _retrieved(inputs) if rows.evidence == "contexts" else _expected(expectations)
        result = rows.one(_question(inputs), outputs, evidence)
        results = [Feedback(name=rows.name, value=result.score, rationale=result.reason)]
        if result.correct is not None:
            verdict = "supported" if rows.evidence == "contexts" else "correct"
            results.append(Feedback(name=f"{metric}_{verdict}", value=result.correct, rationale=result.reason))
        return results

    return mlflow_scorer(feedback, name=rows.name)


def _question(inputs: Any) -> Any:
    if isinstance(inputs, Mapping):
        if "question" not in inputs and len(inputs) != 1:
            raise ValueError(f"inputs: expected 'question' or one text, got {', '.join(map(str, inputs))}")
        return inputs.get("question", next(iter(inputs.values())))
    return inputs


def _retrieved(inputs: Any) -> Any:
    values = [inputs[name] for name in RETRIEVED if name in inputs] if isinstance(inputs, Mapping) else []
    if not values:
        raise ValueError(f"inputs: expected passages as one of {', '.join(RETRIEVED)}, got none")
    return values[0]


def _expected(expectations: Any) -> Any:
    if not isinstance(expectations, Mapping):
        return expectations
    for name in EXPECTED:
        if name in expectations:
            return expectations[name]
    raise ValueError(
        f"expectations: expected one of {', '.join(EXPECTED)}, got {', '.join(expectations) or 'nothing'}"
    )


def extra_metric(
    metric: str = "ava", score: str | None = None, explain: bool = True, settings: Mapping[str, Any] | None = None
) -> EvaluationMetric:
    """Return a metric for `mlflow.models.evaluate(extra_metrics=[...])`: a score and a reason a row, and their mean.

    A column "questions" is found by its name, or by `evaluator_config={"col_mapping": {"questions": "question"}}`;
    for "grounding" also a column "contexts", in place of the targets.

    Args:
        metric: "ava", "kpqa", "aev" or "grounding".
        score: name of the score, see `common.RowScorer`; "ava_label" makes the mean the accuracy.
        explain: whether to add reasons.
        settings: of the metric, see its card.
    """
    rows = RowScorer(metric, score, explain, settings)

    def values(predictions: Any, targets: Any, questions: Any) -> MetricValue:
        return measured(predictions, targets, questions)

    def grounded(predictions: Any, contexts: Any, questions: Any) -> MetricValue:
        return measured(predictions, contexts, questions)

    def measured(predictions: Any, evidence: Any, questions: Any) -> MetricValue:
        results = rows(list(questions), list(predictions), [_texts(given) for given in evidence])
        scores = [result.score for result in results]
        reasons = [result.reason for result in results] if explain else None
        return MetricValue(scores=scores, justifications=reasons, aggregate_results={"mean": fmean(scores)})

    eval_fn = grounded if rows.evidence == "contexts" else values
    return make_metric(eval_fn=eval_fn, greater_is_better=True, name=rows.name)


def _texts(target: Any) -> Any:
    return target if isinstance(target, str) else list(target)


def log_scores(
    rows: Any,
    metrics: str | Sequence[str] | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    prefix: str = "genqa",
) -> ScoreReport:
    """Score rows, and log scores, signatures, tables and a page to the active run, or a new one.

    Logged are one metric PREFIX.SYSTEM.SCORE for each, one parameter PREFIX.signature.METRIC for each, and the
    artifacts PREFIX/rows.json (a table with scores and reasons) and PREFIX/scores.html.

    Args:
        rows: see `genqa_metrics.score`.
        metrics: see `genqa_metrics.score`.
        settings: see `genqa_metrics.score`.
        prefix: begins all names.

    Returns:
        The report.
    """
    report, table = explained(rows, metrics, settings)
    mlflow.log_metrics(
        {
            f"{prefix}.{system}.{name}": value
            for system, scores in report.systems.items()
            for name, value in scores.items()
        }
    )
    mlflow.log_params({f"{prefix}.signature.{metric}": line for metric, line in report.signatures.items()})
    mlflow.log_table(table, f"{prefix}/rows.json")
    mlflow.log_text(report.to_html(), f"{prefix}/scores.html")
    return report
