"""Model cards of judges and of keyphrase predictors: data with digests and licences, settings, results."""

import json
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from training.common import local_file, markdown_table

HERE = Path(__file__).parent
NOT_STATED = "not stated"
# Settings of transformers.TrainingArguments that a card lists.
TRAINING_SETTINGS = (
    "learning_rate per_device_train_batch_size num_train_epochs max_steps lr_scheduler_type warmup_steps weight_decay "
    "adam_beta1 adam_beta2 bf16 train_sampling_strategy seed"
).split()


def _write(folder: Path, metric: str, args, training, left_out: Collection[str], **facts: object) -> None:
    """Write README.md into the folder of a checkpoint, of the template card.txt of the metric's training.

    Args:
        folder: the checkpoint.
        metric: ava or kpqa.
        args: arguments of the training script.
        training: arguments of the Trainer.
        left_out: arguments that the card does not list.
        **facts: what else the template has.
    """
    from genqa_metrics.core.checkpoints import checkpoint_digest

    settings = {name: value for name, value in asdict(args).items() if name not in left_out}
    settings |= {name: getattr(training, name) for name in TRAINING_SETTINGS}
    card = (HERE / metric / "card.txt").read_text(encoding="utf-8").format(
        encoder=args.encoder if "/" in args.encoder and not Path(args.encoder).is_dir() else "own encoder",
        library="peft" if args.lora_rank or getattr(args, "fold_rank", 0) else "transformers",
        seed=training.seed,
        weights=checkpoint_digest(folder),
        settings=json.dumps(settings, indent=2, default=str),
        **facts,
    )  # fmt: skip
    (folder / "README.md").write_text(card, encoding="utf-8")


def _licences(path: str | None) -> dict:
    return json.loads(Path(path).read_text(encoding="utf-8")) if path else {}


def _digest(name: str, folder: str | Sequence[str] | None) -> str:
    from genqa_metrics.core.checkpoint_validation import file_digest

    path = local_file(name, folder)
    return f"`{file_digest(path)}`" if path else ""


def _results(scores: Mapping[str, float], titles: Mapping[str, str], ending: str) -> str:
    """Return results of `Trainer.evaluate`, eval_<rows>_<score>, as a table, empty where none was measured."""
    names = [name[len("eval_") : -len(ending)] for name in scores if name.endswith(ending)]
    items = [[name, *(scores.get(f"eval_{name}_{score}") for score in titles)] for name in names]
    rows = [[name, *("" if value is None else f"{value:.3f}" for value in values)] for name, *values in items]
    return markdown_table(["rows", *titles.values()], rows)


def predictor_card(folder: Path, args, training, facts: Sequence[Mapping], scores: Mapping[str, float]) -> None:
    """Write the card of a keyphrase predictor, see `_write`; `facts`: `name`, `rows` and `weight` of every source."""
    licences, rows = _licences(args.licences), []
    for fact in facts:
        name = fact["name"]
        licence = licences.get(name, licences.get(name.split(".")[0], "see the source"))
        digest = _digest(name, args.data_dir) or "from the Hub"
        rows.append([name, fact["rows"], f"{fact['weight']:g}", licence, digest])
    titles = {"precision": "precision", "recall": "recall", "f1": "F1", "span_f1": "F1 of whole keyphrases"}
    _write(
        folder,
        "kpqa",
        args,
        training,
        ("sources", "data_dir", "licences", "dev_sources", "encoder"),
        sources=markdown_table(["source", "rows", "weight", "licence", "SHA-256 of the file"], rows),
        yes_no=f"In addition {args.yes_no} yes/no rows per pass, made from their sentences.\n\n" * bool(args.yes_no),
        scores=_results(scores, titles, "_span_f1"),
    )


def judge_card(folder: Path, args, training, facts: Sequence[Mapping], scores: Mapping[str, float]) -> None:
    """Write the card of a judge, see `_write`.

    `facts`: `name`, `rows`, `weight` and `group` of every source: judged, as2, spans, "" for what is made of them.
    """
    licences, rows, unlicensed = _licences(args.licences), [], []
    for fact in facts:
        name, group = fact["name"], fact["group"]
        licence = licences.get(group, {}).get(name.split(".")[0], "see the source") if group else ""
        if licence.startswith(NOT_STATED):
            unlicensed.append(name)
        digest = _digest(name, getattr(args, f"{group}_dir")) if group else ""
        rows.append([name, fact["rows"], f"{fact['weight']:g}", licence, digest])
    titles = {"accuracy": "accuracy", "f1": "F1", "auc": "AUC", "pearson": "Pearson"}
    table = _results(scores, titles, "_pearson")
    folders = tuple(f"{group}{end}" for group in ("judged", "pairs", "as2", "spans") for end in ("", "_dir"))
    warning = (
        f"\n**Some training data come without a stated licence**: {', '.join(unlicensed)}. See the table below.\n"
    )
    _write(
        folder,
        "ava",
        args,
        training,
        ("licences", "dev", "as2_dev", "encoder", "start", *folders),
        configuration=args.configuration,
        unlicensed=warning * bool(unlicensed),
        commands=_commands(args.start),
        sources="\n".join(f"| {' | '.join(map(str, row))} |" for row in rows),
        scores=table
        if any(name.endswith("_pearson") for name in scores)
        else "Not measured yet: see `training/ava/evaluate_ava.py`.",
    )


def _commands(start: str | None) -> str:
    """Return the command of this run, after those of the checkpoint that it started from; of paths only the ends."""
    words = [f"training/ava/{Path(word).name}" if Path(word).is_file() else word for word in sys.argv[1:]]
    words = ["/".join(Path(word).parts[-2:]) if Path(word).is_absolute() else word for word in words]
    before, card = "", Path(start or "", "README.md")
    if start and card.is_file() and "training.ava" in (text := card.read_text(encoding="utf-8")):  # a card of ours
        before = text.partition("```bash\n")[2].partition("```")[0]
    return before + shlex.join(["python", "-m", "training.ava.train_ava", *words])
