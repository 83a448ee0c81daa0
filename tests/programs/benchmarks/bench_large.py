"""Rows a second of the judge `large`: what rows share read once or not, beside a plain transformers loop.

    python -m tests.programs.benchmarks.bench_large --data DATA/judgments/evouna_nq.dev.jsonl.gz --output FILE

All ways judge the same rows in one process, one after the other; the ratios are what counts.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.causal_judge import END, PACK, answer_prompt, prompt_logits

from training.common import command_line, json_rows, markdown_table, write_json
from training.studies.harness import versions

COLUMNS = ("threads", "way", "rows a second", "times the plain loop")


def plain_loop(judge, prompts: list[tuple[str, str]]) -> None:
    """Read whole prompts, one after the other, as a first script would."""
    import torch

    with torch.inference_mode():
        for shared, text in prompts:
            tokens = judge.tokenizer(f"{shared} {text.strip()}{END}", add_special_tokens=False, return_tensors="pt")
            hidden = judge.model.model(input_ids=tokens["input_ids"], use_cache=False).last_hidden_state
            float(judge.model.score(hidden[:, -1]))


WAYS: dict[str, Callable] = {
    "plain loop": plain_loop,
    "one prompt a pack": lambda judge, prompts: prompt_logits(judge.model, judge.tokenizer, prompts, 1),
    "shared parts read once": lambda judge, prompts: prompt_logits(judge.model, judge.tokenizer, prompts, PACK),
}


def main() -> None:
    """Time every way on every number of threads."""
    import torch

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkpoint", default="large", help="the judge")
    parser.add_argument("--data", type=Path, required=True, help="rows of human verdicts")
    parser.add_argument("--questions", type=int, default=12, help="questions, all of whose answers are judged")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--output", type=Path, required=True, help="write the result here as JSON")
    args = parser.parse_args()
    rows = list(json_rows(args.data))
    chosen = set(random.Random(0).sample(sorted({row["question"] for row in rows}), args.questions))
    rows = [row for row in rows if row["question"] in chosen]
    prompts = [(answer_prompt(row["question"], row["references"]), row["candidate"]) for row in rows]
    judge = load_judge(args.checkpoint, device="cpu", dtype=args.dtype)
    plain_loop(judge, prompts[:3])
    table = []
    for threads in args.threads:
        torch.set_num_threads(threads)
        seconds = {}
        for name, way in WAYS.items():
            begin = time.perf_counter()
            way(judge, prompts)
            seconds[name] = time.perf_counter() - begin
            rates = round(len(prompts) / seconds[name], 2), round(seconds["plain loop"] / seconds[name], 2)
            table.append(dict(zip(COLUMNS, (threads, name, *rates), strict=True)))
    print(markdown_table(COLUMNS, [list(row.values()) for row in table]))
    command = command_line("tests.programs.benchmarks.bench_large", sys.argv[1:])
    facts = {"command": command, "rows": len(rows), "versions": versions("genqa-metrics", "torch", "transformers")}
    write_json(args.output, facts | {"results": table})


if __name__ == "__main__":
    main()
