"""The command `score`: the scores of every system, and of every row."""

from functools import partial
from typing import Any, Literal

from ...scale.parts import PART_ROWS
from ...terminal import console, options
from ...terminal.console import carry_out

_INPUT = (
    "JSON lines, JSON, CSV, TSV, Parquet, Arrow, Excel, logs of Inspect or folders of save_to_disk; compressed or "
    "not, also an address (https://, s3://, hf://). '-': JSON lines on standard input."
)
_OUTPUT = (
    "Write every row with its scores to FILE (.parquet, .jsonl, .csv, .tsv), or as Parquet parts to FOLDER/; every "
    "verb reads it without judging again."
)
_ENGINE = "local: this machine. ray: a Ray cluster; INPUT may then be a folder or a URI, --output FOLDER/ too."
_ADDRESS = "The Ray cluster, or 'auto'. Default: that of RAY_ADDRESS, or a new one here."
_WORST = "Number of answers to list that a person should read first."
_LARGE = "Large files"


def score(
    inputs: options.inputs("INPUT", _INPUT),
    metric: options.Metrics = None,
    set_: options.Set = None,
    settings_file: options.SettingsFile = None,
    column: options.Column = None,
    from_: options.From = None,
    systems: options.Systems = None,
    encoding: options.Encoding = None,
    rows_at: options.RowsAt = None,
    sheet: options.Sheet = None,
    split_references: options.SplitReferences = None,
    on_error: options.SkipOrFail = "fail",
    latex: options.Latex = None,
    html: options.Html = None,
    fail_under: options.FailUnder = None,
    form: options.PrintAs = "table",
    output: options.option(str | None, "--output", "-o", metavar="FILE", help=_OUTPUT, group=options.OUTPUT) = None,
    resume: options.option(
        bool, "--resume", help="Keep the finished parts in --output FOLDER/ and continue after them.", group=_LARGE
    ) = False,
    part_rows: options.option(
        int, "--part-rows", metavar="N", help="Rows of a part of --output FOLDER/.", group=_LARGE, shown=True, min=1
    ) = PART_ROWS,
    engine: options.option(Literal["local", "ray"], "--engine", help=_ENGINE, group=_LARGE, shown=True) = "local",
    address: options.option(str | None, "--address", metavar="HOST:PORT", help=_ADDRESS, group=_LARGE) = None,
    total: options.option(
        bool, "--total", help="Add a row 'all': all systems' rows as one corpus.", group=options.OUTPUT
    ) = False,
    worst: options.option(int, "--worst", metavar="N", help=_WORST, group=options.OUTPUT, shown=True) = 10,
    verbose: options.Verbose = False,
    ignore_judge_errors: options.IgnoreJudgeErrors = False,
    calibration: options.Calibration = None,
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
    notify = partial(_note, "bold yellow")
    carry_out("score", arguments, demanded=_names, after=after, notify=notify, keep=False)


def _names(given: dict[str, Any], sources: list) -> list[str] | None:
    """Return the scores that there will be; None for rows that cannot be read ahead."""
    from ...rows.reading import first_row_kind
    from ...scale.options import default_metrics, score_names

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
