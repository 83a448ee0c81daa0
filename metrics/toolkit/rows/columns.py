"""Which column of a file has the question, the answer, the references: names that are known, in any case."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from .formats import plain_name

COLUMNS = {
    "question": ("question",),
    "context": ("context",),
    "prediction": ("prediction", "candidate", "predictions"),
    "references": ("references", "reference"),
    "contexts": ("contexts", "retrieved_contexts", "retrieval_context", "retrieved_context"),
    "system": ("system",),
    "id": ("id",),
    "score": ("score",),
    "label": ("label",),
}
# What such a column is often called; only to propose a name.
LIKELY = {
    "question": ("query", "prompt", "input", "user_input", "instruction"),
    "prediction": ("response", "output", "answer", "completion", "model_answer", "generated", "hypothesis", "pred"),
    "references": (
        "answers",
        "ground_truth",
        "ground_truths",
        "gold",
        "target",
        "ideal",
        "expected",
        "correct_answer",
    ),
}
_ANSWERS = {name for name in LIKELY["prediction"] if name != "answer"}
# "answer" is the system's where another column has what is right or what was retrieved, and what is right beside a
# prediction.
_EXPECTED = ("expected", "expected_answer", "expected_output", "correct_answer", "ground_truth", "ground_truths")


@lru_cache(maxsize=256)
def recognized(names: tuple[str, ...]) -> Mapping[str, str]:
    """Return the columns of a file by the names of `COLUMNS`, as far as they are known.

    Args:
        names: names of the columns in the file. Case, and blanks or hyphens for underscores, do not count; a name
            that is spelled exactly so comes first.

    >>> dict(recognized(("Question", "Answer", "Expected")))
    {'question': 'Question', 'references': 'Expected', 'prediction': 'Answer'}
    >>> dict(recognized(("question", "prediction", "answer")))
    {'question': 'question', 'prediction': 'prediction', 'references': 'answer'}
    >>> dict(recognized(("question", "answer", "contexts")))
    {'question': 'question', 'contexts': 'contexts', 'prediction': 'answer'}
    """
    exact = set(names)
    plain = {plain_name(name): name for name in reversed(names)}
    found: dict[str, str] = {}

    def take(role: str, known: Iterable[str]) -> None:
        place = next((name for name in known if name in exact), None) or next(
            (plain[name] for name in known if name in plain), None
        )
        if role not in found and place is not None and place not in found.values():
            found[role] = place

    for role, known in COLUMNS.items():
        take(role, known)
    take("references", _EXPECTED)
    if "references" in found:
        take("prediction", ("answer",))
    elif "prediction" in found:
        take("references", ("answer",))
    elif "contexts" in found and plain.keys().isdisjoint(_ANSWERS):
        take("prediction", ("answer",))
    return found


def is_guess(role: str, column: str) -> bool:
    """Return whether a column was taken for what its name does not say, such as `answer` for the prediction.

    >>> is_guess("prediction", "Answer"), is_guess("prediction", "Prediction")
    (True, False)
    """
    return plain_name(column) not in COLUMNS[role]
