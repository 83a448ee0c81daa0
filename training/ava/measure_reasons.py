"""Measure how often a judge says rightly what a wrong answer lacks, adds or contradicts, and what that costs.

    python -m training.ava.measure_reasons --judges large --folder DATA/written --json RESULT.json

The rows of `rows/reasons.jsonl` name the texts to find. Those of questions with an even number chose the probability
from which a changed answer counts as accepted (`f1_by_level`); the others, and labelled rows of written.dev, are
measured.
"""

import gzip
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from genqa_metrics.ava.differences import MOST_CHANGES, SURE, repairs
from genqa_metrics.ava.scorer import AvaScorer
from genqa_metrics.core.checkpoints import file_digest
from genqa_metrics.core.judge_model import PROMPT
from genqa_metrics.core.reading import COMMON
from genqa_metrics.core.words import keys

from training.common import markdown_table, option
from training.studies.harness import Output, Study, read

ROWS = Path(__file__).with_name("rows")
DEV = "written.dev.jsonl.gz"
KINDS = ("missing", "adds", "contradicts")
LEVELS = (0.6, 0.7, 0.8, 0.9)  # from which a changed answer may count as accepted


@dataclass
class Arguments(Output):
    """Which judges are measured."""

    judges: list[str] = option("small, base, large, folders")
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


def shares(counts: Mapping[str, int]) -> tuple[float, float]:
    """Return precision and recall, 0 where nothing was named or expected."""
    named = counts["right"] + counts["wrong"]
    return counts["right"] / max(1, named), counts["found"] / max(1, counts["expected"])


def named_differences(scorer: AvaScorer, rows: Sequence[Mapping], sure: float = SURE) -> list[list[tuple[str, str]]]:
    """Return (kind, text) of the differences of each row, none where the judge accepts the answer."""
    columns = [[row[name] for row in rows] for name in ("question", "references", "candidate")]
    rejected = [i for i, probability in enumerate(scorer.probabilities(*columns)) if probability < scorer.threshold]
    most = MOST_CHANGES if scorer.loaded.configuration == PROMPT else 1
    mended = repairs(*([column[i] for i in rejected] for column in columns), scorer.probabilities, most, sure)
    differences: list[list[tuple[str, str]]] = [[] for _ in rows]
    for i, repair in zip(rejected, mended, strict=True):
        if repair.accepted:
            differences[i] = [(each.kind, each.text) for each in repair.differences()]
    return differences


def rates(scorer: AvaScorer, rows: Sequence[Mapping]) -> dict[str, float]:
    """Return rows a second of processor time by a judge that keeps no logits, without and with reasons."""
    scorer.loaded = replace(scorer.loaded, facts={})
    scorer.ready()
    start = time.process_time()
    scorer.probabilities(*([row[name] for row in rows] for name in ("question", "references", "candidate")))
    judged = time.process_time()
    named_differences(scorer, rows)  # judges the rows once more
    seconds = judged - start, time.process_time() - judged
    return {name: round(len(rows) / each, 2) for name, each in zip(("without", "with"), seconds, strict=True)}


def measured(name: str, args: Arguments) -> dict:
    """Return precision and recall of one judge by set of rows, and rows a second."""
    scorer = AvaScorer(checkpoint=name, device="cpu")
    own_rows = [json.loads(line) for line in (ROWS / "reasons.jsonl").read_text(encoding="utf-8").splitlines()]
    halves = [[row for row in own_rows if int(row["id"].partition(".")[0]) % 2 == odd] for odd in (0, 1)]
    chosen = {}
    for sure in LEVELS:
        pairs = [shares(kind) for kind in counted(halves[0], named_differences(scorer, halves[0], sure)).values()]
        f1 = [2 * precision * recall / max(precision + recall, 1e-9) for precision, recall in pairs]
        chosen[f"{sure:g}"] = round(sum(f1) / len(f1), 3)
    rows = {"own": halves[1]} | ({"written.dev": labelled_rows(args.folder)} if args.folder else {})
    named = {name: named_differences(scorer, rows[name]) for name in rows}
    kinds = {name: counted(rows[name], named[name]) for name in rows}
    rows_named = {name: len(rows[name]) for name in rows}
    return {"rows": rows_named, "kinds": kinds, "f1_by_level": chosen, "rows_a_second": rates(scorer, halves[1][:18])}


def study(args: Arguments) -> dict:
    """Measure judges; those that the result file has are kept."""
    kept = read(args.json)["judges"] if args.json and Path(args.json).is_file() else {}
    files = ROWS / "reasons.jsonl", ROWS / "reasons_written_dev.jsonl", Path(args.folder or "", DEV)
    data = {path.name: file_digest(path) for path in files if path.is_file()}
    return {"data": data, "judges": kept | {Path(name).name: measured(name, args) for name in args.judges}}


def table(result: dict) -> str:
    """Return as Markdown how many named texts are right and how many are found, and rows a second of each judge."""
    lines = []
    for judge, results in result["judges"].items():
        speed = [f"{rate:g}" for rate in results["rows_a_second"].values()]
        for name, kinds in results["kinds"].items():
            cells = []
            for numbers in kinds.values():
                named = numbers["right"] + numbers["wrong"]
                cells += [f"{numbers['right']} of {named}", f"{numbers['found']} of {numbers['expected']}"]
            lines.append([judge, f"{name} ({results['rows'][name]})", *cells, *speed])
    header = ["judge", "rows", *(f"{kind}: {share}" for kind in KINDS for share in ("right", "found"))]
    return markdown_table([*header, "rows a second", "with reasons"], lines)


STUDY = Study(__spec__.name, Arguments, study, table)

if __name__ == "__main__":
    STUDY.main()
