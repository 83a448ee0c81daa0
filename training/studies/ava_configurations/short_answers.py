"""Add short answers to answer-sentence corpora: the linear judge of Vu & Moschitti (2021, section 4.1) reads them.

The short answer of a sentence is its span in the files of extractive QA that mark answers in the same sentences. The
files written have one column more, `short_answer`, in correct answers, and are read as those of `--as2` are.
"""

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from genqa_metrics.core.judge_reading import linear_features

from training.ava.triples import as2_rows, as2_triples, detokenized
from training.common import json_rows, local_file, option, parsed, write_rows

SPANS = {"trecqa": "trecqa", "wikiqa": "wikiqa_ans"}  # corpus -> files of its spans
PARTS = ("train", "dev", "test")


def letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, which are the same however it was tokenised.

    >>> letters("The IRON LADY -LRB- 1989 -RRB- .")
    'theironlady1989'
    """
    return re.sub(r"[\W_]+", "", detokenized(text).lower())


def with_short_answers(rows: Iterable[dict], spans: Iterable[dict]) -> list[dict]:
    """Return the rows of an answer-sentence corpus, correct answers with their `short_answer` where one is known."""
    known = {(letters(s["question"]), letters(s["context"])): s["answers"]["text"][0] for s in spans}
    result = []
    for row in rows:
        short = known.get((letters(row["question"]), letters(row["answer"]))) if int(row["label"]) else None
        result.append(row | ({"short_answer": detokenized(short)} if short else {}))
    return result


def shares_included(rows: Iterable[dict]) -> list[float]:
    """Return how often the short answer stands in the candidates of all triples: incorrect ones, correct ones."""
    values: list[list[float]] = [[], []]
    for row in as2_triples(rows, None, random.Random(0)):
        features = linear_features(row.question, row.references[0], row.candidate, row.short_answer)
        values[int(row.label)].append(features[0])
    return [sum(own) / max(1, len(own)) for own in values]


@dataclass
class Arguments:
    """What is read and written."""

    as2: str = option("folder of the answer-sentence selection files")
    spans: str = option("folder of the extractive QA files")
    output: str = option("folder for the files with short answers")


def main() -> None:
    """Read both kinds of files, write the corpora with short answers, print how many have one and what it tells."""
    args = parsed(Arguments)
    sources = {f"{corpus}.{part}": f"{spans}.{part}" for corpus, spans in SPANS.items() for part in PARTS}
    files = {name: local_file(source, args.spans) for name, source in sources.items()}
    if missing := [sources[name] for name, path in files.items() if path is None]:
        raise ValueError(f"--spans: no {missing[0]}.jsonl.gz or {missing[0]}.jsonl in {args.spans}")
    for name, path in files.items():
        rows = with_short_answers(as2_rows(name, args.as2, plain=False), json_rows(path))
        write_rows(Path(args.output, f"{name}.jsonl.gz"), rows)
        correct, short = sum(int(row["label"]) for row in rows), sum("short_answer" in row for row in rows)
        incorrectly, correctly = shares_included(as2_rows(name, args.output))
        print(
            f"{name}: {short} of {correct} correct answers have a short answer; that of the reference stands in "
            f"{correctly:.1%} of the correct candidates and {incorrectly:.1%} of the incorrect ones",
            flush=True,
        )


if __name__ == "__main__":
    main()
