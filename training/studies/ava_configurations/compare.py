"""Train every configuration of the paper on the same triples and compare them, as Table 4 of Vu & Moschitti (2021).

Each run is made by `train_ava.py` with the settings of `--config` and stops when dev AUC no longer rises;
an existing one is not made again, so that the command can be stopped and given again. Precision, recall and F1 of
"correct" and AUC are of all AVA-Pos and AVA-Neg of the test parts, without any rule around the model. Models see fewer
incorrect answers in training than there are, so the threshold is the one of the best F1 on dev. Intervals are over
questions and, where there are several, over seeds.
"""

import copy
import json
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.checkpoints import checkpoint_digest, file_digest
from genqa_metrics.core.judge_model import CONFIGURATIONS, LINEAR

from training.ava import triples as t
from training.common import option, train_once
from training.studies.ava_configurations.claims import best_threshold, resampled, summary, verdict
from training.studies.harness import Output, Study, digests, filled

TESTS = {"TREC-QA": "trecqa.test", "WikiQA": "wikiqa.test"}
DEV = ("trecqa.dev", "wikiqa.dev")
DEV_ROWS = 1000  # of each dev part at most, for the threshold
DECISIVE = ("a1-r_qt-t_qr", "a2", "a1-r_qt", "a0-all", "a0-rt")  # decide the paper's claims, so they come first
ORDER = (*DECISIVE, LINEAR, *(name for name in CONFIGURATIONS if name not in DECISIVE))


@dataclass
class Arguments(Output):
    """What is trained and measured; further words are train_ava.py's and go to every run."""

    as2: str = option("folder of the answer-sentence selection files")
    output: str = option("folder for the checkpoints")
    only: list[str] = option("configurations", list(ORDER))
    seeds: list[int] = option("seeds of training", [1])
    encoder: str | None = option("folder or Hub id of the encoder; default: that of KPQA's predictor", None)
    config: str = option("file of train_ava.py's arguments", str(Path(__file__).with_name("configurations.args")))
    trained: bool = option("measure finished runs, train none", False)
    kept: str | None = option("npz file of logits: its runs are not made again, others are added", None)
    dtype: str | None = option("floating type when measuring; default float32", None)


def reading_encoder(folder: Path) -> Path:
    """Write the encoder of KPQA's predictor, which has read questions beside sentences, and return its folder.

    A MiniLM that was made for the vectors of single texts has to learn first to compare two; on few rows it does not.
    """
    if (folder / "model.safetensors").is_file():
        return folder

    from genqa_metrics.kpqa.loading import load_models
    from transformers import AutoModel, set_seed

    set_seed(0)  # of the pooler, which a predictor of words has not
    models = load_models(device="cpu")
    encoder = AutoModel.from_config(copy.deepcopy(models.predictor.config))
    encoder.load_state_dict(models.predictor.base_model.state_dict(), strict=False)
    encoder.save_pretrained(folder)
    models.tokenizer.save_pretrained(folder)
    return folder


def run_folder(args: Arguments, configuration: str, seed: int) -> Path:
    """Return the folder of a run."""
    return Path(args.output) / configuration / f"seed{seed}"


def train(args: Arguments, more: list[str], configuration: str, seed: int) -> None:
    """Make a run unless it exists."""
    where = ["--config", args.config, "--as2_dir", args.as2, "--judged_dir", ".", "--encoder", args.encoder]
    settings = ["--configuration", configuration, "--seed", str(seed), *more]
    recipe = file_digest(Path(args.config))
    train_once("ava.train_ava", run_folder(args, configuration, seed), list(map(str, where)), settings, recipe)


def measured_rows(as2: str) -> dict[str, list[t.Triple]]:
    """Return the triples that are measured on: all of the test parts, and a sample of dev for the threshold."""
    rng = random.Random(0)
    rows = {name: list(t.as2_triples(t.as2_rows(name, as2), None, rng)) for name in (*DEV, *TESTS.values())}
    return rows | {name: random.Random(0).sample(rows[name], min(DEV_ROWS, len(rows[name]))) for name in DEV}


def run_logits(folder: Path, rows: dict[str, list[t.Triple]], dtype: str | None) -> dict[str, np.ndarray]:
    """Return the logits of a run for all rows."""
    loaded = load_judge(folder / "final", device="cpu", dtype=dtype)
    judge, is_linear = Judge(loaded), loaded.configuration == LINEAR

    def texts(row: t.Triple) -> tuple:
        return row.question, row.references[0], row.candidate, *([row.short_answer] if is_linear else [])

    result = {name: judge.logits([texts(row) for row in own]) for name, own in rows.items()}
    return {name: logits.astype(np.float16) for name, logits in result.items()}  # as they are kept


def read_kept(path: str | None, data: dict[str, str]) -> dict[str, dict]:
    """Return "configuration/seed" -> logits by part, and `facts`, of runs whose checkpoints may be gone.

    A missing file holds nothing; one whose logits are of other files than `data` is refused.
    """
    if path is None or not Path(path).is_file():
        return {}
    stored = dict(np.load(path))
    if json.loads(str(stored.pop("digests"))) != data:
        raise ValueError(f"kept: the logits in {path} are of other files than those in --as2; name another file")
    runs: dict[str, dict] = {}
    for name, values in stored.items():
        run, _, part = name.rpartition("/")
        runs.setdefault(run, {})[part] = json.loads(str(values)) if part == "facts" else values
    return runs


def write_kept(path: str, data: dict[str, str], runs: dict[str, dict]) -> None:
    """Write the logits and facts of runs, so that later ones can be compared with them."""
    values = {
        f"{run}/{part}": json.dumps(value) if part == "facts" else value
        for run, parts in runs.items()
        for part, value in parts.items()
    }
    np.savez_compressed(path, digests=json.dumps(data), **values)


def run_facts(folder: Path) -> dict:
    """Return what is noted of a run: steps, best AUC on dev, digest."""
    states = sorted(folder.glob("checkpoint-*/trainer_state.json"), key=lambda path: int(path.parent.name[11:]))
    history = json.loads(states[-1].read_text(encoding="utf-8"))["log_history"] if states else []
    values = [value for row in history for name, value in row.items() if name.endswith("_auc")]
    steps = history[-1]["step"] if history else 0
    return {"steps": steps, "dev_auc": max(values, default=None), "checkpoint": checkpoint_digest(folder / "final")}


def measured(args: Arguments, rows: dict[str, list[t.Triple]], kept: dict[str, dict]) -> dict:
    """Return runs, scores and claims; what is measured is added to `kept`."""
    runs, facts = {}, []
    for configuration in (name for name in ORDER if name in args.only):
        for seed in args.seeds:
            folder, name = run_folder(args, configuration, seed), f"{configuration}/{seed}"
            if name not in kept and (folder / "final/README.md").is_file():
                kept[name] = {**run_logits(folder, rows, args.dtype), "facts": run_facts(folder)}
            if name not in kept:
                continue
            logits = kept[name]
            dev = np.concatenate([logits[part] for part in DEV])
            threshold = best_threshold(dev, np.array([int(row.label) for part in DEV for row in rows[part]]))
            runs.setdefault(configuration, []).append((logits, threshold))
            facts.append({"configuration": configuration, "seed": seed, "threshold": threshold} | logits["facts"])
    if not runs:
        raise ValueError(f"--trained: no run in {args.output}; leave --trained out")
    runs = {name: runs[name] for name in (LINEAR, *CONFIGURATIONS) if name in runs}
    tests = {}
    for name, part in TESTS.items():
        own = {c: [(logits[part], threshold) for logits, threshold in run] for c, run in runs.items()}
        questions = len({row.question for row in rows[part]})
        tests[name] = {"questions": questions, "triples": len(rows[part])}
        tests[name] |= summary(resampled(rows[part], own, 0), questions)
    return {"runs": facts, "tests": tests}


def study(args: Arguments, more: list[str]) -> dict:
    """Train what is missing, and return the scores of all configurations."""
    if unknown := [name for name in args.only if name not in ORDER]:
        raise ValueError(f"--only: expected some of {', '.join(ORDER)}, got {unknown[0]!r}")
    if not args.encoder and not args.trained:
        args.encoder = reading_encoder(Path(args.output) / "encoder")
    data = digests(("trecqa.train", "wikiqa.train", *DEV, *TESTS.values()), args.as2)
    kept = read_kept(args.kept, data)
    for seed in () if args.trained else args.seeds:
        for configuration in (name for name in ORDER if name in args.only):
            if f"{configuration}/{seed}" not in kept:
                train(args, more, configuration, seed)
    result = measured(args, measured_rows(args.as2), kept)
    if args.kept:
        write_kept(args.kept, data, kept)
    settings = Path(args.config).read_text(encoding="utf-8").split() + more
    return {"settings": settings, "data": data} | result


PLACES = {"configurations": "configurations"}
TEXT = filled("ava_configurations/tables.md.j2", CONFIGURATIONS=CONFIGURATIONS, verdict=verdict, zip=zip)
STUDY = Study(__spec__.name, Arguments, study, TEXT, PLACES, more=True)

if __name__ == "__main__":
    STUDY.main()
