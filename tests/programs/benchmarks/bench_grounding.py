"""Speed of grounding on answers of 5 sentences over 5 passages of 150 words, beside a loop with a cross-encoder.

    python -m tests.programs.benchmarks.bench_grounding --answers 1000 --output FILE

The loop is what a script with a cross-encoder does: it reads every sentence with every passage, one batch per answer,
with the same weights and the same number of threads, in 32-bit floats. The texts are made from a seed.
"""

import argparse
import random
import sys
import time
from pathlib import Path

import torch
from genqa_metrics.core.judge_model import STATEMENT, encoded
from genqa_metrics.grounding.loading import load_judge
from genqa_metrics.grounding.sentences import sentences_of
from genqa_metrics.registry import make_scorer

from training.common import command_line, write_json
from training.studies.harness import versions

WORDS = (
    "river bridge town market summer water engine school winter garden letter doctor market station island village "
    "harbour forest museum teacher morning painter winner captain signal copper winter bottle mirror ladder"
).split()
THREADS, LOOP_ANSWERS = 2, 20  # the loop takes longer, and reads fewer answers
PASSAGES, PASSAGE_WORDS, SENTENCES, SENTENCE_WORDS = 5, 150, 5, 15


def sentence(draw: random.Random, words: int) -> str:
    """Return a sentence of so many words, a number among them."""
    chosen = [*draw.choices(WORDS, k=words - 2), "in", str(draw.randint(1000, 2000))]
    return f"The {' '.join(chosen[1:])}."


def texts(answers: int, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Return answers, and the passages of each; of some sentences of an answer a passage has a changed form."""
    draw = random.Random(seed)
    made, contexts = [], []
    for _ in range(answers):
        passages = [
            [sentence(draw, SENTENCE_WORDS) for _ in range(PASSAGE_WORDS // SENTENCE_WORDS)] for _ in range(PASSAGES)
        ]
        known = [text for passage in passages for text in passage]
        copies = [text.replace("The ", "A ", 1) for text in draw.sample(known, SENTENCES // 2)]
        made.append(" ".join([*copies, *(sentence(draw, SENTENCE_WORDS) for _ in range(SENTENCES - len(copies)))]))
        contexts.append([" ".join(passage) for passage in passages])
    return made, contexts


def cross_encoder_loop(answers: list[str], contexts: list[list[str]]) -> int:
    """Read every sentence of every answer with every passage; return the number of pairs."""
    loaded, pairs = load_judge(device="cpu"), 0
    for answer, passages in zip(answers, contexts, strict=True):
        triples = [(STATEMENT, text, one.claim) for one in sentences_of(answer) for text in passages]
        (rows,) = encoded(loaded.tokenizer, loaded.configuration, triples, loaded.max_length, loaded.marks)
        longest = max(len(row["input_ids"]) for row in rows)
        inputs = {
            name: torch.tensor([[*row[name], *[0] * (longest - len(row[name]))] for row in rows]) for name in rows[0]
        }
        with torch.inference_mode():
            loaded.model(**inputs)
        pairs += len(triples)
    return pairs


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=1000)
    parser.add_argument("--output", type=Path, required=True, help="write the result here as JSON")
    arguments = parser.parse_args()

    torch.set_num_threads(THREADS)
    answers, contexts = texts(arguments.answers)
    scorer = make_scorer("grounding", {"backend": "onnx"})
    scorer.statistics({"predictions": answers[:5], "contexts": contexts[:5]})
    started = time.perf_counter()
    scorer.statistics({"predictions": answers, "contexts": contexts})
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    cross_encoder_loop(answers[:LOOP_ANSWERS], contexts[:LOOP_ANSWERS])
    loop = (time.perf_counter() - started) * arguments.answers / LOOP_ANSWERS
    result = {
        "answers": arguments.answers,
        "threads": THREADS,
        "seconds": round(seconds, 1),
        "seconds_of_the_loop_for_as_many": round(loop, 1),
        "times_as_fast_as_the_loop": round(loop / seconds, 2),
        "command": command_line("tests.programs.benchmarks.bench_grounding", sys.argv[1:]),
        "versions": versions("genqa-metrics", "torch", "transformers"),
    }
    write_json(arguments.output, result)


if __name__ == "__main__":
    main()
