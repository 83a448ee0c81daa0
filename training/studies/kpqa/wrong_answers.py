"""Measure whether KPQA tells right answers from wrong ones that look right, under every setting.

    python -m training.studies.kpqa.wrong_answers --judgments WRITTEN --json FILE

The rows are no sample of what systems say: for every question there are right answers that look wrong beside wrong
ones that look right. The area under the curve is the share of pairs of a right and a wrong one that are ranked right.
"""

import itertools
from dataclasses import dataclass
from functools import partial

import numpy as np
from genqa_metrics.statistics.correlation import resampled_auc
from genqa_metrics.statistics.resampling import bootstrap, interval

from training.common import markdown_table, option
from training.kpqa import evaluate_kpqa as evaluation
from training.studies.harness import Output, Study
from training.studies.kpqa.settings import VARIANTS, encoded, load_layers, variant_scores


@dataclass
class Arguments(Output):
    """What is measured on what."""

    judgments: str = option("folder of NAME.dev.jsonl.gz with label and extra.form")
    name: str = option("name of the file", "written")
    checkpoint: str | None = option("predictor; the bundled one by default", None)
    resamples: int = option("bootstrap samples of questions for the 95%% intervals", 1000)


def parts_of(rows: list[dict]) -> dict[str, np.ndarray]:
    """Return name of a part -> (rows,) booleans."""
    short = np.array([row["extra"]["form"] == "short" for row in rows])
    several = np.array([len(row["references"]) > 1 for row in rows])
    return {"short, several references": short & several, "short, one reference": short & ~several, "long": ~short}


def with_ends(values: list[float]) -> str:
    """Return a value with the ends of its interval, if there are any.

    >>> with_ends([0.5, 0.25, 0.75]), with_ends([0.5])
    ('0.500 (0.25 to 0.75)', '0.500 (-)')
    """
    return "{:.3f} ({:.2f} to {:.2f})".format(*values) if values[1:] else f"{values[0]:.3f} (-)"


def text(result: dict) -> str:
    """Return the table of all settings."""
    parts, found = result["rows"], result["auc"]
    lines = [
        [label, metric, *(with_ends(values[part]) for part in parts)]
        for label, metrics in found.items()
        for metric, values in metrics.items()
    ]
    header = ["setting", "metric", *(f"{part} ({count} rows)" for part, count in parts.items())]
    title = 'Area under the curve with 95% intervals, "-" where questions are too few for one; 0.5 is chance.'
    return f"{title}\n\n{markdown_table(header, lines)}"


def study(args: Arguments) -> dict:
    """Return the area under the curve by setting, metric and part."""
    (judged,) = evaluation.read_judgments(args.judgments, [args.name], "label").values()
    models, encoders = load_layers(args.checkpoint)
    tokens, parts, found = encoded(judged.rows, encoders), parts_of(judged.rows), {}
    parts = {part: own for part, own in parts.items() if own.any()}
    for label, (metrics, settings) in {"default": (evaluation.METRICS, {}), **VARIANTS}.items():
        scores = variant_scores(judged.rows, tokens, settings)
        found[label] = {metric: {} for metric in metrics}
        for metric, (part, own) in itertools.product(metrics, parts.items()):
            questions = np.unique(judged.clusters[own], return_inverse=True)[1]
            area = partial(resampled_auc, scores[metric][own], judged.human[own] == 1)
            samples = bootstrap({"auc": area}, questions, args.resamples, evaluation.SEED)["auc"]
            ends = interval(samples, questions.max() + 1)
            shown = [area(np.ones((1, own.sum())))[0], *(ends if np.isfinite(ends).all() else ())]
            found[label][metric][part] = [round(float(value), 4) for value in shown]
    result = {"auc": found, "rows": {part: int(own.sum()) for part, own in parts.items()}}
    return result | {"checkpoint": models.signature} | evaluation.facts(args.judgments, [args.name])


STUDY = Study(__spec__.name, Arguments, study, text, {"written": "written"})

if __name__ == "__main__":
    STUDY.main()
