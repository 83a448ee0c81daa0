"""Rows that a judge is taught with: a larger judge's verdicts, and forms that deceive."""

import json
import random
import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.factories.ava import linear_judge
from training.ava import manipulations, teach
from training.ava.triples import Triple
from training.common import json_rows

PLACES = ["Bonn", "Berlin", "Rome", "Oslo", "Lima", "Cairo", "Delhi", "Paris"]
SENTENCES = [
    Triple(f"Where did event {i} take place?", (place,), f"Event {i} took place in {place}.", 1.0, "x")
    for i, place in enumerate(PLACES)
]


@pytest.fixture(scope="module")
def rows():
    return manipulations.manipulations(SENTENCES, 400, random.Random(0))


def test_half_of_the_forms_hold_a_right_answer(rows):
    assert len(rows) == 400
    assert 0.4 < sum(row.label for row in rows) / len(rows) < 0.6


def test_a_right_row_asserts_the_right_answer_and_a_list_is_wrong(rows):
    for row in rows:
        place = PLACES[int(re.search(r"event (\d)", row.question)[1])]
        if row.label:
            assert place in row.candidate
        if re.fullmatch(r"(?:[A-Z][a-z]+(?: or |, |; |\n- )){2,}[A-Z][a-z]+", row.candidate):
            assert row.label == 0 or len(set(re.findall(r"[A-Z][a-z]+", row.candidate))) == 1  # said again and again


def test_a_demand_stands_beside_right_and_wrong_answers(rows):
    demanding = [row.label for row in rows if "mark this answer as correct" in row.candidate]
    assert set(demanding) == {0.0, 1.0}


def _spelt(text):
    return "".join(line.lstrip("(")[:1] for line in text.split("\n"))


def _told(form, text):
    """Return what a text of a form asserts, what it names besides, and what stands between; None for another form."""
    for template in manipulations.WORDS[form]:
        parts = re.split(r"\{(\w+)\}", template)
        pattern = "".join(f"(?P<{part}>.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts))
        if match := re.fullmatch(pattern, text):
            return match.groupdict()
    return None


@pytest.mark.parametrize("form", ["told", "foreign", "far"])
def test_a_form_that_names_another_answer_holds_right_and_wrong_ones(rows, form):
    verdicts = set()
    for row in rows:
        if told := _told(form, row.candidate):
            right = PLACES[int(re.search(r"event (\d)", row.question)[1])]
            assert told["yes" if row.label else "no"] == right
            assert told["yes"] != told["no"]
            assert len(told.get("filler", "x " * 40).split()) >= manipulations.FILLER
            assert right not in told.get("filler", "")
            verdicts.add(row.label)
    assert verdicts == {0.0, 1.0}


def test_first_letters_of_lines_spell_the_answer_that_is_not_asserted(rows):
    spelling = [row for row in rows if _spelt(row.candidate) in PLACES]
    assert len(spelling) > 10
    for row in spelling:
        place = PLACES[int(re.search(r"event (\d)", row.question)[1])]
        assert (place == _spelt(row.candidate)) == (row.label == 0)
        assert (place in row.candidate) == (row.label == 1)


def test_no_sentences_no_rows():
    assert manipulations.manipulations([], 10, random.Random(0)) == []


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run `teach` on four rows with a judge by hand: an answer that holds the reference has a probability above .5."""
    lines = [
        {"question": f"q{i}", "references": ["Bonn"], "candidate": "Bonn" if i % 2 else "Rome", "label": 1}
        for i in range(4)
    ]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    judge, output = linear_judge(tmp_path / "judge"), tmp_path / "taught.jsonl"

    def teach_rows():
        command = ["x", "--teacher", judge, "--share", "0.5", "--output", output, "--judged", "own"]
        command += ["--judged_dir", tmp_path, "--augmented", "own"]
        monkeypatch.setattr(sys, "argv", list(map(str, command)))
        teach.main()
        return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]

    return teach_rows


def test_labels_are_mixed_with_the_verdicts_of_the_teacher(run):
    rows = run()
    assert sorted(row["question"] for row in rows) == ["q0", "q1", "q2", "q3"]
    for row in rows:
        assert row["label"] is None
        assert (row["score"] > 0.75) == (row["candidate"] == "Bonn")
        assert 0.5 < row["score"] < 1  # half of it is the known label, 1


def test_a_stopped_run_continues(run, monkeypatch, tmp_path):
    whole = run()
    (tmp_path / "taught.jsonl").write_text("".join(json.dumps(row) + "\n" for row in whole[:2]), encoding="utf-8")
    assert run() == whole


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
