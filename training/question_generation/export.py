"""Make a trained generator small enough to publish, write its card, and push both to the Hub if asked."""

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
    hub_model_id: str | None = option("push to this repository of the Hub", None)


def export(args: Arguments) -> Path:
    """Write config.json, model.safetensors and README.md, 25 MB at most, and push them if a repository is named."""
    from training.question_generation.generator import load, save

    source, folder = Path(args.model), Path(args.output_dir)
    model = load(source)
    if args.hub_model_id and Path(model.config.encoder).is_dir():
        raise ValueError(
            f"model: its encoder is the folder {model.config.encoder}, which nobody else has; train with a Hub id"
        )
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
    card |= {"arguments": json.dumps(arguments, indent=1), "repository": args.hub_model_id or folder.name}
    text = rendered("question_generation/card.md.j2", **card, NOT_STATED=NOT_STATED)
    (folder / "README.md").write_text(text, encoding="utf-8")
    if args.hub_model_id:
        from huggingface_hub import HfApi

        api = HfApi()
        api.create_repo(args.hub_model_id, exist_ok=True)
        where = {"repo_id": args.hub_model_id, "folder_path": folder}
        print(api.upload_folder(**where, commit_message="Publish the generator").commit_url, flush=True)
    return folder


if __name__ == "__main__":
    print(export(parsed(Arguments)))
