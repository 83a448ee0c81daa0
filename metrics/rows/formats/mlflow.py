"""Rows of an evaluation table of MLflow."""

from itertools import product

from .shared import ANSWERS, CONTEXTS, QUESTIONS, expected_answers, named_text, passages_of

NEEDED = (
    *product(("inputs",), ("outputs",), ("expectations", "ground_truth", "targets", "target")),
    *product(("request",), ("response",), ("expectations", "expected_response", "retrieved_context")),
    *product(("inputs",), ("outputs",), CONTEXTS),
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
