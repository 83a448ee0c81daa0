"""The command `score`: the scores of every system, and of every row."""

from functools import partial
from typing import Any

from ..scoring.options import ScoreOptions
from . import console, options
from .running import carry_out

_SHARED = (
    "metric",
    "set_",
    "settings_file",
    "column",
    "from_",
    "systems",
    "encoding",
    "on_error",
    "latex",
    "html",
    "fail_under",
    "form",
)
_INPUT = (
    "JSON lines, JSON, CSV, TSV, Parquet, Arrow, Excel, logs of Inspect or folders of save_to_disk; compressed or "
    "not, also an address (https://, s3://, hf://). '-': JSON lines on standard input."
)


@options.takes(ScoreOptions, "INPUT", _INPUT, _SHARED)
def score(inputs: list[str], **given: Any) -> None:
    """Score the rows of files of any size: one line for every system.

    **Answers** have `question`, `prediction` and `references`; **generated questions** have `context`, `references`
    and `predictions`. Both may have `system`, `id`, and a human `score` and `label`.

    **Examples**

    - `genqa-metrics score answers.jsonl`

    - `genqa-metrics score a.csv b.csv -c prediction=output -m ava -m kpqa -o scores.csv`

    - `genqa-metrics score answers.jsonl --fail-under ava_accuracy=0.8`

    **Exit status**: 0 done, 1 failed, 2 bad usage, 3 a --fail-under was missed.
    """
    after = partial(_say_what_happened, bool(given["output"]))
    notify = partial(_note, "bold yellow")
    carry_out("score", inputs, given, demanded=_names, after=after, notify=notify, keep=False)


def _names(given: dict[str, Any], sources: list) -> list[str] | None:
    """Return the scores that there will be; None for rows that cannot be read ahead."""
    from ..rows.reading import first_row_kind
    from ..scoring.selection import default_metrics, score_names

    metrics = [*given["metrics"], *given["settings"]]
    if not metrics and (row_kind := first_row_kind(sources, given["columns"])):
        metrics = [*default_metrics(row_kind)]
    return score_names(metrics) if metrics else None


def _note(style: str, message: str) -> None:
    console.say(f"note: {message}", style)


def _say_what_happened(written: bool, shown) -> None:
    report = shown.found
    if report.skipped:
        good = sum(rows for system, rows in report.rows.items() if system != report.total)
        console.warn(f"skipped {report.skipped:,} bad rows; {good:,} were scored")
    for warning in report.warnings:
        console.warn(f"warning: {warning}")
    if report.single:
        left_out = f"note: left out {report.single:,} contexts with one reference, which cannot be halved"
        console.say(left_out, "bold yellow")
    if report.not_numbers and written:
        bad = f"note: {report.not_numbers:,} values of 'score' or 'label' are no numbers; the output has null for them"
        console.say(bad)
