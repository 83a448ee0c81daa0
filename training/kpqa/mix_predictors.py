"""Mix keyphrase predictors into one: the mean of their weights, written as an adapter; see `training.folding` for why.

python -m training.kpqa.mix_predictors --predictors RUN/final=0.5 OTHER/final=0.5 --output PREDICTOR
"""

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

from training.folding import fold, mean_model, save_adapter, weighted_folders


def mixed(parts: list[tuple[Path, float]]):
    """Return the predictor whose weights are the weighted mean of those of some predictors.

    Raises:
        ValueError: if they are not used alike; names the first that differs.
    """
    from genqa_metrics.kpqa import loading

    settings = [loading.checked_settings(folder) for folder, _ in parts]
    for (folder, _), own in zip(parts, settings, strict=True):
        if own != settings[0]:
            raise ValueError(f"predictors: {folder}: expected the settings of {parts[0][0]}, got {own}")
    models = [loading.load_token_classifier(folder)[0] for folder, _ in parts]
    return mean_model(models, [weight for _, weight in parts])


def main() -> None:
    """Mix, write the checkpoint with the settings of the first predictor, and its card with what was mixed."""
    from genqa_metrics.core import checkpoints, encoders
    from genqa_metrics.kpqa import loading
    from genqa_metrics.kpqa.settings import write_settings
    from peft import LoraConfig, TaskType, get_peft_model

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--predictors", nargs="+", required=True, help="FOLDER=WEIGHT")
    parser.add_argument(
        "--encoder", default=encoders.BASE_MODEL, help="folder of the encoder; the base encoder if none"
    )
    parser.add_argument("--fold_rank", type=int, default=128, help="rank of the adapter that is written")
    parser.add_argument("--max_length", type=int, help="word pieces that the metric reads; default: the first's")
    parser.add_argument("--output", type=Path, required=True, help="folder of the new checkpoint")
    args = parser.parse_args()
    parts = weighted_folders("predictors", args.predictors)
    first = parts[0][0]
    settings = loading.checked_settings(first)
    settings = replace(settings, max_length=args.max_length or settings.max_length)
    encoder = encoders.base_encoder() if args.encoder == encoders.BASE_MODEL else args.encoder
    config = LoraConfig(
        task_type=TaskType.TOKEN_CLS,
        r=args.fold_rank,
        lora_alpha=args.fold_rank,
        target_modules=["query", "key", "value", "dense"],
    )
    bare = get_peft_model(loading.token_classifier(encoder, settings.head), config)
    fold(bare, mixed(parts))
    save_adapter(bare, args.encoder, args.output)
    write_settings(args.output, settings)

    command = ["python", "-m", "training.kpqa.mix_predictors", "--predictors"]
    command += [f"{'/'.join(folder.parts[-2:])}={weight:g}" for folder, weight in parts]
    command += ["--fold_rank", str(args.fold_rank), "--max_length", str(settings.max_length)]
    lines = [
        f"| {'/'.join(folder.parts[-2:])} | {weight:g} | `{checkpoints.checkpoint_digest(folder)}` |"
        for folder, weight in parts
    ]
    made = "\n".join(
        [
            "## Mixed\n",
            f"```bash\n{shlex.join(command)}\n```\n",
            "| predictor | weight | SHA-256 of its weights |\n| --- | --- | --- |",
            *lines,
            "\nWhat follows is what the card of the first says.\n",
        ]
    )
    card = (first / "README.md").read_text(encoding="utf-8")
    card = card.replace(checkpoints.checkpoint_digest(first), checkpoints.checkpoint_digest(args.output), 1)
    head, title, rest = card.partition("## ")
    (args.output / "README.md").write_text(f"{head}{made}\n{title}{rest}", encoding="utf-8")


if __name__ == "__main__":
    main()
