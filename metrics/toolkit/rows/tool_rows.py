"""One row of each tool -> its question, prediction and references; one function per tool."""

import json
import re
from collections.abc import Iterable, Mapping
from string import ascii_uppercase

ANSWER_COLUMNS = ("output", "completion", "sampled")
# What a question and a right answer are called inside the inputs of a tool; the first that is there is taken.
QUESTIONS = ("question", "query", "prompt", "problem", "input", "user_input", "instruction", "message", "text")
ANSWERS = ("answer", "output", "response", "completion", "result", "text", "content", "final_answer", "generated")
EXPECTED = (
    "expected", "reference", "references", "expected_answer", "expected_output", "expected_response", "ground_truth",
    "ideal", "target", "gold", "answer", "answers", "output", "correct_answer",
)  # fmt: skip
CONTEXTS = ("contexts", "context", "documents", "retrieved_context", "retrieved_contexts", "retrieval_context")
# promptfoo's assertions whose value is a right answer.
EXACT_ASSERTIONS = ("equals", "contains", "icontains", "contains-any", "icontains-any", "similar", "factuality",
                    "model-graded-factuality", "context-recall", "levenshtein", "rouge-n", "bleu")  # fmt: skip
_PROMPTFOO_CELL = re.compile(
    r"\[(PASS|FAIL|ERROR)\] *(\([^()\n]*\)\s*)?(.*?)(\s*\n(?:Pass|Fail) Reason: .*)?", re.DOTALL
)


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


def _opened(value: object) -> object:
    """Return a JSON object or list that stands in a cell of CSV as text; other values as they are."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _named(value: object, names: Iterable[str], role: str = "user") -> object:
    """Return the text that inputs or outputs of a tool hold under one of some names; of a single value that one.

    >>> _named({"question": "Who?", "lang": "en"}, QUESTIONS), _named({"messages": [{"content": "Who?"}]}, QUESTIONS)
    ('Who?', 'Who?')
    """
    value = _opened(value)
    if isinstance(value, Mapping):
        plain = {str(key).lower().replace(" ", "_"): inner for key, inner in value.items()}
        chat = "choices" in value or "content" in value
        name = next((name for name in names if plain.get(name) is not None), None)
        if name is None and isinstance(value.get("messages"), list):
            name = "messages"
        if chat and name in (None, "text", "content"):
            return text_of(value, role)
        if name is None and len(plain) == 1:
            name = next(iter(plain))
        if name is None:
            raise ToolFormatError(
                f"expected one of {', '.join(names)} in {{{', '.join(map(str, value))}}}; name it with --column, such "
                "as --column question=inputs.NAME"
            )
        return _named(plain[name], names, role) if isinstance(plain[name], Mapping | list) else plain[name]
    return text_of(value, role)


def _expected(value: object) -> object:
    """Return the references of a value: a text, a list of texts, or what an object holds under a usual name."""
    value = _opened(value)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return value
    if isinstance(value, Mapping):
        facts = value.get("expected_facts")
        if facts is not None and not any(value.get(name) is not None for name in EXPECTED):
            raise ToolFormatError("expected_facts: are no answers; give an expected_response")
        inner = next((value[name] for name in EXPECTED if value.get(name) is not None), None)
        if isinstance(inner, list) and all(isinstance(one, str) for one in inner):
            return inner
    found = _named(value, EXPECTED, "assistant")
    return str(found) if isinstance(found, int | float) and not isinstance(found, bool) else found


def _passages(*values: object) -> object:
    """Return the passages that one of some objects holds under a usual name; None where there are none."""
    for value in map(_opened, values):
        if isinstance(value, Mapping):
            found = next((value[name] for name in CONTEXTS if value.get(name)), None)
            if found is not None:
                return found
    return None


def ragas_row(row: dict) -> dict:
    """Return the columns of RAGAS: a row of an evaluation data set, of version 0.2 or before."""
    if "user_input" in row:
        asked, answer = text_of(row["user_input"]), row["response"]
        return {"question": asked, "prediction": answer, "references": row.get("reference")}
    references = row["ground_truths"] if row.get("ground_truths") else row.get("ground_truth")
    return {"question": row["question"], "prediction": row["answer"], "references": references}


def lm_eval_row(row: dict) -> dict:
    """Return the columns of lm-evaluation-harness: a line of samples_*.jsonl."""
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
    found = {
        "question": _with_options(asked, doc),
        "prediction": answer,
        "references": target,
        "id": row.get("doc_id"),
    }
    if row.get("filter") not in (None, "none"):  # one line for each way to cut the answer out
        found["system"] = row["filter"]
    return found


def _with_options(question: object, doc: dict) -> object:
    """Return a question with the options of a task of multiple choice, if its text does not have them."""
    choices = doc.get("choices")
    choices = choices.get("text") if isinstance(choices, dict) else choices
    texts = isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
    if not isinstance(question, str) or not texts or all(choice in question for choice in choices):
        return question
    return "\n".join(
        [question, *(f"{letter}. {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False))]
    )


def squad_row(row: dict) -> dict:
    """Return the columns of SQuAD: the references of a question."""
    answers = row.get("answers")
    texts = answers.get("text") if isinstance(answers, dict) else [answer["text"] for answer in answers or ()]
    return {"references": list(dict.fromkeys(texts or ()))}


def openai_evals_row(row: dict) -> dict:
    """Return the columns of OpenAI evals: a sample with an answer, or an output item of the API."""
    if "datasource_item" in row:  # an output item of the Evals API
        item, sample = row["datasource_item"], row.get("sample") or {}
        if sample.get("error"):
            raise ToolFormatError(f"the sample ended with an error and has no answer: {str(sample['error'])[:80]}")
        asked = _named(item, QUESTIONS) if not isinstance(item, str) else item
        found = {"question": asked, "prediction": text_of(sample.get("output"), "assistant"), "id": row.get("id")}
        found["contexts"] = _passages(item)
        without = found["contexts"] and all(item.get(name) is None for name in EXPECTED)
        return found | {"references": None if without else _expected(item)}
    answer = next((row[name] for name in ANSWER_COLUMNS if row.get(name) is not None), None)
    if answer is None:
        raise ToolFormatError(
            "a sample of a data set, without an answer; name the log of the run, which oaieval writes to "
            "/tmp/evallogs/ or to --record_path, or add a column 'output'"
        )
    return {"question": text_of(row["input"]), "prediction": text_of(answer, "assistant"), "references": row["ideal"]}


def promptfoo_row(row: dict) -> dict:
    """Return the columns of promptfoo: a result of its JSON, or a row of its CSV."""
    if "provider" not in row:
        return _promptfoo_csv(row)
    case, answer = row.get("testCase") or {}, row.get("response") or {}
    given = row.get("vars") or case.get("vars") or {}
    output = answer.get("output") if isinstance(answer, Mapping) else answer
    if output is None:
        raise ToolFormatError(f"has no output: {str(row.get('error') or 'no response')[:80]}")
    if not isinstance(output, str):
        output = json.dumps(output, ensure_ascii=False)
    references = next((_expected(given[name]) for name in EXPECTED if given.get(name) is not None), None)
    if references is None:
        checks = [check for check in case.get("assert") or () if check.get("type") in EXACT_ASSERTIONS]
        values = [check["value"] for check in checks if isinstance(check.get("value"), str | list)]
        references = list(
            dict.fromkeys(one for value in values for one in ([value] if isinstance(value, str) else value))
        )
    if not references and not _passages(given):
        raise ToolFormatError(
            f"no right answer: none of the vars {', '.join(map(str, given))} is one of {', '.join(EXPECTED)}, and no "
            "assertion such as equals or contains has a value; name one with --column references=vars.NAME"
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
        "contexts": _passages(given),
        "id": None if row.get("testIdx") is None else str(row["testIdx"]),
    }


def is_promptfoo_csv(values: Mapping) -> bool:
    """Return whether a row is of promptfoo's CSV: its answers stand in columns such as "[openai:gpt-5] Answer"."""
    columns = [name for name in values if re.match(r"\[[^\]]+\] ", name)]
    graded = "Status" in values and "Score" in values
    return bool(columns) and (graded or all(_PROMPTFOO_CELL.match(str(values[name])) for name in columns))


def _promptfoo_csv(row: dict) -> dict:
    answers = {}
    for name, cell in row.items():
        if re.match(r"\[[^\]]+\] ", name):
            found = _PROMPTFOO_CELL.fullmatch(cell.strip())
            answers[name] = found[3].strip() if found else cell
    systems = [name[1:].partition("]")[0] for name in answers]
    if len(set(systems)) == len(systems):
        answers = dict(zip(systems, answers.values(), strict=True))
    given = {name.lower(): cell for name, cell in row.items() if not name.startswith("[")}
    asked = next((given[name] for name in QUESTIONS if given.get(name)), None)
    references = next((given[name] for name in EXPECTED if given.get(name)), None)
    if references is None and not _passages(given):
        raise ToolFormatError(
            f"no right answer: promptfoo writes vars, not assertions, and none of {', '.join(given)} is one of "
            f"{', '.join(EXPECTED)}; name one with --column references=NAME, or read the JSON output of promptfoo"
        )
    return {"question": asked, "prediction": answers, "references": references, "contexts": _passages(given)}


def deepeval_row(row: dict) -> dict:
    """Return the columns of DeepEval: a test case, of a data set or of a test run."""
    names = ("actual_output", "expected_output", "retrieval_context")
    camel = ("actualOutput", "expectedOutput", "retrievalContext")
    answer, expected, passages = (
        row[one] if one in row else row.get(other) for one, other in zip(names, camel, strict=True)
    )
    if answer is None:
        raise ToolFormatError("actual_output: is null; a golden has no answer before it is run")
    if isinstance(passages, str) and "|" in passages:  # DeepEval joins them in CSV
        passages = passages.split("|")
    return {"question": row["input"], "prediction": answer, "references": expected, "contexts": passages}


def langfuse_row(row: dict) -> dict:
    """Return the columns of Langfuse: an item of a run of a data set, or of an experiment."""
    if "item" in row:
        item = row["item"]
        row = {
            **row,
            "input": item["input"],
            "expected_output": item.get("expected_output", item.get("expectedOutput")),
        }
    expected = row.get("expected_output", row.get("expectedOutput"))
    passages = _passages(row["input"], row["output"], _opened(row.get("metadata")))
    if expected in (None, "") and not passages:
        raise ToolFormatError(
            "expectedOutput: is empty; export the runs of a dataset, whose items have one, or log the retrieved "
            "passages as contexts, which grounding reads"
        )
    found = {"question": _named(row["input"], QUESTIONS), "prediction": _named(row["output"], ANSWERS, "assistant")}
    return found | {"references": None if expected in (None, "") else _expected(expected), "contexts": passages}


def langsmith_row(row: dict) -> dict:
    """Return the columns of LangSmith: a run beside its example, as `evaluate` and `to_pandas` give it."""

    def part(name: str, *others: str) -> object:
        flat = {key[len(name) + 1 :]: value for key, value in row.items() if key.startswith(f"{name}.")}
        return flat or next((row[one] for one in (name, *others) if row.get(one) is not None), None)

    if "example" in row:  # what `evaluate` yields
        run, example = row["run"], row["example"]
        row = {"inputs": example["inputs"], "outputs": run["outputs"], "reference": example["outputs"]} | row
    outputs, expected = part("outputs"), part("reference", "reference_outputs", "reference outputs")
    if outputs in (None, "") or all(
        value is None for value in (outputs.values() if isinstance(outputs, dict) else "-")
    ):
        raise ToolFormatError(f"has no outputs: {str(row.get('error') or 'no run')[:80]}")
    return {
        "question": _named(part("inputs"), QUESTIONS),
        "prediction": _named(outputs, ANSWERS, "assistant"),
        "references": _expected(expected),
        "contexts": _passages(outputs, part("inputs")),
        "id": row.get("example_id"),
    }


def mlflow_row(row: dict) -> dict:
    """Return the columns of MLflow: a row of an evaluation table."""
    names = (("inputs", "request"), ("outputs", "response"))
    asked, answer = (next(row[name] for name in pair if name in row) for pair in names)
    expected = ("expectations", "expected_response", "ground_truth", "targets", "target")
    return {
        "question": _named(asked, QUESTIONS),
        "prediction": _named(answer, ANSWERS, "assistant"),
        "references": _expected(next((row[name] for name in expected if row.get(name) is not None), None)),
        "contexts": _passages(row, asked, answer),
    }


def inspect_row(row: dict) -> dict:
    """Return the columns of Inspect: a sample of a log."""
    answer = row.get("output") or {}
    if row.get("error") and not answer.get("choices"):
        raise ToolFormatError(f"the sample ended with an error and has no answer: {str(row['error'])[:80]}")
    answer = answer["completion"] if isinstance(answer.get("completion"), str) else text_of(answer, "assistant")
    ident, epoch = row.get("id"), row.get("epoch", 1)
    found = {"question": text_of(row["input"]), "prediction": answer, "references": row["target"]}
    found["contexts"] = _passages(row.get("metadata"), row.get("store"))
    found["id"] = ident if epoch == 1 else f"{ident} (epoch {epoch})"
    return found | ({"system": row["model"]} if row.get("model") else {})
