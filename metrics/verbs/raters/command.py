"""The command `raters`: one score per item of the ratings of several people."""

from ... import terminal


def raters(
    inputs: terminal.inputs("FILE", "Files as for `score`, one row per item and rater."),
    output: terminal.option(
        str | None,
        "--output",
        "-o",
        metavar="FILE",
        help="Write one row per item to FILE, with its score: .jsonl, .csv, .parquet ... `agree` reads it when the "
        "rows have question, prediction and references too.",
    ) = None,
    column: terminal.repeated(
        "--column",
        "-c",
        metavar="NAME=COLUMN",
        help="Where a column has another name, once for each; NAME is item, rater or score.",
        group=None,
    ) = None,
    limit: terminal.option(
        float, "--limit", metavar="Z", help="Ratings whose z-score is larger are noise; inf keeps all.", shown=True
    ) = 1.0,
    drop: terminal.option(int, "--drop", metavar="N", help="Drop at most N ratings of an item.", shown=True) = 5,
    on_error: terminal.SkipOrFail = "fail",
    format_: terminal.PrintAs = "table",
) -> None:
    """Make one score per item of the ratings of several people, without the noisy ones; say how far they agree.

    Rows have `item` (or `id`), `rater` (`annotator`, `worker`) and `score` (`rating`), a number.

    Within an item, ratings whose z-score is above 1 in size are dropped, at most five, the largest first; the mean of
    the rest is the score (Lee et al. 2021). Krippendorff's alpha is given before and after: 1 is full agreement, 0
    that of chance. After filtering it is higher in any case, because what disagrees was dropped.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    from .report import combine_ratings

    with terminal.usage("raters"):
        columns = terminal.name_values("--column", column)
    with terminal.failures("raters"), terminal.skipped_rows() as problem:
        report = combine_ratings(inputs, columns, limit, drop, output, on_error, problem)
    terminal.print_result(format_, report)
