"""Human ratings, one row per item and rater -> one score per item, and how far the raters agree.

Filtering as in section 4.2 of Lee et al. (2021): within each item, ratings whose z-score is above 1 in size are noise;
at most five of them are dropped, the largest first, and the mean of the rest is the item's score.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.scorer import require_extra
from ...reports.report import Report
from ...reports.table import Table, number
from ...rows.errors import FileError, bad_usage, name_column
from ...rows.reading import MAX_SCORE, Message, RowError, Skips, good_rows, ignore, inputs_of
from ...rows.sources import Source
from ...rows.values import Row, list_in_cell
from ...rows.writing import Writer
from ..inputs import as_number, digested_sources, rounded

if TYPE_CHECKING:
    import pandas

LIMIT, AT_MOST = 1.0, 5
MAX_VALUES = 10_000  # different ratings that nltk compares with each other
LEVELS = ("interval", "ordinal", "nominal")
COLUMNS = {"item": ("item", "id"), "rater": ("rater", "annotator", "worker"), "score": ("score", "rating")}
# What `genqa-metrics agree` needs beside the score is passed on.
PASSED = {"question": "text", "prediction": "text", "candidate": "text", "references": "texts", "system": "text"}


@dataclass(eq=False, repr=False)
class RatersReport(Report):
    """How far raters agree, before and after noisy ratings are dropped.

    `alpha` is {"before", "after": {level: Krippendorff's alpha}}; `raters` {name: {"ratings", "dropped",
    "mean_distance"}}, the distance from the items' scores.
    """

    title = "Agreement of raters"

    notes = ()

    genqa_metrics: str
    inputs: list[dict[str, Any]]
    settings: dict[str, Any]
    items: int
    ratings: int
    bad_rows: int
    dropped: int
    items_with_one_rating: int
    ratings_per_item: dict[str, float]  # before and after filtering, as alpha
    alpha: dict[str, dict[str, float]]
    raters: dict[str, dict[str, Any]]

    def __repr__(self) -> str:
        alpha = number(self.alpha["after"]["interval"])
        return f"RatersReport({self.items:,} items, {self.ratings:,} ratings; alpha after filtering {alpha})"

    def tables(self) -> list[Table]:
        """Return the tables."""
        before, after, per_item = self.alpha["before"], self.alpha["after"], self.ratings_per_item
        rows = [
            ["ratings", f"{self.ratings:,}", f"{self.ratings - self.dropped:,}"],
            ["ratings per item", number(per_item["before"], 2), number(per_item["after"], 2)],
            *([f"Krippendorff's alpha, {level}", number(before[level]), number(after[level])] for level in LEVELS),
        ]
        raters = [
            [name, f"{value['ratings']:,}", f"{value['dropped']:,}", f"{value['mean_distance']:+.2f}"]
            for name, value in sorted(self.raters.items(), key=lambda item: -item[1]["dropped"] / item[1]["ratings"])
        ]
        title, header = "Raters, most dropped first", ["rater", "ratings", "dropped", "mean distance from the score"]
        ratings = Table(f"{self.items:,} items, {len(raters):,} raters", ["", "all ratings", "filtered"], rows)
        return [ratings, Table(title, header, raters)]

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        left_out = [f"left out: {self.bad_rows:,} bad rows"] * bool(self.bad_rows)
        return [*left_out, *self._inputs(), f"genqa-metrics {self.genqa_metrics}"]


def combine_ratings(
    inputs: object,
    columns: Mapping[str, str] | None = None,
    limit: float = LIMIT,
    at_most: int = AT_MOST,
    output: str | None = None,
    on_error: str = "fail",
    problem: Message = ignore,
) -> RatersReport:
    """Read ratings, filter them, measure how far the raters agree, and write one row per item.

    `columns` has names by "item", "rater" and "score"; z-scores above `limit` are noise (infinity keeps all), of which
    at most `at_most` an item are dropped.
    """
    from ... import __version__

    with bad_usage():
        require_extra("agree", "nltk")
        columns = dict(columns or {})
        for name in columns:
            if name not in COLUMNS:
                raise ValueError(f"column: expected one of {', '.join(COLUMNS)} before the '=', got {name!r}")
        if not limit > 0:
            raise ValueError(f"limit: expected a number above 0, got {limit}")
        if at_most < 0:
            raise ValueError(f"at_most: expected a number of at least 0, got {at_most}")
        sources = digested_sources(inputs)
        if output is not None:
            Writer(output, {}, {}, [source.path for source in sources])
    skips = Skips(on_error == "skip", problem)
    ratings, passed = _read(sources, columns, skips)
    by_item = ratings.groupby("item", sort=False)["score"]
    stay = by_item.transform(lambda scores: kept(scores.to_numpy(), limit, at_most)).astype(bool)
    sizes = by_item.size()
    items = {"score": ratings[stay].groupby("item", sort=False)["score"].agg(_mean).reindex(sizes.index)}
    items |= {"mean_of_all": by_item.agg(_mean), "ratings": sizes}
    items["dropped"] = (~stay).groupby(ratings["item"], sort=False).sum()
    if output is not None:
        _write(output, items, passed)
    ratings = ratings.assign(dropped=~stay, distance=ratings["score"] - ratings["item"].map(items["score"]))
    raters = ratings.groupby("rater", sort=False).agg(
        ratings=("score", "size"), dropped=("dropped", "sum"), mean_distance=("distance", _mean)
    )
    report = {
        "genqa_metrics": __version__,
        "inputs": inputs_of(sources, skips),
        "settings": {"limit": limit if math.isfinite(limit) else None, "at_most": at_most, "columns": columns},
        "items": len(sizes),
        "ratings": len(stay),
        "bad_rows": skips.skipped,
        "dropped": int((~stay).sum()),
        "items_with_one_rating": int((sizes == 1).sum()),
        "ratings_per_item": {"before": len(stay) / len(sizes), "after": float(stay.sum() / len(sizes))},
        "alpha": {"before": _alphas(ratings), "after": _alphas(ratings[stay])},
        "raters": raters.to_dict("index"),
    }
    return RatersReport(**rounded(report))


def kept(scores: np.ndarray, limit: float = LIMIT, at_most: int = AT_MOST) -> np.ndarray:
    """Return (ratings,) booleans, which ratings of one item are kept.

    The deviation is that of these ratings themselves (divided by their number); it is taken once, with all of them. Of
    equally far ratings the one that came first goes first.

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
    """Return Krippendorff's alpha, 1 for full agreement, 0 for that of chance; items with one rating do not count.

    NaN where no two ratings can be compared or all are equal. Computed by nltk; the distance of ordinal ratings is
    that of Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability".

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
        most = f"at most {MAX_VALUES:,} different ratings for Krippendorff's alpha"
        raise ValueError(f"score: expected {most}, got {distinct_values:,}; round them")
    distance: Callable = {"interval": interval_distance, "nominal": binary_distance}.get(level)
    if level == "ordinal":
        distinct, frequencies = np.unique(values[compared], return_counts=True)
        # Ratings up to the middle of a value's own: two of them differ by the ratings between the two values.
        middle = dict(zip(distinct.tolist(), (np.cumsum(frequencies) - frequencies / 2).tolist(), strict=True))

        def distance(a: float, b: float) -> float:
            return (middle[a] - middle[b]) ** 2

    triples = [(raters[row], int(numbers[row]), float(values[row])) for row in compared]
    return float(AnnotationTask(triples, distance=distance).alpha())


def _alphas(ratings: "pandas.DataFrame") -> dict[str, float]:
    items, raters, scores = (ratings[name].to_numpy() for name in ("item", "rater", "score"))
    return {level: krippendorff_alpha(items, raters, scores, level) for level in LEVELS}


def _mean(scores) -> float:
    return float(np.mean(scores.to_numpy()))  # pandas' own sums in another order


def _read(sources: Sequence[Source], columns: Mapping[str, str], skips: Skips) -> tuple["pandas.DataFrame", dict]:
    """Return the ratings, one row each; and for each item the columns of `PASSED` in its first row."""
    import pandas

    places: dict[tuple[str, str], str] = {}

    def cell(values: dict, name: str) -> object:
        wanted = (columns[name],) if name in columns else COLUMNS[name]
        column = next((column for column in wanted if column in values), None)
        if column is None:
            found = f"no {name} (a column named {' or '.join(wanted)}); columns found: {', '.join(values) or 'none'}"
            raise RowError(found, "; say which one it is with ", name_column(name))
        if values[column] is None or values[column] == "":
            raise RowError(f"{column}: expected a value, got none; drop the row")
        return values[column]

    def convert(source: Source, row: Row) -> tuple[str, str, float]:
        item, rater, value = (cell(row.values, name) for name in COLUMNS)
        item, rater = str(item), str(rater)
        score = as_number(value)
        if not abs(score) <= MAX_SCORE:
            fix = "drop the row, or write the rating as a number"
            raise RowError(f"score: expected a number, got {value!r:.60}; {fix}")
        if before := places.get((item, rater)):
            raise RowError(f"rater {rater!r} has rated item {item!r} before, at {before}; keep one of them")
        places[item, rater] = f"{source.name}, {source.unit} {row.number}"
        return item, rater, score

    ratings, passed = [], {}
    for _, row, rating in good_rows(sources, convert, skips):
        ratings.append(rating)
        if rating[0] not in passed:
            passed[rating[0]] = {name: row.values[name] for name in PASSED if row.values.get(name) is not None}
    if not ratings:
        names = ", ".join(source.name for source in sources)
        raise FileError(f"{names}: no ratings; is this the right file?")
    return pandas.DataFrame(ratings, columns=list(COLUMNS)), passed


def _write(output: str, items: Mapping[str, "pandas.Series"], passed: Mapping[str, Mapping]) -> None:
    """Write one row per item."""
    kinds = {name: kind for name, kind in PASSED.items() if any(name in values for values in passed.values())}
    columns = {"id": "text", **kinds, "score": "number", "mean_of_all": "number"}
    columns |= {"ratings": "integer", "dropped": "integer"}
    rows: dict[str, list] = {"id": list(passed)}
    for name, kind in kinds.items():
        values = [of_item.get(name) for of_item in passed.values()]
        if kind == "texts":
            values = [list_in_cell(value) if isinstance(value, str) else value for value in values]
            values = [[value] if isinstance(value, str) else value for value in values]
        rows[name] = values
    rows |= {name: values.tolist() for name, values in items.items()}
    with Writer(output, columns, {}) as writer:
        writer.write(rows)
