"""Speed and memory of AEv beside sacrebleu and rouge_score, in one run on the same pairs.

    python -m tests.programs.benchmarks.bench_aev --data mt_wmt21_deen.jsonl.gz

A pair is the outputs of two systems for one source sentence: the texts overlap as candidates and references do.
"""

import itertools
import tracemalloc

from genqa_metrics.aev.scoring import GRID_ORDERS, Settings, grid_scores, summed_statistics
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import corpus_bleu

from tests.programs.benchmarks.report import quickest, speed_or_memory

PAIRS = 100_000


def pairs_of_outputs(rows: list[dict], count: int) -> list[tuple[str, str]]:
    """Return pairs of two systems' outputs for the same segment, from the outputs of several systems."""
    by_segment: dict[str, list[str]] = {}
    for row in rows:
        by_segment.setdefault(row["segment_id"], []).append(row["candidate"])
    everything = (pair for outputs in by_segment.values() for pair in itertools.permutations(outputs, 2))
    return list(itertools.islice(everything, count))


def aev_grid(pairs) -> dict:
    """Return the 44 cells of the evaluation plane, texts streamed."""
    left, right = itertools.tee(pairs)
    texts, references = (pair[0] for pair in left), ([pair[1]] for pair in right)
    return grid_scores(summed_statistics(texts, references, Settings(), max(GRID_ORDERS)), Settings())


def peak_memory(count: int, pairs: list) -> int:
    """Return the peak of what the grid of the first `count` pairs allocates beside the pairs, in bytes."""
    tracemalloc.start()
    aev_grid(iter(pairs[:count]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def speed(rows: list[dict], repeats: int) -> dict:
    """Return the times of AEv and its peers, and the peak memory of AEv."""
    pairs = pairs_of_outputs(rows, PAIRS)
    predictions, references = map(list, zip(*pairs, strict=True))
    rouge = RougeScorer(["rouge1"])
    contestants = {
        "aev_grid_44_cells": lambda: aev_grid(pairs),
        "sacrebleu_corpus_bleu": lambda: corpus_bleu(predictions, [references]),
        "rouge_score_rouge1": lambda: [rouge.score(reference, prediction) for prediction, reference in pairs],
    }
    best, _ = quickest(contestants, repeats)
    peers = best["sacrebleu_corpus_bleu"] + best["rouge_score_rouge1"]
    return {
        "pairs": len(pairs),
        "words_per_text": round(sum(len(text.split()) for pair in pairs for text in pair) / (2 * len(pairs)), 1),
        "seconds": {name: round(value, 2) for name, value in best.items()},
        "peers_together_over_aev_grid": round(peers / best["aev_grid_44_cells"], 2),
        "peak_mib_by_pairs": {
            str(count): round(peak_memory(count, pairs) / 2**20, 1) for count in (len(pairs) // 10, len(pairs))
        },
    }


if __name__ == "__main__":
    speed_or_memory(__doc__, speed, packages=("sacrebleu", "rouge-score"))
