"""Take the encoder of a judge as the first stage of a predictor: verdicts and sentence pairs have taught it to read.

python -m training.kpqa.judge_encoder --output ENCODER
python -m training.kpqa.train_kpqa --config training/kpqa/bundled.args --encoder ENCODER ...
"""

import argparse
from pathlib import Path

BUNDLED = Path(__file__).parents[2] / "metrics/ava/checkpoint"


def main() -> None:
    """Write the encoder of a judge, with its own adapter merged, and the tokenizer."""
    import torch
    from genqa_metrics.core import checkpoints, judge_model
    from transformers import AutoModel, AutoTokenizer

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--judge", type=Path, default=BUNDLED, help="folder of the judge")
    parser.add_argument("--output", type=Path, required=True, help="folder of the encoder")
    args = parser.parse_args()

    settings = judge_model.read_settings(args.judge)
    judge = judge_model.load_model(args.judge, settings["configuration"], settings["marks"])[0]
    encoder = AutoModel.from_pretrained(checkpoints.base_encoder())
    learned = judge.base_model.state_dict()
    with torch.no_grad():
        for name, tensor in encoder.state_dict().items():
            if name in learned and learned[name].shape == tensor.shape:  # a judge has more types of tokens
                tensor.copy_(learned[name])
    encoder.save_pretrained(args.output)
    AutoTokenizer.from_pretrained(checkpoints.base_encoder()).save_pretrained(args.output)


if __name__ == "__main__":
    main()
