"""The model card of a judge: data with digests and licences, settings, results."""

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

from training.common import TRAINING_SETTINGS

_CARD = Path(__file__).with_name("card.txt").read_text(encoding="utf-8")

_NOT_STATED = "not stated"


def commands(start: str | None) -> str:
    """Return the command of this run, after those of the checkpoint that it started from; of paths only the ends."""
    words = [f"training/ava/{Path(word).name}" if Path(word).is_file() else word for word in sys.argv[1:]]
    words = ["/".join(Path(word).parts[-2:]) if Path(word).is_absolute() else word for word in words]
    before, card = "", Path(start or "", "README.md")
    if start and card.is_file() and "training.ava" in (text := card.read_text(encoding="utf-8")):  # a card of ours
        before = text.partition("```bash\n")[2].partition("```")[0]
    return before + shlex.join(["python", "-m", "training.ava.train_ava", *words])


def write_card(folder: Path, args, training, facts: list[dict], scores: dict[str, float]) -> None:
    """Write README.md into the folder of a checkpoint.

    Args:
        folder: the checkpoint.
        args: arguments of the training script.
        training: arguments of the Trainer.
        facts: `name`, `rows`, `weight` and `group` of every source: judged, as2, spans, "" for what is made of them.
        scores: results of `Trainer.evaluate`, eval_<rows>_<score>.
    """
    from genqa_metrics.core.checkpoint_validation import file_digest
    from genqa_metrics.core.checkpoints import checkpoint_digest

    from training.common import local_file

    licences = json.loads(Path(args.licences).read_text(encoding="utf-8")) if args.licences else {}
    lines, unlicensed = [], []
    for fact in facts:
        path = local_file(fact["name"], getattr(args, f"{fact['group']}_dir")) if fact["group"] else None
        licence = licences.get(fact["group"], {}).get(fact["name"].split(".")[0], "see the source")
        if licence.startswith(_NOT_STATED):
            unlicensed.append(fact["name"])
        cells = [fact["name"], str(fact["rows"]), f"{fact['weight']:g}"]
        cells += [licence if fact["group"] else "", f"`{file_digest(path)}`" if path else ""]
        lines.append(f"| {' | '.join(cells)} |")
    left_out = ("licences", "dev", "as2_dev", "encoder", "start")
    left_out += tuple(f"{group}{end}" for group in ("judged", "pairs", "as2", "spans") for end in ("", "_dir"))
    settings = {name: value for name, value in asdict(args).items() if name not in left_out}
    settings |= {name: getattr(training, name) for name in TRAINING_SETTINGS}
    names = [name[len("eval_") : -len("_pearson")] for name in scores if name.endswith("_pearson")]
    table = ["| rows | accuracy | F1 | AUC | Pearson |", "| --- | --- | --- | --- | --- |"]
    for name in names:
        values = [scores.get(f"eval_{name}_{score}") for score in ("accuracy", "f1", "auc", "pearson")]
        table.append(f"| {name} | " + " | ".join("" if v is None else f"{v:.3f}" for v in values) + " |")
    card = _CARD.format(
        encoder=args.encoder if "/" in args.encoder and not Path(args.encoder).is_dir() else "own encoder",
        library="peft" if args.lora_rank or args.fold_rank else "transformers",
        configuration=args.configuration,
        unlicensed=(
            f"\n**Some training data come without a stated licence**: {', '.join(unlicensed)}. See the table below.\n"
            if unlicensed
            else ""
        ),
        seed=training.seed,
        commands=commands(args.start),
        weights=checkpoint_digest(folder),
        sources="\n".join(lines),
        settings=json.dumps(settings, indent=2, default=str),
        scores="\n".join(table if names else ["Not measured yet: see `training/ava/evaluate_ava.py`."]),
    )
    (folder / "README.md").write_text(card, encoding="utf-8")
