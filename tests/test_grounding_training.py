"""The training and evaluation of a judge of grounding: its rows by hand, a tiny run from data to scores."""

import json
import random
import shutil
from pathlib import Path

import genqa_metrics
import numpy as np
import pytest

from tests.factories.kpqa import WORDS
from tests.factories.modules import run_program
from training.common import json_rows, write_rows
from training.grounding import evaluate_grounding


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

    for name in evaluate_grounding.JUDGED:
        write_rows(folder / f"grounding/{name}.jsonl.gz", [judged() for _ in range(16)])
    for name, labels in (("begin", ("entailment", "neutral")), ("summedits", ("paraphrase", "not_paraphrase"))):
        rows = [{"first": text(8), "second": text(4), "label": labels[i % 2]} for i in range(16)]
        write_rows(folder / f"sentence_pairs/{name}.dev.jsonl.gz", rows)
    return folder


def test_a_judge_of_answers_is_measured_and_calibrated(data, judges, tmp_path, monkeypatch):
    final = shutil.copytree(judges(), tmp_path / "judge")
    (final / "README.md").write_text("# Judge\n\n<!-- scores -->\n<!-- end of scores -->\n")
    command = f"evaluate --data {data} --rows 40 --checkpoint {final} --calibrate --json {tmp_path}/r.json"
    run_program(monkeypatch, evaluate_grounding, command.split())
    found = json.loads((tmp_path / "r.json").read_text())
    expected = {*evaluate_grounding.JUDGED, *evaluate_grounding.PAIRS, evaluate_grounding.PLAIN}
    assert set(found["scores"]["rows"]) == expected
    for of in found["scores"]["rows"].values():
        counts = of["judge of grounding"]
        assert counts["overlooked"][1] + counts["doubted"][1] == counts["rows"]
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
