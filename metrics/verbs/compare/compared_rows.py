"""Single questions of a comparison, as reports show them: answers and scores of all systems, and how they arise."""

from collections.abc import Mapping

import numpy as np

from ...core.scorer import Scorer
from ..explain.kpqa import Explanation, explanation
from .matching import Matched


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


def explanations(scorers: Mapping[str, Scorer], report: Mapping) -> list[dict[str, Explanation]]:
    """Return how KPQA computes the scores of the best and the worst answer of each row that differs most.

    Args:
        scorers: {metric: what computed it}.
        report: what the run reported.

    Returns:
        For every row of report["metrics"]["kpqa"]["rows"] system -> `explanation.Explanation`; none without kpqa.
    """
    scorer = scorers.get("kpqa")
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


def scored_rows(scorers: Mapping[str, Scorer], statistics: Mapping[str, np.ndarray], matched: Matched) -> list[dict]:
    """Return every question of a run with the answers of all systems and their scores.

    Args:
        scorers: {metric: what computed it}.
        statistics: {metric: (questions, systems, k + 1) sums}.
        matched: the rows.

    Returns:
        For every question "number" (from 1), "id", "question", "references", and "answers": system -> "prediction"
        and "scores" (name of a row's score -> value).
    """
    scores: dict[str, np.ndarray] = {}
    for metric, sums in statistics.items():
        means = sums[..., :-1] / np.maximum(sums[..., -1:], 1)
        flat, scorer = means.reshape(-1, means.shape[-1]), scorers.get(metric)
        by_name = scorer.row_scores(flat) if scorer else {metric: flat[:, 0]}
        scores |= {name: np.asarray(values).reshape(means.shape[:2]) for name, values in by_name.items()}
    found = []
    for q, rows in enumerate(matched.rows):
        asked = rows[0].item
        answers = {
            system: {
                "prediction": " | ".join(row.item.predictions),
                "scores": {name: float(values[q, s]) for name, values in scores.items()},
            }
            for s, (system, row) in enumerate(zip(matched.systems, rows, strict=True))
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
