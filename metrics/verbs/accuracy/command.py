"""The command `accuracy`: how many answers are correct, with intervals that count the judge's errors."""

from typing import Any

from ...terminal import options
from ...terminal.console import carry_out

_COLUMN = (
    "Where a column has another name, as for `score`. judge=COLUMN takes the verdicts or probabilities of another "
    "judge (0 to 1) from a column instead of AVA's."
)
_FINITE = "Intervals of these very rows, not of questions like them: narrower, for a fixed test set. Needs labels."
_RATER_ERROR = (
    "Share of the labels that are wrong, 0.05 for 5%: intervals are wider by it on both sides. Default: what the "
    "disagreement of several raters shows; 0 where every row has one label."
)


def accuracy(
    inputs: options.inputs("ROWS", "Files as for `score`, one answer a row."),
    set_: options.SetOfAva = None,
    column: options.repeated("--column", "-c", metavar="NAME=COLUMN", help=_COLUMN) = None,
    from_: options.From = None,
    systems: options.Systems = None,
    encoding: options.Encoding = None,
    rows_at: options.RowsAt = None,
    sheet: options.Sheet = None,
    split_references: options.SplitReferences = None,
    on_error: options.SkipOrFail = "fail",
    json: options.Json = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    html: options.Html = None,
    fail_under: options.FailUnder = None,
    form: options.PrintAs = "table",
    verbose: options.Verbose = False,
    labels: options.Labels = None,
    finite_population: options.option(bool, "--finite-population", help=_FINITE) = False,
    by: options.By = None,
    rater_error: options.option(float | None, "--rater-error", metavar="SHARE", help=_RATER_ERROR) = None,
    confidence: options.option(
        float, "--confidence", metavar="P", help="Probability that an interval holds the truth.", shown=True
    ) = 0.95,
    ignore_judge_errors: options.IgnoreJudgeErrors = False,
    calibration: options.Calibration = None,
) -> None:
    """Estimate how many answers of each system are correct, with an interval that counts the judge's errors.

    **With labels** (`genqa-metrics label` collects them): prediction-powered inference. People's labels decide, the
    judge's verdicts on all rows make the interval narrower, its errors never move the estimate. Labels count by the
    probability of being drawn; several labels of a row count as their mean; answers to one question as one cluster.

    **Without labels** the interval includes the judge's errors as they were measured for its checkpoint.

    Also how many more labels would give +-1, 2 or 5 points, and the differences of systems, paired by question.

    `--fail-under accuracy=0.8` demands the estimate, `low=0.8` the lower end of the interval, of every system.

    **Exit status**: 0 done, 1 failed, 2 bad usage, 3 a --fail-under was missed.
    """
    carry_out("accuracy", locals(), demanded=_names)


def _names(given: dict[str, Any], sources: list) -> list[str]:
    return ["accuracy", "low", "high", "judged", *["ava_accuracy"] * ("judge" not in given["columns"])]
