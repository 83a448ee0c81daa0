"""Tables that pages outside the studies show: of the bundled checkpoints and of judges beside them."""

from collections.abc import Mapping

import numpy as np
from genqa_metrics.core.judge_model import read_settings
from genqa_metrics.grounding.loading import HUB_CHECKPOINTS, checkpoint_folder

from training.ava import cut_judge, evaluate_ava, measure_judges
from training.kpqa import evaluate_kpqa
from training.studies.harness import Table, filled, rendered


def grounding_errors(sizes: Mapping) -> dict[str, dict[str, tuple]]:
    """Return {size: {set: (AUC, share of the unsupported texts that pass, of the supported that are flagged)}}."""
    judges = {}
    for size in HUB_CHECKPOINTS:
        threshold, scores = read_settings(checkpoint_folder(size))["threshold"], {}
        sets = sizes["judges"][size]["sets"]
        for name, measured in measure_judges.scores(sets).items():
            if name in measure_judges.CLAIMS:
                passes = np.array(sets[name]["probabilities"]) >= threshold
                right = np.array(sets[name]["labels"]) == 1
                scores[name] = measured["AUC"], passes[~right].mean(), 1 - passes[right].mean()
        judges[size] = scores
    return judges


def grounding(bundled: Mapping, sizes: Mapping) -> str:
    """Return the table of the card of `grounding`."""
    overlap = {name.removesuffix(".dev"): of["token overlap"]["auc"] for name, of in bundled["scores"]["rows"].items()}
    overlap["mean"] = np.mean([*overlap.values()])
    judges = grounding_errors(sizes)
    for scores in judges.values():
        scores |= {"mean": np.mean([*scores.values()], axis=0)} if len(scores) == len(measure_judges.CLAIMS) else {}
    rows = {name: len(measured["labels"]) for name, measured in sizes["judges"]["small"]["sets"].items()}
    return rendered("cards/grounding.md.j2", judges=judges, overlap=overlap, rows=rows)


LIMITS = "spaces/docs/pages/explanation/3-judge-limits.md"
KEYPHRASES = filled("cards/keyphrases.md.j2", WEIGHTED=evaluate_kpqa.WEIGHTED)
TABLES = [
    Table("sizes", "ava/results/judges", measure_judges.table_of_sets, "metrics/ava/checkpoint_large/README.md"),
    Table("sizes", "ava/results/judges", measure_judges.table_of_sets, LIMITS),
    Table("families", "ava/results/judges", measure_judges.tables_of_counts, LIMITS),
    Table("cut", "ava/results/cut", cut_judge.table, "metrics/ava/checkpoint_large/README.md"),
    Table("adapting", "ava/results/adapting", filled("cards/adapting.md.j2"), "training/ava/README.md"),
    Table("scores", "ava/results/bundled", evaluate_ava.text),
    Table("scores", "ava/results/bundled", evaluate_ava.text, "metrics/ava/checkpoint/README.md"),
    Table("best", "kpqa/results/agreement", KEYPHRASES, "training/kpqa/README.md"),
    Table("judges", "grounding/results/bundled ava/results/judges", grounding, "metrics/grounding/README.md"),
]
