"""The command `compare`: systems on the same questions."""

from ...terminal import options
from ...terminal.console import carry_out

_CORRECTION = "Correction for the number of tests: holm, bonferroni, fdr (Benjamini-Hochberg) or none."
_RUNS = (
    "The two inputs are an old and a new run of one system: say what got better and what got worse, row by row. "
    "Two folders are always read so."
)


def compare(
    inputs: options.inputs("FILE", "Files as for `score`: one for every system, or one with a column 'system'."),
    metric: options.MetricsOrColumns = None,
    set_: options.Set = None,
    settings_file: options.SettingsFile = None,
    column: options.ScoresOrColumn = None,
    from_: options.From = None,
    systems: options.Systems = None,
    encoding: options.Encoding = None,
    rows_at: options.RowsAt = None,
    sheet: options.Sheet = None,
    split_references: options.SplitReferences = None,
    on_error: options.SkipOrFailAll = "fail",
    json: options.Json = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    html: options.Html = None,
    form: options.PrintAs = "table",
    seed: options.Seed = 0,
    resamples: options.resamples("Number of bootstrap samples.") = 10_000,
    correction: options.option(str, "--correction", metavar="NAME", help=_CORRECTION, shown=True) = "holm",
    rows: options.option(
        int, "--rows", metavar="N", help="Number of rows to show on which the systems differ most.", shown=True
    ) = 5,
    by: options.By = None,
    runs: options.option(bool, "--runs", help=_RUNS) = False,
    verbose: options.Verbose = False,
    ignore_judge_errors: options.IgnoreJudgeErrors = False,
    calibration: options.Calibration = None,
    labels: options.Labels = None,
) -> None:
    """Compare systems on the same questions: which one is better, and could it be chance?

    Rows are those of `score`. They are matched by `id` if systems share ids, else by question and references.

    **Scores** with 95% intervals by question.

    **With ava** the accuracy of every system: by labels in the rows or of `--labels` where there are some, else by the
    judge and its measured errors; or that it cannot be told.

    **Tests** of every pair of systems, corrected for their number; an interval leaves out 0 where p is below 5%.

    **Ranks** with ties, clusters as in WMT, wins and losses by question, and the rows that differ most.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    carry_out("compare", locals(), scores=True)
