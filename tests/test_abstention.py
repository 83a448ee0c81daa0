"""Correct, wrong and declined: three shares that sum to one, in every verb; and the accuracy given an attempt."""

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.registry import make_scorer

SHARES = ("ava_accuracy", "ava_wrong", "ava_declined")
TRUTH = "Alice Walker"
DECLINED = ("I don't know.", "", "<think>Walker? Who knows.</think>I cannot answer that.")


def rows(*answers, references=TRUTH, **more):
    asked = [f"Who wrote book {number}?" for number in range(len(answers))]
    return [
        {"question": question, "prediction": answer, "references": references, **more}
        for question, answer in zip(asked, answers, strict=True)
    ]


ANSWERS = rows(TRUTH, TRUTH, "I'm sorry, but I don't know.", "", *[TRUTH] * 2)


def test_shares_by_hand():
    """4 of 6 answers are correct, 2 decline: 4 / 6, 0 / 6, 2 / 6; of the 4 attempts all are correct."""
    found = genqa_metrics.score(ANSWERS).systems["rows"]
    assert [found[name] for name in SHARES] == pytest.approx([4 / 6, 0, 2 / 6])
    assert found["ava_accuracy_given_attempted"] == 1


def test_declining_is_correct_where_the_reference_declines():
    found = genqa_metrics.score(rows("I don't know.", references="unanswerable")).systems["rows"]
    assert [found[name] for name in SHARES] == [1, 0, 0]


def test_without_an_attempt_the_accuracy_given_an_attempt_is_0():
    found = genqa_metrics.score(rows(*DECLINED)).systems["rows"]
    assert [found[name] for name in SHARES] == [0, 0, 1]
    assert found["ava_accuracy_given_attempted"] == 0


def test_many_corpora_at_once():
    """Sums of three rows: 1 correct, 1 declined, so 1 wrong, and 1 of 2 attempts correct; and no rows."""
    found = make_scorer("ava").resampled_scores(np.array([[1, 1.5, 1], [0, 0, 0]]), np.array([3, 0]))
    third = pytest.approx([1 / 3, 0])
    assert all(list(found[name]) == third for name in SHARES)
    assert list(found["ava_accuracy_given_attempted"]) == [0.5, 0]


def test_tables_have_three_columns():
    report = genqa_metrics.compare({"a": ANSWERS, "b": rows(*[TRUTH] * 6)}, resamples=100)
    for tables in (genqa_metrics.score(ANSWERS).tables(), report.tables()):
        assert {*SHARES, "ava_accuracy_given_attempted"} <= set(tables[0].header)
    assert report.scores["ava"]["ava_declined"]["a"]["value"] == pytest.approx(1 / 3, abs=1e-5)
    header = genqa_metrics.accuracy(ANSWERS).tables()[0].header
    assert {"accuracy", "wrong", "declined", "accuracy_given_attempted"} <= set(header)


def test_accuracy_given_an_attempt_is_the_accuracy_of_these_rows():
    """With the same labels: 30 of 40 attempts are correct, 10 of 50 answers decline."""
    answered = rows(*[f"answer {number}" for number in range(40)], *["I don't know."] * 10)
    for number, row in enumerate(answered):
        row["judge"] = float(number < 30)
    labels = [{**row, "label": row["judge"], "system": "rows"} for row in answered]
    columns = {"judge": "judge"}
    found = genqa_metrics.accuracy(answered, labels, columns=columns).systems["rows"]
    assert [found["declined"], found["wrong"]] == pytest.approx([0.2, 0.2], abs=0.01)
    alone = genqa_metrics.accuracy(answered[:40], labels[:40], columns=columns).systems["rows"]
    given = found["accuracy_given_attempted"]
    assert [given["value"], given["low"], given["high"]] == pytest.approx(
        [alone["accuracy"], alone["low"], alone["high"]]
    )


def test_systems_without_a_refusal_have_one_accuracy():
    found = genqa_metrics.accuracy(rows(*[TRUTH] * 6)).systems["rows"]
    given = found["accuracy_given_attempted"]
    assert (found["declined"], given["value"]) == (0, found["accuracy"])


def test_all_answers_decline():
    found = genqa_metrics.accuracy(rows(*DECLINED))
    assert found.systems["rows"]["accuracy_given_attempted"] is None
    assert "-" in found.tables()[0].rows[0]
