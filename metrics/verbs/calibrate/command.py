"""The command `calibrate`: a judge's scale, threshold and errors on a user's own data, from labels."""

from ... import terminal

_ROWS = "Files of `genqa-metrics label`, or files as for `score` with a column `label`: 0 or 1, or empty."


def calibrate(
    inputs: terminal.inputs("ROWS", _ROWS),
    set_: terminal.SetOfAva = None,
    column: terminal.Column = None,
    from_: terminal.From = None,
    systems: terminal.Systems = None,
    encoding: terminal.Encoding = None,
    rows_at: terminal.RowsAt = None,
    sheet: terminal.Sheet = None,
    split_references: terminal.SplitReferences = None,
    on_error: terminal.SkipOrFail = "fail",
    json: terminal.Json = None,
    markdown: terminal.Markdown = None,
    form: terminal.PrintAs = "table",
    verbose: terminal.Verbose = False,
    labels: terminal.Labels = None,
    output: terminal.option(
        str | None,
        "--output",
        "-o",
        metavar="FILE",
        help="Write the calibration to FILE, such as mine.json.",
        group=terminal.OUTPUT,
    ) = None,
) -> None:
    """Calibrate AVA on labels of your own, of 30 answers of every system: its scale, its threshold, and its errors.

    `--output mine.json` writes them. `score`, `compare` and `accuracy` take the file with `--calibration mine.json`,
    all other commands with `--set ava.calibration=mine.json`. A file `calibration.json` in the folder of a checkpoint
    of yours is found without being named. It holds for one judge: its checkpoint is named in the file.

    Intervals then say "calibrated on 80 labels of yours". The errors are cross-fitted: the verdict on an answer is by
    a threshold that was fitted on other questions. Labels of `genqa-metrics label` count by their probability of being
    drawn. Where a sign test does not show that the calibrated judge agrees with more labels on held-out
    questions, nothing is written.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    terminal.carry_out("calibrate", locals())
