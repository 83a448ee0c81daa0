"""The command `score`: the scores of every system, and of every row."""

from functools import partial
from typing import Any, Literal

from ... import terminal
from ...registry import JUDGE
from ...scale.parts import PART_ROWS

_INPUT = (
    "JSON lines, JSON, CSV, TSV, Parquet, Arrow, Excel, logs of Inspect or folders of save_to_disk; compressed or "
    "not, also an address (https://, s3://, hf://). '-': JSON lines on standard input."
)
_OUTPUT = (
    "Write every row with its scores, of ava also whether it is unsure and what is wrong, of f_meta what is not "
    "asked, to FILE (.parquet, .jsonl, .csv, .tsv), or as Parquet parts to FOLDER/; every verb reads it without "
    "judging again."
)
_ENGINE = "local: this machine. ray: a Ray cluster; INPUT may then be a folder or a URI, --output FOLDER/ too."
_ADDRESS = "The Ray cluster, or 'auto'. Default: that of RAY_ADDRESS, or a new one here."
_WORST = "Answers to list that a person should read first. Default: of ten as many as fit on a screen."
_LIMIT = (
    f"With --set {JUDGE}.checkpoint=large: it reads for so long (5m, 90s), the answers first of which small is least "
    "sure. The others have small's verdict; the same command reads on."
)
_LARGE = "Large files"


def score(
    inputs: terminal.inputs("INPUT", _INPUT),
    metric: terminal.Metrics = None,
    set_: terminal.Set = None,
    column: terminal.Column = None,
    from_: terminal.From = None,
    systems: terminal.Systems = None,
    encoding: terminal.Encoding = None,
    rows_at: terminal.RowsAt = None,
    sheet: terminal.Sheet = None,
    split_references: terminal.SplitReferences = None,
    on_error: terminal.SkipOrFail = "fail",
    latex: terminal.Latex = None,
    html: terminal.Html = None,
    fail_under: terminal.FailUnder = None,
    form: terminal.PrintAs = "table",
    output: terminal.option(str | None, "--output", "-o", metavar="FILE", help=_OUTPUT, group=terminal.OUTPUT) = None,
    resume: terminal.option(
        bool, "--resume", help="Keep the finished parts in --output FOLDER/ and continue after them.", group=_LARGE
    ) = False,
    part_rows: terminal.option(
        int, "--part-rows", metavar="N", help="Rows of a part of --output FOLDER/.", group=_LARGE, shown=True, min=1
    ) = PART_ROWS,
    engine: terminal.option(Literal["local", "ray"], "--engine", help=_ENGINE, group=_LARGE, shown=True) = "local",
    address: terminal.option(str | None, "--address", metavar="HOST:PORT", help=_ADDRESS, group=_LARGE) = None,
    worst: terminal.option(int | None, "--worst", metavar="N", help=_WORST, group=terminal.OUTPUT) = None,
    verbose: terminal.Verbose = False,
    calibration: terminal.Calibration = None,
    limit_time: terminal.option(str | None, "--limit-time", metavar="TIME", help=_LIMIT, group=terminal.OUTPUT) = None,
) -> None:
    """Score the rows of files of any size: one line for every system.

    **Answers** have `question`, `prediction` and `references`; **generated questions** have `context`, `references`
    and `predictions`. Both may have `system`, `id`, and a human `score` and `label`.

    **Examples**

    - `genqa-metrics score answers.jsonl`

    - `genqa-metrics score a.csv b.csv -c prediction=output -m ava -m kpqa -o scores.csv`

    - `genqa-metrics score answers.jsonl --fail-under ava_accuracy=0.8`

    **Exit status**: 0 done, 1 failed, 2 bad usage, 3 a --fail-under was missed.
    """
    arguments = locals()
    after = partial(_say_what_happened, bool(output))
    run = {"notify": lambda note: terminal.say(f"note: {note}", "bold yellow"), "keep": html is not None}
    terminal.carry_out("score", arguments, demanded=_names, after=after, **run)


def _names(arguments: dict[str, Any], sources: list) -> list[str] | None:
    """Return the names of the scores that --fail-under can use; None for rows that cannot be read ahead."""
    from ...rows.reading import first_row_kind
    from ...scale.options import default_metrics, score_names

    metrics = [*arguments["metrics"], *arguments["settings"]]
    if not metrics and (row_kind := first_row_kind(sources, arguments["columns"])):
        metrics = [*default_metrics(row_kind)]
    return score_names(metrics) if metrics else None


def _say_what_happened(written: bool, report) -> None:
    results, counts = report.results, report.results.counts
    if counts.skipped:
        good = sum(counts.rows.values())
        terminal.warn(f"skipped {counts.skipped:,} bad rows; {good:,} were scored")
    for warning in results.warnings:
        terminal.warn(f"warning: {warning}")
    if counts.not_numbers and written:
        bad = f"note: {counts.not_numbers:,} values of 'score' or 'label' are no numbers; the output has null for them"
        terminal.say(bad)
