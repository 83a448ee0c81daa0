"""Two runs of one system over the same questions: what got better, what got worse, and what changed: answers or judge.

Both runs are scored by the same judge, so every difference of these scores comes from an answer that changed. Where
the files hold the scores of an earlier `score --output`, those tell whether the judge changed between the runs.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...rows.errors import FileError
from ...rows.sources import Source
from ...scale.scoring import differing_parts
from .analysis import ACCURACY, Compared, row_name
from .rows import Matched

TOLERANCE = 1e-6  # smaller differences of scores are rounding, also those of recorded scores, which are floats


def changes(matched: Matched, compared: Compared, sources: Mapping[str, Sequence[Source]]) -> dict[str, Any]:
    """Return what changed between two runs, the old one first; another number of runs is a FileError.

    "runs" (old, new), "answers_changed" (number of questions), "judge" ({metric: signatures recorded in files of the
    "old" and the "new" run, that of "now", and "differs": the parts that changed}), and "metrics": {metric: "score",
    "better" and "worse" (rows, the largest change first), "same" (number), "recorded" (rows whose recorded score
    changed though the answer did not; None if a row has no such score)}. `sources`: {run: its files}.
    """
    if len(matched.systems) != 2:
        names = ", ".join(matched.systems)
        raise FileError(f"runs: expected an old and a new run, got {len(matched.systems)}: {names}; name two")
    changed = np.array([old.item.predictions != new.item.predictions for old, new in matched.rows])
    signatures = {run: [recorded_signatures(source) for source in sources[run]] for run in matched.systems}
    metrics, by_judge = {}, {}
    for metric, scorer in compared.scorers.items():
        name, judge = row_name(scorer, scorer.significance_scores[0]), compared.judges.get(metric)
        by_row = judge.by_row if judge else compared.row_scores[metric][name]
        difference = by_row[:, 1] - by_row[:, 0]
        order = np.argsort(-np.abs(difference), kind="stable")
        moved = [row for row in order.tolist() if abs(difference[row]) > TOLERANCE]
        recorded = None
        if all(name in row.recorded for question in matched.rows for row in question):
            recorded = np.array([[row.recorded[name] for row in question] for question in matched.rows])
            other = np.flatnonzero(~changed & (np.abs(recorded[:, 1] - recorded[:, 0]) > TOLERANCE))
            recorded = [matched.reported(row, recorded[row]) for row in other.tolist()]
        metrics[metric] = {
            "score": ACCURACY if judge else scorer.significance_scores[0],
            "better": [matched.reported(row, by_row[row]) for row in moved if difference[row] > 0],
            "worse": [matched.reported(row, by_row[row]) for row in moved if difference[row] < 0],
            "same": len(by_row) - len(moved),
            "recorded": recorded,
        }
        old, new = (sorted({of[metric] for of in signatures[run] if metric in of}) for run in matched.systems)
        differs = differing_parts(*old, *new) if len(old) == len(new) == 1 else None
        by_judge[metric] = {"old": old, "new": new, "now": scorer.signature, "differs": differs}
    return {
        "runs": matched.systems,
        "answers_changed": int(changed.sum()),
        "judge": by_judge,
        "metrics": metrics,
    }


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
