"""Runs models: devices, types of encoders and numbers, forked processes, and batches within a budget of tokens."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .scorer import check_setting, require_extra, warn_caller


def cores() -> int:
    """Return how many cores a model may use here, by affinity, container and OMP_NUM_THREADS."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        share, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        here = min(here, max(1, round(int(share) / int(period))))
    except (OSError, ValueError):  # no container, or one without a limit
        pass
    threads = os.environ.get("OMP_NUM_THREADS", "")
    return min(here, int(threads)) if threads.isdecimal() and int(threads) else here


@lru_cache(1)
def _run_in_forked_children() -> None:
    """Let a model run in forked processes, which lack the threads of torch's pool and would wait for them forever."""
    import torch

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


def run_on(device: str, dtype: str, *models) -> None:
    """Let models of torch run on a device in a floating-point type; warn where the processor only emulates it."""
    import torch

    _run_in_forked_children()
    if device == "cpu" and dtype != "float32" and is_emulated(dtype):
        warn_caller(f"dtype: this processor only emulates {dtype}, slower than float32; use dtype='float32'")
    for model in models:
        model.to(device, getattr(torch, dtype))


def check_fork(device: str, process: int) -> None:
    """Raise a RuntimeError if a process forked from the one that loaded a model would run it on an accelerator."""
    if device != "cpu" and process != os.getpid():
        raise RuntimeError(
            f"a model on {device} cannot run in a forked process; load with device='cpu', load in the process itself, "
            "or start processes with the method 'spawn'"
        )


def checked_backend(backend: object, device: str | None = None, dtype: object = None, default: str = "torch") -> str:
    """Return the backend, "onnx" or "torch"; refuse settings that "onnx" does not support, and a missing torch.

    `default` is that of a checkpoint on a CPU, in float32; see `encoders.default_backend`.

    >>> checked_backend(None, "cpu", "float32", "onnx")
    'onnx'
    """
    asked = {"device": device in (None, "cpu"), "dtype": dtype is None or checked_dtype(dtype) == "float32"}
    other = [name for name, is_default in asked.items() if not is_default]
    if backend is None:
        backend = default if not other and (device == "cpu" or not has_gpu()) else "torch"
    if backend not in BACKENDS:
        raise ValueError(f"backend: expected one of {', '.join(BACKENDS)}, got {backend!r}")
    if backend == "onnx" and other:
        setting = {"device": device, "dtype": dtype}[other[0]]
        raise ValueError(f"{other[0]}: backend 'onnx' runs on the CPU in float32, got {setting!r}; leave it out")
    if backend == "torch":
        require_extra("torch", "torch", "transformers")
    return backend


def has_gpu() -> bool:
    """Return whether torch is installed and sees an accelerator; torch is imported only where there may be one."""
    may = any(map(os.path.exists, ("/dev/nvidia0", "/dev/kfd", "/dev/dxg"))) or sys.platform in ("darwin", "win32")
    return may and find_spec("torch") is not None and checked_device(None) != "cpu"


def checked_device(device: str | None) -> str:
    """Return the name of a torch device that exists here, the best available for None."""
    import torch

    if device is None:
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device: cannot use {device!r}: {error}; take 'cpu', or leave device out") from error
    return str(device)


def checked_dtype(dtype: object) -> str:
    """Return the name of a torch floating-point type that a metric runs in, float32 for None."""
    dtype = "float32" if dtype is None else str(dtype).removeprefix("torch.")
    is_known = dtype in ("float32", "bfloat16", "float16")
    check_setting("dtype", is_known, "float32, bfloat16 or float16", dtype)
    return dtype


# Encoder types in transformers; all have their class token first.
ENCODERS = (
    "albert", "bert", "camembert", "deberta-v2", "distilbert", "electra", "modernbert", "mpnet", "roberta",
    "xlm-roberta",
)  # fmt: skip
CROSS_ATTENTION = ("bert", "camembert", "electra", "roberta", "xlm-roberta")  # types with cross attention


def checked_encoder(kind: str, configuration: str, has_peers: bool) -> None:
    """Raise a ValueError if an encoder's `model_type` is not tested, or cannot do what a configuration needs."""
    possible = CROSS_ATTENTION if has_peers else ENCODERS
    if kind not in possible:
        why = "has no layers that read a peer" if kind in ENCODERS else "is not supported"
        raise ValueError(
            f"encoder: type {kind!r} {why}; for configuration {configuration} take one of {', '.join(possible)}"
        )


# How far a score can change with the other rows of its batch, whose length changes the order of rounding.
TOLERANCES = {"bfloat16": 0.02, "float16": 0.002}


def engine_facts(backend: str, dtype: str) -> dict[str, str]:
    """Return the facts about what runs an encoder for a signature, and how exact scores are.

    >>> engine_facts("onnx", "float32"), engine_facts("torch", "bfloat16")
    ({'engine': 'onnx', 'dtype': 'float32'}, {'dtype': 'bfloat16', 'tolerance': '0.02'})
    """
    facts = {"engine": "onnx", "dtype": dtype} if backend == "onnx" else {"dtype": dtype}
    return facts | ({"tolerance": f"{TOLERANCES[dtype]:g}"} if dtype in TOLERANCES else {})


def is_emulated(dtype: str) -> bool:
    """Return whether this processor lacks arithmetic of "bfloat16" or "float16"; float32 is then many times faster."""
    import torch

    asked = {"bfloat16": "_is_mkldnn_bf16_supported", "float16": "_is_mkldnn_fp16_supported"}[dtype]
    return not (torch.backends.mkldnn.is_available() and getattr(torch.ops.mkldnn, asked)())


BACKENDS = ("torch", "onnx")
CPU_BATCH = 1024  # word pieces: larger batches hold more padding and leave the processor's cache
_LISTENER: ContextVar[Callable[[float], object] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[float], object]) -> Iterator[None]:
    """Within this context call `listener` after each batch with its share of all texts; the shares sum to 1."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def report_done(share: float) -> None:
    """Call the listener of `listening`, if there is one, with the share of the texts that is done."""
    listener = _LISTENER.get()
    if listener:
        listener(share)


def budget_on(device_type: str, batch_tokens: int) -> int:
    """Return the token budget used on a device: on a CPU at most CPU_BATCH.

    >>> budget_on("cpu", 4096), budget_on("cuda", 4096)
    (1024, 4096)
    """
    return min(batch_tokens, CPU_BATCH) if device_type == "cpu" else batch_tokens


def budgeted(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield batches of row numbers, longest rows first, whose padded tokens are at most `budget`, or of one row.

    >>> list(budgeted([3, 5, 1, 3], budget=6))
    [[1], [0, 3], [2]]
    """
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    batch = []
    for position, i in enumerate(order):
        batch.append(i)
        last = position + 1 == len(order)
        if last or (len(batch) + 1) * lengths[batch[0]] > budget:
            yield batch
            report_done(len(batch) / len(order))
            batch = []


def results_of(function: Callable, batches: Iterable, workers: int = 1) -> Iterator[tuple]:
    """Yield (batch, result of the function) for every batch, in order; `workers` threads compute the results."""
    if workers < 2:
        yield from ((batch, function(batch)) for batch in batches)
        return
    batches = list(batches)
    with ThreadPoolExecutor(workers) as pool:
        yield from zip(batches, pool.map(function, batches), strict=True)


def padded(rows: Sequence[dict]) -> dict[str, np.ndarray]:
    """Return the inputs of rows, name -> token numbers, as (rows, tokens) integers, padded with 0 to the longest."""
    longest = max(len(row["input_ids"]) for row in rows)
    empty = [0] * longest
    return {name: np.array([[*row[name], *empty][:longest] for row in rows], dtype=np.int64) for name in rows[0]}


def tensors(inputs: Mapping[str, np.ndarray], device: object = "cpu") -> dict:
    """Return padded inputs as tensors of torch on a device."""
    import torch

    return {name: torch.from_numpy(array).to(device) for name, array in inputs.items()}


def run_padded(encoded: Sequence[dict], forward: Callable, budget: int, workers: int = 1) -> list[np.ndarray]:
    """Return per row `forward` of its tokens: from name -> (batch, tokens) integers to (batch, tokens, ...) floats."""
    results: list = [None] * len(encoded)
    lengths = [len(e["input_ids"]) for e in encoded]
    batches = budgeted(lengths, budget)
    for batch, output in results_of(lambda batch: forward(padded([encoded[i] for i in batch])), batches, workers):
        for row, i in zip(output, batch, strict=True):
            results[i] = row[: lengths[i]]
    return results
