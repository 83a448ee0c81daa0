"""Results of promptfoo: JSON, or CSV with a column for each provider."""

import json
import re
from collections.abc import Iterator, Mapping

from ..errors import Advice, RowError, name_column
from .shared import EXPECTED, QUESTIONS, expected_answers, passages_of

EXACT_ASSERTIONS = ("equals", "contains", "icontains", "contains-any", "icontains-any", "similar", "factuality",
                    "model-graded-factuality", "context-recall", "levenshtein", "rouge-n", "bleu")  # fmt: skip
_CELL = re.compile(r"\[(PASS|FAIL|ERROR)\] *(\([^()\n]*\)\s*)?(.*?)(\s*\n(?:Pass|Fail) Reason: .*)?", re.DOTALL)
NEEDED = (("provider", "response", "testCase"), ("provider", "response", "vars"), ("[*",))


def columns_of(row: dict) -> dict:
    """Return the columns of promptfoo: a result of its JSON, or a row of its CSV."""
    if "provider" not in row:
        return _of_csv(row)
    case, answer = row.get("testCase") or {}, row.get("response") or {}
    given = row.get("vars") or case.get("vars") or {}
    output = answer.get("output") if isinstance(answer, Mapping) else answer
    if output is None:
        raise RowError(f"has no output: {str(row.get('error') or 'no response')[:80]}")
    if not isinstance(output, str):
        output = json.dumps(output, ensure_ascii=False)
    references = next((expected_answers(given[name]) for name in EXPECTED if given.get(name) is not None), None)
    if references is None:
        checks = [check for check in case.get("assert") or () if check.get("type") in EXACT_ASSERTIONS]
        values = [check["value"] for check in checks if isinstance(check.get("value"), str | list)]
        items = (item for value in values for item in ([value] if isinstance(value, str) else value))
        references = list(dict.fromkeys(items))
    if not references and not passages_of(given):
        raise RowError(
            f"no right answer: none of the vars {', '.join(map(str, given))} is one of {', '.join(EXPECTED)}, and no "
            "assertion such as equals or contains has a value",
            hint=Advice("name one with ", name_column("references", "vars.NAME")),
        )
    asked = next((given[name] for name in QUESTIONS if isinstance(given.get(name), str)), None)
    provider, prompt = row["provider"], row.get("prompt") or {}
    system = (provider.get("label") or provider.get("id")) if isinstance(provider, Mapping) else provider
    several = row.get("several_prompts")
    return {
        "question": asked if asked is not None else (prompt.get("raw") if isinstance(prompt, Mapping) else prompt),
        "prediction": output,
        "references": references or None,
        "system": f"{system}: {prompt.get('label')!s:.60}" if several else system,
        "contexts": passages_of(given),
        "id": None if row.get("testIdx") is None else str(row["testIdx"]),
    }


def is_csv(values: Mapping) -> bool:
    """Return whether a row is of promptfoo's CSV: its answers stand in columns such as "[openai:gpt-5] Answer"."""
    columns = [name for name in values if re.match(r"\[[^\]]+\] ", name)]
    graded = "Status" in values and "Score" in values
    return bool(columns) and (graded or all(_CELL.match(str(values[name])) for name in columns))


def _of_csv(row: dict) -> dict:
    answers = {}
    for name, cell in row.items():
        if re.match(r"\[[^\]]+\] ", name):
            match = _CELL.fullmatch(cell.strip())
            answers[name] = match[3].strip() if match else cell
    systems = [name[1:].partition("]")[0] for name in answers]
    if len(set(systems)) == len(systems):
        answers = dict(zip(systems, answers.values(), strict=True))
    given = {name.lower(): cell for name, cell in row.items() if not name.startswith("[")}
    asked = next((given[name] for name in QUESTIONS if given.get(name)), None)
    references = next((given[name] for name in EXPECTED if given.get(name)), None)
    if references is None and not passages_of(given):
        raise RowError(
            f"no right answer: promptfoo writes vars, not assertions, and none of {', '.join(given)} is one of "
            f"{', '.join(EXPECTED)}",
            hint=Advice("name one with ", name_column("references"), ", or read the JSON output of promptfoo"),
        )
    return {"question": asked, "prediction": answers, "references": references, "contexts": passages_of(given)}


def document_rows(document: Mapping) -> Iterator[dict] | None:
    """Return the results in a document; where there are several prompts they are told apart. None of another one."""
    results = document.get("results")
    if not isinstance(results, dict) or not isinstance(results.get("results"), list):
        return None
    rows = [row if isinstance(row, dict) else {} for row in results["results"]]
    prompts = {str(row["prompt"].get("label")) for row in rows if isinstance(row.get("prompt"), dict)}
    return ({**row, "several_prompts": True} if len(prompts) > 1 else row for row in rows)
