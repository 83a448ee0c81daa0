"""Bootstrap, paired tests and ranks: held against sacrebleu, scipy and exact counts, and simulated."""

from itertools import combinations

import numpy as np
import pytest
from genqa_metrics.statistics import resampling
from genqa_metrics.statistics.resampling import influences, paired_tests
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from scipy import stats

from training.resampling import bootstrap, interval


def mean(sums):
    """The score of a mean: the last of the statistics counts the rows."""
    return sums[..., 0] / sums[..., 1]


def with_count(scores):
    """(rows, systems) scores -> (rows, systems, 2) statistics."""
    return np.stack([scores, np.ones_like(scores)], axis=2)


def studentized(statistics, score, pairs, samples=2000, seed=0):
    """Return the tests of `compare`."""
    total, first, second = statistics.sum(axis=0), *np.array(pairs).T
    values, moves = score(total), influences(score(total - statistics))
    draws, nowhere = resampling.bootstrap_counts(len(statistics), samples, seed), np.full(len(pairs), np.inf)
    differences = values[first] - values[second], moves[:, first] - moves[:, second]
    return paired_tests(*differences, len(statistics), nowhere, draws)


def bootstrap_scores(statistics, score, samples=2000, seed=0):
    values = {"score": lambda counts: score(np.tensordot(counts, statistics, 1))}
    return bootstrap(values, len(statistics), samples, seed)["score"]


WORDS = "a the cat dog sat ran on under mat tree red old quick to of and seven four".split()


@pytest.fixture(scope="module")
def translations():
    """Four systems on 120 segments: the second is a little worse than the first, the third much worse."""
    rng = np.random.default_rng(5)
    references = [list(rng.choice(WORDS, rng.integers(5, 15))) for _ in range(120)]
    systems = []
    for noise in (0.25, 0.26, 0.45, 0.29):
        systems.append(
            [" ".join(rng.choice(WORDS) if rng.random() < noise else w for w in text) for text in references]
        )
    return systems, [[" ".join(text) for text in references]]


@pytest.fixture(scope="module")
def bleu(translations):
    """Statistics of BLEU per segment, (rows, systems, k), and its score from sums of them."""
    systems, references = translations
    metric = BLEU()
    statistics = np.stack([metric._extract_corpus_statistics(texts, references) for texts in systems], axis=1)

    def score(sums):
        flat = sums.reshape(-1, sums.shape[-1])
        scores = [metric._compute_score_from_stats(row.tolist()).score for row in flat]
        return np.reshape(scores, sums.shape[:-1])

    return statistics.astype(float), score


def test_studentized_test_agrees_with_sacrebleu(translations, bleu):
    """Approximate randomization on BLEU is another test, but of symmetric differences p is about the same."""
    systems, references = translations
    statistics, score = bleu
    named = list(zip("abc", systems[:3], strict=True))
    _, theirs = PairedTest(named, {"bleu": BLEU()}, references, test_type="ar", n_samples=4000)()
    ours = studentized(statistics, score, [(0, 1), (0, 2)], samples=4000).p_values
    assert ours == pytest.approx([result.p_value for result in theirs["BLEU"][1:]], abs=0.06)
    assert ours[1] == pytest.approx(1 / 4001)
    assert 0.05 < ours[0] < 0.95


def test_studentized_test_of_means_is_about_that_of_students_t():
    """Of 60 differences without skew."""
    scores = np.random.default_rng(1).random((60, 2)) + np.array([0.06, 0.0])
    tests = studentized(with_count(scores), mean, [(0, 1)], 20_000)
    expected = stats.ttest_rel(scores[:, 0], scores[:, 1])
    assert tests.p_values[0] == pytest.approx(expected.pvalue, abs=0.02)
    low, high = tests.limits(np.array([0.05]))
    assert (low[0], high[0]) == pytest.approx(expected.confidence_interval(), abs=0.01)


def test_an_interval_leaves_out_0_exactly_where_p_is_below_the_level():
    rng, seen = np.random.default_rng(4), set()
    for rows in (6, 10, 40):
        for skew in (0.0, 0.1, 0.5):
            scores = np.clip(rng.normal(0.5, 0.1, (rows, 30)) + 0.4 * (rng.random((rows, 30)) < skew), 0, 1)
            total = with_count(scores).sum(axis=0)
            moves = influences(mean(total - with_count(scores)))
            pairs = np.array(list(combinations(range(30), 2)))
            differences = mean(total)[pairs[:, 0]] - mean(total)[pairs[:, 1]]
            apart = moves[:, pairs[:, 0]] - moves[:, pairs[:, 1]]
            bound = np.where(np.arange(len(pairs)) % 2, 1.0, np.inf)
            tests = paired_tests(differences, apart, rows, bound, resampling.bootstrap_counts(rows, 500, 0))
            for level in (0.05, 0.01):
                low, high = tests.limits(np.full(len(pairs), level))
                clear = (low > 0) | (high < 0)
                assert (clear == (tests.p_values < level)).all()
                seen |= set(clear.tolist())
    assert seen == {True, False}


def test_intervals_of_means_are_those_of_scipy():
    rng = np.random.default_rng(3)
    scores = rng.beta(2, 5, (80, 2))
    drawn = bootstrap_scores(with_count(scores), mean, 20_000)
    expanded = 1 - 2 * stats.norm.cdf(-np.sqrt(80 / 79) * stats.t.ppf(0.975, 79))
    assert 0.95 < expanded < 0.96
    wanted = {"method": "percentile", "n_resamples": 20_000, "confidence_level": expanded, "rng": 4}
    for system in (0, 1):
        theirs = stats.bootstrap((scores[:, system],), np.mean, **wanted)
        ends = interval(drawn[:, system], 80)
        assert ends == pytest.approx(theirs.confidence_interval, abs=0.0015)
    wanted |= {"paired": True, "statistic": lambda a, b, axis: np.mean(a - b, axis=axis)}
    theirs = stats.bootstrap((scores[:, 0], scores[:, 1]), **wanted)
    assert interval(drawn[:, 0] - drawn[:, 1], 80) == pytest.approx(theirs.confidence_interval, abs=0.0025)


def test_the_interval_of_few_rows_is_expanded_by_hand():
    """6 rows: t of 5 degrees is 2.5706, times the root of 6 / 5 2.8159, above which a normal has 0.24%."""
    low, high = interval(np.linspace(0, 1, 100_001), 6)
    assert (low, high) == pytest.approx((0.002432, 0.997568), abs=2e-5)


@pytest.mark.parametrize("weights", [resampling.bootstrap_counts, resampling.swaps])
def test_sums_over_chunks(weights, monkeypatch):
    """Every sample has all rows, whichever chunk it is in; the same seed gives the same."""
    whole = np.concatenate(list(weights(37, 100, 7)))
    monkeypatch.setattr(resampling, "_CELLS", 37 * 9)
    chunks = list(weights(37, 100, 7))
    assert [len(chunk) for chunk in chunks] == [9] * 11 + [1]
    assert weights is resampling.swaps or (np.concatenate(chunks) == whole).all()


def test_holm_by_hand():
    """Sorted 0.01, 0.02, 0.02, 0.5 times 4, 3, 2, 1: 0.04, 0.06, 0.04 -> 0.06, 0.5."""
    found = resampling.adjust_p_values(np.array([0.02, 0.5, 0.01, 0.02]))
    assert found.tolist() == pytest.approx([0.06, 0.5, 0.04, 0.06])
    assert resampling.adjust_p_values([0.01, np.nan, 0.02]) == pytest.approx([0.02, np.nan, 0.02], nan_ok=True)
    assert resampling.adjust_p_values([]).tolist() == []
    assert resampling.adjust_p_values(np.array([0.9, 0.8])).tolist() == [1, 1]


def test_ranks_by_hand():
    """B beats A and D, C beats D; A, B, C, D score 3, 4, 3.5, 1.

    Ranked B C A D. After B: does B beat C? No. After C: do B and C beat A and D? C does not beat A. After A: A does
    not beat D. So there is one cluster. Ranks: B 1 to 4 - 2, C 1 to 4 - 1, A 2 to 4, D 3 to 4.
    """
    better = np.zeros((4, 4), dtype=bool)
    better[1, [0, 3]] = better[2, 3] = True
    clusters, ranks = resampling.ranking(np.array([3.0, 4.0, 3.5, 1.0]), better)
    assert clusters == [1, 1, 1, 1]
    assert ranks == [(2, 4), (1, 2), (1, 3), (3, 4)]
    better[0, 3] = True  # now all three beat D
    clusters, ranks = resampling.ranking(np.array([3.0, 4.0, 3.5, 1.0]), better)
    assert clusters == [1, 1, 1, 2]
    assert ranks == [(2, 3), (1, 2), (1, 3), (4, 4)]


def test_of_bounded_scores_the_widest_distribution_bounds_p_and_the_largest_difference_adds_to_the_error():
    """A mean difference of .9 within 1: at most 30 * 1.9 / 2 = 28.5 of 30 questions in favour.

    100 samples show no p below 1 / 101; that of the widest distribution is a binomial tail, 2 P(share of 1/2).
    """
    influence = np.random.default_rng(0).normal(0, 0.3, (30, 1))
    influence -= influence.mean()
    draws = list(resampling.bootstrap_counts(30, 100, 0))
    bounded, unbounded = (paired_tests(np.array([0.9]), influence, 30, np.array([b]), draws) for b in (1.0, np.inf))
    assert unbounded.p_values[0] == pytest.approx(1 / 101)
    assert bounded.p_values[0] == pytest.approx(2 * stats.beta.cdf(0.5, 28.5, 30 - 28.5 + 1))
    error = influence.std(ddof=1) / 30**0.5
    assert unbounded.spread[0] == pytest.approx(error)
    assert bounded.spread[0] == pytest.approx((error**2 + (1 / 30) ** 2) ** 0.5)
    scaled = paired_tests(np.array([4.5]), 5 * influence, 30, np.array([5.0]), draws)
    assert scaled.p_values[0] == pytest.approx(bounded.p_values[0])
    assert scaled.spread[0] == pytest.approx(5 * bounded.spread[0])
    # At a level of .015 one sample of 100 may surpass the statistic: the limit is the largest one's.
    largest = unbounded.largest[0, 0] * error
    assert np.ravel(unbounded.limits(np.array([0.015]))) == pytest.approx([0.9 - largest, 0.9 + largest], rel=1e-5)
    # At a level of .005, which 100 samples cannot show, the limit is Clopper and Pearson's alone.
    low, _ = bounded.limits(np.array([0.005]))
    assert low[0] == pytest.approx(2 * stats.beta.ppf(0.0025, 28.5, 30 - 28.5 + 1) - 1)
