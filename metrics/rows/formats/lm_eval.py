"""Samples of lm-evaluation-harness: samples_*.jsonl."""

from ..errors import RowError
from ..options import options_of, right_options, with_options
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
    options = options_of(next((doc[name] for name in ("choices", "options") if doc.get(name)), None))
    if options and (right := right_options(options, target)):
        asked, target = with_options(asked, options, right)
    result = {"question": asked, "prediction": answer, "references": target, "id": row.get("doc_id")}
    if row.get("filter") not in (None, "none"):  # one line for each way to cut the answer out
        result["system"] = row["filter"]
    return result
