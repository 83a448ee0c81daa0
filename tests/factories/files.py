"""Rows and files, and the command that scores them."""

import csv
import io
import json
import random
import re
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from genqa_metrics.cli import app
from genqa_metrics.rows.reading import RowReader
from genqa_metrics.rows.sources import ReadOptions, files, sources_of
from genqa_metrics.scale.options import ScoreOptions
from genqa_metrics.scale.run import Run
from typer.testing import CliRunner

ROWS = json.loads((Path(__file__).parents[1] / "data/rows.json").read_text(encoding="utf-8"))
ANSWERS, QUESTIONS = ROWS["answers"], ROWS["questions"]


def run(*arguments, status=0, **kwargs):
    """Run the command; return (standard output, standard error)."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], **kwargs)
    assert result.exit_code == status, result.output
    if status in (1, 2):  # 3 is a number that is too small, which is printed first
        assert result.stdout == ""
    return result.stdout, " ".join(result.stderr.split())


def scores(*arguments, **kwargs):
    out, _ = run("score", *arguments, "--format", "json", **kwargs)
    return json.loads(out)["systems"]


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def questions_of(page):
    """Return the questions in the row viewer of an HTML page, each with its "rows"."""
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)["questions"]


def save(path, rows):
    """Write rows in the format of the path's ending, as a user's own program would."""
    name = path.name
    if ".parquet" in name:
        pq.write_table(pa.Table.from_pylist(rows), path)
        return path
    if ".csv" in name or ".tsv" in name:
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0], delimiter="\t" if ".tsv" in name else ",")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()})
        data = text.getvalue().encode()
    else:
        data = lines(rows).encode()
    if name.endswith(".zst"):
        data = pa.compress(data, codec="zstd", asbytes=True)
    elif name.endswith((".gz", ".bz2", ".xz")):
        module = {"gz": "gzip", "bz2": "bz2", "xz": "lzma"}[name.rsplit(".", 1)[1]]
        data = __import__(module).compress(data)
    path.write_bytes(data)
    return path


def made_rows(count, start=0):
    """Return rows of three systems, all different; values are of no meaning."""
    draw = random.Random(start)
    words = ["when", "the", "river", "rises", "in", "spring", "boats", "go", "down", "to", "sea", "again"]
    return [
        {
            "id": str(start + i),
            "system": "ABC"[i % 3],
            "question": "When do boats go?",
            "prediction": " ".join(draw.choices(words, k=draw.randint(1, 9))),
            "references": [" ".join(draw.choices(words, k=5)) for _ in range(draw.randint(1, 3))],
        }
        for i in range(count)
    ]


def items(place, columns=None, **options):
    """Return a file, or rows, as a source, and the items that are read from it."""
    (source,) = sources_of(place) if isinstance(place, list) else files([str(place)], ReadOptions(**options))
    reader, found = RowReader(source, columns or {}), []
    for row in source.rows():
        assert row.values is not None, row.problem
        found += reader.read(row)
    return source, found


def contents(folder):
    """Return {name: bytes} of the files in a folder and below, hidden ones too."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def numbers(report):
    """Return a report without the names and digests of its files."""
    if isinstance(report, dict):
        names = {"inputs", "place", "file", "line", "data", "digest"}
        return {name: numbers(value) for name, value in report.items() if name not in names}
    return [numbers(value) for value in report] if isinstance(report, list) else report


def score(paths, folder, **kwargs):
    settings = {"resume": True, "part_rows": 30} | kwargs
    on_error = "skip" if settings.pop("skip", False) else "fail"
    return Run(
        [str(path) for path in paths], ScoreOptions(["aev"], output=f"{folder}/", on_error=on_error, **settings)
    ).score()


def workbook(**sheets):
    """Return a minimal workbook: texts in the cells, numbers where a cell is digits; {name of a sheet: its rows}."""

    def cell(value):
        if value.isdigit():
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'

    return packed_workbook(
        {name: "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows) for name, rows in sheets.items()}
    )


def packed_workbook(sheets, shared="", ending="xml", method=zipfile.ZIP_DEFLATED, **more):
    """Return a workbook of {name of a sheet: its rows in XML}, shared texts in XML, and further files."""
    office = "http://schemas.openxmlformats.org"
    main, package = f"{office}/spreadsheetml/2006/main", f"{office}/package/2006"
    link = f"{office}/officeDocument/2006/relationships"
    targets = {f"s{n}": ("worksheet", f"worksheets/{n}.{ending}") for n in range(len(sheets))}
    targets["t"] = ("sharedStrings", "sharedStrings.xml")

    def relations(found):
        links = [f'<Relationship Id="{i}" Type="{link}/{kind}" Target="{to}"/>' for i, (kind, to) in found.items()]
        return "".join([f'<Relationships xmlns="{package}/relationships">', *links, "</Relationships>"])

    listed = "".join(f'<sheet name="{name}" sheetId="{n + 1}" r:id="s{n}"/>' for n, name in enumerate(sheets))
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": relations({"r": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{link}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(targets),
        "xl/sharedStrings.xml": f'<sst xmlns="{main}">{shared}</sst>',
    }
    for n, rows in enumerate(sheets.values()):
        sheet = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
        files[f"xl/worksheets/{n}.{ending}"] = sheet
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as file:
        for name, content in (files | more).items():
            file.writestr(name, content)
    return data.getvalue()
