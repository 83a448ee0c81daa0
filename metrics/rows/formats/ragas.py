"""Rows of RAGAS: an evaluation data set, of version 0.2 or before."""

from .shared import text_of

NEEDED = (
    ("user_input", "response", "reference"),
    ("user_input", "response", "retrieved_contexts"),
    ("question", "answer", "contexts", "ground_truth"),
    ("question", "answer", "contexts", "ground_truths"),
)


def columns_of(row: dict) -> dict:
    """Return the columns of RAGAS: a row of an evaluation data set, of version 0.2 or before."""
    if "user_input" in row:
        asked, answer = text_of(row["user_input"]), row["response"]
        return {"question": asked, "prediction": answer, "references": row.get("reference")}
    references = row["ground_truths"] if row.get("ground_truths") else row.get("ground_truth")
    return {"question": row["question"], "prediction": row["answer"], "references": references}
