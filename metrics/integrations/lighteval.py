"""Metrics for tasks of lighteval: `LightevalTaskConfig(..., metrics=[ava()])`."""

from typing import Any

from ..core.scorer import require_extra
from ..registry import JUDGE
from .common import RowScorer, Settings, shown_scores

require_extra("lighteval", "lighteval")

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod


class RowComputation(SampleLevelComputation):
    """Scores one answer; leaves the reason in the document, as `specific["METRIC_reason"]`, which the details hold."""

    def __init__(self, metric: str, settings: Settings):
        self.metric, self.rows = metric, RowScorer(metric, settings=settings)

    def __str__(self) -> str:
        """Return what lighteval writes into its results."""
        return f"{self.metric}({', '.join(shown_scores(self.metric))})"

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> dict[str, float]:
        """Return the scores of the first answer; the question is `specific["question"]`, else the query."""
        facts = doc.specific or {}
        result = self.rows.one(facts.get("question", doc.query), model_response.final_text[0], doc.get_golds())
        doc.specific = {**facts, f"{self.metric}_reason": result.reason}
        return {name: result.scores[score] for name, score in shown_scores(self.metric).items()}


def _grouping(metric: str, settings: Settings) -> SampleLevelMetricGrouping:
    shown = list(shown_scores(metric))
    levels = {"sample_level_fn": RowComputation(metric, settings), "corpus_level_fn": dict.fromkeys(shown, np.mean)}
    facts = {"higher_is_better": dict.fromkeys(shown, True), "category": SamplingMethod.GENERATIVE}
    return SampleLevelMetricGrouping(metric_name=shown, **facts, **levels)


def ava(settings: Settings = None) -> SampleLevelMetricGrouping:
    """Return the share of answers judged correct, "ava_accuracy", and the mean probability, "ava_score"."""
    return _grouping(JUDGE, settings)


def kpqa(settings: Settings = None) -> SampleLevelMetricGrouping:
    """Return the means of "rougeL_kpqa", "bleu1_kpqa" and "bertscore_kpqa"."""
    return _grouping("kpqa", settings)


def aev(settings: Settings = None) -> SampleLevelMetricGrouping:
    """Return the mean "aev" of the answers, not the score of the corpus."""
    return _grouping("aev", settings)
