"""How often a rule for quantities would be right, beside the judge: a rule that was tried and is not in the metric.

The rule calls a claim unsupported if a sentence of the passage has the same kind of quantity (for a bare number also
the same noun) with another value, shares most other words with the claim, and no passage has the claim's value. Its
precision is the share of such claims that people do not call supported. No model is needed.
"""

import argparse
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from genqa_metrics.ava.amounts import Amount, amounts, clean, readable
from genqa_metrics.ava.quantity_guard import same
from genqa_metrics.grounding.sentences import sentence_spans
from genqa_metrics.grounding.windows import content_keys

from training.common import json_rows, markdown_table
from training.grounding.evaluate_grounding import JUDGED, PAIRS, SUPPORTED

SHARES = (0.5, 0.7, 0.85)  # of the words of the claim that a sentence of the passage must have
KINDS = ("date", "count", "measure")
TRAINING = ("fool_me_twice.train", "climate_fever.train", "wikifactcheck.train", "summedits.train")
_NOUN = re.compile(r"(?i)[ -]?([a-z]{3})")
_RANGE = re.compile(r"\d\s?[-–—/]\s?\d|\d [.,] \d")  # two numbers that are read as one, or one as two
_RELATION = re.compile(  # another value may be right
    r"(?i)\b(?:not|never|no|before|after|ago|than|over|under|about|per|every|each|more|less|until)\b"
)


def quantity_conflicts(claim: str, passage: str) -> Iterator[tuple[str, float]]:
    """Yield the kind of a quantity of a claim that a sentence of a passage contradicts, and the share of its words.

    >>> list(quantity_conflicts("The parcel weighs 2.1 kg.", "Packed, the parcel weighs 1.2 kg."))
    [('measure', 1.0)]
    >>> list(quantity_conflicts("The parcel weighs 2.1 kg.", "The parcel weighs 1.2 kg, with its box 2.1 kg."))
    []
    """
    claim = clean(claim)
    if not readable(claim) or _RANGE.search(claim) or _RELATION.search(claim):
        return
    found = [(clean(passage[start:end]), amounts(clean(passage[start:end]))) for start, end in sentence_spans(passage)]
    known = [amount for _, each in found for amount in each]
    words = {key for key in content_keys(claim) if not key[:1].isdigit()}
    for amount in amounts(claim):
        if amount.named or any(same(amount, other, loose=True) for other in known):
            continue
        for text, others in found:
            rivals = [other for other in others if _comparable(claim, amount, text, other)]
            if len(rivals) == 1 and readable(text) and not _RANGE.search(text) and not _RELATION.search(text):
                kind = amount.kind if amount.kind in ("date", "count") else "measure"
                yield kind, len(words & content_keys(text)) / max(len(words), 1)


def _comparable(claim: str, amount: Amount, text: str, other: Amount) -> bool:
    if amount.kind != other.kind or other.named or amount.kind == "clock":
        return False
    nouns = [_NOUN.match(text, each.end) for text, each in ((claim, amount), (text, other))]
    return amount.kind != "count" or (all(nouns) and nouns[0][1].lower() == nouns[1][1].lower())


def rows_of(data: Path, name: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the claims of a file of `grounding` or `sentence_pairs`: claim, passage, and whether it is supported."""
    judged = data / "grounding" / f"{name}.jsonl.gz"
    if judged.exists():
        yield from ((row["candidate"], row["context"], bool(row["label"])) for row in json_rows(judged))
        return
    for row in json_rows(data / "sentence_pairs" / f"{name}.jsonl.gz"):
        if row["label"]:
            yield row["second"], row["first"], row["label"] in SUPPORTED


def main() -> None:
    """Print a table: for each file, kind and share of words, right of all claims on which the rule speaks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with grounding and sentence_pairs")
    data = parser.parse_args().data
    names = [*JUDGED, *PAIRS, *(name.replace(".dev", ".train") for name in JUDGED), *TRAINING]
    header = ["file", "rows", *(f"{kind}, {share:.2f}" for kind, share in product(KINDS, SHARES))]
    table, total = [], dict.fromkeys(product(KINDS, SHARES), (0, 0))
    for name in names:
        counts, rows = dict.fromkeys(total, (0, 0)), 0
        for claim, passage, supported in rows_of(data, name):
            rows += 1
            found = list(quantity_conflicts(claim, passage))
            for kind, share in counts:
                if any(kind == each and share <= words for each, words in found):
                    right, spoken = counts[kind, share]
                    counts[kind, share] = right + (not supported), spoken + 1
        total = {key: (total[key][0] + right, total[key][1] + spoken) for key, (right, spoken) in counts.items()}
        table.append([name, f"{rows:,}", *(f"{right} of {spoken}" for right, spoken in counts.values())])
    table.append(["all", "", *(f"{right} of {spoken}" for right, spoken in total.values())])
    print(markdown_table(header, table))


if __name__ == "__main__":
    main()
