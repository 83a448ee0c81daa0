"""Scores, intervals, tests and ranks of systems on the same questions: arrays in, numbers out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ...core.scorer import Scorer
from ...statistics.estimation import LabelTests, QuestionSums, accuracy_tests, question_sums
from ...statistics.intervals import MIN_QUESTIONS, kish, share_interval
from ...statistics.resampling import LEVEL, PairedTests, bootstrap_counts, corrected, influences, paired_tests, ranking
from ..judge_errors import JudgeErrors

ACCURACY = "accuracy"  # the estimate that is tested where it can be told, in place of a judge's verdicts
INTERVAL = "95%: of scores Wilson's, of differences studentized bootstrap; questions resampled"
OF_ACCURACY = {  # of differences of the accuracy, by what it rests on
    "labels": "by labels of some rows Agresti-Caffo's with the judge and Welch's t",
    "judge": "by the judge's errors on other data normal, from both intervals",
}


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


def scores_of_rows(scorer: Scorer, statistics: np.ndarray) -> dict[str, np.ndarray]:
    """Return {name: (rows, systems) scores}; a set of predictions has the score of its mean statistics.

    Statistics are (rows, systems, k + 1) sums over the predictions of a row, the last column their number. Names are
    those of `Scorer.row_names`.
    """
    means = statistics[..., :-1] / np.maximum(statistics[..., -1:], 1)
    scores = scorer.row_scores(means.reshape(-1, means.shape[-1]))
    return {name: np.asarray(row_scores).reshape(means.shape[:2]) for name, row_scores in scores.items()}


def row_name(scorer: Scorer, name: str) -> str:
    """Return the name that a score of a corpus has in a single row."""
    return scorer.row_names[scorer.names.index(name)]


def _estimate(value: float, low: float, high: float) -> dict[str, float]:
    return {"value": float(value), "low": float(low), "high": float(high)}


@dataclass(frozen=True)
class Judged:
    """A judge's verdicts on answers of which people labelled some. Arrays of (rows, systems)."""

    verdicts: np.ndarray  # 1 where the judge accepts, else 0
    judged: np.ndarray  # the judge's probabilities
    declined: np.ndarray  # 1 where an answer gives none, and the judge does not accept it
    labels: np.ndarray  # of people, 0 to 1; NaN without one
    chances: np.ndarray  # probability with which a row was drawn to be labelled
    errors: JudgeErrors
    label_error: float = 0.0  # share of wrong labels

    @property
    def by_row(self) -> np.ndarray:
        """(rows, systems) labels, and verdicts where there is none."""
        return np.where(np.isnan(self.labels), self.verdicts, self.labels)

    def at_rows(self, rows: np.ndarray) -> "Judged":
        """Return the verdicts and labels of some rows."""
        names = ("verdicts", "judged", "declined", "labels", "chances")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def sums(self, systems: Sequence[str], questions: np.ndarray) -> dict[str, QuestionSums]:
        """Return {system: sums by question, of which its accuracy is estimated}."""
        columns = self.judged, self.verdicts, self.labels, self.chances
        return {
            system: question_sums(*(column[:, s] for column in columns), questions, self.declined[:, s])
            for s, system in enumerate(systems)
        }

    def accuracy(
        self, systems: Sequence[str], questions: np.ndarray, samples: int, seed: int
    ) -> tuple[np.ndarray, LabelTests, np.ndarray]:
        """Return (systems, 3) accuracies with limits, the tests of all pairs, and the (rows, systems) scores tested.

        Accuracies are NaN where they cannot be told. The scores of a system are its labels (NaN without one) where
        labels decide, else its verdicts.
        """
        sums = self.sums(systems, questions)
        estimates = [self.errors.estimate(*pair, label_error=self.label_error) for pair in sums.items()]
        limits = [[np.nan] * 3 if of.low is None else [of.value, of.low, of.high] for of in estimates]
        draws = bootstrap_counts(int(questions.max()) + 1, samples, seed)
        tests = accuracy_tests(estimates, draws, label_error=self.label_error)
        scores = np.where([estimate.by_labels for estimate in estimates], self.labels, self.verdicts)
        return np.array(limits, dtype=float), tests, scores


def uncorrected(
    systems: Sequence[str],
    scorers: Mapping[str, Scorer],
    statistics: Mapping[str, np.ndarray],
    samples: int,
    seed: int,
    questions: np.ndarray,
    judges: Mapping[str, Judged] | None = None,
) -> dict[str, tuple[dict[str, dict], dict[str, tuple[PairedTests | LabelTests, np.ndarray]]]]:
    """Return {metric: (scores, tests)} before p-values are corrected for their number; arguments as for `analyse`.

    Scores are {name: {system: "value", "low", "high"}}; tests, of the names that are tested, {name: (tests of all
    pairs, (rows, systems) scores)}.
    """
    sizes = np.bincount(questions)
    number = float(kish(sizes))
    first, second = np.array(list(combinations(range(len(systems)), 2))).T
    result = {}
    for metric, scorer in scorers.items():
        question_statistics = np.zeros((len(sizes), *statistics[metric].shape[1:]))
        np.add.at(question_statistics, questions, statistics[metric])
        totals = question_statistics.sum(axis=0)
        corpus = scorer.resampled_scores(totals[..., :-1], totals[..., -1])
        rest = totals - question_statistics
        without = scorer.resampled_scores(rest[..., :-1], rest[..., -1])
        by_row = scores_of_rows(scorer, statistics[metric])
        scores, tests, tested = {}, {}, list(scorer.significance_scores)
        if judges and metric in judges:
            tested[0] = ACCURACY
            accuracies, *tests_of_accuracy = judges[metric].accuracy(systems, questions, samples, seed)
            scores[ACCURACY] = {system: _estimate(*ends) for system, ends in zip(systems, accuracies, strict=True)}
            tests[ACCURACY] = tuple(tests_of_accuracy)
        for name in scorer.names:
            moves = influences(corpus[name], without[name])
            # The mean of a column is within 0 and 1 by chance if its scores are not.
            observed = statistics[metric][..., 0] if isinstance(scorer, Column) else without[name]
            is_share = bool(np.nanmin(observed) >= -1e-9 and np.nanmax(observed) <= 1 + 1e-9)
            if is_share:
                influence = np.moveaxis(moves, 0, -1) / len(sizes)
                all_sizes = np.broadcast_to(sizes, influence.shape)
                low, high = share_interval(np.clip(corpus[name], 0, 1), influence, all_sizes)
            elif number < MIN_QUESTIONS:
                low = high = np.full(len(systems), np.nan)
            else:
                unbounded, draws = np.full(len(systems), np.inf), bootstrap_counts(len(sizes), samples, seed)
                from_zero = paired_tests(corpus[name], moves, number, unbounded, draws)
                low, high = from_zero.limits(np.full(len(systems), LEVEL))
            scores[name] = {system: _estimate(corpus[name][s], low[s], high[s]) for s, system in enumerate(systems)}
            if name in tested:
                row_scores = by_row[row_name(scorer, name)]
                bounds = np.full(len(first), 1.0 if is_share else float(np.ptp(row_scores)) or np.inf)
                draws = bootstrap_counts(len(sizes), samples, seed)
                differences, influence = corpus[name][first] - corpus[name][second], moves[:, first] - moves[:, second]
                tests[name] = paired_tests(differences, influence, number, bounds, draws), row_scores
        result[metric] = scores, {name: tests[name] for name in tested}
    return result


def analyse(
    systems: Sequence[str],
    scorers: Mapping[str, Scorer],
    statistics: Mapping[str, np.ndarray],
    samples: int = 10_000,
    seed: int = 0,
    correction: str = "holm",
    questions: np.ndarray | None = None,
    judges: Mapping[str, Judged] | None = None,
) -> dict[str, dict]:
    """Return scores with intervals, tests of all pairs of systems, and ranks.

    Args:
        systems: their names.
        scorers: {metric: its scorer}.
        statistics: {metric: (rows, systems, k + 1) sums over the predictions of a row, the last their number}.
        samples: number of bootstrap samples, which are the same for all systems and metrics.
        seed: of the samples.
        correction: one of `CORRECTIONS`. The tests by the first score of every metric are one family, those by the
            second ones another, and so on.
        questions: (rows,) numbers 0, 1, ... without gaps; rows of one question are drawn together. None: one row each.
        judges: {metric: verdicts and labels} of judges whose estimated accuracy is tested in place of the verdicts.

    Returns:
        {metric: {"scores": {name: {system: "value", "low", "high"}}, "tests": {name: {"systems": {system: "cluster",
        "best_rank", "worst_rank"}, "pairs": see `tested_pairs`}}}}. Intervals of differences are as wide as the
        correction asks.
    """
    questions = np.arange(len(next(iter(statistics.values())))) if questions is None else questions
    result = uncorrected(systems, scorers, statistics, samples, seed, questions, judges)
    report: dict[str, dict] = {metric: {"scores": scores, "tests": {}} for metric, (scores, _) in result.items()}
    numbers = {system: s for s, system in enumerate(systems)}
    for position in range(max(len(tests) for _, tests in result.values())):
        family = [(metric, list(tests)[position]) for metric, (_, tests) in result.items() if len(tests) > position]
        outcomes = corrected([result[metric][1][name][0] for metric, name in family], correction)
        for (metric, name), outcome in zip(family, outcomes, strict=True):
            pairs = tested_pairs(systems, *result[metric][1][name], outcome)
            better = np.zeros((len(systems), len(systems)), dtype=bool)
            for pair in pairs:
                ends = numbers[pair["first"]], numbers[pair["second"]]
                better[ends if pair["difference"]["value"] > 0 else ends[::-1]] = pair["p_corrected"] < LEVEL
            scores = np.array([estimate["value"] for estimate in result[metric][0][name].values()])
            ranks = {system: dict.fromkeys(("cluster", "best_rank", "worst_rank")) for system in systems}
            ranked = np.flatnonzero(~np.isnan(scores))
            clusters = zip(ranked.tolist(), *ranking(scores[ranked], better[np.ix_(ranked, ranked)]), strict=True)
            for s, cluster, (best, worst) in clusters:
                ranks[systems[s]] = {"cluster": cluster, "best_rank": best, "worst_rank": worst}
            report[metric]["tests"][name] = {"systems": ranks, "pairs": pairs}
    return report


def analyse_slices(
    systems: Sequence[str],
    scorers: Mapping[str, Scorer],
    statistics: Mapping[str, np.ndarray],
    rows_by_slice: Mapping[str, np.ndarray],
    samples: int,
    seed: int,
    correction: str,
    questions: np.ndarray,
    judges: Mapping[str, Judged],
) -> dict[str, dict[str, dict]]:
    """Return {metric: {slice: "questions" (their number), "scores", "pairs"}} by the score that ranks systems.

    p-values are corrected over all pairs in all slices. `rows_by_slice` has the row numbers of every slice; the other
    arguments are those of `analyse`.
    """
    results, questions_by_slice = {}, {}
    for slice_name, rows in rows_by_slice.items():
        numbers = questions_by_slice[slice_name] = np.unique(questions[rows], return_inverse=True)[1]
        slice_statistics = {metric: sums[rows] for metric, sums in statistics.items()}
        judged = {metric: judge.at_rows(rows) for metric, judge in judges.items()}
        results[slice_name] = uncorrected(systems, scorers, slice_statistics, samples, seed, numbers, judged)
    report: dict[str, dict[str, dict]] = {}
    for metric in scorers:
        by_slice = {slice_name: result[metric] for slice_name, result in results.items()}
        name = next(iter(next(iter(by_slice.values()))[1]))
        family = corrected([tests[name][0] for _, tests in by_slice.values()], correction)
        report[metric] = {
            slice_name: {
                "questions": int(questions_by_slice[slice_name].max()) + 1,
                "scores": scores[name],
                "pairs": tested_pairs(systems, *tests[name], outcome),
            }
            for (slice_name, (scores, tests)), outcome in zip(by_slice.items(), family, strict=True)
        }
    return report


def tested_pairs(
    systems: Sequence[str], tests: PairedTests | LabelTests, by_row: np.ndarray, outcome: tuple
) -> list[dict]:
    """Return the tests of all pairs as reports have them; `outcome` is one of those that `corrected` returns.

    Keys are "first", "second", "difference" ("value", "low", "high"), "p", "p_corrected", "differing" (number of
    questions on which the two differ; None where labels of some rows decide), "wins", "ties" and "losses" of the first
    system, in the rows where both have a score.
    """
    pairs = []
    for i, (first, second) in enumerate(combinations(range(len(systems)), 2)):
        a, b = by_row[:, first], by_row[:, second]
        slack = 1e-12 * np.maximum(np.abs(a), np.abs(b))
        wins, losses = int((a - b > slack).sum()), int((a - b < -slack).sum())
        difference = _estimate(tests.differences[i], outcome[1][i], outcome[2][i])
        pair = {"first": systems[first], "second": systems[second], "difference": difference}
        pair |= {"p": float(tests.p_values[i]), "p_corrected": float(outcome[0][i])}
        differing = tests.differing[i]
        pair["differing"] = None if np.isnan(differing) else math.ceil(differing - 1e-9)
        both = int((~np.isnan(a) & ~np.isnan(b)).sum())
        pairs.append(pair | {"wins": wins, "ties": both - wins - losses, "losses": losses})
    return pairs


def closest_pair(scores: Mapping[str, Mapping], pairs: Sequence[Mapping]) -> list[str]:
    """Return [better, other], the systems whose answers are shown: the closest two of those that may be the best.

    The better one comes first. Where one is significantly better than all others, it and the next one. Systems without
    a score are left out. `pairs`: see `tested_pairs`.

    >>> scores = {"c": {"value": 0.6}, "a": {"value": 0.9}, "b": {"value": 0.7}, "d": {"value": 0.1}}
    >>> test = lambda first, second, p: {"first": first, "second": second, "p_corrected": p}
    >>> closest_pair(scores, [test("c", "b", 0.9), test("c", "a", 0.3), test("a", "b", 0.3), test("a", "d", 0.01)])
    ['b', 'c']
    >>> closest_pair(scores, [test("a", system, 0.01) for system in "bcd"])
    ['a', 'b']
    """
    scored = [system for system, of in scores.items() if of["value"] is not None and not np.isnan(of["value"])]
    order = sorted(scored, key=lambda system: -scores[system]["value"])
    decided = {frozenset((pair["first"], pair["second"])) for pair in pairs if (pair["p_corrected"] or np.nan) < LEVEL}
    best = [system for system in order if frozenset((order[0], system)) not in decided]
    undecided = [list(pair) for pair in combinations(best, 2) if frozenset(pair) not in decided]
    return min(undecided, key=lambda pair: scores[pair[0]]["value"] - scores[pair[1]]["value"], default=order[:2])


def most_different(scores: np.ndarray, number: int, finer: np.ndarray | None = None) -> list[int]:
    """Return the questions on which systems differ most; of two systems as many for the one as for the other.

    Scores are (questions, systems); questions with equal ones are left out; `finer` scores tell equal differences
    apart, such as a judge's probabilities. The largest difference comes first; of equal ones first those that split
    the systems most evenly, then those with the largest difference of `finer`; where there are more of them, spread
    over the file.

    >>> most_different(np.array([[0.0, 0.1], [1.0, 0.0], [0.0, 0.8], [0.9, 0.0]]), 2)
    [1, 2]
    >>> most_different(np.array([[1.0, 0.0, 0.0]] * 9), 3)
    [0, 4, 8]
    """
    finer = scores if finer is None else finer
    keys = np.stack([np.ptp(scores, axis=1), scores.std(axis=1), np.ptp(finer, axis=1)]).round(9)
    order = np.lexsort(-keys[::-1])
    order = order[keys[0, order] > 0]
    if scores.shape[1] == 2:
        ahead = scores[order, 0] > scores[order, 1]
        sides = order[ahead], order[~ahead]
        half = number // 2
        taken = max(half, number - len(sides[1])), max(number - half, number - len(sides[0]))
        chosen = {row for side, most in zip(sides, taken, strict=True) for row in _first(side, keys, most)}
        order = np.array([row for row in order.tolist() if row in chosen], dtype=int)
    return _first(order, keys, number)


def _first(order: np.ndarray, keys: np.ndarray, number: int) -> list[int]:
    """Return the first `number` questions of an order; of those tied at its end an evenly spread selection."""
    if number >= len(order) or number < 1:
        return order[: max(number, 0)].tolist()
    tied = (keys[:, order] == keys[:, order[number - 1], None]).all(axis=0)
    before, tied = order[: int(tied.argmax())], order[tied]
    spread = np.linspace(0, len(tied) - 1, number - len(before)).astype(int)
    return [*before.tolist(), *tied[spread].tolist()]
