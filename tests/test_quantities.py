"""Quantities of two texts, by hand: pairs that mean the same or do not, and texts that are none."""

import html
import json
import time
from pathlib import Path

import pytest
from genqa_metrics.ava.explaining import reason
from genqa_metrics.core.quantities import quantities
from genqa_metrics.core.quantity_readings import readings
from genqa_metrics.core.same_quantity import compare, unsettled
from genqa_metrics.grounding.judging import changed_claims

from tests.factories.cases import with_cases


def rows_of(name):
    return [json.loads(line) for line in (Path(__file__).parent / f"data/{name}.jsonl").open(encoding="utf-8")]


@pytest.mark.parametrize("pair", rows_of("quantity_pairs"), ids=lambda pair: f"{pair['kind']}: {pair['reference']}")
def test_the_right_form_is_equal_and_the_wrong_one_is_not(pair):
    right, wrong = (html.unescape(pair[name]) for name in ("right", "wrong"))
    assert compare(pair["reference"], right, pair["question"]) is True
    assert compare(pair["reference"], wrong, pair["question"]) is False
    assert compare(pair["reference"], pair["reference"], pair["question"]) is True


@pytest.mark.parametrize("case", rows_of("quantities"), ids=lambda case: f"{case['reference']} | {case['answer']}")
def test_equal_other_or_left_to_the_model(case):
    """None is not sure, as where an answer is less exact, has another unit, or may have another decimal point."""
    assert compare(case["reference"], case["answer"], case["question"]) is case["expected"]
    if not case["question"]:
        assert compare(case["answer"], case["reference"]) is case["expected"]


@pytest.mark.parametrize("text", ["(0-8)^(1/3)", "(1-2)^(1/2)", "√(0-4)", "(0-2π)^(1/2)"])
def test_a_root_of_a_negative_number_is_no_quantity(text):
    """Python's powers give a complex number there, which has no order."""
    assert readings(text) == ()
    assert compare("the 1990s", text) is None


def test_numbers_of_any_length_are_compared_exactly():
    """An answer of 310 digits has no place in a float."""
    long = "1" + "0" * 309
    assert compare(long, long) is True
    assert compare(long, long + "0") is False
    assert compare("5", "hundred " * 160) is None
    assert compare("10^40", "10^41") is False
    assert readings("2^(9^9)") == readings("1" * 5_000) == ()
    assert [number.value for number in quantities(long + "9")] == [float("inf")]


@pytest.mark.parametrize(
    "text",
    ["1 " * 50_000, "a" * 100_000 + "1", "$" * 40_000, "1," * 20_000, "(" * 20_000 + "1", "one " * 30_000,
     "\\frac" * 9_000,     "1-" * 400, "half past " * 9, "$" + "1" * 900, "1 hour and " * 6, "between " * 15 + "1"],
    ids=lambda text: text[:9],
)  # fmt: skip
def test_hostile_texts_cost_nothing(text):
    start = time.process_time()
    readings(text)
    compare("5", text, text)
    assert time.process_time() - start < 2


@with_cases
def test_the_question_settles_what_a_point_separates(question, reference, answer, same):
    assert compare(reference, answer, question) is same
    assert (unsettled(reference, answer, question) == "1.500") == (same is None)


def test_a_number_that_may_be_the_same_is_no_contradiction():
    assert changed_claims("A packet holds 1500 seeds.", "It has 1.500 seeds.") == []
    assert changed_claims("A packet holds 1600 seeds.", "It has 1.500 seeds.")[0][1] == "1.500"
    said = reason("How many came?", "1500", "1.500", 0.3, [["1.500", 0.0, 0, 5]], 0.5)
    assert said.endswith("; '1.500' can have decimals or thousands, which nothing here settles.")
