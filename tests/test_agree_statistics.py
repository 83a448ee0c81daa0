"""The statistics under `genqa-metrics agree`: against scipy, scikit-learn and published examples."""

import itertools
import warnings

import numpy as np
import pytest
from genqa_metrics.statistics import correlation, resampling, thresholds
from genqa_metrics.statistics.intervals import wilson
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, brier_score_loss, roc_auc_score

from training.resampling import resampled_auc, resampled_spearman

warnings.filterwarnings("error", module="genqa_metrics")


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def tied_sample(rng, rows=80):
    x = np.round(rng.normal(size=rows), 1)
    return x, np.round(x + rng.normal(size=rows))


RESAMPLED = {
    correlation.resampled_pearson: lambda x, y: stats.pearsonr(x, y).statistic,
    resampled_spearman: lambda x, y: stats.spearmanr(x, y).statistic,
    correlation.resampled_kendall: lambda x, y: stats.kendalltau(x, y).statistic,
}


@pytest.mark.parametrize("resampled", RESAMPLED, ids=lambda f: f.__name__)
def test_resampled_correlations_are_those_of_the_drawn_rows(rng, resampled):
    x, y = tied_sample(rng)
    counts = next(resampling.bootstrap_counts(80, 20, seed=3))
    found = resampled(x, y, counts)
    for sample, value in zip(counts, found, strict=True):
        drawn = np.repeat(np.arange(80), sample.astype(int))
        assert value == pytest.approx(RESAMPLED[resampled](x[drawn], y[drawn]), abs=1e-12)


def test_resampled_auc_is_that_of_scikit_learn(rng):
    scores, positive = np.round(rng.random(60), 1), rng.random(60) < 0.4
    counts = next(resampling.bootstrap_counts(60, 20, seed=1))
    for sample, value in zip(counts, resampled_auc(scores, positive, counts), strict=True):
        assert value == pytest.approx(roc_auc_score(positive, scores, sample_weight=sample), abs=1e-12)


@pytest.mark.parametrize("resampled", RESAMPLED, ids=lambda f: f.__name__)
def test_constant_sides_are_not_defined(resampled):
    counts = next(resampling.bootstrap_counts(12, 30, seed=0))
    assert np.isnan(resampled(np.full(12, 0.1), np.arange(12.0), counts)).all()
    assert np.isnan(resampled(np.arange(12.0), np.full(12, 1 / 3), counts)).all()
    one_differs = np.append(np.full(11, 0.3), 0.7)
    missing = counts[:, -1] == 0
    assert missing.any()
    assert (np.isnan(resampled(one_differs, np.arange(12.0), counts)) == missing).all()


def test_resamples_draw_whole_clusters_and_keep_their_number(rng):
    clusters = rng.integers(25, size=100)
    clusters = np.unique(clusters, return_inverse=True)[1]
    counts = np.concatenate(list(resampling.bootstrap_counts(clusters, 50, seed=5)))
    size = clusters.max() + 1
    first = np.array([np.flatnonzero(clusters == c)[0] for c in range(size)])
    assert (counts == counts[:, first][:, clusters]).all()
    assert (counts[:, first].sum(axis=1) == size).all()
    assert counts.shape == (50, 100)


def test_permutations_are_those_of_the_definition(rng):
    """Eight questions of two answers each: all 2^8 ways to swap, by plain loops, against 20,000 drawn ones."""
    clusters = np.repeat(np.arange(8), 2)
    human = rng.normal(size=16)
    x, y = human + rng.normal(size=16), human + 2 * rng.normal(size=16)
    standard_x, standard_y = stats.zscore(x), stats.zscore(y)

    def difference(a, b):
        return abs(stats.pearsonr(a, human).statistic - stats.pearsonr(b, human).statistic)

    observed, extreme = difference(x, y), 0
    for swapped in itertools.product([False, True], repeat=8):
        swap = np.array(swapped)[clusters]
        a, b = np.where(swap, standard_y, standard_x), np.where(swap, standard_x, standard_y)
        extreme += difference(a, b) >= observed - 1e-12
    (p,) = correlation.permutation_p(x[None], y[None], human, clusters, 20_000, seed=0)
    assert p == pytest.approx(extreme / 2**8, abs=0.012)


def test_permutations_of_pairs_at_once_and_of_constant_sides(rng):
    scores = rng.normal(size=(3, 50))
    scores[2] = 1.0
    human, clusters = rng.normal(size=50), np.arange(50)
    pairs = [(0, 1), (0, 2), (1, 0)]
    x, y = (scores[[pair[side] for pair in pairs]] for side in (0, 1))
    found = correlation.permutation_p(x, y, human, clusters, 500, seed=1)
    alone = correlation.permutation_p(x[:1], y[:1], human, clusters, 500, seed=1)
    assert found[0] == alone[0] == found[2]
    assert np.isnan(found[1])
    assert np.isnan(correlation.permutation_p(x, y, np.ones(50), clusters, 500, seed=1)).all()


def test_answer_pairs_are_those_of_the_definition(rng):
    questions, human = rng.integers(6, size=40).tolist(), np.round(rng.random(40), 1)
    systems = rng.integers(3, size=40).tolist()
    for names in (None, systems):
        expected = {
            (i, j)
            for i in range(40)
            for j in range(40)
            if questions[i] == questions[j] and human[i] - human[j] > 0.3 and (not names or names[i] != names[j])
        }
        better, worse = correlation.answer_pairs(questions, names, human, 0.3)
        assert set(zip(better.tolist(), worse.tolist(), strict=True)) == expected
        assert len(better) == len(expected) > 5


def test_system_pairs_leave_out_equal_human_scores():
    """Systems 1 and 2 are equal to the humans; of the other two pairs the metric has one, and calls one a tie."""
    assert correlation.system_pairs(np.array([0.5, 0.5, 0.9]), np.array([0.2, 0.7, 0.7])) == (1, 2)


def test_best_threshold_is_the_best_of_all(rng):
    scores, positive = np.round(rng.random(50), 1), rng.random(50) < 0.3
    threshold, value = thresholds.best_threshold(scores, positive)
    values = {limit: accuracy_score(positive, scores >= limit) for limit in [np.inf, *np.unique(scores)]}
    assert value == pytest.approx(max(values.values()))
    assert threshold == max(limit for limit, v in values.items() if v == pytest.approx(value))


def test_held_out_questions_stay_together():
    """Every question has one label and one score of its own: seen in training, it would be known."""
    clusters = np.repeat(np.arange(10), 4)
    positive = clusters % 2 == 0
    scores = np.where(positive, 0.9, 0.1)
    assert thresholds.held_out(scores, positive, clusters, seed=0) == 1.0
    only_one = np.repeat(np.arange(2), 20)
    labels = only_one == 0
    assert np.isnan(thresholds.held_out(scores, labels, only_one, seed=0))


def test_calibration_is_that_of_scikit_learn(rng):
    scores = rng.random(300)
    positive = rng.random(300) < scores**2
    scores[:3] = 0.0, 1.0, 0.95
    found = thresholds.calibration(scores, positive)
    share, mean = calibration_curve(positive, scores, n_bins=10)
    assert [b["correct"] for b in found["bins"]] == pytest.approx(share.tolist())
    assert [b["score"] for b in found["bins"]] == pytest.approx(mean.tolist())
    rows = np.array([b["rows"] for b in found["bins"]])
    assert rows.sum() == 300
    assert found["ece"] == pytest.approx((rows * np.abs(share - mean)).sum() / 300)
    assert found["brier"] == pytest.approx(brier_score_loss(positive, scores))


def test_kendall_of_many_rows_is_that_of_few_and_takes_fractions_of_rows(rng, monkeypatch):
    """Above `_MAX_SIGNS` rows scipy computes every resample; a row that counts 0.4 was left out there."""
    x, y = tied_sample(rng)
    counts = next(resampling.bootstrap_counts(80, 20, seed=0))
    counts[:4, :10] += 0.4
    few = correlation.resampled_kendall(x, y, counts)
    monkeypatch.setattr(correlation, "_MAX_SIGNS", 79)
    assert correlation.resampled_kendall(x, y, counts) == pytest.approx(few)
    assert np.isnan(correlation.resampled_kendall(x, np.ones(80), np.full((1, 80), 0.5)))


@pytest.mark.parametrize("repeats", [1, 2])
def test_limits_count_errors_that_were_not_seen(repeats):
    """20 right and 20 wrong answers, all judged rightly: r is 1, but -log(.025) = 3.69 questions can be unseen errors.

    With two rows a question these are twice as many rows.
    """
    scores = np.repeat([1.0, 0.0], 20 * repeats)
    low, high = correlation.correlation_limits("pearson", scores, scores, np.arange(40 * repeats) // repeats)
    weights = np.append(np.ones(40 * repeats), 3.688879 * repeats)
    covariance = np.cov(np.append(scores, 1), np.append(scores, 0), aweights=weights, ddof=0)
    assert low == pytest.approx(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]), abs=1e-5)
    assert high == pytest.approx(1)


def test_limits_of_an_area_are_wilsons_with_delongs_variance(rng):
    """By loops over pairs: of 25 right and 40 wrong answers, each its own question."""
    positive = np.arange(65) < 25
    scores = np.round(rng.normal(size=65) + positive, 1)
    above = np.array([[(p > n) + (p == n) / 2 for n in scores[~positive]] for p in scores[positive]])
    area = above.mean()
    of_right, of_wrong = above.mean(axis=1), above.mean(axis=0)
    variance = ((of_right - area) ** 2).sum() / 25**2 + ((of_wrong - area) ** 2).sum() / 40**2
    variance = variance * 25 / 24 + 0.1 * (area**2 + (1 - area) ** 2) * (1 / 25**2 + 1 / 40**2)
    low, high = wilson(area, max(area * (1 - area) / variance, 25), 1.959964)
    assert correlation.auc_limits(scores, positive, np.arange(65)) == pytest.approx((area, float(low), float(high)))


@pytest.mark.parametrize(("kind", "variance"), [("pearson", 1), ("spearman", 1.06), ("kendall", 0.437)])
def test_limits_are_never_narrower_than_of_normal_scores(kind, variance):
    """200 questions: half the width in Fisher's z is about t times the standard error of normal scores, or more."""
    scores = np.arange(200.0)
    noisy = scores + 40 * np.random.default_rng(0).normal(size=200)
    low, high = correlation.correlation_limits(kind, scores, noisy, np.arange(200))
    half = stats.t.ppf(0.975, 199) * (variance / 197) ** 0.5
    assert np.arctanh(high) - np.arctanh(low) >= 2 * half - 1e-9
    assert np.arctanh(high) - np.arctanh(low) < 2.4 * half


def test_limits_of_spearman_are_of_ranks(rng):
    """A monotone change of the scores changes those of Pearson's r, and not those of rho and tau."""
    x = rng.normal(size=50)
    y = x + rng.normal(size=50)
    for kind in ("pearson", "spearman", "kendall"):
        same, changed = (correlation.correlation_limits(kind, side, y, np.arange(50)) for side in (x, np.exp(3 * x)))
        assert (changed == pytest.approx(same)) == (kind != "pearson")
