"""Judges on a part of the dev sets, a minute for each: which of them is worth continuing.

A judge is a checkpoint, or made of several: of the mean of their weights, or of the mean of their logits, which is the
most that a judge distilled from them could learn. Accuracy has a threshold for each set, from the other half of the
questions; Pearson's r is that of probabilities without calibration.
"""

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.checkpoints import checkpoint_digest
from scipy.special import expit
from scipy.stats import pearsonr
from sklearn.metrics import roc_auc_score

from training.ava import evaluate_ava as e
from training.ava.mix_judges import mixed
from training.common import markdown_table, option
from training.folding import weighted_folders
from training.studies.harness import ExtendableOutput, Study, digests
from training.studies.judges import compare_judges as c

# Of every set, of how many of its questions one is taken.
SETS = dict.fromkeys("written evouna_nq scientsbank beetle financebench truthfulqa kpqa_marco".split(), 1)
SETS = {f"{name}.dev": of for name, of in (SETS | {"evouna_nq": 3, "truthfulqa": 4}).items()}
COLUMNS = dict.fromkeys(SETS, ("AUC",))  # what is measured on every set
COLUMNS |= {"written.dev": ("AUC", "right above wrong", "accuracy"), "kpqa_marco.dev": ("r",)}


def part(rows: list[dict], of: int) -> list[dict]:
    """Return the rows of one in `of` questions, by their hash."""
    return [row for row in rows if hashlib.md5(row["question"].encode()).digest()[0] % of == 0]


def logits_of(judge: Judge, sets: Mapping[str, list[dict]], turned: bool = False) -> dict[str, np.ndarray]:
    """Return the logits of the rows of every set, of the best reference; `turned` exchanges reference and answer."""
    found = {}
    for name, rows in sets.items():
        if not turned:
            found[name] = e.Dev(rows, judge, ("max",)).logits("max")
            continue
        pairs = [
            (i, row["question"], row["candidate"], text) for i, row in enumerate(rows) for text in row["references"]
        ]
        places, questions, candidates, references = map(list, zip(*pairs, strict=True))
        logits, of_row = judge.pairs(questions, [[text] for text in candidates], references, joined=False)
        best = np.full(len(rows), -np.inf)
        np.maximum.at(best, np.array(places)[of_row], logits)
        found[name] = best
    return found


def scores(logits: Mapping[str, np.ndarray], sets: Mapping[str, list[dict]]) -> dict[str, dict[str, float]]:
    """Return the numbers of `COLUMNS` by set."""
    found: dict[str, dict[str, float]] = {}
    for name, rows in sets.items():
        labels = np.array([row["score"] if row["label"] is None else row["label"] for row in rows], float)
        here = found[name] = {}
        if "r" in COLUMNS[name]:
            here["r"] = float(pearsonr(expit(logits[name]), labels)[0])
        else:
            here["AUC"] = float(roc_auc_score(labels, logits[name]))
        if "accuracy" in COLUMNS[name]:
            here["right above wrong"] = c.right_above_wrong(logits[name], rows)
            here["accuracy"] = c.cross_fitted_accuracy(logits[name], labels, c.halves_of(rows))
    return found


def table(results: Mapping[str, Mapping]) -> str:
    """Return the table of all judges in Markdown."""
    columns = [(name, what) for name, wanted in COLUMNS.items() for what in wanted]
    rows = [
        [judge, *(f"{found['sets'][name][what]:.3f}".removeprefix("0") for name, what in columns)]
        for judge, found in results.items()
    ]
    return markdown_table(["judge", *(f"{name.removesuffix('.dev')}: {what}" for name, what in columns)], rows)


def parts_of(texts: list[str], known: Mapping) -> dict[str, list[str]]:
    """Return the names of judges that others are made of, from NAME=JUDGE*0.8,JUDGE*0.2; weights may be left out."""
    found = {}
    for text in texts:
        name, _, parts = text.rpartition("=")
        found[name] = parts.split(",")
        if unknown := [part for part in found[name] if part.partition("*")[0] not in known]:
            raise ValueError(f"{name}: no judge {unknown[0]!r} among {', '.join(known)}")
    return found


@dataclass
class Arguments(ExtendableOutput):
    """What is measured on what."""

    judgments: list[str] = option("folders of the dev files")
    judges: list[str] = option("NAME=FOLDER of every judge")
    weights: list[str] = option("NAME=JUDGE*0.8,JUDGE*0.2: the mean of their weights", [])
    turned: list[str] = option("NAME=JUDGE: takes the reference for the answer", [])
    logits: list[str] = option("NAME=JUDGE,JUDGE: the mean of their logits", [])
    dtype: str | None = option("floating type of all models; default float32", None)


def study(args: Arguments) -> dict:
    """Return the scores of all judges."""
    folders = {text.rpartition("=")[0]: Path(text.rpartition("=")[2]) for text in args.judges}
    sets = {name: part(c.read(name, args.judgments), of) for name, of in SETS.items()}
    data = digests(sets, args.judgments)
    kept = args.earlier(data=data)
    weights, turned = parts_of(args.weights, folders), parts_of(args.turned, folders)
    weighted = {
        name: weighted_folders(name, [f"{folders[n.partition('*')[0]]}={n.partition('*')[2] or 1}" for n in names])
        for name, names in weights.items()
    }
    means = parts_of(args.logits, folders | weights | turned)
    logits, results = {}, {}
    for name in [*folders, *weights, *turned]:
        names = weights.get(name) or turned.get(name) or [name]
        first = folders[names[0].partition("*")[0]]
        loaded = load_judge(first, device="cpu", dtype=args.dtype)
        if name in weights:
            loaded = replace(loaded, model=mixed(weighted[name]).to(loaded.model.dtype).eval())
        logits[name] = logits_of(Judge(loaded), sets, name in turned)
        results[name] = {"sets": scores(logits[name], sets)}
        if name in folders:
            results[name]["checkpoint"] = checkpoint_digest(first)
        print(name, results[name]["sets"], file=sys.stderr, flush=True)
    for name, names in means.items():
        results[name] = {"sets": scores({of: np.mean([logits[n][of] for n in names], axis=0) for of in sets}, sets)}
    earlier = {name: found for name, found in kept["results"].items() if name not in results}
    return {"data": kept["data"] | data, "results": earlier | results}


STUDY = Study(__spec__.name, Arguments, study, lambda r: table(r["results"]), {"choices": "choices"})

if __name__ == "__main__":
    STUDY.main()
