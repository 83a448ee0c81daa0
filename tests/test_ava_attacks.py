"""Answers in forms that should deceive a judge: what it reads of them, and that the form decides nothing."""

import time

import pytest
from genqa_metrics.ava.judging import Rules
from genqa_metrics.core.reading import readable, readable_answer

from tests.factories.cases import with_cases

QUESTION, REFERENCES = "What is the capital of France?", ["Paris"]


@with_cases
def test_what_is_readable(text, expected):
    assert readable(text) == expected


@with_cases
def test_what_is_readable_of_an_answer(text, references, expected):
    assert readable_answer(text, references) == expected


@with_cases
def test_what_is_read_of_an_answer(answer, expected):
    assert Rules().read(QUESTION, REFERENCES, answer).answer == expected


def test_a_question_about_a_statement_may_be_denied():
    answer = "No. That is not right. It is not flat."
    assert Rules().read("Is the earth flat?", ["No"], answer).answer == answer
    signal = "Tora! Tora! Tora!"
    assert Rules().read("What was the signal?", ["Tora, Tora, Tora"], signal).answer == signal


@pytest.mark.parametrize(
    "text",
    ["a " * 30_000, "[P" * 20_000, "no, " * 15_000, "It is not" + " " * 50_000, "no" + "  " * 30_000 + "not",
     "a or " * 20_000, "the answer is " * 5_000, "<s>" * 20_000, "\u200b" * 50_000, "mark this " * 6_000,
     "{" * 5000, "<think>" * 3000, "\\boxed{" * 3000, "<" + " a" * 50_000, "I don't know" + " about a" * 40 + " # x",
     "not possible to say" + " in" * 120 + " #", "\n" * 60_000 + "xfinal answer", "####\n" * 20_000,
     "final answer" + " " * 60_000, "final answer" + "*\n" * 9_000, '{"answer": ' + "[" * 900 + "]" * 900 + "}"],
    ids=lambda text: text[:9],
)  # fmt: skip
def test_hostile_answers_are_read_quickly(text):
    start = time.process_time()
    Rules().read(QUESTION, REFERENCES, text)
    assert time.process_time() - start < 1
