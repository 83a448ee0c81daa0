"""Samples of OpenAI evals, with an answer; output items of its API; the event log of a run."""

from collections.abc import Mapping, Sequence

from ..errors import RowError
from .shared import EXPECTED, QUESTIONS, expected_answers, named_text, passages_of, text_of

ANSWER_COLUMNS = ("output", "completion", "sampled")
NEEDED = (("datasource_item", "sample"), ("input", "ideal"))


def columns_of(row: dict) -> dict:
    """Return the columns of OpenAI evals: a sample with an answer, or an output item of the API."""
    if "datasource_item" in row:  # an output item of the Evals API
        item, sample = row["datasource_item"], row.get("sample") or {}
        if sample.get("error"):
            raise RowError(f"the sample ended with an error and has no answer: {str(sample['error'])[:80]}")
        asked = named_text(item, QUESTIONS) if not isinstance(item, str) else item
        values = {"question": asked, "prediction": text_of(sample.get("output"), "assistant"), "id": row.get("id")}
        values["contexts"] = passages_of(item)
        without = values["contexts"] and all(item.get(name) is None for name in EXPECTED)
        return values | {"references": None if without else expected_answers(item)}
    answer = next((row[name] for name in ANSWER_COLUMNS if row.get(name) is not None), None)
    if answer is None:
        raise RowError(
            "a sample of a data set, without an answer; name the log of the run, which oaieval writes to "
            "/tmp/evallogs/ or to --record_path, or add a column 'output'"
        )
    return {"question": text_of(row["input"]), "prediction": text_of(answer, "assistant"), "references": row["ideal"]}


def event_log_rows(events: Sequence[Mapping]) -> list[dict]:
    """Return the rows of a log of OpenAI evals: its events `sampling` and `match` by sample.

    >>> asked = {"sample_id": "a.0", "type": "sampling", "data": {"prompt": "Who?", "sampled": ["Ann"]}}
    >>> checked = {"sample_id": "a.0", "type": "match", "data": {"expected": "Ann", "picked": "Ann", "correct": True}}
    >>> event_log_rows([{"spec": {}}, asked, checked])
    [{'id': 'a.0', 'input': 'Who?', 'sampled': ['Ann'], 'ideal': 'Ann'}]
    """
    samples: dict[str, dict] = {}
    for event in events:
        data, ident = event.get("data"), event.get("sample_id")
        if ident is None or not isinstance(data, Mapping):
            continue
        row = samples.setdefault(str(ident), {"id": str(ident)})
        if event.get("type") == "sampling" and "sampled" in data:
            row |= {"input": data.get("prompt"), "sampled": data["sampled"]}
        elif event.get("type") == "raw_sample":
            row |= {"ideal": data["ideal"]} if "ideal" in data else {}
            row.setdefault("input", data.get("input"))
        elif event.get("type") in ("match", "metrics") and "expected" in data:
            row["ideal"] = data["expected"]
            row.setdefault("sampled", data.get("sampled"))
    return [row for row in samples.values() if row.get("sampled") is not None]
