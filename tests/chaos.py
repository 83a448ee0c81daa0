"""Chaos: `score --resume` is killed, runs into a full disk, gets a changed input and a competing run; nothing is lost.

`python -m tests.chaos` runs the full size, 1,000,000 rows of aev and 50,000 of ava; `tests/test_chaos.py` a small one.
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.factories.files import contents, lines, made_rows

CODE = "from genqa_metrics.toolkit.cli import main; main()"


def started(path: Path, folder: Path, metric: str, part_rows: int, limit: int | None = None) -> subprocess.Popen:
    """Start a run that resumes; `limit` is the size in bytes from which a file cannot grow, as on a full disk."""
    command = [sys.executable, "-c", CODE, "score", path, "-m", metric, "-o", f"{folder}/"]
    command += ["--part-rows", part_rows, "--resume"]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [*map(str, command)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited if limit else None,
    )


def finished(process: subprocess.Popen) -> tuple[int, str]:
    """Return exit status and messages of a run."""
    said = process.communicate()[1]
    return process.returncode, said


def attacked(work: Path, metric: str, rows: int, part_rows: int, kills: int, seed: int = 0) -> dict[str, object]:
    """Attack runs of one metric, and compare what they leave with an undisturbed run.

    Args:
        work: an empty folder.
        metric: its name.
        rows: rows of the input.
        part_rows: rows of a part.
        kills: number of times that a run is killed.
        seed: of the rows and the times.

    Returns:
        "rows", "parts", "killed" (runs that were alive when they were killed), "seconds".

    Raises:
        AssertionError: if a part was lost, doubled or changed, or an error was silent.
    """
    began, draw = time.monotonic(), random.Random(seed)
    path, whole, folder = work / "rows.jsonl", work / "whole", work / "parts"
    path.write_text(lines(made_rows(rows)), encoding="utf-8")
    assert finished(started(path, whole, metric, part_rows))[0] == 0
    expected = contents(whole)
    parts = [name for name in expected if name.startswith("part-")]

    largest = max(len(expected[name]) for name in parts)
    status, said = finished(started(path, folder, metric, part_rows, largest // 2))
    assert status == 1, f"a full disk ends with {status}: {said}"
    assert "Traceback" not in said, said

    killed = 0
    for kill in range(kills):
        process, wanted = started(path, folder, metric, part_rows), (kill + 1) * len(parts) // (kills + 1)
        while process.poll() is None and len(list(folder.glob("part-*"))) < wanted:
            time.sleep(0.001)
        time.sleep(draw.uniform(0, 0.02))
        killed += process.poll() is None
        process.kill()
        finished(process)
        left = {name: content for name, content in contents(folder).items() if name.startswith("part-")}
        assert left.items() <= expected.items(), "a part is not whole"

    original = path.read_bytes()
    path.write_bytes(original.replace(b"a", b"b", 1))
    status, said = finished(started(path, folder, metric, part_rows))
    assert status in (1, 2), f"a changed input ends with {status}"
    assert "Traceback" not in said, said
    path.write_bytes(original)

    for process in [started(path, folder, metric, part_rows) for _ in range(2)]:
        status, said = finished(process)
        assert status in (0, 1, 2), said
        assert "Traceback" not in said, said
    status, said = finished(started(path, folder, metric, part_rows))
    assert status == 0, said
    assert contents(folder) == expected, "files are lost, doubled or changed"
    return {"rows": rows, "parts": len(parts), "killed": killed, "seconds": round(time.monotonic() - began)}


def main(argv: Sequence[str] | None = None) -> None:
    """Attack both metrics; print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aev_rows", type=int, default=1_000_000, help="rows of aev")
    parser.add_argument("--ava_rows", type=int, default=50_000, help="rows of ava")
    parser.add_argument("--kills", type=int, default=20, help="times that a run is killed")
    args = parser.parse_args(argv)
    print("| metric | rows | parts | killed | seconds |\n|---|---:|---:|---:|---:|")
    for metric, rows in (("aev", args.aev_rows), ("ava", args.ava_rows)):
        with tempfile.TemporaryDirectory() as work:
            found = attacked(Path(work), metric, rows, max(1, rows // 100), args.kills)
        print(
            f"| {metric} | {found['rows']:,} | {found['parts']} | {found['killed']} | {found['seconds']} |", flush=True
        )


if __name__ == "__main__":
    main()
