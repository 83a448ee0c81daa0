"""Tests of the accuracy of a system with its interval, and of the measures of ranked answers."""

import math

import numpy as np
import pytest
from genqa_metrics.toolkit.analysis.accuracy import (
    Calibration,
    calibration,
    corrected,
    from_verdicts,
    lang_reiczigel,
    pooled,
    prediction_powered,
)
from genqa_metrics.toolkit.analysis.estimation import PAIRS, cluster_sums, difference, labels_needed, powered, wilson
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import label_ranking_average_precision_score
from statsmodels.stats.proportion import proportion_confint

from training.ava.ranking import is_usable, rank_agreement, ranking_scores

ACCURACIES = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
JUDGES = ((0.9, 0.8), (0.95, 0.9), (0.85, 0.7), (0.97, 0.95))  # sensitivity, specificity
SAMPLES = 10_000  # standard error of a coverage of 95%: 0.2%


def covers(truth, low, high) -> float:
    return float(((low <= truth) & (truth <= high)).mean())


def test_wilson_by_hand():
    """8 of 10 accepted.

    z = 1.96: center (0.8 + 3.8415 / 20) / (1 + 3.8415 / 10) = 0.7167; half-width 1.96 / 1.38415 *
    sqrt(0.8 * 0.2 / 10 + 3.8415 / 400) = 0.2266.
    """
    result = from_verdicts([1] * 8 + [0] * 2)
    assert (result.low, result.high) == pytest.approx((0.7167 - 0.2266, 0.7167 + 0.2266), abs=2e-4)
    assert "ignored" in result.note


@pytest.mark.parametrize("number", [100, 200, 400])
@pytest.mark.parametrize("share", ACCURACIES)
def test_wilson_covers_the_share_judged_correct(number, share):
    """Exact: the probability of each possible count, summed over those whose interval holds the share."""
    results = [from_verdicts([1] * k + [0] * (number - k)) for k in range(number + 1)]
    holds = [result.low <= share <= result.high for result in results]
    assert stats.binom.pmf(np.arange(number + 1), number, share)[holds].sum() == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(("accepted", "number", "confidence"), [(0, 7, 0.95), (33, 40, 0.9), (500, 500, 0.99)])
def test_wilson_is_that_of_statsmodels(accepted, number, confidence):
    result = from_verdicts([1] * accepted + [0] * (number - accepted), confidence)
    expected = proportion_confint(accepted, number, 1 - confidence, method="wilson")
    assert (result.low, result.high) == pytest.approx(expected)


def test_wilson_misses_the_accuracy_when_the_judge_errs():
    """Accuracy 0.7, sensitivity 0.9, specificity 0.8: 0.69 judged correct; at 0.3 it is 0.41, outside the interval."""
    result = from_verdicts([1] * 410 + [0] * 590)
    assert result.low > 0.3
    assert corrected([1] * 410 + [0] * 590, Calibration(90, 100, 80, 100)).low < 0.3


def test_all_verdicts_equal():
    assert from_verdicts([1] * 20).high == 1
    assert from_verdicts([0] * 20).low == 0


def test_corrected_by_hand():
    """120 of 200 accepted, sensitivity 45/50, specificity 40/50.

    Estimate: (0.6 + 0.8 - 1) / (0.9 + 0.8 - 1) = 0.571. Interval:
    z**2 = 3.8415: share 121.92 / 203.84 = 0.5981, sensitivity 46/52, specificity 41/52, gain 0.6731, center
    (0.5981 + 0.7885 - 1) / 0.6731 = 0.5744; missed 0.8846 * 0.1154 / 52 = 0.001963, false 0.7885 * 0.2115 / 52 =
    0.003207; shift 7.683 * (0.5744 * 0.001963 - 0.4256 * 0.003207) = -0.00182; variance 0.5981 * 0.4019 / 203.84 +
    0.3299 * 0.001963 + 0.1811 * 0.003207 = 0.002408; half-width 1.96 * 0.04907 / 0.6731 = 0.1429.
    """
    result = corrected([1] * 120 + [0] * 80, Calibration(45, 50, 40, 50))
    assert result.estimate == pytest.approx(0.4 / 0.7)
    assert (result.low, result.high) == pytest.approx((0.5726 - 0.1429, 0.5726 + 0.1429), abs=3e-4)


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(("number", "sample"), [(200, 100), (500, 200), (3000, 200), (1000, 500)])
def test_corrected_covers_the_accuracy(judge, number, sample):
    sensitivity, specificity = judge
    rng = np.random.default_rng(number + sample)
    for truth in ACCURACIES:
        share = truth * sensitivity + (1 - truth) * (1 - specificity)
        _, low, high = lang_reiczigel(
            rng.binomial(number, share, SAMPLES),
            number,
            rng.binomial(sample, sensitivity, SAMPLES),
            sample,
            rng.binomial(sample, specificity, SAMPLES),
            sample,
        )
        assert covers(truth, low, high) == pytest.approx(0.95, abs=0.02), truth


def test_corrected_is_the_formula_on_counts():
    result = corrected([1] * 30 + [0] * 10, Calibration(18, 20, 15, 20), confidence=0.9)
    expected = lang_reiczigel(30, 40, 18, 20, 15, 20, 0.9)
    assert (result.estimate, result.low, result.high) == pytest.approx([float(value) for value in expected])


def test_a_perfect_judge_needs_no_correction():
    verdicts = [1] * 700 + [0] * 300
    sure, plain = corrected(verdicts, Calibration(10**7, 10**7, 10**7, 10**7)), from_verdicts(verdicts)
    assert sure.estimate == pytest.approx(plain.estimate)
    assert (sure.low, sure.high) == pytest.approx((plain.low, plain.high), abs=1e-3)


def test_a_smaller_calibration_sample_widens_the_interval():
    verdicts = [1] * 60 + [0] * 40
    widths = [
        r.high - r.low for r in (corrected(verdicts, Calibration(9 * k, 10 * k, 8 * k, 10 * k)) for k in (2, 20))
    ]
    assert widths[0] > widths[1]


@pytest.mark.parametrize(
    ("human", "judged", "unlabelled", "confidence", "expected"),
    [  # estimate and limits: ppi_py 0.2.3, ppi_mean_pointestimate and ppi_mean_ci
        (
            [1, 1, 0, 1, 1, 0, 1, 0, 1, 1],
            [0.9, 0.8, 0.3, 0.7, 0.2, 0.1, 0.95, 0.6, 0.85, 0.75],
            [0.9, 0.1, 0.8, 0.7, 0.95, 0.2, 0.85, 0.6, 0.99, 0.4, 0.75, 0.05],
            0.95,
            (0.69653821, 0.44210713, 0.95096929),
        ),
        ([1, 1, 0, 1] * 5, [1, 1, 0, 0] * 5, [1, 1, 1, 0] * 20, 0.9, (0.86785714, 0.73240776, 1.0)),  # 1.0033 cut
    ],
)
def test_without_added_rows_it_is_ppi(human, judged, unlabelled, confidence, expected):
    result = prediction_powered(human, judged, unlabelled, confidence, published=True)
    assert (result.estimate, result.low, result.high) == pytest.approx(expected, abs=1e-7)


def test_a_useless_judge_leaves_the_human_mean():
    """The judge says the same of every answer: 6 of 8 remain, and the published interval is that of labels alone."""
    result = prediction_powered([1, 1, 1, 0] * 2, [1] * 8, [1] * 50, published=True)
    half = 1.959964 * math.sqrt(0.75 * 0.25 / 8)
    assert (result.estimate, result.low) == pytest.approx((0.75, 0.75 - half), abs=1e-6)


def test_errors_of_the_judge_do_not_move_the_estimate():
    """It accepts everything that is right, and half of what is wrong: the other answers are 1/3 wrong, not 1/6."""
    human, judged = [1, 1, 1, 1, 0, 0] * 100, [1, 1, 1, 1, 1, 0] * 100
    assert prediction_powered(human, judged, [1, 1, 1, 1, 1, 0] * 1000).estimate == pytest.approx(2 / 3)


def test_it_is_the_estimate_of_labels_drawn_by_chance():
    """The pairs by hand: people say 45 of 68 are correct, the judge 43 of those 68 and 300 of the 500 others.

    The slope of the labels on the judge's verdicts, with half a row of each pair added: means 46/70 and 44/70,
    43.7/69.4, together 40.35/69.4: (40.35/69.4 - 45.7/69.4 * 43.7/69.4) / (43.7/69.4 * 25.7/69.4) = 0.7152. The
    estimate: 45/68 + 0.7152 * (343/568 - 43/68).
    """
    human, judged = np.repeat(PAIRS, [20, 3, 5, 40], axis=0).T
    result = prediction_powered(human, judged, [1] * 300 + [0] * 200)
    assert result.estimate == pytest.approx(45 / 68 + 0.7152 * (343 / 568 - 43 / 68), abs=1e-4)
    published = prediction_powered(human, judged, [1] * 300 + [0] * 200, published=True)
    assert (result.low, result.high) == pytest.approx((published.low, published.high), abs=0.02)


def test_probabilities_say_more_than_verdicts():
    rng = np.random.default_rng(0)
    probability = rng.random(3000)
    human = (rng.random(300) < probability[:300]).astype(int)
    fine = prediction_powered(human, probability[:300], probability[300:])
    coarse = prediction_powered(human, probability[:300] > 0.5, probability[300:] > 0.5)
    assert fine.high - fine.low < coarse.high - coarse.low


@given(st.data())
def test_intervals_hold_their_estimate_and_stay_within_0_and_1(data):
    bits = st.lists(st.integers(0, 1), min_size=20, max_size=60)
    verdicts = data.draw(bits)
    pairs = data.draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=20, max_size=60))
    human, judged = zip(*pairs, strict=True)
    hits = data.draw(st.integers(35, 50)), data.draw(st.integers(35, 50))
    for result in (
        from_verdicts(verdicts),
        corrected(verdicts, Calibration(hits[0], 50, hits[1], 50)),
        prediction_powered(human, judged, verdicts),
    ):
        assert 0 <= result.low <= result.estimate <= result.high <= 1
        assert {type(value) for value in (result.estimate, result.low, result.high)} == {float}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: from_verdicts([1, 0, 0.7]), r"verdicts, row 2: expected 0 or 1, got 0.7; compare"),
        (lambda: from_verdicts([1, float("nan")]), r"verdicts, row 1: expected 0 or 1, got nan"),
        (lambda: from_verdicts([1, None]), r"verdicts, row 1: expected 0 or 1, got None"),
        (lambda: from_verdicts([1, "yes"]), r"verdicts, row 1: expected a number, got 'yes'"),
        (lambda: from_verdicts([1, [0]]), r"verdicts, row 1: expected a number, got \[0\]"),
        (lambda: from_verdicts([[1, 0]]), "verdicts: expected a flat list, got 2 dimensions"),
        (lambda: from_verdicts([]), "verdicts: expected at least one answer, got none"),
        (lambda: from_verdicts("1"), "verdicts: expected a list of numbers, got '1'"),
        (lambda: from_verdicts([1], confidence=95), "confidence: expected a number between 0 and 1, got 95"),
        (lambda: Calibration(5, 4, 1, 2), "accepted: expected 0 to 4, the number of correct answers, got 5"),
        (lambda: Calibration(0.9, 1, 1, 2), "accepted: expected a whole number, got 0.9"),
        (lambda: calibration([1, 1], [1, 0]), "incorrect: expected at least 1 answer, got 0"),
        (lambda: calibration([1, 0, 1], [1, 0]), "verdicts: expected 3 values, as many as human, got 2"),
        (
            lambda: corrected([1, 0], Calibration(5, 10, 5, 10)),
            r"calibration: expected sensitivity \+ specificity above 1, got 0.500 \+ 0.500",
        ),
        (lambda: corrected([1, 0], Calibration(1, 1, 10, 1000)), "a judge no better than chance"),
        (lambda: prediction_powered([1], [1], [1]), "human: expected at least 2 labelled answers, got 1"),
        (lambda: prediction_powered([1, 0], [1, 0], []), "unlabelled: expected at least one answer, got none"),
        (lambda: prediction_powered([1, 0], [1], [1]), "judged: expected 2 values, as many as human, got 1"),
        (lambda: prediction_powered([1, 0.5], [1, 1], [1]), "human, row 1: expected 0 or 1, got 0.5"),
        (lambda: prediction_powered([1, 0], [1, 2], [1]), "judged, row 1: expected a number from 0 to 1, got 2"),
        (lambda: ranking_scores([]), "rankings: expected at least one question, got none"),
        (lambda: ranking_scores([[1], [0, 0.4]]), r"rankings, row 1: expected a list of 0 and 1, got \[0, 0.4\]"),
        (lambda: ranking_scores([[1], []]), r"rankings, row 1: expected a list of 0 and 1, got \[\]"),
        (lambda: rank_agreement([0.1], [0.1]), "estimated: expected one value for each of at least 2 systems"),
        (lambda: rank_agreement([0.1, 0.2], [0.1, float("nan")]), "true, row 1: expected a number, got nan"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_pooled_counts_answers_of_unlike_systems_as_fewer():
    """Shares 0.95 and 0.85 of 100 each, 0.9 together.

    Variance between: (0.0025 + 0.0025) - 2 * 0.09 / 100 = 0.0032; worth 0.09 / (0.09 / 200 + 0.0032 * 1.5) = 17.1.
    """
    accepted, correct, rejected, incorrect = pooled([Calibration(95, 100, 42, 50), Calibration(85, 100, 38, 50)])
    assert (correct, accepted / correct) == pytest.approx((0.09 / (0.09 / 200 + 0.0032 * 1.5), 0.9))
    assert (rejected, incorrect) == (80, 100)


def test_labels_alone_are_wilson_with_a_little_more():
    labels = np.array([1.0] * 70 + [0] * 30)
    found = powered(np.full(100, 0.5), labels, np.ones(100))
    expected = wilson(0.7, 100, 1.959964)
    assert found.value == pytest.approx(0.7)
    assert (found.low, found.high) == pytest.approx([float(limit) for limit in expected], abs=0.01)


def test_rows_that_were_drawn_half_as_often_count_twice():
    """Two of 4 sure rows drawn with 1/2, both of 2 unsure ones with 1: (2 * 2 * 1 + 0 + 1) / (2 * 2 + 2) = 5/6."""
    judged = np.full(6, 0.5)
    labels = np.array([1, 1, np.nan, np.nan, 0, 1])
    found = powered(judged, labels, np.array([0.5, 0.5, 0.5, 0.5, 1, 1]))
    assert found.value == pytest.approx(5 / 6)


def test_all_rows_labelled_leave_nothing_to_the_judge():
    rng = np.random.default_rng(0)
    labels, judged = (rng.random(200) < 0.7).astype(float), rng.random(200)
    assert powered(judged, labels, np.ones(200)).value == pytest.approx(labels.mean())
    exact = powered(judged, labels, np.ones(200), finite=True)
    assert exact.error == 0


def test_rows_of_one_question_are_one_cluster():
    """Every row five times: the interval is as wide as with each row once."""
    rng = np.random.default_rng(0)
    judged = rng.random(400)
    labels = np.where(np.arange(400) < 100, rng.random(400) < judged, np.nan)
    once = powered(judged, labels, np.full(400, 0.25))
    often = powered(np.repeat(judged, 5), np.repeat(labels, 5), np.full(2000, 0.25), np.repeat(np.arange(400), 5))
    apart = powered(np.repeat(judged, 5), np.repeat(labels, 5), np.full(2000, 0.25))
    assert often.error == pytest.approx(once.error, rel=0.05)
    assert apart.error < 0.5 * once.error
    assert cluster_sums(np.ones((2, 3)), np.array([0, 1, 0])).tolist() == [[2, 1], [2, 1]]


def test_a_difference_of_paired_systems_is_narrower_than_one_of_others():
    rng = np.random.default_rng(1)
    first = (rng.random(500) < 0.8).astype(float)
    second = np.where(rng.random(500) < 0.9, first, 1 - first)
    labels = [np.where(np.arange(500) < 200, values, np.nan) for values in (first, second)]
    found = [powered(np.full(500, 0.5), values, np.full(500, 0.4)) for values in labels]
    value, low, high = difference(*found)
    assert low < value < high
    shuffled = powered(np.full(500, 0.5), np.roll(labels[1], 250), np.full(500, 0.4))
    _, far_low, far_high = difference(found[0], shuffled)
    assert high - low < 0.8 * (far_high - far_low)


def test_labels_needed_are_about_enough():
    rng = np.random.default_rng(2)
    truth = (rng.random(5000) < 0.8).astype(float)
    judged = np.where(rng.random(5000) < 0.9, truth, 1 - truth)

    def found(number):
        return powered(judged, np.where(np.arange(5000) < number, truth, np.nan), np.full(5000, number / 5000))

    more = labels_needed(found(100), 100, 5000, 0.03, finite=False)
    reached = found(100 + more)
    assert (reached.high - reached.low) / 2 == pytest.approx(0.03, rel=0.15)
    assert labels_needed(found(100), 100, 5000, 0.01, finite=False) is None  # 5,000 questions are too few
    assert labels_needed(reached, 100 + more, 5000, 0.2, finite=False) == 0


def test_too_few_labels_are_an_error():
    with pytest.raises(ValueError, match="labels: expected at least 2 labelled rows, got 1"):
        powered(np.ones(3), np.array([1, np.nan, np.nan]), np.ones(3))


def test_ranking_scores_by_hand():
    """Correct at ranks 2 and 4 of 4; no correct answer.

    P@1 0, average precision (1/2 + 2/4) / 2 = 0.5, reciprocal rank 0.5; then 0, 0, 0.
    Means over both questions: 0, 0.25, 0.25.
    """
    assert ranking_scores([[0, 1, 0, 1], [0, 0]]) == {"p_at_1": 0.0, "map": 0.25, "mrr": 0.25}


def test_map_is_that_of_scikit_learn():
    """Its label ranking average precision is the mean of (correct answers up to a correct one) / rank."""
    rng = np.random.default_rng(0)
    labels = (rng.random((50, 12)) < 0.3).astype(int)
    labels[:, 0] = 1
    expected = label_ranking_average_precision_score(labels, np.tile(np.arange(12, 0, -1), (50, 1)))
    labels_scores = ranking_scores(labels)
    assert labels_scores["map"] == pytest.approx(expected)
    assert labels_scores["p_at_1"] == labels_scores["mrr"] == 1


def test_mrr_is_map_with_one_correct_answer():
    """With one correct answer a question both are 1 / rank."""
    rankings = [np.arange(9) == place for place in (0, 3, 8, 2)]
    scores = ranking_scores(rankings)
    assert scores["mrr"] == pytest.approx(scores["map"]) == pytest.approx((1 + 1 / 4 + 1 / 9 + 1 / 3) / 4)


def test_usable_questions_have_both_kinds():
    assert [is_usable(labels) for labels in ([1, 0], [1, 1], [0, 0], [1], np.array([0, 1]))] == [1, 0, 0, 0, 1]


def test_rank_agreement_by_hand():
    """Errors 0.1, 0, 0.1.

    RMSE: root of 0.02 / 3. Pairs (1, 2), (1, 3) agree, (2, 3) is tied in the estimates: tau-b
    2 / root of (2 * 3).
    """
    agreement = rank_agreement([0.3, 0.5, 0.5], [0.2, 0.5, 0.6])
    assert agreement.rmse == pytest.approx(math.sqrt(0.02 / 3))
    assert agreement.std == pytest.approx(np.std([0.1, 0, 0.1]))
    assert agreement.tau == pytest.approx(2 / math.sqrt(6))


def test_six_systems_in_the_same_order_have_the_papers_p():
    """Table 5: tau 1.000, p 0.003: 2 of the 720 orders of six systems are as extreme."""
    true = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    agreement = rank_agreement([value**2 for value in true], true)
    assert (agreement.tau, agreement.p) == pytest.approx((1, 2 / 720))


def test_equal_systems_have_no_tau():
    assert math.isnan(rank_agreement([0.5, 0.5], [0.4, 0.6]).tau)
