"""The command among other processes: pipes, closed streams, names that lead nowhere; no hang and no traceback."""

import os
import subprocess
import sys

import pytest

from tests.factories.files import ANSWERS, run, save

CODE = "from genqa_metrics.cli import main; main()"


def started(command, *arguments):
    """Run the command line in a shell of its own; return (status, standard error)."""
    words = [sys.executable, "-c", CODE, *map(str, arguments)]
    done = subprocess.run(["bash", "-c", command, "bash", *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("command", "status"),
    [('"$@" >&-', 0), ('"$@" 2>&-', 0), ('"$@" | true; exit ${PIPESTATUS[0]}', None), ('"$@" - <&-', 1)],
)
def test_closed_streams(tmp_path, command, status):
    path = save(tmp_path / "a.jsonl", ANSWERS)
    found, said = started(command, "score", *([] if " - " in command else [path]), "-m", "aev")
    assert "Traceback" not in said
    assert found in ((0, 1) if status is None else (status,))


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_full_disk_is_one_error(tmp_path, form):
    path = save(tmp_path / "a.jsonl", ANSWERS)
    found, said = started('"$@" > /dev/full', "score", path, "-m", "aev", "--format", form)
    assert found == 1
    assert said.splitlines()[-1] == "error: standard output: No space left on device"
    assert "Traceback" not in said


def test_a_pipe_for_a_file_is_refused_at_once(tmp_path):
    """It cannot be read twice; `compare` would wait for ever for its digest."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    for verb in (["score", "-m", "aev"], ["compare", "-m", "aev"]):
        assert "is a pipe or a device; let it write into '-'" in run(*verb, tmp_path / "pipe.jsonl", status=2)[1]


@pytest.mark.parametrize(
    ("name", "message"), [("loop.jsonl", "cannot be read: Too many levels"), (f"{'n' * 300}.jsonl", "too long")]
)
def test_names_that_lead_nowhere(tmp_path, name, message):
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    assert message in run("score", tmp_path / name, "-m", "aev", status=2)[1]
    assert run("score", save(tmp_path / "a.jsonl", ANSWERS), "-m", "aev", "-o", tmp_path / name, status=2)[1]
    assert run("verify", tmp_path / name, status=1)[1]
