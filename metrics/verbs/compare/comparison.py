"""The numbers of a comparison in one record, and what follows from them: orders, the best systems, sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from ...reports.report import briefly
from ...reports.table import number

MOST_SHARES = 6  # systems that a sentence lists
ACCURACY = "accuracy"  # the score that is tested where people labelled the answers of all systems


class Interval(TypedDict):
    """An estimate with its 95% interval; None where it is not defined."""

    value: float | None
    low: float | None
    high: float | None


class Pair(TypedDict):
    """The test of two systems by one score; wins, ties and losses are rows of the first one."""

    first: str
    second: str
    difference: Interval
    p: float | None
    p_corrected: float | None
    wins: int
    ties: int
    losses: int


class Rank(TypedDict):
    """The place of a system by one score, see `resampling.ranking`."""

    cluster: int
    best_rank: int
    worst_rank: int


class Tests(TypedDict):
    """All tests by one score."""

    systems: dict[str, Rank]
    pairs: list[Pair]


class MetricNumbers(TypedDict, total=False):
    """What one metric says: scores and tests by name, rows that differ most, and of a judge accuracy and faults.

    `accuracy` is what `judge_errors.judged_systems` returns, a row what `matching.Matched.reported` returns.
    """

    scores: dict[str, dict[str, Interval]]
    tests: dict[str, Tests]
    rows: list[dict[str, Any]]
    accuracy: dict[str, Any]
    faults: dict[str, dict[str, int]]


class SliceNumbers(TypedDict):
    """What one metric says within a slice, by the score that ranks systems."""

    questions: int
    scores: dict[str, Interval]
    pairs: list[Pair]


class Slices(TypedDict):
    """The comparison in every slice of a column: metric -> slice -> numbers."""

    column: str
    metrics: dict[str, dict[str, SliceNumbers]]


def turned(pair: Pair) -> Pair:
    """Return a test with the other system first."""
    low, value, high = (None if end is None else -end for end in map(pair["difference"].get, ("high", "value", "low")))
    difference: Interval = {"value": value, "low": low, "high": high}
    first, second, wins, losses = pair["second"], pair["first"], pair["losses"], pair["wins"]
    return {**pair, "first": first, "second": second, "difference": difference, "wins": wins, "losses": losses}


@dataclass(frozen=True)
class Comparison:
    """Systems on the same questions. Numbers have six significant digits.

    Attributes:
        genqa_metrics: the version that computed it.
        inputs: "name", "sha256" and "rows" of every file.
        settings: what the numbers depend on.
        signatures: {metric: what its numbers depend on}.
        matched_by: what showed which rows belong together.
        questions: number of questions.
        rows: number of rows of each system.
        text: what was asked, "question" or "context".
        left_out: {reason: number of rows or questions}.
        skipped_rows: {system: bad rows}.
        systems: their names.
        metrics: {metric: its numbers}.
        slices: with `by` the comparison in every slice, else None.
        changes: of two runs what `two_runs.changes` returns, else None.
        notes: what a reader must know before the numbers.
    """

    genqa_metrics: str
    inputs: list[dict[str, Any]]
    settings: dict[str, Any]
    signatures: dict[str, str]
    matched_by: str
    questions: int
    rows: int
    text: str
    left_out: dict[str, int]
    skipped_rows: dict[str, int]
    systems: list[str]
    metrics: dict[str, MetricNumbers]
    slices: Slices | None
    changes: dict[str, Any] | None
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers in types that JSON has."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def tested(self, metric: str) -> list[str]:
        """Return the scores of a metric that were tested, the one that ranks first."""
        return list(self.metrics[metric]["tests"])

    def ordered(self, metric: str, name: str | None = None) -> list[str]:
        """Return the systems, the best one by a score first; None: the score that ranks."""
        scores = self.metrics[metric]["scores"][name or self.tested(metric)[0]]
        return sorted(scores, key=lambda system: -scores[system]["value"])

    def is_clear(self, pair: Pair) -> bool:
        """Return whether a difference is significant."""
        return pair["p_corrected"] is not None and pair["p_corrected"] < self.settings["level"]

    def untold(self, metric: str, name: str) -> bool:
        """Return whether a judge accepts more or fewer answers, and how many are right cannot be told."""
        accuracy = self.accuracy(metric, everywhere=False)
        return bool(accuracy) and name != ACCURACY and not self.accuracy(metric)

    def best_systems(self, metric: str, name: str) -> list[str]:
        """Return the system with the best score, and those that are not significantly worse; all if untold."""
        order = self.ordered(metric, name)
        if self.untold(metric, name):
            return order
        worse = {
            pair["second"]
            for pair in self.ranked_pairs(metric, name)
            if pair["first"] == order[0] and self.is_clear(pair)
        }
        return [system for system in order if system not in worse]

    def ranked_pairs(self, metric: str, name: str, neighbours: bool = False) -> list[Pair]:
        """Return the tests of pairs, the better system first, in the order of the ranking.

        Args:
            metric: its name.
            name: one of its tested scores.
            neighbours: only pairs of systems that follow each other in the ranking.
        """
        place = {system: i for i, system in enumerate(self.ordered(metric, name))}
        pairs = [
            turned(pair) if place[pair["first"]] > place[pair["second"]] else pair
            for pair in self.metrics[metric]["tests"][name]["pairs"]
        ]
        pairs = [pair for pair in pairs if not neighbours or place[pair["second"]] == place[pair["first"]] + 1]
        return sorted(pairs, key=lambda pair: (place[pair["first"]], place[pair["second"]]))

    def accuracy(self, metric: str, everywhere: bool = True) -> dict[str, Any] | None:
        """Return the accuracy of the systems; None where the judge's errors are ignored.

        Args:
            metric: its name.
            everywhere: None too where a system has no interval.
        """
        accuracy = self.metrics[metric].get("accuracy")
        if not accuracy or not accuracy["errors_counted"]:
            return None
        untold = any(values["low"] is None for values in accuracy["systems"].values())
        return None if everywhere and untold else accuracy

    def findings(self) -> list[str]:
        """Return which systems are first by every metric, slices that say the opposite, and what changed."""
        values = [self.finding(metric) for metric in self.metrics]
        values += [line for metric in self.metrics for line in self._reversals(metric)]
        return values + self._changed()

    def finding(self, metric: str) -> str:
        """Return in one sentence which systems are first."""
        name, order = self.tested(metric)[0], self.ordered(metric)
        systems = self.metrics[metric]["tests"][name]["systems"]
        first = [system for system in order if systems[system]["cluster"] == 1]
        if self.untold(metric, name):
            shares = {system: self.metrics[metric]["scores"][name][system]["value"] for system in order}
            listing = ", ".join(f"{system} {number(share, 2)}" for system, share in list(shares.items())[:MOST_SHARES])
            more = ", ..." * (len(shares) > MOST_SHARES)
            return f"Which system has more right answers cannot be told: the judge accepts {listing}{more}."
        if len(first) == 1:
            others = "the other system" if len(order) == 2 else f"each of the {len(order) - 1} others"
            return f"{name}: {first[0]} is significantly better than {others}."
        scores = [self.metrics[metric]["scores"][name][system]["value"] for system in order]
        if scores[0] == scores[1]:
            tied = [system for system, score in zip(order, scores, strict=True) if score == scores[0]]
            rest = "" if len(tied) == len(order) else ", above the other" + "s" * (len(order) - len(tied) > 1)
            return f"{name}: {', '.join(tied[:-1])} and {tied[-1]} are tied, their scores are equal{rest}."
        if len(first) == len(order) == 2:
            return f"{name}: {order[0]} is ahead, but not significantly; the two may be equally good."
        near = [system for system in self.best_systems(metric, name) if system != order[0]]
        worse = [system for system in order[1:] if system not in near]
        said = [f"{briefly(near)} may be as good"] if near else []
        said += [f"{briefly(worse)} {'is' if len(worse) == 1 else 'are'} significantly worse"] if worse else []
        return f"{name}: {order[0]} has the highest score; {', '.join(said)}."

    def _reversals(self, metric: str) -> list[str]:
        """Return a sentence for every slice in which a pair is significantly the other way round than overall."""
        name = self.tested(metric)[0]
        if not self.slices or self.untold(metric, name):
            return []
        pairs = self.metrics[metric]["tests"][name]["pairs"]
        overall = {(pair["first"], pair["second"]): pair["difference"]["value"] for pair in pairs}
        result = []
        for slice_name, numbers in self.slices["metrics"][metric].items():
            for pair in filter(self.is_clear, numbers["pairs"]):
                here = pair["difference"]["value"]
                if here * overall[(pair["first"], pair["second"])] < 0:
                    better, worse = (pair["first"], pair["second"]) if here > 0 else (pair["second"], pair["first"])
                    result.append(
                        f"{name}: in {self.slices['column']} {slice_name}, {better} is significantly better than "
                        f"{worse} ({abs(here):.3f}), which is ahead overall."
                    )
        return result

    def _changed(self) -> list[str]:
        """Return what changed between two runs; nothing where there are none."""
        if not self.changes:
            return []
        old, new = self.changes["runs"]
        changed = self.changes["answers_changed"]
        items = [f"answers: {changed:,} of {self.questions:,} differ between {old} and {new}."]
        for metric, entry in self.changes["metrics"].items():
            name = entry["score"]
            values = [number(self.metrics[metric]["scores"][name][run]["value"]) for run in (old, new)]
            clear = "" if self.is_clear(self.metrics[metric]["tests"][name]["pairs"][0]) else "not "
            items.append(
                f"{name}: {len(entry['better']):,} got better, {len(entry['worse']):,} got worse, {entry['same']:,} "
                f"are the same; {' -> '.join(values)}, {clear}significant."
            )
        return items + [line for metric in self.changes["metrics"] for line in self._judge_changed(metric)]

    def _judge_changed(self, metric: str) -> list[str]:
        """Return what is known of the judge of each of two runs, by signatures and recorded scores."""
        old, new = self.changes["runs"]
        differs, recorded = self.changes["judge"][metric]["differs"], self.changes["metrics"][metric]["recorded"]
        of_both, result = f"{metric}: the scores in the files of {old} and {new}", []
        if differs:
            parts = ", ".join(f"{name} {part}" for name, part in differs.items())
            result.append(f"{of_both} were made differently: {parts}.")
        elif differs == {}:
            result.append(f"{of_both} have the same signature.")
        if recorded:
            result.append(
                f"{metric}: {len(recorded):,} recorded scores changed though the answer did not: the judge changed "
                "between the runs. The other numbers here are all by one judge."
            )
        return result


def name_of(row: dict[str, Any]) -> str:
    """Return the question of a row, and its id where it has one."""
    text = row["text"] if row["text"] is not None else f"row {row['row']}"
    return f"{text} ({row['id']})" if row["id"] is not None else text


def shown_answers(row: dict[str, Any]) -> Sequence[tuple[str, str, str]]:
    """Return score, system and answer, the best first."""
    answers = sorted(row["answers"].items(), key=lambda item: -item[1]["score"])
    return [
        (number(answer["score"]), system, " | ".join(answer["predictions"]) or "(empty)") for system, answer in answers
    ]
