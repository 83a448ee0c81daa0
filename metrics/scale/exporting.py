"""Checkpoints whose models run in 8-bit integers: written where asked, or once into a cache folder."""

import os
import shutil
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from .. import __version__
from ..core.scorer import require_extra
from . import quantization

WITH_MODEL = ("ava", "grounding", "kpqa")
NEEDED = ("onnx", "onnxruntime", "torch", "transformers")


def with_exported(metric: str, settings: Mapping) -> dict:
    """Return settings whose checkpoint has what `backend="onnx"` runs; it is made once for each checkpoint.

    Args:
        metric: name of the metric.
        settings: of the metric; without that backend they are returned as they are.

    Raises:
        ValueError: if the checkpoint is not found, or the backend cannot run it.
        ImportError: if the packages of the extra `export` are not installed, and the file is not there.
    """
    if settings.get("backend") != "onnx" or metric not in WITH_MODEL:
        return dict(settings)
    from ..core.checkpoints import cache_folder, encoder_source, signature_digest
    from ..core.onnx_backend import FAST_FILE

    folder = _loading(metric).checkpoint_folder(settings.get("checkpoint"), settings.get("revision"))
    if not (folder / FAST_FILE).is_file():
        require_extra("export", *NEEDED)
        source = folder
        made_by = f"{__version__}-{quantization.FORMAT}"
        folder = cache_folder() / f"{metric}-{signature_digest(source, encoder_source(source))}-{made_by}"
        if not (folder / FAST_FILE).is_file():
            folder.parent.mkdir(parents=True, exist_ok=True)
            export_checkpoint(metric, str(source), folder)
    return {**settings, "checkpoint": str(folder), "revision": None}


def _loading(metric: str) -> ModuleType:
    """Return the module that finds the checkpoints of a metric."""
    return import_module(f"{__name__.removesuffix('.scale.exporting')}.{metric}.loading")


def _found(metric: str, checkpoint: str | None) -> tuple[Path, object, Sequence[str]]:
    """Return the folder of a checkpoint, its torch model, and the names of the model's inputs."""
    if metric == "kpqa":
        from ..kpqa.loading import checkpoint_folder, load_token_classifier

        folder = checkpoint_folder(checkpoint)
        model, tokenizer = load_token_classifier(folder)
        return folder, model, tokenizer.model_input_names
    from ..core.judge_model import check_onnx_support, load_model, read_settings

    folder = _loading(metric).checkpoint_folder(checkpoint)
    settings = read_settings(folder)
    check_onnx_support(settings["configuration"], folder)
    model, tokenizer = load_model(folder, settings["configuration"], settings["marks"])
    marks = ["token_type_ids"] if settings["marks"] else []
    return folder, model, list(dict.fromkeys([*tokenizer.model_input_names, *marks]))


def export_checkpoint(metric: str, checkpoint: str | None, output: Path) -> int:
    """Write a checkpoint's files and its model in 8-bit integers into a folder, written atomically.

    Args:
        metric: one of `WITH_MODEL`.
        checkpoint: folder or Hub id, None for the default.
        output: the folder; one that is there is replaced.

    Returns:
        Size of the new file in bytes.

    Raises:
        ValueError: if the checkpoint is not found, or the backend cannot run it.
        ImportError: if the packages of the extra `export` are not installed.
    """
    from ..core.checkpoints import base_encoder, encoder_source, signature_digest
    from ..core.onnx_backend import FAST_FILE, FastModel
    from ..core.scorer import quiet
    from ..kpqa.loading import EMBEDDINGS_FILE

    require_extra("export", *NEEDED)
    with quiet():
        folder, model, names = _found(metric, checkpoint)
    result = output.with_name(f".{output.name}.{os.getpid()}.partial")
    replaced = output.with_name(f".{output.name}.{os.getpid()}.replaced")
    result.mkdir()
    try:
        for path in folder.iterdir():
            if path.is_file() and path.name != FAST_FILE:
                shutil.copyfile(path, result / path.name)
        source = encoder_source(folder)
        for name in ("tokenizer.json", "tokenizer_config.json"):  # the backend reads this folder only
            if not (result / "tokenizer.json").is_file() or not (result / name).is_file():
                shutil.copyfile(source / name, result / name)
        digest = signature_digest(result)
        quantization.export(model, names, result / FAST_FILE, digest)
        if metric == "kpqa":
            quantization.export_embeddings(base_encoder(), result / EMBEDDINGS_FILE)
        FastModel(result, digest, metric)
        if output.exists():
            output.rename(replaced)
        result.rename(output)
    except BaseException:
        if replaced.exists() and not output.exists():
            replaced.rename(output)
        raise
    finally:
        shutil.rmtree(result, ignore_errors=True)
        shutil.rmtree(replaced, ignore_errors=True)
    return (output / FAST_FILE).stat().st_size
