"""Results of Azure AI evaluation: inputs and outputs of a target, each in a column of its own."""

from itertools import product

from .shared import QUESTIONS, named_text, passages_of

NEEDED = tuple(product(("inputs.query", "inputs.ground_truth"), ("inputs.response", "outputs.response")))


def columns_of(row: dict) -> dict:
    """Return the columns of Azure AI evaluation: inputs and outputs of a target, each in a column of its own."""
    inputs, outputs = (
        {name.removeprefix(part): value for name, value in row.items() if name.startswith(part)}
        for part in ("inputs.", "outputs.")
    )
    answer = inputs if "response" in inputs else outputs
    values = {"question": named_text(inputs, ("query", *QUESTIONS)), "prediction": answer["response"]}
    expected = inputs.get("ground_truth")
    return values | {"references": expected, "contexts": passages_of(inputs, {"context": outputs.get("context")})}
