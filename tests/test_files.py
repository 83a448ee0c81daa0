"""Reading and writing of files: every format and compression, bad rows, damaged files, interrupted writing."""

import bz2
import csv
import gzip
import io
import json
import sys

import datasets
import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from genqa_metrics.rows.errors import FileError
from genqa_metrics.rows.sources import Source, format_of, sources_of
from genqa_metrics.rows.writing import Writer

from tests.factories.cases import with_cases
from training.common import write_rows

TEXT_ENDINGS = [
    f"{ending}{compression}"
    for ending in (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
    for compression in ("", ".gz", ".bz2", ".zst")
]
COLUMNS = {"id": "text", "line": "integer", "references": "texts", "aev": "number", "each": "numbers"}
ROWS = {
    "id": ["a", None, 'quo"te,\ttab', "two\nlines"],
    "line": [1, 2, 3, 4],
    "references": [["Zürich", "🙂"], ["x"], [""], ["שלום"]],
    "aev": [0.5, 1.0, 0.1, 1 / 3],
    "each": [[0.25], [], [1.0, 2.0], [1 / 3]],
}
PACK = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


def write(path, rows=ROWS, columns=COLUMNS, metadata=None):
    with Writer(path, columns, metadata or {}) as writer:
        writer.write(rows)
    return path


def read(path):
    rows = list(Source(path).rows())
    assert not [row.problem for row in rows if row.problem]
    return [row.values for row in rows]


def problems(path, content):
    """Return {number: problem}, "" for good rows."""
    path.write_bytes(content)
    return {row.number: row.problem for row in Source(path).rows()}


@pytest.mark.parametrize("ending", [*TEXT_ENDINGS, ".parquet"])
def test_what_is_written_is_read_back(tmp_path, ending):
    rows = read(write(tmp_path / f"scores{ending}"))
    expected = [dict(zip(ROWS, values, strict=True)) for values in zip(*ROWS.values(), strict=True)]
    if ".csv" in ending or ".tsv" in ending:  # CSV knows only texts, and no difference between null and empty
        for row in expected:
            row["id"] = row["id"] or ""
        for row in rows:
            row["line"] = int(row["line"])
            row["aev"] = float(row["aev"])
            row["references"], row["each"] = json.loads(row["references"]), json.loads(row["each"])
    assert rows == expected


@pytest.mark.parametrize("compression", PACK)
def test_the_content_says_how_it_is_packed_not_the_name(tmp_path, compression):
    path = tmp_path / "a.jsonl"
    path.write_bytes(PACK[compression](b'{"id": 1}\n'))
    assert read(path) == [{"id": 1}]
    assert write(tmp_path / f"c.jsonl{compression}").read_bytes()[:3] == path.read_bytes()[:3], "it is written packed"
    wrong = tmp_path / f"b.jsonl{compression}"
    wrong.write_bytes(b'{"id": 2}\n')
    assert read(wrong) == [{"id": 2}]


@pytest.mark.parametrize("compression", PACK)
def test_a_packed_file_that_was_cut_short_is_an_error_after_its_rows(tmp_path, compression):
    lines = b"".join(b'{"id": %d, "text": "%d"}\n' % (i, i * 7919 % 10007) for i in range(20000))
    path = tmp_path / f"a.jsonl{compression}"
    packed = PACK[compression](lines)
    path.write_bytes(packed[: len(packed) * 2 // 3])
    rows = Source(path).rows()
    with pytest.raises(FileError, match=r"a\.jsonl.*complete"):
        list(rows)


def test_lines_are_counted_as_an_editor_counts_them(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": 1}\r\n\r\n  \n{"id": "\xe2\x80\xa8"}\n{"id": 3}')
    assert [(row.number, row.values) for row in Source(path).rows()] == [
        (1, {"id": 1}),
        (4, {"id": "\u2028"}),
        (5, {"id": 3}),
    ]


def test_csv_cells_that_are_long_with_line_breaks_quotes_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbfid,text\r\n1,"a ""b""\nc"\r\n\r\n2,' + b"d" * 200_000 + b"\r\n")
    assert [(row.number, row.values) for row in Source(path).rows()] == [
        (2, {"id": "1", "text": 'a "b"\nc'}),
        (5, {"id": "2", "text": "d" * 200_000}),
    ]


@with_cases
def test_a_bad_json_line_is_reported_and_reading_goes_on(tmp_path, line, problem, times):
    found = problems(tmp_path / "a.jsonl", b'{"id": 1}\n' + line.encode("latin-1") * times + b'\n{"id": 2}\n')
    assert problem in found.pop(2)
    assert found == {1: "", 3: ""}


@with_cases
def test_a_bad_csv_line_is_reported_and_reading_goes_on(tmp_path, line, problem):
    found = problems(tmp_path / "a.csv", b"id,text\n1,a\n" + line.encode("latin-1") + b"\n2,b\n")
    assert problem in found.pop(3)
    assert found == {2: "", 4: ""}


def test_a_quotation_mark_that_is_never_closed_is_reported(tmp_path):
    found = problems(tmp_path / "a.csv", b'id,text\n1,a\n2,"b\n3,c\n')
    assert found.pop(2) == ""
    assert [problem for problem in found.values() if "quotation mark" in problem]


def test_a_bad_header_is_an_error_of_the_file(tmp_path):
    with pytest.raises(FileError, match="line 1: two columns are named 'id'; rename one of them"):
        problems(tmp_path / "a.csv", b"id,id\n1,2\n")
    with pytest.raises(FileError, match="line 1: the header is not UTF-8"):
        problems(tmp_path / "a.csv", b"i\xffd\n")


def test_parquet_with_lists_structs_and_maps(tmp_path):
    path = tmp_path / "a.parquet"
    maps = pa.array([[("A", ["x"])], [("B", [])]], pa.map_(pa.string(), pa.list_(pa.string())))
    structs = pa.array([{"A": ["x"]}, {"B": ["y"]}])
    pq.write_table(pa.table({"maps": maps, "structs": structs, "passage": ["long", "long"]}), path)
    rows = list(Source(path).rows())
    assert [row.number for row in rows] == [1, 2]
    assert rows[0].values == {"maps": {"A": ["x"]}, "structs": {"A": ["x"], "B": None}, "passage": "long"}
    assert rows[1].values["maps"] == {"B": []}
    assert Source(path).unit == "row"


def test_what_is_no_file_of_rows_is_refused(tmp_path):
    for name in ("answers", "answers.txt", "answers.gz", "answers.xlsx", "answers.jsonl.rar"):
        with pytest.raises(FileError, match=r"expected a name that ends in \.jsonl.*\.parquet"):
            format_of(name)
    with pytest.raises(FileError, match="compressed inside"):
        format_of("a.parquet.gz")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(FileError, match=r"a\.parquet: not a Parquet file that can be read.*; write it again"):
        list(Source(tmp_path / "a.parquet").rows())
    with pytest.raises(FileError, match="no such file"):
        Source(tmp_path / "missing.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    for folder in (tmp_path / "folder.jsonl", tmp_path):
        with pytest.raises(FileError, match="is a folder"):
            Source(folder)


def test_standard_input_may_be_packed(monkeypatch):
    packed = gzip.compress(b'{"id": 1}\n{"id": 2}\n')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    source = Source("-")
    assert [row.values["id"] for row in source.rows()] == [1, 2]
    assert source.size is None


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".csv.bz2", ".tsv.zst", ".parquet"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(tmp_path, ending, error):
    path = write(tmp_path / f"a{ending}")
    before = path.read_bytes()

    def fail():
        with Writer(path, COLUMNS, {}) as writer:
            writer.write(ROWS)
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_changed_while_it_was_read_is_refused(tmp_path):
    path = write(tmp_path / "a.jsonl")
    source = Source(path)
    rows = source.rows()
    next(rows)
    path.write_text(path.read_text() + "{}\n")
    for read_on in (lambda: list(rows), lambda: source.digest):
        with pytest.raises(FileError, match=r"a\.jsonl: has changed while it was read; wait until it is complete"):
            read_on()


def test_a_link_stays_a_link(tmp_path):
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_text("old")
    link.symlink_to(real)
    write(link)
    assert link.is_symlink()
    assert read(real) == read(link)


def test_parquet_holds_types_and_metadata_in_few_row_groups(tmp_path):
    path = tmp_path / "a.parquet"
    with Writer(path, COLUMNS, {"genqa_metrics": "signature"}) as writer:
        for _ in range(50):
            writer.write(ROWS)
    file = pq.ParquetFile(path)
    assert file.schema_arrow.metadata[b"genqa_metrics"] == b"signature"
    assert (file.metadata.num_rows, file.metadata.num_row_groups) == (200, 1)
    assert file.schema_arrow.field("references").type == pa.list_(pa.string())


def test_a_table_without_rows_is_a_file_with_a_header(tmp_path):
    empty = {name: [] for name in COLUMNS}
    assert write(tmp_path / "a.csv", empty).read_text() == "id,line,references,aev,each\n"
    assert pq.read_table(write(tmp_path / "a.parquet", empty)).column_names == list(COLUMNS)


HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "'=1", "''-x", "'quoted'", "'", "it's", "a=b", ""]
HOSTILE += ["x;=cmd|' /C calc'!A0", "\n=1+1", "＝1+1", 'a,"=1"', "'x;'=1", "'run','-ing'", "x\t@y", ";'=", "a|-b\n+c"]


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz"])
def test_cells_are_no_formulas_in_a_spreadsheet_and_come_back_unchanged(tmp_path, ending):
    """Names of columns are cells, too: one of a file that is scored can be a formula."""
    names = {f"{text} {number}": "text" for number, text in enumerate(HOSTILE)}
    kinds = {"file": "text", "line": "number", "id": "text", "system": "text"} | names
    rows = dict.fromkeys(kinds, HOSTILE) | {"line": [-0.5] * len(HOSTILE)}
    path = write(tmp_path / f"a{ending}", rows, kinds)
    assert [row["id"] for row in read(path)] == HOSTILE
    assert list(read(path)[0]) == list(kinds)
    text = (gzip.decompress if ending.endswith(".gz") else bytes)(path.read_bytes()).decode()
    cells = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "tsv" in ending else ","))
    assert not [cell for line in cells for cell in line if cell[:1] in tuple("=+-@\t＝") and cell != "-0.5"]
    for separator in ",;\t|\n":  # a spreadsheet may split at another one, and take quotation marks as they come
        pieces = [piece.lstrip('"') for line in text.split("\n") for piece in line.split(separator)]
        assert not [piece for piece in pieces if piece[:1] in tuple("=+@＝") or piece[:2] == "-b"]
    assert {line[1] for line in cells[1:]} == {"-0.5"}  # numbers stay numbers


def test_rows_in_memory_are_the_rows_of_a_file(tmp_path):
    rows = [{"id": 1, "references": ["a", "b"], "x": 0.5}, {"id": 2, "references": ["c"], "x": None}]
    path = tmp_path / "a.jsonl"
    write_rows(path, rows)
    frame = pandas.DataFrame([*rows[:1], {"id": 2, "references": np.array(["c"]), "x": float("nan")}])
    kinds = [path, [str(path)], rows, tuple(rows), iter(rows), frame, datasets.Dataset.from_list(rows)]
    for given in kinds:
        (source,) = sources_of(given)
        assert [row.values for row in source.rows()] == rows
        assert len(source.digest) == 64
    assert sources_of(frame)[0].digest == sources_of(rows)[0].digest
    assert [row.problem for row in sources_of([{"id": 1}, ["a"]])[0].rows()][1].startswith("expected a dict")


@pytest.mark.parametrize("rows", [{"id": [1]}, 3, datasets.DatasetDict({"train": datasets.Dataset.from_list([])})])
def test_what_is_no_rows_is_refused(rows):
    with pytest.raises(ValueError, match=r"rows: expected a path, .*, got (dict|int|DatasetDict)"):
        sources_of(rows)
