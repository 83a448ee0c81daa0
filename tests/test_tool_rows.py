"""Files of promptfoo, DeepEval, Langfuse, LangSmith, MLflow and OpenAI evals, and tables as pandas writes them."""

import json

import pandas
import pytest
from genqa_metrics.rows.errors import FileError
from genqa_metrics.rows.sources import files

from tests.factories.files import items, lines, run, save, scores, workbook

WHO, HERS, PASSAGES = "Who wrote Frankenstein?", ["Mary Shelley", "Shelley"], ["It is by Mary Shelley."]
CHAT = {"messages": [{"role": "user", "content": WHO}]}
PROMPTFOO = {
    "provider": {"id": "openai:gpt-5", "label": "gpt"},
    "prompt": {"raw": f"Answer: {WHO}", "label": "Answer: {{question}}"},
    "vars": {"question": WHO, "context": PASSAGES[0]},
    "response": {"output": "Mary Shelley", "tokenUsage": {}},
    "testCase": {"assert": [{"type": "contains-any", "value": HERS}, {"type": "llm-rubric", "value": "x"}]},
    "score": 1, "success": True, "testIdx": 0, "promptIdx": 0,
}  # fmt: skip
ROWS = {
    "ragas": {"user_input": WHO, "response": "Mary Shelley", "reference": HERS[0], "retrieved_contexts": PASSAGES},
    "ragas, 0.1": {"question": WHO, "answer": "Mary Shelley", "contexts": PASSAGES, "ground_truths": HERS},
    "ragas, dialogue": {"user_input": [{"type": "human", "content": WHO}], "response": "Mary Shelley",
                        "reference": HERS[0]},
    "lm-eval": {"doc_id": 7, "doc": {"question": WHO, "answer": {"aliases": HERS}}, "target": HERS,
                "filtered_resps": ["Mary Shelley"], "filter": "none"},
    "lm-eval, listed": {"doc_id": 7, "doc": {"answers": {"text": HERS}}, "target": HERS[0],
                        "arguments": {"gen_args_0": {"arg_0": WHO}},
                        "filtered_resps": [["Mary Shelley"]], "filter": "strict"},
    "openai-evals": {"input": CHAT["messages"], "ideal": HERS,
                     "output": {"role": "assistant", "content": "Mary Shelley"}},
    "openai-evals, text": {"input": WHO, "ideal": HERS[0], "completion": [{"type": "text", "text": "Mary Shelley"}]},
    "promptfoo": PROMPTFOO,
    "deepeval": {"input": WHO, "actual_output": "Mary Shelley", "expected_output": HERS[0],
                 "retrieval_context": PASSAGES},
    "deepeval, run": {"name": "t", "input": WHO, "actualOutput": "Mary Shelley", "expectedOutput": HERS[0],
                      "retrievalContext": PASSAGES, "metricsData": []},
    "langfuse": {"id": "r1", "traceId": "t", "input": {"question": WHO, "context": PASSAGES},
                 "output": {"answer": "Mary Shelley"}, "expectedOutput": {"answer": HERS[0]}},
    "langfuse, experiment": {"item": {"input": WHO, "expected_output": HERS}, "output": "Mary Shelley",
                             "evaluations": [{"name": "exact", "value": 1}], "trace_id": "t"},
    "langsmith": {"inputs.question": WHO, "outputs.output": "Mary Shelley", "error": None, "reference.answer": HERS[0],
                  "feedback.correct": 1, "example_id": "e1", "id": "x"},
    "langsmith, runs": {"inputs": CHAT, "outputs": {"output": "Mary Shelley", "documents": PASSAGES},
                        "reference_outputs": {"answer": HERS}},
    "mlflow": {"inputs": WHO, "ground_truth": HERS[0], "outputs": "Mary Shelley", "toxicity/v1/score": 0.1},
    "mlflow, genai": {"trace_id": "t", "request": CHAT,
                      "response": {"choices": [{"message": {"content": "Mary Shelley"}}]},
                      "expectations": {"expected_response": HERS[0]}, "retrieved_context": [{"content": PASSAGES[0]}]},
    "openai-evals, api": {"object": "eval.run.output_item", "id": "o1", "results": [],
                          "datasource_item": {"question": WHO, "ideal": HERS},
                          "sample": {"input": [], "output": [{"role": "assistant", "content": "Mary Shelley"}]}},
}  # fmt: skip


MIXED = ("openai-evals", "langfuse", "langsmith, runs", "mlflow, genai", "promptfoo")  # types that Arrow lacks


@pytest.mark.parametrize(
    ("kind", "ending"),
    [(kind, ".jsonl") for kind in ROWS] + [(kind, ".parquet") for kind in ROWS if not kind.startswith(MIXED)],
)
def test_rows_of_a_tool_are_recognised(kind, ending, tmp_path):
    source, (item, _) = items(save(tmp_path / f"rows{ending}", [ROWS[kind]] * 2))
    assert source.form == kind.partition(",")[0]
    assert (item.text, item.predictions) == (WHO, ["Mary Shelley"])
    assert item.references in (HERS, HERS[:1])
    assert item.contexts in (PASSAGES, [])
    if "lm-eval" in kind:
        assert item.references == HERS
        assert (item.id, item.system) == ("7", "strict" if "listed" in kind else "rows")
    assert item.human == (None, None)  # the grade of a tool is no human score
    if "retriev" in str(ROWS[kind]) or "context" in str(ROWS[kind]):
        assert item.contexts == PASSAGES


@pytest.mark.parametrize("kind", ["langsmith", "langsmith, runs", "mlflow", "mlflow, genai", "langfuse"])
def test_objects_in_cells_of_csv(kind, tmp_path):
    cells = {
        name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in ROWS[kind].items()
    }
    source, (item,) = items(save(tmp_path / "rows.csv", [cells]))
    assert source.form == kind.partition(",")[0]
    assert (item.text, item.predictions, item.references[0]) == (WHO, ["Mary Shelley"], HERS[0])


def test_results_of_promptfoo(tmp_path):
    """A whole document; with two prompts the systems are told apart; a sample without an output is a bad row."""
    other = PROMPTFOO | {"prompt": {"raw": WHO, "label": "{{question}}"}, "response": {"output": {"answer": "Byron"}}}
    failed = PROMPTFOO | {"response": None, "error": "rate limit"}
    for name, results in (("one", [PROMPTFOO]), ("two", [PROMPTFOO, other]), ("bad", [PROMPTFOO, failed])):
        document = {"evalId": "e", "results": {"version": 3, "prompts": [], "results": results}, "config": {}}
        (tmp_path / f"{name}.json").write_text(json.dumps(document, indent=2))
    source, found = items(tmp_path / "one.json")
    assert (source.form, found[0].system, found[0].id) == ("promptfoo", "gpt", "0")
    found = items(tmp_path / "two.json")[1]
    assert [item.system for item in found] == ["gpt: Answer: {{question}}", "gpt: {{question}}"]
    assert found[1].predictions == ['{"answer": "Byron"}']
    assert "has no output: rate limit" in run("score", tmp_path / "bad.json", "-m", "aev", status=1)[1]


@pytest.mark.parametrize("new", [False, True])
def test_csv_of_promptfoo(new, tmp_path):
    """Old files say [PASS] and the reason in the cell, new ones in columns that repeat for each prompt."""
    header = ["question", "expected", "[openai:gpt-5] Answer", *(["Status", "Score"] if new else [])]
    header += ["[ollama:qwen] Answer", *(["Status", "Score"] if new else [])]
    old = [
        "[PASS] (1.00)\n\nMary\nShelley\n\nPass Reason: All assertions passed",
        "[FAIL] (0.00)\n\nByron\n\nFail Reason: no",
    ]
    cells = ["Mary\nShelley", "PASS", "1.00", "Byron", "FAIL", "0.00"] if new else old
    pandas.DataFrame([[WHO, HERS[0], *cells]], columns=header).to_csv(tmp_path / "out.csv", index=False)
    source, found = items(tmp_path / "out.csv")
    assert source.form == "promptfoo"
    assert {item.system: item.predictions[0] for item in found} == {
        "openai:gpt-5": "Mary\nShelley",
        "ollama:qwen": "Byron",
    }
    assert {(item.text, *item.references, *item.human) for item in found} == {(WHO, HERS[0], None, None)}


EVENTS = [
    {"spec": {"completion_fns": ["m"], "eval_name": "qa"}},
    {"run_id": "r", "event_id": 0, "sample_id": "qa.dev.0", "type": "sampling",
     "data": {"prompt": [{"role": "user", "content": WHO}], "sampled": ["Mary Shelley"]}},
    {"run_id": "r", "event_id": 1, "sample_id": "qa.dev.1", "type": "sampling",
     "data": {"prompt": "When?", "sampled": "1818"}},
    {"run_id": "r", "event_id": 2, "sample_id": "qa.dev.0", "type": "match",
     "data": {"correct": True, "expected": HERS, "picked": "Mary Shelley"}},
    {"run_id": "r", "event_id": 3, "sample_id": "qa.dev.1", "type": "match",
     "data": {"correct": True, "expected": "1818", "picked": "1818"}},
    {"final_report": {"accuracy": 1.0}, "run_id": "r"},
]  # fmt: skip


def test_the_event_log_of_openai_evals(tmp_path):
    (tmp_path / "log.jsonl").write_text(lines(EVENTS))
    for form in (None, "openai-evals"):
        source, found = items(tmp_path / "log.jsonl", form=form)
        assert (source.form, source.stem) == ("openai-evals", "log")
        assert [(item.text, item.predictions, item.references) for item in found] == [
            (WHO, ["Mary Shelley"], HERS), ("When?", ["1818"], ["1818"])
        ]  # fmt: skip
    assert scores(tmp_path / "log.jsonl", "-m", "aev", "--from", "openai-evals")["log"]["aev_recall"] > 0.5
    (tmp_path / "none.jsonl").write_text(lines([EVENTS[0], EVENTS[-1]]))
    with pytest.raises(FileError, match="no events of type 'sampling'"):
        files([tmp_path / "none.jsonl"])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"input": WHO, "ideal": HERS}, "a sample of a data set, without an answer; name the log of the run"),
        ({"input": WHO, "output": "Mary", "expectedOutput": None, "id": "a"}, "expectedOutput: is empty"),
        (PROMPTFOO | {"testCase": {}, "vars": {"q": WHO}}, "no right answer: none of the vars q is one of expected"),
        (
            ROWS["lm-eval"] | {"filtered_resps": [[-3.5, False]]},
            "expected a text, got log-likelihoods",
        ),
    ],
)
def test_a_row_of_a_tool_without_answers_says_so(row, message, tmp_path):
    assert message in run("score", save(tmp_path / "rows.jsonl", [row]), "-m", "aev", status=2)[1]


@pytest.mark.parametrize("orient", ["columns", "split", "records", "table", "index"])
def test_tables_as_pandas_writes_them(orient, tmp_path):
    frame = pandas.DataFrame(
        {"Question": [WHO, "When?"], "Answer": ["Mary Shelley", "1818"], "Expected": ["M", "1818"]}
    )
    frame.to_json(tmp_path / "a.json", orient=orient)
    more = {"rows_at": "*"} if orient == "index" else {}
    if orient == "index":  # rows by number: an object of objects, whose place is the whole document
        (tmp_path / "a.json").write_text(json.dumps({"rows": json.loads((tmp_path / "a.json").read_text())}))
        more = {"rows_at": "rows"}
    _, found = items(tmp_path / "a.json", **more)
    assert [(item.text, *item.predictions, *item.references) for item in found] == [
        (WHO, "Mary Shelley", "M"), ("When?", "1818", "1818")
    ]  # fmt: skip


def test_rows_inside_a_document(tmp_path):
    row = {"question": WHO, "prediction": "Mary Shelley", "references": HERS}
    nested = {"meta": {"n": 2}, "data": {"items": [row]}, "runs": [{"qa": [row]}, {"qa": [row, row]}]}
    (tmp_path / "a.json").write_text(json.dumps(nested, indent=1))
    assert len(items(tmp_path / "a.json", rows_at="data.items")[1]) == 1
    assert len(items(tmp_path / "a.json", rows_at="runs[*].qa")[1]) == 3
    assert scores(tmp_path / "a.json", "-m", "aev", "--rows-at", "data.items")["a"]["aev"] == 1.0
    told = run("score", tmp_path / "a.json", "-m", "aev", "--rows-at", "data.rows", status=1)[1]
    assert "--rows-at data.rows: expected a list of rows there; the document has meta, data, runs" in told


@pytest.mark.parametrize(
    ("prediction", "references", "found"),
    [("out[0].text", "gold[*].text", HERS), ("out.0.text", "gold.1.text", HERS[1:])],
)
def test_items_of_a_list_in_a_column(prediction, references, found, tmp_path):
    row = {"question": WHO, "out": [{"text": "Mary Shelley"}], "gold": [{"text": text} for text in HERS]}
    path = save(tmp_path / "a.jsonl", [row])
    _, (item,) = items(path, {"prediction": prediction, "references": references})
    assert (item.predictions, item.references) == (["Mary Shelley"], found)
    told = run("score", path, "-m", "aev", "-c", "prediction=out.1.text", status=2)[1]
    assert "no column 'out.1.text'" in told


def test_sheets_are_named(tmp_path):
    xlsx = tmp_path / "a.xlsx"
    xlsx.write_bytes(workbook(About=[["note"], ["x"]], Answers=[["prediction", "references"], ["a", "a"]]))
    for sheet in ("Answers", "2"):
        assert items(xlsx, sheet=sheet)[1][0].predictions == ["a"]
    assert "no sheet 'Answer'; the workbook has About, Answers" in run("score", xlsx, "--sheet", "Answer", status=1)[1]


def test_lists_that_pandas_wrote_as_text(tmp_path):
    frame = pandas.DataFrame({"prediction": ["thirty days"], "references": [["30 days", "it's thirty days"]]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert "['30 days'" in (tmp_path / "a.csv").read_text()
    assert items(tmp_path / "a.csv")[1][0].references == ["30 days", "it's thirty days"]


def test_a_printed_list_in_rows_is_read_with_a_warning():
    source, (item,) = items([{"prediction": "30 days", "references": "['30 days', 'thirty days']"}])
    assert item.references == ["30 days", "thirty days"]
    assert "printed lists, such as" in source.notices[0]


def test_separators_between_references(tmp_path):
    path = save(tmp_path / "a.csv", [{"prediction": "thirty days", "references": "30 days | thirty days"}])
    told = run("score", path, "-m", "aev")[1]
    assert "if it stands between several, add --split-references '|'" in told
    assert items(path, split="|")[1][0].references == ["30 days", "thirty days"]
    out, told = run("score", path, "-m", "aev", "--split-references", "|", "-f", "json")
    assert json.loads(out)["systems"]["a"]["aev_precision"] == 1.0
    assert "split" not in told
    for text, said in (("Jane Austen; Austen", True), ("Report it at once; a new card costs 5 euros.", False)):
        path = save(tmp_path / "b.csv", [{"prediction": "Austen", "references": text}])
        assert ("--split-references ';'" in run("score", path, "-m", "aev")[1]) == said


def test_a_guessed_column_is_said(tmp_path):
    path = save(tmp_path / "a.csv", [{"Question": WHO, "Answer": "Mary Shelley", "Expected": "Mary Shelley"}])
    told = run("score", path, "-m", "aev")[1]
    assert "column 'Answer' was read as the prediction; another one: --column prediction=NAME" in told
    assert "column 'Expected' was read as the references" in told
    source, (item,) = items([{"Question": WHO, "Prediction": "Mary", "Reference": "Mary"}])
    assert item.text == WHO
    assert not source.notices
