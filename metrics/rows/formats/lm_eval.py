"""Samples of lm-evaluation-harness: samples_*.jsonl."""

import string
from collections.abc import Mapping

from ..errors import RowError
from ..values import answers_of

NEEDED = (("doc", "filtered_resps", "target"),)


def columns_of(row: dict) -> dict:
    """Return the columns of lm-evaluation-harness: a line of samples_*.jsonl."""
    doc, answer, target = row["doc"], row["filtered_resps"], row["target"]
    answer = answer[0] if isinstance(answer, list) and answer else answer
    answer = answer[0] if isinstance(answer, list) and answer and isinstance(answer[0], str) else answer
    if isinstance(answer, list | tuple):
        raise RowError(
            "filtered_resps: expected a text, got log-likelihoods; only tasks with output_type generate_until hold "
            "answers that can be read"
        )
    doc = doc if isinstance(doc, dict) else {}
    asked = next((doc[name] for name in ("question", "query", "prompt", "problem", "input") if name in doc), None)
    if not isinstance(asked, str):
        asked = row.get("arguments")
        while isinstance(asked, dict | list) and asked:
            asked = next(iter(asked.values())) if isinstance(asked, dict) else asked[0]
    listed = answers_of(doc["answers"]) if isinstance(doc.get("answers"), dict) else []
    if isinstance(target, str) and target in (listed or ()):
        target = listed  # of which tasks such as squadv2 write the first one
    asked, references = with_options(asked, doc, target)
    result = {"question": asked, "prediction": answer, "references": references, "id": row.get("doc_id")}
    if row.get("filter") not in (None, "none"):  # one line for each way to cut the answer out
        result["system"] = row["filter"]
    return result


def with_options(asked: object, doc: Mapping, target: object) -> tuple[object, object]:
    r"""Return the question of a multiple choice with its options, and letter and text of the right one as references.

    >>> with_options("Which?", {"choices": ["Iron", "Tin"]}, "B")
    ('Which?\nA. Iron\nB. Tin', ['B. Tin', 'B', 'Tin'])
    """
    options = next((doc[name] for name in ("choices", "options") if doc.get(name)), None)
    labels = options.get("label") if isinstance(options, Mapping) else None
    options = options.get("text") if isinstance(options, Mapping) else options
    if not isinstance(options, list) or not all(isinstance(text, str) for text in (*options, asked)):
        return asked, target
    labels = [str(label) for label in labels or string.ascii_uppercase[: len(options)]]
    wanted = str(target[0] if isinstance(target, list) and len(target) == 1 else target).strip().strip("().")
    texts = [text.strip() for text in options]
    if wanted in labels or wanted in texts:
        place = labels.index(wanted) if wanted in labels else texts.index(wanted)
    elif wanted.isdecimal() and int(wanted) < len(options):
        place = int(wanted)
    else:
        return asked, target
    if place >= len(labels):
        return asked, target
    if not all(text in asked for text in texts):
        asked = "\n".join([asked, *(f"{label}. {text}" for label, text in zip(labels, texts, strict=False))])
    return asked, [f"{labels[place]}. {texts[place]}", labels[place], texts[place]]
