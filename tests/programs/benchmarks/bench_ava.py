"""Speed and memory of AVA, in one run on the same rows.

    python -m tests.programs.benchmarks.bench_ava --data evouna_nq.dev.jsonl.gz --threads 1
    python -m tests.programs.benchmarks.bench_ava --data evouna_nq.train.jsonl.gz --memory 1000 9000

Speed is compared with a plain loop, one triple at a time, with the same checkpoint and the same number of threads;
both give the same logits. Times are processor time of all threads, so that other work on the machine does not count.
Memory is the peak of one `compute` above what the process holds before; a process of its own measures each number of
rows.
"""

from pathlib import Path

import numpy as np
import torch
from genqa_metrics.ava.judging import Judge, joined_references
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.judge_reading import encoded

from tests.programs.benchmarks.report import peak_of, speed_or_memory, timed

METRIC = Path(__file__).parents[3] / "metrics/ava/ava.py"


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
    seconds, results = {name: [] for name in runs}, {}
    for _ in range(repeats):
        for name, run in runs.items():
            elapsed, results[name] = timed(run)
            seconds[name].append(elapsed)
    best = {name: min(values) for name, values in seconds.items()}
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


def memory_of(rows: list[dict], count: int) -> dict:
    """Return the memory of this process while it judges `count` rows in one call."""
    import evaluate

    ava = evaluate.load(str(METRIC), device="cpu", progress=False)

    def compute(used: list[dict]) -> None:
        ava.compute(
            questions=[row["question"] for row in used],
            predictions=[row["candidate"] for row in used],
            references=[row["references"] for row in used],
            per_example=True,
        )

    compute(rows[:300])  # what the libraries set up at first use
    return {"rows": count} | peak_of(lambda: compute(rows[-count:]))


if __name__ == "__main__":
    speed_or_memory(__doc__, speed, memory_of)
