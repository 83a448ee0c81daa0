"""Count what a judge of the paper learns from and is measured on: Table 2 of Vu & Moschitti (2021).

    python -m training.studies.ava_configurations.data_statistics --as2 AS2 --write tables.md

For every answer-sentence corpus: its questions and answers, how many of them are left where a judge needs two correct
answers of a question, and the triples AVA-Pos and AVA-Neg that they make.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

from genqa_metrics.core.checkpoint_validation import file_digest

from training.ava import triples as t
from training.common import local_file, markdown_table, put_between_markers
from training.studies.harness import Table

CORPORA = tuple(f"{corpus}.{part}" for corpus in ("wikiqa", "trecqa") for part in ("train", "dev", "test"))


def statistics(rows: list[dict]) -> dict[str, float]:
    """Return the counts of an answer-sentence corpus.

    Args:
        rows: `question`, `answer` and `label` 0 or 1.

    Returns:
        Questions, answers, correct answers; questions with two or more correct answers and how many
        each has on average; AVA-Pos, AVA-Neg, and the share of AVA-Pos that the question with the most has.
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


def main() -> None:
    """Read, count, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--as2", type=Path, required=True, help="folder of the answer-sentence selection files")
    parser.add_argument("--corpora", nargs="+", default=CORPORA, help="files, or names on the Hub")
    parser.add_argument("--write", type=Path, help="Markdown file with <!-- data --> marks to write the table into")
    parser.add_argument("--json", type=Path, help="result file")
    args = parser.parse_args()
    found = {name: statistics(t.as2_rows(name, args.as2)) for name in args.corpora}
    text = table(found)
    print(text)
    if args.json:
        files = [path for name in args.corpora if (path := local_file(name, args.as2))]
        content = {
            "command": "python -m training.studies.ava_configurations.data_statistics --as2 AS2",
            "corpora": found,
        }
        content["digests"] = {path.name: file_digest(path) for path in files}
        args.json.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if args.write:
        put_between_markers(args.write, "data", text)


TABLES = [
    Table("data", "studies/ava_configurations/results/data", lambda r: table(r["corpora"])),
]


if __name__ == "__main__":
    main()
