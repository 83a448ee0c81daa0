"""Triples of extractive QA: a span and its sentence on either side, wrong ones of both, and yes/no questions."""

import random
import re
from collections.abc import Iterable, Iterator, Sequence

from triples import Triple, normalised
from wrong_answers import Answers, with_wrong_answer


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
        marked = [i for i, label in enumerate(row.labels) if label > 0]
        if not marked:
            continue
        span = row.text[marked[0] : marked[-1] + 1]
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


def yes_no_triples(sentences: Sequence[str], count: int, rng: random.Random) -> list[Triple]:
    """Return yes/no questions made of declarative sentences, with answers that agree with the reference or do not."""
    clause = re.compile(
        r"((?:[\w'-]+ ){1,7}?)(is|are|was|were|can|could|will|would|has|have|had|should)((?: [\w',-]+){1,14})\s*\.?"
    )
    clauses = [m.groups() for m in map(clause.fullmatch, sentences) if m]
    made = []
    for i in range(min(count, 5 * len(clauses))):
        subject, verb, rest = (text.strip() for text in clauses[i % len(clauses)])
        subject = subject[:1].lower() + subject[1:]
        pronoun = rng.choice(["he", "she", "it", "they", "i"])

        def answer(word, subject=subject, verb=verb, rest=rest, pronoun=pronoun):
            said = verb if word == "yes" else f"{verb} not"
            forms = [word, f"{word}, {pronoun} {said}", f"{word}, {subject} {said} {rest}", f"{subject} {said} {rest}"]
            return rng.choice(forms)

        question = f"{verb} {subject} {rest}{rng.choice([' ?', '?', ''])}"
        true, said = rng.choice(["yes", "no"]), rng.choice(["yes", "no"])
        references = tuple(dict.fromkeys(answer(true) for _ in range(rng.choice([1, 1, 3]))))
        made.append(Triple(question, references, answer(said), float(true == said), "yes_no"))
    return made
