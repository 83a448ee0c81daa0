"""Limits on what zip files, that is workbooks and logs of Inspect, unpack to; checked before anything is allocated."""

import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import BinaryIO
from xml.parsers import expat

from .errors import FileError

MAX_MEMBER = 2**26  # bytes of one JSON file of a log, which takes many times its size in memory
MAX_UNPACKED = 2**28  # bytes of all files of a workbook
MAX_CELLS = 2**24  # of a sheet: the rectangle from A1 to its last cell is held in memory, empty cells too
MAX_TEXT = 2**27  # characters of all cells of a sheet: a shared text is copied for each cell that has it
CHUNK = 2**16
ZSTD = 93  # number of the method in zip files
DAMAGED = (zipfile.BadZipFile, OSError, zlib.error, struct.error, ValueError, RuntimeError)


def unpacked(log: zipfile.ZipFile, facts: zipfile.ZipInfo, most: int) -> Iterator[bytes]:
    """Yield a file of a zip file piece by piece, at most `most` bytes, whatever its header says of its size."""
    method, too_large = facts.compress_type, ValueError(f"{facts.filename} unpacks to more than {most:,} bytes")
    if method == ZSTD:  # zipfile reads it from Python 3.14 on
        import pyarrow

        if facts.file_size > most:
            raise too_large
        raw = log.fp
        raw.seek(facts.header_offset + 26)  # of the lengths of name and extra field, behind which the data stand
        raw.seek(sum(struct.unpack("<HH", raw.read(4)), facts.header_offset + 30))
        yield pyarrow.decompress(raw.read(facts.compress_size), facts.file_size, "zstd", asbytes=True)
        return
    if method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{facts.filename} is packed by method {method}, neither stored nor deflated")
    bounded = copy(facts)
    bounded.file_size = most + 2 * CHUNK  # else zipfile reads as much as the header says
    with log.open(bounded) as file:
        while piece := file.read(CHUNK):
            most -= len(piece)
            if most < 0:
                raise too_large
            yield piece


def check_size(raw: BinaryIO, path: str, most: int) -> None:
    """Refuse a zip file whose files unpack to more than `most` bytes, or that is damaged."""
    try:
        with zipfile.ZipFile(raw) as packed:
            for facts in packed.infolist():
                most -= sum(map(len, unpacked(packed, facts, most)))
    except DAMAGED as error:
        raise FileError(f"{path}: not a file that can be read: {error}; save the rows as CSV") from error


_BOOKS = {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}  # in .xlsx, .xlsb and .ods


@dataclass
class _Sheet:
    """How much a reader allocates for one XML file of a workbook: the place of its last cell, and its texts."""

    rows: int = 0
    columns: int = 0
    texts: list[int] = field(default_factory=list)  # characters of shared texts
    uses: Counter = field(default_factory=Counter)  # index of a shared text -> cells that have it
    row: int = 0
    column: int = 0
    shared: bool = False
    inside: str = ""
    index: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == "row":
            self.row, self.column = int(attributes.get("r", self.row + 1)), 0
        elif name == "c":
            cell = attributes.get("r", "")
            letters = cell.rstrip("0123456789")
            self.row = int(cell[len(letters) :] or self.row)
            self.column = _column(letters) if letters else self.column + 1
            self.shared = attributes.get("t") == "s"
        elif name in ("v", "is"):  # a cell that is only formatted takes no place
            self.rows, self.columns = max(self.rows, self.row), max(self.columns, self.column)
            self.inside, self.index = "v" if self.shared else "", ""
        elif name == "si":
            self.texts.append(0)
            self.inside = "si"
        elif name == "Relationship":
            kind = attributes.get("Type", "").rpartition("/")[2]
            if kind in ("worksheet", "sharedStrings") and not attributes.get("Target", "").lower().endswith(".xml"):
                raise ValueError(f"its {kind} is no XML file")

    def text(self, text: str) -> None:
        if self.inside == "si":
            self.texts[-1] += len(text)
        elif self.inside == "v":
            self.index += text

    def end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        if name == "v" and self.inside == "v":
            self.uses[int(self.index or 0)] += 1
        if name in ("v", "si"):
            self.inside = ""

    def doctype(self, *_) -> None:
        raise ValueError("it declares a document type")


def _column(letters: str) -> int:
    """Return the number of a column.

    >>> _column("A"), _column("XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - 64
    return number


def check_workbook(
    raw: BinaryIO, path: str, unpacked_bytes: int = MAX_UNPACKED, cells: int = MAX_CELLS, characters: int = MAX_TEXT
) -> None:
    """Refuse a workbook that would fill the memory, because its reader allocates all cells of a sheet.

    Empty cells before the last one count. The file is read from its start, and left there.
    """
    sheets, left = [], unpacked_bytes
    raw.seek(0)
    try:
        if raw.read(2) != b"PK":
            raise ValueError("it is no .xlsx")
        with zipfile.ZipFile(raw) as book:
            if not {"xl/workbook.xml"} == _BOOKS.intersection(book.namelist()):
                raise ValueError("it is another kind of file than .xlsx")
            for facts in book.infolist():
                sheet, parser = _Sheet(), expat.ParserCreate()
                parser.StartElementHandler, parser.EndElementHandler = sheet.start, sheet.end
                parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = sheet.text, sheet.doctype
                is_xml = facts.filename.lower().endswith((".xml", ".rels"))
                for piece in unpacked(book, facts, left):
                    left -= len(piece)
                    if is_xml:
                        parser.Parse(piece)
                if is_xml:
                    parser.Parse(b"", True)
                sheets.append(sheet)
        texts = next((sheet.texts for sheet in sheets if sheet.texts), [])
        for sheet in sheets:
            if sheet.rows * sheet.columns > cells:
                raise ValueError(
                    f"it reaches to row {sheet.rows:,} and column {sheet.columns:,}, more than {cells:,} cells with "
                    "the empty ones between; delete those that are far off"
                )
            if sum(texts[i] * number for i, number in sheet.uses.items() if 0 <= i < len(texts)) > characters:
                raise ValueError(f"its cells have more than {characters:,} characters")
    except (*DAMAGED, expat.ExpatError) as error:
        raise FileError(
            f"{path}: not an Excel workbook that can be read: {error}; save it as .xlsx again, or the rows as CSV"
        ) from error
    finally:
        raw.seek(0)
