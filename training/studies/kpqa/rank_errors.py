"""The answers that KPQA ranks most unlike people: section 5.4 of Lee et al. (2021), error analysis.

Takes the rows with the largest gaps between their ranks by people and by the metric, counts them by type of question,
by direction and by what the weights say, and writes them to a file to be read. What was found on reading stands in the
README by hand.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from genqa_metrics.verbs.agree.question_types import question_type
from scipy.stats import rankdata

from training.common import markdown_table, option
from training.kpqa import evaluate_kpqa
from training.studies.harness import Output, Study

HEAVY = 0.5  # weight of a word piece that counts
NUMBER = re.compile(r"\d|^(?:one|two|three|four|five|six|seven|eight|nine|ten|half|dozens?|hundreds?)$", re.IGNORECASE)
FIGURE_4 = ("PERSON", "NUMERIC", "DESCRIPTION", "LOCATION", "ENTITY")
REASONS = ("weight on a unit", "no keyphrase in the answer", "no keyphrase in the references", "other")


@dataclass
class Arguments(Output):
    """What is measured on what."""

    judgments: str = option("folder of the judgments, see evaluate_kpqa.py")
    name: str = option("name of the file; the paper's is MS MARCO", "kpqa_marco")
    metric: str = option("metric; the paper's is BERTScore-KPQA", "bertscore_kpqa")
    count: int = option("number of cases", 100)
    checkpoint: str | None = option("predictor; the bundled one by default", None)
    cases: str | None = option("JSON lines that the cases are written to, to be read", None)


def figure_4_type(question: str) -> str:
    """Return MS MARCO's type of a question; it has no yes/no questions and no others, they are descriptions.

    >>> figure_4_type("is he alone?")
    'DESCRIPTION'
    """
    result = question_type(question)
    return result if result in FIGURE_4 else "DESCRIPTION"


def largest_gaps(scores, human, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the rows with the largest gaps, largest first, and all gaps, above 0 for a high metric.

    >>> places, gaps = largest_gaps([0.1, 0.2, 0.9, 0.4], [0.9, 0.1, 0.8, 0.7], 1)
    >>> places.tolist(), gaps.tolist()
    ([0], [-3.0, 1.0, 1.0, 1.0])
    """
    gaps = rankdata(scores) - rankdata(human)
    return np.argsort(-np.abs(gaps), kind="stable")[:count], gaps


def reason(answer: list[list], references: list[list[list]]) -> str:
    """Return which of `REASONS` the weights of a row show, each text as a list of [piece, weight, start, end].

    A word right behind a number that weighs `HEAVY` is a weight on a unit; a keyphrase is a piece that weighs as much.

    >>> reason([["5", 0.9, 0, 1], ["million", 0.6, 2, 9]], [[["6", 0.9, 0, 1]]])
    'weight on a unit'
    """
    for pieces in (answer, *references):
        for before, piece in pairwise(pieces):
            if NUMBER.search(before[0]) and piece[1] >= HEAVY and piece[0].isalpha() and not NUMBER.search(piece[0]):
                return "weight on a unit"
    if not any(weight >= HEAVY for _, weight, *_ in answer):
        return "no keyphrase in the answer"
    if not any(weight >= HEAVY for pieces in references for _, weight, *_ in pieces):
        return "no keyphrase in the references"
    return "other"


def text(result: dict) -> str:
    """Return the counts by type of question."""
    lines = []
    for kind, of_all in result["types"].items():
        own = [(set(key), n) for *key, n in result["counts"] if key[0] == kind]
        sums = [sum(n for key, n in own if name in key) for name in ("too high", "too low", *REASONS)]
        lines.append([kind, of_all, sum(n for _, n in own), *sums])
    (name,) = result["data"]
    header = ["type of question", "all rows", "cases", "too high", "too low", *REASONS]
    return (
        f"The {result['cases']} of {result['rows']} answers with the largest gaps in rank between people and "
        f"{result['metric']} ({name.partition('.')[0]}).\n\n{markdown_table(header, lines)}"
    )


def study(args: Arguments) -> dict:
    """Return how many cases there are by type of question, direction and reason; they are written if asked."""
    from genqa_metrics.kpqa.encoding import Encoder
    from genqa_metrics.kpqa.loading import load_models

    (judged,) = evaluate_kpqa.read_judgments(args.judgments, [args.name]).values()
    rows, human, models = judged.rows, judged.human, load_models(args.checkpoint)
    pairs = evaluate_kpqa.question_text_pairs(rows)
    tokens, offsets = Encoder(models).tokens(pairs)
    scores = evaluate_kpqa.scores_of_tokens(rows, tokens)[args.metric]
    pieces = [
        [[text[a:b], round(float(w), 2), a, b] for w, (a, b) in zip(token.weights, place.tolist(), strict=True)]
        for (_, text), token, place in zip(pairs, tokens, offsets, strict=True)
    ]
    ends = len(rows) + np.cumsum([len(row["references"]) for row in rows])
    places, gaps = largest_gaps(scores, human, args.count)
    cases = [
        {
            "type": figure_4_type(rows[i]["question"]),
            "direction": "too high" if gaps[i] > 0 else "too low",
            "reason": reason(pieces[i], pieces[ends[i] - len(rows[i]["references"]) : ends[i]]),
            "gap": float(gaps[i]),
            "human": round(float(human[i]), 3),
            "metric": round(float(scores[i]), 3),
            "row": {name: rows[i][name] for name in ("question", "references", "candidate")},
            "weights": [" ".join(f"{piece}({weight:.2f})" for piece, weight, *_ in pieces[i])],
        }
        for i in places.tolist()
    ]
    if args.cases:
        Path(args.cases).write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    counts = Counter((case["type"], case["reason"], case["direction"]) for case in cases)
    of_all = Counter(figure_4_type(row["question"]) for row in rows)
    result = {"metric": args.metric, "types": {kind: of_all[kind] for kind in FIGURE_4}}
    result |= {"counts": [[*key, n] for key, n in sorted(counts.items())], "checkpoint": models.signature}
    return result | {"rows": len(rows), "cases": len(cases)} | evaluate_kpqa.facts(args.judgments, [args.name])


STUDY = Study(__spec__.name, Arguments, study, text, {"rank gaps": "rank_gaps"})

if __name__ == "__main__":
    STUDY.main()
