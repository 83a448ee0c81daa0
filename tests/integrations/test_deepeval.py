"""DeepEval: test results with score, success and reason."""

import pytest

pytest.importorskip("deepeval")

from deepeval import assert_test, evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.test_case import LLMTestCase
from genqa_metrics.integrations.common import RowScorer
from genqa_metrics.integrations.deepeval import GenqaMetric


@pytest.fixture
def cases(rows, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # DeepEval keeps its results in the folder .deepeval
    return [
        LLMTestCase(input=row["question"], actual_output=row["prediction"], expected_output=row["references"][0])
        for row in rows
    ]


@pytest.mark.parametrize("together", [False, True])
def test_results_have_score_verdict_and_reason(cases, expected, together):
    found = evaluate(
        cases[:3],  # the last answer is empty, which DeepEval takes for a missing one
        [GenqaMetric()],
        async_config=AsyncConfig(run_async=together),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        cache_config=CacheConfig(write_cache=False),
    )
    results = sorted(
        found.test_results, key=lambda one: [case.actual_output for case in cases].index(one.actual_output)
    )
    for result, wanted in zip(results, expected[:3], strict=True):
        (metric,) = result.metrics_data
        assert (metric.name, metric.success, metric.reason) == ("ava_score", wanted.correct, wanted.reason)
        assert metric.score == pytest.approx(wanted.score, abs=1e-6)
        assert metric.threshold == RowScorer("ava").threshold


def test_a_failure_says_why(cases):
    with pytest.raises(AssertionError, match='"seven" instead of "Four"'):
        assert_test(cases[1], [GenqaMetric()], run_async=False)
    assert_test(cases[0], [GenqaMetric(metric="aev", threshold=0.3)], run_async=False)


def test_grounding_takes_the_place_of_faithfulness(grounded, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rows, expected = grounded
    cases = [
        LLMTestCase(input=row["question"], actual_output=row["prediction"], retrieval_context=row["contexts"])
        for row in rows
    ]
    metric = GenqaMetric(metric="grounding")
    assert [metric.measure(case) for case in cases] == [one.score for one in expected]
    assert (metric.is_successful(), metric.reason) == (False, expected[1].reason)
