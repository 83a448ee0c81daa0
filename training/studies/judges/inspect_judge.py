"""Where a judge is wrong, and whether the words that it names decide: its worst errors, and a deletion test.

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
from genqa_metrics.ava.loading import load_judge

from training.studies.judges import compare_judges as c

SETS = ("written.dev", "evouna_nq.dev", "evouna_tq.dev", "scientsbank.dev", "beetle.dev", "financebench.dev")
REMOVED = 3
LEAST_WORDS = 6


def worst(sets: dict[str, list[dict]], judge: Judge, count: int) -> list[dict]:
    """Return the rows of all sets whose probability is farthest from the verdict of people, worst first."""
    found = []
    for name, rows in sets.items():
        for row, probability in zip(rows, judge.probabilities(*c.columns(rows)), strict=True):
            wrong = (probability >= judge.loaded.threshold) != row["label"]
            if wrong:
                found.append({"set": name, "probability": round(float(probability), 3)} | row)
    return sorted(found, key=lambda row: -abs(row["probability"] - row["label"]))[:count]


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
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder of the judge")
    parser.add_argument("--worst", type=int, default=50, help="number of errors that are listed")
    parser.add_argument("--deletion", type=int, default=300, help="rows of the deletion test")
    parser.add_argument("--dtype", help="floating type of the judge; default float32")
    args = parser.parse_args()
    judge = Judge(load_judge(args.checkpoint, device="cpu", dtype=args.dtype))
    sets = {name: c.read(name, args.judgments) for name in SETS}
    for row in worst(sets, judge, args.worst):
        names = ("set", "probability", "label", "question", "references", "candidate")
        print(json.dumps({name: row[name] for name in names} | {"kind": row["extra"].get("kind")}, ensure_ascii=False))
    for kind, (wrong, count) in errors_by_kind(sets["written.dev"], judge).items():
        print(f"| {kind} | {wrong} | {count} | {wrong / count:.2f} |")
    rows = [row for name in SETS for row in sets[name]]
    print(json.dumps(deletion_rates(rows, judge, args.deletion)))


if __name__ == "__main__":
    main()
