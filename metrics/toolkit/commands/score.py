"""The command `score`: the scores of every system, and of every row."""

import importlib.util
from enum import StrEnum
from typing import Annotated

import typer

from ..scoring.parts import PART_ROWS
from . import console, options


class Engine(StrEnum):
    """What runs the stages of scoring."""

    LOCAL = "local"
    RAY = "ray"


def score(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="JSON lines or a JSON document (.jsonl, .json, .ndjson), .csv, .tsv, .parquet, .arrow, .xlsx (extra "
            "'excel'), logs of Inspect (.eval), folders of save_to_disk; text may be compressed (.gz, .bz2, .xz, "
            ".zst). Addresses (https://, s3://, hf://) are read too. '-' is JSON lines on standard input.",
            show_default=False,
        ),
    ],
    metric: options.Metrics = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the scores of every row to FILE: .parquet, .jsonl, .csv (or .tsv), text also compressed. "
            "FOLDER/ (with the slash) gets Parquet parts, and a run that ended early can be resumed, see --resume.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Keep the finished parts in --output FOLDER/ and continue after them. Harmless in a first run.",
        ),
    ] = False,
    part_rows: Annotated[
        int, typer.Option("--part-rows", metavar="N", help="Rows of a part of --output FOLDER/.", min=1)
    ] = PART_ROWS,
    engine: Annotated[
        Engine,
        typer.Option(
            "--engine",
            help="local: this machine. ray: a Ray cluster (extra 'ray'); INPUT may then be a folder or a URI (s3://, "
            "gs://, hf:// ...), --output FOLDER/ too.",
        ),
    ] = Engine.LOCAL,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="HOST:PORT",
            help="The Ray cluster, or 'auto'. Default: the one that RAY_ADDRESS names, or a new one on this machine.",
            show_default=False,
        ),
    ] = None,
    column: options.Column = None,
    from_: options.From = None,
    systems: options.Systems = None,
    encoding: options.Encoding = None,
    set_: options.Set = None,
    settings: options.SettingsFile = None,
    on_error: options.SkipOrFail = options.OnError.FAIL,
    total: Annotated[bool, typer.Option("--total", help="Add a row 'all': all systems' rows as one corpus.")] = False,
    ignore_judge_errors: options.IgnoreJudgeErrors = False,
    fail_under: options.FailUnder = None,
    format_: options.PrintAs = options.Format.TABLE,
) -> None:
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
    with console.usage("score"):
        metrics = options.checked_metrics(metric)
        arguments = {
            "metrics": metrics,
            "settings": options.read_settings(settings, set_, metrics),
            "columns": options.name_values("--column", column),
            "output": output,
            "resume": resume,
            "part_rows": part_rows,
        }
        demands = options.demands(fail_under)
        run = _run(options.read_inputs(inputs, from_, systems, encoding), engine, address, arguments)
    with console.failures(lambda: run.finished_parts):
        with console.skipped_rows() as problem, console.progress_bars(in_bytes=True) as progress:
            report = run.score(
                skip_bad_rows=on_error is options.OnError.SKIP,
                total=total,
                notify=lambda message: console.say(f"note: {message}", "bold yellow"),
                problem=problem,
                progress=lambda done, size: progress("scoring", done, size),
            )
    console.say_forms(run.sources if engine is Engine.LOCAL else ())
    _say_what_happened(report, bool(output))
    from ..reports.score import ScoreReport

    with console.failures():
        shown = ScoreReport.of(run, report, ignore_judge_errors)
    console.print_result(format_, shown.to_json, shown.to_markdown, shown.show)
    console.check_demands(demands, report.systems)


def _run(inputs: list, engine: Engine, address: str | None, arguments: dict):
    if engine is Engine.RAY:
        if importlib.util.find_spec("ray") is None:
            raise ValueError("--engine: ray is not installed; run pip install 'genqa-metrics[ray]'")
        if not all(isinstance(path, str) for path in inputs):
            raise ValueError("--from, --systems, --encoding: not with --engine ray; convert the files first")
        from ..scoring.ray_run import RayRun

        return RayRun(inputs, address=address, **arguments)
    if address is not None:
        raise ValueError("--address: only with --engine ray")
    from ..scoring.run import Run

    return Run(inputs, **arguments)


def _say_what_happened(report, written: bool) -> None:
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
