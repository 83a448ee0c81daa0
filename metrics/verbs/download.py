"""The command `download`: a checkpoint and its encoder, so that later runs need no network."""

import typer

from .. import terminal
from ..reports.table import visible


def download(
    metric: terminal.option(terminal.ModelMetric, "--metric", "-m", help="The metric whose checkpoint it is."),
    checkpoint: terminal.option(
        str | None,
        "--checkpoint",
        metavar="SIZE|HUB_ID",
        help="'small', 'base', 'large', or 'org/name@revision'. Default: the metric's own.",
    ) = None,
) -> None:
    """Download a checkpoint and the encoder that it stands on, with progress; a broken download is resumed.

    What is already there is verified and kept. Afterwards the checkpoint loads offline.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    from importlib import import_module

    from ..core.checkpoints import CheckpointError, encoder_source

    loading = import_module(f"{__name__.removesuffix('.verbs.download')}.{metric}.loading")
    try:
        folder = loading.checkpoint_folder(checkpoint)
        source = encoder_source(folder)
    except CheckpointError as error:
        raise terminal.stop(str(error), 2) from error
    except (ValueError, OSError) as error:
        raise terminal.stop(str(error), 1) from error
    typer.echo(f"checkpoint: {visible(str(folder))}\nencoder: {visible(str(source))}\nBoth are complete.")
