"""Measure judges of AVA: every number that cards and pages show of them, in one result file.

    python -m training.ava.measure_judges --judges small base large --data DATA --json training/ava/results/judges.json

1. Dev files: accuracy, F1, AUC, Pearson's r, calibration error, and the accuracy of systems against that by people.
   The scale is cross-fitted: that of one half of the questions is fitted on the other half. The threshold is 0.5.
2. Minimal pairs: how many of each kind are judged right, see `minimal_pairs`.
3. Families of forms that trained no judge: those that deceive, small differences, notations.

Judges that the result file has already are kept, and measured anew only if they are named again.
"""

import hashlib
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics import load
from genqa_metrics.ava.loading import checkpoint_folder
from genqa_metrics.core.checkpoints import checkpoint_digest, file_digest, read_json
from genqa_metrics.core.judge_model import SETTINGS_FILE, STATEMENT, read_settings
from genqa_metrics.core.scorer import UNSURE_FROM, UNSURE_TO
from genqa_metrics.statistics.thresholds import calibration
from scipy.special import expit, logit
from scipy.stats import pearsonr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score

from training.ava import minimal_pairs, row_builders
from training.ava.ranking import rank_agreement
from training.ava.triples import Triple, span_rows, stated, truth
from training.common import command_line, json_rows, named_file, option, write_json
from training.studies.harness import Output, Study, filled, read, rendered

FOLDERS = ("judgments", "judgments_more", "written")  # below --data
VERDICTS = "assistant written evouna_nq evouna_tq financebench truthfulqa scientsbank beetle saf_german".split()
GRADES = (
    "ar_asag sas_nqopen sas_squad mohler squality kpqa_marco kpqa_avsd kpqa_narrativeqa kpqa_semeval kpqa_marcomulti"
).split()
EVOUNA = ("evouna_nq", "evouna_tq")  # the only sets with answers of several systems
MEASURES = ("accuracy", "F1", "AUC", "r", "calibration error", "error of systems", "RMSE", "tau", "rows a second")
PARTS = ("sets", "pairs", "families")


@dataclass
class Arguments(Output):
    """Which judges are measured, on which rows, and how their scale is fitted."""

    judges: list[str] = option("small, base, large, or folders")
    data: str = option("folder of the data sets")
    parts: list[str] = option(f"what is measured: {', '.join(PARTS)}", list(PARTS))
    sets: list[str] = option("names of dev files", [*VERDICTS, *GRADES])
    rows: int = option("rows of a dev file at most", 400)
    family_rows: int = option("rows of each family", 40)
    spans: str = option("file of extractive QA, below DATA/span_qa, whose questions the families ask", "squad.dev")
    calibrate: bool = option("write scale and threshold into the folder of the one judge", False)
    dtype: str | None = option("float32 or bfloat16 of torch; default: the judge's own engine", None)
    device: str = option("torch device", "cpu")
    seed: int = option("of the rows of families", 0)


def half(question: str) -> int:
    """Return 0 or 1, the half of the data that a question falls into, by its hash."""
    return hashlib.sha1(question.lower().encode()).digest()[0] % 2


def platt(logits: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> tuple[float, float]:
    """Return slope and intercept of Platt scaling, the logistic regression of labels on logits."""
    model = LogisticRegression(C=1e6).fit(logits[:, None], labels, weights)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def dev_rows(name: str, args: Arguments) -> tuple[list[dict], str]:
    """Return at most `args.rows` judged rows of a dev file, drawn at random, and the file's digest."""
    path = named_file("data", f"{name}.dev", [str(Path(args.data) / folder) for folder in FOLDERS])
    rows = [row for row in json_rows(path) if truth(row) is not None]
    return random.Random(0).sample(rows, min(args.rows, len(rows))), file_digest(path)


def measured_set(ava, name: str, rows: list[dict]) -> dict[str, list | float]:
    """Return probability, label, half and system of every row of a dev file, and rows per second of processor time."""
    columns = {"predictions": [row["candidate"] for row in rows], "references": [row["references"] for row in rows]}
    columns["questions"] = [row.get("question") or STATEMENT for row in rows]
    start = time.process_time()
    results = ava.compute(**columns, per_example=True)
    seconds = time.process_time() - start
    result = {
        "probabilities": [round(float(probability), 4) for probability in results["ava_score_per_example"]],
        "labels": [float(truth(row)) for row in rows],
        "halves": [half(row.get("question") or row["candidate"]) for row in rows],
        "rows_a_second": round(len(rows) / seconds, 2),
    }
    return result | ({"systems": [row["system"] for row in rows]} if name in EVOUNA else {})


def families(args: Arguments) -> list[Triple]:
    """Return `family_rows` rows of each family, in forms and with questions that trained no judge."""
    rng, rows = random.Random(args.seed), []
    sentences = stated(span_rows(args.spans, Path(args.data) / "span_qa"))
    builder = row_builders.Builder(sentences, rng, trained=False)
    for kind in ("deceptions", "details", "misspelt_names", "notations"):
        for family in row_builders.TEMPLATES[kind]:
            rows += builder.rows(kind, args.family_rows, family)
    return rows


def errors_by_family(verdicts: Sequence[int], rows: Sequence[Triple]) -> dict[str, dict[str, int]]:
    """Return {family: counts of wrong and right answers, of wrong ones accepted and of right ones rejected}."""
    counts: dict[str, dict[str, int]] = {}
    for row, verdict in zip(rows, verdicts, strict=True):
        family = counts.setdefault(row.kind, dict.fromkeys(("wrong", "accepted", "right", "rejected"), 0))
        family["right" if row.label else "wrong"] += 1
        family["rejected" if row.label else "accepted"] += verdict != row.label
    return counts


def odds(rows: Mapping) -> np.ndarray:
    """Return (rows,) logits of the probabilities of a measured set."""
    return logit(np.clip(rows["probabilities"], 1e-6, 1 - 1e-6))


def system_accuracies(verdicts: np.ndarray, labels: np.ndarray, systems: Sequence[str]) -> np.ndarray:
    """Return (2, systems): the mean verdict of the judge and of people for every system, in order of their names."""
    names = np.array(systems)
    return np.array([(verdicts[names == name].mean(), labels[names == name].mean()) for name in sorted(set(names))]).T


def pooled(sets: Mapping[str, Mapping], names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the columns of sets of rows together; systems of different sets are different ones."""
    systems = [[f"{name} {system}" for system in sets[name].get("systems", ())] for name in names]
    columns = {key: [np.asarray(sets[name][key]) for name in names] for key in ("probabilities", "labels", "halves")}
    return {key: np.concatenate(arrays) for key, arrays in columns.items()} | {"systems": np.concatenate(systems)}


def fitted(sets: Mapping[str, Mapping], left_out: int | None = None) -> dict[str, float]:
    """Return slope and intercept that fit the verdicts of all sets alike, without those of the half `left_out`.

    >>> fitted({})  # nothing to fit
    {'slope': 1.0, 'intercept': 0.0}
    """
    names = [name for name in VERDICTS if name in sets]
    if not names:
        return {"slope": 1.0, "intercept": 0.0}
    rows, sizes = pooled(sets, names), [len(sets[name]["labels"]) for name in names]
    kept = (rows["halves"] != left_out) & np.isin(rows["labels"], (0, 1))
    numbers = np.repeat(np.arange(len(names)), sizes)[kept]
    weights = 1 / np.bincount(numbers, minlength=len(names))[numbers]
    slope, intercept = platt(odds(rows)[kept], rows["labels"][kept], weights * len(weights) / weights.sum())
    return {"slope": slope, "intercept": intercept}


def scores(sets: Mapping[str, Mapping]) -> dict[str, dict[str, float]]:
    """Return {set: its rows and scores by `MEASURES`} of one judge; both sets of EVOUNA together are "evouna"."""
    fits, table = [fitted(sets, left_out) for left_out in (0, 1)], {}
    if {*EVOUNA} <= {*sets} and all("systems" in sets[name] for name in EVOUNA):
        sets = {**sets, "evouna": pooled(sets, EVOUNA)}
    for name, rows in sets.items():
        logits, labels, halves = odds(rows), np.array(rows["labels"]), np.array(rows["halves"])
        probabilities = expit(np.choose(halves, [of["slope"] * logits + of["intercept"] for of in fits]))
        verdicts = probabilities >= 0.5
        table[name] = {"rows": len(labels)}
        if "rows_a_second" in rows:
            table[name]["rows a second"] = rows["rows_a_second"]
        if not np.isin(labels, (0, 1)).all():  # grades
            table[name]["r"] = float(pearsonr(probabilities, labels)[0])
            continue
        table[name]["AUC"] = float(roc_auc_score(labels, logits)) if len(np.unique(labels)) > 1 else 0.0
        table[name]["accuracy"] = float((verdicts == labels).mean())
        table[name]["F1"] = float(f1_score(labels, verdicts))
        table[name]["calibration error"] = calibration(probabilities, labels == 1)["ece"]
        if "systems" in rows:
            judged, true = system_accuracies(verdicts, labels, rows["systems"])
            agreement = rank_agreement(judged, true)
            table[name] |= {"error of systems": float(np.abs(judged - true).mean())}
            table[name] |= {"RMSE": agreement["rmse"], "tau": agreement["tau"]}
    return table


def escalated(first: Mapping, second: Mapping) -> dict:
    """Return the measures of a judge that hands over answers of which it is unsure to a second one."""
    shift = logit(first["settings"]["threshold"]) - logit(second["settings"]["threshold"])
    sets = {}
    for name in first["sets"].keys() & second["sets"].keys():
        rows = first["sets"][name]
        if rows["labels"] != second["sets"][name]["labels"]:
            continue
        probabilities = np.array(rows["probabilities"])
        is_unsure = (probabilities > UNSURE_FROM) & (probabilities < UNSURE_TO)
        both = np.where(is_unsure, expit(odds(second["sets"][name]) + shift), probabilities)
        kept = {key: rows[key] for key in ("labels", "halves", "systems") if key in rows}
        sets[name] = kept | {"probabilities": both.round(4).tolist()}
    return {"sets": sets}


def table_of_sets(result: Mapping) -> str:
    """Return Markdown: of several judges a table for each measure, of one judge a table with all measures."""
    judges = {name: judge for name, judge in result["judges"].items() if "sets" in judge}
    for name in ("small", "base"):
        if {name, "large"} <= judges.keys():
            judges[f"{name}+large"] = escalated(judges[name], judges["large"])
    tables = {name: scores(judge["sets"]) for name, judge in judges.items()}
    measures = [name for name in MEASURES if any(name in row for table in tables.values() for row in table.values())]
    order = *VERDICTS, "evouna", *GRADES
    return rendered("cards/judges.md.j2", judges=tables, sets=order, measures=measures)


tables_of_counts = filled("cards/counts.md.j2", KINDS=minimal_pairs.KINDS)  # minimal pairs passed, errors by family


def all_tables(result: Mapping) -> str:
    """Return all tables of a result file."""
    return f"{table_of_sets(result)}\n{tables_of_counts(result)}".strip()


def recalibrated(judge: Mapping) -> dict[str, float]:
    """Return scale and threshold for a measured judge, whose probabilities have the scale of its settings."""
    before, settings = judge["settings"], fitted(judge["sets"])
    slope, intercept = settings["slope"] * before["slope"], settings["slope"] * before["intercept"]
    return {"slope": round(slope, 6), "intercept": round(intercept + settings["intercept"], 6), "threshold": 0.5}


def write_calibration(folder: Path, settings: Mapping[str, float]) -> None:
    """Write scale and threshold into the settings of a judge."""
    content = read_json(folder / SETTINGS_FILE) | settings
    (folder / SETTINGS_FILE).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def measured_judge(judge: str, args: Arguments, digests: dict[str, str]) -> dict:
    """Return the measures of one judge by `args.parts`, its digest and settings; adds the digests of data files."""
    folder = checkpoint_folder(judge)
    ava = load("ava", checkpoint=judge, device=args.device, dtype=args.dtype)
    result = {"checkpoint": checkpoint_digest(folder), "settings": read_settings(folder)}

    def verdicts(questions, references, predictions):
        columns = {"questions": questions, "references": references, "predictions": predictions}
        return list(map(int, ava.compute(**columns, per_example=True)["ava_label_per_example"]))

    if "sets" in args.parts:
        result["sets"] = {}
        for name in args.sets:
            rows, digests[f"{name}.dev"] = dev_rows(name, args)
            result["sets"][name] = measured_set(ava, name, rows)
            print(judge, name, len(rows), result["sets"][name]["rows_a_second"], "rows/s", file=sys.stderr, flush=True)
    if "pairs" in args.parts:
        result["pairs"] = minimal_pairs.pass_rates(verdicts)
    if "families" in args.parts:
        rows = families(args)
        columns = zip(*((row.question, list(row.references), row.candidate) for row in rows), strict=True)
        result["families"] = errors_by_family(verdicts(*map(list, columns)), rows)
    return result


def study(args: Arguments) -> dict:
    """Return the result file with these judges measured; other judges in it and earlier commands stay."""
    if wrong := [name for name in args.parts if name not in PARTS]:
        raise ValueError(f"parts: expected some of {', '.join(PARTS)}, got {wrong[0]!r}")
    if args.calibrate and (len(args.judges) > 1 or "sets" not in args.parts):
        raise ValueError("calibrate: expected the folder of one judge in --judges, and sets in --parts")
    result: dict = {"data": {}, "judges": {}}
    if args.json and Path(args.json).is_file():
        result = read(args.json)
    if "command" in result:
        result["command"] += f"; {command_line(__spec__.name, sys.argv[1:])}"
    result["seed"] = args.seed
    for judge in args.judges:
        name = Path(judge).name
        before, now = result["judges"].get(name, {}), measured_judge(judge, args, result["data"])
        if "sets" in before and "sets" in now:
            now["sets"] = before["sets"] | now["sets"]
        result["judges"][name] = before | now
        if args.json:
            write_json(args.json, {"command": "interrupted"} | result)
        if args.calibrate:
            write_calibration(checkpoint_folder(judge), recalibrated(result["judges"][name]))
    return result


STUDY = Study(__spec__.name, Arguments, study, all_tables)

if __name__ == "__main__":
    STUDY.main()
