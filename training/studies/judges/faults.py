"""How often the fault that `metrics/ava/faults.py` names is the one that a wrong answer was written with.

    python -m training.studies.judges.faults --rows written.train.jsonl.gz written.dev.jsonl.gz

The files are those of answers written to fool judges, whose `extra.kind` says what each does. Rules are chosen on the
training rows.
"""

import argparse
import hashlib
from collections import Counter
from pathlib import Path

from genqa_metrics.ava.faults import DECLINES, ORDER, PART, VALUE, fault

from training.common import json_rows, markdown_table

KINDS = {
    VALUE: {"number", "time", "contradiction", "flooded"},
    ORDER: {"order", "roles", "cause"},
    PART: {"partial"},
    DECLINES: {"refusal"},
}


def counts(path: Path) -> list[list[str]]:
    """Return one line for each fault: its name, how often it was named, and how often rightly."""
    wrong = [row for row in json_rows(path) if row["label"] == 0]
    named = Counter(
        (fault(row["question"], row["references"], row["candidate"]), row["extra"]["kind"]) for row in wrong
    )
    lines = []
    for name, kinds in KINDS.items():
        of_name = {kind: count for (found, kind), count in named.items() if found == name}
        rightly = sum(of_name.get(kind, 0) for kind in kinds)
        lines.append([f"{path.name}, {len(wrong):,} wrong", name, str(sum(of_name.values())), str(rightly)])
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", nargs="+", type=Path, required=True, help="files of written answers")
    paths = parser.parse_args().rows
    print(markdown_table(["rows", "fault", "named", "rightly"], [line for path in paths for line in counts(path)]))
    print(*(f"{path.name}: SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in paths), sep="\n")


if __name__ == "__main__":
    main()
