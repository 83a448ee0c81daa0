"""The command `calibrate`: a judge's scale, threshold and errors on a user's own data, from labels."""

from ...terminal import options
from ...terminal.console import carry_out

_ROWS = "Files of `genqa-metrics label`, or files as for `score` with a column `label`: 0 or 1, or empty."


def calibrate(
    inputs: options.inputs("ROWS", _ROWS),
    set_: options.SetOfAva = None,
    column: options.Column = None,
    from_: options.From = None,
    systems: options.Systems = None,
    encoding: options.Encoding = None,
    rows_at: options.RowsAt = None,
    sheet: options.Sheet = None,
    split_references: options.SplitReferences = None,
    on_error: options.SkipOrFail = "fail",
    json: options.Json = None,
    markdown: options.Markdown = None,
    form: options.PrintAs = "table",
    verbose: options.Verbose = False,
    labels: options.Labels = None,
    output: options.option(
        str | None,
        "--output",
        "-o",
        metavar="FILE",
        help="Write the calibration to FILE, such as mine.json.",
        group=options.OUTPUT,
    ) = None,
) -> None:
    """Calibrate AVA on 50 to 100 labels of your own: its scale, its threshold, and how often it errs on your data.

    `--output mine.json` writes them. `score`, `compare` and `accuracy` take the file with `--calibration mine.json`,
    all other commands with `--set ava.calibration=mine.json`. A file `calibration.json` in the folder of a checkpoint
    of yours is found without being named. It holds for one judge: its checkpoint is named in the file.

    Intervals then say "calibrated on 80 labels of yours". The errors are cross-fitted: the verdict on an answer is by
    a threshold that was fitted on other questions. Labels of `genqa-metrics label` count by their probability of being
    drawn. Where the calibrated judge does not agree with more labels on held-out questions, nothing is written.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    carry_out("calibrate", locals())
