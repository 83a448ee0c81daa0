"""Reads the weights of encoders like BERT as numpy arrays: of whole models, of the bundled encoder, and of adapters.

The bundled encoder is all-MiniLM-L6-v2, on which the checkpoints of the package stand. Its matrices have ten bits a
weight, with one scale for every `BLOCK` weights of a row; `training.publish.encoder` makes them.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .checkpoints import (
    BASE_MODEL,
    MAX_LAYERS,
    PREFIX,
    WEIGHTS,
    adapter_changes,
    check_files,
    check_keys,
    encoder_source,
    file_digest,
    load_numbers,
    read_json,
    refuse,
)
from .scorer import is_whole

BLOCK = 64  # weights of a row that share a scale
TABLE = "embeddings.word_embeddings.weight"  # the vectors of word pieces
LOW, SCALE = ".low", ".scale"  # tensors beside one with the high eight bits of ten
BUNDLED = Path(__file__).with_name("encoder")
BUNDLED_SHA256 = "c7638b16f01c0b63c89e475d4a3baf6d539bfbd51c39a35d827be47976f24065"
_SIZES = (
    "num_hidden_layers num_attention_heads hidden_size intermediate_size vocab_size max_position_embeddings".split()
)


def packed(matrix: np.ndarray) -> dict[str, np.ndarray]:
    """Return a (rows, columns) matrix in ten bits: high bits "", low bits `LOW`, four to a byte, and scales `SCALE`.

    >>> matrix = np.linspace(-1, 1, 128, dtype=np.float32).reshape(1, 128)
    >>> tensors = packed(matrix)
    >>> [part.shape for part in tensors.values()], bool(np.abs(unpacked(*tensors.values()) - matrix).max() < 0.002)
    ([(1, 128), (1, 32), (1, 2)], True)
    """
    rows, columns = matrix.shape
    blocks = matrix.reshape(rows, -1, BLOCK)
    scales = (np.abs(blocks).max(-1) / 511).astype(np.float16)
    steps = np.maximum(scales.astype(np.float32), 1e-12)[..., None]
    levels = np.clip(np.rint(blocks / steps), -512, 511).astype(np.int16).reshape(rows, columns)
    quarters = np.split(levels & 3, 4, axis=1)
    low = sum(quarter << 2 * number for number, quarter in enumerate(quarters)).astype(np.uint8)
    return {"": (levels >> 2).astype(np.int8), LOW: low, SCALE: scales}


def unpacked(high: np.ndarray, low: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return the (rows, columns) matrix that `packed` made these tensors of."""
    levels = high.astype(np.float32)
    levels *= 4
    for number, quarter in enumerate(np.split(levels, 4, axis=1)):
        quarter += low >> 2 * number & 3
    blocks = levels.reshape(len(levels), -1, BLOCK)
    blocks *= scales[..., None]
    return levels


def onnx_source(folder: Path, base_model: object = None) -> Path:
    """Return the folder of the encoder of a checkpoint: its own, the bundled one, or that of `encoder_source`."""
    return BUNDLED if base_model is None and is_on_bundled(folder) else encoder_source(folder, base_model)


def bundled() -> bool:
    """Return whether the bundled encoder is there; raise a CheckpointError if it is damaged."""
    path = BUNDLED / WEIGHTS[1]
    if not path.is_file():
        return False
    if file_digest(path) != BUNDLED_SHA256:
        refuse(path, f"expected the SHA-256 {BUNDLED_SHA256:.12}, got {file_digest(path):.12}; install it again")
    return True


def is_on_bundled(folder: Path) -> bool:
    """Return whether a checkpoint is an adapter of the bundled encoder."""
    if not (folder / WEIGHTS[0]).is_file():
        return False
    return read_json(folder / "adapter_config.json").get("base_model_name_or_path") == BASE_MODEL and bundled()


def runs_in_onnx(folder: Path) -> bool:
    """Return whether ONNX Runtime runs the encoder of a checkpoint here: the bundled one, or a whole BERT."""
    path = folder / "config.json"
    is_bert = not (folder / WEIGHTS[0]).is_file() and path.is_file() and read_json(path).get("model_type") == "bert"
    return is_bert or is_on_bundled(folder)


def default_backend(folder: Path, *others: object) -> str:
    """Return the backend of a checkpoint on a CPU: "onnx" on the bundled encoder, or where torch is not installed.

    `others` are encoders that the user named; None for none.
    """
    if all(other is None for other in others) and is_on_bundled(folder):
        return "onnx"
    return "onnx" if find_spec("torch") is None and runs_in_onnx(folder) else "torch"


def encoder_config(source: Path) -> dict:
    """Return the checked config.json of an encoder; refuse one that ONNX Runtime does not run here."""
    path = source / "config.json"
    config = {"hidden_act": "gelu", "layer_norm_eps": 1e-12, **read_json(path)}
    wanted = {"model_type": ("bert",), "hidden_act": ("gelu",), "position_embedding_type": (None, "absolute")}
    for name, supported in wanted.items():
        if config.get(name) not in supported:
            expected = f"expected {supported[-1]} for backend 'onnx', got {config.get(name)!r:.60}"
            refuse(f"{path}: {name}", f"{expected}; take backend 'torch' (pip install 'genqa-metrics[torch]')")
    for name in _SIZES:
        if not is_whole(config.get(name), 1, 2**20 if name == "vocab_size" else 2**16):
            refuse(f"{path}: {name}", f"expected a whole number above 0, got {config.get(name)!r:.60}")
    if config["num_hidden_layers"] > MAX_LAYERS or config["hidden_size"] % config["num_attention_heads"]:
        refuse(path, "expected at most 1,000 layers, and a hidden size that is a multiple of the attention heads")
    if not 0 <= float(config["layer_norm_eps"]) < 1:
        refuse(f"{path}: layer_norm_eps", f"expected a number from 0 to 1, got {config['layer_norm_eps']!r:.60}")
    return config


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a file by name, in float32; refuse what is not finite.

    Those in ten bits are unpacked, the table of word pieces into half precision, which is exact enough for ten bits.
    """
    stored, result = load_numbers(path, is_packed=True), {}
    for name in sorted({name.removesuffix(LOW).removesuffix(SCALE) for name in stored}):  # freed one by one
        weights, short_name = stored.pop(name), PREFIX.sub("", name)
        if name + LOW in stored:
            weights = unpacked(weights, stored.pop(name + LOW), stored.pop(name + SCALE))
            result[short_name] = weights.astype(np.float16) if name == TABLE else weights
        elif np.issubdtype(weights.dtype, np.floating):  # not position_ids, which count up
            result[short_name] = weights.astype(np.float32, copy=False)
    return result


def encoder_weights(folder: Path, source: Path, head: str | None) -> tuple[dict[str, np.ndarray], dict]:
    """Return the weights of a checkpoint by the names of transformers, adapter merged, and the config of its encoder.

    `head` is "first" for a classifier of the first token behind a pooler, "tokens" for one of every token, None for
    an encoder without a head.
    """
    check_files(folder)
    config = encoder_config(source)
    weights = read_tensors(source / WEIGHTS[1])
    if source != folder:
        weights = {name: tensor for name, tensor in weights.items() if not name.startswith("classifier.")}
    if head != "first":
        weights = {name: tensor for name, tensor in weights.items() if not name.startswith("pooler.")}
    if source != folder:
        for name, array, is_added in adapter_changes(folder, {name: array.shape for name, array in weights.items()}):
            weights[name] = weights[name] + array if is_added else array
    shapes = _shapes(config, head)
    has_classifier = head is None or any(name.startswith("classifier.") for name in weights)
    check_keys(folder, set(shapes) - set(weights) | (set() if has_classifier else {"classifier.weight"}))
    for name, shape in shapes.items():
        rows = name == "embeddings.token_type_embeddings.weight"  # marks have more than the encoder
        if weights[name].shape[rows:] != shape[rows:] or weights[name].ndim != len(shape):
            wrong = f"expected the shape {shape}, got {weights[name].shape}"
            refuse(f"{folder}: {name}", f"{wrong}; fetch or train it again")
    return weights, config


def _shapes(config: Mapping, head: str | None) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors that are needed, by name; the classifier's are those of its file."""
    size, wide = config["hidden_size"], config["intermediate_size"]
    result = {
        TABLE: (config["vocab_size"], size),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], size),
        "embeddings.token_type_embeddings.weight": (0, size),
    }
    norms, dense = ["embeddings.LayerNorm"], {"pooler.dense": (size, size)} if head == "first" else {}
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        names = ("self.query", "self.key", "self.value", "output.dense")
        dense |= {f"{layer}.attention.{name}": (size, size) for name in names}
        dense |= {f"{layer}.intermediate.dense": (wide, size), f"{layer}.output.dense": (size, wide)}
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for name, shape in dense.items():
        result |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for name in norms:
        result |= {f"{name}.weight": (size,), f"{name}.bias": (size,)}
    return result
