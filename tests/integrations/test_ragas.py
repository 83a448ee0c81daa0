"""RAGAS: its table of results, and the reasons."""

import warnings

import pytest

pytest.importorskip("ragas")

import genqa_metrics
import ragas
from genqa_metrics.integrations.ragas import GenqaMetric


@pytest.fixture(scope="module")
def data(rows):
    renamed = [
        {"user_input": row["question"], "response": row["prediction"], "reference": row["references"][0]}
        for row in rows
    ]
    return ragas.EvaluationDataset.from_list(renamed)


def test_evaluate_gives_a_table_with_scores_and_reasons(data, expected):
    judge = GenqaMetric()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # evaluate, in favour of experiments
        found = ragas.evaluate(data, metrics=[judge, GenqaMetric("aev")], show_progress=False)
    table = judge.explained(found)
    assert table["ava_score"].tolist() == pytest.approx([one.score for one in expected], abs=1e-6)
    assert table["ava_score_reason"].tolist() == [one.reason for one in expected]
    assert table["aev"].between(0, 1).all()


def test_a_row_has_a_result_with_its_reason(rows, expected):
    names = {"user_input": "question", "response": "prediction", "reference": "references"}
    inputs = [{ours: row[theirs] for ours, theirs in names.items()} for row in rows]
    found = GenqaMetric().batch_score(inputs)
    assert [result.reason for result in found] == [one.reason for one in expected]
    assert GenqaMetric(score="ava_label").score(**inputs[1]).value == 0.0


def test_rows_that_ragas_writes_are_read(data, expected, tmp_path):
    data.to_jsonl(str(tmp_path / "rows.jsonl"))
    report = genqa_metrics.score(str(tmp_path / "rows.jsonl"), "ava")
    assert report.to_pandas()["ava_score"].tolist() == pytest.approx([one.score for one in expected], abs=1e-6)


def test_grounding_takes_the_place_of_faithfulness(grounded):
    rows, expected = grounded
    names = {"user_input": "question", "response": "prediction", "retrieved_contexts": "contexts"}
    inputs = [{ours: row[theirs] for ours, theirs in names.items()} for row in rows]
    metric = GenqaMetric("grounding")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        found = ragas.evaluate(ragas.EvaluationDataset.from_list(inputs), metrics=[metric], show_progress=False)
    assert metric.explained(found)["grounding_reason"].tolist() == [one.reason for one in expected]
    assert metric.score(**inputs[0]).value == 1.0
