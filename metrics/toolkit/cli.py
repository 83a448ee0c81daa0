"""The command `genqa-metrics`. Whatever is slow to import is imported where it is used: `--help` must be instant."""

import importlib.util
import json
import math
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .. import METRICS, __version__
from .commands.explain import explain
from .commands.export import export
from .scoring.parts import PART_ROWS

SHOWN_BAD_ROWS = 10
_WORDS = {"none": None, "true": True, "false": False, "inf": math.inf, "infinity": math.inf}

app = typer.Typer(
    name="genqa-metrics",
    help="Score generated answers and questions with metrics for question answering and question generation.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class OnError(StrEnum):
    """What to do about a bad row."""

    FAIL = "fail"
    SKIP = "skip"


class Engine(StrEnum):
    """What runs the stages of scoring."""

    LOCAL = "local"
    RAY = "ray"


class Format(StrEnum):
    """How to print the result."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


# Options that `compare` and `agree` share.
_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="METRIC.SETTING=VALUE",
        help="Setting of a metric, as for `score`.",
        show_default=False,
    ),
]
_SettingsFile = Annotated[
    Path | None, typer.Option("--settings", metavar="FILE.json", help="Settings from a file, as for `score`.")
]
_Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed: same rows and seed, same numbers.")]


def _say(message: str, style: str = "") -> None:
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True).print(Text(message, style=style), soft_wrap=True)


def _stop(message: str, status: int) -> typer.Exit:
    _say(f"error: {message}", style="red")
    return typer.Exit(status)


def _output_console():
    from rich.console import Console

    # What goes into a file or a pipe must not depend on the width of a terminal.
    return Console() if sys.stdout.isatty() else Console(width=1000)


def _pairs(option: str, values: list[str]) -> dict[str, str]:
    pairs = {}
    for value in values:
        name, equals, content = value.partition("=")
        if not equals:
            raise ValueError(f"{option}: expected NAME=VALUE, got {value!r}")
        pairs[name.strip()] = content
    return pairs


def _setting(text: str) -> object:
    """Read a value as JSON; what is not JSON is a string, but for the words that are plainly meant as values.

    >>> _setting("0.3"), _setting("bleu"), _setting("infinity"), _setting('["a"]')
    (0.3, 'bleu', inf, ['a'])
    """
    try:
        return json.loads(text)
    except ValueError:
        return _WORDS.get(text.lower(), text)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _settings(file: Path | None, pairs: list[str], metrics: list[str]) -> dict[str, dict]:
    """Merge the settings of a file with those of --set, which win; by metric."""
    settings: dict[str, dict] = {}
    if file is not None:
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"--settings: {file} cannot be read as JSON: {error}") from error
        if isinstance(content, dict) and isinstance(content.get("settings"), dict):  # what the fitting scripts write
            content = {content["metric"]: content["settings"]} if "metric" in content else content["settings"]
        if isinstance(content, dict) and set(content) <= set(METRICS) and all(map(_is_object, content.values())):
            settings = content
        elif isinstance(content, dict) and len(metrics) == 1:
            settings = {metrics[0]: content}
        else:
            raise ValueError(
                f'--settings: expected {{"METRIC": {{"SETTING": VALUE}}}} in {file}, with METRIC one of '
                f"{', '.join(METRICS)}; for a file with the settings of one metric, name it with one --metric"
            )
    for name, text in _pairs("--set", pairs).items():
        metric, dot, setting = name.partition(".")
        if not dot or metric not in METRICS:
            raise ValueError(
                f"--set: expected METRIC.SETTING=VALUE with METRIC one of {', '.join(METRICS)}, got {name}={text}"
            )
        settings.setdefault(metric, {})[setting] = _setting(text)
    return settings


def _score(run, skip: bool, total: bool):
    """Score with a progress bar when standard error is a terminal; tell the user what happened."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    shown = 0

    def problem(message: str) -> None:
        nonlocal shown
        shown += 1
        if shown <= SHOWN_BAD_ROWS:
            _say(f"skipped: {message}", style="yellow")

    columns = TextColumn("scoring"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("scoring", total=None)
        report = run.score(
            skip_bad_rows=skip,
            total=total,
            notify=lambda message: _say(f"note: {message}", style="bold yellow"),
            problem=problem,
            progress=lambda done, size: bar.update(task, completed=done, total=size),
        )
    if shown > SHOWN_BAD_ROWS:
        _say(f"skipped: ... and {shown - SHOWN_BAD_ROWS:,} more", style="yellow")
    if report.skipped:
        good = sum(rows for system, rows in report.rows.items() if system != report.total)
        _say(f"skipped {report.skipped:,} bad rows; {good:,} were scored", style="yellow")
    for warning in report.warnings:
        _say(f"warning: {warning}", style="yellow")
    if report.single:
        _say(f"note: left out {report.single:,} contexts with one reference, which cannot be halved", "bold yellow")
    if report.not_numbers and run.output:
        _say(f"note: {report.not_numbers:,} values of 'score' or 'label' are no numbers; the output has null for them")
    return report


@app.command(no_args_is_help=True, short_help="Score the rows of files; print a table with one row per system.")
def score(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="JSON lines (.jsonl, .json, .ndjson), .csv, .tsv or .parquet; text may be compressed "
            "(.gz, .bz2, .xz, .zst). '-' is JSON lines on standard input.",
            show_default=False,
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            help=f"Metric, once for each: {', '.join(METRICS)}. Default: aev for answers, f_meta and aev for sets of "
            "questions; kpqa, which reads the question with a model, on request.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the scores of every row to FILE: .parquet, .jsonl, .csv (or .tsv), text also compressed. "
            "FOLDER/ (with the slash) gets Parquet parts and can be gone on with, see --resume.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Keep the finished parts in --output FOLDER/ and go on, after whatever ended the last run. Harmless "
            "in a first run.",
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
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="NAME=COLUMN",
            help="Where a column has another name, once for each: --column prediction=answer_text. NAME is question, "
            "context, prediction, references, system, id, score or label. Dots go into objects: "
            "references=answers.text. Nothing after '=' leaves a column unread.",
            show_default=False,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            "-s",
            metavar="METRIC.SETTING=VALUE",
            help="Setting of a metric, once for each: aev.alpha=0.3, aev.wordiness=infinity, aev.stop_words=null, "
            "f_meta.base=bleu. VALUE is JSON, or else a string.",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            "--settings",
            metavar="FILE.json",
            help='Settings from a file: {"aev": {"alpha": 0.3}}, or those of the only --metric. --set wins.',
        ),
    ] = None,
    on_error: Annotated[
        OnError,
        typer.Option(
            "--on-error",
            help="A bad row (no JSON, a missing column, a wrong type ...): fail at the first one, or report, count "
            "and skip them.",
        ),
    ] = OnError.FAIL,
    total: Annotated[bool, typer.Option("--total", help="Add a row 'all': all systems' rows as one corpus.")] = False,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to print the result.")] = Format.TABLE,
) -> None:
    """Score the rows of files of any size; print a table with one row per system.

    **Answers**: rows with `question`, `prediction` (or `candidate`) and `references` (or `reference`; one string, or a
    list of strings).

    **Generated questions**: rows with `context`, `references` and `predictions` (a list of questions, or
    {system: questions}). Without predictions the human ceiling is scored: half of the references against the others.

    **Both**, where there: `system` (else the name of the file), `id`, and the human `score` and `label`, which
    `--output` passes on. In CSV a cell that starts with [ is a JSON list, any other is one string.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    from .reports.score import as_json, as_markdown, print_tables
    from .rows.files import FileError
    from .scoring.run import Run

    metrics = list(metric or ())
    try:
        for name in metrics:
            if name not in METRICS:
                raise ValueError(f"--metric: expected one of {', '.join(METRICS)}, got {name!r}")
        values = _settings(settings, set_ or [], metrics)
        arguments = {
            "metrics": metrics,
            "settings": values,
            "columns": _pairs("--column", column or []),
            "output": output,
            "resume": resume,
            "part_rows": part_rows,
        }
        if engine is Engine.RAY:
            if importlib.util.find_spec("ray") is None:
                raise ValueError("--engine: ray is not installed; run pip install 'genqa-metrics[ray]'")
            from .scoring.ray_run import RayRun

            run = RayRun(inputs, address=address, **arguments)
        elif address is not None:
            raise ValueError("--address: only with --engine ray")
        else:
            run = Run(inputs, **arguments)
    except ValueError as error:
        raise _stop(f"{error}\nTry 'genqa-metrics score --help'.", 2) from error
    try:
        report = _score(run, on_error is OnError.SKIP, total)
    except FileError as error:
        hint = "\n--on-error skip leaves bad rows out." if error.bad_row else ""
        kept = run.finished_parts
        hint += f"\n{kept:,} finished parts are kept; --resume goes on behind them." if kept else ""
        raise _stop(f"{error}{hint}", 1) from error
    except (ValueError, RuntimeError) as error:
        raise _stop(str(error), 1) from error
    if format_ is Format.JSON:
        typer.echo(as_json(report))
    elif format_ is Format.MARKDOWN:
        typer.echo(as_markdown(report))
    else:
        print_tables(report, _output_console())


def _check_output(option: str, path: Path | None) -> None:
    problem = None
    if path is not None and not path.resolve().parent.is_dir():
        problem = f"there is no folder {path.resolve().parent}; make it first"
    elif path is not None and path.exists() and not path.is_file():
        problem = "is not a file; name a file"
    if problem:
        raise _stop(f"{option} {path}: {problem}", 2)


def _write_outputs(outputs: dict[str, tuple[Path | None, str]]) -> None:
    """Write {option: (path, text)}; a path that is None is left out."""
    from .commands.explain import write_text

    for option, (path, text) in outputs.items():
        if path is not None:
            try:
                write_text(path, text)
            except OSError as error:
                raise _stop(f"{option} {path}: cannot be written: {error.strerror or error}", 1) from error


def _noted_rows(shown: int, style: str = "yellow"):
    """Return a function that says what was skipped, at most some of it, and one that says how much more there was."""
    count = 0

    def problem(message: str) -> None:
        nonlocal count
        count += 1
        if count <= shown:
            _say(f"skipped: {message}", style=style)

    def rest() -> None:
        if count > shown:
            _say(f"skipped: ... and {count - shown:,} more", style=style)

    return problem, rest


def _reported(run, on_error: OnError) -> dict:
    """Return the report of a run of `agree` or `compare`, with a progress bar when standard error is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    from .rows.files import FileError

    problem, rest = _noted_rows(SHOWN_BAD_ROWS)
    console = Console(stderr=True)
    try:
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            tasks: dict = {}

            def progress(name: str, done: int, rows: int) -> None:
                if name not in tasks:
                    tasks[name] = bar.add_task(name, total=rows)
                bar.update(tasks[name], completed=done)

            report = run.report(on_error is OnError.SKIP, problem, progress)
    except FileError as error:
        hint = "\n--on-error skip leaves bad rows out." if error.bad_row else ""
        raise _stop(f"{error}{hint}", 1) from error
    except (ValueError, RuntimeError) as error:
        raise _stop(str(error), 1) from error
    rest()
    return report


@app.command(
    no_args_is_help=True, short_help="Compare systems on the same questions, with intervals, tests and ranks."
)
def compare(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Files as for `score`: one for every system, or one with a column 'system'.",
            show_default=False,
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            help=f"Metric to compute, once for each: {', '.join(METRICS)}. Default: as for `score`, if --column names "
            "no scores.",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="NAME[=COLUMN]",
            help="Without '=': a column that holds scores, of a metric or of people, higher is better; once for each. "
            "With '=': where a column has another name, as for `score`.",
            show_default=False,
        ),
    ] = None,
    set_: _Set = None,
    settings: _SettingsFile = None,
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="N", help="Number of bootstrap samples, and of permutations.")
    ] = 10_000,
    seed: _Seed = 0,
    correction: Annotated[
        str,
        typer.Option(
            "--correction",
            metavar="NAME",
            help="Correction of p-values for the number of pairs: holm, bonferroni, fdr (Benjamini-Hochberg) or none.",
        ),
    ] = "holm",
    rows: Annotated[
        int, typer.Option("--rows", metavar="N", help="Number of rows to show on which the systems differ most.")
    ] = 6,
    json_: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write everything, with all tests, to FILE as JSON.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the tables to FILE as Markdown.")
    ] = None,
    latex: Annotated[
        Path | None, typer.Option("--latex", metavar="FILE", help="Write the tables to FILE as LaTeX (booktabs).")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write tables, charts and KPQA's heat maps to FILE as one self-contained HTML page.",
        ),
    ] = None,
    on_error: Annotated[
        OnError,
        typer.Option(
            "--on-error",
            help="A bad row, or a question that not all systems answer: fail at the first one, or report, count and "
            "skip them.",
        ),
    ] = OnError.FAIL,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to print the result.")] = Format.TABLE,
) -> None:
    """Compare systems on the same questions: which one is better, and could it be chance?

    Rows are those of `score`. They are matched by `id` if systems share ids, else by question and references.

    **Scores** with 95% bootstrap intervals. What is resampled are the questions, the same ones for all systems;
    corpus scores such as AEv are computed anew from the sums of each resample.

    **Tests** of every pair of systems: paired permutation test and paired bootstrap, corrected for their number.

    **Ranks** with ties, clusters as in WMT, wins and losses by question, and the rows that differ most.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    outputs = {"--json": json_, "--markdown": markdown, "--latex": latex, "--html": html}
    for option, path in outputs.items():
        _check_output(option, path)
    metrics = list(metric or ())
    try:
        for name in metrics:
            if name not in METRICS:
                raise ValueError(f"--metric: expected one of {', '.join(METRICS)}, got {name!r}")
        from .analysis.compare import CompareRun, explanations
        from .reports.compare import as_html, as_latex, as_markdown, print_report
        from .reports.table import as_json

        values = _settings(settings, set_ or [], metrics)
        names = [name for name in column or [] if "=" not in name]
        mapped = _pairs("--column", [name for name in column or [] if "=" in name])
        run = CompareRun(inputs, metrics, values, mapped, names, resamples, seed, correction, rows)
    except ValueError as error:
        raise _stop(f"{error}\nTry 'genqa-metrics compare --help'.", 2) from error
    report = _reported(run, on_error)
    try:
        page = as_html(report, explanations(run, report)) if html else ""
    except (ValueError, RuntimeError) as error:
        raise _stop(str(error), 1) from error
    texts = as_json(report), as_markdown(report) + "\n", as_latex(report), page
    _write_outputs({option: (path, text) for (option, path), text in zip(outputs.items(), texts, strict=True)})
    if format_ is Format.JSON:
        typer.echo(texts[0], nl=False)
    elif format_ is Format.MARKDOWN:
        typer.echo(texts[1], nl=False)
    else:
        print_report(report, _output_console())


@app.command(no_args_is_help=True, short_help="Measure how well metrics agree with the human scores in files.")
def agree(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="Files as for `score`, with a human score in every row.", show_default=False
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            help=f"Metric to compute, once for each: {', '.join(METRICS)}. Default: aev, if --column names no scores.",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="NAME[=COLUMN]",
            help="Without '=': a column that holds the scores of a metric, once for each. With '=': where a column "
            "has another name, as for `score`: --column score=human_rating.",
            show_default=False,
        ),
    ] = None,
    set_: _Set = None,
    settings: _SettingsFile = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            "-g",
            metavar="COLUMN",
            help="A column to group by, beside question type, system, data set (source) and length of the answer.",
            show_default=False,
        ),
    ] = None,
    correct: Annotated[
        float | None,
        typer.Option(
            "--correct",
            metavar="SCORE",
            help="Human scores from here on count as correct. Default: column label where every row has 0 or 1, else "
            "the middle of the range of the human scores.",
            show_default=False,
        ),
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(
            "--gap",
            metavar="SCORE",
            help="Two answers count as ranked by humans where their scores differ by more. Default: half the range.",
            show_default=False,
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="N", help="Bootstrap samples; 10 times as many permutations.")
    ] = 1000,
    seed: _Seed = 0,
    json_: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write everything, with all tests, to FILE as JSON.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the tables to FILE as Markdown.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Write tables and charts to FILE as one self-contained HTML page."
        ),
    ] = None,
    on_error: Annotated[
        OnError, typer.Option("--on-error", help="A bad row: fail at the first one, or report, count and skip them.")
    ] = OnError.FAIL,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to print the result.")] = Format.TABLE,
) -> None:
    """Measure how well metrics agree with the human scores in files, with 95% intervals and tests.

    Rows are those of `score`, one answer each, with a human `score` (or `label`) as a number.

    **Correlations** (Pearson, Spearman, Kendall) with bootstrap intervals, and tests of their differences: by
    permutation, Williams' t, Steiger's Z. Answers to one question are alike, so whole questions are resampled.

    **Pairs**: the share of pairs of answers, and of systems, that a metric ranks as humans do.

    **Groups**: by question type (column `question_type`, else by a rule on its wording), system, source, length.

    **Correct or not**: best thresholds, area under the ROC curve, calibration.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    for option, path in (("--json", json_), ("--markdown", markdown), ("--html", html)):
        _check_output(option, path)
    metrics = list(metric or ())
    try:
        for name in metrics:
            if name not in METRICS:
                raise ValueError(f"--metric: expected one of {', '.join(METRICS)}, got {name!r}")
        from .analysis.agree import AgreeRun
        from .reports.agree import as_html, as_markdown, print_report
        from .reports.table import as_json

        values = _settings(settings, set_ or [], metrics)
        names = [name for name in column or [] if "=" not in name]
        mapped = _pairs("--column", [name for name in column or [] if "=" in name])
        run = AgreeRun(inputs, metrics, values, mapped, names, group or [], correct, gap, resamples, seed)
    except ValueError as error:
        raise _stop(f"{error}\nTry 'genqa-metrics agree --help'.", 2) from error
    report = _reported(run, on_error)
    made = {
        "--json": (json_, as_json(report)),
        "--markdown": (markdown, as_markdown(report) + "\n"),
        "--html": (html, as_html(report) if html else ""),
    }
    _write_outputs(made)
    if format_ is Format.JSON:
        typer.echo(as_json(report), nl=False)
    elif format_ is Format.MARKDOWN:
        typer.echo(as_markdown(report))
    else:
        print_report(report, _output_console())


@app.command(no_args_is_help=True, short_help="Make one score per item of the ratings of several people.")
def raters(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Files as for `score`, one row per item and rater.", show_default=False),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write one row per item to FILE, with its score: .jsonl, .csv, .parquet ... `agree` reads it when "
            "the rows have question, prediction and references too.",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="NAME=COLUMN",
            help="Where a column has another name, once for each; NAME is item, rater or score.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        float, typer.Option("--limit", metavar="Z", help="Ratings whose z-score is larger are noise; inf keeps all.")
    ] = 1.0,
    drop: Annotated[int, typer.Option("--drop", metavar="N", help="Drop at most N ratings of an item.")] = 5,
    on_error: Annotated[
        OnError, typer.Option("--on-error", help="A bad row: fail at the first one, or report, count and skip them.")
    ] = OnError.FAIL,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to print the summary.")] = Format.TABLE,
) -> None:
    """Make one score per item of the ratings of several people, without the noisy ones; say how far they agree.

    Rows have `item` (or `id`), `rater` (`annotator`, `worker`) and `score` (`rating`), a number.

    Within an item, ratings whose z-score is above 1 in size are dropped, at most five, the largest first; the mean of
    the rest is the score (Lee et al. 2021). Krippendorff's alpha is given before and after: 1 is full agreement, 0
    that of chance. After filtering it is higher in any case, because what disagrees was dropped.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    from .analysis.raters import RatersRun, summary
    from .rows.files import FileError

    try:
        run = RatersRun(inputs, _pairs("--column", column or []), limit, drop, output)
    except ValueError as error:
        raise _stop(f"{error}\nTry 'genqa-metrics raters --help'.", 2) from error
    problem, rest = _noted_rows(SHOWN_BAD_ROWS)
    try:
        report = run.report(on_error is OnError.SKIP, problem)
    except FileError as error:
        hint = "\n--on-error skip leaves bad rows out." if error.bad_row else ""
        raise _stop(f"{error}{hint}", 1) from error
    except ValueError as error:
        raise _stop(str(error), 1) from error
    rest()
    if format_ is Format.JSON:
        typer.echo(json.dumps(report, indent=2, ensure_ascii=False))
        return
    from .reports.agree import Table, markdown_table, print_table

    for title, header, rows in summary(report):
        table = Table(title, header, rows)
        if format_ is Format.MARKDOWN:
            typer.echo(f"**{title}**\n\n{markdown_table(table)}\n")
        else:
            print_table(table, _output_console())


app.command(no_args_is_help=True, short_help="Show which words of an answer KPQA weighs and matches.")(explain)
app.command(no_args_is_help=True, short_help="Make a checkpoint that scores faster on a CPU.")(export)


@app.command()
def demo() -> None:
    """Score the example files that come with the package, and explain the tables."""
    from .commands.demo import show

    show()


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"genqa-metrics {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    try:
        app()
    except SystemExit as end:
        if end.code == 130:  # Ctrl-C: do not wait for the windows that are being scored
            sys.stdout.flush()
            os._exit(130)
        raise
