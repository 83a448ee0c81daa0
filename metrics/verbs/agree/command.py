"""The command `agree`: how well metrics agree with human scores."""

from ... import terminal

_GROUP = "A column to group by, beside question type, system, data set (source) and length of the answer."
_CORRECT = (
    "Human scores from here on count as right. Default: column label where every row has 0 or 1, else the middle of "
    "the range of the human scores."
)
_WORST = "Number of rows to list on which a judge and the humans differ, worst first."


def agree(
    inputs: terminal.inputs("FILE", "Files as for `score`, with a human score in every row, or with --labels."),
    metric: terminal.MetricsOrColumns = None,
    set_: terminal.Set = None,
    column: terminal.ScoresOrColumn = None,
    from_: terminal.From = None,
    systems: terminal.Systems = None,
    encoding: terminal.Encoding = None,
    rows_at: terminal.RowsAt = None,
    sheet: terminal.Sheet = None,
    split_references: terminal.SplitReferences = None,
    labels: terminal.Labels = None,
    on_error: terminal.SkipOrFail = "fail",
    json: terminal.Json = None,
    markdown: terminal.Markdown = None,
    latex: terminal.Latex = None,
    html: terminal.Html = None,
    form: terminal.PrintAs = "table",
    seed: terminal.Seed = 0,
    group_columns: terminal.repeated("--group", "-g", metavar="COLUMN", help=_GROUP, group=None) = None,
    correct: terminal.option(float | None, "--correct", metavar="SCORE", help=_CORRECT) = None,
    resamples: terminal.resamples("A tenth of the number of permutations.") = 1000,
    worst: terminal.option(int, "--worst", metavar="N", help=_WORST, shown=True) = 10,
    verbose: terminal.Verbose = False,
) -> None:
    """Measure how well metrics agree with the human scores in files, with 95% intervals and tests.

    Rows are those of `score`, one answer each, with a human `score` (or `label`) as a number; `--labels` reads labels
    of files beside them.

    **Correlations** (Pearson, Spearman, Kendall) with intervals, and permutation tests of their
    differences. Answers to one question are alike, so whole questions are left out or swapped.

    **Pairs**: the share of pairs of answers, and of systems, that a metric ranks as humans do.

    **Groups**: by question type (column `question_type`, else by a rule on its wording), system, source, length.

    **Right or wrong**: best threshold, area under the ROC curve, calibration.

    **Judges** (ava): accuracy and confusion at their own threshold, and the rows on which they and the humans differ.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    terminal.carry_out("agree", locals(), scores=True)
