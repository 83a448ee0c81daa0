"""The command `accuracy`: how many answers are right, with intervals that count the judge's errors."""

from typing import Any

from ... import terminal
from ...registry import JUDGE, scorer_class

_COLUMN = (
    "Where a column has another name, as for `score`. judge=COLUMN takes the verdicts or probabilities of another "
    "judge (0 to 1) from a column instead of AVA's."
)


def accuracy(
    inputs: terminal.inputs("ROWS", "Files as for `score`, one answer a row."),
    set_: terminal.SetOfAva = None,
    column: terminal.repeated("--column", "-c", metavar="NAME=COLUMN", help=_COLUMN) = None,
    from_: terminal.From = None,
    systems: terminal.Systems = None,
    encoding: terminal.Encoding = None,
    rows_at: terminal.RowsAt = None,
    sheet: terminal.Sheet = None,
    split_references: terminal.SplitReferences = None,
    on_error: terminal.SkipOrFail = "fail",
    json: terminal.Json = None,
    markdown: terminal.Markdown = None,
    latex: terminal.Latex = None,
    html: terminal.Html = None,
    fail_under: terminal.FailUnder = None,
    form: terminal.PrintAs = "table",
    verbose: terminal.Verbose = False,
    labels: terminal.Labels = None,
    by: terminal.By = None,
    confidence: terminal.option(
        float, "--confidence", metavar="P", help="Probability that an interval holds the truth.", shown=True
    ) = 0.95,
    calibration: terminal.Calibration = None,
) -> None:
    """Estimate how many answers of each system are right, with an interval that counts the judge's errors.

    **With labels of five questions or more** (`genqa-metrics label` collects them): prediction-powered inference.
    People's labels decide, the judge's probabilities for all rows make the interval narrower, its errors do not bias
    the estimate. Labels count by the probability of being drawn; several labels of a row count as their mean; answers
    to one question as one cluster.

    **With fewer labels** the estimate assumes that the judge errs as often as on other data; the screen says so.

    Also how many more labels would give +-5 points, and the differences of systems, as `compare` has them.

    `--fail-under accuracy=0.8` demands the estimate, `low=0.8` the lower end of the interval, of every system.

    **Exit status**: 0 done, 1 failed, 2 bad usage, 3 a --fail-under was missed.
    """
    terminal.carry_out("accuracy", locals(), demanded=_names)


def _names(arguments: dict[str, Any], sources: list) -> list[str]:
    names = ["accuracy", "low", "high", "judged"]
    return names if "judge" in arguments["columns"] else [*names, scorer_class(JUDGE).main]
