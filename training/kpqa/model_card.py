"""The model card of a keyphrase predictor: data with digests and licences, settings, results."""

import json
from dataclasses import asdict
from pathlib import Path

from training.common import TRAINING_SETTINGS, local_file, markdown_table

_CARD = Path(__file__).with_name("card.txt").read_text(encoding="utf-8")


def write_card(folder: Path, args, training, facts: list[dict], scores: dict[str, float]) -> None:
    """Write README.md into the folder of a checkpoint.

    Args:
        folder: the checkpoint.
        args: arguments of the training script.
        training: arguments of the Trainer.
        facts: `name`, `rows` and `weight` of every source.
        scores: results of `Trainer.evaluate`, eval_<rows>_<score>.
    """
    from genqa_metrics.core.checkpoint_validation import file_digest
    from genqa_metrics.core.checkpoints import checkpoint_digest

    licences = json.loads(Path(args.licences).read_text(encoding="utf-8")) if args.licences else {}
    rows = []
    for fact in facts:
        path = local_file(fact["name"], args.data_dir)
        digest = f"`{file_digest(path)}`" if path else "from the Hub"
        licence = licences.get(fact["name"], licences.get(fact["name"].split(".")[0], "see the source"))
        rows.append([fact["name"], fact["rows"], f"{fact['weight']:g}", licence, digest])
    left_out = ("sources", "data_dir", "licences", "dev_sources", "encoder")
    settings = {name: value for name, value in asdict(args).items() if name not in left_out}
    if args.coreference:
        settings["coreference"] = f"{Path(args.coreference).name}, SHA-256 {file_digest(Path(args.coreference))}"
    settings |= {name: getattr(training, name) for name in TRAINING_SETTINGS}
    names = [name[len("eval_") : -len("_span_f1")] for name in scores if name.endswith("_span_f1")]
    kinds = ("precision", "recall", "f1", "span_f1")
    results = [[name, *(f"{scores[f'eval_{name}_{kind}']:.3f}" for kind in kinds)] for name in names]
    yes_no = f"In addition {args.yes_no} yes/no rows per pass, made from their sentences.\n\n" if args.yes_no else ""
    card = _CARD.format(
        encoder=args.encoder if "/" in args.encoder and not Path(args.encoder).is_dir() else "own encoder",
        library="peft" if args.lora_rank else "transformers",
        seed=training.seed,
        weights=checkpoint_digest(folder),
        sources=markdown_table(["source", "rows", "weight", "licence", "SHA-256 of the file"], rows),
        yes_no=yes_no,
        settings=json.dumps(settings, indent=2, default=str),
        scores=markdown_table(["rows", "precision", "recall", "F1", "F1 of whole keyphrases"], results),
    )
    (folder / "README.md").write_text(card, encoding="utf-8")
