"""Rows built of templates: their verdicts, read back from the texts."""

import random
import re

import numpy as np
import pytest

from training.ava import row_builders
from training.ava.row_builders import TEMPLATES, Builder, filled, forms_of
from training.ava.triples import Triple, normalised

ANSWERED = [
    ("Where did event {} take place?", ("Bonn", "Berlin", "Rome", "Stockholm", "Lima", "Cairo", "Delhi", "Hannover")),
    ("Who painted picture {}?", ("Leonardo da Vinci", "Ann B. Lee", "Robert Ray", "Queen Anne")),
]
SENTENCES = [
    Triple(question.format(i), (name,), f"It was {name}, they say.", 1.0, "x")
    for question, names in ANSWERED
    for i, name in enumerate(names)
]
ANY_NAME = "|".join(name for _, names in ANSWERED for name in names)
ANSWERS = {*"abc", "yes", "no", "ref"}  # the places of forms that have answers
FORMS = [(kind, name) for kind in TEMPLATES for name, of in TEMPLATES[kind].items() if isinstance(of, list)]
WAYS = [(kind, name) for kind in TEMPLATES for name, of in TEMPLATES[kind].items() if isinstance(of, dict)]


def rows_of(kind, count=200, family=None, trained=True, sentences=SENTENCES):
    return Builder(sentences, random.Random(0), trained).rows(kind, count, family)


@pytest.mark.parametrize("kind", TEMPLATES)
def test_half_of_the_rows_are_right(kind):
    rows = rows_of(kind)
    assert len(rows) == 200
    assert 0.35 < np.mean([row.label for row in rows]) < 0.65
    assert {row.kind.partition(".")[0] for row in rows} == {kind}
    if kind in {kind for kind, _ in FORMS} | {"yes_no", "lists", "names"}:
        assert rows_of(kind, 5, sentences=[]) == []


@pytest.mark.parametrize(("kind", "family"), WAYS)
def test_no_wrong_answer_is_a_right_one(kind, family):
    """Also apart from case and punctuation, where these do not decide."""
    for trained in (True, False):
        assert all(row.references for row in rows_of(kind, 60, family, trained))
        right, wrong = set(), set()
        for seed in range(25):
            builder = Builder(SENTENCES, random.Random(seed), trained)
            row = next(iter(builder.rows(kind, 1, family)))
            (right if row.label else wrong).add((row.question, row.references, row.candidate))
            if not row.label and kind not in ("details", "notations"):
                assert normalised(row.candidate) not in map(normalised, row.references), row
        assert right
        assert wrong
        assert right.isdisjoint(wrong)


def fields_of(form, text):
    """Return what a text has in the places of a form, or None for a text of another form."""
    names, pattern = set(), ""
    for i, part in enumerate(re.split(r"(?<!\{)\{(\w+)\}", form)):
        if i % 2:
            written = ANY_NAME if part in ANSWERS else ".+?"
            pattern += f"(?P={part})" if part in names else f"(?P<{part}>{written})"
            names.add(part)
        else:
            pattern += re.escape(part.replace("{{", "{").replace("}}", "}"))
    match = re.fullmatch(pattern, text, flags=re.DOTALL | re.IGNORECASE)
    return match and match.groupdict()


@pytest.mark.parametrize(("kind", "family"), [pair for pair in FORMS if pair[0] not in ("mention", "misspelt_names")])
def test_a_form_asserts_the_accepted_answer_where_the_row_is_right(kind, family):
    for row in rows_of(kind, 60, family):
        accepted = next(each for each in SENTENCES if each.question == row.question).references[0]
        matches = [of for form in TEMPLATES[kind][family] if (of := fields_of(form, row.candidate))]
        assert matches, row
        asserted = [of["yes"] for of in matches if "yes" in of]
        if asserted:
            assert (accepted in asserted) == bool(row.label), row
            others = [of["no"] for of in matches if "no" in of]
            assert not others or (accepted in others) != bool(row.label)
        if {"a", "ref"} & {*matches[0]}:
            assert row.label == 0


def test_what_deceives_measures_with_forms_that_trained_nothing():
    for kind in row_builders.SPLIT:
        for family, of in TEMPLATES[kind].items():
            shapes = [{"": of}] if isinstance(of, list) else of["shapes"]
            for forms in (shape[side] for shape in shapes for side in {"", "right", "wrong"} & {*shape}):
                trained, measured = (forms_of(kind, forms, part) for part in (True, False))
                assert sorted(trained + measured) == sorted(forms), family
                assert trained
                assert measured


def test_first_letters_spell_the_answer_that_is_not_asserted():
    for row in rows_of("manipulation", 30, "spelt"):
        accepted = next(each for each in SENTENCES if each.question == row.question).references[0]
        letters = "".join(line.lstrip("(")[:1] for line in row.candidate.split("\n")).lower()
        assert (letters == re.sub(r"\W", "", accepted).lower()) == (row.label == 0)
        assert (accepted in row.candidate) == (row.label == 1)


def test_between_an_answer_and_its_denial_stand_words_without_it():
    rows = [row for row in rows_of("manipulation", 60, "far") if len(row.candidate.split()) > 50]
    assert {row.label for row in rows} == {0.0, 1.0}
    for row in rows:
        accepted = next(each for each in SENTENCES if each.question == row.question).references[0]
        assert 1 <= row.candidate.count(accepted) <= 2
        assert len(row.candidate.split()) >= row_builders.FILLER


def test_opposites_agree_with_the_reference_or_do_not():
    """Said of the shop: open is open, not closed, yes; of choices only what is named."""
    places = "(shop|door|museum)"
    rows = [
        row
        for family in ("states_asked", "states_named")
        for row in rows_of("opposite", 800, family)
        if re.fullmatch(rf"(Is|Was) the {places} (open( or closed)?|closed or open)\?", row.question)
    ]
    assert len(rows) > 3
    for row in rows:
        first = "closed" if "closed or" in row.question else "open"

        def says_first(text, first=first):
            text = text.lower()
            denied = "not" in text or "n't" in text or text.startswith("no")
            return not denied and (first in text or "yes" in text)

        assert row.label == float(says_first(row.references[0]) == says_first(row.candidate)), row


def test_amounts_are_equal_or_not():
    scale = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "": 1}
    pattern = re.compile(
        r"(?:the answer is|it is|it was|that was|i think it is)?\s*(?:us)?\$?([\d,.]*\d)\s*(thousand|million|billion|)"
    )

    def amount(text):
        match = pattern.match(text.lower())
        return match and round(float(match[1].replace(",", "")) * scale[match[2]])

    rows = [(row, amount(row.references[0]), amount(row.candidate)) for row in rows_of("quantity", 400, "amounts")]
    rows = [(row, first, second) for row, first, second in rows if first and second]
    assert len(rows) > 100
    assert all(row.label == float(first == second) for row, first, second in rows)


@pytest.mark.parametrize(
    ("kind", "question", "reference", "answer", "label"),
    [
        ("names", "Who painted picture 0?", "Leonardo da Vinci", "Leonardo", 1.0),
        ("names", "Who painted picture 0?", "Leonardo da Vinci", "Ray", 0.0),
        ("names", "Who painted picture 0?", "Leonardo da Vinci", "Leonardo Ray", 0.0),
        ("names", "Who painted picture 2?", "Ray", "Robert Ray", 1.0),
        ("yes_no", "was it Bonn, they say", "yes", "no, it was not Bonn, they say", 0.0),
        ("yes_no", "was it Bonn, they say", "no", "it wasn't Bonn, they say", 1.0),
        ("misspelt_names", "Where did event 1 take place?", "Berlin", "Berln", 1.0),
    ],
)
def test_rows_by_hand(kind, question, reference, answer, label):
    rows = rows_of(kind, 500, sentences=SENTENCES[:2] + SENTENCES[8:11])
    rows = [row for row in rows if row.question.startswith(question)]
    assert {row.label for row in rows if reference in row.references and row.candidate == answer} == {label}


def test_lists_are_the_same_in_any_order():
    for row in rows_of("lists"):
        reference, answer = (
            {name for _, names in ANSWERED for name in names if name in text}
            for text in (row.references[0], row.candidate)
        )
        assert (reference == answer) == bool(row.label)


def test_a_way_without_a_value_is_left_out():
    forms = ["half past <'one' if minute == 30>", r"x < <n>, [<n>, \infty) and <= <n + 1>"]
    assert filled(forms, {"n": 2, "minute": 15}) == [r"x < 2, [2, \infty) and <= 3"]
