"""Tests of the small commands behind the tables of training/ava: statistics of the data, judges added to a result."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.factories.answer_sentences import ROWS
from training.studies.ava_configurations import data_statistics
from training.studies.judges import choose, compare_judges

ROOT = Path(__file__).parent.parent


def test_statistics_by_hand():
    """Two questions have two correct answers each, so 2 * 2 positives; 2 references with 2 wrong ones, 2 with 1."""
    rows = [dict(zip(("question", "answer", "label"), row, strict=True)) for row in ROWS]
    assert data_statistics.statistics(rows) == {
        "questions": 4,
        "answers": 10,
        "correct": 5,
        "kept questions": 2,
        "correct of each": 2,
        "AVA-Pos": 4,
        "AVA-Neg": 6,
        "largest share": 0.5,
    }


def test_the_statistics_command_writes_a_table(tmp_path, monkeypatch, capsys):
    lines = [json.dumps(dict(zip(("question", "answer", "label"), row, strict=True))) for row in ROWS]
    (tmp_path / "own.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["x", "--as2", tmp_path, "--corpora", "own", "--json", tmp_path / "data.json"]
    monkeypatch.setattr(sys, "argv", list(map(str, command)))
    data_statistics.STUDY.main()
    assert "| own | 4 | 10 | 5 | 2 | 2.00 | 4 | 6 | 0.50 |" in capsys.readouterr().out
    assert list(json.loads((tmp_path / "data.json").read_text(encoding="utf-8"))["data"]) == ["own"]


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


@pytest.fixture
def chosen(tmp_path, monkeypatch):
    """Run choose.py with the bundled judge on four answers of written.dev alone."""
    rows = [
        {"question": question, "references": references, "candidate": said, "label": label}
        for question, references, right in (
            ("Who wrote Hamlet?", ["William Shakespeare", "Shakespeare"], "It was Shakespeare."),
            ("Where is the Colosseum?", ["Rome"], "It is in Rome."),
        )
        for said, label in ((right, 1), ("Nobody knows.", 0))
    ]
    lines = [json.dumps({"source": "own", "system": "s", "score": None} | row) for row in rows]
    (tmp_path / "written.dev.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("SETS", "COLUMNS"):
        monkeypatch.setattr(choose, name, {"written.dev": getattr(choose, name)["written.dev"]})

    def run(*more):
        command = ["x", "--judgments", tmp_path, "--judges", f"a={ROOT / 'metrics/ava/checkpoint'}", *more]
        monkeypatch.setattr(sys, "argv", [*map(str, command), "--json", str(tmp_path / "choices.json")])
        choose.STUDY.main()
        return json.loads((tmp_path / "choices.json").read_text(encoding="utf-8"))

    return run


def test_judges_made_of_judges(chosen, capsys):
    found = chosen("--weights", "same=a*0.5,a*0.5", "--turned", "back=a", "--logits", "both=a,back")["results"]
    assert list(found) == ["a", "same", "back", "both"]
    assert found["same"]["sets"] == found["a"]["sets"]
    assert found["a"]["sets"]["written.dev"]["right above wrong"] == 1
    assert "| a | 1.000 | 1.000 | " in capsys.readouterr().out


def test_more_judges_are_added_to_the_table(chosen):
    chosen()
    found = chosen("--keep", "--logits", "alone=a")
    assert list(found["results"]) == ["a", "alone"]
    assert found["command"].count("training.studies.judges.choose") == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--keep",), "--keep: no result file"),
        (("--logits", "both=a,b"), "both: no judge 'b' among a"),
        (("--weights", "half=a*0.5"), "half: expected weights that sum to 1, got 0.5"),
    ],
)
def test_parts_that_make_no_judge_are_said(chosen, given, message):
    with pytest.raises(ValueError, match=message):
        chosen(*given)
