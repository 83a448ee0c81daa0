"""Compare the paper's equations as printed, its published code and other settings of KPQA with the defaults.

Agreement with human judgments under every setting, the difference to the default with a paired bootstrap, and which
differences are real: Holm's correction over all of them, at 0.05.
"""

from dataclasses import dataclass

import numpy as np
from genqa_metrics.kpqa.encoding import Encoder, aligned
from genqa_metrics.kpqa.loading import load_models
from genqa_metrics.statistics.resampling import adjust_p_values

from training.common import option
from training.kpqa import evaluate_kpqa as evaluation
from training.studies.harness import Output, Study, filled

PAPER_LAYER = 1
ALL = ("bertscore", "bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa")
PRINTED = {"negation": False, "values": False, "idf": True, "layer": PAPER_LAYER}
# Setting -> the metrics that it changes, and what it is: settings of `compute`, and "layer".
VARIANTS = {
    "rouge_weights=candidate (eq. 5)": (("rougeL_kpqa",), {"rouge_weights": "candidate"}),
    "rouge_weights=code": (("rougeL_kpqa",), {"rouge_weights": "code"}),
    "negation=False": (("bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa"), {"negation": False}),
    "values=False": (("bertscore_kpqa",), {"values": False}),
    "embedding_layer=1": (("bertscore", "bertscore_kpqa"), {"layer": PAPER_LAYER}),
    "idf=True": (("bertscore",), {"idf": True}),
    'settings="paper"': (ALL, PRINTED | {"rouge_weights": "candidate"}),
    "published code, layer 1": (ALL, PRINTED | {"rouge_weights": "code"}),
}
SIGNIFICANT = 0.05


@dataclass
class Arguments(Output):
    """The models that are measured, and the data."""

    judgments: str = option("folder of the judgments, see evaluate_kpqa.py")
    checkpoint: str | None = option("predictor; the bundled one by default", None)
    sets: list[str] = option("names of the files", list(evaluation.SETS))
    resamples: int = option("bootstrap samples", 5000)


def encoded(rows: list[dict], encoders: dict) -> dict:
    """Return layer -> the tokens of all candidates and references; the first encoder gives the weights of all."""
    pairs = evaluation.question_text_pairs(rows)
    first = next(iter(encoders))
    tokens, offsets = encoders[first].tokens(pairs)
    result = {first: tokens}
    for layer in list(encoders)[1:]:
        texts = list(dict.fromkeys(text for _, text in pairs))
        vectors = dict(zip(texts, encoders[layer].vectors(texts), strict=True))
        result[layer] = [
            token._replace(vectors=aligned(*vectors[text], position))
            for token, (_, text), position in zip(tokens, pairs, offsets, strict=True)
        ]
    return result


def study(args: Arguments) -> dict:
    """Return the agreement with people under every setting."""
    models = {layer: load_models(args.checkpoint, embedding_layer=layer) for layer in (0, PAPER_LAYER)}
    encoders = {layer: Encoder(model) for layer, model in models.items()}
    default, variants = {}, {label: {} for label in VARIANTS}
    judgments = evaluation.read_judgments(args.judgments, args.sets)
    for name, judged in judgments.items():
        tokens = encoded(judged.rows, encoders)
        base = evaluation.scores_of_tokens(judged.rows, tokens[0])
        human = judged.human
        default[name] = {m: [*evaluation.correlations(base[m], human).values()] for m in evaluation.METRICS}
        for label, (metrics, settings) in VARIANTS.items():
            others = {key: setting for key, setting in settings.items() if key != "layer"}
            scores = evaluation.scores_of_tokens(judged.rows, tokens[settings.get("layer", 0)], **others)
            variants[label][name] = {}
            for m in metrics:
                shown, p_value = evaluation.difference(base[m], scores[m], judged, args.resamples)
                cell = {"difference": shown, "p": round(p_value, 5)}
                variants[label][name][m] = evaluation.correlations(scores[m], human) | cell
    cells = [cell for by_set in variants.values() for metrics in by_set.values() for cell in metrics.values()]
    for cell, p_value in zip(cells, adjust_p_values(np.array([cell["p"] for cell in cells])), strict=True):
        cell["real"] = bool(p_value < SIGNIFICANT)
    result = {"sets": args.sets, "default": default, "variants": variants, "comparisons": len(cells)}
    result |= {"resamples": args.resamples, "checkpoint": models[0].signature}
    return result | evaluation.facts(args.judgments, args.sets)


TEXT = filled("kpqa/variants.md.j2", METRICS=evaluation.METRICS)
STUDY = Study(__spec__.name, Arguments, study, TEXT, {"variants": "variants"})

if __name__ == "__main__":
    STUDY.main()
