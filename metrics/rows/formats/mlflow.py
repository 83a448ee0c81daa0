"""Rows of an evaluation table of MLflow."""

from .shared import ANSWERS, CONTEXTS, QUESTIONS, expected_answers, named_text, passages_of

NEEDED = (
    *(("inputs", "outputs", name) for name in ("expectations", "ground_truth", "targets", "target")),
    *(("request", "response", name) for name in ("expectations", "expected_response", "retrieved_context")),
    *(("inputs", "outputs", name) for name in CONTEXTS),
)


def columns_of(row: dict) -> dict:
    """Return the columns of MLflow: a row of an evaluation table."""
    names = (("inputs", "request"), ("outputs", "response"))
    asked, answer = (next(row[name] for name in pair if name in row) for pair in names)
    expected = ("expectations", "expected_response", "ground_truth", "targets", "target")
    return {
        "question": named_text(asked, QUESTIONS),
        "prediction": named_text(answer, ANSWERS, "assistant"),
        "references": expected_answers(next((row[name] for name in expected if row.get(name) is not None), None)),
        "contexts": passages_of(row, asked, answer),
    }
