"""Find checkpoints in a folder, the installed package or on the Hub, and identify them by digest."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .checkpoint_validation import WEIGHTS, check_files, file_digest, read_digest, read_json
from .origin import loaded_from

_PINNED: dict[tuple[str, str | None], Path] = {}  # folders already resolved on the Hub in this process


MODEL_FILES = ("*.json", "*.safetensors", "*.txt")


def _only(files: Sequence[str]) -> dict[str, list[str]]:
    return {"allow_patterns": list(files), "ignore_patterns": ["*/*"]}


def is_offline() -> bool:
    """Return whether the user has switched the Hub off."""
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)


def hub_address() -> str:
    """Return the address of the Hub in use."""
    from huggingface_hub import constants

    return constants.ENDPOINT


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
            loads now, see `origin`, or from the one that a JSON file names.
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
    checkpoint: str | os.PathLike | None, revision: str | None, code: Path, hub_names: Mapping[str, str]
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
        found = ", ".join(sorted(p.name for p in Path(checkpoint).iterdir())[:8]) or "nothing"
        raise ValueError(
            f"checkpoint: expected a folder with a config and {' or '.join(WEIGHTS)}, got {str(checkpoint)!r} with "
            f"{found}; save the model with save_pretrained"
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
