"""A judge's scale, threshold and errors on a user's own data: what `genqa-metrics calibrate` prints and writes."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...ava.calibration import Calibration, answer_key, content_digest
from ...ava.scorer import profile
from ...registry import JUDGE
from ...reports.report import Report, print_first_screen
from ...reports.table import Table, as_json, number, p_value
from ...rows.errors import FileError, bad_usage
from ...rows.reading import Message, Progress, Skips, ignore, inputs_of
from ...rows.writing import output_path, write_text
from ...scale.options import OnError, Settings, check_options, checked_columns, make_scorers
from ...statistics.intervals import COUNTS
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

WRITE = "genqa-metrics calibrate with --output mine.json writes it for --calibration mine.json"
SHARES = ("agreement", "sensitivity", "specificity")
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
            f"{names}: expected at least {LEAST_EACH} correct and {LEAST_EACH} incorrect answers, got {correct:g} "
            f"and {number - correct:g}; label more, or rows of a weaker system"
        )
    sums, _ = item_statistics(labelled.items, {JUDGE: scorer}, progress)
    probabilities, labels, weights = sums[JUDGE][:, 1], labelled.labels, labelled.weights
    questions = [(item.text or "").lower() for item in labelled.items]
    content, crossed = _fitted(labelled, probabilities, questions)
    content = {"genqa_metrics": __version__, "judge": scorer.judge, "signature": scorer.signature} | content
    scale = Calibration(content["slope"], content["intercept"], THRESHOLD, scorer.judge, content)
    verdicts = probabilities >= scorer.threshold, crossed >= THRESHOLD
    before, after = (shares_right(judge, labels, weights) for judge in verdicts)
    better, worse, p = sign_test(*(judge.astype(float) for judge in verdicts), labels, questions)
    instead = f"genqa-metrics accuracy FILE{' --labels LABELS' * bool(label_sources)}"
    if not label_sources and np.ptp(weights):  # the rows are those of another file that were drawn to be labelled
        instead = "genqa-metrics accuracy ROWS --labels FILE"
    result = CalibrateReport(
        calibration=content,
        threshold_before=scorer.threshold,
        threshold_after=scale.unscaled(THRESHOLD),
        before=before,
        after=after,
        sign_test={"better": better, "worse": worse, "p": p},
        auc=area_under_curve(probabilities, labels, weights),
        unlabelled=labelled.unlabelled,
        instead=instead,
        helps=better > worse and p < LEVEL,
        notes=notes,
        inputs=inputs_of(inputs, skips),
        bad_rows=skips.skipped,
    )
    notes += _notes(result)
    content["data"] = {source["name"]: source["sha256"] for source in result.inputs}
    content["digest"] = content_digest(content)
    if output is not None and result.helps:
        result.write(output)
    elif output is not None:
        notes.append(f"nothing was written to {output}")
    return result


@dataclass(eq=False, repr=False)
class CalibrateReport(Report):
    """A judge's calibration by a user's labels, and how well it agrees with them before and after.

    Attributes:
        calibration: what the file says: "slope", "intercept", "threshold", "errors", "labels", "digest" and so on.
        before: of the judge as it is: "agreement", "sensitivity" and "specificity", shares of all, correct and
            incorrect answers on which it agrees with the labels.
        after: the same of the calibrated judge, cross-fitted.
        helps: whether the calibrated judge agrees with significantly more labels on held-out questions.
        output: the file that it was written to, if it was.
    """

    title = "Calibration of the judge"

    output = None

    calibration: dict[str, Any]
    threshold_before: float
    threshold_after: float
    before: dict[str, float]
    after: dict[str, float]
    sign_test: dict[str, Any]
    auc: float
    unlabelled: int
    instead: str
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
    def findings(self) -> list[str]:
        """Whether the calibrated judge agrees with more labels, and what to do."""
        before, after = (f"{shares['agreement']:.1%}" for shares in (self.before, self.after))
        test, unit = self.sign_test, "answers"
        if self.calibration["questions"] < self.calibration["answers"]:
            unit = "questions"
        counts = f"{test['better']:,} {unit} better, {test['worse']:,} worse, p {p_value(test['p'])}"
        agrees = f"it agrees with {after} of the labels on held-out questions, the judge as it is with {before}"
        agrees += f" ({counts})"
        if not self.helps:
            return [f"calibration is not shown to help: {agrees}. Use the labels themselves: {self.instead}"]
        differ = self.instead.replace(" accuracy ", " agree ", 1)
        follows = f"It becomes as lenient or strict as these labels: read where the two differ first, {differ}"
        to_do = WRITE
        if self.output:
            to_do = f"Written to {self.output}. For other answers: {self._next()}; of these the labels say more: "
            to_do += self.instead
        return [f"calibration helps: {agrees}", follows, to_do]

    def _next(self) -> str:
        return f"genqa-metrics score OTHERS --calibration {shlex.quote(self.output)}"

    def show(self, console: Any) -> None:
        """Print whether calibration helps, and what to do; `show_all` prints what it rests on too."""
        (table,), content = self.tables(), self.calibration
        print_first_screen(
            console,
            f"{content['labels']:,} labels of {content['answers']:,} answers to {content['questions']:,} questions",
            replace(table, title="", explanation=""),
            self.findings,
            self.notes,
            "What the columns mean and the numbers rest on: --verbose",
        )

    def tables(self) -> list[Table]:
        """Return the tables."""
        judges = ("as it is", self.before, self.threshold_before), ("calibrated", self.after, self.threshold_after)
        rows = [
            [name, number(threshold), *(f"{shares[share]:.1%}" for share in SHARES)]
            for name, shares, threshold in judges
        ]
        explanation = (
            f"{self.calibration['labels']:,} labels, {self.calibration['answers']:,} answers to "
            f"{self.calibration['questions']:,} questions. Threshold: the judge's own probability from which an "
            f"answer counts as correct; on the new scale it is {self.calibration['threshold']:g}. The shares of the "
            "calibrated judge are cross-fitted: each verdict is by a scale that was fitted on other questions."
        )
        plain = {"sensitivity": "right accepted", "specificity": "wrong rejected"}
        return [Table("Agreement with the labels", ["judge", "threshold", *SHARES], rows, explanation, short=plain)]

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        slope, intercept = self.calibration["slope"], self.calibration["intercept"]
        return [
            *self._inputs(),
            f"judge: {self.calibration['signature']}",
            f"log-odds: {slope:.3f} times the judge's, {intercept:+.3f}",
            measured_fact(self.calibration),
            f"genqa-metrics {self.calibration['genqa_metrics']}",
            *([f"Next: {self._next()}"] if self.output else []),
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
        "labels": labelled.number,
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
    for name in COUNTS[1::2] if report.helps else ():  # else nothing is written, of which intervals would be made
        if (count := content["errors"][name]) < FEW_ANSWERS:
            labelled = sum(system[name] for system in content["systems"])
            why = "(answers to a question or of a system are alike)"
            alike = f", which tell as much as {count:.0f} independent ones {why}" * (round(labelled) > round(count))
            to_do = f"intervals will be wide; label more {name} answers, to other questions"
            notes.append(f"only {labelled:.0f} labels of {name} answers{alike}: {to_do}")
    if report.auc < CHANCE:
        notes.append(
            f"a correct answer has a higher probability than an incorrect one only {report.auc:.0%} of the time: "
            "this judge hardly tells right from wrong here; take another checkpoint, or labels alone"
        )
    if report.unlabelled:
        notes.append(f"{report.unlabelled:,} rows have no label and were left out")
    return notes
