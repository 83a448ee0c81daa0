"""What the faster ways to run a model cost in quality: verdicts and correlations with people, beside 32-bit floats.

    python -m tests.benchmarks.bench_fast --data judgments --output tests/benchmarks/results/fast.json

Every way judges the same rows of the dev sets. Bundled checkpoints are exported into a temporary folder first.
"""

import argparse
import gzip
import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.kpqa.loading import load_models
from genqa_metrics.toolkit.scoring.exporting import export_checkpoint
from scipy.stats import pearsonr, spearmanr

from tests.benchmarks.bench_kpqa import all_scores
from tests.benchmarks.report import facts, machine, timed, write

AVA_DATA = ("evouna_nq", "evouna_tq")
KPQA_DATA = ("kpqa_marco", "kpqa_avsd")
KPQA_SCORES = ("bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa")
MODEL_METRICS = ("ava", "kpqa")


def read(path: Path, count: int | None = None) -> list[dict]:
    """Return the first rows of a file of judgments."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line, _ in zip(lines, range(count or 10**9), strict=False)]


def exported(folder: Path) -> dict[str, Path]:
    """Export the bundled checkpoints into a folder; return their folders by metric."""
    for metric in MODEL_METRICS:
        if not (folder / metric).exists():
            export_checkpoint(metric, None, folder / metric)
    return {metric: folder / metric for metric in MODEL_METRICS}


def ways(fast: Path, device: str = "cpu") -> dict[str, dict]:
    """Return the ways to run a model, the plain one first: name -> arguments of `load`."""
    if device != "cpu":
        return {dtype: {"device": device, "dtype": dtype} for dtype in ("float32", "bfloat16", "float16")}
    return {
        "float32": {"device": "cpu"},
        "onnx int8": {"checkpoint": fast, "backend": "onnx"},
        "bfloat16": {"device": "cpu", "dtype": "bfloat16"},
    }


def _agreement(found: np.ndarray, human: np.ndarray) -> dict[str, float]:
    kinds = {"pearson": pearsonr, "spearman": spearmanr}
    return {name: round(float(correlation(found, human)[0]), 4) for name, correlation in kinds.items()}


def quality(data: Path, fast: dict[str, Path], device: str = "cpu", count: int | None = None) -> list[dict]:
    """Return for every way and dev set what people and the plain way say about its scores.

    Args:
        data: folder of the judgments.
        fast: folders of the exported checkpoints.
        device: of torch.
        count: rows of a set, None for all.
    """
    found = []
    for name in AVA_DATA:
        rows = read(data / f"{name}.dev.jsonl.gz", count)
        columns = [[row[column] for row in rows] for column in ("question", "references", "candidate")]
        human, plain = np.array([row["label"] for row in rows], dtype=float), None
        for way, arguments in ways(fast["ava"], device).items():
            loaded = load_judge(**arguments)
            judge = Judge(loaded)
            seconds, scores = timed(partial(judge.probabilities, *columns), device)
            verdicts = scores >= loaded.threshold
            plain = verdicts if plain is None else plain
            found.append(
                {"metric": "ava", "data": name, "rows": len(rows), "way": way, "seconds": round(seconds, 2)}
                | {"same_verdict": round(float((verdicts == plain).mean()), 4)}
                | {"accuracy": round(float((verdicts == human).mean()), 4)}
                | _agreement(scores, human)
            )
    for name in KPQA_DATA:
        rows = read(data / f"{name}.dev.jsonl.gz", count)
        human = np.array([row["score"] for row in rows], dtype=float)
        for way, arguments in ways(fast["kpqa"], device).items():
            models = load_models(**arguments)
            seconds, scores = timed(partial(all_scores, models, rows), device)
            found += [
                {"metric": score, "data": name, "rows": len(rows), "way": way, "seconds": round(seconds, 2)}
                | _agreement(scores[score], human)
                for score in KPQA_SCORES
            ]
    return found


def largest_changes(found: list[dict]) -> dict[str, dict[str, float]]:
    """Return per way the smallest share of equal verdicts and the largest loss of a correlation with people.

    >>> plain = {"metric": "ava", "data": "d", "way": "float32", "same_verdict": 1.0, "pearson": 0.9, "spearman": 0.8}
    >>> largest_changes([plain, plain | {"way": "bfloat16", "same_verdict": 0.99, "pearson": 0.898}])
    {'bfloat16': {'same_verdict': 0.99, 'correlation': -0.002}}
    """
    plain = {(row["metric"], row["data"]): row for row in found if row["way"] == "float32"}
    changes: dict[str, dict[str, float]] = {}
    for row in found:
        if row["way"] == "float32":
            continue
        change = changes.setdefault(row["way"], {"same_verdict": 1.0, "correlation": 0.0})
        change["same_verdict"] = min(change["same_verdict"], row.get("same_verdict", 1.0))
        for kind in ("pearson", "spearman"):
            difference = round(row[kind] - plain[row["metric"], row["data"]][kind], 4)
            change["correlation"] = max(change["correlation"], difference, key=abs)
    return changes


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the judgments")
    parser.add_argument("--device", default="cpu", help="device of torch")
    parser.add_argument("--rows", type=int, help="rows of a set; default: all")
    parser.add_argument("--output", type=Path, help="write the result here as JSON")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        found = quality(arguments.data, exported(Path(folder)), arguments.device, arguments.rows)
    files = [arguments.data / f"{name}.dev.jsonl.gz" for name in (*AVA_DATA, *KPQA_DATA)]
    result = {"changes": largest_changes(found), "results": found, "machine": machine()}
    write(result | facts(files, ["genqa-metrics", "torch", "onnxruntime"]), arguments.output)


if __name__ == "__main__":
    main()
