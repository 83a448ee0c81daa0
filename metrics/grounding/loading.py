"""Find and load the judge of grounding: a judge of AVA that reads a passage as the reference."""

import os
from pathlib import Path

from ..core.checkpoints import find_checkpoint
from ..core.judge_loading import LoadedJudge, judge_of
from ..core.judge_model import LINEAR

HUB_CHECKPOINTS = {
    "small": "genqa-metrics/grounding-minilm",
    "base": "genqa-metrics/ava-mpnet",
    "large": "genqa-metrics/ava-qwen",
}  # where the package is not installed


def checkpoint_folder(checkpoint: str | os.PathLike | None = None, revision: str | None = None) -> Path:
    """Return the folder of a checkpoint, the metric's own by default; see `checkpoints.find_checkpoint`.

    "base" and "large" are judges of AVA, which lie in its folder and are not bundled twice.
    """
    code = Path(__file__).parent
    code = code.with_name("ava") if checkpoint in ("base", "large") else code
    return find_checkpoint(checkpoint, revision, code, HUB_CHECKPOINTS)


def load_judge(
    checkpoint: str | os.PathLike | None = None,
    revision: str | None = None,
    device: str | None = None,
    dtype: object = None,
    backend: str | None = None,
    base_model: str | os.PathLike | None = None,
) -> LoadedJudge:
    """Return a judge; loaded once per process and set of files.

    Args:
        checkpoint: folder or Hub id, None for the default.
        revision: its branch, tag or commit on the Hub.
        device: torch device, None for the best available.
        dtype: name of a torch floating type, None for float32.
        backend: what runs the model, "torch" (None) or "onnx".
        base_model: the encoder of an adapter, see `judge_loading.judge_of`.

    Raises:
        ValueError: if it is not found, cannot be loaded or cannot read passages.
        ImportError: if the backend's package is not installed.
    """
    folder = checkpoint_folder(checkpoint, revision)
    judge = judge_of(folder, device, dtype, backend, base_model)
    if judge.configuration == LINEAR:
        raise ValueError(f"checkpoint: {folder} is a linear judge, which cannot read passages; take a transformer")
    return judge
