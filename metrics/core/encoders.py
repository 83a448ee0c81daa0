"""Encoders like BERT on a CPU with ONNX Runtime, without torch and transformers: reads their weights, and runs them.

The bundled encoder is all-MiniLM-L6-v2, on which the checkpoints of the package stand. Its matrices have ten bits a
weight, with one scale for every `BLOCK` weights of a row; `training.publish.encoder` makes them. The graph of an
encoder is written here, a few kB; its weights are numpy arrays.
"""

import os
import struct
import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from .checkpoints import (
    BASE_MODEL,
    MAX_LAYERS,
    PREFIX,
    WEIGHTS,
    CheckpointError,
    adapter_changes,
    check_files,
    check_keys,
    check_vocabulary,
    file_digest,
    load_numbers,
    read_json,
    refuse,
)
from .inference import cores
from .scorer import is_whole

BLOCK = 64  # weights of a row that share a scale
TABLE = "embeddings.word_embeddings.weight"  # the vectors of word pieces
LOW, SCALE = ".low", ".scale"  # tensors beside one with the high eight bits of ten
BUNDLED = Path(__file__).with_name("encoder")
BUNDLED_SHA256 = "c7638b16f01c0b63c89e475d4a3baf6d539bfbd51c39a35d827be47976f24065"
_SIZES = (
    "num_hidden_layers num_attention_heads hidden_size intermediate_size vocab_size max_position_embeddings".split()
)
INPUTS = ("input_ids", "token_type_ids", "attention_mask")
_FUSED = "com.microsoft"  # operators of ONNX Runtime that do several steps at once
_OPSETS = (("", 17), (_FUSED, 1))
_TYPES = {"float32": 1, "int64": 7, "float16": 10}  # of TensorProto
_INT32, _EXTERNAL = 6, 1


# --- weights ----------------------------------------------------------------------------------------------------


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
    """Return the (rows, columns) matrix of the tensors that `packed` returns."""
    levels = high.astype(np.float32)
    levels *= 4
    for number, quarter in enumerate(np.split(levels, 4, axis=1)):
        quarter += low >> 2 * number & 3
    blocks = levels.reshape(len(levels), -1, BLOCK)
    blocks *= scales[..., None]
    return levels


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


def default_backend(folder: Path, on_bundled: bool) -> str:
    """Return the backend of a checkpoint on a CPU: "onnx" on the bundled encoder, without torch on a BERT too."""
    if on_bundled or find_spec("torch") is not None:
        return "onnx" if on_bundled else "torch"
    path = folder / "config.json"
    is_bert = not (folder / WEIGHTS[0]).is_file() and path.is_file() and read_json(path).get("model_type") == "bert"
    return "onnx" if is_bert or is_on_bundled(folder) else "torch"


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
    """Return the shapes of the tensors that an encoder needs, by name, without its classifier."""
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


# --- graph ------------------------------------------------------------------------------------------------------


def _number(number: int) -> bytes:
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes([*result, number])


def _message(*fields: tuple[int, int | float | str | bytes]) -> bytes:
    """Return a message of protocol buffers from its fields, (number, value).

    >>> _message((1, 8), (2, "x")).hex()
    '0808120178'
    """
    result = b""
    for number, content in fields:
        if isinstance(content, int):
            result += _number(number << 3) + _number(content)
        elif isinstance(content, float):
            result += _number(number << 3 | 5) + struct.pack("<f", content)
        else:
            encoded = content.encode() if isinstance(content, str) else content
            result += _number(number << 3 | 2) + _number(len(encoded)) + encoded
    return result


def _attribute(name: str, setting: int | float) -> bytes:
    return _message((1, name), *([(2, setting), (20, 1)] if isinstance(setting, float) else [(3, setting), (20, 2)]))


def _tensor(name: str, array: np.ndarray) -> bytes:
    """Return a TensorProto whose values come from memory, see `OnnxEncoder`."""
    dimensions = [(1, size) for size in array.shape]
    where = _message((1, "location"), (2, "memory"))
    return _message(*dimensions, (2, _TYPES[str(array.dtype)]), (8, name), (13, where), (14, _EXTERNAL))


def _value(name: str, kind: str, *dimensions: str) -> bytes:
    shape = _message(*[(1, _message((2, name))) for name in dimensions])
    return _message((1, name), (2, _message((1, _message((1, _TYPES[kind]), (2, shape))))))


class Graph:
    """An ONNX graph of an encoder like BERT: `add` operators; `bytes(graph)` is the model, `constants` its arrays."""

    def __init__(self):
        self.constants: dict[str, np.ndarray] = {}
        self._nodes: list[bytes] = []

    def constant(self, name: str, array: np.ndarray) -> str:
        """Return the name of an array that operators read."""
        self.constants[name] = np.ascontiguousarray(array)
        return name

    def add(self, kind: str, inputs: Sequence[str], fused: bool = False, **attributes: int | float) -> str:
        """Return the name of the output of a new operator."""
        output = f"{kind}{len(self._nodes)}"
        fields = [*((1, name) for name in inputs), (2, output), (4, kind)]
        fields += [(5, _attribute(*item)) for item in attributes.items()]
        self._nodes.append(_message(*fields, *([(7, _FUSED)] if fused else [])))
        return output

    def model(self, output: str) -> bytes:
        """Return the model whose output, "states", is that of an operator."""
        self._nodes.append(_message((1, output), (2, "states"), (4, "Identity")))
        fields = [(1, node) for node in self._nodes]
        fields += [(2, "encoder"), *((5, _tensor(*item)) for item in self.constants.items())]
        fields += [(11, _value(name, "int64", "rows", "tokens")) for name in INPUTS]
        graph = _message(*fields, (12, _value("states", "float32", "rows", "read", "size")))
        return _message((1, 8), (7, graph), *((8, _message((1, name), (2, version))) for name, version in _OPSETS))


def encoder_graph(weights: dict[str, np.ndarray], heads: int, epsilon: float, layers: int, first: bool) -> tuple:
    """Return the ONNX model of an encoder like BERT and its arrays by name.

    Args:
        weights: arrays by the names that transformers gives them, without "bert."; matrices are taken out, so that no
            second copy of them is in memory.
        heads: number of attention heads.
        epsilon: what is added to variances.
        layers: number of layers that are read; 0 for the embeddings.
        first: whether only the states of the first token are needed.
    """
    graph = Graph()

    def weight(name: str) -> str:
        return graph.constant(name, weights[name])

    def product(source: str, name: str) -> str:
        return graph.add("MatMul", [source, graph.constant(f"{name}.weight", weights.pop(f"{name}.weight").T)])

    def summed(new: str, old: str, dense: str, norm: str) -> str:
        scale = [weight(f"{norm}.weight"), weight(f"{norm}.bias"), weight(f"{dense}.bias")]
        return graph.add("SkipLayerNormalization", [new, old, *scale], fused=True, epsilon=epsilon)

    start = graph.constant("start", np.zeros(1, dtype=np.int64))
    length = graph.add("Shape", ["input_ids"], start=1, end=2)
    below = [
        graph.add("Cast", [graph.add("Gather", [weight(TABLE), "input_ids"])], to=_TYPES["float32"]),
        graph.add("Gather", [weight("embeddings.token_type_embeddings.weight"), "token_type_ids"]),
        graph.add("Slice", [weight("embeddings.position_embeddings.weight"), start, length, start]),
    ]
    states = graph.add("Add", [graph.add("Add", below[:2]), below[2]])
    norm = [weight("embeddings.LayerNorm.weight"), weight("embeddings.LayerNorm.bias")]
    states = graph.add("LayerNormalization", [states, *norm], axis=2**64 - 1, epsilon=epsilon)
    mask = graph.add("Cast", ["attention_mask"], to=_INT32) if layers else ""
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        names = [f"{layer}.attention.self.{name}" for name in ("query", "key", "value")]
        joined = np.concatenate([weights.pop(f"{name}.weight") for name in names]).T
        biases = np.concatenate([weights[f"{name}.bias"] for name in names])
        both = graph.constant(f"{layer}.weight", joined), graph.constant(f"{layer}.bias", biases)
        read = graph.add("Attention", [states, *both, mask], fused=True, num_heads=heads)
        if first and number == layers - 1:
            read, states = (graph.add("Gather", [name, start], axis=1) for name in (read, states))
        attention = f"{layer}.attention.output"
        read = product(read, f"{attention}.dense")
        states = summed(read, states, f"{attention}.dense", f"{attention}.LayerNorm")
        wide = product(states, f"{layer}.intermediate.dense")
        wide = graph.add("BiasGelu", [wide, weight(f"{layer}.intermediate.dense.bias")], fused=True)
        wide = product(wide, f"{layer}.output.dense")
        states = summed(wide, states, f"{layer}.output.dense", f"{layer}.output.LayerNorm")
    return graph.model(states), graph.constants


class OnnxEncoder:
    """An encoder like BERT, with its head if it has one; replaces a model of torch on the CPU, and uses one core."""

    def __init__(self, weights: dict[str, np.ndarray], config: Mapping, head: str | None, layers: int | None = None):
        """Take weights and config from `encoder_weights`; `layers` is the number of layers that run, None for all."""
        self.head = head  # "first", "tokens" or None, see `encoder_weights`
        self._head_arrays = {
            name: array for name, array in weights.items() if name.startswith(("pooler.", "classifier."))
        }
        layers = config["num_hidden_layers"] if layers is None else layers
        options = config["num_attention_heads"], float(config["layer_norm_eps"]), layers, head == "first"
        self._model, self._constants = encoder_graph(weights, *options)
        self._sessions: dict[int, object] = {}
        self._lock = threading.Lock()
        self.device = SimpleNamespace(type="cpu")
        self.config = SimpleNamespace(max_position_embeddings=len(weights["embeddings.position_embeddings.weight"]))

    def _session(self):
        import onnxruntime

        process = os.getpid()  # a forked child makes its own session
        with self._lock:
            if process not in self._sessions:
                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = 1  # several cores run several batches, see `workers`
                options.log_severity_level = 3  # errors only
                constants = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in self._constants.values()]
                options.add_external_initializers(list(self._constants), constants)
                on_cpu = {"providers": ["CPUExecutionProvider"]}
                self._sessions = {process: onnxruntime.InferenceSession(self._model, options, **on_cpu)}
            return self._sessions[process]

    @property
    def workers(self) -> int:
        """How many batches to run at once: one per core in the main thread, one in any other thread."""
        return cores() if threading.current_thread() is threading.main_thread() else 1

    def states(self, **inputs: np.ndarray) -> np.ndarray:
        """Return (rows, tokens, size) states of the last layer of padded inputs; (rows, 1, size) of a head "first"."""
        ids = inputs["input_ids"]
        types = inputs.get("token_type_ids")
        types = np.zeros_like(ids) if types is None else types
        columns = dict(zip(INPUTS, (ids, types, inputs["attention_mask"]), strict=True))
        return self._session().run(["states"], columns)[0]

    def __call__(self, **inputs: np.ndarray) -> np.ndarray:
        """Return the logits of padded inputs, see `inference.padded`: of rows, or of every token."""
        states = self.states(**inputs)
        if self.head == "first":
            states = np.tanh(self._dense(states[:, 0], "pooler.dense"))
        if "classifier.0.weight" in self._head_arrays:
            return self._dense(np.tanh(self._dense(states, "classifier.0")), "classifier.2")
        return self._dense(states, "classifier")

    def _dense(self, states: np.ndarray, name: str) -> np.ndarray:
        return states @ self._head_arrays[f"{name}.weight"].T + self._head_arrays[f"{name}.bias"]


class Batch(dict):
    """Tokenized texts: name -> list per text; `encodings` has words, offsets and segments."""

    def __init__(self, encodings: Sequence, columns: dict[str, str]):
        super().__init__({name: [getattr(encoding, kind) for encoding in encodings] for name, kind in columns.items()})
        self.encodings = encodings

    def sequence_ids(self, number: int) -> list[int | None]:
        """Return the segment, 0 or 1, of every word piece of a text; None for special ones."""
        return self.encodings[number].sequence_ids


class OnnxTokenizer:
    """Replaces a fast tokenizer of transformers; it supports the calls that the metrics make."""

    def __init__(self, folder: Path):
        from tokenizers import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the library raises bare Exception
            raise CheckpointError(
                f"checkpoint: {folder} has no readable tokenizer.json ({str(error).splitlines()[0]:.80}); "
                "fetch it again"
            ) from error
        self._tokenizer.no_padding()
        self.vocabulary = self._tokenizer.get_vocab()
        path = folder / "tokenizer_config.json"
        longest = read_json(path).get("model_max_length", 512) if path.is_file() else 512
        self.model_max_length = int(min(longest, 512))
        self.unk_token_id = self.vocabulary.get(getattr(self._tokenizer.model, "unk_token", None))

    def __call__(
        self,
        texts: Sequence[str] | str,
        others: Sequence[str] | None = None,
        add_special_tokens: bool = True,
        truncation: str | bool = False,
        max_length: int | None = None,
        return_offsets_mapping: bool = False,
        return_special_tokens_mask: bool = False,
        **unused: object,
    ) -> Batch:
        """Return the word pieces of texts, or of pairs of texts, as transformers does."""
        if truncation:
            strategy = "longest_first" if truncation is True else truncation
            self._tokenizer.enable_truncation(max_length, strategy=strategy)
        else:
            self._tokenizer.no_truncation()
        single = isinstance(texts, str)
        rows = [texts] if single else list(texts) if others is None else list(zip(texts, others, strict=True))
        columns = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
        columns |= {"offset_mapping": "offsets"} if return_offsets_mapping else {}
        columns |= {"special_tokens_mask": "special_tokens_mask"} if return_special_tokens_mask else {}
        batch = Batch(self._tokenizer.encode_batch(rows, add_special_tokens=add_special_tokens), columns)
        if single:
            batch.update({name: column[0] for name, column in batch.items()})
        return batch


def onnx_encoder(folder: Path, source: Path, head: str | None, layers: int | None = None) -> tuple:
    """Return the encoder of a checkpoint, see `encoder_weights`, and its tokenizer."""
    weights, config = encoder_weights(folder, source, head)
    tokenizer = OnnxTokenizer(folder if (folder / "tokenizer.json").is_file() else source)
    check_vocabulary(folder, tokenizer.vocabulary, config["vocab_size"])
    return OnnxEncoder(weights, config, head, layers), tokenizer
