"""Tests of intervals without labels: what was measured of a judge, and where the commands show it."""

import json
import math
import re

import genqa_metrics
import pytest
from genqa_metrics.ava.loading import checkpoint_folder
from genqa_metrics.core.checkpoints import CAUSAL_MODEL, ENCODERS
from genqa_metrics.core.judge_model import MEASURED_FILE, short_digest
from genqa_metrics.registry import make_scorer
from genqa_metrics.scale.options import with_calibration
from genqa_metrics.statistics.estimation import LABELS, NOTHING, AccuracyEstimate
from genqa_metrics.statistics.intervals import rogan_gladen
from genqa_metrics.verbs.judge_errors import UNMEASURED, JudgeErrors, help_of_judge, measured_for

from tests.factories.ava import COUNTS, measured, random_rows
from tests.factories.files import run, save
from tests.factories.modules import run_program
from training.common import write_rows
from training.studies.accuracy import measure as accuracy_study


@pytest.fixture
def judge(judges, tmp_path):
    """A tiny judge that was measured on one system."""
    return measured(judges(), tmp_path / "judge")


@pytest.fixture(scope="module")
def rows():
    """Two systems that answer the same 30 questions."""
    found = []
    for seed, system in enumerate("ab"):
        made = random_rows(30, seed)
        for place in range(30):
            asked = {"question": f"what is {place}?", "references": [f"the {place}"]}
            found.append(asked | {"system": system, "prediction": made["predictions"][place]})
    return found


def test_two_calibrations_of_one_judge_are_refused():
    assert with_calibration({"calibration": "a.json"}, "a.json") == {"calibration": "a.json"}
    with pytest.raises(ValueError, match="calibration: given twice"):
        with_calibration({"calibration": "a.json"}, "b.json")


def test_verdicts_are_corrected_by_the_errors_that_were_measured(judge, rows):
    """That every verb has these numbers: test_score_compare_and_accuracy_have_one_estimate_and_one_lead."""
    settings = {"checkpoint": str(judge)}
    scored = genqa_metrics.score(rows, "ava", {"ava": settings})
    accuracy = genqa_metrics.accuracy(rows, settings=settings)
    for system in "ab":
        rate = scored.systems[system]["ava_accuracy"]
        value, low, high = map(float, rogan_gladen(rate * 30, 30, *COUNTS.values()))
        expected = {"accuracy": value, "low": min(low, value), "high": max(high, value)}
        for name, number in expected.items():
            assert scored.systems[system][name] == pytest.approx(number)
        assert accuracy.systems[system]["ava_accuracy"] == accuracy.systems[system]["judged"] == pytest.approx(rate)
    compared = genqa_metrics.compare(rows, "ava", {"ava": settings}, resamples=100)
    assert "90 of 100 right answers" in compared.to_markdown()
    assert "errors on other data" in scored.to_markdown()


def test_a_judge_that_was_not_measured_so_tells_no_accuracy(judge, rows):
    """The errors were measured at the threshold of the checkpoint, not at another one."""
    report = genqa_metrics.accuracy(rows, settings={"checkpoint": str(judge), "threshold": 0.6})
    assert report.systems["a"]["low"] is None
    assert report.systems["a"]["reason"] == UNMEASURED
    place = next(i for i, note in enumerate(report.notes) if UNMEASURED in note)
    assert "genqa-metrics label" in report.notes[place + 1], "what to do comes next"
    (judge / MEASURED_FILE).unlink()
    scored = genqa_metrics.score(rows, "ava", {"ava": {"checkpoint": str(judge)}})
    assert scored.systems["a"]["accuracy"] is None
    assert any(UNMEASURED in note for note in scored.accuracy["notes"])
    assert scored.accuracy["confidence"] == 0.95
    assert "cannot tell" in scored.to_markdown()
    assert "cannot be told" in scored.findings[0]


@pytest.mark.parametrize(("rows", "offered"), [(50, True), (10, False)])
def test_the_judge_large_is_offered_with_its_size_where_it_can_tell_more(judge, rows, offered):
    """Not where the rows are too few for any judge, nor to who has chosen a judge."""
    scorer = make_scorer("ava")
    errors = JudgeErrors.of(scorer, {"a": {"profiled": rows, "unsure": 0.8 * rows}})
    values, estimate = (
        {"basis": NOTHING, "rows": rows, "labelled": 0},
        AccuracyEstimate(None, None, None, NOTHING, errors.unknown_for["a"]),
    )
    gigabytes = ENCODERS[CAUSAL_MODEL].megabytes / 1000
    large = f"--set ava.checkpoint=large ({gigabytes:.1f} GB once, two seconds or more for a long answer; right on "
    why, what_to_do = errors.notes({"a": values}, {"a": estimate})
    assert large not in why
    assert (large in what_to_do) is offered
    labelled = {"effective_sample_size": 20, "low": 0.1, "labelled": 20, "rows": 100, "basis": LABELS}
    confusion = dict.fromkeys(("accepted", "rejected", "missed", "let_through"), 5)
    assert large in help_of_judge({"a": labelled}, confusion, scorer.stronger)
    assert make_scorer("ava", {"checkpoint": str(judge)}).stronger == ""


def test_a_system_whose_long_answers_the_judge_decides_is_named():
    """Labels of people decide for the other one."""
    errors = JudgeErrors.of(make_scorer("ava"), {name: {"profiled": 30, "answer_words:6": 30} for name in "ab"})
    bases = {"a": NOTHING, "b": LABELS}
    estimates = {name: AccuracyEstimate(None, None, None, basis) for name, basis in bases.items()}
    notes = errors.notes(
        {name: {"basis": basis, "rows": 30, "labelled": 0} for name, basis in bases.items()}, estimates
    )
    long = "the answers of a are long, and of long answers this judge gets 64% right (in a test)"
    assert [note for note in notes if "long" in note and "label" not in note] == [long]


def test_few_labels_are_few_where_every_answer_has_one():
    accuracy = {"basis": LABELS, "rows": 24, "labelled": 24, "labels_alone": {"low": 0.8, "high": 1.0}}
    notes = JudgeErrors(None).notes({"a": accuracy}, {"a": AccuracyEstimate(0.958, 0.8, 0.998, LABELS)})
    assert notes == ["with fewer than 30 labels an interval is rough: a 24"]


@pytest.fixture
def few_labels(judge, rows):
    """Of system a 4 answers are labelled, of b 6; how often the judge errs is not known. A report of every verb."""
    (judge / MEASURED_FILE).unlink()
    counts = {"a": 4, "b": 6}
    labelled = [
        row
        | {"topic": f"t{place % 30 % 3}"}
        | ({"label": place % 30 % 2} if place % 30 < counts[row["system"]] else {})
        for place, row in enumerate(rows)
    ]
    settings = {"checkpoint": str(judge)}
    return (
        genqa_metrics.score(labelled, "ava", {"ava": settings}),
        genqa_metrics.compare(labelled, "ava", {"ava": settings}, resamples=100, by="topic"),
        genqa_metrics.accuracy(labelled, settings=settings, by="topic"),
    )


@pytest.mark.parametrize(
    ("questions", "labelled", "said"),
    [
        (4, False, "Next: more questions are needed: 5 with labels, 20 without."),
        (4, True, "Next: more questions are needed."),
        (5, False, "5 answers are too few to check whether the judge fits them; 20 are needed"),
    ],
)
def test_of_few_questions_it_is_said_at_once_how_many_are_needed(questions, labelled, said):
    rows = [{"question": f"What is {n}?", "prediction": f"{n}", "references": f"no {n}"} for n in range(questions)]
    rows = [row | {"label": 1} for row in rows] if labelled else rows
    for report in (genqa_metrics.score(rows, "ava"), genqa_metrics.accuracy(rows)):
        assert said in " ".join(str(report).split())
        assert "." not in {line.strip() for line in str(report).splitlines()}


def test_every_verb_says_the_same_of_a_system_with_few_labels(few_labels):
    """4 labels cannot give an interval, 6 can; both say how many they are."""
    for report in few_labels:
        lines = str(report).splitlines()
        words = [" ".join(line.split()) for line in lines]
        if report is few_labels[1]:  # compare counts them
            assert "a 2 of 4 cannot tell" in words
            assert any(line.startswith("b 3 of 6 0.500 [") for line in words)
        else:
            assert any("cannot tell (2 of 4 labelled right)" in line and " 4 of 30" in line for line in lines)
            assert any("0.500 [" in line and " 6 of 30" in line for line in lines)
        assert "oo few labels: the labels are of 4 questions" in report.to_markdown()
        assert not re.search(r"no interval(?!\s+narrower)", str(report) + report.to_html())
        assert "cannot tell; people" not in report.to_markdown()
        assert "With fewer than 30 labels an interval is rough: b 6." in " ".join(str(report).split())
    scored, _, accuracy = few_labels
    assert scored.accuracy["systems"]["a"]["accuracy"] is accuracy.systems["a"]["accuracy"] is None
    for report in (scored, accuracy):
        assert report.to_html().count("<circle") == 1


def test_what_was_measured_is_named_by_the_signature(judge):
    """Every interval depends on it, so other counts have another signature."""
    scorer = make_scorer("ava", {"checkpoint": str(judge)})
    assert measured_for(scorer).groups[0].accepted == 90
    (judge / MEASURED_FILE).unlink()
    other = make_scorer("ava", {"checkpoint": str(judge)})
    assert measured_for(other) is None
    assert other.signature != scorer.signature


DEEP = '{"systems": ' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.mark.parametrize(
    "change",
    ["{", "[]", '{"systems": [{}]}', DEEP]
    + [
        {"systems": [COUNTS | {name: value}]}
        for name in COUNTS
        for value in (math.nan, math.inf, -1, 1_000_001, "9", True)
    ]
    + [{"profile": {"profiled": math.nan}}, {"profile": {"unsure": 1e12}}, {"profile": [1]}, {"data": 1}],
    ids=lambda change: str(change)[:60],
)
def test_a_damaged_file_is_named_before_anything_is_judged(judge, rows, change, monkeypatch):
    path = judge / MEASURED_FILE
    path.write_text(change if isinstance(change, str) else json.dumps(json.loads(path.read_text()) | change))
    monkeypatch.setattr("genqa_metrics.ava.scorer.AvaScorer.statistics", None)
    with pytest.raises(ValueError, match=r"measured.json: expected checkpoint.*delete it"):
        genqa_metrics.score(rows, "ava", {"checkpoint": str(judge)})


def test_the_bundled_judge_was_measured():
    folder = checkpoint_folder("small")
    facts = json.loads((folder / MEASURED_FILE).read_text())
    assert facts["checkpoint"] == short_digest(folder), "run python -m training.studies.accuracy.measure --measured"


def test_the_study_reports_and_measures(judge, tmp_path, monkeypatch, capsys):
    """Sets of made rows; what is measured is of those that the judge has not seen."""
    for name in ("made.dev", "made.train"):
        columns = (random_rows(80, seed=len(name))[column] for column in ("questions", "references", "predictions"))
        rows = [
            {"question": question, "references": references, "candidate": text}
            | {"label": place % 3 % 2, "system": "ab"[place % 2]}
            for place, (question, references, text) in enumerate(zip(*columns, strict=True))
        ]
        write_rows(tmp_path / f"{name}.jsonl.gz", rows)
    command = (
        f"study --judgments {tmp_path} --scores {tmp_path}/scores --json {tmp_path}/accuracy.json "
        f"--checkpoint {judge} --labels 10 --repeats 20 --measured"
    )
    run_program(monkeypatch, accuracy_study, [*command.split(), "--sets", "made.dev", "made.train"])
    report = json.loads((tmp_path / "accuracy.json").read_text())
    assert list(report["means"]) == [accuracy_study.UNSEEN, accuracy_study.SEEN, "all"]
    assert "# From verdicts" in capsys.readouterr().out
    facts = json.loads((judge / MEASURED_FILE).read_text())
    assert list(facts["data"]) == ["made.dev"]
    assert sum(group["correct"] + group["incorrect"] for group in facts["systems"]) == 80
    assert measured_for(make_scorer("ava", {"checkpoint": str(judge)}))


def test_what_fail_under_names_is_checked_before_anything_is_scored(tmp_path, monkeypatch):
    def loaded(*arguments, **options):
        raise AssertionError("a judge was loaded")

    monkeypatch.setattr("genqa_metrics.ava.scorer.load_judge", loaded)
    monkeypatch.setattr("genqa_metrics.scale.run.scored", loaded)
    row = {"question": "how many?", "prediction": "four steps", "references": ["four steps"]}
    path = save(tmp_path / "rows.jsonl", [row])
    for more, expected in (
        (["--fail-under", "acuracy=0.5"], "expected one of ava_accuracy, ava_score, ava_declined"),
        (["-m", "aev", "--fail-under", "accuracy=0.5"], "accuracy and its interval come with --metric ava"),
    ):
        assert expected in run("score", path, *more, status=2)[1]


@pytest.mark.parametrize("verb", ["score", "accuracy"])
@pytest.mark.parametrize(
    ("demand", "status"), [("accuracy=0", 0), ("low=1.1", 3), ("acuracy=0.5", 2), ("accuracy=high", 2)]
)
def test_a_verb_fails_under_the_accuracy(verb, judge, rows, tmp_path, demand, status):
    path = save(tmp_path / "rows.jsonl", rows)
    out, _ = run(verb, path, "--set", f"ava.checkpoint={judge}", "--fail-under", demand, status=status)
    assert bool(out) == (status != 2)  # results are printed, whatever is demanded of them
