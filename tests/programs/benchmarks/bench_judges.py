"""What each judge of AVA needs: processor time to start, memory, and long answers a second of processor time.

    python -m tests.programs.benchmarks.bench_judges --data DATA/written/assistant.dev.jsonl.gz --output FILE

Each judge runs in a process of its own, on one thread, on the same rows, by `genqa_metrics.score` as users call it: to
start is to score one row from nothing, imports included.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

from training.common import command_line, json_rows, markdown_table, write_json
from training.studies.harness import versions

COLUMNS = ("judge", "start, s", "memory, MB", "long answers a second")


def measured(judge: str, data: Path, rows: int) -> dict[str, object]:
    """Return a line of the table, of this process."""
    import genqa_metrics

    answers = [
        {"question": row["question"], "prediction": row["candidate"], "references": row["references"]}
        for row in islice(json_rows(data), rows + 1)
    ]
    genqa_metrics.score(answers[:1], "ava", {"checkpoint": judge})
    start = time.process_time()
    genqa_metrics.score(answers[1:], "ava", {"checkpoint": judge})
    rate = rows / (time.process_time() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    return dict(zip(COLUMNS, (judge, round(start, 1), memory, round(rate, 2)), strict=True))


def main() -> None:
    """Run every judge in a process, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--judges", nargs="+", default=["small", "base", "large"])
    parser.add_argument("--data", type=Path, required=True, help="rows of human verdicts on long answers")
    parser.add_argument("--rows", type=int, default=24)
    parser.add_argument("--judge", help="measure one judge in this process")
    parser.add_argument("--output", type=Path, help="write the result here as JSON")
    args = parser.parse_args()
    if args.judge:
        print(json.dumps(measured(args.judge, args.data, args.rows)))
        return
    table = []
    for judge in args.judges:
        words = ["--judge", judge, "--data", args.data, "--rows", args.rows]
        command = [sys.executable, "-m", __spec__.name, *map(str, words)]
        result = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
        )
        table.append(json.loads(result.stdout.splitlines()[-1]))
    print(markdown_table(COLUMNS, [list(row.values()) for row in table]))
    if args.output:
        facts = {"command": command_line(__spec__.name, sys.argv[1:]), "rows": args.rows}
        write_json(args.output, facts | {"versions": versions("genqa-metrics", "onnxruntime"), "results": table})


if __name__ == "__main__":
    main()
