"""Count what a judge of the paper learns from and is measured on: Table 2 of Vu & Moschitti (2021).

For every answer-sentence corpus: its questions and answers, how many of them are left where a judge needs two correct
answers of a question, and the triples AVA-Pos and AVA-Neg that they make.
"""

import random
from collections import Counter, defaultdict
from dataclasses import dataclass

from training.ava import triples as t
from training.common import markdown_table, option
from training.studies.harness import Output, Study, digests

CORPORA = tuple(f"{corpus}.{part}" for corpus in ("wikiqa", "trecqa") for part in ("train", "dev", "test"))


def statistics(rows: list[dict]) -> dict[str, float]:
    """Return the counts of an answer-sentence corpus.

    Output are questions with two or more correct answers; the largest share is that of one question in AVA-Pos.
    """
    correct = defaultdict(set)
    for row in rows:
        if int(row["label"]):
            correct[row["question"]].add(row["answer"])
    kept = {question for question, answers in correct.items() if len(answers) > 1}
    triples = list(t.as2_triples(rows, None, random.Random(0)))
    positive = Counter(triple.question for triple in triples if triple.label)
    return {
        "questions": len({row["question"] for row in rows}),
        "answers": len(rows),
        "correct": sum(int(row["label"]) for row in rows),
        "kept questions": len(kept),
        "correct of each": sum(len(correct[question]) for question in kept) / max(1, len(kept)),
        "AVA-Pos": sum(positive.values()),
        "AVA-Neg": len(triples) - sum(positive.values()),
        "largest share": max(positive.values(), default=0) / max(1, sum(positive.values())),
    }


def table(found: dict[str, dict]) -> str:
    """Return the counts of all corpora as Markdown."""
    rows = [
        [corpus, *(f"{value:,}" if isinstance(value, int) else f"{value:.2f}" for value in own.values())]
        for corpus, own in found.items()
    ]
    return markdown_table(["", *next(iter(found.values()))], rows)


@dataclass
class Arguments(Output):
    """What is counted."""

    as2: str = option("folder of the answer-sentence selection files")
    corpora: list[str] = option("files, or names on the Hub", list(CORPORA))


def study(args: Arguments) -> dict:
    """Return the counts of all corpora."""
    values = {name: statistics(t.as2_rows(name, args.as2)) for name in args.corpora}
    return {"corpora": values, "data": digests(args.corpora, args.as2)}


STUDY = Study(__spec__.name, Arguments, study, lambda r: table(r["corpora"]), {"data": "data"})

if __name__ == "__main__":
    STUDY.main()
