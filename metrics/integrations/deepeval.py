"""A metric for DeepEval: `assert_test(test_case, [GenqaMetric()])`."""

import asyncio
from typing import Any

from ..core.scorer import require_extra
from ..registry import JUDGE
from .common import RowScorer, Settings

require_extra("deepeval", "deepeval")

from deepeval.metrics import BaseMetric
from deepeval.metrics.utils import check_llm_test_case_params
from deepeval.test_case import LLMTestCase, SingleTurnParams


class GenqaMetric(BaseMetric):
    """A metric of this package, which needs no language model.

    It reads `input`, `actual_output` and `expected_output`; "grounding", for DeepEval's FaithfulnessMetric, reads
    `retrieval_context` in place of `expected_output`. A test case passes from `threshold` on; None is that of the
    judge, which is loaded, with "ava", and 0.5 with others. The other arguments are those of `common.RowScorer`.
    """

    def __init__(
        self,
        threshold: float | None = None,
        metric: str = JUDGE,
        score_name: str | None = None,
        include_reason: bool = True,
        settings: Settings = None,
    ):
        # DeepEval copies a metric for every test case, from the attributes with the names of the arguments.
        self.metric, self.score_name, self.settings = metric, score_name, settings
        self.include_reason = include_reason
        self._rows = RowScorer(metric, score_name, include_reason, settings)
        self._evidence = "retrieval_context" if self._rows.reads_passages else "expected_output"
        self._required_params = [SingleTurnParams[name] for name in ("INPUT", "ACTUAL_OUTPUT", self._evidence.upper())]
        threshold = self._rows.threshold if threshold is None else threshold
        self.threshold = 0.5 if threshold is None else threshold
        self.async_mode = True

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """Score a test case; sets `score`, `success`, `reason` and `score_breakdown`."""
        check_llm_test_case_params(test_case, self._required_params, None, None, self, None, test_case.multimodal)
        result = self._rows.one(test_case.input, test_case.actual_output, getattr(test_case, self._evidence))
        self.score, self.reason, self.score_breakdown = result.score, result.reason, result.scores
        self.is_successful()
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """Score a test case, beside others."""
        return await asyncio.to_thread(self.measure, test_case)

    def is_successful(self) -> bool:
        """Return whether the last test case reached the threshold."""
        self.success = self.error is None and self.score is not None and self.score >= self.threshold
        return self.success

    @property
    def __name__(self) -> str:
        """The name in reports."""
        return self._rows.name
