"""Mix judges, or keyphrase predictors, into one: the mean of their weights, written as an adapter.

    python -m training.mix --parts RUN/final=0.5 OTHER/final=0.5 --output MIXED

See `training.folding` for why. The settings and the card are those of the first, and the card gets the command.
"""

import argparse
import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

from genqa_metrics.core import judge_model
from genqa_metrics.core.checkpoints import BASE_MODEL, checkpoint_digest
from genqa_metrics.kpqa import loading

from training.ava import train_ava
from training.common import encoder_path, markdown_table, weighted
from training.folding import adapter, fold, mean_model, mean_states, save_adapter


def mix_causal(shares: list[tuple[Path, float]], args: argparse.Namespace) -> None:
    """Write the mean of the factors of adapters of one run, which are close together."""
    from safetensors.torch import load_file, save_file

    name, shapes = "adapter_model.safetensors", []
    states = [load_file(folder / name) for folder, _ in shares]
    for (folder, _), state in zip(shares, states, strict=True):
        shapes.append({key: tensor.shape for key, tensor in state.items()})
        if shapes[-1] != shapes[0]:
            raise ValueError(f"parts: {folder}: expected the layers and the rank of {shares[0][0]}")
    shutil.copytree(shares[0][0], args.output, dirs_exist_ok=True)
    mean = mean_states(states, [weight for _, weight in shares])
    save_file(mean, args.output / name, metadata={"format": "pt"})


def mix_judges(shares: list[tuple[Path, float]], args: argparse.Namespace) -> None:
    """Write the mean of judges of one configuration."""
    settings = [judge_model.read_settings(folder) for folder, _ in shares]
    if len({setting["configuration"] for setting in settings}) > 1:
        raise ValueError("parts: expected judges of one configuration")
    if settings[0]["configuration"] == judge_model.PROMPT:
        return mix_causal(shares, args)
    models = [
        judge_model.load_model(folder, setting["configuration"], setting["marks"])[0]
        for (folder, _), setting in zip(shares, settings, strict=True)
    ]
    first = settings[0]
    config = json.loads((shares[0][0] / "adapter_config.json").read_text(encoding="utf-8"))
    arguments = train_ava.Arguments(
        encoder=args.encoder or config["base_model_name_or_path"],
        configuration=first["configuration"],
        marks=first["marks"],
        max_length=args.max_length or first["max_length"],
        fold_rank=args.fold_rank,
    )
    args.output.mkdir(parents=True, exist_ok=True)
    kept = {name: first[name] for name in train_ava.KEPT if name in first}
    train_ava.write_checkpoint(mean_model(models, [w for _, w in shares]), None, arguments, args.output, **kept)


def mix_predictors(shares: list[tuple[Path, float]], args: argparse.Namespace) -> None:
    """Write the mean of keyphrase predictors that are used alike."""
    first = loading.checked_settings(shares[0][0])
    for folder, _ in shares:
        if (settings := loading.checked_settings(folder)) != first:
            raise ValueError(f"parts: {folder}: expected the settings of {shares[0][0]}, got {settings}")
    mean = mean_model([loading.load_token_classifier(folder)[0] for folder, _ in shares], [w for _, w in shares])
    rank, encoder = args.fold_rank, args.encoder or BASE_MODEL
    bare = adapter(loading.token_classifier(encoder_path(encoder), first.head), "TOKEN_CLS", rank, rank, dropout=0.0)
    fold(bare, mean)
    save_adapter(bare, encoder, args.output)
    loading.write_settings(args.output, replace(first, max_length=args.max_length or first.max_length))


def card(shares: list[tuple[Path, float]], args: argparse.Namespace) -> str:
    """Return the first part's card with the command that mixed, or with a table of the parts if it has no commands."""
    named = [("/".join(folder.parts[-2:]), f"{weight:g}", checkpoint_digest(folder)) for folder, weight in shares]
    words = ["python", "-m", "training.mix", "--parts", *(f"{name}={weight}" for name, weight, _ in named)]
    words += ["--fold_rank", str(args.fold_rank)]
    command = shlex.join(words + (["--max_length", str(args.max_length)] if args.max_length else []))
    text = (shares[0][0] / "README.md").read_text(encoding="utf-8")
    text = text.replace(named[0][2], checkpoint_digest(args.output))
    if "```bash\n" in text:
        return re.sub(r"(?s)(```bash\n.*?)```", lambda match: f"{match[1]}{command}\n```", text, count=1)
    rows = [(name, weight, f"`{digest}`") for name, weight, digest in named]
    table = markdown_table(("predictor", "weight", "SHA-256 of its weights"), rows)
    mixed = f"## Mixed\n\n```bash\n{command}\n```\n\n{table}\n\nWhat follows is what the card of the first says.\n\n"
    head, title, rest = text.partition("## ")
    return f"{head}{mixed}{title}{rest}"


def main() -> None:
    """Mix, and write the checkpoint with its card."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--parts", nargs="+", required=True, help="FOLDER=WEIGHT; settings are those of the first")
    parser.add_argument("--encoder", help="folder or Hub id of the encoder; default: the first's, or the base one")
    parser.add_argument("--fold_rank", type=int, default=128, help="rank of the adapter that is written")
    parser.add_argument("--max_length", type=int, help="word pieces that are read; default: the first's")
    parser.add_argument("--output", type=Path, required=True, help="folder of the new checkpoint")
    args = parser.parse_args()
    shares = [(Path(folder), weight) for folder, weight in weighted(args.parts)]
    if abs(sum(weight for _, weight in shares) - 1) > 1e-6:
        numbers = ", ".join(f"{weight:g}" for _, weight in shares)
        raise ValueError(f"parts: expected weights that sum to 1, got {numbers}")
    (mix_judges if (shares[0][0] / "ava_config.json").is_file() else mix_predictors)(shares, args)
    if (shares[0][0] / "README.md").is_file():
        (args.output / "README.md").write_text(card(shares, args), encoding="utf-8")


if __name__ == "__main__":
    main()
