"""Train a recipe with several seeds, and measure how far the runs differ: the paper repeats every training five times.

All other arguments go to train_kpqa.py. Finished runs are not repeated, an interrupted one is resumed. Agreement with
people is measured with the metric's defaults and with `settings="paper"`, keyphrases on the rows held out (Table 10).
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.common import markdown_table, option, train_once
from training.kpqa import evaluate_kpqa
from training.studies.harness import Output, Study
from training.studies.kpqa import settings

RECIPES = Path(__file__).parents[2] / "kpqa"


@dataclass
class Arguments(Output):
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
    result: dict = {}
    for name, metrics in runs[0].items():
        result[name] = {}
        for metric in metrics:
            values = np.array([run[name][metric] for run in runs])
            means, deviations = values.mean(axis=0), values.std(axis=0, ddof=1) if len(runs) > 1 else [0.0, 0.0]
            pairs = zip(("pearson", "spearman"), means, deviations, strict=True)
            result[name][metric] = {key: [round(float(m), 4), round(float(d), 4)] for key, m, d in pairs}
    return result


def agreement(judgments: dict[str, evaluate_kpqa.Judgments], folder: Path) -> tuple[dict, str]:
    """Return "default" and "paper" -> set -> metric -> [r, rho] of a predictor, and its signature."""
    models, encoders = settings.load_layers(folder)
    ways = {"default": {}, "paper": settings.VARIANTS['settings="paper"'][1]}
    values: dict = {way: {} for way in ways}
    for name, judged in judgments.items():
        tokens = settings.encoded(judged.rows, encoders)
        for way, given in ways.items():
            scores = settings.variant_scores(judged.rows, tokens, given)
            values[way][name] = {m: evaluate_kpqa.correlations(scores[m], judged.human) for m in scores}
    return values, models.signature


def span_f1(folder: Path) -> dict[str, float]:
    """Return the F1 of whole keyphrases on the dev rows of a run, by source, from what the training wrote."""
    path = folder / "eval_results.json"
    content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    ending = "_span_f1"
    return {name[len("eval_") : -len(ending)]: value for name, value in content.items() if name.endswith(ending)}


def tables(result: dict) -> str:
    """Return the Markdown tables of a result; those of one seed have no deviations."""
    count, parts = len(result["seeds"]), []
    several = count > 1
    form = "{:.3f} ± {:.3f} / {:.3f} ± {:.3f}" if several else "{0:.3f} / {2:.3f}"
    of = f", mean ± standard deviation of {count} seeds" if several else ", one seed"
    for way, value in result["spread"].items():
        lines = [
            [metric, *(form.format(*v["pearson"], *v["spearman"]) for v in cells)]
            for metric in evaluate_kpqa.WEIGHTED
            for cells in [[value[name][metric] for name in value]]
        ]
        named = "the metric's defaults" if way == "default" else f'settings="{way}"'
        parts.append(f"Pearson / Spearman with {named}{of}:")
        parts.append(markdown_table(["metric", *(name.removeprefix("kpqa_") for name in value)], lines))
    if result["span_f1"]:
        lines = [
            [name, f"{100 * np.mean(values):.2f}", *([f"{100 * np.std(values, ddof=1):.2f}"] if several else [])]
            for name, values in result["span_f1"].items()
        ]
        parts.append("F1 of whole keyphrases on rows that were not trained on:")
        parts.append(markdown_table(["rows", *(("mean", "standard deviation") if several else ("F1",))], lines))
    return "\n\n".join(parts)


def study(args: Arguments, more: list[str]) -> dict:
    """Return the agreement of all runs; they are trained if they are not there."""
    from genqa_metrics.core.checkpoint_validation import file_digest

    digest, runs, spans, signatures = file_digest(Path(args.recipe)), [], [], {}
    judgments = evaluate_kpqa.read_judgments(args.judgments, evaluate_kpqa.SETS)
    for seed in args.seeds:
        output = Path(args.output_dir) / f"seed-{seed}"
        train_once("kpqa.train_kpqa", output, ["--config", args.recipe], [*more, "--seed", str(seed)], digest)
        results, signatures[seed] = agreement(judgments, output / "final")
        runs.append(results)
        spans.append(span_f1(output))
    result = {
        "seeds": args.seeds,
        "spread": {way: spread([run[way] for run in runs]) for way in runs[0]},
        "span_f1": {name: [own[name] for own in spans] for name in spans[0]},
        "runs": runs,
        "recipe": {"file": Path(args.recipe).name, "SHA-256": digest},
        "checkpoints": signatures,
    }
    return result | evaluate_kpqa.facts(args.judgments, judgments)


STUDY = Study(__spec__.name, Arguments, study, tables, {"seeds": "seeds"}, more=True)

if __name__ == "__main__":
    STUDY.main()
