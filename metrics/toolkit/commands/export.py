"""The command `export`: a checkpoint with a second copy of its model, in 8-bit integers for ONNX Runtime."""

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from . import console, options


def export(
    output: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="The folder that is made; its parent exists.", show_default=False)
    ],
    metric: Annotated[options.ModelMetric, typer.Option("--metric", "-m", help="The metric whose model it is.")],
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="FOLDER|HUB_ID",
            help="The checkpoint, also 'org/name@revision'. Default: the bundled one.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUTPUT if it is a checkpoint; never anything else.")
    ] = False,
) -> None:
    """Make a checkpoint that runs faster on a CPU: its model in 8-bit integers, beside what it was before.

    OUTPUT is a checkpoint like the one it was made from and has one more file, which `backend=onnx` runs with ONNX
    Runtime (extra 'fast'). Making it needs the extra 'export'. Scores differ a little from those of the whole
    model, and the metric's signature says so.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    output = output.absolute()
    try:
        with console.usage("export"):
            _check_output(output, overwrite)
            size = export_checkpoint(metric.value, checkpoint, output)
    except OSError as error:
        raise console.stop(f"{output}: cannot be written: {error.strerror or error}", 1) from error
    settings = f"--set {metric}.backend=onnx --set {metric}.checkpoint={shlex.quote(str(output))}"
    typer.echo(f"{output}: {size / 1e6:.1f} MB\nNext: genqa-metrics score FILE --metric {metric} {settings}")


def _check_output(output: Path, overwrite: bool) -> None:
    from ...kpqa.models import is_checkpoint

    if not output.absolute().parent.is_dir():
        raise ValueError(f"OUTPUT: there is no folder {output.absolute().parent}; make it first")
    if output.exists() and not overwrite:
        raise ValueError(f"OUTPUT: {output} exists; name another folder, or add --overwrite")
    if output.exists() and not is_checkpoint(output):
        raise ValueError(f"OUTPUT: {output} is no checkpoint and is not replaced; name another folder")


def _found(metric: str, checkpoint: str | None) -> tuple[Path, object, Sequence[str]]:
    """Return the folder of a checkpoint, its torch model, and the names of the model's inputs."""
    if metric == "kpqa":
        from ...kpqa.loading import HUB_CHECKPOINT, load_token_classifier
        from ...kpqa.models import find_checkpoint

        folder = find_checkpoint(checkpoint, None, metric, HUB_CHECKPOINT)
        model, tokenizer = load_token_classifier(folder)
        return folder, model, tokenizer.model_input_names
    from ...ava.loading import HUB_CHECKPOINT, check_one_pair, load_model, read_settings
    from ...ava.models import find_checkpoint

    folder = find_checkpoint(checkpoint, None, metric, HUB_CHECKPOINT)
    settings = read_settings(folder)
    check_one_pair(settings["configuration"], folder)
    model, tokenizer = load_model(folder, settings["configuration"], settings["marks"])
    marks = ["token_type_ids"] if settings["marks"] else []
    return folder, model, list(dict.fromkeys([*tokenizer.model_input_names, *marks]))


def export_checkpoint(metric: str, checkpoint: str | None, output: Path) -> int:
    """Write a checkpoint's files and its model in 8-bit integers into a folder, which is there as a whole or not.

    Args:
        metric: "ava" or "kpqa".
        checkpoint: folder or Hub id, None for the default.
        output: the folder; one that is there is replaced.

    Returns:
        Size of the new file in bytes.

    Raises:
        ValueError: if the checkpoint is not found, or the backend cannot run it.
        ImportError: if the packages of the extra `export` are not installed.
    """
    from ...aev.shared import need
    from ...kpqa.embedder import EMBEDDINGS_FILE
    from ...kpqa.fast import FAST_FILE, FastModel
    from ...kpqa.models import base_encoder, encoder_source, quiet, signed_digest
    from ..scoring import quantization

    need("export", "onnx", "onnxruntime", "torch", "transformers")
    with quiet():
        folder, model, names = _found(metric, checkpoint)
    made = output.with_name(f".{output.name}.{os.getpid()}.partial")
    replaced = output.with_name(f".{output.name}.{os.getpid()}.replaced")
    made.mkdir()
    try:
        for path in folder.iterdir():
            if path.is_file() and path.name != FAST_FILE:
                shutil.copyfile(path, made / path.name)
        source = encoder_source(folder)
        for name in ("tokenizer.json", "tokenizer_config.json"):  # the backend reads this folder only
            if not (made / "tokenizer.json").is_file() or not (made / name).is_file():
                shutil.copyfile(source / name, made / name)
        digest = signed_digest(made)
        quantization.export(model, names, made / FAST_FILE, digest)
        if metric == "kpqa":
            quantization.export_embeddings(base_encoder(), made / EMBEDDINGS_FILE)
        FastModel(made, digest, metric)
        if output.exists():
            output.rename(replaced)
        made.rename(output)
    except BaseException:
        if replaced.exists() and not output.exists():
            replaced.rename(output)
        raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
        shutil.rmtree(replaced, ignore_errors=True)
    return (output / FAST_FILE).stat().st_size
