"""The command `agree`: how well metrics agree with human scores."""

from typing import Annotated

import typer

from . import console, options


def agree(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="Files as for `score`, with a human score in every row.", show_default=False
        ),
    ],
    metric: options.MetricsOrColumns = None,
    column: options.ScoresOrColumn = None,
    from_: options.From = None,
    systems: options.Systems = None,
    encoding: options.Encoding = None,
    set_: options.Set = None,
    settings: options.SettingsFile = None,
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
    seed: options.Seed = 0,
    worst: Annotated[
        int,
        typer.Option("--worst", metavar="N", help="Rows to list on which a judge and the humans differ, worst first."),
    ] = 10,
    json_: options.Json = None,
    markdown: options.Markdown = None,
    html: options.Html = None,
    on_error: options.SkipOrFail = options.OnError.FAIL,
    format_: options.PrintAs = options.Format.TABLE,
) -> None:
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
    from ..analysis.agree import AgreeRun
    from ..reports.agree import AgreeReport

    files = {"--json": json_, "--markdown": markdown, "--html": html}
    with console.usage("agree"):
        console.check_outputs(files, inputs)
        metrics = options.checked_metrics(metric)
        values = options.read_settings(settings, set_, metrics)
        names, columns = options.names_and_columns(column)
        sources = options.read_inputs(inputs, from_, systems, encoding)
        run = AgreeRun(sources, metrics, values, columns, names, group or [], correct, gap, resamples, seed, worst)
    with console.failures(), console.skipped_rows() as problem, console.progress_bars() as progress:
        report = AgreeReport(run.report(on_error is options.OnError.SKIP, problem, progress))
    console.say_forms(run.sources)
    console.deliver(report, files, format_)
