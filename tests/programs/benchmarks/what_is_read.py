"""What the judge reads of some rows, and what is spared or lost on the way: what less arithmetic could still gain.

    python -m tests.programs.benchmarks.what_is_read --data DATA \
        --write tests/programs/benchmarks/results/benchmarks.md

DATA holds judgments/ and written/. Word pieces are counted; shares of time are of the processor time in 8-bit
integers, where the encoder is quickest and all else weighs most.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge

from tests.programs.benchmarks.bench_fast import AVA_DATA, ENOUGH, dev_file
from tests.programs.benchmarks.contestants import exported, read
from tests.programs.benchmarks.report import facts, table
from training.common import around_markers, put_between_markers

MARKER = "what is read"
HEADER = ["", "rows", "references a row", "settled by rule", "word pieces a row", "joined", f"enough {ENOUGH}"]
HEADER += ["padding", "time outside the encoder"]


class Counting(Judge):
    """A judge that counts the pairs and word pieces that it reads, and the seconds in its model and altogether."""

    def __init__(self, loaded):
        super().__init__(loaded)
        self.asked = self.pieces = self.cells = 0
        self.inside = self.whole = 0.0

    def logits(self, triples):
        self.asked += len(triples)
        return super().logits(triples)

    def _run(self, inputs: list[dict[str, np.ndarray]]) -> np.ndarray:
        self.pieces += int(inputs[0]["attention_mask"].sum())
        self.cells += inputs[0]["attention_mask"].size
        start = time.process_time()
        values = super()._run(inputs)
        self.inside += time.process_time() - start
        return values

    def judged(self, rows: list[dict], how: str, early_stop: float | None = None) -> int:
        """Judge rows, and return how many pairs of a row and a reference there were."""
        columns = [[row[column] for row in rows] for column in ("question", "references", "candidate")]
        start = time.process_time()
        self.probabilities(*columns, how, early_stop=early_stop)
        self.whole += time.process_time() - start
        return sum(len(set(row["references"])) for row in rows)


def measured(rows: list[dict], loaded) -> list:
    """Return the row of the table of one set, without its name."""
    ways = {"max": ("max", None), "joined": ("joined", None), "early_stop": ("max", ENOUGH)}
    found, pairs = {}, 0
    for way, (how, early_stop) in ways.items():
        judge = found[way] = Counting(loaded)
        pairs = judge.judged(rows, how, early_stop)
    plain = found["max"]
    return [
        len(rows),
        f"{pairs / len(rows):.1f}",
        f"{1 - plain.asked / pairs:.1%}",
        f"{plain.pieces / len(rows):.0f}",
        *(f"{found[way].pieces / plain.pieces:.0%}" for way in ("joined", "early_stop")),
        f"{1 - plain.pieces / plain.cells:.1%}",
        f"{1 - plain.inside / plain.whole:.1%}",
    ]


def main() -> None:
    """Count, and write or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with judgments/ and written/")
    parser.add_argument("--rows", type=int, default=200, help="rows of a set at most")
    parser.add_argument("--write", type=Path, metavar="PAGE.md", help=f"write the table between its lines {MARKER}")
    arguments = parser.parse_args()
    if arguments.write:
        around_markers(arguments.write, MARKER)
    files = {name: dev_file(arguments.data, name) for name in AVA_DATA}
    with TemporaryDirectory() as folder:
        loaded = load_judge(checkpoint=exported(Path(folder))["ava"], backend="onnx")
        lines = [[name, *measured(read(path, arguments.rows), loaded)] for name, path in files.items()]
    known = facts(list(files.values()), ["onnxruntime"])
    about = f"Written by `{known['command']}`, onnxruntime {known['versions']['onnxruntime']}."
    text = "\n".join([about, "", *table(HEADER, lines)])
    print(text)
    if arguments.write:
        put_between_markers(arguments.write, MARKER, text)


if __name__ == "__main__":
    main()
