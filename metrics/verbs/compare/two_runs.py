"""Two runs of one system over the same questions: what got better, what got worse, and what changed: answers or judge.

Both runs are scored by the same judge, so every difference of these scores comes from an answer that changed. Where
the files hold the scores of an earlier `score --output`, those tell whether the judge changed between the runs.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.scorer import Scorer
from ...rows.errors import FileError
from ...rows.sources import Source
from ...scale.scoring import differing_parts
from .analysis import ACCURACY, Judged, row_name
from .rows import Matched

TOLERANCE = 1e-6  # smaller differences of scores are rounding, also those of recorded scores, which are floats


def changes(
    matched: Matched,
    scorers: Mapping[str, Scorer],
    row_scores: Mapping[str, Mapping[str, np.ndarray]],
    sources: Mapping[str, Sequence[Source]],
    judges: Mapping[str, Judged],
) -> dict[str, Any]:
    """Return what changed between two runs, the old one first; another number of runs is a FileError.

    Args:
        matched: the rows of both runs.
        scorers: {metric: its scorer}.
        row_scores: {metric: {name: (rows, runs) scores}}.
        sources: {run: its files}.
        judges: see `analyse`.

    Returns:
        "runs" (old, new), "answers_changed" (number of questions), "judge" (see `_judges`), and "metrics": {metric:
        "score", "better" and "worse" (rows, the largest change first), "same" (number), "recorded" (rows whose
        recorded score changed though the answer did not)}.
    """
    if len(matched.systems) != 2:
        names = ", ".join(matched.systems)
        raise FileError(f"runs: expected an old and a new run, got {len(matched.systems)}: {names}; name two")
    changed = np.array([old.item.predictions != new.item.predictions for old, new in matched.rows])
    metrics: dict[str, Any] = {}
    for metric, scorer in scorers.items():
        name = scorer.significance_scores[0]
        by_row = judges[metric].by_row if metric in judges else row_scores[metric][row_name(scorer, name)]
        difference = by_row[:, 1] - by_row[:, 0]
        order = np.argsort(-np.abs(difference), kind="stable")
        moved = [row for row in order.tolist() if abs(difference[row]) > TOLERANCE]
        metrics[metric] = {
            "score": ACCURACY if metric in judges else name,
            "better": [_change(matched, row, by_row[row]) for row in moved if difference[row] > 0],
            "worse": [_change(matched, row, by_row[row]) for row in moved if difference[row] < 0],
            "same": len(by_row) - len(moved),
            "recorded": _recorded(matched, changed, row_name(scorer, name)),
        }
    return {
        "runs": matched.systems,
        "answers_changed": int(changed.sum()),
        "judge": _judges(sources, scorers),
        "metrics": metrics,
    }


def _change(matched: Matched, row: int, scores: Sequence[float]) -> dict[str, Any]:
    """Return texts, answers and scores of a question in both runs."""
    rows = matched.rows[row]
    asked = rows[0].item
    return {
        "row": row + 1,
        "id": asked.id,
        "text": asked.text,
        "references": asked.references,
        "slice": rows[0].slice or None,
        **{
            run: {"predictions": row.item.predictions, "score": float(score)}
            for run, row, score in zip(("old", "new"), rows, scores, strict=True)
        },
    }


def _recorded(matched: Matched, changed: np.ndarray, name: str) -> list[dict[str, Any]] | None:
    """Return questions whose answer is the same but whose recorded score changed; None if a row has no such score."""
    if not all(name in row.recorded for question in matched.rows for row in question):
        return None
    scores = [(old.recorded[name], new.recorded[name]) for old, new in matched.rows]
    moved = [row for row, (old, new) in enumerate(scores) if not changed[row] and abs(new - old) > TOLERANCE]
    return [_change(matched, row, scores[row]) for row in moved]


def _judges(sources: Mapping[str, Sequence[Source]], scorers: Mapping[str, Scorer]) -> dict[str, dict[str, Any]]:
    """Return {metric: recorded signatures of both runs, the current one, and differing parts as "old -> new"}."""
    result = {}
    for metric, scorer in scorers.items():
        by_run = ({recorded_signatures(source).get(metric) for source in files} for files in sources.values())
        recorded = [sorted(filter(None, signatures)) for signatures in by_run]
        old, new = (signatures[0] if len(signatures) == 1 else None for signatures in recorded)
        result[metric] = {"old": recorded[0], "new": recorded[1], "now": scorer.signature}
        result[metric]["differs"] = differing_parts(old, new) if old and new else None
    return result


def recorded_signatures(source: Source) -> dict[str, str]:
    """Return {metric: signature} recorded in a Parquet file of `score --output`; {} for other files."""
    if source.format != "Parquet" or source.path is None or "://" in source.path:
        return {}
    import pyarrow.parquet

    try:
        content = json.loads((pyarrow.parquet.read_schema(source.path).metadata or {}).get(b"genqa_metrics", b"{}"))
    except (OSError, ValueError):  # pyarrow's errors are ValueErrors; reading the rows reports a damaged file
        return {}
    return {str(metric): str(text) for metric, text in content.items()} if isinstance(content, dict) else {}
