"""Scores of texts with several references."""

from collections.abc import Callable, Sequence

import numpy as np


def best_scores(score: Callable, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return (rows,) scores of every candidate and its best reference, of a function that scores pairs of texts."""
    firsts = [text for text, own in zip(candidates, references, strict=True) for _ in own]
    result = score(firsts, [text for own in references for text in own])
    return np.maximum.reduceat(np.asarray(result), np.cumsum([0, *map(len, references[:-1])]))
