"""Rows for a small judge to learn from: a mixture's, with verdicts of a larger judge mixed into the labels.

The mixture is named by the settings of `train_ava.py`. A row that is written has a `score` from 0 to 1, which
`train_ava.py --judged` reads as its label (Hinton et al., "Distilling the Knowledge in a Neural Network", 2015). The
run continues where it was stopped.
"""

import argparse
import json
import random
from pathlib import Path

PART = 2000  # rows that are judged and written at a time


def taught(rows: list, probabilities: list[float], share: float) -> list[dict]:
    """Return rows of verdicts: `share` of each label is the teacher's probability, the rest the known label."""
    return [
        {
            "question": row.question,
            "references": list(row.references),
            "candidate": row.candidate,
            "label": None,
            "score": round(share * probability + (1 - share) * row.label, 4),
            "source": row.kind,
        }
        for row, probability in zip(rows, probabilities, strict=True)
    ]


def main() -> None:
    """Draw, judge, write."""
    from genqa_metrics.ava.judging import Judge
    from genqa_metrics.ava.loading import load_judge
    from transformers import HfArgumentParser

    from training.ava.mixture import training_triples
    from training.ava.train_ava import Arguments

    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0], epilog="All others: see train_ava.py."
    )
    parser.add_argument("--teacher", required=True, help="checkpoint of the larger judge")
    parser.add_argument("--rows", type=int, default=40_000, help="rows that are drawn from the mixture")
    parser.add_argument("--share", type=float, default=0.7, help="share of the teacher in a label; the rest is known")
    parser.add_argument("--seed", type=int, default=0, help="of the mixture and the draw")
    parser.add_argument("--dtype", help="floating type of the teacher; default float32")
    parser.add_argument("--output", type=Path, required=True, help="NAME.jsonl")
    own, mixture = parser.parse_known_args()
    args, *_ = HfArgumentParser(Arguments).parse_args_into_dataclasses(
        mixture, args_file_flag="--config", return_remaining_strings=True
    )
    rng = random.Random(own.seed)
    rows, _ = training_triples(args, rng)
    rows = rng.sample(rows, min(own.rows, len(rows)))
    done = 0
    if own.output.is_file():
        done = own.output.read_text(encoding="utf-8").count("\n")
    judge = Judge(load_judge(own.teacher, device="cpu", dtype=own.dtype))
    for start in range(done, len(rows), PART):
        part = rows[start : start + PART]
        columns = [
            list(column) for column in zip(*((r.question, r.references, r.candidate) for r in part), strict=True)
        ]
        probabilities = judge.probabilities(*columns, "joined")
        with own.output.open("a", encoding="utf-8") as file:
            file.writelines(
                json.dumps(row, ensure_ascii=False) + "\n" for row in taught(part, probabilities, own.share)
            )
        print(f"{start + len(part):,} of {len(rows):,} rows", flush=True)


if __name__ == "__main__":
    main()
