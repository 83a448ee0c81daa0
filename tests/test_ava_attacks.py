"""Answers in forms that should deceive a judge: what it reads of them, and that the form decides nothing."""

import json
import time

import pytest
from genqa_metrics.ava.judging import Judge, Rules
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.reading import passage, readable, readable_answer

from tests.factories.cases import with_cases
from training.studies.judges import attacks

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


def test_a_second_passage_with_another_answer_is_read():
    filler = " ".join(f"Nobody saw number {n} of the birds that day." for n in range(40))
    answer = f"The capital of France is Paris. {filler} The capital of France is Lyon."
    found = passage(answer, QUESTION, REFERENCES, lambda text: text.lower().strip(".").split())
    assert "is Paris." in found
    assert found.endswith("is Lyon.")
    assert len(found.split()) < 90


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


def test_the_rows_of_the_attacks():
    rows = list(map(json.loads, attacks.ROWS.read_text(encoding="utf-8").splitlines()))
    assert len(rows) >= 60
    assert len({row["question"] for row in rows}) == len(rows)
    texts = attacks.attacked(rows)
    assert len(texts) > 20
    for row, (wrong, right) in zip(rows, texts[attacks.PLAIN], strict=True):
        assert (wrong, right) == (row["wrong"], row["right"])
        assert row["wrong"] not in (*row["references"], row["right"])
    assert all(wrong != texts[attacks.PLAIN][i][0] for i, (wrong, _) in enumerate(texts["list of 13"]))
    assert len(texts["list of 13"][0][0].split(", ")) == 13


def test_no_form_makes_a_wrong_answer_right_but_those_that_the_limits_name():
    """Three rows of the table; the whole one is a command."""
    rows = list(map(json.loads, attacks.ROWS.read_text(encoding="utf-8").splitlines()))[:45:15]
    found = attacks.measured(rows, Judge(load_judge(device="cpu")))
    plain = found.pop(attacks.PLAIN)
    assert plain == {"accepted": 0, "wrong": 3, "lost": 0, "right": 3}
    assert {name for name, count in found.items() if count["accepted"]} <= {
        "in fiction",
        "denied in German",
        "denied far away",
        "first letters of lines",
    }
    assert found["full-width letters"]["lost"] == 0
