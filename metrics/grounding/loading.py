"""Finds and loads the judge of grounding: a judge of AVA that reads prompts, with passages in place of references."""

import os
from dataclasses import replace
from pathlib import Path

from ..core.checkpoints import find_checkpoint
from ..core.judge_model import PROMPT, LoadedJudge, load_judge_of

DEFAULT = "large"
HUB_CHECKPOINTS = {"large": "genqa-metrics/ava-qwen"}  # where the package is not installed
# Digest of a judge's weights -> slope, intercept and threshold of its probabilities of claims, by training.grounding;
# those of any other judge are in its own settings.
CLAIM_SCALING = {"455265961e90": (0.511, 1.3854, 0.65)}  # large


def checkpoint_folder(checkpoint: str | os.PathLike | None = None, revision: str | None = None) -> Path:
    """Return the folder of a checkpoint: a size of AVA's judges (None: large), a folder, or "org/name@v1"."""
    code = Path(__file__).parent.with_name("ava")
    checkpoint = DEFAULT if checkpoint is None else checkpoint
    return find_checkpoint(checkpoint, revision, code=code, hub_names=HUB_CHECKPOINTS)


def load_judge(*checkpoint, **settings) -> LoadedJudge:
    """Return the judge of a checkpoint; see `judge_model.load_judge_of`.

    Raises:
        ValueError: if it does not read prompts, or its base model is not there.
    """
    judge = load_judge_of(checkpoint_folder, *checkpoint, **settings)
    if judge.configuration != PROMPT:
        raise ValueError(
            f"checkpoint: {judge.folder} is a judge of configuration {judge.configuration}, which cannot read "
            f"passages; grounding needs one that reads prompts, such as checkpoint={DEFAULT!r}"
        )
    if scaling := CLAIM_SCALING.get(judge.facts["checkpoint"].partition("-")[0]):
        slope, intercept, threshold = scaling
        return replace(judge, slope=slope, intercept=intercept, threshold=threshold)
    return judge
