"""Tables that pages outside the studies show: of the bundled checkpoints and of judges beside them."""

from collections.abc import Mapping

import numpy as np
from genqa_metrics.core.judge_model import read_settings
from genqa_metrics.grounding.loading import HUB_CHECKPOINTS, checkpoint_folder

from training.ava import compare_sizes, cut_judge, evaluate_ava
from training.kpqa import evaluate_kpqa
from training.studies.harness import Table, filled, rendered


def grounding_errors(sizes: Mapping) -> dict[str, dict[str, tuple]]:
    """Return {size: {set: (AUC, share of the unsupported texts that pass, of the supported that are flagged)}}."""
    judges = {}
    for size in HUB_CHECKPOINTS:
        threshold, scores = read_settings(checkpoint_folder(size))["threshold"], {}
        sets = sizes["judges"][size]
        for name, of in compare_sizes.scores(sets).items():
            if name in compare_sizes.CLAIMS:
                passes = np.array(sets[name]["probabilities"]) >= threshold
                right = np.array(sets[name]["labels"]) == 1
                scores[name] = of["AUC"], passes[~right].mean(), 1 - passes[right].mean()
        judges[size] = scores
    return judges


def grounding(bundled: Mapping, sizes: Mapping) -> str:
    """Return the table of the card of `grounding`."""
    overlap = {name.removesuffix(".dev"): of["token overlap"]["auc"] for name, of in bundled["scores"]["rows"].items()}
    overlap["mean"] = np.mean([*overlap.values()])
    judges = grounding_errors(sizes)
    for scores in judges.values():
        scores |= {"mean": np.mean([*scores.values()], axis=0)} if len(scores) == len(compare_sizes.CLAIMS) else {}
    rows = {name: len(of["labels"]) for name, of in sizes["judges"]["small"].items()}
    return rendered("cards/grounding.md.j2", judges=judges, overlap=overlap, rows=rows)


KEYPHRASES = filled("cards/keyphrases.md.j2", WEIGHTED=evaluate_kpqa.WEIGHTED)
TABLES = [
    Table("sizes", "ava/results/sizes", compare_sizes.tables, "metrics/ava/checkpoint_large/README.md"),
    Table("sizes", "ava/results/sizes", compare_sizes.tables, "spaces/docs/pages/explanation/3-judge-limits.md"),
    Table("cut", "ava/results/cut", cut_judge.table, "metrics/ava/checkpoint_large/README.md"),
    Table("adapting", "ava/results/adapting", filled("cards/adapting.md.j2"), "training/ava/README.md"),
    Table("scores", "ava/results/bundled", evaluate_ava.text),
    Table("scores", "ava/results/bundled", evaluate_ava.text, "metrics/ava/checkpoint/README.md"),
    Table("best", "kpqa/results/agreement", KEYPHRASES, "training/kpqa/README.md"),
    Table("judges", "grounding/results/bundled ava/results/sizes", grounding, "metrics/grounding/README.md"),
]
