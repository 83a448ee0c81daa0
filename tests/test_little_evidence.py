"""What too little, too equal or too large numbers allow to be said."""

import json

import pytest

from tests.factories.files import run, save


def systems(folder, count, **scores):
    """Write a file of rows with a column `mine` for each system; return their names."""
    return [
        save(folder / f"{name}.jsonl", [{"id": str(i), "mine": values[i % len(values)]} for i in range(count)])
        for name, values in scores.items()
    ]


def compared(paths, *arguments):
    out, _ = run("compare", *paths, "--column", "mine", "--rows", 0, "--resamples", 500, *arguments)
    return out


def test_identical_systems_are_tied(tmp_path):
    said = compared(systems(tmp_path, 20, a=[0.0, 1.0], b=[0.0, 1.0]), "--format", "markdown")
    assert "a and b have the same score, 0.500." in said
    assert "ahead" not in said
    few = compared(systems(tmp_path, 4, a=[0.0, 1.0], b=[1.0, 0.0], c=[0.0]), "--format", "markdown")
    assert "too close to call: no two of the 3 systems differ significantly." in few
    three = compared(systems(tmp_path, 20, a=[0.0, 1.0], b=[1.0, 0.0], c=[0.0]), "--format", "markdown")
    assert "a vs b: too close to call; a and b are significantly better than c." in three


@pytest.mark.parametrize("count", [1, 3])
def test_three_rows_have_no_interval_and_no_small_p(tmp_path, count):
    paths = systems(tmp_path, count, a=[0.98], b=[0.1])
    report = json.loads(compared(paths, "--format", "json", "--html", tmp_path / "page.html"))
    found = report["metrics"]["mine"]
    assert found["scores"]["mine"]["a"] == {"value": 0.98, "low": None, "high": None}
    (pair,) = found["tests"]["mine"]["pairs"]
    assert pair["difference"]["low"] is None
    assert pair["p_uncorrected"] >= 0.2
    said = "only one question" if count == 1 else f"only {count} questions"
    said += ": too few for intervals, which need 5"
    assert said in report["notes"]
    assert "0.980 [" not in compared(paths)


def test_large_scores_are_compared_as_small_ones_are(tmp_path):
    """A billion more on every score changes no test; scores from 0 to 1 have another bound than the range seen."""
    values = {"a": [0.3, 0.9, 0.5, 0.7, 0.1], "b": [0.2, 0.8, 0.6, 0.5, 0.1]}
    found = {}
    for more in (10.0, 1e9):
        folder = tmp_path / str(more)
        folder.mkdir()
        moved = {name: [value + more for value in some] for name, some in values.items()}
        report = json.loads(compared(systems(folder, 40, **moved), "--format", "json"))
        (pair,) = report["metrics"]["mine"]["tests"]["mine"]["pairs"]
        found[more] = [pair[name] for name in ("p_uncorrected", "wins", "ties", "losses")]
    assert found[1e9] == pytest.approx(found[10.0], rel=0.02)


@pytest.mark.parametrize("score", [1e11, -1e308])
def test_huge_scores_are_refused(tmp_path, score):
    paths = systems(tmp_path, 6, a=[score], b=[1.0])
    _, said = run("compare", *paths, "--column", "mine", status=1)
    assert "mine: expected a number of at most 10,000,000,000" in said
