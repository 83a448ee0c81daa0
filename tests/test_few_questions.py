"""Repeated and few questions: how often tests find a difference that is not there, and how often intervals hold.

Rows of one question are alike, for every system in its own way. The short simulations run in every test run, the
longer ones behind the marker `slow`.
"""

import json

import numpy as np
import pytest
from genqa_metrics.statistics import correlation
from genqa_metrics.verbs.compare.analysis import Column, Compared, analyse
from scipy import stats

from tests.factories.files import run, save


def verdicts(rng, questions, systems, share, alike=0.6):
    """Return (rows, systems, 2) verdicts of equally good systems; `questions` has the question of every row."""
    number = questions.max() + 1
    of_question = rng.standard_normal((number, 1)) + rng.standard_normal((number, systems))
    noise = rng.standard_normal((len(questions), systems))
    right = np.sqrt(alike / 2) * of_question[questions] + np.sqrt(1 - alike) * noise < stats.norm.ppf(share)
    return np.stack([right, np.ones_like(right)], axis=2).astype(float)


def repeated(questions, rows):
    """Return (rows,) the question of every row."""
    return np.repeat(np.arange(questions), rows)


# Repeats, the most runs with a false finding, and the least intervals that hold.
LIMITS = [(60, 0.1, 0.88), pytest.param(500, 0.075, 0.91, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("repeats", "most", "least"), LIMITS)
@pytest.mark.parametrize(("number", "rows", "systems"), [(12, 10, 2), (20, 5, 5), (8, 10, 2), (40, 5, 2)])
def test_repeated_questions_are_not_taken_for_independent_ones(number, rows, systems, repeats, most, least):
    """By rows 25 to 51% of such runs had a false finding, and intervals held in 72%."""
    questions, share, wrong, held, apart = repeated(number, rows), 0.6, [], [], []
    for seed in range(repeats):
        made = verdicts(np.random.default_rng([seed, len(questions)]), questions, systems, share)
        labels = [f"s{i}" for i in range(systems)]
        found = analyse(Compared(labels, {"x": Column("x")}, {"x": made}, questions, {}, 200, seed))["x"]
        pairs = found["tests"]["x"]["pairs"]
        wrong.append(any(pair["p_corrected"] < 0.05 for pair in pairs))
        held += [own["low"] <= share <= own["high"] for own in found["scores"]["x"].values()]
        apart += [pair["difference"]["low"] <= 0 <= pair["difference"]["high"] for pair in pairs]
    assert np.mean(wrong) <= most
    assert np.mean(held) >= least
    assert np.mean(apart) >= least


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
    assert pair["p_uncorrected"] > 0.5  # of 120 independent rows it would be 0.08
    assert pair["difference"]["low"] < -0.4 < 0.6 < pair["difference"]["high"]
    assert "12 questions in 120 rows of each" in run("compare", *paths, "-c", "x", "--format", "markdown")[0]


def test_a_question_with_most_of_the_rows_counts_as_one(tmp_path):
    """100 rows of one question and 100 of others are worth 200^2 / (100^2 + 100) = 4 equal questions."""
    rows = [{"id": n, "question": "same?" if n < 100 else f"{n}?", "x": n % 3 / 2} for n in range(200)]
    paths = [save(tmp_path / f"{system}.jsonl", rows) for system in "ab"]
    out, _ = run("compare", *paths, "-c", "x", "--resamples", 100, "--format", "json")
    said = "one question has 100 of 200 rows: all count as about 4 equal questions: too few for intervals"
    assert any(note.startswith(said) for note in json.loads(out)["notes"])


def judged(rng, questions, alike):
    """Return (rows,) human scores and scores of a metric, which correlate by .7; `alike` is of rows of a question."""
    mixed = np.linalg.cholesky([[1, 0.7], [0.7, 1]]).T
    of_question, own = (rng.standard_normal((size, 2)) @ mixed for size in (questions.max() + 1, len(questions)))
    return (np.sqrt(alike) * of_question[questions] + np.sqrt(1 - alike) * own).T


@pytest.mark.parametrize(
    ("number", "rows", "repeats", "least"),
    [(10, 10, 60, 0.85), (40, 3, 60, 0.85), pytest.param(20, 5, 200, 0.9, marks=pytest.mark.slow)],
)
def test_intervals_of_correlations_hold_with_repeated_questions(number, rows, repeats, least):
    """By rows 55 to 60% of the intervals held."""
    large = judged(np.random.default_rng(99), np.arange(200_000), 0.0)
    truth = {kind: getattr(correlation, kind)(*large) for kind in ("pearson", "spearman", "kendall")}
    questions, held = repeated(number, rows), []
    for seed in range(repeats):
        human, metric = judged(np.random.default_rng([seed, number]), questions, 0.5)
        for kind in ("pearson", "spearman", "kendall"):
            low, high = correlation.correlation_limits(kind, human, metric, questions)
            held.append(low <= truth[kind] <= high)
    assert np.mean(held) >= least
