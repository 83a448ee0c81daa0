"""The small judge, the base judge, and both: accuracy, share of rows that go to the base judge, time and memory.

With both, the base judge reads the rows of which the small one is unsure: its probability lies in one of several
bands. Time and peak memory are those of a process for every way to run the judges and of the simple metrics.
"""

import re
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from genqa_metrics import load, score
from genqa_metrics.ava.loading import checkpoint_folder
from genqa_metrics.core.checkpoints import checkpoint_digest
from genqa_metrics.f_meta.bases import cosines
from genqa_metrics.scale.exporting import with_exported
from scipy.stats import pearsonr
from sklearn.metrics import roc_auc_score

from training.common import option
from training.studies.harness import Output, Study, Table, best_scores, digests, filled
from training.studies.judges import compare_judges as c

SETS = tuple(name for name in (*c.VERDICTS, *c.GRADES) if name != c.BURIED)
BANDS = ((0.3, 0.7), (0.2, 0.8), (0.1, 0.9), (0.05, 0.95), (0.02, 0.98))
BAND = "0.1 to 0.9"  # of `escalate`
TITLES = {"accuracy": "accuracy", "r": "Pearson"}  # what the table of bands shows of a set
TIMED = "evouna_nq.dev"
WAYS = {  # name -> arguments of `load`
    "small": {},
    "small, bfloat16": {"dtype": "bfloat16"},
    "small, int8": {"backend": "onnx"},
    "base": {"checkpoint": "base"},
    "base, bfloat16": {"checkpoint": "base", "dtype": "bfloat16"},
    "base, int8": {"checkpoint": "base", "backend": "onnx"},
    "both": {"escalate": "base"},
    "both, bfloat16": {"escalate": "base", "dtype": "bfloat16"},
}
SIMPLE = ("token F1", "BERTScore", "ROUGE-L-KPQA", "embedding cosine")


def scores_of(probabilities: np.ndarray, verdicts: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return accuracy and AUC where people gave verdicts, Pearson's r where they gave grades.

    >>> scores_of(np.array([0.2, 0.9]), np.array([0, 1]), np.array([0, 1]))
    {'accuracy': 1.0, 'auc': 1.0}
    """
    if set(np.unique(labels)) - {0, 1}:
        return {"r": float(pearsonr(probabilities, labels)[0])}
    return {"accuracy": float((verdicts == labels).mean()), "auc": float(roc_auc_score(labels, probabilities))}


def together(small: tuple, base: tuple, labels: np.ndarray, band: tuple[float, float]) -> dict[str, float]:
    """Return the share of rows read by the base judge, the scores, and the cost as a share of the base judge's.

    >>> small = np.array([0.5, 0.99]), np.array([1, 1]), 1.0
    >>> together(small, (np.array([0.1, 0.1]), np.array([0, 0]), 4.0), np.array([0, 1]), (0.1, 0.9))
    {'escalated': 0.5, 'accuracy': 1.0, 'auc': 1.0, 'cost': 0.75}
    """
    unsure = (small[0] > band[0]) & (small[0] < band[1])
    probabilities, verdicts = (np.where(unsure, base[part], small[part]) for part in (0, 1))
    cost = (small[2] + unsure.mean() * base[2]) / base[2]
    return {"escalated": float(unsure.mean()), **scores_of(probabilities, verdicts, labels), "cost": float(cost)}


def cost_of(way: str, rows: list[dict]) -> dict[str, float]:
    """Return the rows a second of a way in this process, and the peak memory of the process in MB."""
    run = _simple(way) if way in SIMPLE else partial(score, metrics=["ava"], settings={"ava": WAYS[way]})
    run(rows[:32])
    start = time.perf_counter()
    run(rows)
    seconds = time.perf_counter() - start
    status = Path("/proc/self/status").read_text(encoding="utf-8")  # getrusage counts the parent process too
    return {"rows_per_second": len(rows) / seconds, "mb": int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024}


def _simple(way: str) -> Callable[[list[dict]], object]:
    if way == "token F1":
        return lambda rows: [c.token_f1(row["references"], row["candidate"]) for row in rows]
    if way == "embedding cosine":
        return lambda rows: best_scores(cosines, [r["candidate"] for r in rows], [r["references"] for r in rows])
    kpqa, names = load("kpqa", progress=False, device="cpu"), ("questions", "references", "predictions")
    return lambda rows: kpqa.compute(**dict(zip(names, c.columns(rows), strict=True)), per_example=True)


def costs(rows: list[dict]) -> dict[str, dict[str, float]]:
    """Return the cost of every way, each in a process of its own, after 8-bit checkpoints are made in others."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as process:
        for arguments in WAYS.values():
            process.submit(with_exported, "ava", arguments).result()
        return {way: process.submit(cost_of, way, rows).result() for way in (*WAYS, *SIMPLE)}


@dataclass
class Arguments(Output):
    """What is measured on what."""

    judgments: list[str] = option("folders of the dev files")
    dtype: str | None = option("floating type of the judges for the bands; default float32", None)
    rows: int = option(f"rows of {TIMED} that are timed", 300)


def study(args: Arguments) -> dict:
    """Return the scores of both judges and of all bands, and the costs."""
    sets = {name: c.read(name, args.judgments) for name in SETS}
    judged = (c.judged(name, sets, args.dtype) for name in ("small", "base"))
    small, base = ({name: (*found[name], seconds[name]) for name in sets} for _, _, found, seconds in judged)
    checkpoints = {name: checkpoint_digest(checkpoint_folder(name)) for name in ("small", "base")}
    of_sets = {}
    for name, rows in sets.items():
        labels = np.array([row["label"] if name in c.VERDICTS else row["score"] for row in rows], float)
        bands = {f"{low:g} to {high:g}": together(small[name], base[name], labels, (low, high)) for low, high in BANDS}
        single = {key: scores_of(*value[name][:2], labels) for key, value in (("small", small), ("base", base))}
        of_sets[name] = {"rows": len(rows)} | single | {"bands": bands}
    facts = {"data": digests(sets, args.judgments), "checkpoints": checkpoints, "sets": of_sets}
    return facts | {"costs": costs(sets[TIMED][: args.rows])}


FILE = "studies/judges/results/small_and_base"
BANDS_TABLE, COSTS_TABLE = filled("judges/bands.md.j2", TITLES=TITLES), filled("judges/costs.md.j2")
STUDY = Study(__spec__.name, Arguments, study, lambda result: f"{BANDS_TABLE(result)}\n{COSTS_TABLE(result)}")
TABLES = [Table("bands", FILE, BANDS_TABLE), Table("costs", FILE, COSTS_TABLE)]

if __name__ == "__main__":
    STUDY.main()
