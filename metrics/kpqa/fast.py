"""Runs a checkpoint's model in 8-bit integers on a CPU with ONNX Runtime: it stands in for torch's.

This file stands in `kpqa` and in `ava`, because a folder must work when it is copied alone. The copy in `kpqa` is the
original; `make copies` renews the other and a test keeps them identical.
"""

import os
import platform
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace

from .models import file_digest
from .shared import need

FAST_FILE = "model.int8.onnx"
BACKENDS = ("torch", "onnx")


def checked_backend(backend: object, device: str | None = None, dtype: object = None) -> str:
    """Return the name of what runs a model, "torch" for None.

    Args:
        backend: "torch" or "onnx".
        device: the device asked for; "onnx" runs on the CPU only.
        dtype: the floating type asked for; "onnx" has its own.

    Raises:
        ValueError: if there is no such backend, or it cannot have this device or type.
        ImportError: if its package is not installed.

    >>> checked_backend(None)
    'torch'
    """
    backend = "torch" if backend is None else backend
    if backend not in BACKENDS:
        raise ValueError(f"backend: expected one of {', '.join(BACKENDS)}, got {backend!r}")
    if backend == "onnx":
        if device is not None and str(device) != "cpu":
            raise ValueError(f"device: backend 'onnx' runs on the CPU, got {device!r}; leave it out")
        if dtype is not None:
            raise ValueError(f"dtype: backend 'onnx' runs in 8-bit integers, got {dtype!r}; leave it out")
        need("fast", "onnxruntime")
    else:
        need("models", "torch", "transformers")
    return backend


def _may_saturate() -> bool:
    """Return whether sums of two products are kept in 16 bits here, as on x86 before VNNI (ONNX Runtime's manual)."""
    try:
        return platform.machine() in ("x86_64", "AMD64") and "vnni" not in Path("/proc/cpuinfo").read_text()
    except OSError:  # not Linux: unknown
        return False


def _how_to_make(folder: Path, metric: str) -> str:
    return f"run genqa-metrics export --metric {metric} --checkpoint {folder} OUTPUT and pass checkpoint=OUTPUT"


def fast_file(folder: Path, metric: str) -> Path:
    """Return the path of a checkpoint's model for the backend "onnx".

    Raises:
        ValueError: if there is none; names the command that makes it.
    """
    path = folder / FAST_FILE
    if not path.is_file():
        raise ValueError(
            f"checkpoint: {folder} has no {FAST_FILE}, which backend 'onnx' runs; {_how_to_make(folder, metric)}"
        )
    return path


class FastModel:
    """Stands in for the torch model of a checkpoint: takes and gives tensors, and runs in ONNX Runtime.

    It runs on as many threads as torch would in the thread that calls it.

    Args:
        folder: checkpoint folder that holds `FAST_FILE`.
        digest: SHA-256 of the checkpoint's weights.
        metric: name of the metric, for the message.

    Attributes:
        device: the CPU.
        config: has max_position_embeddings.
        signature: names backend and file by digest.

    Raises:
        ValueError: if the file is missing, damaged, or of another checkpoint; names the command that makes it.
    """

    def __init__(self, folder: Path, digest: str, metric: str):
        import torch

        if _may_saturate():
            warnings.warn(
                "backend: this processor has no VNNI instructions; products of 8-bit integers may overflow on it and "
                "scores be wrong; take backend 'torch'",
                stacklevel=2,
            )

        self._path = fast_file(folder, metric)
        self._sessions: dict[tuple[int, int], object] = {}
        self._lock = threading.Lock()
        fix = _how_to_make(folder, metric)
        try:
            session = self._session()
        except Exception as error:  # the runtime has kinds of its own
            why = str(error).splitlines()[0]
            raise ValueError(f"checkpoint: {self._path} cannot be loaded: {why}; {fix}") from error
        facts = session.get_modelmeta().custom_metadata_map
        if facts.get("checkpoint") != digest:
            raise ValueError(
                f"checkpoint: {self._path} was made of weights with the SHA-256 "
                f"{facts.get('checkpoint', 'unknown'):.12}, those beside it have {digest:.12}; {fix}"
            )
        self._names = [given.name for given in session.get_inputs()]
        self.device = torch.device("cpu")
        positions = facts.get("positions")
        self.config = SimpleNamespace(max_position_embeddings=int(positions) if positions else None)
        self.signature = f"backend:onnx-{file_digest(self._path)[:12]}"

    def _session(self):
        import onnxruntime
        import torch

        threads = torch.get_num_threads()
        key = os.getpid(), threads  # the threads of a session are not in a forked child
        with self._lock:
            if key not in self._sessions:
                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = threads
                options.log_severity_level = 3  # errors only
                self._sessions[key] = onnxruntime.InferenceSession(
                    str(self._path), options, providers=["CPUExecutionProvider"]
                )
            return self._sessions[key]

    def __call__(self, **inputs) -> SimpleNamespace:
        """Return the logits of padded inputs, see `models.padded`."""
        import torch

        arrays = {name: inputs[name].numpy() for name in self._names}
        (logits,) = self._session().run(["logits"], arrays)
        return SimpleNamespace(logits=torch.from_numpy(logits))
