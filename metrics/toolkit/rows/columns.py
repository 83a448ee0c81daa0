"""Finds the columns of a file by their names: which one has the question, the answer, the references."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from .formats import plain_name

# Per role: our own names, then what data sets and tools call such a column, the plainest first. A column of another
# name than ours is read with a note.
OWN_NAMES = {
    "question": ("question",),
    "context": ("context",),
    "prediction": ("prediction", "candidate", "predictions"),
    "references": ("references", "reference"),
    "aliases": (),
    "contexts": ("contexts", "retrieved_contexts", "retrieval_context", "retrieved_context"),
    "system": ("system",),
    "id": ("id",),
    "score": ("score",),
    "label": ("label",),
}
_OTHER_NAMES = {
    "question": ("query", "user_input", "prompt", "input", "instruction", "problem", "asked"),
    "prediction": (
        "response", "model_answer", "model_response", "model_output", "predicted_answer", "system_answer",
        "generated_answer", "generated", "generation", "completion", "hypothesis", "pred", "candidates", "output",
    ),
    "references": (
        "expected", "expected_answer", "expected_answers", "expected_output", "correct_answer", "correct_answers",
        "accepted_answer", "accepted_answers", "reference_answer", "reference_answers", "gold_answer", "gold_answers",
        "golden_answer", "golden_answers", "ground_truth", "ground_truths", "gold", "golds", "target", "targets",
        "ideal", "true_answer", "right_answer",
    ),
    # Further right answers, beside the references.
    "aliases": ("answer_aliases", "aliases", "reference_aliases", "answers_aliases", "alternative_answers"),
    "contexts": ("retrieved_passages", "retrieved_documents", "passages", "documents"),
    "id": ("_id", "qid", "question_id", "questionid", "query_id", "example_id", "task_id"),
}  # fmt: skip
COLUMNS = {role: own + _OTHER_NAMES.get(role, ()) for role, own in OWN_NAMES.items()}
# Right where another column has the system's answer, and the system's where another one has what is right.
EITHER = ("answers", "final_answer", "answer")


@lru_cache(maxsize=256)
def recognized(names: tuple[str, ...]) -> Mapping[str, str]:
    """Return the columns of a file by the roles of `COLUMNS`, as far as they are known.

    Args:
        names: names of the columns in the file. Case, and blanks or hyphens for underscores, do not count; a name
            that is spelled exactly so comes first.

    >>> dict(recognized(("Question", "Answer", "Expected")))
    {'question': 'Question', 'references': 'Expected', 'prediction': 'Answer'}
    >>> dict(recognized(("question", "model_answer", "answer")))
    {'question': 'question', 'prediction': 'model_answer', 'references': 'answer'}
    >>> dict(recognized(("question", "answer", "contexts")))
    {'question': 'question', 'contexts': 'contexts', 'prediction': 'answer'}
    """
    exact = set(names)
    plain = {plain_name(name): name for name in reversed(names)}
    roles: dict[str, str] = {}

    def take(role: str, known: Iterable[str]) -> None:
        free = [name for name in known if plain.get(name) not in roles.values()]
        column = next((name for name in free if name in exact), None) or next(
            (plain[name] for name in free if name in plain), None
        )
        if role not in roles and column is not None:
            roles[role] = column

    for role, own in OWN_NAMES.items():
        take(role, own)
    for role, others in _OTHER_NAMES.items():
        take(role, others)
    if "references" not in roles and "prediction" not in roles:
        take("references", ("answers",))
    if "prediction" in roles:
        take("references", EITHER)
    elif "references" in roles or "contexts" in roles:
        take("prediction", ("answer", "final_answer"))
    return roles


def is_guess(role: str, column: str) -> bool:
    """Return whether a column was taken for what our names do not say, such as `answer` for the prediction.

    >>> is_guess("prediction", "Answer"), is_guess("prediction", "Prediction")
    (True, False)
    """
    return plain_name(column) not in OWN_NAMES[role]


def likely(role: str, names: Iterable[str]) -> str:
    """Return the column that probably has a role that none is known to have, for a hint; "NAME" where there is none.

    >>> likely("prediction", ["question", "Answer"])
    'Answer'
    """
    either = EITHER if role in ("prediction", "references") else ()
    return next((name for name in names if plain_name(name) in (*COLUMNS[role], *either)), "NAME")
