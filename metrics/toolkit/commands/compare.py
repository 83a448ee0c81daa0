"""The command `compare`: systems on the same questions."""

from typing import Any

from ..scoring.options import CompareOptions
from . import options
from .running import carry_out

_SHARED = ("metric", "set_", "settings_file", "column", "from_", "systems", "encoding", "on_error", "json", "markdown")


@options.takes(
    CompareOptions,
    "FILE",
    "Files as for `score`: one for every system, or one with a column 'system'.",
    (*_SHARED, "latex", "html", "form"),
    metric=options.MetricsOrColumns,
    column=options.ScoresOrColumn,
    on_error=options.SkipOrFailAll,
)
def compare(inputs: list[str], **given: Any) -> None:
    """Compare systems on the same questions: which one is better, and could it be chance?

    Rows are those of `score`. They are matched by `id` if systems share ids, else by question and references.

    **Scores** with 95% bootstrap intervals. What is resampled are the questions, the same ones for all systems;
    corpus scores such as AEv are computed anew from the sums of each resample.

    **With ava** the accuracy of every system has an interval that counts the judge's errors, as they were measured
    for its checkpoint; where they were not, the interval ignores them and a note says so.

    **Tests** of every pair of systems: paired permutation test and paired bootstrap, corrected for their number.

    **Ranks** with ties, clusters as in WMT, wins and losses by question, and the rows that differ most.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    carry_out("compare", inputs, given, scores=True)
