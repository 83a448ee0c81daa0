"""Inspect: what is in its log, which `inspect view` shows."""

import json

import numpy as np
import pytest

pytest.importorskip("inspect_ai")

import genqa_metrics
from genqa_metrics.integrations.inspect_ai import aev, ava, f_meta, grounding
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.solver import solver


@solver
def canned():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("mockllm/model", state.metadata["answer"])
        return state

    return solve


def log_of(samples, scorers, folder):
    @task
    def questions():
        return Task(dataset=samples, solver=canned(), scorer=scorers)

    (log,) = eval(questions(), model="mockllm/model", log_dir=str(folder), display="none", log_format="json")
    assert log.status == "success", log.error
    return read_eval_log(log.location)


def test_scores_reasons_and_clustered_errors(rows, expected, tmp_path):
    samples = [
        Sample(input=row["question"], target=row["references"], metadata={"answer": row["prediction"]}) for row in rows
    ]
    log = log_of(samples, [ava(), aev()], tmp_path)
    shown = {
        (score.scorer, score.name): {name.split("/")[-1]: metric for name, metric in score.metrics.items()}
        for score in log.results.scores
    }
    assert shown["ava", "ava_label"]["accuracy"].value == 0.5
    assert shown["ava", "ava_score"]["mean"].value == pytest.approx(np.mean([one.score for one in expected]))
    # Three clusters with the deviations 0 (0.5 - 0.5), 0.5 and -0.5 from the mean: sqrt(0.5 * 3 / 2) / 4
    assert shown["ava", "ava_label"]["stderr"].value == pytest.approx(np.sqrt(0.75) / 4)
    for sample, result in zip(log.samples, expected, strict=True):
        assert sample.scores["ava"].explanation == result.reason
        assert sample.scores["ava"].value["ava_score"] == pytest.approx(result.score, abs=1e-6)
    assert shown["aev", "aev"]["mean"].value == pytest.approx(
        np.mean([s.scores["aev"].value["aev"] for s in log.samples])
    )
    report = genqa_metrics.score(log.location, "ava")  # the log is read as rows
    assert report.systems["mockllm/model"]["ava_accuracy"] == 0.5
    assert "signature" in json.loads(open(log.location).read())["samples"][0]["scores"]["ava"]["metadata"]


def test_questions_are_the_lines_of_the_output(tmp_path):
    said = "1. who won the 2014 world cup\n2. who won the world cup in 2014"
    targets = ["who won the 2014 world cup", "which event did Germany win in 2014"]
    log = log_of([Sample(input="Germany won.", target=targets, metadata={"answer": said})], f_meta(), tmp_path)
    score = log.samples[0].scores["f_meta"]
    sets = {"predictions": [["who won the 2014 world cup", "who won the world cup in 2014"]], "references": [targets]}
    assert score.value["f_meta"] == pytest.approx(genqa_metrics.load("f_meta").compute(**sets)["f_meta"], abs=1e-6)
    assert "which event did Germany win" in score.explanation


def test_passages_are_in_the_metadata_of_a_sample(grounded, tmp_path):
    rows, expected = grounded
    samples = [
        Sample(input=row["question"], metadata={"answer": row["prediction"], "contexts": row["contexts"]})
        for row in rows
    ]
    log = log_of(samples, grounding(), tmp_path)
    assert [sample.scores["grounding"].value["grounding"] for sample in log.samples] == [1.0, 0.0]
    assert [sample.scores["grounding"].explanation for sample in log.samples] == [one.reason for one in expected]
