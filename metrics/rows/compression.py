"""Files that are compressed with gzip, bzip2 or zstd.

pyarrow reads them, because unlike the module bz2 it raises on a damaged second stream.
"""

import io
import os
from typing import BinaryIO

COMPRESSIONS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".zst": b"\x28\xb5\x2f\xfd"}  # first bytes
CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}  # names of pyarrow
CHUNK = 2**16  # bytes that are unpacked at once


def decompressed(raw: BinaryIO) -> BinaryIO:
    """Return the content of a file, unpacked where its first bytes are those of a compressed one."""
    ending = next((ending for ending, start in COMPRESSIONS.items() if raw.peek(8).startswith(start)), None)
    if ending is None:
        return raw
    import pyarrow

    return io.BufferedReader(pyarrow.CompressedInputStream(raw, CODECS[ending]), CHUNK)


def compressed(raw: BinaryIO, ending: str) -> BinaryIO:
    """Return a file that compresses what is written into another one, which stays open."""
    import pyarrow

    copy = os.fdopen(os.dup(raw.fileno()), "wb")  # which pyarrow closes
    return io.BufferedWriter(pyarrow.CompressedOutputStream(copy, CODECS[ending]))
