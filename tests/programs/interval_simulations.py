"""Measures how often tests and intervals are wrong where that is hard for them, and writes the tables of the pages.

    python -m tests.programs.interval_simulations --write

Few questions, answers to a question that are all alike, skewed differences, many columns, judges whose probabilities
are near 0 or 1, and systems that are nearly perfect. `tests/test_simulations.py` repeats it with bounds.
"""

import argparse
from pathlib import Path

import numpy as np
from genqa_metrics.statistics.estimation import Powered, label_tests, powered, prediction_powered, question_sums
from genqa_metrics.statistics.intervals import COUNTS, rogan_gladen, share_interval
from genqa_metrics.statistics.resampling import LEVEL
from genqa_metrics.verbs.calibrate.calibration import effective_counts
from genqa_metrics.verbs.compare.analysis import Column, Compared, analyse
from scipy.special import ndtr as NORMAL
from scipy.stats import fisher_exact

from tests.programs import label_simulations

RESULTS = Path(__file__).parent / "results/interval_simulations.md"
REPEATS = 400


def _found_differences(world, scorers, questions, repeats) -> float:
    """Return the share of comparisons of two equal systems with a significant difference; the interval must agree."""
    wrong = 0
    for seed in range(repeats):
        rng = np.random.default_rng([seed, len(questions)])
        statistics = {}
        for name in scorers:
            base, differences = rng.uniform(0.2, 0.8, len(questions)), world(rng, questions)
            scores = np.stack([base, base + differences], axis=1)
            statistics[name] = np.stack([scores, np.ones_like(scores)], axis=2)
        report = analyse(Compared(["a", "b"], scorers, statistics, questions, {}, 400, seed))
        pairs = [pair for entry in report.values() for test in entry["tests"].values() for pair in test["pairs"]]
        clear = [pair["p_corrected"] < 0.05 for pair in pairs]
        ends = [pair["difference"] for pair in pairs]
        assert clear == [end["low"] is not None and not end["low"] <= 0 <= end["high"] for end in ends]
        wrong += any(clear)
    return wrong / repeats


def skewed(rng, questions) -> np.ndarray:
    """Return differences with mean 0, a few of them large: one question in ten."""
    return np.where(rng.random(questions.max() + 1) < 0.1, 0.18, -0.02)[questions]


def compare_skewed(number: int, rows: int = 1, repeats: int = REPEATS) -> float:
    """Return the share of false findings with skewed differences."""
    return _found_differences(skewed, {"x": Column("x")}, np.repeat(np.arange(number), rows), repeats)


def compare_columns(columns: int = 8, number: int = 60, repeats: int = REPEATS) -> float:
    """Return the share of comparisons with a false finding in any of several independent columns."""
    scorers = {f"x{n}": Column(f"x{n}") for n in range(columns)}
    return _found_differences(
        lambda rng, questions: rng.normal(0, 0.05, len(questions)), scorers, np.arange(number), repeats
    )


def accuracy_of_alike_answers(number: int, share: float = 0.9, rows: int = 10, repeats: int = 4000) -> float:
    """Return how often the interval of labels holds: all answers to a question are alike."""
    right = rows * (np.random.default_rng(number).random((repeats, number)) < share)
    value = right.sum(axis=1) / (rows * number)
    moves = (right - value[:, None] * rows) / (rows * number)
    low, high = share_interval(value, moves, np.full(right.shape, rows))
    return float(((low <= share) & (share <= high)).mean())


def calibrated_by_question(number: int, rows: int = 10, repeats: int = REPEATS) -> float:
    """Return how often the interval of a judge holds whose errors are from labels of few questions."""
    held, rng = [], np.random.default_rng(number)
    for _ in range(repeats):
        asked = np.repeat(np.arange(number), rows)
        truth = (rng.random(len(asked)) < 0.6).astype(float)
        luck = np.where(rng.random(len(asked)) < 0.7, rng.random(number)[asked], rng.random(len(asked)))
        verdicts = np.where(truth == 1, luck < 0.85, luck < 0.2).astype(float)
        groups = [str(question) for question in asked]
        errors = effective_counts(verdicts, truth, np.ones(len(asked)), groups, ["x"] * len(asked))
        judged = rng.binomial(600, 0.7 * 0.85 + 0.3 * 0.2)
        _, low, high = rogan_gladen(judged, 600, *(errors[name] for name in COUNTS))
        held.append(bool(np.isnan(low) or low <= 0.7 <= high))
    return float(np.mean(held))


def nearly_perfect(share: float, labels: int = 100, repeats: int = 2000) -> float:
    """Return how often the interval of labels and judge holds at an accuracy next to 1."""
    rng, rows = np.random.default_rng(labels), 600
    truth = (rng.random((repeats, rows)) < share).astype(float)
    judged = np.where(truth == 1, rng.random(truth.shape) < 0.9, rng.random(truth.shape) < 0.2).astype(float)
    known = np.where(np.arange(rows) < labels, truth, np.nan)
    result = powered(question_sums(judged, judged, known, np.full(truth.shape, labels / rows)))
    return float(((result.low <= share) & (share <= result.high)).mean())


def paired_systems(rng, labels: int, questions: int) -> list[Powered]:
    """Return two systems that fail on the same hard questions, right in 75% and 65%; some have labels, for both."""
    hard = rng.random(questions)
    truth = np.stack([hard < 0.75, hard < 0.65]).astype(float)
    judged = (rng.random(truth.shape) < np.where(truth == 1, 0.93, 0.2)).astype(float)
    known = np.isin(np.arange(questions), rng.permutation(questions)[:labels])
    odds = np.full(questions, labels / questions)
    return [prediction_powered(*part, odds) for part in zip(judged, np.where(known, truth, np.nan), strict=True)]


def difference_by_labels(labels: int, questions: int, repeats: int = 500) -> float:
    """Return how often the interval of the difference of `paired_systems` holds."""
    rng, held = np.random.default_rng(labels), []
    for _ in range(repeats):
        (low,), (high,) = label_tests(paired_systems(rng, labels, questions)).limits(np.full(1, LEVEL))
        held.append(low <= 0.1 <= high)
    return float(np.mean(held))


def few_labels(rng, labels: int, questions: int, shares: tuple[float, float], same: bool) -> np.ndarray:
    """Return (2 systems, judge and labels, questions): the judge errs otherwise on the one system than on the other.

    With `same` the labels are of the same questions, and half of what makes a question hard is hard for both.
    """
    hard, judge = rng.normal(0, 1, (2, 2, questions))
    if same:
        hard[1] = 0.5**0.5 * (hard[0] + hard[1])
    truth = (NORMAL(hard) < np.array(shares)[:, None]).astype(float)
    accepted = np.where(truth == 1, np.array([[0.95], [0.8]]), np.array([[0.4], [0.05]]))
    judged = (NORMAL(judge) < accepted).astype(float)
    order = np.array([rng.permutation(questions) for _ in range(2)])
    known = order[[0, 0]] < labels if same else order < labels
    return np.stack([judged, np.where(known, truth, np.nan)], axis=1)


def decided_by_labels(labels: int, questions: int, shares, same=False, level=LEVEL, repeats: int = REPEATS) -> float:
    """Return how often `few_labels` show a difference; the interval must agree."""
    rng, decided, chance = np.random.default_rng([labels, questions]), [], np.full(questions, labels / questions)
    for _ in range(repeats):
        systems = [prediction_powered(*part, chance) for part in few_labels(rng, labels, questions, shares, same)]
        tests = label_tests(systems)
        (low,), (high,) = tests.limits(np.full(1, level))
        decided.append(tests.p_values[0] < level)
        assert decided[-1] == (not low <= 0 <= high)
    return float(np.mean(decided))


def decided_by_fisher(labels: int, questions: int, shares, same=False, level=LEVEL, repeats: int = REPEATS) -> float:
    """Return how often Fisher's exact test of the labels alone shows a difference."""
    rng, decided = np.random.default_rng([labels, questions]), []
    for _ in range(repeats):
        right = np.nansum(few_labels(rng, labels, questions, shares, same)[:, 1], axis=1)
        decided.append(fisher_exact(np.stack([right, labels - right])).pvalue < level)
    return float(np.mean(decided))


# What is simulated, by which function, with which arguments, and the bounds of what must come out.
FALSE, HELD, POWER = (0, 0.085), (0.925, 1), (0.2, 1)
SHOULD = {0: "about .05 at most", 0.1: "as often as possible", 0.2: "as often as possible"}
FEW = [(8, 20), (20, 60), (40, 100)]  # labels, questions
SIMULATIONS = [
    # Sign flips found .35, .16, .09 and .07 in as many rows, .13 to .16 in few questions of 5 rows.
    ("`compare`, false findings: skewed differences, 10, 20, 40, 100 questions",
     compare_skewed, [(10,), (20,), (40,), (100,)], FALSE),
    ("the same, 10, 20, 40 questions of 5 rows", compare_skewed, [(10, 5), (20, 5), (40, 5)], FALSE),
    # Without a correction over columns .20 to .34 had a finding.
    ("`compare`, a false finding in any of 8 columns, 60 questions", compare_columns, [(8,)], (0, 0.08)),
    # By the variance between questions alone .57 to .86 of the intervals held.
    *((f"{start}, accuracy {share}: interval holds",
       accuracy_of_alike_answers, [(number, share) for number in (5, 8, 12, 20)], (0.915, 1))
      for start, share in (("labels of 5, 8, 12, 20 questions of 10 answers, all alike", 0.7),
                           ("the same", 0.9), ("the same", 0.95))),
    ("`calibrate`, errors from 100 labels of 10 questions, 1,000 of 100: interval holds",
     calibrated_by_question, [(10,), (100,)], (0.92, 1)),
    ("difference by labels, 10 of 20 questions, 20 and 30 of 60: interval holds",
     difference_by_labels, [(10, 20), (20, 60), (30, 60)], (0.93, 1)),
    # A studentized bootstrap found up to .12, and needed more labels at a third of the level.
    *((f"{start}, {of}: false findings", decided_by_labels, [(*few, (share, share), same) for few in FEW], FALSE)
      for start, share in (("8 of 20, 20 of 60, 40 of 100 labelled, systems right in .5", 0.5), ("the same, .9", 0.9))
      for of, same in (("of the same questions", True), ("drawn for each system", False))),
    ("the same labels, systems right in .8 and .3: difference found",
     decided_by_labels, [(*few, (0.8, 0.3)) for few in FEW], POWER),
    ("the same by Fisher's test of the labels alone", decided_by_fisher, [(*few, (0.8, 0.3)) for few in FEW], POWER),
    ("right in .8 and .1, corrected for three pairs: difference found",
     decided_by_labels, [(*few, (0.8, 0.1), False, LEVEL / 3) for few in FEW], POWER),
    ("the same by Fisher's test of the labels alone",
     decided_by_fisher, [(*few, (0.8, 0.1), False, LEVEL / 3) for few in FEW], POWER),
    ("labels and judge, accuracy .98, .99, 1: interval holds", nearly_perfect, [(0.98,), (0.99,), (1.0,)], (0.92, 1)),
]  # fmt: skip


def table(simulations: list) -> list[str]:
    """Return the lines of the table of simulations."""
    lines = ["| simulated | came out | should |", "|---|---|---|"]
    for title, function, cases, bounds in simulations:
        shares = ", ".join(f"{function(*case):.2f}".removeprefix("0") for case in cases)
        lines.append(f"| {title.replace(' 0.', ' .')} | {shares} | {SHOULD.get(bounds[0], '.95')} |")
    return lines


def show(description: str, tables: dict[Path, list[str]]) -> None:
    """Print tables, or write them to their files."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write them to the files that the pages include")
    arguments = parser.parse_args()
    for path, lines in tables.items():
        text = "\n".join(lines) + "\n"
        print(text)
        if arguments.write:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)


if __name__ == "__main__":
    show(__doc__, {RESULTS: table(SIMULATIONS), label_simulations.RESULTS: label_simulations.table()})
