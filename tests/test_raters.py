"""Ratings of several people: Krippendorff's alpha, and what `agree` and `label` make of them."""

import json

import genqa_metrics
import pytest
from genqa_metrics.verbs.label.labels import krippendorff_alpha

from tests.factories.cases import with_cases
from tests.factories.files import save


@with_cases
def test_published_examples_of_alpha(ratings, alpha):
    """Of a table with one line per rater, in which '*' is no rating."""
    table = zip(*(line.split() for line in ratings), strict=True)
    rows = [[float(value) for value in row if value != "*"] for row in table]
    assert krippendorff_alpha(rows) == pytest.approx(alpha, abs=5e-4)


def test_alpha_that_is_not_defined():
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([[1], [2]]) is None  # one rating per row
    assert krippendorff_alpha([[2, 2], [2, 2], [1]]) is None  # nothing varies


RATINGS = {"a": [5, 5, 1], "b": [1, 2, 3], "c": [2], "d": [4, 5, 4]}


@pytest.fixture
def ratings():
    return [
        {"item": name, "rater": f"r{number}", "score": score, "question": f"who is {name}", "prediction": name}
        | {"references": [name], "good": sum(scores) / len(scores)}
        for name, scores in RATINGS.items()
        for number, score in enumerate(scores)
    ]


def test_agree_takes_the_mean_of_the_raters_of_an_answer(ratings, tmp_path):
    """Means 11/3, 2, 2 and 13/3 are the column `good`; within answers the variances are 16/3, 1 and 1/3."""
    report = genqa_metrics.agree(str(save(tmp_path / "r.jsonl", ratings)), score_columns="good", resamples=100)
    found = report.to_dict()
    assert found["rows"] == 4
    assert found["metrics"]["good"]["pearson"]["value"] == pytest.approx(1)
    assert found["human"]["maximum"] == pytest.approx(13 / 3, rel=1e-5)
    # 9 ratings of answers with several, sum 30 and sum of squares 122: variance (122 - 900 / 9) / 8 = 2.75
    alpha = 1 - 3 * (16 / 3 + 1 + 1 / 3) / (9 * 2.75)
    assert found["human"]["raters"] == {
        "raters": 3, "rows": 3, "agreement": None, "alpha": pytest.approx(alpha, rel=1e-5), "error": None,
    }  # fmt: skip
    assert "3 rows were rated by several raters: Krippendorff's alpha 0.19" in report.notes


def test_an_answer_that_a_system_gives_twice_stays_two_answers(ratings):
    """One rater may rate both; rows that name no rater stay as they are."""
    rows = [{**row, "rater": "ann"} for row in ratings if row["rater"] == "r0"]
    found = genqa_metrics.agree([*rows, *rows], score_columns="good", resamples=100).to_dict()
    assert (found["rows"], found["human"]["raters"]["rows"]) == (8, 0)
    unnamed = [{name: value for name, value in row.items() if name != "rater"} for row in ratings]
    assert genqa_metrics.agree(unnamed, score_columns="good", resamples=100).to_dict()["rows"] == len(ratings)


def test_verdicts_of_raters_have_the_share_in_which_they_agree(ratings):
    """They agree on a, b and d where both say the same: 1 of 3 pairs, 1 of 3, all."""
    rows = [{**row, "label": int(row["score"] > 2)} for row in ratings]
    for row in rows:
        del row["score"]
    report = genqa_metrics.agree(rows, score_columns="good", resamples=100)
    raters = report.to_dict()["human"]["raters"]
    assert raters["agreement"] == pytest.approx((1 / 3 + 1 / 3 + 1) / 3, rel=1e-5)
    assert any(note.startswith("3 rows were rated by several raters: they agree in 56%") for note in report.notes)
    assert json.dumps(report.to_dict())
