"""Measure how well a predictor finds keyphrases, by tokens and as whole spans (Table 10 of Lee et al., 2021)."""

import random
from dataclasses import dataclass

import numpy as np

from training.common import markdown_table, option
from training.kpqa import data, train_kpqa
from training.studies.harness import Output, Study, digests

PAPER = {"SQuAD": 55.81, "MS MARCO Q&A": 59.26}


@dataclass
class Arguments(Output):
    """What is measured on what."""

    data_dir: str = option("folder of local files with SQuAD's columns")
    sources: list[str] = option("names of files", ["squad.dev", "evouna.dev", "llm_response.test"])
    rows: int = option("rows of every source, drawn at random", 500)
    checkpoint: str | None = option("predictor; the bundled one by default", None)
    logit_shift: float = option("shift at the end of its training, which is undone", -1.0)


def predicted(examples: list[dict], models, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows, tokens, 2) logits without the shift and (rows, tokens) labels, -100 at padding."""
    import torch
    from genqa_metrics.core.batching import run_padded, tensors

    rows = [
        {
            "input_ids": example["input_ids"],
            "token_type_ids": example["token_type_ids"],
            "attention_mask": np.ones(len(example["input_ids"]), dtype=int),
        }
        for example in examples
    ]
    with torch.inference_mode():
        found = run_padded(rows, lambda inputs: models.predictor(**tensors(inputs)).logits.numpy(), 1024)
    longest = max(map(len, found))
    logits, labels = np.zeros((len(rows), longest, 2)), np.full((len(rows), longest), -100.0)
    for i, (row, example) in enumerate(zip(found, examples, strict=True)):
        logits[i, : len(row)], labels[i, : len(row)] = row - [0, shift], example["labels"]
    return logits, labels


def table(result: dict) -> str:
    """Return the F1 of all sources and of the paper."""
    columns = ("f1", "span_precision", "span_recall", "span_f1")
    found = result["keyphrases"].items()
    lines = [[name, values["rows"], *(f"{100 * values[k]:.1f}" for k in columns)] for name, values in found]
    lines += [[f"paper, {name}", "", "", "", "", f"{value:.2f}"] for name, value in PAPER.items()]
    return markdown_table(["rows of", "rows", "token F1", "span precision", "span recall", "span F1"], lines)


def study(args: Arguments) -> dict:
    """Return the F1 of all sources."""
    from genqa_metrics.kpqa.loading import load_models

    models, found = load_models(args.checkpoint, device="cpu"), {}
    for name in args.sources:
        rows = list(data.answers(name, data.read_rows(name, args.data_dir), 1.0, 1.0, 80))
        rows = random.Random(0).sample(rows, min(args.rows, len(rows)))
        examples = train_kpqa.tokenized(rows, models.tokenizer, models.settings.max_length, models.settings.question)
        scores = train_kpqa.token_f1(predicted(examples, models, args.logit_shift))
        found[name] = {"rows": len(examples)} | {score: round(value, 4) for score, value in scores.items()}
    return {"keyphrases": found, "checkpoint": models.signature, "data": digests(args.sources, args.data_dir)}


STUDY = Study(__spec__.name, Arguments, study, table, {"keyphrases": "keyphrases"})

if __name__ == "__main__":
    STUDY.main()
