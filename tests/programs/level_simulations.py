"""Measures the tests of `compare`, the intervals of `agree` and what `calibrate` writes where this is hard.

    python -m tests.programs.level_simulations --write

Rows of which few differ much, few wrong answers, judges whose probabilities are near 0 or 1, labels at random.
`tests/test_simulations.py` repeats it with bounds.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from genqa_metrics.statistics.correlation import auc_limits, correlation_limits, kendall, pearson, spearman
from genqa_metrics.statistics.resampling import LEVEL, bootstrap_counts, paired_tests
from genqa_metrics.verbs.calibrate.calibration import THRESHOLD, cross_fitted, sign_test
from sklearn.metrics import roc_auc_score

from tests.programs.interval_simulations import FALSE, HELD, POWER, show, table

RESULTS = Path(__file__).parent / "results/level_simulations.md"
REPEATS = 400


def _findings(number: int, world: Callable) -> float:
    """Return how often the mean difference of so many rows is significant."""
    shows = 0
    for seed in range(REPEATS):
        rows = world(np.random.default_rng([seed, number]))
        mean, draws = rows.mean(keepdims=True), bootstrap_counts(number, 400, seed)
        shows += paired_tests(mean, (rows - mean)[:, None], number, np.ones(1), draws).p_values[0] < 0.05
    return shows / REPEATS


def few_rows_differ(share: float, number: int, noise: float = 0.0) -> float:
    """Return the share of false findings where a share of the rows differs by .8 and the others by little.

    The mean difference is 0; with `noise` no two of the small differences are equal.
    """
    large, small = 0.8, -0.8 * share / (1 - share)
    return _findings(
        number, lambda rng: np.where(rng.random(number) < share, large, small) + noise * rng.normal(size=number)
    )


def few_rows_are_not_tied(share: float, number: int) -> float:
    """Return the share of false findings where most rows are ties: four of five others are .2, the fifth is -.8."""
    return _findings(number, lambda rng: (rng.random(number) < share) * np.where(rng.random(number) < 0.2, -0.8, 0.2))


def shown(gain: float, number: int, spread: float = 0.25) -> float:
    """Return how often a difference that is so many standard errors is significant; rows differ by normal numbers."""
    return _findings(number, lambda rng: rng.normal(gain * spread / number**0.5, spread, number).clip(-1, 1))


def _probabilities(rng, size):
    """A judge's probabilities, most near 0 or 1 and 6% of them reversed, and graded labels."""
    quality = rng.normal(0, 1, size)
    judged = 1 / (1 + np.exp(-4 * (quality + 0.8)))
    judged = np.where(rng.random(size) < 0.06, 1 - judged, judged)
    return judged, np.clip(np.round(2 * (quality + rng.normal(0, 0.6, size) + 1)) / 4, 0, 1)


def _normal(rng, size):
    """Normal scores that correlate by .7."""
    score, noise = rng.normal(0, 1, (2, size))
    return score, 0.7 * score + 0.51**0.5 * noise


def _heavy(rng, size):
    """The same with heavy tails: Student's t with 5 degrees of freedom."""
    return np.array(_normal(rng, size)) * np.sqrt(5 / rng.chisquare(5, size))


def _labels(rng, size):
    """The same with labels 0 and 1 on one side."""
    score, quality = _normal(rng, size)
    return score, (quality > -0.5).astype(float)


def _near_0_or_1(rng, right, fooled):
    """Probabilities of a judge that takes some answers for the opposite."""
    high = right ^ (rng.random(len(right)) < fooled)
    return np.where(high, rng.beta(8, 0.5, len(right)), rng.beta(0.5, 8, len(right))), right.astype(float)


def judge_of(share):
    """A judge that is wrong about 12% of the answers, of which a share is right."""
    return lambda rng, size: _near_0_or_1(rng, rng.random(size) < share, 0.12)


def lenient_judge_of(share):
    """A judge that accepts every right answer and 15% of the wrong ones."""

    def world(rng, size):
        right = rng.random(size) < share
        return _near_0_or_1(rng, right, np.where(right, 0, 0.15))

    return world


def words_of(share):
    """A score of words, normal and two deviations higher for right answers."""

    def world(rng, size):
        right = rng.random(size) < share
        return rng.normal(2 * right, 1), right.astype(float)

    return world


WORLDS = {
    "probabilities": _probabilities,
    "normal": _normal,
    "heavy": _heavy,
    "labels": _labels,
    **{
        f"{name} {share}": world(share)
        for name, world in (("judge", judge_of), ("lenient", lenient_judge_of), ("words", words_of))
        for share in (0.5, 0.85, 0.925)
    },
}
KINDS = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


@cache
def _truth(world: str, kind: str) -> float:
    score, human = WORLDS[world](np.random.default_rng(0), 100_000)
    return float(roc_auc_score(human, score)) if kind == "auc" else KINDS[kind](score, human)


def interval_holds(kind: str, world: str, number: int, repeats: int = 400) -> float:
    """Return how often the interval of a correlation, or of "auc", holds, of those samples that have one."""
    held, questions = [], np.arange(number)
    for seed in range(repeats):
        score, human = WORLDS[world](np.random.default_rng([seed, number]), number)
        if kind == "auc":
            if len(set(human)) < 2:
                continue
            _, low, high = auc_limits(score, human == 1, questions)
        else:
            low, high = correlation_limits(kind, score, human, questions)
        if not np.isnan(low):
            held.append(low <= _truth(world, kind) <= high)
    return float(np.mean(held)) if held else float("nan")


def calibrated_at_random(number: int, shift: float = 0.0, repeats: int = 200) -> float:
    """Return how often the sign test lets `calibrate` write a file.

    Half of the labels are right, at random; or with a `shift` of the log-odds they follow from the judge's numbers.
    """
    written = 0
    for seed in range(repeats):
        rng = np.random.default_rng([seed, number])
        odds = rng.normal(0.5, 2.5, number)
        chance = 1 / (1 + np.exp(-(odds + shift))) if shift else np.full(number, 0.5)
        labels = (rng.random(number) < chance).astype(float)
        probabilities, questions = 1 / (1 + np.exp(-odds)), [str(question) for question in range(number)]
        after = cross_fitted(probabilities, labels, np.ones(number), questions) >= THRESHOLD
        better, worse, p = sign_test((odds >= 0).astype(float), after.astype(float), labels, questions)
        written += better > worse and p < LEVEL
    return written / repeats


SIZES = 15, 20, 40, 100
SIMULATIONS = [
    # Without the largest difference in the variance .68, .42, .12 of 20, 40, 100 rows, and .36, .11, .01.
    *((f"`compare`, false findings: {share:.0%} of the rows differ by .8, the others by little, 20, 40, 100 rows",
       few_rows_differ, [(share, number, 0.002) for number in SIZES[1:]], FALSE) for share in (0.02, 0.05)),
    ("the same, 10%, 20%, 40% of 20 rows", few_rows_differ, [(share, 20, 0.002) for share in (0.1, 0.2, 0.4)], FALSE),
    # As many as .10, .14, .12.
    ("the same, most rows are ties, 20% of 20, 20% of 40, 10% of 100 differ",
     few_rows_are_not_tied, [(0.2, 20), (0.2, 40), (0.1, 100)], FALSE),
    ("the same, rows differ by normal numbers, a difference of 3 standard errors: found, 20, 40, 100 rows",
     shown, [(3, number) for number in SIZES[1:]], POWER),
    *((f"`agree`, {kind}, {world}: interval holds, 15, 20, 40, 100 rows",
       interval_holds, [(kind, world, number) for number in SIZES], HELD)
      for world in ("probabilities", "normal", "heavy", "labels") for kind in KINDS),
    # Of few wrong answers the jackknife alone held in .61 to .85 of Pearson's, a percentile bootstrap in .63 to .88
    # of AUC's. Less than .925 of a cell are samples that had enough wrong answers by chance.
    *((f"`agree`, {kind}, {world.replace(' ', ' of ')} right: interval holds, {str(sizes)[1:-1]} rows",
       interval_holds, [(kind, world, number) for number in sizes], (0.89, 1))
      for world in WORLDS if " " in world
      for sizes in (SIZES[2 if "0.925" in world else 1 :],) for kind in ("pearson", "auc")),
    ("`calibrate`, half of the labels right at random: a file is written, 30, 40, 100 labels",
     calibrated_at_random, [(number,) for number in (30, 40, 100)], (0, 0.05)),
    ("the same, the judge is much too lenient", calibrated_at_random,
     [(number, -2.0) for number in (30, 40, 100)], (0.1, 1)),
]  # fmt: skip


if __name__ == "__main__":
    show(__doc__, {RESULTS: table(SIMULATIONS)})
