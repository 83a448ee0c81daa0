"""Tests of the tables of a judge's errors, on made-up questions."""

import numpy as np
import pytest

from tests.factories.answer_sentences import gold_judge, questions
from training.studies.answer_ranking import error_tables as e
from training.studies.answer_ranking.candidates import Question
from training.studies.answer_ranking.overfitted import judge_of_unseen, known_and_unseen


def test_first_answers_are_counted_by_what_ranker_and_judge_say():
    """The ranker is sure of the last answer of one question, which is wrong, and of no answer of the other."""
    scores = [np.array([0.1, 0.2, 0.3, 0.9]), np.array([0.1, 0.4, 0.3])]
    rows = e.first_answers(questions()[:2], scores, gold_judge)
    assert [(row["candidate"], row["label"], row["judge"]) for row in rows] == [
        ("It rains.", 0, 0.0),
        ("The old bridge was built in 1850.", 1, 1.0),
    ]
    assert rows[1]["references"] == ["In 1850 workers built the old bridge."]
    assert [(cell["answers"], cell["right"]) for cell in e.opinions(rows, 0.5)] == [(0, 0), (1, 0), (1, 1), (0, 0)]


def test_choices_by_hand():
    """The judge chooses the other correct answer, the ranker the wrong one that repeats half of the reference."""
    question = Question("who won?", ("Ann won.", "Bob won.", "It was Ann."), (1, 0, 1))
    halves = [(Question("who won?", ("Ann won.",), (1,)), Question("who won?", question.candidates[1:], (0, 1)))]
    counts = e.choice_counts(e.choices(halves, [np.array([0.2, 0.7])], [np.array([0.9, 0.1])]))
    assert counts["right"] == {"both": 0, "judge alone": 1, "ranker alone": 0, "none": 0}
    assert counts["f1"] == pytest.approx({"judge": 0.4, "ranker": 0.5})  # 2 * 1 / (2 + 3), 2 * 1 / (2 + 2)


def test_the_judge_is_asked_about_unseen_answers_with_the_known_one_as_reference():
    halves = known_and_unseen(questions()[:1], 0)
    asked = []
    judge_of_unseen(halves, lambda *rows: asked.extend(zip(*rows, strict=True)) or [0.5] * len(rows[0]))
    ((known, unseen),) = halves
    assert asked == [(unseen.text, known.candidates[0], text) for text in unseen.candidates]


def test_tables_have_every_count():
    cells = [{"ranker": r, "judge": j, "answers": 5, "right": 3} for r in (True, False) for j in (True, False)]
    right = {"both": 4, "judge alone": 3, "ranker alone": 2, "none": 1}
    text = e.tables(
        {
            "first answers": {"WikiQA": {"opinions": cells}},
            "choices": {"questions": 10, "right": right, "f1": {"judge": 0.25, "ranker": 0.5}},
        }
    )
    assert "| ranker says wrong, judge says right | 5 | 3 |" in text
    assert "| judge with the reference | 10 | 7 | 3 | 0.250 |" in text
