"""Human ratings, one row per item and rater -> one score per item, and how far the raters agree.

Filtering as in section 4.2 of Lee et al. (2021): within each item, ratings whose z-score is above 1 in size are noise;
at most five of them are dropped, the largest first, and the mean of the rest is the item's score.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..rows.files import FileError, Source
from ..rows.items import RowError
from ..rows.writing import Writer
from .agree import digest_of

LIMIT, AT_MOST = 1.0, 5
MAX_VALUES = 10_000  # different ratings that nltk compares with each other
LEVELS = ("interval", "ordinal", "nominal")
COLUMNS = {
    "item": ("item", "id"),
    "rater": ("rater", "annotator", "worker"),
    "score": ("score", "rating"),
}
# What `genqa-metrics agree` needs beside the score is passed on.
PASSED = {"question": "text", "prediction": "text", "candidate": "text", "references": "texts", "system": "text"}


def kept(scores: np.ndarray, limit: float = LIMIT, at_most: int = AT_MOST) -> np.ndarray:
    """Return which ratings of one item are kept.

    The deviation is that of these ratings themselves (divided by their number); it is taken once, with all of them. Of
    equally far ratings the one that came first goes first.

    Args:
        scores: (ratings,) ratings of the item.
        limit: z-scores above this, up or down, are noise.
        at_most: number of ratings that may be dropped.

    Returns:
        (ratings,) booleans.

    >>> kept(np.array([5.0, 5, 4, 5, 1]))  # mean 4, deviation 1.549: z 0.65, 0.65, 0, 0.65, -1.94
    array([ True,  True,  True,  True, False])
    """
    from scipy.stats import zscore

    stay = np.ones(len(scores), dtype=bool)
    if len(scores) > 1 and np.ptp(scores) > 0:
        far = np.abs(zscore(scores))
        noise = [place for place in np.argsort(-far, kind="stable") if far[place] > limit + 1e-12]
        stay[noise[:at_most]] = False
    return stay


def krippendorff_alpha(items: Sequence[str], raters: Sequence[str], scores: Sequence[float], level: str) -> float:
    """Return Krippendorff's alpha; ratings may be missing, and items with one rating do not count.

    Computed by nltk; the distance of ordinal ratings is that of Krippendorff (2011), "Computing Krippendorff's
    Alpha-Reliability".

    Args:
        items: (ratings,) the item of every rating.
        raters: (ratings,) its rater.
        scores: (ratings,) its score.
        level: "interval", "ordinal" or "nominal".

    Returns:
        1 for full agreement, 0 for that of chance; NaN where no two ratings can be compared or all are equal.

    Raises:
        ValueError: if there is no such level, or there are more than 10,000 different ratings.

    >>> krippendorff_alpha(list("aabbcc"), list("xyxyxy"), [1, 1, 2, 2, 3, 3], "interval")
    1.0
    """
    from nltk.metrics.agreement import AnnotationTask
    from nltk.metrics.distance import binary_distance, interval_distance

    if level not in LEVELS:
        raise ValueError(f"level: expected one of {', '.join(LEVELS)}, got {level!r}")
    values = np.asarray(scores, dtype=float)
    _, numbers, counts = np.unique(np.asarray(items, dtype=str), return_inverse=True, return_counts=True)
    compared = np.flatnonzero(counts[numbers] > 1)
    if not len(compared) or not np.ptp(values[compared]):
        return float("nan")
    if (distinct_values := len(np.unique(values))) > MAX_VALUES:
        raise ValueError(
            f"score: expected at most {MAX_VALUES:,} different ratings for Krippendorff's alpha, got "
            f"{distinct_values:,}; round them"
        )
    distance: Callable = {"interval": interval_distance, "nominal": binary_distance}.get(level)
    if level == "ordinal":
        distinct, frequencies = np.unique(values[compared], return_counts=True)
        # Ratings up to the middle of a value's own: two of them differ by the ratings between the two values.
        middle = dict(zip(distinct.tolist(), (np.cumsum(frequencies) - frequencies / 2).tolist(), strict=True))

        def distance(a: float, b: float) -> float:
            return (middle[a] - middle[b]) ** 2

    triples = [(raters[row], int(numbers[row]), float(values[row])) for row in compared]
    return float(AnnotationTask(triples, distance=distance).alpha())


@dataclass
class Ratings:
    """Ratings in the order of the files, one entry each.

    Attributes:
        items: the rated item.
        raters: who rated it.
        scores: (ratings,) the scores.
        passed: item -> values of the columns in `PASSED` in its first row.
    """

    items: list[str]
    raters: list[str]
    scores: np.ndarray
    passed: dict[str, dict]


class RatersRun:
    """Reads ratings, filters them, and measures how far the raters agree.

    Args:
        inputs: names of files, not standard input: their digests go into the report.
        columns: names of columns in the files, by "item", "rater" and "score".
        limit: z-scores above this are noise; infinity keeps all.
        at_most: number of ratings of an item that may be dropped.
        output: file for one row per item; its ending says the format.

    Raises:
        ValueError: if an argument is bad. Nothing has been read yet.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        columns: Mapping[str, str] | None = None,
        limit: float = LIMIT,
        at_most: int = AT_MOST,
        output: str | None = None,
    ):
        self.columns = dict(columns or {})
        for name in self.columns:
            if name not in COLUMNS:
                raise ValueError(f"column: expected one of {', '.join(COLUMNS)} before the '=', got {name!r}")
        if not limit > 0:
            raise ValueError(f"limit: expected a number above 0, got {limit}")
        if at_most < 0:
            raise ValueError(f"at_most: expected a number of at least 0, got {at_most}")
        self.limit, self.at_most, self.output = limit, at_most, output
        try:
            if "-" in inputs:
                raise FileError("standard input cannot be read twice, for its digest and its rows; name a file")
            self.sources = [Source(path) for path in inputs]
            if output is not None:
                Writer(output, {}, {})
        except FileError as error:
            raise ValueError(str(error)) from error

    def _cell(self, values: dict, name: str) -> object:
        wanted = (self.columns[name],) if name in self.columns else COLUMNS[name]
        column = next((column for column in wanted if column in values), None)
        if column is None:
            raise RowError(
                f"no {name} (a column named {' or '.join(wanted)}); columns found: {', '.join(values) or 'none'}; say "
                f"which one it is with --column {name}=NAME"
            )
        if values[column] is None or values[column] == "":
            raise RowError(f"{column}: expected a value, got none; drop the row")
        return values[column]

    def _score(self, values: dict) -> float:
        value = self._cell(values, "score")
        try:
            score = float(value)
        except (ValueError, TypeError, OverflowError):
            score = math.nan
        if not math.isfinite(score):
            raise RowError(
                f"score: expected a number, got {value!r:.60}; drop the row, or write the rating as a number"
            )
        return score

    def read(self, skip_bad_rows: bool, problem: Callable[[str], None]) -> tuple[Ratings, int, list[dict]]:
        """Return the ratings, the number of bad rows left out, and name, digest and rows of every file.

        Raises:
            FileError: if a file cannot be read, a row is bad, or there is no row.
        """
        items, raters, scores, passed, seen = [], [], [], {}, {}
        skipped, inputs = 0, []
        for source in self.sources:
            before = len(items)
            for row in source.rows():
                where = f"{source.name}, {source.unit} {row.number}"
                try:
                    if row.problem:
                        raise RowError(row.problem)
                    item, rater = (str(self._cell(row.values, name)) for name in ("item", "rater"))
                    score = self._score(row.values)
                    if (item, rater) in seen:
                        raise RowError(
                            f"rater {rater!r} has rated item {item!r} before, at {seen[item, rater]}; keep one of them"
                        )
                except RowError as error:
                    if not skip_bad_rows:
                        raise FileError(f"{where}: {error}", bad_row=bool(items)) from error
                    skipped += 1
                    problem(f"{where}: {error}")
                    continue
                seen[item, rater] = where
                if item not in passed:
                    passed[item] = {name: row.values[name] for name in PASSED if row.values.get(name) is not None}
                items.append(item)
                raters.append(rater)
                scores.append(score)
            inputs.append(
                {"name": Path(source.name).name, "sha256": digest_of(source.path), "rows": len(items) - before}
            )
        if not items:
            raise FileError(
                f"{', '.join(source.name for source in self.sources)}: no ratings; is this the right file?"
            )
        return Ratings(items, raters, np.array(scores), passed), skipped, inputs

    def report(
        self, skip_bad_rows: bool = False, problem: Callable[[str], None] = lambda message: None
    ) -> dict[str, object]:
        """Read, filter, measure, and write the items.

        Args:
            skip_bad_rows: leave bad rows out instead of raising.
            problem: called with each bad row that is left out.

        Returns:
            "items", "ratings", "dropped", "ratings_per_item" and "alpha" (level -> value) before and after filtering,
            "raters" (name -> ratings, dropped, and mean distance from the items' scores), "inputs", "settings".

        Raises:
            FileError: see `read`; or if the output cannot be written.
        """
        from ... import __version__

        ratings, skipped, inputs = self.read(skip_bad_rows, problem)
        rows: dict[str, list[int]] = {}
        for place, item in enumerate(ratings.items):
            rows.setdefault(item, []).append(place)
        stay = np.ones(len(ratings.items), dtype=bool)
        for places in rows.values():
            stay[places] = kept(ratings.scores[places], self.limit, self.at_most)
        means = {item: float(ratings.scores[[p for p in places if stay[p]]].mean()) for item, places in rows.items()}
        if self.output is not None:
            self._write(ratings, rows, stay, means)

        def alphas(chosen: np.ndarray) -> dict[str, float | None]:
            places = np.flatnonzero(chosen)
            items, raters = ([side[p] for p in places] for side in (ratings.items, ratings.raters))
            found = {level: krippendorff_alpha(items, raters, ratings.scores[places], level) for level in LEVELS}
            return {level: None if math.isnan(value) else float(f"{value:.6g}") for level, value in found.items()}

        raters = {}
        for name in dict.fromkeys(ratings.raters):
            mine = np.array([p for p, rater in enumerate(ratings.raters) if rater == name])
            distance = np.mean([ratings.scores[p] - means[ratings.items[p]] for p in mine])
            raters[name] = {
                "ratings": len(mine),
                "dropped": int((~stay[mine]).sum()),
                "mean_distance": float(f"{distance:.6g}"),
            }
        return {
            "genqa_metrics": __version__,
            "inputs": inputs,
            "settings": {
                "limit": self.limit if math.isfinite(self.limit) else None,
                "at_most": self.at_most,
                "columns": self.columns,
            },
            "items": len(rows),
            "ratings": len(stay),
            "bad_rows": skipped,
            "dropped": int((~stay).sum()),
            "items_with_one_rating": sum(len(places) == 1 for places in rows.values()),
            "ratings_per_item": {
                "before": float(f"{len(stay) / len(rows):.6g}"),
                "after": float(f"{stay.sum() / len(rows):.6g}"),
            },
            "alpha": {"before": alphas(np.ones_like(stay)), "after": alphas(stay)},
            "raters": raters,
        }

    def _write(self, ratings: Ratings, rows: Mapping, stay: np.ndarray, means: Mapping[str, float]) -> None:
        passed = {
            name: kind for name, kind in PASSED.items() if any(name in values for values in ratings.passed.values())
        }
        columns = {"id": "text", **passed, "score": "number", "mean_of_all": "number"}
        columns |= {"ratings": "integer", "dropped": "integer"}
        out: dict[str, list] = {name: [] for name in columns}
        for item, places in rows.items():
            values = ratings.passed[item]
            out["id"].append(item)
            for name, kind in passed.items():
                value = values.get(name)
                if kind == "texts" and isinstance(value, str):
                    value = json.loads(value) if value.startswith("[") else [value]
                out[name].append(value)
            out["score"].append(means[item])
            out["mean_of_all"].append(float(ratings.scores[places].mean()))
            out["ratings"].append(len(places))
            out["dropped"].append(int((~stay[places]).sum()))
        with Writer(self.output, columns, {}) as writer:
            writer.write(out)


def summary(report: Mapping) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return the tables of a report: title, header, rows."""

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    before, after = report["alpha"]["before"], report["alpha"]["after"]
    agreement = [[f"Krippendorff's alpha, {level}", shown(before[level]), shown(after[level])] for level in LEVELS]
    per_item = report["ratings_per_item"]
    counts = [
        ["ratings", f"{report['ratings']:,}", f"{report['ratings'] - report['dropped']:,}"],
        ["ratings per item", f"{per_item['before']:.2f}", f"{per_item['after']:.2f}"],
    ]
    title = f"{report['items']:,} items, {len(report['raters']):,} raters"
    raters = [
        [name, f"{found['ratings']:,}", f"{found['dropped']:,}", f"{found['mean_distance']:+.2f}"]
        for name, found in sorted(report["raters"].items(), key=lambda pair: -pair[1]["dropped"] / pair[1]["ratings"])
    ]
    return [
        (title, ["", "all ratings", "filtered"], [*counts, *agreement]),
        ("Raters, most dropped first", ["rater", "ratings", "dropped", "mean distance from the score"], raters),
    ]
