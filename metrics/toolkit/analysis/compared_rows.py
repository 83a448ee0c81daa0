"""Single questions of a comparison, as reports show them: answers and scores of all systems, and how they arise."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .explanation import Explanation, explanation
from .matching import Matched

if TYPE_CHECKING:
    from .compare import CompareRun


def reported_row(matched: Matched, number: int, scores: np.ndarray) -> dict[str, object]:
    """Return what is reported of one question."""
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


def explanations(run: "CompareRun", report: Mapping) -> list[dict[str, Explanation]]:
    """Return how KPQA computes the scores of the best and the worst answer of each row that differs most.

    Args:
        run: the run with its models and settings.
        report: what it reported.

    Returns:
        For every row of report["metrics"]["kpqa"]["rows"] system -> `explanation.Explanation`; none without kpqa.
    """
    scorer = run.scorers.get("kpqa")
    if scorer is None:
        return []
    explained = []
    for row in report["metrics"]["kpqa"]["rows"]:
        texts = {system: row["answers"][system]["predictions"] for system in (row["best"], row["worst"])}
        explained.append(
            {
                system: explanation(row["text"], answers[0], row["references"], scorer.models, scorer.beta)
                for system, answers in texts.items()
                if len(answers) == 1
            }
        )
    return explained


def scored_rows(run: "CompareRun") -> list[dict]:
    """Return every question of a run with the answers of all systems and their scores.

    Args:
        run: the run, after `report`.

    Returns:
        For every question "number" (from 1), "id", "question", "references", and "answers": system -> "prediction"
        and "scores" (name of a row's score -> value).
    """
    scores: dict[str, np.ndarray] = {}
    for metric, sums in run.statistics.items():
        means = sums[..., :-1] / np.maximum(sums[..., -1:], 1)
        flat, scorer = means.reshape(-1, means.shape[-1]), run.scorers.get(metric)
        by_name = scorer.row_scores(flat) if scorer else {metric: flat[:, 0]}
        scores |= {name: np.asarray(values).reshape(means.shape[:2]) for name, values in by_name.items()}
    found = []
    for q, rows in enumerate(run.matched.rows):
        asked = rows[0].item
        answers = {
            system: {
                "prediction": " | ".join(row.item.predictions),
                "scores": {name: float(values[q, s]) for name, values in scores.items()},
            }
            for s, (system, row) in enumerate(zip(run.matched.systems, rows, strict=True))
        }
        found.append(
            {
                "number": q + 1,
                "id": asked.id,
                "question": asked.text,
                "references": asked.references,
                "answers": answers,
            }
        )
    return found
