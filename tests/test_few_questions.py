"""Repeated and few questions: how often tests find a difference that is not there, and how often intervals hold.

Rows of one question are alike, for every system in its own way. The short simulations run in every test run, the
longer ones behind the marker `slow`; `pytest -s` prints the shares.
"""

import json

import numpy as np
import pytest
from genqa_metrics.aev import scoring
from genqa_metrics.core.scorer import Scorer
from genqa_metrics.statistics import correlation, resampling
from genqa_metrics.statistics.intervals import kish
from genqa_metrics.verbs.compare.analysis import Column, analyse
from scipy import stats

from tests.factories.files import run, save


class Aev(Scorer):
    """AEv of sums of statistics: a score of a corpus that is no mean of its rows."""

    names = row_names = significance_scores = ("aev",)

    def __init__(self):
        pass

    def corpus_scores(self, sums, count):
        raise NotImplementedError

    def resampled_scores(self, sums, counts):
        return {"aev": scoring.scores(sums, scoring.Settings())["aev"]}

    def row_scores(self, statistics):
        return {"aev": scoring.scores(statistics, scoring.Settings())["aev"]}


def verdicts(rng, questions, systems, share, alike=0.6):
    """Return (rows, systems, 2) verdicts of equally good systems; `questions` has the question of every row."""
    number = questions.max() + 1
    of_question = rng.standard_normal((number, 1)) + rng.standard_normal((number, systems))
    noise = rng.standard_normal((len(questions), systems))
    right = np.sqrt(alike / 2) * of_question[questions] + np.sqrt(1 - alike) * noise < stats.norm.ppf(share)
    return np.stack([right, np.ones_like(right)], axis=2).astype(float)


def texts(rng, questions, systems, share):
    """Return (rows, systems, 11) statistics of AEv; the quality of an answer is near that of its question."""
    number = questions.max() + 1
    quality = np.clip(rng.beta(2, 2, (number, 1)) + 0.15 * rng.standard_normal((number, systems)), 0.02, 0.98)
    theirs = rng.integers(1, 9, (number, 1)).repeat(systems, axis=1)[questions]
    lengths = rng.integers(3, 11, theirs.shape)
    words = rng.binomial(np.minimum(lengths, theirs), quality[questions])
    bigrams = rng.binomial(np.maximum(words - 1, 0), 0.6)
    columns = [lengths, theirs, np.zeros_like(words), words, lengths, words, theirs]
    columns += [bigrams, lengths - 1, bigrams, theirs - 1, np.ones_like(words)]
    return np.stack(columns, axis=2).astype(float)


def repeated(questions, rows, uneven=False, seed=0):
    """Return (rows,) the question of every row."""
    sizes = np.random.default_rng(seed).integers(1, 2 * rows, questions) if uneven else np.full(questions, rows)
    return np.repeat(np.arange(questions), sizes)


def simulated(world, scorer, questions, systems, repeats, share=0.6):
    """Return shares: of runs with a significant difference, and of intervals of scores and differences that hold."""
    name = scorer.significance_scores[0]
    large = world(np.random.default_rng(99), np.arange(200_000), 1, share).sum(axis=(0, 1))
    truth = scorer.resampled_scores(large[:-1], large[-1])[name] if isinstance(scorer, Aev) else share
    wrong, held, apart = [], [], []
    for seed in range(repeats):
        made = world(np.random.default_rng([seed, len(questions)]), questions, systems, share)
        labels = [f"s{i}" for i in range(systems)]
        found = analyse(labels, {"x": scorer}, {"x": made}, 200, seed, questions=questions)["x"]
        pairs = found["tests"][name]["pairs"]
        wrong.append(any(pair["p_corrected"] < 0.05 for pair in pairs))
        held += [own["low"] <= truth <= own["high"] for own in found["scores"][name].values()]
        apart += [pair["difference"]["low"] <= 0 <= pair["difference"]["high"] for pair in pairs]
    shares = {"false positives": np.mean(wrong), "scores": np.mean(held), "differences": np.mean(apart)}
    print(f"\n{len(questions)} rows, {questions.max() + 1} questions, {systems} systems, {share}: {shares}")
    return shares


QUICK = [(12, 10, 2), (20, 5, 5), (8, 10, 2), (40, 5, 2)]


@pytest.mark.parametrize(("number", "rows", "systems"), QUICK)
def test_repeated_questions_are_not_taken_for_independent_ones(number, rows, systems):
    """By rows 25 to 51% of such runs had a false finding, and intervals held in 72%."""
    shares = simulated(verdicts, Column("x"), repeated(number, rows), systems, 60)
    assert shares["false positives"] <= 0.1
    assert shares["scores"] >= 0.88
    assert shares["differences"] >= 0.88


WORLDS = [
    *(
        (verdicts, Column("x"), *shape, share)
        for shape in ((5, 10), (8, 10), (20, 5), (30, 5))
        for share in (0.5, 0.9)
    ),
    *((verdicts, Column("x"), questions, 1, 0.95) for questions in (8, 20)),
    *((texts, Aev(), *shape, 0.6) for shape in ((8, 10), (20, 5), (40, 3), (150, 1))),
    (verdicts, Column("x"), 150, 1, 0.6),
]


@pytest.mark.slow
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize(("world", "scorer", "number", "rows", "share"), WORLDS)
def test_levels_and_intervals_hold(world, scorer, number, rows, share, uneven):
    """500 runs each: at most 7.5% false findings, and at least 91% of the intervals hold."""
    questions = repeated(number, rows, uneven)
    if uneven and (rows == 1 or kish(np.bincount(questions)) < resampling.MIN_ROWS):
        pytest.skip("each question has one row, or there is no interval")
    shares = simulated(world, scorer, questions, 2, 500, share)
    assert shares["false positives"] <= 0.075
    assert shares["scores"] >= 0.91
    assert shares["differences"] >= 0.91


@pytest.mark.parametrize("how", ["id", "question and references"])
def test_rows_with_the_text_of_a_question_are_one_cluster(tmp_path, how):
    """12 questions, 10 samples each: one system is better in 7 of 12 questions, in all samples of each."""
    paths = []
    for system in "ab":
        rows = [
            {"question": f"Question  {n}?" if k % 2 else f"question {n}?", "references": "r", "prediction": "r"}
            | {"x": float((n < 7) == (system == "a"))}
            | ({"id": f"{n} {k}"} if how == "id" else {})
            for n in range(12)
            for k in range(10)
        ]
        paths.append(save(tmp_path / f"{system}.jsonl", rows))
    out, _ = run("compare", *paths, "-c", "x", "--resamples", 400, "--format", "json")
    found = json.loads(out)
    assert (found["matched_by"], found["questions"], found["rows"]) == (how, 12, 120)
    assert found["notes"] == [
        "120 rows of 12 questions: rows of one question count together",
        "only 12 questions: only clear differences can be told from chance",
    ]
    (pair,) = found["metrics"]["x"]["tests"]["x"]["pairs"]
    assert pair["p"] > 0.5  # of 120 independent rows it would be 0.08
    assert pair["difference"]["low"] < -0.4 < 0.6 < pair["difference"]["high"]
    assert "12 questions in 120 rows of each" in run("compare", *paths, "-c", "x", "--format", "markdown")[0]


def test_a_question_with_most_of_the_rows_counts_as_one(tmp_path):
    """100 rows of one question and 100 of others are worth 200^2 / (100^2 + 100) = 4 equal questions."""
    rows = [{"id": n, "question": "same?" if n < 100 else f"{n}?", "x": n % 3 / 2} for n in range(200)]
    paths = [save(tmp_path / f"{system}.jsonl", rows) for system in "ab"]
    out, _ = run("compare", *paths, "-c", "x", "--resamples", 100, "--format", "json")
    said = "one question has 100 of 200 rows: all count as about 4 equal questions: too few for intervals"
    assert any(note.startswith(said) for note in json.loads(out)["notes"])


def test_limits_by_hand():
    """A mean of 4 values: the jackknife's error is s / 4^.5, Student's t with 3 degrees of freedom 3.182."""
    values = np.array([1.0, 2, 3, 6, 8])
    without = (values.sum() - values) / 4
    low, high = resampling.mean_interval(4.0, without, 5)
    assert (low, high) == pytest.approx(stats.t.interval(0.95, 4, 4.0, stats.sem(values)))
    assert np.isnan(resampling.mean_interval(4.0, without, 4.5)).all()
    assert np.isnan(resampling.correlation_interval(1.0, np.ones(9), 9)).all()


def judged(rng, questions, alike, binary):
    """Return (rows,) human scores and scores of a metric, which correlate by .7; `alike` is of rows of a question."""
    mixed = np.linalg.cholesky([[1, 0.7], [0.7, 1]]).T
    of_question, own = (rng.standard_normal((size, 2)) @ mixed for size in (questions.max() + 1, len(questions)))
    human, metric = (np.sqrt(alike) * of_question[questions] + np.sqrt(1 - alike) * own).T
    return ((human > -0.5).astype(float) if binary else human), metric


def agreement(number, rows, alike, binary, repeats):
    """Return the shares of intervals of Pearson's and Spearman's correlation that hold the truth."""
    kinds = ("pearson", "spearman")
    large = judged(np.random.default_rng(99), np.arange(200_000), 0.0, binary)
    truth = {kind: getattr(correlation, kind)(*large) for kind in kinds}
    questions, held = repeated(number, rows), {kind: [] for kind in kinds}
    for seed in range(repeats):
        human, metric = judged(np.random.default_rng([seed, number]), questions, alike, binary)
        draw = resampling.Resampler(questions, 200, seed)
        sampled = {
            kind: lambda counts, kind=kind, pair=(human, metric): getattr(correlation, f"resampled_{kind}")(
                *pair, counts
            )
            for kind in kinds
        }
        for kind, samples in draw.values(sampled).items():
            low, high = draw.limits("correlation", getattr(correlation, kind)(human, metric), samples)
            held[kind].append(low <= truth[kind] <= high)
    shares = {kind: np.mean(found) for kind, found in held.items()}
    print(f"\n{number} questions, {rows} rows of each, alike {alike}, binary {binary}: {shares}")
    return shares


@pytest.mark.parametrize(("number", "rows"), [(10, 10), (20, 5), (40, 3)])
def test_intervals_of_correlations_hold_with_repeated_questions(number, rows):
    """By rows 55 to 60% of the intervals held."""
    assert min(agreement(number, rows, 0.5, False, 60).values()) >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("alike", [0.0, 0.5, 0.9])
@pytest.mark.parametrize(("number", "rows"), [(10, 10), (20, 5), (29, 3)])
def test_few_questions_hold_correlations(number, rows, alike, binary):
    assert min(agreement(number, rows, alike, binary, 400).values()) >= 0.9
