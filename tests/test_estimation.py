"""Tests of the one estimate of accuracy: what it rests on, when it says nothing, and that no interval is too wide."""

import genqa_metrics
import numpy as np
import pytest
import scipy.stats
from genqa_metrics.statistics.estimation import (
    LabelPlan,
    Reason,
    accuracy_tests,
    estimate_accuracy,
    label_tests,
    powered,
    prediction_powered,
    question_sums,
)
from genqa_metrics.statistics.intervals import wilson
from genqa_metrics.statistics.resampling import bootstrap_counts, paired_tests

from tests.factories.files import run, save

ERRORS = (190, 200, 85, 100)  # accepted of correct, rejected of incorrect answers


def all_labelled(labels, questions=None):
    labels = np.asarray(labels, dtype=float)
    return question_sums(labels, labels, labels, np.ones(len(labels)), questions)


@pytest.mark.parametrize("errors", [ERRORS, (195, 200, 20, 100), (999_000, 1_000_000, 980_000, 1_000_000)])
def test_errors_measured_on_other_data_never_replace_labels(errors):
    """200 random files with labels of at least five questions: the estimate is the same without these errors."""
    rng, bases = np.random.default_rng(0), set()
    for _ in range(200):
        questions, repeats = int(rng.integers(8, 120)), int(rng.integers(1, 4))
        rows = questions * repeats
        asked = np.repeat(np.arange(questions), repeats)
        truth = (rng.random(questions)[asked] * 0.6 + rng.random(rows) * 0.4 < rng.random()).astype(float)
        judged = np.clip(np.where(rng.random(rows) < 0.9, truth, 1 - truth) + rng.normal(0, 0.1, rows), 0, 1)
        known = (rng.random(rows) < rng.uniform(0.1, 0.9)) | (asked < 8)
        sums = question_sums(judged, judged >= 0.5, np.where(known, truth, np.nan), np.full(rows, known.mean()), asked)
        result, alone = estimate_accuracy(sums, errors), estimate_accuracy(sums, None, [Reason("unknown")])
        bases.add(result.basis)
        for name in ("value", "low", "high", "basis", "labels_alone"):
            assert getattr(result, name) == getattr(alone, name)
        assert result.high - result.low <= result.labels_alone[1] - result.labels_alone[0] + 1e-9
        assert result.low <= result.value <= result.high
    assert bases == {"labels", "labels and judge"}


def test_with_labels_of_four_questions_the_judge_is_an_assumption():
    verdicts = (np.arange(60) < 40).astype(float)
    labels = np.where(np.arange(60) < 4, 1.0, np.nan)
    sums = question_sums(verdicts, verdicts, labels, 1 / 15)
    assert estimate_accuracy(sums, ERRORS).basis == "judge's measured errors"
    unknown = estimate_accuracy(sums, None, [Reason("not measured")])
    assert unknown.value is None
    assert unknown.reason == "too few labels: the labels are of 4 questions, an interval needs 5"
    labels[4] = 1
    assert estimate_accuracy(question_sums(verdicts, verdicts, labels, 1 / 12), ERRORS).basis == "labels"


def test_too_few_labels_count_the_labelled_questions_and_what_they_are_worth():
    """Kish: weights 6, 1, 1, 1 of four questions count as 9^2 / 39 = 2.07 questions."""
    verdicts, labels = np.ones(60), np.where(np.arange(60) < 4, 1.0, np.nan)
    sums = question_sums(verdicts, verdicts, labels, np.where(np.arange(60) == 0, 1 / 60, 1 / 10))
    worth = "the labels are of 4 questions that count as 2.0 (unequal weights), an interval needs 5"
    assert estimate_accuracy(sums, None, [Reason("not measured")]).reason == f"too few labels: {worth}"


def test_a_judge_alone_leaves_at_most_sixty_points_open():
    """Half of 12 answers are accepted, then of 20: 0.11 to 0.75 says nothing, and a narrower interval is shown."""
    twelve, twenty = (
        question_sums(verdicts, verdicts, np.full(len(verdicts), np.nan), 0.1)
        for verdicts in (np.repeat([1.0, 0.0], 6), np.repeat([1.0, 0.0], 10))
    )
    assert estimate_accuracy(twelve, ERRORS).reason == "the judge's errors leave 0.11 to 0.75 open"
    shown = estimate_accuracy(twenty, ERRORS)
    assert 0.5 < shown.high - shown.low <= 0.6


def test_right_and_declined_are_at_most_all():
    """3 of 27 answers decline; the judge, or the labels, that saw none of them call all others right."""
    declined = (np.arange(27) < 3).astype(float)
    verdicts = 1 - declined
    for labels in (np.full(27, np.nan), np.where(np.arange(27) > 12, 1.0, np.nan)):
        sums = question_sums(verdicts, verdicts, labels, np.full(27, 14 / 27), gives_none=declined)
        result = estimate_accuracy(sums, (300, 320, 190, 200))
        assert result.value == pytest.approx(24 / 27)
        assert result.low <= result.value <= result.high
    called_right = np.where(declined == 1, 1.0, np.nan)
    assert question_sums(verdicts, verdicts, called_right, 1.0, gives_none=declined).declined_share == 0


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
    assert "Too few questions" in out + told


def test_one_label_of_100_that_is_none_costs_one_row():
    rows = [{"question": f"what is {n}?", "prediction": f"{n}", "references": f"{n}", "by": 1} for n in range(100)]
    rows = [row | {"label": 2 if n == 41 else n % 2} for n, row in enumerate(rows)]
    report = genqa_metrics.accuracy(rows, columns={"judge": "by"})
    assert report.systems["rows"]["labelled"] == 99
    assert any(note.startswith("1 labels outside 0 to 1 were not used; the first is 2") for note in report.notes)
    grades = [row | {"label": 1 + n % 5} for n, row in enumerate(rows)]
    report = genqa_metrics.accuracy(grades, columns={"judge": "by"})
    assert any("are no labels of people" in note for note in report.notes)


def labelled_systems(rights, labels, questions=20, judged=None, same=False):
    """Return systems with so many right labels, of the same questions or of others as far as there are."""
    systems = []
    for place, right in enumerate(rights):
        known = np.full(questions, np.nan)
        known[(np.arange(labels) + (0 if same else place * labels)) % questions] = np.arange(labels) < right
        numbers = np.zeros(questions) if judged is None else judged[place]
        systems.append(prediction_powered(numbers, known, np.full(questions, labels / questions)))
    return systems


def test_eight_of_ten_labels_against_one_of_ten_are_decided():
    """Also of three systems with Holm's correction. Fisher's test of the labels has p .0055; 8 against 5 is open."""
    p_values = label_tests(labelled_systems((8, 5, 1), 10)).p_values
    assert 3 * p_values[1] < 0.016
    assert p_values[0] > 0.05


def test_a_difference_of_labels_of_other_questions_is_agresti_and_caffos():
    """8 of 10 and 1 of 10: (9 - 2) / 12 and the root of 9 * 3 / 12^3 + 2 * 10 / 12^3, with Welch's t.

    Welch's degrees of freedom: (27 + 20)^2 / ((27^2 + 20^2) / 9) = 17.6.
    """
    tests = label_tests(labelled_systems((8, 1), 10))
    error = (47 / 12**3) ** 0.5
    assert tests.freedom[0] == pytest.approx(47**2 * 9 / (27**2 + 20**2))
    half = scipy.stats.t.isf(0.025, tests.freedom[0]) * error
    low, high = tests.limits(np.array([0.05]))
    assert (low[0], high[0]) == pytest.approx((7 / 12 - half, 7 / 12 + half), abs=1e-6)
    assert tests.p_values[0] == pytest.approx(2 * scipy.stats.t.sf(7 / 12 / error, tests.freedom[0]))


def test_intervals_of_differences_by_few_labels_agree_with_p():
    """400 random pairs: 0 is outside exactly where p is below the level, and limits are within -1 and 1."""
    rng = np.random.default_rng(0)
    for _ in range(400):
        questions = int(rng.integers(8, 50))
        truth = rng.random((2, questions)) < rng.random((2, 1))
        judged = np.where(rng.random(truth.shape) < 0.85, truth, ~truth).astype(float)
        known = rng.random(truth.shape) < rng.uniform(0.4, 0.9)
        known[:, :2] = [True, False]
        labels = np.where(known, truth, np.nan)
        systems = [prediction_powered(*part, np.full(questions, 0.5)) for part in zip(judged, labels, strict=True)]
        level = rng.choice([0.05, 0.05 / 3, 0.2])
        tests = label_tests(systems)
        (low,), (high,) = tests.limits(np.array([level]))
        if np.isnan(low):
            assert tests.p_values[0] == 1
            continue
        assert (tests.p_values[0] < level) == (not low <= 0 <= high)
        assert -1 <= low <= tests.differences[0] <= high <= 1
        turned = label_tests(systems[::-1])
        assert turned.p_values[0] == pytest.approx(tests.p_values[0])
        ends = np.ravel(turned.limits(np.array([level])))
        assert ends == pytest.approx([-high, -low])


def test_labels_of_too_few_questions_decide_nothing():
    tests = label_tests(labelled_systems((4, 0), 4))
    assert tests.p_values[0] == 1
    assert np.isnan(tests.limits(np.array([0.05]))).all()
    assert np.isnan(label_tests([*labelled_systems((4,), 8), None]).p_values).all()


def test_pairs_with_all_labels_are_tested_as_any_score_with_the_same_draws():
    """Without draws these are 10,000 of seed 0, and 1,000 for 2,000 questions or more."""
    rng = np.random.default_rng(0)
    for questions, samples in ((40, 10_000), (2000, 1000)):
        labels = (rng.random((2, questions)) < [[0.7], [0.6]]).astype(float)
        systems = [prediction_powered(of, of, np.ones(questions)) for of in labels]
        tests, (pair,) = label_tests(systems), [labels[0] - labels[1]]
        influence = (pair - pair.mean())[:, None]
        draws = bootstrap_counts(questions, samples, 0)
        expected = paired_tests(np.array([pair.mean()]), influence, questions, np.ones(1), draws)
        assert tests.p_values == pytest.approx(expected.p_values)
        assert np.ravel(tests.limits(np.array([0.05]))) == pytest.approx(np.ravel(expected.limits(np.array([0.05]))))


def test_the_judge_moves_the_mean_label_by_its_mean_of_the_rows_without_one():
    """PPI++ by its formulas: of 2,000 rows 200 have a label; the weight is cov / var / (1 + 200 / 2,000)."""
    rng = np.random.default_rng(0)
    truth = rng.random(2000)
    judged = np.clip(0.6 * truth + 0.4 * rng.random(2000), 0, 1)
    labels = np.where(np.arange(2000) < 200, truth, np.nan)
    result = prediction_powered(judged, labels, np.full(2000, 0.1))
    covariance = np.cov(truth[:200], judged[:200])
    assert result.trust == pytest.approx(covariance[0, 1] / covariance[1, 1] / 1.1, rel=0.05)
    moved = truth[:200].mean() + result.trust * (judged.mean() - judged[:200].mean())
    assert result.value == pytest.approx(moved)
    left = truth[:200] - result.trust * judged[:200]  # what the judge does not explain; labelled rows are among all
    variance = np.var(left) / 200 + result.trust**2 * np.var(judged) / 2000
    variance += 2 * result.trust * np.cov(left, judged[:200])[0, 1] / 2000
    prior = 0.35 / 200**2  # 0.35 questions for each pair of a label and a verdict
    alone, together = np.var(truth[:200]) / 200 + prior, variance + prior * (1 + result.trust**2)
    assert result.size / result.labels_size == pytest.approx(alone / together, rel=0.02)


def test_as_many_labels_as_planned_give_the_width():
    """60 labels of 4,000 rows, right in 3 of 4: with as many more as planned the interval is about +-5 points."""
    truth = np.arange(4000) % 4 > 0

    def labelled(number):
        labels = np.where(np.arange(4000) < number, truth, np.nan)
        sums = question_sums(np.zeros(4000), np.zeros(4000), labels, number / 4000)
        return powered(sums), sums

    plan = LabelPlan(*labelled(60))
    needed = plan.labels_needed(0.05)
    result, _ = labelled(60 + needed)
    assert (result.high - result.low) / 2 == pytest.approx(0.05, rel=0.03)
    assert plan.labels_needed(0.5) == 0
    assert plan.labels_needed(0.001) is None
    variance = plan.middle * (1 - plan.middle)
    assert plan.middle == pytest.approx(0.75, abs=0.02)
    assert plan.questions_needed(0.01) == pytest.approx(variance * (1.96 / 0.01) ** 2, rel=0.01)
    assert plan.half_width() == pytest.approx(1.96 * (variance / 4000) ** 0.5, rel=0.01)


def test_a_system_without_an_estimate_has_no_difference():
    """Of three systems one is unknown: p and limits of its pairs are NaN, those of the others are as of two."""
    verdicts = (np.arange(60) < 40).astype(float)
    judged, weaker = (
        estimate_accuracy(question_sums(of, of, np.full(60, np.nan), 1.0), ERRORS) for of in (verdicts, 1 - verdicts)
    )
    unknown = estimate_accuracy(
        question_sums(verdicts, verdicts, np.full(60, np.nan), 1.0), None, [Reason("not measured")]
    )
    tests, alone = accuracy_tests([judged, unknown, weaker]), accuracy_tests([judged, weaker])
    assert np.isnan(tests.p_values).tolist() == [True, False, True]
    low, _ = tests.limits(np.full(3, 0.05))
    assert np.isnan(low).tolist() == [True, False, True]
    assert tests.p_values[1] == alone.p_values[0]


def test_a_batch_in_which_one_system_has_one_label_is_refused():
    labels = np.full((2, 10), np.nan)
    labels[0, :8], labels[1, 0] = 1, 1
    with pytest.raises(ValueError, match="labels: expected at least 2 labelled rows, got 1; label more"):
        powered(question_sums(np.ones((2, 10)), np.ones((2, 10)), labels, 0.5))
