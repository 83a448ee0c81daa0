"""What is read of a row and compared exactly before the judge; no rule rejects a right answer for its form."""

import json
from pathlib import Path

import numpy as np
import pytest
from genqa_metrics.ava import explaining, judging
from genqa_metrics.ava.judging import EXACT, NO_ANSWER, Rules, with_option
from genqa_metrics.core.answers import attempts, declines, extract_answer, without_retracted

from tests.factories.cases import with_cases

RIGHT = [json.loads(line) for line in (Path(__file__).parent / "data/right_answers.jsonl").open(encoding="utf-8")]
METALS = "Which metal is liquid at room temperature?\nA. Iron\nB. Mercury\nC. Zinc\nD. Tin"


def verdict(question, reference, answer):
    (found,) = Rules().read(question, [reference], answer).verdicts
    return None if found is None else found.right


def test_no_right_answer_is_rejected_by_rule():
    assert len(RIGHT) >= 300
    for row in RIGHT:
        read = Rules().read(row["question"], [row["reference"]], row["answer"])
        assert any(map(str.isalnum, read.answer)) or read.is_reference, row
        assert read.verdicts[0] is None or read.verdicts[0].right, row


@with_cases
def test_what_is_taken_off(output, read):
    assert extract_answer(output) == read


def test_a_reference_that_is_a_call_is_compared_as_it_is():
    call = '{"name": "find", "arguments": {"q": "Rome"}}'
    assert verdict("Which call is made?", call, call) is True
    assert Rules().read("Which call is made?", [call], "Rome").references == [call]


@with_cases
def test_usual_phrases_decline(text):
    assert declines(text)
    assert not attempts(text)
    assert verdict("What is the price?", "No Answer Present.", text) is True
    assert verdict("What is the price?", "40 euros", text) is None  # the model reads it


@with_cases
def test_what_gives_an_answer_does_not_decline(text):
    assert not declines(text)


def test_that_a_question_has_no_answer_is_read_in_one_form():
    for text in ("No Answer Present.", "unanswerable", "CANNOTANSWER", "no answer"):
        row = Rules().read("When does it run?", [text], "Every hour.")
        assert (row.references, row.verdicts) == ([NO_ANSWER], [None])
    for text in ("unknown", "none", "null", "pass", "N/A"):
        assert Rules().read("When does it run?", [text], "x").references == [text]
        assert verdict("What stands there?", text, text) is True
        assert verdict("What stands there?", text, "I don't know.") is None


@with_cases
def test_an_option_is_read_by_its_text(answer, read):
    for reference in ("B", "B) Mercury", "Mercury", "(B)"):
        row = Rules().read(METALS, [reference], answer)
        assert (row.references, row.answer) == (["Mercury"], read)


def test_options_need_a_question_with_letters():
    assert with_option("A. Mercury", {"A": "Iron", "B": "Mercury"}) == "Iron. Mercury"  # the judge reads both
    assert with_option("E", {"A": "Iron", "B": "Mercury"}) == "E"
    count = Rules().read("How many are metals?\n1. iron\n2. oxygen\n3. tin", ["2"], "two")
    assert (count.references, count.verdicts[0].right) == (["2"], True)
    assert verdict("Who wrote it?", "G. K. Chesterton", "G. K. Chesterton said that Christie wrote it.") is None


def test_what_is_taken_back_is_not_read():
    assert without_retracted("Canberra. No wait, Sydney.", "Capital of Australia?") == "Sydney."
    assert without_retracted("Canberra. I changed my mind: Sydney.", "Capital of Australia?") == "Sydney."
    assert without_retracted("No. That is wrong: it is flat.", "Is it round?") == "No. That is wrong: it is flat."
    assert Rules().read("What did she say?", ["Yes. No, wait."], "Yes. No, wait.").answer == "Yes. No, wait."


class ModelThatAccepts:
    """A judge whose model accepts everything, to see what rules do."""

    configuration, marks, max_length = "a1-r_qt", None, 128
    reference_aggregation, long_answer, passage = "max", 150, 40

    def calibrated(self, logits):
        return 1 / (1 + 2.718**-logits)


@pytest.fixture
def accepting(monkeypatch):
    read = []
    monkeypatch.setattr(judging.Judge, "logits", lambda _, triples: read.extend(triples) or np.full(len(triples), 3.0))

    def judge(*rules):
        made = judging.Judge(ModelThatAccepts(), rules=Rules(*rules))
        made.read = read
        return made

    return judge


@pytest.mark.parametrize("how", ["max", "mean", "joined"])
def test_a_comparison_goes_before_the_model_and_can_be_turned_off(accepting, how):
    row = ["When did it open?"], [["1894", "1,894"]], ["1849"]
    assert accepting().probabilities(*row, how)[0] < 0.01
    assert accepting(("answer",)).probabilities(*row, how)[0] > 0.9
    assert accepting(()).probabilities(*row, how)[0] > 0.9


def test_references_that_are_no_quantity_are_left_to_the_model(accepting):
    judge = accepting()
    judge.probabilities(["When?"], [["1894", "in the year of the flood"]], ["1895"], "max")
    judge.probabilities(["When?"], [["1894", "in the year of the flood"]], ["1895"], "joined")
    assert [reference for _, reference, _ in judge.read] == ["in the year of the flood"] * 2


def test_a_long_reference_about_something_else_is_not_read(accepting):
    judge = accepting()
    other = "The harbour was dredged in spring and the council paid for it. " * 6
    judge.probabilities(["Who painted the Mona Lisa?"], [["Leonardo", other]], ["It was painted by Raphael"], "max")
    assert [reference for _, reference, _ in judge.read] == ["Leonardo"]


def test_a_call_of_a_tool_alone_is_no_answer(accepting):
    row = ["How many?"], [["four of them"]], ['<tool_call>{"name": "count", "arguments": {"of": "four"}}</tool_call>']
    assert accepting().probabilities(*row)[0] == 0


def test_without_rules_an_answer_is_read_as_it_is(accepting):
    judge = accepting(())
    long = "It is far away. " * 100
    judge.probabilities(["Who?"] * 3, [["Ann"]] * 3, ["<think>Bob?</think> Ann", "Ann", long], "mean")
    assert [answer for *_, answer in judge.read] == ["<think>Bob?</think> Ann", "Ann", long]


def test_the_reason_names_both_numbers(accepting):
    question, references, answer = "When did it open?", ["1894"], "1849"
    judge = accepting()
    row = question, references, answer
    by_rule = [explaining.reason_by_rule(judge.rules, *row)]
    found = explaining.explanations(*([each] for each in row), judge.probabilities, 0.5, by_rule)
    assert found[0]["reason"] == "'1849' is not '1894' (checked by rule)."


@pytest.mark.parametrize("rule", EXACT)
def test_every_comparison_has_a_reason(rule):
    rows = {
        "identity": [("Who?", "Ann", "Ann", True), ("Which language?", "C++", "C", False)],
        "number": [("When?", "1944", "1945", False), ("How many?", "ten", "10", True)],
        "no_answer": [("Who?", "unanswerable", "I don't know.", True)],
    }
    for question, reference, answer, right in rows[rule]:
        (found,) = Rules().read(question, [reference], answer).verdicts
        assert (found.rule, found.right) == (rule, right)
        assert explaining.reason_by_rule(Rules(), question, [reference], answer).endswith("(checked by rule).")
