"""Files that were made to lose rows, to change texts, or to fill the memory."""

import bz2
import csv
import gzip
import io
import json
import resource
import zipfile

import pytest
from genqa_metrics.rows import json_rows
from genqa_metrics.rows.errors import FileError
from genqa_metrics.rows.sources import Source, sources_of

from tests.factories.files import lines, made_rows, run, save, workbook


@pytest.mark.parametrize("module", [bz2, gzip])
@pytest.mark.parametrize("damage", ["header", "middle", "end", "rubbish"])
def test_a_damaged_second_stream_loses_no_row_in_silence(tmp_path, module, damage):
    first, second = (module.compress(lines(made_rows(200, start)).encode()) for start in (0, 200))
    second = {
        "header": b"\0\1" + second[2:],
        "middle": second[: len(second) // 2] + b"\xff\0\xff" + second[len(second) // 2 + 3 :],
        "end": second[:-5],
        "rubbish": b"rubbish",
    }[damage]
    path = tmp_path / f"a.jsonl.{'bz2' if module is bz2 else 'gz'}"
    path.write_bytes(first + second)
    with pytest.raises(FileError, match="cannot be read"):
        list(Source(path).rows())
    path.write_bytes(first + module.compress(lines(made_rows(100, 200)).encode()))
    assert len(list(Source(path).rows())) == 300


def test_one_file_under_two_names_is_counted_once(tmp_path):
    path = save(tmp_path / "a.jsonl", made_rows(3))
    (tmp_path / "hard.jsonl").hardlink_to(path)
    (tmp_path / "soft.jsonl").symlink_to(path)
    for name in ("hard", "soft"):
        with pytest.raises(FileError, match=rf"the same file is named twice, .*a\.jsonl and .*{name}\.jsonl"):
            sources_of([path, tmp_path / f"{name}.jsonl"])


def test_a_human_score_that_is_no_number_is_none(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"prediction": "a", "references": ["a"], "score": value} for value in (1.0, float("nan"), float("inf"))]
    path.write_text(lines(rows))
    _, said = run("score", path, "-m", "aev", "-o", tmp_path / "b.jsonl")
    assert "2 values of 'score' or 'label' are no numbers" in said
    text = (tmp_path / "b.jsonl").read_text()
    written = [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]
    assert [row["score"] for row in written] == [1.0, None, None]


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_a_hundred_thousand_columns_are_refused(tmp_path, ending):
    path, names = tmp_path / f"a{ending}", [f"c{i}" for i in range(100_000)]
    if ending == ".csv":
        with path.open("w") as file:
            csv.writer(file).writerows([names, names])
    else:
        path.write_text(json.dumps(dict.fromkeys(names, 1)) + "\n")
    assert "has 100,000 columns, more than 10,000" in run("score", path, "-m", "aev", status=1)[1]


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.bz2", ".csv", ".jsonl.gz"])
def test_a_line_that_would_fill_the_memory_is_refused(tmp_path, ending):
    """A bomb: megabytes on the disk, or far fewer, and gigabytes as one line."""
    opened = {"bz2": bz2.open, "gz": gzip.open}.get(ending.rsplit(".", 1)[1], open)
    path = tmp_path / f"a{ending}"
    with opened(path, "wb") as file:
        file.write(b'{"id": "1"}\n' if "json" in ending else b"id\n1\n")
        file.write(b'{"id": "')
        for _ in range(2 * json_rows.MAX_LINE // 2**20):
            file.write(b"a" * 2**20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileError, match=r"line [23] is longer than 33,554,432 bytes"):
        list(Source(path).rows())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # KiB


def book(cells="", method=zipfile.ZIP_DEFLATED, **members):
    """Return a workbook whose sheet has these cells, in XML, and in which further members are replaced."""
    members["xl/worksheets/sheet1.xml"] = f"<worksheet><sheetData>{cells}</sheetData></worksheet>".replace(
        "<worksheet>", '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">')  # fmt: skip
    packed_again = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook(a=[["x"]]))) as old, zipfile.ZipFile(packed_again, "w", method) as new:
        for name in {*old.namelist(), *members}:
            new.writestr(name, members[name] if name in members else old.read(name))
    return packed_again.getvalue()


HEAD = '<row r="1"><c r="A1" t="inlineStr"><is><t>prediction</t></is></c></row>'
LONG = f'<row><c t="inlineStr"><is><t>{"a" * 2**20}</t></is></c></row>'
LAUGHS = '<!DOCTYPE a [<!ENTITY a "' + "a" * 2**20 + '">]><a>' + "&a;" * 2**10 + "</a>"
HOSTILE_BOOKS = {
    "far cell": (book(f'{HEAD}<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'), [1048576]),
    "no such row": (book(f'{HEAD}<row r="99999999999"><c><v>1</v></c></row>'), []),
    "long cells": (book(HEAD + LONG * 200), list(range(2, 202))),
    "styles": (book(HEAD, **{"xl/styles.xml": " " * 2**23}), "styles.xml unpacks to more than 4,194,304 bytes"),
    "bomb": (book(HEAD + " " * 2**28), "sheet1.xml unpacks to more than 26[0-9,]+ bytes"),
    "entities": (book(HEAD, **{"xl/styles.xml": LAUGHS}), "not an Excel workbook that can be read"),
    "bzip2": (book(HEAD, zipfile.ZIP_BZIP2), "is packed by method 12, neither stored nor deflated"),
    "no zip": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "File is not a zip file; save the rows as CSV"),
}


@pytest.mark.parametrize(("content", "expected"), HOSTILE_BOOKS.values(), ids=HOSTILE_BOOKS)
def test_a_workbook_fills_no_memory(tmp_path, content, expected):
    """Rows are read one after the other; what would be held as a whole is refused."""
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if isinstance(expected, str):
        with pytest.raises(FileError, match=expected):
            list(Source(path).rows())
    else:
        assert [row.number for row in Source(path).rows()] == expected
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_log_that_would_fill_the_memory_is_refused(tmp_path, method):
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", method) as file, file.open("samples/1.json", "w") as sample:
        for _ in range(2**8):
            sample.write(b" " * 300_007)
    size = (2**8 * 300_007).to_bytes(4, "little")  # as it is, and where the headers say that it is small
    for said, problem in ((size, "unpacks to more than 67,108,864 bytes"), ((10).to_bytes(4, "little"), "Bad CRC-32")):
        path.write_bytes(said.join(path.read_bytes().rsplit(size, 2)))
        with pytest.raises(FileError, match=f"{problem}|is packed by method"):
            list(Source(path).rows())
