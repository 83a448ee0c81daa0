"""Labelled rows of a user's own, and a judge -> the judge's scale, threshold and errors on such rows."""

from collections import Counter
from typing import Any

import numpy as np

from ...ava.calibration import Calibration, content_digest
from ...ava.scorer import profile
from ...core.scorer import Scorer
from ...registry import make_scorer
from ...rows.errors import FileError
from ...rows.reading import Message, Progress, Skips, ignore, inputs_of, is_judged
from ...rows.writing import output_path
from ...scale.options import CalibrateOptions, checked_columns
from ...statistics.judge_errors import COUNTS
from ..inputs import digested_sources
from .calibration import (
    LEAST_EACH,
    LEAST_LABELS,
    THRESHOLD,
    cross_fitted,
    effective_counts,
    error_counts,
    fitted_scale,
)
from .labelled import Labelled, labelled_rows, labels_beside

UNHELPFUL = "calibration does not help"
FEW_LABELS = 50
FEW_ANSWERS = 15  # effective ones, correct or incorrect, below which intervals are wide
CHANCE = 0.65  # area under the curve, below which the judge hardly tells right from wrong


class CalibrationRun:
    """Reads labelled rows, judges them, and fits the judge's scale to the labels.

    Args:
        rows: paths, a list of dicts, a DataFrame or a Dataset; see `inputs.sources_of`.
        *given, **options: see `CalibrateOptions`.

    Raises:
        ValueError: if an argument is bad. Nothing has been read yet.
    """

    def __init__(self, rows: Any, *given, **options):
        self.options = CalibrateOptions(*given, **options)
        self.columns = checked_columns(self.options.columns)
        settings = dict(self.options.settings or {})
        for name in ("threshold", "calibration", "early_stop"):
            if name in settings:
                raise ValueError(f"settings: {name} is what calibrate finds, or depends on it; leave it out")
        self.sources = digested_sources(rows)
        labels = self.options.labels
        self.label_sources = [] if labels is None else digested_sources(labels, "labels")
        if self.options.output is not None:
            try:
                output_path(self.options.output, [source.path for source in [*self.sources, *self.label_sources]])
            except FileError as error:
                raise ValueError(f"output: {error}") from error
        ready = not is_judged(self.sources)
        self.scorer = make_scorer("ava", settings | {"calibration": False}, ready)

    def report(self, problem: Message = ignore, progress: Progress = ignore) -> dict[str, Any]:
        """Read, judge and fit.

        Args:
            problem: called with each bad row that is left out.
            progress: called with what is judged, rows that are done, and all rows.

        Returns:
            "calibration": what is written to a file; "before" and "after": "agreement", "sensitivity" and
            "specificity", shares of all, correct and incorrect answers that the judge is right about; "helps", whether
            the calibrated judge agrees more on held-out questions; "auc", "notes", "inputs".

        Raises:
            FileError: if a file cannot be read, a row is bad, or there are too few labels.
        """
        from ...scale.pipeline import item_statistics

        skips = Skips(self.options.skips, problem)
        notes: list[str] = []
        if self.label_sources:
            result = labels_beside(self.sources, self.label_sources, self.columns, skips, notes)
        else:
            result = labelled_rows(self.sources, self.columns, skips)
        sources = [*self.sources, *self.label_sources]
        check_enough(result, ", ".join(source.name for source in sources))
        sums, _ = item_statistics(result.items, {"ava": self.scorer}, progress)
        report = calibrated(result, sums["ava"][:, 1], self.scorer)
        return report | {
            "inputs": inputs_of(sources, skips),
            "bad_rows": skips.skipped,
            "notes": [*notes, *report["notes"]],
        }


def check_enough(found: Labelled, names: str) -> None:
    """Refuse too few labels.

    Args:
        found: the labelled answers.
        names: of their files.

    Raises:
        FileError: if there are too few.
    """
    correct, number = float(found.labels.sum()), len(found.items)
    if number < LEAST_LABELS:
        raise FileError(f"{names}: expected labels of at least {LEAST_LABELS} answers, got {number}; label more")
    if min(correct, number - correct) < LEAST_EACH:
        raise FileError(
            f"{names}: expected at least {LEAST_EACH} correct and {LEAST_EACH} incorrect answers, got {correct:g} "
            f"and {number - correct:g}; label more, or rows of a weaker system"
        )


def profile_of(found: Labelled, probabilities: np.ndarray) -> dict[str, float]:
    """Return what labelled answers are like, with their weights; see `ava.scorer.profile`."""
    like: Counter = Counter()
    for item, probability, weight in zip(found.items, probabilities, found.weights.tolist(), strict=True):
        own = profile([item.references], item.predictions, np.array([probability]))
        like.update({name: count * weight for name, count in own.items()})
    return {name: round(count, 4) for name, count in sorted(like.items())}


def fitted(found: Labelled, probabilities: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Return a judge's scale and errors on labelled answers, and (answers,) its cross-fitted verdicts.

    Args:
        found: the labelled answers.
        probabilities: (answers,) the judge's own.
    """
    items, labels, weights = found.items, found.labels, found.weights
    questions = [(item.text or "").lower() for item in items]
    systems = [item.system for item in items]
    slope, intercept = fitted_scale(probabilities, labels, weights)
    verdicts = (cross_fitted(probabilities, labels, weights, questions) >= THRESHOLD).astype(float)
    by_system = []
    for name in dict.fromkeys(systems):
        mine = np.array([system == name for system in systems])
        by_system.append({"system": name} | error_counts(verdicts[mine], labels[mine]))
    return {
        "slope": round(slope, 6),
        "intercept": round(intercept, 6),
        "threshold": THRESHOLD,
        "labels": found.number,
        "answers": len(items),
        "questions": len(set(questions)),
        "data": {},
        "errors": effective_counts(verdicts, labels, weights, questions, systems),
        "systems": by_system,
        "profile": profile_of(found, probabilities),
    }, verdicts


def calibrated(found: Labelled, probabilities: np.ndarray, scorer: Scorer) -> dict[str, Any]:
    """Return what labels say of a judge: see `CalibrationRun.report`.

    Args:
        found: the labelled answers.
        probabilities: (answers,) the judge's own.
        scorer: the judge, an `AvaScorer` without a calibration.
    """
    from ... import __version__

    labels, weights = found.labels, found.weights
    content, after = fitted(found, probabilities)
    content = {"genqa_metrics": __version__, "judge": scorer.judge, "signature": scorer.signature} | content
    own = Calibration(content["slope"], content["intercept"], THRESHOLD, scorer.judge, content)
    questions = [(item.text or "").lower() for item in found.items]
    brier = [
        float((weights * (values - labels) ** 2).sum() / weights.sum())
        for values in (probabilities, cross_fitted(probabilities, labels, weights, questions))
    ]
    report = {
        "calibration": content,
        "threshold_before": scorer.threshold,
        "threshold_after": own.unscaled(THRESHOLD),
        "before": _shares((probabilities >= scorer.threshold).astype(float), labels, weights),
        "after": _shares(after, labels, weights),
        "auc": _area(probabilities, labels, weights),
        "unlabelled": found.unlabelled,
    }
    before, after = (report[name]["agreement"] for name in ("before", "after"))
    report["helps"] = after > before + 1e-9 or (abs(after - before) <= 1e-9 and brier[1] < brier[0])
    return report | {"notes": _notes(report)}


def _shares(verdicts: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> dict[str, float]:
    right = np.where(verdicts > 0, labels, 1 - labels)
    wrong = 1 - labels
    return {
        "agreement": float((weights * right).sum() / weights.sum()),
        "sensitivity": float((weights * labels * verdicts).sum() / (weights * labels).sum()),
        "specificity": float((weights * wrong * (1 - verdicts)).sum() / (weights * wrong).sum()),
    }


def _area(probabilities: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """Return how often a correct answer has a higher probability than an incorrect one; ties count half.

    An answer with a label between 0 and 1, the mean of several raters, is in part correct and in part incorrect.

    >>> _area(np.array([0.2, 0.7, 0.7, 0.9]), np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4))
    0.875
    """
    from sklearn.metrics import roc_auc_score

    correct = np.repeat([True, False], len(labels))
    shares = np.concatenate([weights * labels, weights * (1 - labels)])
    return float(roc_auc_score(correct, np.tile(probabilities, 2), sample_weight=shares))


def _notes(report: dict[str, Any]) -> list[str]:
    content, notes = report["calibration"], []
    if not report["helps"]:
        before, after = (report[name]["agreement"] for name in ("before", "after"))
        notes.append(
            f"{UNHELPFUL}: on held-out questions it agrees with {after:.1%} of the labels, the judge as "
            f"it is with {before:.1%}. Use the labels themselves: genqa-metrics accuracy --labels"
        )
    if content["labels"] < FEW_LABELS:
        notes.append(f"{content['labels']} labels: below {FEW_LABELS} the scale is rough; label more")
    few = {name: content["errors"][name] for name in COUNTS[1::2] if content["errors"][name] < FEW_ANSWERS}
    for name, count in few.items():
        notes.append(
            f"the labels say as much about {name} answers as {count:.0f} independent ones; intervals will be wide: "
            f"label more {name} answers"
        )
    if report["auc"] < CHANCE:
        notes.append(
            f"a correct answer has a higher probability than an incorrect one only {report['auc']:.0%} of the time: "
            "this judge hardly tells right from wrong here; take another checkpoint, or labels alone"
        )
    if report["unlabelled"]:
        notes.append(f"{report['unlabelled']:,} rows have no label and were left out")
    return notes


def signed(report: dict[str, Any]) -> dict[str, Any]:
    """Return the content of the file: the calibration with the digests of its data, and its own."""
    content = report["calibration"] | {"data": {value["name"]: value["sha256"] for value in report["inputs"]}}
    return content | {"digest": content_digest(content)}
