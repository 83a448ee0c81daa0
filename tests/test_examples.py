"""The example files hold what their README promises, and the demonstration says what its tables show."""

import contextlib
import json
import re
import shlex
from collections import Counter
from pathlib import Path

import genqa_metrics
import pytest
from genqa_metrics.cli import app
from genqa_metrics.scale.run import Run
from genqa_metrics.verbs.demo import EXAMPLES, _shown
from typer.testing import CliRunner


def rows(name):
    return [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def answers():
    return rows("answers.jsonl")


@pytest.fixture(scope="module")
def questions():
    return rows("questions.jsonl")


@pytest.fixture(scope="module")
def demo(repository):
    """What `genqa-metrics demo --all` prints at the root of the checkout."""
    with contextlib.chdir(repository):
        done = CliRunner().invoke(app, ["demo", "--all"])
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def test_the_first_screen_of_the_demo_says_what_people_say(answers):
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    right = Counter(row["system"] for row in answers if row["label"])
    for system, count in right.items():
        assert any(line.split()[:4] == [system, str(count), "of", "44"] for line in lines)
    assert "People prefer chatty" in done.stdout
    assert "demo --all" in lines[-1]


def test_answers_are_many_and_varied(answers):
    asked = Counter(row["question"] for row in answers)
    assert len(asked) >= 40
    assert set(asked.values()) == {2}
    assert Counter(row["system"] for row in answers) == {"terse": len(asked), "chatty": len(asked)}
    assert len({row["id"] for row in answers}) == len(answers)
    assert sum(len(row["references"]) > 1 for row in answers) > len(answers) / 2
    assert sum(row["prediction"] == "" for row in answers) == 1
    assert {row["label"] for row in answers} == {0, 1}
    first_words = {row["question"].split()[0].lower() for row in answers}
    assert first_words >= {"who", "when", "how", "why", "what", "which", "is", "can", "did", "name"}
    for row in answers:
        assert set(row) == {"id", "system", "question", "prediction", "references", "label"}
        assert isinstance(row["references"], list)
        assert row["references"]


def test_question_sets_are_what_their_systems_are_called(questions):
    assert len(questions) >= 12
    assert sum(3 <= len(row["references"]) <= 5 for row in questions) >= 12
    for row in questions:
        assert set(row["predictions"]) == {"diverse", "repetitive", "blended"}
        diverse, repetitive = row["predictions"]["diverse"], row["predictions"]["repetitive"]
        assert len(set(diverse)) == len(diverse) == len(repetitive) > 1
        assert len(set(repetitive)) == 1
        assert len(row["predictions"]["blended"]) == 1
        assert not set(diverse) & set(row["references"])


def test_examples_of_the_papers_are_there(answers, questions):
    steps = next(row for row in answers if row["id"] == "q01-terse")
    assert steps["question"] == "How many steps are involved in a hypothesis test?"
    assert steps["references"] == ["Four steps are involved in a hypothesis test."]
    assert steps["prediction"] == "There are seven steps involved in a hypothesis test ."
    cup = questions[0]
    assert cup["references"] == ["who won the 2014 world cup", "which event did Germany win in 2014"]
    assert cup["predictions"]["blended"] == ["which event did the 2014 world cup"]
    assert questions[1]["context"].startswith("Amazon.com, Inc. is an American electronic commerce")
    assert "Which Seattle-based company was founded in 1994?" in questions[1]["references"]


def test_the_labels_in_the_remarks_are_those_of_the_file(answers, demo):
    right = Counter(row["system"] for row in answers if row["label"])
    share = {system: f"{count} times ({count / (len(answers) / 2):.2f})" for system, count in right.items()}
    assert f"chatty is right {share['chatty']} and terse {share['terse']}" in " ".join(demo.split())


def test_the_demo_fits_in_100_columns_and_its_commands_do_the_same(demo, repository, monkeypatch):
    commands = re.findall(r"^The same table: genqa-metrics (.*)$", demo, flags=re.MULTILINE)
    assert len(commands) == 3
    signatures = tuple(f"{metric}|" for metric in genqa_metrics.METRICS)
    assert all(f"\n{signature}" in demo for signature in signatures)
    flowing = ("The same table", "note: ", "accuracy", "the accuracy", "the judge", *signatures)
    assert max(len(line) for line in demo.splitlines() if not line.startswith(flowing)) <= 100
    monkeypatch.chdir(repository)
    shown = {line.rstrip() for line in demo.splitlines()}
    sentences = " ".join(demo.split())  # a sentence below a table goes over several lines
    for command in commands:
        again = CliRunner().invoke(app, shlex.split(command))
        assert again.exit_code == 0
        assert "warning" not in again.stderr
        tables = [line.rstrip() for line in again.stdout.splitlines() if line.strip() and "─" not in line]
        assert [line for line in tables if line not in shown and not (len(line) > 100 and line in sentences)] == []


def test_the_demo_names_its_files_as_one_would_type_them(repository, monkeypatch, tmp_path):
    for folder, path in ((repository, "metrics/examples"), (tmp_path, shlex.quote(str(EXAMPLES)))):
        monkeypatch.chdir(folder)
        assert _shown(EXAMPLES) == path


def test_example_files_need_no_flags_and_have_no_bad_rows():
    for path in sorted(Path(EXAMPLES).glob("*.jsonl")):
        report = Run([str(path)]).score()
        assert report.skipped == report.not_numbers == 0
