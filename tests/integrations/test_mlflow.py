"""MLflow: feedback of both kinds of evaluation, and what a run logs."""

import json

import pandas
import pytest

mlflow = pytest.importorskip("mlflow")

from genqa_metrics.integrations.mlflow import extra_metric, log_scores, scorer


@pytest.fixture(autouse=True)
def _tracking(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    yield
    while mlflow.active_run():
        mlflow.end_run()


def test_genai_evaluate(rows, expected):
    data = [
        {
            "inputs": {"question": row["question"]},
            "outputs": row["prediction"],
            "expectations": {"references": row["references"]},
        }
        for row in rows
    ]
    found = mlflow.genai.evaluate(data=data, scorers=[scorer()])
    assert found.metrics["ava_correct/mean"] == 0.5
    told = {}
    for assessments in found.result_df["assessments"]:
        by_name = {one["assessment_name"]: one for one in assessments}
        told[by_name["ava_score"]["rationale"]] = by_name["ava_score"]["feedback"]["value"]
    assert set(told) == {one.reason for one in expected}
    assert told[expected[1].reason] == pytest.approx(expected[1].score, abs=1e-6)


def test_models_evaluate(rows, expected):
    data = pandas.DataFrame(rows)
    with mlflow.start_run():
        found = mlflow.models.evaluate(
            data=data,
            predictions="prediction",
            targets="references",
            extra_metrics=[extra_metric(score="ava_label")],
            evaluator_config={"col_mapping": {"questions": "question"}},
        )
    assert found.metrics["ava_label/mean"] == 0.5
    table = found.tables["eval_results_table"]
    assert table["ava_label/score"].tolist() == [1.0, 0.0, 1.0, 0.0]
    assert table["ava_label/justification"].tolist() == [one.reason for one in expected]


def test_a_run_has_scores_signatures_and_the_table(rows, expected):
    with mlflow.start_run() as run:
        report = log_scores(rows, "ava")
    logged = mlflow.get_run(run.info.run_id).data
    assert logged.metrics["genqa.rows.ava_accuracy"] == 0.5
    assert logged.params["genqa.signature.ava"] == report.signatures["ava"]
    table = json.loads(mlflow.artifacts.load_text(f"{run.info.artifact_uri}/genqa/rows.json"))
    place = table["columns"].index("ava_reason")
    assert [row[place] for row in table["data"]] == [one.reason for one in expected]


def test_passages_are_inputs(grounded):
    rows, _ = grounded
    data = [
        {"inputs": {"question": row["question"], "contexts": row["contexts"]}, "outputs": row["prediction"]}
        for row in rows
    ]
    found = mlflow.genai.evaluate(data=data, scorers=[scorer("grounding")])
    assert found.metrics["grounding_supported/mean"] == 0.5
    with mlflow.start_run():
        found = mlflow.models.evaluate(
            data=pandas.DataFrame(rows),
            predictions="prediction",
            extra_metrics=[extra_metric("grounding")],
            evaluator_config={"col_mapping": {"questions": "question"}},
        )
    assert found.metrics["grounding/mean"] == 0.5
