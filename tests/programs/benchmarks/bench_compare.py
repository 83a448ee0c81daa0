"""Speed and memory of comparing systems whose scores are given: reading, resampling, tests of all pairs, report.

    python -m tests.programs.benchmarks.bench_compare --rows 100000 --systems 12 --resamples 10000

The scores are drawn at random; the time is processor time of all threads, so that other work on the machine does not
count, and the memory is the peak of the whole process.
"""

import argparse
import json
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from genqa_metrics.verbs.compare.run import CompareRun

from tests.programs.benchmarks.report import facts


def main() -> None:
    """Write files of scores, compare them, and print what it took as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="questions")
    parser.add_argument("--systems", type=int, default=12)
    parser.add_argument("--resamples", type=int, default=10_000)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    with TemporaryDirectory() as folder:
        paths = []
        for number in range(arguments.systems):
            scores = rng.beta(1 + 0.01 * number, 2, arguments.rows).round(4).tolist()
            rows = ({"id": f"q{row}", "question": f"question {row}?", "f1": f1} for row, f1 in enumerate(scores))
            paths.append(Path(folder) / f"system{number:02d}.jsonl")
            paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
        start = time.process_time()
        run = CompareRun([str(path) for path in paths], score_columns=["f1"], resamples=arguments.resamples)
        report = run.report()
        seconds = time.process_time() - start
    found = {
        **facts([], ["genqa-metrics", "numpy", "scipy", "statsmodels"]),
        "rows": arguments.rows,
        "systems": arguments.systems,
        "pairs": len(report["metrics"]["f1"]["tests"]["f1"]["pairs"]),
        "resamples": arguments.resamples,
        "processor_seconds": round(seconds, 1),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
