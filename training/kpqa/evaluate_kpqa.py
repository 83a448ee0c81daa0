"""Measure how well KPQA agrees with human judgments of answers.

    python -m training.kpqa.evaluate_kpqa --judgments JUDGMENTS --json training/kpqa/results/agreement.json

Tables 3, 4 and 6 of Lee et al. (2021); training/studies/meta_evaluation has Tables 7 and 9 and Figure 4. The judgments
choose between checkpoints and settings; nothing is trained on them.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from genqa_metrics.kpqa.encoding import Encoder
from genqa_metrics.kpqa.loading import load_models
from genqa_metrics.kpqa.scoring import inverse_document_frequencies, pair_statistics, row_scores
from genqa_metrics.statistics import correlation as agreement

from training.common import json_rows, option
from training.resampling import bootstrap, interval, resampled_spearman
from training.studies.harness import Output, Study, digests, filled, versions

SETS = ("kpqa_marco", "kpqa_avsd", "kpqa_narrativeqa", "kpqa_semeval", "kpqa_marcomulti")
METRICS = ("bleu1", "bleu1_kpqa", "rougeL", "rougeL_kpqa", "bertscore", "bertscore_kpqa")
WEIGHTED = METRICS[1::2]
SEED = 0  # of the bootstrap


@dataclass
class Arguments(Output):
    """The models that are measured, and the data."""

    judgments: str = option("folder of NAME.dev.jsonl.gz with question, references, candidate, score")
    checkpoints: list[str] = option("NAME=FOLDER of predictors, the first in full; NAME= is bundled", ["kpqa="])
    sets: list[str] = option("names of the judgment files", list(SETS))
    resamples: int = option("bootstrap samples for the 95%% intervals", 1000)


@dataclass(frozen=True)
class Judgments:
    """Judged rows, with (rows,) judgments and (rows,) numbers of the questions, which a bootstrap sample draws."""

    rows: list[dict]
    human: np.ndarray
    clusters: np.ndarray


def read_judgments(folder: str, names: Collection[str]) -> dict[str, Judgments]:
    """Return name -> judgments of files NAME.dev.jsonl.gz."""
    result = {}
    for name in names:
        rows = list(json_rows(Path(folder) / f"{name}.dev.jsonl.gz"))
        clusters = np.unique([row["question"] for row in rows], return_inverse=True)[1]
        result[name] = Judgments(rows, np.array([row["score"] for row in rows]), clusters)
    return result


def facts(folder: str, names: Collection[str]) -> dict:
    """Return seed, versions, and digests of the judgments."""
    used = versions("genqa-metrics", "scipy", "torch", "transformers")
    return {"bootstrap_seed": SEED, "versions": used, "data": digests([f"{name}.dev" for name in names], folder)}


def question_text_pairs(rows: list[dict]) -> list[tuple[str, str]]:
    """Return (question, candidate) of all rows, then (question, reference) of all their references."""
    pairs = [(row["question"], row["candidate"]) for row in rows]
    return pairs + [(row["question"], text) for row in rows for text in row["references"]]


def scores_of_tokens(
    rows: list[dict], tokens: list, idf: bool = False, negation: bool = True, values: bool = True, **settings
) -> dict:
    """Return metric -> (rows,) scores of the best reference; `idf` weighs BERTScore by rarity in the references."""
    if idf:
        settings["idf"] = inverse_document_frequencies([np.asarray(token.ids) for token in tokens[len(rows) :]])
    unused = {name: None for name, used in (("denied", negation), ("values", values)) if not used}
    tokens = [token._replace(**unused) for token in tokens]
    numbers = np.repeat(np.arange(len(rows)), [len(row["references"]) for row in rows])
    statistics = pair_statistics([tokens[n] for n in numbers], tokens[len(rows) :], **settings)
    scores, _ = row_scores(statistics, numbers)
    return {metric: scores[metric] for metric in METRICS}


def measured(folder: str | Path | None, judgments: Mapping[str, Judgments]) -> tuple[dict, str]:
    """Return set -> scores by the checkpoint in a folder, the bundled one if None, and its signature."""
    models = load_models(folder)
    encoder = Encoder(models)
    return {name: metric_scores(judged.rows, encoder) for name, judged in judgments.items()}, models.signature


def metric_scores(rows: list[dict], encoder) -> dict:
    """Return metric -> (rows,) scores of the candidates, the maximum over the references."""
    return scores_of_tokens(rows, encoder.tokens(question_text_pairs(rows))[0])


def with_intervals(scores: Mapping, judged: Judgments, resamples: int) -> dict:
    """Return metric -> "pearson" and "spearman" -> [correlation, low, high] with the ends of its 95% interval."""
    resampled = {"pearson": agreement.resampled_pearson, "spearman": resampled_spearman}
    pairs, result = product(scores, resampled), {metric: {} for metric in scores}
    statistics = {(metric, name): partial(resampled[name], scores[metric], judged.human) for metric, name in pairs}
    for (metric, name), samples in bootstrap(statistics, judged.clusters, resamples, SEED).items():
        observed = getattr(agreement, name)(scores[metric], judged.human)
        ends = interval(samples, judged.clusters.max() + 1)
        result[metric][name] = [round(number, 4) for number in (observed, *ends)]
    return result


def correlations(scores: np.ndarray, human: np.ndarray) -> dict[str, float]:
    """Return "pearson", r, and "spearman", rho, of scores with human judgments."""
    return {name: round(getattr(agreement, name)(scores, human), 4) for name in ("pearson", "spearman")}


def difference(base: np.ndarray, other: np.ndarray, judged: Judgments, resamples: int) -> tuple[list[float], float]:
    """Return [Pearson's r of `other` minus that of `base`, low, high], and the p-value of the difference.

    The differences of the samples are shifted to mean 0; p is the share that is as large as the observed one (Riezler
    & Maxwell 2005, "On some pitfalls in automatic evaluation and significance testing for MT").
    """
    statistics = [partial(agreement.resampled_pearson, scores, judged.human) for scores in (other, base)]
    first, second = bootstrap(dict(enumerate(statistics)), judged.clusters, resamples, SEED).values()
    moved = first - second
    observed = agreement.pearson(other, judged.human) - agreement.pearson(base, judged.human)
    p_value = (1 + (np.abs(moved - moved.mean()) >= abs(observed) - 1e-12).sum()) / (1 + len(moved))
    ends = interval(moved, judged.clusters.max() + 1)
    return [round(float(v), 4) for v in (observed, *ends)], float(p_value)


def compared(measured: Mapping, judgments: Mapping[str, Judgments], resamples: int) -> dict:
    """Return label -> set -> metric -> its agreement, and its "difference" to that of the first label (Table 4)."""
    base, result = next(iter(measured.values())), {}
    for label, sets in measured.items():
        for name, scores in sets.items():
            here = result.setdefault(label, {}).setdefault(name, {})
            for m in WEIGHTED:
                here[m] = correlations(scores[m], judgments[name].human)
                if sets is not base:
                    here[m]["difference"] = difference(base[name][m], scores[m], judgments[name], resamples)[0]
    return result


tables = filled("kpqa/agreement.md.j2", METRICS=METRICS, WEIGHTED=WEIGHTED)


def study(args: Arguments) -> dict:
    """Return the agreement of the first checkpoint, and the comparison with the others."""
    judgments = read_judgments(args.judgments, args.sets)
    scores, signatures = {}, {}
    for label, _, folder in (entry.partition("=") for entry in args.checkpoints):
        scores[label], signatures[label] = measured(folder or None, judgments)
    first = next(iter(scores.values()))
    agreement = {name: with_intervals(first[name], judged, args.resamples) for name, judged in judgments.items()}
    result = {"agreement": agreement}
    if len(scores) > 1:
        result["comparison"] = compared(scores, judgments, args.resamples)
    return result | {"checkpoints": signatures} | facts(args.judgments, args.sets)


STUDY = Study(__spec__.name, Arguments, study, tables, {"tables": "agreement"})

if __name__ == "__main__":
    STUDY.main()
