"""Minimal pairs that show whether a judge of answer correctness can be fooled.

Each `KIND.jsonl` holds one item a line: a question, one to three references, answers that are right and answers that
are wrong. The right and the wrong ones of an item are made to look alike, or two right ones to look different, so
that a judge which goes by shared words or by the topic fails. All rows were written by hand for these tests.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

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

Judge = Callable[[list[str], list[list[str]], list[str]], Sequence[int]]


def load(kinds: Sequence[str] = KINDS) -> list[dict]:
    """Read the items of some kinds.

    Returns:
        Items with `id`, `kind`, `question`, `references` (1 to 3 strings), `right` (at least one string) and `wrong`
        (may be empty), in the order of `kinds` and of the files.

    Raises:
        ValueError: if a kind is unknown.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"kinds holds {kind!r}, expected names out of {', '.join(KINDS)}")
    # Not splitlines(): it also cuts at the separators that JSON allows unescaped inside strings.
    return [json.loads(line) for kind in kinds for line in (FOLDER / f"{kind}.jsonl").open(encoding="utf-8")]


def pass_rates(judge: Judge, items: Sequence[dict] | None = None) -> dict[str, tuple[int, int]]:
    """Count the items of each kind that a judge passes.

    An item is passed when all its right answers are judged correct and all its wrong ones incorrect, so that a judge
    with one verdict for everything passes nothing that has both.

    Args:
        judge: function of questions, references and answers (three lists of one length; references is a list of
            strings per row) that returns one verdict a row, 1 for correct and 0 for not. Called once with all rows.
        items: items as `load` returns them; None stands for all.

    Returns:
        For each kind in `items`: (items passed, items).

    Raises:
        ValueError: if the judge returns another number of verdicts, or others than 0 and 1.

    >>> pass_rates(lambda questions, references, answers: [1] * len(answers), load(["number"]))["number"][0]
    0
    """
    items = load() if items is None else items
    # One row an answer: its item's position, the answer, the verdict it should get.
    rows = [
        (position, answer, expected)
        for position, item in enumerate(items)
        for expected, answers in ((1, item["right"]), (0, item["wrong"]))
        for answer in answers
    ]
    verdicts = list(
        judge(
            [items[position]["question"] for position, _, _ in rows],
            [items[position]["references"] for position, _, _ in rows],
            [answer for _, answer, _ in rows],
        )
    )
    if len(verdicts) != len(rows):
        raise ValueError(f"judge returned {len(verdicts)} verdicts for {len(rows)} answers; return one an answer")
    for row, verdict in enumerate(verdicts):
        if verdict not in (0, 1):
            raise ValueError(f"judge returned {verdict!r} in row {row}; return 0 or 1 (apply the threshold first)")
    failed = {position for (position, _, expected), verdict in zip(rows, verdicts, strict=True) if verdict != expected}
    counts: dict[str, tuple[int, int]] = {}
    for position, item in enumerate(items):
        passed, seen = counts.get(item["kind"], (0, 0))
        counts[item["kind"]] = (passed + (position not in failed), seen + 1)
    return counts
