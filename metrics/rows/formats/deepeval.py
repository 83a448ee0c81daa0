"""Test cases of DeepEval, of a data set or of a test run."""

from ..errors import RowError

NEEDED = (
    ("input", "actual_output", "expected_output"),
    ("input", "actualOutput", "expectedOutput"),
    ("input", "actual_output", "retrieval_context"),
    ("input", "actualOutput", "retrievalContext"),
)


def columns_of(row: dict) -> dict:
    """Return the columns of DeepEval: a test case, of a data set or of a test run."""
    names = ("actual_output", "expected_output", "retrieval_context")
    camel = ("actualOutput", "expectedOutput", "retrievalContext")
    answer, expected, passages = (
        row[name] if name in row else row.get(other) for name, other in zip(names, camel, strict=True)
    )
    if answer is None:
        raise RowError("actual_output: is null; a golden has no answer before it is run")
    if isinstance(passages, str) and "|" in passages:  # DeepEval joins them in CSV
        passages = passages.split("|")
    return {"question": row["input"], "prediction": answer, "references": expected, "contexts": passages}
