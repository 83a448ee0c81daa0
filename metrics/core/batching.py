"""Batches of padded rows within a budget of tokens."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

CPU_BATCH = 1024  # word pieces: larger batches hold more padding and leave the processor's cache
FAST_BATCH = 256  # 8-bit products are so fast that everything else must stay in the core's cache
_LISTENER: ContextVar[Callable[[float], object] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[float], object]) -> Iterator[None]:
    """Tell a function of every batch that is done within this context.

    Args:
        listener: called with the share of the texts of a pass that were in the batch; the shares of a pass sum to 1.
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def report_done(share: float) -> None:
    """Tell the listener, if there is one, that a share of the texts of a pass is done; see `listening`."""
    listener = _LISTENER.get()
    if listener:
        listener(share)


def checked_budget(batch_tokens: object) -> int:
    """Return the token budget of a batch.

    Raises:
        ValueError: if it is not a whole number of at least 1.
    """
    if isinstance(batch_tokens, bool) or not isinstance(batch_tokens, int) or batch_tokens < 1:
        raise ValueError(f"batch_tokens: expected a whole number of at least 1, got {batch_tokens!r}")
    return batch_tokens


def budget_on(device_type: str, batch_tokens: int, fast: bool = False) -> int:
    """Return the token budget that is used on a device: on a CPU never more than CPU_BATCH.

    Args:
        device_type: type of device.
        batch_tokens: the budget asked for.
        fast: whether the model runs in 8-bit integers; it gets no more than FAST_BATCH.

    >>> budget_on("cpu", 4096), budget_on("cpu", 4096, fast=True), budget_on("cuda", 4096)
    (1024, 256, 4096)
    """
    return min(batch_tokens, FAST_BATCH if fast else CPU_BATCH) if device_type == "cpu" else batch_tokens


def budgeted(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield batches of row numbers, longest rows first, so that no padded batch holds more than `budget` tokens.

    Args:
        lengths: tokens of every row.
        budget: tokens of a batch, padding included; a longer row makes a batch of its own.

    Yields:
        Lists of row numbers.

    >>> list(budgeted([3, 5, 1, 3], budget=6))
    [[1], [0, 3], [2]]
    """
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    batch = []
    for place, i in enumerate(order):
        batch.append(i)
        last = place + 1 == len(order)
        if last or (len(batch) + 1) * lengths[batch[0]] > budget:
            yield batch
            report_done(len(batch) / len(order))
            batch = []


def padded(rows: Sequence[dict]) -> dict[str, np.ndarray]:
    """Return the inputs of rows as arrays, padded with 0 to the longest.

    Args:
        rows: per row the inputs of the model, name -> token numbers; all rows have the same names.

    Returns:
        Name -> (rows, tokens) integers.
    """
    longest = max(len(row["input_ids"]) for row in rows)
    inputs = {}
    for name in rows[0]:
        filled = np.zeros((len(rows), longest), dtype=np.int64)
        for line, row in zip(filled, rows, strict=True):
            line[: len(row[name])] = row[name]
        inputs[name] = filled
    return inputs


def tensors(inputs: Mapping[str, np.ndarray], device: object = "cpu") -> dict:
    """Return padded inputs as tensors of torch on a device."""
    import torch

    return {name: torch.from_numpy(values).to(device) for name, values in inputs.items()}


def run_padded(encoded: Sequence[dict], forward: Callable, budget: int) -> list[np.ndarray]:
    """Return the model's output per row; rows run longest first, in padded batches.

    Args:
        encoded: per row the inputs of the model, see `padded`.
        forward: from padded inputs, name -> (batch, tokens) integers, to (batch, tokens, ...) floats.
        budget: tokens of a batch, padding included.

    Returns:
        Per row a float array whose first axis is the row's own tokens.
    """
    results: list = [None] * len(encoded)
    lengths = [len(e["input_ids"]) for e in encoded]
    for batch in budgeted(lengths, budget):
        output = forward(padded([encoded[i] for i in batch]))
        for row, i in zip(output, batch, strict=True):
            results[i] = row[: lengths[i]]
    return results
