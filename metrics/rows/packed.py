"""Limits on what zip files, that is workbooks and logs of Inspect, unpack to."""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from .errors import FileError

MAX_MEMBER = 2**26  # bytes of one JSON file of a log, which takes many times its size in memory
MAX_UNPACKED = 2**28  # bytes of all files of a workbook
MAX_SETTINGS = 2**22  # bytes of one file of a workbook that holds no cells: its styles are objects in memory
CHUNK = 2**16
ZSTD = 93  # number of the method in zip files
_CELLS = re.compile(r"xl/(worksheets/sheet|sharedStrings)")
DAMAGED = (zipfile.BadZipFile, OSError, zlib.error, struct.error, ValueError, RuntimeError)


def unpacked(log: zipfile.ZipFile, facts: zipfile.ZipInfo, most: int) -> Iterator[bytes]:
    """Yield a file of a zip file piece by piece, at most `most` bytes.

    Where the header names too small a size, zipfile stops there, and finds that the checksum is wrong.
    """
    if facts.file_size > most:
        raise ValueError(f"{facts.filename} unpacks to more than {most:,} bytes")
    if facts.compress_type == ZSTD:  # zipfile reads it from Python 3.14 on
        import pyarrow

        raw = log.fp
        raw.seek(facts.header_offset + 26)  # of the lengths of name and extra field, behind which the data stand
        raw.seek(sum(struct.unpack("<HH", raw.read(4)), facts.header_offset + 30))
        yield pyarrow.decompress(raw.read(facts.compress_size), facts.file_size, "zstd", asbytes=True)
        return
    if facts.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # zipfile unpacks others in large pieces
        raise ValueError(f"{facts.filename} is packed by method {facts.compress_type}, neither stored nor deflated")
    with log.open(facts) as file:
        while piece := file.read(CHUNK):
            yield piece


def check_size(raw: BinaryIO, path: str, most: int) -> None:
    """Refuse a zip file whose files unpack to more than `most` bytes, or that is damaged."""
    try:
        with zipfile.ZipFile(raw) as packed:
            for facts in packed.infolist():
                is_settings = facts.filename.endswith((".xml", ".rels")) and not _CELLS.match(facts.filename)
                most -= sum(map(len, unpacked(packed, facts, min(most, MAX_SETTINGS) if is_settings else most)))
    except DAMAGED as error:
        raise FileError(f"{path}: not a file that can be read: {error}; save the rows as CSV") from error
