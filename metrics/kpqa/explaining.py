"""Marks the word pieces of an answer and its references: keyphrase weights, and what the scores count as matches."""

from collections.abc import Sequence

import numpy as np

from ..core.reading import readable
from ..core.scorer import Mark
from .encoding import word_pieces
from .scoring import Tokens, clipped_matches, inverse_document_frequencies

STEPS = (0.05, 0.2, 0.4, 0.6, 0.8)  # weights from which a mark is one kind further, "weight1" to "weight5"
SHARED, IN_ORDER = "B", "L"  # behind the weight of a piece that BLEU-1 and ROUGE-L count


def in_heaviest_subsequence(ids: Sequence[int], weights: Sequence[float], others: Sequence[int]):
    """Return which of (m,) tokens form the common subsequence that carries most weight, as ROUGE-L-KPQA counts it.

    >>> in_heaviest_subsequence([1, 2, 3], [0.2, 0.5, 0.4], [2, 1, 3]).tolist()
    [False, True, True]
    """
    others = np.asarray(others)
    best = np.zeros((len(ids) + 1, len(others) + 1))  # of the first i tokens here and the first j there
    for i, (token, weight) in enumerate(zip(ids, weights, strict=True)):
        with_token = np.where(others == token, best[i, :-1] + weight, 0.0)
        best[i + 1, 1:] = np.maximum.accumulate(np.maximum(best[i, 1:], with_token))
    chosen = np.zeros(len(ids), dtype=bool)
    j = len(others)
    for i in range(len(ids) - 1, -1, -1):
        # The first column with this sum: the token either made it there, or was not needed for it.
        j = int(np.searchsorted(best[i + 1, : j + 1], best[i + 1, j]))
        if best[i, j] < best[i + 1, j]:
            chosen[i], j = True, j - 1
    return chosen


def marks(offsets: Sequence, tokens: Tokens, other: Tokens) -> list[Mark]:
    """Return the marks of the word pieces of a text at (tokens, 2) offsets, compared with those of another text.

    Pieces of little weight have none. Pieces that share characters, such as the bytes of one emoji, have one mark, of
    the heaviest.
    """
    ids, others = tokens.keyphrase_ids(), other.keyphrase_ids()
    weights = tokens.weights if np.any(tokens.weights) else np.ones(len(ids))  # as the scores do
    shared = clipped_matches(ids[None], weights[None], others[None])[0]
    in_order = in_heaviest_subsequence(ids, weights, others)
    places: list[list] = []
    for (start, end), *numbers in zip(offsets, tokens.weights.tolist(), shared, in_order, strict=True):
        if places and start < places[-1][1]:
            last = places[-1]
            places[-1] = [last[0], max(last[1], end), *map(max, last[2:], numbers)]
        elif start < end:
            places.append([int(start), int(end), *numbers])
    return [
        (start, end, f"weight{step}", f"{weight:.2f} {SHARED * bool(is_shared)}{IN_ORDER * bool(is_in_order)}".strip())
        for start, end, weight, is_shared, is_in_order in places
        if (step := sum(weight >= least for least in STEPS))
    ]


def rarities(tokenizer, corpus: Sequence[str], text: str) -> str:
    """Return the word pieces of a text with their inverse document frequency, 1 for the rarest: "seven (1.00)".

    See Table 5 of the paper.
    """
    frequencies = inverse_document_frequencies(
        [np.unique(pieces) for pieces in word_pieces(tokenizer, list(map(readable, corpus)))]
    )
    (pieces,) = word_pieces(tokenizer, [text])
    rarity = np.array([frequencies.get(int(piece), frequencies[-1]) for piece in pieces])
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)["offset_mapping"]
    shares = rarity / max(rarity.max(initial=0.0), 1e-9)
    return " ".join(f"{text[start:end]} ({share:.2f})" for (start, end), share in zip(offsets, shares, strict=True))
