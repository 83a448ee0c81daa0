"""Tests of the accuracy of a system with its interval, and of the measures of ranked answers."""

import math

import numpy as np
import pytest
from genqa_metrics.statistics.estimation import (
    TOGETHER,
    AccuracyEstimate,
    accuracy_differences,
    cluster_sums,
    prediction_powered,
)
from genqa_metrics.statistics.intervals import Counts, rogan_gladen, wilson
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from tests.factories.cases import with_cases
from tests.programs.interval_simulations import paired_systems
from training.ava.ranking import rank_agreement, ranking_scores

ACCURACIES = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
JUDGES = ((0.9, 0.8), (0.95, 0.9), (0.85, 0.7), (0.97, 0.95))  # sensitivity, specificity
SAMPLES = 10_000  # standard error of a coverage of 95%: 0.2%


def covers(truth, low, high) -> float:
    return float(((low <= truth) & (truth <= high)).mean())


def ours(human, judged, unlabelled, confidence=0.95):
    """Return the estimate for labels drawn by chance from all rows."""
    labels = np.r_[np.asarray(human, dtype=float), np.full(len(unlabelled), np.nan)]
    chance = np.full(len(labels), len(human) / len(labels))
    return prediction_powered(np.r_[judged, unlabelled], labels, chance, confidence=confidence)


@pytest.mark.parametrize("number", [100, 200, 400])
@pytest.mark.parametrize("share", [*ACCURACIES, 0.03, 0.1])
def test_wilson_covers_the_share_judged_correct(number, share):
    """Exact: the probability of each possible count, summed over those whose interval holds the share."""
    counts = np.arange(number + 1)
    low, high = wilson(counts / number, number, stats.norm.ppf(0.975))
    holds = (low <= share) & (share <= high)
    assert stats.binom.pmf(counts, number, share)[holds].sum() == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("wrong", range(1, 6))
@pytest.mark.parametrize("number", [100, 270, 1000])
def test_limits_of_few_errors_mirror_those_of_few_right_answers(wrong, number):
    low, high = wilson(wrong / number, number, stats.norm.ppf(0.975))
    other_low, other_high = wilson((number - wrong) / number, number, stats.norm.ppf(0.975))
    assert (1 - other_high, 1 - other_low) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(("accepted", "number", "confidence"), [(0, 7, 0.95), (4, 99, 0.95), (500, 500, 0.99)])
def test_wilson_is_that_of_statsmodels(accepted, number, confidence):
    expected = proportion_confint(accepted, number, 1 - confidence, method="wilson")
    assert wilson(accepted / number, number, stats.norm.ppf((1 + confidence) / 2)) == pytest.approx(expected)


def test_corrected_by_hand():
    """120 of 200 accepted, sensitivity 45/50, specificity 40/50.

    Estimate: (0.6 + 0.8 - 1) / (0.9 + 0.8 - 1) = 0.571. Interval:
    z**2 = 3.8415: share 121.92 / 203.84 = 0.5981, sensitivity 46/52, specificity 41/52, gain 0.6731, center
    (0.5981 + 0.7885 - 1) / 0.6731 = 0.5744; missed 0.8846 * 0.1154 / 52 = 0.001963, false 0.7885 * 0.2115 / 52 =
    0.003207; shift 7.683 * (0.5744 * 0.001963 - 0.4256 * 0.003207) = -0.00182; variance 0.5981 * 0.4019 / 203.84 +
    0.3299 * 0.001963 + 0.1811 * 0.003207 = 0.002408; half-width 1.96 * 0.04907 / 0.6731 = 0.1429.
    """
    estimate, low, high = rogan_gladen(120, 200, 45, 50, 40, 50)
    assert estimate == pytest.approx(0.4 / 0.7)
    assert (low, high) == pytest.approx((0.5726 - 0.1429, 0.5726 + 0.1429), abs=3e-4)


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(("number", "sample"), [(200, 100), (500, 200), (3000, 200), (1000, 500)])
def test_corrected_covers_the_accuracy(judge, number, sample):
    sensitivity, specificity = judge
    rng = np.random.default_rng(number + sample)
    for truth in ACCURACIES:
        share = truth * sensitivity + (1 - truth) * (1 - specificity)
        counts = ((number, share), (sample, sensitivity), (sample, specificity))
        drawn = [value for size, odds in counts for value in (rng.binomial(size, odds, SAMPLES), size)]
        _, low, high = rogan_gladen(*drawn)
        assert covers(truth, low, high) == pytest.approx(0.95, abs=0.02), truth


def test_a_judge_no_better_than_chance_tells_nothing():
    assert np.isnan(rogan_gladen(1, 2, 5, 10, 5, 10)).all()
    assert np.isnan(rogan_gladen(1, 2, 1, 1, 10, 1000)).all()


def test_errors_of_the_judge_do_not_move_the_estimate():
    """It accepts everything that is right, and half of what is wrong: the other answers are 1/3 wrong, not 1/6."""
    human, judged = [1, 1, 1, 1, 0, 0] * 100, [1, 1, 1, 1, 1, 0] * 100
    assert ours(human, judged, [1, 1, 1, 1, 1, 0] * 1000).value == pytest.approx(2 / 3)


@with_cases
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Counts(*arguments)


def test_rows_that_were_drawn_half_as_often_count_twice():
    """Two of 4 sure rows drawn with 1/2, both of 2 unsure ones with 1: (2 * 2 * 1 + 0 + 1) / (2 * 2 + 2) = 5/6."""
    judged = np.full(6, 0.5)
    labels = np.array([1, 1, np.nan, np.nan, 0, 1])
    found = prediction_powered(judged, labels, np.array([0.5, 0.5, 0.5, 0.5, 1, 1]))
    assert found.value == pytest.approx(5 / 6)


@pytest.mark.filterwarnings("error")
def test_all_rows_labelled_leave_nothing_to_the_judge():
    rng = np.random.default_rng(0)
    labels, judged = (rng.random(200) < 0.7).astype(float), rng.random(200)
    assert prediction_powered(judged, labels, np.ones(200)).value == pytest.approx(labels.mean())


def test_rows_of_one_question_are_one_cluster():
    """Every row five times: the interval is as wide as with each row once."""
    rng = np.random.default_rng(0)
    judged = rng.random(400)
    labels = np.where(np.arange(400) < 100, rng.random(400) < judged, np.nan)
    once = prediction_powered(judged, labels, np.full(400, 0.25))
    repeated = np.repeat(judged, 5), np.repeat(labels, 5), np.full(2000, 0.25)
    often, apart = prediction_powered(*repeated, np.repeat(np.arange(400), 5)), prediction_powered(*repeated)
    assert often.size == pytest.approx(once.size, rel=0.1)
    assert apart.size > 4 * once.size
    assert cluster_sums(np.ones((2, 3)), np.array([0, 1, 0])).tolist() == [[2, 1], [2, 1]]


def test_ranking_scores_by_hand():
    """Correct at ranks 2 and 4 of 4; no correct answer.

    P@1 0, average precision (1/2 + 2/4) / 2 = 0.5, reciprocal rank 0.5; then 0, 0, 0.
    Means over both questions: 0, 0.25, 0.25.
    """
    assert ranking_scores([[0, 1, 0, 1], [0, 0]]) == {"p_at_1": 0.0, "map": 0.25, "mrr": 0.25}


def test_rank_agreement_by_hand():
    """Errors 0.1, 0, 0.1.

    RMSE: root of 0.02 / 3. Pairs (1, 2), (1, 3) agree, (2, 3) is tied in the estimates: tau-b
    2 / root of (2 * 3).
    """
    agreement = rank_agreement([0.3, 0.5, 0.5], [0.2, 0.5, 0.6])
    assert agreement["rmse"] == pytest.approx(math.sqrt(0.02 / 3))
    assert agreement["std"] == pytest.approx(np.std([0.1, 0, 0.1]))
    assert agreement["tau"] == pytest.approx(2 / math.sqrt(6))


def test_six_systems_in_the_same_order_have_the_papers_p():
    """Table 5: tau 1.000, p 0.003: 2 of the 720 orders of six systems are as extreme."""
    true = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    agreement = rank_agreement([value**2 for value in true], true)
    assert (agreement["tau"], agreement["p"]) == pytest.approx((1, 2 / 720))


def test_the_difference_of_equal_systems_is_0():
    system = paired_systems(np.random.default_rng(1), 80, 600)[0]
    estimate = AccuracyEstimate(*map(float, (system.value, system.low, system.high)), TOGETHER, powered=system)
    (difference,) = accuracy_differences([estimate] * 2)
    assert difference["value"] == 0
    assert difference["low"] < 0 < difference["high"]
