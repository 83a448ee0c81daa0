"""Keeps the logits of prompts that a slow judge has read, so that nothing is read twice, also after an interruption.

A file of the cache folder for each judge, with a record for each prompt: 16 bytes of its digest, and its logit. The
texts themselves are not kept.
"""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .checkpoints import cache_folder

RECORD = np.dtype([("digest", "V16"), ("logit", "<f4")])
MOST = 64 * 2**20  # bytes of a file, after which it begins anew: three million prompts


def digest_of(prompt: Sequence[str]) -> bytes:
    """Return 16 bytes that stand for a prompt, (shared part, judged text)."""
    return hashlib.sha256("\0".join(prompt).encode("utf-8", "surrogatepass")).digest()[:16]


class KeptLogits:
    """The logits that a judge gave to prompts; `judge` has all that they depend on but the prompt.

    Nothing is kept of the judge "", one that is being checked. Another scale or threshold reads no prompt again.
    """

    in_use = False  # whether any were kept in this process

    def __init__(self, judge: str):
        name = f"{hashlib.sha256(judge.encode()).hexdigest()[:32]}.bin"
        self.path: Path | None = cache_folder() / "logits" / name if judge else None

    def known(self, prompts: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return (prompts,) kept logits, NaN for prompts that were never read."""
        result = np.full(len(prompts), np.nan)
        try:
            data = self.path.read_bytes() if self.path is not None and self.path.is_file() else b""
        except OSError:
            return result
        records = np.frombuffer(data[: len(data) // RECORD.itemsize * RECORD.itemsize], RECORD)
        logits = dict(zip(records["digest"].tolist(), records["logit"], strict=True))
        for number, prompt in enumerate(prompts):
            result[number] = logits.get(digest_of(prompt), np.nan)
        return result

    def keep(self, prompts: Sequence[tuple[str, str]], logits: np.ndarray) -> None:
        """Append logits; where nothing can be written, say so once and keep nothing."""
        if self.path is None:
            return
        records = np.array([*zip(map(digest_of, prompts), logits, strict=True)], RECORD)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.is_file() and self.path.stat().st_size > MOST:
                self.path.unlink()
            with self.path.open("ab") as file:  # one short write is whole, also beside other processes
                file.write(records.tobytes())
            KeptLogits.in_use = True
        except OSError as error:
            print(f"note: judged rows cannot be kept in {self.path.parent} ({error.strerror})", file=sys.stderr)
            self.path = None
