"""Tables that pages outside the studies show: of the bundled checkpoints and of judges beside them."""

from collections.abc import Mapping

from training.ava import compare_sizes, evaluate_ava
from training.kpqa import evaluate_kpqa
from training.studies.harness import Table, filled, rendered


def cell(scores: Mapping[str, float] | None, digits: int = 3) -> str:
    """Return accuracy and AUC of a set of verdicts, Pearson's r of one of grades; nothing where none was measured.

    >>> cell({"accuracy": 0.9464, "auc": 0.97})
    '.946 / .970'
    """
    values = [scores[key] for key in ("accuracy", "auc", "r") if key in scores] if scores else []
    return " / ".join(f"{value:.{digits}f}".removeprefix("0") for value in values)


def grounding(small: Mapping, base: Mapping) -> str:
    """Return the table of the card of `grounding`."""
    return rendered("cards/grounding.md.j2", cell=cell, small=small, base=base)


BASE = filled("cards/base_grounder.md.j2", cell=cell)
KEYPHRASES = filled("cards/keyphrases.md.j2", WEIGHTED=evaluate_kpqa.WEIGHTED)
TABLES = [
    Table("sizes", "ava/results/sizes", compare_sizes.tables, "metrics/ava/checkpoint_large/README.md"),
    Table("sizes", "ava/results/sizes", compare_sizes.tables, "spaces/docs/pages/explanation/3-judge-limits.md"),
    Table("adapting", "ava/results/adapting", filled("cards/adapting.md.j2"), "training/ava/README.md"),
    Table("scores", "ava/results/bundled", evaluate_ava.text),
    Table("scores", "ava/results/bundled", evaluate_ava.text, "metrics/ava/checkpoint/README.md"),
    Table("best", "kpqa/results/agreement", KEYPHRASES, "training/kpqa/README.md"),
    Table("base", "grounding/results/base", BASE, "training/grounding/README.md"),
    Table("judges", "grounding/results/bundled grounding/results/base", grounding, "metrics/grounding/README.md"),
]
