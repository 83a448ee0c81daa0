"""Scores, intervals, tests and ranks of systems on the same questions: arrays in, numbers out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...core.scorer import Scorer
from ...statistics.intervals import MIN_QUESTIONS, kish, share_interval
from ...statistics.paired_tests import LEVEL, PairedTests, influences, paired_tests
from ...statistics.resampling import adjust_p_values, bootstrap_counts, ranking

INTERVAL = "95%: of scores Wilson's, of differences studentized bootstrap; questions resampled"


class Column(Scorer):
    """Scores of a metric that are in the files; the score of a system is their mean."""

    takes_sets = True

    def __init__(self, column: str):
        self.main = column
        self.names = self.row_names = self.significance_scores = (column,)

    @property
    def signature(self) -> str:
        """Name of the column, and how its scores are summarized."""
        return f"column:{self.main}|mean"


def row_scores(scorer, statistics: np.ndarray, name: str) -> np.ndarray:
    """Return (questions, systems) scores; of a set of predictions the score of their mean statistics.

    Args:
        scorer: what computes the metric.
        statistics: (questions, systems, k + 1) sums over the predictions of a row, the last column their number.
        name: name of a score, in `Scorer.names`.
    """
    row_name = scorer.row_names[scorer.names.index(name)]
    means = statistics[..., :-1] / np.maximum(statistics[..., -1:], 1)
    return np.asarray(scorer.row_scores(means.reshape(-1, means.shape[-1]))[row_name]).reshape(means.shape[:2])


def _estimate(value: float, low: float, high: float) -> dict[str, float]:
    return {"value": float(value), "low": float(low), "high": float(high)}


def _outcomes(scores: np.ndarray, first: int, second: int) -> dict[str, int]:
    difference = scores[:, first] - scores[:, second]
    slack = 1e-12 * np.maximum(np.abs(scores[:, first]), np.abs(scores[:, second]))
    wins, losses = int((difference > slack).sum()), int((difference < -slack).sum())
    return {"wins": wins, "ties": len(scores) - wins - losses, "losses": losses}


@dataclass(frozen=True)
class Measured:
    """Scores of systems, and tests that are not yet corrected for their number.

    Attributes:
        scores: metric -> name -> system -> value, low, high.
        by_row: metric -> name -> (rows, systems) scores.
        tests: metric -> name -> tests of all pairs, for the names that are tested.
    """

    scores: dict[str, dict[str, dict[str, dict[str, float]]]]
    by_row: dict[str, dict[str, np.ndarray]]
    tests: dict[str, dict[str, PairedTests]]


def measured(
    systems: Sequence[str],
    scorers: Mapping[str, Scorer],
    statistics: Mapping[str, np.ndarray],
    samples: int,
    seed: int,
    questions: np.ndarray,
) -> Measured:
    """Return scores with intervals, and tests of all pairs of systems; see `analyse`."""
    sizes = np.bincount(questions)
    number = float(kish(sizes))
    pairs = np.array(list(combinations(range(len(systems)), 2)))
    result = Measured({}, {}, {})
    for metric, scorer in scorers.items():
        whole = np.zeros((len(sizes), *statistics[metric].shape[1:]))  # sums over the rows of a question
        np.add.at(whole, questions, statistics[metric])
        totals = whole.sum(axis=0)
        values = scorer.resampled_scores(totals[..., :-1], totals[..., -1])
        rest = totals - whole
        without = scorer.resampled_scores(rest[..., :-1], rest[..., -1])
        result.scores[metric], result.tests[metric], result.by_row[metric] = {}, {}, {}
        for name in scorer.names:
            moves = influences(values[name], without[name])
            # The mean of a column is within 0 and 1 by chance if its scores are not.
            seen = statistics[metric][..., 0] if isinstance(scorer, Column) else without[name]
            is_share = bool(np.nanmin(seen) >= -1e-9 and np.nanmax(seen) <= 1 + 1e-9)
            if is_share:
                of_questions = np.moveaxis(moves, 0, -1) / len(sizes)
                low, high = share_interval(
                    np.clip(values[name], 0, 1), of_questions, np.broadcast_to(sizes, of_questions.shape)
                )
            elif number < MIN_QUESTIONS:
                low = high = np.full(len(systems), np.nan)
            else:
                draws = bootstrap_counts(len(sizes), samples, seed)
                nowhere = np.full(len(systems), np.inf)
                alone = paired_tests(values[name], moves, number, nowhere, draws)
                low, high = alone.limits(np.full(len(systems), LEVEL))
            result.scores[metric][name] = {
                system: _estimate(values[name][i], low[i], high[i]) for i, system in enumerate(systems)
            }
            if name not in scorer.significance_scores:
                continue
            by_row = row_scores(scorer, statistics[metric], name)
            bound = 1.0 if is_share else float(np.ptp(by_row)) or np.inf
            differences = values[name][pairs[:, 0]] - values[name][pairs[:, 1]]
            apart = moves[:, pairs[:, 0]] - moves[:, pairs[:, 1]]
            draws = bootstrap_counts(len(sizes), samples, seed)
            bounds = np.full(len(pairs), bound)
            result.tests[metric][name] = paired_tests(differences, apart, number, bounds, draws)
            result.by_row[metric][name] = by_row
        result.tests[metric] = {name: result.tests[metric][name] for name in scorer.significance_scores}
    return result


def corrected(all_tests: Sequence[PairedTests], correction: str) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return of every set of tests the corrected p-values, and limits that leave out 0 where these are below `LEVEL`.

    Args:
        all_tests: one family of tests.
        correction: one of `resampling.CORRECTIONS`.
    """
    raw = np.concatenate([tests.p_values for tests in all_tests])
    adjusted = adjust_p_values(raw, correction)
    levels = LEVEL * np.where(np.isnan(raw), 1.0, raw / adjusted)
    result, start = [], 0
    for tests in all_tests:
        part = slice(start, start + len(tests.p_values))
        result.append((adjusted[part], *tests.limits(levels[part])))
        start = part.stop
    return result


def analyse(
    systems: Sequence[str],
    scorers: Mapping[str, Scorer],
    statistics: Mapping[str, np.ndarray],
    samples: int = 10_000,
    seed: int = 0,
    correction: str = "holm",
    questions: np.ndarray | None = None,
) -> dict[str, dict]:
    """Return scores with intervals, tests of all pairs of systems, and ranks.

    Args:
        systems: names of the systems, at least two.
        scorers: metric -> what scores it.
        statistics: metric -> (rows, systems, k + 1) sums over the predictions of a row, and their
            number.
        samples: number of bootstrap samples; the same ones for all systems and metrics.
        seed: the same seed gives the same numbers.
        correction: one of `resampling.CORRECTIONS`; the tests of all pairs by the first score of every
            metric are one family, those by the second ones another, and so on.
        questions: (rows,) number of every row's question, 0, 1, ... without gaps: rows of one question are drawn
            together. None: each row is its own.

    Returns:
        metric -> "scores": name -> system -> value, low, high; "tests": name -> "systems": system -> cluster, ranks;
        "pairs": first, second, difference with an interval that is as wide as the correction asks, p-values, wins,
        ties, losses.
    """
    questions = np.arange(len(next(iter(statistics.values())))) if questions is None else questions
    result = measured(systems, scorers, statistics, samples, seed, questions)
    places, outcomes = [], []
    for number in range(max(map(len, result.tests.values()))):
        family = [(metric, list(tests)[number]) for metric, tests in result.tests.items() if len(tests) > number]
        places += family
        outcomes += corrected([result.tests[metric][name] for metric, name in family], correction)
    report: dict[str, dict] = {metric: {"scores": result.scores[metric], "tests": {}} for metric in scorers}
    for (metric, name), outcome in zip(places, outcomes, strict=True):
        tests, by_row = result.tests[metric][name], result.by_row[metric][name]
        rows = tested_pairs(systems, tests, by_row, outcome)
        better = np.zeros((len(systems), len(systems)), dtype=bool)
        numbers = {system: i for i, system in enumerate(systems)}
        for row in rows:
            if row["p_corrected"] < LEVEL:
                pair = numbers[row["first"]], numbers[row["second"]]
                better[pair if row["difference"]["value"] > 0 else pair[::-1]] = True
        scores = np.array([values["value"] for values in result.scores[metric][name].values()])
        clusters, ranks = ranking(scores, better)
        report[metric]["tests"][name] = {
            "systems": {
                system: {"cluster": clusters[i], "best_rank": ranks[i][0], "worst_rank": ranks[i][1]}
                for i, system in enumerate(systems)
            },
            "pairs": rows,
        }
    return report


def tested_pairs(systems: Sequence[str], tests: PairedTests, by_row: np.ndarray, outcome: tuple) -> list[dict]:
    """Return the tests of all pairs as reports have them; `outcome` is one of those that `corrected` returns."""
    return [
        {
            "first": systems[first],
            "second": systems[second],
            "difference": _estimate(tests.differences[i], outcome[1][i], outcome[2][i]),
            "p": float(tests.p_values[i]),
            "p_corrected": float(outcome[0][i]),
            **_outcomes(by_row, first, second),
        }
        for i, (first, second) in enumerate(combinations(range(len(systems)), 2))
    ]


def most_different(scores: np.ndarray, number: int) -> list[int]:
    """Return the questions on which systems differ most; of two systems as many for the one as for the other.

    Args:
        scores: (questions, systems) scores of the rows.
        number: how many at most; questions with equal scores are left out.

    Returns:
        Numbers of questions, the largest difference first; of equal ones the first splits the systems most evenly.

    >>> most_different(np.array([[0.0, 0.1], [1.0, 0.0], [0.0, 0.8], [0.9, 0.0]]), 2)
    [1, 2]
    """
    spread, even = np.ptp(scores, axis=1).round(9), scores.std(axis=1).round(9)
    order = np.lexsort((-even, -spread))
    order = order[spread[order] > 0]
    if scores.shape[1] == 2:
        ahead = scores[order, 0] > scores[order, 1]
        sides = order[ahead], order[~ahead]
        half = number // 2
        taken = max(half, number - len(sides[1])), max(number - half, number - len(sides[0]))
        chosen = set(sides[0][: taken[0]].tolist()) | set(sides[1][: taken[1]].tolist())
        order = np.array([row for row in order.tolist() if row in chosen][:number], dtype=int)
    return order[:number].tolist()
