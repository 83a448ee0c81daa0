"""Train every configuration of the paper on the same triples and compare them, as Table 4 of Vu & Moschitti (2021).

Each run is made by `train_ava.py` with --config unless it is there, and stops when dev AUC no longer rises. Scores are
of all AVA-Pos and AVA-Neg of the test parts, without any rule. Models see fewer incorrect answers in training than
there are, so the threshold is the one of the best F1 on dev. Intervals are over questions and seeds.
"""

import copy
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.ava_model import CONFIGURATIONS
from genqa_metrics.core.checkpoints import checkpoint_digest, file_digest
from genqa_metrics.core.judge_model import LINEAR
from genqa_metrics.kpqa.loading import load_models
from genqa_metrics.statistics.resampling import bootstrap_counts

from training.ava import triples as t
from training.common import option, train_once
from training.resampling import interval, resampled_auc
from training.studies.harness import Output, Study, digests, filled, read

TESTS = {"TREC-QA": "trecqa.test", "WikiQA": "wikiqa.test"}
DEV = ("trecqa.dev", "wikiqa.dev")
DEV_ROWS = 1000  # of each dev part at most, for the threshold
DECISIVE = ("a1-r_qt-t_qr", "a2", "a1-r_qt", "a0-all", "a0-rt")  # decide the paper's claims, so they come first
ORDER = (*DECISIVE, LINEAR, *(name for name in CONFIGURATIONS if name not in DECISIVE))

SAMPLES = 1000  # of the bootstrap
CLAIMS = (  # of section 6.2: the claim, the better configuration, the worse one
    ("encoders of all three texts are above the linear judge", "a0-all", LINEAR),
    ("one concatenated triple is above the linear judge", "a1-r_qt", LINEAR),
    ("question and answer alone tell more than reference and answer", "a0-qt", "a0-rt"),
    ("the question helps to compare reference and answer", "a0-all", "a0-rt"),
    ("the question helps in one concatenated triple", "a1-r_qt", "a0-rt"),
    ("one concatenated triple is above three pairs", "a1-r_qt", "a0-all"),
    ("two triples are above one", "a1-r_qt-t_qr", "a1-r_qt"),
    ("a third triple brings nothing", "a1-r_qt-t_qr", "a1-all"),
    ("peer attention is above the same pairs without", "a2", "a1-r_qt-t_qr"),
    ("peer attention is above one concatenated triple", "a2", "a1-r_qt"),
)


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

    from transformers import AutoModel, set_seed

    set_seed(0)  # of the pooler, which a predictor of words has not
    models = load_models(device="cpu")
    encoder = AutoModel.from_config(copy.deepcopy(models.predictor.config))
    encoder.load_state_dict(models.predictor.base_model.state_dict(), strict=False)
    encoder.save_pretrained(folder)
    models.tokenizer.save_pretrained(folder)
    return folder


def run_logits(folder: Path, rows: dict[str, list[t.Triple]], dtype: str | None) -> dict[str, np.ndarray]:
    """Return the logits of a run for all rows."""
    loaded = load_judge(folder / "final", device="cpu", dtype=dtype)
    judge, is_linear = Judge(loaded), loaded.configuration == LINEAR

    result = {}
    for name, judged in rows.items():
        texts = [(row.question, row.references[0], row.candidate, row.short_answer)[: 3 + is_linear] for row in judged]
        result[name] = judge.logits(texts).astype(np.float16)  # as they are kept
    return result


def read_kept(path: str | None, data: dict[str, str]) -> dict[str, dict]:
    """Return "configuration/seed" -> logits by part, and `facts`, of earlier runs; refuse those of other files."""
    if path is None or not Path(path).is_file():
        return {}
    stored = dict(np.load(path))
    if json.loads(str(stored.pop("digests"))) != data:
        raise ValueError(f"kept: the logits in {path} are of other files than those in --as2; name another file")
    runs: dict[str, dict] = {}
    for name, content in stored.items():
        run, _, name_of_set = name.rpartition("/")
        runs.setdefault(run, {})[name_of_set] = json.loads(str(content)) if name_of_set == "facts" else content
    return runs


def run_facts(folder: Path) -> dict:
    """Return steps, best AUC on dev and digest of a run."""
    states = sorted(folder.glob("checkpoint-*/trainer_state.json"), key=lambda path: int(path.parent.name[11:]))
    history = read(states[-1])["log_history"] if states else [{"step": 0}]
    auc = max((score for row in history for name, score in row.items() if name.endswith("_auc")), default=None)
    return {"steps": history[-1]["step"], "dev_auc": auc, "checkpoint": checkpoint_digest(folder / "final")}


def measured(args: Arguments, rows: dict[str, list[t.Triple]], kept: dict[str, dict]) -> dict:
    """Return runs, scores and claims; what is measured is added to `kept`."""
    runs, facts = {}, []
    for configuration in (name for name in ORDER if name in args.only):
        for seed in args.seeds:
            folder, name = Path(args.output) / configuration / f"seed{seed}", f"{configuration}/{seed}"
            if name not in kept and (folder / "final/README.md").is_file():
                kept[name] = {**run_logits(folder, rows, args.dtype), "facts": run_facts(folder)}
            if name not in kept:
                continue
            logits = kept[name]
            dev = np.concatenate([logits[data_set] for data_set in DEV])
            threshold = best_threshold(dev, np.array([int(row.label) for data_set in DEV for row in rows[data_set]]))
            runs.setdefault(configuration, []).append((logits, threshold))
            facts.append({"configuration": configuration, "seed": seed, "threshold": threshold} | logits["facts"])
    if not runs:
        raise ValueError(f"--trained: no run in {args.output}; leave --trained out")
    runs = {name: runs[name] for name in (LINEAR, *CONFIGURATIONS) if name in runs}
    tests = {}
    for name, data_set in TESTS.items():
        halves = {c: [(logits[data_set], threshold) for logits, threshold in run] for c, run in runs.items()}
        questions = len({row.question for row in rows[data_set]})
        tests[name] = {"questions": questions, "triples": len(rows[data_set])}
        tests[name] |= summary(resampled(rows[data_set], halves, 0), questions)
    return {"runs": facts, "tests": tests}


def best_threshold(logits: np.ndarray, labels: np.ndarray) -> float:
    """Return the logit from which "correct" has the best F1, half-way to the next lower one.

    >>> best_threshold(np.array([2.0, 1.0, 0.0, -1.0]), np.array([1, 1, 0, 0]))
    0.5
    """
    order = np.argsort(-logits, kind="stable")
    hits, predicted = np.cumsum(labels[order]), np.arange(1, len(labels) + 1)
    f1 = 2 * hits / (predicted + labels.sum())
    f1[:-1][np.diff(logits[order]) == 0] = 0  # equal logits are accepted together
    best = int(np.argmax(f1))
    return float(logits[order[best : best + 2]].mean())


def weighted_scores(logits: np.ndarray, labels: np.ndarray, threshold: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from (samples, rows) counts of rows to (samples, 4) precision, recall, F1 and AUC.

    >>> scores = weighted_scores(np.array([2.0, 1.0, -1.0]), np.array([1, 0, 1]), 0.0)
    >>> scores(np.array([[1, 1, 1], [2, 1, 0]])).round(3).tolist()
    [[0.5, 0.5, 0.5, 0.5], [0.667, 1.0, 0.8, 1.0]]
    """
    right, predicted = labels == 1, logits >= threshold

    def scores(counts: np.ndarray) -> np.ndarray:
        hits, accepted, true = (counts @ marks for marks in (right & predicted, predicted.astype(float), right))
        f1 = 2 * hits / np.maximum(1, accepted + true)
        area = resampled_auc(logits, right, counts)
        return np.stack([hits / np.maximum(1, accepted), hits / np.maximum(1, true), f1, area], axis=1)

    return scores


def resampled(
    rows: list[t.Triple], runs: dict[str, list[tuple[np.ndarray, float]]], seed: int
) -> dict[str, np.ndarray]:
    """Return the scores of configurations in the same bootstrap samples of questions; row 0 is all rows once.

    `runs` has per seed of training the (rows,) logits and the threshold. Of several seeds the mean counts, over seeds
    that are drawn with replacement too. Scores are (1 + SAMPLES, 4) precision, recall, F1, AUC.
    """
    labels = np.array([int(row.label) for row in rows])
    questions = {question: i for i, question in enumerate(dict.fromkeys(row.question for row in rows))}
    clusters = np.array([questions[row.question] for row in rows])
    functions = {name: [weighted_scores(run, labels, at) for run, at in by_seed] for name, by_seed in runs.items()}
    items = {name: [np.stack([f(np.ones((1, len(rows)))) for f in by_seed])] for name, by_seed in functions.items()}
    for counts in bootstrap_counts(clusters, SAMPLES, seed):
        for name, by_seed in functions.items():
            items[name].append(np.stack([f(counts) for f in by_seed]))
    scores, rng = {}, np.random.default_rng(seed)
    for name, by_seed in items.items():
        sampled = np.concatenate(by_seed, axis=1)  # seeds x samples x 4
        drawn = rng.integers(len(sampled), size=(1 + SAMPLES, len(sampled)))
        drawn[0] = np.arange(len(sampled))
        scores[name] = sampled[drawn, np.arange(1 + SAMPLES)[:, None]].mean(axis=1)
    return scores


def summary(scores: dict[str, np.ndarray], questions: int) -> dict:
    """Return scores, and for the paper's claims the differences of F1 and AUC, with intervals; see `resampled`."""

    def noted(sampled: np.ndarray) -> list[float]:
        return [float(sampled[0]), *map(float, interval(sampled[1:], questions))]

    names = "precision", "recall", "f1", "auc"
    result = {c: {n: noted(score[:, i]) for i, n in enumerate(names)} for c, score in scores.items()}
    claims = [
        {"claim": claim, "better": better, "worse": worse}
        | {n: noted(scores[better][:, i] - scores[worse][:, i]) for i, n in enumerate(names) if n in ("f1", "auc")}
        for claim, better, worse in CLAIMS
        if better in scores and worse in scores
    ]
    return {"scores": result, "claims": claims}


def verdict(difference: list[float]) -> str:
    """Return whether the claim that a difference is above 0 holds, by its interval.

    >>> verdict([0.02, 0.01, 0.03]), verdict([0.02, -0.01, 0.05]), verdict([-0.02, -0.03, -0.01])
    ('holds', 'open', 'the reverse')
    """
    return "holds" if difference[1] > 0 else "the reverse" if difference[2] < 0 else "open"


def study(args: Arguments, more: list[str]) -> dict:
    """Train the runs that are missing, and return the scores of all configurations."""
    if unknown := [name for name in args.only if name not in ORDER]:
        raise ValueError(f"--only: expected some of {', '.join(ORDER)}, got {unknown[0]!r}")
    if not args.encoder and not args.trained:
        args.encoder = reading_encoder(Path(args.output) / "encoder")
    data = digests(("trecqa.train", "wikiqa.train", *DEV, *TESTS.values()), args.as2)
    kept, recipe = read_kept(args.kept, data), file_digest(Path(args.config))
    where = ["--config", args.config, "--as2_dir", args.as2, "--judged_dir", ".", "--encoder", str(args.encoder)]
    for seed in () if args.trained else args.seeds:
        for name in (name for name in ORDER if name in args.only and f"{name}/{seed}" not in kept):
            settings = ["--configuration", name, "--seed", str(seed), *more]
            train_once("ava.train_ava", Path(args.output) / name / f"seed{seed}", where, settings, recipe)
    rng = random.Random(0)
    rows = {name: list(t.as2_triples(t.as2_rows(name, args.as2), None, rng)) for name in (*DEV, *TESTS.values())}
    rows |= {name: random.Random(0).sample(rows[name], min(DEV_ROWS, len(rows[name]))) for name in DEV}
    result = measured(args, rows, kept)
    if args.kept:
        arrays = {f"{run}/{name}": content for run, sets in kept.items() for name, content in sets.items()}
        arrays = {name: json.dumps(v) if name.endswith("/facts") else v for name, v in arrays.items()}
        np.savez_compressed(args.kept, digests=json.dumps(data), **arrays)
    settings = Path(args.config).read_text(encoding="utf-8").split() + more
    return {"settings": settings, "data": data} | result


PLACES = {"configurations": "configurations"}
TEXT = filled("ava_configurations/tables.md.j2", CONFIGURATIONS=CONFIGURATIONS, verdict=verdict, zip=zip)
STUDY = Study(__spec__.name, Arguments, study, TEXT, PLACES, more=True)

if __name__ == "__main__":
    STUDY.main()
