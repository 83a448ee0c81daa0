"""Find and load the judge of grounding: a judge of AVA that reads a passage as the reference."""

import os
from pathlib import Path

from ..core.checkpoints import find_checkpoint
from ..core.judge_model import LINEAR, LoadedJudge, load_judge_of

HUB_CHECKPOINTS = {
    "small": "genqa-metrics/grounding-minilm",
    "base": "genqa-metrics/ava-mpnet",
    "large": "genqa-metrics/ava-qwen",
}  # where the package is not installed


def checkpoint_folder(checkpoint: str | os.PathLike | None = None, revision: str | None = None) -> Path:
    """Return the folder of a checkpoint, the metric's own by default; "base" and "large" are judges of AVA."""
    code = Path(__file__).parent
    code = code.with_name("ava") if checkpoint in ("base", "large") else code
    return find_checkpoint(checkpoint, revision, code=code, hub_names=HUB_CHECKPOINTS)


def load_judge(*checkpoint, **settings) -> LoadedJudge:
    """Return the judge of a checkpoint; see `judge_model.load_judge_of`. A linear one cannot read passages."""
    judge = load_judge_of(checkpoint_folder, *checkpoint, **settings)
    if judge.configuration == LINEAR:
        linear = f"{judge.folder} is a linear judge, which cannot read passages"
        raise ValueError(f"checkpoint: {linear}; take a transformer")
    return judge
