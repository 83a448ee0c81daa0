"""The command `explain`: show in the terminal, or on a page, why KPQA or AVA scored one answer as it did."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import console, options


def explain(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.", show_default=False)],
    prediction: Annotated[
        str, typer.Option("--prediction", metavar="TEXT", help="The answer to be explained.", show_default=False)
    ],
    reference: Annotated[
        list[str],
        typer.Option("--reference", metavar="TEXT", help="A reference answer, once for each.", show_default=False),
    ],
    metric: Annotated[
        Literal["kpqa", "ava"] | None,
        typer.Option(
            "--metric",
            "-m",
            help="ava: which words count for and against the answer. kpqa: what it weighs and matches. Default: ava, "
            "as for score; kpqa with --idf.",
            show_default=False,
        ),
    ] = None,
    idf: Annotated[
        Path | None,
        typer.Option(
            "--idf",
            metavar="FILE",
            help="kpqa: show beside the weights how rare each word piece is in the references of this file of rows.",
            show_default=False,
        ),
    ] = None,
    html: options.SamePage = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="FOLDER_OR_ID",
            help="Checkpoint of the metric: a folder, or its name on the Hub. Default: the one of the package.",
        ),
    ] = None,
) -> None:
    """Show why AVA or KPQA scored one answer as it did.

    **ava** prints the verdict, the reference that decided, the words of the answer that count for it and against it,
    by what the probability is without them, and a sentence.

    **kpqa** prints the prediction and every reference with the keyphrase weight of each word piece: as a heat map, or
    as numbers where there are no colours (a pipe, a file, NO_COLOR). Marked are the pieces that match. Below stand the
    weighted scores beside the unweighted ones and, with several references, which one gave each score.

    An empty prediction is explained (it scores 0); an empty question or reference is bad usage.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    with console.usage("explain"):
        _check_texts({"QUESTION": [question], "--prediction": [prediction], "--reference": reference})
        if checkpoint == "":
            raise ValueError("--checkpoint: expected a folder or a name, got an empty one; is a shell variable unset?")
        metric = metric or ("kpqa" if idf else "ava")
        if idf and metric != "kpqa":
            raise ValueError("--idf: only kpqa weighs word pieces; leave it out, or take --metric kpqa")
        console.check_outputs({"--html": html})
    if metric == "ava":
        from ..analysis.verdict import verdict
        from ..reports.verdict import print_verdict as show
        from ..reports.verdict import verdict_html as as_html

        with console.failures():
            explained = verdict(question, prediction, reference, {"checkpoint": checkpoint} if checkpoint else None)
    else:
        from ..analysis.explanation import explanation
        from ..reports.explanation import explanation_html as as_html
        from ..reports.explanation import print_explanation as show

        with console.failures():
            from ...kpqa.loading import load_models

            corpus = _references_of(idf) if idf else None
            explained = explanation(question, prediction, reference, load_models(checkpoint), corpus=corpus)
    console.write_outputs({"--html": (html, lambda: as_html(explained))})
    show(explained, console.output_console(width=100))


def _references_of(path: Path) -> list[str]:
    """Return the references of all rows of a file."""
    from ..rows.files import Source

    texts: list[str] = []
    for row in Source(str(path)).rows():
        found = row.values.get("references", row.values.get("reference")) or []
        texts += [found] if isinstance(found, str) else [text for text in found if isinstance(text, str)]
    if not texts:
        raise ValueError(f"--idf: {path} has no references; give a file of rows with a column references")
    return texts


def _check_texts(texts: dict[str, list[str]]) -> None:
    for option, values in texts.items():
        if any("\ud800" <= letter <= "\udfff" for value in values for letter in value):
            raise ValueError(f"{option}: expected valid Unicode text, got bytes that are not UTF-8")
        if option != "--prediction" and not all(value.strip() for value in values):
            raise ValueError(f"{option}: expected a text, got an empty one; is a shell variable unset?")
