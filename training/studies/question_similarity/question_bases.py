"""Scoring functions for two questions, from overlap to BERTScore, in the form that F-meta uses."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from training.similarity import cosines

BERTSCORE_LAYER = 6  # the encoder's last
TITLES = {
    "bleu": "BLEU-4",
    "rouge": "ROUGE-L",
    "meteor": "METEOR 1.5",
    "bertscore": "BERTScore",
    "cosine": "encoder cosine",
    "mean": "mean of ROUGE-L and cosine",
}


@cache
def overlap(name: str) -> Callable:
    """Return BLEU-4, ROUGE-L or METEOR of raw texts."""
    from genqa_metrics.f_meta.bases import base_function
    from genqa_metrics.f_meta.overlap import words

    if name != "meteor":
        return base_function(name, {"tokenizer": "word"}).pairs
    pairs = base_function(name).pairs
    return lambda predictions, references: pairs(
        *([" ".join(words(text)) for text in texts] for texts in (predictions, references))
    )


def bertscore(predictions: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Return BERTScore F of two lists of texts with the bundled encoder's last layer, without idf or rescaling."""
    from bert_score import BERTScorer
    from genqa_metrics.core.checkpoints import base_encoder
    from genqa_metrics.core.scorer import quiet

    with quiet():
        scorer = BERTScorer(model_type=str(base_encoder()), num_layers=BERTSCORE_LAYER, batch_size=64, device="cpu")
        return scorer.score(list(predictions), list(references))[2].numpy()


def base(name: str) -> Callable:
    """Return one of `TITLES`: from predictions and references, two lists of texts, to (pairs,) scores."""
    if name not in TITLES:
        raise ValueError(f"bases: expected some of {', '.join(TITLES)}, got {name!r}")
    if name == "mean":
        return lambda first, second: (np.asarray(overlap("rouge")(first, second)) + cosines(first, second)) / 2
    return {"bertscore": bertscore, "cosine": cosines}.get(name) or overlap(name)
