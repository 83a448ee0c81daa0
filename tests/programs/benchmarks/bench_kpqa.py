"""Speed and memory of KPQA, in one run on the same rows.

    python -m tests.programs.benchmarks.bench_kpqa --data kpqa_marco.dev.jsonl.gz
    python -m tests.programs.benchmarks.bench_kpqa --data kpqa_marco.dev.jsonl.gz --memory 1000 10000 100000

Speed is compared with a plain loop, how the paper's own code works: tokenize a question and a text, run the predictor,
next. Both have the same checkpoint and the same number of threads, and give the same weights. Beside them stands the
predictor in bfloat16, and how far its weights and scores are from those of the loop. Times are processor time of all
threads, so that other work on the machine does not count.

Memory is the peak of a process that scores so many rows (questions of the data with short texts, all different), less
what the process holds before: the library, the models and the rows. A process of its own measures each number of rows.
The predictor is one small layer drawn at random, so that 100,000 rows take minutes; all else is the real thing.
"""

import dataclasses
import sys
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from genqa_metrics.core.checkpoints import base_encoder
from genqa_metrics.kpqa.encoding import Encoder
from genqa_metrics.kpqa.loading import load_models
from genqa_metrics.kpqa.scoring import METRICS, pair_statistics, row_scores

from tests.programs.benchmarks.report import peak_of, quickest, speed_or_memory, time_inside

METRIC = Path(__file__).parents[3] / "metrics/kpqa/kpqa.py"


def one_at_a_time(models, pairs: list[tuple[str, str]]) -> list[np.ndarray]:
    """Return the weights of every pair's text, one forward pass each."""
    weights = []
    for question, text in pairs:
        batch = models.tokenizer(question, text, truncation="only_second", max_length=512, return_tensors="pt")
        with torch.inference_mode():
            logits = models.predictor(**batch).logits
        own = np.array([side == 1 for side in batch.sequence_ids(0)])
        weights.append(logits.softmax(-1)[0, :, 1].float().numpy()[own])
    return weights


def in_batches(models, pairs: list[tuple[str, str]]) -> list[np.ndarray]:
    """Return the weights of every pair's text as the metric computes them."""
    return [weights for _, weights in Encoder(models).keyphrase_weights(pairs)]


def all_scores(models, rows: list[dict]) -> dict[str, np.ndarray]:
    """Return the scores of every row: weights, embeddings, matching."""
    numbers = np.repeat(np.arange(len(rows)), [len(row["references"]) for row in rows])
    pairs = [(row["question"], row["candidate"]) for row in rows]
    pairs += [(row["question"], text) for row in rows for text in row["references"]]
    tokens, _ = Encoder(models).tokens(pairs)
    return row_scores(pair_statistics([tokens[n] for n in numbers], tokens[len(rows) :]), numbers)[0]


def time_in_models(models, rows: list[dict]) -> float:
    """Compute all scores of all rows; return the share of the time inside the two models."""
    parts = [models.predictor, models.embedder if models.layer else models.embedder.embeddings]
    inside, whole = time_inside(parts, lambda: all_scores(models, rows))
    return inside / whole


def speed(rows: list[dict], repeats: int) -> dict:
    """Return the times of all ways, and how far apart their results are."""
    models = load_models(device="cpu")
    half = dataclasses.replace(models, predictor=deepcopy(models.predictor).bfloat16())
    asked = [(row["question"], text) for row in rows for text in (row["candidate"], *row["references"])]
    unique = list(dict.fromkeys(asked))
    runs = {
        "loop_every_text": lambda: one_at_a_time(models, asked),
        "loop_unique_texts": lambda: one_at_a_time(models, unique),
        "kpqa_weights": lambda: in_batches(models, unique),
        "kpqa_weights_bfloat16": lambda: in_batches(half, unique),
        "kpqa_all_scores": lambda: all_scores(models, rows),
    }
    runs["kpqa_weights"]()
    best, results = quickest(runs, repeats)
    share = time_in_models(models, rows)
    full, reduced = all_scores(models, rows), all_scores(half, rows)
    return {
        "rows": len(rows),
        "texts": len(asked),
        "unique_texts": len(unique),
        "threads": torch.get_num_threads(),
        "processor_seconds": {name: round(value, 2) for name, value in best.items()},
        "times_as_fast_as_the_loop": round(best["loop_every_text"] / best["kpqa_weights"], 2),
        "times_as_fast_as_the_loop_over_unique_texts": round(best["loop_unique_texts"] / best["kpqa_weights"], 2),
        "share_of_time_in_the_models": round(share, 3),
        "largest_difference_of_a_weight": {
            name: max(float(np.abs(a - b).max()) for a, b in zip(results["loop_unique_texts"], found, strict=True))
            for name, found in results.items()
            if name.startswith("kpqa_weights")
        },
        "largest_difference_of_a_score_in_bfloat16": {
            metric: round(float(np.abs(full[metric] - reduced[metric]).max()), 4) for metric in METRICS[:3]
        },
    }


def small_predictor(folder: str) -> str:
    """Save a predictor of one small layer into a folder, with the base encoder's tokenizer; return the folder."""
    from transformers import AutoTokenizer, BertConfig, BertForTokenClassification

    tokenizer = AutoTokenizer.from_pretrained(base_encoder())
    tokenizer.save_pretrained(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    torch.manual_seed(0)
    BertForTokenClassification(BertConfig(vocab_size=len(tokenizer), **sizes)).save_pretrained(folder)
    return folder


def memory_of(rows: list[dict], count: int) -> dict:
    """Return the memory of this process while it scores `count` rows."""
    import evaluate

    with TemporaryDirectory() as folder:
        kpqa = evaluate.load(str(METRIC), checkpoint=small_predictor(folder), device="cpu", progress=False)
        return _memory(kpqa, rows, count)


def _memory(kpqa, rows: list[dict], count: int) -> dict:
    def columns(numbers: range) -> dict[str, list[str]]:
        used = [(i, rows[i % len(rows)]) for i in numbers]
        return {
            "questions": [" ".join(row["question"].split()[:3]) for _, row in used],
            "predictions": [f"{' '.join(row['candidate'].split()[:2])} {i}" for i, row in used],
            "references": [row["references"][0][:20] for _, row in used],
        }

    kpqa.compute(**columns(range(1000)), per_example=True)  # what the libraries set up at first use
    inputs = columns(range(10_000, 10_000 + count))
    results = {}
    measured = peak_of(lambda: results.update(kpqa.compute(**inputs, per_example=True)))
    scores = [value for value in results.values() if isinstance(value, list)]
    return measured | {
        "rows": count,
        "inputs_mb": round(sum(sys.getsizeof(text) for column in inputs.values() for text in column) / 2**20, 1),
        "scores_mb": round(sum(sys.getsizeof(v) + sum(map(sys.getsizeof, v)) for v in scores) / 2**20, 1),
    }


if __name__ == "__main__":
    speed_or_memory(__doc__, speed, memory_of, ("torch", "transformers"))
