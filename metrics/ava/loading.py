"""Find and load the judge of AVA."""

import os
from pathlib import Path

from ..core.checkpoints import find_checkpoint
from ..core.judge_loading import LoadedJudge, checked_threshold, judge_of

HUB_CHECKPOINTS = {
    "small": "genqa-metrics/ava-minilm",
    "base": "genqa-metrics/ava-mpnet",
    "large": "genqa-metrics/ava-qwen",
}  # where the package is not installed


def checkpoint_folder(checkpoint: str | os.PathLike | None = None, revision: str | None = None) -> Path:
    """Return the folder of a checkpoint, the metric's own by default; see `checkpoints.find_checkpoint`."""
    return find_checkpoint(checkpoint, revision, Path(__file__).parent, HUB_CHECKPOINTS)


def checked_early_stop(early_stop: object, how: str, threshold: float) -> float | None:
    """Return the probability from which no further reference is read, None for never.

    Args:
        early_stop: what was given.
        how: how references are aggregated.
        threshold: probability from which an answer counts as correct.

    Raises:
        ValueError: if it is no number from 0 to 1, is below the threshold, or references are not read one by one for
            the best of them.
    """
    early_stop = checked_threshold(early_stop, "early_stop")
    if early_stop is not None and how != "max":
        raise ValueError(f"early_stop: only for reference_aggregation='max', here it is {how!r}; leave it out")
    if early_stop is not None and early_stop < threshold:
        raise ValueError(
            f"early_stop: {early_stop:g} is below the threshold, {threshold:g}, and would change verdicts"
        )
    return early_stop


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
        ValueError: if it is not found or cannot be loaded, or the device, type or backend does not exist.
        ImportError: if the backend's package is not installed.
    """
    return judge_of(checkpoint_folder(checkpoint, revision), device, dtype, backend, base_model)
