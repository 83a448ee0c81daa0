"""Rows a second that `genqa-metrics score` does from file to file, and what that makes of 100 million rows.

    python -m tests.programs.benchmarks.bench_scale --data evouna_nq.train.jsonl.gz --rows 4000 \
        --output results/scale.json --table results/sizing.md --core_price 0.04 --gpu_price 3.0

Every metric is run twice on the same rows: one window at a time, which torch spreads over the cores, and a window per
core at once, which is what `score` does. The table takes the second, and multiplies: nobody has run 100 million rows.
Where torch finds a GPU, models are measured on it too.
"""

import argparse
import gzip
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from genqa_metrics.registry import make_scorer
from genqa_metrics.scale import run as scoring_run
from genqa_metrics.scale.pipeline import worker_count
from genqa_metrics.scale.run import Run

from tests.programs.benchmarks.report import facts, write

MANY = 100_000_000
METRICS = ("aev", "kpqa", "ava")
ROUNDS = 200  # copies of the rows that AEv gets, which is so quick that starting up would be measured


def timed(run: Callable[[], object]) -> dict[str, float]:
    """Return the wall and the processor seconds of a call."""
    wall, processor = time.perf_counter(), time.process_time()
    run()
    return {"seconds": time.perf_counter() - wall, "processor_seconds": time.process_time() - processor}


def measured(data: Path, rows: int, metric: str, device: str, workers: Callable) -> dict:
    """Return the rows a second of one way to score, read and written with everything."""
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(scoring_run, "worker_count", workers),
    ):
        settings = {metric: {"device": device}} if metric != "aev" else {}
        run = Run([str(data)], [metric], settings, output=f"{folder}/scores.parquet")
        scorer = run.scorers[metric]
        found = timed(lambda: run.score())
    return {
        "metric": metric,
        "device": device,
        "workers": workers([scorer]),
        "rows": rows,
        "rows_a_second": round(rows / found["seconds"], 1),
        "rows_a_core_second": round(rows / found["processor_seconds"], 1),
        "cores_busy": round(found["processor_seconds"] / found["seconds"], 2),
    }


def copied(data: Path, rows: int, copies: int, path: Path) -> int:
    """Write the first rows of a file, several times; return how many that are."""
    with gzip.open(data, "rt", encoding="utf-8") as lines:
        kept = [line for line, _ in zip(lines, range(rows), strict=False)]
    path.write_text("".join(kept * copies), encoding="utf-8")
    return len(kept) * copies


def sizing(results: list[dict], core_price: float, gpu_price: float, machine: str) -> str:
    """Return the table as Markdown.

    Args:
        results: see `measured`.
        core_price: price of a core for an hour, in dollars.
        gpu_price: price of a GPU for an hour, in dollars.
        machine: what it was measured on.
    """
    lines = [
        f"# Sizing: {MANY:,} rows",
        "",
        "Written by `python -m tests.programs.benchmarks.bench_scale`. "
        "**This is an extrapolation**: the rate was measured on "
        f"{', '.join(sorted({str(result['rows']) for result in results}))} rows from file to file on one machine "
        f"({machine}), and the rest is multiplication, at {core_price:g} dollars for a core and {gpu_price:g} for a "
        "GPU an hour (assumptions: put in yours). Longer texts cost more, and a cluster starts and waits.",
        "",
        f"| metric | on | rows a second | hours for {MANY:,} rows on one | on 64 | dollars |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for metric in METRICS:
        for kind in ("core", "GPU"):
            mine = [r for r in results if r["metric"] == metric and (r["device"] == "cuda") == (kind == "GPU")]
            if not mine and metric != "aev":
                lines.append(f"| {metric} | {kind} | not measured: run the command where there is one | | | |")
            if not mine:
                continue
            rate = mine[-1]["rows_a_second" if kind == "GPU" else "rows_a_core_second"]
            hours = MANY / rate / 3600
            price = hours * (gpu_price if kind == "GPU" else core_price)
            lines.append(f"| {metric} | {kind} | {rate:,.0f} | {hours:,.1f} | {hours / 64:,.1f} | {price:,.0f} |")
    lines += [
        "",
        "On a CPU the rate is rows by processor time: that of a core with nothing else to do. Other work on it "
        "(a load average above its cores) takes caches from it, and the rate is then too low.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="JSON lines with question, candidate and references")
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--metrics", nargs="+", default=METRICS, choices=METRICS)
    parser.add_argument("--core_price", type=float, default=0.04, help="dollars for a core and hour")
    parser.add_argument("--gpu_price", type=float, default=3.0, help="dollars for a GPU and hour")
    parser.add_argument("--output", type=Path, help="write the result here as JSON")
    parser.add_argument("--table", type=Path, help="write the sizing table here as Markdown")
    arguments = parser.parse_args()

    import torch

    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        for metric in arguments.metrics:
            rows = copied(arguments.data, arguments.rows, ROUNDS if metric == "aev" else 1, path)
            ways = [("cpu", lambda scorers: 0), ("cpu", worker_count)]
            if metric != "aev" and torch.cuda.is_available():
                ways += [("cuda", lambda scorers: 0), ("cuda", worker_count)]
            for device, workers in ways[metric == "aev" :]:
                if metric != "aev":
                    make_scorer(metric, {"device": device})  # loading is not measured
                results.append(measured(path, rows, metric, device, workers))
                print(json.dumps(results[-1]), flush=True)
    about = facts([arguments.data], ["genqa-metrics", "torch", "transformers", "tokenizers"])
    machine = f"{about['cpu']}, {os.cpu_count()} cores" + (
        f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    )
    load = round(os.getloadavg()[2])
    machine += f", load average {load}" if load > os.cpu_count() else ""
    write({"results": results, "load_average": load, **about}, arguments.output)
    if arguments.table:
        arguments.table.write_text(sizing(results, arguments.core_price, arguments.gpu_price, machine), "utf-8")


if __name__ == "__main__":
    main()
