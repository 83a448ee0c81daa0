"""Scores, intervals, tests and ranks of systems on the same questions: arrays in, numbers out."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from ...core.scorer import Scorer
from ...statistics import resampling
from . import jackknife

LEVEL = 0.05


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


def analyse(
    systems: Sequence[str],
    scorers: Mapping[str, object],
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
        samples: number of bootstrap samples, and of permutations; the same ones for all systems and metrics.
        seed: the same seed gives the same numbers.
        correction: one of `resampling.CORRECTIONS`; the tests of one score are one family.
        questions: (rows,) number of every row's question, 0, 1, ... without gaps: rows of one question are drawn and
            exchanged together. None: each row is its own.

    Returns:
        metric -> "scores": name -> system -> value, low, high; "tests": name -> "systems": system -> cluster, ranks;
        "pairs": first, second, difference with interval, p-values, wins, ties, losses.
    """
    widths = [part.shape[2] for part in statistics.values()]
    together = np.concatenate(list(statistics.values()), axis=2)
    questions = np.arange(len(together)) if questions is None else questions
    number = jackknife.effective_clusters(np.bincount(questions))
    few = jackknife.is_few(number)
    whole = np.zeros((questions.max() + 1, *together.shape[1:]))  # sums over the rows of a question
    np.add.at(whole, questions, together)
    cuts = np.cumsum([0, *widths])
    totals = whole.sum(axis=0)
    drawn = (
        totals - whole
        if few
        else resampling.resampled_sums(resampling.bootstrap_counts(len(whole), samples, seed), whole)
    )
    exchanged = resampling.resampled_sums(resampling.swaps(len(whole), samples, seed), whole)
    pairs = list(combinations(range(len(systems)), 2))
    found = {}
    for place, (metric, scorer) in enumerate(scorers.items()):
        own = slice(cuts[place], cuts[place + 1])

        def scores(sums: np.ndarray, scorer=scorer) -> dict[str, np.ndarray]:
            return scorer.resampled_scores(sums[..., :-1], sums[..., -1])

        values, resampled = scores(totals[:, own]), scores(drawn[..., own])
        limits = {}
        for name in scorer.names:
            if not few:
                limits[name] = resampling.interval(resampled[name], number)
                continue
            # The mean of a column is within 0 and 1 by chance if its scores are not.
            seen = statistics[metric][..., 0] if isinstance(scorer, Column) else resampled[name]
            interval = jackknife.share_interval if 0 <= seen.min() and seen.max() <= 1 else jackknife.mean_interval
            limits[name] = interval(values[name], resampled[name], number)
        entry: dict[str, dict] = {
            "scores": {
                name: {
                    system: _estimate(values[name][i], limits[name][0][i], limits[name][1][i])
                    for i, system in enumerate(systems)
                }
                for name in scorer.names
            },
            "tests": {},
        }
        for name in scorer.significance_scores:
            p_values = resampling.permutation_p_values(
                exchanged[..., own], totals[:, own], lambda sums, name=name, scores=scores: scores(sums)[name], pairs
            )
            bootstrap_p = shares = np.full(len(pairs), np.nan)
            if not few:
                bootstrap_p, shares = resampling.bootstrap_p_values(resampled[name], values[name], pairs, number)
            corrected = resampling.adjust_p_values(p_values, correction)
            bootstrap_corrected = resampling.adjust_p_values(bootstrap_p, correction)
            by_row = row_scores(scorer, statistics[metric], name)
            better = np.zeros((len(systems), len(systems)), dtype=bool)
            rows = []
            for i, (first, second) in enumerate(pairs):
                difference = values[name][first] - values[name][second]
                if corrected[i] < LEVEL:
                    better[(first, second) if difference > 0 else (second, first)] = True
                apart = resampled[name][:, first] - resampled[name][:, second]
                low, high = (
                    jackknife.difference_interval(
                        *((values[name][i], limits[name][0][i], limits[name][1][i]) for i in (first, second)),
                        *(resampled[name][:, i] for i in (first, second)),
                        number,
                    )
                    if few
                    else resampling.interval(apart, number)
                )
                rows.append(
                    {
                        "first": systems[first],
                        "second": systems[second],
                        "difference": _estimate(difference, low, high),
                        "permutation_p": float(p_values[i]),
                        "permutation_p_corrected": float(corrected[i]),
                        "bootstrap_p": float(bootstrap_p[i]),
                        "bootstrap_p_corrected": float(bootstrap_corrected[i]),
                        "first_better_in": float(shares[i]),
                        **_outcomes(by_row, first, second),
                    }
                )
            clusters, ranks = resampling.ranking(values[name], better)
            entry["tests"][name] = {
                "systems": {
                    system: {"cluster": clusters[i], "best_rank": ranks[i][0], "worst_rank": ranks[i][1]}
                    for i, system in enumerate(systems)
                },
                "pairs": rows,
            }
        found[metric] = entry
    return found


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
