"""The systems of a comparison by one score, best first, and who is significantly ahead of whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...reports.report import from_first, rejected
from ...statistics.resampling import LEVEL
from .analysis import ACCURACY


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
    judged: Mapping | None  # of a judge, what `judge_errors.judged_systems` returns
    only_verdicts: bool  # a judge accepts more answers of one system, and how many are right cannot be told
    too_few_labels: bool  # people labelled all answers, but to too few questions for an accuracy: nothing is tested

    @property
    def accuracy(self) -> Mapping | None:
        """`judged`, where the score is the estimated accuracy."""
        return self.judged if self.name == ACCURACY else None

    @property
    def counted(self) -> str:
        """What `right` counts, "labelled right" or "judged right"; "" for scores that judge no answer."""
        if not self.judged:
            return ""
        return "labelled right" if any(of["labelled"] for of in self.judged["systems"].values()) else "judged right"

    @property
    def right(self) -> dict[str, tuple[int, int]]:
        """{system: (right answers, answers)} by labels where people labelled some, else by the judge's verdicts."""
        systems = self.judged["systems"] if self.judged else {}
        if self.counted == "labelled right":
            return {name: (of["labelled_right"], of["labelled"]) for name, of in systems.items()}
        return {name: (of["rows"] - rejected(of), of["rows"]) for name, of in systems.items()}

    @property
    def significant(self) -> list[tuple[str, str]]:
        """Names of the two systems, the better one first, of each pair that differs significantly."""
        return [(pair["first"], pair["second"]) for pair in self.pairs if is_clear(pair)]

    @property
    def worse(self) -> list[str]:
        """Systems that are significantly worse than the first one."""
        return [worse for better, worse in self.significant if better == self.order[0]]

    @property
    def leaders(self) -> list[str]:
        """The first system, and those that are not significantly worse."""
        return [system for system in self.estimated if system not in self.worse]

    @property
    def marked(self) -> set[int]:
        """Row numbers of the leaders in a table in this order; none where no system is significantly worse."""
        return {self.order.index(system) for system in self.leaders if self.worse and not self.only_verdicts}


def ranking_by(metric: str, name: str, numbers: Mapping[str, Any]) -> Ranking:
    """Return the ranking by a tested score of a metric; `numbers` are those of the metric in a report."""
    scores, tests, judged = numbers["scores"][name], numbers["tests"][name], numbers.get("accuracy")
    estimated = [system for system, score in scores.items() if score["value"] is not None]
    only_verdicts, too_few = bool(judged) and ACCURACY not in numbers["tests"], False
    if only_verdicts and name == next(iter(numbers["tests"])):
        too_few = all(of["labelled"] == of["rows"] for of in judged["systems"].values())
    heights = {name: of["labelled_right"] for name, of in judged["systems"].items()} if too_few else {}
    estimated.sort(key=lambda system: -heights.get(system, scores[system]["value"]))
    order = [*estimated, *(system for system in scores if system not in estimated)]
    pairs = [from_better(order, pair) for pair in tests["pairs"]]
    pairs.sort(key=lambda pair: (order.index(pair["first"]), order.index(pair["second"])))
    ranks = tests["systems"]
    return Ranking(metric, name, scores, order, estimated, ranks, pairs, judged, only_verdicts, too_few)


def is_clear(pair: Mapping[str, Any]) -> bool:
    """Return whether a difference is significant."""
    return pair["p_corrected"] is not None and pair["p_corrected"] < LEVEL


def from_better(order: list[str], pair: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a test of two systems, turned so that the system that is earlier in `order` comes first."""
    return from_first(pair, min(pair["first"], pair["second"], key=order.index))
