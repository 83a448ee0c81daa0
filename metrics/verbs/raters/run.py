"""Human ratings, one row per item and rater -> one score per item, and how far the raters agree.

Filtering as in section 4.2 of Lee et al. (2021): within each item, ratings whose z-score is above 1 in size are noise;
at most five of them are dropped, the largest first, and the mean of the rest is the item's score.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.scorer import require_extra
from ...rows.errors import FileError, name_column
from ...rows.file_types import Row
from ...rows.items import MAX_SCORE, RowError
from ...rows.reading import Message, Skips, good_rows, ignore, inputs_of
from ...rows.sources import Source
from ...rows.text_rows import PlainCell
from ...rows.writing import Writer
from ..inputs import digested_sources, rounded

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


def _listed(text: str) -> list[str]:
    """Return the texts of a cell, which may be a JSON list."""
    try:
        values = json.loads(text) if text.startswith("[") and not isinstance(text, PlainCell) else None
    except ValueError:
        values = None
    return [str(value) for value in values] if isinstance(values, list) else [text]


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
        inputs: names of files, not standard input; or rows in memory, see `inputs.sources_of`.
        columns: names of columns in the files, by "item", "rater" and "score".
        limit: z-scores above this are noise; infinity keeps all.
        at_most: number of ratings of an item that may be dropped.
        output: file for one row per item; its ending says the format.

    Raises:
        ValueError: if an argument is bad. Nothing has been read yet.
    """

    def __init__(
        self,
        inputs: object,
        columns: Mapping[str, str] | None = None,
        limit: float = LIMIT,
        at_most: int = AT_MOST,
        output: str | None = None,
    ):
        require_extra("agree", "nltk")
        self.columns = dict(columns or {})
        for name in self.columns:
            if name not in COLUMNS:
                raise ValueError(f"column: expected one of {', '.join(COLUMNS)} before the '=', got {name!r}")
        if not limit > 0:
            raise ValueError(f"limit: expected a number above 0, got {limit}")
        if at_most < 0:
            raise ValueError(f"at_most: expected a number of at least 0, got {at_most}")
        self.limit, self.at_most, self.output = limit, at_most, output
        self.sources = digested_sources(inputs)
        if output is not None:
            Writer(output, {}, {}, [source.path for source in self.sources])

    def _cell(self, values: dict, name: str) -> object:
        wanted = (self.columns[name],) if name in self.columns else COLUMNS[name]
        column = next((column for column in wanted if column in values), None)
        if column is None:
            problem = (
                f"no {name} (a column named {' or '.join(wanted)}); columns found: {', '.join(values) or 'none'}; say "
            )
            raise RowError(problem, "which one it is with ", name_column(name))
        if values[column] is None or values[column] == "":
            raise RowError(f"{column}: expected a value, got none; drop the row")
        return values[column]

    def _score(self, values: dict) -> float:
        value = self._cell(values, "score")
        try:
            score = float(value)
        except (ValueError, TypeError, OverflowError):
            score = math.nan
        if not abs(score) <= MAX_SCORE:
            raise RowError(
                f"score: expected a number, got {value!r:.60}; drop the row, or write the rating as a number"
            )
        return score

    def read(self, skips: Skips) -> Ratings:
        """Return the ratings.

        Args:
            skips: what to do about bad rows.

        Raises:
            FileError: if a file cannot be read, a row is bad, or there is no row.
        """
        seen: dict[tuple[str, str], str] = {}

        def convert(source: Source, row: Row) -> tuple[str, str, float]:
            item, rater = (str(self._cell(row.values, name)) for name in ("item", "rater"))
            score = self._score(row.values)
            if (item, rater) in seen:
                raise RowError(
                    f"rater {rater!r} has rated item {item!r} before, at {seen[item, rater]}; keep one of them"
                )
            seen[item, rater] = f"{source.name}, {source.unit} {row.number}"
            return item, rater, score

        result, passed = [], {}
        for _, row, rating in good_rows(self.sources, convert, skips):
            result.append(rating)
            if rating[0] not in passed:
                passed[rating[0]] = {name: row.values[name] for name in PASSED if row.values.get(name) is not None}
        if not result:
            names = ", ".join(source.name for source in self.sources)
            raise FileError(f"{names}: no ratings; is this the right file?")
        items, raters, scores = zip(*result, strict=True)
        return Ratings(list(items), list(raters), np.array(scores), passed)

    def report(self, skip_bad_rows: bool = False, problem: Message = ignore) -> dict[str, object]:
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

        skips = Skips(skip_bad_rows, problem)
        ratings = self.read(skips)
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
            return {level: krippendorff_alpha(items, raters, ratings.scores[places], level) for level in LEVELS}

        raters = {}
        for name in dict.fromkeys(ratings.raters):
            mine = np.array([p for p, rater in enumerate(ratings.raters) if rater == name])
            distance = np.mean([ratings.scores[p] - means[ratings.items[p]] for p in mine])
            raters[name] = {
                "ratings": len(mine),
                "dropped": int((~stay[mine]).sum()),
                "mean_distance": float(distance),
            }
        report = {
            "genqa_metrics": __version__,
            "inputs": inputs_of(self.sources, skips),
            "settings": {
                "limit": self.limit if math.isfinite(self.limit) else None,
                "at_most": self.at_most,
                "columns": self.columns,
            },
            "items": len(rows),
            "ratings": len(stay),
            "bad_rows": skips.skipped,
            "dropped": int((~stay).sum()),
            "items_with_one_rating": sum(len(places) == 1 for places in rows.values()),
            "ratings_per_item": {
                "before": len(stay) / len(rows),
                "after": float(stay.sum() / len(rows)),
            },
            "alpha": {"before": alphas(np.ones_like(stay)), "after": alphas(stay)},
            "raters": raters,
        }
        return rounded(report)

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
                    value = _listed(value)
                out[name].append(value)
            out["score"].append(means[item])
            out["mean_of_all"].append(float(ratings.scores[places].mean()))
            out["ratings"].append(len(places))
            out["dropped"].append(int((~stay[places]).sum()))
        with Writer(self.output, columns, {}) as writer:
            writer.write(out)
