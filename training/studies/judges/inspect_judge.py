"""On which kinds of written answers a judge is wrong, and whether the words that it names decide: a deletion test.

The deletion test takes out of an answer the three words that speak most for the verdict, and three random words,
and counts how often each changes the verdict (answers of at least six words, as many judged right as wrong).

With --judgments this is measured, the deletion test only with --deletion, and the result file is written. Without,
the tables are made of the file.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np
from genqa_metrics.ava.explaining import explanations, strongest, without
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import checkpoint_folder, load_judge
from genqa_metrics.core.checkpoint_validation import file_digest
from genqa_metrics.core.checkpoints import checkpoint_digest

from training.common import local_file, markdown_table, put_between_markers
from training.studies.harness import Table
from training.studies.judges import compare_judges as c
from training.studies.judges.worst_errors import SETS

REMOVED = 3
LEAST_WORDS = 6
RESULTS = Path(__file__).parent / "results/inspected.json"
PLACE = "kinds of errors"
SIDES = ("wrong answers judged right", "right answers judged wrong")  # by the verdict of people
KINDS = (  # by the verdict of people, what the written answers of a kind do
    {
        "alternatives": "the right answer or another one",
        "cause": "another cause, or cause and effect swapped",
        "contradiction": "the right answer, then another one",
        "fabricated": "a part is made up",
        "flooded": "another answer, in much text",
        "name": "another name",
        "negation": "a denial that is added or lost",
        "number": "another number",
        "opposite": "the opposite",
        "order": "steps or things in another order",
        "other_question": "an answer to another question",
        "partial": "a part is missing",
        "question_back": "a question instead of an answer",
        "refusal": "no answer is given",
        "right_words": "the words of the reference in a false statement",
        "roles": "roles swapped",
        "scope": "a claim that is too wide or too narrow",
        "superset": "only a class or range that it belongs to",
        "time": "true of another time",
        "vague": "too vague",
    },
    {
        "extra_detail": "more detail than the reference",
        "flooded": "the answer in much text",
        "hesitant": "unsure, but right",
        "inference": "what the reference says, indirectly",
        "less_detail": "less detail than the reference",
        "order": "the same in another order",
        "other_form": "another form of a number, date or name",
        "paraphrase": "the same in other words",
        "rejects_other": "another answer is mentioned and rejected",
        "restates_question": "the question is repeated before the answer",
        "typo": "typing errors",
        "verbatim": "the words of the reference",
    },
)


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
    rates = {"rows": len(rows), "seed": seed}
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
    parser.add_argument("--judgments", type=Path, nargs="+", help="folders of the dev files; without, only the tables")
    parser.add_argument("--judges", nargs="+", default=["small"], help="judges: small, base or folders")
    parser.add_argument("--deletion", type=int, default=0, help="rows of the deletion test; 0 for none")
    parser.add_argument("--seed", type=int, default=0, help="of the rows and words of the deletion test")
    parser.add_argument("--dtype", help="floating type of the judges; default float32")
    parser.add_argument("--json", type=Path, default=RESULTS, help="result file")
    parser.add_argument("--write", type=Path, help=f"card with <!-- {PLACE} -->, for the table of the one judge")
    args = parser.parse_args()
    if args.write and len(args.judges) != 1:
        parser.error(f"--write: expected one judge, got {', '.join(args.judges)}; name it with --judges")
    if args.judgments:
        sets = {name: c.read(name, args.judgments) for name in (SETS if args.deletion else [c.WRITTEN])}
        rows = [row for own in sets.values() for row in own]
        results = {}
        for name in args.judges:
            judge = Judge(load_judge(name, device="cpu", dtype=args.dtype))
            results[name] = {
                "checkpoint": checkpoint_digest(checkpoint_folder(name)),
                "errors_by_kind": errors_by_kind(sets[c.WRITTEN], judge),
            }
            if args.deletion:
                results[name]["deletion_test"] = deletion_rates(rows, judge, args.deletion, args.seed)
        digests = {name: file_digest(local_file(name, args.judgments)) for name in sets}
        c.write_results(args.json, "training.studies.judges.inspect_judge", {"data": {}}, digests, results)
    else:
        results = json.loads(args.json.read_text(encoding="utf-8"))["results"]
    for name in args.judges:
        if name not in results:
            known = ", ".join(results)
            parser.error(f"--judges: {args.json} has no {name}, only {known}; measure it with --judgments")
        text = table(results[name]["errors_by_kind"])
        print(f"\n{name}, errors on {c.WRITTEN} by kind\n\n{text}\n")
        if "deletion_test" in results[name]:
            print(json.dumps(results[name]["deletion_test"]))
        if args.write:
            put_between_markers(args.write, PLACE, text)


TABLES = [
    Table(
        PLACE,
        "studies/judges/results/inspected",
        lambda r, name=name: table(r["results"][name]["errors_by_kind"]),
        f"metrics/ava/{folder}/README.md",
    )
    for name, folder in (("small", "checkpoint"), ("base", "checkpoint_base"))
]


if __name__ == "__main__":
    main()
