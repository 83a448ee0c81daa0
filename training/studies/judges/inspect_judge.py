"""On which kinds of written answers a judge is wrong, and whether the words that it names decide: a deletion test.

The deletion test takes out of an answer the three words that speak most for the verdict, and three random words,
and counts how often each changes the verdict (answers of at least six words, as many judged right as wrong).
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from genqa_metrics.ava.explaining import explanations, strongest, without
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import checkpoint_folder, load_judge
from genqa_metrics.core.checkpoints import checkpoint_digest

from training.common import markdown_table, option
from training.studies.harness import Output, Study, Table, digests
from training.studies.judges import compare_judges as c
from training.studies.judges.worst_errors import NAMES, SETS

REMOVED = 3
LEAST_WORDS = 6
SIDES = ("wrong answers judged right", "right answers judged wrong")  # by the verdict of people
KINDS = tuple(NAMES["written"].values())  # by the verdict of people: kind -> its title


def errors_by_kind(rows: Sequence[dict], judge: Judge) -> dict[str, dict[str, tuple[int, int]]]:
    """Return how many written answers of every kind are judged wrongly and how many there are, by `SIDES`."""
    wrong, all_of = Counter(), Counter()
    verdicts = judge.probabilities(*c.columns(rows)) >= judge.loaded.threshold
    for row, verdict in zip(rows, verdicts, strict=True):
        kind = int(row["label"]), row["extra"]["kind"]
        all_of[kind] += 1
        wrong[kind] += bool(verdict) != bool(row["label"])
    return {
        side: {kind: (wrong[of, kind], count) for (of, kind), count in sorted(all_of.items()) if of == label}
        for label, side in enumerate(SIDES)
    }


def table(errors: Mapping[str, Mapping[str, Sequence[int]]]) -> str:
    """Return the Markdown table of the kinds of errors, on both sides the most frequent ones first.

    Args:
        errors: see `errors_by_kind`.

    Raises:
        ValueError: if a kind is not in `KINDS`.

    >>> print(table({SIDES[0]: {"name": (1, 3), "number": (2, 3)}, SIDES[1]: {"typo": (0, 2)}}))
    | wrong answers judged right |  | right answers judged wrong |  |
    | --- | --- | --- | --- |
    | another number | 2 of 3 | typing errors | 0 of 2 |
    | another name | 1 of 3 |  |  |
    """
    columns = []
    for side, titles in zip(SIDES, KINDS, strict=True):
        unknown = sorted(set(errors[side]) - set(titles))
        if unknown:
            raise ValueError(f"{side}: kinds {', '.join(unknown)} have no title; add them to KINDS")
        counts = sorted(errors[side].items(), key=lambda item: (-item[1][0] / item[1][1], item[0]))
        columns.append([(titles[kind], f"{wrong} of {count}") for kind, (wrong, count) in counts])
    rows = [[*left, *right] for left, right in zip_longest(*columns, fillvalue=("", ""))]
    return markdown_table([SIDES[0], "", SIDES[1], ""], rows)


def deletion_rates(rows: list[dict], judge: Judge, count: int, seed: int = 0) -> dict[str, float]:
    """Return how often the verdict of `count` answers changes without the strongest words and without random words."""
    rng, threshold = random.Random(seed), judge.loaded.threshold
    rows = [row for row in rows if len(row["candidate"].split()) >= LEAST_WORDS]
    rng.shuffle(rows)
    kept = defaultdict(list)
    for row, probability in zip(rows, judge.probabilities(*c.columns(rows)), strict=True):
        kept[probability >= threshold].append(row)
    rows = kept[True][: count // 2] + kept[False][: count - count // 2]
    questions, references, answers = c.columns(rows)
    result = explanations(questions, references, answers, judge.probabilities, threshold)
    before = np.array([row["probability"] for row in result]) >= threshold
    rates = {"rows": len(rows), "seed": seed}
    for name in ("strongest", "random"):
        texts = []
        for row, text in zip(result, answers, strict=True):
            words = strongest(row["words"], row["probability"], threshold, REMOVED)
            if name == "random":
                words = rng.sample(row["words"], min(len(words), len(row["words"])))
            texts.append(without(text, [(start, end) for *_, start, end in words]))
        after = judge.probabilities(questions, references, texts) >= threshold
        rates[name] = float((after != before).mean())
        rates[f"{name}, judged right"] = float((after != before)[before].mean())
        rates[f"{name}, judged wrong"] = float((after != before)[~before].mean())
    return rates


def text(result: dict) -> str:
    """Return the tables of all judges."""
    parts = []
    for name, value in result["results"].items():
        parts.append(f"{name}, errors on {c.WRITTEN} by kind\n\n{table(value['errors_by_kind'])}")
        parts += [json.dumps(value["deletion_test"])] if "deletion_test" in value else []
    return "\n\n".join(parts)


@dataclass
class Arguments(Output):
    """What is inspected."""

    judgments: list[str] = option("folders of the dev files")
    judges: list[str] = option("judges: small, base or folders", ["small"])
    deletion: int = option("rows of the deletion test; 0 for none", 0)
    seed: int = option("of the rows and words of the deletion test", 0)
    dtype: str | None = option("floating type of the judges; default float32", None)


def study(args: Arguments) -> dict:
    """Return the errors and the rates of the deletion test of all judges."""
    sets = {name: c.read(name, args.judgments) for name in (SETS if args.deletion else [c.WRITTEN])}
    rows, results = [row for own in sets.values() for row in own], {}
    for name in args.judges:
        judge = Judge(load_judge(name, device="cpu", dtype=args.dtype))
        values = results[name] = {"checkpoint": checkpoint_digest(checkpoint_folder(name))}
        values["errors_by_kind"] = errors_by_kind(sets[c.WRITTEN], judge)
        if args.deletion:
            values["deletion_test"] = deletion_rates(rows, judge, args.deletion, args.seed)
    return {"data": digests(sets, args.judgments), "results": results}


STUDY = Study(__spec__.name, Arguments, study, text)
TABLES = [  # of the cards of the bundled judges
    Table(
        "kinds of errors",
        "studies/judges/results/inspected",
        lambda r, name=name: table(r["results"][name]["errors_by_kind"]),
        f"metrics/ava/{folder}/README.md",
    )
    for name, folder in (("small", "checkpoint"), ("base", "checkpoint_base"))
]

if __name__ == "__main__":
    STUDY.main()
