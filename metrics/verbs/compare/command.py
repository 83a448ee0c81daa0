"""The command `compare`: systems on the same questions."""

from ... import terminal

_RUNS = (
    "The two inputs are an old and a new run of one system: say what got better and what got worse, row by row. "
    "Two folders are always read so."
)


def compare(
    inputs: terminal.inputs("FILE", "Files as for `score`: one for every system, or one with a column 'system'."),
    metric: terminal.MetricsOrColumns = None,
    set_: terminal.Set = None,
    column: terminal.ScoresOrColumn = None,
    from_: terminal.From = None,
    systems: terminal.Systems = None,
    encoding: terminal.Encoding = None,
    rows_at: terminal.RowsAt = None,
    sheet: terminal.Sheet = None,
    split_references: terminal.SplitReferences = None,
    on_error: terminal.SkipOrFailAll = "fail",
    json: terminal.Json = None,
    markdown: terminal.Markdown = None,
    latex: terminal.Latex = None,
    html: terminal.Html = None,
    form: terminal.PrintAs = "table",
    seed: terminal.Seed = 0,
    resamples: terminal.resamples("Number of bootstrap samples.") = 10_000,
    rows: terminal.option(
        int | None,
        "--rows",
        metavar="N",
        help="Number of rows to show on which the systems differ most. Default: of five as many as fit on a screen.",
    ) = None,
    by: terminal.By = None,
    runs: terminal.option(bool, "--runs", help=_RUNS) = False,
    verbose: terminal.Verbose = False,
    calibration: terminal.Calibration = None,
    labels: terminal.Labels = None,
) -> None:
    """Compare systems on the same questions: which one is better, and could it be chance?

    Rows are those of `score`. They are matched by `id` if systems share ids, else by question and references.

    **Scores** with 95% intervals by question.

    **With ava** the accuracy of every system: by labels in the rows or of `--labels` where there are some, else by the
    judge and its measured errors; or that it cannot be told.

    **Tests** of every pair of systems, corrected for their number by Holm's method; an interval leaves out 0 where p
    is below 5%.

    **Ranks** with ties, clusters as in WMT, wins and losses by question, and the rows that differ most.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    terminal.carry_out("compare", locals(), scores=True)
