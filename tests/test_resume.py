"""Runs that are killed: what is left is finished parts, and going on ends with the bytes of an uninterrupted run."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.factories.files import contents, made_rows, save, score

ROWS, PART_ROWS = 3000, 30


def started(*arguments):
    code = "from genqa_metrics.cli import main; main()"
    command = [sys.executable, "-c", code, "score", *map(str, arguments), "-m", "aev"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def killed(process, is_time):
    """Kill a process when it is time; return whether it was alive until then."""
    while process.poll() is None and not is_time():
        time.sleep(0.001)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


def test_a_run_killed_at_random_points_ends_like_one_that_was_not(tmp_path):
    path, folder = save(tmp_path / "a.jsonl", made_rows(ROWS)), tmp_path / "parts"
    score([path], tmp_path / "whole", part_rows=PART_ROWS)
    expected = contents(tmp_path / "whole")
    draw, kills = random.Random(20), 0
    folder.mkdir()
    for name in (".genqa-metrics-0123456789abcdef.part",):  # a kill leaves it too seldom for a test
        (folder / name).write_bytes(b"begun")
    while kills < 3:
        there = len(list(folder.glob("part-*")))
        wanted, pause = there + draw.randint(0, ROWS // PART_ROWS // 8), draw.uniform(0, 0.01)

        def is_time(wanted=wanted, pause=pause):
            if len(list(folder.glob("part-*"))) < wanted:
                return False
            time.sleep(pause)
            return True

        process = started(path, "-o", f"{folder}/", "--part-rows", PART_ROWS, "--resume")
        if not killed(process, is_time):
            break
        kills += 1
        left = {name: content for name, content in contents(folder).items() if name.startswith("part-")}
        assert left.items() <= expected.items(), "a part that is not whole"
    assert 2 <= kills
    assert len(left) < len(expected) - 1, "killed only when all was done"
    process = started(path, "-o", f"{folder}/", "--part-rows", PART_ROWS, "--resume")
    assert process.wait(300) == 0, process.communicate()
    assert contents(folder) == expected, "files that were begun before a kill stay, or differ"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="what a process has open is seen on Linux")
@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_a_killed_run_leaves_a_single_file_as_it_was(tmp_path, ending):
    """The input is a pipe that stays open, so that the run waits in the middle with its output begun."""
    output, source = tmp_path / f"scores{ending}", save(tmp_path / "a.jsonl", made_rows(2500))
    output.write_text("old")
    before = contents(tmp_path)
    code = "from genqa_metrics.cli import main; main()"
    command = [sys.executable, "-c", code, "score", "-", "-m", "aev", "-o", output]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process.stdin.write(source.read_bytes())
    process.stdin.flush()

    def has_begun():
        files = [os.readlink(f"/proc/{process.pid}/fd/{name}") for name in os.listdir(f"/proc/{process.pid}/fd")]
        return any(str(tmp_path) in file for file in files)

    assert killed(process, has_begun)
    assert {name: text for name, text in contents(tmp_path).items() if name[0] != "."} == before


ENDED = """
import os, signal, sys
from genqa_metrics.scale import run
from genqa_metrics.cli import main
scored, folder = run.scored, sys.argv.pop()
def ended(items, *arguments):
    result = scored(items, *arguments)
    assert [name for name in os.listdir(folder) if name.endswith(".part")] or items[0].line == 1
    if items[0].line > 1:
        os.kill(os.getpid(), signal.SIGTERM)
    return result
run.scored = ended
sys.argv[1:] = ["score", sys.argv[1], "-m", "aev", "-o", *sys.argv[2:]]
main()
"""


@pytest.mark.parametrize("output", ["out.jsonl", "parts/"])
def test_a_run_that_is_asked_to_end_leaves_no_file_that_is_not_whole(tmp_path, output):
    """SIGTERM comes in the second window, when a hidden file with the first one is there."""
    path, folder = save(tmp_path / "a.jsonl", made_rows(2500)), tmp_path / "written"
    folder.mkdir()
    place = folder / output.rstrip("/")
    more = ["--part-rows", "5000"] if output.endswith("/") else []
    inside = place if more else folder
    inside.mkdir(exist_ok=True)
    command = [sys.executable, "-c", ENDED, path, f"{folder}/{output}", *more, inside]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 143, done.stderr
    assert not [path for path in folder.rglob("*") if path.is_file() and path.name != "_manifest.json"]
