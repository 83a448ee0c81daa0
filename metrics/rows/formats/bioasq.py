"""Questions of BioASQ with a column of predictions."""

NEEDED = (("body", "exact_answer"), ("body", "ideal_answer"))


def columns_of(row: dict) -> dict:
    """Return the columns of BioASQ: of a list all items are one answer, of other questions each item is one.

    >>> columns_of({"type": "list", "body": "Which?", "exact_answer": [["A", "A-1"], ["B"]]})["references"]
    ['A, B']
    """
    exact, ideal = row.get("exact_answer") or [], row.get("ideal_answer") or []
    items = [item if isinstance(item, list) else [item] for item in (exact if isinstance(exact, list) else [exact])]
    if row.get("type") == "list":
        texts = [", ".join(str(item[0]) for item in items if item)]
    else:
        texts = [text for item in items for text in item]
    texts += ideal if isinstance(ideal, list) else [ideal]
    return {"question": row["body"], "references": [text for text in texts if text]}
