"""What each rule beside the judge gains, and which right answers it loses: every rule alone, switched off and on.

A rule takes something off an answer, or compares two values exactly (`ava/judging.py`). It rejects wrong answers and
accepts right ones, or loses right ones and accepts wrong ones. The last column is the share of right answers in forms
that mislead a rule (`tests/data/right_answers.jsonl`) that an exact comparison calls wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import EXACT, READING, Judge, Rules
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.checkpoints import file_digest

from training.common import json_rows, option
from training.studies.harness import Output, Study, filled
from training.studies.judges.compare_judges import columns

RULES = READING + EXACT
CHANGES = ("wrong rejected", "right accepted", "right lost", "wrong accepted")
RIGHT_ANSWERS = Path(__file__).parents[3] / "tests/data/right_answers.jsonl"


class RememberingJudge(Judge):
    """A judge that reads every distinct triple once, however many rules are tried."""

    def __init__(self, loaded):
        super().__init__(loaded)
        self.known: dict[tuple, float] = {}

    def logits(self, triples: Sequence[tuple]) -> np.ndarray:
        """Return the logit of every triple; see `JudgeReader.logits`."""
        new = [triple for triple in dict.fromkeys(triples) if triple not in self.known]
        self.known |= zip(new, super().logits(new).tolist(), strict=True)
        return np.array([self.known[triple] for triple in triples])

    def accepted(self, rows: Sequence[dict], rules: Rules) -> np.ndarray:
        """Return (rows,) whether each answer counts as right."""
        self.rules = rules
        return self.probabilities(*columns(rows)) >= self.loaded.threshold


def changes(right: np.ndarray, without: np.ndarray, with_rule: np.ndarray) -> dict[str, int]:
    """Return how many verdicts a rule changes, by `CHANGES`; (rows,) booleans, accepted without and with it.

    >>> changes(np.array([True, False]), np.array([True, True]), np.array([False, False]))
    {'wrong rejected': 1, 'right accepted': 0, 'right lost': 1, 'wrong accepted': 0}
    """
    lost, result = without & ~with_rule, ~without & with_rule
    counts = (lost & ~right, result & right, lost & right, result & ~right)
    return dict(zip(CHANGES, (int(each.sum()) for each in counts), strict=True))


def measured(judge: RememberingJudge, rows: Sequence[dict]) -> dict[str, dict]:
    """Return by rule the changes on rows of one file, and under "all" those of all rules together."""
    right = np.array([bool(row["label"]) for row in rows])
    full, result = judge.accepted(rows, Rules()), {}
    for rule in RULES:
        without = judge.accepted(rows, Rules(tuple(name for name in RULES if name != rule)))
        result[rule] = changes(right, without, full)
    result["all"] = changes(right, judge.accepted(rows, Rules(())), full)
    return result


@dataclass
class Arguments(Output):
    """What is measured on what."""

    judgments: list[str] = option("files of rows with labels")
    rows: int = option("at most so many rows of each file, drawn by seed 0", 600)
    checkpoint: str = option("the judge", "small")


def study(args: Arguments) -> dict:
    """Return the changes by file and rule, and the right answers that an exact comparison rejects."""
    judge, files, data = RememberingJudge(load_judge(args.checkpoint, device="cpu")), {}, {}
    for path in map(Path, args.judgments):
        rows = [row for row in json_rows(path) if row["label"] is not None]
        kept = np.random.default_rng(0).permutation(len(rows))[: args.rows]
        name = path.name.split(".jsonl")[0]
        files[name] = measured(judge, [rows[i] for i in sorted(kept)])
        data[name] = file_digest(path)
    rejected = dict.fromkeys(EXACT, 0)
    for rule, row in product(EXACT, json_rows(RIGHT_ANSWERS)):
        verdict = Rules((rule,)).read(row["question"], [row["reference"]], row["answer"]).verdicts[0]
        rejected[rule] += verdict is not None and not verdict.right
    return {"data": data, "results": {"files": files, "right answers rejected": rejected}}


TEXT = filled("judges/rules.md.j2", RULES=RULES, CHANGES=CHANGES)
STUDY = Study(__spec__.name, Arguments, study, TEXT, {"rules": "rules"})

if __name__ == "__main__":
    STUDY.main()
