"""A judge's scale, threshold and errors on a user's own data: what `genqa-metrics calibrate` prints and writes."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...reports.report import Report, print_first_screen
from ...reports.table import Table, as_json, number
from ...rows.errors import bad_usage
from ...rows.reading import Message, Progress, ignore
from ...rows.writing import write_text
from ...scale.options import OnError, Settings
from ..judge_errors import measured_fact
from .run import UNHELPFUL, CalibrationRun, signed

INSTEAD = "genqa-metrics accuracy FILE --labels LABELS"
WRITE = "genqa-metrics calibrate with --output mine.json writes it for --calibration mine.json"
SHARES = ("agreement", "sensitivity", "specificity")


class CalibrateReport(Report):
    """What labels of a user's own say of a judge.

    Args:
        report: what `analysis.calibration_run.CalibrationRun.report` returns.
        output: the file that it was written to, if it was.

    Attributes:
        calibration: what the file says: "slope", "intercept", "threshold", "errors", "labels", "digest" and so on.
        before: of the judge as it is: "agreement", "sensitivity" and "specificity", shares of all, correct and
            incorrect answers on which it agrees with the labels.
        after: the same of the calibrated judge, cross-fitted.
        helps: whether the calibrated judge agrees with more labels on held-out questions.
    """

    title = "Calibration of the judge"

    def __init__(self, report: Mapping, output: str | None = None):
        self._report, self.notes, self.output = dict(report), report["notes"], output
        self.calibration = signed(self._report)
        self.before, self.after, self.helps = report["before"], report["after"], report["helps"]

    def __repr__(self) -> str:
        before, after = (number(value["agreement"]) for value in (self.before, self.after))
        return f"CalibrateReport({self.calibration['labels']:,} labels; agreement {before} before, {after} after)"

    def to_dict(self) -> dict:
        """Return everything as one object of types that JSON has."""
        return self._report | {"calibration": self.calibration}

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
        said = f"with {after} of the labels on held-out questions, the judge as it is with {before}"
        if not self.helps:
            return [f"calibration does not help: it agrees {said}. Use the labels themselves: {INSTEAD}"]
        to_do = f"Next: genqa-metrics score FILE --calibration {shlex.quote(self.output)}" if self.output else WRITE
        return [f"calibration helps: it agrees {said}", to_do]

    def show(self, console: Any) -> None:
        """Print whether calibration helps, and what to do; `show_all` prints what it rests on too.

        Args:
            console: a `rich.console.Console`.
        """
        (table,) = self.tables()
        content = self.calibration
        print_first_screen(
            console,
            f"{content['labels']:,} labels of {content['answers']:,} answers to {content['questions']:,} questions",
            replace(table, title="", explanation=""),
            self.findings,
            [note for note in self.notes if not note.startswith(UNHELPFUL)],
            "What the columns mean and the numbers rest on: --verbose",
        )

    def tables(self) -> list[Table]:
        """Return the tables."""
        rows = []
        for name, value, threshold in (
            ("as it is", self.before, self._report["threshold_before"]),
            ("calibrated", self.after, self._report["threshold_after"]),
        ):
            shares = [f"{value[share]:.1%}" for share in SHARES]
            rows.append([name, number(threshold), *shares])
        header = ["judge", "threshold", *SHARES]
        said = (
            f"{self.calibration['labels']:,} labels, {self.calibration['answers']:,} answers to "
            f"{self.calibration['questions']:,} questions. Threshold: the judge's own probability from which an "
            f"answer counts as correct; on the new scale it is {self.calibration['threshold']:g}. The shares of the "
            "calibrated judge are cross-fitted: each verdict is by a scale that was fitted on other questions."
        )
        return [Table("Agreement with the labels", header, rows, said)]

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        slope, intercept = self.calibration["slope"], self.calibration["intercept"]
        return [
            *self._inputs(),
            f"judge: {self.calibration['signature']}",
            f"log-odds: {slope:.3f} times the judge's, {intercept:+.3f}",
            measured_fact(self.calibration),
            f"genqa-metrics {self.calibration['genqa_metrics']}",
            *([f"Next: genqa-metrics score FILE --calibration {shlex.quote(self.output)}"] if self.output else []),
        ]


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
) -> CalibrateReport:
    """Calibrate AVA on labels of your own, as `genqa-metrics calibrate` does.

    Args:
        rows: as for `score`, one answer a row; those with a "label" (0 or 1) are read.
        output: write the calibration to this file, such as mine.json; nothing is written where it does not help.
        settings: settings of ava, such as checkpoint.
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
    with bad_usage():
        run = CalibrationRun(rows, output, settings, labels=labels, columns=columns, on_error=on_error)
    report = CalibrateReport(run.report(problem, progress))
    if run.options.output is not None and report.helps:
        report.write(run.options.output)
    elif run.options.output is not None:
        report.notes.append(f"{run.options.output} was not written")
    return report
