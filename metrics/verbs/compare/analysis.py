"""Scores, intervals, tests and ranks of systems on the same questions: arrays in, numbers out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations

import numpy as np

from ...core.scorer import Scorer
from ...statistics.estimation import LabelTests, QuestionSums, accuracy_tests, question_sums
from ...statistics.intervals import MIN_QUESTIONS, kish, share_interval
from ...statistics.resampling import LEVEL, PairedTests, bootstrap_counts, corrected, influences, paired_tests, ranking
from ..judge_errors import JudgeErrors

ACCURACY = "accuracy"  # the estimate that is tested where it can be told, in place of a judge's verdicts
INTERVAL = "95%: of scores Wilson's, of differences studentized bootstrap; questions resampled"
OF_ACCURACY = (  # of differences of an accuracy, not by labels of all rows
    "; by labels of some rows paired t (Agresti-Caffo) with the judge; by the judge's errors on other data normal, "
    "from both intervals"
)


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


def row_name(scorer: Scorer, name: str) -> str:
    """Return the name that a score of a corpus has in a single row."""
    return scorer.row_names[scorer.names.index(name)]


def _estimate(score: float, low: float, high: float) -> dict[str, float]:
    return {"value": float(score), "low": float(low), "high": float(high)}


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

    def accuracy(self, systems: Sequence[str], questions: np.ndarray, draws) -> tuple[dict, LabelTests, np.ndarray]:
        """Return {system: accuracy with limits}, the tests of all pairs, and the (rows, systems) scores tested.

        Accuracies are NaN where they cannot be told. The scores of a system are its labels (NaN without one) where
        labels decide, else its verdicts.
        """
        sums = self.sums(systems, questions)
        estimates = [self.errors.estimate(*pair, label_error=self.label_error) for pair in sums.items()]
        ends = [(np.nan,) * 3 if of.low is None else (of.value, of.low, of.high) for of in estimates]
        tests = accuracy_tests(estimates, draws, label_error=self.label_error)
        scores = np.where([estimate.by_labels for estimate in estimates], self.labels, self.verdicts)
        return {system: _estimate(*of) for system, of in zip(systems, ends, strict=True)}, tests, scores


@dataclass(frozen=True)
class Compared:
    """What systems scored on the same rows, and how their differences are tested."""

    systems: Sequence[str]
    scorers: Mapping[str, Scorer]
    statistics: Mapping[str, np.ndarray]  # {metric: (rows, systems, k + 1) sums over the predictions, their number}
    questions: np.ndarray  # (rows,) numbers 0, 1, ... without gaps; rows of one question are drawn together
    judges: Mapping[str, Judged] = field(default_factory=dict)  # whose accuracy is tested in place of the verdicts
    samples: int = 10_000  # of the bootstrap, the same for all systems and metrics
    seed: int = 0

    def at_rows(self, rows: np.ndarray) -> "Compared":
        """Return the scores on some rows."""
        return replace(
            self,
            statistics={metric: sums[rows] for metric, sums in self.statistics.items()},
            questions=np.unique(self.questions[rows], return_inverse=True)[1],
            judges={metric: judge.at_rows(rows) for metric, judge in self.judges.items()},
        )

    @cached_property
    def row_scores(self) -> dict[str, dict[str, np.ndarray]]:
        """{metric: {name of a row's score: (rows, systems) scores}}; a set has the score of its mean sums."""
        result: dict[str, dict[str, np.ndarray]] = {}
        for metric, scorer in self.scorers.items():
            statistics = self.statistics[metric]
            means = statistics[..., :-1] / np.maximum(statistics[..., -1:], 1)
            scores = scorer.row_scores(means.reshape(-1, means.shape[-1]))
            result[metric] = {name: np.asarray(of).reshape(means.shape[:2]) for name, of in scores.items()}
        return result

    def uncorrected(self) -> dict[str, tuple[dict[str, dict], dict[str, tuple[PairedTests | LabelTests, np.ndarray]]]]:
        """Return {metric: (scores, tests)} before p-values are corrected for their number.

        Scores are {name: {system: "value", "low", "high"}}; tests, of the names that are tested, {name: (tests of all
        pairs, (rows, systems) scores)}.
        """
        sizes = np.bincount(self.questions)
        number, draws = float(kish(sizes)), partial(bootstrap_counts, len(sizes), self.samples, self.seed)
        first, second = np.array(list(combinations(range(len(self.systems)), 2))).T
        result = {}
        for metric, scorer in self.scorers.items():
            statistics = self.statistics[metric]
            question_statistics = np.zeros((len(sizes), *statistics.shape[1:]))
            np.add.at(question_statistics, self.questions, statistics)
            totals = question_statistics.sum(axis=0)
            corpus, without = (
                scorer.resampled_scores(sums[..., :-1], sums[..., -1])
                for sums in (totals, totals - question_statistics)
            )
            scores, tests, tested = {}, {}, list(scorer.significance_scores)
            if metric in self.judges:
                tested[0] = ACCURACY
                judge = self.judges[metric]
                scores[ACCURACY], *tests[ACCURACY] = judge.accuracy(self.systems, self.questions, draws())
            for name in scorer.names:
                moves = influences(without[name])
                # The mean of a column is within 0 and 1 by chance if its scores are not.
                observed = statistics[..., 0] if isinstance(scorer, Column) else without[name]
                is_share = bool(np.nanmin(observed) >= -1e-9 and np.nanmax(observed) <= 1 + 1e-9)
                low = high = np.full(len(self.systems), np.nan)
                if is_share:
                    influence = np.moveaxis(moves, 0, -1) / len(sizes)
                    sizes_of_all = np.broadcast_to(sizes, influence.shape)
                    low, high = share_interval(np.clip(corpus[name], 0, 1), influence, sizes_of_all)
                elif number >= MIN_QUESTIONS:
                    from_zero = paired_tests(corpus[name], moves, number, np.full(len(low), np.inf), draws())
                    low, high = from_zero.limits(np.full(len(low), LEVEL))
                scores[name] = dict(zip(self.systems, map(_estimate, corpus[name], low, high), strict=True))
                if name in tested:
                    row_scores = self.row_scores[metric][row_name(scorer, name)]
                    bounds = np.full(len(first), 1.0 if is_share else float(np.ptp(row_scores)) or np.inf)
                    differences = corpus[name][first] - corpus[name][second]
                    apart = moves[:, first] - moves[:, second]
                    tests[name] = paired_tests(differences, apart, number, bounds, draws()), row_scores
            result[metric] = scores, {name: tests[name] for name in tested}
        return result

    def tested_pairs(self, family: Sequence[tuple[PairedTests | LabelTests, np.ndarray]]) -> list[list[dict]]:
        """Return the corrected tests of all pairs as reports have them, for each (tests, (rows, systems) scores).

        Keys are "first", "second", "difference" ("value", "low", "high"), "p_uncorrected", "p_corrected", "differing"
        (number of questions on which the two differ; None where labels of some rows decide), "wins", "ties" and
        "losses" of the first system, in the rows where both have a score.
        """
        result = []
        outcomes = corrected([tests for tests, _ in family])
        for (tests, by_row), (p_corrected, low, high) in zip(family, outcomes, strict=True):
            pairs = []
            for i, (first, second) in enumerate(combinations(range(len(self.systems)), 2)):
                pair = {"first": self.systems[first], "second": self.systems[second]}
                pair["difference"] = _estimate(tests.differences[i], low[i], high[i])
                pair |= {"p_uncorrected": float(tests.p_values[i]), "p_corrected": float(p_corrected[i])}
                differing = tests.differing[i]
                pair["differing"] = None if np.isnan(differing) else math.ceil(differing - 1e-9)
                a, b = by_row[:, first], by_row[:, second]
                slack, both = 1e-12 * np.maximum(np.abs(a), np.abs(b)), int((~np.isnan(a + b)).sum())
                wins, losses = int((a - b > slack).sum()), int((a - b < -slack).sum())
                pairs.append(pair | {"wins": wins, "ties": both - wins - losses, "losses": losses})
            result.append(pairs)
        return result


def analyse(compared: Compared) -> dict[str, dict]:
    """Return scores with intervals, tests of all pairs of systems, and ranks.

    {metric: {"scores": {name: {system: "value", "low", "high"}}, "tests": {name: {"systems": {system: "cluster",
    "best_rank", "worst_rank"}, "pairs": see `tested_pairs`}}}}. The tests by the first score of every metric are one
    family, those by the second ones another, and so on. Intervals of differences are as wide as Holm's method asks.
    """
    result = compared.uncorrected()
    report: dict[str, dict] = {metric: {"scores": scores, "tests": {}} for metric, (scores, _) in result.items()}
    for position in range(max(len(tests) for _, tests in result.values())):
        family = [(metric, list(tests)[position]) for metric, (_, tests) in result.items() if len(tests) > position]
        all_pairs = compared.tested_pairs([result[metric][1][name] for metric, name in family])
        for (metric, name), pairs in zip(family, all_pairs, strict=True):
            report[metric]["tests"][name] = {"systems": _ranks(result[metric][0][name], pairs), "pairs": pairs}
    return report


def _ranks(scores: Mapping[str, Mapping], pairs: Sequence[Mapping]) -> dict[str, dict[str, int | None]]:
    """Return {system: "cluster", "best_rank", "worst_rank"}, None for a system without a score."""
    ranks = {system: dict.fromkeys(("cluster", "best_rank", "worst_rank")) for system in scores}
    ranked = [system for system, score in scores.items() if not np.isnan(score["value"])]
    better = np.zeros((len(ranked), len(ranked)), dtype=bool)
    for pair in pairs:
        if pair["p_corrected"] < LEVEL:
            ends = ranked.index(pair["first"]), ranked.index(pair["second"])
            better[ends if pair["difference"]["value"] > 0 else ends[::-1]] = True
    clusters = ranking(np.array([scores[system]["value"] for system in ranked]), better)
    for system, cluster, (best, worst) in zip(ranked, *clusters, strict=True):
        ranks[system] = {"cluster": cluster, "best_rank": best, "worst_rank": worst}
    return ranks


def analyse_slices(compared: Compared, rows_by_slice: Mapping[str, np.ndarray]) -> dict[str, dict[str, dict]]:
    """Return {metric: {slice: "questions" (their number), "scores", "pairs"}} by the score that ranks systems.

    p-values are corrected over all pairs in all slices. `rows_by_slice` has the row numbers of every slice.
    """
    slices = {slice_name: compared.at_rows(rows) for slice_name, rows in rows_by_slice.items()}
    results = {slice_name: scores_within.uncorrected() for slice_name, scores_within in slices.items()}
    report: dict[str, dict[str, dict]] = {}
    for metric in compared.scorers:
        by_slice = {slice_name: result[metric] for slice_name, result in results.items()}
        name = next(iter(next(iter(by_slice.values()))[1]))
        all_pairs = compared.tested_pairs([tests[name] for _, tests in by_slice.values()])
        report[metric] = {
            slice_name: {
                "questions": int(slices[slice_name].questions.max()) + 1,
                "scores": scores[name],
                "pairs": pairs,
            }
            for (slice_name, (scores, _)), pairs in zip(by_slice.items(), all_pairs, strict=True)
        }
    return report


def closest_pair(scores: Mapping[str, Mapping], pairs: Sequence[Mapping]) -> list[str]:
    """Return [better, other], the systems whose answers are shown: the closest two of those that may be the best.

    The better one comes first. Where one is significantly better than all others, it and the next one. Systems without
    a score are left out. `pairs`: see `tested_pairs`.

    >>> scores = {"c": {"value": 0.6}, "a": {"value": 0.9}, "b": {"value": 0.7}, "d": {"value": 0.1}}
    >>> test = lambda first, second, p: {"first": first, "second": second, "p_corrected": p}
    >>> closest_pair(scores, [test("c", "b", 0.9), test("c", "a", 0.3), test("a", "b", 0.3), test("a", "d", 0.01)])
    ['b', 'c']
    """
    scored = [system for system, score in scores.items() if not np.isnan(score["value"])]
    order = sorted(scored, key=lambda system: -scores[system]["value"])
    decided = {frozenset((pair["first"], pair["second"])) for pair in pairs if pair["p_corrected"] < LEVEL}
    best = [system for system in order if frozenset((order[0], system)) not in decided]
    undecided = [list(pair) for pair in combinations(best, 2) if frozenset(pair) not in decided]
    return min(undecided, key=lambda pair: scores[pair[0]]["value"] - scores[pair[1]]["value"], default=order[:2])


def most_different(
    scores: np.ndarray, number: int, finer: np.ndarray | None = None, labelled: np.ndarray | None = None
) -> list[int]:
    """Return the questions on which systems differ most; of two systems as many for the one as for the other.

    Scores are (questions, systems); questions with equal ones are left out; `finer` scores tell equal differences
    apart, such as a judge's probabilities. Questions that are `labelled` come first, then the largest difference; of
    equal ones those that split the systems most evenly, then those with the largest difference of `finer`.

    >>> most_different(np.array([[0.0, 0.1], [1.0, 0.0], [0.0, 0.8], [0.9, 0.0]]), 2)
    [1, 2]
    """
    finer = scores if finer is None else finer
    first = np.zeros(len(scores)) if labelled is None else labelled
    keys = np.stack([first, np.ptp(scores, axis=1), scores.std(axis=1), np.ptp(finer, axis=1)]).round(9)
    order = np.lexsort(-keys[::-1])
    order = order[keys[1, order] > 0]
    if scores.shape[1] == 2:
        ahead = scores[order, 0] > scores[order, 1]
        turn = np.where(ahead, np.cumsum(ahead), np.cumsum(~ahead))
        order = order[np.sort(np.argsort(turn, kind="stable")[:number])]
    return order[:number].tolist()
