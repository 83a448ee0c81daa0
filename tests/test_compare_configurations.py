"""Tests of how the paper's configurations are compared: scores of resampled questions, claims, the command."""

import argparse
import json
import shutil
import sys

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from tests.factories.ava import linear_judge
from training.ava.triples import Triple
from training.studies.ava_configurations import claims, short_answers
from training.studies.ava_configurations import compare as c


def test_scores_of_counted_rows_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    logits, labels = rng.integers(-3, 4, 40).astype(float), rng.integers(0, 2, 40)
    counts = rng.integers(0, 4, (3, 40))
    found = claims.weighted_scores(logits, labels, 0.5)(counts)
    for row, times in zip(found, counts, strict=True):
        own, true = np.repeat(logits, times), np.repeat(labels, times)
        said = own >= 0.5
        expected = [score(true, said) for score in (precision_score, recall_score, f1_score)]
        assert row == pytest.approx([*expected, roc_auc_score(true, own)])


def test_the_threshold_has_the_best_f1():
    rng = np.random.default_rng(1)
    logits, labels = rng.integers(-3, 4, 40).astype(float), rng.integers(0, 2, 40)
    best = claims.best_threshold(logits, labels)
    assert f1_score(labels, logits >= best) == max(f1_score(labels, logits >= at) for at in np.unique(logits))


def test_intervals_are_over_questions_and_claims_over_differences():
    """The better configuration errs in no question, the worse one takes all answers of every second for wrong."""
    rows = [Triple(f"q{i}", ("r",), "t", float(k), "x") for i in range(30) for k in (0, 1)]
    labels = np.array([row.label for row in rows])
    worse = np.where(np.arange(60) % 4 < 2, 2 * labels - 1, -1.0)
    runs = {"a1-r_qt": [(2 * labels - 1, 0.0)] * 2, "a0-all": [(worse, 0.0)]}
    scores = claims.resampled(rows, runs, 0)
    found = claims.summary(scores, 30, scores)
    assert found["scores"]["a1-r_qt"]["f1"] == [1, 1, 1]
    value, low, high = found["scores"]["a0-all"]["f1"]
    assert value == pytest.approx(2 * 0.5 / 1.5)  # precision 1, recall 1/2
    assert 0.4 < low < value < high < 0.9
    (claim,) = found["claims"]
    assert (claim["better"], claim["worse"], claims.verdict(claim["f1"])) == ("a1-r_qt", "a0-all", "holds")
    assert found["added"] == {}  # nothing to compare with but itself
    verdicts = claims.resampled(rows, {"a0-all": runs["a1-r_qt"]}, 0)
    assert claims.summary(verdicts, 30, scores)["added"]["a0-all"] == {n: claim[n] for n in ("f1", "auc")}


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
        run = tmp_path / "runs/answer_sentences" / configuration / "seed1"
        if configuration == "linear":
            linear_judge(run / "final")
        else:
            shutil.copytree(judges(configuration), run / "final")
        (run / "final/README.md").write_text("card", encoding="utf-8")
    return tmp_path


def run(monkeypatch, files, *words):
    command = ["compare_configurations.py", "--as2", files / "as2", "--output", files / "runs", "--trained", *words]
    monkeypatch.setattr(sys, "argv", list(map(str, command)))
    c.STUDY.main()


def test_the_command_measures_the_runs_that_are_there(files, monkeypatch, capsys):
    run(monkeypatch, files, "--json", files / "found.json")
    content = capsys.readouterr().out
    assert content.startswith("| answer sentences |")
    assert "| a0-all - linear |" in content
    assert "| linear | 0 | 1 | 0 |  |" in content  # it has no steps to choose from
    block = json.loads((files / "found.json").read_text(encoding="utf-8"))["blocks"]["answer sentences"]
    assert [run["configuration"] for run in block["runs"]] == ["a0-all", "linear"]
    assert block["tests"]["WikiQA"]["triples"] == 6 * 4  # two with the other correct one, two with the wrong one

    run(monkeypatch, files, "--kept", files / "kept.npz")
    capsys.readouterr()
    monkeypatch.setattr(c, "load_judge", None)  # not judged again
    run(monkeypatch, files)
    assert content == capsys.readouterr().out

    shutil.rmtree(files / "runs")  # what was measured can be compared without the checkpoints
    run(monkeypatch, files, "--kept", files / "kept.npz", "--json", files / "again.json")
    assert json.loads((files / "again.json").read_text(encoding="utf-8"))["blocks"]["answer sentences"] == block
    path = files / "as2/wikiqa.test.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("cup 5", "cup 7"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"kept: the logits in .* are of other files than those in --as2"):
        run(monkeypatch, files, "--kept", files / "kept.npz")


def test_the_second_step_starts_from_the_first(files, tmp_path, monkeypatch, capsys):
    commands = []
    monkeypatch.setattr(c, "train_once", lambda module, output, where, *_: commands.append(where))
    args = argparse.Namespace(
        as2="as2", output=tmp_path / "new", judgments=None, encoder="encoder", config=files / "x.args", more=[]
    )
    args.config.write_text("")
    args.only, args.transferred = c.ORDER, "transfer/final"
    (configuration,) = c.chosen(args, c.TWO_STEPS)
    for block in (c.TWO_STEPS, "answer sentences"):
        c.train(args, block, configuration, 1)
    assert commands[0][-2:] == ["--start", "transfer/final"]
    assert "--start" not in commands[1]
    words = ["x", "--as2", files / "as2", "--output", files / "runs", "--encoder", "encoder", "--blocks", c.TWO_STEPS]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    with pytest.raises(ValueError, match=r"--transferred: the block 'in two steps' needs the folder of a judge to"):
        c.STUDY.main()


def test_short_answers_are_the_spans_of_the_same_sentences(files, monkeypatch, capsys):
    """A sentence is found however it was tokenised; an incorrect answer has none, even where its span is known."""
    rows = [
        {"question": "who won ?", "answer": "Ann -LRB- 1989 -RRB- won .", "label": 1},
        {"question": "who won ?", "answer": "It was Ann .", "label": 1},
        {"question": "who won ?", "answer": "Bob won .", "label": 0},
    ]
    texts = {"Ann (1989) won.": "Ann", "Bob won.": "Bob"}
    spans = [{"question": "who won?", "context": c, "answers": {"text": [a]}} for c, a in texts.items()]
    assert short_answers.with_short_answers(rows, spans) == [rows[0] | {"short_answer": "Ann"}, *rows[1:]]

    (files / "spans").mkdir()
    words = ["x", "--as2", files / "as2", "--spans", files / "spans", "--output", files / "short"]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    with pytest.raises(ValueError, match=r"--spans: no trecqa\.train\.jsonl\.gz or trecqa\.train\.jsonl in"):
        short_answers.main()


def test_the_linear_judge_is_measured_with_short_answers(files, monkeypatch, capsys):
    """Its weight is on whether the short answer occurs: it is perfect with the names and worse without."""
    for corpus, spans in short_answers.SPANS.items():
        for part in short_answers.PARTS:
            content = (files / f"as2/{corpus}.{part}.jsonl").read_text(encoding="utf-8")
            rows = [row for row in map(json.loads, content.splitlines()) if row["label"]]
            found = [{**r, "context": r["answer"], "answers": {"text": ["Ann"]}} for r in rows]
            (files / "spans").mkdir(exist_ok=True)
            (files / f"spans/{spans}.{part}.jsonl").write_text("\n".join(map(json.dumps, found)), encoding="utf-8")
    words = ["x", "--as2", files / "as2", "--spans", files / "spans", "--output", files / "short"]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    short_answers.main()
    shares = "stands in 100.0% of the correct candidates and 0.0% of the incorrect ones"
    printed = f"wikiqa.test: 12 of 12 correct answers have a short answer; that of the reference {shares}"
    assert printed in capsys.readouterr().out

    run_of_block = files / "runs/with_short_answers/linear/seed1"
    shutil.copytree(files / "runs/answer_sentences/linear/seed1", run_of_block)
    words = "--short_answers", files / "short", "--blocks", "answer sentences", c.SHORT, "--json", files / "found.json"
    run(monkeypatch, files, *words)
    blocks = json.loads((files / "found.json").read_text(encoding="utf-8"))["blocks"]
    scores = {name: block["tests"]["TREC-QA"]["scores"]["linear"]["auc"][0] for name, block in blocks.items()}
    assert scores[c.SHORT] == 1 > scores["answer sentences"]
    found = blocks[c.SHORT]["tests"]["TREC-QA"]
    assert [(claim["better"], claim["worse"]) for claim in found["claims"]] == [("a0-all", "linear")]
    encoder = blocks["answer sentences"]["tests"]["TREC-QA"]["scores"]["a0-all"]["auc"][0]
    assert found["claims"][0]["auc"][0] == pytest.approx(encoder - 1)
    assert found["added"]["linear"]["auc"][0] == pytest.approx(1 - scores["answer sentences"])

    with pytest.raises(ValueError, match=r"--short_answers: the block 'with short answers' needs the folder"):
        run(monkeypatch, files, "--blocks", c.SHORT)
    with (files / "as2/wikiqa.test.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"question": "who won cup 0 ?", "answer": "Cup 0 .", "label": 0}\n')
    with pytest.raises(ValueError, match=r"--short_answers: wikiqa\.test has other texts than in --as2"):
        run(monkeypatch, files, *words)


def test_nothing_trained_is_said(files, monkeypatch, capsys):
    with pytest.raises(ValueError, match=r"--trained: no run of answer sentences in"):
        run(monkeypatch, files, "--seeds", "2")
