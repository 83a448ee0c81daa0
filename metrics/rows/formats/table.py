"""The table of tools: which columns tell their rows, and where question, answer, right answers and passages stand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ..errors import RowError
from ..values import MISSING, value_at
from . import adapters
from .shared import ANSWERS, CONTEXTS, QUESTIONS, expected_answers, named_text, passages_of

Paths = Sequence[str]  # where a value may stand, see `values.value_at`; the first that a row has is taken


@dataclass(frozen=True)
class Tool:
    """How the rows of a tool or a data set are detected, and where their columns stand.

    `needed` are sets of columns, of which a row has one; "inputs.*" is any column that begins so. `adapter` returns
    our columns of a row where paths do not say enough, and raises `RowError` for a bad row.
    """

    needed: Sequence[Paths]
    adapter: Callable[[dict], dict] | None = None
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
    joins_passages: bool = False  # in a cell of CSV, with bars
    ignored: Paths = ()  # columns of ours that are not what they are called: grades of the tool

    def is_of(self, row: Mapping) -> bool:
        """Return whether a row has the columns of one of the needed sets."""
        return any(all(_has(row, column) for column in columns) for columns in self.needed)

    def columns_of(self, row: dict) -> dict:
        """Return our columns of a row; None where it has none."""
        if self.adapter:
            return self.adapter(row)
        question, prediction, references = (
            _first(row, paths) for paths in (self.question, self.prediction, self.references)
        )
        if prediction is None and not self.with_predictions:
            raise RowError(self.no_answer)
        passages = _first(row, self.contexts) or passages_of(*(_first(row, [path]) for path in self.holders))
        if self.no_references and references in (None, ""):
            references = None
            if not passages:
                raise RowError(self.no_references)
        has_bars = self.joins_passages and isinstance(passages, str) and "|" in passages
        return {
            "question": named_text(question, QUESTIONS),
            "prediction": None if prediction is None else named_text(prediction, ANSWERS, "assistant"),
            "references": expected_answers(references) if isinstance(references, Mapping | str) else references,
            "contexts": passages.split("|") if has_bars else passages,
            "id": _first(row, self.id),
            "system": _first(row, self.system),
        }


def _has(row: Mapping, column: str) -> bool:
    if "[" in column and not column.startswith("["):
        return value_at(row, column) not in (MISSING, [])
    return any(name.startswith(column[:-1]) for name in row) if column.endswith("*") else column in row


def _first(row: Mapping, paths: Paths) -> object:
    cells = (row[path] if path in row else value_at(row, path) for path in paths)
    return next((cell for cell in cells if cell is not MISSING and cell is not None), None)


# The first that fits a row is taken. "squad" is of two files, see `joined_rows`.
TOOLS: dict[str, Tool] = {
    "ragas": Tool(
        needed=[
            ("user_input", "response", "reference"),
            ("user_input", "response", "retrieved_contexts"),
            *product(("question",), ("answer",), ("contexts",), ("ground_truth", "ground_truths")),
        ],
        question=["user_input", "question"],
        prediction=["response", "answer"],
        references=["reference", "ground_truths", "ground_truth"],
    ),
    "lm-eval": Tool([("doc", "filtered_resps", "target")], adapters.lm_eval),
    "squad": Tool(()),
    "openai-evals": Tool([("datasource_item", "sample"), ("input", "ideal")], adapters.openai_evals),
    "inspect": Tool([("input", "target", "output", "scores")], adapters.inspect),
    "promptfoo": Tool(
        [("provider", "response", "testCase"), ("provider", "response", "vars"), ("[*",)],
        adapters.promptfoo,
        ignored=("score", "label"),
    ),
    "deepeval": Tool(
        needed=[
            *product(("input",), ("actual_output",), ("expected_output", "retrieval_context")),
            *product(("input",), ("actualOutput",), ("expectedOutput", "retrievalContext")),
        ],
        question=["input"],
        prediction=["actual_output", "actualOutput"],
        references=["expected_output", "expectedOutput"],
        contexts=["retrieval_context", "retrievalContext"],
        joins_passages=True,
        no_answer="actual_output: is null; a golden has no answer before it is run",
    ),
    "langfuse": Tool(
        needed=[
            *product(("input",), ("output",), ("expected_output", "expectedOutput")),
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
    "langsmith": Tool(
        [
            *product(("inputs.*",), ("outputs.*",), ("reference.*", "example_id")),
            *product(("inputs",), ("outputs",), ("reference_outputs", "reference outputs", "run_type")),
            ("run", "example", "evaluation_results"),
        ],
        adapters.langsmith,
    ),
    "mlflow": Tool(
        needed=[
            *product(("inputs",), ("outputs",), ("expectations", "ground_truth", "targets", "target", *CONTEXTS)),
            *product(("request",), ("response",), ("expectations", "expected_response", "retrieved_context")),
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
    "opencompass": Tool([("origin_prompt", "prediction", "gold")], adapters.opencompass, with_predictions=True),
    "bioasq": Tool([("body", "exact_answer"), ("body", "ideal_answer")], adapters.bioasq, with_predictions=True),
    "truthfulqa": Tool(
        [("Best Answer", "Correct Answers"), ("best_answer", "correct_answers")],
        adapters.truthfulqa,
        with_predictions=True,
    ),
}
