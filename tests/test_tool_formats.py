"""Files as other tools write them: every form and format with a small file, recognised or named, and wrong columns."""

import json
import math
import zipfile

import datasets
import pyarrow as pa
import pytest
from genqa_metrics.rows.errors import FileError
from genqa_metrics.rows.reading import RowReader
from genqa_metrics.rows.sources import ReadOptions, Source, files

from tests.factories.files import items, lines, run, save, scores, workbook

WHO = "Who wrote Frankenstein?"
HERS = ["Mary Shelley", "Shelley"]
CHAT = [{"role": "system", "content": "Be short."}, {"role": "user", "content": WHO}]
SAID = {"role": "assistant", "content": "Mary Shelley"}
SAMPLE = {"id": 7, "epoch": 1, "input": CHAT, "target": HERS, "scores": {"match": {"value": "C"}}}
SAMPLE["output"] = {"model": "m", "choices": [{"message": SAID}], "completion": "Mary Shelley"}
LOG = {"version": 2, "status": "success", "eval": {"task": "qa", "model": "mock/a"}, "samples": [SAMPLE]}


def read(*paths, **kwargs):
    """Return the rows of files, as we write them."""
    (source,) = files([str(path) for path in paths], ReadOptions(**kwargs))
    found = list(source.rows())
    assert not [row.problem for row in found if row.problem]
    kept = ("question", "prediction", "references", "id", "system")
    return source, [{name: row.values[name] for name in kept if row.values.get(name) is not None} for row in found]


@pytest.mark.parametrize(
    ("form", "row"),
    [
        ("ragas", {"user_input": WHO, "response": "Mary", "retrieved_contexts": ["x", "", "y"]}),
        ("ragas", {"user_input": WHO, "response": "Mary", "retrieved_contexts": ["x", "", "y"], "reference": None}),
        ("", {"question": WHO, "answer": "Mary", "contexts": ["x", None, "y"]}),
        ("", {"question": WHO, "prediction": "Mary", "contexts": ["x", math.nan, "y"], "references": math.nan}),
        ("deepeval", {"input": WHO, "actual_output": "Mary", "retrieval_context": ["x", "", "y"]}),
        ("deepeval", {"input": WHO, "actualOutput": "Mary", "retrievalContext": ["x", "", "y"],
                      "expectedOutput": None}),
        ("langfuse", {"input": {"question": WHO, "contexts": ["x", "", "y"]}, "output": "Mary",
                      "expected_output": None}),
        ("langfuse", {"timestamp": "2026-01-01", "input": {"question": WHO},
                      "output": {"answer": "Mary", "documents": ["x", "", "y"]}}),
        ("langsmith", {"inputs.question": WHO, "outputs.answer": "Mary", "outputs.documents": ["x", "", "y"],
                       "example_id": "e"}),
        ("langsmith", {"inputs": {"question": WHO}, "outputs": {"answer": "Mary", "documents": ["x", "", "y"]},
                       "run_type": "chain"}),
        ("mlflow", {"request": WHO, "response": "Mary", "retrieved_context": ["x", "", "y"]}),
        ("mlflow", {"inputs": WHO, "outputs": "Mary", "context": ["x", "", "y"]}),
        ("promptfoo", {"provider": "m", "vars": {"question": WHO, "context": ["x", "", "y"]}, "testCase": {},
                       "response": {"output": "Mary"}}),
        ("openai-evals", {"datasource_item": {"question": WHO, "context": ["x", "", "y"]},
                          "sample": {"output": [SAID]}}),
        ("inspect", SAMPLE | {"target": "", "metadata": {"contexts": ["x", "", "y"]}}),
    ],
)  # fmt: skip
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


def test_a_sample_of_inspect_that_failed_has_no_answer(tmp_path):
    failed = SAMPLE | {"output": {"model": "m", "choices": [], "completion": ""}, "error": {"message": "timeout"}}
    (tmp_path / "log.json").write_text(json.dumps(LOG | {"samples": [SAMPLE, failed]}))
    told = run("score", tmp_path / "log.json", "--metric", "aev", status=1)[1]
    assert "log.json, line 2: the sample ended with an error and has no answer" in told


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
    assert "columns found: question, reply, references; say which one it is with --column prediction=NAME" in told
    assert "with --systems A,B" in told


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"contexts": ["Ann won.", "", "Bo lost."]}, ["Ann won.", "", "Bo lost."]),
        ({"contexts": ["", None]}, []),
        ({"contexts": "Ann won."}, ["Ann won."]),
        ({"contexts": "[1] Ann won."}, ["[1] Ann won."]),
        ({"contexts": None}, []),
        ({}, []),
        ({"retrieved_contexts": ["Ann won."]}, ["Ann won."]),  # RAGAS
        ({"retrieval_context": ["Ann won."]}, ["Ann won."]),  # DeepEval
        ({"contexts": [{"page_content": "Ann won.", "metadata": {}}, {"n": 1}]}, ["Ann won.", '{"n": 1}']),
    ],
)
def test_retrieved_passages_are_contexts(given, found, tmp_path):
    row = {"question": "Who won?", "prediction": "Ann", "references": "Ann", **given}
    for place in (save(tmp_path / "a.jsonl", [row]), [row]):
        assert items(place)[1][0].contexts == found


def test_retrieved_passages_of_csv_and_of_a_named_column(tmp_path):
    row = {"prediction": "Ann", "references": "Ann", "docs": json.dumps(["Ann won.", "Bo lost."]), "contexts": "[1] x"}
    path = save(tmp_path / "a.csv", [row])
    for columns, found in (({"contexts": "docs"}, ["Ann won.", "Bo lost."]), ({}, ["[1] x"])):
        assert items(path, columns)[1][0].contexts == found
