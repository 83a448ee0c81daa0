"""Speed of KPQA beside a plain loop that encodes one pair at a time, in one run on the same rows.

    python -m tests.benchmarks.bench_kpqa --data kpqa_marco.dev.jsonl.gz

The loop is how the paper's own code works: tokenize a question and a text, run the predictor, next. Both have the same
checkpoint and the same number of threads, and give the same weights.
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from genqa_metrics.kpqa.encoding import Encoder
from genqa_metrics.kpqa.loading import load_models
from genqa_metrics.kpqa.scoring import pair_statistics, row_scores

from tests.benchmarks.report import facts, write


def timed(function: Callable) -> tuple[float, object]:
    """Return the wall time of a call in seconds, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def one_at_a_time(models, pairs: list[tuple[str, str]]) -> list[np.ndarray]:
    """Return the weights of every pair's text, one forward pass each."""
    weights = []
    for question, text in pairs:
        batch = models.tokenizer(question, text, truncation="only_second", max_length=512, return_tensors="pt")
        with torch.inference_mode():
            logits = models.predictor(**batch).logits
        own = np.array([side == 1 for side in batch.sequence_ids(0)])
        weights.append(logits.softmax(-1)[0, :, 1].numpy()[own])
    return weights


def whole_metric(models, rows: list[dict]) -> float:
    """Compute all scores of all rows; return the seconds inside the two models."""
    inside = 0.0

    def counted(module, inputs, output):
        nonlocal inside
        inside += time.perf_counter() - started[-1]

    started = []
    hooks = []
    for model in (models.predictor, models.embedder if models.layer else models.embedder.embeddings):
        hooks.append(model.register_forward_pre_hook(lambda *_: started.append(time.perf_counter())))
        hooks.append(model.register_forward_hook(counted))
    encoder = Encoder(models)
    numbers = np.repeat(np.arange(len(rows)), [len(row["references"]) for row in rows])
    pairs = [(row["question"], row["candidate"]) for row in rows]
    pairs += [(row["question"], text) for row in rows for text in row["references"]]
    tokens, _ = encoder.tokens(pairs)
    row_scores(pair_statistics([tokens[n] for n in numbers], tokens[len(rows) :]), numbers)
    for hook in hooks:
        hook.remove()
    return inside


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="JSON lines with question, candidate and references")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=int, default=3, help="the quickest of so many runs counts")
    parser.add_argument("--output", type=Path, help="write the result here as JSON")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    with gzip.open(arguments.data, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    models = load_models(device="cpu")
    asked = [(row["question"], text) for row in rows for text in (row["candidate"], *row["references"])]
    unique = list(dict.fromkeys(asked))
    runs = {
        "loop_every_text": lambda: one_at_a_time(models, asked),
        "loop_unique_texts": lambda: one_at_a_time(models, unique),
        "kpqa_weights": lambda: [weights for _, weights in Encoder(models).keyphrase_weights(unique)],
        "kpqa_all_scores": lambda: whole_metric(models, rows),
    }
    runs["kpqa_weights"]()
    seconds, shares, results = {name: [] for name in runs}, [], {}
    for _ in range(arguments.repeats):
        for name, run in runs.items():
            elapsed, results[name] = timed(run)
            seconds[name].append(elapsed)
        shares.append(results["kpqa_all_scores"] / seconds["kpqa_all_scores"][-1])
    best = {name: min(values) for name, values in seconds.items()}
    differences = zip(results["loop_unique_texts"], results["kpqa_weights"], strict=True)
    result = {
        "rows": len(rows),
        "texts": len(asked),
        "unique_texts": len(unique),
        "threads": arguments.threads,
        "seconds": {name: round(value, 2) for name, value in best.items()},
        "times_as_fast_as_the_loop": round(best["loop_every_text"] / best["kpqa_weights"], 2),
        "times_as_fast_as_the_loop_over_unique_texts": round(best["loop_unique_texts"] / best["kpqa_weights"], 2),
        "share_of_time_in_the_models": round(max(shares), 3),
        "largest_difference_of_a_weight": max(float(np.abs(a - b).max()) for a, b in differences if len(a)),
        **facts([arguments.data], ["genqa-metrics", "torch", "transformers"]),
    }
    write(result, arguments.output)


if __name__ == "__main__":
    main()
