"""The numbers of cards: scale and threshold, scores by set, escalation, counts by family, what is written."""

import json

import numpy as np
import pytest
from genqa_metrics.core.judge_model import read_settings
from scipy.special import expit

from tests.factories.ava import linear_judge
from tests.factories.modules import run_program
from training.ava import measure_judges, measure_reasons
from training.ava.triples import Triple
from training.common import write_rows

TOWNS = ["Bonn", "Berlin", "Rome", "Oslo", "Lima", "Cairo", "Delhi", "Paris"]


@pytest.fixture
def data(tmp_path):
    """A folder with one dev file: two of three answers that hold the reference are right, and one of two others."""
    forms = [(1, "It was {}."), (1, "In {}."), (0, "Not in {}."), (0, "It was Oxford."), (1, "I was there too.")]
    rows = [
        {"question": f"Where was event {i}?", "references": [town], "candidate": form.format(town), "label": label}
        for i, town in enumerate(TOWNS)
        for label, form in forms
    ]
    write_rows(tmp_path / "written/written.dev.jsonl", rows)
    return tmp_path


def measured(monkeypatch, data, *words):
    """Run the program on the dev file with a judge by hand, and return the result file."""
    judge, output = data / "judge", data / "judges.json"
    if not judge.is_dir():
        linear_judge(judge)
    command = f"x --judges {judge} --data {data} --parts sets --sets written --json {output}"
    run_program(monkeypatch, measure_judges, [*command.split(), *words])
    return json.loads(output.read_text(encoding="utf-8"))


def test_a_judge_is_measured_on_dev_rows(monkeypatch, data, capsys):
    result = measured(monkeypatch, data)
    assert list(result["data"]) == ["written.dev"]
    rows = result["judges"]["judge"]["sets"]["written"]
    assert sorted(rows["labels"]) == [0.0] * 16 + [1.0] * 24
    scores = measure_judges.scores({"written": rows})["written"]
    assert scores["AUC"] == pytest.approx(2 / 3 * (1 / 2 + 1 / 4) + 1 / 3 * 1 / 4)  # a tie counts half
    numbers = " | ".join(f"{scores[name]:.3f}" for name in ("accuracy", "F1", "AUC", "calibration error"))
    assert f"| written | 40 | {numbers} |" in capsys.readouterr().out


def test_calibrating_twice_writes_the_same_settings(monkeypatch, data):
    """The probabilities of the second run have the scale of the first."""
    settings = []
    for _ in range(2):
        measured(monkeypatch, data, "--calibrate")
        settings.append(read_settings(data / "judge"))
    for name in ("slope", "intercept"):
        assert settings[0][name] == pytest.approx(settings[1][name], abs=0.02), name  # probabilities have four digits
    assert settings[0]["slope"] != 1.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--parts", "set"], "parts: expected some of sets, pairs, families, got 'set'"),
        (["--calibrate", "--parts", "pairs"], "calibrate: expected the folder of one judge"),
    ],
)
def test_wrong_arguments_are_named_before_any_judge_reads(monkeypatch, data, words, message):
    with pytest.raises(ValueError, match=message):
        measured(monkeypatch, data, *words)


def test_platt_scaling_recovers_the_scale():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=20_000)
    labels = rng.random(20_000) < expit(2.0 * logits - 1.0)
    assert measure_judges.platt(logits, labels) == pytest.approx((2.0, -1.0), abs=0.1)


def test_every_set_has_the_same_weight_in_the_scale_of_rows():
    """100 rows of one set say what 1,000 of another do: the intercept lies between those of the two alone."""
    rng = np.random.default_rng(0)

    def rows(count, intercept):
        logits = rng.normal(size=count)
        labels = (rng.random(count) < expit(logits + intercept)).astype(float)
        return {"probabilities": expit(logits).tolist(), "labels": labels.tolist(), "halves": [0] * count}

    sets = {"written": rows(4000, 2.0), "assistant": rows(400, -2.0)}
    assert measure_judges.fitted(sets)["intercept"] == pytest.approx(0.0, abs=0.3)


def test_systems_of_two_sets_are_measured_together():
    """The same probabilities as labels: no error of any system, and an accuracy of 1."""
    rows = {
        "probabilities": [0.9, 0.1, 0.9, 0.8, 0.1, 0.2],
        "labels": [1, 0, 1, 1, 0, 0],
        "halves": [0, 0, 0, 1, 1, 1],
    }
    sets = {name: rows | {"systems": ["A", "A", "B", "A", "A", "B"]} for name in measure_judges.EVOUNA}
    scores = measure_judges.scores(sets)
    assert scores["evouna"]["rows"] == 12
    for name in (*measure_judges.EVOUNA, "evouna"):
        assert (scores[name]["accuracy"], scores[name]["error of systems"]) == (1.0, 0.0), name


def test_two_measured_judges_give_what_escalating_gives():
    """The second judge's verdict counts where the first is unsure, shifted to the threshold of the first."""
    rows = {"labels": [1, 0, 1], "halves": [0, 1, 0]}
    judges = [
        {
            "settings": {"threshold": threshold},
            "sets": {"written": rows | {"probabilities": probabilities}, f"only_{threshold}": rows},
        }
        for threshold, probabilities in ((0.5, [0.95, 0.4, 0.5]), (0.6, [0.1, 0.6, 0.9]))
    ]
    sets = measure_judges.escalated(*judges)["sets"]
    assert list(sets) == ["written"]  # the only set that both were measured on
    assert sets["written"]["probabilities"] == pytest.approx([0.95, 0.5, 9 / (9 + 1.5)], abs=1e-4)
    assert sets["written"]["labels"] == [1, 0, 1]


def test_errors_are_counted_by_family():
    rows = [Triple("q", ("r",), "c", label, family) for family in ("a", "b") for label in (1.0, 0.0, 0.0)]
    counts = measure_judges.errors_by_family([1, 0, 1, 0, 0, 0], rows)
    assert counts == {
        "a": {"wrong": 2, "accepted": 1, "right": 1, "rejected": 0},
        "b": {"wrong": 2, "accepted": 0, "right": 1, "rejected": 1},
    }
    table = measure_judges.tables_of_counts({"judges": {"small": {"families": counts}}})
    assert "| a | 1 of 2 / 0 of 1 |" in table


def test_named_differences_are_counted_by_hand():
    """A text is right if half its words are those of one that a person names; replaced ones count neither way."""
    rows = [
        {"missing": ["the spare keys"], "replaced": ["a photo of the lock"]},
        {"contradicts": ["cold water"]},
    ]
    named = [
        [("missing", "both spare keys"), ("missing", "the photo of a lock"), ("missing", "a police report")],
        [("contradicts", "soap")],
    ]
    assert measure_reasons.counted(rows, named) == {
        "missing": {"right": 1, "wrong": 1, "expected": 1, "found": 1},
        "adds": {"right": 0, "wrong": 0, "expected": 0, "found": 0},
        "contradicts": {"right": 0, "wrong": 1, "expected": 1, "found": 0},
    }
