"""Train a recipe with several seeds, and measure how far the runs differ: the paper repeats every training five times.

    python -m training.studies.kpqa.seeds --recipe training/kpqa/paper.args --judgments JUDGMENTS --output_dir SEEDS

All other arguments go to train_kpqa.py. Finished runs are not repeated, an interrupted one is resumed. Agreement with
people is measured with the metric's defaults and with `settings="paper"`, keyphrases on the rows held out (Table 10).
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.kpqa.encoding import Encoder
from genqa_metrics.kpqa.loading import load_models

from training.common import around_markers, markdown_table, option
from training.kpqa import evaluate_kpqa
from training.kpqa.runs import train_once
from training.studies.harness import Table
from training.studies.kpqa import settings

RECIPES = Path(__file__).parents[2] / "kpqa"


@dataclass
class Arguments:
    """What is trained and measured; all other arguments are train_kpqa.py's and go to every run."""

    judgments: str = option("folder of the judgments, see evaluate_kpqa.py")
    output_dir: str = option("folder of the runs, one folder each")
    recipe: str = option("file of train_kpqa.py's arguments", str(RECIPES / "paper.args"))
    seeds: list[int] = option("seeds of the runs", [1, 2, 3, 4, 5])
    write: str | None = option("Markdown file in which the tables are put; PLACE.json is put beside it", None)
    place: str = option("name of the marks between which the tables stand in that file", "seeds")


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


def agreement(rows: dict[str, list[dict]], folder: Path) -> tuple[dict, str]:
    """Return "default" and "paper" -> set -> metric -> [r, rho], and the signature of the predictor.

    Args:
        rows: set -> judged rows.
        folder: the predictor.
    """
    models = {layer: load_models(folder, embedding_layer=layer) for layer in (0, settings.PAPER_LAYER)}
    encoders = {layer: Encoder(one) for layer, one in models.items()}
    given = {key: value for key, value in settings.VARIANTS['settings="paper"'][1].items() if key != "layer"}
    found: dict = {"default": {}, "paper": {}}
    for name, own in rows.items():
        tokens, human = settings.encoded(own, encoders), np.array([row["score"] for row in own])
        scores = {
            "default": evaluate_kpqa.scores_of_tokens(own, tokens[0]),
            "paper": evaluate_kpqa.scores_of_tokens(own, tokens[settings.PAPER_LAYER], **given),
        }
        for way, of_set in scores.items():
            found[way][name] = {m: evaluate_kpqa.correlations(of_set[m], human) for m in of_set}
    return found, models[0].signature


def span_f1(folder: Path) -> dict[str, float]:
    """Return the F1 of whole keyphrases on the dev rows of a run, by source, from what the training wrote."""
    path = folder / "eval_results.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    ending = "_span_f1"
    return {name[len("eval_") : -len(ending)]: value for name, value in found.items() if name.endswith(ending)}


def tables(result: dict) -> str:
    """Return the Markdown tables of a result; those of one seed have no deviations."""
    count, parts = len(result["seeds"]), []
    several = count > 1
    form = "{:.3f} ± {:.3f} / {:.3f} ± {:.3f}" if several else "{0:.3f} / {2:.3f}"
    of = f", mean ± standard deviation of {count} seeds" if several else ", one seed"
    for way, found in result["spread"].items():
        lines = [
            [metric, *(form.format(*v["pearson"], *v["spearman"]) for v in cells)]
            for metric in evaluate_kpqa.WEIGHTED
            for cells in [[found[name][metric] for name in found]]
        ]
        named = "the metric's defaults" if way == "default" else f'settings="{way}"'
        parts.append(f"Pearson / Spearman with {named}{of}:")
        parts.append(markdown_table(["metric", *(name.removeprefix("kpqa_") for name in found)], lines))
    if result["span_f1"]:
        lines = [
            [name, f"{100 * np.mean(values):.2f}", *([f"{100 * np.std(values, ddof=1):.2f}"] if several else [])]
            for name, values in result["span_f1"].items()
        ]
        parts.append("F1 of whole keyphrases on rows that were not trained on:")
        parts.append(markdown_table(["rows", *(("mean", "standard deviation") if several else ("F1",))], lines))
    return "\n\n".join(parts)


def main() -> None:
    """Train, measure, print the tables, write seeds.json into the folder of the runs, and a page if asked."""
    from genqa_metrics.core.checkpoint_validation import file_digest
    from transformers import HfArgumentParser

    args, more = HfArgumentParser(Arguments).parse_args_into_dataclasses(return_remaining_strings=True)
    if args.write:
        around_markers(args.write, args.place)  # a wrong page fails before the work
    digest, runs, spans, signatures = file_digest(Path(args.recipe)), [], [], {}
    rows = {name: evaluate_kpqa.read_set(args.judgments, name) for name in evaluate_kpqa.SETS}
    for seed in args.seeds:
        output = Path(args.output_dir) / f"seed-{seed}"
        train_once(output, ["--config", args.recipe], [*more, "--seed", str(seed)], digest)
        found, signatures[seed] = agreement(rows, output / "final")
        runs.append(found)
        spans.append(span_f1(output))
    result = {
        "seeds": args.seeds,
        "spread": {way: spread([run[way] for run in runs]) for way in runs[0]},
        "span_f1": {name: [own[name] for own in spans] for name in spans[0]},
        "runs": runs,
        "recipe": {"file": Path(args.recipe).name, "SHA-256": digest},
        "checkpoints": signatures,
        **evaluate_kpqa.facts(__spec__.name, [evaluate_kpqa.judgment_file(args.judgments, name) for name in rows]),
    }
    text = tables(result)
    print(text)
    path = Path(args.output_dir) / "seeds.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if args.write:
        evaluate_kpqa.write_result(args.write, args.place, text, args.place, result)


TABLES = [
    Table("seeds", "studies/kpqa/results/seeds", tables),
]


if __name__ == "__main__":
    main()
