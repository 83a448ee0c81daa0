"""Answers that are correct and grounded, one of the two, or neither: two metrics of the same rows together."""

from collections.abc import Mapping, Sequence

import numpy as np

TOGETHER = "ava and grounding"  # the name of these counts among those of the metrics
CELLS = ("correct_grounded", "correct_ungrounded", "wrong_grounded", "wrong_ungrounded")


def cell_counts(columns: Mapping[str, Sequence]) -> np.ndarray | None:
    """Return in which of the four cells every answer is.

    Args:
        columns: scores of rows, by name.

    Returns:
        (rows, 4) ones and zeros, in the order of `CELLS`; only zeros for an answer that states nothing. None where one
        of the two metrics was not computed.

    >>> scores = {"ava_label": [1, 0], "grounding_answers": [0, 0], "grounding_answer_rate": [1, 1]}
    >>> cell_counts(scores).tolist()
    [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    needed = ("ava_label", "grounding_answers", "grounding_answer_rate")
    if not all(name in columns for name in needed):
        return None
    correct, grounded, states = (np.asarray(columns[name], dtype=float) > 0.5 for name in needed)
    cells = [correct & grounded, correct & ~grounded, ~correct & grounded, ~correct & ~grounded]
    return np.stack([cell & states for cell in cells], axis=1).astype(float)


def cell_shares(counts: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Return {system: {cell: share of the answers that state something}}, from sums of `cell_counts`.

    >>> cell_shares({"a": np.array([2.0, 1.0, 1.0, 0.0])})["a"]["correct_grounded"]
    0.5
    """
    return {
        system: dict(zip(CELLS, (values / max(values.sum(), 1.0)).tolist(), strict=True))
        for system, values in counts.items()
    }
