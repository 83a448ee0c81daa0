"""Tests of the one estimate of accuracy: what it rests on, when it says nothing, and that no interval is too wide."""

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.scale.tally import MOST, QuestionTotals
from genqa_metrics.statistics.estimation import estimate_accuracy, question_sums
from genqa_metrics.statistics.intervals import wilson

from tests.factories.files import run, save

ERRORS = (190, 200, 85, 100)  # accepted of correct, rejected of incorrect answers


def all_labelled(labels, questions=None):
    labels = np.asarray(labels, dtype=float)
    return question_sums(labels, labels, labels, np.ones(len(labels)), questions)


def test_no_interval_is_wider_than_the_better_of_labels_and_judge():
    """200 random files with labels on a share of the rows; rows of a question are alike."""
    rng, bases = np.random.default_rng(0), set()
    for _ in range(200):
        questions, repeats = int(rng.integers(6, 120)), int(rng.integers(1, 4))
        rows = questions * repeats
        asked = np.repeat(np.arange(questions), repeats)
        truth = (rng.random(questions)[asked] * 0.6 + rng.random(rows) * 0.4 < rng.random()).astype(float)
        judged = np.clip(np.where(rng.random(rows) < 0.9, truth, 1 - truth) + rng.normal(0, 0.1, rows), 0, 1)
        share = rng.uniform(0.1, 0.9)
        labels = np.where(rng.random(rows) < share, truth, np.nan)
        verdicts, chances = judged >= 0.5, np.full(rows, share)
        result = estimate_accuracy(question_sums(judged, verdicts, labels, chances, asked), ERRORS)
        alone = estimate_accuracy(question_sums(judged, verdicts, np.full(rows, np.nan), chances, asked), ERRORS)
        bases.add(result.basis)
        limits = [(end.low, end.high) for end in (alone,) if end.low is not None]
        limits += [result.labels_alone] if result.labels_alone else []
        if limits:
            assert result.high - result.low <= min(high - low for low, high in limits) + 1e-9
            assert result.low <= result.value <= result.high
    assert bases >= {"labels", "labels and judge", "judge's measured errors"}


@pytest.mark.parametrize(("questions", "repeats"), [(4, 25), (1, 50), (3, 1)])
def test_fewer_than_five_questions_have_no_interval(questions, repeats):
    result = estimate_accuracy(
        all_labelled(np.ones(questions * repeats), np.repeat(np.arange(questions), repeats)), None
    )
    assert (result.value, result.low, result.high) == (None, None, None)
    assert result.reason.startswith("too few questions: the labels are of")


@pytest.mark.parametrize("repeats", [10, 100])
def test_equal_answers_to_a_question_inform_as_one(repeats):
    """8 questions, all answers right: 8 independent answers, however often each question is asked."""
    result = estimate_accuracy(all_labelled(np.ones(8 * repeats), np.repeat(np.arange(8), repeats)), None)
    low, high = wilson(1.0, 8, 1.959964)
    assert (result.low, result.high) == pytest.approx((float(low), float(high)))


def test_a_gate_is_not_passed_by_what_cannot_be_told(tmp_path):
    """4 questions with 25 right rows each: labels of 4 questions do not show that the lower limit is above .85."""
    rows = [{"question": f"what is {n % 4}?", "prediction": f"{n % 4}", "references": f"{n % 4}"} for n in range(100)]
    path = save(tmp_path / "rows.jsonl", [row | {"label": 1, "by": 1} for row in rows])
    out, told = run("accuracy", path, "--column", "judge=by", "--fail-under", "low=0.85", status=3)
    assert "low of rows cannot be told" in told
    assert "too few questions" in out + told


def test_totals_of_many_questions_can_be_added_in_parts():
    rng = np.random.default_rng(0)
    keys, sums = rng.integers(2**50, size=MOST + 5000), rng.random((MOST + 5000, 8))
    whole = QuestionTotals(keys, sums)
    parts = QuestionTotals(keys[:9000], sums[:9000]) + QuestionTotals(keys[9000:], sums[9000:])
    again = QuestionTotals(**parts.as_json())
    assert len(whole.keys) <= MOST
    np.testing.assert_array_equal(whole.keys, again.keys)
    np.testing.assert_allclose(whole.sums, again.sums)


def test_one_label_of_100_that_is_none_costs_one_row():
    rows = [{"question": f"what is {n}?", "prediction": f"{n}", "references": f"{n}", "by": 1} for n in range(100)]
    rows = [row | {"label": 2 if n == 41 else n % 2} for n, row in enumerate(rows)]
    report = genqa_metrics.accuracy(rows, columns={"judge": "by"})
    assert report.systems["rows"]["labelled"] == 99
    assert any(note.startswith("1 labels outside 0 to 1 were not used; the first is 2") for note in report.notes)
    grades = [row | {"label": 1 + n % 5} for n, row in enumerate(rows)]
    report = genqa_metrics.accuracy(grades, columns={"judge": "by"})
    assert any("are no labels of people" in note for note in report.notes)
