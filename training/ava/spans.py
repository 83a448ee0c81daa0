"""Triples of extractive QA: a span and its sentence on either side, and wrong ones of both."""

import random
from collections.abc import Iterable, Iterator

from training.ava.triples import Triple, normalised
from training.ava.wrong_answers import Answers, with_wrong_answer


def span_triples(rows: Iterable, answers: Answers, rng: random.Random, kind: str = "span") -> Iterator[Triple]:
    """Yield triples of extractive QA: sentences that hold the answer, the answer alone, and wrong ones of both.

    Args:
        rows: `Answer` rows of `training/kpqa/data.py`: question, sentence, label per character.
        answers: where wrong answers come from.
        rng: source of randomness.
        kind: kind of the triples.

    Yields:
        For each row a correct and an incorrect triple; reference and candidate are the span or the sentence by turns.
    """
    for row in rows:
        span = row.span
        if not span:
            continue
        right = Triple(row.question, (span,), row.text, 1.0, kind)
        wrong = with_wrong_answer(right, answers, rng)
        shape = rng.random()
        if shape < 0.25:  # spans on both sides
            candidate, bad, references = span, answers.wrong_one(row.question, [span], rng), (span,)
        elif shape < 0.55:  # the span as reference, a sentence as candidate
            candidate, bad, references = row.text, wrong, (span,)
        elif shape < 0.8:  # a sentence as reference, the span as candidate
            candidate, bad, references = span, answers.wrong_one(row.question, [span], rng), (row.text,)
        else:  # sentences on both sides, only the answer in common
            candidate, bad, references = row.text, wrong, (row.text,)
        yield Triple(row.question, references, candidate, 1.0, kind)
        if bad and normalised(bad) != normalised(candidate):
            yield Triple(row.question, references, bad, 0.0, f"{kind}_wrong")
