"""What the faster ways to run a model cost in quality: verdicts and correlations with people, beside 32-bit floats.

    python -m tests.programs.benchmarks.bench_fast --data DATA --write tests/programs/benchmarks/results/benchmarks.md

DATA holds judgments/ and written/. Every way judges the same rows of the dev sets, at most `--rows` of each.
"""

import sys
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.kpqa.loading import load_models
from scipy.stats import pearsonr, spearmanr

from tests.programs.benchmarks.bench_all import WAYS, kpqa_scores, timed, write_page
from training.common import command_line, json_rows, markdown_table

AVA_DATA = ("evouna_nq", "evouna_tq", "written", "sas_nqopen", "beetle")
KPQA_DATA = ("kpqa_marco", "kpqa_avsd")
KPQA_SCORES = ("bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa")
MARKER = "quality of the faster ways"


def dev_file(data: Path, name: str) -> Path:
    """Return the dev file of a set, which is in judgments/ or in a folder of its own name."""
    folder = data / name
    return (folder if folder.is_dir() else data / "judgments") / f"{name}.dev.jsonl.gz"


def human(row: dict) -> float:
    """Return what people say of a row: its label, else its score."""
    return float(row["label"] if row["label"] is not None else row["score"])


def _agreement(found: np.ndarray, rows: list[dict]) -> dict[str, float]:
    said = [human(row) for row in rows]
    kinds = {"pearson": pearsonr, "spearman": spearmanr}
    return {name: round(float(correlation(found, said)[0]), 4) for name, correlation in kinds.items()}


def quality(data: Path, count: int | None = None) -> list[dict]:
    """Return for every way and dev set, at most `count` rows each, what people and the plain way say of its scores."""
    found = []
    for name in AVA_DATA:
        rows, plain = list(islice(json_rows(dev_file(data, name)), count)), None
        columns = [[row[column] for row in rows] for column in ("question", "references", "candidate")]
        for way, arguments in WAYS.items():
            loaded = load_judge(**arguments)
            seconds, scores = timed(partial(Judge(loaded).probabilities, *columns, "max"))
            verdicts = scores >= loaded.threshold
            plain = verdicts if plain is None else plain
            found.append(
                {"metric": "ava", "data": name, "rows": len(rows), "way": way, "seconds": round(seconds, 2)}
                | {"same_verdict": round(float((verdicts == plain).mean()), 4)}
                | _agreement(scores, rows)
            )
    for name in KPQA_DATA:
        rows = list(islice(json_rows(dev_file(data, name)), count))
        for way, arguments in WAYS.items():
            models = load_models(**arguments)
            seconds, scores = timed(partial(kpqa_scores, models, rows))
            found += [
                {"metric": score, "data": name, "rows": len(rows), "way": way, "seconds": round(seconds, 2)}
                | _agreement(scores[score], rows)
                for score in KPQA_SCORES
            ]
    return found


def largest_changes(found: list[dict]) -> dict[str, dict[str, float]]:
    """Return per way the smallest share of equal verdicts and the largest change of a correlation with people.

    >>> plain = {"metric": "ava", "data": "d", "way": "torch", "same_verdict": 1.0, "pearson": 0.9, "spearman": 0.8}
    >>> largest_changes([plain, plain | {"way": "bfloat16", "same_verdict": 0.99, "pearson": 0.898}])
    {'bfloat16': {'same_verdict': 0.99, 'correlation': -0.002}}
    """
    plain = {(row["metric"], row["data"]): row for row in found if row["way"] == "torch"}
    changes: dict[str, dict[str, float]] = {}
    for row in found:
        if row["way"] == "torch":
            continue
        change = changes.setdefault(row["way"], {"same_verdict": 1.0, "correlation": 0.0})
        change["same_verdict"] = min(change["same_verdict"], row.get("same_verdict", 1.0))
        for kind in ("pearson", "spearman"):
            difference = round(row[kind] - plain[row["metric"], row["data"]][kind], 4)
            change["correlation"] = max(change["correlation"], difference, key=abs)
    return changes


def page(found: list[dict]) -> str:
    """Return the results as Markdown: one row a set, and the largest changes."""
    names = ["metric", "data", "rows", "way", "seconds", "same_verdict", "pearson", "spearman"]
    lines = [
        f"{way}: the same verdict on {change['same_verdict']:.2%} of the rows of the worst set; a correlation with "
        f"people changes by {change['correlation']:+.4f} at most."
        for way, change in largest_changes(found).items()
    ]
    rows = [[row.get(name, "") for name in names] for row in found]
    shown = markdown_table(["", "data", "rows", "", "seconds", "same verdict", "Pearson", "Spearman"], rows)
    command = command_line("tests.programs.benchmarks.bench_fast", sys.argv[1:])
    return "\n\n".join([f"Written by `{command}`.", *lines, shown])


if __name__ == "__main__":
    torch.set_num_threads(1)
    rows = {"type": int, "default": 600, "help": "rows of a set at most"}
    write_page(__doc__, MARKER, lambda given, folder: page(quality(given.data, given.rows)), rows=rows)
