"""Compressed texts, unpacked a few lines at a time."""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from typing import BinaryIO

from .row import COMPRESSIONS, MAX_LINE


def decompressed(raw: BinaryIO) -> BinaryIO:
    """Unpack by the first bytes, not by the name, so that wrong endings and compressed standard input work.

    A line longer than `MAX_LINE` is an OSError.
    """
    return io.BufferedReader(_Bounded(_unpacked(raw)), 2**16)


def _unpacked(raw: BinaryIO) -> BinaryIO:
    start = raw.peek(8)
    if start.startswith(COMPRESSIONS[".gz"]):
        return io.BufferedReader(gzip.GzipFile(fileobj=raw))
    if start.startswith(COMPRESSIONS[".bz2"]):
        return io.BufferedReader(_Streams(raw, bz2.BZ2Decompressor))
    if start.startswith(COMPRESSIONS[".xz"]):
        return io.BufferedReader(_Streams(raw, lzma.LZMADecompressor))
    if start.startswith(COMPRESSIONS[".zst"]):
        import pyarrow

        return io.BufferedReader(pyarrow.CompressedInputStream(raw, "zstd"))
    return raw


class _Streams(io.RawIOBase):
    """Compressed streams one after the other; unlike bz2 and lzma it raises on corruption.

    Args:
        raw: the compressed file.
        make: makes what unpacks one stream.
    """

    def __init__(self, raw: BinaryIO, make: Callable):
        self._raw, self._make, self._stream = raw, make, make()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer) -> int:
        """Fill a buffer as far as there is something; 0 at the end."""
        while True:
            packed = b""
            if self._stream.eof:
                packed = self._stream.unused_data or self._raw.read(io.DEFAULT_BUFFER_SIZE)
                packed = packed.lstrip(b"\0") if packed else b""  # xz may pad between streams
                self._stream = self._make()
                if not packed and not self._raw.peek(1):
                    return 0
            elif self._stream.needs_input:
                packed = self._raw.read(io.DEFAULT_BUFFER_SIZE)
                if not packed:
                    raise EOFError("the compressed file ends before its end-of-stream marker was reached")
            if data := self._stream.decompress(packed, len(buffer)):
                buffer[: len(data)] = data
                return len(data)


class _Bounded(io.RawIOBase):
    """A text whose lines are not too long: one is read as a whole, and takes many times its size in memory.

    Args:
        stream: the text.
    """

    def __init__(self, stream: BinaryIO):
        self._stream, self._length, self._number = stream, 0, 1

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer) -> int:
        """Fill a buffer as far as there is something; 0 at the end."""
        data = self._stream.read1(len(buffer))
        end = data.rfind(b"\n")
        self._number += data.count(b"\n")
        self._length = len(data) - 1 - end if end >= 0 else self._length + len(data)
        if self._length > MAX_LINE:
            raise OSError(f"line {self._number} is longer than {MAX_LINE:,} bytes; write one row a line")
        buffer[: len(data)] = data
        return len(data)
