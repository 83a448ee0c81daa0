"""Adapters of tools whose columns do not all stand at a path: a row of the tool -> its columns by our names.

`tools.toml` says which tool needs one.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from ..cells import answers_of
from ..columns import plain_name
from ..errors import RowError, name_column
from .shared import EXPECTED, QUESTIONS, expected_answers, passages_of


def lm_eval(row: dict) -> dict:
    """Return the columns of a line of samples_*.jsonl of lm-evaluation-harness; each filter is a system."""
    doc, answer, target = row["doc"], row["filtered_resps"], row["target"]
    for _ in range(2):
        answer = answer[0] if isinstance(answer, list) and answer else answer
    if not isinstance(answer, str):
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
    all_answers = answers_of(doc["answers"]) if isinstance(doc.get("answers"), dict) else None
    if isinstance(target, str) and target in (all_answers or ()):
        target = all_answers  # of which tasks such as squadv2 write the first one
    return {
        "question": asked,
        "prediction": answer,
        "references": target,
        "options": doc.get("choices") or doc.get("options"),
        "id": row.get("doc_id"),
        "system": None if row.get("filter") in (None, "none") else row["filter"],
    }


def inspect_samples(log: Mapping) -> Iterator[dict] | None:
    """Return the samples of a log of Inspect in JSON; None of another document."""
    if "eval" not in log or not isinstance(log.get("samples"), list):
        return None
    model = log["eval"].get("model") if isinstance(log["eval"], dict) else None
    return ({"scores": None, **sample, "model": model} for sample in log["samples"])


def openai_samples(events: Sequence[Mapping]) -> list[dict]:
    """Return the samples of an event log of OpenAI evals, from its events `sampling` and `match`."""
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


_EXACT_ASSERTIONS = ("equals", "contains", "icontains", "contains-any", "icontains-any", "similar", "factuality",
                     "model-graded-factuality", "context-recall", "levenshtein", "rouge-n", "bleu")  # fmt: skip
_PROMPTFOO_COLUMN = re.compile(r"\[[^\]]+\] ")  # "[openai:gpt-5] Answer"
_PROMPTFOO_CELL = re.compile(
    r"\[(PASS|FAIL|ERROR)\] *(\([^()\n]*\)\s*)?(.*?)(\s*\n(?:Pass|Fail) Reason: .*)?", re.DOTALL
)


def promptfoo(row: dict) -> dict:
    """Return the columns of a result of promptfoo in JSON, or of a row of its CSV."""
    if "provider" not in row:
        return _promptfoo_csv(row)
    case, response = row.get("testCase") or {}, row.get("response") or {}
    variables, prompt = row.get("vars") or case.get("vars") or {}, row.get("prompt") or {}
    output = response.get("output") if isinstance(response, Mapping) else response
    asked = next((variables[name] for name in QUESTIONS if isinstance(variables.get(name), str)), None)
    references = next((variables[name] for name in EXPECTED if variables.get(name) is not None), None)
    references = None if references is None else expected_answers(references)
    if references is None:
        checks = [check.get("value") for check in case.get("assert") or () if check.get("type") in _EXACT_ASSERTIONS]
        listed = [[check] if isinstance(check, str) else check for check in checks if isinstance(check, str | list)]
        references = list(dict.fromkeys(text for texts in listed for text in texts)) or None
    if output is not None and references is None and not passages_of(variables):
        raise RowError(
            f"no right answer: none of the vars {', '.join(map(str, variables))} is one of {', '.join(EXPECTED)}, and "
            "no assertion such as equals or contains has a value",
            f"name one with {name_column('references', 'vars.NAME')}",
        )
    provider, is_object = row["provider"], isinstance(prompt, Mapping)
    system = (provider.get("label") or provider.get("id")) if isinstance(provider, Mapping) else provider
    return {
        "question": (prompt.get("raw") if is_object else prompt) if asked is None else asked,
        "prediction": output if output is None or isinstance(output, str) else json.dumps(output, ensure_ascii=False),
        "references": references,
        "system": f"{system}: {prompt.get('label')!s:.60}" if row.get("several_prompts") else system,
        "contexts": passages_of(variables),
        "id": None if row.get("testIdx") is None else str(row["testIdx"]),
    }


def is_promptfoo_csv(row: Mapping) -> bool:
    """Return whether a row is of promptfoo's CSV: its answers stand in columns such as "[openai:gpt-5] Answer"."""
    columns = [name for name in row if _PROMPTFOO_COLUMN.match(name)]
    graded = "Status" in row and "Score" in row
    return bool(columns) and (graded or all(_PROMPTFOO_CELL.match(str(row[name])) for name in columns))


def _promptfoo_csv(row: dict) -> dict:
    answers = {}
    for name in filter(_PROMPTFOO_COLUMN.match, row):
        match = _PROMPTFOO_CELL.fullmatch(row[name].strip())
        answers[name] = match[3].strip() if match else row[name]
    systems = [name[1:].partition("]")[0] for name in answers]
    if len(set(systems)) == len(systems):
        answers = dict(zip(systems, answers.values(), strict=True))
    variables = {name.lower(): cell for name, cell in row.items() if not name.startswith("[")}
    asked, references = (
        next((variables[name] for name in names if variables.get(name)), None) for names in (QUESTIONS, EXPECTED)
    )
    if references is None and not passages_of(variables):
        raise RowError(
            f"no right answer: promptfoo writes vars, not assertions, and none of {', '.join(variables)} is one of "
            f"{', '.join(EXPECTED)}",
            f"name one with {name_column('references')}, or read the JSON output of promptfoo",
        )
    return {"question": asked, "prediction": answers, "references": references, "contexts": passages_of(variables)}


def promptfoo_results(document: Mapping) -> Iterator[dict] | None:
    """Return the results of a document of promptfoo, marked where there are several prompts; None of another one."""
    results = document.get("results")
    if not isinstance(results, dict) or not isinstance(results.get("results"), list):
        return None
    rows = [row if isinstance(row, dict) else {} for row in results["results"]]
    prompts = {str(row["prompt"].get("label")) for row in rows if isinstance(row.get("prompt"), dict)}
    return ({**row, "several_prompts": True} if len(prompts) > 1 else row for row in rows)


def bioasq(row: dict) -> dict:
    """Return the columns of BioASQ: of a list all items are one answer, of other questions each item is one."""
    exact, ideal = row.get("exact_answer") or [], row.get("ideal_answer") or []
    items = [item if isinstance(item, list) else [item] for item in (exact if isinstance(exact, list) else [exact])]
    if row.get("type") == "list":
        texts = [", ".join(str(item[0]) for item in items if item)]
    else:
        texts = [text for item in items for text in item]
    texts += ideal if isinstance(ideal, list) else [ideal]
    return {"question": row["body"], "references": [text for text in texts if text]}


def opencompass(row: dict) -> dict:
    r"""Return the columns of OpenCompass; the question is what the last message of its prompt asks."""
    prompt = row["origin_prompt"]
    if isinstance(prompt, list):
        asked = [message for message in prompt if message.get("role") in ("HUMAN", "user")] or prompt
        prompt = asked[-1].get("prompt") or asked[-1].get("content") or ""
    only = re.fullmatch(r"(?is)(?:question|q):\s{0,9}(.+?)\s{0,9}\n\s{0,9}(?:answer|a):?\s{0,9}", prompt.strip())
    return {"question": only[1] if only else prompt, "prediction": row["prediction"], "references": row["gold"]}


def truthfulqa(row: dict) -> dict:
    """Return the columns of TruthfulQA: in CSV its correct answers stand in one cell, separated by semicolons."""
    columns = {plain_name(name): cell for name, cell in row.items()}
    correct = columns["correct_answers"]
    correct = [item.strip() for item in correct.split(";")] if isinstance(correct, str) else list(correct)
    references = dict.fromkeys(text for text in (columns["best_answer"], *correct) if text)
    return {"question": columns["question"], "references": list(references)}
