"""Speed and memory of AEv beside sacrebleu and rouge_score, in one run on the same pairs.

    python -m tests.programs.benchmarks.bench_aev --data mt_wmt21_deen.jsonl.gz

A pair is the outputs of two systems for one source sentence: the texts overlap as candidates and references do.
"""

import argparse
import gzip
import itertools
import json
import tracemalloc
from pathlib import Path

from genqa_metrics.aev.scoring import GRID_ORDERS, Settings, grid_scores, summed_statistics
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import corpus_bleu

from tests.programs.benchmarks.report import facts, timed, write


def pairs_of_outputs(path: Path, count: int) -> list[tuple[str, str]]:
    """Return pairs of two systems' outputs for the same segment, from a file of outputs of several systems."""
    by_segment: dict[str, list[str]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            by_segment.setdefault(row["segment_id"], []).append(row["candidate"])
    everything = (pair for outputs in by_segment.values() for pair in itertools.permutations(outputs, 2))
    pairs = list(itertools.islice(everything, count))
    if len(pairs) < count:
        raise SystemExit(f"--pairs: {path} gives only {len(pairs)} pairs")
    return pairs


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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="JSON lines, gzip, with segment_id and candidate")
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3, help="the quickest of so many runs counts")
    parser.add_argument("--output", type=Path, help="write the result here as JSON")
    arguments = parser.parse_args()

    pairs = pairs_of_outputs(arguments.data, arguments.pairs)
    predictions, references = map(list, zip(*pairs, strict=True))
    rouge = RougeScorer(["rouge1"])
    contestants = {
        "aev_grid_44_cells": lambda: aev_grid(pairs),
        "sacrebleu_corpus_bleu": lambda: corpus_bleu(predictions, [references]),
        "rouge_score_rouge1": lambda: [rouge.score(reference, prediction) for prediction, reference in pairs],
    }
    seconds = {name: [] for name in contestants}
    for _ in range(arguments.repeats):
        for name, run in contestants.items():
            seconds[name].append(timed(run)[0])
    best = {name: min(values) for name, values in seconds.items()}
    peers = best["sacrebleu_corpus_bleu"] + best["rouge_score_rouge1"]
    result = {
        "pairs": len(pairs),
        "words_per_text": round(sum(len(text.split()) for pair in pairs for text in pair) / (2 * len(pairs)), 1),
        "seconds": {name: round(value, 2) for name, value in best.items()},
        "peers_together_over_aev_grid": round(peers / best["aev_grid_44_cells"], 2),
        "peak_mib_by_pairs": {
            str(count): round(peak_memory(count, pairs) / 2**20, 1) for count in (len(pairs) // 10, len(pairs))
        },
        **facts([arguments.data], ["genqa-metrics", "sacrebleu", "rouge-score"]),
    }
    write(result, arguments.output)


if __name__ == "__main__":
    main()
