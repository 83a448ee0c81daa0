"""Correct, wrong and declined: three shares that sum to one, in every verb; and the accuracy given an attempt."""

import genqa_metrics
import pytest

from tests.factories.cases import with_cases

SHARES = ("ava_accuracy", "ava_wrong", "ava_declined")
TRUTH = "Alice Walker"
DECLINED = ("I don't know.", "", "<think>Walker? Who knows.</think>I cannot answer that.")


def rows(*answers, references=TRUTH, **more):
    asked = [f"Who wrote book {number}?" for number in range(len(answers))]
    return [
        {"question": question, "prediction": answer, "references": references, **more}
        for question, answer in zip(asked, answers, strict=True)
    ]


@with_cases
def test_shares_by_hand(answers, references, shares, given):
    found = genqa_metrics.score(rows(*answers, references=references)).systems["rows"]
    assert [found[name] for name in SHARES] == pytest.approx(shares)
    assert found["ava_accuracy_given_attempted"] == given


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
    attempted = found["accuracy_given_attempted"]
    assert attempted["value"] == pytest.approx(alone["accuracy"]) == pytest.approx(found["accuracy"] / 0.8)
    assert attempted["low"] <= alone["low"] < alone["high"] <= attempted["high"]


def test_all_answers_decline():
    found = genqa_metrics.accuracy(rows(*DECLINED))
    assert found.systems["rows"]["accuracy_given_attempted"] is None
    assert "accuracy_given_attempted" not in found.tables()[0].header
