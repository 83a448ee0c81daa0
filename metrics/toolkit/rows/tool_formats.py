"""Rows as other tools write them -> rows with `question`, `prediction` and `references`.

A format is detected when its columns are unambiguous, and can be named. The columns of the tool stay in the row, so
that a column can still be named by hand.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from .formats import Row

ANSWER_COLUMNS = ("output", "completion", "sampled")
# Columns that a form reads, for files of which only some columns are read.
COLUMNS_READ = (
    "user_input", "response", "reference", "answer", "contexts", "ground_truth", "ground_truths", "doc", "doc_id",
    "filtered_resps", "filter", "target", "arguments", "answers", "input", "ideal", *ANSWER_COLUMNS,
)  # fmt: skip


class ToolFormatError(ValueError):
    """A row is not of its form; the message says what is wrong and the fix."""


def text_of(value: object, role: str = "user") -> object:
    """Return the text of what may be a chat: that of the last message of a role, else of the last message.

    >>> text_of([{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who won?"}])
    'Who won?'
    >>> text_of({"role": "assistant", "content": [{"type": "text", "text": "Ann"}]}), text_of("Ann")
    ('Ann', 'Ann')
    """
    if isinstance(value, Mapping):
        if "choices" in value:
            return text_of(value["choices"], "assistant")
        inner = next((value[name] for name in ("content", "text", "message") if value.get(name) is not None), None)
        return text_of(inner, role)
    if isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        if all("role" not in part and part.get("type") == "text" for part in value):
            return "".join(str(part.get("text", "")) for part in value)
        mine = [part for part in value if part.get("role", part.get("type")) in (role, {"user": "human"}.get(role))]
        return text_of((mine or value)[-1], role)
    if isinstance(value, list) and len(value) == 1:
        return text_of(value[0], role)
    return value


def _ragas(row: dict) -> dict:
    if "user_input" in row:
        return {"question": text_of(row["user_input"]), "prediction": row["response"], "references": row["reference"]}
    references = row["ground_truths"] if row.get("ground_truths") else row.get("ground_truth")
    return {"question": row["question"], "prediction": row["answer"], "references": references}


def _lm_eval(row: dict) -> dict:
    doc, answer, target = row["doc"], row["filtered_resps"], row["target"]
    answer = answer[0] if isinstance(answer, list) and answer else answer
    answer = answer[0] if isinstance(answer, list) and answer and isinstance(answer[0], str) else answer
    if isinstance(answer, list | tuple):
        raise ToolFormatError(
            "filtered_resps: expected a text, got log-likelihoods; only tasks with output_type generate_until hold "
            "answers that can be read"
        )
    doc = doc if isinstance(doc, dict) else {}
    asked = next((doc[name] for name in ("question", "query", "prompt", "problem", "input") if name in doc), None)
    if not isinstance(asked, str):
        asked = row.get("arguments")
        while isinstance(asked, dict | list) and asked:
            asked = next(iter(asked.values())) if isinstance(asked, dict) else asked[0]
    found = {"question": asked, "prediction": answer, "references": target, "id": row.get("doc_id")}
    if row.get("filter") not in (None, "none"):  # one line for each way to cut the answer out
        found["system"] = row["filter"]
    return found


def _squad(row: dict) -> dict:
    answers = row.get("answers")
    texts = answers.get("text") if isinstance(answers, dict) else [answer["text"] for answer in answers or ()]
    return {"references": list(dict.fromkeys(texts or ()))}


def _openai_evals(row: dict) -> dict:
    answer = next((row[name] for name in ANSWER_COLUMNS if name in row), None)
    return {"question": text_of(row["input"]), "prediction": text_of(answer, "assistant"), "references": row["ideal"]}


def _inspect(row: dict) -> dict:
    answer = row.get("output") or {}
    if row.get("error") and not answer.get("choices"):
        raise ToolFormatError(f"the sample ended with an error and has no answer: {str(row['error'])[:80]}")
    answer = answer["completion"] if isinstance(answer.get("completion"), str) else text_of(answer, "assistant")
    ident, epoch = row.get("id"), row.get("epoch", 1)
    found = {"question": text_of(row["input"]), "prediction": answer, "references": row["target"]}
    found["id"] = ident if epoch == 1 else f"{ident} (epoch {epoch})"
    return found | ({"system": row["model"]} if row.get("model") else {})


# Per form: the columns without which a row is not of it, and what makes a row of it. The first that fits is taken.
TOOL_FORMATS: dict[str, tuple[tuple[tuple[str, ...], ...], Callable[[dict], dict]]] = {
    "ragas": (
        (
            ("user_input", "response", "reference"),
            ("question", "answer", "contexts", "ground_truth"),
            ("question", "answer", "contexts", "ground_truths"),
        ),
        _ragas,
    ),
    "lm-eval": ((("doc", "filtered_resps", "target"),), _lm_eval),
    "squad": ((), _squad),  # of two files, see `documents.squad`
    "openai-evals": (tuple(("input", "ideal", name) for name in ANSWER_COLUMNS), _openai_evals),
    "inspect": ((("input", "target", "output", "scores"),), _inspect),
}


def detect_tool_format(values: Mapping) -> str:
    """Return the form of a row, "" if it is of none, or already as we write it.

    >>> detect_tool_format({"user_input": "Who?", "response": "Ann", "reference": "Ann", "retrieved_contexts": []})
    'ragas'
    >>> detect_tool_format({"user_input": "Who?", "response": "Ann", "reference": "Ann", "prediction": "Ann"})
    ''
    """
    if not {"prediction", "predictions", "candidate"}.isdisjoint(values):
        return ""
    return next(
        (n for n, (sets, _) in TOOL_FORMATS.items() if any(set(columns) <= set(values) for columns in sets)), ""
    )


def _converted(values: dict, form: str) -> dict:
    needed, convert = TOOL_FORMATS[form]
    if needed and not any(set(columns) <= set(values) for columns in needed):
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


def document_rows(document: object) -> Iterator[dict] | None:
    """Return the rows of a whole JSON document: a list, a log of Inspect, a data set of SQuAD; None for another one.

    >>> [row["references"] for row in document_rows([{"references": ["a"]}])]
    [['a']]
    """
    if isinstance(document, list):
        return iter(document)
    if isinstance(document, dict) and isinstance(document.get("samples"), list) and "eval" in document:
        model = document["eval"].get("model") if isinstance(document["eval"], dict) else None
        return ({"scores": None, **sample, "model": model} for sample in document["samples"])
    if isinstance(document, dict) and isinstance(document.get("data"), list):
        paragraphs = [part for article in document["data"] if isinstance(article, dict)
                      for part in article.get("paragraphs", ())]  # fmt: skip
        if paragraphs:
            return ({**asked, **_squad(asked)} for part in paragraphs for asked in part["qas"])
        return iter(document["data"])
    return None


def squad_rows(answers: Mapping[str, str], gold: Sequence[Mapping]) -> list[dict]:
    """Return the rows of a file of predictions with the rows of its data set; what was not answered is "".

    Args:
        answers: {id of a question: answer}.
        gold: rows with "id", "question" and "references" (or "answers").

    Raises:
        ToolFormatError: if an id is not in the data set, for then it is another one.

    >>> squad_rows({"a": "Ann"}, [{"id": "a", "question": "Who?", "references": ["Ann"]}])
    [{'id': 'a', 'question': 'Who?', 'references': ['Ann'], 'prediction': 'Ann'}]
    """
    strangers = set(answers) - {str(row.get("id")) for row in gold}
    if strangers:
        raise ToolFormatError(
            f"{len(strangers):,} of {len(answers):,} answers are to questions that are not in the data set, such as "
            f"{json.dumps(min(strangers))}; name the data set that was answered"
        )
    rows = []
    for row in gold:
        references = row["references"] if "references" in row else _squad(dict(row))["references"]
        kept = {"id": str(row["id"]), "question": row["question"], "references": references}
        rows.append({**kept, "prediction": answers.get(str(row["id"]), "")})
    return rows
