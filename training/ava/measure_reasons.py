"""Measure how often what is said to be missing, added or contradicted in a rejected answer is so.

    python -m training.ava.measure_reasons --judges base --folder DATA/written --json RESULT.json

The rows of `rows/reasons.jsonl`, and labelled rows of written.dev, name the texts to find in wrong answers; of right
ones nothing should be named. Without a judge all answers count as rejected. `rows/lists.jsonl` has answers that are
complete lists, lack an item or add one.
"""

import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.ava.differences import differences, doubt
from genqa_metrics.ava.scorer import AvaScorer
from genqa_metrics.core.checkpoints import file_digest
from genqa_metrics.core.judge_model import PROMPT
from genqa_metrics.core.reading import COMMON
from genqa_metrics.core.words import keys

from training.common import markdown_table, option
from training.studies.harness import Output, Study

ROWS = Path(__file__).with_name("rows")
DEV = "written.dev.jsonl.gz"
KINDS = ("missing", "adds", "contradicts")
TEXTS = "none: all are rejected"


@dataclass
class Arguments(Output):
    """Which judges are measured."""

    judges: list[str] = option("small, base, large or folders", [])
    folder: str | None = option("folder of written.dev.jsonl.gz; without it its rows are left out", None)


def labelled_rows(folder: str | Path) -> list[dict]:
    """Return the labelled rows of written.dev, whose labels are places of texts: in a reference, or in the answer."""
    with gzip.open(Path(folder) / DEV, "rt", encoding="utf-8") as file:
        by_id = {row["id"]: row for row in map(json.loads, file)}
    rows = []
    for places in map(json.loads, (ROWS / "reasons_written_dev.jsonl").read_text(encoding="utf-8").splitlines()):
        row = by_id[places.pop("id")]
        for name, spans in places.items():
            row[name] = [
                (row["references"][span[0]] if len(span) == 3 else row["candidate"])[span[-2] : span[-1]]
                for span in spans
            ]
        rows.append(row)
    return rows


def agrees(text: str, other: str) -> bool:
    """Return whether one of two texts has at least half of the words of the other."""
    words, others = (set(keys(each)) - COMMON for each in (text, other))
    return bool(words and others) and len(words & others) >= min(len(words), len(others)) / 2


def counted(rows: Sequence[Mapping], differences: Sequence[Sequence[tuple[str, str]]]) -> dict[str, dict[str, int]]:
    """Return {kind: numbers of texts that are "right", "wrong", "expected" and "found"}.

    What stands in the place of an accepted text may also be said to be missing ("replaced"), and a harmless addition
    ("also") may be named: neither is counted.
    """
    counts = {kind: Counter(right=0, wrong=0, expected=0, found=0) for kind in KINDS}
    for row, texts in zip(rows, differences, strict=True):
        for kind, text in texts:
            allowed = row.get("replaced", []) if kind == "missing" else row.get("also", [])
            if any(agrees(text, expected) for expected in row.get(kind, [])):
                counts[kind]["right"] += 1
            elif not any(agrees(text, other) for other in allowed):
                counts[kind]["wrong"] += 1
        for kind in KINDS:
            counts[kind]["expected"] += len(row.get(kind, []))
            named = [text for other, text in texts if other == kind]
            counts[kind]["found"] += sum(any(agrees(text, each) for text in named) for each in row.get(kind, []))
    return {kind: dict(numbers) for kind, numbers in counts.items()}


def named_differences(
    rows: Sequence[Mapping], scorer: AvaScorer | None
) -> tuple[list[list[tuple[str, str]] | None], int]:
    """Return (kind, text) of the differences of each row, and how many texts the judge read to find them.

    None stands for a row whose answer the judge accepts, if there is one. As in the product only a judge of prompts is
    asked about parts of answers.
    """
    read = 0

    def asked(*columns: Sequence) -> np.ndarray:
        nonlocal read
        read += len(columns[0])
        return scorer.probabilities(*columns)

    columns = [[row[name] for row in rows] for name in ("question", "references", "candidate")]
    rejected = [*range(len(rows))]
    if scorer:
        rejected = [i for i, score in enumerate(scorer.probabilities(*columns)) if score < scorer.threshold]
    taken = ([column[i] for i in rejected] for column in columns)
    by_judge = asked if scorer and scorer.loaded.configuration == PROMPT else None
    result: list[list[tuple[str, str]] | None] = [None] * len(rows)
    for i, stated in zip(rejected, differences(*taken, by_judge), strict=True):
        result[i] = [(each.kind, each.text) for each in stated]
    return result, read


def measured(sets: Mapping[str, Sequence[Mapping]], scorer: AvaScorer | None) -> dict:
    """Return {set: how good the named differences are by kind, and how many right and wrong answers get any}."""
    result = {}
    for name, rows in sets.items():
        differences_of_rows, read = named_differences(rows, scorer)
        named = list(zip(rows, differences_of_rows, strict=True))
        wrong = [(row, texts or []) for row, texts in named if not row["label"]]
        result[name] = {"kinds": counted(*zip(*wrong, strict=True)), "texts read": read}
        for label, verdict in enumerate(("wrong", "right")):
            texts = [texts for row, texts in named if row["label"] == label and texts is not None]
            result[name][verdict] = {"rejected": len(texts), "named": sum(map(bool, texts))}
    return result


def study(args: Arguments) -> dict:
    """Measure how many reasons the texts show, and how many more a judge of prompts finds."""
    files = [ROWS / name for name in ("reasons.jsonl", "reasons_written_dev.jsonl", "lists.jsonl")]
    reasons, _, lists = (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] for path in files
    )
    sets = {"own": reasons} | ({"written.dev": labelled_rows(args.folder)} if args.folder else {})
    judges = {TEXTS: measured(sets, None)}
    judges |= {Path(name).name: measured(sets, AvaScorer(checkpoint=name, device="cpu")) for name in args.judges}
    doubts = Counter()
    for row in lists:
        text = doubt(row["question"], row["references"], row["candidate"])
        doubts["named" if text else "none", "complete" if row["label"] else "incomplete"] += 1
    named = {" ".join(names): count for names, count in sorted(doubts.items())}
    return {"data": {path.name: file_digest(path) for path in files}, "judges": judges, "lists": named}


def table(result: dict) -> str:
    """Return a Markdown table: how many named differences are right, and how many rejected answers get one."""
    lines = []
    for judge, sets in result["judges"].items():
        for name, results in sets.items():
            cells = []
            for numbers in results["kinds"].values():
                named = numbers["right"] + numbers["wrong"]
                cells += [f"{numbers['right']} of {named}", f"{numbers['found']} of {numbers['expected']}"]
            cells += [f"{results[label]['named']} of {results[label]['rejected']}" for label in ("wrong", "right")]
            rejected = sum(results[label]["rejected"] for label in ("wrong", "right"))
            cells.append(f"{results['texts read'] / max(rejected, 1):.1f}")
            lines.append([judge, name, *cells])
    header = ["judge", "rows", *(f"{kind}: {share}" for kind in KINDS for share in ("right", "found"))]
    header += ["wrong answers with a reason", "right answers with a reason", "readings a rejected answer"]
    return markdown_table(header, lines)


STUDY = Study(__spec__.name, Arguments, study, table)

if __name__ == "__main__":
    STUDY.main()
