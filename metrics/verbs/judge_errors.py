"""Error rates of a judge, measured on other data, and the accuracy of systems as reports have it.

`measured.json` beside the weights of a judge says how often it was right about the answers of several systems, and
under which weights, threshold and way with references. `python -m training.studies.accuracy.measure --measured` writes
it. It changes no score; the signature has its digest, for intervals depend on it. A calibration of the user's own
(`genqa-metrics calibrate`) takes its place where there is one.

Both say what the data were like (`ava.scorer.profile`). Between four kinds of data the judge's shares differ as
those of samples of 1 correct and 7 incorrect answers do. So where a system's rows are unlike the measured ones, or too
few to see that, the judge alone tells nothing of it. Labels of at least five questions never need these errors.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..core.judge_model import MUST_BE_EQUAL
from ..core.scorer import Scorer
from ..registry import JUDGE
from ..reports.report import Remedy, Untold, briefly, short_names
from ..reports.table import Table, accuracy_cell, listed, number
from ..rows.errors import Detail
from ..rows.reading import Item, Progress
from ..rows.sources import Source
from ..scale.options import Settings, checked_columns, make_scorers, settings_by_metric, with_calibration
from ..scale.scoring import CONFUSION, QuestionTotals
from ..statistics import estimation
from ..statistics.estimation import Reason
from ..statistics.intervals import CONFIDENCE, COUNTS, MIN_QUESTIONS, Counts, pooled, read_counts, wilson
from .label.labels import LABELS_TO_BEGIN


class Basis(NamedTuple):
    """The words for one way to estimate an accuracy."""

    method: str  # how it was estimated
    source: str  # the same in two words
    assumes: str = ""  # without enough labels, in the first line of every report
    note: str = ""


RATES = "corrected by its errors {where} (Rogan-Gladen, Lang-Reiczigel)"
BASES = {  # by basis of the estimate; "measured" and "calibrated" are those by the judge's measured errors
    estimation.LABELS: Basis("people's labels (modified Wilson interval, by question)", "labels"),
    estimation.TOGETHER: Basis("people's labels and the judge (prediction-powered)", "labels and judge"),
    "measured": Basis(
        f"the judge, {RATES.format(where='on other data')}",
        "judge, corrected",
        "corrects verdicts, which assumes that the judge errs{on} as often as on other data",
        Detail(
            "on other questions or answers the judge can err more than on the data that it was measured on. Labels "
            "settle it: genqa-metrics label"
        ),
    ),
    "calibrated": Basis(
        f"judge calibrated on {{labels}} labels of yours, {RATES.format(where='there')}",
        "judge, calibrated",
        "corrects verdicts, which assumes that the judge errs{on} as often as on the answers that calibrated it",
        Detail(
            "for other questions or very different systems calibrate the judge anew. For the rows that you labelled, "
            "genqa-metrics accuracy FILE --labels LABELS needs no such assumption"
        ),
    ),
    estimation.NOTHING: Basis("cannot tell", "-"),
}
CALIBRATED = BASES["calibrated"].source
CAN_ERR_MORE = ", since the judge can err more on them"
UNMEASURED = "how often this judge errs was not measured for these weights, threshold and references"
UNMEASURED_PAIR = "how often this pair of judges errs was not measured (escalate)"
# A length is rare if less than this share of the measured rows are at least as long, or at most as long.
RARE = {"answer_words:": 0.08, "reference_words:": 0.02}
RARE_SHARE = 0.25  # share of rows with rare lengths, or that calibrated the judge, above which errors do not hold
LEAST_ROWS = 20  # rows needed to compare their lengths
LESS = 0.1  # by which the judge agrees with fewer labels of one system for a screen to say so
LONG_CLASS = 6  # of the lengths of answers: 32 words or more, see `ava.scorer.length_class`
Z = 2.576  # of 99% intervals, which must not overlap


@dataclass(frozen=True)
class Measured:
    """Counts of a judge's right verdicts on other data."""

    groups: Sequence[Counts]  # counts of the answers of one system each
    facts: Mapping[str, Any]  # what stands in the file: "data", "command" and so on

    @property
    def method(self) -> str:
        """Key of `BASES`."""
        return "calibrated" if "labels" in self.facts else "measured"


def measured_for(scorer: Scorer) -> Measured | None:
    """Return the measured error rates of a judge's weights, threshold and handling of references; None without any.

    They hold for every engine, whose verdicts are the same. With a calibration of the user's own they are the errors
    that it found.
    """
    if scorer.calibration is not None:
        facts, is_measured = scorer.calibration.content, scorer.threshold == scorer.calibration.threshold
        return Measured(read_counts([facts["errors"]]), facts) if is_measured else None
    for facts in scorer.measured:
        if facts["systems"] and all(
            facts.get(name) == scorer.facts.get(name) for name in (*MUST_BE_EQUAL, "escalate")
        ):
            return Measured(read_counts(facts["systems"]), facts)
    return None


@dataclass(frozen=True)
class JudgeErrors:
    """A judge's error rates, and for which systems they hold."""

    measured: Measured | None  # None where its error rates are not known
    unknown: Sequence[Reason] = ()  # why they are not known
    unknown_for: Mapping[str, Sequence[Reason]] = field(default_factory=dict)  # {system: why they may not hold for it}
    unlike: Mapping[str, Sequence[Reason]] = field(default_factory=dict)  # {system: from the measured rows}
    stronger: str = ""  # see `Scorer`; "" where no system has enough rows to compare, with any judge
    long: Mapping[str, str] = field(default_factory=dict)  # {system with long answers: what to know}

    @classmethod
    def of(cls, scorer: Scorer, profiles: Mapping[str, Mapping[str, float]]) -> "JudgeErrors":
        """Return the error rates of a judge for systems, each with its counts of `ava.scorer.profile`."""
        measured = measured_for(scorer)
        if measured is None:
            return cls(None, [Reason(UNMEASURED_PAIR if "escalate" in scorer.facts else UNMEASURED)])
        unlike, reasons = {}, {}
        for system, rows in profiles.items():
            if calibrated := calibrated_on(rows):
                reasons[system] = calibrated
            elif others := differences(measured.facts.get("profile", {}), rows):
                unlike[system] = reasons[system] = others
        enough = any(rows.get("profiled", 0) >= LEAST_ROWS for rows in profiles.values())
        long = {system: scorer.on_long for system, rows in profiles.items() if scorer.on_long and is_long(rows)}
        return cls(measured, (), reasons, unlike, scorer.stronger if enough else "", long)

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
        basis, rows, declined = BASES[self._key(result.basis)], int(sums.rows.sum()), float(sums.declined_share)
        wrong = given_attempted = None
        if result.value is not None:
            wrong = max(0.0, 1 - declined - result.value)
        if result.value is not None and declined < 1:
            ends = {"value": result.value, "low": result.low, "high": result.high}
            given_attempted = {name: min(end / (1 - declined), 1.0) for name, end in ends.items()}
        accuracy: dict[str, Any] = {
            "judged": float(sums.accepted.sum() / rows),
            "accuracy": result.value,
            "low": result.low,
            "high": result.high,
            "declined": declined,
            "wrong": wrong,
            "accuracy_given_attempted": given_attempted,
            "basis": result.basis,
            "method": basis.method.format(labels=self.measured.facts.get("labels") if self.measured else None),
            "source": basis.source,
            "reason": result.reason,
            "labelled": int(sums.labelled.sum()),
            "labelled_right": int(sums.right.sum()),
            "rows": rows,
        }
        if result.labels_alone:
            (low, high), width = result.labels_alone, result.high - result.low
            gain = ((high - low) / width) ** 2 if width > 0 else 1.0
            accuracy["labels_alone"] = {"low": low, "high": high}
            accuracy["effective_sample_size"] = min(accuracy["labelled"] * max(gain, 1.0), rows)
        return accuracy, result

    def estimate(self, system: str, sums: estimation.QuestionSums, **options: Any) -> estimation.AccuracyEstimate:
        """Return the estimate of a system, see `estimate_accuracy`."""
        unknown = self.unknown or self.unknown_for.get(system, ())
        errors = pooled(self.measured.groups) if self.measured and not unknown else None
        return estimation.estimate_accuracy(sums, errors, unknown, **options)

    def _key(self, basis: str) -> str:
        """Return the key in `BASES` for the `basis` of an estimate."""
        return self.measured.method if basis == estimation.MEASURED else basis

    def notes(
        self,
        systems: Mapping[str, Mapping[str, Any]],
        estimates: Mapping[str, estimation.AccuracyEstimate],
        verb: str = "accuracy",
    ) -> list[str]:
        """Return notes on what the estimates of systems assume, and on how to get those that are missing by a verb."""
        by_key: dict[str, list[str]] = {}
        for system, accuracy in systems.items():
            by_key.setdefault(self._key(accuracy["basis"]), []).append(system)
        is_told = estimation.NOTHING not in by_key  # else the next step says to label
        notes = [basis.note for key, basis in BASES.items() if key in by_key and basis.note and is_told]
        if any(accuracy["labelled"] for accuracy in systems.values()):
            judged = [name for key, basis in BASES.items() if basis.assumes for name in by_key.get(key, ())]
            few = f"fewer than {MIN_QUESTIONS} questions have labels of {briefly(judged or [''])}"
            notes += [Detail(f"{few}: the accuracy there is that of the judge")] * bool(judged)
        few = [
            f"{system} {of['labelled']}"
            for system, of in systems.items()
            if "labels_alone" in of and of["labelled"] < LABELS_TO_BEGIN
        ]
        notes += [f"with fewer than {LABELS_TO_BEGIN} labels an interval is rough: {', '.join(few)}"] * bool(few)
        by_judge = [*by_key.get("measured", ()), *by_key.get(estimation.NOTHING, ())]
        notes += self.long_answers(by_judge, len(systems))
        return notes + self._notes_without_estimate(systems, estimates, verb)

    def long_answers(self, by_judge: Collection[str], systems: int) -> list[str]:
        """Return [what to know of those of so many systems whose long answers the judge alone judges]; [] for none."""
        long = [system for system in self.long if system in by_judge]
        if not long:
            return []
        return [f"the answers{f' of {listed(long)}' * (systems > 1)} are long, and {self.long[long[0]]}"]

    def _notes_without_estimate(
        self,
        systems: Mapping[str, Mapping[str, Any]],
        estimates: Mapping[str, estimation.AccuracyEstimate],
        verb: str,
    ) -> list[str]:
        """Return two notes per remedy: why systems have no estimate, and what to do."""
        untold = {system: of.reasons for system, of in estimates.items() if of.basis == estimation.NOTHING}
        if not untold:
            return []
        advice = to_label(systems, verb, of=untold if len(untold) < len(systems) else ())
        if self.measured and self.measured.method == "calibrated":  # then there are labels
            advice = f"labels of these rows tell more: genqa-metrics {verb} FILE --labels LABELS"
        if self.stronger and self.unlike.keys() & untold.keys():
            advice += f". A larger judge errs less, but replaces no labels: --set {self.stronger}"
        by_fix: dict[str, list[str]] = {}
        for system, reasons in untold.items():
            enough = f": {MIN_QUESTIONS} with labels, {LEAST_ROWS} without"
            more = "more questions are needed" + enough * bool(self.measured and not systems[system]["labelled"])
            fix = more if any(reason.needs_questions for reason in reasons) else advice
            by_fix.setdefault(fix, []).append(system)
        notes = []
        for fix, names in by_fix.items():
            whose = "the accuracy" + f" of {listed(names)}" * (len(names) < len(systems))
            why = joined_reasons({name: untold[name] for name in names}, are_all=len(names) == len(systems))
            notes += [Untold(whose, why), Remedy(fix)]
        return notes


def joined_reasons(by_system: Mapping[str, Sequence[Reason]], are_all: bool = True) -> str:
    """Return why systems have no estimate in one phrase; the answers that a reason is true of are added up.

    The systems of a reason are named unless they `are_all` and each has it.

    >>> unsure = {name: [Reason("unsure about {}", (number, 24))] for name, number in {"a": 12, "b": 9}.items()}
    >>> joined_reasons(unsure), joined_reasons(unsure, are_all=False)
    ('unsure about 21 of 48 answers', 'unsure about 21 of 48 answers of a and b')
    >>> joined_reasons({"a": [Reason("too few")], "b": [Reason("too few")], "c": [Reason("no labels")]})
    'too few (a, b); no labels (c)'
    """
    alike: dict[str, dict[str, dict[str, Reason]]] = {}  # {text: {unit: {system: reason}}}
    for system, reasons in by_system.items():
        for reason in reasons:
            alike.setdefault(reason.text, {}).setdefault(reason.unit, {})[system] = reason
    phrases = []
    for text, by_unit in alike.items():
        numbers = []
        for reasons in by_unit.values():
            names = "" if are_all and len(reasons) == len(by_system) else listed([*reasons])
            if all(reason.counts for reason in reasons.values()):
                number, size = map(sum, zip(*(reason.counts for reason in reasons.values()), strict=True))
                numbers.append(next(iter(reasons.values()))._replace(counts=(number, size)).number(names))
        system_names = "" if len(reasons) == len(by_system) else f" ({', '.join(reasons)})"
        phrases.append(text.format(listed(numbers)) if numbers else text + system_names)
    return "; ".join(phrases)


def judged_systems(
    sums: Mapping[str, estimation.QuestionSums], errors: JudgeErrors, verb: str = "accuracy", **options: Any
) -> tuple[dict[str, Any], dict[str, estimation.AccuracyEstimate]]:
    """Return the accuracy of systems, for the reports of `score` and `compare`, from each system's sums by question.

    `verb` is the one that notes name.

    Returned are "method" in words, "assumes" (see `assumption`), "confidence", "measured" in one line or None,
    "unlike", "notes", and "systems": {system: what `JudgeErrors.accuracy` returns}; and all estimates.
    """
    estimated = {system: errors.accuracy(system, question_sums, **options) for system, question_sums in sums.items()}
    systems = {system: accuracy for system, (accuracy, _) in estimated.items()}
    estimates = {system: estimate for system, (_, estimate) in estimated.items()}
    bases, measured = {accuracy["basis"] for accuracy in systems.values()}, errors.measured
    by_judge = bases & {estimation.MEASURED, estimation.NOTHING}
    accuracy = {
        "method": methods(systems),
        "assumes": assumption(systems),
        "confidence": CONFIDENCE,
        "measured": measured_fact(measured.facts, errors.unlike) if measured and by_judge else None,
        "unlike": {system: list(map(str, others)) for system, others in errors.unlike.items()},
        "notes": errors.notes(systems, estimates, verb),
        "systems": systems,
    }
    return accuracy, estimates


def differences_of_pairs(
    estimates: Mapping[str, estimation.AccuracyEstimate], totals: Mapping[str, QuestionTotals], **options: Any
) -> list[dict[str, Any]]:
    """Return "first", "second", "shared_questions", "labelled_questions" and "difference" of all pairs of systems.

    Labelled are those of which both systems have labels.
    `totals` has the sums by question of each; see `estimation.accuracy_differences`, which gets the options.
    """
    if len(estimates) < 2:
        return []
    keys = [totals[system].keys for system in estimates]
    differences = estimation.accuracy_differences(estimation.numbered_alike([*estimates.values()], keys), **options)
    labelled = [totals[system].keys[totals[system].sums.labelled > 0] for system in estimates]
    return [
        {"first": first, "second": second}
        | {"shared_questions": len(np.intersect1d(*shared)), "labelled_questions": len(np.intersect1d(*with_labels))}
        | {"difference": difference}
        for (first, second), shared, with_labels, difference in zip(
            combinations(estimates, 2), combinations(keys, 2), combinations(labelled, 2), differences, strict=True
        )
    ]


def best_first(systems: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return systems by accuracy, the highest first, those without one last."""
    return sorted(systems, key=lambda system: -(systems[system]["accuracy"] or 0))


def to_label(systems: Mapping[str, Mapping[str, Any]], verb: str, why: str = "", of: Collection[str] = ()) -> str:
    """Return how many answers of systems to label at first, why, and the commands that label and use the labels.

    The commands ask answers of all systems; those `of` which the labels are needed are named where that is not all.

    >>> to_label({"a": {"rows": 24}, "b": {"rows": 24}}, "score", of=["b"]).partition(":")[0]
    'label all 48 answers (24 are of b)'
    """
    rows = {system: numbers["rows"] for system, numbers in systems.items()}
    if max(rows.values(), default=0) > LABELS_TO_BEGIN:
        answers = f"{LABELS_TO_BEGIN} answers" + " of every system" * (len(systems) > 1)
        answers += f" (labels of {briefly([*of])} are needed)" if of else ""
    elif of:
        answers = f"all {sum(rows.values()):,} answers ({sum(rows[name] for name in of):,} are of {briefly([*of])})"
    else:
        answers = "all answers" + " of every system" * (len(systems) > 1)
    then = f"then: genqa-metrics {verb} FILE --labels labels.jsonl"
    return f"label {answers}{why}: genqa-metrics label FILE -o labels.jsonl, {then}"


SHORT_CELLS = {  # of a system on a first screen, by the name of the number
    "accuracy": accuracy_cell,
    "labelled": lambda of: (
        f"{of['labelled']:,} of {of['rows']:,}{', rest judged' * (of['basis'] == estimation.TOGETHER)}"
    ),
    "declined": lambda of: f"{round(of['declined'] * of['rows']):,} of {of['rows']:,}",
}


def assumption(systems: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what estimates without enough labels assume, and for which systems; "" where labels decide."""
    assumptions = []
    for basis in BASES.values():
        names = [system for system, accuracy in systems.items() if accuracy["source"] == basis.source]
        if names and basis.assumes:
            assumptions.append(basis.assumes.format(on=f" on {briefly(names)}" * (len(names) < len(systems))))
    return "; ".join(assumptions)


def what_decides(systems: Mapping[str, Mapping[str, Any]], judge: str) -> str:
    """Return what the accuracy of systems rests on, labels or this judge, in sentences.

    >>> labelled = {"basis": "labels and judge", "source": "labels and judge", "rows": 24, "labelled": 9}
    >>> what_decides({"a": labelled, "b": labelled}, "the judge AVA")
    '18 of 48 answers have labels; for the others the judge AVA counts, corrected by the labels.'
    """
    helped = {of["basis"] == estimation.TOGETHER for of in systems.values() if 0 < of["labelled"] < of["rows"]}
    others = f"{judge} counts{' where it helps' * (len(helped) > 1)}, corrected by the labels"
    groups: dict[str, list[str]] = {}
    for system, of in systems.items():
        where = "the answers that calibrated it" if of["source"] == CALIBRATED else "other data"
        if of["basis"] == estimation.MEASURED:
            basis = f": {judge} decides, and is assumed to err as often as on {where}"
        elif of["basis"] == estimation.NOTHING:
            basis = f": these are verdicts of {judge}" * (not of["labelled"])
        else:
            decides = of["labelled"] == of["rows"] or not any(helped)
            basis = ", which decide" if decides else f"; for the others {others}"
        groups.setdefault(f"{'no ' * (not of['labelled'])}labels{basis}.", []).append(system)
    sentences = []
    for basis, names in groups.items():
        labelled, rows = (sum(systems[name][count] for name in names) for count in ("labelled", "rows"))
        answers = f"{rows:,} answers" + f" of {briefly(names)}" * (len(groups) > 1)
        number = "The" if not labelled else "All" if labelled == rows else f"{labelled:,} of"
        is_short = not labelled and len(groups) == 1
        sentences.append(f"{basis[:1].upper()}{basis[1:]}" if is_short else f"{number} {answers} have {basis}")
    return " ".join(sentences)


def methods(systems: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the methods by which the accuracy of systems was estimated, joined by "or"."""
    with_interval = [accuracy["method"] for accuracy in systems.values() if accuracy["low"] is not None]
    return " or ".join(dict.fromkeys(with_interval)) or BASES[estimation.NOTHING].method


def help_of_judge(
    systems: Mapping[str, Mapping[str, Any]], confusion: Mapping[str, int], stronger: str = "", brief: bool = False
) -> str:
    """Return a sentence on whether a judge narrows intervals of labels; "" if no system has such an interval.

    `confusion` counts the labelled answers of all systems, see `scoring.confusion_counts`; `stronger`: see `Scorer`.
    The `brief` one has no agreement by chance to compare with, and says nothing of intervals if all is labelled.
    """
    with_labels = [of for of in systems.values() if "effective_sample_size" in of and of["low"] is not None]
    if not with_labels:
        return ""
    agreed, right = (confusion["accepted"] + confusion[name] for name in ("rejected", "missed"))
    sentence = f"the judge agrees with {agreed:,} of {sum(confusion.values()):,} labels{_least_agreed(systems)}"
    sentence += f" (a judge that calls every answer right: {right:,})" * (not brief)
    if all(accuracy["labelled"] == accuracy["rows"] for accuracy in with_labels):
        return sentence if brief else f"{sentence}; every answer has a label, so its verdicts are not needed"
    if all(accuracy["basis"] != estimation.TOGETHER for accuracy in with_labels):
        other = f"--set {stronger}" if stronger else "another judge"
        return f"{sentence}; its scores make no interval narrower: label more, or take {other}"
    labels, worth = (sum(of[name] for of in with_labels) for name in ("labelled", "effective_sample_size"))
    if round(worth) <= labels:
        return f"{sentence}; its scores make the intervals of the {labels:,} labels no narrower"
    worth = f"{labels:,} labels give intervals as narrow as {worth:,.0f} labels alone"
    return f"{sentence}; with its scores of the others the {worth}"


def _least_agreed(systems: Mapping[str, Mapping[str, Any]]) -> str:
    """Return on which of several systems a judge agrees with clearly fewer labels than on all; "" for none.

    >>> counts = {"a": (22, 0), "b": (14, 8)}
    >>> counts = {name: {"accepted": n, "missed": missed, "rejected": 0} for name, (n, missed) in counts.items()}
    >>> _least_agreed({name: {"confusion": of} for name, of in counts.items()})
    ', least on b (14 of 22)'
    """
    counts = {name: of["confusion"] for name, of in systems.items() if "confusion" in of}
    agreed = {name: (of["accepted"] + of["rejected"], sum(of.values())) for name, of in counts.items()}
    if len(agreed) < 2:
        return ""
    shares = {name: same / number for name, (same, number) in agreed.items()}
    least = min(shares, key=lambda name: shares[name])
    same, number = (sum(column) for column in zip(*agreed.values(), strict=True))
    is_clear = shares[least] < same / number - LESS
    return f", least on {least} ({agreed[least][0]:,} of {agreed[least][1]:,})" * is_clear


OF_CONFUSION = (
    "Missed: right, but judged wrong. Let through: wrong, but judged right. The four counts add up to the labelled "
    "answers; both right and let through are those judged right."
)


def confusion_table(title: str, systems: Mapping[str, Mapping[str, Any]], explanation: str) -> Table:
    """Return a table with the counts of `scoring.CONFUSION`, agreement and kappa of every system."""
    rows = []
    for system, agreement in systems.items():
        counts = [agreement[name] for name in CONFUSION]
        shares = [number(agreement["agreement"]), number(agreement["kappa"])]
        rows.append([system, f"{sum(counts):,}", *shares, *(f"{count:,}" for count in counts)])
    header = ["system", "labelled", "agreement", "kappa", *CONFUSION]
    return Table(title, header, rows, f"{explanation} {OF_CONFUSION}", short=short_names(header), extra=["kappa"])


def measured_fact(measured: Mapping[str, Any], unlike: Mapping[str, Sequence[object]] | None = None) -> str:
    """Return a line with the measured error rates, their data, and how rows of systems differ from these data."""
    counts = [sum(group[name] for group in measured["systems"]) for name in COUNTS]
    how = f"calibrated on {measured['labels']:,} labels of yours," if "labels" in measured else "measured on"
    on = " (cross-fitted)" if "labels" in measured else ""
    accepted, correct, rejected, incorrect = (f"{n:,.0f}" if n == int(n) else f"{n:,.1f}" for n in counts)
    rest = [f"; unlike the rows of {name}: {'; '.join(map(str, others))}" for name, others in (unlike or {}).items()]
    return (
        f"the judge was {how} {', '.join(measured['data'])}: {accepted} of {correct} right answers judged "
        f"right, {rejected} of {incorrect} wrong ones judged wrong{on}{''.join(rest)}"
    )


def is_long(rows: Mapping[str, float]) -> bool:
    """Return whether most answers are long, from counts of `ava.scorer.profile`.

    >>> [is_long({"profiled": 2, f"answer_words:{length}": 2}) for length in (6, 5)]
    [True, False]
    """
    long = (rows.get(name, 0) for name in rows if name.startswith("answer_words:") and int(name[13:]) >= LONG_CLASS)
    return 2 * sum(long) > rows.get("profiled", 0)


def calibrated_on(rows: Mapping[str, float]) -> list[Reason]:
    """Return [a reason] if a judge was calibrated on many of the rows, from counts of `ava.scorer.profile`; else [].

    >>> list(map(str, calibrated_on({"profiled": 60, "calibrated": 40})))
    ['the judge was calibrated on 40 of these 60 answers, and errs less on them than on others']
    """
    calibrated, size = rows.get("calibrated", 0), rows.get("profiled", 0)
    answers = f"{calibrated:,.0f} of these {size:,.0f} answers"
    note = f"the judge was calibrated on {answers}, and errs less on them than on others"
    return [Reason(note)] * (calibrated > RARE_SHARE * size)


def differences(measured: Mapping[str, float], rows: Mapping[str, float]) -> list[Reason]:
    """Return how rows differ from those that a judge was measured on: rare lengths, more unsure verdicts.

    Both are counts of `ava.scorer.profile`. Measured counts without "unsure" compare only lengths.

    >>> measured = {"profiled": 100, "unsure": 10, "answer_words:1": 60, "answer_words:3": 37, "answer_words:6": 3}
    >>> differences(measured, {"profiled": 50, "unsure": 5, "answer_words:1": 50})
    []
    >>> for difference in differences(measured, {"profiled": 50, "unsure": 30, "answer_words:6": 50}):
    ...     print(difference)
    all 50 answers have an unusual length for this judge
    the judge is unsure about 30 of 50 answers (10% where it was measured)
    """
    size, base = rows.get("profiled", 0), measured.get("profiled", 0)
    if not base:
        return []
    if size < LEAST_ROWS:
        few = f"{size:.0f} answers are too few to check whether the judge fits them; {LEAST_ROWS} are needed"
        return [Reason(few)]
    result = []
    for prefix, texts in (("answer_words:", "answers"), ("reference_words:", "references")):
        lengths, measured_lengths = (
            np.reshape([(int(name[len(prefix) :]), n) for name, n in of.items() if name.startswith(prefix)], (-1, 2))
            for of in (rows, measured)
        )
        longer = (measured_lengths[:, 0] >= lengths[:, :1]) @ measured_lengths[:, 1]
        shorter = (measured_lengths[:, 0] <= lengths[:, :1]) @ measured_lengths[:, 1]
        rare = lengths[np.minimum(longer, shorter) < RARE[prefix] * base, 1].sum()
        if rare > RARE_SHARE * size:
            unusual = "{} have an unusual length for this judge"
            result.append(Reason(unusual, (round(rare), round(size)), unit=texts))
    if "unsure" in measured:
        unsure, usual = rows.get("unsure", 0) / size, measured["unsure"] / base
        if wilson(unsure, size, Z)[0] > wilson(usual, base, Z)[1] and unsure > usual + 0.1:
            there = f"({usual:.0%} where it was measured)"
            result.append(Reason(f"the judge is unsure about {{}} {there}", (round(rows["unsure"]), round(size))))
    return result


def checked_judge(
    columns: Mapping[str, str] | None, settings: Settings | None, label_file: bool = False
) -> tuple[dict[str, str], str | None]:
    """Return columns without "judge", and the column with another judge's verdicts, if one is named.

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
    items: Sequence[Item], settings: Settings, sources: Sequence[Source], progress: Progress
) -> tuple[np.ndarray, np.ndarray, Scorer, JudgeErrors, list[str]]:
    """Return the judge's (items,) probabilities and verdicts, its scorer, its errors, and notes."""
    from ..scale.run import item_statistics
    from ..scale.scoring import profiles

    scorer = make_scorers([JUDGE], settings, sources)[JUDGE]
    sums, counts = item_statistics(items, {JUDGE: scorer}, progress)
    statistics = sums[JUDGE]
    notes = scorer.warnings({"all": statistics.sum(axis=0)[:-1]}, counts[JUDGE])
    errors = JudgeErrors.of(scorer, profiles(scorer, items, statistics))
    return statistics[:, 1], statistics[:, 0], scorer, errors, notes


def judge_settings(settings: Settings | None, calibration: str | None = None) -> dict[str, Any]:
    """Return {setting: value} of the judge from settings in any form, and with a file of `calibrate`."""
    by_metric = settings_by_metric(settings, [JUDGE])
    for metric in by_metric:
        if metric != JUDGE:
            raise ValueError(f"settings: expected those of {JUDGE}, got those of {metric}; drop them")
    return with_calibration(by_metric.get(JUDGE, {}), calibration)
