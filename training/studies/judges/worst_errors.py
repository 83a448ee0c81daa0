"""The worst errors of a judge, by kind and dev set: where it is surest of the opposite of people's verdict.

The result file has ids of rows and kinds but no texts; --texts prints them for whoever assigns a kind to each. With
--keep, an error that the file has already keeps its kind.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import checkpoint_folder, load_judge
from genqa_metrics.core.checkpoints import checkpoint_digest

from training.common import markdown_table, option
from training.studies.harness import ExtendableOutput, Study, Table, digests
from training.studies.judges import compare_judges as c

SETS = (
    "written.dev",
    "assistant.dev",
    "evouna_nq.dev",
    "evouna_tq.dev",
    "scientsbank.dev",
    "beetle.dev",
    "financebench.dev",
)
COUNT = 100
NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
KINDS = NAMES["worst"]
TITLES = {0: "wrong, accepted", 1: "right, rejected"}  # by the verdict of people


def worst(sets: dict[str, list[dict]], judge: Judge, count: int = COUNT) -> list[dict]:
    """Return the rows of all sets whose probability is farthest from the verdict of people, worst first."""
    values = []
    for name, rows in sets.items():
        for row, probability in zip(rows, judge.probabilities(*c.columns(rows)), strict=True):
            if (probability >= judge.loaded.threshold) != row["label"]:
                values.append({"set": name, "probability": round(float(probability), 3)} | row)
    return sorted(values, key=lambda row: -abs(row["probability"] - row["label"]))[:count]


def table(errors: Sequence[dict]) -> str:
    """Return the Markdown table kind of error x dev set: wrong answers that are accepted, then right ones rejected.

    Raises:
        ValueError: if an error has no kind, or one that is not in `KINDS`.

    >>> print(table([{"set": "beetle.dev", "id": "1", "label": 0, "kind": "negation"}]))
    |  | beetle | all |
    | --- | ---: | ---: |
    | **wrong, accepted** | 1 | 1 |
    | negation | 1 | 1 |
    | **right, rejected** |  | 0 |
    """
    unknown = {error["kind"] for error in errors} - {*KINDS, None}
    if unknown:
        raise ValueError(f"kinds {', '.join(sorted(unknown))}: expected one of {', '.join(KINDS)}")
    without = sum(error["kind"] is None for error in errors)
    if without:
        raise ValueError(f"{without} errors have no kind; read them with --texts and write their kinds into the file")
    frame, lines = pd.DataFrame(errors), []
    names = [name for name in SETS if name in set(frame["set"])]
    for label, title in TITLES.items():
        own = frame[frame["label"] == label]
        kinds = sorted(Counter(own["kind"]).items(), key=lambda item: (-item[1], item[0]))
        groups = {f"**{title}**": own} | {kind: own[own["kind"] == kind] for kind, _ in kinds}
        for name, group in groups.items():
            count = Counter(group["set"])
            lines.append([name, *(count[each] or "" for each in names), len(group)])
    return markdown_table(["", *(name.removesuffix(".dev") for name in names), "all"], lines, "---:")


@dataclass
class Arguments(ExtendableOutput):
    """Whose errors are found."""

    judgments: list[str] = option("folders of the dev files")
    checkpoint: str = option("the judge", "base")
    dtype: str | None = option("its floating type; default float32", None)
    texts: bool = option("print the errors with their texts, as JSON lines", False)


def study(args: Arguments) -> dict:
    """Return the errors with the kinds that the result file has for them."""
    kinds = {(error["set"], error["id"]): error["kind"] for error in args.earlier().get("errors", ())}
    rows = worst(
        {name: c.read(name, args.judgments) for name in SETS},
        Judge(load_judge(args.checkpoint, device="cpu", dtype=args.dtype)),
    )
    names = ("set", "id", "probability", "label", "question", "references", "candidate")
    for row in rows if args.texts else ():
        print(json.dumps({name: row[name] for name in names}, ensure_ascii=False))
    return {
        "checkpoint": checkpoint_digest(checkpoint_folder(args.checkpoint)),
        "data": digests(SETS, args.judgments),
        "errors": [
            {name: row[name] for name in ("set", "id", "label")} | {"kind": kinds.get((row["set"], row["id"]))}
            for row in rows
        ],
    }


def text(result: dict) -> str:
    """Return how many errors have no kind yet."""
    without = sum(error["kind"] is None for error in result["errors"])
    return f"{without} of {len(result['errors'])} errors have no kind: write it into the result file"


STUDY = Study(__spec__.name, Arguments, study, text)
TABLES = [
    Table("worst errors", "studies/judges/results/worst_errors", lambda r: table(r["errors"]), "metrics/ava/README.md")
]

if __name__ == "__main__":
    STUDY.main()
