"""Rows a second of the judge `large`: with and without the shared part of prompts, beside a plain transformers loop.

    python -m tests.programs.benchmarks.bench_large --checkpoint FOLDER --data DATA/judgments/evouna_nq.dev.jsonl.gz

All ways judge the same rows in one process, one after the other; the ratios are what counts.
"""

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.causal_judge import END, answer_prompt, prompt_logits

from training.common import json_rows, markdown_table

BUDGET = 1024


def plain_loop(judge, prompts: list[tuple[str, str]]) -> np.ndarray:
    """Return the logits of whole prompts, one after the other, as a first script would."""
    import torch

    values = []
    with torch.inference_mode():
        for shared, text in prompts:
            tokens = judge.tokenizer(f"{shared} {text.strip()}{END}", add_special_tokens=False, return_tensors="pt")
            hidden = judge.model.model(input_ids=tokens["input_ids"], use_cache=False).last_hidden_state
            values.append(float(judge.model.score(hidden[:, -1])))
    return np.array(values)


def unshared(judge, prompts: list[tuple[str, str]]) -> np.ndarray:
    """Return the same in packs, each prompt whole."""
    return prompt_logits(judge.model, judge.tokenizer, prompts, 1)


def shared(judge, prompts: list[tuple[str, str]]) -> np.ndarray:
    """Return the same, with what rows share read once."""
    return prompt_logits(judge.model, judge.tokenizer, prompts, BUDGET)


WAYS: dict[str, Callable] = {
    "plain loop": plain_loop,
    "one prompt a pack": unshared,
    "shared parts read once": shared,
}


def main() -> None:
    """Time every way for every number of threads and type."""
    import torch

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder of the judge")
    parser.add_argument("--data", type=Path, required=True, help="rows of human verdicts")
    parser.add_argument("--questions", type=int, default=12, help="questions, all of whose answers are judged")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--dtypes", nargs="+", default=["float32", "bfloat16"])
    args = parser.parse_args()
    rows = list(json_rows(args.data))
    chosen = set(random.Random(0).sample(sorted({row["question"] for row in rows}), args.questions))
    prompts = [
        (answer_prompt(row["question"], row["references"]), row["candidate"])
        for row in rows
        if row["question"] in chosen
    ]
    table = []
    for dtype in args.dtypes:
        judge = load_judge(args.checkpoint, device="cpu", dtype=dtype)
        shared(judge, prompts[:5])
        for threads in args.threads:
            torch.set_num_threads(threads)
            seconds = {}
            for name, way in WAYS.items():
                begin = time.perf_counter()
                way(judge, prompts)
                seconds[name] = time.perf_counter() - begin
            base = seconds["plain loop"]
            for name, value in seconds.items():
                table.append([dtype, threads, name, f"{len(prompts) / value:.2f}", f"{base / value:.2f}"])
    print(markdown_table(["type", "threads", "way", "rows a second", "times the plain loop"], table))


if __name__ == "__main__":
    main()
