"""Kills actors and nodes of a Ray cluster at random moments, and counts the rows that are lost or doubled.

    python -m tests.programs.benchmarks.ray_kills --kills 20 --write tests/programs/benchmarks/results/benchmarks.md

The cluster has a head and two nodes, all on this machine (`ray.cluster_utils`). Files of made rows are scored over and
over, on purpose slowly, until so many processes have been killed: either an actor that scores, or a whole node, for
which another one comes. Every run must give the rows and the scores of a local run.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import ray
from genqa_metrics.scale.ray_run import RayRun
from genqa_metrics.scale.run import Run
from ray.cluster_utils import Cluster

from tests.factories.files import made_rows, save
from tests.programs.benchmarks.report import facts, table
from training.common import around_markers, put_between_markers

MARKER = "killed at random"
FILES = 4
STORE = 200 * 2**20
METRICS = {"metrics": ["aev", "f_meta"], "columns": {"references": "references"}}


def exact(predictions: list[str], references: list[str]) -> list[float]:
    """Return 1 for every prediction that is its reference, else 0."""
    return [float(p == r) for p, r in zip(predictions, references, strict=True)]


def slow(pids: Path, seconds: float):
    """Return `exact`, which takes so many seconds a row and leaves the number of its process in a folder."""

    def base(predictions, references):
        (pids / str(os.getpid())).touch()
        time.sleep(seconds * len(predictions))
        return exact(predictions, references)

    return base


def patiently(start: Callable[[], object]) -> object:
    """Return what a call returns, at its fifth attempt at the latest: Ray gives a node 30 seconds to start."""
    for _ in range(4):
        try:
            return start()
        except Exception as error:  # Ray raises a bare one
            print(f"once more: {error!s:.80}", file=sys.stderr, flush=True)
    return start()


def kill_while(
    running: Future, cluster: Cluster, nodes: list, pids: Path, source: random.Random, kills: int, pause: float
) -> list[str]:
    """Kill something every few seconds while a run lasts; return "actor" or "node" for every kill.

    Args:
        running: the run, which is in another thread: only the main one may start a node.
        cluster: the cluster; has a head and nodes.
        nodes: the nodes; one that is killed is replaced, in this list too.
        pids: folder with a file for every process that scores.
        source: of random numbers.
        kills: so many at most.
        pause: seconds between two at most.
    """
    killed: list[str] = []
    while len(killed) < kills:
        wait([running], source.uniform(1, pause))
        if running.done():
            break
        kind = source.choice(["actor", "node"])
        if kind == "node":
            number = source.randrange(len(nodes))
            cluster.remove_node(nodes[number], allow_graceful=False)
            nodes[number] = patiently(partial(cluster.add_node, num_cpus=1, object_store_memory=STORE))
        else:
            alive = [path for path in pids.iterdir() if Path("/proc", path.name).exists()]
            if not alive:
                continue
            os.kill(int(source.choice(alive).name), signal.SIGKILL)
        killed.append(kind)
    return killed


def scored(path: Path) -> dict[tuple, dict]:
    """Return the rows of Parquet files by file and line, and fail if one is there twice."""
    rows = pq.read_table(path).to_pylist()
    found = {(row["file"], row["line"]): row for row in rows}
    if len(found) < len(rows):
        raise SystemExit(f"{path}: {len(rows) - len(found)} rows are there twice")
    return found


def largest_difference(found: dict, expected: dict) -> float:
    """Return the largest difference of two runs' numbers; fail if one has a row that the other has not."""
    if found.keys() != expected.keys():
        raise SystemExit(f"{len(expected.keys() ^ found.keys())} rows are in one run only")
    return max(
        abs(value - found[place][name])
        for place, row in expected.items()
        for name, value in row.items()
        if isinstance(value, float)
    )


def page(runs: list[dict], rows: int) -> str:
    """Return the runs as Markdown."""
    known = facts([], ["ray"])
    body = [
        [
            run["run"],
            run["seconds"],
            run["killed"].count("actor"),
            run["killed"].count("node"),
            f"{run['rows']:,}",
            f"{run['largest_difference']:g}",
        ]
        for run in runs
    ]
    header = ["run", "seconds", "actors killed", "nodes killed", "rows written", "largest difference to a local run"]
    text = f"Written by `{known['command']}`: {rows:,} rows a run, ray {known['versions']['ray']}."
    return "\n".join([text, "", *table(header, body)])


def main() -> None:
    """Run until enough has been killed, and print a line a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rows", type=int, default=24_000, help="rows of a run")
    parser.add_argument("--seconds", type=float, default=0.002, help="time that scoring a row takes at least")
    parser.add_argument(
        "--pause", type=float, default=6, help="seconds between two kills at most; a busy machine needs more"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, metavar="PAGE.md", help=f"put a table between its lines {MARKER}")
    arguments = parser.parse_args()
    if arguments.write:
        around_markers(arguments.write, MARKER)

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "180"}
    source, killed, every = random.Random(arguments.seed), 0, arguments.rows // FILES
    runs: list[dict] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [str(save(folder / f"{i}.jsonl", made_rows(every, i * every))) for i in range(FILES)]
        local = Run(files, output=str(folder / "local.parquet"), settings={"f_meta": {"base": exact}}, **METRICS)
        expected_scores, expected = local.score().scores, scored(folder / "local.parquet")
        head = {"num_cpus": 0, "object_store_memory": STORE}
        cluster = patiently(partial(Cluster, initialize_head=True, head_node_args=head))
        add_node = partial(cluster.add_node, num_cpus=1, object_store_memory=STORE)
        nodes = [patiently(add_node) for _ in range(2)]
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        while killed < arguments.kills:
            number = len(runs) + 1
            pids = folder / f"pids{number}"
            pids.mkdir()
            start, output = time.monotonic(), folder / f"run{number}"
            settings = {"f_meta": {"base": slow(pids, arguments.seconds)}}
            run = RayRun(files, output=f"{output}/", settings=settings, part_rows=3000, **METRICS)
            with ThreadPoolExecutor(1) as thread:
                running, left = thread.submit(run.score), arguments.kills - killed
                hit = kill_while(running, cluster, nodes, pids, source, left, arguments.pause)
                report = running.result()
            seconds = round(time.monotonic() - start)
            killed += len(hit)
            found = scored(output)
            totals = [
                abs(value - report.scores[metric][system][score])
                for metric, systems in expected_scores.items()
                for system, scores in systems.items()
                for score, value in scores.items()
            ]
            line = {"run": number, "seconds": seconds, "rows": len(found), "killed": " ".join(hit)}
            line |= {"largest_difference": max(largest_difference(found, expected), *totals)}
            print(json.dumps(line), flush=True)
            runs.append(line)
        ray.shutdown()
        cluster.shutdown()
    if arguments.write:
        put_between_markers(arguments.write, MARKER, page(runs, len(expected)))
    print(f"{killed} kills in {len(runs)} runs of {len(expected):,} rows: none lost, none doubled")


if __name__ == "__main__":
    main()
