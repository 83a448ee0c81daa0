"""Data sets, and files of predictions alone, which are joined with the data set that they answer."""

import json
from collections.abc import Iterator, Mapping, Sequence

from ..cells import answers_of
from ..columns import COLUMNS, EITHER, KEYS, option_columns, plain_name, recognized
from ..errors import RowError
from .shared import text_of

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
