"""Files as people and tools write them: every form and format with a small file, recognised or named; columns."""

import json
import zipfile
from pathlib import Path

import datasets
import pyarrow as pa
import pytest
from genqa_metrics.rows.errors import FileError
from genqa_metrics.rows.formats import TOOLS
from genqa_metrics.rows.sources import ReadOptions, Source, files

from tests import test_read_rows as read_rows
from tests.factories.files import items, lines, run, save, scores, workbook

WHO, HERS, PASSAGES = "Who wrote Frankenstein?", ["Mary Shelley", "Shelley"], ["It is by Mary Shelley."]
ROWS = json.loads((Path(__file__).parent / "data/tool_rows.json").read_text(encoding="utf-8"))  # as tools write them
EVENTS, LOG = ROWS.pop("openai-evals, log"), ROWS.pop("inspect, log")
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


def test_every_tool_has_a_row_in_a_test():
    """Also a tool that someone adds: a row in tool_rows.json, or a case in read_rows.jsonl."""
    shown = {kind.partition(",")[0] for kind in ROWS} | {case["read"]["form"] for case in read_rows.cases()}
    assert set(TOOLS) - {"squad", "inspect"} <= shown  # these two: `data_sets.json` and `LOG`


@pytest.mark.parametrize("kind", ["langsmith", "langsmith, runs", "mlflow", "mlflow, genai", "langfuse"])
def test_objects_in_cells_of_csv(kind, tmp_path):
    cells = {
        name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in ROWS[kind].items()
    }
    source, (item,) = items(save(tmp_path / "rows.csv", [cells]))
    assert source.form == kind.partition(",")[0]
    assert (item.text, item.predictions, item.references[0]) == (WHO, ["Mary Shelley"], HERS[0])


def test_an_event_log_of_openai_evals_without_answers_is_refused(tmp_path):
    (tmp_path / "none.jsonl").write_text(lines([EVENTS[0], EVENTS[-1]]))
    with pytest.raises(FileError, match="no events of type 'sampling'"):
        list(files([tmp_path / "none.jsonl"])[0].rows())


def test_a_place_without_rows_is_an_error(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"meta": {"n": 2}, "data": {"items": []}}, indent=1))
    told = run("score", tmp_path / "a.json", "-m", "aev", "--rows-at", "data.rows", status=1)[1]
    assert "--rows-at data.rows: expected a list of rows there; the document has meta, data" in told


def test_sheets_are_named(tmp_path):
    xlsx = tmp_path / "a.xlsx"
    xlsx.write_bytes(workbook(About=[["note"], ["x"]], Answers=[["prediction", "references"], ["a", "a"]]))
    for sheet in ("Answers", "2"):
        assert items(xlsx, sheet=sheet)[1][0].predictions == ["a"]
    assert "no sheet 'Answer'; the workbook has About, Answers" in run("score", xlsx, "--sheet", "Answer", status=1)[1]


(SAMPLE,) = LOG["samples"]


def read(*paths, **kwargs):
    """Return the rows of files, as we write them."""
    (source,) = files([str(path) for path in paths], ReadOptions(**kwargs))
    found = list(source.rows())
    assert not [row.problem for row in found if row.problem]
    kept = ("question", "prediction", "references", "id", "system")
    return source, [{name: row.values[name] for name in kept if row.values.get(name) is not None} for row in found]


def zipped(path, files, zstd):
    """Write a zip file; with zstd, as Inspect packs, which zipfile cannot before Python 3.14."""
    with zipfile.ZipFile(path, "w") as log:
        for name, content in files.items():
            log.writestr(name, pa.compress(content.encode(), codec="zstd", asbytes=True) if zstd else content)
            if zstd:
                facts = log.getinfo(name)
                facts.compress_type, facts.file_size = 93, len(content.encode())


@pytest.mark.parametrize("zstd", [False, True])
def test_logs_of_inspect(zstd, tmp_path):
    path, members = tmp_path / "log.eval", {"header.json": {**LOG, "samples": None}, "samples/7_epoch_1.json": SAMPLE}
    zipped(path, {name: json.dumps(content) for name, content in members.items()}, zstd)
    source, rows = read(path)
    assert source.form == "inspect"
    assert rows == [{"question": WHO, "prediction": "Mary Shelley", "references": HERS, "id": 7, "system": "mock/a"}]


def test_columns_of_systems_are_named(tmp_path):
    path = save(tmp_path / "wide.csv", [{"question": WHO, "bert": "Mary", "gpt": "Byron", "references": "Mary"}])
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
    assert scores(path, "--metric", "aev")[source.stem]["aev_recall"] == 0.5


def test_splits_of_a_folder_are_named(tmp_path):
    one = datasets.Dataset.from_list([{"prediction": "a", "references": "a"}])
    datasets.DatasetDict(train=one, test=one).save_to_disk(str(tmp_path / "all"))
    with pytest.raises(FileError, match=r"holds several splits; name one of .*all/train, .*all/test"):
        files([tmp_path / "all"])
    assert read(tmp_path / "all/test")[0].stem == "test"


def test_addresses_are_read_with_fsspec():
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
