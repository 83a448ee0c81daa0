"""Explains the scores of one answer, piece by piece: weights, matches and the reference that gave each score.

The numbers are those of the module.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.reading import readable
from ..core.scorer import VERSION, checked_column
from .encoding import Encoder, word_pieces
from .scoring import (
    METRICS,
    PAIR_STATISTICS,
    clipped_matches,
    inverse_document_frequencies,
    pair_statistics,
    row_scores,
)


class Segment(NamedTuple):
    """Some characters of a text; all segments of a text put together are the text."""

    text: str
    weights: tuple[float, ...] = ()  # keyphrase weights of the word pieces there, mostly one; none between pieces
    shared: bool = False  # the other text has this piece too: what BLEU-1 counts
    in_order: bool = False  # it belongs to the heaviest common subsequence: what ROUGE-L counts


class Score(NamedTuple):
    """A score, its precision and recall if it has them, and the number of the reference that gave it, from 0."""

    value: float
    precision: float | None
    recall: float | None
    reference: int


@dataclass(frozen=True)
class Explanation:
    """How KPQA computes its scores for one answer.

    Pairs are, per reference, the segments of the prediction, held against it, and the segments of the reference.
    `rarity` is like these, with the inverse document frequency of every piece over the largest of its text in place of
    its weight (Table 5 of the paper); None without texts to count in. Scores are bleu1_kpqa, rougeL_kpqa,
    bertscore_kpqa and the unweighted ones; `cut_texts` is the number of texts whose end the model could not read.
    """

    question: str
    pairs: list[tuple[list[Segment], list[Segment]]]
    scores: dict[str, Score]
    cut_texts: int
    signature: str
    rarity: list[tuple[list[Segment], list[Segment]]] | None = None


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


def segments(text: str, offsets: Sequence, weights: Sequence, shared: Sequence, in_order: Sequence) -> list[Segment]:
    """Return a text cut into its word pieces and what is between them.

    Offsets are (tokens, 2) characters. Pieces that share characters (bytes of one emoji) become one segment.

    >>> [segment.text for segment in segments("a pun", [(0, 1), (2, 3), (3, 5)], [0.1, 0.9, 0.8], [0] * 3, [0] * 3)]
    ['a', ' ', 'p', 'un']
    """
    result: list[Segment] = []
    end = 0
    for (start, stop), weight, *marks in zip(offsets, weights, shared, in_order, strict=True):
        if result and (start < end or stop <= end) and result[-1].weights:
            last = result.pop()
            text_of_both = last.text + text[end : max(end, stop)]
            both = (bool(a or b) for a, b in zip(last[2:], marks, strict=True))
            result.append(Segment(text_of_both, (*last.weights, float(weight)), *both))
        else:
            if start > end:
                result.append(Segment(text[end:start]))
            result.append(Segment(text[start:stop], (float(weight),), *map(bool, marks)))
        end = max(end, stop)
    return [*result, Segment(text[end:])] if end < len(text) else result


def explanation(
    question: str,
    prediction: str,
    references: Sequence[str],
    models,
    beta: float = 1.0,
    corpus: Sequence[str] | None = None,
) -> Explanation:
    """Return how KPQA computes its scores for one answer, exactly those of the module with the same settings.

    `models` is what `kpqa.loading.load_models` returns; word pieces are counted in the `corpus` for their rarity.
    """
    (question,), (prediction,) = (
        checked_column(name, [text], "text") for name, text in (("question", question), ("prediction", prediction))
    )
    (references,) = checked_column("references", [list(references)], "either", needed=True)
    question, *texts = map(readable, (question, prediction, *references))
    encoder = Encoder(models)
    tokens, offsets = encoder.tokens([(question, text) for text in texts])
    statistics = pair_statistics([tokens[0]] * len(references), tokens[1:])
    values, winners = row_scores(statistics, np.zeros(len(references), dtype=int), beta)
    scores = {}
    for metric in METRICS:
        best = int(winners[metric][0])
        parts, names = (f"{metric}_precision", f"{metric}_recall"), PAIR_STATISTICS
        parts = (float(statistics[best, names.index(part)]) if part in names else None for part in parts)
        scores[metric] = Score(float(values[metric][0]), *parts, best)

    def side(here: int, there: int) -> list[Segment]:
        ids, weights, others = tokens[here].keyphrase_ids(), tokens[here].weights, tokens[there].keyphrase_ids()
        used = weights if np.any(weights) else np.ones(len(ids))  # as the scores do
        clipped_match = clipped_matches(ids[None], used[None], others[None])[0]
        return segments(texts[here], offsets[here], weights, clipped_match, in_heaviest_subsequence(ids, used, others))

    pairs = [(side(0, i), side(i, 0)) for i in range(1, len(texts))]
    signature = f"kpqa|{models.signature}|beta:{beta:g}|unknown:surface|version:{VERSION}"
    rarity = None
    if corpus:
        documents = [np.unique(pieces) for pieces in word_pieces(models.tokenizer, list(map(readable, corpus)))]
        frequencies = inverse_document_frequencies(documents)

        def rare(number: int) -> list[Segment]:
            rarities = np.array([frequencies.get(int(token), frequencies[-1]) for token in tokens[number].ids])
            rarities = rarities / max(rarities.max(initial=0.0), 1e-9)
            none = np.zeros(len(rarities), dtype=bool)
            return segments(texts[number], offsets[number], rarities, none, none)

        rarity = [(rare(0), rare(i)) for i in range(1, len(texts))]
    return Explanation(question, pairs, scores, len(encoder.cut), signature, rarity)
