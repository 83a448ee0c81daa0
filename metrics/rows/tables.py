"""Tables: CSV, Parquet and Arrow files, Excel workbooks, logs of Inspect, folders of `datasets`."""

import csv
import json
import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import BinaryIO

from . import packed
from .cells import scalar_text
from .columns import WRITTEN, Row
from .errors import FileError
from .marks import without_mark

MAX_COLUMNS = 10_000
MAX_EXCEL_ROWS = 2**20  # of a sheet in Excel; a row that claims a higher number has no end of empty rows before it
MAX_CELL = 2**24  # characters; a quotation mark that is never closed must not read the whole file into one cell
ENCODE = "name its encoding, for example encoding='cp1252' of read_rows (Windows) or latin-1"
NAMED = {",": "commas", ";": "semicolons", "\t": "a tab"}


def check_header(names: Sequence[object], path: str, where: str = "") -> None:
    """Refuse a table with more than `MAX_COLUMNS` columns, or with two of one name; `where` is its header."""
    if len(names) > MAX_COLUMNS:
        raise FileError(f"{path}: has {len(names):,} columns, more than {MAX_COLUMNS:,}; leave some out")
    if len(set(names)) < len(names):
        double, _ = Counter(names).most_common(1)[0]
        raise FileError(f"{path}{where}: two columns are named {double!r}; rename one of them")


def delimiter_of(start: bytes, encoding: str) -> str:
    """Return the separator of a header's cells: the one that occurs most often outside quotation marks.

    >>> [delimiter_of(start, "utf-8") for start in (b'question;"a, b";prediction', b"sep=;", b"text")]
    [';', ';', ',']
    """
    header = re.split("[\r\n]", start.decode(encoding, "replace").lstrip("\ufeff"))[0]
    bare = re.sub('"[^"]*"', "", header)
    return max(",;\t", key=bare.count)


def csv_rows(lines: Iterator[str], path: str, delimiter: str) -> Iterator[Row]:
    """Yield the rows of CSV; bytes that are not UTF-8 are surrogates in the lines."""
    # The limit is csv's own global; it is never lowered, so that it does no harm to other users of csv.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    header, written = None, False
    while True:
        number, problem = reader.line_num + 1, ""  # where the row begins; a cell may have several lines
        try:
            cells = next(reader)
            if not cells or (header is None and cells[0].startswith("sep=") and not any(cells[1:])):
                continue  # Excel's note on the delimiter
            if any("\udc80" <= letter <= "\udcff" for cell in cells if not cell.isascii() for letter in cell):
                problem = f"not UTF-8; {ENCODE}"
        except StopIteration:
            return
        except csv.Error as error:
            number = reader.line_num
            fix = "" if header is None else "; look for a stray or missing quotation mark above"
            problem = f"not CSV: {error}{fix}"
        if header is None and problem:
            raise FileError(f"{path}, line {number}: the header is {problem}")
        if header is None:
            written = any(columns <= set(cells) for columns in WRITTEN)
            header = _column_names(list(map(without_mark, cells)) if written else cells)
            check_header(header, path, f", line {number}")
        else:
            if not problem and len(cells) != len(header):
                problem = (
                    f"expected {len(header)} cells as in the header, got {len(cells)}; put cells with "
                    f"{NAMED[delimiter]} or line breaks into quotation marks"
                )
            cells = map(without_mark, cells) if written else cells
            yield Row(number, None if problem else dict(zip(header, cells, strict=True)), problem)


def _column_names(header: list[str]) -> list[str]:
    """Return the names in a header; those that promptfoo writes for each prompt, such as Status, get a number."""
    if len(header) > MAX_COLUMNS or not any(re.match(r"\[[^\]]+\] ", name) for name in header):
        return header
    before = [header[:column].count(name) for column, name in enumerate(header)]
    return [f"{name} {number + 1}" if number else name for name, number in zip(header, before, strict=True)]


def _rows_of(batches: Iterable) -> Iterator[Row]:
    """Yield the rows of Arrow batches."""
    numbers = count(1)
    for batch in batches:
        for start in range(0, len(batch), 500):
            rows = batch.slice(start, 500)
            listed = rows.to_pylist(maps_as_pydicts="strict") if rows.num_columns else [{}] * len(rows)
            yield from (Row(next(numbers), cells) for cells in listed)


def parquet_rows(raw: BinaryIO, path: str, progress: list) -> Iterator[Row]:
    """Yield the rows of Parquet; `progress[0]` becomes the share of rows read, 0 to 1."""
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(raw, pre_buffer=False)
        check_header(file.schema_arrow.names, path)
        for row in _rows_of(file.iter_batches(batch_size=500)):
            progress[0] = row.number / file.metadata.num_rows
            yield row
    except (pyarrow.ArrowException, OSError) as error:
        raise FileError(f"{path}: not a Parquet file that can be read: {error}; write it again") from error


def arrow_rows(raw: BinaryIO, path: str) -> Iterator[Row]:
    """Yield the rows of an Arrow file, or of an Arrow stream as `datasets` writes it."""
    import pyarrow

    try:
        if raw.peek(6).startswith(b"ARROW1"):
            file = pyarrow.ipc.open_file(raw)
            batches = map(file.get_batch, range(file.num_record_batches))
        else:
            batches = pyarrow.ipc.open_stream(raw)
        yield from _rows_of(batches)
    except (pyarrow.ArrowException, OSError) as error:
        raise FileError(f"{path}: not an Arrow file that can be read: {error}; write it again") from error


def _cell(cell: object) -> str | bool:
    """Return a cell as text: whole numbers without a decimal point, as Excel shows them; TRUE and FALSE stay."""
    return cell if isinstance(cell, bool) else "" if cell is None else scalar_text(cell) or str(cell)


def excel_rows(raw: BinaryIO, path: str, sheet: str, sheets: list[str]) -> Iterator[Row]:
    """Yield the rows of a sheet (name, or number from 1); `sheets` gets the names of all sheets."""
    from ..core.scorer import require_extra  # which brings numpy

    require_extra("excel", "openpyxl")
    import openpyxl

    packed.check_size(raw, path, packed.MAX_UNPACKED)
    try:
        book = openpyxl.load_workbook(raw, read_only=True, data_only=True)
        sheets += book.sheetnames
        if sheet not in sheets and sheet.isdecimal() and 0 < int(sheet) <= len(sheets):
            sheet = sheets[int(sheet) - 1]
        if sheet not in sheets:
            raise FileError(f"{path}: no sheet {sheet!r}; the workbook has {', '.join(sheets)}")
        book[sheet].reset_dimensions()  # else rows are as wide as the file says
        rows = book[sheet].iter_rows(max_row=MAX_EXCEL_ROWS, values_only=True)
        header = list(map(str, map(_cell, next(rows, ()))))
        while header and not header[-1]:
            header.pop()
        check_header(header, path)
        for number, cells in enumerate(rows, 2):
            if any(cell not in (None, "") for cell in cells):
                missing = [None] * (len(header) - len(cells))
                yield Row(number, dict(zip(header, map(_cell, (*cells, *missing)), strict=False)))
    except FileError:
        raise
    except Exception as error:  # openpyxl raises many kinds
        problem = f"{path}: not an Excel workbook that can be read: {error}; save it again, or save the rows as CSV"
        raise FileError(problem) from error


def _member(log: zipfile.ZipFile, name: str) -> dict:
    """Return a JSON file of a log."""
    return json.loads(b"".join(packed.unpacked(log, log.getinfo(name), packed.MAX_MEMBER)))


def inspect_rows(raw: BinaryIO, path: str) -> Iterator[Row]:
    """Yield the samples of a log of Inspect (.eval)."""
    try:
        with zipfile.ZipFile(raw) as log:
            names = set(log.namelist())
            started = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
            model = _member(log, started).get("eval", {}).get("model") if started else None
            samples = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
            for number, name in enumerate(samples, 1):
                yield Row(number, {"scores": None, **_member(log, name), "model": model})
    except (*packed.DAMAGED, AttributeError, TypeError) as error:
        problem = f"{path}: not a log of Inspect that can be read: {error}; inspect log convert may help"
        raise FileError(problem) from error


def load_dataset(path: str | os.PathLike):
    """Return the `datasets.Dataset` of a folder of `save_to_disk`."""
    import datasets

    try:
        result = datasets.load_from_disk(str(path))
    except Exception as error:  # datasets and pyarrow raise many kinds
        raise FileError(f"{path}: not a data set that can be read: {error}; save it again") from error
    if isinstance(result, datasets.DatasetDict):
        splits = ", ".join(str(Path(path, name)) for name in result)
        raise FileError(f"{path}: holds several splits; name one of {splits}")
    return result
