"""Rows that a judge is taught with: a larger judge's verdicts and long answers."""

import json
import random
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.factories.ava import linear_judge
from tests.factories.cases import with_cases
from tests.factories.causal import causal_judge, tiny_gguf
from tests.factories.modules import run_program
from training.ava import long_answers, teach, wrong_answers
from training.ava.triples import Triple
from training.common import json_rows, write_rows

PLACES = ["Bonn", "Berlin", "Rome", "Oslo", "Lima", "Cairo", "Delhi", "Paris"]


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


def test_a_stopped_run_continues(run, monkeypatch, tmp_path):
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


PASSAGES = [
    {
        "question": question,
        "context": f"{'This town is old. ' * 100}Event {i} took place in {place} and cost {i}0 pounds.",
        "answers": {"text": [answer]},
    }
    for i, place in enumerate(PLACES, 1)
    for question, answer in ((f"Where did event {i} take place?", place), (f"How much did event {i} cost?", f"{i}0"))
]


@pytest.fixture(scope="module")
def prompts():
    return long_answers.passage_prompts(PASSAGES, 100, random.Random(0))


def test_a_passage_says_what_the_model_shall_say_and_nothing_else(prompts):
    assert [prompt.row.label for prompt in prompts] == [1.0, 0.0] * (len(prompts) // 2)
    assert len(prompts) > len(PASSAGES)
    for prompt in prompts:
        passage = prompt.text.partition("Question:")[0]
        assert wrong_answers.occurrence([prompt.row.candidate], passage)
        assert not wrong_answers.occurrence(prompt.denied, passage)
        assert (prompt.row.candidate in prompt.row.references) == prompt.row.label
        assert f'use the words "{prompt.row.candidate}"' in prompt.text
        assert len(passage.split()) <= long_answers.PASSAGE_WORDS + 1


def note(text, label, *references):
    row = Triple("What does the shop refund?", references or (text,), text, float(label), "x")
    (prompt,) = long_answers.note_prompts([row], 5, random.Random(0))
    assert text in prompt.text
    return prompt


@with_cases
def test_an_answer_from_a_passage_says_the_one_answer(said, label, text, reason):
    row = Triple("Where was it?", ("Bonn" if label else "Rome",), said, float(label), "passage")
    assert long_answers.doubt(long_answers.Prompt("", row, ("Rome",)), text) == reason


@with_cases
def test_a_note_is_told_without_loss_or_correction(given, text, reason):
    assert long_answers.doubt(note(*given), text) == reason


def test_rows_are_balanced_and_answer_no_other_question(prompts):
    texts = {prompt.text: f"As we know, the answer is {prompt.row.candidate}, they say." for prompt in prompts}
    right = [prompt for prompt in prompts if prompt.row.label]
    rows, reasons = long_answers.sure_rows([*right, *prompts[1:8:2]], texts, random.Random(0))
    assert reasons == {"kept": len(right) + 4}
    counts = [sum(row.label == label for row in rows) for label in (0, 1)]
    assert max(counts) <= 1.3 * min(counts) + 1
    neighbours = [row for row in rows if row.kind == "neighbour"]
    assert neighbours
    assert not any(row.label or wrong_answers.occurrence(row.references, row.candidate) for row in neighbours)


@pytest.fixture
def ask(tmp_path, monkeypatch):
    write_rows(tmp_path / "spans.jsonl", PASSAGES)
    model = tiny_gguf(tmp_path / "tiny.gguf")
    monkeypatch.setattr(long_answers, "TOKENS", 6)
    monkeypatch.setattr(long_answers, "BATCH", 3)

    def run(words="--spans spans"):
        command = f"x --model {model} --spans_dir {tmp_path} --output {tmp_path}/long.train.jsonl"
        command += f" --passages 4 --device cpu --dtype float32 {words}"
        run_program(monkeypatch, long_answers, command.split())

    return run


def test_answers_that_a_model_wrote_are_not_asked_for_again(ask, tmp_path, prompts):
    """The tiny model writes bytes at random, so all are left out; of answers by hand rows are made."""
    with pytest.raises(ValueError, match="no rows: expected right and wrong answers whose verdict is sure"):
        ask()
    path = tmp_path / "long.train.jsonl.texts"
    asked = [prompt for prompt, _ in json_rows(path)]
    assert len(asked) == 4
    answers = [re.search('use the words "(.+)"', prompt)[1] for prompt in asked]
    lines = [[prompt, f"As we know, it is {answer}, they say."] for prompt, answer in zip(asked, answers, strict=True)]
    write_rows(path, lines[:3])
    ask()
    assert [prompt for prompt, _ in json_rows(path)] == asked
    rows = list(json_rows(tmp_path / "long.train.jsonl"))
    assert {row["score"] for row in rows} == {0, 1}
    assert {tuple(row) for row in rows} == {("question", "references", "candidate", "score", "source")}
    assert {row["candidate"] for row in rows} <= {text for _, text in lines}


@with_cases
def test_long_answers_refuse_bad_input(ask, words, message):
    with pytest.raises(ValueError, match=message):
        ask(words)


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
