"""What is wrong with an answer that was judged wrong: named where its words show it, nothing where they do not."""

import genqa_metrics
import pytest
from genqa_metrics.ava.faults import fault
from genqa_metrics.verbs.score.first_screen import READ

STEPS = (
    "Switch the boiler off, wait ten minutes for it to cool, open the valve and bleed the radiators one after another."
)


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        ("six legs", "An insect has eight legs.", "another value"),
        ("six legs", "An insect has 6 legs.", ""),
        ("It is refunded.", "It is not refunded.", ""),
        ("six legs", "A mammal of the desert has eight kinds.", ""),
        ("Ann beat Ben at chess.", "Ben beat Ann at chess.", "another order"),
        (STEPS, "Switch the boiler off and wait ten minutes for it to cool.", "lacks a part"),
        ("Ann", "Ben", ""),
        ("Ann", "I'm afraid I don't know that.", "declines"),
        ("Ann", "  ", ""),
        ("six legs", "An insect has eight legs. " + " ".join(f"word{n}" for n in range(30)), ""),
    ],
)
def test_a_fault_is_named_where_the_words_show_it(reference, answer, expected):
    assert fault("What is it?", [reference], answer) == expected


def test_the_nearest_reference_counts():
    assert fault("How long?", ["a fortnight", "14 days of the calendar"], "20 days of the calendar") == "another value"


def test_score_names_the_fault_of_answers_to_read():
    rows = [
        {"question": "How many legs has an insect?", "references": "six legs", "prediction": answer}
        for answer in ("An insect has eight legs.", "Six legs.")
    ]
    report = genqa_metrics.score(rows, "ava")
    (read,) = report.to_dict()["to_read"]
    assert (read["kind"], read["fault"]) == ("judged wrong", "another value")
    (table,) = [table for table in report.tables() if table.title.startswith(READ)]
    assert table.rows[0][2].endswith(": another value")
