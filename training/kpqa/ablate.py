"""Ablations of the keyphrase predictor, as Table 4 of Lee et al. (2021): without the question, without each source group.

    python training/kpqa/ablate.py --data_dir DATA --judgments JUDGMENTS --output_dir RUNS

Every run is train_kpqa.py with the recipe of the bundled checkpoint for the same number of steps; finished runs are not
repeated. Each is measured with evaluate_kpqa.py's functions on all the judgments.
"""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
GROUPS = {
    "language-model answers": ("evouna", "llm_response"),
    "SQuAD": ("squad",),
    "QAMR, QA-SRL, QANom": ("qamr", "qasrl_gs", "qanom"),
    "Natural Questions": ("nq_oracle", "nq_swap", "qed"),
    "TREC, COVID-QA": ("trecqa", "covidqa"),
    "stories and talks": ("fairytaleqa", "friendsqa"),
}


@dataclass
class Arguments:
    """What is trained and measured; other arguments are those of train_kpqa.py and go to every run."""

    data_dir: str = field(metadata={"help": "folder of the training rows"})
    output_dir: str = field(metadata={"help": "folder of the runs, one folder each"})
    max_steps: int = field(default=500, metadata={"help": "steps of every run"})


def runs(sources: list[str]) -> dict[str, list[str]]:
    """Return the name of every run -> what it adds to the arguments of training.

    Args:
        sources: names of the recipe's sources; a name up to its first dot says which group it belongs to.
    """
    names = {"full": [], "without the question": ["--no_question"]}
    for group, members in GROUPS.items():
        names[f"without {group}"] = ["--exclude", *(s for s in sources if s.split(".")[0] in members)]
    return names | {"without yes/no rows": ["--yes_no", "0"]}


def main() -> None:
    from transformers import HfArgumentParser

    args, more = HfArgumentParser(Arguments).parse_args_into_dataclasses(return_remaining_strings=True)
    words = (FOLDER / "bundled.args").read_text(encoding="utf-8").split("--sources ")[1].split(" --")[0].split("--")[0].split()
    sources = [word.split("=")[0] for word in words]
    for name, changes in runs(sources).items():
        output = Path(args.output_dir) / name.replace(" ", "_").replace("/", "_").replace(",", "")
        if (output / "final/README.md").is_file():
            continue
        command = [sys.executable, str(FOLDER / "train_kpqa.py"), "--config", str(FOLDER / "bundled.args")]
        command += ["--data_dir", args.data_dir, "--output_dir", str(output), "--max_steps", str(args.max_steps), *changes, *more]
        print(" ".join(command), flush=True)
        subprocess.run(command, check=True, stdout=sys.stderr)


if __name__ == "__main__":
    main()
