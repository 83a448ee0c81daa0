"""Judgments that an earlier run wrote into its rows: they are taken again where judge and texts are the same.

Beside the scores of a metric that `recalls`, the output has a column METRIC_digest: the signature, the digests of the
texts that the metric read and of its scores, and what must be warned of. Scores without it are columns like others.
"""

import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.scorer import Scorer
from ..rows.errors import RecordedScoresWarning
from ..rows.items import DIGEST

FIRST, RECALLED, ANEW = "judged first", "recalled", "judged anew: "
_ROW = "|row:"


def row_digest(signature: str, texts: object, scores: Sequence[float], counts: Mapping[str, int]) -> str:
    """Return what the column says of a row.

    Args:
        signature: of the scorer.
        texts: what it has read, in types that JSON has.
        scores: those of the row, in the order of `Scorer.row_names`.
        counts: what must be warned of, see `Scorer.statistics_with_counts`.

    >>> row_digest("ava|threshold:0.5", ["Who?", "Ann", ["Ann"]], [1.0, 0.9, 0.0], {"truncated": 1})
    'ava|threshold:0.5|row:6400618c-1bf2bb11476bdd4c|truncated:1'
    """
    texts_digest = _digest(texts)[:8]
    counted = "".join(f"|{name}:{count}" for name, count in sorted(counts.items()) if count)
    whole = _digest([signature, texts_digest, [f"{score:.10g}" for score in scores], counted])[:16]
    return f"{signature}{_ROW}{texts_digest}-{whole}{counted}"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def recalled(
    scorer: Scorer, rows: Sequence[tuple], records: Sequence[Mapping[str, Any] | None]
) -> tuple[dict[tuple, tuple[list[float], dict[str, int]]], Counter]:
    """Return the recorded scores that may be taken.

    Args:
        scorer: what would judge the rows.
        rows: what it reads of every row.
        records: the metric's part of `Item.recorded`, None for a row without.

    Returns:
        {row: its scores, and counts of what to warn of in it}, and how many rows were taken, or why not.
    """
    known: dict[tuple, tuple[list[float], dict[str, int]]] = {}
    told: Counter = Counter()
    if not scorer.recalls:
        return known, told
    signature = scorer.signature
    for row, record in zip(rows, records, strict=True):
        scores, outcome, counts = _checked(record, scorer, signature, row)
        told[outcome] += 1
        if outcome == RECALLED:
            known[row] = scores, counts
    return known, told


def _checked(
    record: Mapping[str, Any] | None, scorer: Scorer, signature: str, row: tuple
) -> tuple[list[float], str, dict[str, int]]:
    """Return recorded scores, what becomes of the row, and the recorded counts."""
    text = (record or {}).get(scorer.name + DIGEST)
    before, result, rest = text.rpartition(_ROW) if isinstance(text, str) else ("", "", "")
    if not result:
        return [], FIRST, {}
    if before != signature:
        parts = ", ".join(f"{name} {change}" for name, change in differing_parts(before, signature).items())
        return [], f"{ANEW}the judge differs ({parts})", {}
    try:
        digests, *counted = rest.split("|")
        counts = {name: int(count) for name, _, count in (part.partition(":") for part in counted)}
        scores = [float(record[name]) for name in scorer.row_names]
    except (KeyError, TypeError, ValueError):
        return [], f"{ANEW}their recorded scores were changed", {}
    if row_digest(signature, row, scores, counts) == text:
        return scores, RECALLED, counts
    what = "texts" if digests.partition("-")[0] != _digest(row)[:8] else "recorded scores"
    return [], f"{ANEW}their {what} were changed", {}


def differing_parts(old: str, new: str) -> dict[str, str]:
    """Return the parts of two signatures that differ.

    >>> differing_parts("ava|threshold:0.5|version:1", "ava|threshold:0.6|version:1")
    {'threshold': '0.5 -> 0.6'}
    """
    parts = [dict(part.partition(":")[::2] for part in text.split("|")) for text in (old, new)]
    names = dict.fromkeys([*parts[0], *parts[1]])
    return {
        name: f"{parts[0].get(name, 'none')} -> {parts[1].get(name, 'none')}"
        for name in names
        if parts[0].get(name) != parts[1].get(name)
    }


def recall_note(metric: str, counts: Mapping[str, int]) -> str | None:
    """Return what became of the judgments in the rows, one sentence; None where they had none.

    >>> recall_note("ava", {"recalled": 88, "judged anew: their texts were changed": 3})
    'ava, rows: 88 were judged before, by the same judge; 3 were judged anew: their texts were changed'
    >>> recall_note("ava", {"judged first": 5})
    """
    anew = {name.removeprefix(ANEW): count for name, count in counts.items() if name.startswith(ANEW) and count}
    if not counts.get(RECALLED) and not anew:
        return None
    said = {"were judged before, by the same judge": counts.get(RECALLED)}
    said |= {f"were judged anew: {why}": count for why, count in anew.items()}
    said |= {"were judged for the first time": counts.get(FIRST)}
    parts = [f"{count:,} {what}" for what, count in said.items() if count]
    return f"{metric}, rows: {'; '.join(parts)}"


def digests_of(
    scorer: Scorer, rows: Sequence[tuple], statistics: np.ndarray, counts: Sequence[Mapping[str, int]]
) -> list[str]:
    """Return the column of rows that were just judged.

    Args:
        scorer: what judged them.
        rows: what it has read of each.
        statistics: (rows, k) their statistics.
        counts: what must be warned of in each.
    """
    signature, scores = scorer.signature, scorer.row_scores(statistics)
    every = np.column_stack([scores[name] for name in scorer.row_names]).tolist()
    return [row_digest(signature, *row) for row in zip(rows, every, counts, strict=True)]


def warn_of_recorded(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Warn that judgments in the rows were taken, or could not be; `counts` are those of metrics."""
    for metric, of_metric in counts.items():
        if note := recall_note(metric, of_metric):
            warnings.warn(note, RecordedScoresWarning, stacklevel=3)
