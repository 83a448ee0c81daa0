"""The command `export`: a checkpoint with a second copy of its model, in 8-bit integers for ONNX Runtime."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from .. import terminal


def export(
    output: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="The folder that is made; its parent exists.", show_default=False)
    ],
    metric: terminal.option(terminal.ModelMetric, "--metric", "-m", help="The metric whose model it is."),
    checkpoint: terminal.option(
        str | None,
        "--checkpoint",
        metavar="FOLDER|HUB_ID",
        help="The checkpoint, also 'org/name@revision'. Default: the bundled one.",
    ) = None,
    overwrite: terminal.option(
        bool, "--overwrite", help="Replace OUTPUT if it is a checkpoint; never anything else.", shown=True
    ) = False,
) -> None:
    """Make a checkpoint that runs faster on a CPU: its model in 8-bit integers, beside what it was before.

    OUTPUT is a checkpoint like the one it was made from and has one more file, which `backend=onnx` runs with ONNX
    Runtime (extra 'fast'). Making it needs the extra 'export'. Scores differ a little from those of the whole
    model, and the metric's signature says so.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    from ..core.checkpoints import is_checkpoint
    from ..scale.exporting import export_checkpoint

    output = output.absolute()
    try:
        with terminal.usage("export"):
            if not output.parent.is_dir():
                raise ValueError(f"OUTPUT: there is no folder {output.parent}; make it first")
            if output.exists() and not overwrite:
                raise ValueError(f"OUTPUT: {output} exists; name another folder, or add --overwrite")
            if output.exists() and not is_checkpoint(output):
                raise ValueError(f"OUTPUT: {output} is no checkpoint and is not replaced; name another folder")
            size = export_checkpoint(metric, checkpoint, output)
    except OSError as error:
        raise terminal.stop(f"{output}: cannot be written: {error.strerror or error}", 1) from error
    settings = f"--set {metric}.backend=onnx --set {metric}.checkpoint={shlex.quote(str(output))}"
    typer.echo(f"{output}: {size / 1e6:.1f} MB\nNext: genqa-metrics score FILE --metric {metric} {settings}")
