"""Files that were made to lose rows, to change texts, or to fill the memory."""

import bz2
import csv
import io
import json
import lzma
import resource
import zipfile

import pytest
from genqa_metrics.rows import packed, sources
from genqa_metrics.rows.errors import FileError
from genqa_metrics.rows.sources import Source, sources_of

from tests.factories.files import lines, made_rows, packed_workbook, run, save


@pytest.mark.parametrize("module", [bz2, lzma])
@pytest.mark.parametrize("damage", ["header", "middle", "end", "rubbish"])
def test_a_damaged_second_stream_loses_no_row_in_silence(tmp_path, module, damage):
    first, second = (module.compress(lines(made_rows(200, start)).encode()) for start in (0, 200))
    second = {
        "header": b"\0\1" + second[2:],
        "middle": second[: len(second) // 2] + b"\xff\0\xff" + second[len(second) // 2 + 3 :],
        "end": second[:-5],
        "rubbish": b"rubbish",
    }[damage]
    path = tmp_path / f"a.jsonl.{'bz2' if module is bz2 else 'xz'}"
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


@pytest.mark.parametrize("line", ['{"prediction": "a", "prediction": "b"}', '{"a": {"b": 1, "b": 2}}'])
def test_a_key_that_stands_twice_is_a_bad_row(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_text(line + "\n")
    (row,) = Source(path).rows()
    assert "stands in one object twice" in row.problem


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


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.bz2", ".jsonl.xz", ".csv", ".jsonl.gz"])
def test_a_line_that_would_fill_the_memory_is_refused(tmp_path, ending):
    """A bomb: megabytes on the disk, or far fewer, and gigabytes as one line."""
    import gzip

    opened = {"bz2": bz2.open, "xz": lzma.open, "gz": gzip.open}.get(ending.rsplit(".", 1)[1], open)
    path = tmp_path / f"a{ending}"
    with opened(path, "wb") as file:
        file.write(b'{"id": "1"}\n' if "json" in ending else b"id\n1\n")
        file.write(b'{"id": "')
        for _ in range(2 * sources.MAX_LINE // 2**20):
            file.write(b"a" * 2**20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileError, match=r"line [23] is longer than 33,554,432 bytes"):
        list(Source(path).rows())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # KiB


HEAD = '<c r="A1" t="inlineStr"><is><t>prediction</t></is></c>'


def book(cells, shared="", **more):
    """Return a workbook with one sheet of these cells, in XML, and these shared texts."""
    return packed_workbook({"a": cells}, shared, **more)


FAR = f'<row r="1">{HEAD}</row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
UNNUMBERED = f"<row>{HEAD}{'<c/>' * 9_999}</row>{'<row/>' * 9_999}<row>{'<c/>' * 9_999}<c><v>1</v></c></row>"
LONG = f"<si><t>{'a' * 2**20}</t></si>"
MANY = "".join(f'<row><c t="s"><v>{i % 1}</v></c></row>' for i in range(1000))
HOSTILE_BOOKS = {
    "far": (book(FAR), "reaches to row 1,048,576 and column 16,384, more than 16,777,216 cells"),
    "far and alone": (book(FAR.replace(HEAD, "")), "reaches to row 1,048,576 and column 16,384"),
    "cells without numbers": (book(UNNUMBERED), "reaches to row 10,001 and column 10,000"),
    "shared text": (book(MANY, LONG), "its cells have more than 134,217,728 characters"),
    "sheet of another name": (book(FAR, ending="png"), "its worksheet is no XML file"),
    "entities": (book("<!DOCTYPE a>"), "not an Excel workbook that can be read"),
    "bzip2": (book(FAR, method=zipfile.ZIP_BZIP2), "is packed by method 12, neither stored nor deflated"),
    "another kind": (book(FAR, **{"content.xml": "<a/>"}), "another kind of file than .xlsx"),
    "no zip": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "it is no .xlsx"),
}


@pytest.mark.parametrize(("content", "message"), HOSTILE_BOOKS.values(), ids=HOSTILE_BOOKS)
def test_a_workbook_that_would_fill_the_memory_is_refused(tmp_path, content, message):
    """Its reader allocates every cell up to the last one, and a text once for each cell: it would end the process."""
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileError, match=message):
        list(Source(path).rows())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


def test_a_workbook_that_unpacks_to_too_much_is_refused():
    with pytest.raises(FileError, match=r"xl/a\.bin unpacks to more than"):
        packed.check_workbook(io.BytesIO(book("", **{"xl/a.bin": "a" * 10**6})), "a.xlsx", unpacked_bytes=10**6)


def test_a_workbook_whose_columns_are_only_formatted_is_read(tmp_path):
    path = tmp_path / "a.xlsx"
    rows = f'<row r="1">{HEAD}</row><row><c t="s"><v>0</v></c></row><row><c r="XFD1048576" s="1"/></row>'
    path.write_bytes(book(rows, "<si><t>Paris</t></si>"))
    assert [row.values for row in Source(path).rows()] == [{"prediction": "Paris"}]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_log_that_would_fill_the_memory_is_refused(tmp_path, method):
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", method) as file, file.open("samples/1.json", "w") as sample:
        for _ in range(2**8):
            sample.write(b" " * 300_007)
    size = (2**8 * 300_007).to_bytes(4, "little")
    for said in (size, (10).to_bytes(4, "little")):  # as it is, and where the headers say that it is small
        path.write_bytes(said.join(path.read_bytes().rsplit(size, 2)))
        with pytest.raises(
            FileError, match=r"samples/1\.json (unpacks to more than 67,108,864 bytes|is packed by method)"
        ):
            list(Source(path).rows())
