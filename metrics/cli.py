"""The command `genqa-metrics`. Slow imports stand in the functions that need them: `--help` must be instant."""

import os
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from . import __version__
from .registry import JUDGE, scorer_class
from .terminal import noted_warnings, run
from .verbs.accuracy.command import accuracy
from .verbs.agree.command import agree
from .verbs.calibrate.command import calibrate
from .verbs.compare.command import compare
from .verbs.demo import demo
from .verbs.doctor.command import doctor
from .verbs.download import download
from .verbs.explain.command import explain
from .verbs.label.command import label
from .verbs.score.command import score
from .verbs.verify import verify
from .verbs.view.command import view

# Rows are scored in threads of this package; those of numpy's BLAS would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

NoSuchOption = import_module(typer.BadParameter.__module__).NoSuchOption  # of click, or of typer's copy of it


class _Verbs(TyperGroup):
    """The commands; where a setting of the judge is given as an option, the error names --set."""

    def invoke(self, context: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(context)
        except NoSuchOption as error:
            setting = error.option_name.removeprefix("--").replace("-", "_")
            has_settings = any("--set" in parameter.opts for parameter in error.ctx.command.params)
            if has_settings and setting in scorer_class(JUDGE).setting_names:
                example = "base" if setting == "checkpoint" else "VALUE"
                advice = f"it is a setting: --set {JUDGE}.{setting}={example}"
                error.message = f"No such option: {error.option_name}; {advice}"
                error.possibilities = None
            raise


app = typer.Typer(
    name="genqa-metrics",
    cls=_Verbs,
    help="Score generated answers and questions with metrics for question answering and question generation.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb, short_help in (
    (doctor, "Say what files support, and which command to run."),
    (score, "Score the rows of files; print a table with one row per system."),
    (compare, "Compare systems on the same questions, with intervals, tests and ranks."),
    (agree, "Measure how well metrics agree with the human scores in files."),
    (accuracy, "Estimate how many answers are right, with an interval that counts the judge's errors."),
    (calibrate, "Calibrate the judge on labels of yours: its threshold and its errors on your data."),
    (view, "Show all answers in the browser: filter, compare and label them."),
    (label, "Select rows to label, and collect people's verdicts."),
    (verify, "Check that folders of scores are complete and unchanged."),
    (explain, "Show why a metric scored an answer as it did, and the unsupported sentences of files."),
    (download, "Download a checkpoint and its encoder, for runs without a network."),
    (demo, "Score the example files that come with the package, and explain the tables."),
):
    app.command(no_args_is_help=verb is not demo, short_help=short_help)(verb)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"genqa-metrics {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    context.with_resource(noted_warnings())


def main() -> None:
    """Run the command line."""
    run(app)
