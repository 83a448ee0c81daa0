"""Compare the paper's equations as printed, its published code and other settings of KPQA with the defaults.

    python -m training.studies.kpqa.settings --judgments JUDGMENTS --write tables.md

Agreement with human judgments under every setting, the difference to the default with a paired bootstrap, and which
differences are real: Holm's correction over all of them, at 0.05.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from genqa_metrics.toolkit.analysis import correlation as agreement
from genqa_metrics.toolkit.analysis.resampling import adjust_p_values, bootstrap, bootstrap_p_values, interval

from training.common import markdown_table, option, parsed
from training.kpqa import evaluate_kpqa as evaluation

PAPER_LAYER = 1
# Setting -> the metrics that it changes, and what it is: settings of `compute`, and "layer".
VARIANTS = {
    "rouge_weights=candidate (eq. 5)": (("rougeL_kpqa",), {"rouge_weights": "candidate"}),
    "rouge_weights=code": (("rougeL_kpqa",), {"rouge_weights": "code"}),
    "negation=False": (("bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa"), {"negation": False}),
    "values=False": (("bertscore_kpqa",), {"values": False}),
    "embedding_layer=1": (("bertscore", "bertscore_kpqa"), {"layer": PAPER_LAYER}),
    "idf=True": (("bertscore",), {"idf": True}),
    'settings="paper"': (
        ("bertscore", "bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa"),
        {"rouge_weights": "candidate", "negation": False, "values": False, "idf": True, "layer": PAPER_LAYER},
    ),
    "published code, layer 1": (
        ("bertscore", "bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa"),
        {"rouge_weights": "code", "negation": False, "values": False, "idf": True, "layer": PAPER_LAYER},
    ),
}
SIGNIFICANT = 0.05


@dataclass
class Arguments:
    """What is measured on what."""

    judgments: str = option("folder of the judgments, see evaluate_kpqa.py")
    checkpoint: str | None = option("predictor; the bundled one by default", None)
    sets: list[str] = option("names of the files", list(evaluation.SETS))
    resamples: int = option("bootstrap samples", 5000)
    write: str | None = option("Markdown file in which the table is put; variants.json is put beside it", None)


def encoded(rows: list[dict], encoders: dict) -> dict:
    """Return layer -> the tokens of all candidates and references, the weights from one run of the predictor.

    Args:
        rows: judged rows.
        encoders: layer -> `Encoder`, the first of which gives the weights.
    """
    from genqa_metrics.kpqa.encoding import aligned

    pairs = evaluation.question_text_pairs(rows)
    first = next(iter(encoders))
    tokens, offsets = encoders[first].tokens(pairs)
    found = {first: tokens}
    for layer in list(encoders)[1:]:
        texts = list(dict.fromkeys(text for _, text in pairs))
        vectors = dict(zip(texts, encoders[layer].vectors(texts), strict=True))
        found[layer] = [
            one._replace(vectors=aligned(*vectors[text], place))
            for one, (_, text), place in zip(tokens, pairs, offsets, strict=True)
        ]
    return found


def differences(base: dict, variant: dict, metrics: tuple, human, clusters, resamples: int) -> dict:
    """Return metric -> Pearson, Spearman, difference of Pearson's r to the default with interval, and its p-value."""
    found = {}
    for metric in metrics:
        statistics = {
            name: partial(agreement.resampled_pearson, scores[metric], human)
            for name, scores in (("base", base), ("variant", variant))
        }
        samples = bootstrap(statistics, clusters, resamples, evaluation.SEED)
        both = np.stack([samples["variant"], samples["base"]], axis=1)
        observed = np.array([agreement.pearson(scores[metric], human) for scores in (variant, base)])
        (p_value,), _ = bootstrap_p_values(both, observed, [(0, 1)])
        low, high = interval(both[:, 0] - both[:, 1], clusters.max() + 1)
        pearson, spearman = evaluation.correlations(variant[metric], human)
        difference = [round(float(value), 4) for value in (observed[0] - observed[1], low, high)]
        found[metric] = {
            "pearson": pearson,
            "spearman": spearman,
            "difference": difference,
            "p": round(float(p_value), 5),
        }
    return found


def variants_table(result: dict) -> str:
    """Return the Markdown table of all variants, real differences in bold."""

    def cell(values: dict) -> str:
        _, low, high = values["difference"]
        text = f"{low:+.3f} to {high:+.3f}"
        return f"{values['pearson']:.3f} / {values['spearman']:.3f} ({f'**{text}**' if values['real'] else text})"

    names = list(result["sets"])
    lines = [
        ["default", metric, *(f"{r:.3f} / {rho:.3f}" for r, rho in (result["default"][n][metric] for n in names))]
        for metric in evaluation.METRICS
    ]
    for label, of_sets in result["variants"].items():
        metrics = next(iter(of_sets.values()))
        lines += [[label, metric, *(cell(of_sets[name][metric]) for name in names)] for metric in metrics]
    return markdown_table(["setting", "metric", *(name.removeprefix("kpqa_") for name in names)], lines)


def main() -> None:
    """Measure, print the table and write it if asked."""
    from genqa_metrics.kpqa.encoding import Encoder
    from genqa_metrics.kpqa.loading import load_models

    args = parsed(Arguments)
    models = {layer: load_models(args.checkpoint, embedding_layer=layer) for layer in (0, PAPER_LAYER)}
    encoders = {layer: Encoder(one) for layer, one in models.items()}
    default, variants = {}, {label: {} for label in VARIANTS}
    for name in args.sets:
        rows = evaluation.read_set(args.judgments, name)
        human, clusters = np.array([row["score"] for row in rows]), evaluation.question_numbers(rows)
        tokens = encoded(rows, encoders)
        base = evaluation.scores_of_tokens(rows, tokens[0])
        default[name] = {metric: evaluation.correlations(base[metric], human) for metric in evaluation.METRICS}
        for label, (metrics, settings) in VARIANTS.items():
            given = {key: value for key, value in settings.items() if key != "layer"}
            scores = evaluation.scores_of_tokens(rows, tokens[settings.get("layer", 0)], **given)
            variants[label][name] = differences(base, scores, metrics, human, clusters, args.resamples)
    cells = [values for of_sets in variants.values() for metrics in of_sets.values() for values in metrics.values()]
    for values, p_value in zip(cells, adjust_p_values(np.array([values["p"] for values in cells])), strict=True):
        values["real"] = bool(p_value < SIGNIFICANT)
    result = {
        "sets": args.sets,
        "default": default,
        "variants": variants,
        "comparisons": len(cells),
        "resamples": args.resamples,
        "checkpoint": models[0].signature,
        **evaluation.facts(__spec__.name, [evaluation.judgment_file(args.judgments, name) for name in args.sets]),
    }
    text = (
        "Pearson / Spearman (95% interval of the difference in Pearson's r to the default; bold: real, p < 0.05 after "
        f"Holm's correction over the {len(cells)} comparisons of the table, {args.resamples:,} paired bootstrap "
        f"samples of questions).\n\n{variants_table(result)}"
    )
    print(text)
    if args.write:
        evaluation.write_result(args.write, "variants", text, "variants", result)


if __name__ == "__main__":
    main()
