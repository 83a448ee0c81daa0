"""Chaos: `score --resume` is killed, fills its disk, gets a changed input and a competing run; nothing is lost.

`python -m tests.chaos` runs the full size, 1,000,000 rows of aev and 50,000 of ava; `tests/test_chaos.py` a small one.
It needs Linux with user namespaces, for a small disk of its own: a tmpfs that only this process and its runs see.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from genqa_metrics.rows.sources import digest

from tests.factories.files import lines, made_rows

CODE = "from genqa_metrics.cli import main; main()"
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]
CHUNK = 10_000  # rows that are made at once
PAGE = 4096  # bytes that a file of a tmpfs takes at least
HEADER = "| metric | rows | parts | killed | disk full | changed input refused | second run refused | seconds |"


def has_small_disks() -> bool:
    """Return whether a process can mount a disk of its own here."""
    try:
        return subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode == 0
    except OSError:
        return False


def digests(folder: Path) -> dict[str, str]:
    """Return {name: SHA-256} of everything in a folder, hidden files too."""
    return {path.name: digest(path) for path in folder.iterdir()}


class Attack:
    """Attacks on runs of one metric into one folder, which is a small disk; `found` counts what happened."""

    def __init__(self, work: Path, metric: str, rows: int, part_rows: int):
        self.metric, self.part_rows, self.draw = metric, part_rows, random.Random(0)
        self.input, self.folder = work / "rows.jsonl", work / "parts"
        with open(self.input, "w", encoding="utf-8") as file:
            for start in range(0, rows, CHUNK):
                file.write(lines(made_rows(min(CHUNK, rows - start), start)))
        began = time.monotonic()
        process = self.started(work / "whole")
        while process.poll() is None and not list(work.glob("whole/part-*")):
            time.sleep(0.01)
        self.start_seconds = time.monotonic() - began
        self.ends(process, 0)
        self.expected = digests(work / "whole")
        self.parts = sum(name.startswith("part-") for name in self.expected)
        self.part_seconds = (time.monotonic() - began - self.start_seconds) / self.parts
        self.pages = sum(-(-path.stat().st_size // PAGE) for path in work.glob("whole/*"))
        self.found = dict.fromkeys(("killed", "full", "changed", "competing"), 0)

    def started(self, folder: Path | None = None) -> subprocess.Popen:
        """Start a run that resumes."""
        command = [sys.executable, "-c", CODE, "score", self.input, "-m", self.metric]
        command += ["-o", f"{folder or self.folder}/", "--part-rows", self.part_rows, "--resume"]
        return subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def ends(self, process: subprocess.Popen, *statuses: int) -> tuple[int, str]:
        """Return exit status and messages of a run, which must end with one of these statuses and no traceback."""
        said = " ".join(process.communicate()[1].split())
        assert process.returncode in statuses, f"ended with {process.returncode}: {said}"
        assert "Traceback" not in said, said
        return process.returncode, said

    def there(self) -> int:
        """Return the number of parts that are finished."""
        return sum(name.startswith("part-") for name in os.listdir(self.folder))

    def check_parts(self) -> None:
        """Every part that is there must be that of the undisturbed run."""
        left = {name: content for name, content in digests(self.folder).items() if name.startswith("part-")}
        wrong = sorted(left.items() - self.expected.items())
        assert not wrong, f"{wrong[0][0]} is not the part of an undisturbed run"

    def resize(self, share: float) -> None:
        """Give the disk room for a share of what is written."""
        self.folder.mkdir(exist_ok=True)
        options = f"{'remount,' if os.path.ismount(self.folder) else ''}size={int(self.pages * share) * PAGE}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.folder], check=True)

    def wait(self, process: subprocess.Popen, parts: int, seconds: float = float("inf")) -> None:
        """Wait until a run has made a number of parts, or ends, at most some seconds."""
        wanted, end = self.there() + parts, time.monotonic() + seconds
        while process.poll() is None and self.there() < wanted and time.monotonic() < end:
            time.sleep(0.005)

    def kill(self, parts: int) -> None:
        """Kill a run at a random moment after it has made a number of parts; 0 for any moment of its start."""
        process = self.started()
        self.wait(process, parts)
        self.wait(process, 2, self.draw.uniform(0, 2 * self.part_seconds if parts else self.start_seconds))
        self.found["killed"] += process.poll() is None
        process.kill()
        process.communicate()
        self.check_parts()

    def fill_disk(self) -> None:
        """Let a run go on until its disk is full; then make room."""
        _, said = self.ends(self.started(), 1)
        assert "cannot be written: No space left on device" in said, said
        self.check_parts()
        self.found["full"] += 1
        self.resize(3)

    def change_byte(self, old: bytes, new: bytes) -> None:
        """Change one letter of the last quarter of the input."""
        with open(self.input, "r+b") as file:
            place = self.input.stat().st_size * 3 // 4
            file.seek(place)
            file.seek(place + file.read(PAGE).index(b"When do boats " + old))
            file.write(b"When do boats " + new)

    def change_input(self) -> None:
        """Change the input while a run reads it, and before one begins; then put it right again."""
        process = self.started()
        self.wait(process, 1)
        self.change_byte(b"go", b"do")
        _, said = self.ends(process, 1)
        assert "has changed while it was read" in said, said
        before = digests(self.folder)
        _, said = self.ends(self.started(), 2)
        assert "were made with another" in said, said
        assert digests(self.folder) == before
        self.change_byte(b"do", b"go")
        self.check_parts()
        self.found["changed"] += 2

    def compete(self) -> None:
        """Start two runs at once: one ends well, the other is refused."""
        ended = [self.ends(process, 0, 1, 2) for process in [self.started() for _ in range(2)]]
        assert 0 in dict(ended), ended
        for status, said in ended:
            assert status == 0 or "another run is writing to it" in said, said
            self.found["competing"] += status != 0


def attacked(work: Path, metric: str, rows: int, part_rows: int, kills: int) -> str:
    """Attack runs of one metric, and compare what they leave with an undisturbed run.

    Args:
        work: an empty folder.
        metric: its name.
        rows: rows of the input.
        part_rows: rows of a part.
        kills: number of times that a run is killed; one of four while it starts.

    Returns:
        A line of the table, see `HEADER`.
    """
    began = time.monotonic()
    attack = Attack(work, metric, rows, part_rows)
    attack.resize(0.6)
    for begun, goal in ((0, attack.parts // 2), (kills // 2, attack.parts)):
        ended = kills // 2 if not begun else kills
        for number in range(begun, ended):
            left = (goal - attack.there()) // (ended - number + 2)
            attack.kill(max(left, 1) if number % 4 != 3 else 0)
        if not begun:
            attack.fill_disk()
            attack.change_input()
    attack.compete()
    attack.ends(attack.started(), 0)
    assert digests(attack.folder) == attack.expected, "files are lost, doubled or changed"
    values = (f"{rows:,}", attack.parts, *attack.found.values(), round(time.monotonic() - began))
    return f"| {metric} | {' | '.join(map(str, values))} |"


def main() -> None:
    """Attack both metrics and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--aev_rows", type=int, default=1_000_000)
    parser.add_argument("--ava_rows", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=20, help="times that a run is killed, at least 2")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # has a namespace of its own already
    args = parser.parse_args()
    if not args.inside:
        if not has_small_disks():
            parser.error("a full disk needs Linux with user namespaces (`unshare --user --map-root-user --mount`)")
        os.execvp(NAMESPACE[0], [*NAMESPACE, sys.executable, "-m", "tests.chaos", "--inside", *sys.argv[1:]])
    print(f"{HEADER}\n|---|{'---:|' * (HEADER.count('|') - 2)}", flush=True)
    for metric, rows in (("aev", args.aev_rows), ("ava", args.ava_rows)):
        with tempfile.TemporaryDirectory() as work:
            try:
                print(attacked(Path(work), metric, rows, max(1, rows // 100), args.kills), flush=True)
            finally:
                subprocess.run(["umount", Path(work) / "parts"], capture_output=True)


if __name__ == "__main__":
    main()
