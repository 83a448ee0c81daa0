"""Measure a judge of grounding on human verdicts and on small changes, beside word overlap; fit its probabilities.

An answer is as probable as its least probable sentence. Texts that state nothing are left out, as by the metric. One
scale and one threshold are fitted on all sets together, each verdict of each set with the same weight; verdicts on one
half of the passages are those of the fit on the other half.
"""

import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.core.checkpoints import checkpoint_digest, file_digest
from genqa_metrics.grounding.judging import Grounder, answer_of
from genqa_metrics.grounding.loading import checkpoint_folder, load_judge
from genqa_metrics.grounding.passages import content_keys
from genqa_metrics.grounding.sentences import sentences_of
from genqa_metrics.statistics.correlation import auc_limits
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score

from training.ava.measure_judges import half, platt, write_calibration
from training.ava.triples import as_claim
from training.common import command_line, json_rows, named_file, option, write_json
from training.studies.harness import Output, Study, filled, read

HERE = Path(__file__).parent
FOLDERS = ("grounding", "sentence_pairs", HERE)  # the first two below --data
SETS = "condaqa wice factcheck_gpt q_squared begin summedits plain_passages".split()
SMALL_CHANGES = HERE / "small_changes.jsonl"  # a passage, a true sentence, and right and wrong ones of each of `KINDS`
KINDS = ("negation", "detail", "day", "amount")
NOT_FITTED = ("q_squared",)  # replies in a dialogue, whose labels rest on the turn before, which is not read
DECIDED = 15.0  # greatest size of a logit, also of a sentence that is decided without the judge


@dataclass
class Arguments(Output):
    """The judge that is measured, and the data."""

    data: str = option("folder with grounding and sentence_pairs")
    checkpoint: str | None = option("large or a folder; default: large", None)
    sets: list[str] = option("names of dev files; without any, only the small changes", SETS)
    rows: int = option("rows of a set at most, drawn with seed 0", 160)
    calibrate: bool = option("write scale and threshold into the folder", False)


def sampled_rows(path: Path, most: int) -> list[dict]:
    """Return rows of a dev file with "question", "context", "candidate" and "label", 0 or 1, that state something."""
    rows = [row for row in map(as_claim, json_rows(path)) if row["label"] is not None]
    rows = random.Random(0).sample(rows, min(most, len(rows)))
    rows = [row for row in rows if any(sentence.states for sentence in sentences_of(answer_of(row["candidate"])))]
    return [row | {"question": row["question"] or "", "label": int(row["label"])} for row in rows]


def small_changes() -> list[dict]:
    """Return the rows of `SMALL_CHANGES`: a right or a wrong sentence, behind a true one but for negations."""
    rows = []
    for passage in json_rows(SMALL_CHANGES):
        for kind in KINDS:
            right, wrong = (None, passage[kind]) if kind == "detail" else passage[kind]
            for label, sentence in ((1, right), (0, wrong)):
                text = sentence if kind == "negation" else f"{passage['true']} {sentence or ''}".strip()
                rows.append({"kind": kind, "question": "", "context": passage["context"], "candidate": text})
                rows[-1]["label"] = label
    return rows


def logits(grounder: Grounder, rows: Sequence[Mapping]) -> np.ndarray:
    """Return (rows,) logits of the least probable sentences, before any scaling."""
    loaded = grounder.reader.loaded
    columns = [[row[name] for row in rows] for name in ("question", "candidate")]
    verdicts = grounder.verdicts(*columns, [[row["context"]] for row in rows])
    lowest = [min(verdict.probability for verdict in answer if verdict.sentence.states) for answer in verdicts]
    scaled = logit(np.clip(lowest, 1e-9, 1 - 1e-9))
    return np.clip((scaled - loaded.intercept) / loaded.slope, -DECIDED, DECIDED)


def overlap(rows: Sequence[Mapping]) -> list[float]:
    """Return (rows,) shares of the words of a candidate, function words left out, that are in its passage."""
    keys = [(content_keys(row["candidate"]), content_keys(row["context"])) for row in rows]
    return [round(len(wanted & in_passage) / max(1, len(wanted)), 4) for wanted, in_passage in keys]


def fitted(sets: Mapping[str, Mapping], other: int | None = None) -> tuple[float, float, float]:
    """Return slope and intercept of Platt scaling, and threshold, without the half `other` of the passages.

    Right and wrong texts of every set have the same weight. Of equally good thresholds it is the one in the middle.

    >>> fitted({})
    (1.0, 0.0, 0.5)
    """
    columns = []
    for measured in (sets[name] for name in sets if name not in NOT_FITTED):
        labels, kept = np.array(measured["labels"]), np.array(measured["halves"]) != other
        for label in (0, 1):
            scores = np.array(measured["logits"])[kept & (labels == label)]
            columns.append(np.stack([scores, np.full(len(scores), label), np.full(len(scores), 1 / len(scores))]))
    if not columns:
        return 1.0, 0.0, 0.5
    scores, labels, weights = np.hstack(columns)
    slope, intercept = platt(scores, labels, weights * len(weights) / weights.sum())
    probabilities, grid = expit(slope * scores + intercept), np.arange(0.05, 0.951, 0.01)
    errors = np.array([weights[(probabilities >= threshold) != labels].sum() for threshold in grid])
    return slope, intercept, float(np.median(grid[errors <= errors.min() + 1e-9]))


def passed(scores: np.ndarray, scaling: Sequence[float]) -> np.ndarray:
    """Return which logits are of supported texts, by slope, intercept and threshold."""
    slope, intercept, threshold = scaling
    return expit(slope * np.asarray(scores) + intercept) >= threshold


def scores(sets: Mapping[str, Mapping]) -> dict[str, dict]:
    """Return {set: AUC, interval, AUC of shared words, shares of wrong texts that pass and of right ones flagged}."""
    fits, result = [fitted(sets, side) for side in (0, 1)], {}
    for name, measured in sets.items():
        labels, halves, logits_of_set = (np.array(measured[column]) for column in ("labels", "halves", "logits"))
        passes = np.choose(halves, [passed(logits_of_set, fit) for fit in fits])
        wrong_pass, right_flagged = passes[labels == 0].mean(), 1 - passes[labels == 1].mean()
        auc, *ends = auc_limits(logits_of_set, labels == 1, np.arange(len(labels)))
        result[name] = {
            "rows": len(labels),
            "auc": auc,
            "interval": ends,
            "overlap": float(roc_auc_score(labels, measured["overlap"])),
            "wrong_pass": float(wrong_pass),
            "right_flagged": float(right_flagged),
            "balanced_accuracy": float(1 - (wrong_pass + right_flagged) / 2),
        }
    return result


def errors(sets: Mapping[str, Mapping]) -> tuple[tuple[float, float, float], ...]:
    """Return mean, least and most over sets of the shares of wrong texts that pass and of right ones flagged."""
    columns = [[of[name] for of in scores(sets).values()] for name in ("wrong_pass", "right_flagged")]
    return tuple((float(np.mean(shares)), min(shares), max(shares)) for shares in columns)


def changes_judged(result: Mapping) -> dict[str, tuple[int, int]]:
    """Return {kind of small change: (wrong texts that are rejected, right ones that pass)}, each of 20."""
    verdicts = passed(result["small_changes"], result["scaling"])
    judged = [(row["kind"], row["label"], bool(v)) for row, v in zip(small_changes(), verdicts, strict=True)]
    return {kind: tuple(judged.count((kind, label, bool(label))) for label in (0, 1)) for kind in KINDS}


table = filled("cards/grounding.md.j2", scores=scores, changes=changes_judged)


def study(args: Arguments) -> dict:
    """Measure a judge; what else the result file has is kept."""
    folder = checkpoint_folder(args.checkpoint)
    grounder = Grounder(load_judge(folder))
    result = read(args.json) if args.json and Path(args.json).is_file() else {"sets": {}, "digests": {}}
    result |= {"command": command_line(__spec__.name, sys.argv[1:]), "checkpoint": checkpoint_digest(folder)}
    result["small_changes"] = logits(grounder, small_changes()).round(3).tolist()
    result["digests"][SMALL_CHANGES.name] = file_digest(SMALL_CHANGES)
    folders = [str(Path(args.data) / name) for name in FOLDERS]
    for name in args.sets:
        path = named_file("data", f"{name}.dev", folders)
        rows = sampled_rows(path, args.rows)
        result["digests"][path.name] = file_digest(path)
        result["sets"][name] = {
            "labels": [row["label"] for row in rows],
            "halves": [half(row["context"]) for row in rows],
            "logits": logits(grounder, rows).round(3).tolist(),
            "overlap": overlap(rows),
        }
        auc = roc_auc_score(result["sets"][name]["labels"], result["sets"][name]["logits"])
        print(f"{name}: AUC {auc:.3f} on {len(rows)} rows", file=sys.stderr, flush=True)
        if args.json:
            write_json(args.json, result)
    result["scaling"] = [round(number, 4) for number in fitted(result["sets"])]
    if args.calibrate:
        write_calibration(folder, dict(zip(("slope", "intercept", "threshold"), result["scaling"], strict=True)))
    return result


STUDY = Study(__spec__.name, Arguments, study, table, {"judges": "large"})

if __name__ == "__main__":
    STUDY.main()
