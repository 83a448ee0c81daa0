"""Model cards of judges and of keyphrase predictors: data with digests and licences, settings, results."""

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from genqa_metrics.core.checkpoints import checkpoint_digest, file_digest

from training.common import local_file
from training.data import data_sets
from training.studies.harness import rendered

NOT_STATED = "not stated"
# Settings of transformers.TrainingArguments that a card lists.
TRAINING_SETTINGS = (
    "learning_rate per_device_train_batch_size num_train_epochs max_steps lr_scheduler_type warmup_steps weight_decay "
    "adam_beta1 adam_beta2 bf16 train_sampling_strategy seed"
).split()
TITLES = {  # score of `Trainer.evaluate` -> its column; every dev set has the last one
    "ava": {"accuracy": "accuracy", "f1": "F1", "auc": "AUC", "pearson": "Pearson"},
    "kpqa": {"precision": "precision", "recall": "recall", "f1": "F1", "span_f1": "F1 of whole keyphrases"},
}
NOT_LISTED = (
    "encoder start dev as2_dev dev_sources sources data_dir judged judged_dir pairs pairs_dir as2 as2_dir "
    "spans spans_dir"
).split()  # arguments that the card shows elsewhere, or that are folders


def write_card(
    folder: Path, metric: str, args, training, facts: Sequence[Mapping], scores: Mapping[str, float]
) -> None:
    """Write README.md into the folder of a checkpoint, of the template card.md.j2 of the training of ava or kpqa.

    `facts` have `name`, `rows` and `weight` of every source; for a judge also its `group`, "" for what is made of
    others. `scores` are results of `Trainer.evaluate`, eval_<rows>_<score>.
    """
    settings = {name: setting for name, setting in asdict(args).items() if name not in NOT_LISTED}
    settings |= {name: getattr(training, name) for name in TRAINING_SETTINGS}
    sources = [dict(fact) | _origin(args, fact) for fact in facts]
    text = rendered(
        f"{metric}/card.md.j2",
        args=args,
        training=training,
        scores=scores,
        titles=TITLES[metric],
        sources=sources,
        weights=checkpoint_digest(folder),
        is_folder=Path(args.encoder).is_dir(),
        settings=json.dumps(settings, indent=2, default=str),
        commands=_commands(getattr(args, "start", None)),
        NOT_STATED={source["licence"] for source in sources if NOT_STATED in source["licence"]},
    )
    (folder / "README.md").write_text(text, encoding="utf-8")


def _origin(args, fact: Mapping) -> dict[str, str]:
    """Return digest of a source, and its licence if `training/data.csv` has a file with this digest."""
    name, group = fact["name"], fact.get("group")
    if group == "":
        return {"licence": "", "digest": ""}
    path = local_file(name, getattr(args, f"{group}_dir" if group else "data_dir"))
    if path is None:
        return {"licence": "see the source", "digest": "from the Hub"}
    licences = {data_set.sha256: data_set.licence for data_set in data_sets()}
    return {"licence": licences.get(file_digest(path), "see the source"), "digest": f"`{file_digest(path)}`"}


def _commands(start: str | None) -> str:
    """Return the command of this run, after those of the checkpoint that it started from; of paths only the ends."""
    words = [f"training/ava/{Path(word).name}" if Path(word).is_file() else word for word in sys.argv[1:]]
    words = ["/".join(Path(word).parts[-2:]) if Path(word).is_absolute() else word for word in words]
    card = Path(start, "README.md") if start else None
    text = card.read_text(encoding="utf-8") if card and card.is_file() else ""
    before = text.partition("```bash\n")[2].partition("```")[0] if "training.ava" in text else ""  # a card of ours
    return before + shlex.join(["python", "-m", "training.ava.train_ava", *words])
