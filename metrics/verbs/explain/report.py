"""Why a metric scored one answer as it did: what `genqa_metrics.explain` returns."""

from collections.abc import Mapping, Sequence
from typing import Any


def explain(
    question: str,
    prediction: str,
    references: str | Sequence[str] | None = None,
    metric: str = "ava",
    settings: Mapping[str, Any] | None = None,
    *,
    contexts: Sequence[str] | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Explain the score of one answer, as `genqa-metrics explain` does; no file is needed.

    Args:
        question: the question.
        prediction: the answer.
        references: one or several right answers; grounding reads none.
        metric: "ava" (the words that count for and against the answer), "kpqa" (weights and matches) or "grounding"
            (which sentences the passages support).
        settings: settings of the metric, such as checkpoint.
        contexts: for grounding, the passages that were retrieved.
        progress: whether progress is shown.

    Returns:
        The scores of the answer, and "explanation", as on the metric's card.

    Raises:
        ValueError: if the metric does not explain an answer, or a text or setting is bad.

    >>> explained = explain("Who won?", "It was Ann.", "Ann")
    >>> sorted(explained["explanation"])
    ['differences', 'probability', 'reason', 'reference', 'words']
    """
    from ... import load
    from ...registry import scorer_class
    from .explainer import explained_metrics

    if metric not in explained_metrics():
        raise ValueError(f"metric: expected one of {', '.join(explained_metrics())}, got {metric!r}")
    name = scorer_class(metric).evidence
    wanted = contexts if name == "contexts" else references
    if wanted is None or (references is not None and contexts is not None):
        raise ValueError(f"{name}: {metric} compares answers with {name} alone; give {name}=[...], nothing else")
    result = load(metric, progress=progress, **(settings or {}))
    results = result.compute(questions=[question], predictions=[prediction], **{name: [wanted]}, explain=True)
    return {**results, "explanation": results["explanation"][0]}
