"""Rows for a judge of grounding: a claim, the window of a passage that the metric would read for it, and a verdict."""

import random
from collections.abc import Iterable, Iterator

from genqa_metrics.grounding.windows import content_keys, nearest_windows, windows_of

from training.ava.wrong_answers import Answers, occurrence


def windowed(row: dict) -> dict:
    """Return a row whose context is the window nearest to its candidate, as the metric reads it.

    Args:
        row: `question` (or None), `context`, `candidate` and `label`, or `score` from 0 to 1; other keys are kept.
    """
    windows = windows_of(row["context"])
    wanted = content_keys(f"{row['question'] or ''} {row['candidate']}")
    nearest = nearest_windows(wanted, windows, 1) if windows else []
    return row | {"context": nearest[0].text if nearest else row["context"]}


def span_rows(rows: Iterable[dict], rng: random.Random) -> Iterator[dict]:
    """Yield rows of extractive QA: an answer beside its own passage, another one, and its own with the fact changed.

    Args:
        rows: `question`, `context` and `answers`, as SQuAD has them.
        rng: source of randomness.

    Yields:
        Up to three rows of each question: label 1, 0 and 0.
    """
    rows = [row for row in rows if row["answers"]["text"] and row["answers"]["text"][0].strip()]
    answers = Answers((row["question"], row["answers"]["text"][0]) for row in rows)
    for row in rows:
        question, answer = row["question"], row["answers"]["text"][0]
        values = {"question": question, "candidate": answer}
        yield values | {"context": row["context"], "label": 1}
        other = rng.choice(rows)["context"]
        if not occurrence([answer], other):
            yield values | {"context": other, "label": 0}
        wrong = answers.wrong_one(question, [answer], rng)
        changed = row["context"]
        while wrong and (result := occurrence([answer], changed)):
            changed = changed[: result.start()] + wrong + changed[result.end() :]
        if changed != row["context"]:
            yield values | {"context": changed, "label": 0}
