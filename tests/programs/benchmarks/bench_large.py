"""Processor time of judges that read prompts, beside a plain transformers loop over their whole base model in float32.

    python -m tests.programs.benchmarks.bench_large --data DATA/written/assistant.dev.jsonl.gz --output FILE

Each way runs in a process of its own, on one thread, on the same rows: long answers, one or three of each question.
Processor time is user and system time, so that other work on the machine changes it little.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from itertools import groupby, islice
from pathlib import Path

from training.common import command_line, json_rows, markdown_table, write_json
from training.studies.harness import versions

PLAIN = "plain loop"
COLUMNS = ("judge", "way", "answers a question", "rows", "start, s", "memory, MB", "rows a second", "times the loop")


def prompts_of(path: Path, questions: int, answers: int) -> list[tuple[str, str]]:
    """Return (shared part, judged text) of the first answers of the first questions of a file."""
    from genqa_metrics.core.causal_judge import answer_prompt

    by_question = (list(rows) for _, rows in groupby(json_rows(path), key=lambda row: row["question"]))
    chosen = (rows[:answers] for rows in islice(by_question, questions))
    return [(answer_prompt(row["question"], row["references"]), row["candidate"]) for rows in chosen for row in rows]


def plain_loop(checkpoint: Path, base: Path):
    """Return a function that reads whole prompts with torch, one after the other, as a first script would."""
    import torch
    from genqa_metrics.core.causal_judge import END, load_causal
    from genqa_metrics.core.gguf_file import token_ids

    torch.set_num_threads(1)
    model, tokenizer = load_causal(base)

    def read(prompts):
        with torch.inference_mode():
            for shared, text in prompts:
                tokens = torch.tensor(token_ids(tokenizer, [f"{shared} {text.strip()}{END}"]))
                hidden = model.model(input_ids=tokens, use_cache=False).last_hidden_state
                float(model.score(hidden[:, -1]))

    return read


def engine(checkpoint: Path, base: Path):
    """Return a function that reads prompts as the metric does."""
    from genqa_metrics.core.causal_judge import PACK, prompt_logits
    from genqa_metrics.core.judge_model import read_settings
    from genqa_metrics.core.prompt_engine import PromptEngine

    judge = PromptEngine(checkpoint, base, read_settings(checkpoint)["layers"])
    return lambda prompts: prompt_logits(judge, judge.file.tokenizer, prompts, PACK)


WAYS = {PLAIN: plain_loop, "this package": engine}


def measured(way: str, checkpoint: Path, base: Path, data: Path, questions: int) -> list[dict]:
    """Return what a way needs to start, and its rows a second of processor time."""
    lines = []
    read = WAYS[way](checkpoint, base)
    start, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    for answers in (1, 3):
        prompts = prompts_of(data, questions, answers)
        begin = time.process_time()
        read(prompts)
        rate = len(prompts) / (time.process_time() - begin)
        name = checkpoint.name.removeprefix("checkpoint_")
        facts = (name, way, answers, len(prompts), round(start, 1), memory, round(rate, 3))
        lines.append(dict(zip(COLUMNS, facts, strict=False)))
    return lines


def main() -> None:
    """Run every way in a process, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkpoint", type=Path, nargs="+", required=True, help="folders of judges")
    parser.add_argument("--base", type=Path, nargs="+", required=True, help="GGUF files of their base models")
    parser.add_argument("--data", type=Path, required=True, help="rows of human verdicts on long answers")
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--way", choices=WAYS, help="measure one way in this process")
    parser.add_argument("--output", type=Path, help="write the result here as JSON")
    args = parser.parse_args()
    if args.way:
        print(json.dumps(measured(args.way, args.checkpoint[0], args.base[0], args.data, args.questions)))
        return
    table = []
    for checkpoint, base in zip(args.checkpoint, args.base, strict=True):
        for way in WAYS:
            words = ["--checkpoint", checkpoint, "--base", base, "--data", args.data, "--way", way]
            command = [sys.executable, "-m", __spec__.name, *map(str, words), "--questions", str(args.questions)]
            one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
            result = subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread)
            table += json.loads(result.stdout.splitlines()[-1])
    loops = {(row["judge"], row["answers a question"]): row for row in table if row["way"] == PLAIN}
    for row in table:
        loop = loops[row["judge"], row["answers a question"]]
        row["times the loop"] = round(row["rows a second"] / loop["rows a second"], 2)
    print(markdown_table(COLUMNS, [list(row.values()) for row in table]))
    if args.output:
        command = command_line(__spec__.name, sys.argv[1:])
        facts = {"command": command, "versions": versions("genqa-metrics", "onnxruntime", "torch", "transformers")}
        write_json(args.output, facts | {"results": table})


if __name__ == "__main__":
    main()
