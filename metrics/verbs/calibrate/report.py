"""A judge's scale, threshold and errors on a user's own data: what `genqa-metrics calibrate` prints and writes."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...ava.calibration import Calibration, answer_key, content_digest
from ...ava.scorer import profile
from ...registry import JUDGE
from ...reports.report import WIDTH, Finding, Report, as_sentence, say
from ...reports.table import Table, as_json, number, p_value, print_table
from ...rows.errors import FileError, bad_usage
from ...rows.reading import Message, Progress, Skips, ignore, inputs_of
from ...rows.writing import output_path, write_text
from ...scale.options import OnError, Settings, check_options, checked_columns, make_scorers
from ...statistics.resampling import LEVEL
from ..inputs import digested_sources
from ..judge_errors import judge_settings, measured_fact
from ..label.labels import LABELS_TO_BEGIN, Labelled, labelled_rows
from .calibration import (
    LEAST_EACH,
    LEAST_LABELS,
    THRESHOLD,
    area_under_curve,
    cross_fitted,
    effective_counts,
    error_counts,
    fitted_scale,
    shares_right,
    sign_test,
)

FEW_ANSWERS = 15  # effective ones, correct or incorrect, below which intervals are wide
CHANCE = 0.65  # area under the curve, below which the judge hardly tells right from wrong


def calibrate(
    rows: Any,
    output: str | None = None,
    settings: Settings | None = None,
    *,
    labels: Any = None,
    columns: Mapping[str, str] | None = None,
    on_error: OnError = "fail",
    problem: Message = ignore,
    progress: Progress = ignore,
) -> "CalibrateReport":
    """Calibrate AVA on labels of your own, as `genqa-metrics calibrate` does.

    Args:
        rows: as for `score`, one answer a row; those with a "label" (0 or 1) are read.
        output: write the calibration to this file, such as mine.json; nothing is written where the sign test does not
            show that calibration helps.
        settings: settings of the judge, {"checkpoint": "large"} or, as for `--set`, {"ava.checkpoint": "large"}.
        labels: labels of people beside the rows, as for `accuracy`.
        columns: where a column has another name: {"prediction": "answer_text"}.
        on_error: "fail" at the first bad row, or "skip" and count bad rows.
        problem: called with each row that is left out.
        progress: called with what is judged, rows that are done, and all rows.

    Returns:
        `.calibration`, `.before`, `.after`, `.helps`, `.write(path)`.

    Raises:
        ValueError: if an argument or a row is bad, or there are too few labels.
        OSError: if the output cannot be written.
    """
    from ... import __version__
    from ...scale.run import item_statistics

    with bad_usage():
        check_options(on_error, settings=settings, columns=columns)
        columns, settings = checked_columns(columns), judge_settings(settings)
        for name in ("threshold", "calibration"):
            if name in settings:
                raise ValueError(f"settings: {name} is what calibrate finds, or depends on it; leave it out")
        sources = digested_sources(rows)
        label_sources = [] if labels is None else digested_sources(labels, "labels")
        inputs = [*sources, *label_sources]
        if output is not None:
            try:
                output_path(output, [source.path for source in inputs])
            except FileError as error:
                raise ValueError(f"output: {error}") from error
        scorer = make_scorers([JUDGE], settings | {"calibration": False}, sources)[JUDGE]
    skips, notes = Skips(on_error == "skip", problem), []
    labelled = labelled_rows(sources, columns, skips, label_sources, notes)
    names, number, correct = ", ".join(source.name for source in inputs), len(labelled.items), labelled.labels.sum()
    if number < LEAST_LABELS:
        raise FileError(f"{names}: expected labels of at least {LEAST_LABELS} answers, got {number}; label more")
    if min(correct, number - correct) < LEAST_EACH:
        raise FileError(
            f"{names}: expected at least {LEAST_EACH} right and {LEAST_EACH} wrong answers, got {correct:g} "
            f"and {number - correct:g}; label more, or rows of a weaker system"
        )
    sums, _ = item_statistics(labelled.items, {JUDGE: scorer}, progress)
    probabilities, labels, weights = sums[JUDGE][:, 1], labelled.labels, labelled.weights
    questions = [(item.text or "").lower() for item in labelled.items]
    content, crossed = _fitted(labelled, probabilities, questions)
    content = {"genqa_metrics": __version__, "judge": scorer.judge, "signature": scorer.signature} | content
    scale = Calibration(content["slope"], content["intercept"], THRESHOLD, scorer.judge, content)
    verdicts = probabilities >= scorer.threshold, crossed >= THRESHOLD
    before, after = (
        shares_right(judge, labels, weights) | {"labels": error_counts(judge, labels, labelled.numbers)}
        for judge in verdicts
    )
    better, worse, p = sign_test(*(judge.astype(float) for judge in verdicts), labels, questions)
    is_drawn = bool(np.ptp(weights))
    result = CalibrateReport(
        calibration=content,
        threshold_before=scorer.threshold,
        threshold_after=scale.unscaled(THRESHOLD),
        before=before,
        after=after,
        sign_test={"better": better, "worse": worse, "p": p},
        auc=area_under_curve(probabilities, labels, weights),
        unlabelled=labelled.unlabelled,
        files="FILE --labels LABELS" if label_sources else "FILE",
        is_drawn=is_drawn,
        helps=better > worse and p < LEVEL and after["agreement"] > before["agreement"],
        notes=notes,
        inputs=inputs_of(inputs, skips),
        bad_rows=skips.skipped,
    )
    notes += _notes(result)
    content["data"] = {source["name"]: source["sha256"] for source in result.inputs}
    content["digest"] = content_digest(content)
    if output is not None and result.helps:
        result.write(output)
    elif output is not None and Path(output).exists():
        notes.insert(0, f"{output} is an earlier calibration: delete it, or leave --calibration out")
    return result


@dataclass(eq=False, repr=False)
class CalibrateReport(Report):
    """A judge's calibration by a user's labels, and how well it agrees with them before and after.

    Attributes:
        calibration: what the file says: "slope", "intercept", "threshold", "errors", "labels", "digest" and so on.
        before: of the judge as it is: "agreement", "sensitivity" and "specificity", shares of all, correct and
            incorrect answers on which it agrees with the labels, weighted by 1 / probability of being drawn; and
            "labels", the counts of labels behind them, not weighted.
        after: the same of the calibrated judge, cross-fitted.
        helps: whether the calibrated judge agrees with significantly more labels on questions it was not fitted to.
        output: the file that it was written to, if it was.
    """

    title = "Calibration of the judge"

    output = None

    calibration: dict[str, Any]
    threshold_before: float
    threshold_after: float
    before: dict[str, Any]
    after: dict[str, Any]
    sign_test: dict[str, Any]
    auc: float
    unlabelled: int
    files: str  # of commands on the same rows and labels
    is_drawn: bool  # whether some answers were drawn for labelling more often than others
    helps: bool
    notes: list[str]
    inputs: list[dict[str, Any]]
    bad_rows: int

    def __repr__(self) -> str:
        before, after = (number(shares["agreement"]) for shares in (self.before, self.after))
        return f"CalibrateReport({self.calibration['labels']:,} labels; agreement {before} before, {after} after)"

    def write(self, path: str | Path) -> None:
        """Write the calibration, which `calibration=` and `--calibration` read.

        Raises:
            OSError: if the file cannot be written.
        """
        write_text(Path(path), as_json(self.calibration))
        self.output = str(path)

    @property
    def headline(self) -> str:
        """How many labels the judge is compared with."""
        content = self.calibration
        counts = (
            f"{content['labels']:,} labels of {content['answers']:,} answers to {content['questions']:,} questions"
        )
        return f"{self.title}: {counts}"

    @property
    def conclusions(self) -> list[Finding]:
        """Whether the calibrated judge agrees with more labels, and what became of it."""
        counts = [judge["labels"] for judge in (self.before, self.after)]
        before, after = (of["accepted"] + of["rejected"] for of in counts)
        verdict = "helps" if self.helps else "is not shown to help" if after > before else "does not help"
        test = self.sign_test
        unit = "question" if self.calibration["questions"] < self.calibration["answers"] else "answer"
        better = f"{test['better']:,} {unit}{'s' * (test['better'] != 1)}"
        numbers = (
            f"On questions that it was not fitted to, the judge agrees with {after:,g} of "
            f"{self.calibration['labels']:,} labels, without calibration with {before:,g} (better on "
            f"{better}, worse on {test['worse']:,}; p {p_value(test['p'])})."
        )
        finding = Finding(f"Calibration {verdict}.", numbers)
        if not self.helps:
            return [finding, Finding("Nothing was written: keep the judge as it is.")]
        if not self.output:
            return [finding]
        add = f"add --calibration {shlex.quote(self.output)} to score, compare and accuracy of other answers"
        return [finding, Finding(f"Written to {self.output}: {add}.")]

    @property
    def page_headline(self) -> str:
        """The headline without the title, which stands above it."""
        return self.headline.removeprefix(f"{self.title}: ")

    @property
    def next_steps(self) -> list[str]:
        """What to do with the labels; of rows that were drawn from a file, this file is not known."""
        files = "ROWS --labels FILE" if self.is_drawn and "LABELS" not in self.files else self.files
        steps = [f"take the accuracy of these answers from their labels: genqa-metrics accuracy {files}"]
        if files != self.files:
            steps = [f"{steps[0]}, ROWS being the file that they were drawn from"]
        if self.helps:
            steps.insert(0, f"read where judge and labels differ: genqa-metrics agree {self.files}")
            if not self.output:
                steps[0] = f"write it: genqa-metrics calibrate {self.files} --output mine.json"
        return steps

    def show(self, console: Any) -> None:
        """Print whether calibration helps, both judges, and what to do; `show_all` prints what it rests on too."""
        say(console, [self.headline, *(f"-> {finding}" for finding in self.findings)], "bold", WIDTH)
        console.print()
        (table,) = self.tables()
        table.title = ""
        print_table(table, console)
        say(console, [f"   {as_sentence(note)}" for note in self.notes], "dim", WIDTH)
        console.print()
        say(console, [f"Next: {step}" for step in self.next_steps], "dim", WIDTH)
        say(console, ["What the numbers rest on: --verbose"], "dim", WIDTH)

    def show_all(self, console: Any) -> None:
        """Print the first screen, and what the numbers rest on."""
        self.show(console)
        say(console, ["", *self.facts()])

    def tables(self) -> list[Table]:
        """Return the tables."""
        judges = ("as it is", self.before, self.threshold_before), ("calibrated", self.after, self.threshold_after)
        header = ["judge", "right from", "agrees with", "right accepted", "wrong rejected"]
        header += ["agreement, all answers"] * self.is_drawn
        rows = []
        for name, shares, threshold in judges:
            accepted, correct, rejected, incorrect = shares["labels"].values()
            pairs = (accepted + rejected, correct + incorrect), (accepted, correct), (rejected, incorrect)
            row = [name, number(threshold), *(f"{hits:,g} of {labels:,g}" for hits, labels in pairs)]
            rows.append([*row, *[f"{shares['agreement']:.1%}"] * self.is_drawn])
        explanation = (
            "Counts of labels. Right from: the judge's own probability from which it calls an answer right; "
            f"{self.threshold_after:.3f} is fitted on all labels. Every verdict of the calibrated judge is by a "
            "threshold that was fitted on other questions, so that no label is judged by itself."
        )
        if self.is_drawn:
            explanation += " All answers: estimated for those that the labelled ones were drawn from."
        return [Table("Agreement with the labels", header, rows, explanation)]

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        slope, intercept = self.calibration["slope"], self.calibration["intercept"]
        return [
            *self._inputs(),
            f"judge: {self.calibration['signature']}",
            f"log-odds: {slope:.3f} times the judge's, {intercept:+.3f}",
            measured_fact(self.calibration),
            f"genqa-metrics {self.calibration['genqa_metrics']}",
        ]


def _fitted(
    labelled: Labelled, probabilities: np.ndarray, questions: Sequence[str]
) -> tuple[dict[str, Any], np.ndarray]:
    """Return a judge's scale and errors on labelled answers, and (answers,) its cross-fitted probabilities."""
    items, labels, weights = labelled.items, labelled.labels, labelled.weights
    systems = np.array([item.system for item in items])
    slope, intercept = fitted_scale(probabilities, labels, weights)
    crossed = cross_fitted(probabilities, labels, weights, questions)
    verdicts = (crossed >= THRESHOLD).astype(float)
    like: Counter = Counter()
    for item, probability, weight in zip(items, probabilities, weights.tolist(), strict=True):
        counts = profile([item.references], item.predictions, np.array([probability]))
        like.update({name: count * weight for name, count in counts.items()})
    return {
        "slope": round(slope, 6),
        "intercept": round(intercept, 6),
        "threshold": THRESHOLD,
        "labels": int(labelled.numbers.sum()),
        "answers": len(items),
        "questions": len(set(questions)),
        "data": {},
        "answer_keys": sorted({answer_key(item.text or "", item.predictions[0]) for item in items}),
        "errors": effective_counts(verdicts, labels, weights, questions, systems),
        "systems": [
            {"system": name} | error_counts(verdicts[systems == name], labels[systems == name])
            for name in dict.fromkeys(systems.tolist())
        ],
        "profile": {name: round(count, 4) for name, count in sorted(like.items())},
    }, crossed


def _notes(report: CalibrateReport) -> list[str]:
    content, notes = report.calibration, []
    if content["labels"] < LABELS_TO_BEGIN:
        notes.append(f"{content['labels']} labels: below {LABELS_TO_BEGIN} the scale is rough; label more")
    if report.helps:
        notes.append("the calibrated judge is as lenient or strict as these labels")
    # What does not help is not written, and no intervals are made of it.
    for name, kind in (("correct", "right"), ("incorrect", "wrong")) if report.helps else ():
        if (count := content["errors"][name]) < FEW_ANSWERS:
            labelled = sum(system[name] for system in content["systems"])
            alike = f", worth {count:.0f} of independent answers"
            few = f"only {labelled:.0f} labels of {kind} answers{alike * (round(labelled) > round(count))}"
            notes.append(f"{few}: intervals will be wide; label {kind} answers to other questions")
    if report.auc < CHANCE:
        notes.append(
            f"a right answer has a higher probability than a wrong one only {report.auc:.0%} of the time: "
            "this judge hardly tells right from wrong here; take another checkpoint, or labels alone"
        )
    if report.unlabelled:
        notes.append(f"{report.unlabelled:,} rows have no label and were left out")
    return notes
