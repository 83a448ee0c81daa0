"""Measures how often intervals from a few labels and a judge hold the accuracy, over a grid of worlds.

    python -m tests.programs.interval_simulations --write

500 rows, 10 to 50 of them labelled, an accuracy of .5 to .95, a judge with a sensitivity of .6 to .98, a specificity
of .4 to .98. Beside the estimate of this package stand labels alone, PPI++ as published, predict-then-debias as the
package glide-py 0.11 has it (`PTDMeanEstimator`), and two estimates that also use errors of the judge that were
measured on other data: `accuracy` took the narrowest interval once, and a weak prior adds a tenth of these counts.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from genqa_metrics.statistics.estimation import powered, question_sums
from genqa_metrics.statistics.intervals import pooled, read_counts, rogan_gladen
from genqa_metrics.verbs.label.labelling import probabilities
from scipy.stats import norm

RESULTS = Path(__file__).parent / "results/label_simulations.md"
MEASURED = Path(__file__).parents[2] / "metrics/ava/checkpoint/measured.json"
ROWS, ALIKE, QUESTION = 500, 0.6, 5  # ALIKE: share of answers that are as their question's first one
ACCURACIES, SENSITIVITIES, SPECIFICITIES = (0.5, 0.65, 0.8, 0.9, 0.95), (0.6, 0.8, 0.9, 0.98), (0.4, 0.6, 0.8, 0.98)
LABELS = (10, 20, 30, 50)
WORLDS = ("uniform", "unequal", "clusters")
PRIOR_WEIGHT = 0.1
RESAMPLES = 400


@dataclass(frozen=True)
class World:
    """Simulated files. Arrays of (repeats, rows)."""

    truth: np.ndarray
    judged: np.ndarray  # probabilities of the judge where labels are drawn by them, else its verdicts
    labelled: np.ndarray  # bool
    chance: np.ndarray  # of being labelled
    questions: np.ndarray | None  # (rows,)


def simulated(kind: str, accuracy: float, sensitivity: float, specificity: float, labels: int, repeats: int) -> World:
    """Return files of one kind of `WORLDS`."""
    rng = np.random.default_rng([int(1000 * value) for value in (accuracy, sensitivity, specificity)] + [labels])
    shape = (repeats, ROWS)
    truth = rng.random(shape, dtype=np.float32) < accuracy
    questions = None
    if kind == "clusters":
        questions = np.repeat(np.arange(ROWS // QUESTION), QUESTION)
        first = np.repeat(rng.random((repeats, ROWS // QUESTION)) < accuracy, QUESTION, axis=1)
        truth = np.where(rng.random(shape, dtype=np.float32) < ALIKE, first, truth)
    chance, luck = np.full(shape, labels / ROWS), rng.random(shape, dtype=np.float32)
    if kind == "unequal":
        score = rng.standard_normal(shape, dtype=np.float32)
        score += np.where(truth, norm.ppf(sensitivity), -norm.ppf(specificity))
        judged = 1 / (1 + np.exp(-2 * score.astype(float)))
        chance = np.array([probabilities(row, labels) for row in judged])
        luck = luck / (1 - luck) * (1 - chance) / chance
    else:
        judged = (rng.random(shape, dtype=np.float32) < np.where(truth, sensitivity, 1 - specificity)).astype(float)
    labelled = np.zeros(shape, dtype=bool)
    np.put_along_axis(labelled, np.argpartition(luck, labels, axis=1)[:, :labels], True, axis=1)
    return World(truth.astype(float), judged, labelled, chance, questions)


Limits = dict[str, tuple[np.ndarray, np.ndarray]]


def package_limits(world: World) -> Limits:
    """Return the limits of this package: labels and judge, and labels alone."""
    labels = np.where(world.labelled, world.truth, np.nan)
    result = powered(question_sums(world.judged, world.judged >= 0.5, labels, world.chance, world.questions))
    return {"labels and judge": (result.low, result.high), "labels alone": (result.labels_low, result.labels_high)}


def _cells(world: World) -> np.ndarray:
    """Return (repeats, 4) labelled answers: accepted and right, rejected and right, accepted and wrong, the others."""
    right, accepted = world.truth == 1, world.judged == 1
    cells = right & accepted, right & ~accepted, ~right & accepted, ~right & ~accepted
    return np.stack([(cell & world.labelled).sum(axis=1) for cell in cells], axis=1)


def ppi_limits(world: World) -> Limits:
    """Return PPI++ with power tuning (Angelopoulos, Duchi & Zrnic 2023): a normal interval."""
    number, rest = world.labelled.sum(axis=1), (~world.labelled).sum(axis=1)
    label_mean = (world.truth * world.labelled).sum(axis=1) / number
    judged_mean = (world.judged * world.labelled).sum(axis=1) / number
    rest_mean = (world.judged * ~world.labelled).sum(axis=1) / rest
    both = (world.truth * world.judged * world.labelled).sum(axis=1) / number
    covariance = (both - label_mean * judged_mean) * number / (number - 1)
    all_mean = world.judged.mean(axis=1)
    spread = all_mean * (1 - all_mean)
    weight = np.clip(covariance / np.maximum(spread, 1e-12) / (1 + number / rest), 0, 1)
    judged_spread = judged_mean * (1 - judged_mean) * number / (number - 1)
    label_spread = label_mean * (1 - label_mean) * number / (number - 1)
    variance = (label_spread - 2 * weight * covariance + weight**2 * judged_spread) / number
    variance += weight**2 * rest_mean * (1 - rest_mean) / rest
    value, half = label_mean + weight * (rest_mean - judged_mean), norm.ppf(0.975) * np.sqrt(np.maximum(variance, 0))
    return {"PPI++": (value - half, value + half)}


def ptd_limits(world: World) -> Limits:
    """Return predict-then-debias with power tuning: percentiles of a bootstrap of the labelled answers."""
    cells, number = _cells(world), world.labelled.sum(axis=1)
    rng = np.random.default_rng(0)
    draws = rng.multinomial(number, cells / number[:, None], size=(RESAMPLES, len(cells))) / number[:, None]
    label_means, judged_means = draws[..., 0] + draws[..., 1], draws[..., 0] + draws[..., 2]
    rest = (~world.labelled).sum(axis=1)
    rest_mean = (world.judged * ~world.labelled).sum(axis=1) / rest
    rest_variance = rest_mean * (1 - rest_mean) / (rest - 1)
    moves = judged_means - judged_means.mean(axis=0)
    covariance = ((label_means - label_means.mean(axis=0)) * moves).sum(axis=0) / (RESAMPLES - 1)
    weight = covariance / ((moves**2).sum(axis=0) / (RESAMPLES - 1) + rest_variance)
    noise = rng.standard_normal(draws.shape[:2])
    values = label_means - weight * judged_means + weight * (rest_mean + noise * np.sqrt(rest_variance))
    return {"PTD (glide-py)": tuple(np.quantile(values, (0.025, 0.975), axis=0))}


def measured_errors() -> np.ndarray:
    """Return the counts of the bundled judge's errors, on other data."""
    systems = json.loads(MEASURED.read_text())["systems"]
    return np.array(pooled(read_counts(systems)))


def with_measured_errors(world: World, own: Limits) -> Limits:
    """Return the two estimates that use errors measured on other data beside the labels."""
    errors, accepted = measured_errors(), world.judged.sum(axis=1)
    measured = rogan_gladen(accepted, ROWS, *errors)[1:]
    widths = [high - low for low, high in (own["labels and judge"], measured)]
    narrower = widths[1] < widths[0]
    narrowest = tuple(np.where(narrower, *ends) for ends in zip(measured, own["labels and judge"], strict=True))
    right, missed, let_through, rejected = _cells(world).T
    counts = right, right + missed, rejected, rejected + let_through
    added = (count + PRIOR_WEIGHT * more for count, more in zip(counts, errors, strict=True))
    low, high = rogan_gladen(accepted, ROWS, *added)[1:]
    nothing = np.isnan(low)  # by these counts the judge is no better than chance: labels alone
    prior = tuple(np.where(nothing, *ends) for ends in zip(own["labels alone"], (low, high), strict=True))
    return {"measured errors as a weak prior": prior, "narrowest of labels and measured errors": narrowest}


def cases(step: int = 1) -> Iterator[tuple[float, float, float, int]]:
    """Return the cells of the grid: accuracy, sensitivity, specificity, labels; every `step`-th."""
    yield from list(product(ACCURACIES, SENSITIVITIES, SPECIFICITIES, LABELS))[::step]


def grid(kind: str, repeats: int, step: int = 1) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return by estimate the (cells,) shares of intervals that hold the accuracy, and their mean widths."""
    held: dict[str, list[float]] = {}
    widths: dict[str, list[float]] = {}
    for accuracy, *judge, labels in cases(step):
        world = simulated(kind, accuracy, *judge, labels, repeats)
        limits = package_limits(world)
        if kind == "uniform":
            limits |= ppi_limits(world) | ptd_limits(world) | with_measured_errors(world, limits)
        for name, (low, high) in limits.items():
            told = ~np.isnan(low)  # labels of fewer than five questions have no interval
            held.setdefault(name, []).append(float(((low <= accuracy) & (accuracy <= high))[told].mean()))
            widths.setdefault(name, []).append(float((np.minimum(high, 1) - np.maximum(low, 0))[told].mean()))
    return {name: (np.array(held[name]), np.array(widths[name])) for name in held}


REPEATS = {"uniform": 1000, "unequal": 600, "clusters": 600}
HELD = 0.93  # intervals of a world that hold less often are counted
TITLES = {
    "uniform": "labels drawn by chance",
    "unequal": "as `label` draws them",
    "clusters": "questions of 5 answers, alike",
}


def table() -> list[str]:
    """Return the table of the grid in Markdown."""
    every = [labels for *_, labels in cases()]
    widths_of = " | ".join(f"width, {labels} labels" for labels in LABELS)
    lines = [f"| {len(every)} worlds | estimate | holds | least | below {HELD:g} | {widths_of} |"]
    lines.append("|---|---|---:|---:|---:" + "|---:" * len(LABELS) + "|")
    for kind in WORLDS:
        for name, (held, widths) in grid(kind, REPEATS[kind]).items():
            shares = (f"{value:.3f}".removeprefix("0") for value in (held.mean(), held.min()))
            points = (f"{100 * widths[np.array(every) == labels].mean():.0f}" for labels in LABELS)
            cells = TITLES[kind], name, *shares, f"{(held < HELD).sum()}", *points
            lines.append(f"| {' | '.join(cells)} |")
    return lines
