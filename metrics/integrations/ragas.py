"""A metric for RAGAS: one object for its `evaluate` and, with reasons, for its experiments."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.scorer import require_extra
from ..registry import JUDGE
from .common import RowScorer, Settings

require_extra("ragas", "ragas")

from ragas.dataset_schema import SingleTurnSample
from ragas.metrics.base import MetricType, SingleTurnMetric
from ragas.metrics.result import MetricResult

if TYPE_CHECKING:
    import pandas
    from ragas.dataset_schema import EvaluationResult


class GenqaMetric(SingleTurnMetric):
    """A metric of this package, which needs no language model; the arguments are those of `common.RowScorer`.

    It reads `user_input`, `response` and `reference`; "grounding", for RAGAS' faithfulness, reads `retrieved_contexts`
    in place of `reference`.
    """

    def __init__(self, metric: str = JUDGE, score: str | None = None, settings: Settings = None):
        self._rows = RowScorer(metric, score, False, settings)
        self._explained = RowScorer(metric, score, True, settings)
        self._evidence = "retrieved_contexts" if self._rows.reads_passages else "reference"
        columns = {MetricType.SINGLE_TURN: {"user_input", "response", self._evidence}}
        super().__init__(_required_columns=columns, name=self._rows.name)

    def init(self, run_config: Any) -> None:
        """Do nothing: there is no language model to set up."""

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Any = None) -> float:
        row = sample.user_input, sample.response, getattr(sample, self._evidence)
        return (await asyncio.to_thread(self._rows.one, *row)).score

    async def ascore(
        self,
        user_input: str,
        response: str,
        reference: str | Sequence[str] | None = None,
        retrieved_contexts: Sequence[str] | None = None,
    ) -> MetricResult:
        """Return the score of a row with its reason, as the metrics of `ragas.metrics.collections` do."""
        return await asyncio.to_thread(self.score, user_input, response, reference, retrieved_contexts)

    def score(
        self,
        user_input: str,
        response: str,
        reference: str | Sequence[str] | None = None,
        retrieved_contexts: Sequence[str] | None = None,
    ) -> MetricResult:
        """Return the score and reason of one row; the same as `ascore`, without `await`."""
        evidence = reference if self._evidence == "reference" else retrieved_contexts
        return self.batch_score([{"user_input": user_input, "response": response, self._evidence: evidence}])[0]

    def batch_score(self, inputs: Sequence[Mapping[str, Any]]) -> list[MetricResult]:
        """Return the scores of rows with their reasons; the model runs on all of them together."""
        columns = [[row[name] for row in inputs] for name in ("user_input", "response", self._evidence)]
        return [MetricResult(value=result.score, reason=result.reason) for result in self._explained(*columns)]

    def explained(self, result: "EvaluationResult") -> "pandas.DataFrame":
        """Return a result of `ragas.evaluate` as a table, with a column NAME_reason; rows are scored again."""
        table = result.to_pandas()
        rows = table[["user_input", "response", self._evidence]].to_dict("records")
        table[f"{self.name}_reason"] = [scored.reason for scored in self.batch_score(rows)]
        return table
