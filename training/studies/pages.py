"""Tables that pages outside the studies show: of the bundled checkpoints and of judges beside them."""

from collections.abc import Mapping

from training.ava import compare_sizes, evaluate_ava
from training.common import markdown_table
from training.kpqa import evaluate_kpqa
from training.studies.harness import Table

KPQA_PAPER = ["paper", ".698 / .655", ".729 / .712", ".782 / .770", ".742 / .687", ".774 / .786"]  # Tables 3 and 6
SETS_OF_CARD = {  # dev set of grounding -> what the card calls it
    "wice.dev": "WiCE, claims beside articles",
    "factcheck_gpt.dev": "FactCheck-GPT, claims beside evidence",
    "begin.dev": "BEGIN, replies beside knowledge",
    "q_squared.dev": "Q², replies beside knowledge",
    "summedits.dev": "SummEdits, summaries with changed facts",
    "plain_passages.dev": "plain sentences beside short passages",
    "condaqa.dev": "CondaQA, what a negation implies",
}


def cell(scores: Mapping[str, float] | None, digits: int = 3) -> str:
    """Return accuracy and AUC of a set of verdicts, Pearson's r of one of grades; nothing where none was measured.

    >>> cell({"accuracy": 0.9464, "auc": 0.97})
    '.946 / .970'
    """
    values = [scores[key] for key in ("accuracy", "auc", "r") if key in scores] if scores else []
    return " / ".join(f"{value:.{digits}f}".removeprefix("0") for value in values)


def keyphrases(result: Mapping) -> str:
    """Return the highest Pearson and the highest Spearman of the three KPQA metrics on each set."""
    sets = result["agreement"]
    best = [
        [max(item[name][kind][0] for name in evaluate_kpqa.WEIGHTED) for kind in ("pearson", "spearman")]
        for item in sets.values()
    ]
    cells = [" / ".join(f"{value:.3f}".removeprefix("0") for value in pair) for pair in best]
    return markdown_table(
        ["", "MS MARCO", "AVSD", "NarrativeQA", "SemEval", "MS MARCO, long"], [["bundled", *cells], KPQA_PAPER]
    )


def base_grounder(result: Mapping) -> str:
    """Return the base judge beside the small judge of answers, on the same rows."""
    names = ("judge of grounding", "judge of answers")
    rows = [[name, *(cell(value[k], 2) for k in names)] for name, value in result["scores"]["rows"].items()]
    return markdown_table(["dev set", "base", "small judge of answers"], rows)


def grounding_card(small: Mapping, base: Mapping) -> str:
    """Return the table of the card of `grounding`."""
    rows = []
    for name, title in SETS_OF_CARD.items():
        of_small, of_base = (value["scores"]["rows"][name] for value in (small, base))
        value = of_small["judge of grounding"], of_base["judge of grounding"], of_small["token overlap"]
        rows.append([title, *(cell(scores, 2) for scores in value)])
    return markdown_table(["dev set", "small", "base, first 300 rows", "token overlap"], rows)


def adapting(result: Mapping) -> str:
    """Return what was measured while the large judge was made: AUC, and accuracy at probability .5."""
    header = ["run", "training", *(f"AUC, {name}" for name in result["rows"]["whole runs"]), "accuracy, assistant.dev"]
    rows = []
    for run in result["runs"]:
        values = [
            *(run["auc"].get(name) for name in result["rows"]["whole runs"]),
            run.get("accuracy", {}).get("assistant.dev"),
        ]
        rows.append([run["run"], run["training"], *("" if value is None else f"{value:.3f}" for value in values)])
    return markdown_table(header, rows)


def bundled(result: Mapping) -> str:
    """Return the tables of the bundled small judge."""
    return evaluate_ava.tables(result["settings"], result["scores"], result["minimal_pairs"])


TABLES = [
    Table("sizes", "ava/results/sizes", compare_sizes.tables, "metrics/ava/checkpoint_large/README.md"),
    Table("sizes", "ava/results/sizes", compare_sizes.tables, "spaces/docs/pages/explanation/3-judge-limits.md"),
    Table("adapting", "ava/results/adapting", adapting, "training/ava/README.md"),
    Table("scores", "ava/results/bundled", bundled),
    Table("scores", "ava/results/bundled", bundled, "metrics/ava/checkpoint/README.md"),
    Table("best", "kpqa/results/agreement", keyphrases, "training/kpqa/README.md"),
    Table("base", "grounding/results/base", base_grounder, "training/grounding/README.md"),
    Table("judges", "grounding/results/bundled grounding/results/base", grounding_card, "metrics/grounding/README.md"),
]
