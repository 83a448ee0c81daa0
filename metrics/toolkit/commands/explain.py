"""The command `explain`: show in the terminal, or on a page, what KPQA weighs and matches in one answer."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..analysis.explanation import explanation
from ..reports.explanation import explanation_html, print_explanation
from ..reports.table import visible
from ..rows.writing import write_text


def _stop(message: str, status: int) -> typer.Exit:
    from rich.console import Console
    from rich.text import Text

    hint = "\nTry 'genqa-metrics explain --help'." if status == 2 else ""
    Console(stderr=True).print(Text(f"error: {_lines(message)}{hint}", "red"), soft_wrap=True)
    return typer.Exit(status)


def _lines(message: str) -> str:
    return "\n".join(map(visible, message.split("\n")))


def explain(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.", show_default=False)],
    prediction: Annotated[
        str, typer.Option("--prediction", metavar="TEXT", help="The answer to be explained.", show_default=False)
    ],
    reference: Annotated[
        list[str],
        typer.Option("--reference", metavar="TEXT", help="A reference answer, once for each.", show_default=False),
    ],
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the same to FILE as one HTML page.")
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="FOLDER_OR_ID",
            help="Keyphrase predictor: a folder, or its name on the Hub. Default: the one of the package.",
        ),
    ] = None,
) -> None:
    """Show which words of an answer KPQA weighs and matches, and what that does to its scores.

    Prints the prediction and every reference with the keyphrase weight of each word piece: as a heat map, or as
    numbers where there are no colours (a pipe, a file, NO_COLOR). Marked are the pieces that match. Below stand the
    weighted scores beside the unweighted ones and, with several references, which one gave each score.

    An empty prediction is explained (it scores 0); an empty question or reference is bad usage.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    from rich.console import Console

    texts = {"QUESTION": [question], "--prediction": [prediction], "--reference": reference}
    for option, values in texts.items():
        if any("\ud800" <= letter <= "\udfff" for value in values for letter in value):
            raise _stop(f"{option}: expected valid Unicode text, got bytes that are not UTF-8", 2)
        if option != "--prediction" and not all(value.strip() for value in values):
            raise _stop(f"{option}: expected a text, got an empty one; is a shell variable unset?", 2)
    if checkpoint == "":
        raise _stop("--checkpoint: expected a folder or a name, got an empty one; is a shell variable unset?", 2)
    if html is not None:
        problem = None
        if not html.resolve().parent.is_dir():
            problem = f"there is no folder {html.resolve().parent}; make it first"
        elif html.exists() and not html.is_file():
            problem = "is not a file; name a file"
        if problem:
            raise _stop(f"--html {html}: {problem}", 1)
    try:
        from ...kpqa.loading import load_models

        models = load_models(checkpoint)
    except (ImportError, ValueError) as error:
        raise _stop(str(error), 1) from error
    explained = explanation(question, prediction, reference, models)
    if html is not None:
        try:
            write_text(html, explanation_html(explained))
        except OSError as error:
            raise _stop(f"--html {html}: cannot be written: {error.strerror or error}", 1) from error
    # What goes into a file or a pipe must not depend on the width of a terminal.
    print_explanation(explained, Console() if sys.stdout.isatty() else Console(width=100))
