"""Every row of every table adds up, whatever is labelled: right, wrong and declined are all; leads are differences."""

import itertools
import json
import re

import genqa_metrics
import numpy as np
import pytest

from tests.factories.files import run, save

QUESTIONS = 40
SYSTEMS = {"brief": 0.8, "assistant": 0.65, "cheap": 0.3}
LABELS = {  # labelled answers of every system
    "none": (0, 0, 0),
    "some": (20, 20, 20),
    "few of one": (20, 20, 3),
    "of other questions": (12, 12, 12),
    "all": (40, 40, 40),
}
ROUNDING = 0.0016


def rows_of(kind):
    """Answers of three systems, a judge that errs, answers that decline, one of which a person calls right."""
    rng, rows = np.random.default_rng(7), []
    for place, (system, share) in enumerate(SYSTEMS.items()):
        shift = 13 * place if kind == "of other questions" else 0
        for number in range(QUESTIONS):
            right = bool(rng.random() < share)
            accepted = rng.random() < (0.85 if right else 0.3)
            text = "yes" if accepted else "no"
            if number in (3, 17, 31):
                text, right = "I don't know.", system == "brief" and number == 3
            row = {"question": f"is it {number}?", "references": ["yes"], "prediction": text, "system": system}
            row |= {"id": f"{number}", "topic": f"t{number % 2}"}
            labelled = (number + shift) % QUESTIONS < LABELS[kind][place]
            rows.append(row | {"label": int(right)} if labelled else row)
    return rows


@pytest.fixture(scope="module", params=LABELS)
def reports(request):
    rows = rows_of(request.param)
    return (
        request.param,
        genqa_metrics.score(rows, "ava"),
        genqa_metrics.compare(rows, "ava", by="topic"),
        genqa_metrics.accuracy(rows, by="topic"),
    )


def value(cell):
    """Return the number before an interval, None for a text."""
    match = re.match(r"-?\d[\d,]*(\.\d+)?", cell)
    return float(match[0].replace(",", "")) if match else None


def table_rows(report):
    """Yield the rows of every table as {name of a column: number}, those of slices too."""
    for table in report.tables():
        for row in table.rows:
            yield table, {name: value(cell) for name, cell in zip(table.header, row, strict=True)} | {"": row[0]}


def test_right_wrong_and_declined_are_all(reports):
    _, *verbs = reports
    checked = 0
    for report in verbs:
        for _, row in table_rows(report):
            for names in (("accuracy", "wrong", "declined"), ("ava_accuracy", "ava_wrong", "ava_declined")):
                parts = [row.get(name) for name in names]
                if None not in parts:
                    checked += 1
                    assert sum(parts) == pytest.approx(1, abs=ROUNDING), (row, names)
            if row.get("accuracy") is not None and row.get("accuracy_given_attempted") is not None:
                expected = row["accuracy"] / (1 - row["declined"])
                assert row["accuracy_given_attempted"] == pytest.approx(expected, abs=3 * ROUNDING)
    assert checked >= 9


def test_labels_and_judge_agree_as_often_as_the_counts_say(reports):
    _, *verbs = reports
    names = ("accepted", "missed", "rejected", "let_through")
    for report in verbs:
        for _, row in table_rows(report):
            if all(name in row for name in names):
                assert sum(row[name] for name in names) == row["labelled"]
            if row.get("effective_sample_size"):
                assert row["labelled"] <= row["effective_sample_size"] <= row["answers"]


def test_score_compare_and_accuracy_have_one_estimate_and_one_lead(reports):
    """The lead is the difference of the two numbers that are shown, and significant in one verb as in another."""
    _, scored, compared, accuracy = reports
    of_compare = compared.metrics["ava"]["accuracy"]["systems"]
    for system, expected in accuracy.systems.items():
        for name in ("accuracy", "low", "high", "declined", "wrong", "basis", "labelled_right"):
            wanted = expected[name] if name == "basis" else pytest.approx(expected[name], rel=1e-4)
            assert scored.accuracy["systems"][system][name] == wanted
            assert of_compare[system][name] == wanted
    pairs = compared.tests["ava"]["accuracy"]["pairs"]
    for pair, other in zip(pairs, accuracy.differences, strict=True):
        first, second = (accuracy.systems[pair[end]]["accuracy"] for end in ("first", "second"))
        assert pair["difference"]["value"] == pytest.approx(first - second, abs=1e-5)
        assert (pair["first"], pair["second"]) == (other["first"], other["second"])
        for end in ("value", "low", "high"):
            assert other["difference"][end] == pytest.approx(pair["difference"][end], abs=0.02)
        low, high = pair["difference"]["low"], pair["difference"]["high"]
        assert (pair["p_corrected"] < 0.05) == (not low <= 0 <= high)
    best = max(accuracy.systems, key=lambda system: accuracy.systems[system]["accuracy"])
    for system, (lead, *_) in scored.leads.items():
        expected = accuracy.systems[best]["accuracy"] - accuracy.systems[system]["accuracy"]
        assert lead == pytest.approx(expected)


def test_wins_ties_and_losses_are_all_rows_that_count(reports):
    kind, _, compared, _ = reports
    labelled = [[(n + 13 * place * (kind == "of other questions")) % 40 < count for n in range(40)]
                for place, count in enumerate(LABELS[kind])]  # fmt: skip
    for score, tests in compared.tests["ava"].items():
        for (first, second), pair in zip(itertools.combinations(range(3), 2), tests["pairs"], strict=True):
            decided = [place for place in (first, second) if LABELS[kind][place] >= 5 and score == "accuracy"]
            counted = sum(all(labelled[place][row] for place in decided) for row in range(40))
            assert pair["wins"] + pair["ties"] + pair["losses"] == counted
    by_judge = "by the judge's verdicts" in compared.tables()[1].explanation
    assert by_judge == (kind in ("none", "few of one"))


def test_declined_is_one_number_on_every_screen(reports):
    """Of brief a person calls an answer that declines right, where it is labelled: it is no longer declined."""
    kind, scored, compared, accuracy = reports
    for system in SYSTEMS:
        count = 3 - (system == "brief" and LABELS[kind][0] > 3)
        assert round(accuracy.systems[system]["declined"] * QUESTIONS) == count
        for report in (scored, accuracy):
            (line,) = (line for line in str(report).splitlines() if line.startswith(f"{system} ") and " of 40" in line)
            assert line.rstrip().endswith(f"{count} of 40")
        for faults in (scored.results.judge.faults, compared.metrics["ava"]["faults"]):
            assert faults[system]["declined"] == count


def test_faults_are_of_all_answers_that_are_judged_wrong_and_not_called_right(reports):
    _, scored, compared, _ = reports
    columns, counts = scored.results.columns, dict.fromkeys(SYSTEMS, 0)
    for system, verdict, label in zip(columns["system"], columns["ava_label"], columns["label"], strict=True):
        counts[system] += verdict == 0 and label != 1
    (table,) = (table for table in scored.tables() if table.title == "Why answers were judged wrong")
    for system, count in counts.items():
        (row,) = (row for row in table.rows if row[0] == system)
        assert sum(map(int, row[1:])) == count
    for report in (scored, compared):
        found = r"(\d+) judged wrong(?: \(answers labelled right are left out\))?: ([^.]*)\."
        ((of_all, faults),) = re.findall(found, " ".join(str(report).split()))
        assert int(of_all) == sum(counts.values()) == sum(map(int, re.findall(r" (\d+)", faults)))


def test_without_labels_the_first_line_says_what_is_assumed(reports):
    kind, scored, *pairs = reports
    assumed = {"none": "errs as often as on other data"}
    decides = "the judge AVA (small) decides, and is assumed to err as often as on other data."
    decided = {"none": f"No labels: {decides}", "few of one": f"3 of 40 answers of cheap have labels: {decides}"}
    for report, said in ((scored, decided | assumed), *((report, decided) for report in pairs)):
        first = " ".join(str(report).split("\n\n")[0].split())
        assert ("assume" in first) == (kind in said)
        assert said.get(kind, "") in first
        assert said.get(kind, "") in report.to_html()
        assert said.get(kind, "") in report.to_markdown()


def test_a_table_names_its_test_and_what_is_corrected(reports):
    kind, _, compared, _ = reports
    tests = {"none": "z-tests", "all": "paired bootstrap tests", "few of one": "paired t-tests and z-tests"}
    name = tests.get(kind, "paired t-tests")
    assert compared.tables()[1].explanation.startswith(f"Two-sided {name}; p corrected")


def test_a_judge_that_helps_is_not_said_to_help_nothing(reports):
    _, scored, compared, accuracy = reports
    for report in (scored, compared, accuracy):
        text = str(report) + report.to_markdown()
        if "labels and judge" in text or "labels of 20 of 40 and judge" in text:
            assert "no interval narrower" not in text


def test_the_same_answers_get_the_same_number_in_any_file():
    """Answers of a system that are like the measured ones, alone and beside long ones, which are not."""
    own = [{"question": f"is it {n}?", "references": ["yes"], "prediction": "yes" if n % 3 else "no", "system": "own"}
           for n in range(24)]  # fmt: skip
    long = [row | {"prediction": " ".join(["word"] * 300), "system": "long"} for row in own]
    alone = genqa_metrics.accuracy(own).systems["own"]
    beside = genqa_metrics.accuracy(own + long)
    for name in ("accuracy", "low", "high", "basis", "reason"):
        assert beside.systems["own"][name] == alone[name]
    assert alone["accuracy"] is not None
    assert beside.systems["long"]["accuracy"] is None
    assert "answers have an unusual length" in beside.systems["long"]["reason"]
    assert [*beside.unlike] == ["long"]


def test_a_gate_demands_what_is_printed(tmp_path):
    path = save(tmp_path / "rows.jsonl", rows_of("some"))
    out, _ = run("accuracy", path, "--format", "json")
    lowest = min(of["low"] for of in json.loads(out)["systems"].values())
    for verb in ("accuracy", "score"):
        run(verb, path, "--fail-under", f"low={lowest - 0.001}")
        run(verb, path, "--fail-under", f"low={lowest + 0.001}", status=3)
