"""What a wrong answer lacks, adds or contradicts, with judges that compare words."""

from dataclasses import replace

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.ava import differences, explaining
from genqa_metrics.ava.differences import in_words, repairs, spans_of_parts
from genqa_metrics.ava.scorer import AvaScorer
from genqa_metrics.core.judge_model import PROMPT
from genqa_metrics.core.reading import COMMON
from genqa_metrics.core.words import keys


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


COLOURS = "red, blue and yellow"
STEPS = "Unplug the lamp, wait one minute, and press the switch."


@pytest.mark.parametrize(
    ("reference", "answer", "reason"),
    [
        (COLOURS, "Red and yellow.", 'Missing: "blue".'),
        (COLOURS, "yellow", 'Missing: "red"; missing: "blue".'),
        (COLOURS, "Red, blue, green and yellow", 'Adds: "green".'),
        (COLOURS, "red, green and yellow", 'Missing: "blue"; adds: "green".'),
        (
            STEPS,
            "Unplug the lamp, wait an age, press the switch",
            '"wait an age" is not "wait one minute".',
        ),
        (STEPS, "- Unplug the **lamp**.\n- Press the switch.", 'Missing: "wait one minute".'),
        ("In the autumn of 1871", "in the autumn of 1817.", '"1817" is not "1871".'),
        ("at seven in the hall", "At seven.", 'Missing: "in the hall".'),
    ],
)
def test_the_smallest_change_that_a_judge_accepts(reference, answer, reason):
    (repair,) = repairs(["Which?"], [[reference]], [answer], SameWords())
    assert repair.accepted
    assert in_words(repair.differences()) == reason


def test_an_answer_that_no_change_mends_has_no_reason():
    row = ["Which?"], [[COLOURS]], ["a house with a garden, a well and a barn"]
    assert not repairs(*row, lambda *columns: np.full(len(columns[0]), 0.1))[0].accepted
    assert repairs([], [], [], SameWords()) == []


@pytest.mark.parametrize(("left_out", "rest"), [((0, 3), "blue and green."), ((14, 19), "Red, blue.")])
def test_a_part_goes_with_what_links_it(left_out, rest):
    repair = differences.Repair("Which?", ["grey"], "Red, blue and green.")
    assert repair.changed(differences.Change(left_out)) == rest


def test_one_change_where_more_are_too_many():
    row = ["Which?"], [[COLOURS]], ["yellow"]
    assert not repairs(*row, SameWords(), 1)[0].accepted
    assert repairs(*row, SameWords(), 2)[0].accepted


def test_an_exclusive_answer_is_read_without_the_part_that_it_lacks():
    """No text behind "only" is accepted, and the accepted answer without Polish is what the answer says."""

    def probabilities(questions, references, answers):
        same = SameWords("only")(questions, references, answers)
        return (
            np.array([0.1 if ";" in text else value for text, value in zip(answers, same.tolist(), strict=True)])
            + 0.06
        )

    row = ["Which?"], [["French and Polish"]], ["Only French."]
    (repair,) = repairs(*row, probabilities)
    assert in_words(repair.differences()) == 'Missing: "Polish".'


def test_what_the_question_says_is_not_missing():
    judge = SameWords()
    repairs(["Which colours has the flag?"], [["The flag, colours: red and blue"]], ["red"], judge)
    assert not any("flag" in text for text in judge.read)


def test_the_nearest_accepted_answer_is_compared():
    row = ["Who?"], [["a painter from Vienna", "Ann Lee and Bob Ray"]], ["Ann Lee"]
    (repair,) = repairs(*row, SameWords())
    assert in_words(repair.differences()) == 'Missing: "Bob Ray".'


def test_long_answers_are_changed_once():
    filler = "It has been so for a long time, as old people say. "
    row = ["Which?"], [[COLOURS]]
    assert repairs(*row, [f"Yellow. {filler}"], SameWords(filler))[0].accepted
    assert not repairs(*row, [f"Yellow. {filler * 4}"], SameWords(filler))[0].accepted
    assert repairs(*row, [f"Red, yellow. {filler * 4}"], SameWords(filler))[0].accepted


@pytest.mark.parametrize("text", ["", "   ", "...", "a, the, of", "**", "- \n- ", ", ".join("abcdefgh" * 40)])
def test_any_text_is_split(text):
    spans = spans_of_parts(text)
    assert len(spans) <= differences.MOST_PARTS
    assert all(0 <= start < end <= len(text) for start, end in spans)
    repairs(["?"], [["x"]], [text], SameWords())


def test_an_explanation_names_differences_and_marks_their_words():
    """Right answers, answers that a rule decides and those that decline are explained as before."""
    judge = SameWords()
    references = [["red and blue"]] * 4
    answers = ["red and green", "red and blue", "I don't know.", "red"]
    by_rule = [None, None, None, "By a rule."]
    wrong, right, declines, ruled = explaining.explanations(
        ["Which?"] * 4, references, answers, judge, 0.5, by_rule, 3
    )
    assert wrong["differences"] == [["missing", "blue", ""], ["adds", "green", ""]]
    assert wrong["reason"] == 'Missing: "blue"; adds: "green".'
    assert [(word, round(effect, 6)) for word, effect, *_ in wrong["words"]] == [
        ("red", 0),
        ("and", 0),
        ("green", -0.8),
    ]
    assert right["differences"] == declines["differences"] == ruled["differences"] == []
    assert ruled["reason"] == "By a rule."
    assert declines["reason"].startswith("It declines")
    plain = explaining.explanations(["Which?"], references[:1], answers[:1], judge, 0.5)
    assert plain[0]["differences"] == []


@pytest.mark.parametrize(
    ("reference", "answer", "reason"),
    [
        ("Open until 9 pm", "It is open until 8 pm.", '"8 pm" is not "9 pm".'),
        ("April 15, 1912", "On 15 April 1915.", '"15 April 1915" is not "April 15, 1912".'),
        ("May 1912", "In 1912", ""),
        ("In June", "May we know?", 'Missing: "June".'),
        ("Monday to Friday, 8 am", "Monday to Friday", 'Missing: "8 am".'),
        ("14 days", "two weeks", ""),
        ("It is not open on Sundays.", "It is open on Sundays.", 'Missing: "It is not open on Sundays".'),
        ("Ann Lee", "Only Bo Ray knew.", '"Bo Ray" is not "Ann Lee".'),
        ("Ann Lee", "Either Bo Ray or Al Kay.", ""),  # which of them is wrong is not known
        ("1945", "In 1944." + " It was a long war." * 6, ""),
    ],
)
def test_values_and_names_that_differ_by_their_words(reference, answer, reason):
    stated = differences.stated_differences("When and who?", [reference], answer)
    assert (in_words(stated) if stated else "") == reason


def test_only_a_loaded_judge_names_differences(monkeypatch):
    scorer = AvaScorer()
    columns = {"questions": ["Which?"] * 3, "references": [[COLOURS]] * 3}
    columns["predictions"] = ["red and yellow", COLOURS, "I don't know."]
    scorer.probabilities = SameWords()
    scorer.loaded = replace(scorer.loaded, configuration=PROMPT, load=lambda: (None, None))
    assert scorer.differences(columns) == []  # its model is not loaded
    scorer.loaded.ready()
    assert scorer.differences(columns) == ['missing "blue"', "", ""]
    assert scorer.differences({name: [] for name in columns}) == []


def test_the_list_of_answers_to_read_names_differences(monkeypatch):
    """Only of answers that were judged wrong, and that no person calls right; others keep their fault."""
    asked = []

    def named(scorer, columns):
        asked.extend(columns["predictions"])
        return ['adds "Perth"' if "Perth" in text else "" for text in columns["predictions"]]

    monkeypatch.setattr(AvaScorer, "differences", named)
    answers = [("Sydney and Perth", None), ("Canberra", None), ("In Perth, 1912.", 1), ("I don't know.", None)]
    rows = [
        {
            "question": "What is the capital of Australia?",
            "references": ["Canberra"],
            "prediction": text,
            "label": label,
        }
        for text, label in answers
    ]
    report = genqa_metrics.score(rows, "ava")
    faults = {answer["prediction"]: answer["fault"] for answer in report.to_dict()["to_read"]}
    assert sorted(asked) == ["I don't know.", "Sydney and Perth"]
    assert faults["Sydney and Perth"] == 'adds "Perth"'
    assert faults["I don't know."] == "declined"
    assert 'adds "Perth": "Sydney and Perth"' in str(report)
