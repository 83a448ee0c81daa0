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
    "fail_under",
    "form",
)
_INPUT = (
    "JSON lines or a JSON document (.jsonl, .json, .ndjson), .csv, .tsv, .parquet, .arrow, .xlsx (extra "
    "'excel'), logs of Inspect (.eval), folders of save_to_disk; text may be compressed (.gz, .bz2, .xz, "
    ".zst). Addresses (https://, s3://, hf://) are read too. '-' is JSON lines on standard input."
)


@options.takes(ScoreOptions, "INPUT", _INPUT, _SHARED)
def score(inputs: list[str], **given: Any) -> None:
    """Score the rows of files of any size; print a table with one row per system.

    **Answers**: rows with `question`, `prediction` (or `candidate`) and `references` (or `reference`; one string, or a
    list of strings).

    **Generated questions**: rows with `context`, `references` and `predictions` (a list of questions, or
    {system: questions}). Without predictions the human ceiling is scored: half of the references against the others.

    **Without --metric** rows with a question are judged by ava, which reads it: metrics of overlapping words, such as
    aev, hold the length of an answer against it. Where lengths differ much, the output begins with a note on it.

    **With ava** the table has the accuracy of every system with a 95% interval that counts the judge's errors, as they
    were measured for its checkpoint. The sentence below the table names the method.

    **Both** may have `system` (else the name of the file), `id`, and the human `score` and `label`, which
    `--output` passes on. In CSV a cell that starts with [ is a JSON list, any other is one string.

    **Exit status**: 0 done, 1 failed, 2 bad usage, 3 a --fail-under was missed.
    """
    after = partial(_say_what_happened, bool(given["output"]))
    notify = partial(_note, "bold yellow")
    carry_out("score", inputs, given, after=after, notify=notify, keep=False)


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
