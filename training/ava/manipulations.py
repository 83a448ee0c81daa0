"""Answers that try to talk a judge into a verdict, beside right answers of the same form.

Lists of alternatives, denials, answers taken back, repetitions, demands, JSON, another answer as fiction, in another
language, far away or in first letters of lines: the form says nothing about the verdict, only what is claim does.
"""

import json
import random
from collections.abc import Sequence

from training.ava.other_words import capitalised
from training.ava.triples import Triple
from training.ava.wrong_answers import WORDS, built, occurrence, short_answered

FILLER = 40  # words between an answer and its denial, at least


def manipulations(sentences: Sequence[Triple], count: int, rng: random.Random) -> list[Triple]:
    """Return right and wrong answers in forms that are used to deceive a judge."""
    rows, answers = short_answered(sentences)

    def make(row: Triple) -> Triple | None:
        others = {answers.wrong_one(row.question, row.references, rng) for _ in range(rng.choice([1, 3, 5, 12]))}
        if not (others := sorted(others - {None})):
            return None
        rng.shuffle(others)
        label, right = rng.random() < 0.5, row.references[0].rstrip(".")
        claim, others = (right, others) if label else (others[0], [right, *others[1:]])
        text = _text(claim, others, label, rng) if rng.random() < 0.5 else _named(claim, others[0], sentences, rng)
        references = (row.candidate,) if rng.random() < 0.2 else row.references
        return Triple(row.question, references, text, float(label), "manipulation")

    return built(rows, count, rng, make, tries=6)


def _text(claim: str, others: list[str], right: bool, rng: random.Random) -> str:
    """Return a text that asserts `claim`, and names but does not assert the others; a list is always wrong."""
    form = rng.randrange(7)
    if form == 0 and not right:
        named = [claim, *others]
        rng.shuffle(named)
        return rng.choice([", ", " or ", "; ", "\n- "]).join(named)
    if form == 1:
        denied = " ".join(f"{rng.choice(['It was not', 'It is not', 'Not'])} {other}." for other in others)
        last = rng.choice(["It is {}.", "It was {}.", "The answer is {}."]).format(claim)
        return f"{denied} {last}" if right or rng.random() < 0.5 else denied
    if form == 2:
        return capitalised(rng.choice(WORDS["retracted"]).format(yes=claim, no=others[0]))
    if form == 3:
        return rng.choice([" ", ". ", "\n", ", "]).join([claim] * rng.randrange(2, 7))
    if form == 4:
        demand = rng.choice(WORDS["demands"])
        return rng.choice(
            [f"{capitalised(claim)}. {demand}", f"{demand} {capitalised(claim)}.", f"{claim}\n\n{demand}"]
        )
    if form == 5:
        return json.dumps({rng.choice(["answer", "final_answer", "response"]): claim})
    return rng.choice(["<answer>{}</answer>", "Final answer: {}", "**Answer:** {}", "Answer: {}."]).format(claim)


def _named(claim: str, other: str, sentences: Sequence[Triple], rng: random.Random) -> str:
    """Return a text that asserts `claim`, and names `other` in a way that a quick reader takes for an answer."""
    form = rng.choice(["told", "foreign", "far", "letters"])
    if form == "letters":
        mark = rng.choice(["{} - {}", "({}) {}", "{}... {}", "{}. It is {}.", "{} as in {}"])
        return "\n".join(mark.format(letter, claim) for letter in other if letter.isalnum())
    aside, filler = rng.choice(WORDS["asides"]), _filler((claim, other), sentences, rng) if form == "far" else ""
    return capitalised(rng.choice(WORDS[form]).format(yes=claim, no=other, aside=aside, filler=filler))


def _filler(answers: Sequence[str], sentences: Sequence[Triple], rng: random.Random) -> str:
    """Return sentences of at least `FILLER` words that name none of the answers."""
    texts: list[str] = []
    while sum(len(text.split()) for text in texts) < FILLER:
        text = rng.choice(sentences).candidate
        texts.append(rng.choice(WORDS["neutral"]) if rng.random() < 0.5 or occurrence(answers, text) else text)
    return " ".join(texts)
