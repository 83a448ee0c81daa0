"""The answers that the row viewer shows: items with what a judge and people say of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...registry import JUDGE, judge_among, scorer_class
from ...reports.viewer import ViewedAnswer
from ...rows.reading import Item
from ..label.labelling import Task
from ..label.labels import item_key


def viewed_answers(
    items: Sequence[Item],
    judged: np.ndarray,
    verdicts: np.ndarray,
    labels: np.ndarray,
    topics: Sequence[str] = (),
    tasks: Sequence[Task] = (),
    judge: str | None = JUDGE,
) -> list[ViewedAnswer]:
    """Return items as the viewer shows them.

    `judged` has the judge's (items,) probabilities, `verdicts` 1 where it accepts, `labels` the mean label of people,
    NaN without one; `topics` what the rows are grouped by; `tasks` which answers are drawn to be labelled; `judge` the
    metric that names faults, None for a judge that names none.
    """
    drawn = {task.key: (number, task.probability, task.planned) for number, task in enumerate(tasks)}
    return [
        _viewed(
            judge,
            question=item.text or "",
            references=item.references,
            system=item.system,
            answer=item.predictions[0],
            id=item.id or "",
            verdict=bool(verdict),
            probability=float(probability),
            label=None if np.isnan(label) else float(label),
            reason=str(item.recorded.get(judge or "", {}).get(f"{judge}_reason") or ""),
            topic=topic,
            passages=item.contexts,
            drawn=drawn,
        )
        for item, probability, verdict, label, topic in zip(
            items, judged, verdicts, labels, topics or [""] * len(items), strict=True
        )
    ]


def scored_answers(columns: Mapping[str, Sequence], metrics: Sequence[str], threshold: float) -> list[ViewedAnswer]:
    """Return rows with their scores, as `score` writes them, as the viewer shows them; none for sets of questions."""
    if "prediction" not in columns:
        return []
    judge, names = judge_among(metrics), []
    for metric in (metric for metric in metrics if metric != judge):
        scores = scorer_class(metric).main, *scorer_class(metric).beside
        names += [name for name in dict.fromkeys(scores) if name in columns]
    rows = (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))
    return [scored_answer(row, judge, {name: row[name] for name in names}, metrics, threshold) for row in rows]


def scored_answer(
    row: Mapping, judge: str | None, scores: Mapping[str, float], metrics: Sequence[str] = (), threshold: float = 0.5
) -> ViewedAnswer:
    """Return one row with its scores as the viewer shows it; `judge` is the metric whose verdict counts, if any."""
    probability = row[f"{judge}_score"] if judge else None
    recorded = row.get(f"{judge}_label")
    accepts = bool(recorded) if recorded is not None else bool(judge) and probability >= threshold
    return _viewed(
        judge,
        question=row.get("question") or "",
        references=row["references"],
        system=row["system"],
        answer=row["prediction"],
        id=row["id"] or "",
        verdict=accepts if judge else None,
        probability=probability,
        label=row["label"],
        reason=next((row[f"{metric}_reason"] for metric in metrics if row.get(f"{metric}_reason")), ""),
        passages=row.get("contexts") or (),
        scores=scores,
    )


def _viewed(judge: str | None, drawn: Mapping[str, tuple] | None = None, **shown: Any) -> ViewedAnswer:
    """Return an answer as the viewer shows it, with its key, its place in `drawn`, and the fault of a wrong answer."""
    question, answer = shown["question"], shown["answer"]
    is_wrong = shown["verdict"] is False and shown["label"] in (None, 0.0)
    texts = [question], [shown["references"]], [answer]
    (kind,) = scorer_class(judge).faults_of(*texts) if judge and is_wrong else ("",)
    key = item_key(shown["system"], question, answer)
    return ViewedAnswer(key=key, kind=kind, drawn=(drawn or {}).get(key), **shown)
