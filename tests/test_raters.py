"""Ratings of several people: filtering, Krippendorff's alpha, and the command `raters`."""

import json

import numpy as np
import pytest
from genqa_metrics.verbs.raters.report import LEVELS, kept, krippendorff_alpha

from tests.factories.cases import with_cases
from tests.factories.files import run, save


@with_cases
def test_filtering_by_hand(scores, stay):
    assert kept(np.array(scores, dtype=float)).astype(int).tolist() == stay


def test_the_largest_go_first_whatever_their_place():
    """Mean 3, deviation sqrt(2 * (25 + 16) / 12) = 2.614: z of -2 and 8 is 1.91, of -1 and 7 1.53; two may go."""
    scores = np.array([7, 3, -2, 3, 3, 8, -1, 3, 3, 3, 3, 3], dtype=float)
    assert np.flatnonzero(~kept(scores, at_most=2)).tolist() == [2, 5]
    assert np.flatnonzero(~kept(scores)).tolist() == [0, 2, 5, 6]
    assert kept(scores, limit=float("inf")).all()
    assert kept(scores, at_most=0).all()


@with_cases
def test_published_examples_of_alpha(ratings, alphas):
    """Of a table with one line per rater, in which '*' is no rating."""
    cells = [
        (f"item {item}", f"rater {rater}", float(value))
        for rater, line in enumerate(ratings)
        for item, value in enumerate(line.split())
        if value != "*"
    ]
    found = {level: krippendorff_alpha(*zip(*cells, strict=True), level) for level in alphas}
    assert found == pytest.approx(alphas, abs=5e-4)


def test_alpha_that_is_not_defined():
    for level in LEVELS:
        assert np.isnan(krippendorff_alpha(["a", "b"], ["x", "x"], [1, 2], level))  # one rating per item
        assert np.isnan(krippendorff_alpha(["a", "a"], ["x", "y"], [2, 2], level))  # nothing varies
    with pytest.raises(ValueError, match="level: expected one of interval, ordinal, nominal, got 'ratio'"):
        krippendorff_alpha(["a"], ["x"], [1], "ratio")


@pytest.fixture
def ratings(tmp_path):
    """Item a is the second case of the filtering by hand, b the third, c has one rating."""
    rows = [
        {"item": item, "rater": f"r{place}", "score": score, "question": f"who is {item}", "prediction": item}
        | {"references": [item, "other"], "system": "s"}
        for item, scores in {"a": [5, 5, 5, 5, 1], "b": [1, 2, 3, 4, 5], "c": [2]}.items()
        for place, score in enumerate(scores)
    ]
    return save(tmp_path / "ratings.jsonl", rows)


def test_command(ratings, tmp_path):
    out, _ = run("raters", ratings, "--output", tmp_path / "items.jsonl", "--format", "json")
    rows = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert rows[0] == {
        "id": "a", "question": "who is a", "prediction": "a", "references": ["a", "other"], "system": "s",
        "score": 5.0, "mean_of_all": 4.2, "ratings": 5, "dropped": 1,
    }  # fmt: skip
    assert [(row["score"], row["dropped"]) for row in rows] == [(5.0, 1), (3.0, 2), (2.0, 0)]
    report = json.loads(out)
    assert (report["items"], report["ratings"], report["dropped"], report["items_with_one_rating"]) == (3, 11, 3, 1)
    assert report["ratings_per_item"] == {
        "before": pytest.approx(11 / 3, rel=1e-5),
        "after": pytest.approx(8 / 3, rel=1e-5),
    }
    # r4 said 1 where the score is 5, and 5 where it is 3
    assert report["raters"]["r4"] == {"ratings": 2, "dropped": 2, "mean_distance": -1.0}
    alpha = report["alpha"]
    assert alpha["before"]["interval"] < alpha["after"]["interval"]
    rows = [json.loads(line) for line in open(ratings)]
    items, raters, scores = ([row[name] for row in rows] for name in ("item", "rater", "score"))
    assert alpha["before"]["ordinal"] == pytest.approx(krippendorff_alpha(items, raters, scores, "ordinal"), rel=1e-5)


def test_agree_reads_what_raters_writes(ratings, tmp_path):
    run("raters", ratings, "--output", tmp_path / "items.csv")
    out, _ = run("agree", tmp_path / "items.csv", "--resamples", "100", "--format", "json")
    assert json.loads(out)["human"]["maximum"] == 5.0


@with_cases
def test_bad_rows(tmp_path, row, said):
    good = [{"item": "b", "rater": name, "score": 2} for name in "xy"]
    file = save(tmp_path / "r.jsonl", [*good, row])
    told = run("raters", file, status=1)[1]
    assert "line 3" in told
    assert said in told
    assert json.loads(run("raters", file, "--on-error", "skip", "--format", "json")[0])["bad_rows"] == 1


@with_cases
def test_bad_usage(ratings, arguments, said):
    assert said in run("raters", ratings, *arguments, status=2)[1]


def test_too_many_different_ratings(tmp_path):
    rows = [{"item": str(n // 2), "rater": "xy"[n % 2], "score": n / 7} for n in range(10_002)]
    told = run("raters", save(tmp_path / "fine.jsonl", rows), status=1)[1]
    assert "expected at most 10,000 different ratings for Krippendorff's alpha, got 10,002" in told
