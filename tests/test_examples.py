"""The example files hold what their README promises, and the demonstration says what its tables show."""

import contextlib
import json
import re
import shlex
from collections import Counter
from pathlib import Path

import genqa_metrics
import pytest
from genqa_metrics.toolkit.cli import app
from genqa_metrics.toolkit.commands.demo import EXAMPLES, _shown
from genqa_metrics.toolkit.scoring.run import Run
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
    """What `genqa-metrics demo` prints at the root of the checkout."""
    with contextlib.chdir(repository):
        done = CliRunner().invoke(app, ["demo"])
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


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


def test_every_value_in_the_remarks_is_that_of_the_modules(answers, questions, demo):
    said = " ".join(demo.split())
    right = Counter(row["system"] for row in answers if row["label"])
    share = {system: f"{count} times ({count / (len(answers) / 2):.2f})" for system, count in right.items()}
    assert f"chatty is right {share['chatty']} and terse {share['terse']}" in said
    assert f"Answers: {len(answers) // 2} questions" in said
    assert f"Questions: {len(questions)} short texts" in said

    aev = genqa_metrics.load("aev")
    by_system = {}
    for system in ("terse", "chatty"):
        mine = [row for row in answers if row["system"] == system]
        inputs = {"predictions": [r["prediction"] for r in mine], "references": [r["references"] for r in mine]}
        by_system[system] = aev.compute(**inputs)
        by_system[system]["alpha 0"] = aev.compute(**inputs, alpha=0)["aev"]
    terse, chatty = by_system["terse"], by_system["chatty"]
    assert f"AEv puts terse first: {terse['aev']:.2f} against {chatty['aev']:.2f}" in said
    assert terse["aev"] > chatty["aev"]
    assert chatty["alpha 0"] > terse["alpha 0"]
    assert abs(terse["aev_recall"] - chatty["aev_recall"]) < 0.03
    steps = answers[0]
    seven = aev.compute(predictions=[steps["prediction"]], references=[steps["references"]])["aev"]
    assert f"still gets AEv {seven:.2f}" in said

    ava, kpqa = genqa_metrics.load("ava", progress=False), genqa_metrics.load("kpqa", progress=False)
    judged, rouge = {}, {}
    for system in ("terse", "chatty"):
        mine = [row for row in answers if row["system"] == system]
        inputs = {"predictions": [r["prediction"] for r in mine], "references": [r["references"] for r in mine]}
        rouge[system] = kpqa.compute(questions=[r["question"] for r in mine], **inputs)
        judged[system] = ava.compute(questions=[r["question"] for r in mine], **inputs)["ava_accuracy"]
        assert abs(judged[system] * len(mine) - right[system]) < 4.5, "the remark says within four answers"
    assert f"says {judged['chatty']:.2f} and {judged['terse']:.2f}: the right order" in said
    assert judged["chatty"] > judged["terse"]
    shown = {
        name: f"{rouge['chatty'][name]:.2f} against {rouge['terse'][name]:.2f}." for name in ("rougeL_kpqa", "rougeL")
    }
    assert (
        f"many words of chatty make: {shown['rougeL_kpqa']} Without the weights ROUGE-L has {shown['rougeL']}" in said
    )
    gap = {name: rouge["terse"][name] - rouge["chatty"][name] for name in shown}
    assert gap["rougeL_kpqa"] < gap["rougeL"] / 2
    inputs = {"predictions": [steps["prediction"]], "references": [steps["references"]]}
    seven = kpqa.compute(questions=[steps["question"]], **inputs)["rougeL_kpqa"]
    assert f"ROUGE-L-KPQA is {seven:.2f}." in said
    assert seven < 0.2

    f_meta = genqa_metrics.load("f_meta", base_kwargs={"tokenizer": "word"})
    found = {
        system: f_meta.compute(
            predictions=[row["predictions"][system] for row in questions],
            references=[row["references"] for row in questions],
        )
        for system in ("diverse", "repetitive", "blended")
    }
    diverse, repetitive, blended = (found[system] for system in ("diverse", "repetitive", "blended"))
    conventional = "f_meta_conventional"
    assert f"({repetitive[conventional]:.2f} against {diverse[conventional]:.2f} for diverse)" in said
    assert f"({repetitive['f_meta_recall']:.2f} against {diverse['f_meta_recall']:.2f})" in said
    assert f"({diverse['f_meta']:.2f} against {repetitive['f_meta']:.2f})" in said
    assert repetitive[conventional] > diverse[conventional]
    assert diverse["f_meta"] > repetitive["f_meta"]
    assert blended[conventional] > blended["f_meta_precision"]
    # Appendix A of the F-meta paper gives ROUGE-L 0.6240 for this question.
    assert "(that one: 0.62)" in said


def test_the_demo_fits_in_100_columns_and_its_commands_do_the_same(demo, repository, monkeypatch):
    commands = re.findall(r"^The same table: genqa-metrics (.*)$", demo, flags=re.MULTILINE)
    assert len(commands) == 3
    signatures = tuple(f"{metric}|" for metric in genqa_metrics.METRICS)
    assert all(f"\n{signature}" in demo for signature in signatures)
    flowing = ("The same table", "note: ", "accuracy by ava", *signatures)
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
