"""Rows as other tools write them -> rows with `question`, `prediction` and `references`; one module a tool.

A format is detected when its columns are unambiguous, and can be named. The columns of the tool stay in the row, so
that a column can still be named by hand. A module of a format has:

- `NEEDED`: sets of columns, of which a row has one ("inputs.*" is any column that begins so);
- `columns_of(row)`: our columns of a row, None where it has none; raises `RowError` if the row is bad.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType

from ..errors import Advice, RowError
from ..values import Row
from . import (
    azure,
    bioasq,
    deepeval,
    inspect,
    langfuse,
    langsmith,
    lm_eval,
    mlflow,
    openai_evals,
    opencompass,
    promptfoo,
    ragas,
    truthfulqa,
)
from .shared import CONTEXTS, EXPECTED

# The first that fits a row is taken. "squad" is of two files, see `documents.joined_rows`.
TOOL_FORMATS: dict[str, ModuleType | None] = {
    "ragas": ragas,
    "lm-eval": lm_eval,
    "squad": None,
    "openai-evals": openai_evals,
    "inspect": inspect,
    "promptfoo": promptfoo,
    "deepeval": deepeval,
    "langfuse": langfuse,
    "langsmith": langsmith,
    "mlflow": mlflow,
    "azure": azure,
    "opencompass": opencompass,
    "bioasq": bioasq,
    "truthfulqa": truthfulqa,
}
WITH_PREDICTIONS = ("opencompass", "bioasq", "truthfulqa")  # formats whose rows have our column of predictions
OWN_GRADES = ("promptfoo",)  # formats whose column `score` is the grade of the tool, not of a person
# Columns that a format reads beside those that it needs, for files of which only some columns are read.
COLUMNS_READ = (
    *sorted({name for tool in TOOL_FORMATS.values() if tool for columns in tool.NEEDED for name in columns}),
    *openai_evals.ANSWER_COLUMNS, *EXPECTED, *CONTEXTS, "doc_id", "filter", "arguments", "answers", "metadata", "item",
    "evaluations", "request", "prompt", "testIdx", "error", "example_id", "timestamp", "ideal_answer", "exact_answer",
    "type", "answerable", "is_impossible", "turn_id",
)  # fmt: skip


def _has(columns: Sequence[str], values: Mapping) -> bool:
    return all(
        any(name.startswith(column[:-1]) for name in values) if column.endswith("*") else column in values
        for column in columns
    )


def detect_tool_format(values: Mapping) -> str:
    """Return the format of a row, "" if it is of none, or already as we write it.

    >>> detect_tool_format({"user_input": "Who?", "response": "Ann", "reference": "Ann", "retrieved_contexts": []})
    'ragas'
    >>> detect_tool_format({"user_input": "Who?", "response": "Ann", "reference": "Ann", "prediction": "Ann"})
    ''
    """
    if {"file", "line"} <= values.keys():  # written by `score --output`, with the tool's own columns
        return ""
    ours = not {"prediction", "predictions", "candidate"}.isdisjoint(values)
    for name, tool in TOOL_FORMATS.items():
        if tool is None or (ours and name not in WITH_PREDICTIONS):
            continue
        if any(_has(columns, values) for columns in tool.NEEDED):
            unlike = name == "promptfoo" and "provider" not in values and not promptfoo.is_csv(values)
            return "" if unlike else name
    return ""


def _converted(values: dict, form: str) -> dict:
    tool = TOOL_FORMATS[form]
    if tool is None:
        return values
    if not any(_has(columns, values) for columns in tool.NEEDED):
        expected = " or ".join(", ".join(columns) for columns in tool.NEEDED)
        raise RowError(f"no row of --from {form}, which has {expected}; columns found: {', '.join(values) or 'none'}")
    try:
        columns_of = tool.columns_of(values)
    except RowError:
        raise
    except (TypeError, KeyError, AttributeError, IndexError, ValueError) as error:
        raise RowError(f"not what --from {form} expects: {type(error).__name__} {error}") from error
    if form in OWN_GRADES:
        values = {name: value for name, value in values.items() if name.lower() not in ("score", "label")}
    return {**values, **{name: value for name, value in columns_of.items() if value is not None}}


def _wide(values: dict, systems: Sequence[str]) -> dict:
    missing = [name for name in systems if name not in values]
    if missing:
        option = Advice(", which systems names", command=", which --systems names")
        raise RowError(f"no column {missing[0]!r}", option, f"; columns found: {', '.join(values)}")
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
            except RowError as error:
                row = Row(row.number, None, Advice(error))
        yield row
