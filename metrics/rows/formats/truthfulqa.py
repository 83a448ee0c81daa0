"""Questions of TruthfulQA with a column of predictions."""

from ..values import plain_name

NEEDED = (("Best Answer", "Correct Answers"), ("best_answer", "correct_answers"))


def columns_of(row: dict) -> dict:
    """Return the columns of TruthfulQA: in CSV its correct answers stand in one cell, separated by semicolons."""
    values = {plain_name(name): value for name, value in row.items()}
    correct = values["correct_answers"]
    correct = [item.strip() for item in correct.split(";")] if isinstance(correct, str) else list(correct)
    references = dict.fromkeys(text for text in (values["best_answer"], *correct) if text)
    return {"question": values["question"], "references": list(references)}
