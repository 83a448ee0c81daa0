"""A hundred answers written for this repository that fool judges which count shared words; a worse judge fails."""

import json
from pathlib import Path

import pytest
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge

FILE = Path(__file__).parent / "hard_answers.jsonl"
ROWS = [json.loads(line) for line in FILE.open(encoding="utf-8")]
FLOOR, RULED_FLOOR = 0.84, 0.95  # the judge before this one has 0.74
RULED = ("refusal", "think_tags", "json", "boxed")  # what rules prepare; the rest is the model's alone


@pytest.fixture(scope="module")
def verdicts():
    judge = Judge(load_judge())
    columns = [[row[name] for row in ROWS] for name in ("question", "references", "candidate")]
    return (judge.probabilities(*columns) >= judge.loaded.threshold).tolist()


def share(verdicts, kinds=None) -> float:
    good = [
        said == row["label"] for said, row in zip(verdicts, ROWS, strict=True) if not kinds or row["kind"] in kinds
    ]
    return sum(good) / len(good)


def test_the_bundled_judge_is_above_the_floor(verdicts):
    assert share(verdicts) >= FLOOR


def test_wrapped_answers_and_refusals(verdicts):
    assert share(verdicts, RULED) >= RULED_FLOOR
