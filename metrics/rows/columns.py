"""Finds the columns of a file by their names: which one has the question, the answer, the references."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from .errors import Advice, ColumnError, name_column
from .values import MISSING, is_path, plain_name, value_at

MAX_NAMES = 30  # of columns in a message

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


class ColumnFinder:
    """Finds the columns of the rows of one source.

    Args:
        source: the source, see `sources.Source`; notes say what was guessed.
        named: names of columns by role; "" for a column that is not to be read. A name with dots goes into objects and
            lists: "answers.text", "choices.0.text".
    """

    def __init__(self, source: Any, named: Mapping[str, str]):
        self.source, self.named = source, named
        self._names: set[str] = set()
        self._roles: Mapping[str, str] = {}

    def value(self, values: dict, role: str) -> tuple[str, object]:
        """Return the name of a role's column in the file and its value, or `MISSING`.

        Raises:
            ColumnError: if the row lacks a column that was named.
        """
        column = self.named.get(role)
        if column is None:
            column = self._recognized(values).get(role, COLUMNS[role][0])
            return column, values.get(column, MISSING)
        if column == "":
            return role, MISSING
        value = values.get(column, MISSING)
        if value is MISSING and is_path(column):
            value = value_at(values, column)
        if value is MISSING:
            named = f", which {{}} names for {role!r}"
            option = Advice(named.format("columns"), command=named.format("--column"))
            raise ColumnError(f"no column {column!r}", option, f"; {self._listed(values)}")
        return column, value

    def _recognized(self, values: dict) -> Mapping[str, str]:
        """Return the columns of a row by the names of `COLUMNS`; says once what was guessed."""
        if self._names != values.keys():
            # A column that was named for one role has no other one; its role is as if it were found by our own name.
            taken = {part for column in self.named.values() for part in (column, re.split(r"[.\[]", column)[0])}
            roles = [OWN_NAMES[role][0] for role, column in self.named.items() if column and OWN_NAMES.get(role)]
            names = dict.fromkeys([*roles, *(name for name in values if name not in taken)])
            self._names, self._roles = set(values), recognized(tuple(names))
            for role, column in self._roles.items():
                if role not in self.named and not self.source.form and is_guess(role, column) and role != "id":
                    what = "further references" if role == "aliases" else f"the {role}"
                    self.source.note(Advice(f"column {column!r} was read as {what}; another one: ", name_column(role)))
        return self._roles

    @staticmethod
    def _listed(values: dict) -> str:
        more = f" and {len(values) - MAX_NAMES:,} more" if len(values) > MAX_NAMES else ""
        return f"columns found: {', '.join(list(values)[:MAX_NAMES]) or 'none'}{more}"

    def needed(self, values: dict, name: str) -> tuple[str, object]:
        """Return the same; raise a `ColumnError` where there is no such column."""
        column, value = self.value(values, name)
        if value is MISSING:
            wide = ", or where each system has a column, with --systems A,B" if name == "prediction" else ""
            fix = self.source.elsewhere(values) or Advice(
                "say which one it is with ", name_column(name, likely(name, values)), Advice(command=wide)
            )
            named = " or ".join(OWN_NAMES[name])
            raise ColumnError(f"no {name} (a column named {named}); {self._listed(values)}", hint=fix)
        return column, value

    def has(self, values: dict, name: str) -> bool:
        """Return whether a row has a column."""
        return self.value(values, name)[1] is not MISSING
