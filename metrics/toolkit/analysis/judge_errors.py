"""Accuracy from a judge's verdicts alone, and measurements of its errors; arrays in, numbers out.

`measured.json` beside the weights of a judge says how often it was right about the answers of several systems, and
under which weights, threshold and way with references. `python -m training.studies.accuracy.measure --measured` writes
it. It changes no score; the signature has its digest, for intervals depend on it. A calibration of the user's own
(`genqa-metrics calibrate`) takes its place where there is one.

Both say what the data were like (`ava.row_profile`). Where other rows are unlike them, the interval is wider and says
so.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from ...core.scorer import Scorer
from .estimation import wilson
from .jackknife import effective_clusters
from .likeness import differences, disagreements
from .prevalence import COUNTS, Calibration, Counts, pooled, rogan_gladen

MEASURED_FILE = "measured.json"
MUST_BE_EQUAL = ("checkpoint", "threshold", "references")  # parts of a signature that the judge's errors depend on
METHODS = {
    "labels": "prediction-powered: people's labels and the judge, weighted by the probability of being drawn",
    "measured": "judge corrected by its measured errors (Rogan-Gladen, Lang-Reiczigel)",
    "calibrated": "judge calibrated on {labels} labels of yours, corrected by its errors there (Rogan-Gladen, "
    "Lang-Reiczigel)",
    "unlike": "judge corrected by errors that were measured on other kinds of data: a rough, wide interval",
    "judge": "the judge's rate alone (Wilson): its errors are ignored",
}
NOTES = {
    "calibrated": "the interval assumes that the judge errs about as often as on your labels; for other questions or "
    "very different systems calibrate it anew",
    "unlike": "these rows are unlike the data that the judge's errors were measured on ({reasons}), so it may err far "
    "more often here, and the interval is widened. 50 to 100 labels of yours settle it: genqa-metrics label, then "
    "genqa-metrics calibrate or accuracy --labels",
    "measured": "without labels the interval assumes that the judge errs about as often as in our tests; on other "
    "questions or answers it can err more. Labels settle it: genqa-metrics label",
    "judge": "the judge's errors are ignored: the interval is of the share judged correct and can miss the accuracy; "
    "labels correct that: genqa-metrics label",
}
UNMEASURED = "how often this judge errs was not measured for these weights, threshold and references"


# Between the four sets of training/ava/results/bundled.json the judge's shares differ as those of samples of 1 correct
# and 7 incorrect answers, and four sets show this only roughly. So errors that were measured on another kind of data
# are taken for those of this many answers of each.
UNLIKE_SIZE = 3.0


@dataclass(frozen=True)
class Measured:
    """How often a judge was right.

    Attributes:
        groups: counts of the answers of one system each.
        facts: what stands in the file: "data", "command" and so on.
        unlike: in what the rows differ from those that it was measured on, in words.
    """

    groups: Sequence[Counts]
    facts: Mapping[str, Any]
    unlike: Sequence[str] = ()

    @property
    def pooled(self) -> tuple[float, float, float, float]:
        """Accepted, correct, rejected and incorrect as in `pooled`; those of few answers where rows are unlike."""
        hit, right, rejected, wrong = pooled(self.groups)
        if self.unlike:
            few = min(UNLIKE_SIZE, right), min(UNLIKE_SIZE, wrong)
            return hit / right * few[0], few[0], rejected / wrong * few[1], few[1]
        return hit, right, rejected, wrong

    @property
    def method(self) -> str:
        """Key of `METHODS`."""
        return "unlike" if self.unlike else "calibrated" if "labels" in self.facts else "measured"

    def on(self, rows: Mapping[str, float]) -> "Measured":
        """Return the same for rows of which the counts of `ava.row_profile`, and of labels in them, are known."""
        totals = {name: sum(getattr(group, name) for group in self.groups) for name in COUNTS}
        return replace(self, unlike=[*disagreements(totals, rows), *differences(_profile(self.facts), rows)])


def measured_for(scorer: Scorer) -> Measured | None:
    """Return what was measured of a judge, or None if nothing was for its weights, threshold and references.

    Args:
        scorer: an `AvaScorer`. The errors of the 8-bit model of `export` were not measured. With a calibration of the
            user's own they are the errors that it found.

    Raises:
        ValueError: if the file is not of its form.
    """
    if scorer.calibration is not None:
        return _calibrated(scorer)
    path = scorer.loaded.folder / MEASURED_FILE
    if not path.is_file():
        return None
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        if "errors" in facts:  # counts with weights, see `calibration.effective_counts`
            groups = [_errors(facts)]
        else:
            groups = [Calibration(*(group[name] for name in COUNTS)) for group in facts["systems"]]
        of = {name: str(facts[name]) for name in MUST_BE_EQUAL}
        list(facts["data"])
        sum(_profile(facts).values())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: expected {', '.join(MUST_BE_EQUAL)}, data, and systems with {', '.join(COUNTS)}: "
            f"{type(error).__name__}: {error}; delete it, or write it with "
            "training.studies.accuracy.measure --measured"
        ) from error
    same = (
        "dtype" in scorer.facts
        and "escalate" not in scorer.facts
        and all(scorer.facts.get(name) == value for name, value in of.items())
    )
    return Measured(groups, facts) if same and groups else None


def _calibrated(scorer: Scorer) -> Measured | None:
    facts = scorer.calibration.content
    try:
        errors = _errors(facts)
        sum(_profile(facts).values())
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"calibration: expected labels, data, systems, and errors with {', '.join(COUNTS)}: "
            f"{type(error).__name__}: {error}; write it again with genqa-metrics calibrate"
        ) from error
    return Measured([errors], facts) if scorer.threshold == scorer.calibration.threshold else None


def _profile(facts: Mapping[str, Any]) -> dict[str, float]:
    """Return what the measured rows are like; nothing where the file does not say it."""
    return {str(name): float(count) for name, count in dict(facts.get("profile", {})).items()}


def _errors(facts: Mapping[str, Any]) -> Counts:
    """Return the counts of labels of the user's own.

    Raises:
        ValueError: if they are out of range, or what else the file says is not of its form.
    """
    found = Counts(*(float(facts["errors"][name]) for name in COUNTS))
    shares = (found.accepted, found.correct), (found.rejected, found.incorrect)
    if not all(0 <= hit <= whole and whole > 0 for hit, whole in shares):
        raise ValueError("counts out of range")
    if not isinstance(facts["labels"], int) or facts["labels"] < 1:
        raise ValueError("labels: expected a whole number above 0")
    measured_fact(facts)
    return found


def from_rate(
    rate: float, size: float, measured: Measured | None = None, confidence: float = 0.95
) -> dict[str, float | str]:
    """Return the accuracy from the share of answers judged correct.

    Args:
        rate: that share.
        size: its effective sample size.
        measured: what is known of the judge's errors; None to ignore them.
        confidence: probability that the interval holds the accuracy.

    Returns:
        "accuracy", "low", "high" and "method", a key of `METHODS`.

    >>> found = from_rate(0.62, 100, Measured([Calibration(90, 100, 80, 100)], {}))
    >>> [round(found[end], 3) for end in ("accuracy", "low", "high")], found["method"]
    ([0.6, 0.443, 0.749], 'measured')
    """
    if measured is not None:
        value, low, high = rogan_gladen(rate * size, size, *measured.pooled, confidence)
        if not np.isnan(value):
            # Lang & Reiczigel's limits are of a shifted center: near 0 and 1 they can stand beside the estimate.
            ends = {"accuracy": float(value), "low": float(min(low, value)), "high": float(max(high, value))}
            return {**ends, "method": measured.method}
    low, high = wilson(rate, size, NormalDist().inv_cdf((1 + confidence) / 2))
    return {"accuracy": float(rate), "low": float(low), "high": float(high), "method": "judge"}


def effective_sample_size(sums: np.ndarray, numbers: np.ndarray) -> float:
    """Return the effective number of independent answers, where questions have several.

    The variance between questions is estimated, so that few of them count less: as much as Student's t is wider.

    Args:
        sums: (questions,) answers judged correct.
        numbers: (questions,) answers.

    >>> round(effective_sample_size(np.tile([2, 0], 50), np.full(100, 2)), 1)
    96.6
    >>> effective_sample_size(np.array([1, 0, 1, 1]), np.ones(4))
    4.0
    """
    from scipy.special import stdtrit

    rows = numbers.sum()
    if rows == len(numbers):
        return float(rows)
    rate = sums.sum() / rows
    questions = effective_clusters(numbers)
    variance, alone = ((sums - rate * numbers) ** 2).sum() / rows**2, rate * (1 - rate) / rows
    if alone <= 0 or variance <= 0:
        return float(questions)
    wider = stdtrit(max(questions - 1, 1), 0.975) / NormalDist().inv_cdf(0.975)
    return float(min(rows, rows * alone / (variance * questions / max(questions - 1, 1) * wider**2)))


def judged_systems(
    rates: Mapping[str, tuple[float, float]],
    scorer: Scorer,
    ignore_judge_errors: bool,
    rows: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return what verdicts alone say of the accuracy of systems, for the reports of `score` and `compare`.

    Args:
        rates: {system: share of the answers judged correct, effective sample size}.
        scorer: the judge.
        ignore_judge_errors: ignore its errors.
        rows: counts of `ava.row_profile` of the rows, which show whether they are like those of the measurement.

    Returns:
        "method" in words, "errors_counted", "confidence", "measured" in one line or None, "unlike", "note", and
        "systems": {system: "judged", "accuracy", "low", "high"}, which are the names of `accuracy_run` too.
    """
    measured = None if ignore_judge_errors else measured_for(scorer)
    measured = measured and measured.on(rows or {})
    found = {system: from_rate(*rate, measured) for system, rate in rates.items()}
    methods = {str(ends["method"]) for ends in found.values()}
    counted = "judge" not in methods
    key = measured.method if measured and counted else "judge"
    method = method_text(key, measured)
    [note] = notes_of({key}, measured, ignore_judge_errors)
    return {
        "method": method,
        "errors_counted": counted,
        "confidence": 0.95,
        "measured": measured_fact(measured.facts) if measured else None,
        "unlike": list(measured.unlike) if measured else [],
        "note": f"accuracy by ava: {method}; {note}",
        "systems": {
            system: {"judged": float(rates[system][0]), **{end: ends[end] for end in ("accuracy", "low", "high")}}
            for system, ends in found.items()
        },
    }


def method_text(method: str, measured: Measured | None) -> str:
    """Return a method in words.

    Args:
        method: key of `METHODS`.
        measured: what is known of the judge's errors.
    """
    return METHODS[method].format(labels=measured.facts.get("labels") if measured else None)


def notes_of(methods: Collection[str], measured: Measured | None, ignore_judge_errors: bool) -> list[str]:
    """Return what a reader must know of such intervals, one sentence each.

    Args:
        methods: keys of `METHODS`.
        measured: what is known of the judge's errors.
        ignore_judge_errors: that the errors are ignored was asked for.
    """
    unknown = f"{UNMEASURED}, so " if "judge" in methods and measured is None and not ignore_judge_errors else ""
    reasons = "; ".join(measured.unlike) if measured else ""
    return [
        unknown * (name == "judge") + note.format(reasons=reasons) for name, note in NOTES.items() if name in methods
    ]


def measured_fact(measured: Mapping[str, Any]) -> str:
    """Return in one line what was measured of the judge."""
    counts = [sum(group[name] for group in measured["systems"]) for name in COUNTS]
    how = f"calibrated on {measured['labels']:,} labels of yours," if "labels" in measured else "measured on"
    on = " (cross-fitted)" if "labels" in measured else ""
    accepted, correct, rejected, incorrect = map(_count, counts)
    return (
        f"the judge was {how} {', '.join(measured['data'])}: {accepted} of {correct} correct answers accepted, "
        f"{rejected} of {incorrect} incorrect ones rejected{on}"
    )


def _count(number: float) -> str:
    """Return a count with one digit behind the point where it has a fraction.

    >>> _count(1250), _count(2.25)
    ('1,250', '2.2')
    """
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"
