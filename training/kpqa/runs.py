"""Runs of train_kpqa.py in folders of their own: a finished one is not repeated, an interrupted one is resumed."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def train_once(output: Path, where: Sequence[str], settings: Sequence[str], recipe: str) -> None:
    """Train one run unless it is finished.

    Args:
        output: folder of the run.
        where: arguments of training that say where files are.
        settings: all other arguments.
        recipe: digest of the recipe.

    Raises:
        ValueError: if the folder holds a run with another recipe or other settings.
    """
    record = output / "settings.json"
    if record.is_file() and json.loads(record.read_text(encoding="utf-8")) != [recipe, *settings]:
        raise ValueError(f"output_dir: {output} holds a run with other settings; delete it or take another folder")
    if (output / "final/README.md").is_file():
        return
    output.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps([recipe, *settings]), encoding="utf-8")
    print(f"training in {output}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "training.kpqa.train_kpqa", *where, *settings, "--output_dir", str(output)]
    subprocess.run(command, check=True, stdout=sys.stderr)
