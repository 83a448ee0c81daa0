"""How often the fault that `metrics/ava/faults.py` names is the one that a wrong answer was written with.

    python -m training.studies.judges.faults --rows written.train.jsonl.gz written.dev.jsonl.gz

`extra.kind` of these answers, written to fool judges, says what each does. Rules are chosen on the training rows.
"""

import argparse
from collections import defaultdict
from pathlib import Path

from genqa_metrics.ava.faults import DECLINES, ORDER, PART, VALUE, fault
from genqa_metrics.core.checkpoints import file_digest

from training.common import json_rows, markdown_table

KINDS = {
    VALUE: {"number", "time", "contradiction", "flooded"},
    ORDER: {"order", "roles", "cause"},
    PART: {"partial"},
    DECLINES: {"refusal"},
}


def counts(path: Path) -> list[list]:
    """Return one line for each fault: its name, how often it was named, and how often rightly."""
    wrong = [row for row in json_rows(path) if row["label"] == 0]
    kinds_of = defaultdict(list)
    for row in wrong:
        kinds_of[fault(row["question"], row["references"], row["candidate"])].append(row["extra"]["kind"])
    return [
        [
            f"{path.name}, {len(wrong):,} wrong",
            name,
            len(kinds_of[name]),
            sum(kind in kinds for kind in kinds_of[name]),
        ]
        for name, kinds in KINDS.items()
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", nargs="+", type=Path, required=True, help="files of written answers")
    paths = parser.parse_args().rows
    print(markdown_table(["rows", "fault", "named", "rightly"], [line for path in paths for line in counts(path)]))
    print(*(f"{path.name}: SHA-256 {file_digest(path)}" for path in paths), sep="\n")


if __name__ == "__main__":
    main()
