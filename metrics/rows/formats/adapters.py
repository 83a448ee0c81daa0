"""Adapters of tools whose columns do not all stand at a path: a row of the tool -> its columns by our names.

Each raises `RowError` for a row that has no answer, or no right one. `table.TOOLS` says which tool needs one.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from ..errors import Advice, RowError, name_column
from ..options import options_of, right_options, with_options
from ..values import answers_of, plain_name
from .shared import ANSWERS, EXPECTED, QUESTIONS, expected_answers, named_text, passages_of, text_of

_ENDED = "the sample ended with an error and has no answer: {!s:.80}"


def lm_eval(row: dict) -> dict:
    """Return the columns of a line of samples_*.jsonl of lm-evaluation-harness."""
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
    options = options_of(doc.get("choices") or doc.get("options"))
    if options and (right := right_options(options, target)):
        asked, target = with_options(asked, options, right)
    columns = {"question": asked, "prediction": answer, "references": target, "id": row.get("doc_id")}
    # There is one line for each way to cut the answer out.
    return columns if row.get("filter") in (None, "none") else columns | {"system": row["filter"]}


def inspect(row: dict) -> dict:
    """Return the columns of a sample of a log of Inspect; samples of later epochs have ids of their own."""
    output = row.get("output") or {}
    if row.get("error") and not output.get("choices"):
        raise RowError(_ENDED.format(row["error"]))
    answer = output["completion"] if isinstance(output.get("completion"), str) else text_of(output, "assistant")
    return {
        "question": text_of(row["input"]),
        "prediction": answer,
        "references": row["target"],
        "contexts": passages_of(row.get("metadata"), row.get("store")),
        "id": row.get("id") if row.get("epoch", 1) == 1 else f"{row.get('id')} (epoch {row['epoch']})",
        "system": row.get("model") or None,
    }


def inspect_samples(log: Mapping) -> Iterator[dict] | None:
    """Return the samples of a log of Inspect in JSON; None of another document."""
    if "eval" not in log or not isinstance(log.get("samples"), list):
        return None
    model = log["eval"].get("model") if isinstance(log["eval"], dict) else None
    return ({"scores": None, **sample, "model": model} for sample in log["samples"])


def openai_evals(row: dict) -> dict:
    """Return the columns of OpenAI evals: a sample with an answer, or an output item of the API."""
    if "datasource_item" in row:
        item, sample = row["datasource_item"], row.get("sample") or {}
        if sample.get("error"):
            raise RowError(_ENDED.format(sample["error"]))
        passages = passages_of(item)
        without = passages and all(item.get(name) is None for name in EXPECTED)
        return {
            "question": item if isinstance(item, str) else named_text(item, QUESTIONS),
            "prediction": text_of(sample.get("output"), "assistant"),
            "references": None if without else expected_answers(item),
            "contexts": passages,
            "id": row.get("id"),
        }
    answer = next((row[name] for name in ("output", "completion", "sampled") if row.get(name) is not None), None)
    if answer is None:
        raise RowError(
            "a sample of a data set, without an answer; name the log of the run, which oaieval writes to "
            "/tmp/evallogs/ or to --record_path, or add a column 'output'"
        )
    return {"question": text_of(row["input"]), "prediction": text_of(answer, "assistant"), "references": row["ideal"]}


def openai_samples(events: Sequence[Mapping]) -> list[dict]:
    """Return the samples of an event log of OpenAI evals, from its events `sampling` and `match`.

    >>> asked = {"sample_id": "a.0", "type": "sampling", "data": {"prompt": "Who?", "sampled": ["Ann"]}}
    >>> checked = {"sample_id": "a.0", "type": "match", "data": {"expected": "Ann", "picked": "Ann", "correct": True}}
    >>> openai_samples([{"spec": {}}, asked, checked])
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


def langsmith(row: dict) -> dict:
    """Return the columns of a run of LangSmith beside its example, as `evaluate` and `to_pandas` give it."""
    if "example" in row:  # of `evaluate`
        run, example = row["run"], row["example"]
        row = {"inputs": example["inputs"], "outputs": run["outputs"], "reference": example["outputs"]} | row

    def values_of(name: str, *others: str) -> object:
        """Return an object that is a column, or has a column for each of its values: "inputs.question"."""
        flat = {key[len(name) + 1 :]: cell for key, cell in row.items() if key.startswith(f"{name}.")}
        return flat or next((row[item] for item in (name, *others) if row.get(item) is not None), None)

    outputs, inputs = values_of("outputs"), values_of("inputs")
    answers = outputs.values() if isinstance(outputs, dict) else [outputs or None]
    if all(answer is None for answer in answers):
        raise RowError(f"has no outputs: {row.get('error') or 'no run'!s:.80}; run it again, or drop the row")
    return {
        "question": named_text(inputs, QUESTIONS),
        "prediction": named_text(outputs, ANSWERS, "assistant"),
        "references": expected_answers(values_of("reference", "reference_outputs", "reference outputs")),
        "contexts": passages_of(outputs, inputs),
        "id": row.get("example_id"),
    }


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
    variables = row.get("vars") or case.get("vars") or {}
    output = response.get("output") if isinstance(response, Mapping) else response
    if output is None:
        raise RowError(f"has no output: {row.get('error') or 'no response'!s:.80}; run it again, or drop the row")
    references = next(
        (expected_answers(variables[name]) for name in EXPECTED if variables.get(name) is not None), None
    )
    if references is None:
        checks = [check for check in case.get("assert") or () if check.get("type") in _EXACT_ASSERTIONS]
        wanted = [check["value"] for check in checks if isinstance(check.get("value"), str | list)]
        texts = (text for listed in wanted for text in ([listed] if isinstance(listed, str) else listed))
        references = list(dict.fromkeys(texts))
    passages = passages_of(variables)
    if not references and not passages:
        raise RowError(
            f"no right answer: none of the vars {', '.join(map(str, variables))} is one of {', '.join(EXPECTED)}, and "
            "no assertion such as equals or contains has a value",
            hint=Advice("name one with ", name_column("references", "vars.NAME")),
        )
    provider, prompt = row["provider"], row.get("prompt") or {}
    asked = next((variables[name] for name in QUESTIONS if isinstance(variables.get(name), str)), None)
    if asked is None:
        asked = prompt.get("raw") if isinstance(prompt, Mapping) else prompt
    system = (provider.get("label") or provider.get("id")) if isinstance(provider, Mapping) else provider
    return {
        "question": asked,
        "prediction": output if isinstance(output, str) else json.dumps(output, ensure_ascii=False),
        "references": references or None,
        "system": f"{system}: {prompt.get('label')!s:.60}" if row.get("several_prompts") else system,
        "contexts": passages,
        "id": None if row.get("testIdx") is None else str(row["testIdx"]),
    }


def is_promptfoo_csv(values: Mapping) -> bool:
    """Return whether a row is of promptfoo's CSV: its answers stand in columns such as "[openai:gpt-5] Answer"."""
    columns = [name for name in values if _PROMPTFOO_COLUMN.match(name)]
    graded = "Status" in values and "Score" in values
    return bool(columns) and (graded or all(_PROMPTFOO_CELL.match(str(values[name])) for name in columns))


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
            hint=Advice("name one with ", name_column("references"), ", or read the JSON output of promptfoo"),
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
    """Return the columns of BioASQ: of a list all items are one answer, of other questions each item is one.

    >>> bioasq({"type": "list", "body": "Which?", "exact_answer": [["A", "A-1"], ["B"]]})["references"]
    ['A, B']
    """
    exact, ideal = row.get("exact_answer") or [], row.get("ideal_answer") or []
    items = [item if isinstance(item, list) else [item] for item in (exact if isinstance(exact, list) else [exact])]
    if row.get("type") == "list":
        texts = [", ".join(str(item[0]) for item in items if item)]
    else:
        texts = [text for item in items for text in item]
    texts += ideal if isinstance(ideal, list) else [ideal]
    return {"question": row["body"], "references": [text for text in texts if text]}


def opencompass(row: dict) -> dict:
    r"""Return the columns of OpenCompass; the question is what the last message of its prompt asks.

    >>> opencompass({"origin_prompt": "Question: Who?\nAnswer:", "prediction": "Ann", "gold": "Ann"})["question"]
    'Who?'
    """
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
