"""Files as people and tools write them: every form and format with a small file, recognised or named; columns."""

import json
import zipfile
from pathlib import Path

import datasets
import pandas
import pyarrow as pa
import pytest
from genqa_metrics.rows.errors import FileError
from genqa_metrics.rows.reading import RowReader
from genqa_metrics.rows.sources import ReadOptions, Source, files

from tests.factories.cases import with_cases
from tests.factories.files import items, lines, run, save, scores, workbook

WHO, HERS, PASSAGES = "Who wrote Frankenstein?", ["Mary Shelley", "Shelley"], ["It is by Mary Shelley."]
ROWS = json.loads((Path(__file__).parent / "data/tool_rows.json").read_text(encoding="utf-8"))  # as tools write them
EVENTS, LOG, PROMPTFOO = ROWS.pop("openai-evals, log"), ROWS.pop("inspect, log"), ROWS["promptfoo"]
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
    error = run("score", tmp_path / "bad.json", "-m", "aev", status=1)[1]
    assert "has no answer: rate limit; run it again, or drop the row" in error


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
        list(files([tmp_path / "none.jsonl"])[0].rows())


@with_cases
def test_a_row_of_a_tool_without_answers_says_so(row, message, tmp_path):
    assert message in run("score", save(tmp_path / "rows.jsonl", [row]), "-m", "aev", status=2)[1]


@pytest.mark.parametrize("orient", ["columns", "split", "records", "table", "index"])
def test_tables_as_pandas_writes_them(orient, tmp_path):
    frame = pandas.DataFrame(
        {"Question": [WHO, "When?"], "Answer": ["Mary Shelley", "1818"], "Expected": ["M", "1818"]}
    )
    frame.to_json(tmp_path / "a.json", orient=orient)
    more = {}
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


(SAMPLE,) = LOG["samples"]


def read(*paths, **kwargs):
    """Return the rows of files, as we write them."""
    (source,) = files([str(path) for path in paths], ReadOptions(**kwargs))
    found = list(source.rows())
    assert not [row.problem for row in found if row.problem]
    kept = ("question", "prediction", "references", "id", "system")
    return source, [{name: row.values[name] for name in kept if row.values.get(name) is not None} for row in found]


@with_cases
def test_answers_beside_their_passages_need_no_reference(form, row, tmp_path):
    """Empty passages keep the numbers of the others, which answers cite."""
    (source,) = files([str(save(tmp_path / "rows.jsonl", [row]))])
    (found,) = source.rows()
    assert source.form == form
    reader = RowReader(source, {}, lambda kind: {"contexts": "grounding"})
    assert not reader.row_kind(found.values).has_references
    item, *_ = reader.read(found)
    assert (item.text, item.contexts, item.references) == (WHO, ["x", "", "y"], [])
    assert item.predictions[0].startswith("Mary")
    assert [note for note in source.notices if "references" in note] == []


@pytest.mark.usefixtures("word_judge")
@pytest.mark.parametrize(("contexts", "got"), [(3, "int 3"), (["a", 0.5], "float 0.5")])
def test_bad_passages(contexts, got, tmp_path):
    path = save(tmp_path / "a.jsonl", [{"question": WHO, "prediction": "Mary", "contexts": contexts}] * 2)
    told = run("score", path, "-m", "grounding", status=1)[1]
    assert f"contexts: expected passages, a text or a list of texts, got {got}; say which one it is with --col" in told


def zipped(path, files, zstd):
    """Write a zip file; with zstd, as Inspect packs, which zipfile cannot before Python 3.14."""
    with zipfile.ZipFile(path, "w") as log:
        for name, content in files.items():
            log.writestr(name, pa.compress(content.encode(), codec="zstd", asbytes=True) if zstd else content)
            if zstd:
                facts = log.getinfo(name)
                facts.compress_type, facts.file_size = 93, len(content.encode())


def test_references_of_some_rows_are_pointed_to(tmp_path):
    rows = [{"question": WHO, "prediction": "Mary", "contexts": ["x"], "references": text} for text in ("", "Mary")]
    (source,) = files([str(save(tmp_path / "rows.jsonl", rows))])
    reader = RowReader(source, {}, lambda kind: {"contexts": "grounding"})
    assert [item.references for row in source.rows() for item in reader.read(row)] == [[], ["Mary"]]
    assert source.notices == [
        "references: the first row has none, so that rows were scored without references, though others have some; "
        "metrics='ava', on_error='skip' scores those"
    ]


@pytest.mark.parametrize("ending", [".json", ".eval", ".zstd.eval"])
def test_logs_of_inspect(ending, tmp_path):
    path = tmp_path / f"log{ending}"
    if ending == ".json":
        path.write_text(json.dumps(LOG, indent=2))
    else:
        members = {"header.json": {**LOG, "samples": None}, "samples/7_epoch_1.json": SAMPLE}
        zipped(path, {name: json.dumps(content) for name, content in members.items()}, zstd="zstd" in ending)
    source, rows = read(path)
    assert source.form == "inspect"
    assert rows == [{"question": WHO, "prediction": "Mary Shelley", "references": HERS, "id": 7, "system": "mock/a"}]


def test_a_table_with_a_column_for_each_system(tmp_path):
    rows = [{"question": WHO, "bert": "Mary Shelley", "gpt": "Byron", "references": "Mary Shelley"}] * 3
    path = save(tmp_path / "wide.csv", rows)
    found = scores(path, "--metric", "aev", "--systems", "bert, gpt")
    assert {name: round(system["aev"], 3) for name, system in found.items()} == {"bert": 1.0, "gpt": 0.0}
    _, told = run("score", path, "--metric", "aev", "--systems", "bert,claude", status=2)
    assert "no column 'claude', which --systems names; columns found: question, bert, gpt, references" in told
    assert "--systems: expected different names" in run("score", path, "--systems", "a,a", status=2)[1]


@pytest.mark.parametrize(("delimiter", "first"), [(";", ""), ("\t", ""), (";", "sep=;\r\n"), (",", "")])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_what_excel_writes(delimiter, first, encoding, tmp_path):
    table = [["question", "prediction", "references"], ["Où, où?", "Zürich; ja", "Zürich"]]
    text = first + "".join(delimiter.join(f'"{cell}"' for cell in row) + "\r\n" for row in table)
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    assert read(tmp_path / "a.csv")[1] == [{"question": "Où, où?", "prediction": "Zürich; ja", "references": "Zürich"}]


def test_other_encodings_are_named(tmp_path):
    (tmp_path / "a.csv").write_bytes("prediction,references\nWest Zürich,West Zürich\n".encode("cp1252"))
    told = run("score", tmp_path / "a.csv", "--metric", "aev", status=1)[1]
    assert "name its encoding, for example --encoding cp1252" in told
    assert scores(tmp_path / "a.csv", "--metric", "aev", "--encoding", "cp1252")["a"]["aev"] == 1.0
    (tmp_path / "a.jsonl").write_bytes(lines([{"prediction": "Zürich", "references": "Zürich"}]).encode("utf-16"))
    assert read(tmp_path / "a.jsonl")[1][0]["prediction"] == "Zürich"
    assert "expected one that Python knows" in run("score", tmp_path / "a.csv", "--encoding", "klingon", status=2)[1]


@pytest.mark.parametrize("form", ["", "ragass"])
def test_a_form_must_be_known(form):
    with pytest.raises(ValueError, match=f"from: expected one of ragas, .*, got '{form}'"):
        ReadOptions(form=form)


@pytest.mark.parametrize("kind", ["json", "pretty", "arrow", "stream", "folder", "xlsx", "data"])
def test_formats(kind, tmp_path):
    rows = [{"question": WHO, "prediction": text, "references": "Mary Shelley"} for text in ("Mary Shelley", "4")]
    path = tmp_path / f"a.{ {'pretty': 'json', 'data': 'json', 'stream': 'arrow'}.get(kind, kind) }"
    if kind in ("json", "pretty", "data"):
        path.write_text(json.dumps({"data": rows} if kind == "data" else rows, indent=2 if kind == "pretty" else None))
    elif kind == "folder":
        datasets.Dataset.from_list(rows).select([1, 0]).select([1, 0]).save_to_disk(str(path))
    elif kind == "xlsx":
        path.write_bytes(workbook(a=[list(rows[0]), *(list(row.values()) for row in rows)]))
    else:
        table = pa.Table.from_pylist(rows)
        with (pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream)(path, table.schema) as writer:
            writer.write_table(table)
    source, found = read(path)
    assert found == rows
    assert [row.values["prediction"] for row in source.rows(after=next(source.rows()).number)] == ["4"]
    assert scores(path, "--metric", "aev")[source.stem]["aev_recall"] == 0.5


def test_splits_of_a_folder_are_named(tmp_path):
    one = datasets.Dataset.from_list([{"prediction": "a", "references": "a"}])
    datasets.DatasetDict(train=one, test=one).save_to_disk(str(tmp_path / "all"))
    with pytest.raises(FileError, match=r"holds several splits; name one of .*all/train, .*all/test"):
        files([tmp_path / "all"])
    assert read(tmp_path / "all/test")[0].stem == "test"


def test_addresses_are_read_with_fsspec(tmp_path):
    import fsspec

    with fsspec.open("memory://bucket/mine.jsonl.gz", "wb", compression="gzip") as file:
        file.write(lines([{"prediction": "four steps", "references": "four steps"}]).encode())
    source = Source("memory://bucket/mine.jsonl.gz")
    assert [row.values["prediction"] for row in source.rows()] == ["four steps"]
    assert (source.stem, len(source.digest)) == ("mine", 64)
    assert scores("memory://bucket/mine.jsonl.gz", "--metric", "aev")["mine"]["aev"] == 1.0
    told = run("score", "memory://bucket/none.jsonl", "--metric", "aev", status=2)[1]
    assert "memory://bucket/none.jsonl: cannot be read" in told
    assert "Protocol not known: nosuch" in run("score", "nosuch://a/b.jsonl", "--metric", "aev", status=2)[1]


@pytest.mark.parametrize("command", ["score", "compare"])
def test_a_wrong_column_is_found_before_a_model_is_loaded(command, tmp_path, monkeypatch):
    def loaded(*arguments):
        raise AssertionError("a model was loaded")

    monkeypatch.setattr("genqa_metrics.kpqa.scorer.load_models", loaded)
    path = save(tmp_path / "a.jsonl", [{"question": WHO, "reply": "a", "references": "a"}] * 30)
    told = run(command, path, "--metric", "kpqa", status=2)[1]
    assert "a.jsonl, line 1: no prediction (a column named prediction or candidate or predictions)" in told
    assert "columns found: question, reply, references; say which one it is with --column prediction=reply" in told
    assert "with --systems A,B" in told


@with_cases
def test_retrieved_passages_are_contexts(given, found, tmp_path):
    row = {"question": "Who won?", "prediction": "Ann", "references": "Ann", **given}
    for place in (save(tmp_path / "a.jsonl", [row]), [row]):
        assert items(place)[1][0].contexts == found


def test_retrieved_passages_of_csv_and_of_a_named_column(tmp_path):
    row = {"prediction": "Ann", "references": "Ann", "docs": json.dumps(["Ann won.", "Bo lost."]), "contexts": "[1] x"}
    path = save(tmp_path / "a.csv", [row])
    for columns, found in (({"contexts": "docs"}, ["Ann won.", "Bo lost."]), ({}, ["[1] x"])):
        assert items(path, columns)[1][0].contexts == found
