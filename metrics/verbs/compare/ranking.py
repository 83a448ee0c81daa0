"""The systems of a comparison by one score, best first, and who is significantly ahead of whom."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from ...reports.report import Report
from .analysis import ACCURACY, closest_pair


def turned(pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return a test with the other system first."""
    other = {"first": "second", "second": "first", "wins": "losses", "losses": "wins"}
    ends = {"value": "value", "low": "high", "high": "low"}
    difference = {end: None if (value := pair["difference"][of]) is None else -value for end, of in ends.items()}
    return {**pair, **{name: pair[of] for name, of in other.items()}, "difference": difference}


class Ranking:
    """The systems by one score of a metric that was tested, without a name by the one that ranks.

    `order` has the best system first, and last those whose accuracy cannot be told, which `told` lacks; `pairs` the
    tests, the better system first, in this order; `judged`, of a judge whose errors are counted, what
    `judge_errors.judged_systems` returns, and `accuracy` the same for the estimates that are tested; `untold` is
    whether a judge accepts more or fewer answers, and how many are right cannot be told;
    `differences` and `significant` are of pairs, the better system first; `worse` are significantly worse than the
    first system, `leaders` the others, `best` too, but all systems if untold; `ahead` are the leaders, or only the
    first one, that are significantly ahead of all that are worse; `to_read` are the two systems whose rows are shown.
    """

    def __init__(self, report: Report, metric: str, name: str | None = None):
        numbers = report.metrics[metric]
        self.report, self.metric, self.name = report, metric, name or next(iter(numbers["tests"]))
        self.scores, tests = numbers["scores"][self.name], numbers["tests"][self.name]
        values = {system: of["value"] for system, of in self.scores.items()}
        self.told = sorted((system for system, value in values.items() if value is not None), key=lambda s: -values[s])
        self.order = [*self.told, *(system for system in values if system not in self.told)]
        accuracy = numbers.get("accuracy")
        self.judged = accuracy if accuracy and accuracy["errors_counted"] else None
        self.accuracy = self.judged if self.name == ACCURACY else None
        self.untold = bool(self.judged) and ACCURACY not in numbers["tests"]
        self.places, place = tests["systems"], self.order.index
        pairs = map(self.from_better, tests["pairs"])
        self.pairs = sorted(pairs, key=lambda pair: (place(pair["first"]), place(pair["second"])))
        self.differences = {(pair["first"], pair["second"]): pair["difference"] for pair in self.pairs}
        self.significant = [(pair["first"], pair["second"]) for pair in self.pairs if report.is_clear(pair)]
        self.worse = [worse for better, worse in self.significant if better == self.order[0]]
        self.leaders = [system for system in self.told if system not in self.worse]
        are_ahead = {*product(self.leaders, self.worse)} <= {*self.significant}
        self.ahead = self.leaders if are_ahead else self.leaders[:1]
        self.best = self.order if self.untold else self.leaders
        self.to_read = closest_pair(self.scores, tests["pairs"])

    def from_better(self, pair: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a test with the system first that is better overall."""
        return pair if self.order.index(pair["first"]) < self.order.index(pair["second"]) else turned(pair)

    @property
    def all_ahead(self) -> set[tuple[str, str]]:
        """Pairs of a system of `ahead` and one of `worse`, all of which differ significantly."""
        return {*product(self.ahead, self.worse)}

    @property
    def marked(self) -> set[int]:
        """Places of the best systems."""
        return {self.order.index(system) for system in self.best}
