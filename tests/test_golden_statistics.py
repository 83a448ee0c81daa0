"""Estimates, intervals and tests of seeded data, compared with earlier numbers: refactoring changes none of them.

The constants behind them come from simulations (tests/programs), which no formula checks. `python -m
tests.test_golden_statistics` writes the numbers again; CHANGELOG.md names the reason then.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from genqa_metrics.statistics import correlation, intervals, resampling, sequential, thresholds
from genqa_metrics.statistics.estimation import (
    LabelPlan,
    accuracy_differences,
    accuracy_tests,
    estimate_accuracy,
    label_tests,
    powered,
    question_sums,
)

GOLDEN = Path(__file__).parent / "data" / "golden_statistics.json"
ERRORS = (90, 100, 80, 100)


def answers(questions, repeats, seed):
    """Return the judge's numbers, verdicts, labels of a third, probabilities, questions and refusals of answers."""
    rng = np.random.default_rng(seed)
    asked = np.repeat(np.arange(questions), rng.integers(1, repeats + 1, questions))
    truth = (rng.random(questions)[asked] + 0.5 * rng.random(len(asked)) > 0.5).astype(float)
    judged = np.clip(0.15 + 0.7 * truth + rng.normal(0, 0.25, len(asked)), 0, 1)
    chances = rng.uniform(0.2, 0.5, len(asked))
    labels = np.where(rng.random(len(asked)) < chances, truth, np.nan)
    return judged, judged > 0.5, labels, chances, asked, (judged < 0.05).astype(float)


def of_estimation():
    for questions, repeats in ((40, 3), (150, 1), (9, 4)):
        systems = [question_sums(*answers(questions, repeats, seed)) for seed in (1, 2, 3)]
        name = f"{questions} questions"
        estimate = powered(systems[0])
        yield f"powered, {name}", [*vars(estimate).values()]
        plan = LabelPlan(estimate, systems[0])
        needed = [plan.labels_needed(0.08), plan.labels_needed(0.2), plan.questions_needed(0.05)]
        yield f"plan, {name}", [plan.half_width(), *(np.nan if n is None else n for n in needed)]
        for options in ({}, {"label_error": 0.03}, {"confidence": 0.8}):
            estimate = estimate_accuracy(systems[1], ERRORS, **options)
            yield f"accuracy, {name}, {options}", [estimate.value, estimate.low, estimate.high]
        tests = label_tests([powered(sums) for sums in systems])
        yield f"tests, {name}", [tests.p_values, tests.errors, tests.freedom, *tests.limits(np.full(3, 0.02))]
    verdicts = [question_sums(j, v, np.full(len(j), np.nan), 1.0, q, d) for j, v, _, _, q, d in
                (answers(60, 2, seed) for seed in (4, 5))]  # fmt: skip
    judged = [estimate_accuracy(sums, ERRORS) for sums in verdicts]
    yield "by the judge", [[of.value, of.low, of.high] for of in judged]
    tests = accuracy_tests(judged)
    yield "tests of the judge", [tests.p_values, tests.errors, *tests.limits(np.array([0.05]))]
    [difference] = accuracy_differences(judged, 0.9)
    yield "difference", [*difference.values()]


def of_intervals():
    shares, numbers = np.array([0, 0.01, 0.1, 0.5, 0.97, 1]), np.array([5, 300, 12.5, 8, 60, 20])
    yield "wilson", intervals.wilson(shares, numbers, 1.96)
    sizes = np.array([3.0, 1, 1, 4, 2, 2])
    influence = (np.array([3.0, 0, 1, 1, 0, 2]) - 7 / 13 * sizes) / 13
    yield "effective size", [intervals.effective_size(7 / 13, influence, sizes, 0.9)]
    yield "share", intervals.share_interval(7 / 13, influence, sizes)
    groups = [intervals.Counts(95, 100, 42, 50), intervals.Counts(70, 100, 48, 50), intervals.Counts(20, 25, 30, 60)]
    yield "pooled", intervals.pooled(groups)
    yield "rogan-gladen", intervals.rogan_gladen(np.array([62, 5, 99]), 100, 90, 100, 80, 100, 0.9)


def of_correlation():
    rng = np.random.default_rng(3)
    for rows, repeats in ((60, 1), (24, 2), (450, 1)):
        human = np.round(rng.random(rows), 1)
        score, other = human + rng.normal(0, 0.3, rows), human + rng.normal(0, 0.5, rows)
        clusters = np.arange(rows) // repeats
        for kind in ("pearson", "spearman", "kendall"):
            ends = correlation.correlation_limits(kind, score, human, clusters)
            yield f"{kind}, {rows} rows", [getattr(correlation, kind)(score, human), *ends]
        yield f"area, {rows} rows", correlation.auc_limits(score, human > 0.5, clusters)
        yield f"permutation, {rows} rows", correlation.permutation_p(score[None], other[None], human, clusters, 500, 1)
        best = thresholds.best_threshold(score, human > 0.5)
        yield f"threshold, {rows} rows", [*best, thresholds.held_out(score, human > 0.5, clusters, 0)]
    calibration = thresholds.calibration(np.clip(score, 0, 1), human > 0.5)
    yield "calibration", [calibration["ece"], calibration["brier"], *([*b.values()] for b in calibration["bins"])]


def of_resampling():
    rng = np.random.default_rng(5)
    for questions in (7, 29, 30, 80):
        moves = rng.gamma(0.5, 1, (questions, 4)) * (rng.random((questions, 4)) < [1, 0.5, 0.2, 1])
        moves = np.column_stack([moves, np.zeros(questions)])
        differences = np.append(moves.mean(axis=0)[:4] / 6, 0.7)
        bound = np.array([np.inf, 6, 6, 4, 1])
        draws = resampling.bootstrap_counts(questions, 400, 2)
        tests = resampling.paired_tests(differences, moves - moves.mean(axis=0), questions - 0.5, bound, draws)
        yield f"paired, {questions}", [tests.p_values, tests.spread, tests.differing]
        yield f"limits, {questions}", [tests.limits(np.full(5, level)) for level in (0.05, 0.01, 0.001)]
        yield f"corrected, {questions}", resampling.corrected([tests, tests])[1]
    yield "holm", resampling.adjust_p_values(np.array([0.001, 0.2, np.nan, 0.03, 0.03, 0.9]))


def of_sequential():
    rng = np.random.default_rng(7)
    labels = (rng.random(80) < 0.75).astype(float)
    judged, fresh = np.clip(labels + rng.normal(0, 0.3, 80), 0, 1), rng.uniform(0.5, 0.9, 80)
    for number in (0, 3):
        moved, weight = sequential.controlled(labels, judged, fresh, number)
        yield f"controlled, {number}", [moved, weight]
        yield f"wealth, {number}", [sequential.log_wealth(moved, weight, 0.6, side, -1) for side in (1, -1)]
        yield f"sequence, {number}", sequential.confidence_sequence(moved, weight)
    yield "fresh rows", [sequential.fresh_rows(n) for n in (100, 500, 5000)]


def flat(numbers):
    """Return nested numbers as one list, None for NaN and what is missing."""
    if isinstance(numbers, list | tuple):
        return [one for inner in numbers for one in flat(inner)]
    array = np.ravel(np.array(np.nan if numbers is None else numbers, dtype=float))
    return [None if np.isnan(one) else float(f"{one:.7g}") for one in array.tolist()]


SECTIONS = {of.__name__: of for of in (of_estimation, of_intervals, of_correlation, of_resampling, of_sequential)}


@pytest.mark.parametrize("section", SECTIONS)
def test_numbers_are_those_of_the_golden_file(section):
    golden, compared = json.loads(GOLDEN.read_text())[section], 0
    for name, numbers in SECTIONS[section]():
        assert flat(numbers) == pytest.approx(golden[name], rel=1e-5, abs=1e-9), name
        compared += 1
    assert compared == len(golden)


if __name__ == "__main__":
    content = {name: {key: flat(numbers) for key, numbers in of()} for name, of in SECTIONS.items()}
    GOLDEN.write_text(json.dumps(content, separators=(", ", ": ")).replace('], "', '],\n "') + "\n")
