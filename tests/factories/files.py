"""Rows and files, and the command that scores them."""

import csv
import io
import json
import random
import re
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
    elif name.endswith((".gz", ".bz2")):
        module = {"gz": "gzip", "bz2": "bz2"}[name.rsplit(".", 1)[1]]
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
    """Return a workbook, {name of a sheet: its rows}; cells that are digits become numbers."""
    import openpyxl

    book, file = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([int(cell) if cell.isdigit() else cell for cell in row])
    book.save(file)
    return file.getvalue()
