"""Minimal pairs that show whether a judge of answer correctness can be fooled.

Each `KIND.jsonl`, written by hand, holds items: a question, references, right answers and wrong ones that are made to
look alike, or two right ones that look different, so that a judge which goes by shared words or by the topic fails.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from training.common import json_rows

FOLDER = Path(__file__).parent
KINDS = (
    "number",  # one number, date or amount changed
    "name",  # one person, place, title or thing changed
    "negation",  # a negation added or taken away, or an antonym
    "word_order",  # the same words in an order that changes the meaning
    "other_question",  # right for another question on the same thing
    "paraphrase",  # right answers in other words, units, dates, aliases
    "flooding",  # a right and a wrong answer in much related text
    "question_repeated",  # the question's words, or talk, without an answer
)


def load() -> list[dict]:
    """Return the items: `id`, `kind`, `question`, `references`, `right` (one or more) and `wrong` (may be empty)."""
    return [item for kind in KINDS for item in json_rows(FOLDER / f"{kind}.jsonl")]


def pass_rates(judge: Callable[[list, list, list], Sequence[int]]) -> dict[str, tuple[int, int]]:
    """Return kind -> how many items a judge passes, and how many there are.

    An item is passed when all its right answers are judged correct (1) and all its wrong ones incorrect (0). The judge
    is called once, with questions, references (a list a row) and answers.

    >>> pass_rates(lambda questions, references, answers: [1] * len(answers))["number"][0]
    0
    """
    rows = pd.DataFrame(
        [item | {"answer": answer, "label": label}
         for item in load() for label, side in ((1, "right"), (0, "wrong")) for answer in item[side]]
    )  # fmt: skip
    verdicts = judge(*(rows[name].tolist() for name in ("question", "references", "answer")))
    passed = (rows["label"] == verdicts).groupby([rows["kind"], rows["id"]], sort=False).all()
    counts = passed.groupby("kind", sort=False).agg(["sum", "size"])
    return {kind: (int(right), int(count)) for kind, right, count in counts.itertuples()}
