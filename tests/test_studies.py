"""Every study has result files that can be made again, and pages show the tables of those files."""

import importlib
import json
import re
import sys
from pathlib import Path

import pytest
from genqa_metrics.ava.loading import checkpoint_folder
from genqa_metrics.core.checkpoints import checkpoint_digest

from tests.factories.modules import run_program
from training.studies import harness

TRAINING = Path(__file__).parent.parent / "training"
RESULTS = sorted(TRAINING.rglob("results/*.json"))
TABLES = [table for table in harness.tables() if table.path.suffix == ".md"]  # other fonts draw other figures


def ids(table):
    return f"{table.path.parent.parent.name}: {table.marker or 'the page'}"


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
    run_program(monkeypatch, harness, ["harness", "--write"])
    assert page.read_text(encoding="utf-8") == "Before\n<!-- own -->\n\n3\n\n<!-- end of own -->\nAfter\n"
    run_program(monkeypatch, harness, ["harness"])


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_a_result_file_names_a_command_that_exists_and_the_digests_of_its_data(path):
    text = path.read_text(encoding="utf-8")
    modules = re.findall(r"python -m (training[\w.]+)", json.loads(text)["command"])
    assert modules
    assert re.search(r'"[0-9a-f]{64}"', text), "expected the SHA-256 of files of data"
    for module in map(importlib.import_module, modules):
        assert hasattr(module, "STUDY") or hasattr(module, "main"), module


@pytest.mark.parametrize("name", ["small", "base"])
def test_the_judges_that_were_measured_are_the_bundled_ones(name, repository):
    """Else the numbers are those of a judge that is no longer bundled."""
    digest = checkpoint_digest(checkpoint_folder(name))
    folder = f"metrics/ava/checkpoint{'_base' * (name == 'base')}"
    assert harness.read(repository / folder / "measured.json")["checkpoint"].startswith(digest[:12])
    assert f"`{digest}`" in (repository / folder / "README.md").read_text(encoding="utf-8")
