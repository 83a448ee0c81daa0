"""The answers that the row viewer shows: items with what a judge and people say of them."""

from collections.abc import Sequence

import numpy as np

from ...registry import scorer_class
from ...reports.viewer import ViewedAnswer
from ...rows.reading import Item
from ..labelling import Task
from ..labels import key_of


def viewed_answers(
    items: Sequence[Item],
    judged: np.ndarray,
    verdicts: np.ndarray,
    labels: np.ndarray,
    topics: Sequence[str] = (),
    tasks: Sequence[Task] = (),
    judge: str = "ava",
) -> list[ViewedAnswer]:
    """Return items as the viewer shows them.

    `judged` has the judge's (items,) probabilities, `verdicts` 1 where it accepts, `labels` the mean label of people,
    NaN without one; `topics` what the rows are grouped by; `tasks` which answers are drawn to be labelled; `judge` the
    metric that names faults, "" for a judge that names none.
    """
    drawn = {task.key: (place, task.probability, task.planned) for place, task in enumerate(tasks)}
    fault = scorer_class(judge).fault if judge else lambda *texts: ""
    answers = []
    for place, item in enumerate(items):
        label = None if np.isnan(labels[place]) else float(labels[place])
        question, answer, key = item.text or "", item.predictions[0], key_of(item)
        is_wrong = not verdicts[place] and label in (None, 0.0)
        answers.append(
            ViewedAnswer(
                key=key,
                question=question,
                references=item.references,
                system=item.system,
                answer=answer,
                id=item.id or "",
                verdict=bool(verdicts[place]),
                probability=float(judged[place]),
                label=label,
                reason=str(item.recorded.get(judge, {}).get(f"{judge}_reason") or ""),
                kind=fault(question, item.references, answer) if is_wrong else "",
                topic=topics[place] if topics else "",
                passages=item.contexts,
                drawn=drawn.get(key),
            )
        )
    return answers
