"""Measure a judge of grounding on human verdicts, beside word overlap; fit its calibration.

An answer is as probable as its least probable sentence, a sentence as its best window. Accuracy and calibration error
are cross-fitted: scaling and threshold for one half of the passages come from the other half, for every method. How
many unsupported texts a judge overlooks and how many supported ones it doubts is counted at its own threshold. Texts
that state nothing are left out, as by the metric.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.ava.loading import checkpoint_folder as judge_folder
from genqa_metrics.core.checkpoints import checkpoint_digest, file_digest
from genqa_metrics.core.judge_model import SETTINGS_FILE
from genqa_metrics.grounding.judging import Grounder, answer_of
from genqa_metrics.grounding.loading import checkpoint_folder, load_judge
from genqa_metrics.grounding.sentences import sentences_of
from genqa_metrics.grounding.windows import content_keys
from genqa_metrics.statistics.thresholds import calibration
from scipy.special import expit as sigmoid
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from training.ava.evaluate_ava import best_threshold, half, platt, write_calibration
from training.ava.triples import as_claim
from training.common import json_rows, option
from training.studies.harness import Output, Study, rendered

JUDGED = ("condaqa.dev", "wice.dev", "factcheck_gpt.dev", "q_squared.dev")  # in DATA/grounding
PAIRS = ("begin.dev", "summedits.dev")  # in DATA/sentence_pairs: the first text is the passage of the second
PLAIN = "plain_passages.dev"  # beside this file: sentences as assistants write them, beside short passages
DECIDED = 15.0  # logit of a sentence that is decided without the judge, such as one that stands in the passage
NOT_CALIBRATED = ("condaqa.dev",)  # every judge so far is at chance there: it would pull all probabilities to .5


@dataclass
class Arguments(Output):
    """Which judge is measured on what."""

    data: str = option("folder with grounding and sentence_pairs")
    checkpoint: str | None = option("small, base, large or a folder; default: the bundled one", None)
    rows: int | None = option("rows of every file at most, the first ones; default all", None)
    calibrate: bool = option(f"write the fit to the checkpoint's {SETTINGS_FILE}, and the table to its card", False)


def dev_file(data: Path, name: str) -> Path:
    """Return the file of one of `JUDGED` or `PAIRS`, or of `PLAIN`."""
    if name == PLAIN:
        return Path(__file__).with_name(f"{name}.jsonl.gz")
    return data / ("sentence_pairs" if name in PAIRS else "grounding") / f"{name}.jsonl.gz"


def judge_scores(folder: Path) -> tuple[Callable[[Sequence[dict]], np.ndarray], float]:
    """Return a checkpoint's method, from rows to (rows,) logits that are not calibrated, and its threshold there."""
    grounder = Grounder(load_judge(folder, device="cpu"))
    loaded = grounder.reader.loaded

    def scores(rows: Sequence[dict]) -> np.ndarray:
        columns = [[row[name] for row in rows] for name in ("question", "candidate")]
        verdicts = grounder.verdicts(*columns, [[row["context"]] for row in rows])
        lowest = [min((v.probability for v in verdict if v.sentence.states), default=0.0) for verdict in verdicts]
        calibrated = logit(np.clip(lowest, 1e-9, 1 - 1e-9))
        return np.clip((calibrated - loaded.intercept) / loaded.slope, -DECIDED, DECIDED)

    return scores, float((logit(loaded.threshold) - loaded.intercept) / loaded.slope)


def overlap(rows: Sequence[dict]) -> np.ndarray:
    """Return (rows,) shares of the words of a candidate, function words left out, that are in its passage."""
    keys = [(content_keys(row["candidate"]), content_keys(row["context"])) for row in rows]
    return np.array([len(wanted & known) / max(1, len(wanted)) for wanted, known in keys])


def cross_fitted(scores: np.ndarray, labels: np.ndarray, halves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows,) probabilities and verdicts, each by a fit on the other half (0 or 1) of the passages."""
    probabilities, verdicts = np.zeros(len(labels)), np.zeros(len(labels))
    for side in (0, 1):
        use, fit = halves == side, halves != side
        if not use.any():
            continue
        slope, intercept = platt(scores[fit], labels[fit])
        scaled = sigmoid(slope * scores + intercept)
        probabilities[use] = scaled[use]
        verdicts[use] = scaled[use] >= best_threshold(scaled[fit], labels[fit], [], "error")
    return probabilities, verdicts


def measured(rows: Sequence[dict], scores: np.ndarray, threshold: float | None = None) -> dict:
    """Return accuracy, AUC and calibration error of a method on a file.

    With its own `threshold` also how many of the unsupported texts it overlooks, and how many of the supported ones it
    doubts: (count, of how many).
    """
    labels = np.array([row["label"] for row in rows], dtype=float)
    halves = np.array([half(row["context"]) for row in rows])
    probabilities, verdicts = cross_fitted(scores, labels, halves)
    accuracy, error = float((verdicts == labels).mean()), calibration(probabilities, labels == 1)["ece"]
    result = {"accuracy": accuracy, "auc": float(roc_auc_score(labels, scores)), "calibration_error": error}
    if threshold is not None:
        passes, right = scores >= threshold, labels == 1
        result["overlooked"] = [int((passes & ~right).sum()), int((~right).sum())]
        result["doubted"] = [int((~passes & right).sum()), int(right.sum())]
    return result


def fitted(rows: Sequence[dict], scores: np.ndarray) -> dict[str, float]:
    """Return slope, intercept and threshold of a judge; every file, named in the rows' "file", has the same weight.

    Platt scaling with one slope and an intercept for each file, since files differ in how much of them is supported
    and in what they are about; the intercept that is returned is the mean of the files.
    """
    labels = np.array([row["label"] for row in rows], dtype=float)
    files = np.array([row["file"] for row in rows])
    names = sorted(set(files))
    is_of_file = np.stack([files == name for name in names], axis=1).astype(float)  # (rows, files)
    weights = is_of_file @ (1 / is_of_file.sum(axis=0))
    model = LogisticRegression(C=1e9, fit_intercept=False, max_iter=1000)
    value = model.fit(np.column_stack([scores, is_of_file]), labels, weights * len(rows)).coef_[0]
    slope, intercept = float(value[0]), float(value[1:].mean())
    times = np.round(weights * len(rows)).astype(int)
    repeated = (np.repeat(values, times) for values in (sigmoid(slope * scores + intercept), labels))
    threshold = best_threshold(*repeated, [], "error")
    return {"slope": slope, "intercept": intercept, "threshold": threshold}


def table(scores: dict[str, dict[str, dict]]) -> str:
    """Return the results as a Markdown table."""
    return rendered("cards/grounding_scores.md.j2", scores=scores)


def study(args: Arguments) -> dict:
    """Measure, calibrate."""
    data, folder = Path(args.data), checkpoint_folder(args.checkpoint)
    methods = {"token overlap": (overlap, None)}
    if checkpoint_digest(folder) != checkpoint_digest(judge_folder()):
        methods["judge of answers"] = judge_scores(judge_folder())
    methods["judge of grounding"] = judge_scores(folder)
    scores: dict[str, dict[str, dict]] = {}
    everything, logits = [], []
    for name in (*JUDGED, *PAIRS, PLAIN):
        rows = [row for row in map(as_claim, json_rows(dev_file(data, name))) if row["label"] is not None]
        rows = [row for row in rows if any(text.states for text in sentences_of(answer_of(row["candidate"])))]
        rows = [row | {"question": row["question"] or "", "label": int(row["label"])} for row in rows[: args.rows]]
        by_method = {method: score(rows) for method, (score, _) in methods.items()}
        scores[name] = {
            how: {"rows": len(rows), **measured(rows, by_method[how], threshold)}
            for how, (_, threshold) in methods.items()
        }
        everything += [row | {"file": name} for row in rows]
        logits.append(by_method["judge of grounding"])
        print(table({name: scores[name]}), file=sys.stderr, flush=True)
    kept = np.array([row["file"] not in NOT_CALIBRATED for row in everything])
    kept &= np.abs(np.concatenate(logits)) < DECIDED
    settings = fitted([row for row, keep in zip(everything, kept, strict=True) if keep], np.concatenate(logits)[kept])
    if args.calibrate:
        write_calibration(folder, settings, table(scores))
    digests = {name: file_digest(dev_file(data, name)) for name in scores} | {"checkpoint": checkpoint_digest(folder)}
    return {"settings": settings, "scores": {"rows": scores, "digests": digests}}


STUDY = Study(__spec__.name, Arguments, study, lambda result: table(result["scores"]["rows"]))

if __name__ == "__main__":
    STUDY.main()
