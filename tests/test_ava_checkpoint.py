"""The bundled judge: small, found by itself, close to people, hard to fool; its card says what is measured."""

import json
from pathlib import Path

import evaluate
import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.ava import loading
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core import checkpoints, judge_model
from genqa_metrics.core.checkpoints import read_json
from genqa_metrics.statistics.thresholds import calibration
from sklearn.metrics import roc_auc_score

from training.ava import measure_judges, minimal_pairs
from training.common import json_rows

FOLDER = Path(__file__).parent.parent
CHECKPOINT = FOLDER / "metrics/ava/checkpoint"


@pytest.fixture(scope="module")
def ava():
    return evaluate.load(str(FOLDER / "metrics/ava/ava.py"), keep_in_memory=True, progress=False, device="cpu")


@pytest.mark.parametrize("folder", sorted((FOLDER / "metrics").glob("*/checkpoint*/")), ids=lambda path: path.name)
def test_every_bundled_checkpoint_is_small_and_holds_no_pickle(folder):
    files = [path for path in folder.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= (12 if folder.name == "checkpoint" else 22) * 2**20
    graphs = {".onnx"} if folder.name != "checkpoint" else set()  # without weights
    assert {path.suffix for path in files} == {".md", ".json", ".safetensors"} | graphs


def test_one_reference_or_twenty(ava):
    """Other references that are nothing like the answer change little."""
    others = [f"{name} {i}" for i, name in enumerate(["Berlin", "the Danube", "Carl May", "blue"] * 5)]
    rows = {"questions": ["who wrote hamlet"] * 2, "predictions": ["It was written by William Shakespeare."] * 2}
    found = ava.compute(**rows, references=[["Shakespeare"], ["Shakespeare", *others]], per_example=True)
    assert found["ava_label_per_example"] == [1, 1]


@pytest.mark.parametrize("frame", ["{}", "It was {}.", "It is {}.", "I think it is {}."])
def test_the_frame_of_a_short_answer_does_not_decide(ava, frame):
    names = ["William Shakespeare", "Christopher Marlowe"]
    rows = {"questions": ["Who wrote Hamlet?"] * 2, "references": [["William Shakespeare"]] * 2}
    found = ava.compute(**rows, predictions=[frame.format(name) for name in names], per_example=True)
    assert found["ava_label_per_example"] == [1, 0]


@pytest.mark.slow
def test_minimal_pairs_are_passed_as_the_results_say(ava):
    def verdicts(questions, references, predictions):
        found = ava.compute(questions=questions, references=references, predictions=predictions, per_example=True)
        return found["ava_label_per_example"]

    measured = read_json(FOLDER / "training/ava/results/small.json")["judges"]["small"]["pairs"]
    passed = minimal_pairs.pass_rates(verdicts)
    assert set(passed) == set(measured) == set(minimal_pairs.KINDS)
    for kind, (good, count) in passed.items():
        assert measured[kind][1] == count
        assert abs(measured[kind][0] - good) <= 1, kind  # another processor may round a row near the threshold


@pytest.mark.slow
def test_agreement_with_people(shared_data):
    """Near what the card reports, on a part of the rows so that it takes seconds."""
    judge = Judge(load_judge())
    rows = []
    for name in measure_judges.EVOUNA:
        rows += list(json_rows(shared_data / "judgments" / f"{name}.dev.jsonl.gz"))[::8]
    columns = [[row[name] for row in rows] for name in ("question", "references", "candidate")]
    probabilities = judge.probabilities(*columns)
    labels = np.array([row["label"] for row in rows])
    assert ((probabilities >= judge.loaded.threshold) == labels).mean() > 0.92
    assert roc_auc_score(labels, probabilities) > 0.95
    assert calibration(probabilities, labels == 1)["ece"] < 0.05


@pytest.mark.parametrize(
    ("metric", "size", "layers"), [("ava", "base", 16), ("ava", "large", 20), ("grounding", "large", 20)]
)
def test_a_judge_of_prompts_is_bundled_and_says_what_its_model_needs(repository, monkeypatch, metric, size, layers):
    """Its adapter is a plain one on a pinned model; where that is not there, one error names every way to it."""
    folder = loading.checkpoint_folder(size)
    assert folder.samefile(repository / f"metrics/ava/checkpoint_{size}")
    config = json.loads((folder / "adapter_config.json").read_text())
    name, pinned = config["base_model_name_or_path"], checkpoints.ENCODERS[config["base_model_name_or_path"]]
    assert config["revision"] == pinned.revision
    assert judge_model.read_settings(folder)["layers"] == layers
    assert "/" not in json.loads((folder / "training.json").read_text())["arguments"]["model"]
    for source in ("cached_folder", "hub_folder"):
        monkeypatch.setattr(checkpoints, source, lambda *_: None)
    way = rf"{name} .*{pinned.megabytes:,} MB from .* not found.*Run `genqa-metrics download --metric ava --checkpoint"
    with pytest.raises(ValueError, match=rf"{way} {size}` .*copy the Hub's cache.*base_model=FILE"):
        genqa_metrics.load(metric, checkpoint=size)


ROWS = [json.loads(line) for line in (FOLDER / "tests/hard_answers.jsonl").open(encoding="utf-8")]


def test_answers_that_fool_judges_of_shared_words_are_mostly_judged_right():
    """A hundred answers written for this repository; the judge before this one has 0.74. Rules prepare four kinds."""
    judge = Judge(load_judge())
    columns = [[row[name] for row in ROWS] for name in ("question", "references", "candidate")]
    good = (judge.probabilities(*columns) >= judge.loaded.threshold) == [row["label"] for row in ROWS]
    ruled = [row["kind"] in ("refusal", "think_tags", "json", "boxed") for row in ROWS]
    assert good.mean() >= 0.84
    assert good[ruled].mean() >= 0.95


def test_the_folder_that_evaluate_loads_goes_before_the_one_in_its_note(tmp_path, monkeypatch):
    code = tmp_path / "cache"
    code.mkdir()
    (code / "ava.json").write_text(json.dumps({"original file path": str(tmp_path / "old/ava.py")}))
    monkeypatch.setattr(checkpoints, "loaded_from", lambda: tmp_path / "new/ava.py")
    folders = checkpoints.bundled_checkpoints(code)
    assert folders == [code / "checkpoint", tmp_path / "new/checkpoint", tmp_path / "old/checkpoint"]
