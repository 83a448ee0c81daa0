"""Runs of LangSmith beside their examples, as `evaluate` and `to_pandas` give them."""

from ..errors import RowError
from .shared import ANSWERS, QUESTIONS, expected_answers, named_text, passages_of

NEEDED = (
    ("inputs.*", "outputs.*", "reference.*"),
    ("inputs", "outputs", "reference_outputs"),
    ("inputs", "outputs", "reference outputs"),
    ("run", "example", "evaluation_results"),
    ("inputs.*", "outputs.*", "example_id"),
    ("inputs", "outputs", "run_type"),
)


def columns_of(row: dict) -> dict:
    """Return the columns of LangSmith: a run beside its example, as `evaluate` and `to_pandas` give it."""

    def part(name: str, *others: str) -> object:
        flat = {key[len(name) + 1 :]: value for key, value in row.items() if key.startswith(f"{name}.")}
        return flat or next((row[item] for item in (name, *others) if row.get(item) is not None), None)

    if "example" in row:  # what `evaluate` yields
        run, example = row["run"], row["example"]
        row = {"inputs": example["inputs"], "outputs": run["outputs"], "reference": example["outputs"]} | row
    outputs, expected = part("outputs"), part("reference", "reference_outputs", "reference outputs")
    values = outputs.values() if isinstance(outputs, dict) else [None if outputs == "" else outputs]
    if all(value is None for value in values):
        raise RowError(f"has no outputs: {str(row.get('error') or 'no run')[:80]}")
    return {
        "question": named_text(part("inputs"), QUESTIONS),
        "prediction": named_text(outputs, ANSWERS, "assistant"),
        "references": expected_answers(expected),
        "contexts": passages_of(outputs, part("inputs")),
        "id": row.get("example_id"),
    }
