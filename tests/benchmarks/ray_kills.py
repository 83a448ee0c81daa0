"""Kills actors and nodes of a Ray cluster at random moments, and counts the rows that are lost or doubled.

    python -m tests.benchmarks.ray_kills --kills 20

The cluster has a head and two nodes, all on this machine (`ray.cluster_utils`). Files of made rows are scored over and
over, on purpose slowly, until so many processes have been killed: either an actor that scores, or a whole node, for
which another one comes. Every run must give the rows and the scores of a local run.
"""

import argparse
import json
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq
import ray
from genqa_metrics.toolkit.scoring.ray_run import RayRun
from genqa_metrics.toolkit.scoring.run import Run
from ray.cluster_utils import Cluster

from tests.factories.files import made_rows, save

FILES = 4
METRICS = {"metrics": ["aev", "f_meta"], "columns": {"references": "references"}}


def exact(predictions: list[str], references: list[str]) -> list[float]:
    """Return 1 for every prediction that is its reference, else 0."""
    return [float(p == r) for p, r in zip(predictions, references, strict=True)]


def slow(pids: Path, seconds: float):
    """Return `exact`, which takes so many seconds a row and leaves the number of its process in a folder."""

    def base(predictions, references):
        (pids / str(os.getpid())).touch()
        time.sleep(seconds * len(predictions))
        return [float(p == r) for p, r in zip(predictions, references, strict=True)]

    return base


class Killer(threading.Thread):
    """Kills something every few seconds until it is stopped.

    Args:
        cluster: the cluster; has a head and nodes.
        nodes: the nodes, which are replaced in the list when they are killed.
        pids: folder with a file for every process that scores.
        source: of random numbers.
        most: kills at most.

    Attributes:
        killed: "actor" or "node" for every kill.
    """

    def __init__(self, cluster: Cluster, nodes: list, pids: Path, source: random.Random, most: int):
        super().__init__(daemon=True)
        self.cluster, self.nodes, self.pids, self.source, self.most = cluster, nodes, pids, source, most
        self.killed: list[str] = []
        self.done = threading.Event()

    def run(self) -> None:
        """Kill, wait, and kill again."""
        while len(self.killed) < self.most and not self.done.wait(self.source.uniform(1, 6)):
            kind = self.source.choice(["actor", "node"])
            if kind == "node":
                number = self.source.randrange(len(self.nodes))
                self.cluster.remove_node(self.nodes[number], allow_graceful=False)
                self.nodes[number] = self.cluster.add_node(num_cpus=1)
            elif not self._kill_an_actor():
                continue
            self.killed.append(kind)

    def _kill_an_actor(self) -> bool:
        alive = [path for path in self.pids.iterdir() if Path("/proc", path.name).exists()]
        if not alive:
            return False
        os.kill(int(self.source.choice(alive).name), signal.SIGKILL)
        return True


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


def main() -> None:
    """Run until enough has been killed, and print a line a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rows", type=int, default=24_000, help="rows of a run")
    parser.add_argument("--seconds", type=float, default=0.002, help="time that scoring a row takes at least")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    source, killed, every = random.Random(arguments.seed), 0, arguments.rows // FILES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [str(save(folder / f"{i}.jsonl", made_rows(every, i * every))) for i in range(FILES)]
        local = Run(files, output=str(folder / "local.parquet"), settings={"f_meta": {"base": exact}}, **METRICS)
        expected_scores, expected = local.score().scores, scored(folder / "local.parquet")
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 200 * 2**20})
        nodes = [cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20) for _ in range(2)]
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        number = 0
        while killed < arguments.kills:
            number += 1
            pids = folder / f"pids{number}"
            pids.mkdir()
            killer = Killer(cluster, nodes, pids, source, arguments.kills - killed)
            killer.start()
            start, output = time.monotonic(), folder / f"run{number}"
            settings = {"f_meta": {"base": slow(pids, arguments.seconds)}}
            report = RayRun(files, output=f"{output}/", settings=settings, part_rows=3000, **METRICS).score()
            seconds = round(time.monotonic() - start)
            killer.done.set()
            killer.join()
            killed += len(killer.killed)
            found = scored(output)
            totals = [
                abs(value - report.scores[metric][system][score])
                for metric, systems in expected_scores.items()
                for system, scores in systems.items()
                for score, value in scores.items()
            ]
            line = {"run": number, "seconds": seconds, "rows": len(found), "killed": " ".join(killer.killed)}
            line |= {"largest_difference": max(largest_difference(found, expected), *totals)}
            print(json.dumps(line), flush=True)
        ray.shutdown()
        cluster.shutdown()
    print(f"{killed} kills in {number} runs of {len(expected):,} rows: none lost, none doubled")


if __name__ == "__main__":
    main()
