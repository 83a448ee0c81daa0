"""Every study has result files that can be made again, and pages show the tables of those files."""

import importlib
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from genqa_metrics.ava.loading import checkpoint_folder
from genqa_metrics.core.checkpoints import checkpoint_digest

from training.studies import harness
from training.studies.judges import compare_judges, inspect_judge, summary

TRAINING = Path(__file__).parent.parent / "training"
RESULTS = sorted(TRAINING.rglob("results/*.json"))
TABLES = [table for table in harness.tables() if table.path.suffix == ".md"]  # other fonts draw other figures


def ids(table):
    return f"{table.path.parent.parent.name}: {table.place or 'the page'}"


@pytest.mark.parametrize("table", TABLES, ids=ids)
def test_a_page_has_the_table_of_its_result_file(table):
    renewed = "run python -m training.studies.harness --write"
    assert table.path.read_text(encoding="utf-8") == table.renewed(), renewed


def test_the_harness_renews_and_names_what_is_out_of_date(tmp_path, monkeypatch, capsys):
    results, page = tmp_path / "training/own/results", tmp_path / "training/own/results/tables.md"
    results.mkdir(parents=True)
    (results / "own.json").write_text('{"value": 3}', encoding="utf-8")
    page.write_text("Before\n<!-- own -->\n2\n<!-- end of own -->\nAfter\n", encoding="utf-8")
    table = harness.Table("own", "own/results/own", lambda result: str(result["value"]))
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    monkeypatch.setattr(harness, "tables", lambda: [table])
    monkeypatch.setattr(sys, "argv", ["harness"])
    with pytest.raises(SystemExit, match="out of date: run"):
        harness.main()
    assert "training/own/results/tables.md: own" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["harness", "--write"])
    harness.main()
    assert page.read_text(encoding="utf-8") == "Before\n<!-- own -->\n\n3\n\n<!-- end of own -->\nAfter\n"
    monkeypatch.setattr(sys, "argv", ["harness"])
    harness.main()


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_a_result_file_names_a_command_that_exists(path):
    found = json.loads(path.read_text(encoding="utf-8"))
    for one in found if isinstance(found, list) else [found]:
        if "command" in one:
            modules = re.findall(r"python -m (training[\w.]+)", one["command"])
            assert modules
            found = [importlib.import_module(module) for module in modules]
            assert all(hasattr(module, "STUDY") or hasattr(module, "main") for module in found)


@pytest.mark.parametrize("name", ["small", "base"])
def test_the_judges_that_were_measured_are_the_bundled_ones(name, repository):
    """Else the tables are those of a judge that is no longer bundled."""
    digest = checkpoint_digest(checkpoint_folder(name))
    folder = f"metrics/ava/checkpoint{'_base' * (name == 'base')}"
    judges, both, inspected = (
        harness.read(TRAINING / f"studies/judges/results/{file}.json")
        for file in ("judges", "small_and_base", "inspected")
    )
    assert judges["results"]["bundled" if name == "small" else name]["checkpoint"] == digest
    assert both["checkpoints"][name] == digest
    assert inspected["results"][name]["checkpoint"] == digest
    assert harness.read(repository / folder / "measured.json")["checkpoint"].startswith(digest[:12])
    assert f"`{digest}`" in (repository / folder / "README.md").read_text(encoding="utf-8")


def test_errors_are_counted_by_kind_and_side():
    """Two names: 0.5 is at the threshold and accepted, 0.4 is rejected; the right answer with 0.2 is rejected."""
    probability = {"Bern": 0.5, "Bonn": 0.4, "Pariss": 0.2}
    judge = SimpleNamespace(
        loaded=SimpleNamespace(threshold=0.5),
        probabilities=lambda questions, references, answers: np.array([probability[answer] for answer in answers]),
    )
    rows = [
        {"question": "q", "references": ["Paris"], "candidate": answer, "label": label, "extra": {"kind": kind}}
        for answer, label, kind in (("Bern", 0, "name"), ("Bonn", 0, "name"), ("Pariss", 1, "typo"))
    ]
    assert inspect_judge.errors_by_kind(rows, judge) == {
        "wrong answers judged right": {"name": (1, 2)},
        "right answers judged wrong": {"typo": (1, 1)},
    }


def test_the_page_of_the_judges_has_every_dev_set():
    page = summary.page()
    assert set(summary.SETS) == {*compare_judges.VERDICTS, *compare_judges.GRADES}
    assert all(f"| {title}" in page for title, _ in summary.SETS.values())
