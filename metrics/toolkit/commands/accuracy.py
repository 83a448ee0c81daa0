"""The command `accuracy`: how many answers are correct, with intervals that count the judge's errors."""

from typing import Any

from ..scoring.options import AccuracyOptions
from . import options
from .running import carry_out

_SHARED = ("set_", "column", "from_", "systems", "encoding", "on_error", "json", "markdown", "latex", "html")
_COLUMN = (
    "Where a column has another name, as for `score`. judge=COLUMN takes the verdicts or probabilities of another "
    "judge (0 to 1) from a column instead of AVA's."
)


@options.takes(
    AccuracyOptions,
    "ROWS",
    "Files as for `score`, one answer a row.",
    (*_SHARED, "fail_under", "form"),
    set_=options.SetOfAva,
    column=options.repeated("--column", "-c", metavar="NAME=COLUMN", help=_COLUMN),
)
def accuracy(inputs: list[str], **given: Any) -> None:
    """Estimate how many answers of each system are correct, with an interval that counts the judge's errors.

    **With labels** (`genqa-metrics label` collects them): prediction-powered inference. People's labels decide, the
    judge's verdicts on all rows make the interval narrower, its errors never move the estimate. Labels count by the
    probability of being drawn; several labels of a row count as their mean; answers to one question as one cluster.

    **Without labels** the interval includes the judge's errors as they were measured for its checkpoint.

    Also how many more labels would give +-1, 2 or 5 points, and the differences of systems, paired by question.

    `--fail-under accuracy=0.8` demands the estimate, `low=0.8` the lower end of the interval, of every system.

    **Exit status**: 0 done, 1 failed, 2 bad usage, 3 a --fail-under was missed.
    """
    carry_out("accuracy", inputs, given, demanded=_names)


def _names(given: dict[str, Any], sources: list) -> list[str]:
    return ["accuracy", "low", "high", "judged", *["ava_accuracy"] * ("judge" not in given["columns"])]
