"""Devices and floating-point types of models, and rules for forked processes."""

import os
import sys
import warnings
from functools import lru_cache


@lru_cache(1)
def run_in_forked_children() -> None:
    """Let a loaded model run in processes forked from this one, such as those of `Dataset.map(num_proc=2)`.

    A forked child lacks the threads of torch's pool and would wait for them forever; with one thread it works.
    """

    def one_thread():
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.set_num_threads(1)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=one_thread)


def check_fork(device: str, process: int) -> None:
    """Refuse to run a model on an accelerator in a process forked from the one that loaded it.

    Args:
        device: type of device.
        process: id of the process that loaded the model.

    Raises:
        RuntimeError: if the process is another one, and the device is no CPU; says the way out.
    """
    if device != "cpu" and process != os.getpid():
        raise RuntimeError(
            f"a model on {device} cannot run in a forked process; load with device='cpu', load in the process itself, "
            "or start processes with the method 'spawn'"
        )


def checked_device(device: str | None) -> str:
    """Return the name of a torch device, the best available for None.

    Raises:
        ValueError: if the device does not exist here.
    """
    import torch

    if device is None:
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device: cannot use {device!r}: {error}") from error
    return str(device)


def checked_dtype(dtype: object) -> str:
    """Return the name of a torch floating-point type, float32 for None.

    Raises:
        ValueError: if it is not one that a metric runs in.
    """
    dtype = "float32" if dtype is None else str(dtype).removeprefix("torch.")
    if dtype not in ("float32", "bfloat16", "float16"):
        raise ValueError(f"dtype: expected float32, bfloat16 or float16, got {dtype!r}")
    return dtype


# How far a score can change with the other rows of its batch, whose length changes the order of rounding.
TOLERANCES = {"bfloat16": 0.01, "float16": 0.002}


def dtype_facts(dtype: str) -> dict[str, str]:
    """Return the facts about a floating-point type for a signature: its name, and how exact scores are.

    >>> dtype_facts("float32"), dtype_facts("bfloat16")
    ({'dtype': 'float32'}, {'dtype': 'bfloat16', 'tolerance': '0.01'})
    """
    return {"dtype": dtype} | ({"tolerance": f"{TOLERANCES[dtype]:g}"} if dtype in TOLERANCES else {})


def is_emulated(dtype: str) -> bool:
    """Return whether this processor lacks arithmetic of "bfloat16" or "float16"; float32 is then many times faster."""
    import torch

    asked = {"bfloat16": "_is_mkldnn_bf16_supported", "float16": "_is_mkldnn_fp16_supported"}[dtype]
    return not (torch.backends.mkldnn.is_available() and getattr(torch.ops.mkldnn, asked)())


def warn_if_emulated(dtype: str, device: str) -> None:
    """Warn about a floating-point type that is only emulated on a device."""
    if device == "cpu" and dtype != "float32" and is_emulated(dtype):
        message = f"dtype: this processor only emulates {dtype}, slower than float32; use dtype='float32'"
        warnings.warn(message, stacklevel=2)
