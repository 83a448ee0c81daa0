"""Langfuse: items of a run of a data set or of an experiment, and traces."""

from ..errors import RowError
from .shared import ANSWERS, QUESTIONS, expected_answers, named_text, opened, passages_of

NEEDED = (
    ("input", "output", "expected_output"),
    ("input", "output", "expectedOutput"),
    ("item", "output", "evaluations"),
    ("timestamp", "input", "output"),  # a trace
)


def columns_of(row: dict) -> dict:
    """Return the columns of Langfuse: an item of a run of a data set, or of an experiment."""
    item = row.get("item", row)
    expected = item.get("expected_output", item.get("expectedOutput"))
    passages = passages_of(item["input"], row["output"], opened(row.get("metadata")))
    if expected in (None, "") and not passages:
        raise RowError(
            "expectedOutput: is empty; export the runs of a dataset, whose items have one, or log the retrieved "
            "passages as contexts, which grounding reads"
        )
    return {
        "question": named_text(item["input"], QUESTIONS),
        "prediction": named_text(row["output"], ANSWERS, "assistant"),
        "references": None if expected in (None, "") else expected_answers(expected),
        "contexts": passages,
    }
