"""Rows as other tools write them -> rows with `question`, `prediction` and `references`.

A format is detected when its columns are unambiguous, and can be named. The columns of the tool stay in the row, so
that a column can still be named by hand.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from .data_sets import bioasq_row, opencompass_row, truthfulqa_row
from .formats import Row
from .tool_rows import (
    ANSWER_COLUMNS,
    CONTEXTS,
    EXPECTED,
    ToolFormatError,
    azure_row,
    deepeval_row,
    inspect_row,
    is_promptfoo_csv,
    langfuse_row,
    langsmith_row,
    lm_eval_row,
    mlflow_row,
    openai_evals_row,
    promptfoo_row,
    ragas_row,
)

# Columns that a form reads, for files of which only some columns are read.
COLUMNS_READ = (
    "user_input", "response", "reference", "answer", "contexts", "ground_truth", "ground_truths", "doc", "doc_id",
    "filtered_resps", "filter", "target", "arguments", "answers", "input", "ideal", *ANSWER_COLUMNS, *EXPECTED,
    *CONTEXTS, "actual_output", "actualOutput", "expectedOutput", "retrievalContext", "metadata", "item",
    "evaluations", "inputs", "outputs", "reference_outputs", "reference outputs", "run", "example", "request",
    "expectations", "targets", "vars", "provider", "prompt", "testCase", "testIdx", "error", "example_id",
    "datasource_item", "sample", "timestamp", "origin_prompt", "body", "exact_answer", "ideal_answer", "type",
    "Best Answer", "best_answer", "answerable", "is_impossible",
)  # fmt: skip


# Per form: the columns without which a row is not of it ("inputs.*" is any column that begins so), and what makes a
# row of it. The first that fits is taken.
TOOL_FORMATS: dict[str, tuple[tuple[tuple[str, ...], ...], Callable[[dict], dict]]] = {
    "ragas": (
        (
            ("user_input", "response", "reference"),
            ("user_input", "response", "retrieved_contexts"),
            ("question", "answer", "contexts", "ground_truth"),
            ("question", "answer", "contexts", "ground_truths"),
        ),
        ragas_row,
    ),
    "lm-eval": ((("doc", "filtered_resps", "target"),), lm_eval_row),
    "squad": ((), dict),  # of two files, see `data_sets.joined_rows`
    "openai-evals": (
        (*(("input", "ideal", name) for name in ANSWER_COLUMNS), ("datasource_item", "sample"), ("input", "ideal")),
        openai_evals_row,
    ),
    "inspect": ((("input", "target", "output", "scores"),), inspect_row),
    "promptfoo": ((("provider", "response", "testCase"), ("provider", "response", "vars"), ("[*",)), promptfoo_row),
    "deepeval": (
        (
            ("input", "actual_output", "expected_output"),
            ("input", "actualOutput", "expectedOutput"),
            ("input", "actual_output", "retrieval_context"),
            ("input", "actualOutput", "retrievalContext"),
        ),
        deepeval_row,
    ),
    "langfuse": (
        (
            ("input", "output", "expected_output"),
            ("input", "output", "expectedOutput"),
            ("item", "output", "evaluations"),
            ("timestamp", "input", "output"),  # a trace
        ),
        langfuse_row,
    ),
    "langsmith": (
        (
            ("inputs.*", "outputs.*", "reference.*"),
            ("inputs", "outputs", "reference_outputs"),
            ("inputs", "outputs", "reference outputs"),
            ("run", "example", "evaluation_results"),
            ("inputs.*", "outputs.*", "example_id"),
            ("inputs", "outputs", "run_type"),
        ),
        langsmith_row,
    ),
    "mlflow": (
        (
            *(("inputs", "outputs", name) for name in ("expectations", "ground_truth", "targets", "target")),
            *(("request", "response", name) for name in ("expectations", "expected_response", "retrieved_context")),
            *(("inputs", "outputs", name) for name in CONTEXTS),
        ),
        mlflow_row,
    ),
}
TOOL_FORMATS |= {
    "azure": (
        tuple(
            (asked, answer)
            for asked in ("inputs.query", "inputs.ground_truth")
            for answer in ("inputs.response", "outputs.response")
        ),
        azure_row,
    ),
    "opencompass": ((("origin_prompt", "prediction", "gold"),), opencompass_row),
    "bioasq": ((("body", "exact_answer"), ("body", "ideal_answer")), bioasq_row),
    "truthfulqa": ((("Best Answer", "Correct Answers"), ("best_answer", "correct_answers")), truthfulqa_row),
}
WITH_PREDICTIONS = ("opencompass", "bioasq", "truthfulqa")  # formats whose rows have our column of predictions
OWN_GRADES = ("promptfoo",)  # forms whose column `score` is the grade of the tool, not of a person


def _has(columns: Sequence[str], values: Mapping) -> bool:
    return all(
        any(name.startswith(column[:-1]) for name in values) if column.endswith("*") else column in values
        for column in columns
    )


def detect_tool_format(values: Mapping) -> str:
    """Return the form of a row, "" if it is of none, or already as we write it.

    >>> detect_tool_format({"user_input": "Who?", "response": "Ann", "reference": "Ann", "retrieved_contexts": []})
    'ragas'
    >>> detect_tool_format({"user_input": "Who?", "response": "Ann", "reference": "Ann", "prediction": "Ann"})
    ''
    """
    ours = not {"prediction", "predictions", "candidate"}.isdisjoint(values)
    known = {name: sets for name, (sets, _) in TOOL_FORMATS.items() if not ours or name in WITH_PREDICTIONS}
    found = next((name for name, sets in known.items() if any(_has(columns, values) for columns in sets)), "")
    return "" if found == "promptfoo" and "provider" not in values and not is_promptfoo_csv(values) else found


def _converted(values: dict, form: str) -> dict:
    needed, convert = TOOL_FORMATS[form]
    if needed and not any(_has(columns, values) for columns in needed):
        expected = " or ".join(", ".join(columns) for columns in needed)
        raise ToolFormatError(
            f"no row of --from {form}, which has {expected}; columns found: {', '.join(values) or 'none'}"
        )
    try:
        found = convert(values)
    except ToolFormatError:
        raise
    except (TypeError, KeyError, AttributeError, IndexError, ValueError) as error:
        raise ToolFormatError(f"not what --from {form} expects: {type(error).__name__} {error}") from error
    if form in OWN_GRADES:
        values = {name: value for name, value in values.items() if name.lower() not in ("score", "label")}
    return {**values, **{name: value for name, value in found.items() if value is not None}}


def _wide(values: dict, systems: Sequence[str]) -> dict:
    missing = [name for name in systems if name not in values]
    if missing:
        raise ToolFormatError(f"no column {missing[0]!r}, which --systems names; columns found: {', '.join(values)}")
    others = {name: value for name, value in values.items() if name not in (*systems, "system", "prediction")}
    return {**others, "prediction": {name: values[name] for name in systems}}


def normalize_rows(rows: Iterator[Row], form: str | None, systems: Sequence[str], found: Callable[[str], None]):
    """Yield rows with the columns that we know.

    Args:
        rows: rows of one file, also bad ones.
        form: a key of `TOOL_FORMATS`, or None for that of the first good row.
        systems: columns with the answers of one system each; none for a row per answer.
        found: called with the form, once it is known; "" for none.
    """
    for row in rows:
        if row.values is not None:
            if form is None:
                form = "" if systems else detect_tool_format(row.values)
                found(form)
            try:
                values = _converted(row.values, form) if form else row.values
                row = Row(row.number, _wide(values, systems)) if systems else Row(row.number, values)
            except ToolFormatError as error:
                row = Row(row.number, None, str(error))
        yield row
