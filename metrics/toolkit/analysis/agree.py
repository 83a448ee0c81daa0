"""Rows with human scores of files, scored and measured."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..rows.files import FileError, Source
from ..rows.items import COLUMNS, Item, RowError, RowReader
from ..scoring.pipeline import statistics_of_items
from ..scoring.registry import make_scorer, scorer_class
from .human_agreement import LENGTHS, PERMUTATIONS, Judgments, analyse, rounded
from .question_types import question_type
from .resampling import CONFIDENCE

CHUNK_ITEMS = 1000


@dataclass
class _Row:
    file: str
    human: tuple[float | None, float | None]
    item: Item | None
    question: str | None
    references: tuple[str, ...]
    prediction: str | None
    system: str | None
    scores: list[float]
    groups: dict[str, str | None]


def _cell(values: dict, column: str) -> object:
    if column not in values:
        raise RowError(f"no column {column!r}; columns found: {', '.join(values) or 'none'}")
    return values[column]


def _as_number(column: str, value: object) -> float:
    if value is None or value == "":
        return math.nan
    try:
        return float(value)
    except (ValueError, TypeError, OverflowError):
        raise RowError(f"{column}: expected a number, the score of a metric, got {value!r:.60}") from None


def digest_of(path: str) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checked_sources(inputs: Sequence[str]) -> list[Source]:
    """Return the files of a report, which names their digests.

    Raises:
        ValueError: if one does not exist, is named twice, or is standard input.
    """
    try:
        if "-" in inputs:
            raise FileError("standard input cannot be read twice, for its digest and its rows; name a file")
        sources = [Source(path) for path in inputs]
    except FileError as error:
        raise ValueError(str(error)) from error
    if len({Path(source.path).resolve() for source in sources}) < len(sources):
        raise ValueError("input: the same file is named twice; name it once")
    return sources


def length_group(answer: str) -> str:
    """Return the class of an answer's length in words, separated by white space.

    >>> length_group("in the spring of 1912")
    '4 to 10 words'
    """
    words = len(answer.split())
    return next(name for limit, name in LENGTHS if words <= limit)


class AgreeRun:
    """Reads rows with human scores, scores them, and measures the agreement.

    Args:
        inputs: names of files, not standard input: their digests go into the report.
        metrics: names of metrics to compute.
        settings: {metric: {setting: value}}.
        columns: names of columns in the files, by the names of `rows.COLUMNS`.
        score_columns: columns that hold scores of further metrics.
        group_columns: columns by which to group, beside question type, system, source and length.
        correct: human scores from here on count as correct; None for `label` where every row has one, else the
            middle of the range of the human scores.
        gap: see `analyse`.
        number: bootstrap samples, at least 100; there are ten times as many permutations.
        seed: of both, at least 0.

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
        group_columns: Sequence[str] = (),
        correct: float | None = None,
        gap: float | None = None,
        number: int = 1000,
        seed: int = 0,
    ):
        self.columns, settings = dict(columns or {}), dict(settings or {})
        for name in self.columns:
            if name not in COLUMNS:
                raise ValueError(f"column: expected one of {', '.join(COLUMNS)} before the '=', got {name!r}")
        self.metrics = tuple(dict.fromkeys((*metrics, *settings)))
        self.score_columns = tuple(dict.fromkeys(score_columns))
        self.group_columns = tuple(dict.fromkeys(group_columns))
        if not self.metrics and not self.score_columns:
            self.metrics = ("aev",)
        if number < 100:
            raise ValueError(f"resamples: expected at least 100, got {number}")
        if seed < 0:
            raise ValueError(f"seed: expected a number of at least 0, got {seed}")
        if gap is not None and not 0 <= gap < math.inf:
            raise ValueError(f"gap: expected a number of at least 0, got {gap}")
        self.correct, self.gap, self.number, self.seed = correct, gap, number, seed
        self.sources = checked_sources(inputs)
        self.scorers = {metric: make_scorer(metric, settings.get(metric)) for metric in self.metrics}
        names = [name for metric in self.metrics for name in self._names(metric)]
        for column in self.score_columns:
            if column in names:
                raise ValueError(f"column: {column!r} is also the name of a score of --metric; rename the column")

    @staticmethod
    def _names(metric: str) -> tuple[str, ...]:
        return scorer_class(metric).measured

    def report(
        self,
        skip_bad_rows: bool = False,
        problem: Callable[[str], None] = lambda message: None,
        progress: Callable[[str, int, int], None] = lambda metric, done, rows: None,
    ) -> dict[str, object]:
        """Read, score and measure.

        Args:
            skip_bad_rows: leave bad rows out instead of raising.
            problem: called with each bad row that is left out.
            progress: called with the metric, and the number of rows scored and of all rows.

        Returns:
            What `analyse` returns, and with it "genqa_metrics" (the version), "inputs" (name, sha256, rows),
            "settings", "human", "signatures", "rows", "questions", "left_out".

        Raises:
            FileError: if a file cannot be read, a row is bad, or fewer than 3 rows are left.
        """
        from ... import __version__

        rows, skipped, inputs = [], 0, []
        for source in self.sources:
            found, bad = self._read(source, skip_bad_rows, problem)
            rows += found
            skipped += bad
            inputs.append({"name": Path(source.name).name, "sha256": digest_of(source.path), "rows": len(found)})
        # `score` says more than `label`, which is cut from it: the label is used where there is no score.
        place = int(not any(row.human[0] is not None for row in rows))
        column = self.columns.get(("score", "label")[place]) or ("score", "label")[place]
        judged = [row for row in rows if row.human[place] is not None and math.isfinite(row.human[place])]
        if not judged:
            raise FileError(
                f"{', '.join(source.name for source in self.sources)}: no row has a human score, a number in a column "
                "named score or label; say which one it is with --column score=NAME"
            )
        scores, system_scores, warnings = self._scores(judged, progress)
        finite = np.all([np.isfinite(values) for values in scores.values()], axis=0)
        kept = [row for row, good in zip(judged, finite, strict=True) if good]
        if len(kept) < 3:
            raise FileError(f"{len(kept)} rows have a human score and all metric scores; 3 are the least")
        human = np.array([row.human[place] for row in kept], dtype=float)
        correct, rule = self._correct(kept, human, column)
        if not finite.all():
            system_scores = {}
        judgments = Judgments(
            human=human,
            correct=correct,
            scores={name: values[finite] for name, values in scores.items()},
            questions=[(row.file, row.question or number, row.references) for number, row in enumerate(kept)],
            systems=[row.system or "(none)" for row in kept] if any(row.system for row in kept) else None,
            groups=self._groups(kept),
            system_scores=system_scores,
        )
        found = analyse(judgments, self.gap, self.number, self.seed)
        signatures = {metric: scorer.signature for metric, scorer in self.scorers.items()}
        found["notes"] += warnings
        return {
            "genqa_metrics": __version__,
            "inputs": inputs,
            "rows": len(kept),
            "questions": len(set(judgments.questions)),
            "left_out": {
                "bad rows": skipped,
                "without a human score": len(rows) - len(judged),
                "without a score of every metric": len(judged) - len(kept),
            },
            "settings": {
                "resamples": self.number,
                "permutations": PERMUTATIONS * self.number,
                "seed": self.seed,
                "confidence": CONFIDENCE,
                "interval": found.pop("interval"),
                "columns": self.columns,
                "score_columns": list(self.score_columns),
                "group_columns": list(self.group_columns),
            },
            "human": rounded(
                {
                    "column": column,
                    "minimum": float(human.min()),
                    "maximum": float(human.max()),
                    "mean": float(human.mean()),
                    "correct": rule,
                    "share_correct": float(correct.mean()),
                }
            ),
            "signatures": signatures,
            **found,
        }

    def _read(self, source: Source, skip: bool, problem: Callable[[str], None]) -> tuple[list[_Row], int]:
        reader = RowReader(source, self.columns)
        shape, rows, skipped = None, [], 0
        for row in source.rows():
            try:
                if row.problem:
                    raise RowError(row.problem)
                values, item = row.values, None
                scores = [_as_number(column, _cell(values, column)) for column in self.score_columns]
                groups = {column: _cell(values, column) for column in self.group_columns}
                groups |= {name: values.get(name) for name in ("question_type", "source") if values.get(name)}
                if self.scorers:
                    row_shape = shape or reader.shape(values)
                    items = reader.items(row.number, values, row_shape)
                    if len(items) != 1:
                        raise RowError(
                            f"expected the answer of one system, with its human score, got {len(items)}; write one "
                            "row per system"
                        )
                    (item,), shape = items, row_shape
            except RowError as error:
                if not skip:
                    where = f"{source.name}, {source.unit} {row.number}"
                    raise FileError(f"{where}: {error}", bad_row=bool(rows)) from error
                skipped += 1
                problem(f"{source.name}, {source.unit} {row.number}: {error}")
                continue
            question, system = (reader.optional(values, name) for name in ("question", "system"))
            prediction = item.predictions[0] if item else reader.optional(values, "prediction")
            references = item.references if item else reader.optional(values, "references") or ()
            rows.append(
                _Row(
                    file=source.stem,
                    human=reader.human(values),
                    item=item,
                    question=None if question is None else str(question),
                    references=tuple([references] if isinstance(references, str) else map(str, references)),
                    prediction=prediction if isinstance(prediction, str) else None,
                    system=None if system is None else str(system),
                    scores=scores,
                    groups={name: None if value is None else str(value) for name, value in groups.items()},
                )
            )
        return rows, skipped

    def _scores(self, rows: list[_Row], progress: Callable) -> tuple[dict, dict, list]:
        """Return name -> (rows,) scores; name -> system -> score where metrics score systems; warnings."""
        scores: dict[str, np.ndarray] = {}
        system_scores: dict[str, dict[str, float]] = {}
        warnings: list[str] = []
        items = [row.item for row in rows]
        for metric, scorer in self.scorers.items():
            if not scorer.takes_sets and any(len(item.predictions) != 1 for item in items):
                raise FileError(f"{metric}: scores one answer, got rows with sets of predictions; leave it out")
            if scorer.needs_question and any(row.question is None for row in rows):
                raise FileError(f"{metric}: needs a question in every row; drop the rows without one, or leave it out")
            parts, counts = [], Counter()
            for start in range(0, len(items), CHUNK_ITEMS):
                progress(metric, start, len(items))
                found, counted = statistics_of_items(scorer, items[start : start + CHUNK_ITEMS])
                parts.append(found)
                counts.update(counted)
            warnings += [f"{metric}: {warning}" for warning in scorer.warnings({}, counts)]
            progress(metric, len(items), len(items))
            statistics = np.concatenate(parts)
            found = scorer.row_scores(statistics)
            scores |= {
                name: np.asarray(found[scorer.row_names[scorer.names.index(name)]], dtype=float)
                for name in self._names(metric)
            }
            for system in dict.fromkeys(row.system for row in rows):
                mine = np.array([row.system == system for row in rows])
                whole = scorer.corpus_scores(statistics[mine].sum(axis=0), int(mine.sum()))
                for name in self._names(metric):
                    if name in whole:
                        system_scores.setdefault(name, {})[system or "(none)"] = whole[name]
        for place, column in enumerate(self.score_columns):
            scores[column] = np.array([row.scores[place] for row in rows])
        return scores, system_scores, warnings

    def _correct(self, rows: list[_Row], human: np.ndarray, column: str) -> tuple[np.ndarray, str]:
        labels = [row.human[1] for row in rows]
        if self.correct is None and all(label in (0.0, 1.0) for label in labels):
            return np.array(labels) == 1, f"{self.columns.get('label') or 'label'} = 1"
        limit = self.correct if self.correct is not None else float(human.min() + human.max()) / 2
        return human >= limit, f"{column} >= {limit:g}"

    def _groups(self, rows: list[_Row]) -> dict[str, list[str]]:
        """Return the groupings that say something here."""
        groups = {}
        given = [row.groups.get("question_type") for row in rows]
        if all(given):
            groups["question_type"] = given
        elif any(row.question for row in rows):
            groups["question_type, by rule"] = [question_type(row.question or "") for row in rows]
        if any(row.system for row in rows):
            groups["system"] = [row.system or "(none)" for row in rows]
        groups["source"] = [row.groups.get("source") or row.file for row in rows]
        if all(row.prediction is not None for row in rows):
            groups["length"] = [length_group(row.prediction) for row in rows]
        for column in self.group_columns:
            groups[column] = [row.groups[column] or "(none)" for row in rows]
        return groups
