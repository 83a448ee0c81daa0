"""Rows for every module, and processes that must succeed."""

import json
import subprocess
import sys
from pathlib import Path

ROWS = json.loads((Path(__file__).parents[1] / "data/rows.json").read_text(encoding="utf-8"))["modules"]


def printed_by(command, **options):
    """Run a command that must succeed; return what it prints."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_program(monkeypatch, module, words):
    """Run a program of this repository, or its study, in this process with the words of a command line."""
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    getattr(module, "STUDY", module).main()
