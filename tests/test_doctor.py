"""`genqa-metrics doctor`: what files support; every command that it proposes runs."""

import json
import shlex

import pytest
from genqa_metrics.rows.sources import Source
from genqa_metrics.verbs.doctor.report import DoctorReport
from genqa_metrics.verbs.doctor.run import diagnose

from tests.factories.files import run, save, workbook


def row(number, system="a", **more):
    made = {"question": f"Who won race {number}?", "prediction": f"Ann {number}", "references": [f"Ann {number}"]}
    return made | {"system": system} | more


def found(rows, **columns):
    return diagnose([Source(memory=rows)], columns)


def verbs(report):
    return [shlex.split(entry["command"])[1] for entry in report["can"]]


def missing(report):
    return " ".join(f"{entry['what']}: {entry['why']}" for entry in report["cannot"])


def test_one_system_without_labels():
    report = found([row(n) for n in range(40)])
    assert verbs(report) == ["score", "accuracy", "label"]
    assert "one system; add a file" in missing(report)
    assert "no human scores; add a column 'score' or 'label'" in missing(report)


def test_two_systems_with_labels_a_judge_and_topics():
    rows = [
        row(n, system, label=n % 2, grader=(n % 10) / 10, topic="ab"[n % 2])
        for n in range(40)
        for system in ("a", "b")
    ]
    report = found(rows)
    assert verbs(report) == ["score", "compare", "accuracy", "calibrate", "accuracy", "agree", "compare"]
    assert [entry for entry in report["can"] if "judge=grader" in entry["command"]]
    assert report["can"][-1]["command"].endswith("--by topic")
    assert report["systems"] == {"a": 40, "b": 40}
    roles = {column["name"]: column["read_as"] for column in report["columns"]}
    assert roles["label"] == "label"
    assert roles["topic"] is None


def test_grounding_is_named_only_where_nothing_else_reads_the_rows():
    report = found([row(n, contexts=["Ann won."]) for n in range(4)])
    assert "grounding" not in str(report["can"])
    bare = [{"question": "Who?", "prediction": "Ann", "contexts": ["Ann won."]}]
    assert verbs(found(bare)) == ["score", "explain"]


def test_the_command_for_unsupported_sentences_runs(tmp_path):
    rows = [{"question": "Who?", "prediction": "Ann won.", "contexts": ["Ann won."]}]
    path = save(tmp_path / "rows.jsonl", rows)
    report = json.loads(run("doctor", path, "-f", "json")[0])
    words = shlex.split(report["can"][1]["command"])[1:]
    assert words == ["explain", str(path), "-m", "grounding"]
    assert run(*words)[0].startswith("0 of 1 answers")
    assert "add --metric grounding" in run("score", path, status=1)[1]
    assert "grounding" in run(*shlex.split(report["can"][0]["command"])[1:])[0]


def test_systems_with_ids_of_their_own_are_matched_by_question():
    report = found([row(n, system, id=f"{system}{n}") for n in range(6) for system in ("a", "b")])
    assert "2 systems share 6 questions" in str(report["can"])


def test_systems_without_a_common_question():
    assert "no question is answered by all systems" in missing(found([row(1, "a"), row(2, "b")]))


def test_other_names_are_read_as_score_reads_them_and_that_is_said():
    rows = [{"query": f"q{n}?", "response": "x", "accepted answers": "y"} for n in range(3)]
    report = found(rows)
    roles = {column["name"]: column["read_as"] for column in report["columns"]}
    assert roles == {"query": "question", "response": "prediction", "accepted answers": "references"}
    assert report["can"][0]["command"] == "genqa-metrics score rows"
    assert any("column 'response' was read as the prediction" in note for note in report["notes"])


def test_contexts_with_one_reference_are_no_system():
    """Human questions without predictions, and too few to be halved: nothing can be scored, and doctor says so."""
    report = found([{"context": "c", "references": ["who?"]}])
    assert verbs(report) == []
    assert "a context needs two references" in missing(report)


def test_columns_of_other_spelling_are_what_score_reads():
    """`Label` is people's labels: neither another judge nor a score to compare with them, nor `System` a topic."""
    rows = [
        {"System": system, "Question": f"q{n}?", "Answer": "x", "Expected": "y", "Label": n % 2}
        for n in range(20)
        for system in ("a", "b")
    ]
    report = found(rows)
    roles = {column["name"]: column["read_as"] for column in report["columns"]}
    assert roles == {
        "System": "system",
        "Question": "question",
        "Answer": "prediction",
        "Expected": "references",
        "Label": "label",
    }
    assert verbs(report) == ["score", "compare", "accuracy", "agree"]
    assert not any("--column" in entry["command"] or "--by" in entry["command"] for entry in report["can"])
    assert any("column 'Answer' was read as the prediction" in note for note in report["notes"])


def test_rows_without_references_have_no_ratio_of_lengths():
    report = found([{"question": "Who?", "prediction": "Ann", "contexts": ["Ann won."]}])
    assert not any("times as long" in note for note in report["notes"])


def test_labels_alone_are_named_as_such():
    report = found([{"id": "r1", "label": 1}])
    assert "these are labels; name the answers that they are of: genqa-metrics accuracy ANSWERS" in missing(report)


def test_the_proposed_commands_read_the_file_as_it_was_read_here(tmp_path):
    """A sheet and a place in a document are in the commands; where they are not named, the message names them."""
    (tmp_path / "runs.json").write_text(json.dumps({"data": {"runs": [{"items": [row(n) for n in range(4)]}]}}))
    out = run("doctor", tmp_path / "runs.json")[0]
    assert "rows stand at data.runs[*].items: add --rows-at 'data.runs[*].items'" in out
    assert "runs.json: JSON, 1 row\n" in out
    report = json.loads(run("doctor", tmp_path / "runs.json", "--rows-at", "data.runs[*].items", "-f", "json")[0])
    assert report["can"]
    assert all("--rows-at 'data.runs[*].items'" in entry["command"] for entry in report["can"])
    run(*shlex.split(report["can"][0]["command"])[1:], "--metric", "aev")
    book = tmp_path / "book.xlsx"
    sheet = [["prediction", "references", "system"], ["a", "a", "x"], ["a", "b", "x"]]
    book.write_bytes(workbook(About=[["note"], ["mine"]], Answers=sheet))
    assert "the workbook has the sheets About, Answers: name another one with --sheet NAME" in run("doctor", book)[0]
    assert "another one with --sheet NAME" in run("score", book, status=2)[1]
    assert (
        "--sheet Answers"
        in json.loads(run("doctor", book, "--sheet", "Answers", "-f", "json")[0])["can"][0]["command"]
    )


def test_bad_rows_are_counted_and_the_commands_skip_them():
    report = found([row(1), {"prediction": 3}, row(2)])
    assert report["bad_rows"] == 1
    assert "row 2: " in report["first_bad"]
    assert all("--on-error skip" in entry["command"] for entry in report["can"])


def test_what_to_know_before():
    rows = [row(1, prediction="It was Ann who won that race " * 3), row(1, prediction="I don't know."), row(2)]
    notes = " ".join(found([{**one, "ava_label": 1.0, "contexts": ["Ann won."]} for one in rows])["notes"])
    for part in ("times as long", "decline or are empty: 1", "1 rows repeat a question", "retrieved", "earlier run"):
        assert part in notes


def test_rows_that_nothing_can_be_done_with():
    report = found([{"a": 1}, {"a": 2}])
    assert report["can"] == []
    assert "no prediction" in missing(report)
    assert "missing:" in str(DoctorReport(report))


def test_generated_questions_and_ratings():
    sets = [{"context": f"c{n}", "references": ["who?", "when?"], "predictions": ["who?"]} for n in range(4)]
    assert verbs(found(sets)) == ["score"]
    ratings = [{"item": n // 2, "rater": n % 2, "score": n % 3} for n in range(8)]
    assert verbs(found(ratings)) == ["raters"]


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_the_command(form, tmp_path):
    path = save(tmp_path / "my rows.jsonl", [row(n) for n in range(6)])
    out = run("doctor", path, "-f", form)[0]
    assert f"genqa-metrics score '{path}'" in out.replace("\\|", "|")
    assert "no rows; is this the right file?" in run("doctor", save(tmp_path / "b.jsonl", []), status=1)[1]
    assert "expected one of" in run("doctor", path, "-c", "x=y", status=2)[1]


def test_the_proposed_commands_run(tmp_path):
    rows = [row(n, system, label=n % 2, topic="ab"[n % 2]) for n in range(12) for system in ("a", "b")]
    path = save(tmp_path / "rows.jsonl", [{"answer_text": one.pop("prediction"), **one} for one in rows])
    report = json.loads(run("doctor", path, "-c", "prediction=answer_text", "-f", "json")[0])
    assert {"score", "compare", "accuracy", "agree"} <= set(verbs(report))
    for entry in report["can"]:
        words = shlex.split(entry["command"])[1:]
        if words[0] != "label":  # it waits for a person
            run(*words, *(["--resamples", "100"] if words[0] in ("compare", "agree") else []))
