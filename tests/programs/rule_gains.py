"""Prints what each rule beside a judge gains and loses, on dev sets and on cases; every rule alone, switched off.

`python -m tests.programs.rule_gains --rows FILES --judges small base --json FILE` judges every distinct text once.
A rule takes something off an answer, or compares two texts exactly (`ava/judging.py`). It rejects wrong answers and
accepts right ones, or loses right ones and accepts wrong ones.
"""

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import Judge, Rules, default_rules
from genqa_metrics.ava.loading import load_judge

CHANGES = ("wrong rejected", "right accepted", "right lost", "wrong accepted")


class RememberingJudge(Judge):
    """A judge that reads every distinct triple once, however many rules are tried."""

    def __init__(self, loaded):
        super().__init__(loaded)
        self.known = {}

    def logits(self, triples: Sequence[tuple]) -> np.ndarray:
        """Return the logit of every triple; see `JudgeReader.logits`."""
        new = [triple for triple in dict.fromkeys(triples) if triple not in self.known]
        if new:
            self.known |= zip(new, super().logits(new).tolist(), strict=True)
        return np.array([self.known[triple] for triple in triples])

    def accepted(self, rows: Sequence[dict], names: Sequence[str]) -> np.ndarray:
        """Return (rows,) whether each answer counts as right with the rules of these names."""
        self.rules = Rules(tuple(names))
        columns = ([row[name] for row in rows] for name in ("question", "references", "prediction"))
        return self.probabilities(*columns) >= self.loaded.threshold


def changes(right: np.ndarray, without: np.ndarray, with_rule: np.ndarray) -> dict[str, int]:
    """Return how many verdicts a rule changes, by `CHANGES`; (rows,) booleans, accepted without and with it.

    >>> changes(np.array([True, False]), np.array([True, True]), np.array([False, False]))
    {'wrong rejected': 1, 'right accepted': 0, 'right lost': 1, 'wrong accepted': 0}
    """
    lost, accepted = without & ~with_rule, ~without & with_rule
    counts = (lost & ~right, accepted & right, lost & right, accepted & ~right)
    return dict(zip(CHANGES, (int(each.sum()) for each in counts), strict=True))


def rows_of(path: Path, most: int = 400) -> list[dict]:
    """Return the rows of a JSON-lines file that have a verdict, at most so many of them, drawn by seed 0."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if row.get("label") in (0, 1) and row.get("references") and row.get("question")]
    rows = [row | {"prediction": row.get("prediction", row.get("candidate"))} for row in rows]
    return [rows[i] for i in sorted(np.random.default_rng(0).permutation(len(rows))[:most])]


def measured(judge: RememberingJudge, rows: Sequence[dict]) -> dict[str, dict]:
    """Return by rule the changes on rows of one file; under "all" those of all rules, and the rows that are right."""
    right = np.array([bool(row["label"]) for row in rows])
    names = default_rules(judge.loaded).names
    full = judge.accepted(rows, names)
    result = {"rows": len(rows), "right": int((full == right).sum())}
    for rule in names:
        result[rule] = changes(right, judge.accepted(rows, [name for name in names if name != rule]), full)
    result["all"] = changes(right, judge.accepted(rows, ()), full)
    return result


KINDS = {"dev sets": (".dev",), "cases": ("",)}  # files by the end of their name; the first that fits


def table(files: dict[str, dict]) -> str:
    """Return a table in Markdown of the changes by rule, over all files of a kind.

    >>> file = {"rows": 9, "right": 8, "number": dict(zip(CHANGES, (3, 2, 1, 0), strict=True))}
    >>> print(table({"a.dev": file, "b": file | {"right": 9}}))
    | rule | dev sets: gained, lost (8 of 9 right) | cases: gained, lost (9 of 9 right) |
    | --- | ---: | ---: |
    | number | 5, 1 | 5, 1 |
    """
    kinds: dict[str, list[dict]] = {kind: [] for kind in KINDS}
    for name, counts in files.items():
        kinds[next(kind for kind, ends in KINDS.items() if name.endswith(ends))].append(counts)
    heads = (
        f"{kind}: gained, lost ({sum(file['right'] for file in of):,} of {sum(file['rows'] for file in of):,} right)"
        for kind, of in kinds.items()
    )
    rules = dict.fromkeys(rule for file in files.values() for rule in file if rule not in ("rows", "right"))
    lines = [f"| rule | {' | '.join(heads)} |", f"| --- |{' ---: |' * len(kinds)}"]
    for rule in rules:
        sums = [[sum(file[rule][change] for file in of) for change in CHANGES] for of in kinds.values()]
        lines.append(f"| {rule} | {' | '.join(f'{a + b}, {c + d}' for a, b, c, d in sums)} |")
    return "\n".join(lines)


def main() -> None:
    """Judge the rows with and without each rule, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", nargs="+", type=Path, required=True, help="JSON lines with labels")
    parser.add_argument("--most", type=int, default=400, help="rows of a file")
    parser.add_argument("--judges", nargs="+", default=["small"])
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    result: dict[str, dict] = {}
    files = {path.name.split(".jsonl")[0]: rows_of(path, args.most) for path in args.rows}
    for name in args.judges:
        judge = RememberingJudge(load_judge(name, device="cpu"))
        result[name] = {file: measured(judge, rows) for file, rows in files.items() if rows}
        print(f"{name}\n\n{table(result[name])}\n")
        if args.json:
            args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
