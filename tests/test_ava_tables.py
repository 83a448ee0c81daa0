"""Judges and sets that are added to the result file of judges compared."""

import json
import sys

import numpy as np
import pytest

from training.studies.judges import compare_judges


@pytest.fixture
def keep(tmp_path, monkeypatch):
    """Run compare_judges --keep without judges on one dev set, with what the result file holds."""
    rows = [{"question": str(label), "references": ["r"], "candidate": "c", "label": label} for label in (0, 1)]
    (tmp_path / "beetle.dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def run(content=None, *more):
        if content:
            (tmp_path / "judges.json").write_text(json.dumps(content), encoding="utf-8")
        command = ["x", "--judgments", tmp_path, "--sets", "beetle.dev", "--keep", "--json", tmp_path / "judges.json"]
        monkeypatch.setattr(sys, "argv", list(map(str, [*command, *more])))
        compare_judges.STUDY.main()
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
    monkeypatch.setattr("evaluate.load", lambda *given, **settings: None)
    kept = {"token F1": {"sets": {"other.dev": {"accuracy": 0.5}}}}
    found = keep({"command": "earlier", "data": {}, "results": kept}, "--simple")["results"]["token F1"]["sets"]
    assert found == {"other.dev": {"accuracy": 0.5}, "beetle.dev": {"accuracy": 1.0, "auc": 1.0}}


def test_what_cannot_be_kept_is_said(keep):
    with pytest.raises(ValueError, match="--keep: no result file"):
        keep()
    with pytest.raises(ValueError, match=r"--keep: beetle\.dev is not the file that"):
        keep({"command": "earlier", "data": {"beetle.dev": "1"}, "results": {}})
