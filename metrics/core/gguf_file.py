"""Reads a GGUF file: its settings, its tokenizer, and its quantized weights as 8-bit blocks.

Layout of the file and of its blocks: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md and ggml-quants.c. The
package gguf needs 6.5 s of processor time to open a file of 1.1 GB and over a minute to dequantize it; this needs 4 s.
"""

import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

MAGIC, VERSION, ARCHITECTURE = b"GGUF", 3, "qwen2"
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
# Types of tensors: numbers of a block, and its bytes.
F32, F16, Q5_0, Q8_0, Q4_K, Q6_K = 0, 1, 6, 8, 12, 14
_SIZES = {F32: (1, 4), F16: (1, 2), Q5_0: (32, 22), Q8_0: (32, 34), Q4_K: (256, 144), Q6_K: (256, 210)}
BLOCK_SIZES = {F32: 32, F16: 32, Q5_0: 32, Q8_0: 32, Q4_K: 32, Q6_K: 16}  # numbers that share a scale
MODULES = {  # linear layers: names of GGUF, and of transformers
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_CONTROL, _ADDED = 3, 4  # types of tokens
_WORDS = (  # how Qwen2 cuts a text before it is encoded
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True)
class Blocks:
    """A quantized matrix: weight = scale * (quant - zero), rows are outputs."""

    quants: np.ndarray  # (rows, blocks, block size) uint8
    scales: np.ndarray  # (rows, blocks) float32
    zeros: np.ndarray  # (rows, blocks) float32, from 0 to 255 where `rounded`

    def dequantized(self) -> np.ndarray:
        """Return (rows, columns) float32 weights."""
        weights = self.scales[..., None] * (self.quants - self.zeros[..., None])
        return weights.reshape(len(weights), -1)

    def rounded(self) -> "Blocks":
        """Return the matrix with whole zero points from 0 to 255; weights move by at most 1/255 of a block's range."""
        zeros, scales, quants = np.rint(self.zeros), self.scales, self.quants
        if (far := zeros > 255).any():  # all weights of these blocks are below 0
            weights = self.scales[far][:, None] * (self.quants[far] - self.zeros[far][:, None])
            lowest = -weights.min(axis=1)
            quants, scales, zeros = quants.copy(), scales.copy(), zeros.copy()
            scales[far], zeros[far] = lowest / 255, 255
            quants[far] = np.rint(255 + weights / scales[far][:, None]).astype(np.uint8)
        return Blocks(quants, scales, zeros)


class GgufFile:
    """A GGUF file that is mapped, not read.

    Attributes:
        fields: settings by name; numbers, strings, or lists of them.
        tensors: {name: (type, shape as numpy has it, offset)}.
    """

    def __init__(self, path: Path):
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.path, self._data = path, np.frombuffer(self._map, np.uint8)
        self._view, self._at = memoryview(self._data), 0
        if bytes(self._view[:4]) != MAGIC or self._number("I", 4) != VERSION:
            raise ValueError(f"base_model: {path.name}: expected a GGUF file of version {VERSION}; fetch it again")
        try:
            tensors, fields = self._number("Q"), self._number("Q")
            self.fields = {self._string(): self._field(self._number("I")) for _ in range(fields)}
            self.tensors = {}
            for _ in range(tensors):
                name, axes = self._string(), self._number("I")
                shape = tuple(self._number("Q") for _ in range(axes))[::-1]
                self.tensors[name] = (self._number("I"), shape, self._number("Q"))
        except (struct.error, UnicodeDecodeError, KeyError) as error:
            raise ValueError(f"base_model: {path.name}: damaged or not supported ({error}); fetch it again") from error
        if (kind := self.fields.get("general.architecture")) != ARCHITECTURE:
            raise ValueError(f"base_model: expected a GGUF file of a {ARCHITECTURE} model, got {kind}: {path.name}")
        alignment = self.fields.get("general.alignment", 32)
        self._begin = -(-self._at // alignment) * alignment

    def _number(self, letter: str, skipped: int = 0):
        self._at += skipped
        (number,) = struct.unpack_from(f"<{letter}", self._view, self._at)
        self._at += struct.calcsize(f"<{letter}")
        return number

    def _string(self) -> str:
        size = self._number("Q")
        text = bytes(self._view[self._at : self._at + size])
        self._at += size
        return text.decode()

    def _field(self, kind: int):
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            return self._number(_NUMBERS[kind])
        kind, count = self._number("I"), self._number("Q")
        if kind in (_STRING, _ARRAY):
            return [self._field(kind) for _ in range(count)]
        numbers = np.frombuffer(self._view, np.dtype(_NUMBERS[kind]), count, self._at)
        self._at += numbers.nbytes
        return numbers.tolist()

    def forget_pages(self) -> None:
        """Let the system take back the memory of what was read; it is read again where it is needed."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def setting(self, name: str):
        """Return a setting of the model's architecture, such as "block_count"."""
        return self.fields[f"{self.fields['general.architecture']}.{name}"]

    def _bytes(self, name: str, rows=slice(None)) -> tuple[int, np.ndarray]:
        kind, shape, offset = self.tensors[name]
        if kind not in _SIZES:
            raise ValueError(f"base_model: {self.path.name}: {name} has a type that is not supported ({kind})")
        size, width = _SIZES[kind]
        row = shape[-1] // size * width
        start = self._begin + offset
        count = int(np.prod(shape[:-1]))
        return kind, self._data[start : start + count * row].reshape(count, row)[rows]

    def blocks(self, name: str, rows=slice(None)) -> Blocks:
        """Return rows of a matrix as 8-bit blocks; one that is not quantized in the file is quantized here."""
        kind, data = self._bytes(name, rows)
        if kind in (F32, F16):
            return _quantized(self.array(name, rows))
        _, width = _SIZES[kind]
        data = data.reshape(len(data), -1, width)
        return _DECODERS[kind](data)

    def array(self, name: str, rows=slice(None)) -> np.ndarray:
        """Return rows of a tensor in float32; of a vector, all of it."""
        kind, data = self._bytes(name, rows)
        if kind in (F32, F16):
            numbers = np.ascontiguousarray(data).view(np.float32 if kind == F32 else np.float16).astype(np.float32)
            return numbers[0] if len(self.tensors[name][1]) == 1 else numbers
        return self.blocks(name, rows).dequantized()

    @cached_property
    def tokenizer(self):
        """The byte-level BPE tokenizer of a Qwen2 model, a `tokenizers.Tokenizer`."""
        from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

        tokens = self.fields["tokenizer.ggml.tokens"]
        merges = [tuple(merge.split(" ")) for merge in self.fields["tokenizer.ggml.merges"]]
        tokenizer = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, merges))
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(_WORDS), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        tokenizer.decoder = decoders.ByteLevel()
        for kind, special in ((_CONTROL, True), (_ADDED, False)):
            types = enumerate(self.fields["tokenizer.ggml.token_type"])
            added = [AddedToken(tokens[n], normalized=False, special=special) for n, of in types if of == kind]
            (tokenizer.add_special_tokens if special else tokenizer.add_tokens)(added)
        return tokenizer


def _quantized(weights: np.ndarray) -> Blocks:
    """Return (rows, columns) weights as blocks whose range ends at their smallest and largest weight, or at 0."""
    blocks = weights.reshape(len(weights), -1, BLOCK_SIZES[F32])
    low, high = np.minimum(blocks.min(axis=-1), 0), np.maximum(blocks.max(axis=-1), 0)
    scales = np.maximum(high - low, 1e-12) / 255
    zeros = np.rint(-low / scales)
    quants = np.clip(np.rint(blocks / scales[..., None] + zeros[..., None]), 0, 255)
    return Blocks(quants.astype(np.uint8), scales.astype(np.float32), zeros.astype(np.float32))


def _halves(data: np.ndarray, at: int) -> np.ndarray:
    """Return (rows, blocks) float32 of the half precision numbers at a byte of each block."""
    return np.ascontiguousarray(data[..., at : at + 2]).view(np.float16)[..., 0].astype(np.float32)


def _q8_0(data: np.ndarray) -> Blocks:
    scales = _halves(data, 0)
    return Blocks(data[..., 2:] ^ 128, scales, np.full_like(scales, 128))


def _q5_0(data: np.ndarray) -> Blocks:
    scales, packed = _halves(data, 0), data[..., 6:]
    high = np.unpackbits(data[..., 2:6], axis=-1, bitorder="little") << 4
    quants = np.concatenate([packed & 15, packed >> 4], axis=-1) | high
    return Blocks(quants, scales, np.full_like(scales, 16))


def _q4_k(data: np.ndarray) -> Blocks:
    rows, groups = data.shape[:2]
    step, least = _halves(data, 0)[..., None], _halves(data, 2)[..., None]
    packed = data[..., 4:16].reshape(rows, groups, 3, 4)  # 8 scales and 8 minima of 6 bits
    first, second, high = packed[:, :, 0], packed[:, :, 1], packed[:, :, 2]
    scales = np.concatenate([first & 63, (high & 15) | ((first >> 6) << 4)], axis=-1)
    minima = np.concatenate([second & 63, (high >> 4) | ((second >> 6) << 4)], axis=-1)
    scales, minima = (step * scales).reshape(rows, -1), (least * minima).reshape(rows, -1)
    quants = data[..., 16:].reshape(rows, groups, 4, 1, 32)
    quants = np.concatenate([quants << 4, quants & 240], axis=3).reshape(rows, groups * 8, 32)
    constant = scales == 0  # every weight of the block is -minimum
    zeros = np.where(constant, 1, 16 * minima / np.where(constant, 1, scales)).astype(np.float32)
    if constant.any():
        quants[constant] = 0
    return Blocks(quants, np.where(constant, minima, scales / 16).astype(np.float32), zeros)


def _q6_k(data: np.ndarray) -> Blocks:
    rows, groups = data.shape[:2]
    low = data[..., :128].reshape(rows, groups, 2, 1, 64)
    low = np.concatenate([low & 15, low >> 4], axis=3).reshape(rows, groups, 8, 32)
    high = data[..., 128:192].reshape(rows, groups, 2, 1, 32)
    high = np.concatenate([(high >> shift) & 3 for shift in (0, 2, 4, 6)], axis=3).reshape(rows, groups, 8, 32)
    quants = (low | (high << 4)).reshape(rows, groups * 16, 16)
    scales = (_halves(data, 208)[..., None] * data[..., 192:208].view(np.int8)).reshape(rows, -1)
    return Blocks(quants, scales, np.full_like(scales, 32))


_DECODERS = {Q8_0: _q8_0, Q5_0: _q5_0, Q4_K: _q4_k, Q6_K: _q6_k}


def token_ids(tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Return the numbers of the tokens of texts, by a `tokenizers.Tokenizer`."""
    return [encoding.ids for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False)]
