"""The command `accuracy`: how many answers are correct, with intervals that count the judge's errors."""

from typing import Annotated

import typer

from . import console, options

NAMES = ("accuracy", "low", "judged")  # what --fail-under can demand


def accuracy(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="ROWS", help="Files as for `score`, one answer a row.", show_default=False),
    ],
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--labels",
            "-l",
            metavar="FILE",
            help="Labels of people for some of the rows, as `label` writes them: question, prediction, system, label, "
            "and the probability of being drawn. Once for each file.",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="NAME=COLUMN",
            help="Where a column has another name, as for `score`. judge=COLUMN takes the verdicts or probabilities "
            "of another judge (0 to 1) from a column instead of AVA's.",
            show_default=False,
        ),
    ] = None,
    from_: options.From = None,
    systems: options.Systems = None,
    encoding: options.Encoding = None,
    set_: options.Set = None,
    finite_population: Annotated[
        bool,
        typer.Option(
            "--finite-population",
            help="Intervals of these very rows, not of questions like them: narrower, for a fixed test set.",
        ),
    ] = False,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="P", help="Probability that an interval holds the truth.")
    ] = 0.95,
    ignore_judge_errors: options.IgnoreJudgeErrors = False,
    fail_under: options.FailUnder = None,
    json_: options.Json = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    html: options.Html = None,
    on_error: options.SkipOrFail = options.OnError.FAIL,
    format_: options.PrintAs = options.Format.TABLE,
) -> None:
    """Estimate how many answers of each system are correct, with an interval that counts the judge's errors.

    **With labels** (`genqa-metrics label` collects them): prediction-powered inference. People's labels decide, the
    judge's verdicts on all rows make the interval narrower, its errors never move the estimate. Labels count by the
    probability of being drawn; several labels of a row count as their mean; answers to one question as one cluster.

    **Without labels** the interval includes the judge's errors as they were measured for its checkpoint.

    Also how many more labels would give +-1, 2 or 5 points, and the differences of systems, paired by question.

    `--fail-under accuracy=0.8` demands the estimate, `low=0.8` the lower end of the interval, of every system.

    **Exit status**: 0 done, 1 failed, 2 bad usage, 3 a --fail-under was missed.
    """
    from ..analysis.accuracy_run import AccuracyRun
    from ..reports.accuracy import AccuracyReport

    files = {"--json": json_, "--markdown": markdown, "--latex": latex, "--html": html}
    with console.usage("accuracy"):
        console.check_outputs(files, [*inputs, *(labels or [])])
        demands = options.demands(fail_under, NAMES)
        settings = options.read_settings(None, set_, ["ava"]).get("ava", {})
        columns = options.name_values("--column", column)
        sources = options.read_inputs(inputs, from_, systems, encoding)
        run = AccuracyRun(sources, labels, columns, settings, finite_population, confidence, ignore_judge_errors)
    with console.failures():
        with console.skipped_rows() as problem, console.progress_bars() as progress:
            report = AccuracyReport(run.report(on_error is options.OnError.SKIP, problem, progress))
    console.say_forms(run.sources)
    console.deliver(report, files, format_)
    console.check_demands(demands, report.systems)
