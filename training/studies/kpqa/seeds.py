"""Train a recipe with several seeds, and measure how far the runs differ: the paper repeats every training five times.

    python -m training.studies.kpqa.seeds --recipe training/kpqa/paper.args --judgments JUDGMENTS --output_dir SEEDS

All other arguments go to train_kpqa.py. Finished runs are not repeated, an interrupted one is resumed.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.common import markdown_table, option
from training.kpqa import evaluate_kpqa
from training.studies.kpqa import ablations

RECIPES = Path(__file__).parents[2] / "kpqa"


@dataclass
class Arguments:
    """What is trained and measured; all other arguments are train_kpqa.py's and go to every run."""

    judgments: str = option("folder of the judgments, see evaluate_kpqa.py")
    output_dir: str = option("folder of the runs, one folder each")
    recipe: str = option("file of train_kpqa.py's arguments", str(RECIPES / "paper.args"))
    seeds: list[int] = option("seeds of the runs", [1, 2, 3, 4, 5])


def spread(runs: list[dict]) -> dict:
    """Return set -> metric -> mean and standard deviation of Pearson's r and Spearman's rho over runs.

    >>> spread([{"a": {"m": [0.4, 0.5]}}, {"a": {"m": [0.6, 0.5]}}])
    {'a': {'m': {'pearson': [0.5, 0.1414], 'spearman': [0.5, 0.0]}}}
    """
    found: dict = {}
    for name, metrics in runs[0].items():
        found[name] = {}
        for metric in metrics:
            values = np.array([run[name][metric] for run in runs])
            means, deviations = values.mean(axis=0), values.std(axis=0, ddof=1) if len(runs) > 1 else [0.0, 0.0]
            pairs = zip(("pearson", "spearman"), means, deviations, strict=True)
            found[name][metric] = {key: [round(float(m), 4), round(float(d), 4)] for key, m, d in pairs}
    return found


def main() -> None:
    """Train, measure, print the table and write seeds.json into the folder of the runs."""
    from genqa_metrics.core.checkpoint_validation import file_digest
    from genqa_metrics.kpqa.encoding import Encoder
    from genqa_metrics.kpqa.loading import load_models
    from transformers import HfArgumentParser

    args, more = HfArgumentParser(Arguments).parse_args_into_dataclasses(return_remaining_strings=True)
    digest, runs, signatures = file_digest(Path(args.recipe)), [], {}
    rows = {name: evaluate_kpqa.read_set(args.judgments, name) for name in evaluate_kpqa.SETS}
    human = {name: np.array([row["score"] for row in own]) for name, own in rows.items()}
    for seed in args.seeds:
        output = Path(args.output_dir) / f"seed-{seed}"
        ablations.train(output, ["--config", args.recipe], [*more, "--seed", str(seed)], digest)
        models = load_models(output / "final")
        scores = {name: evaluate_kpqa.metric_scores(own, Encoder(models)) for name, own in rows.items()}
        runs.append(
            {
                name: {metric: evaluate_kpqa.correlations(of_set[metric], human[name]) for metric in of_set}
                for name, of_set in scores.items()
            }
        )
        signatures[seed] = models.signature
    found = spread(runs)
    lines = [
        [metric, *("{:.3f} ± {:.3f} / {:.3f} ± {:.3f}".format(*v["pearson"], *v["spearman"]) for v in cells)]
        for metric in evaluate_kpqa.WEIGHTED
        for cells in [[found[name][metric] for name in found]]
    ]
    header = ["metric", *(name.removeprefix("kpqa_") for name in found)]
    print(f"Pearson / Spearman, mean ± standard deviation of {len(runs)} seeds\n\n{markdown_table(header, lines)}")
    result = {"seeds": args.seeds, "spread": found, "runs": runs, "recipe": digest, "checkpoints": signatures}
    files = [evaluate_kpqa.judgment_file(args.judgments, name) for name in rows]
    path = Path(args.output_dir) / "seeds.json"
    path.write_text(json.dumps(result | evaluate_kpqa.facts(__spec__.name, files), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
