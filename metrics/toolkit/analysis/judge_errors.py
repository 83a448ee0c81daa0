"""Accuracy from a judge's verdicts alone, and measurements of its errors; arrays in, numbers out.

`measured.json` beside the weights of a judge says how often it was right about the answers of several systems, and
under which weights, threshold and way with references. `python -m training.studies.accuracy.measure --measured` writes
it. It changes no score; the signature has its digest, for intervals depend on it.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ...core.scorer import Scorer
from .estimation import wilson
from .jackknife import effective_clusters

MEASURED_FILE = "measured.json"
COUNTS = ("accepted", "correct", "rejected", "incorrect")
MUST_BE_EQUAL = ("checkpoint", "threshold", "references")  # parts of a signature that the judge's errors depend on
METHODS = {
    "labels": "prediction-powered: people's labels and the judge, weighted by the probability of being drawn",
    "measured": "judge corrected by its measured errors (Rogan-Gladen, Lang-Reiczigel)",
    "judge": "the judge's rate alone (Wilson): its errors are ignored",
}
NOTES = {
    "measured": "without labels the interval assumes that the judge errs about as often as in our tests; on other "
    "questions or answers it can err more. Labels settle it: genqa-metrics label",
    "judge": "the judge's errors are ignored: the interval is of the share judged correct and can miss the accuracy; "
    "labels correct that: genqa-metrics label",
}
UNMEASURED = "how often this judge errs was not measured for these weights, threshold and references"


@dataclass(frozen=True)
class Calibration:
    """How a judge did on answers that humans judged too.

    Attributes:
        accepted: correct answers that the judge accepted.
        correct: correct answers.
        rejected: incorrect answers that the judge rejected.
        incorrect: incorrect answers.

    Raises:
        ValueError: if a count is not a whole number in its range.
    """

    accepted: int
    correct: int
    rejected: int
    incorrect: int

    def __post_init__(self):
        for part, whole in (("accepted", "correct"), ("rejected", "incorrect")):
            hits, total = getattr(self, part), getattr(self, whole)
            for name, count in ((whole, total), (part, hits)):
                if isinstance(count, bool) or not isinstance(count, int | np.integer):
                    raise ValueError(f"{name}: expected a whole number, got {count!r}; pass how many answers")
            if total < 1:
                raise ValueError(f"{whole}: expected at least 1 answer, got {total}; judge some by hand")
            if not 0 <= hits <= total:
                raise ValueError(f"{part}: expected 0 to {total}, the number of {whole} answers, got {hits}")


def pooled(groups: Sequence[Calibration]) -> tuple[float, float, float, float]:
    """Return one calibration sample of several, with a smaller sample size where groups differ more than by chance.

    A judge errs more often on one system's answers than on another's. Measurements on other systems therefore inform
    as much as a smaller sample of the new system's own answers. Both shares keep their value; their sample sizes are
    reduced until their variance equals the variance between groups (Kish's design effect).

    Args:
        groups: counts of the answers of one system each.

    Returns:
        accepted, correct, rejected and incorrect, as in `Calibration`, possibly fractional.

    >>> pooled([Calibration(90, 100, 40, 50), Calibration(90, 100, 40, 50)])
    (180.0, 200.0, 80.0, 100.0)
    >>> [round(count, 1) for count in pooled([Calibration(95, 100, 42, 50), Calibration(85, 100, 38, 50)])]
    [15.4, 17.1, 80.0, 100.0]
    """
    hits = np.array([[group.accepted, group.rejected] for group in groups], dtype=float)
    totals = np.array([[group.correct, group.incorrect] for group in groups], dtype=float)
    number = totals.sum(axis=0)
    shares = hits.sum(axis=0) / number
    if len(groups) > 1:
        binomial = shares * (1 - shares)
        excess = (((hits / totals - shares) ** 2).sum(axis=0) - (binomial / totals).sum(axis=0)) / (len(groups) - 1)
        between = np.maximum(excess, 0)  # variance of the shares of systems
        size = binomial / np.maximum(binomial / number + between * (1 + 1 / len(groups)), 1e-12)
        number = np.where(between > 0, np.clip(size, 1, number), number)
    hit, right = (shares * number).tolist(), number.tolist()
    return hit[0], right[0], hit[1], right[1]


def rogan_gladen(
    positives, number, accepted, correct, rejected, incorrect, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the accuracy corrected for the judge's sensitivity and specificity, with its interval.

    The estimate is Rogan & Gladen's (1978), (share + specificity - 1) / (sensitivity + specificity - 1). The interval
    is that of Lang & Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated sensitivity and
    specificity", Preventive Veterinary Medicine 113 (2014); it is slightly conservative. Both assume that the judge
    errs on this system's answers as often as on the calibration sample.

    Args:
        positives: (...) answers judged correct.
        number: (...) answers judged.
        accepted: (...) correct answers of the calibration sample that the judge accepted.
        correct: (...) correct answers of the calibration sample.
        rejected: (...) its incorrect answers that the judge rejected.
        incorrect: (...) its incorrect answers.
        confidence: probability that the limits hold the accuracy.

    Returns:
        (...) estimates, lower and upper limits, within 0 and 1; NaN where the judge is no better than chance.

    90 of 100 correct and 80 of 100 incorrect answers judged rightly, 62 of 100 accepted: (0.62 - 0.2) / 0.7 = 0.6.

    >>> [round(float(end), 3) for end in rogan_gladen(62, 100, 90, 100, 80, 100)]
    [0.6, 0.443, 0.749]
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    positives, accepted, rejected = (np.asarray(count, dtype=float) for count in (positives, accepted, rejected))
    gain = accepted / correct + rejected / incorrect - 1
    share = (positives + z**2 / 2) / (number + z**2)
    sensitivity, specificity = (accepted + 1) / (correct + 2), (rejected + 1) / (incorrect + 2)
    adjusted_gain = sensitivity + specificity - 1
    useful = (gain > 1e-12) & (adjusted_gain > 1e-12)
    gain, adjusted_gain = np.where(useful, gain, np.nan), np.where(useful, adjusted_gain, np.nan)
    center = (share + specificity - 1) / adjusted_gain
    missed = sensitivity * (1 - sensitivity) / (correct + 2)
    false = specificity * (1 - specificity) / (incorrect + 2)
    shift = 2 * z**2 * (center * missed - (1 - center) * false)
    variance = share * (1 - share) / (number + z**2) + center**2 * missed + (1 - center) ** 2 * false
    half = z * np.sqrt(variance) / adjusted_gain
    estimate = (positives / number + rejected / incorrect - 1) / gain
    return tuple(np.clip(value, 0, 1) for value in (estimate, center + shift - half, center + shift + half))


@dataclass(frozen=True)
class Measured:
    """How often a judge was right.

    Attributes:
        groups: counts of the answers of one system each.
        facts: what stands in the file: "data", "command" and so on.
    """

    groups: Sequence[Calibration]
    facts: Mapping[str, Any]


def measured_for(scorer: Scorer) -> Measured | None:
    """Return what was measured of a judge, or None if nothing was for its weights, threshold and references.

    Args:
        scorer: an `AvaScorer`. The errors of the 8-bit model of `export` were not measured.

    Raises:
        ValueError: if the file is not of its form.
    """
    path = scorer.loaded.folder / MEASURED_FILE
    if not path.is_file():
        return None
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        groups = [Calibration(*(group[name] for name in COUNTS)) for group in facts["systems"]]
        of = {name: str(facts[name]) for name in MUST_BE_EQUAL}
        list(facts["data"])
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
        value, low, high = rogan_gladen(rate * size, size, *pooled(measured.groups), confidence)
        if not np.isnan(value):
            # Lang & Reiczigel's limits are of a shifted center: near 0 and 1 they can stand beside the estimate.
            ends = {"accuracy": float(value), "low": float(min(low, value)), "high": float(max(high, value))}
            return {**ends, "method": "measured"}
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
    rates: Mapping[str, tuple[float, float]], scorer: Scorer, ignore_judge_errors: bool
) -> dict[str, Any]:
    """Return what verdicts alone say of the accuracy of systems, for the reports of `score` and `compare`.

    Args:
        rates: {system: share of the answers judged correct, effective sample size}.
        scorer: the judge.
        ignore_judge_errors: ignore its errors.

    Returns:
        "method" in words, "errors_counted", "confidence", "measured" in one line or None, "note", and "systems":
        {system: "judged", "accuracy", "low", "high"}, which are the names of `accuracy_run` too.
    """
    measured = None if ignore_judge_errors else measured_for(scorer)
    found = {system: from_rate(*rate, measured) for system, rate in rates.items()}
    methods = {str(ends["method"]) for ends in found.values()}
    method = "measured" if methods == {"measured"} else "judge"
    [note] = notes_of({method}, measured, ignore_judge_errors)
    return {
        "method": METHODS[method],
        "errors_counted": method == "measured",
        "confidence": 0.95,
        "measured": measured_fact(measured.facts) if measured else None,
        "note": f"accuracy by ava: {METHODS[method]}; {note}",
        "systems": {
            system: {"judged": float(rates[system][0]), **{end: ends[end] for end in ("accuracy", "low", "high")}}
            for system, ends in found.items()
        },
    }


def notes_of(methods: Collection[str], measured: Measured | None, ignore_judge_errors: bool) -> list[str]:
    """Return what a reader must know of such intervals, one sentence each.

    Args:
        methods: keys of `METHODS`.
        measured: what is known of the judge's errors.
        ignore_judge_errors: that the errors are ignored was asked for.
    """
    unknown = f"{UNMEASURED}, so " if "judge" in methods and measured is None and not ignore_judge_errors else ""
    return [unknown * (name == "judge") + note for name, note in NOTES.items() if name in methods]


def measured_fact(measured: Mapping[str, Any]) -> str:
    """Return in one line what was measured of the judge."""
    counts = [sum(group[name] for group in measured["systems"]) for name in COUNTS]
    return (
        f"the judge was measured on {', '.join(measured['data'])}: {counts[0]:,} of {counts[1]:,} correct answers "
        f"accepted, {counts[2]:,} of {counts[3]:,} incorrect ones rejected"
    )
