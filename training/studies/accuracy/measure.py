"""Measure on real judgments how often the intervals of `genqa-metrics accuracy` hold the truth, and how wide they are.

For every system of EVOUNA labels are drawn, many times, as `genqa-metrics label` draws them, and the interval is
compared with the accuracy that all labels give, of questions like these, drawn in every repeat.
--measured writes beside a checkpoint how often its judge is right, for intervals without labels. The bundled judge was
trained on the sets that end in .train, where it errs less: they are reported apart, and nothing is measured on them.
"""

import hashlib
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.ava.loading import checkpoint_folder
from genqa_metrics.ava.scorer import profile
from genqa_metrics.core.judge_model import MEASURED_FILE, MUST_BE_EQUAL
from genqa_metrics.registry import make_scorer
from genqa_metrics.statistics.estimation import prediction_powered
from genqa_metrics.statistics.intervals import COUNTS, pooled, read_counts, rogan_gladen
from genqa_metrics.verbs.calibrate.calibration import error_counts
from genqa_metrics.verbs.label.labelling import pareto_sample, probabilities

from training import common
from training.common import option
from training.studies.harness import Output, Study, digests, filled, versions

HERE = Path(__file__).parent
TRUTH = "questions like these"  # what is estimated
UNSEEN, SEEN = "not seen by the judge", "trained on"
WAYS = {"alone": "labels alone", "chance": "with the judge, by chance", "active": "with the judge, as `label` draws"}


@dataclass
class Arguments(Output):
    """What the command line takes."""

    judgments: str = option("folder of NAME.jsonl.gz")
    sets: list[str] = option(
        "names of sets with labels", [f"evouna_{name}.{split}" for split in ("dev", "train") for name in ("nq", "tq")]
    )
    questions: int = option("of every set the first questions only; 0 for all", 0)
    labels: int = option("rows of every system to label", 100)
    repeats: int = option("draws of labels", 200)
    seed: int = option("of the draws", 0)
    checkpoint: str | None = option("folder of a judge; the bundled one if none", None)
    scores: str = option("folder of verdicts, kept and reused", str(HERE / "scores"))
    dtype: str | None = option("torch type that the judge runs in; default: the judge's own engine", None)
    escalate: str | None = option("a second judge, for the rows of which the first is unsure", None)
    measured: bool = option("write beside the checkpoint how often it errs, on sets it has not seen", False)


def judged_set(args: Arguments, name: str, scorer) -> tuple[list[dict], dict[str, list], np.ndarray]:
    """Return the rows of a set, their columns, and (rows, 2) verdicts and probabilities, kept in a file."""
    rows = list(common.json_rows(Path(args.judgments) / f"{name}.jsonl.gz"))
    kept = set(list(dict.fromkeys(row["question"] for row in rows))[: args.questions or None])
    rows = [row for row in rows if row["question"] in kept]
    columns = {
        "questions": [row["question"] for row in rows],
        "references": [row["references"] for row in rows],
        "predictions": [row["candidate"] if "candidate" in row else row["prediction"] for row in rows],
    }
    texts = [list(row) for row in zip(*columns.values(), strict=True)]
    key = hashlib.sha256(json.dumps([scorer.signature, texts]).encode()).hexdigest()[:16]
    path = Path(args.scores) / f"accuracy_{key}.npy"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, scorer.statistics(columns)[0][:, :2])
    return rows, columns, np.load(path)


def repeated(human: np.ndarray, judge: np.ndarray, labels: int, repeats: int, rng) -> dict[str, dict]:
    """Return for each way how often its interval held the truth for questions like these, and its mean width."""
    truth, number = human.mean(), len(human)
    places = rng.integers(number, size=(repeats, number))
    people, guesses, results = human[places], judge[places], {}
    even, active = np.full(places.shape, labels / number), np.array([probabilities(row, labels) for row in guesses])
    for way in WAYS:
        odds = active if way == "active" else even
        is_labelled = np.array([pareto_sample(row, rng.random(number), labels) for row in odds])
        result = prediction_powered(guesses, np.where(is_labelled, people, np.nan), odds)
        estimate, low, high = result.value, result.low, result.high
        if way == "alone":
            estimate, low, high = result.labels_value, result.labels_low, result.labels_high
        means = {
            "held": ((low <= truth + 1e-12) & (truth - 1e-12 <= high)).mean(),
            "width": (high - low).mean(),
            "error": np.sqrt(((estimate - truth) ** 2).mean()),
            "bias": (estimate - truth).mean(),
        }
        results[way] = {name: float(mean) for name, mean in means.items()}
    return results


def without_labels(systems: list[dict]) -> list[dict]:
    """Return for every system the interval of the judge alone, measured on the other systems."""
    intervals = []
    for number, system in enumerate(systems):
        others = read_counts(result for i, result in enumerate(systems) if i != number)
        rows = system["correct"] + system["incorrect"]
        accepted, truth = system["accepted"] + system["incorrect"] - system["rejected"], system["correct"] / rows
        errors = pooled(others) if others else (1, 1, 1, 1)  # of one system the judge's rate
        estimate, low, high = (float(end) for end in rogan_gladen(accepted, rows, *errors))
        ends = {"accuracy": estimate, "low": min(low, estimate), "high": max(high, estimate), "method": "measured"}
        intervals.append(ends | {"held": bool(ends["low"] <= truth <= ends["high"])})
    return intervals


def summary(systems: list[dict]) -> dict[str, dict]:
    """Return for each way the means over systems of the results of `repeated`, and the extremes of `held`."""
    means: dict[str, dict] = {}
    for way in WAYS:
        results = [system[TRUTH][way] for system in systems]
        averages = {name: float(np.mean([result[name] for result in results])) for name in results[0]}
        held = [result["held"] for result in results]
        alone = float(np.mean([system[TRUTH]["alone"]["width"] for system in systems]))
        more = {"least_held": min(held), "most_held": max(held), "narrower": 1 - averages["width"] / alone}
        means[way] = averages | more
    return {TRUTH: means}


def groups_of(systems: list[dict]) -> dict[str, list[dict]]:
    """Return the systems whose answers the judge has not seen, those that it was trained on, and all."""
    groups = {name: [s for s in systems if s["set"].endswith(".train") == (name == SEEN)] for name in (UNSEEN, SEEN)}
    groups = {name: group for name, group in groups.items() if group}
    return groups | ({"all": systems} if len(groups) > 1 else {})


def studied(args: Arguments, scorer) -> tuple[list[dict], dict[str, str], dict[str, float]]:
    """Return the intervals and counts of every system, the digests of the sets, and the profile of unseen ones."""
    rng, systems, like = np.random.default_rng(args.seed), [], Counter()
    for name in args.sets:
        rows, columns, numbers = judged_set(args, name, scorer)
        human = np.array([row["label"] for row in rows], dtype=float)
        if args.measured and not name.endswith(".train"):
            like.update(profile(columns["references"], columns["predictions"], numbers[:, 1]))
        for system in dict.fromkeys(row["system"] for row in rows):
            mine = np.array([row["system"] == system for row in rows])
            result = {"set": name, "system": system, "rows": int(mine.sum()), "accuracy": float(human[mine].mean())}
            result |= {name: int(count) for name, count in error_counts(numbers[mine, 0], human[mine]).items()}
            result[TRUTH] = repeated(human[mine], numbers[mine, 1], args.labels, args.repeats, rng)
            systems.append(result)
            print(name, system, file=sys.stderr)
    return systems, digests(args.sets, args.judgments), dict(sorted(like.items()))


def measured(systems: list[dict], data: dict[str, str], scorer, command: str) -> dict:
    """Return the content of `measured.json` for a judge: see `verbs.judge_errors`."""
    unseen = groups_of(systems).get(UNSEEN, [])
    if not unseen:
        raise ValueError("measured: needs a set that the judge has not seen; name one in --sets: evouna_nq.dev")
    total = {name: sum(system[name] for system in unseen) for name in COUNTS}
    judge = (*MUST_BE_EQUAL, "dtype", "backend", "escalate")
    return {
        **{name: scorer.facts[name] for name in judge if name in scorer.facts},
        "sensitivity": round(total["accepted"] / total["correct"], 6),
        "specificity": round(total["rejected"] / total["incorrect"], 6),
        "command": command,
        "data": {name: digest for name, digest in data.items() if any(system["set"] == name for system in unseen)},
        "systems": [{name: system[name] for name in ("set", "system", *COUNTS)} for system in unseen],
    }


def study(args: Arguments) -> dict:
    """Return the intervals of all systems; with --measured write measured.json."""
    settings = ((name, getattr(args, name)) for name in ("checkpoint", "dtype", "escalate"))
    scorer = make_scorer("ava", {name: setting for name, setting in settings if setting is not None})
    systems, data, like = studied(args, scorer)
    if args.measured:
        command = common.command_line(__spec__.name, sys.argv[1:])
        facts = measured(systems, data, scorer, command) | {"profile": like}
        name = MEASURED_FILE if args.escalate is None else f"measured_{Path(args.escalate).name}.json"
        common.write_json(checkpoint_folder(args.checkpoint) / name, facts)
    return {
        "versions": versions("genqa-metrics"),
        "judge": scorer.signature,
        "data": data,
        "labels": args.labels,
        "repeats": args.repeats,
        "seed": args.seed,
        "means": {name: summary(group) for name, group in groups_of(systems).items()},
        "without labels": without_labels(groups_of(systems).get(UNSEEN, [])),
        "systems": systems,
    }


TEXT = filled("accuracy/page.md.j2", groups_of=groups_of, WAYS=WAYS, TRUTH=TRUTH)
STUDY = Study(__spec__.name, Arguments, study, TEXT, {None: "accuracy"})

if __name__ == "__main__":
    STUDY.main()
