"""Formats of files by their names, and the row that every format gives."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import FileError

FORMATS = {
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".json": "JSON lines",
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
}
# Those that are read; the others, `FORMATS`, are also written.
READABLE = {**FORMATS, ".arrow": "Arrow", ".xlsx": "Excel", ".eval": "Inspect log"}
PACKED = ("Parquet", "Arrow", "Excel", "Inspect log")  # no text, and compressed inside
COMPRESSIONS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".zst": b"\x28\xb5\x2f\xfd"}
MAX_LINE = 2**25  # bytes, or characters of CSV: a line is read as a whole, and takes many times its size in memory
MAX_COLUMNS = 10_000


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file.

    Attributes:
        number: its line in a text file (for CSV the last one of the row), else its number, from 1.
        values: by column; None for a bad row.
        problem: why the row is bad, and the fix; "" for a good row.
    """

    number: int
    values: dict | None
    problem: str = ""


def format_of(path: str | os.PathLike, formats: Mapping[str, str] = FORMATS) -> tuple[str, str]:
    """Return the format and the compression that the name of a file asks for.

    Args:
        path: name of a file; "-" is standard input, JSON lines.
        formats: the formats by ending.

    Returns:
        A value of `formats`, and a key of `COMPRESSIONS` or "".

    Raises:
        FileError: if the ending is unknown.

    >>> format_of("answers.csv.gz")
    ('CSV', '.gz')
    """
    if str(path) == "-":
        return "JSON lines", ""
    name = Path(path).name.lower()
    compression = next((ending for ending in COMPRESSIONS if name.endswith(ending)), "")
    ending = Path(name.removesuffix(compression)).suffix
    if ending not in formats:
        raise FileError(
            f"{path}: expected a name that ends in {', '.join(formats)} (and {', '.join(COMPRESSIONS)} where "
            f"compressed), got {ending or 'no ending'!r}; rename the file, or pipe JSON lines into '-'"
        )
    if formats[ending] in PACKED and compression:
        raise FileError(
            f"{path}: {formats[ending]} files are compressed inside; unpack it, or drop {compression} from its name"
        )
    return formats[ending], compression


def check_columns(names: Sequence[str], path: str) -> None:
    """Refuse a table with more columns than rows can be checked with.

    Raises:
        FileError: if it has more than `MAX_COLUMNS`.
    """
    if len(names) > MAX_COLUMNS:
        raise FileError(f"{path}: has {len(names):,} columns, more than {MAX_COLUMNS:,}; leave some out")
