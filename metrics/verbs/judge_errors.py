"""Reads how often a judge errs, and says what the accuracy of systems rests on.

`measured.json` beside the weights of a judge says how often it was right about the answers of several systems, and
under which weights, threshold and way with references. `python -m training.studies.accuracy.measure --measured` writes
it. It changes no score; the signature has its digest, for intervals depend on it. A calibration of the user's own
(`genqa-metrics calibrate`) takes its place where there is one.

Both say what the data were like (`ava.scorer.profile`). Between four kinds of data the judge's shares differ as
those of samples of 1 correct and 7 incorrect answers do. So where a system's rows are unlike the measured ones, or too
few to see that, the judge alone tells nothing of it. Labels of at least five questions never need these errors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..ava.calibration import MEASURED_FILE, MUST_BE_EQUAL
from ..core.scorer import Scorer
from ..registry import JUDGE
from ..reports.report import UNTOLD, briefly, short_names
from ..reports.table import Table, number
from ..rows.reading import Item, Progress
from ..rows.sources import Source
from ..scale.options import Settings, checked_columns, make_scorers, settings_by_metric, with_calibration
from ..scale.tally import CONFUSION
from ..statistics import estimation
from ..statistics.intervals import COUNTS, MIN_QUESTIONS, Counts, pooled, wilson
from .labels import LABELS_TO_BEGIN

METHODS = {
    estimation.LABELS: "people's labels (modified Wilson interval, by question)",
    estimation.TOGETHER: "people's labels and the judge (prediction-powered)",
    "measured": "judge corrected by its errors on other data (Rogan-Gladen, Lang-Reiczigel)",
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
ASSUMES = {  # of an estimate without enough labels, in the first line of every report
    "measured": "assumes that the judge errs{on} as often as on other data",
    "calibrated": "assumes that the judge errs{on} as often as on the answers that calibrated it",
}
NOTES = {
    "calibrated": "for other questions or very different systems calibrate the judge anew. For the rows that you "
    "labelled, genqa-metrics accuracy FILE --labels LABELS needs no such assumption",
    "measured": "on other questions or answers the judge can err more than on the data that it was measured on. "
    "Labels settle it: genqa-metrics label",
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
# A length is rare if so few of the measured rows, or fewer, have it or are further out.
RARE = {"answer_words": 0.08, "reference_words": 0.02}
RARE_SHARE = 0.25  # rows of such lengths, or that calibrated the judge, above which its measured errors do not count
LEAST_ROWS = 20  # below this, what rows are like is not known
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
    that it found.
    """
    if scorer.calibration is not None:
        facts, is_measured = scorer.calibration.content, scorer.threshold == scorer.calibration.threshold
        return Measured([_counts(facts["errors"])], facts) if is_measured else None
    for facts in scorer.measured:
        wanted = {name: scorer.facts.get(name) for name in (*MUST_BE_EQUAL, "escalate")}
        if {name: facts.get(name) for name in wanted} == wanted and facts["systems"]:
            return Measured(list(map(_counts, facts["systems"])), facts)
    return None


def measured_file(escalate: object = None) -> str:
    """Return the name of the file beside a checkpoint that says how often it errs, alone or with a second judge.

    >>> measured_file(), measured_file("large")
    ('measured.json', 'measured_large.json')
    """
    return MEASURED_FILE if escalate is None else f"measured_{Path(str(escalate)).name}.json"


def _counts(counts: Mapping[str, float]) -> Counts:
    return Counts(*(float(counts[name]) for name in COUNTS))


def _profile(facts: Mapping[str, Any]) -> dict[str, float]:
    """Return what the measured rows are like; nothing where the file does not say it."""
    return {str(name): float(count) for name, count in dict(facts.get("profile", {})).items()}


@dataclass(frozen=True)
class JudgeErrors:
    """What is known of the errors of a judge on the rows of systems."""

    measured: Measured | None  # None where it is not known how often it was right
    unknown: str = ""  # why that is not known; "" where it is
    ignored: bool = False  # the errors are to be ignored
    unknown_for: Mapping[str, str] = field(default_factory=dict)  # {system: why it is not known for its rows}
    unlike: Mapping[str, Sequence[str]] = field(
        default_factory=dict
    )  # {system: how its rows differ from measured ones}
    stronger: str = ""  # see `Scorer`; "" where no system has enough rows to compare, with any judge

    @classmethod
    def of(cls, scorer: Scorer, profiles: Mapping[str, Mapping[str, float]], ignored: bool = False) -> "JudgeErrors":
        """Return what is known of a judge on rows of systems, each with its counts of `ava.scorer.profile`."""
        if ignored:
            return cls(None, "the judge's errors are ignored", True)
        measured = measured_for(scorer)
        if measured is None:
            return cls(None, UNMEASURED_PAIR if "escalate" in scorer.facts else UNMEASURED)
        like, unlike, reasons = _profile(measured.facts), {}, {}
        for system, rows in profiles.items():
            if known := calibrated_on(rows):
                reasons[system] = known[0]
            elif others := differences(like, rows):
                unlike[system], reasons[system] = others, f"{UNLIKE} ({'; '.join(others)})"
        enough = any(rows.get("profiled", 0) >= LEAST_ROWS for rows in profiles.values())
        return cls(measured, "", False, reasons, unlike, scorer.stronger if enough else "")

    def accuracy(
        self, system: str, sums: estimation.QuestionSums, **options: Any
    ) -> tuple[dict, estimation.AccuracyEstimate]:
        """Return the accuracy of a system, as all reports have it, and the estimate, see `estimate_accuracy`.

        "judged" (share that the judge accepts), "accuracy", "low", "high" (None where they cannot be told), "declined"
        and "wrong" (shares; the three add up to 1), "accuracy_given_attempted" ("value", "low", "high", or None),
        "basis", "method" (how, in words), "source" (in two words), "reason" (why there is no interval, else ""),
        "rows", "labelled" (rows), "labelled_right", and with labels of enough questions "labels_alone" ("low", "high")
        and "effective_sample_size", at most the rows.
        """
        result = self.estimate(system, sums, **options)
        key = self._key(result.basis)
        values: dict[str, Any] = {
            "judged": float(sums.accepted.sum() / sums.rows.sum()),
            "accuracy": result.value,
            "low": result.low,
            "high": result.high,
            **_shares(result, float(sums.declined_share)),
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
            values["effective_sample_size"] = min(values["labelled"] * max(gain, 1.0), values["rows"])
        return values, result

    def estimate(self, system: str, sums: estimation.QuestionSums, **options: Any) -> estimation.AccuracyEstimate:
        """Return the estimate of a system, see `estimate_accuracy`."""
        unknown = self.unknown or self.unknown_for.get(system, "")
        errors = pooled(self.measured.groups) if self.measured and not unknown else None
        return estimation.estimate_accuracy(sums, errors, unknown, ignore_errors=self.ignored, **options)

    def _key(self, basis: str) -> str:
        """Return the key of `METHODS` of a basis of an estimate."""
        return self.measured.method if basis == estimation.MEASURED else basis

    def notes(self, systems: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Return what a reader must know of the estimates of systems, one sentence each."""
        by_key: dict[str, list[str]] = {}
        for system, values in systems.items():
            by_key.setdefault(self._key(values["basis"]), []).append(system)
        notes = [note for key, note in NOTES.items() if key in by_key]
        if any(values["labelled"] for values in systems.values()):
            judged = [name for key in ASSUMES for name in by_key.get(key, ())]
            said = f"labels of {MIN_QUESTIONS} questions or more are needed to decide"
            notes += [f"{', '.join(judged)}: {said}; with fewer the number is that of the judge"] * bool(judged)
        told = {system: values for system, values in systems.items() if "labels_alone" in values}
        few = [f"{s} {v['labelled']}" for s, v in told.items() if v["labelled"] < min(LABELS_TO_BEGIN, v["rows"])]
        notes += [f"with fewer than {LABELS_TO_BEGIN} labels an interval is rough: {', '.join(few)}"] * bool(few)
        by_fix: dict[str, dict[str, list[str]]] = {}
        untold = by_key.get(estimation.NOTHING, [])
        is_large = any(systems[name]["rows"] > LABELS_TO_BEGIN for name in untold)
        to_label = WHAT_TO_DO.format(number=LABELS_TO_BEGIN if is_large else "all")
        if self.measured and self.measured.method == "calibrated":  # then there are labels
            to_label = "labels of these rows tell more: genqa-metrics accuracy FILE --labels LABELS"
        if self.stronger and {*self.unlike} & {*untold}:
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


def _shares(result: estimation.AccuracyEstimate, declined: float) -> dict[str, Any]:
    """Return what adds up with an accuracy: the shares that decline and are wrong, and the accuracy of the others."""
    if result.value is None:
        return {"declined": declined, "wrong": None, "accuracy_given_attempted": None}
    tried, ends = 1 - declined, {"value": result.value, "low": result.low, "high": result.high}
    given = {name: min(end / tried, 1.0) for name, end in ends.items()} if tried else None
    wrong = max(0.0, 1 - declined - result.value)
    return {"declined": declined, "wrong": wrong, "accuracy_given_attempted": given}


def judged_systems(
    sums: Mapping[str, estimation.QuestionSums], errors: JudgeErrors, **options: Any
) -> tuple[dict[str, Any], dict[str, estimation.AccuracyEstimate]]:
    """Return the accuracy of systems, for the reports of `score` and `compare`, from each system's sums by question.

    Returned are "method" in words, "assumes" (see `assumption`), "errors_counted", "confidence", "measured" in one
    line or None, "unlike", "notes", and "systems": {system: what `JudgeErrors.accuracy` returns}; and all estimates.
    """
    estimated = {system: errors.accuracy(system, of_system, **options) for system, of_system in sums.items()}
    systems = {system: values for system, (values, _) in estimated.items()}
    bases, measured = {values["basis"] for values in systems.values()}, errors.measured
    by_judge = {estimation.MEASURED, estimation.NOTHING}
    accuracy = {
        "method": methods(systems),
        "assumes": assumption(systems),
        "errors_counted": estimation.IGNORED not in bases,
        "confidence": 0.95,
        "measured": measured_fact(measured.facts, errors.unlike) if measured and by_judge & bases else None,
        "unlike": {system: list(others) for system, others in errors.unlike.items()},
        "notes": errors.notes(systems),
        "systems": systems,
    }
    return accuracy, {system: estimate for system, (_, estimate) in estimated.items()}


def assumption(systems: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what an estimate assumes where labels do not decide, and of which systems; "" where nothing."""
    by_key: dict[str, list[str]] = {}
    for system, values in systems.items():
        key = next((key for key in ASSUMES if values["source"] == SOURCES[key]), None)
        by_key.setdefault(key, []).append(system)
    by_key.pop(None, None)
    said = (
        text.format(on=f" on {briefly(by_key[key])}" * (len(by_key[key]) < len(systems)))
        for key, text in ASSUMES.items()
        if key in by_key
    )
    return "; ".join(said)


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
    agreed, right = (confusion["accepted"] + confusion[name] for name in ("rejected", "missed"))
    said = f"the judge agrees with {agreed:,} of {sum(confusion.values()):,} labels"
    said += f" (a judge that accepts every answer: {right:,})"
    if all(values["labelled"] == values["rows"] for values in known):
        return f"{said}; every answer has a label, so its verdicts are not needed"
    if all(values["basis"] != estimation.TOGETHER for values in known):
        other = f"--set {stronger}" if stronger else "another judge"
        return f"{said}; its verdicts make no interval narrower: label more, or take {other}"
    labelled, worth = (sum(values[name] for values in known) for name in ("labelled", "effective_sample_size"))
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


def measured_fact(measured: Mapping[str, Any], unlike: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return in one line what was measured of the judge, and how rows of systems differ from those of this data."""
    counts = [sum(group[name] for group in measured["systems"]) for name in COUNTS]
    how = f"calibrated on {measured['labels']:,} labels of yours," if "labels" in measured else "measured on"
    on = " (cross-fitted)" if "labels" in measured else ""
    accepted, correct, rejected, incorrect = map(_count, counts)
    rest = "".join(f"; unlike the rows of {system}: {'; '.join(others)}" for system, others in (unlike or {}).items())
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

    >>> measured = {"profiled": 100, "unsure": 10, "answer_words:1": 60, "answer_words:3": 37, "answer_words:6": 3}
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
        shares = {_class(name): count / base for name, count in measured.items() if name.startswith(f"{part}:")}
        unknown = 0.0
        for name, count in rows.items():
            if name.startswith(f"{part}:"):
                longer = sum(share for length, share in shares.items() if length >= _class(name))
                shorter = sum(share for length, share in shares.items() if length <= _class(name))
                unknown += count * (min(longer, shorter) < RARE[part])
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


def _class(name: str) -> int:
    """Return the class of length that a count of `ava.scorer.profile` is of, such as "answer_words:3"."""
    return int(name.partition(":")[2])


def checked_judge(
    columns: Mapping[str, str] | None, settings: Settings | None, label_file: bool = False
) -> tuple[dict[str, str], str | None]:
    """Return names of columns without that of the judge, and the column that has another judge's verdicts.

    AVA's settings without AVA, or a judge in the column with the labels of people, are a ValueError.
    """
    result = checked_columns(columns, ["judge"])
    judge = result.pop("judge", None)
    if judge and settings:
        raise ValueError("settings: the judge is a column, which has no settings; drop one of the two")
    if judge and not label_file and judge == result.get("label", "label"):
        raise ValueError(
            f"judge: column {judge!r} has the labels of people, with which the judge is compared; "
            "name another column, or leave the labels unread by naming no column for label (label=)"
        )
    return result, judge


def judge_answers(
    items: Sequence[Item], settings: Settings, sources: Sequence[Source], ignore_judge_errors: bool, progress: Progress
) -> tuple[np.ndarray, np.ndarray, Scorer, JudgeErrors, list[str]]:
    """Return AVA's (items,) probabilities and verdicts, AVA, what is known of its errors, and notes."""
    from ..scale.run import item_statistics, profiles

    scorer = make_scorers([JUDGE], settings, sources)[JUDGE]
    sums, counts = item_statistics(items, {JUDGE: scorer}, progress)
    statistics = sums[JUDGE]
    notes = scorer.warnings({"all": statistics.sum(axis=0)[:-1]}, counts[JUDGE])
    errors = JudgeErrors.of(scorer, profiles(scorer, items, statistics), ignore_judge_errors)
    return statistics[:, 1], statistics[:, 0], scorer, errors, notes


def judge_settings(settings: Settings | None, calibration: str | None = None) -> dict[str, Any]:
    """Return {setting: value} of the judge from settings in any form, and with a file of `calibrate`."""
    by_metric = settings_by_metric(settings, [JUDGE])
    for metric in by_metric:
        if metric != JUDGE:
            raise ValueError(f"settings: expected those of {JUDGE}, got those of {metric}; drop them")
    return with_calibration(by_metric.get(JUDGE, {}), calibration)
