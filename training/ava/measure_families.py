"""Measure how many answers in deceiving forms, and with small differences, judges get wrong.

    python -m training.ava.measure_families --judges small base large --spans_dir DATA/span_qa --json RESULT.json

Only forms that train no judge are used (see `deceptions`); questions are those of a dev file of extractive QA.
"""

import random
from dataclasses import dataclass
from pathlib import Path

from genqa_metrics import load

from training.ava import deceptions
from training.ava.triples import Triple
from training.common import markdown_table, option
from training.kpqa import data as extractive
from training.studies.harness import Output, Study, read


@dataclass
class Arguments(Output):
    """Which judges are measured on how many rows."""

    judges: list[str] = option("small, base, large, folders")
    spans_dir: str = option("folder of the extractive QA files")
    spans: str = option("name of the file whose questions are asked", "squad.dev")
    rows: int = option("rows of each family", 40)
    seed: int = option("of the rows", 0)


def rows_of(args: Arguments) -> list[Triple]:
    """Return the rows of all families."""
    rng = random.Random(args.seed)
    spans = extractive.answers(args.spans, extractive.read_rows(args.spans, args.spans_dir), 1.0, 1.0, 60)
    sentences = [Triple(row.question, (row.span,), row.text, 1.0, args.spans) for row in spans if row.span]
    rows = []
    for family in deceptions.FAMILIES:
        rows += deceptions.deceptions(sentences, args.rows, rng, trained=False, family=family)
    rows += deceptions.details(sentences, args.rows * len(deceptions.DETAILS), rng)
    return rows + deceptions.misspelt_names(sentences, args.rows, rng)


def counted(name: str, rows: list[Triple]) -> dict[str, dict[str, int]]:
    """Return {family: counts of wrong and right rows, and of those that a judge gets wrong}."""
    columns = {"questions": [row.question for row in rows], "predictions": [row.candidate for row in rows]}
    ava = load("ava", checkpoint=name, device="cpu")
    results = ava.compute(**columns, references=[list(row.references) for row in rows], per_example=True)
    counts: dict[str, dict[str, int]] = {}
    for row, verdict in zip(rows, results["ava_label_per_example"], strict=True):
        family = counts.setdefault(row.kind, dict.fromkeys(("wrong", "accepted", "right", "rejected"), 0))
        family["right" if row.label else "wrong"] += 1
        family["rejected" if row.label else "accepted"] += verdict != row.label
    return counts


def study(args: Arguments) -> dict:
    """Count the errors of judges by family; judges that the result file has are kept."""
    rows = rows_of(args)
    kept = read(args.json)["judges"] if args.json and Path(args.json).is_file() else {}
    return {"seed": args.seed, "judges": kept | {Path(name).name: counted(name, rows) for name in args.judges}}


def table(result: dict) -> str:
    """Return as Markdown how many wrong answers each judge accepts, and how many right ones it rejects, by family."""

    def cell(counts: dict[str, int]) -> str:
        texts = [f"{counts['accepted']} of {counts['wrong']}"] if counts["wrong"] else ["-"]
        return " / ".join([*texts, f"{counts['rejected']} of {counts['right']}" if counts["right"] else "-"])

    judges = result["judges"]
    families = dict.fromkeys(family for counts in judges.values() for family in counts)
    lines = [[family, *(cell(counts[family]) for counts in judges.values())] for family in families]
    return markdown_table(["family: wrong accepted / right rejected", *judges], lines)


STUDY = Study(__spec__.name, Arguments, study, table)

if __name__ == "__main__":
    STUDY.main()
