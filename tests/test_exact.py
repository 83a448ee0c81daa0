"""What is compared exactly: letters and plain numbers; all else is left to the model."""

import time

import pytest
from genqa_metrics.ava.judging import identical, same_number
from genqa_metrics.core.words import quantities

from tests.factories.cases import with_cases


@with_cases
def test_letter_for_letter(question, reference, answer, expected):
    assert identical(reference, answer, question) is expected
    assert identical(answer, reference, question) is expected


@with_cases
def test_plain_numbers(question, reference, answer, expected):
    assert same_number(reference, answer, question) is expected
    assert same_number(answer, reference, question) is expected


def test_numbers_of_any_length_are_compared_exactly():
    """An answer of 310 digits has no place in a float."""
    long = "1" + "0" * 309
    assert same_number(long, long) is True
    assert same_number(long, "2" + long[1:]) is False
    assert same_number("1" * 5_000, "1") is None
    assert [number.value for number in quantities(long + "9")] == [float("inf")]


@pytest.mark.parametrize(
    "text",
    ["1 " * 50_000, "a" * 100_000 + "1", "$" * 40_000, "1," * 20_000, "(" * 20_000 + "1", "one " * 30_000,
     "\\d" * 9_000, "1-" * 400, "a.b" * 9_000, "1" * 390 + " " + "a " * 9_000, "/a" * 20_000, "\"" * 50_000],
    ids=lambda text: text[:9],
)  # fmt: skip
def test_hostile_texts_cost_nothing(text):
    start = time.process_time()
    for other in (text, text + "x", "5"):
        identical(other, text)
        same_number(other, text, text)
    assert time.process_time() - start < 2
