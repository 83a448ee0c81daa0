"""Speed of AVA, in one run on the same rows.

    python -m tests.programs.benchmarks.bench_ava --data evouna_nq.dev.jsonl.gz

Speed is compared with a plain loop, one triple at a time, with the same checkpoint and the same number of threads;
both give the same logits. Times are processor time of all threads, so that other work on the machine does not count.
"""

import numpy as np
import torch
from genqa_metrics.ava.judging import Judge, joined_references
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.judge_reading import encoded

from tests.programs.benchmarks.report import quickest, speed_or_memory


def one_at_a_time(loaded, triples: list[tuple[str, str, str]]) -> np.ndarray:
    """Return the logit of every triple, one forward pass each."""
    logits = []
    for triple in triples:
        settings = loaded.configuration, [triple], loaded.max_length, loaded.marks
        ((inputs,),) = encoded(loaded.tokenizer, *settings)
        with torch.inference_mode():
            logits.append(float(loaded.model(**{k: torch.tensor([v]) for k, v in inputs.items()}).logits))
    return np.array(logits)


def speed(rows: list[dict], repeats: int) -> dict:
    """Return the times of both ways, and how far apart their results are."""
    loaded = load_judge(device="cpu")
    triples = [(r["question"], joined_references(r["references"], r["candidate"]), r["candidate"]) for r in rows]
    runs = {
        "loop": lambda: one_at_a_time(loaded, triples),
        "ava": lambda: Judge(loaded).logits(triples),
    }
    runs["ava"]()
    best, results = quickest(runs, repeats)
    ((*inputs,),) = encoded(loaded.tokenizer, loaded.configuration, triples, loaded.max_length)
    rate = len(rows) / best["ava"]
    return {
        "triples": len(rows),
        "word_pieces": sum(len(row["input_ids"]) for row in inputs),
        "encoder_passes_a_triple": 1,
        "threads": torch.get_num_threads(),
        "processor_seconds": {name: round(value, 2) for name, value in best.items()},
        "times_as_fast_as_the_loop": round(best["loop"] / best["ava"], 2),
        "answers_a_second_and_core": round(rate, 1),
        "core_hours_a_million_answers": round(1e6 / rate / 3600, 2),
        "largest_difference_of_a_logit": float(np.abs(results["loop"] - results["ava"]).max()),
    }


if __name__ == "__main__":
    speed_or_memory(__doc__, speed, packages=("torch", "transformers"))
