"""The training and evaluation of a judge of grounding: its rows by hand, a tiny run from data to scores."""

import gzip
import json
import random
import sys
from pathlib import Path

import genqa_metrics
import numpy as np
import pytest

from tests.factories.kpqa import WORDS
from training.common import json_rows
from training.grounding import evaluate_grounding, train_grounding
from training.grounding.rows import span_rows, windowed

PLACES = ["Bonn", "Berlin", "Rome", "Oslo", "Lima", "Cairo", "Delhi", "Paris"]


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))


def test_a_long_passage_is_cut_to_the_window_that_is_read():
    passage = "The town has a mill. " * 60 + "The lighthouse is white. " + "The town has a port. " * 60
    row = {"question": None, "context": passage, "candidate": "There is a white lighthouse.", "label": 1, "id": "x"}
    found = windowed(row)
    assert "The lighthouse is white." in found["context"]
    assert len(found["context"].split()) <= 120
    assert (found["id"], found["label"]) == ("x", 1)
    short = row | {"context": "The lighthouse is white."}
    assert windowed(short) == short


def test_an_answer_stands_beside_its_passage_another_one_and_one_with_the_fact_changed():
    rows = [
        {"question": f"Where did event {i} take place?", "context": f"Event {i} took place in {place}.",
         "answers": {"text": [place], "answer_start": [0]}}
        for i, place in enumerate(PLACES)
    ]  # fmt: skip
    found = list(span_rows(rows, random.Random(0)))
    for row in found:
        assert (row["candidate"] in row["context"]) == bool(row["label"])
    assert sum(row["label"] for row in found) == len(rows)
    assert len(found) > 2 * len(rows)


def test_questions_whose_edits_are_all_judged_right():
    """Of "a" both rows are right, of "b" one of two; rows without a group do not count: 1 of 2."""
    rows = [{"group": name} for name in ("a", "a", "b", "b", None)]
    assert evaluate_grounding.groups_right(rows, np.array([1, 0, 1, 1, 1]), np.array([1, 0, 1, 0, 0])) == 0.5
    assert evaluate_grounding.groups_right([{"group": None}], np.ones(1), np.ones(1)) is None


def test_measures_of_a_method_that_is_always_right():
    rows = [{"context": f"passage {i}", "label": i % 2, "group": None} for i in range(200)]
    scores = np.array([1.0 if row["label"] else -1.0 for row in rows])
    found = evaluate_grounding.measured(rows, scores)
    assert (found["accuracy"], found["auc"], found["groups_right"]) == (1.0, 1.0, None)
    assert found["calibration_error"] < 0.01
    assert evaluate_grounding.measured(rows, -scores)["auc"] == 0


def test_overlap_leaves_function_words_out():
    rows = [
        {"context": "The bridge is old.", "candidate": text} for text in ("the old bridge", "the new bridge", "it")
    ]
    assert evaluate_grounding.overlap(rows).tolist() == [1.0, 0.5, 0.0]


def test_the_slope_of_the_scaling_is_that_within_files():
    """Files that differ in how much is supported: one scaling of all rows together would be flatter."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=8000)
    files = np.array(["mostly", "seldom"])[(np.arange(8000) >= 2000).astype(int)]
    offsets = np.where(files == "mostly", 3, -3)
    labels = rng.random(8000) < 1 / (1 + np.exp(-(2 * scores + offsets)))
    rows = [{"file": file, "label": int(label)} for file, label in zip(files, labels, strict=True)]
    found = evaluate_grounding.fitted(rows, scores)
    assert found["slope"] == pytest.approx(2, abs=0.15)
    assert found["intercept"] == pytest.approx(0, abs=0.15)
    assert evaluate_grounding.platt(scores, labels.astype(float))[0] < 1.5


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Small files of every kind that the scripts read."""
    folder, source = tmp_path_factory.mktemp("data"), random.Random(0)

    def text(count):
        return " ".join(source.choices(WORDS, k=count)) + "."

    def judged():
        return {"question": source.choice([None, "Who?"]), "context": text(12), "candidate": text(4),
                "label": source.randint(0, 1), "extra": {}}  # fmt: skip

    for name in train_grounding.FILES:
        for part in ("train", "dev"):
            write(folder / f"grounding/{name}.{part}.jsonl.gz", [judged() for _ in range(16)])
    for name, labels in (("begin", ("entailment", "neutral")), ("summedits", ("paraphrase", "not_paraphrase"))):
        rows = [{"first": text(8), "second": text(4), "label": labels[i % 2]} for i in range(16)]
        for part in ("train", "dev"):
            write(folder / f"sentence_pairs/{name}.{part}.jsonl.gz", rows)
    spans = [
        {"question": f"Where is it, {i}?", "context": f"It is in {place}.",
         "answers": {"text": [place], "answer_start": [9]}}
        for i, place in enumerate(PLACES)
    ]  # fmt: skip
    write(folder / "span_qa/made.train.jsonl.gz", spans)
    return folder


def test_a_tiny_run_from_data_to_scores(data, tiny_encoder, tmp_path, monkeypatch):
    (tmp_path / "tiny.args").write_text(
        "--judged condaqa.train wice.train span_passages.train plain_passages.train --pairs begin.train"
        f" --encoder {tiny_encoder} --marks valued --max_length 48 --use_cpu True --report_to none --max_steps 2"
        " --learning_rate 1e-3 --per_device_train_batch_size 4"
    )
    command = f"train --data {data} --output_dir {tmp_path}/run --config {tmp_path}/tiny.args --span_source made.train"
    monkeypatch.setattr(sys, "argv", command.split())
    train_grounding.main()
    final = tmp_path / "run/final"
    card = (final / "README.md").read_text()
    assert "# Judge of grounding" in card
    assert "# Judge of answers" not in card
    assert "| span_passages.train |" in card
    assert "CC BY-SA 4.0 (made of SQuAD)" in card
    assert "Apache-2.0 (written for this project)" in card

    monkeypatch.setattr(evaluate_grounding, "cosine", lambda rows: np.zeros(len(rows)))
    command = (
        f"evaluate --data {data} --rows 40 --checkpoint {final} --calibrate --json {tmp_path}/r.json"
        f" --write {final}/README.md"
    )
    monkeypatch.setattr(sys, "argv", command.split())
    evaluate_grounding.main()
    found = json.loads((tmp_path / "r.json").read_text())
    expected = {*evaluate_grounding.JUDGED, *evaluate_grounding.PAIRS, evaluate_grounding.PLAIN}
    assert set(found["scores"]["rows"]) == expected
    assert "| judge of grounding |" in (final / "README.md").read_text()
    settings = json.loads((final / "ava_config.json").read_text())
    assert {name: settings[name] for name in found["settings"]} == found["settings"]
    metric = genqa_metrics.load("grounding", checkpoint=str(final), device="cpu", progress=False)
    assert metric.compute(predictions=["it is four."], contexts=[["there are four steps."]])["grounding"] in (0, 1)


def test_the_plain_rows_of_training_and_dev_share_no_passage_and_no_claim():
    rows = {}
    for part in ("train", "dev"):
        path = Path(evaluate_grounding.__file__).with_name(f"plain_passages.{part}.jsonl.gz")
        rows[part] = list(json_rows(path))
        labels = [row["label"] for row in rows[part]]
        assert 0.4 < np.mean(labels) < 0.6
    for column in ("context", "candidate"):
        assert not {row[column] for row in rows["train"]} & {row[column] for row in rows["dev"]}
