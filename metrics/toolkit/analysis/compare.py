"""Compare systems on the same questions: rows of files -> what `genqa-metrics compare` reports, as one object."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from ...aev.shared import Scorer
from ..rows.files import FileError, Source
from ..rows.items import COLUMNS, Item, RowError, RowReader, Shape
from ..scoring.pipeline import statistics_of_items
from ..scoring.registry import make_scorer
from ..scoring.run import CHUNK_CHARACTERS, CHUNK_PREDICTIONS, default_metrics
from . import resampling
from .agree import checked_sources, digest_of, rounded
from .matching import Matched, SystemRow, match

MAX_SYSTEMS = 100
FEW_QUESTIONS = 30  # below which intervals are said to be rough
LEVEL = 0.05


class _Column(Scorer):
    """Scores of a metric that are in the files; the score of a system is their mean."""

    takes_sets = True

    def __init__(self, column: str):
        self.main = column
        self.names = self.row_names = self.tested = (column,)
        self.signature = f"column:{column}|mean"


def _blocks(rows: Sequence[list[SystemRow]]) -> Iterator[slice]:
    """Cut questions into blocks; all answers to a question are in one, so that its references are encoded once."""
    start = answers = characters = 0
    for stop, question in enumerate(rows, 1):
        answers += sum(len(row.item.predictions) for row in question)
        characters += sum(len(text) for row in question for text in row.item.predictions)
        characters += sum(map(len, question[0].item.references)) + len(question[0].item.text or "")
        if answers >= CHUNK_PREDICTIONS or characters >= CHUNK_CHARACTERS:
            yield slice(start, stop)
            start, answers, characters = stop, 0, 0
    if start < len(rows):
        yield slice(start, len(rows))


def statistics_of(
    scorer, rows: Sequence[list[SystemRow]], progress: Callable[[int], None] = lambda done: None
) -> tuple[np.ndarray, Counter]:
    """Return the statistics of every question and system; equal answers to a question are scored once.

    Args:
        scorer: what `scorers.make_scorer` returns.
        rows: for every question one row per system.
        progress: called with the number of questions that are done.

    Returns:
        (questions, systems, k + 1) sums over the predictions of a row; the last column is their number, 1 for a
        metric that scores a row as one. And counts of what to warn of.
    """
    parts, tally = [], Counter()
    for block in _blocks(rows):
        places: dict[tuple, int] = {}
        items, which = [], []
        for number, question in enumerate(rows[block]):
            asked = question[0].item
            for row in question:
                key = (number, *row.item.predictions)
                if key not in places:
                    places[key] = len(items)
                    items.append(replace(row.item, text=asked.text, references=asked.references))
                which.append(places[key])
        found, counted = statistics_of_items(scorer, items)
        tally.update(counted)
        counts = np.array([1 if scorer.takes_sets else len(item.predictions) for item in items])
        if not scorer.takes_sets:
            sums = np.zeros((len(items), found.shape[1]))
            np.add.at(sums, np.repeat(np.arange(len(items)), counts), found)
            found = sums
        found = np.column_stack([found, counts])
        parts.append(found[which].reshape(-1, len(rows[0]), found.shape[1]))
        progress(block.stop)
    return np.concatenate(parts), tally


def _row_scores(scorer, statistics: np.ndarray, name: str) -> np.ndarray:
    """Return (questions, systems) scores; of a set of predictions the score of their mean statistics."""
    row_name = scorer.row_names[scorer.names.index(name)]
    means = statistics[..., :-1] / np.maximum(statistics[..., -1:], 1)
    return np.asarray(scorer.row_scores(means.reshape(-1, means.shape[-1]))[row_name]).reshape(means.shape[:2])


def _estimate(value: float, low: float, high: float) -> dict[str, float]:
    return {"value": float(value), "low": float(low), "high": float(high)}


def _outcomes(scores: np.ndarray, first: int, second: int) -> dict[str, int]:
    difference = scores[:, first] - scores[:, second]
    slack = 1e-9 * np.maximum(np.abs(scores[:, first]), np.abs(scores[:, second]))
    wins, losses = int((difference > slack).sum()), int((difference < -slack).sum())
    return {"wins": wins, "ties": len(scores) - wins - losses, "losses": losses}


def analyse(
    systems: Sequence[str],
    scorers: Mapping[str, object],
    statistics: Mapping[str, np.ndarray],
    samples: int = 10_000,
    seed: int = 0,
    correction: str = "holm",
) -> dict[str, dict]:
    """Return scores with intervals, tests of all pairs of systems, and ranks.

    Args:
        systems: names of the systems, at least two.
        scorers: metric -> what scores it.
        statistics: metric -> (questions, systems, k + 1) statistics, see `statistics_of`.
        samples: number of bootstrap samples, and of permutations; the same ones for all systems and metrics.
        seed: the same seed gives the same numbers.
        correction: a key of `resampling.CORRECTIONS`; the tests of one score are one family.

    Returns:
        metric -> "scores": name -> system -> value, low, high; "tests": name -> "systems": system -> cluster, ranks;
        "pairs": first, second, difference with interval, p-values, wins, ties, losses.
    """
    widths = [part.shape[2] for part in statistics.values()]
    together = np.concatenate(list(statistics.values()), axis=2)
    questions = len(together)
    cuts = np.cumsum([0, *widths])
    drawn = resampling.resampled_sums(resampling.bootstrap_counts(questions, samples, seed), together)
    exchanged = resampling.resampled_sums(resampling.swaps(questions, samples, seed), together)
    totals = together.sum(axis=0)
    pairs = list(combinations(range(len(systems)), 2))
    found = {}
    for place, (metric, scorer) in enumerate(scorers.items()):
        own = slice(cuts[place], cuts[place + 1])

        def scores(sums: np.ndarray, scorer=scorer) -> dict[str, np.ndarray]:
            return scorer.resampled_scores(sums[..., :-1], sums[..., -1])

        values, resampled = scores(totals[:, own]), scores(drawn[..., own])
        limits = {name: resampling.interval(resampled[name], questions) for name in scorer.names}
        entry: dict[str, dict] = {
            "scores": {
                name: {
                    system: _estimate(values[name][i], limits[name][0][i], limits[name][1][i])
                    for i, system in enumerate(systems)
                }
                for name in scorer.names
            },
            "tests": {},
        }
        for name in scorer.tested:
            p_values = resampling.permutation_p_values(
                exchanged[..., own], totals[:, own], lambda sums, name=name, scores=scores: scores(sums)[name], pairs
            )
            bootstrap_p, shares = resampling.bootstrap_p_values(resampled[name], values[name], pairs)
            corrected = resampling.corrected(p_values, correction)
            bootstrap_corrected = resampling.corrected(bootstrap_p, correction)
            by_row = _row_scores(scorer, statistics[metric], name)
            better = np.zeros((len(systems), len(systems)), dtype=bool)
            rows = []
            for i, (first, second) in enumerate(pairs):
                difference = values[name][first] - values[name][second]
                if corrected[i] < LEVEL:
                    better[(first, second) if difference > 0 else (second, first)] = True
                apart = resampled[name][:, first] - resampled[name][:, second]
                low, high = resampling.interval(apart, questions)
                rows.append(
                    {
                        "first": systems[first],
                        "second": systems[second],
                        "difference": _estimate(difference, low, high),
                        "permutation_p": float(p_values[i]),
                        "permutation_p_corrected": float(corrected[i]),
                        "bootstrap_p": float(bootstrap_p[i]),
                        "bootstrap_p_corrected": float(bootstrap_corrected[i]),
                        "first_better_in": float(shares[i]),
                        **_outcomes(by_row, first, second),
                    }
                )
            clusters, ranks = resampling.ranking(values[name], better)
            entry["tests"][name] = {
                "systems": {
                    system: {"cluster": clusters[i], "best_rank": ranks[i][0], "worst_rank": ranks[i][1]}
                    for i, system in enumerate(systems)
                },
                "pairs": rows,
            }
        found[metric] = entry
    return found


def most_different(scores: np.ndarray, number: int) -> list[int]:
    """Return the questions on which systems differ most; of two systems as many for the one as for the other.

    Args:
        scores: (questions, systems) scores of the rows.
        number: how many at most; questions with equal scores are left out.

    Returns:
        Numbers of questions, the largest difference first; of equal ones the first splits the systems most evenly.

    >>> most_different(np.array([[0.0, 0.1], [1.0, 0.0], [0.0, 0.8], [0.9, 0.0]]), 2)
    [1, 2]
    """
    spread, even = np.ptp(scores, axis=1).round(9), scores.std(axis=1).round(9)
    order = np.lexsort((-even, -spread))
    order = order[spread[order] > 0]
    if scores.shape[1] == 2:
        ahead = scores[order, 0] > scores[order, 1]
        sides = order[ahead], order[~ahead]
        half = number // 2
        taken = max(half, number - len(sides[1])), max(number - half, number - len(sides[0]))
        chosen = set(sides[0][: taken[0]].tolist()) | set(sides[1][: taken[1]].tolist())
        order = np.array([row for row in order.tolist() if row in chosen][:number], dtype=int)
    return order[:number].tolist()


class CompareRun:
    """Reads what several systems said on the same questions, scores it, and compares the systems.

    Args:
        inputs: names of files, not standard input: their digests go into the report.
        metrics: names of metrics to compute.
        settings: {metric: {setting: value}}.
        columns: names of columns in the files, by the names of `rows.COLUMNS`.
        score_columns: columns that hold scores of further metrics, or of people.
        samples: number of bootstrap samples, and of permutations, at least 100.
        seed: of both, at least 0.
        correction: a key of `resampling.CORRECTIONS`.
        shown_rows: number of rows that differ most to report, for every metric.

    Raises:
        ValueError: if an argument is bad. Nothing has been read yet.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        metrics: Sequence[str] = (),
        settings: Mapping[str, Mapping] | None = None,
        columns: Mapping[str, str] | None = None,
        score_columns: Sequence[str] = (),
        samples: int = 10_000,
        seed: int = 0,
        correction: str = "holm",
        shown_rows: int = 6,
    ):
        self.columns, settings = dict(columns or {}), dict(settings or {})
        for name in self.columns:
            if name not in COLUMNS:
                raise ValueError(f"column: expected one of {', '.join(COLUMNS)} before the '=', got {name!r}")
        for metric in settings:
            if metrics and metric not in metrics:
                raise ValueError(f"{metric}: has settings but is not computed; add --metric {metric} or drop them")
        self.metrics = tuple(dict.fromkeys((*metrics, *settings)))
        self.score_columns = tuple(dict.fromkeys(score_columns))
        if samples < 100:
            raise ValueError(f"resamples: expected at least 100, got {samples}")
        if seed < 0:
            raise ValueError(f"seed: expected a number of at least 0, got {seed}")
        if shown_rows < 0:
            raise ValueError(f"rows: expected a number of at least 0, got {shown_rows}")
        if correction not in resampling.CORRECTIONS:
            expected = ", ".join(resampling.CORRECTIONS)
            raise ValueError(f"correction: expected one of {expected}, got {correction!r}")
        self.samples, self.seed, self.correction, self.shown_rows = samples, seed, correction, shown_rows
        self.sources = checked_sources(inputs)
        self.scorers: dict[str, object] = {
            metric: make_scorer(metric, settings.get(metric)) for metric in self.metrics
        }
        for column in self.score_columns:
            if any(column == metric or column in scorer.names for metric, scorer in self.scorers.items()):
                raise ValueError(f"column: {column!r} is also a score of --metric; rename the column")

    def report(
        self,
        skip_bad_rows: bool = False,
        problem: Callable[[str], None] = lambda message: None,
        progress: Callable[[str, int, int], None] = lambda metric, done, questions: None,
    ) -> dict[str, object]:
        """Read, score and compare.

        Args:
            skip_bad_rows: leave out bad rows, and questions that not all systems answer, instead of raising.
            problem: called with each row or question that is left out.
            progress: called with the metric, and the number of questions scored and of all questions.

        Returns:
            "genqa_metrics" (the version), "inputs" (name, sha256, rows), "settings", "signatures", "matched_by",
            "questions", "left_out", "systems", "notes", and "metrics": what `analyse` returns, with "rows": those that
            differ most. Numbers have six significant digits.

        Raises:
            FileError: if a file cannot be read, a row is bad, there is only one system, or questions differ.
        """
        from ... import __version__

        by_system, shape, inputs, skipped = self._read(skip_bad_rows, problem)
        if len(by_system) < 2:
            only = next(iter(by_system))
            raise FileError(
                f"{', '.join(source.name for source in self.sources)}: expected rows of at least two systems, got "
                f"only {only!r}; name a file for every system, or the column with the system with --column system=NAME"
            )
        if len(by_system) > MAX_SYSTEMS:
            raise FileError(
                f"expected at most {MAX_SYSTEMS} systems, got {len(by_system):,} such as {next(iter(by_system))!r:.60}"
                "; is that the right column? Name another with --column system=NAME, none with --column system="
            )
        matched = match(by_system, skip_bad_rows, problem)
        scorers = dict(self.scorers)
        if not scorers and not self.score_columns:
            scorers = {metric: make_scorer(metric) for metric in default_metrics(shape.sets)}
        for metric, scorer in scorers.items():
            if scorer.needs_question and (shape.text != "question" or self._without_question(matched)):
                raise FileError(f"{metric}: needs a question in every row; leave the metric out, or add the questions")
        statistics, counts = {}, {}
        for metric, scorer in scorers.items():
            total = len(matched.rows)
            progress(metric, 0, total)
            statistics[metric], counts[metric] = statistics_of(
                scorer, matched.rows, lambda done, metric=metric, total=total: progress(metric, done, total)
            )
        for place, column in enumerate(self.score_columns):
            values = np.array([[row.given[place] for row in question] for question in matched.rows], dtype=float)
            scorers[column] = _Column(column=column)
            statistics[column] = np.stack([values, np.ones_like(values)], axis=2)
        found = analyse(matched.systems, scorers, statistics, self.samples, self.seed, self.correction)
        for metric, scorer in scorers.items():
            name = scorer.tested[0]
            by_row = _row_scores(scorer, statistics[metric], name)
            rows = most_different(by_row, self.shown_rows)
            found[metric]["rows"] = [self._row(matched, row, by_row[row]) for row in rows]
        report = {
            "genqa_metrics": __version__,
            "inputs": inputs,
            "settings": {
                "resamples": self.samples,
                "seed": self.seed,
                "confidence": resampling.CONFIDENCE,
                "interval": resampling.INTERVAL.format("questions"),
                "level": LEVEL,
                "correction": self.correction,
                "columns": self.columns,
                "score_columns": list(self.score_columns),
            },
            "signatures": {metric: scorer.signature for metric, scorer in scorers.items()},
            "matched_by": matched.matched_by,
            "questions": len(matched.rows),
            "text": shape.text,
            "left_out": {"bad rows": skipped, "questions that not all systems answer": matched.left_out},
            "systems": matched.systems,
            "metrics": found,
            "notes": self._notes(matched, scorers, statistics, counts),
        }
        return rounded(report)

    @staticmethod
    def _without_question(matched: Matched) -> bool:
        return any(question[0].item.text is None for question in matched.rows)

    @staticmethod
    def _row(matched: Matched, number: int, scores: np.ndarray) -> dict[str, object]:
        rows = matched.rows[number]
        asked = rows[0].item
        return {
            "row": number + 1,
            "id": asked.id if matched.matched_by == "id" else None,
            "text": asked.text,
            "references": asked.references,
            "difference": float(np.ptp(scores)),
            "best": matched.systems[int(scores.argmax())],
            "worst": matched.systems[int(scores.argmin())],
            "answers": {
                system: {"predictions": row.item.predictions, "score": float(score)}
                for system, row, score in zip(matched.systems, rows, scores, strict=True)
            },
        }

    def _notes(
        self, matched: Matched, scorers: Mapping, statistics: Mapping[str, np.ndarray], counts: Mapping[str, Counter]
    ) -> list[str]:
        notes = []
        if len(matched.rows) < FEW_QUESTIONS:
            notes.append(f"only {len(matched.rows)} questions: intervals are rough")
        systems = len(matched.systems)
        tests = systems * (systems - 1) // 2
        smallest = (tests if self.correction in ("holm", "bonferroni") else 1) / (1 + self.samples)
        if smallest >= LEVEL:
            notes.append(
                f"with {tests:,} pairs and {self.samples:,} permutations no corrected p can be below {LEVEL:g}; "
                f"use --resamples {math.ceil(2 * tests / LEVEL):,}".replace(",", "")
            )
        for metric, scorer in scorers.items():
            sums = dict(zip(matched.systems, statistics[metric][..., :-1].sum(axis=0), strict=True))
            warnings = scorer.warnings(sums, counts.get(metric, {}))
            notes += [f"{metric}: {warning}" for warning in _gathered(warnings, matched.systems)]
        return notes

    def _read(
        self, skip: bool, problem: Callable[[str], None]
    ) -> tuple[dict[str, list[SystemRow]], Shape, list[dict], int]:
        by_system: dict[str, list[SystemRow]] = {}
        found: Shape | None = None
        inputs, skipped = [], 0
        stems = [source.stem for source in self.sources]
        for source in self.sources:
            # Two files of the same name in two folders are two systems.
            name = source.name if stems.count(source.stem) > 1 else source.stem
            reader, shape, count, numbers = RowReader(source, self.columns), None, 0, 0
            for row in source.rows():
                numbers += 1
                try:
                    if row.problem:
                        raise RowError(row.problem)
                    row_shape = shape or self._shape(reader, row.values)
                    rows = self._rows(reader, source, row, row_shape, name)
                except RowError as error:
                    where = f"{source.name}, {source.unit} {row.number}"
                    if not skip:
                        raise FileError(f"{where}: {error}", bad_row=count > 0) from error
                    skipped += 1
                    problem(f"{where}: {error}")
                    continue
                if shape is None:
                    shape = row_shape
                    self._check_shape(source, shape, found)
                    found = found or shape
                count += 1
                for system, one in rows.items():
                    by_system.setdefault(system, []).append(one)
            if not count:
                reason = f"all {numbers:,} rows are bad" if numbers else "no rows"
                raise FileError(f"{source.name}: {reason}; is this the right file?")
            inputs.append({"name": Path(source.name).name, "sha256": digest_of(source.path), "rows": count})
        return by_system, found, inputs, skipped

    def _shape(self, reader: RowReader, values: dict) -> Shape:
        if self.score_columns and not self.scorers:  # only numbers are needed
            asked = reader.optional(values, "question") is None and reader.optional(values, "context") is not None
            return Shape(sets=False, ceiling=False, text="context" if asked else "question")
        shape = reader.shape(values)
        if shape.ceiling:
            raise RowError(
                "has human questions but no predictions; add a column 'predictions', or name yours with "
                f"--column prediction=NAME; columns found: {', '.join(values)}"
            )
        return shape

    @staticmethod
    def _check_shape(source: Source, shape: Shape, before: Shape | None) -> None:
        if before is not None and before != shape:
            kinds = ("single answers", "sets of predictions")
            raise FileError(
                f"{source.name}: holds {kinds[shape.sets]} with a {shape.text}, the files before it "
                f"{kinds[before.sets]} with a {before.text}; compare them in two runs"
            )

    def _rows(self, reader: RowReader, source: Source, row, shape: Shape, name: str) -> dict[str, SystemRow]:
        given = tuple(_given(column, row.values) for column in self.score_columns)
        if self.score_columns and not self.scorers:
            items = [_plain_item(reader, source, row.number, row.values, shape)]
        else:
            items = reader.items(row.number, row.values, shape)
        if given and len(items) != 1:
            raise RowError(
                f"expected one system, with its score in column {self.score_columns[0]!r}, got {len(items)}; write "
                "one row per system"
            )
        named = reader.optional(row.values, "system") is not None
        rows = {}
        for item in items:
            if not named and len(items) == 1 and item.system == source.stem:
                item.system = name
            rows[item.system] = SystemRow(item, source, given)
        return rows


def _gathered(warnings: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Say once what is the same for several systems.

    >>> _gathered(["a: too long", "b: too long", "b: too short"], ["a", "b"])
    ['a, b: too long', 'b: too short']
    """
    of: dict[str, list[str]] = {}
    for warning in warnings:
        system = next((system for system in systems if warning.startswith(f"{system}: ")), "")
        of.setdefault(warning.removeprefix(f"{system}: "), []).extend([system] * bool(system))
    notes = []
    for said, names in of.items():
        who = "all systems" if len(names) > 2 and len(names) == len(systems) else ", ".join(names)
        notes.append(f"{who}: {said}" if who else said)
    return notes


def _plain_item(reader: RowReader, source: Source, line: int, values: dict, shape: Shape) -> Item:
    """Return what is there of a row whose score is given."""
    ident, text, system, references, prediction = (
        reader.optional(values, name) for name in ("id", shape.text, "system", "references", "prediction")
    )
    references = [references] if isinstance(references, str) else references
    references = [str(text) for text in references] if isinstance(references, list) else []
    predictions = prediction if isinstance(prediction, list) else [prediction] * (prediction is not None)
    return Item(
        source.name,
        line,
        None if ident is None else str(ident),
        source.stem if system is None else str(system),
        None if text is None else str(text),
        [str(text) for text in predictions],
        references,
        (None, None),
    )


def _given(column: str, values: dict) -> float:
    if column not in values:
        raise RowError(
            f"no column {column!r}, which --column names as a score; columns found: {', '.join(values) or 'none'}"
        )
    value = values[column]
    try:
        number = float(value)
    except (ValueError, TypeError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise RowError(f"{column}: expected a number, got {value!r:.60}; --on-error skip leaves such questions out")
    return number


def explanations(run: CompareRun, report: Mapping) -> list[dict[str, object]]:
    """Return how KPQA comes to the scores of the best and the worst answer of each row that differs most.

    Args:
        run: the run with its models.
        report: what it reported.

    Returns:
        For every row of report["metrics"]["kpqa"]["rows"] system -> `explanation.Explanation`; none without kpqa.
    """
    from .explanation import explanation

    if "kpqa" not in run.scorers:
        return []
    models = run.scorers["kpqa"].models
    return [
        {
            system: explanation(row["text"], row["answers"][system]["predictions"][0], row["references"], models)
            for system in (row["best"], row["worst"])
            if len(row["answers"][system]["predictions"]) == 1
        }
        for row in report["metrics"]["kpqa"]["rows"]
    ]
