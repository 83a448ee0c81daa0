"""Calibrate a judge on dev files and report how well it agrees with people; writes the tables of README and card.

Agreement is counted on rows and on systems: the judge's accuracy of a system against people's (Vu & Moschitti, NAACL
2021, section 5.4). Platt scaling and threshold for one half of the questions come from the other half.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import Judge, aggregated
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.checkpoints import checkpoint_digest, file_digest
from genqa_metrics.core.judge_model import AGGREGATIONS, SETTINGS_FILE
from genqa_metrics.statistics.thresholds import calibration
from scipy.special import expit as sigmoid
from scipy.special import logit
from scipy.stats import pearsonr, spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from training.ava import minimal_pairs
from training.ava.ranking import rank_agreement
from training.ava.triples import truth
from training.common import json_rows, option, put_between_markers
from training.studies.harness import Output, Study, filled

BINARY = ("evouna_nq.dev", "evouna_tq.dev", "scientsbank.dev", "beetle.dev")
_GRADED = "sas_nqopen sas_squad mohler squality kpqa_marco kpqa_avsd kpqa_narrativeqa kpqa_semeval kpqa_marcomulti"
GRADED = tuple(f"{name}.dev" for name in _GRADED.split())
CALIBRATION = ("evouna_nq.dev", "evouna_tq.dev")  # verdicts on answers of systems, which give the threshold
CALIBRATED_HERE = (
    "These rows calibrated the judge. The scores of their verdicts are cross-fitted; on other rows measure again."
)


@dataclass
class Arguments(Output):
    """Which judge is measured."""

    judgments: str = option("folder of the files of human verdicts")
    checkpoint: str = option("folder of the judge")
    references: str | None = option("max, mean or joined: how references are combined; default: by the rows", None)
    calibrate: bool = option(f"write the fitted settings to its {SETTINGS_FILE}, and the tables to its card", False)


def platt(logits: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Return slope and intercept of Platt scaling, the logistic regression of labels on logits."""
    model = LogisticRegression(C=1e6).fit(logits[:, None], labels)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def system_accuracies(verdicts: np.ndarray, labels: np.ndarray, systems: list) -> np.ndarray:
    """Return (systems, 2): the mean verdict of the judge and of people for every system, in order of their names."""
    names = np.array([str(system) for system in systems])
    return np.array([(verdicts[names == n].mean(), labels[names == n].mean()) for n in sorted(set(names))])


def best_threshold(probabilities: np.ndarray, labels: np.ndarray, systems: list, by: str = "rmse") -> float:
    """Return the middle of the best thresholds (0.05, 0.055, ...) by RMSE over systems, as in the paper, or errors."""
    grid = np.arange(0.05, 0.951, 0.005)

    def loss(verdicts):
        if by == "error":
            return (verdicts != labels).mean()
        judged, true = system_accuracies(verdicts, labels, systems).T
        return np.sqrt(((judged - true) ** 2).mean())

    losses = np.array([loss(probabilities >= threshold) for threshold in grid])
    return float(np.round(np.median(grid[losses <= losses.min() + 1e-12]), 4))


def half(question: str) -> int:
    """Return 0 or 1, the half of the data that a question falls into, by its hash."""
    return hashlib.sha1(question.lower().encode()).digest()[0] % 2


class Dev:
    """A dev file; `logits`: way to combine references (max and mean take long) -> (rows,), not calibrated."""

    def __init__(self, rows: list[dict], judge: Judge, ways: tuple[str, ...]):
        self.rows = rows
        self.labels = np.array([truth(row) for row in rows], float)
        self.systems = [f"{row['source']} {row['system']}" for row in rows]
        self.halves = np.array([half(row["question"]) for row in rows])
        columns = [[row[name] for row in rows] for name in ("question", "references", "candidate")]
        pairs = {joined: judge.pairs(*columns, joined) for joined in {how == "joined" for how in ways}}
        self.logits = {}
        for how in ways:
            logits, of_row = pairs[how == "joined"]
            probabilities = aggregated(sigmoid(logits), of_row, len(rows), how)
            self.logits[how] = logit(np.clip(probabilities, 1e-12, 1 - 1e-12))


def fitted(devs: dict[str, Dev], how: str, leave: int | None = None) -> dict:
    """Return the settings fitted on `CALIBRATION` together, without the half `leave` of the questions."""

    def column(get):
        return np.concatenate([np.asarray(get(devs[name]))[devs[name].halves != leave] for name in CALIBRATION])

    logits, labels, systems = (
        column(get) for get in (lambda d: d.logits[how], lambda d: d.labels, lambda d: d.systems)
    )
    slope, intercept = platt(logits, labels)
    threshold = best_threshold(sigmoid(slope * logits + intercept), labels, list(systems))
    return {"slope": slope, "intercept": intercept, "threshold": threshold, "reference_aggregation": how}


def scaled(dev: Dev, how: str, settings: dict) -> np.ndarray:
    """Return the calibrated probabilities of the rows of a dev file."""
    return sigmoid(settings["slope"] * dev.logits[how] + settings["intercept"])


def cross_fitted(devs: dict[str, Dev], how: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return, by file, probabilities and verdicts of its rows, each by a fit on the other half of the questions."""
    fits, result = [fitted(devs, how, leave=half) for half in (0, 1)], {}
    for name, dev in devs.items():
        probabilities = np.choose(dev.halves, [scaled(dev, how, settings) for settings in fits])
        thresholds = np.choose(dev.halves, [settings["threshold"] for settings in fits])
        result[name] = probabilities, (probabilities >= thresholds).astype(float)
    return result


def together(devs: dict[str, Dev], results: dict[str, tuple]) -> tuple:
    """Return probabilities and verdicts (see `cross_fitted`), labels and systems of the rows of `CALIBRATION`."""
    columns = zip(*((*results[name], devs[name].labels, devs[name].systems) for name in CALIBRATION), strict=True)
    probabilities, verdicts, labels, systems = map(np.concatenate, columns)
    return probabilities, verdicts, labels, systems.tolist()


def row_scores(probabilities: np.ndarray, verdicts: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return accuracy, precision, recall and F1 of "correct", AUC and expected calibration error."""
    of_correct = precision_recall_fscore_support(labels, verdicts, average="binary", zero_division=0)[:3]
    accuracy, auc = (verdicts == labels).mean(), roc_auc_score(labels, probabilities)
    values = accuracy, *of_correct, auc, calibration(probabilities, labels == 1)["ece"]
    names = ("accuracy", "precision", "recall", "f1", "auc", "calibration_error")
    return dict(zip(names, map(float, values), strict=True))


def system_scores(verdicts: np.ndarray, labels: np.ndarray, systems: list) -> dict:
    """Return how near the judge's accuracies of systems are to those by people, see `ranking.rank_agreement`."""
    judged, true = system_accuracies(verdicts, labels, systems).T
    errors = judged - true
    result = {"mean_absolute_error": float(np.abs(errors).mean()), "bias": float(errors.mean())}
    return rank_agreement(judged, true) | result


def report(folder: Path, judgments: Path, how: str | None = None) -> tuple[dict, dict]:
    """Return fitted settings and all scores; `how` None is the aggregation best on EVOUNA by accuracy and AUC."""
    judge = Judge(load_judge(folder))
    paths = {name: judgments / f"{name}.jsonl.gz" for name in (*BINARY, *GRADED)}
    devs = {name: Dev(list(json_rows(paths[name])), judge, AGGREGATIONS) for name in BINARY}
    fits = {how: cross_fitted(devs, how) for how in AGGREGATIONS}
    ways = {how: row_scores(*together(devs, results)[:3]) for how, results in fits.items()}
    how = how or max(ways, key=lambda name: ways[name]["accuracy"] + ways[name]["auc"])
    settings = fitted(devs, how)
    scores = {"aggregation": ways, "rows": {"evouna together": ways[how]}, "systems": {}, "graded": {}}
    scores["systems"]["evouna together"] = system_scores(*together(devs, fits[how])[1:])
    for name, (probabilities, verdicts) in fits[how].items():
        scores["rows"][name] = row_scores(probabilities, verdicts, devs[name].labels)
        if name in CALIBRATION:
            scores["systems"][name] = system_scores(verdicts, devs[name].labels, devs[name].systems)
    for name in GRADED:
        dev = Dev(list(json_rows(paths[name])), judge, (how,))
        pairs = scaled(dev, how, settings), dev.labels
        scores["graded"][name] = {"pearson": float(pearsonr(*pairs)[0]), "spearman": float(spearmanr(*pairs)[0])}
    digests = {name: file_digest(path) for name, path in paths.items()}
    return settings, scores | {"digests": digests | {"checkpoint": checkpoint_digest(folder)}}


def write_calibration(folder: Path, settings: dict, tables: str = "") -> None:
    """Write fitted settings beside the weights of a judge, and the tables into its card, if that has a place."""
    path, card = folder / SETTINGS_FILE, folder / "README.md"
    content = json.loads(path.read_text(encoding="utf-8")) | settings
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if tables and card.is_file() and "<!-- scores -->" in card.read_text(encoding="utf-8"):
        put_between_markers(card, "scores", tables)


def pairs_passed(judge: Judge) -> dict[str, tuple[int, int]]:
    """Return, by kind of the minimal pairs, how many a judge passes and how many there are."""

    def verdicts(questions, references, answers):
        return (judge.probabilities(questions, references, answers) >= judge.loaded.threshold).astype(int).tolist()

    return minimal_pairs.pass_rates(verdicts)


text = filled("cards/judge.md.j2")  # from a result to its tables


def study(args: Arguments) -> dict:
    """Measure a judge; with --calibrate write its settings and the tables of its card."""
    if args.references not in (None, *AGGREGATIONS):
        raise ValueError(f"references: expected one of {', '.join(AGGREGATIONS)}, got {args.references!r}")
    folder = Path(args.checkpoint)
    settings, scores = report(folder, Path(args.judgments), args.references)
    if args.calibrate:
        write_calibration(folder, settings)
    result = {"settings": settings, "scores": scores, "minimal_pairs": pairs_passed(Judge(load_judge(folder)))}
    if args.calibrate:
        write_calibration(folder, settings, f"{CALIBRATED_HERE}\n\n{text(result)}")
    return result


STUDY = Study(__spec__.name, Arguments, study, text)

if __name__ == "__main__":
    STUDY.main()
