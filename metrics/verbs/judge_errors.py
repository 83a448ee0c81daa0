"""Reads how often a judge errs, and says what the accuracy of systems rests on.

`measured.json` beside the weights of a judge says how often it was right about the answers of several systems, and
under which weights, threshold and way with references. `python -m training.studies.accuracy.measure --measured` writes
it. It changes no score; the signature has its digest, for intervals depend on it. A calibration of the user's own
(`genqa-metrics calibrate`) takes its place where there is one.

Both say what the data were like (`ava.scorer.profile`). Between four kinds of data the judge's shares differ as
those of samples of 1 correct and 7 incorrect answers do. So where rows are unlike the measured ones, or too few to
see that, the judge alone tells nothing.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.scorer import Scorer
from ..reports.report import UNTOLD, short_names
from ..reports.table import Table, number
from ..scale.tally import CONFUSION
from ..statistics import estimation
from ..statistics.intervals import COUNTS, Counts, pooled, wilson
from .labels import LABELS_TO_BEGIN

MEASURED_FILE = "measured.json"
MUST_BE_EQUAL = ("checkpoint", "threshold", "references")  # parts of a signature that the judge's errors depend on
METHODS = {
    estimation.LABELS: "people's labels (modified Wilson interval, by question)",
    estimation.TOGETHER: "people's labels and the judge (prediction-powered)",
    "measured": "judge corrected by its measured errors (Rogan-Gladen, Lang-Reiczigel)",
    "calibrated": "judge calibrated on {labels} labels of yours, corrected by its errors there (Rogan-Gladen, "
    "Lang-Reiczigel)",
    estimation.IGNORED: "the judge's rate alone (Wilson): its errors are ignored",
    estimation.NOTHING: "cannot tell",
}
SOURCES = {  # the same beside a number
    estimation.LABELS: "labels",
    estimation.TOGETHER: "labels and judge",
    "measured": "judge, corrected",
    "calibrated": "judge, calibrated",
    estimation.IGNORED: "judge alone",
    estimation.NOTHING: "-",
}
NOTES = {
    "calibrated": "the interval assumes that the judge errs about as often as on your labels; for other questions or "
    "very different systems calibrate it anew. For the rows that you labelled, genqa-metrics accuracy FILE --labels "
    "LABELS needs no such assumption",
    "measured": "without labels the interval assumes that the judge errs about as often as in our tests; on other "
    "questions or answers it can err more. Labels settle it: genqa-metrics label",
    estimation.IGNORED: "the judge's errors are ignored: the interval is of the share judged correct and can miss the "
    "accuracy; labels correct that: genqa-metrics label",
}
WHAT_TO_DO = (
    "label {number} answers of every system (genqa-metrics label FILE -o labels.jsonl), then run genqa-metrics "
    "accuracy FILE --labels labels.jsonl"
)
UNLIKE = "they may be unlike those that the judge was measured on"
UNMEASURED = "how often this judge errs was not measured for these weights, threshold and references"
UNMEASURED_PAIR = "how often this pair of judges errs was not measured (escalate)"
RARE = 0.02  # a length is rare in the measured data below this share of their rows
RARE_SHARE = 0.25  # rows of such lengths, or that calibrated the judge, above which its measured errors do not count
LEAST_ROWS = 20  # below this, what rows are like is not known
LEAST_LABELS = 8  # correct, or incorrect, answers with a label in the rows, from which they are compared
Z = 2.576  # of 99% intervals, which must not overlap


@dataclass(frozen=True)
class Measured:
    """How often a judge was right."""

    groups: Sequence[Counts]  # counts of the answers of one system each
    facts: Mapping[str, Any]  # what stands in the file: "data", "command" and so on

    @property
    def method(self) -> str:
        """Key of `METHODS`."""
        return "calibrated" if "labels" in self.facts else "measured"


def measured_for(scorer: Scorer) -> Measured | None:
    """Return what was measured of an `AvaScorer`, or None if nothing was for its weights, threshold and references.

    They hold for every engine, whose verdicts are the same. With a calibration of the user's own they are the errors
    that it found. A file of another form is a ValueError.
    """
    if scorer.calibration is not None:
        return _calibrated(scorer)
    for path in sorted(scorer.loaded.folder.glob("measured*.json")):
        measured = _read_measured(path)
        wanted = {name: scorer.facts.get(name) for name in (*MUST_BE_EQUAL, "escalate")}
        if {name: measured.facts.get(name) for name in wanted} == wanted and measured.groups:
            return measured
    return None


def measured_file(escalate: object = None) -> str:
    """Return the name of the file beside a checkpoint that says how often it errs, alone or with a second judge.

    >>> measured_file(), measured_file("large")
    ('measured.json', 'measured_large.json')
    """
    return MEASURED_FILE if escalate is None else f"measured_{Path(str(escalate)).name}.json"


def _read_measured(path: Path) -> Measured:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        groups = [Counts(*(group[name] for name in COUNTS)) for group in facts["systems"]]
        facts |= {name: str(facts[name]) for name in MUST_BE_EQUAL}
        list(facts["data"])
        sum(_profile(facts).values())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: expected {', '.join(MUST_BE_EQUAL)}, data, and systems with {', '.join(COUNTS)}: "
            f"{type(error).__name__}: {error}; delete it, or write it with "
            "training.studies.accuracy.measure --measured"
        ) from error
    return Measured(groups, facts)


def _calibrated(scorer: Scorer) -> Measured | None:
    facts = scorer.calibration.content
    try:
        errors = Counts(*(float(facts["errors"][name]) for name in COUNTS))
        if not isinstance(facts["labels"], int) or facts["labels"] < 1:
            raise ValueError("labels: expected a whole number above 0")
        measured_fact(facts)
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


@dataclass(frozen=True)
class JudgeErrors:
    """What is known of the errors of a judge on some rows."""

    measured: Measured | None  # None where it is not known how often it was right
    unknown: str = ""  # why that is not known, or not for these rows; "" where it is
    ignored: bool = False  # the errors are to be ignored
    unlike: Sequence[str] = ()  # in what these rows differ from those that it was measured on, in words
    stronger: str = ""  # see `Scorer`; "" for rows that are too few to compare, with any judge

    @classmethod
    def of(cls, scorer: Scorer, rows: Mapping[str, float], ignored: bool = False) -> "JudgeErrors":
        """Return what is known of a judge on rows with these counts of `ava.scorer.profile` and of labels."""
        if ignored:
            return cls(None, "the judge's errors are ignored", True)
        measured = measured_for(scorer)
        if measured is None:
            return cls(None, UNMEASURED_PAIR if "escalate" in scorer.facts else UNMEASURED)
        totals = {name: sum(getattr(group, name) for group in measured.groups) for name in COUNTS}
        unlike = [*disagreements(totals, rows), *differences(_profile(measured.facts), rows)]
        if known := calibrated_on(rows):
            return cls(measured, known[0])
        stronger = scorer.stronger if rows.get("profiled", 0) >= LEAST_ROWS else ""
        return cls(measured, f"{UNLIKE} ({'; '.join(unlike)})" if unlike else "", unlike=unlike, stronger=stronger)

    def accuracy(self, sums: estimation.QuestionSums, **options: Any) -> tuple[dict, estimation.AccuracyEstimate]:
        """Return the accuracy of a system, as all reports have it, and the estimate, see `estimate_accuracy`.

        "judged" (share that the judge accepts), "accuracy", "low", "high" (None where they cannot be told), "basis",
        "method" (how, in words), "source" (in two words), "reason" (why there is no interval, else ""), "labelled"
        (rows), "labelled_right", and with labels "labels_alone" ("low", "high") and "effective_sample_size".
        """
        errors = pooled(self.measured.groups) if self.measured and not self.unknown else None
        result = estimation.estimate_accuracy(sums, errors, self.unknown, ignore_errors=self.ignored, **options)
        key = self._key(result.basis)
        values: dict[str, Any] = {
            "judged": float(sums.accepted.sum() / sums.rows.sum()),
            "accuracy": result.value,
            "low": result.low,
            "high": result.high,
            "basis": result.basis,
            "method": METHODS[key].format(labels=self.measured.facts.get("labels") if self.measured else None),
            "source": SOURCES[key],
            "reason": result.reason,
            "labelled": int(sums.labelled.sum()),
            "labelled_right": int(sums.right.sum()),
            "rows": int(sums.rows.sum()),
        }
        if result.labels_alone:
            values["labels_alone"] = dict(zip(("low", "high"), result.labels_alone, strict=True))
            (low, high), together = result.labels_alone, result.high - result.low
            gain = ((high - low) / together) ** 2 if together > 0 else 1.0
            values["effective_sample_size"] = values["labelled"] * max(gain, 1.0)
        return values, result

    def _key(self, basis: str) -> str:
        """Return the key of `METHODS` of a basis of an estimate."""
        return self.measured.method if basis == estimation.MEASURED else basis

    def notes(self, systems: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Return what a reader must know of the estimates of systems, one sentence each."""
        by_key: dict[str, list[str]] = {}
        for system, values in systems.items():
            by_key.setdefault(self._key(values["basis"]), []).append(system)
        notes = [note for key, note in NOTES.items() if key in by_key]
        told = {system: values for system, values in systems.items() if "labels_alone" in values}
        few = [f"{s} {v['labelled']}" for s, v in told.items() if v["labelled"] < min(LABELS_TO_BEGIN, v["rows"])]
        notes += [f"with fewer than {LABELS_TO_BEGIN} labels an interval is rough: {', '.join(few)}"] * bool(few)
        by_fix: dict[str, dict[str, list[str]]] = {}
        untold = by_key.get(estimation.NOTHING, [])
        is_large = any(systems[name]["rows"] > LABELS_TO_BEGIN for name in untold)
        to_label = WHAT_TO_DO.format(number=LABELS_TO_BEGIN if is_large else "all")
        if self.measured and self.measured.method == "calibrated":  # then there are labels
            to_label = "labels of these rows tell more: genqa-metrics accuracy FILE --labels LABELS"
        if self.stronger and self.unlike:
            to_label += f". A larger judge errs less, but replaces no labels: --set {self.stronger}"
        for system in untold:
            reason = systems[system]["reason"]
            fix = "more questions are needed" if "too few questions" in reason else to_label
            by_fix.setdefault(fix, {}).setdefault(reason, []).append(system)
        for fix, by_reason in by_fix.items():
            names = [name for some in by_reason.values() for name in some]
            of = "the accuracy" if len(names) == len(systems) else f"the accuracy of {', '.join(names)}"
            several = len(by_reason) > 1
            why = [reason + f" ({', '.join(some)})" * several for reason, some in by_reason.items()]
            notes += [f"{of} {UNTOLD}: {'; '.join(why)}", fix]
        return notes


def judged_systems(
    sums: Mapping[str, estimation.QuestionSums],
    scorer: Scorer,
    ignore_judge_errors: bool,
    rows: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return the accuracy of systems, for the reports of `score` and `compare`, from each system's sums by question.

    `rows` has the counts of `ava.scorer.profile`, which show whether the rows are like those of the measurement.
    Returned are "method" in words, "errors_counted", "confidence", "measured" in one line or None, "unlike", "notes",
    and "systems": {system: what `JudgeErrors.accuracy` returns}.
    """
    errors = JudgeErrors.of(scorer, rows or {}, ignore_judge_errors)
    systems = {system: errors.accuracy(of_system)[0] for system, of_system in sums.items()}
    bases, measured = {values["basis"] for values in systems.values()}, errors.measured
    by_judge = {estimation.MEASURED, estimation.NOTHING}
    return {
        "method": methods(systems),
        "errors_counted": estimation.IGNORED not in bases,
        "confidence": 0.95,
        "measured": measured_fact(measured.facts, errors.unlike) if measured and by_judge & bases else None,
        "unlike": list(errors.unlike),
        "notes": errors.notes(systems),
        "systems": systems,
    }


def methods(systems: Mapping[str, Mapping[str, Any]]) -> str:
    """Return in words how the accuracy of systems was estimated, those of which it cannot be told left out."""
    of_told = [values["method"] for values in systems.values() if values["low"] is not None]
    return " or ".join(dict.fromkeys(of_told)) or METHODS[estimation.NOTHING]


def whose(systems: Mapping[str, Mapping[str, Any]]) -> str:
    """Return in a word what the accuracy of systems rests on, "" where it cannot be told; see `judged_systems`."""
    sources = {values["source"] for values in systems.values()} - {SOURCES[estimation.NOTHING]}
    if not sources or sources == {SOURCES[estimation.LABELS]}:
        return "people" * len(sources)
    return "people and judge" if any("labels" in source for source in sources) else "corrected"


def help_of_judge(systems: Mapping[str, Mapping[str, Any]], confusion: Mapping[str, int], stronger: str = "") -> str:
    """Return in one sentence whether a judge helps beside labels, "" where no system has an interval of labels.

    `confusion` counts the labelled answers of all systems, see `tally.confusion_counts`; `stronger`: see `Scorer`.
    """
    known = [values for values in systems.values() if "effective_sample_size" in values and values["low"] is not None]
    if not known:
        return ""
    labelled, worth = (sum(values[name] for values in known) for name in ("labelled", "effective_sample_size"))
    agreed, right = (confusion["accepted"] + confusion[name] for name in ("rejected", "missed"))
    said = f"the judge agrees with {agreed:,} of {sum(confusion.values()):,} labels"
    said += f" (a judge that accepts every answer: {right:,})"
    if all(values["labelled"] == values["rows"] for values in known):
        return f"{said}; every answer has a label, so its verdicts are not needed"
    if worth - labelled < 1:
        other = f"--set {stronger}" if stronger else "another judge"
        return f"{said}; its verdicts make no interval narrower: label more, or take {other}"
    return f"{said}; with its verdicts the {labelled:,} labels give intervals as narrow as {worth:,.0f} labels alone"


def confusion_table(title: str, systems: Mapping[str, Mapping[str, Any]], said: str) -> Table:
    """Return how the judge agrees with labels: of every system the counts of `tally.CONFUSION` and its agreement."""
    rows = []
    for system, values in systems.items():
        counts = [values[name] for name in CONFUSION]
        shares = [number(values["agreement"]), number(values["kappa"])]
        rows.append([system, f"{sum(counts):,}", *shares, *(f"{count:,}" for count in counts)])
    header = ["system", "labelled", "agreement", "kappa", *CONFUSION]
    return Table(title, header, rows, said, short=short_names(header))


def measured_fact(measured: Mapping[str, Any], unlike: Sequence[str] = ()) -> str:
    """Return in one line what was measured of the judge, and in what the rows are unlike those of the measurement."""
    counts = [sum(group[name] for group in measured["systems"]) for name in COUNTS]
    how = f"calibrated on {measured['labels']:,} labels of yours," if "labels" in measured else "measured on"
    on = " (cross-fitted)" if "labels" in measured else ""
    accepted, correct, rejected, incorrect = map(_count, counts)
    rest = f"; unlike these rows: {'; '.join(unlike)}" if unlike else ""
    return (
        f"the judge was {how} {', '.join(measured['data'])}: {accepted} of {correct} correct answers accepted, "
        f"{rejected} of {incorrect} incorrect ones rejected{on}{rest}"
    )


def _count(number: float) -> str:
    """Return a count with one digit behind the point where it has a fraction.

    >>> _count(1250), _count(2.25)
    ('1,250', '2.2')
    """
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def disagreements(measured: Mapping[str, float], rows: Mapping[str, float]) -> list[str]:
    """Return in words where labels in the rows show other errors of the judge than were measured.

    `measured` has the counts of `intervals.COUNTS`, `rows` the same of the rows, each after "labelled ".

    >>> measured = {"accepted": 90, "correct": 100, "rejected": 87, "incorrect": 100}
    >>> disagreements(measured, {"labelled rejected": 10, "labelled incorrect": 20})
    ['by 20 labels in the rows it rejects 50% of the incorrect answers, there 87%']
    >>> disagreements(measured, {"labelled rejected": 17, "labelled incorrect": 20})
    []
    """
    result = []
    for hit, whole, verb in (("accepted", "correct", "accepts"), ("rejected", "incorrect", "rejects")):
        size, base = rows.get(f"labelled {whole}", 0), measured[whole]
        if size < LEAST_LABELS:
            continue
        here, there = rows.get(f"labelled {hit}", 0) / size, measured[hit] / base
        (low, high), (least, most) = wilson(here, size, Z), wilson(there, base, Z)
        if high < least or most < low:
            shares = f"{here:.0%} of the {whole} answers, there {there:.0%}"
            result.append(f"by {size:,} labels in the rows it {verb} {shares}")
    return result


def calibrated_on(rows: Mapping[str, float]) -> list[str]:
    """Return in words that a judge was calibrated on many of these rows, by counts of `ava.scorer.profile`; else [].

    >>> calibrated_on({"profiled": 60, "calibrated": 40})
    ['the judge was calibrated on 40 of these 60 answers, and errs less on them than on others']
    """
    known, size = rows.get("calibrated", 0), rows.get("profiled", 0)
    of = f"{known:,.0f} of these {size:,.0f} answers"
    return [f"the judge was calibrated on {of}, and errs less on them than on others"] * (known > RARE_SHARE * size)


def differences(measured: Mapping[str, float], rows: Mapping[str, float]) -> list[str]:
    """Return in words in what rows differ from those that a judge was measured on; only what is rare there counts.

    Both are counts of `ava.scorer.profile`; "unsure" is missing where no row was judged for the measured ones.

    >>> measured = {"profiled": 100, "unsure": 10, "answer_words:1": 60, "answer_words:3": 40}
    >>> differences(measured, {"profiled": 50, "unsure": 5, "answer_words:1": 50})
    []
    >>> differences(measured, {"profiled": 50, "unsure": 30, "answer_words:6": 50})
    ['100% of the answers have a length that is rare there', 'it is unsure of 60%, there of 10%']
    """
    size, base = rows.get("profiled", 0), measured.get("profiled", 0)
    if not base:
        return []
    if size < LEAST_ROWS:
        return [f"{size:.0f} rows are too few to compare; {LEAST_ROWS} are the least"]
    result = []
    for part, what in (("answer_words", "answers"), ("reference_words", "references")):
        of_part = {name: count for name, count in rows.items() if name.startswith(f"{part}:")}
        unknown = sum(count for name, count in of_part.items() if measured.get(name, 0) < RARE * base)
        if unknown > RARE_SHARE * size:
            result.append(f"{unknown / size:.0%} of the {what} have a length that is rare there")
    if "unsure" not in measured:
        return result
    unsure, usual = rows.get("unsure", 0) / size, measured["unsure"] / base
    low, _ = wilson(unsure, size, Z)
    _, high = wilson(usual, base, Z)
    if low > high and unsure > usual + 0.1:
        result.append(f"it is unsure of {unsure:.0%}, there of {usual:.0%}")
    return result
