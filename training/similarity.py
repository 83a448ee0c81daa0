"""Cosines of sentence vectors of the base encoder."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial

import numpy as np


@cache
def _encoder(folder: str):
    from genqa_metrics.core.scorer import quiet
    from sentence_transformers import SentenceTransformer

    with quiet():
        return SentenceTransformer(folder, device="cpu")


def sentence_vectors(texts: Iterable[str], length: int | None = None) -> dict[str, np.ndarray]:
    """Return text -> its vector of length 1; every text is read once.

    Args:
        texts: any texts, also repeated ones.
        length: word pieces that are read of a text; None for the encoder's.
    """
    from genqa_metrics.core.checkpoints import base_encoder

    model, texts = _encoder(str(base_encoder())), list(dict.fromkeys(texts))
    known = model.max_seq_length
    model.max_seq_length = length or known
    vectors = model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    model.max_seq_length = known
    return dict(zip(texts, vectors, strict=True))


def cosines(firsts: Sequence[str], seconds: Sequence[str], length: int | None = None) -> np.ndarray:
    """Return (pairs,) cosines of the vectors of pairs of texts."""
    vectors = sentence_vectors([*firsts, *seconds], length)
    return np.array([float(vectors[a] @ vectors[b]) for a, b in zip(firsts, seconds, strict=True)])


def best_scores(score: Callable, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return (rows,) scores of every candidate and its best reference, of a function that scores pairs of texts."""
    firsts = [text for text, own in zip(candidates, references, strict=True) for _ in own]
    result = score(firsts, [text for own in references for text in own])
    return np.maximum.reduceat(np.asarray(result), np.cumsum([0, *map(len, references[:-1])]))


def best_cosines(
    candidates: Sequence[str], references: Sequence[Sequence[str]], length: int | None = None
) -> np.ndarray:
    """Return (rows,) cosines of every candidate and the nearest of its references."""
    return best_scores(partial(cosines, length=length), candidates, references)
