"""Write the encoder of the bundled judge of answers, from which the second bundled predictor starts, into a FOLDER."""

import sys
from pathlib import Path

from genqa_metrics.core import checkpoints, judge_model

JUDGE = Path(__file__).parents[2] / "metrics/ava/checkpoint"


def write_judge_encoder(folder: Path) -> None:
    """Write the encoder of the bundled judge, its adapter merged: verdicts have taught it to read."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    settings = judge_model.read_settings(JUDGE)
    judge = judge_model.load_model(JUDGE, settings["configuration"], settings["marks"])[0]
    encoder = AutoModel.from_pretrained(checkpoints.base_encoder())
    learned = judge.base_model.state_dict()
    with torch.no_grad():
        for name, tensor in encoder.state_dict().items():
            if name in learned and learned[name].shape == tensor.shape:  # a judge has more types of tokens
                tensor.copy_(learned[name])
    encoder.save_pretrained(folder)
    AutoTokenizer.from_pretrained(checkpoints.base_encoder()).save_pretrained(folder)


if __name__ == "__main__":
    write_judge_encoder(Path(sys.argv[1]))
