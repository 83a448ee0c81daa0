"""Keyphrase-weighted BLEU-1, ROUGE-L and BERTScore: token ids, weights and vectors in, scores out. No input or output.

Lee et al., "KPQA: A Metric for Generative Question Answering Using Keyphrase Weights", NAACL 2021, section 4 and
appendix A. Where the paper leaves a choice:

- Matches of BLEU-1 are clipped counts; of several equal tokens the heaviest match.
- The LCS of ROUGE-L is the common subsequence that carries most weight. Eq. 5 sums the prediction's weights for both
  ratios, so that eq. 3 divides one text's weights by the other's and can exceed 1. Here precision sums the weights of
  the prediction and recall those of the reference: both stay within 0 and 1, and human judgments agree better. The
  paper's published code differs from both: it sums the reference's weights for both ratios, and its table takes every
  match it meets, which can miss the heaviest subsequence.
- Weights that are all 0 mean that no token stands out: they count as equal weights. A text without tokens scores 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

PAIR_STATISTICS = (
    "bleu1_kpqa",
    "rougeL_kpqa_precision",
    "rougeL_kpqa_recall",
    "bertscore_kpqa_precision",
    "bertscore_kpqa_recall",
    "bleu1",
    "rougeL_precision",
    "rougeL_recall",
    "bertscore_precision",
    "bertscore_recall",
)
METRICS = ("bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa", "bleu1", "rougeL", "bertscore")

RESULTS = (
    "bleu1_kpqa",
    "rougeL_kpqa",
    "rougeL_kpqa_precision",
    "rougeL_kpqa_recall",
    "bertscore_kpqa",
    "bertscore_kpqa_precision",
    "bertscore_kpqa_recall",
    "bleu1",
    "rougeL",
    "bertscore",
)

_CELLS = 2**20  # candidate x reference cells that are compared at once: 8 MB of similarities


class Tokens(NamedTuple):
    """One text as the scores see it.

    Attributes:
        ids: (tokens,) integers of at least 0; equal ids match.
        weights: (tokens,) keyphrase weights of at least 0.
        vectors: (tokens, size) unit vectors.
    """

    ids: np.ndarray
    weights: np.ndarray
    vectors: np.ndarray


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole > 0)


def clipped_matches(candidates: np.ndarray, weights: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Return which candidate tokens match a reference token of their own; the heaviest of equal tokens come first.

    Args:
        candidates: (pairs, m) token ids, negative at padding.
        weights: (pairs, m) weights of the candidates' tokens.
        references: (pairs, n) token ids, padded with another negative number.

    Returns:
        (pairs, m) booleans.

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


def heaviest_common_subsequence(candidates: np.ndarray, weights: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Return the weight of the common subsequence that carries most weight (eq. 5); swap the texts for the other side.

    Args:
        candidates: (pairs, m) token ids, negative at padding.
        weights: (pairs, m) weights of the candidates' tokens, at least 0.
        references: (pairs, n) token ids, padded with another negative number.

    Returns:
        (pairs,) weights; with all weights 1 the length of the longest common subsequence.

    >>> heaviest_common_subsequence(np.array([[1, 2, 3]]), np.array([[0.2, 0.5, 0.4]]), np.array([[2, 1, 3]]))
    array([0.9])
    """
    best = np.zeros((len(candidates), references.shape[1] + 1))
    for i in range(candidates.shape[1]):
        match = np.where(candidates[:, i, None] == references, weights[:, i, None], -np.inf)
        best[:, 1:] = np.maximum(best[:, 1:], best[:, :-1] + match)
        np.maximum.accumulate(best, axis=1, out=best)
    return best[:, -1]


def checked_beta(beta: float) -> float:
    """Return beta, the weight of recall against precision, as a float.

    Raises:
        ValueError: if it is no finite number above 0.
    """
    if isinstance(beta, bool) or not isinstance(beta, int | float) or not 0 < beta < float("inf"):
        raise ValueError(f"beta: expected a number above 0, got {beta!r}")
    return float(beta)


def f_score(precision: np.ndarray, recall: np.ndarray, beta: float = 1.0) -> np.ndarray:
    """Return (1 + beta^2) P R / (R + beta^2 P) (eq. 4 and 8), 0 where both are 0.

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


def _weights(texts: Sequence[Tokens]) -> np.ndarray:
    weights = _padded([np.asarray(t.weights if np.any(t.weights) else np.ones(len(t.ids)), float) for t in texts], 0.0)
    return weights


def _block_statistics(candidates: Sequence[Tokens], references: Sequence[Tokens]) -> np.ndarray:
    candidate_ids = _padded([np.asarray(t.ids, dtype=np.int64) for t in candidates], -1)
    reference_ids = _padded([np.asarray(t.ids, dtype=np.int64) for t in references], -2)
    cosines = np.matmul(
        _padded([t.vectors for t in candidates], 0), _padded([t.vectors for t in references], 0).transpose(0, 2, 1)
    ).astype(float)
    cosines[candidate_ids < 0] = -np.inf
    cosines.transpose(0, 2, 1)[reference_ids < 0] = -np.inf
    nearest_reference, nearest_candidate = cosines.max(axis=2), cosines.max(axis=1)
    nearest_reference[~np.isfinite(nearest_reference)] = 0.0
    nearest_candidate[~np.isfinite(nearest_candidate)] = 0.0

    keyphrase = (_weights(candidates), _weights(references))
    equal = ((candidate_ids >= 0).astype(float), (reference_ids >= 0).astype(float))
    columns = []
    for of_candidate, of_reference in (keyphrase, equal):
        candidate_sum, reference_sum = of_candidate.sum(axis=1), of_reference.sum(axis=1)
        matched = (of_candidate * clipped_matches(candidate_ids, of_candidate, reference_ids)).sum(axis=1)
        common = heaviest_common_subsequence(candidate_ids, of_candidate, reference_ids)
        common_in_reference = heaviest_common_subsequence(reference_ids, of_reference, candidate_ids)
        columns += [
            _ratio(matched, candidate_sum),
            _ratio(common, candidate_sum),
            _ratio(common_in_reference, reference_sum),
            _ratio((of_candidate * nearest_reference).sum(axis=1), candidate_sum),
            _ratio((of_reference * nearest_candidate).sum(axis=1), reference_sum),
        ]
    return np.stack(columns, axis=1)


def pair_statistics(candidates: Sequence[Tokens], references: Sequence[Tokens]) -> np.ndarray:
    """Return the statistics of pairs of a candidate and a reference, in the order of `PAIR_STATISTICS`.

    Args:
        candidates: the candidate of every pair.
        references: the reference of every pair.

    Returns:
        (pairs, 10) floats; the last five are the first five with equal weights.
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
        out[block] = _block_statistics([candidates[i] for i in block], [references[i] for i in block])
        start = stop
    return out


def row_scores(statistics: np.ndarray, rows: np.ndarray, beta: float = 1.0) -> tuple[dict, dict]:
    """Return the scores of every row, the maximum over its references, and which reference won.

    Args:
        statistics: (pairs, 10), see `pair_statistics`.
        rows: (pairs,) number of every pair's row: 0, 0, 1, ... without gaps.
        beta: weight of recall against precision in ROUGE-L.

    Returns:
        Scores, name -> (rows,) floats: `METRICS`, and of ROUGE-L-KPQA and BERTScore-KPQA precision and recall of the
        reference that won; winners, name of the metric -> (rows,) number of that reference within its row.
    """
    columns = dict(zip(PAIR_STATISTICS, statistics.T, strict=True))
    rows = np.asarray(rows, dtype=np.int64)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    scores, winners = {}, {}
    for metric in METRICS:
        if metric in columns:
            values = columns[metric]
        else:
            used = beta if metric.startswith("rougeL") else 1.0
            values = f_score(columns[f"{metric}_precision"], columns[f"{metric}_recall"], used)
        # Sorted by row, then by falling score: the first pair of a row is its best, the earlier of two equal ones.
        best = np.lexsort((-values, rows))[starts]
        winners[metric] = best - starts
        scores[metric] = values[best]
        if metric in ("rougeL_kpqa", "bertscore_kpqa"):
            for part in ("precision", "recall"):
                scores[f"{metric}_{part}"] = columns[f"{metric}_{part}"][best]
    return scores, winners
