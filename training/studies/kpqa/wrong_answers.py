"""Measure whether KPQA tells right answers from wrong ones that look right, under every setting.

    python -m training.studies.kpqa.wrong_answers --judgments WRITTEN --write tables.md

The rows are no sample of what systems say: for every question there are right answers that look wrong beside wrong
ones that look right. The area under the curve is the share of pairs of a right and a wrong one that are ranked right.
"""

from dataclasses import dataclass

import numpy as np
from genqa_metrics.toolkit.analysis.resampling import bootstrap_counts, interval

from training.common import markdown_table, option, parsed
from training.kpqa import evaluate_kpqa as evaluation
from training.studies.kpqa.settings import PAPER_LAYER, VARIANTS, encoded


@dataclass
class Arguments:
    """What is measured on what."""

    judgments: str = option("folder of NAME.dev.jsonl.gz with label and extra.form")
    name: str = option("name of the file", "written")
    checkpoint: str | None = option("predictor; the bundled one by default", None)
    resamples: int = option("bootstrap samples of questions for the 95%% intervals", 1000)
    write: str | None = option("Markdown file in which the table is put; written.json is put beside it", None)


def auc(scores: np.ndarray, labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the area under the ROC curve in bootstrap samples, ties counted half.

    Args:
        scores: (rows,) scores.
        labels: (rows,) 1 right, 0 wrong.
        counts: (samples, rows) how often a row is in a sample.

    >>> auc(np.array([0.1, 0.5, 0.5, 0.9]), np.array([0, 0, 1, 1]), np.ones((1, 4))).tolist()
    [0.875]
    """
    right, wrong = labels == 1, labels == 0
    better = np.sign(scores[right][:, None] - scores[wrong][None, :]) / 2 + 0.5
    total = counts[:, right].sum(axis=1) * counts[:, wrong].sum(axis=1)
    return np.einsum("sr,rw,sw->s", counts[:, right], better, counts[:, wrong], optimize=True) / total


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


def main() -> None:
    """Measure, print the table and write it if asked."""
    from genqa_metrics.kpqa.encoding import Encoder
    from genqa_metrics.kpqa.loading import load_models

    args = parsed(Arguments)
    rows = evaluation.read_set(args.judgments, args.name)
    models = {layer: load_models(args.checkpoint, embedding_layer=layer) for layer in (0, PAPER_LAYER)}
    tokens = encoded(rows, {layer: Encoder(one) for layer, one in models.items()})
    labels, clusters = np.array([row["label"] for row in rows]), evaluation.question_numbers(rows)
    found: dict = {}
    for label, (metrics, settings) in {"default": (evaluation.METRICS, {}), **VARIANTS}.items():
        given = {key: value for key, value in settings.items() if key != "layer"}
        scores = evaluation.scores_of_tokens(rows, tokens[settings.get("layer", 0)], **given)
        found[label] = {metric: {} for metric in metrics}
        for part, own in parts_of(rows).items():
            if not own.any():
                continue
            questions = np.unique(clusters[own], return_inverse=True)[1]
            for metric in metrics:
                values = scores[metric][own], labels[own]
                samples = [
                    auc(*values, counts) for counts in bootstrap_counts(questions, args.resamples, evaluation.SEED)
                ]
                ends = interval(np.concatenate(samples), questions.max() + 1)
                whole = auc(*values, np.ones((1, own.sum())))[0]
                shown = (whole, *ends) if np.isfinite(ends).all() else (whole,)  # too few questions for an interval
                found[label][metric][part] = [round(float(value), 4) for value in shown]
    parts = {part: int(own.sum()) for part, own in parts_of(rows).items() if own.any()}
    lines = [
        [label, metric, *(with_ends(values[part]) for part in parts)]
        for label, metrics in found.items()
        for metric, values in metrics.items()
    ]
    header = ["setting", "metric", *(f"{part} ({count} rows)" for part, count in parts.items())]
    title = 'Area under the curve with 95% intervals, "-" where questions are too few for one; 0.5 is chance.'
    text = f"{title}\n\n{markdown_table(header, lines)}"
    print(text)
    if args.write:
        result = {"auc": found, "rows": parts, "checkpoint": models[0].signature}
        result |= evaluation.facts(__spec__.name, [evaluation.judgment_file(args.judgments, args.name)])
        evaluation.write_result(args.write, "written", text, "written", result)


if __name__ == "__main__":
    main()
