"""Tests of `accuracy` and `label`: from rows and labels to a number, on the command line, in Python, in pytest."""

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.rows.reading import Item
from genqa_metrics.verbs.label.command import show
from genqa_metrics.verbs.label.labelling import Session, Task, pareto_sample, plan, probabilities, tasks_of
from genqa_metrics.verbs.label.labels import item_key
from genqa_metrics.verbs.label.page import State, card
from rich.console import Console

from tests.factories.cases import with_cases
from tests.factories.files import run, save


def made(systems=("a", "b"), number=300, seed=0):
    """Return rows with the truth and a judge's probability: system a is right in 80%, b in 60%."""
    rng, rows = np.random.default_rng(seed), []
    for question in range(number):
        hard = rng.random()
        for system, share in zip(systems, (0.8, 0.6, 0.4), strict=False):
            right = hard < share
            judged = float(np.clip((0.85 if right else 0.15) + rng.normal(0, 0.25), 0, 1))
            text = f"answer {question} of {system}"
            rows.append({"question": f"question {question}?", "prediction": text, "references": ["right"]})
            rows[-1] |= {"system": system, "judge": judged, "true": int(right)}
    return rows


def label_rows(rows, tasks, rater="ann"):
    truth = {item_key(row["system"], row["question"], row["prediction"]): row["true"] for row in rows}
    return [
        {"system": task.columns["system"], "question": task.question, "prediction": task.answer}
        | {"label": truth[task.key], "rater": rater, "genqa_probability": task.probability}
        for task in tasks
    ]


def estimated(rows, labels=None, **options):
    """Return the report on rows whose judge is a column."""
    return genqa_metrics.accuracy(rows, labels, **{"columns": {"judge": "judge"}} | options)


@pytest.fixture(scope="module")
def judged():
    rows = made()
    tasks = tasks_of(rows, 80, columns={"judge": "judge"})
    return rows, label_rows(rows, tasks)


def test_labels_and_judge_hold_the_truth_and_are_narrower_than_labels(judged):
    rows, labels = judged
    report = estimated(rows, labels)
    for system in "ab":
        found = report.systems[system]
        truth = np.mean([row["true"] for row in rows if row["system"] == system])
        assert found["low"] <= truth <= found["high"]
        assert found["labelled"] == 80
        alone = found["labels_alone"]
        assert found["high"] - found["low"] < 0.85 * (alone["high"] - alone["low"])
        assert found["effective_sample_size"] > 100
    # 300 answers of a system that is right in 60% leave 1.96 * sqrt(.24 / 300) = 5.5 points however many are labelled;
    # of one that is right in 80% they leave 4.5.
    assert 0 < report.systems["a"]["needed"]["0.05"] < 300
    assert report.systems["b"]["needed"]["0.05"] is None
    [pair] = report.differences
    assert len(report.findings) == 1
    (finding,) = report.conclusions
    top = f'<p class="finding">{finding.sentence}</p>\n<p class="sure">{finding.certainty} 160 of 600 answers'
    assert top in report.to_html()
    assert ("could be chance" in str(report)) == (pair["difference"]["low"] <= 0 <= pair["difference"]["high"])
    assert "declined" not in str(report), "no answer declines"
    assert (pair["first"], pair["second"], pair["shared_questions"]) == ("a", "b", 300)
    asked = [{row["question"] for row in labels if row["system"] == system} for system in "ab"]
    assert f"{len(set.intersection(*asked))} of 300" in report.to_html(), "questions of which both have labels"
    assert pair["difference"]["low"] < 0.2 < pair["difference"]["high"]
    assert pair["difference"]["low"] > 0


def test_a_report_says_how_many_labels_or_questions_5_points_need(judged):
    rows, labels = judged
    of_a, of_b = (
        estimated(*([row for row in some if row["system"] == system] for some in (rows, labels))) for system in "ab"
    )
    number = of_a.systems["a"]["needed"]["0.05"]
    said = f"label about {number:,} more answers of each system for +-5 points"
    assert number > 0
    assert said in " ".join(str(of_a).split())
    assert "+-5 points need labels on about" in " ".join(str(of_b).split())
    assert "more answers of each system" not in " ".join(str(of_b).split())


def test_a_judge_that_is_biased_is_put_right(judged):
    """It accepts everything: its rate says 1, the labels about 0.8 and 0.6; and it is said that it does not help."""
    rows, labels = judged
    report = estimated([row | {"judge": 1} for row in rows], labels)
    assert report.systems["a"]["judged"] == 1
    assert report.systems["b"]["high"] < 0.8
    assert "its scores make no interval narrower: label more, or take another judge" in report.help_of_judge()
    right, every = sum(label["label"] == 1 for label in labels), len(labels)
    said = f"the judge agrees with {right} of {every} labels (a judge that calls every answer right: {right})"
    assert report.help_of_judge().startswith(said)
    assert report.help_of_judge() in report.to_markdown()
    without_baseline = report.help_of_judge().replace(f" (a judge that calls every answer right: {right})", "")
    assert without_baseline[1:] in " ".join(str(report).split())


def test_what_verdicts_are_worth_is_what_the_intervals_say(judged):
    """The square of the ratio of the widths, with the judge and without, times the labels."""
    rows, labels = judged
    report = estimated(rows, labels)
    worth = 0.0
    for values in report.systems.values():
        alone, together = (ends["high"] - ends["low"] for ends in (values["labels_alone"], values))
        worth += values["labelled"] * (alone / together) ** 2
        assert values["effective_sample_size"] == pytest.approx(values["labelled"] * (alone / together) ** 2)
    assert worth > 170
    said = f"with its scores of the others the 160 labels give intervals as narrow as {worth:,.0f} labels alone"
    assert report.help_of_judge().endswith(said)
    assert said in report.to_markdown()
    assert said in " ".join(str(report).split())
    rated = [row | {"label": n % 2} for n, row in enumerate(rows)]
    every = estimated(rated)
    assert every.help_of_judge().endswith("every answer has a label, so its verdicts are not needed")
    assert estimated(rows, columns={"judge": "judge", "label": ""}).help_of_judge() == ""


def test_intervals_are_corrected_for_the_tests_that_were_made(judged):
    """Without labels of the third system its accuracy cannot be told, and one of three pairs is tested."""
    rows, labels = ([*of, *({**row, "system": "c"} for row in of if row["system"] == "a")] for of in judged)
    every, without_third = (estimated(rows, some).to_markdown() for some in (labels, judged[1]))
    assert "corrected for 3 tests (Holm)" in every
    assert "corrected for" not in without_third


def test_without_labels_a_column_tells_no_accuracy(judged):
    report = estimated(judged[0])
    assert report.systems["a"]["accuracy"] is report.systems["a"]["low"] is None
    assert report.systems["a"]["judged"] > 0.7
    assert any("cannot be told from these rows: the errors of a judge in a column" in note for note in report.notes)
    assert "cannot tell" in report.to_markdown()


def test_a_rater_labels_a_row_once(judged):
    rows, labels = judged
    with pytest.raises(ValueError, match="row 161: rater 'ann' has labelled this row before, at labels, row 1; keep"):
        estimated(rows, [*labels, labels[0]])
    nobody = [{name: value for name, value in row.items() if name != "rater"} for row in labels]
    with pytest.raises(ValueError, match="the labels name no rater, labelled this row before"):
        estimated(rows, [*nobody, nobody[0]])


def second(labels, wrong):
    """Return the labels of a second rater, who contradicts in every `wrong`-th row."""
    return [row | {"rater": "bob", "label": row["label"] ^ (n % wrong == 0)} for n, row in enumerate(labels)]


def test_the_disagreement_of_raters_is_in_the_interval(judged):
    """Raters who contradict each other on every row say nothing."""
    rows, labels = judged
    never = estimated(rows, labels + second(labels, 1))
    assert (never.systems["a"]["low"], never.systems["a"]["high"]) == (0, 1)
    assert never.to_dict()["raters"]["agreement"] == 0
    assert never.to_dict()["raters"]["alpha"] == pytest.approx(-1, abs=0.02)
    mean = [row | {"label": (row["label"] + (row["label"] ^ (n % 10 == 0))) / 2} for n, row in enumerate(labels)]
    sure = estimated(rows, mean)
    some = estimated(rows, labels + second(labels, 10))
    error = some.to_dict()["settings"]["rater_error"]
    assert error == pytest.approx(0.05, abs=0.02)
    assert some.systems["b"]["low"] == pytest.approx(sure.systems["b"]["low"] - error)
    assert some.systems["b"]["high"] == pytest.approx(sure.systems["b"]["high"] + error)
    assert any("several raters: they agree in 9" in note and "alpha 0." in note for note in some.notes)
    differences = (report.differences[0]["difference"]["low"] for report in (some, sure))
    assert next(differences) == pytest.approx(next(differences) - 2 * error)
    assert "labels: one of every row" in " ".join(estimated(rows, labels).facts())


def test_raters_in_the_rows_count_as_raters_in_a_file_of_labels(judged):
    """Two rows for each answer, one for each rater: answers, interval and agreement are those of the labels' file."""
    every = [row | {"label": row["true"], "rater": "ann"} for row in judged[0]]
    both = [*every, *second(every, 10)]
    beside, inside = estimated(judged[0], both), estimated(both)
    assert inside.systems == beside.systems
    assert inside.systems["a"]["rows"] == 300
    assert inside.raters == beside.raters
    assert inside.to_dict()["settings"]["rater_error"] > 0


def test_labels_that_look_selected_are_noted(judged):
    rows, labels = judged
    planned = [row | {"genqa_planned": 80} for row in labels]
    found = estimated(rows, planned)
    assert not any("selected" in note or "stand for" in note for note in found.notes)
    right = [row for row in planned if row["label"]]
    assert any(note.startswith("b: the labels look selected") for note in estimated(rows, right).notes)
    half = [row for row in rows if int(row["question"].split()[1][:-1]) < 100]
    notes = estimated(half, [row | {"genqa_probability": row["genqa_probability"] / 16} for row in labels]).notes
    assert any("the sum of 1 / probability, but there are 100" in note for note in notes)


@with_cases
def test_bad_labels_are_named(judged, labels, message, tmp_path):
    place = message.partition("row 1")[2]
    for given, said in ((labels, message), (save(tmp_path / "people.jsonl", labels), f"line 1{place}")):
        with pytest.raises(ValueError, match=said if place else message):
            estimated(judged[0], given)


@with_cases
def test_bad_arguments_are_named(judged, arguments, message):
    with pytest.raises(ValueError, match=message):
        estimated(judged[0], **arguments)


def test_probabilities_sum_to_the_number_and_none_is_0():
    rng = np.random.default_rng(0)
    for number in (2, 30, 299, 300, 400):
        odds = probabilities(rng.random(300), number)
        assert odds.sum() == pytest.approx(min(number, 300))
        assert (odds > 0).all()
        assert (odds <= 1).all()


def test_rows_are_drawn_with_their_probabilities():
    rng = np.random.default_rng(0)
    odds = probabilities(rng.random(50) ** 3, 20)
    often = np.mean([pareto_sample(odds, rng.random(50), 20) for _ in range(4000)], axis=0)
    assert often == pytest.approx(odds, abs=0.03)
    assert pareto_sample(odds, rng.random(50), 20).sum() == 20


def test_labels_that_the_rows_have_are_kept_and_not_asked_again(judged, tmp_path, monkeypatch):
    """Those of system a: only b's answers are asked. Read as no labels, all are."""
    rows = [row | {"label": row["true"] if row["system"] == "a" else None} for row in judged[0]]
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "rows.jsonl", rows)
    command = "label", "rows.jsonl", "--rater", "ann", "-n", 4, "--uniform-share", 1, "--output"
    shown, told = run(*command, "labels.jsonl", input="n\n" * 4)
    assert "note: 4 of 8 answers have a label in rows.jsonl: kept, not asked again" in told
    assert "Next: genqa-metrics accuracy rows.jsonl --labels labels.jsonl" in told
    assert shown.count("Is this answer right?") == 4
    truth = {(row["system"], row["question"]): row["true"] for row in rows if row["system"] == "a"}
    lines = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    assert len(lines) == 8
    assert all(line["label"] == truth.get((line["system"], line["question"]), 0) for line in lines)
    assert all(line["genqa_probability"] for line in lines)
    shown, _ = run(*command, "all.jsonl", "--column", "label=", input="n\n" * 8)
    assert shown.count("Is this answer right?") == 8


def test_a_rater_labels_skips_takes_back_and_resumes(judged, tmp_path):
    rows, _ = judged
    path = save(tmp_path / "rows.jsonl", rows)
    command = "label", path, "-o", tmp_path / "labels.jsonl", "-n", 4, "--rater", "ann", "--uniform-share", 1
    shown, told = run(*command, input="y\ns\nx\n0\nq\n")
    assert "2 of 8 answers labelled" in told
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [line["label"] for line in lines] == [1, 0]
    assert {"item", "system", "question", "references", "prediction", "rater", "score", "genqa_probability"} < set(
        lines[0]
    )
    assert "of a" in shown or "of b" in shown
    assert "system" not in shown
    assert "8 of 8 answers labelled" in run(*command, input="u\ny\n1\n1\n1\n1\n1\n1\n1\n")[1]
    labels = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [line["label"] for line in labels] == [1] * 8
    found = estimated(rows, str(tmp_path / "labels.jsonl"))
    assert found.systems["a"]["labelled"] == 4


def test_a_larger_number_takes_an_older_file_on(judged, tmp_path):
    rows, _ = judged
    small, large = (tasks_of(rows, number, columns={"judge": "judge"}) for number in (5, 50))
    path = tmp_path / "labels.jsonl"
    session = Session(path, small, "ann")
    for task in small:
        session.label(task, 1)
    odds = {task.key: task.probability for task in large}
    resumed = Session(path, large, "ann")
    assert len(resumed.done) + resumed.left_out == len(small)
    for row in map(json.loads, path.read_text().splitlines()):
        assert row["genqa_probability"] == odds.get(row["item"])


def test_agree_reads_labels_of_several_raters(judged, tmp_path):
    rows, _ = judged
    tasks = tasks_of(rows, 30, columns={"judge": "judge"})
    path = tmp_path / "labels.jsonl"
    for rater in ("ann", "bob"):
        session = Session(path, tasks, rater)
        for place, task in enumerate(tasks):
            session.label(task, int((place + (rater == "bob" and place == 3)) % 3 > 0))
    assert session.agreement().startswith(
        "Raters agree on 59 of 60 answers that several have labelled (Krippendorff's"
    )
    report = json.loads(run("agree", path, "-m", "aev", "--resamples", 100, "--format", "json")[0])
    assert report["rows"] == 60
    raters = report["human"]["raters"]
    assert (raters["raters"], raters["rows"], raters["agreement"]) == (2, 60, pytest.approx(59 / 60, rel=1e-5))
    assert raters["alpha"] > 0.8


def test_grades_of_several_raters(judged, tmp_path):
    path = tmp_path / "grades.jsonl"
    session = Session(path, tasks_of(judged[0], 2, uniform_share=1), "ann", "grade")
    for grade, task in enumerate(session.tasks, 1):
        session.label(task, grade)
    assert not session.agreement()
    other = Session(path, session.tasks, "bob", "grade")
    for grade, task in enumerate(session.tasks, 1):
        other.label(task, grade + (grade < 3))
    # Two of four differ by 1: within rows 2 * (0.5 + 0.5) / 8; grades 1 2 2 3 3 3 4 4 have the variance 1.0714.
    assert (
        other.agreement() == "Raters agree on 2 of 4 answers that several have labelled (Krippendorff's alpha: 0.77)"
    )
    report = json.loads(run("agree", path, "-m", "aev", "--resamples", 100, "--format", "json")[0])
    assert (report["rows"], report["human"]["minimum"]) == (4, 1.5)
    with pytest.raises(ValueError, match="score: expected 1 to 5, got 6"):
        session.label(session.tasks[0], 6)
    with pytest.raises(ValueError, match=r"line 1: expected a label with item, rater and label; .* take the --form"):
        Session(path, session.tasks, "ann", "verdict")


def test_a_line_cut_off_by_a_crash_is_left_out(judged, tmp_path):
    tasks = tasks_of(judged[0], 3, uniform_share=1)
    path = tmp_path / "labels.jsonl"
    Session(path, tasks, "ann").label(tasks[0], 1)
    path.write_text(path.read_text() + '{"item": "x", "ra')
    assert len(Session(path, tasks, "ann").done) == 1


def test_the_page_needs_a_name_and_shows_texts_as_they_are(judged, tmp_path):
    tasks = tasks_of(judged[0], 2, uniform_share=1)
    state = State(tmp_path / "labels.jsonl", tasks, "verdict")
    state.press(1)
    assert state.shown()[1] == "Write your name to begin."
    with pytest.raises(ValueError, match="Name: write who labels"):
        state.start(" ")
    hostile = card(Task("k", 1, "<script>", ["<b>"], "<i>x"))
    assert "<script>" not in hostile
    assert "<i>" not in hostile


def test_what_either_side_lacks_is_marked_and_lines_are_kept():
    """A number is one word; only the nearest accepted answer is compared; lists and code keep their lines."""
    task = Task("k", 1, "How much?", ["$1,299.50 in total", "twelve"], "It is:\n\n- $1,299\n  - in total")
    shown = card(task)
    assert "<u>It is</u>:\n\n- $<u>1,299</u>\n  - in total</p>" in shown
    assert '<p dir="auto">$<u>1,299.50</u> in total</p>' in shown
    assert '<p dir="auto">twelve</p>' in shown
    assert "Underlined: words that the text beside it does not have" in shown
    console = Console(width=60, file=io.StringIO(), color_system=None)
    show(task, SimpleNamespace(done=[], total="1"), console)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert lines[-4:] == ["answer     It is:", "", "           - $1,299", "             - in total"]


pytest_plugins = ["pytester"]


def test_the_plugin_shows_the_worst_rows(pytester, judged):
    for name, rows in zip(("rows.jsonl", "labels.jsonl"), judged, strict=True):
        save(pytester.path / name, rows)
    pytester.makepyfile(
        """
        def test_good(assert_accuracy):
            options = {"columns": {"judge": "judge"}, "labels": "labels.jsonl"}
            assert assert_accuracy("rows.jsonl", at_least=0.5, **options).systems["a"]["rows"] == 300

        def test_bad(assert_accuracy):
            options = {"columns": {"judge": "judge"}, "labels": "labels.jsonl"}
            assert_accuracy("rows.jsonl", at_least=0.7, bound="low", **options)

        def test_unknown(assert_accuracy):
            assert_accuracy("rows.jsonl", at_least=0.7, columns={"judge": "judge"})
        """
    )
    result = pytester.runpytest("-p", "no:xdist", "-p", "no:randomly")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["a: accuracy cannot be told: the errors of a judge in a column*"])
    result.stdout.fnmatch_lines(["b: lower bound of the accuracy 0.* is below 0.7*", "worst rows:", "*answer * of b*"])


@pytest.mark.parametrize("planned", [100, None])
def test_labelling_that_stopped_early_counts_as_fewer_planned_labels(planned):
    """25 of 100 planned labels of 200 rows: each row was labelled with 1/8, not with 1/2."""
    rows = [{"question": f"{n}?", "prediction": "a", "references": "a", "judge": n % 2} for n in range(200)]
    labels = [
        {"question": f"{8 * n}?", "prediction": "a", "system": "rows", "label": n % 3 % 2, "genqa_probability": 0.5}
        | ({"genqa_planned": planned} if planned else {})
        for n in range(25)
    ]
    early = estimated(rows, labels)
    assert any("labelling stopped early, at 25%" in note for note in early.notes)
    finished = [label | {"genqa_probability": 0.125, "genqa_planned": 25} for label in labels]
    expected = estimated(rows, finished)
    assert not any("stopped early" in note for note in expected.notes)
    assert not any("the labels stand for" in note for note in (*early.notes, *expected.notes))
    for end in ("low", "high"):
        assert early.systems["rows"][end] == pytest.approx(expected.systems["rows"][end])


SEPARATORS = "a\u2028b\u2029c\u0085d"


def test_separators_of_unicode_do_not_break_a_file_of_labels(tmp_path):
    rows = [Item("f", n, None, "s", f"{n} {SEPARATORS}?", [SEPARATORS], ["r"], (None, None)) for n in (1, 2)]
    tasks = plan(rows, None, 2, 0)
    session = Session(tmp_path / "labels.jsonl", tasks, SEPARATORS)
    session.label(tasks[0], 1)
    session.label(tasks[1], 0)
    again = Session(tmp_path / "labels.jsonl", tasks, SEPARATORS)
    assert [row["label"] for row in again.done.values()] == [1, 0]
    assert {row["genqa_planned"] for row in again.done.values()} == {2}


LABEL = """
import sys
from genqa_metrics.verbs.label.labelling import Session, Task
tasks = [Task(str(n), 1.0, "q", ["r"], "a") for n in range(8)]
session = Session(sys.argv[1], tasks, sys.argv[2])
for task in tasks:
    session.label(task, 1)
"""


def test_parallel_processes_lose_no_label(tmp_path):
    path = tmp_path / "labels.jsonl"
    running = [subprocess.Popen([sys.executable, "-c", LABEL, str(path), rater]) for rater in "abc"]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    rows = [json.loads(line) for line in path.read_text().split("\n") if line]
    assert len({(row["rater"], row["item"]) for row in rows}) == 24
