"""How far raters agree: what `genqa-metrics raters` prints."""

from collections.abc import Mapping

from ...reports.report import Report
from ...reports.table import Table, number
from .run import LEVELS


class RatersReport(Report):
    """How far raters agree, before and after noisy ratings are dropped.

    Args:
        report: what `analysis.raters.RatersRun.report` returns.

    Attributes:
        items: number of items.
        ratings: number of ratings.
        alpha: {"before", "after": {level: Krippendorff's alpha}}.
        raters: {name: {"ratings", "dropped", "mean_distance"}}.
    """

    title = "Agreement of raters"

    def __init__(self, report: Mapping):
        self._report, self.notes = report, []
        self.items, self.ratings = report["items"], report["ratings"]
        self.alpha, self.raters = report["alpha"], report["raters"]

    def __repr__(self) -> str:
        alpha = number(self.alpha["after"]["interval"])
        return f"RatersReport({self.items:,} items, {self.ratings:,} ratings; alpha after filtering {alpha})"

    def tables(self) -> list[Table]:
        """Return the tables."""
        before, after, per_item = self.alpha["before"], self.alpha["after"], self._report["ratings_per_item"]
        rows = [
            ["ratings", f"{self.ratings:,}", f"{self.ratings - self._report['dropped']:,}"],
            ["ratings per item", number(per_item["before"], 2), number(per_item["after"], 2)],
            *([f"Krippendorff's alpha, {level}", number(before[level]), number(after[level])] for level in LEVELS),
        ]
        raters = [
            [name, f"{value['ratings']:,}", f"{value['dropped']:,}", f"{value['mean_distance']:+.2f}"]
            for name, value in sorted(self.raters.items(), key=lambda item: -item[1]["dropped"] / item[1]["ratings"])
        ]
        return [
            Table(f"{self.items:,} items, {len(raters):,} raters", ["", "all ratings", "filtered"], rows),
            Table(
                "Raters, most dropped first", ["rater", "ratings", "dropped", "mean distance from the score"], raters
            ),
        ]

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        report = self._report
        return [
            *[f"left out: {report['bad_rows']:,} bad rows"] * bool(report["bad_rows"]),
            *self._inputs(),
            f"genqa-metrics {report['genqa_metrics']}",
        ]
