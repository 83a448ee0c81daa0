"""Formats of files by their names, one row of a file, and the errors of reading.

Reading never stops at a bad row: the row comes with its number and the reason, and the caller decides. What makes the
whole file unreadable (no such file, damaged compression, a broken header) is a `FileError`.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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


class UsageError(ValueError):
    """An argument of a verb is bad; nothing was read yet."""


class MissingPackageError(ImportError, UsageError):
    """A package that a verb needs is not installed; nothing was read yet."""


class InputWarning(UserWarning):
    """Something in the input was read in a way that its names do not say."""


class RecordedScoresWarning(UserWarning):
    """Scores in the input were taken instead of judging its rows again, or could not be."""


class FileError(ValueError):
    """A file cannot be read or written; the message names it, gives the reason, and the fix.

    Attributes:
        bad_row: it is only one row that is bad; it could be left out.
        finished_parts: number of parts of the output that are kept; a run with --resume starts from them.
    """

    def __init__(self, message: str, bad_row: bool = False):
        super().__init__(message)
        self.bad_row, self.finished_parts = bad_row, 0


class RowError(ValueError):
    """A bad row; the message says what is wrong and the fix, the caller adds where.

    Attributes:
        systems: those whose row it is, as far as they are known.
    """

    systems: tuple[str, ...] = ()


class ColumnError(RowError):
    """A row without a column that is needed or was named."""


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


def plain_name(name: str) -> str:
    """Return the name of a column without case, with underscores for blanks and hyphens.

    >>> plain_name("Expected answer")
    'expected_answer'
    """
    return name.strip().lower().replace(" ", "_").replace("-", "_")
