"""Make a trained generator small enough to publish, and write its card; `hf upload` pushes the folder to the Hub."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from genqa_metrics.core.checkpoints import file_digest

from training.common import option, parsed
from training.question_generation.prepare_pairs import NOT_STATED
from training.studies.harness import read, rendered

MAX_BYTES = 25 * 2**20


@dataclass
class Arguments:
    """What is written where."""

    model: str = option("folder `final` of a training")
    output_dir: str = option("folder that is written")
    pairs: str | None = option("NAME.json of prepare_pairs.py, for the card", None)


def export(args: Arguments) -> Path:
    """Write config.json, model.safetensors (25 MB at most) and README.md into a folder, and return it."""
    from training.question_generation.generator import load, save

    source, folder = Path(args.model), Path(args.output_dir)
    model = load(source)
    shutil.rmtree(folder, ignore_errors=True)
    save(model, folder, small=True)
    path = folder / "model.safetensors"
    if (size := path.stat().st_size) > MAX_BYTES:
        shutil.rmtree(folder)
        raise ValueError(
            f"model: {size / 2**20:.1f} MB, more than {MAX_BYTES // 2**20}; train with a smaller --hidden, a larger "
            "--min_count or --output vectors"
        )
    facts, pairs = read(source / "train.json"), read(args.pairs) if args.pairs else None
    arguments = {n: v for n, v in facts["arguments"].items() if n not in ("data_dir", "cache", "encoder")}
    card = {"config": model.config, "facts": facts, "pairs": pairs, "digest": file_digest(path)}
    card |= {"arguments": json.dumps(arguments, indent=1), "repository": folder.name}
    text = rendered("question_generation/card.md.j2", **card, NOT_STATED=NOT_STATED)
    (folder / "README.md").write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    print(export(parsed(Arguments)))
