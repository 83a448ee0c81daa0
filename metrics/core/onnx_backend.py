"""Run an encoder like BERT on a CPU with ONNX Runtime, without torch and transformers.

The graph of the encoder is written here, a few kB; its weights are numpy arrays, read by `encoder_weights`.
"""

import os
import struct
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from .checkpoints import CheckpointError, check_vocabulary, read_json
from .encoder_weights import TABLE, encoder_weights
from .inference import cores

INPUTS = ("input_ids", "token_type_ids", "attention_mask")
_FUSED = "com.microsoft"  # operators of ONNX Runtime that do several steps at once
_OPSETS = (("", 17), (_FUSED, 1))
_TYPES = {"float32": 1, "int64": 7, "float16": 10}  # of TensorProto
_INT32, _EXTERNAL = 6, 1


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
        """Take what `encoder_weights` returns; `layers` are those that are read, None for all."""
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
                options.intra_op_num_threads = 1  # whoever has several cores runs several batches
                options.log_severity_level = 3  # errors only
                constants = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in self._constants.values()]
                options.add_external_initializers(list(self._constants), constants)
                on_cpu = {"providers": ["CPUExecutionProvider"]}
                self._sessions = {process: onnxruntime.InferenceSession(self._model, options, **on_cpu)}
            return self._sessions[process]

    @property
    def workers(self) -> int:
        """How many batches to run at once: all cores in the main thread; whoever starts threads shares them."""
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
