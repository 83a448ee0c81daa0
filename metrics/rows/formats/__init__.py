"""Rows as tools and data sets write them -> rows with `question`, `prediction` and `references`.

A format is detected when its columns are unambiguous, and can be named. The columns of the tool stay in the row, so
that a column can still be named by hand. `tools.toml` lists the tools: which columns tell their rows, and where
question, answer, right answers and passages stand.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import FileError, RowError
from ..values import (
    COLUMNS,
    EITHER,
    KEYS,
    MISSING,
    NAMES,
    SCORED_COLUMNS,
    answers_of,
    option_columns,
    paths_in,
    plain_name,
    recognized,
    value_at,
)
from . import adapters
from .shared import ANSWERS, EXPECTED, QUESTIONS, expected_answers, named_text, passages_of, text_of

Paths = Sequence[str]  # where a value may stand, see `values.value_at`; the first that a row has is taken


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
        """Return our columns of a row; None where it has none."""
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
    """Return what stands at the first of some paths; an object may have a column for each of its keys: "inputs.a"."""
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
            problem = f"no row of {form}, which has {expected}; columns found: {', '.join(row) or 'none'}"
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
        raise RowError(f"no column {missing[0]!r}, which systems names; columns found: {', '.join(row)}")
    others = {name: cell for name, cell in row.items() if name not in (*systems, "system", "prediction")}
    return {**others, "prediction": {name: row[name] for name in systems}}


def document_rows(document: object) -> Iterator[dict] | None:
    """Return the rows of a whole JSON document: a list, a log of a tool, a data set; None for another one.

    >>> [row["references"] for row in document_rows([{"references": ["a"]}])]
    [['a']]
    """
    if isinstance(document, list):
        return iter(document)
    if not isinstance(document, dict):
        return None
    for rows_of in (adapters.inspect_samples, adapters.promptfoo_results, data_set_rows):
        try:
            if (rows := rows_of(document)) is not None:
                return iter(list(rows))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            continue  # it only begins like one
    if (table := _table(document)) is not None:
        return iter(table)
    if _is_row(document):
        return None
    by_id = list(document.values())
    rows = next((document[name] for name in NAMES["tools"]["lists_of_rows"] if _are_rows(document.get(name))), None)
    if rows is None and _are_rows(by_id) and _is_row(by_id[0]):  # as OpenCompass writes them
        return ({"id": ident, **row} for ident, row in document.items())
    if rows is None:
        return iter(document["data"]) if isinstance(document.get("data"), list) else None
    if all(isinstance(row.get("row"), dict) and "row_idx" in row for row in rows):  # the viewer of the Hub
        return (row["row"] for row in rows)
    return iter(rows)


def _is_row(content: Mapping) -> bool:
    """Return whether an object has the columns of a row, ours or those of a tool."""
    roles = recognized(tuple(map(str, content)))
    return {"prediction", "references"} <= roles.keys() or bool(detect_tool_format(content))


def _are_rows(content: object) -> bool:
    return isinstance(content, list) and bool(content) and all(isinstance(row, dict) for row in content)


def _table(document: Mapping) -> list[dict] | None:
    """Return the rows of a table as pandas writes it with `to_json` ("columns" or "split"), and MLflow; else None.

    >>> _table({"question": {"0": "Who?"}, "prediction": {"0": "Ann"}})
    [{'question': 'Who?', 'prediction': 'Ann'}]
    """
    names, rows = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        return [dict(zip(map(str, names), row, strict=False)) for row in rows]
    columns = list(document.values())
    if not columns or not all(isinstance(column, dict) and column for column in columns):
        return None
    index = columns[0].keys()
    first = {name: next(iter(column.values())) for name, column in document.items()}
    is_table = {"prediction", "references"} & set(recognized(tuple(document))) or detect_tool_format(first)
    if not is_table or any(column.keys() != index for column in columns):
        return None
    return [{name: column[key] for name, column in document.items()} for key in index]


def rows_at(document: object, path: str, name: str) -> Iterator:
    """Return the rows at a path of a document; `runs[*].items` is the items of all runs, one after the other."""
    rows = value_at(document, path)
    if isinstance(rows, list) and any(isinstance(row, list) for row in rows):
        rows = [row for inner in rows for row in (inner if isinstance(inner, list) else [inner])]
    if isinstance(rows, dict):
        table = _table(rows)
        rows = list(rows.values()) if table is None else table
    if rows is MISSING or not isinstance(rows, list):
        keys = ", ".join(map(str, document)) if isinstance(document, dict) else "a list"
        problem = f"{name}: --rows-at {path}: expected a list of rows there; the document has {keys or 'nothing'}"
        raise FileError(problem)
    return iter(rows)


def place_of_rows(document: Mapping) -> str:
    """Return where the rows of a document stand, as `rows_at` reads it; "" if there are none.

    >>> place_of_rows({"data": {"runs": [{"name": "a", "items": [{"prediction": "x", "references": "y"}]}]}})
    'data.runs[*].items'
    """
    lists = dict.fromkeys(path.rpartition("[*]")[0] for path, _ in paths_in(document) if "[*]" in path)
    first_items = {path: value_at(document, f"{path.replace('[*]', '[0]')}[0]") for path in lists}
    return next((path for path, item in first_items.items() if isinstance(item, dict) and _is_row(item)), "")


# Output of batch APIs: the columns with the id of a request and with the response.
BATCH_OUTPUT = (("custom_id", "response"), ("custom_id", "result"), ("key", "response"), ("recordId", "modelOutput"))
_TURN = "{}_{}"  # id of a question of a conversation


def data_set_rows(document: Mapping) -> Iterator[dict] | None:
    """Return the questions of a document of SQuAD, CoQA or DROP, each with "id", "question" and "references"."""
    articles = [article for article in document.get("data") or () if isinstance(article, dict)]
    if any("paragraphs" in article for article in articles):
        paragraphs = (paragraph for article in articles for paragraph in article.get("paragraphs", ()))
        asked = [row for paragraph in paragraphs for row in paragraph["qas"]]
        answers = [[] if row.get("is_impossible") is True else row.get("answers") or [] for row in asked]
    elif any({"story", "questions", "answers"} <= article.keys() for article in articles):
        return (row for story in articles for row in _conversation(story))
    else:
        passages = list(document.values())
        if not passages or not all(isinstance(passage, dict) and "qa_pairs" in passage for passage in passages):
            return None
        pairs = [row for passage in passages for row in passage["qa_pairs"]]
        asked = [{"id": row["query_id"], "question": row["question"]} for row in pairs]
        answers = [[row["answer"], *(row.get("validated_answers") or ())] for row in pairs]
    distinct = (list(dict.fromkeys(answers_of(texts))) for texts in answers)
    return ({**row, "references": references} for row, references in zip(asked, distinct, strict=True))


def _conversation(story: Mapping) -> Iterator[dict]:
    """Yield the questions of a story of CoQA; each reference is the answer of one person."""
    people = [story["answers"], *(story.get("additional_answers") or {}).values()]
    for number, asked in enumerate(story["questions"]):
        references = dict.fromkeys(answers[number]["input_text"] for answers in people)
        ident = _TURN.format(story["id"], asked.get("turn_id", number + 1))
        yield {"id": ident, "question": asked["input_text"], "references": list(references)}


def predictions_of(rows: Sequence[Mapping]) -> dict[str, str] | None:
    """Return {id: answer} of the rows of a file that holds nothing but predictions; None of another file.

    They are one object, as of SQuAD and HotpotQA, rows with an id and an answer, as of CoQA and MuSiQue, or the output
    of a batch API, where a request that failed has no answer.

    >>> predictions_of([{"x1": "Ann"}]), predictions_of([{"answer": {"x1": "Ann"}, "sp": {}}])
    ({'x1': 'Ann'}, {'x1': 'Ann'})
    """
    first = rows[0] if rows else {}
    roles = recognized(tuple(first))
    for ident, response in BATCH_OUTPUT:
        if ident in first and response in first and "references" not in roles:
            texts = {str(row.get(ident)): text_of(row.get(response), "assistant") for row in rows}
            return {name: text for name, text in texts.items() if isinstance(text, str)}
    if len(rows) == 1 and not roles.keys() - {"prediction"}:
        nested = next((first[name] for name in ("answer", "predictions") if isinstance(first.get(name), dict)), first)
        texts = {str(name): text for name, text in nested.items() if isinstance(text, str)}
        has_ids = (nested is not first or not roles) and "question" not in nested
        return texts if has_ids and texts and len(texts) == len(nested) else None
    answer = roles.get("prediction") or next((name for name in first if plain_name(name) in EITHER), None)
    if "id" not in roles or answer is None or {"references", "contexts"} & roles.keys():
        return None
    if "question" in roles and "prediction" not in roles:
        return None
    predictions = {}
    for row in rows:
        ident, text = row.get(roles["id"]), row.get(answer)
        if not isinstance(text, str) or ident is None:
            return None
        predictions[_TURN.format(ident, row["turn_id"]) if "turn_id" in row else str(ident)] = text
    return predictions


def questions_of(rows: Sequence[Mapping]) -> dict[str, dict] | None:
    """Return {id: row} of the rows of a data set, which hold right answers but no predictions; None of other rows.

    >>> questions_of([{"_id": "h", "question": "Who?", "answer": "Ann"}])["h"]["references"]
    ['Ann']
    """
    roles = dict(recognized(tuple(rows[0]))) if rows else {}
    either = next((column for column in (rows[0] if rows else ()) if plain_name(column) in EITHER), None)
    if either and not {"references", "prediction"} & roles.keys():
        roles["references"] = either
    if not {"id", "question", "references"} <= roles.keys() or "prediction" in roles:
        return None
    has_options = "options" in roles or bool(option_columns(rows[0]))
    also_read = "answerable", "is_impossible", *COLUMNS["aliases"], *COLUMNS["options"]
    questions = {}
    for row in rows:
        asked = {role: row.get(roles[role]) for role in ("id", "question", "references")}
        letters = (*KEYS, *option_columns(row).values()) if has_options else ()
        others = {name: cell for name, cell in row.items() if plain_name(name) in also_read or name in letters}
        answers = None if has_options else answers_of(asked["references"])
        questions[str(asked["id"])] = others | asked | ({} if answers is None else {"references": answers})
    return questions if len(questions) == len(rows) else None


def joined_rows(predictions: Mapping[str, str], questions: Mapping[str, dict]) -> list[dict]:
    """Return the rows of a data set with predictions; a question that was not answered has the prediction "".

    One that has no right answer either is left out, because "" would be right there.
    """
    strangers = set(predictions) - set(questions)
    if strangers:
        raise RowError(
            f"{len(strangers):,} of {len(predictions):,} answers are to questions that are not in the data set, such "
            f"as {json.dumps(min(strangers))}; name the data set that was answered"
        )
    asked = {ident: row for ident, row in questions.items() if ident in predictions or answers_of(row["references"])}
    return [{**row, "prediction": predictions.get(ident, "")} for ident, row in asked.items()]
