"""Rows as tools and data sets write them -> rows with `question`, `prediction` and `references`.

A format is detected when its columns are unambiguous, and can be named. The columns of the tool stay in the row, so
that a column can still be named by hand. `tools.toml` lists the tools: which columns tell their rows, and where
question, answer, right answers and passages stand.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..columns import MISSING, SCORED_COLUMNS, columns_found, value_at
from ..errors import RowError
from . import adapters
from .shared import ANSWERS, EXPECTED, QUESTIONS, expected_answers, named_text, passages_of

Paths = Sequence[str]  # where a value may stand, see `columns.value_at`; the first that a row has is taken


@dataclass(frozen=True)
class Tool:
    """How the rows of a tool or a data set are detected, and where their columns stand.

    `needed` are sets of columns, see tools.toml. `adapter` names a function of adapters.py, which returns our columns
    of a row where paths do not say enough.
    """

    needed: Sequence[Paths]
    adapter: str = ""
    question: Paths = ()
    prediction: Paths = ()  # none of a data set to whose rows a column of ours was added
    references: Paths = ()
    contexts: Paths = ()
    holders: Paths = ()  # objects that may hold passages under a usual name
    id: Paths = ()
    repetition: str = ""  # column with the number of an attempt at the same question, from 1
    system: Paths = ()
    no_answer: str = ""  # what to do about a row without an answer
    no_references: str = ""  # the same of a row with neither references nor passages; "" where rows may lack both
    with_predictions: bool = False  # a data set, to whose rows a column of predictions was added
    joins_passages: bool = False  # in a cell of CSV, with bars
    ignored: Paths = ()  # columns of ours that are not what they are called: grades of the tool

    def is_of(self, row: Mapping) -> bool:
        """Return whether a row has the columns of one of the needed sets."""
        alternatives = ([names.split("|") for names in columns] for columns in self.needed)
        return any(all(any(_has(row, name) for name in names) for names in columns) for columns in alternatives)

    def columns_of(self, row: dict) -> dict:
        """Return a row's cells under our names of columns; None for a cell that it lacks."""
        columns = getattr(adapters, self.adapter)(row) if self.adapter else self._columns_at_paths(row)
        error = _first(row, ("error", "run.error", "sample.error"))
        if not self.with_predictions and (columns["prediction"] is None or (error and not columns["prediction"])):
            problem = f"has no answer{f': {error!s:.80}' if error else ''}"
            raise RowError(problem, self.no_answer or "run it again, or drop the row")
        if self.no_references and not columns["references"] and not columns["contexts"]:
            raise RowError(self.no_references)
        return columns

    def _columns_at_paths(self, row: dict) -> dict:
        question, answer, references, ident = (
            _first(row, paths) for paths in (self.question, self.prediction, self.references, self.id)
        )
        passages = _first(row, self.contexts) or passages_of(*(_first(row, [path]) for path in self.holders))
        if self.joins_passages and isinstance(passages, str) and "|" in passages:
            passages = passages.split("|")
        if isinstance(references, Mapping) and passages and not any(references.get(name) for name in EXPECTED):
            references = None
        attempt = row.get(self.repetition, 1)
        return {
            "question": named_text(question, QUESTIONS),
            "prediction": None if answer in (None, {}) else named_text(answer, ANSWERS, "assistant"),
            "references": expected_answers(references) if isinstance(references, Mapping | str) else references,
            "contexts": passages,
            "id": ident if attempt == 1 else f"{ident} ({self.repetition} {attempt})",
            "system": _first(row, self.system),
        }


def _has(row: Mapping, column: str) -> bool:
    if "[" in column and not column.startswith("["):
        return value_at(row, column) not in (MISSING, [])
    return any(name.startswith(column[:-1]) for name in row) if column.endswith("*") else column in row


def _first(row: Mapping, paths: Paths) -> object:
    """Return the cell at the first path that a row has; a cell may be split into columns: "inputs.a", "inputs.b"."""
    for path in paths:
        cell = row[path] if path in row else value_at(row, path)
        if cell is MISSING:
            cell = {name[len(path) + 1 :]: inner for name, inner in row.items() if name.startswith(f"{path}.")} or None
        if cell is not None:
            return cell
    return None


_ENTRIES = tomllib.loads(Path(__file__).with_name("tools.toml").read_text(encoding="utf-8"))
TOOLS = {name: Tool(**entry) for name, entry in _ENTRIES.items()}  # the first that fits a row is taken


def detect_tool_format(row: Mapping) -> str:
    """Return the format of a row, "" if it is of none, or already as we write it.

    >>> detect_tool_format({"user_input": "Who?", "response": "Ann", "reference": "Ann", "retrieved_contexts": []})
    'ragas'
    """
    if SCORED_COLUMNS <= row.keys():  # written by `score --output`, with the tool's own columns
        return ""
    has_predictions = not {"prediction", "predictions", "candidate"}.isdisjoint(row)
    for name, tool in TOOLS.items():
        if has_predictions <= tool.with_predictions and tool.is_of(row):
            is_other_csv = name == "promptfoo" and "provider" not in row and not adapters.is_promptfoo_csv(row)
            return "" if is_other_csv else name
    return ""


def normalized(row: dict, form: str, systems: Sequence[str]) -> dict:
    """Return a row of a format with the columns that we know; `systems` are columns of one system's answers each."""
    tool = TOOLS.get(form)
    if tool and tool.needed:
        if not tool.is_of(row):
            expected = " or ".join(", ".join(columns) for columns in tool.needed).replace("|", " or ")
            problem = f"no row of {form}, which has {expected}; {columns_found(row)}"
            raise RowError(problem, "name another tool, or leave it out")
        try:
            columns = tool.columns_of(row)
        except (TypeError, KeyError, AttributeError, IndexError) as error:
            problem = f"no complete row of {form}: {type(error).__name__} {error}"
            raise RowError(problem, "drop the row, or write question, prediction and references") from error
        row = {name: cell for name, cell in row.items() if name.lower() not in tool.ignored}
        row |= {name: cell for name, cell in columns.items() if cell is not None}
    if not systems:
        return row
    if missing := [name for name in systems if name not in row]:
        raise RowError(f"no column {missing[0]!r}, which systems names; {columns_found(row)}")
    others = {name: cell for name, cell in row.items() if name not in (*systems, "system", "prediction")}
    return {**others, "prediction": {name: row[name] for name in systems}}
