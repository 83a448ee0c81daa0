"""Rows of a mixture, for another judge to learn from: a teacher's verdicts are mixed into the labels, or check them.

The mixture is that of settings of `train_ava.py`, which reads a written `score` as a label (Hinton et al., "Distilling
the Knowledge in a Neural Network", 2015). A stopped run continues.
"""

import argparse
import json
import random
from pathlib import Path

from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge

from training.ava.mixture import training_triples
from training.ava.train_ava import Arguments
from training.common import json_rows, weighted

PART = 2000  # rows that are judged and written at a time


def taught(rows: list, probabilities: list[float], share: float, first: int = 0, doubted: float = 1) -> list[dict]:
    """Return verdicts with `share` of the teacher's probability; those that differ by more than `doubted` are out."""
    return [
        {"row": number, "label": None, **row.as_verdict()}
        | {"score": round(share * probability + (1 - share) * row.label, 4)}
        for number, (row, probability) in enumerate(zip(rows, probabilities, strict=True), first)
        if abs(probability - row.label) <= doubted
    ]


def main() -> None:
    """Draw rows from the mixture, judge them, and write them."""
    from transformers import HfArgumentParser

    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0], epilog="All others: see train_ava.py."
    )
    parser.add_argument("--teacher", help="size or folder of the teacher; without one labels stay as they are")
    parser.add_argument("--base_model", help="base model of a teacher that is an adapter, if it is elsewhere")
    parser.add_argument("--rows", type=int, default=40_000, help="rows that are drawn from the mixture")
    parser.add_argument("--share", type=float, default=0.7, help="share of the teacher in a label; the rest is known")
    parser.add_argument("--seed", type=int, default=0, help="of the mixture and the draw")
    parser.add_argument("--doubted", type=float, default=1, help="leave out rows that differ more from the teacher")
    parser.add_argument("--only_made", action="store_true", help="leave out the judged rows themselves")
    parser.add_argument("--dtype", help="floating type of the teacher; default float32")
    parser.add_argument("--device", default="cpu", help="torch device of the teacher")
    parser.add_argument("--output", type=Path, required=True, help="NAME.jsonl")
    options, mixture = parser.parse_known_args()
    if options.doubted < 1 and not options.teacher:
        parser.error("--doubted: expected --teacher too, whose verdicts the labels are compared with")
    args, *_ = HfArgumentParser(Arguments).parse_args_into_dataclasses(
        mixture, args_file_flag="--config", return_remaining_strings=True
    )
    rng = random.Random(options.seed)
    rows, _ = training_triples(args, rng)
    if options.only_made:
        judged = {name for name, _ in weighted(args.judged)}
        rows = [row for row in rows if row.kind not in judged]
    rows = rng.sample(rows, min(options.rows, len(rows)))
    written = list(json_rows(options.output)) if options.output.is_file() else []
    done = written[-1]["row"] + 1 if written else 0
    settings = {"device": options.device, "dtype": options.dtype, "base_model": options.base_model}
    judge = Judge(load_judge(options.teacher, **settings)) if options.teacher else None
    for start in range(done, len(rows), PART):
        chosen = rows[start : start + PART]
        probabilities = [row.label for row in chosen]
        if judge:
            columns = zip(*((row.question, row.references, row.candidate) for row in chosen), strict=True)
            probabilities = judge.probabilities(*map(list, columns), "joined")
        with options.output.open("a", encoding="utf-8") as file:
            new = taught(chosen, probabilities, options.share, start, options.doubted)
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in new)
        print(f"{start + len(chosen):,} of {len(rows):,} rows", flush=True)


if __name__ == "__main__":
    main()
