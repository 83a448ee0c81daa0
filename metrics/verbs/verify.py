"""The command `verify`: is a folder of parts just what its run wrote?"""

import typer

from .. import terminal
from ..reports.table import visible


def verify(folders: terminal.inputs("FOLDER", "Output of score --output FOLDER/.")) -> None:
    """Check that folders of parts are complete and unchanged.

    Each must be marked complete, and hold just the parts of its run, each with the SHA-256 that the run wrote down.

    **Exit status**: 0 complete and unchanged, 1 not, 2 bad usage.
    """
    from ..scale.parts import verify as verified

    failed = False
    for folder in folders:
        try:
            result = verified(folder)
        except (ValueError, OSError) as error:
            failed = True
            terminal.say(f"error: {error}", "red")
        else:
            counts = f"{result['parts']:,} parts with {result['rows']:,} rows"
            typer.echo(visible(f"{folder}: complete, {counts}, unchanged"))
    if failed:
        raise typer.Exit(1)
