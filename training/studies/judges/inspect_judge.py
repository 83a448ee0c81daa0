"""On which kinds of written answers a judge is wrong, and whether the words that it names decide: a deletion test.

The deletion test takes out of an answer the three words that speak most for the verdict, and three random words,
and counts how often each changes the verdict (answers of at least six words, as many judged right as wrong).
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from genqa_metrics.ava.explaining import explanations, strongest, without
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import checkpoint_folder, load_judge
from genqa_metrics.core.checkpoint_validation import file_digest
from genqa_metrics.core.checkpoints import checkpoint_digest

from training.common import local_file
from training.studies.judges import compare_judges as c
from training.studies.judges.worst_errors import SETS

REMOVED = 3
LEAST_WORDS = 6


def errors_by_kind(rows: list[dict], judge: Judge) -> dict[str, tuple[int, int]]:
    """Return, by the kind of written answers, how many are judged wrongly and how many there are."""
    wrong, all_of = Counter(), Counter()
    verdicts = judge.probabilities(*c.columns(rows)) >= judge.loaded.threshold
    for row, verdict in zip(rows, verdicts, strict=True):
        kind = f"{row['extra']['kind']} ({'right' if row['label'] else 'wrong'})"
        all_of[kind] += 1
        wrong[kind] += bool(verdict) != bool(row["label"])
    return {kind: (wrong[kind], count) for kind, count in sorted(all_of.items(), key=lambda k: -wrong[k[0]] / k[1])}


def deletion_rates(rows: list[dict], judge: Judge, count: int, seed: int = 0) -> dict[str, float]:
    """Return how often the verdict changes without the strongest words and without random words.

    Args:
        rows: judged answers.
        judge: the judge.
        count: number of answers, half of them judged right.
        seed: of the draw.
    """
    rng, threshold = random.Random(seed), judge.loaded.threshold
    rows = [row for row in rows if len(row["candidate"].split()) >= LEAST_WORDS]
    rng.shuffle(rows)
    kept = defaultdict(list)
    for row, probability in zip(rows, judge.probabilities(*c.columns(rows)), strict=True):
        kept[probability >= threshold].append(row)
    rows = kept[True][: count // 2] + kept[False][: count - count // 2]
    questions, references, answers = c.columns(rows)
    found = explanations(questions, references, answers, judge.probabilities, threshold)
    before = np.array([row["probability"] for row in found]) >= threshold
    rates = {"rows": len(rows)}
    for name in ("strongest", "random"):
        texts = []
        for row, text in zip(found, answers, strict=True):
            words = strongest(row["words"], row["probability"], threshold, REMOVED)
            if name == "random":
                words = rng.sample(row["words"], min(len(words), len(row["words"])))
            texts.append(without(text, [(start, end) for *_, start, end in words]))
        after = judge.probabilities(questions, references, texts) >= threshold
        rates[name] = float((after != before).mean())
        rates[f"{name}, judged right"] = float((after != before)[before].mean())
        rates[f"{name}, judged wrong"] = float((after != before)[~before].mean())
    return rates


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgments", type=Path, nargs="+", required=True, help="folders of the dev files")
    parser.add_argument("--judges", nargs="+", default=["small", "base"], help="judges: small, base or folders")
    parser.add_argument("--deletion", type=int, default=300, help="rows of the deletion test")
    parser.add_argument("--dtype", help="floating type of the judges; default float32")
    parser.add_argument("--json", type=Path, help="result file")
    args = parser.parse_args()
    sets = {name: c.read(name, args.judgments) for name in SETS}
    rows = [row for name in SETS for row in sets[name]]
    results = {}
    for name in args.judges:
        judge = Judge(load_judge(name, device="cpu", dtype=args.dtype))
        print(f"\n{name}, errors on written.dev by kind\n")
        for kind, (wrong, count) in errors_by_kind(sets["written.dev"], judge).items():
            print(f"| {kind} | {wrong} | {count} | {wrong / count:.2f} |")
        rates = deletion_rates(rows, judge, args.deletion)
        print(json.dumps(rates))
        results[name] = {"checkpoint": checkpoint_digest(checkpoint_folder(name)), "deletion_test": rates}
    if args.json:
        digests = {name: file_digest(local_file(name, args.judgments)) for name in SETS}
        c.write_results(args.json, "training.studies.judges.inspect_judge", {"data": {}}, digests, results)


if __name__ == "__main__":
    main()
