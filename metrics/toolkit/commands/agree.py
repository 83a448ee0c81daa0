"""The command `agree`: how well metrics agree with human scores."""

from typing import Any

from ..scoring.options import AgreeOptions
from . import options
from .running import carry_out

_SHARED = ("metric", "set_", "settings_file", "column", "from_", "systems", "encoding", "on_error", "json", "markdown")


@options.takes(
    AgreeOptions,
    "FILE",
    "Files as for `score`, with a human score in every row.",
    (*_SHARED, "latex", "html", "form"),
    metric=options.MetricsOrColumns,
    column=options.ScoresOrColumn,
)
def agree(inputs: list[str], **given: Any) -> None:
    """Measure how well metrics agree with the human scores in files, with 95% intervals and tests.

    Rows are those of `score`, one answer each, with a human `score` (or `label`) as a number.

    **Correlations** (Pearson, Spearman, Kendall) with bootstrap intervals, and tests of their differences: by
    permutation, Williams' t, Steiger's Z. Answers to one question are alike, so whole questions are resampled.

    **Pairs**: the share of pairs of answers, and of systems, that a metric ranks as humans do.

    **Groups**: by question type (column `question_type`, else by a rule on its wording), system, source, length.

    **Correct or not**: best thresholds, area under the ROC curve, calibration.

    **Judges** (ava): accuracy and confusion at their own threshold, and the rows on which they and the humans differ.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    carry_out("agree", inputs, given, scores=True)
