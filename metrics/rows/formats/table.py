"""The table of tools: which columns tell their rows, and where question, answer, right answers and passages stand."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ..errors import RowError
from ..values import MISSING, plain_name, value_at
from . import inspect, langsmith, lm_eval, openai_evals, promptfoo
from .shared import ANSWERS, CONTEXTS, QUESTIONS, expected_answers, named_text, passages_of

Paths = Sequence[str]  # where a value may stand, see `values.value_at`; the first that a row has is taken


@dataclass(frozen=True)
class Tool:
    """How the rows of a tool or a data set are detected, and where their columns stand.

    `needed` are sets of columns, of which a row has one; "inputs.*" is any column that begins so. `columns_of` returns
    our columns of a row where paths do not say enough, and raises `RowError` for a bad row.
    """

    needed: Sequence[Paths]
    columns_of: Callable[[dict], dict] | None = None
    question: Paths = ()
    prediction: Paths = ()  # none of a data set to whose rows a column of ours was added
    references: Paths = ()
    contexts: Paths = ()
    holders: Paths = ()  # objects that may hold passages under a usual name
    id: Paths = ()
    system: Paths = ()
    no_answer: str = "has no answer"  # what a row without one lacks
    no_references: str = ""  # the same of a row with neither references nor passages; "" where rows may lack both
    with_predictions: bool = False  # a data set, to whose rows a column of predictions was added
    ignored: Paths = ()  # columns of ours that are not what they are called: grades of the tool

    def is_of(self, row: Mapping) -> bool:
        """Return whether a row has the columns of one of the needed sets."""
        return any(all(_has(row, column) for column in columns) for columns in self.needed)

    def normalized(self, row: dict) -> dict:
        """Return our columns of a row; None where it has none."""
        if self.columns_of:
            return self.columns_of(row)
        question, prediction, references = (_first(row, getattr(self, role)) for role in _TEXTS)
        if prediction is None and not self.with_predictions:
            raise RowError(self.no_answer)
        passages = _first(row, self.contexts) or passages_of(*(_first(row, [path]) for path in self.holders))
        if references == "" and self.no_references:
            references = None
        if references is None and not passages and self.no_references:
            raise RowError(self.no_references)
        is_chat = isinstance(references, Mapping | str)
        return {
            "question": named_text(question, QUESTIONS),
            "prediction": None if prediction is None else named_text(prediction, ANSWERS, "assistant"),
            "references": expected_answers(references) if is_chat else references,
            "contexts": passages,
            "id": _first(row, self.id),
            "system": _first(row, self.system),
        }


_TEXTS = ("question", "prediction", "references")


def _has(row: Mapping, column: str) -> bool:
    if "[" in column and not column.startswith("["):
        return value_at(row, column) not in (MISSING, [])
    return any(name.startswith(column[:-1]) for name in row) if column.endswith("*") else column in row


def _first(row: Mapping, paths: Paths) -> object:
    values = (row[path] if path in row else value_at(row, path) for path in paths)
    return next((value for value in values if value is not MISSING and value is not None), None)


def _bioasq(row: dict) -> dict:
    """Return the columns of BioASQ: of a list all items are one answer, of other questions each item is one.

    >>> _bioasq({"type": "list", "body": "Which?", "exact_answer": [["A", "A-1"], ["B"]]})["references"]
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


def _opencompass(row: dict) -> dict:
    r"""Return the columns of OpenCompass; the question is what the last message of its prompt asks.

    >>> _opencompass({"origin_prompt": "Question: Who?\nAnswer:", "prediction": "Ann", "gold": "Ann"})["question"]
    'Who?'
    """
    prompt = row["origin_prompt"]
    if isinstance(prompt, list):
        asked = [part for part in prompt if part.get("role") in ("HUMAN", "user")] or prompt
        prompt = asked[-1].get("prompt") or asked[-1].get("content") or ""
    only = re.fullmatch(r"(?is)(?:question|q):\s{0,9}(.+?)\s{0,9}\n\s{0,9}(?:answer|a):?\s{0,9}", prompt.strip())
    return {"question": only[1] if only else prompt, "prediction": row["prediction"], "references": row["gold"]}


def _truthfulqa(row: dict) -> dict:
    """Return the columns of TruthfulQA: in CSV its correct answers stand in one cell, separated by semicolons."""
    values = {plain_name(name): value for name, value in row.items()}
    correct = values["correct_answers"]
    correct = [item.strip() for item in correct.split(";")] if isinstance(correct, str) else list(correct)
    references = dict.fromkeys(text for text in (values["best_answer"], *correct) if text)
    return {"question": values["question"], "references": list(references)}


def _deepeval(row: dict) -> dict:
    """Return the columns of DeepEval, which joins passages in CSV with bars."""
    columns = _DEEPEVAL.normalized(row)
    passages = columns["contexts"]
    return columns | {"contexts": passages.split("|") if isinstance(passages, str) and "|" in passages else passages}


_DEEPEVAL = Tool(
    needed=[
        (["input", *columns])
        for columns in (
            ("actual_output", "expected_output"),
            ("actualOutput", "expectedOutput"),
            ("actual_output", "retrieval_context"),
            ("actualOutput", "retrievalContext"),
        )
    ],
    question=["input"],
    prediction=["actual_output", "actualOutput"],
    references=["expected_output", "expectedOutput"],
    contexts=["retrieval_context", "retrievalContext"],
    no_answer="actual_output: is null; a golden has no answer before it is run",
)

# The first that fits a row is taken. "squad" is of two files, see `joined_rows`.
TOOLS: dict[str, Tool] = {
    "ragas": Tool(
        needed=[
            ("user_input", "response", "reference"),
            ("user_input", "response", "retrieved_contexts"),
            ("question", "answer", "contexts", "ground_truth"),
            ("question", "answer", "contexts", "ground_truths"),
        ],
        question=["user_input", "question"],
        prediction=["response", "answer"],
        references=["reference", "ground_truths", "ground_truth"],
    ),
    "lm-eval": Tool(lm_eval.NEEDED, lm_eval.columns_of),
    "squad": Tool(()),
    "openai-evals": Tool(openai_evals.NEEDED, openai_evals.columns_of),
    "inspect": Tool(inspect.NEEDED, inspect.columns_of),
    "promptfoo": Tool(promptfoo.NEEDED, promptfoo.columns_of, ignored=("score", "label")),
    "deepeval": Tool(_DEEPEVAL.needed, _deepeval),
    "langfuse": Tool(
        needed=[
            ("input", "output", "expected_output"),
            ("input", "output", "expectedOutput"),
            ("item", "output", "evaluations"),
            ("timestamp", "input", "output"),  # a trace
        ],
        question=["item.input", "input"],
        prediction=["output"],
        references=["item.expected_output", "item.expectedOutput", "expected_output", "expectedOutput"],
        holders=["item.input", "input", "output", "metadata"],
        no_references="expectedOutput: is empty; export the runs of a dataset, whose items have one, or log the "
        "retrieved passages as contexts, which grounding reads",
    ),
    "langsmith": Tool(langsmith.NEEDED, langsmith.columns_of),
    "mlflow": Tool(
        needed=[
            *product(("inputs",), ("outputs",), ("expectations", "ground_truth", "targets", "target")),
            *product(("request",), ("response",), ("expectations", "expected_response", "retrieved_context")),
            *product(("inputs",), ("outputs",), CONTEXTS),
        ],
        question=["inputs", "request"],
        prediction=["outputs", "response"],
        references=["expectations", "expected_response", "ground_truth", "targets", "target"],
        contexts=CONTEXTS,
        holders=["inputs", "request", "outputs", "response"],
    ),
    "azure": Tool(
        needed=list(product(("inputs.query", "inputs.ground_truth"), ("inputs.response", "outputs.response"))),
        question=["inputs.query", *(f"inputs.{name}" for name in QUESTIONS)],
        prediction=["inputs.response", "outputs.response"],
        references=["inputs.ground_truth"],
        contexts=[*(f"inputs.{name}" for name in CONTEXTS), "outputs.context"],
    ),
    "helm": Tool(
        needed=[("instance", "request", "result")],
        question=["instance.input.text"],
        prediction=["result.completions[0].text"],
        references=["instance.references[tags=correct].output.text"],
        id=["instance.id"],
        system=["request.model"],
    ),
    "kilt": Tool(
        needed=[("input", "output[*].answer", "prediction")],
        question=["input"],
        references=["output[*].answer"],
        id=["id"],
        with_predictions=True,
    ),
    "natural-questions": Tool(
        needed=[("annotations[*].short_answers", "question_text"), ("annotations[*].short_answers", "question")],
        question=["question_text", "question"],
        references=["annotations"],
        with_predictions=True,
    ),
    "opencompass": Tool([("origin_prompt", "prediction", "gold")], _opencompass, with_predictions=True),
    "bioasq": Tool([("body", "exact_answer"), ("body", "ideal_answer")], _bioasq, with_predictions=True),
    "truthfulqa": Tool(
        [("Best Answer", "Correct Answers"), ("best_answer", "correct_answers")], _truthfulqa, with_predictions=True
    ),
}
