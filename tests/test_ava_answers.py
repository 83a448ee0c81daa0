"""What an output says, whether it declines, and why a judge decided: by hand."""

import evaluate
import numpy as np
import pytest
from genqa_metrics.ava import explaining, judging, loading
from genqa_metrics.core import answers, reading, replacing

from tests.factories.cases import with_cases


@with_cases
def test_the_answer_in_an_output(output, expected):
    assert answers.extract_answer(output) == expected


class Rules:
    """A judge that wants the word of the reference and no 'not'; notes the size of its batches."""

    def __init__(self):
        self.calls = []

    def __call__(self, questions, references, predictions):
        self.calls.append(len(predictions))
        return np.array(
            [
                max(0.9 if text in said and " not " not in f" {said} " else 0.1 for text in texts)
                for texts, said in zip(references, predictions, strict=True)
            ]
        )


def test_explanations_by_hand():
    """Without 'Bonn' .9 falls to .1; without 'not' .1 rises to .9; the other words do nothing."""
    judge = Rules()
    answers = ["In Bonn.", "It is not Bonn!", "Paris", "nobody knows"]
    references = [["Rome", "Bonn"], ["Bonn"], ["Rome", "Bonn"], ["Rome"]]
    right, denied, other, empty = explaining.explanations(["Where?"] * 4, references, answers, judge, 0.5)
    assert right["reference"] == 1
    assert right["probability"] == 0.9
    assert [(word, round(effect, 6), start, end) for word, effect, start, end in right["words"]] == [
        ("In", 0.0, 0, 2), ("Bonn", 0.8, 3, 7)
    ]  # fmt: skip
    assert right["reason"] == "Judged right."
    effects = {word: round(effect, 6) for word, effect, *_ in denied["words"]}
    assert effects == {"It": 0, "is": 0, "not": -0.8, "Bonn": 0}
    assert denied["reason"] == 'Adds: "not Bonn".'
    assert other["reason"] == '"Paris" instead of "Rome".'
    assert other["differences"] == [["contradicts", "Paris", "Rome"]]
    assert empty["reason"] == "The judge gives no reason in words; accepted: 'Rome'."
    assert judge.calls == [6, 4, 9]  # pairs, rows, words: three batches however many rows


def test_long_answers_are_taken_apart_into_phrases():
    text = " ".join(f"word{i}" for i in range(400))
    spans = replacing.parts(text)
    assert len(spans) <= replacing.MOST_PARTS
    assert (spans[0][0], spans[-1][1]) == (0, len(text))
    assert replacing.parts("") == replacing.parts(" -- ") == []


def test_a_word_of_the_reference_has_no_effect_against_an_answer():
    """Without "yellow" this judge would be surer, but yellow is accepted."""

    def probabilities(questions, references, predictions):
        return np.array([0.1 + 0.3 * ("yellow" not in text) + 0.2 * ("green" not in text) for text in predictions])

    row = ["Which colours?"], [["red, blue, yellow"]], ["red, yellow, green"]
    (found,) = explaining.explanations(*row, probabilities, 0.9)
    effects = {word: round(effect, 6) for word, effect, *_ in found["words"]}
    assert effects == {"red": 0.0, "yellow": 0.0, "green": -0.2}


def test_numbers_of_steps_and_ends_of_lines_are_no_words_of_an_explanation():
    """The steps are lines of Markdown: neither their numbers nor words of two lines together are marked."""
    steps = ["**Unplug** all cables from the device.", "**Press the switch** for long.", "Plug it in again."]
    answer = "Do this:\n\n" + "\n".join(f"{i}. {step}" for i, step in enumerate(steps, 1)) + "\n\nThat helps. " * 30

    def probabilities(questions, references, predictions):
        return np.array([0.02 if "switch" in text else 0.4 for text in predictions])

    (explained,) = explaining.explanations(["How?"], [["Hold the button."]], [answer], probabilities, 0.5)
    assert [word for word, effect, *_ in explained["words"] if effect < -0.3] == ["switch** for"]
    assert all("\n" not in word for word, *_ in explained["words"])
    assert not {"1", "2", "3"} & {word for word, *_ in explained["words"]}


def test_explain_of_the_module(repository):
    """Offsets are those of the answer; that the numbers stay the same is in test_modules.py."""
    ava = evaluate.load(str(repository / "metrics/ava/ava.py"), keep_in_memory=True, progress=False, device="cpu")
    rows = {
        "questions": ["When did it end?", "Who wrote Hamlet?"],
        "predictions": ["It ended in 1944.", "William Shakespeare did."],
        "references": [["in 1945", "1945"], ["Christopher Marlowe", "William Shakespeare"]],
    }
    found = ava.compute(**rows, per_example=True, explain=True)
    for text, score, row in zip(
        rows["predictions"], found["ava_score_per_example"], found["explanation"], strict=True
    ):
        assert list(row) == ["reference", "probability", "words", "reason", "differences"]
        assert row["probability"] == pytest.approx(score, abs=1e-5)
        assert all(text[start:end] == word for word, _, start, end in row["words"])
        assert row["reason"].endswith(".")
    assert found["explanation"][1]["reference"] == 1
    assert max(found["explanation"][1]["words"], key=lambda word: word[1])[0] == "Shakespeare"


FILLER = "The museum keeps many things from all centuries and shows them in nine bright rooms to its visitors."


def test_passages_are_a_whole_answer_in_order():
    """Every sentence is in a passage; one without an end, or longer than a passage, is kept."""
    text = "A b. C d e. " + "word " * 60 + "end. F!\nG h"
    found = reading.passages(text, most=5)
    assert found[0] == "A b. C d e."
    assert [part for part in found if len(part.split()) > 5] == [("word " * 60 + "end.")]
    assert found[-1].endswith("G h")
    assert reading.passages("") == []


def test_an_answer_in_the_middle_of_a_long_text_is_judged_as_alone():
    judge = judging.Judge(loading.load_judge(device="cpu"))
    said = ["Its oldest painting was made by Anna Berg in 1712.", "Its oldest painting was made by Carl Holm in 1712."]
    rows = ["Who made the oldest painting?"] * 2, [["Anna Berg"]] * 2
    long = [" ".join([FILLER] * 7 + [sentence] + [FILLER] * 7) for sentence in said]
    right, wrong = judge.probabilities(*rows, long)
    assert right > judge.loaded.threshold > wrong
