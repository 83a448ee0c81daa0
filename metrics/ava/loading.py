"""Finds and loads the judge of AVA."""

from functools import partial
from pathlib import Path

from ..core.checkpoints import find_checkpoint
from ..core.judge_model import load_judge_of

HUB_CHECKPOINTS = {
    "small": "genqa-metrics/ava-minilm",
    "base": "genqa-metrics/ava-qwen-0.5b",
    "large": "genqa-metrics/ava-qwen",
}  # where the package is not installed
# The folder of a checkpoint (the metric's own by default), and its judge.
checkpoint_folder = partial(find_checkpoint, code=Path(__file__).parent, hub_names=HUB_CHECKPOINTS)
load_judge = partial(load_judge_of, checkpoint_folder)
