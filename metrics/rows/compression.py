"""Files that are compressed with gzip, bzip2, xz or zstd."""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from typing import BinaryIO

COMPRESSIONS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".zst": b"\x28\xb5\x2f\xfd"}  # first bytes
CHUNK = 2**16  # bytes that are unpacked at once


def decompressed(raw: BinaryIO) -> BinaryIO:
    """Return the unpacked content of a compressed file, see `COMPRESSIONS`."""
    start = raw.peek(8)
    if start.startswith(COMPRESSIONS[".gz"]):
        return gzip.GzipFile(fileobj=raw)
    if start.startswith(COMPRESSIONS[".zst"]):
        import pyarrow

        return io.BufferedReader(pyarrow.CompressedInputStream(raw, "zstd"), CHUNK)
    make = bz2.BZ2Decompressor if start.startswith(COMPRESSIONS[".bz2"]) else lzma.LZMADecompressor
    return io.BufferedReader(_Streams(raw, make), CHUNK)


class _Streams(io.RawIOBase):
    """The content of compressed streams, one after the other; unlike bz2 and lzma it raises on corruption."""

    def __init__(self, raw: BinaryIO, make: Callable):
        self._raw, self._make, self._stream = raw, make, make()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer) -> int:
        """Fill a buffer as far as there is something; 0 at the end."""
        content = b""
        while not content:
            packed = b""
            if self._stream.eof:  # xz may pad between streams
                packed = (self._stream.unused_data or self._raw.read(CHUNK)).lstrip(b"\0")
                if not packed and not self._raw.peek(1):
                    return 0
                self._stream = self._make()
            elif self._stream.needs_input and not (packed := self._raw.read(CHUNK)):
                raise EOFError("the compressed file ends before its end-of-stream marker was reached")
            content = self._stream.decompress(packed, len(buffer))
        buffer[: len(content)] = content
        return len(content)
