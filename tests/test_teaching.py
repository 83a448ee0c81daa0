"""Rows that a judge is taught with: a larger judge's verdicts, and written answers."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.factories.ava import linear_judge
from tests.factories.causal import causal_judge, tiny_gguf
from tests.factories.modules import run_program
from training.ava import teach
from training.common import json_rows, write_rows


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run `teach` on four rows with a judge by hand: an answer that holds the reference has a probability above .5."""
    lines = [
        {"question": f"q{i}", "references": ["Bonn"], "candidate": "In Bonn" if i % 2 else "Rome", "label": 1}
        for i in range(4)
    ]
    write_rows(tmp_path / "own.jsonl", lines)
    judge, output = linear_judge(tmp_path / "judge"), tmp_path / "taught.jsonl"

    def teach_rows(*words, teacher=judge):
        command = ["x", *(["--teacher", teacher] if teacher else []), "--share", "0.5", "--output", output]
        command += ["--judged", "own", "--judged_dir", tmp_path, "--augmented", "own", *words]
        run_program(monkeypatch, teach, command)
        return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]

    return teach_rows


def test_labels_are_mixed_with_the_verdicts_of_the_teacher(run):
    rows = run()
    assert sorted(row["question"] for row in rows) == ["q0", "q1", "q2", "q3"]
    for row in rows:
        assert row["label"] is None
        assert (row["score"] > 0.75) == (row["candidate"] == "In Bonn")
        assert 0.5 < row["score"] < 1  # half of it is the known label, 1


def test_a_stopped_run_continues(run, tmp_path):
    whole = run()
    write_rows(tmp_path / "taught.jsonl", whole[:2])
    assert run() == whole


def test_rows_that_the_teacher_denies_are_left_out(run, tmp_path):
    """The label is 1 everywhere, and the judge finds "Rome" wrong."""
    kept = run("--doubted", "0.5", "--share", "0")
    assert [(row["candidate"], row["score"]) for row in kept] == [("In Bonn", 1.0)] * 2
    (tmp_path / "taught.jsonl").write_text(json.dumps(kept[0]) + "\n", encoding="utf-8")
    assert run("--doubted", "0.5", "--share", "0") == kept


def test_without_a_teacher_labels_stay_and_judged_rows_can_be_left_out(run):
    rows = run("--only_made", "--augment", "alias=2", teacher=None)
    assert rows
    assert {(row["source"], row["score"]) for row in rows} == {("alias", 1.0)}


def test_a_judge_that_is_a_causal_model_teaches(run, tmp_path):
    judge = causal_judge(tmp_path / "causal", tiny_gguf(tmp_path / "tiny.gguf"))
    rows = run("--share", "1", teacher=judge)
    assert len({row["score"] for row in rows}) == len({row["question"] for row in rows})  # it reads the question too


@pytest.mark.parametrize("name", ["assistant_more", "written_more"])
def test_written_rows_have_right_and_wrong_answers_to_every_question(name):
    rows = list(json_rows(Path(teach.__file__).with_name("rows") / f"{name}.train.jsonl.gz"))
    verdicts, answers = defaultdict(set), defaultdict(list)
    for row in rows:
        assert all(map(str.strip, (row["candidate"], *row["references"]))), row["id"]
        assert not re.search(r"\{\{|\}\}|\|", row["candidate"]), row["id"]  # a slot that was not filled
        verdicts[row["question"]].add(row["label"])
        answers[row["question"]].append(row["candidate"])
    assert [question for question, found in verdicts.items() if found != {0, 1}] == []
    assert [question for question, texts in answers.items() if len(set(texts)) < len(texts)] == []
    assert 0.4 < sum(row["label"] for row in rows) / len(rows) < 0.6
