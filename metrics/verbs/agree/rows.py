"""The rows of `agree`: read with their human scores, scored by metrics, and grouped."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.scorer import Scorer
from ...registry import SCORERS
from ...rows import reading
from ...rows.columns import Row, columns_found
from ...rows.errors import FileError
from ...rows.sources import Source
from ...scale.options import needed_columns
from ...scale.run import item_statistics
from ...scale.scoring import profiles
from ..inputs import optional_texts, score_in_column, unscored_item
from ..judge_errors import calibrated_on
from .measures import length_group
from .question_types import question_type


@dataclass(frozen=True)
class AgreeRow:
    """One answer of one system; its human score is `item.human`."""

    file: str
    item: reading.Item
    question: str | None
    prediction: str | None
    system: str | None
    scores: list[float]  # in the columns of `score_columns`; NaN where a cell is empty
    columns: Mapping[str, Any]

    def group(self, column: str) -> str | None:
        """Return the text of a column; None where it is empty or missing."""
        return None if self.columns.get(column) in (None, "") else str(self.columns[column])

    def as_dict(self) -> dict[str, Any]:
        """Return id, line, file and texts."""
        facts = {"id": self.item.id, "line": self.item.line, "file": self.file, "question": self.question}
        return facts | {"references": self.item.references, "prediction": self.prediction, "system": self.system}


def human_column(human: object) -> dict[str, str]:
    """Return {"score": column} for another column of human scores than `score`; a metric's name is a ValueError."""
    by_keyword = "metrics are named by keyword: metrics"
    if not isinstance(human, str):
        raise ValueError(f"human: expected the name of a column, got {human!r}; {by_keyword}=...")
    if human in SCORERS:
        got = f"the metric {human!r}; {by_keyword}={human!r}"
        raise ValueError(f"human: expected the column of human scores, got {got}")
    return {} if human == "score" else {"score": human}


def read_rows(
    sources: Sequence[Source],
    columns: Mapping[str, str],
    scorers: Mapping[str, Scorer],
    score_columns: Sequence[str],
    group_columns: Sequence[str],
    skips: reading.Skips,
) -> list[AgreeRow]:
    """Return the good rows of files, with the scores in `score_columns`; a bad row goes to `skips`, or is an error."""

    def convert(reader: reading.RowReader, row: Row) -> AgreeRow:
        source, cells = reader.source, row.values
        scores = [score_in_column(column, cells, missing=True) for column in score_columns]
        texts = optional_texts(reader, cells)
        for column in group_columns:
            if column not in cells:
                raise reading.RowError(f"no column {column!r}, which --group names; {columns_found(cells)}")
        if scorers:
            items = reader.read(row)
            if len(items) != 1:
                expected = "expected the answer of one system, with its human score"
                raise reading.RowError(f"{expected}, got {len(items)}; write one row per system")
            (item,) = items
        else:
            item = unscored_item(source, row, {**texts, "prediction": texts["prediction"] or [""]})
        item.human = reader.human(cells)
        prediction = next(iter(item.predictions), None) if scorers or texts["prediction"] else None
        return AgreeRow(source.stem, item, texts["text"], prediction, texts["system"], scores, cells)

    readers = [reading.RowReader(source, columns, needed_columns(scorers)) for source in sources]
    return list(reading.good_rows(readers, convert, skips))


def metric_scores(
    rows: Sequence[AgreeRow], scorers: Mapping[str, Scorer], score_columns: Sequence[str], progress: reading.Progress
) -> tuple[dict, dict, list[str]]:
    """Return {name: (rows,) scores}, {name: {system: score}} of metrics that score systems, and warnings."""
    scores: dict[str, np.ndarray] = {}
    system_scores: dict[str, dict[str, float]] = {}
    items, warnings = [row.item for row in rows], []
    for metric, scorer in scorers.items():
        if not scorer.takes_sets and any(len(item.predictions) != 1 for item in items):
            raise FileError(f"{metric}: scores one answer, got rows with sets of predictions; leave it out")
        if scorer.needs_question and any(row.question is None for row in rows):
            raise FileError(f"{metric}: needs a question in every row; drop the rows without one, or leave it out")
    sums, counts = item_statistics(items, scorers, progress)
    for metric, scorer in scorers.items():
        warnings += [f"{metric}: {warning}" for warning in scorer.warnings({}, counts[metric])]
        if scorer.verdict:
            warnings += calibrated_on(sum(profiles(scorer, items, sums[metric]).values(), Counter()))
        statistics = sums[metric][:, :-1]  # of one answer, or of one set
        by_row = scorer.row_scores(statistics)
        for name in scorer.meta_evaluated:
            scores[name] = np.asarray(by_row[scorer.row_names[scorer.names.index(name)]], dtype=float)
        for system in dict.fromkeys(row.system for row in rows):
            is_of_system = np.array([row.system == system for row in rows])
            corpus_scores = scorer.corpus_scores(statistics[is_of_system].sum(axis=0), int(is_of_system.sum()))
            for name in scorer.meta_evaluated:
                system_scores.setdefault(name, {})[system or "(none)"] = corpus_scores[name]
    scores |= {column: np.array([row.scores[i] for row in rows]) for i, column in enumerate(score_columns)}
    return scores, system_scores, warnings


def baselines(scorer: Scorer) -> list[str]:
    """Return the scores that a metric is compared with, such as those without its weights."""
    tested = {*scorer.meta_evaluated} & {*scorer.significance_scores}
    return [name for name in scorer.meta_evaluated if tested and name not in tested]


def groupings(rows: Sequence[AgreeRow], group_columns: Sequence[str]) -> dict[str, list[str]]:
    """Return {grouping: (rows,) group of every row}: by question type, system, source, length and named columns."""
    groups = {}
    types = [row.group("question_type") for row in rows]
    if all(types):
        groups["question_type"] = types
    elif any(row.question for row in rows):
        groups["question_type, by rule"] = [question_type(row.question or "") for row in rows]
    if any(row.system for row in rows):
        groups["system"] = [row.system or "(none)" for row in rows]
    groups["source"] = [row.group("source") or row.file for row in rows]
    if all(row.prediction is not None for row in rows):
        groups["length"] = [length_group(row.prediction) for row in rows]
    return groups | {column: [row.group(column) or "(none)" for row in rows] for column in group_columns}
