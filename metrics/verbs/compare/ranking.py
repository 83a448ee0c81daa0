"""The systems of a comparison by one score, best first, and who is significantly ahead of whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from ...statistics.resampling import LEVEL
from .analysis import ACCURACY, closest_pair

Pair = tuple[str, str]  # names of two systems, the better one first


@dataclass(frozen=True)
class Ranking:
    """The systems by one tested score of a metric."""

    metric: str
    name: str  # of the score
    scores: Mapping[str, Mapping]  # {system: "value", "low", "high"}
    order: list[str]  # all systems, the best first, those without an estimate last
    estimated: list[str]  # those with an estimate
    ranks: Mapping[str, Mapping]  # {system: "cluster", "best_rank", "worst_rank"}
    pairs: list[Mapping]  # tests of all pairs in this order, the better system first
    significant: list[Pair]
    judged: Mapping | None  # of a judge whose errors are counted, what `judge_errors.judged_systems` returns
    only_verdicts: bool  # a judge accepts more answers of one system, and how many are right cannot be told
    to_read: list[str]  # the two systems whose rows are shown

    @property
    def accuracy(self) -> Mapping | None:
        """`judged`, where the score is the estimated accuracy."""
        return self.judged if self.name == ACCURACY else None

    @property
    def worse(self) -> list[str]:
        """Systems that are significantly worse than the first one."""
        return [worse for better, worse in self.significant if better == self.order[0]]

    @property
    def leaders(self) -> list[str]:
        """The first system, and those that are not significantly worse."""
        return [system for system in self.estimated if system not in self.worse]

    @property
    def ahead(self) -> list[str]:
        """The leaders, or only the first one, that are significantly ahead of all that are worse."""
        return self.leaders if {*product(self.leaders, self.worse)} <= {*self.significant} else self.leaders[:1]

    @property
    def all_ahead(self) -> set[Pair]:
        """Pairs of a system of `ahead` and one of `worse`, all of which differ significantly."""
        return {*product(self.ahead, self.worse)}

    @property
    def best(self) -> list[str]:
        """Systems that stand out in tables: the leaders, or all where only verdicts are known."""
        return self.order if self.only_verdicts else self.leaders

    @property
    def marked(self) -> set[int]:
        """Row numbers of the best systems in a table in this order."""
        return {self.order.index(system) for system in self.best}


def ranking_by(metric: str, name: str, numbers: Mapping[str, Any]) -> Ranking:
    """Return the ranking by a tested score of a metric; `numbers` are those of the metric in a report."""
    scores, tests = numbers["scores"][name], numbers["tests"][name]
    score_of = {system: estimate["value"] for system, estimate in scores.items()}
    estimated = sorted((system for system, score in score_of.items() if score is not None), key=lambda s: -score_of[s])
    order = [*estimated, *(system for system in score_of if system not in estimated)]
    accuracy = numbers.get("accuracy")
    judged = accuracy if accuracy and accuracy["errors_counted"] else None
    pairs = [from_better(order, pair) for pair in tests["pairs"]]
    pairs.sort(key=lambda pair: (order.index(pair["first"]), order.index(pair["second"])))
    return Ranking(
        metric=metric,
        name=name,
        scores=scores,
        order=order,
        estimated=estimated,
        ranks=tests["systems"],
        pairs=pairs,
        significant=[(pair["first"], pair["second"]) for pair in pairs if is_clear(pair)],
        judged=judged,
        only_verdicts=bool(judged) and ACCURACY not in numbers["tests"],
        to_read=closest_pair(scores, tests["pairs"]),
    )


def is_clear(pair: Mapping[str, Any]) -> bool:
    """Return whether a difference is significant."""
    return pair["p_corrected"] is not None and pair["p_corrected"] < LEVEL


def from_better(order: list[str], pair: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a test of two systems, turned so that the system that is earlier in `order` comes first."""
    if order.index(pair["first"]) < order.index(pair["second"]):
        return pair
    other = {"first": "second", "second": "first", "wins": "losses", "losses": "wins"}
    ends = {"value": "value", "low": "high", "high": "low"}
    difference = {end: None if (value := pair["difference"][of]) is None else -value for end, of in ends.items()}
    return {**pair, **{name: pair[of] for name, of in other.items()}, "difference": difference}
