"""Make the bundled predictor: train two, and mix them. Finished steps are not repeated, an interrupted one is resumed.

    python -m training.kpqa.make_bundled --data_dir DATA --work FOLDER

Other arguments go to both trainings. The second predictor starts from the encoder of the bundled judge of answers.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from genqa_metrics.core import checkpoints, judge_model
from genqa_metrics.core.checkpoints import file_digest

from training.common import option, train_once

FOLDER = Path(__file__).parent
RECIPE = FOLDER / "bundled.args"
JUDGE = FOLDER.parents[1] / "metrics/ava/checkpoint"
MAX_LENGTH = 512  # word pieces that the metric reads


@dataclass
class Arguments:
    """Where files are; all other arguments are train_kpqa.py's."""

    data_dir: str = option("folder of the training rows")
    work: str = option("folder of the two predictors, of the encoder and of the result, `mixed`")


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


def main() -> None:
    """Train, mix, print the folder of the result."""
    from transformers import HfArgumentParser

    args, more = HfArgumentParser(Arguments).parse_args_into_dataclasses(return_remaining_strings=True)
    work, digest = Path(args.work), file_digest(RECIPE)
    where = ["--config", str(RECIPE), "--data_dir", args.data_dir]
    train_once("kpqa.train_kpqa", work / "r128", where, ["--lora_rank", "128", *more], digest)
    if not (work / "encoder/tokenizer.json").is_file():
        write_judge_encoder(work / "encoder")
    from_judge = ["--max_steps", "900", *more]
    train_once("kpqa.train_kpqa", work / "enc900", [*where, "--encoder", str(work / "encoder")], from_judge, digest)
    if not (work / "mixed/README.md").is_file():
        weighted = [f"{work / name / 'final'}=0.5" for name in ("r128", "enc900")]
        words = ["--parts", *weighted, "--max_length", str(MAX_LENGTH), "--output", str(work / "mixed")]
        subprocess.run([sys.executable, "-m", "training.mix", *words], check=True, stdout=sys.stderr)
    print(work / "mixed")


if __name__ == "__main__":
    main()
