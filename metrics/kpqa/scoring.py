"""Keyphrase-weighted BLEU-1, ROUGE-L and BERTScore: token ids, weights and vectors in, scores out. No input or output.

Lee et al., "KPQA: A Metric for Generative Question Answering Using Keyphrase Weights", NAACL 2021, section 4 and
appendix A. Where the paper leaves a choice:

- Matches of BLEU-1 are clipped counts; of several equal tokens the heaviest match.
- The LCS of ROUGE-L is the common subsequence that carries most weight. Eq. 5 sums the prediction's weights for both
  ratios, so that eq. 3 divides one text's weights by the other's and can exceed 1: `rouge_weights="candidate"`. With
  the default, "both", precision sums the weights of the prediction and recall those of the reference: both stay within
  0 and 1, and human judgments agree better. The paper's published code differs from both, `rouge_weights="code"`: it
  sums the reference's weights for both ratios, and its table takes every match it meets, which can miss the heaviest
  subsequence. (Its BLEU-1-KPQA has a brevity penalty and gives equal tokens their mean weight; eq. 1 has neither.)
- The paper's BERTScore weighs word pieces by their inverse document frequency in the references: `idf`.
- Vectors of words that exclude each other, two numbers or yes and no, are near: in BERTScore-KPQA their cosine is
  multiplied by `OTHER_VALUE`, and "2" and "two" are the same. The paper has no such rule; people agree better with it.
- Words that the vocabulary does not know, such as emoji, share one word piece and one vector; here they match only
  where they are the same word.
- Weights that are all 0 mean that no token stands out: they count as equal weights. A text without tokens scores 0.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import NamedTuple

import numpy as np

PAIR_STATISTICS = tuple(
    "bleu1_kpqa rougeL_kpqa_precision rougeL_kpqa_recall bertscore_kpqa_precision bertscore_kpqa_recall "
    "bleu1 rougeL_precision rougeL_recall bertscore_precision bertscore_recall".split()
)
METRICS = ("bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa", "bleu1", "rougeL", "bertscore")
RESULTS = tuple(
    "bleu1_kpqa rougeL_kpqa rougeL_kpqa_precision rougeL_kpqa_recall bertscore_kpqa bertscore_kpqa_precision "
    "bertscore_kpqa_recall bleu1 rougeL bertscore".split()
)
ROUGE_WEIGHTS = ("both", "candidate", "code")

OTHER_VALUE = 0.5
UNKNOWN = 2**31  # first id of words that the vocabulary lacks, see `encoding.with_distinct_unknowns`
_DENIED = 2**32  # above all token ids
_CELLS = 2**20  # candidate x reference cells compared at once: 8 MB of similarities


class Tokens(NamedTuple):
    """One text, as the scores need it."""

    ids: np.ndarray  # (tokens,) integers of at least 0; equal ids match
    weights: np.ndarray  # (tokens,) keyphrase weights of at least 0
    vectors: np.ndarray  # (tokens, size) unit vectors
    denied: np.ndarray | None = None  # (tokens,) integers, see `encoding.denied_pieces`
    values: np.ndarray | None = None  # (tokens,) integers, see `encoding.values_of`

    def keyphrase_ids(self) -> np.ndarray:
        """Return (tokens,) integers, equal where the weighted metrics match tokens; a denied token is another one."""
        ids = np.asarray(self.ids, dtype=np.int64)
        return ids if self.denied is None else ids + _DENIED * self.denied


def _ratio(sums: np.ndarray, totals: np.ndarray) -> np.ndarray:
    return np.divide(sums, totals, out=np.zeros(np.broadcast(sums, totals).shape), where=totals > 0)


def clipped_matches(candidates: np.ndarray, weights: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Return (pairs, m) booleans: which candidate tokens match a reference token of their own, the heaviest first.

    Ids of (pairs, m) candidates and (pairs, n) references have different negative numbers at padding, here and below.

    >>> clipped_matches(np.array([[7, 7, 8]]), np.array([[0.1, 0.9, 0.5]]), np.array([[7, 9]]))
    array([[False,  True, False]])
    """
    order = np.argsort(-weights, axis=1, kind="stable")
    ids = np.take_along_axis(candidates, order, axis=1)
    earlier = np.tril(ids[:, :, None] == ids[:, None, :], -1).sum(axis=2)
    available = (ids[:, :, None] == references[:, None, :]).sum(axis=2)
    matched = np.empty(candidates.shape, dtype=bool)
    np.put_along_axis(matched, order, earlier < available, axis=1)
    return matched


def all_matches(candidates: np.ndarray, weights: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Return (pairs, m) numbers of reference tokens that equal a candidate token: sum of I(i, j), eq. 1 as printed.

    A word that both texts repeat counts more than once, so that BLEU-1-KPQA can exceed 1; weights are not used.

    >>> all_matches(np.array([[7, 7, 8]]), np.ones((1, 3)), np.array([[7, 9, 7]]))
    array([[2, 2, 0]])
    """
    return (candidates[:, :, None] == references[:, None, :]).sum(axis=2)


def heaviest_common_subsequence(candidates: np.ndarray, weights: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Return (pairs,) weights of the common subsequence with most weight (eq. 5), its length if all weights are 1.

    Weights are those of the candidates; swap the texts for the other side.

    >>> heaviest_common_subsequence(np.array([[1, 2, 3]]), np.array([[0.2, 0.5, 0.4]]), np.array([[2, 1, 3]]))
    array([0.9])
    """
    best = np.zeros((len(candidates), references.shape[1] + 1))
    for i in range(candidates.shape[1]):
        match = np.where(candidates[:, i, None] == references, weights[:, i, None], -np.inf)
        best[:, 1:] = np.maximum(best[:, 1:], best[:, :-1] + match)
        np.maximum.accumulate(best, axis=1, out=best)
    return best[:, -1]


def published_common_subsequence(candidates: np.ndarray, references: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return (pairs,) weights of a common subsequence, by the references' weights, as the paper's published code does.

    Where two tokens match, its table takes the match and never considers skipping it: they are at most those of
    `heaviest_common_subsequence`.

    >>> candidates, references = np.array([[1, 2, 1]]), np.array([[1, 3, 1]])
    >>> published_common_subsequence(candidates, references, np.array([[0.9, 0.3, 0.1]])).round(1)
    array([1.])
    """
    best = np.zeros((len(candidates), candidates.shape[1] + 1))
    for j in range(references.shape[1]):
        before = best.copy()
        match = candidates == references[:, j, None]
        for i in range(candidates.shape[1]):
            taken = before[:, i] + weights[:, j]
            best[:, i + 1] = np.where(match[:, i], taken, np.maximum(before[:, i + 1], best[:, i]))
        best = np.where(references[:, j, None] >= 0, best, before)
    return np.take_along_axis(best, (candidates >= 0).sum(axis=1)[:, None], axis=1)[:, 0]


def inverse_document_frequencies(documents: Sequence[np.ndarray]) -> dict[int, float]:
    """Return token id -> log((N + 1) / (documents with it + 1)), as BERTScore computes it; -1 -> that of a new token.

    >>> frequencies = inverse_document_frequencies([np.array([5, 6]), np.array([5])])
    >>> {token: round(value, 3) for token, value in frequencies.items()}
    {-1: 1.099, 5: 0.0, 6: 0.405}
    """
    counts = Counter(int(token) for document in documents for token in set(document.tolist()))
    total = len(documents) + 1
    return {-1: log(total)} | {token: log(total / (count + 1)) for token, count in sorted(counts.items())}


def f_score(precision: np.ndarray, recall: np.ndarray, beta: float = 1.0) -> np.ndarray:
    """Return (1 + beta^2) P R / (R + beta^2 P) (eq. 4 and 8), 0 where both are 0; numbers below 0 count as 0.

    >>> f_score(np.array([0.5]), np.array([1.0])).round(3)
    array([0.667])
    """
    precision, recall = np.maximum(precision, 0.0), np.maximum(recall, 0.0)  # a cosine can be negative
    return _ratio((1 + beta**2) * precision * recall, recall + beta**2 * precision)


def _padded(rows: Sequence[np.ndarray], empty: float) -> np.ndarray:
    longest = max(1, max(map(len, rows)))
    out = np.full((len(rows), longest, *rows[0].shape[1:]), empty, dtype=rows[0].dtype)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


def _block_statistics(
    candidates: Sequence[Tokens],
    references: Sequence[Tokens],
    rouge_weights: str,
    idf: Mapping[int, float] | None,
    clipped: bool,
) -> np.ndarray:
    def padded(column: Callable[[Tokens], np.ndarray], *empty: float) -> list[np.ndarray]:
        sides = zip((candidates, references), empty, strict=True)
        return [_padded([column(text) for text in side], pad) for side, pad in sides]

    def weights(text: Tokens) -> np.ndarray:
        return np.asarray(text.weights if np.any(text.weights) else np.ones(len(text.ids)), dtype=float)

    def rarity(text: Tokens) -> np.ndarray:
        rarities = np.array([idf.get(token, idf[-1]) for token in np.asarray(text.ids).tolist()], dtype=float)
        return rarities if rarities.any() else np.ones(len(rarities))

    all_ids = padded(lambda text: np.asarray(text.ids, dtype=np.int64), -1, -2)
    vectors = padded(lambda text: text.vectors, 0, 0)
    cosines = np.matmul(vectors[0], vectors[1].transpose(0, 2, 1)).astype(float)
    both_unknown = (all_ids[0] >= UNKNOWN)[:, :, None] & (all_ids[1] >= UNKNOWN)[:, None, :]
    if both_unknown.any():  # they share one vector
        cosines = np.where(both_unknown, all_ids[0][:, :, None] == all_ids[1][:, None, :], cosines)
    keyphrase_ids = padded(Tokens.keyphrase_ids, -1, -2)
    as_denied = (keyphrase_ids[0] // _DENIED)[:, :, None] == (keyphrase_ids[1] // _DENIED)[:, None, :]
    codes = padded(lambda text: np.zeros(len(text.ids), np.int64) if text.values is None else text.values, 0, 0)
    left_values, right_values = codes[0][:, :, None], codes[1][:, None, :]
    by_value = np.where(left_values == right_values, 1.0, OTHER_VALUE * cosines)
    keyphrase_cosines = np.where(as_denied, np.where((left_values > 0) & (right_values > 0), by_value, cosines), 0.0)

    def nearest(similarities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        similarities[all_ids[0] < 0] = -np.inf
        similarities.transpose(0, 2, 1)[all_ids[1] < 0] = -np.inf
        both_sides = similarities.max(axis=2), similarities.max(axis=1)
        return tuple(np.where(np.isfinite(best), best, 0.0) for best in both_sides)

    keyphrase = padded(weights, 0, 0)
    equal = [(ids >= 0).astype(float) for ids in all_ids]
    rare = equal if idf is None else padded(rarity, 0, 0)
    columns = []
    for ids, weights_by_side, vector_weights, similarities in (
        (keyphrase_ids, keyphrase, keyphrase, keyphrase_cosines),
        (all_ids, equal, rare, cosines),
    ):
        candidate_weights, reference_weights = weights_by_side
        candidate_sum, reference_sum = candidate_weights.sum(axis=1), reference_weights.sum(axis=1)
        matches = clipped_matches if clipped or weights_by_side is equal else all_matches
        matched = (candidate_weights * matches(ids[0], candidate_weights, ids[1])).sum(axis=1)
        if rouge_weights == "code" and weights_by_side is keyphrase:
            common = common_in_reference = published_common_subsequence(*ids, reference_weights)
        else:
            common = common_in_reference = heaviest_common_subsequence(ids[0], candidate_weights, ids[1])
            if rouge_weights != "candidate":
                common_in_reference = heaviest_common_subsequence(ids[1], reference_weights, ids[0])
        nearest_reference, nearest_candidate = nearest(similarities)
        columns += [
            _ratio(matched, candidate_sum),
            _ratio(common, candidate_sum),
            _ratio(common_in_reference, reference_sum),
            _ratio((vector_weights[0] * nearest_reference).sum(axis=1), vector_weights[0].sum(axis=1)),
            _ratio((vector_weights[1] * nearest_candidate).sum(axis=1), vector_weights[1].sum(axis=1)),
        ]
    return np.stack(columns, axis=1)


def pair_statistics(
    candidates: Sequence[Tokens],
    references: Sequence[Tokens],
    rouge_weights: str = "both",
    idf: Mapping[int, float] | None = None,
    clipped: bool = True,
) -> np.ndarray:
    """Return (pairs, 10) floats, `PAIR_STATISTICS`, of which the last five are the first five with equal weights.

    For `rouge_weights` see `ROUGE_WEIGHTS`. `idf` has weights of BERTScore without keyphrase weights, see
    `inverse_document_frequencies`. Unless `clipped`, BLEU-1-KPQA is eq. 1 as printed, see `all_matches`.
    """
    out = np.zeros((len(candidates), len(PAIR_STATISTICS)))
    sizes = [(len(c.ids), len(r.ids)) for c, r in zip(candidates, references, strict=True)]
    order = sorted((i for i, size in enumerate(sizes) if all(size)), key=sizes.__getitem__)
    start = 0
    while start < len(order):
        stop, longest = start, 1
        while stop < len(order):
            longest = max(longest, max(sizes[order[stop]]))
            if stop > start and longest**2 * (stop + 1 - start) > _CELLS:
                break
            stop += 1
        block = order[start:stop]
        sides = [candidates[i] for i in block], [references[i] for i in block]
        out[block] = _block_statistics(*sides, rouge_weights, idf, clipped)
        start = stop
    return out


def row_scores(statistics: np.ndarray, rows: np.ndarray, beta: float = 1.0) -> tuple[dict, dict]:
    """Return the scores of every row, the maximum over its references, and which reference won, both by metric.

    Scores are (rows,) floats: `METRICS`, and precision and recall of the winner. `rows` are (pairs,) row numbers: 0,
    0, 1, ... without gaps; `beta` weighs recall against precision in ROUGE-L.
    """
    columns = dict(zip(PAIR_STATISTICS, statistics.T, strict=True))
    rows = np.asarray(rows, dtype=np.int64)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    scores, winners = {}, {}
    for metric in METRICS:
        if metric in columns:
            pair_scores = columns[metric]
        else:
            used = beta if metric.startswith("rougeL") else 1.0
            pair_scores = f_score(columns[f"{metric}_precision"], columns[f"{metric}_recall"], used)
        # Sorted by row, then by falling score: the first pair of a row is its best, the earlier of two equal ones.
        best = np.lexsort((-pair_scores, rows))[starts]
        winners[metric] = best - starts
        scores[metric] = pair_scores[best]
        if metric in ("rougeL_kpqa", "bertscore_kpqa"):
            for side in ("precision", "recall"):
                scores[f"{metric}_{side}"] = columns[f"{metric}_{side}"][best]
    return scores, winners
