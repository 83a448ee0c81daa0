"""MLflow: scorers for `mlflow.genai.evaluate`, metrics for `mlflow.models.evaluate`, and logging of a whole report."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from ..core.scorer import require_extra
from ..registry import JUDGE
from .common import RowScorer, Settings, scores_to_log

require_extra("mlflow", "mlflow")

import mlflow
from mlflow.entities import Feedback
from mlflow.genai.scorers import Scorer
from mlflow.genai.scorers import scorer as mlflow_scorer
from mlflow.metrics import MetricValue
from mlflow.models import EvaluationMetric, make_metric

from ..rows.formats.shared import QUESTIONS, expected_answers, named_text, passages_of
from ..verbs.score.report import ScoreReport
from ..verbs.score.report import score as score_rows


def scorer(metric: str = JUDGE, score: str | None = None, explain: bool = True, settings: Settings = None) -> Scorer:
    """Return a scorer for `mlflow.genai.evaluate`: a feedback with the score, one with the verdict of "ava", and why.

    Rows have `inputs` with "question" (or one text), `outputs` (a text), and `expectations` with "references" or
    "expected_response". For "grounding" `inputs` has the passages beside the question, as "contexts" or
    "retrieved_contexts"; expectations are not read. The arguments are those of `common.RowScorer`.
    """
    rows = RowScorer(metric, score, explain, settings)

    def feedback(inputs: Any, outputs: Any, expectations: Any = None) -> list[Feedback]:
        evidence = passages_of(inputs) if rows.reads_passages else expected_answers(expectations)
        result = rows.one(named_text(inputs, QUESTIONS), outputs, evidence)
        results = [Feedback(name=rows.name, value=result.score, rationale=result.reason)]
        if result.correct is not None:
            verdict = "supported" if rows.reads_passages else "correct"
            results.append(Feedback(name=f"{metric}_{verdict}", value=result.correct, rationale=result.reason))
        return results

    return mlflow_scorer(feedback, name=rows.name)


def extra_metric(
    metric: str = JUDGE, score: str | None = None, explain: bool = True, settings: Settings = None
) -> EvaluationMetric:
    """Return a metric for `mlflow.models.evaluate(extra_metrics=[...])`: a score and a reason a row, and their mean.

    A column "questions" is found by its name, or by `evaluator_config={"col_mapping": {"questions": "question"}}`;
    for "grounding" also a column "contexts", in place of the targets. The arguments are those of `common.RowScorer`;
    the score "ava_label" makes the mean the accuracy.
    """
    rows = RowScorer(metric, score, explain, settings)

    def judged(predictions: Any, targets: Any, questions: Any) -> MetricValue:
        evidence = [texts if isinstance(texts, str) else list(texts) for texts in targets]
        results = rows(list(questions), list(predictions), evidence)
        scores = [result.score for result in results]
        reasons = [result.reason for result in results] if explain else None
        return MetricValue(scores=scores, justifications=reasons, aggregate_results={"mean": fmean(scores)})

    def grounded(predictions: Any, contexts: Any, questions: Any) -> MetricValue:  # MLflow finds columns by name
        return judged(predictions, contexts, questions)

    eval_fn = grounded if rows.reads_passages else judged
    return make_metric(eval_fn=eval_fn, greater_is_better=True, name=rows.name)


def log_scores(
    rows: Any,
    metrics: str | Sequence[str] | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    prefix: str = "genqa",
) -> ScoreReport:
    """Score rows, log scores, signatures, tables and a page to the active run, or a new one, and return the report.

    Logged are one metric PREFIX.SYSTEM.SCORE for each (none for an accuracy that cannot be told), one parameter
    PREFIX.signature.METRIC for each, and the artifacts PREFIX/rows.json (a table with scores and reasons) and
    PREFIX/scores.html. The other arguments are those of `genqa_metrics.score`.
    """
    report = score_rows(rows, metrics, settings, explain=True)
    table = report.to_pandas().dropna(axis="columns", how="all")
    mlflow.log_metrics(scores_to_log(report.systems, prefix, "."))
    mlflow.log_params({f"{prefix}.signature.{metric}": line for metric, line in report.signatures.items()})
    mlflow.log_table(table, f"{prefix}/rows.json")
    mlflow.log_text(report.to_html(), f"{prefix}/scores.html")
    return report
