"""Mix judges into one: the mean of their weights, written as an adapter; see `training.folding` for why."""

import argparse
import json
import shlex
from pathlib import Path

from genqa_metrics.core import judge_loading
from genqa_metrics.core.checkpoints import checkpoint_digest

from training.ava import train_ava
from training.folding import mean_model, weighted_folders


def mixed(parts: list[tuple[Path, float]]):
    """Return the model whose weights are the weighted mean of those of some judges of one configuration.

    Raises:
        ValueError: if the configurations differ.
    """
    settings = [judge_loading.read_settings(folder) for folder, _ in parts]
    if len({s["configuration"] for s in settings}) > 1:
        raise ValueError("judges: expected judges of one configuration")
    models = [
        judge_loading.load_model(f, s["configuration"], s["marks"])[0]
        for (f, _), s in zip(parts, settings, strict=True)
    ]
    return mean_model(models, [weight for _, weight in parts])


def main() -> None:
    """Mix, write the checkpoint with the settings and the card of the first judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--judges", nargs="+", required=True, help="FOLDER=WEIGHT; settings are those of the first")
    parser.add_argument("--fold_rank", type=int, default=128, help="rank of the adapter that is written")
    parser.add_argument("--max_length", type=int, help="word pieces of a pair; default: the first judge's")
    parser.add_argument("--output", type=Path, required=True, help="folder of the new checkpoint")
    args = parser.parse_args()
    parts = weighted_folders("judges", args.judges)
    settings = judge_loading.read_settings(parts[0][0])
    adapter = json.loads((parts[0][0] / "adapter_config.json").read_text(encoding="utf-8"))
    arguments = train_ava.Arguments(
        encoder=adapter["base_model_name_or_path"],
        configuration=settings["configuration"],
        marks=settings["marks"],
        max_length=args.max_length or settings["max_length"],
        fold_rank=args.fold_rank,
    )
    args.output.mkdir(parents=True, exist_ok=True)
    kept = {name: settings[name] for name in train_ava.KEPT if name in settings}
    train_ava.write_checkpoint(mixed(parts), None, arguments, args.output, **kept)

    card = (parts[0][0] / "README.md").read_text(encoding="utf-8")
    judges = [f"{'/'.join(folder.parts[-2:])}={weight:g}" for folder, weight in parts]
    command = ["python", "-m", "training.ava.mix_judges", "--judges", *judges, "--fold_rank", str(args.fold_rank)]
    command += ["--max_length", str(args.max_length)] if args.max_length else []
    head, opening, rest = card.partition("```bash\n")
    commands, closing, rest = rest.partition("```")
    card = f"{head}{opening}{commands}{shlex.join(command)}\n{closing}{rest}"
    card = card.replace(checkpoint_digest(parts[0][0]), checkpoint_digest(args.output))
    (args.output / "README.md").write_text(card, encoding="utf-8")


if __name__ == "__main__":
    main()
