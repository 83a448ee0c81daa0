"""The command `compare`: systems on the same questions."""

from typing import Annotated

import typer

from . import console, options


def compare(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Files as for `score`: one for every system, or one with a column 'system'.",
            show_default=False,
        ),
    ],
    metric: options.MetricsOrColumns = None,
    column: options.ScoresOrColumn = None,
    from_: options.From = None,
    systems: options.Systems = None,
    encoding: options.Encoding = None,
    set_: options.Set = None,
    settings: options.SettingsFile = None,
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="N", help="Number of bootstrap samples, and of permutations.")
    ] = 10_000,
    seed: options.Seed = 0,
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
    ignore_judge_errors: options.IgnoreJudgeErrors = False,
    json_: options.Json = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    html: options.Html = None,
    on_error: Annotated[
        options.OnError,
        typer.Option(
            "--on-error",
            help="A bad row, or a question that not all systems answer: fail at the first one, or report, count and "
            "skip them.",
        ),
    ] = options.OnError.FAIL,
    format_: options.PrintAs = options.Format.TABLE,
) -> None:
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
    from ..analysis.compare import CompareRun, explanations
    from ..reports.compare import CompareReport

    files = {"--json": json_, "--markdown": markdown, "--latex": latex, "--html": html}
    with console.usage("compare"):
        console.check_outputs(files, inputs)
        metrics = options.checked_metrics(metric)
        values = options.read_settings(settings, set_, metrics)
        names, columns = options.names_and_columns(column)
        sources = options.read_inputs(inputs, from_, systems, encoding)
        run = CompareRun(
            sources, metrics, values, columns, names, resamples, seed, correction, rows, ignore_judge_errors
        )
    with console.failures():
        with console.skipped_rows() as problem, console.progress_bars() as progress:
            found = run.report(on_error is options.OnError.SKIP, problem, progress)
    report = CompareReport(found, lambda: explanations(run, found))
    console.say_forms(run.sources)
    console.deliver(report, files, format_)
