"""`genqa-metrics doctor`: what files support; every command that it proposes runs."""

import json
import shlex

import genqa_metrics
import pytest
from genqa_metrics.rows.sources import Source
from genqa_metrics.verbs.doctor.report import diagnose

from tests.factories.cases import with_cases
from tests.factories.files import run, save, workbook


def row(number, system="a", **more):
    made = {"question": f"Who won race {number}?", "prediction": f"Ann {number}", "references": [f"Ann {number}"]}
    return made | {"system": system} | more


def found(rows, **columns):
    return diagnose([Source(memory=rows)], columns).to_dict()


def verbs(report):
    return [shlex.split(entry["command"])[1] for entry in report["can"]]


def missing(report):
    return " ".join(f"{entry['what']}: {entry['why']}" for entry in report["cannot"])


GROUNDED = [{"question": "Who?", "prediction": "Ann won.", "contexts": ["Ann won."]}]


@with_cases
def test_what_rows_support_and_what_they_lack(rows, can, cannot):
    report = found(rows)
    assert verbs(report) == can
    assert cannot in missing(report)


def test_two_systems_with_labels_a_judge_and_topics():
    rows = [
        row(n, system, label=n % 2 if n else None, grader=(n % 10) / 10, topic="ab"[n % 2])
        for n in range(40)
        for system in ("a", "b")
    ]
    report = found(rows)
    assert verbs(report) == [*("score", "explain", "accuracy", "calibrate", "accuracy", "compare", "agree", "compare")]
    assert [entry for entry in report["can"] if "judge=grader" in entry["command"]]
    assert report["can"][-1]["command"].endswith("--by topic")
    assert report["systems"] == {"a": 40, "b": 40}
    roles = {column["name"]: column["read_as"] for column in report["columns"]}
    assert roles["label"] == "label"
    assert roles["topic"] is None


def test_rows_without_labels_are_compared_by_those_that_it_proposes_to_make():
    report = found([row(n, system, topic="ab"[n % 2]) for n in range(40) for system in ("a", "b")])
    assert verbs(report) == ["score", "explain", "label", "accuracy", "compare", "compare"]
    assert all("--labels labels.jsonl" in entry["command"] for entry in report["can"][3:])
    assert "--number 30" in report["can"][2]["command"]
    assert "30 labels of a system give up to +-17 points, less near" in report["can"][2]["why"]
    assert "20 answers of a system each: only large differences will show" in report["can"][-1]["why"]
    assert "a lead below about 17 points is hardly ever significant, a larger one can be" in report["can"][4]["why"]
    assert "93 give +-10 points" in report["can"][2]["why"]
    few = [row(n, system, topic=n // 4, references=[f"Ann {'of ' * 90}"]) for n in range(20) for system in ("a", "b")]
    report = found(few)
    assert verbs(report) == ["score", "explain", "label", "accuracy", "compare"], "4 answers of a topic are too few"
    said = "only labels tell the accuracy: all 40 references have an unusual length for this judge"
    assert any(note.startswith(said) for note in report["notes"])


def test_rows_with_few_labels_are_labelled_further():
    report = found([row(n, system, label=None if n % 3 else 1) for n in range(24) for system in ("a", "b")])
    assert verbs(report) == ["score", "explain", "label", "accuracy", "compare", "agree"]
    assert report["can"][2]["what"] == "label the other 32 of 48 answers"
    assert all("--labels labels.jsonl" in entry["command"] for entry in report["can"][3:5])


@with_cases
def test_it_says_how_many_answers_there_are_to_label(answers, what, number):
    report = found([row(n, system) for system, count in answers.items() for n in range(count)])
    (entry,) = [entry for entry in report["can"] if " label " in entry["command"]]
    assert entry["what"] == what
    assert f"--number {number} " in entry["command"]


def test_columns_of_other_spelling_are_what_score_reads():
    """`Label` is people's labels: neither another judge nor a score to compare with them, nor `System` a topic."""
    rows = [
        {"System": system, "Question": f"q{n}?", "Answer": "x", "Expected": "y", "Label": n % 2}
        for n in range(20)
        for system in ("a", "b")
    ]
    report = found(rows)
    roles = {column["name"]: column["read_as"] for column in report["columns"]}
    names = {"System": "system", "Question": "question", "Answer": "prediction", "Expected": "references"}
    assert roles == names | {"Label": "label"}
    assert verbs(report) == ["score", "explain", "accuracy", "compare", "agree"], "all rows are labelled"
    assert not any("--column" in entry["command"] or "--by" in entry["command"] for entry in report["can"])
    assert any("column 'Answer' was read as the prediction" in note for note in report["notes"])


def test_the_proposed_commands_read_the_file_as_it_was_read_here(tmp_path, monkeypatch):
    """A sheet and a place in a document are in the commands; where they are not named, the message names them."""
    (tmp_path / "runs.json").write_text(json.dumps({"data": {"runs": [{"items": [row(n) for n in range(4)]}]}}))
    out = run("doctor", tmp_path / "runs.json")[0]
    assert "rows stand at data.runs[*].items: add --rows-at 'data.runs[*].items'" in out
    assert "runs.json: JSON, 1 row\n" in out
    report = json.loads(run("doctor", tmp_path / "runs.json", "--rows-at", "data.runs[*].items", "-f", "json")[0])
    first, *others = (entry["command"] for entry in report["can"])
    assert first.endswith("--rows-at 'data.runs[*].items' -o judged.jsonl")
    assert others
    assert all(" judged.jsonl" in command and "--rows-at" not in command for command in others)
    monkeypatch.chdir(tmp_path)
    run(*shlex.split(first)[1:], "--metric", "aev")
    book = tmp_path / "book.xlsx"
    sheet = [["prediction", "references", "system"], ["a", "a", "x"], ["a", "b", "x"]]
    book.write_bytes(workbook(About=[["note"], ["mine"]], Answers=sheet))
    assert "the workbook has the sheets About, Answers: name another one with --sheet NAME" in run("doctor", book)[0]
    assert "another one with --sheet NAME" in run("score", book, status=2)[1]
    of_sheet = json.loads(run("doctor", book, "--sheet", "Answers", "-f", "json")[0])
    assert "--sheet Answers" in of_sheet["can"][0]["command"]


def test_it_says_that_few_rows_will_give_no_estimate():
    [note] = found([row(n) for n in range(12)])["notes"]
    assert note.startswith("without labels score will say 'cannot tell': 12 answers of a system are too few")
    assert found([row(n, label=n % 2) for n in range(12)])["notes"] == []


def test_bad_rows_are_counted_and_the_commands_skip_them():
    report = found([row(1), {"prediction": 3}, row(2)])
    assert report["bad_rows"] == 1
    assert "row 2: " in report["first_bad"]
    assert any(note.startswith("1 of 3 rows is bad, the first: ") for note in report["notes"])
    commands = [entry["command"] for entry in report["can"]]
    assert commands[0].endswith("-o judged.jsonl --on-error skip")
    assert all(" judged.jsonl" in command and "--on-error" not in command for command in commands[1:])


def test_what_to_know_before():
    rows = [
        {"file": "a", "line": 1, "id": f"q{n}", **row(n), "ava_label": 1.0, "contexts": ["Ann won."]} for n in range(3)
    ]
    notes = " ".join(found(rows)["notes"])
    assert "3 rows have the passages that were retrieved" in notes
    assert "already judged by AVA: no command judges these answers again" in notes


def test_what_score_wrote_is_no_other_judge(tmp_path):
    """Whether an answer declines has numbers from 0 to 1, as the verdicts of a judge have."""
    path = tmp_path / "judged.jsonl"
    rows = [row(n) | {"prediction": "I don't know." if n % 2 else f"Ann {n}"} for n in range(20)]
    genqa_metrics.score([{**one, "label": n % 2} for n, one in enumerate(rows)], output=str(path))
    report = json.loads(run("doctor", path, "-f", "json")[0])
    assert {entry["name"]: entry["read_as"] for entry in report["columns"]}["line"] == "written by score"
    assert [entry["command"] for entry in report["can"]][-1] == f"genqa-metrics agree {path} -m ava"
    assert "already judged by AVA (small)" in " ".join(report["notes"])
    assert not any("judge=ava_" in entry["command"] for entry in report["can"])


def test_few_questions_are_too_few_for_an_accuracy():
    """However many answers there are to them, and with labels too."""
    for label in (None, 1):
        report = found([row(n, system, label=label) for n in range(4) for system in ("a", "b")])
        assert "accuracy" not in verbs(report)
        why = {entry["what"]: entry["why"] for entry in report["cannot"]}
        assert why["estimate the accuracy"] == "4 questions are too few; 5 are needed with labels, 20 without"


@pytest.mark.usefixtures("word_judge")
def test_the_proposed_commands_run_without_references(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where they write judged.jsonl
    path = save(tmp_path / "grounded rows.jsonl", GROUNDED)
    for form in ("table", "json", "markdown"):
        assert f"genqa-metrics score '{path}'" in run("doctor", path, "-f", form)[0].replace("\\|", "|")
    report = json.loads(run("doctor", path, "-f", "json")[0])
    score, explain = (shlex.split(entry["command"])[1:] for entry in report["can"])
    assert explain == ["explain", str(path), "-m", "grounding"]
    assert run(*explain)[0].startswith("In 0 of 1 answers")
    assert "grounding" in run(*score)[0]


def test_columns_of_other_names_are_guessed_in_a_command_that_reads_them(tmp_path):
    """What it proposes runs; without a guess nothing is proposed, and what to add is said."""
    rows = [{"prompt_text": f"Who won {n}?", "prediction": "Ann", "expected_thing": "Ann Lee"} for n in range(4)]
    path = save(tmp_path / "rows.jsonl", rows)
    assert (guess := json.loads(run("doctor", path, "-f", "json")[0])["can"][0]["command"]).endswith(
        "--column references=expected_thing --column question=prompt_text"
    )
    assert verbs(json.loads(run(*shlex.split(guess)[1:], "-f", "json")[0]))[0] == "score"
    report = json.loads(run("doctor", path, "--column", "references=expected_thing", "-f", "json")[0])
    assert "name their columns with --column question=prompt_text" in missing(report)
    bare = save(tmp_path / "bare.jsonl", [{"question": "Who?", "prediction": "Ann"}])
    report = json.loads(run("doctor", bare, "-f", "json")[0])
    assert report["can"] == []
    assert "or add one: an accepted answer, or a list of them, in every row" in missing(report)
