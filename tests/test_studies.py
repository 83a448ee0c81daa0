"""Every study has result files that can be made again, and pages show the tables of those files."""

import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from genqa_metrics.ava.loading import checkpoint_folder
from genqa_metrics.core.checkpoints import checkpoint_digest

from tests.factories.modules import run_program
from training.common import write_rows
from training.studies import harness
from training.studies.judges import compare_judges, summary

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
    run_program(monkeypatch, harness, ["harness", "--write"])
    assert page.read_text(encoding="utf-8") == "Before\n<!-- own -->\n\n3\n\n<!-- end of own -->\nAfter\n"
    run_program(monkeypatch, harness, ["harness"])


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


@pytest.fixture
def keep(tmp_path, monkeypatch):
    """Run compare_judges --keep without judges on one dev set, with what the result file holds."""
    rows = [{"question": str(label), "references": ["r"], "candidate": "c", "label": label} for label in (0, 1)]
    write_rows(tmp_path / "beetle.dev.jsonl", rows)

    def run(content=None, *more):
        if content:
            (tmp_path / "judges.json").write_text(json.dumps(content), encoding="utf-8")
        command = ["x", "--judgments", tmp_path, "--sets", "beetle.dev", "--keep", "--json", tmp_path / "judges.json"]
        run_program(monkeypatch, compare_judges, [*command, *more])
        return json.loads((tmp_path / "judges.json").read_text(encoding="utf-8"))

    return run


def test_results_that_are_kept_stay(keep, capsys):
    kept = {"first": {"sets": {"beetle.dev": {"accuracy": 0.5}}, "checkpoint": "0"}}
    found = keep({"command": "earlier", "data": {"other.dev": "1"}, "results": kept})
    assert found["results"] == kept
    assert set(found["data"]) == {"other.dev", "beetle.dev"}
    assert found["command"].startswith("earlier; python -m training.studies.judges.compare_judges")
    assert "| beetle.dev | accuracy | 0.500 |" in capsys.readouterr().out


def test_a_set_is_added_to_the_simple_metrics(keep, monkeypatch):
    """What they were measured on before stays: they have no scaling that all sets share."""
    monkeypatch.setattr(compare_judges, "simple_scores", lambda rows, *_: {"token F1": np.array([0.1, 0.9])})
    monkeypatch.setattr(compare_judges, "load", lambda *given, **settings: None)
    kept = {"token F1": {"sets": {"other.dev": {"accuracy": 0.5}}}}
    found = keep({"command": "earlier", "data": {}, "results": kept}, "--simple")["results"]["token F1"]["sets"]
    assert found == {"other.dev": {"accuracy": 0.5}, "beetle.dev": {"accuracy": 1.0, "auc": 1.0}}


def test_what_cannot_be_kept_is_said(keep):
    with pytest.raises(ValueError, match="--keep: no result file"):
        keep()
    with pytest.raises(ValueError, match=r"--keep: beetle\.dev is not the file that"):
        keep({"command": "earlier", "data": {"beetle.dev": "1"}, "results": {}})


def test_the_page_of_the_judges_has_every_dev_set():
    page = summary.page()
    assert set(summary.SETS) == {*compare_judges.VERDICTS, *compare_judges.GRADES}
    assert all(f"| {title}" in page for title, _ in summary.SETS.values())
