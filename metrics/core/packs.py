"""Packs of prompts: sequences in which what prompts share stands once.

Rows that share the first part of a prompt are packed into one sequence whose attention mask is a tree, so that the
shared part is read once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Pack:
    """One sequence of several prompts."""

    tokens: np.ndarray  # (length,) token ids
    positions: np.ndarray  # (length,) position of each token in its own prompt
    parts: np.ndarray  # (length,) number of the shared part that a token belongs to
    branches: np.ndarray  # (length,) number of the judged text that a token belongs to, 0 for a shared part
    ends: np.ndarray  # (rows,) index of the last token of each judged text
    rows: np.ndarray  # (rows,) numbers of the rows, in the order of `ends`


def packed(prompts: Sequence[tuple[Sequence[int], Sequence[Sequence[int]], Sequence[int]]], budget: int) -> list[Pack]:
    """Return packs of at most `budget` tokens, or of one text, from (shared part, judged texts, their rows)."""
    packs, current, size = [], [], 0
    for shared, texts, rows in prompts:
        position = 0
        while position < len(texts):
            if current and size + len(shared) + len(texts[position]) > budget:
                packs.append(_pack(current))
                current, size = [], 0
            taken, size = position, size + len(shared)
            while taken < len(texts) and (taken == position or size + len(texts[taken]) <= budget):
                size += len(texts[taken])
                taken += 1
            current.append((shared, texts[position:taken], rows[position:taken]))
            position = taken
    if current:
        packs.append(_pack(current))
    return packs


def _pack(prompts) -> Pack:
    columns, ends, numbers = [], [], []
    for part, (shared, texts, rows) in enumerate(prompts):
        columns += [(token, position, part, 0) for position, token in enumerate(shared)]
        for text, row in zip(texts, rows, strict=True):
            numbers.append(row)
            columns += [(token, position, part, len(numbers)) for position, token in enumerate(text, len(shared))]
            ends.append(len(columns) - 1)
    of_rows = np.array([ends, numbers], dtype=np.int64)
    return Pack(*np.array(columns, dtype=np.int64).T.copy(), *of_rows)


def tree_mask(parts, branches):
    """Return (packs, length, length) booleans, True where a token (second axis) reads another (third axis).

    `parts` and `branches` are arrays or torch tensors of (packs, length).
    """
    same_part = parts[:, :, None] == parts[:, None, :]
    visible = (branches[:, None, :] == 0) | (branches[:, :, None] == branches[:, None, :])
    both = same_part & visible
    return both.tril() if hasattr(both, "tril") else np.tril(both)
