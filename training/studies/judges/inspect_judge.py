"""On which kinds of written answers a judge is wrong."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import checkpoint_folder, load_judge
from genqa_metrics.core.checkpoints import checkpoint_digest

from training.common import markdown_table, option
from training.studies.harness import ExtendableOutput, Study, Table, digests
from training.studies.judges import compare_judges as c

SIDES = ("wrong answers judged right", "right answers judged wrong")  # by the verdict of people
KINDS = tuple(c.NAMES["written"].values())  # by the verdict of people: kind -> its title


def errors_by_kind(rows: Sequence[dict], judge: Judge) -> dict[str, dict[str, tuple[int, int]]]:
    """Return how many written answers of every kind are judged wrongly and how many there are, by `SIDES`."""
    verdicts = judge.probabilities(*c.columns(rows)) >= judge.loaded.threshold
    wrong: dict[str, defaultdict] = {side: defaultdict(list) for side in SIDES}
    for row, verdict in zip(rows, verdicts.tolist(), strict=True):
        wrong[SIDES[int(row["label"])]][row["extra"]["kind"]].append(verdict != bool(row["label"]))
    return {side: {k: (sum(of), len(of)) for k, of in sorted(kinds.items())} for side, kinds in wrong.items()}


def table(errors: Mapping[str, Mapping[str, Sequence[int]]]) -> str:
    """Return the Markdown table of `errors_by_kind`, on both sides the most frequent ones first.

    >>> print(table({SIDES[0]: {"name": (1, 3), "number": (2, 3)}, SIDES[1]: {"typo": (0, 2)}}))
    | wrong answers | judged right | right answers | judged wrong |
    | --- | --- | --- | --- |
    | another number | 2 of 3 | typing errors | 0 of 2 |
    | another name | 1 of 3 |  |  |
    """
    columns = []
    for side, titles in zip(SIDES, KINDS, strict=True):
        if unknown := sorted(set(errors[side]) - set(titles)):
            raise ValueError(f"{side}: kinds {', '.join(unknown)} have no title; add them to KINDS")
        counts = sorted(errors[side].items(), key=lambda item: (-item[1][0] / item[1][1], item[0]))
        columns.append([(titles[kind], f"{wrong} of {count}") for kind, (wrong, count) in counts])
    rows = [[*left, *right] for left, right in zip_longest(*columns, fillvalue=("", ""))]
    return markdown_table(["wrong answers", "judged right", "right answers", "judged wrong"], rows)


def text(result: dict) -> str:
    """Return the tables of all judges."""
    return "\n\n".join(
        f"{name}, errors on {c.WRITTEN} by kind\n\n{table(value['errors_by_kind'])}"
        for name, value in result["results"].items()
    )


@dataclass
class Arguments(ExtendableOutput):
    """What is inspected."""

    judgments: list[str] = option("folders of the dev files")
    judges: list[str] = option("judges: small, base or folders", ["small"])
    dtype: str | None = option("floating type of the judges; default float32", None)


def study(args: Arguments) -> dict:
    """Return the errors of all judges."""
    rows, data = c.read(c.WRITTEN, args.judgments), digests([c.WRITTEN], args.judgments)
    results = args.earlier(data=data)["results"]
    for name in args.judges:
        errors = errors_by_kind(rows, Judge(load_judge(name, device="cpu", dtype=args.dtype)))
        results[name] = {"checkpoint": checkpoint_digest(checkpoint_folder(name)), "errors_by_kind": errors}
    return {"data": data, "results": results}


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
