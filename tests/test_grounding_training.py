"""The measurement of a judge of grounding: its rows, its scaling, a tiny run from data to a calibrated judge."""

import json
import random
import shutil

import genqa_metrics
import numpy as np
import pytest

from tests.factories.kpqa import WORDS
from tests.factories.modules import run_program
from training.common import json_rows, write_rows
from training.grounding import evaluate_grounding


def made_set(shift, share, source, rows=4000):
    """A set whose logits are normal, higher by 2 for supported texts, and of which a share is supported."""
    labels = (source.random(rows) < share).astype(int)
    logits = source.normal(size=rows) + 2 * labels + shift
    halves = source.integers(0, 2, rows)
    measured = {"labels": labels, "halves": halves, "logits": logits, "overlap": source.random(rows)}
    return {name: values.tolist() for name, values in measured.items()}


def test_sets_of_which_much_or_little_is_supported_have_the_scaling_of_even_ones():
    """Between normal logits of means 0 and 2 the log odds are 2 x - 2, whatever the share of the supported ones."""
    source = np.random.default_rng(0)
    sets = {name: made_set(0, share, source) for name, share in (("mostly", 0.9), ("seldom", 0.1))}
    expected = pytest.approx(2, abs=0.2), pytest.approx(-2, abs=0.2), pytest.approx(0.5, abs=0.1)
    assert evaluate_grounding.fitted(sets) == expected
    reversed_labels = made_set(0, 0.5, source)
    reversed_labels["labels"] = [1 - label for label in reversed_labels["labels"]]
    assert evaluate_grounding.fitted(sets | {"q_squared": reversed_labels}) == expected
    scores = evaluate_grounding.scores(sets)
    for of in scores.values():
        assert of["auc"] == pytest.approx(0.921, abs=0.02)  # of a difference of 2: the normal distribution at sqrt 2
        assert of["overlap"] == pytest.approx(0.5, abs=0.04)
        assert of["wrong_pass"] == pytest.approx(0.159, abs=0.06)  # beyond one standard deviation
        assert of["balanced_accuracy"] == pytest.approx(1 - (of["wrong_pass"] + of["right_flagged"]) / 2)
    mean, least, most = evaluate_grounding.errors(sets)[0]
    assert least == min(of["wrong_pass"] for of in scores.values())
    assert least <= mean <= most


def test_small_changes_are_20_of_each_kind_and_differ_from_the_right_sentence():
    rows = evaluate_grounding.small_changes()
    for kind in evaluate_grounding.KINDS:
        of_kind = [row for row in rows if row["kind"] == kind]
        assert [row["label"] for row in of_kind] == [1, 0] * 20
        right, wrong = ({row["candidate"] for row in of_kind if row["label"] == label} for label in (1, 0))
        assert len(right) == len(wrong) == 20
        assert not right & wrong
    decided = [10.0 if row["label"] else -10.0 for row in rows]
    decided[1] = 10.0  # the first wrong negation passes
    result = {"scaling": [1.0, 0.0, 0.5], "small_changes": decided, "sets": {}}
    expected = {"negation": (19, 20), "detail": (20, 20), "day": (20, 20), "amount": (20, 20)}
    assert evaluate_grounding.changes_judged(result) == expected
    assert "| a plain negation | 19 | 20 |" in evaluate_grounding.table(result | {"sets": {"begin": made_set(
        0, 0.5, np.random.default_rng(0), 100)}})  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Small files of every kind that the scripts read."""
    folder, source = tmp_path_factory.mktemp("data"), random.Random(0)

    def text(count):
        return " ".join(source.choices(WORDS, k=count)) + "."

    def judged(number):
        question = source.choice([None, "Who?"])
        return {"question": question, "context": text(12), "candidate": text(4), "label": number % 2, "extra": {}}

    for name in ("condaqa", "wice", "factcheck_gpt", "q_squared"):
        write_rows(folder / f"grounding/{name}.dev.jsonl.gz", [judged(number) for number in range(24)])
    for name, labels in (("begin", ("entailment", "neutral")), ("summedits", ("paraphrase", "not_paraphrase"))):
        rows = [{"first": text(8), "second": text(4), "label": labels[i % 2]} for i in range(24)]
        write_rows(folder / f"sentence_pairs/{name}.dev.jsonl.gz", rows)
    return folder


def test_a_judge_is_measured_and_calibrated(data, prompt_judge, tmp_path, monkeypatch):
    final = shutil.copytree(prompt_judge, tmp_path / "judge")
    command = f"evaluate --data {data} --rows 24 --checkpoint {final} --calibrate --json {tmp_path}/r.json"
    run_program(monkeypatch, evaluate_grounding, command.split())
    result = json.loads((tmp_path / "r.json").read_text())
    assert [*result["sets"]] == evaluate_grounding.SETS
    for measured in result["sets"].values():
        assert len({len(values) for values in measured.values()}) == 1
    settings = json.loads((final / "ava_config.json").read_text())
    assert [settings["slope"], settings["intercept"], settings["threshold"]] == result["scaling"]
    metric = genqa_metrics.load("grounding", checkpoint=str(final), device="cpu", progress=False)
    assert metric.compute(predictions=["it is four."], contexts=[["there are four steps."]])["grounding"] in (0, 1)


def test_the_plain_rows_of_training_and_dev_share_no_passage_and_no_claim():
    rows = {}
    for part in ("train", "dev"):
        rows[part] = list(json_rows(evaluate_grounding.HERE / f"plain_passages.{part}.jsonl.gz"))
        labels = [row["label"] for row in rows[part]]
        assert 0.4 < np.mean(labels) < 0.6
    for column in ("context", "candidate"):
        assert not {row[column] for row in rows["train"]} & {row[column] for row in rows["dev"]}
