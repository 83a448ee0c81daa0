"""The command `view`: all rows of a judged file in a browser, to read, to compare and to label."""

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer

from ... import terminal
from ...registry import JUDGE

_LABELS = (
    "File of labels (.jsonl), new or of `label`: labels of the page are saved there at once. Other files are "
    "shown only. Without it labels stay in the page until you download them."
)

_UNTIL = "Say when labels are enough, as `label` does: low=0.75 or decided. Look at it after every label."


def view(
    rows: Annotated[str, typer.Argument(metavar="ROWS", help="A file as for `score`.", show_default=False)],
    labels: Annotated[Path | None, typer.Argument(metavar="LABELS", help=_LABELS, show_default=False)] = None,
    set_: terminal.SetOfAva = None,
    column: terminal.Column = None,
    from_: terminal.From = None,
    systems: terminal.Systems = None,
    encoding: terminal.Encoding = None,
    rows_at: terminal.RowsAt = None,
    sheet: terminal.Sheet = None,
    split_references: terminal.SplitReferences = None,
    on_error: terminal.SkipOrFail = "fail",
    by: terminal.By = None,
    number: terminal.option(
        int | None, "--number", "-n", metavar="N", help="Rows of every system to label. Default: 30.", min=2
    ) = None,
    until: terminal.option(str | None, "--until", metavar="RULE", help=_UNTIL) = None,
    seed: terminal.Seed = 0,
    rater: terminal.option(str | None, "--rater", metavar="NAME", help="Who labels. Default: your user name.") = None,
    port: terminal.option(int | None, "--port", metavar="N", help="Port of the page. Default: a free one.") = None,
    html: terminal.option(Path | None, "--html", metavar="FILE", help="Write the page to FILE instead.") = None,
) -> None:
    """Show all answers of a file in the browser: filter, compare, and label them.

    The page is served to this machine alone until you press Ctrl-C. With LABELS the accuracy and its interval narrow
    while you label; system and verdict are hidden then. `accuracy`, `compare` and `agree` read the labels.

    **Keys** on the page: j next, k previous, b blind, Escape back; y right, n wrong, u undo, s skip while system and
    verdict are hidden.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    from ..label.stopping import lowest_accuracy

    with terminal.usage("view"):
        if until is not None:
            lowest_accuracy(until)
        terminal.check_outputs({"LABELS": labels, "--html": html}, [rows])
        sources = terminal.read_inputs([rows], from_, systems, encoding, rows_at, sheet, split_references)
        settings, columns = terminal.read_settings_of(JUDGE, set_), terminal.name_values("--column", column)
    terminal.say(terminal.shown_paths([rows]))
    with terminal.failures("view"):
        from .page import server, viewed

        with terminal.skipped_rows() as problem, terminal.progress_bars() as progress:
            options = {"by": by, "number": number, "until": until, "seed": seed, "rater": rater or getpass.getuser()}
            options |= {"on_error": on_error, "notify": terminal.say, "problem": problem, "progress": progress}
            page = viewed(sources, labels, settings, columns, saves=html is None, **options)
        if html is not None:
            terminal.write_outputs({"--html": (html, lambda: page.html)})
            return
        try:
            served = server(page, port)
        except OSError as error:
            raise ValueError(f"--port: {error}") from error
    address = f"http://127.0.0.1:{served.server_port}/"
    if page.warning:
        terminal.say(page.warning)
    terminal.say(f"{address}  (Ctrl-C ends it)")
    if sys.stdout.isatty():
        import webbrowser

        webbrowser.open(address)
    try:
        served.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        served.server_close()
