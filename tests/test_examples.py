"""The example files hold what their README promises, and the demonstration says what its tables show."""

import contextlib
import re
import shlex
from pathlib import Path

import genqa_metrics
import pytest
from genqa_metrics.cli import app
from genqa_metrics.scale.options import ScoreOptions
from genqa_metrics.scale.run import Run
from genqa_metrics.verbs.demo import EXAMPLES
from typer.testing import CliRunner


@pytest.fixture(scope="module")
def demo(repository):
    """What `genqa-metrics demo --all` prints at the root of the checkout."""
    with contextlib.chdir(repository):
        done = CliRunner().invoke(app, ["demo", "--all"])
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def test_the_demo_fits_in_100_columns_and_its_commands_do_the_same(demo, repository, monkeypatch):
    commands = re.findall(r"^The same table: genqa-metrics (.*)$", demo, flags=re.MULTILINE)
    assert len(commands) == 2
    signatures = tuple(f"{metric}|" for metric in genqa_metrics.METRICS if metric != "grounding")
    assert all(f"\n{signature}" in demo for signature in signatures)
    flowing = ("The same table", "note: ", "accuracy", "the accuracy", "the judge", *signatures)
    assert max(len(line) for line in demo.splitlines() if not line.startswith(flowing)) <= 100
    monkeypatch.chdir(repository)
    monkeypatch.setenv("COLUMNS", "100")
    shown = set(demo.split())  # a table that is too wide has its heads and intervals in several lines
    for command in commands:
        again = CliRunner().invoke(app, shlex.split(command))
        assert again.exit_code == 0
        assert "warning" not in again.stderr
        assert {word for word in again.stdout.split() if "─" not in word} <= shown


def test_example_files_need_no_flags_and_have_no_bad_rows():
    for path in sorted(Path(EXAMPLES).glob("*.jsonl")):
        report = Run([str(path)], ScoreOptions()).score()
        assert report.counts.skipped == report.counts.not_numbers == 0
