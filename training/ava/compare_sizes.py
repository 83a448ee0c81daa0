"""Measure judges of several sizes on the same dev rows: accuracy at one threshold, AUC, r, calibration error.

    python -m training.ava.compare_sizes --checkpoints small base large base+large --data DATA --json RESULT.json

Scale and threshold of a judge are one for all sets, by Platt scaling, each set with the same weight, and cross-fitted.
"""

import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics import load
from genqa_metrics.ava.loading import checkpoint_folder
from genqa_metrics.core.checkpoints import checkpoint_digest, file_digest
from genqa_metrics.core.judge_model import read_settings
from genqa_metrics.core.scorer import UNSURE_FROM, UNSURE_TO
from genqa_metrics.grounding.judging import answer_of
from genqa_metrics.grounding.loading import checkpoint_folder as grounding_folder
from genqa_metrics.grounding.sentences import sentences_of
from genqa_metrics.statistics.thresholds import calibration
from scipy.special import expit, logit
from scipy.stats import pearsonr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from training.ava.evaluate_ava import half, write_calibration
from training.ava.triples import as_claim, truth
from training.common import command_line, json_rows, named_file, option, write_json
from training.studies.harness import Output, Study, filled, read

FOLDERS = (  # below --data; the last one lies beside these scripts
    *("judgments", "judgments_more", "written", "grounding", "sentence_pairs"),
    Path(__file__).parents[1] / "grounding",
)
VERDICTS = "assistant written evouna_nq evouna_tq financebench truthfulqa scientsbank beetle saf_german".split()
GRADES = "ar_asag kpqa_marco kpqa_avsd".split()
CLAIMS = "condaqa wice factcheck_gpt q_squared begin summedits plain_passages".split()


@dataclass
class Arguments(Output):
    """Which judges are measured on what."""

    checkpoints: list[str] = option("small, base, large, folders; base+large: both, after each")
    data: str = option("folder of the data sets")
    sets: list[str] = option("names of dev files", [*VERDICTS, *GRADES, *CLAIMS])
    rows: int = option("rows of a set at most", 400)
    dtype: str | None = option("float32 or bfloat16 of torch; default: the judge's own engine", None)
    device: str = option("torch device", "cpu")
    batch_tokens: int = option("tokens that are read at once", 4096)
    calibrate: bool = option("write scale and threshold into the one folder", False)


def judged(checkpoint: str, name: str, rows: list[dict], **settings) -> tuple[np.ndarray, float]:
    """Return (rows,) probabilities of a judge, and seconds."""
    predictions = [row["candidate"] for row in rows]
    questions = [row.get("question") or "" for row in rows]
    if name in CLAIMS:
        metric, columns = "grounding", {"contexts": [[row["context"]] for row in rows], "questions": questions}
    else:
        metric, columns = "ava", {"references": [row["references"] for row in rows]}
        columns["questions"] = [question or "What is true?" for question in questions]
    module = load(metric, checkpoint=checkpoint, **settings)
    begin = time.perf_counter()
    results = module.compute(predictions=predictions, per_example=True, **columns)
    seconds = time.perf_counter() - begin
    return np.array(results[f"{metric}_score_per_example"]), seconds


def measured(checkpoint: str, data: Path, most: int, names: list[str], **settings) -> tuple[dict, dict[str, str]]:
    """Return the probabilities and labels of a judge on every set, and the digests of the files."""
    sets, digests = {}, {}
    for name in names:
        path = named_file("data", f"{name}.dev", [str(data / folder) for folder in FOLDERS])
        rows = map(as_claim, json_rows(path)) if name in CLAIMS else json_rows(path)
        rows = [row for row in rows if truth(row) is not None]
        rows = random.Random(0).sample(rows, min(most, len(rows)))
        if name in CLAIMS:  # grounding leaves out what states nothing
            rows = [row for row in rows if any(text.states for text in sentences_of(answer_of(row["candidate"])))]
        probabilities, seconds = judged(checkpoint, name, rows, **settings)
        digests[f"{name}.dev"] = file_digest(path)
        sets[name] = {
            "probabilities": [round(float(value), 4) for value in probabilities],
            "labels": [float(truth(row)) for row in rows],
            "halves": [half(row.get("question") or row["candidate"]) for row in rows],
        }
        print(checkpoint, name, len(rows), f"{len(rows) / seconds:.1f} rows/s", flush=True)
    return sets, digests


def paired(judges: dict, first: str, second: str) -> dict:
    """Return what two measured judges give together: the second reads the rows of which the first is unsure."""
    one, other = (read_settings(checkpoint_folder(size)) for size in (first, second))
    shift, sets = logit(one["threshold"]) - logit(other["threshold"]), {}
    for name in judges[first].keys() & judges[second].keys() - {*CLAIMS}:
        own = np.array(judges[first][name]["probabilities"])
        read = expit(_odds(judges[second][name]) + shift)
        values = np.where((own > UNSURE_FROM) & (own < UNSURE_TO), read, own)
        sets[name] = judges[first][name] | {"probabilities": [round(value, 4) for value in values.tolist()]}
    return sets


def fitted(sets: dict, other: int | None = None) -> tuple[float, float]:
    """Return slope and intercept of Platt scaling on sets with verdicts, of equal weight, without the half `other`.

    >>> fitted({"condaqa": {}})  # claims alone have nothing to fit
    (1.0, 0.0)
    """
    columns = []
    for own in (sets[name] for name in VERDICTS if name in sets):
        kept = (np.array(own["halves"]) != other) & np.isin(own["labels"], (0, 1))
        weight = np.full(kept.sum(), 1 / max(1, kept.sum()))
        columns.append(np.stack([_odds(own)[kept], np.array(own["labels"])[kept], weight]))
    if not columns:
        return 1.0, 0.0
    odds, labels, weight = np.hstack(columns)
    model = LogisticRegression(C=1e6).fit(odds[:, None], labels, weight * len(weight) / weight.sum())
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def _odds(values: dict) -> np.ndarray:
    return logit(np.clip(values["probabilities"], 1e-6, 1 - 1e-6))


def scores(sets: dict) -> dict[str, dict[str, float]]:
    """Return {set: scores} of one judge, with one cross-fitted scale and threshold for all answers."""
    fits, table = [fitted(sets, own) for own in (0, 1)], {}
    for name, own in sets.items():
        odds, labels = _odds(own), np.array(own["labels"])
        scaled = expit(np.choose(own["halves"], [slope * odds + intercept for slope, intercept in fits]))
        table[name] = {"rows": len(labels)}
        plain = np.isin(labels, (0, 1))
        if len(np.unique(labels)) > 2:
            table[name]["r"] = float(pearsonr(scaled, labels)[0])
            if len(np.unique(labels[plain])) < 2:
                continue
        table[name]["AUC"] = float(roc_auc_score(labels[plain], odds[plain]))
        if name not in CLAIMS:
            table[name]["accuracy"] = float(((scaled >= 0.5) == labels)[plain].mean())
            table[name]["calibration error"] = calibration(scaled[plain], labels[plain] == 1)["ece"]
    return table


tables = filled(  # of all judges
    "cards/sizes.md.j2",
    SETS=(*VERDICTS, *GRADES, *CLAIMS),
    scores=lambda judges: {name: scores(sets) for name, sets in judges.items()},
)


def study(args: Arguments) -> dict:
    """Measure judges, one after the other; what else the result file has is kept, also the earlier commands."""
    result = read(args.json) if args.json and Path(args.json).is_file() else {"data": {}, "judges": {}}
    if "command" in result:
        result["command"] += f"; {command_line(__spec__.name, sys.argv[1:])}"
    for checkpoint in args.checkpoints:
        first, _, second = checkpoint.partition("+")
        name, digests = Path(checkpoint).name, {}
        if second:
            sets = paired(result["judges"], first, second)
        else:
            settings = {"device": args.device, "dtype": args.dtype, "batch_tokens": args.batch_tokens}
            sets, digests = measured(checkpoint, Path(args.data), args.rows, args.sets, **settings)
            if {*sets} & {*CLAIMS}:
                result.setdefault("grounding", {})[name] = checkpoint_digest(grounding_folder(checkpoint))
        result["data"] |= digests
        result["judges"][name] = result["judges"].get(name, {}) | sets
        if args.json:
            write_json(args.json, {"command": "interrupted"} | result)
        if args.calibrate:
            slope, intercept = fitted(sets)
            settings = {"slope": round(slope, 6), "intercept": round(intercept, 6), "threshold": 0.5}
            write_calibration(Path(checkpoint), settings)
    return result


STUDY = Study(__spec__.name, Arguments, study, tables)

if __name__ == "__main__":
    STUDY.main()
