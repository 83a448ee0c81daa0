"""The answers that the row viewer shows: items with what a judge and people say of them."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...registry import JUDGE, judge_among, scorer_class
from ...reports.viewer import ViewedAnswer
from ...rows.reading import Item
from ..labelling import Task
from ..labels import item_key, key_of


def viewed_answers(
    items: Sequence[Item],
    judged: np.ndarray,
    verdicts: np.ndarray,
    labels: np.ndarray,
    topics: Sequence[str] = (),
    tasks: Sequence[Task] = (),
    judge: str = JUDGE,
) -> list[ViewedAnswer]:
    """Return items as the viewer shows them.

    `judged` has the judge's (items,) probabilities, `verdicts` 1 where it accepts, `labels` the mean label of people,
    NaN without one; `topics` what the rows are grouped by; `tasks` which answers are drawn to be labelled; `judge` the
    metric that names faults, "" for a judge that names none.
    """
    drawn = {task.key: (number, task.probability, task.planned) for number, task in enumerate(tasks)}
    fault = scorer_class(judge).fault if judge else lambda *texts: ""
    answers = []
    for row, item in enumerate(items):
        label = None if np.isnan(labels[row]) else float(labels[row])
        question, answer, key = item.text or "", item.predictions[0], key_of(item)
        is_wrong = not verdicts[row] and label in (None, 0.0)
        answers.append(
            ViewedAnswer(
                key=key,
                question=question,
                references=item.references,
                system=item.system,
                answer=answer,
                id=item.id or "",
                verdict=bool(verdicts[row]),
                probability=float(judged[row]),
                label=label,
                reason=str(item.recorded.get(judge, {}).get(f"{judge}_reason") or ""),
                kind=fault(question, item.references, answer) if is_wrong else "",
                topic=topics[row] if topics else "",
                passages=item.contexts,
                drawn=drawn.get(key),
            )
        )
    return answers


def scored_answers(columns: Mapping[str, Sequence], metrics: Sequence[str], threshold: float) -> list[ViewedAnswer]:
    """Return rows with their scores, as `score` writes them, as the viewer shows them; none for sets of questions."""
    if "prediction" not in columns:
        return []
    judge, names = judge_among(metrics), []
    for metric in metrics:
        of = scorer_class(metric)
        names += [name for name in dict.fromkeys((of.main, *of.beside)) if metric != judge and name in columns]
    return [
        scored_answer(row, judge, {name: row[name] for name in names}, [*metrics], threshold)
        for row in (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    ]


def scored_answer(
    row: Mapping, judge: str | None, scores: Mapping[str, float], metrics: Sequence[str] = (), threshold: float = 0.5
) -> ViewedAnswer:
    """Return one row with its scores as the viewer shows it; `judge` is the metric whose verdict counts, if any."""
    question, references, answer, label = row.get("question") or "", row["references"], row["prediction"], row["label"]
    probability = row[f"{judge}_score"] if judge else None
    verdict = None
    if judge:
        recorded = row.get(f"{judge}_label")
        verdict = probability >= threshold if recorded is None else bool(recorded)
    is_wrong = verdict is False and label in (None, 0.0)
    return ViewedAnswer(
        key=item_key(row["system"], question, answer),
        question=question,
        references=references,
        system=row["system"],
        answer=answer,
        id=row["id"] or "",
        verdict=verdict,
        probability=probability,
        label=label,
        reason=next((row[f"{metric}_reason"] for metric in metrics if row.get(f"{metric}_reason")), ""),
        kind=scorer_class(judge).fault(question, references, answer) if is_wrong and judge else "",
        passages=row.get("contexts") or (),
        scores=scores,
    )
