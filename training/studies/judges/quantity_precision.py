"""How often the rule for quantities is right where it speaks, on every file of judged answers.

The rule (`metrics/ava/quantity_guard.py`) calls an answer wrong. Its precision is the share of these answers that
people call wrong, too: the verdict where a row has one, else a grade of at most half of the points. The dev files were
read while the rule was made, and of the training files the answers on which it was wrong.

With --checkpoint the same answers are judged by its model alone, which shows what the rule adds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.ava.quantity_guard import Conflict, conflict
from genqa_metrics.ava.rules import Rules

from training.common import json_rows, markdown_table, option
from training.studies.harness import Output, Study, digests
from training.studies.judges.compare_judges import columns

HALF = 0.5  # of the points; an answer with at most as many is wrong


def is_wrong(row: dict) -> bool | None:
    """Return whether people call an answer wrong, None for a row without verdict and grade.

    >>> is_wrong({"label": 1}), is_wrong({"label": None, "score": 0.5}), is_wrong({"label": None, "score": None})
    (False, True, None)
    """
    points = row["score"] if row["label"] is None else row["label"]
    return None if points is None else points <= HALF


def fired(rows: Iterator[dict]) -> tuple[int, int, list[tuple[dict, Conflict]]]:
    """Return the number of rows, that of wrong ones, and the rows on which the rule speaks with what it found."""
    count = wrong = 0
    found = []
    for row in rows:
        if is_wrong(row) is None:
            continue
        count, wrong = count + 1, wrong + is_wrong(row)
        conflicting = conflict(row["question"] or "", row["references"], row["candidate"])
        if conflicting:
            found.append((row, conflicting))
    return count, wrong, found


def table(results: dict[str, dict]) -> str:
    """Return the Markdown table: a line per file, then all dev files and all training files."""
    lines = []
    for split in ("dev", "train"):
        files = {name: found for name, found in results.items() if name.endswith(f".{split}")}
        total = {key: sum(found.get(key, 0) for found in files.values()) for key in next(iter(files.values()), {})}
        for name, found in (files | ({f"all {split} files": total} if files else {})).items():
            if not found["fired"]:
                continue
            alone = found.get("accepted by the model")
            precision = f"{found['right'] / found['fired']:.3f}"
            cells = [found["wrong"], found["fired"], found["right"], precision, "" if alone is None else alone]
            lines.append([name, *cells])
    header = ["file", "wrong answers", "rule speaks", "rightly", "precision", "of these accepted by the model"]
    return markdown_table(header, lines, "---:")


@dataclass
class Arguments(Output):
    """What is counted."""

    judgments: list[str] = option("folders of the files")
    splits: list[str] = option("which files: dev, train", ["dev"])
    checkpoint: str | None = option("a judge: what its model says of the same answers, on dev files", None)
    errors: bool = option("print the answers that the rule wrongly calls wrong", False)


def study(args: Arguments) -> dict:
    """Return the counts of all files."""
    judge = args.checkpoint and Judge(load_judge(args.checkpoint, device="cpu"), rules=Rules(quantities=False))
    results = {}
    for split in args.splits:
        for path in sorted(path for folder in args.judgments for path in Path(folder).glob(f"*.{split}.jsonl*")):
            name = path.name.split(".jsonl")[0]
            count, wrong, found = fired(json_rows(path))
            rightly = [row for row, _ in found if is_wrong(row)]
            results[name] = {"rows": count, "wrong": wrong, "fired": len(found), "right": len(rightly)}
            if judge and split == "dev":
                accepted = judge.probabilities(*columns(rightly)) >= judge.loaded.threshold
                results[name]["accepted by the model"] = int(accepted.sum())
            for row, conflicting in found if args.errors else ():
                if not is_wrong(row):
                    print(name, row["question"], row["references"], row["candidate"], conflicting, sep="\n  ")
    return {"data": digests(results, args.judgments), "results": results}


STUDY = Study(__spec__.name, Arguments, study, lambda r: table(r["results"]), {"quantities": "quantities"})

if __name__ == "__main__":
    STUDY.main()
