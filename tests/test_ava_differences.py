"""How a rejected answer differs from the accepted one; what is printed must be seen in the two texts."""

from dataclasses import replace

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.ava import differences, explaining
from genqa_metrics.ava.differences import doubt, spans_of_parts, stated_differences
from genqa_metrics.ava.scorer import AvaScorer
from genqa_metrics.core.judge_model import PROMPT
from genqa_metrics.core.reading import COMMON
from genqa_metrics.core.words import keys
from genqa_metrics.verbs.score.report import READ

from tests.factories.cases import with_cases


class SameWords:
    """Accepts an answer (.9) that has all content words of an accepted answer and no others; counts what it reads."""

    def __init__(self, free=""):
        self.read, self.free = [], set(keys(free)) | COMMON

    def __call__(self, questions, references, answers):
        self.read += answers

        def words(text):
            return set(keys(text)) - self.free

        rows = zip(references, answers, strict=True)
        return np.array(
            [0.9 if any(words(text) == words(answer) for text in texts) else 0.1 for texts, answer in rows]
        )


def in_words(stated):
    return "; ".join(map(str, stated))


@with_cases
def test_what_differs_can_be_seen_in_the_texts(question, reference, answer, reason):
    """Of answers that are right in other words nothing is said, as a judge that rejects them is wrong."""
    stated = stated_differences(question, [reference], answer)
    assert in_words(stated) == reason
    for each in stated:
        assert each.text in (reference if each.kind == "missing" else answer)
        assert each.accepted in reference
        if each.kind != "missing":
            assert answer[each.start :].startswith(each.text)


@with_cases
def test_items_of_lists_to_check(reference, answer, expected):
    assert doubt("Which are they?", [reference], answer) == expected


def test_the_nearest_accepted_answer_is_compared():
    references = ["a painter from Vienna", "Ann Lee and Bo Ray"]
    assert in_words(stated_differences("Who?", references, "Ann Lee")) == 'missing: "Bo Ray"'
    assert doubt("Who?", references, "Ann Lee") == 'check: "Bo Ray" is not in the answer'
    assert doubt("Who?", [*references, "Ann Lee"], "Ann Lee") == ""


STEPS = "It opens the valve, cools the coil and fills the tank."


def test_a_judge_of_prompts_finds_the_part_that_it_does_not_accept():
    """Where the texts show it no judge is asked; where one part is all, nothing is said."""
    answers = ["It opens the valve, heats up the whole coil and fills a tank.", "It opens the valve.", "Some steps."]
    judge = SameWords()
    columns = ["What does it do?"] * 3, [[STEPS], [STEPS], ["It opens the valve."]], answers
    named = [in_words(each) for each in differences.differences(*columns, judge)]
    assert named == [
        '"heats up the whole coil" instead of "cools the coil"',
        'missing: "cools the coil"; missing: "fills the tank"',
        "",
    ]
    assert len(judge.read) == 3  # in every place the part that stands in no other one
    assert differences.differences(*columns)[0] == []
    assert differences.differences(*columns, lambda *rows: np.full(len(rows[0]), 0.7))[0] == []
    assert differences.differences([], [], [], judge) == []


def test_a_judge_of_prompts_finds_the_parts_that_an_answer_does_not_state():
    """Parts of which the answer has half the words are not asked for; a judge that is not sure names none."""
    row = ["What does it do?"], [[STEPS]], ["Valves open, and something is cooled."]
    assert in_words(*differences.differences(*row, SameWords())) == 'missing: "fills the tank"'
    assert differences.differences(*row, lambda *columns: np.full(len(columns[0]), 0.3)) == [[]]


@pytest.mark.parametrize("text", ["", "   ", "...", "a, the, of", "**", "- \n- ", ", ".join("abcdefgh" * 40), "No."])
def test_any_text_is_split(text):
    spans = spans_of_parts(text)
    assert len(spans) <= differences.MOST_PARTS
    assert all(0 <= start < end <= len(text) for start, end in spans)
    for texts in (["x"], ["not x and y"], [text]):
        differences.differences(["?"], [texts], [text], SameWords())
        doubt("?", texts, text)


def test_an_explanation_names_differences_and_marks_their_words():
    """Right answers, answers that a rule decides and those that decline have none."""
    references = [["red and blue"]] * 5
    answers = ["red", "blue and red", "I don't know.", "red", "the two colours of the flag"]
    by_rule = [None, None, None, "By a rule.", None]
    explained = explaining.explanations(["Which?"] * 5, references, answers, SameWords(), 0.5, by_rule)
    assert [row["reason"] for row in explained] == [
        'Missing: "blue".',
        "Judged right.",
        "It declines to answer; accepted: 'red and blue'.",
        "By a rule.",
        "The judge gives no reason in words; accepted: 'red and blue'.",
    ]
    assert [row["differences"] for row in explained] == [[["missing", "blue", ""]], [], [], [], []]
    (added,) = explaining.explanations(["Which?"], references[:1], ["red, blue and grey"], SameWords(), 0.5)
    assert explaining.marks("red, blue and grey", added) == [(14, 18, "against", "")]


def test_words_of_the_accepted_answer_stand_for_a_reason_that_is_not_known():
    """Up to three of them, where the answer has others of its words; a time takes the place of no weekday."""
    accepted = "Service level agreement", "Red, green, blue, white and black paint", "Monday to Friday"
    answers = "Software licence agreement", "Yellow paint", "Mon-Thu 9 am - 5 pm, Fri 9 am - 3 pm"
    explained = explaining.explanations(["?"] * 3, [[text] for text in accepted], answers, SameWords(), 0.5)
    assert [row["reason"] for row in explained] == [
        'Not in the answer: "Service", "level"; accepted: \'Service level agreement\'.',
        "The judge gives no reason in words; accepted: 'Red, green, blue, white and black paint'.",
        "The judge gives no reason in words; accepted: 'Monday to Friday'.",
    ]


def test_a_reason_of_a_right_answer_names_the_item_to_check():
    row = ["Who won?"], [["Ann Lee, Bo Ray and Cy Dee"]], ["Ann Lee, Bo Ray"]
    (explained,) = explaining.explanations(*row, lambda *columns: np.full(len(columns[0]), 0.9), 0.5)
    assert explained["reason"] == 'Judged right; check: "Cy Dee" is not in the answer.'


@pytest.mark.parametrize(
    ("accepted", "answer", "reason"),
    [
        ("Roughly 8.3 min", "Nearly 500 seconds.", "Judged right."),
        ("It was Ann Lee.", "Bo Ray, a smith, in 1903.", "Judged right."),
        ("It was Ann Lee.", "It was Bo Ray.", 'Judged right; words that differ: "Bo Ray" / "Ann Lee".'),
    ],
)
def test_a_reason_of_a_right_answer_names_all_that_differs_or_nothing(accepted, answer, reason):
    row = ["Which?"], [[accepted]], [answer]
    (explained,) = explaining.explanations(*row, lambda *columns: np.full(len(columns[0]), 0.9), 0.5)
    assert explained["reason"] == reason


def test_only_a_loaded_judge_of_prompts_reads_parts_of_answers():
    """Not of long answers; other judges, and long answers, have what the texts show."""
    scorer, judge = AvaScorer(), SameWords()
    answers = ["It opens the valve and cools the coil.", "It opens the valve, heats up the coil and fills a tank."]
    answers += ["I don't know.", f"It opens the valve. {'It has been so for a long time, they say. ' * 4}"]
    columns = {"questions": ["What does it do?"] * 4, "references": [[STEPS]] * 4, "predictions": answers}
    scorer.probabilities = judge
    by_texts = ['missing "fills the tank"', "", "", ""]
    assert scorer.differences(columns) == by_texts  # it reads pairs
    scorer.loaded = replace(scorer.loaded, configuration=PROMPT, load=lambda: (None, None))
    assert scorer.differences(columns) == by_texts  # its model is not loaded
    assert not judge.read
    scorer.loaded.ready()
    named = ['missing "fills the tank"', '"heats up the coil" instead of "cools the coil"', "", ""]
    assert scorer.differences(columns) == named
    assert not any("long time" in text for text in judge.read)
    assert scorer.differences({name: [] for name in columns}) == []


def test_the_list_of_answers_to_read_names_differences(monkeypatch):
    """Only of answers that were judged wrong, and that no person calls right; others keep their fault."""
    asked = []

    def named(scorer, columns):
        asked.extend(columns["predictions"])
        return ['adds "Perth"' if "Perth" in text else "" for text in columns["predictions"]]

    monkeypatch.setattr(AvaScorer, "differences", named)
    texts = [("Sydney and Perth", None), ("Canberra", None), ("In Perth, 1912.", 1), ("I don't know.", None)]
    question = {"question": "What is the capital of Australia?", "references": ["Canberra"]}
    report = genqa_metrics.score([question | {"prediction": text, "label": label} for text, label in texts], "ava")
    faults = {answer["prediction"]: answer["fault"] for answer in report.to_dict()["to_read"]}
    assert sorted(asked) == ["I don't know.", "Sydney and Perth"]
    assert faults["Sydney and Perth"] == 'adds "Perth"'
    assert faults["I don't know."] == "declined"
    assert 'wrong: adds "Perth" (probability' in str(report)
    (table,) = [table for table in report.tables() if table.title.startswith(READ)]
    assert next(row[2] for row in table.rows if "Sydney" in str(row)).endswith(': adds "Perth"')
