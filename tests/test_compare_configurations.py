"""Tests of how the paper's configurations are compared: scores of resampled questions, claims, the command."""

import json
import shutil

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from tests.factories.ava import linear_judge
from tests.factories.modules import run_program
from training.ava.triples import Triple
from training.studies.ava_configurations import compare as c


def test_scores_of_counted_rows_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    logits, labels = rng.integers(-3, 4, 40).astype(float), rng.integers(0, 2, 40)
    counts = rng.integers(0, 4, (3, 40))
    found = c.weighted_scores(logits, labels, 0.5)(counts)
    for row, times in zip(found, counts, strict=True):
        own, true = np.repeat(logits, times), np.repeat(labels, times)
        said = own >= 0.5
        expected = [score(true, said) for score in (precision_score, recall_score, f1_score)]
        assert row == pytest.approx([*expected, roc_auc_score(true, own)])


def test_intervals_are_over_questions_and_claims_over_differences():
    """The better configuration errs in no question, the worse one takes all answers of every second for wrong."""
    rows = [Triple(f"q{i}", ("r",), "t", float(k), "x") for i in range(30) for k in (0, 1)]
    labels = np.array([row.label for row in rows])
    worse = np.where(np.arange(60) % 4 < 2, 2 * labels - 1, -1.0)
    runs = {"a1-r_qt": [(2 * labels - 1, 0.0)] * 2, "a0-all": [(worse, 0.0)]}
    scores = c.resampled(rows, runs, 0)
    found = c.summary(scores, 30)
    assert found["scores"]["a1-r_qt"]["f1"] == [1, 1, 1]
    value, low, high = found["scores"]["a0-all"]["f1"]
    assert value == pytest.approx(2 * 0.5 / 1.5)  # precision 1, recall 1/2
    assert 0.4 < low < value < high < 0.9
    (claim,) = found["claims"]
    assert (claim["better"], claim["worse"], c.verdict(claim["f1"])) == ("a1-r_qt", "a0-all", "holds")


@pytest.fixture
def files(tmp_path, judges):
    """Folder as2 of answer sentences, and runs of two configurations."""
    (tmp_path / "as2").mkdir()
    for part in ("trecqa.train", "wikiqa.train", *c.DEV, *c.TESTS.values()):
        rows = [
            {"question": f"who won cup {i} ?", "answer": f"`` {name} '' won cup {i} .", "label": int(name != "Bob")}
            for i in range(6)
            for name in ("Ann", "Ann Lee", "Bob")
        ]
        (tmp_path / "as2" / f"{part}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    for configuration in ("linear", "a0-all"):
        run = tmp_path / "runs" / configuration / "seed1"
        if configuration == "linear":
            linear_judge(run / "final")
        else:
            shutil.copytree(judges(configuration), run / "final")
        (run / "final/README.md").write_text("card", encoding="utf-8")
    return tmp_path


def run(monkeypatch, files, *words):
    command = ["compare_configurations.py", "--as2", files / "as2", "--output", files / "runs", "--trained", *words]
    run_program(monkeypatch, c, command)


def test_the_command_measures_the_runs_that_are_there(files, monkeypatch, capsys):
    run(monkeypatch, files, "--json", files / "found.json")
    content = capsys.readouterr().out
    assert content.startswith("| configuration |")
    assert "| a0-all - linear |" in content
    assert "| linear | 0 | 1 | 0 |  |" in content  # it has no steps to choose from
    found = json.loads((files / "found.json").read_text(encoding="utf-8"))
    assert [run["configuration"] for run in found["runs"]] == ["a0-all", "linear"]
    assert found["tests"]["WikiQA"]["triples"] == 6 * 4  # two with the other correct one, two with the wrong one

    run(monkeypatch, files, "--kept", files / "kept.npz")
    capsys.readouterr()
    shutil.rmtree(files / "runs")  # what was measured can be compared without the checkpoints
    run(monkeypatch, files, "--kept", files / "kept.npz", "--json", files / "again.json")
    assert json.loads((files / "again.json").read_text(encoding="utf-8"))["tests"] == found["tests"]
    path = files / "as2/wikiqa.test.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("cup 5", "cup 7"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"kept: the logits in .* are of other files than those in --as2"):
        run(monkeypatch, files, "--kept", files / "kept.npz")
