"""Rows with human scores, scored and measured: what `genqa-metrics agree` reports, as one object."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from ...core.scorer import require_extra
from ...registry import SCORERS
from ...rows.errors import FileError, name_column
from ...rows.file_types import Row
from ...rows.items import Item, RowError, RowReader
from ...rows.reading import Message, Progress, Skips, first_row_kind, good_rows, ignore, inputs_of, is_judged
from ...rows.sources import Source
from ...scale.options import AgreeOptions, checked_columns, default_metrics, make_scorers, needed_columns
from ...scale.pipeline import item_statistics
from ...statistics.resampling import CONFIDENCE
from ..inputs import calibrated_on, digested_sources, optional_texts, rounded, score_in_column
from .measures import LENGTHS, PERMUTATIONS, Judgments, analyse, differing
from .question_types import question_type


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


@dataclass(frozen=True)
class Agreement:
    """How well metrics agree with human scores. Numbers have six significant digits.

    Attributes:
        genqa_metrics: the version that computed it.
        inputs: "name", "sha256" and "rows" of every file.
        rows: number of answers.
        questions: number of questions.
        left_out: {reason: number of rows}.
        settings: what the numbers depend on.
        human: column, range and mean of the human scores, and from where on they count as correct.
        signatures: {metric: what its numbers depend on}.
        metrics: {metric: correlations, and where they are defined "classifier" and "verdicts"}.
        differences: tests of every pair of metrics.
        rank_pairs: share of answer pairs that each metric ranks as humans do.
        systems: scores of systems by humans and metrics, or None.
        groups: {grouping: {group: "rows", "questions" and "metrics"}}.
        notes: what a reader must know before the numbers.
        worst: {judge: the rows on which it and the humans differ most, worst first}.
    """

    genqa_metrics: str
    inputs: list[dict[str, Any]]
    rows: int
    questions: int
    left_out: dict[str, int]
    settings: dict[str, Any]
    human: dict[str, Any]
    signatures: dict[str, str]
    metrics: dict[str, dict[str, Any]]
    differences: list[dict[str, Any]]
    rank_pairs: dict[str, Any]
    systems: dict[str, Any] | None
    groups: dict[str, dict[str, dict[str, Any]]]
    notes: list[str]
    worst: dict[str, list[dict[str, Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers in types that JSON has."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


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
        inputs: names of files, not standard input; or rows in memory, see `inputs.sources_of`.
        *given, **options: see `AgreeOptions`; without metrics and score columns that of `score`.

    Raises:
        ValueError: if an argument is bad. Nothing has been read yet.
        ImportError: if the packages of the extra `agree` are not installed.
    """

    def __init__(self, inputs: object, *given, **options):
        require_extra("agree", "matplotlib", "sklearn")
        self.options = AgreeOptions(*given, **options)
        self.columns, self.score_columns = checked_columns(self.options.columns), tuple(self.options.score_columns)
        if self.options.human in SCORERS:
            raise ValueError(
                f"human: expected the column of human scores, got the metric {self.options.human!r}; metrics are "
                f"named by keyword: metrics={self.options.human!r}"
            )
        gap = self.options.gap
        if gap is not None and not 0 <= gap < math.inf:
            raise ValueError(f"gap: expected a number of at least 0, got {gap}")
        metrics, settings = self.options.metrics, self.options.settings
        self.sources = digested_sources(inputs)
        if not (metrics or settings or self.score_columns):
            kind = first_row_kind(self.sources, self.columns)
            metrics = default_metrics(kind) if kind and not kind.sets and kind.has_references else ("aev",)
        self.scorers = make_scorers(metrics, settings, not is_judged(self.sources))
        names = [name for scorer in self.scorers.values() for name in scorer.meta_evaluated]
        for column in self.score_columns:
            if column in names:
                raise ValueError(f"column: {column!r} is also the name of a score of --metric; rename the column")

    def report(self, problem: Message = ignore, progress: Progress = ignore) -> Agreement:
        """Read, score and measure.

        Args:
            problem: called with each bad row that is left out.
            progress: called with the metric, and the number of rows scored and of all rows.

        Raises:
            FileError: if a file cannot be read, a row is bad, or fewer than 3 rows are left.
        """
        from ... import __version__

        skips = Skips(self.options.skips, problem)
        rows = self._read(skips)
        # `score` is finer than `label`, which is cut from it: the label is used where there is no score.
        place = int(not any(row.human[0] is not None for row in rows))
        column = self.columns.get(("score", "label")[place]) or ("score", "label")[place]
        if column in self.score_columns:
            raise FileError(f"column: {column!r} has the human scores, with which metrics are compared; name another")
        judged = [row for row in rows if row.human[place] is not None and math.isfinite(row.human[place])]
        if not judged:
            problem = f"{', '.join(source.name for source in self.sources)}: no row has a human score, a number in a "
            raise FileError(problem, "column named score or label; name another with ", name_column("score"))
        scores, system_scores, warnings = self._scores(judged, progress)
        finite = np.all([np.isfinite(values) for values in scores.values()], axis=0)
        kept = [row for row, good in zip(judged, finite, strict=True) if good]
        if len(kept) < 3:
            raise FileError(f"{len(kept)} rows have a human score and all metric scores; 3 are the least")
        human = np.array([row.human[place] for row in kept], dtype=float)
        correct, rule = self._correct(kept, human, column)
        judgments = Judgments(
            human=human,
            correct=correct,
            scores={name: values[finite] for name, values in scores.items()},
            questions=[(row.file, row.question or number, row.references) for number, row in enumerate(kept)],
            texts=[row.question for row in kept],
            systems=[row.system or "(none)" for row in kept] if any(row.system for row in kept) else None,
            groups=self._groups(kept),
            system_scores=system_scores if finite.all() else {},
            thresholds={k: v for scorer in self.scorers.values() for k, v in scorer.thresholds.items()},
        )
        result = analyse(judgments, self.options.gap, self.options.resamples, self.options.seed)
        result["notes"] += [*warnings, *calibrated_on(self.scorers.values(), inputs_of(self.sources, skips))]
        return Agreement(
            genqa_metrics=__version__,
            inputs=inputs_of(self.sources, skips),
            rows=len(kept),
            questions=int(judgments.clusters.max()) + 1,
            left_out={
                "bad rows": skips.skipped,
                "without a human score": len(rows) - len(judged),
                "without a score of every metric": len(judged) - len(kept),
            },
            settings={
                "resamples": self.options.resamples,
                "permutations": PERMUTATIONS * self.options.resamples,
                "seed": self.options.seed,
                "confidence": CONFIDENCE,
                "interval": result.pop("interval"),
                "columns": self.columns,
                "score_columns": list(self.score_columns),
                "group_columns": list(self.options.group_columns),
            },
            human=rounded(
                {
                    "column": column,
                    "minimum": float(human.min()),
                    "maximum": float(human.max()),
                    "mean": float(human.mean()),
                    "correct": rule,
                    "share_correct": float(correct.mean()),
                }
            ),
            signatures={metric: scorer.signature for metric, scorer in self.scorers.items()},
            **result,
            worst={
                name: [
                    {
                        "file": kept[row].file,
                        "question": kept[row].question,
                        "references": list(kept[row].references),
                        "prediction": kept[row].prediction,
                        "system": kept[row].system,
                        "human": float(human[row]),
                        name: round(float(judgments.scores[name][row]), 6),
                    }
                    for row in differing(judgments, name, self.options.worst)
                ]
                for name in judgments.thresholds
            },
        )

    def _read(self, skips: Skips) -> list[_Row]:
        needs = partial(needed_columns, self.scorers)
        readers = {id(source): RowReader(source, self.columns, needs) for source in self.sources}

        def convert(source: Source, row: Row) -> _Row:
            reader, values, item = readers[id(source)], row.values, None
            scores = [score_in_column(column, values, missing=True) for column in self.score_columns]
            for column in self.options.group_columns:
                if column not in values:
                    text = ", ".join(values) or "none"
                    raise RowError(f"no column {column!r}, which --group names; columns found: {text}")
            if self.scorers:
                items = reader.read(row)
                if len(items) != 1:
                    raise RowError(
                        f"expected the answer of one system, with its human score, got {len(items)}; write one "
                        "row per system"
                    )
                (item,) = items
            texts = optional_texts(reader, values)
            groups = {name: values.get(name) for name in (*self.options.group_columns, "question_type", "source")}
            prediction = item.predictions[0] if item and item.predictions else reader.optional(values, "prediction")
            return _Row(
                file=source.stem,
                human=reader.human(values),
                item=item,
                question=texts["text"],
                references=tuple(item.references if item else texts["references"]),
                prediction=prediction if isinstance(prediction, str) else None,
                system=texts["system"],
                scores=scores,
                groups={name: None if value in (None, "") else str(value) for name, value in groups.items()},
            )

        return [row for _, _, row in good_rows(self.sources, convert, skips)]

    def _scores(self, rows: list[_Row], progress: Callable) -> tuple[dict, dict, list[str]]:
        """Return name -> (rows,) scores; name -> system -> score where metrics score systems; warnings."""
        scores: dict[str, np.ndarray] = {}
        system_scores: dict[str, dict[str, float]] = {}
        items = [row.item for row in rows]
        for metric, scorer in self.scorers.items():
            if not scorer.takes_sets and any(len(item.predictions) != 1 for item in items):
                raise FileError(f"{metric}: scores one answer, got rows with sets of predictions; leave it out")
            if scorer.needs_question and any(row.question is None for row in rows):
                raise FileError(f"{metric}: needs a question in every row; drop the rows without one, or leave it out")
        sums, counts = item_statistics(items, self.scorers, progress)
        warnings = []
        for metric, scorer in self.scorers.items():
            warnings += [f"{metric}: {warning}" for warning in scorer.warnings({}, counts[metric])]
            statistics = sums[metric][:, :-1]  # of one answer, or of one set
            by_row = scorer.row_scores(statistics)
            for name in scorer.meta_evaluated:
                scores[name] = np.asarray(by_row[scorer.row_names[scorer.names.index(name)]], dtype=float)
            for system in dict.fromkeys(row.system for row in rows):
                mine = np.array([row.system == system for row in rows])
                whole = scorer.corpus_scores(statistics[mine].sum(axis=0), int(mine.sum()))
                for name in scorer.meta_evaluated:
                    system_scores.setdefault(name, {})[system or "(none)"] = whole[name]
        for place, column in enumerate(self.score_columns):
            scores[column] = np.array([row.scores[place] for row in rows])
        return scores, system_scores, warnings

    def _correct(self, rows: list[_Row], human: np.ndarray, column: str) -> tuple[np.ndarray, str]:
        labels = [row.human[1] for row in rows]
        if self.options.correct is None and all(label in (0.0, 1.0) for label in labels):
            return np.array(labels) == 1, f"{self.columns.get('label') or 'label'} = 1"
        limit = self.options.correct if self.options.correct is not None else float(human.min() + human.max()) / 2
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
        for column in self.options.group_columns:
            groups[column] = [row.groups[column] or "(none)" for row in rows]
        return groups
