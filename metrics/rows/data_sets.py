"""Rows of question answering data sets in their own files, and predictions that stand in files beside them."""

import json
from collections.abc import Iterator, Mapping, Sequence

from .columns import EITHER, recognized
from .formats.shared import ToolFormatError
from .row import plain_name
from .values import answers_of

_TURN = "{}_{}"  # id of a question of a conversation


def data_set_rows(document: Mapping) -> Iterator[dict] | None:
    """Return the questions of a document of SQuAD, CoQA or DROP, each with "id", "question" and "references".

    >>> drop = {"p1": {"passage": "", "qa_pairs": [{"query_id": "q", "question": "Who?", "answer": {"spans": ["A"]}}]}}
    >>> [row["references"] for row in data_set_rows(drop)], data_set_rows({"data": [1]})
    ([['A']], None)
    """
    articles = [one for one in document.get("data") or () if isinstance(one, dict)]
    if any("paragraphs" in article for article in articles):
        return (_squad_row(asked) for one in articles for part in one.get("paragraphs", ()) for asked in part["qas"])
    if any({"story", "questions", "answers"} <= article.keys() for article in articles):
        return (row for story in articles for row in _conversation(story))
    if document and all(isinstance(one, dict) and isinstance(one.get("qa_pairs"), list) for one in document.values()):
        return (_drop_row(asked) for one in document.values() for asked in one["qa_pairs"])
    return None


def _squad_row(asked: Mapping) -> dict:
    references = [] if asked.get("is_impossible") is True else answers_of(asked.get("answers") or [])
    return {**asked, "references": list(dict.fromkeys(references))}


def _conversation(story: Mapping) -> Iterator[dict]:
    """Yield the questions of a story of CoQA; each reference is the answer of one person."""
    others = list((story.get("additional_answers") or {}).values())
    for place, (asked, answer) in enumerate(zip(story["questions"], story["answers"], strict=True)):
        answers = [answer, *(of_person[place] for of_person in others)]
        references = dict.fromkeys(one["input_text"] for one in answers)
        ident = _TURN.format(story["id"], asked.get("turn_id", place + 1))
        yield {"id": ident, "question": asked["input_text"], "references": list(references)}


def _drop_row(asked: Mapping) -> dict:
    answers = [asked["answer"], *(asked.get("validated_answers") or ())]
    references = dict.fromkeys(text for answer in answers for text in answers_of(answer) or ())
    return {"id": asked["query_id"], "question": asked["question"], "references": list(references)}


def predictions_of(rows: Sequence[Mapping]) -> dict[str, str] | None:
    """Return {id: answer} of the rows of a file that holds nothing but predictions; None of another file.

    Args:
        rows: one object {id: answer}, as of SQuAD, or {"answer": {id: answer}}, as of HotpotQA; or rows with an id and
            an answer, as of CoQA and MuSiQue.

    >>> predictions_of([{"x1": "Ann"}]), predictions_of([{"answer": {"x1": "Ann"}, "sp": {}}])
    ({'x1': 'Ann'}, {'x1': 'Ann'})
    >>> predictions_of([{"id": "s", "turn_id": 2, "answer": "Ann"}]), predictions_of([{"id": 1, "answer": 2}])
    ({'s_2': 'Ann'}, None)
    """
    first = rows[0] if rows else {}
    roles = recognized(tuple(first))
    if len(rows) == 1 and not roles.keys() - {"prediction"}:
        nested = next((first[name] for name in ("answer", "predictions") if isinstance(first.get(name), dict)), first)
        texts = {str(name): text for name, text in nested.items() if isinstance(text, str)}
        ids = nested is not first or not roles
        return texts if ids and texts and len(texts) == len(nested) and "question" not in nested else None
    answer = roles.get("prediction") or next((name for name in first if plain_name(name) in EITHER), None)
    if "id" not in roles or answer is None or {"references", "contexts"} & roles.keys():
        return None
    if "question" in roles and "prediction" not in roles:
        return None
    found = {}
    for row in rows:
        ident, text = row.get(roles["id"]), row.get(answer)
        if not isinstance(text, str) or ident is None:
            return None
        found[_TURN.format(ident, row["turn_id"]) if "turn_id" in row else str(ident)] = text
    return found


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
    kept = {"id": roles["id"], "question": roles["question"], "references": roles["references"]}
    kept |= {"aliases": roles["aliases"]} if "aliases" in roles else {}
    flags = ("answerable", "is_impossible")
    made = {}
    for row in rows:
        asked = {name: row.get(column) for name, column in kept.items()} | {n: row[n] for n in flags if n in row}
        answers = answers_of(asked["references"])
        made[str(asked["id"])] = asked | ({} if answers is None else {"references": answers})
    return made if len(made) == len(rows) else None


def joined_rows(predictions: Mapping[str, str], questions: Mapping[str, dict]) -> list[dict]:
    """Return the rows of a data set with predictions; a question that was not answered has the prediction "".

    One that has no right answer either is left out, because "" would be right there.

    Raises:
        ToolFormatError: if an id is not in the data set, for then it is another one.

    >>> joined_rows({"a": "Ann"}, {"a": {"id": "a", "question": "Who?", "references": ["Ann"]}})
    [{'id': 'a', 'question': 'Who?', 'references': ['Ann'], 'prediction': 'Ann'}]
    """
    strangers = set(predictions) - set(questions)
    if strangers:
        raise ToolFormatError(
            f"{len(strangers):,} of {len(predictions):,} answers are to questions that are not in the data set, such "
            f"as {json.dumps(min(strangers))}; name the data set that was answered"
        )
    return [
        {**row, "prediction": predictions.get(ident, "")}
        for ident, row in questions.items()
        if ident in predictions or answers_of(row["references"])
    ]
