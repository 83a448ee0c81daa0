"""Runs a judge that reads prompts with ONNX Runtime: an adapter and a head on the first layers of a GGUF file.

The weights stay quantized, as 8-bit blocks (see `gguf_file`); activations are quantized to 8 bits for each product, as
llama.cpp does. The graphs of the checkpoint, each of a few layers, are written by
`training.publish.prompt_graph`. They hold no weights: those of the base model, of the adapter and of the head are
handed over when they are loaded, a few layers at a time, for ONNX Runtime needs three times their memory meanwhile.
"""

import ctypes
import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from .checkpoints import WEIGHTS, check_onnx, file_digest, load_numbers, read_json
from .gguf_file import MODULES, GgufFile, token_ids
from .inference import cores

GRAPHS = "graph_*.onnx"  # files of a checkpoint, named after their first layer
LAYERS = 4  # of a graph
WORDS = (" yes", " no")  # of the verdict, where no head was trained
HIDDEN = -1e9  # added to the score of a token that may not be read
HEAD = "base_model.model.score.weight"


@dataclass(frozen=True)
class Pack:
    """Several prompts in one sequence: what they share stands once, and a mask hides the others' texts from each."""

    tokens: np.ndarray  # (length,) token ids
    positions: np.ndarray  # (length,) position of each token in its own prompt
    groups: np.ndarray  # (length,) number of the shared text that a token belongs to
    branches: np.ndarray  # (length,) number of the judged text that a token belongs to, 0 for a shared one
    ends: np.ndarray  # (rows,) index of the last token of each judged text
    rows: np.ndarray  # (rows,) numbers of the rows, in the order of `ends`


def packed(prompts: Sequence[tuple[Sequence[int], Sequence[Sequence[int]], Sequence[int]]], budget: int) -> list[Pack]:
    """Return packs of at most `budget` tokens, or of one text, from (shared text, judged texts, their rows)."""
    packs, current, size = [], [], 0
    for shared, texts, rows in prompts:
        position = 0
        while position < len(texts):
            if current and size + len(shared) + len(texts[position]) > budget:
                packs.append(_pack(current))
                current, size = [], 0
            taken, size = position, size + len(shared)
            while taken < len(texts) and (taken == position or size + len(texts[taken]) <= budget):
                size += len(texts[taken])
                taken += 1
            current.append((shared, texts[position:taken], rows[position:taken]))
            position = taken
    if current:
        packs.append(_pack(current))
    return packs


def _pack(prompts) -> Pack:
    columns, ends, numbers = [], [], []
    for group, (shared, texts, rows) in enumerate(prompts):
        columns += [(token, position, group, 0) for position, token in enumerate(shared)]
        for text, row in zip(texts, rows, strict=True):
            numbers.append(row)
            columns += [(token, position, group, len(numbers)) for position, token in enumerate(text, len(shared))]
            ends.append(len(columns) - 1)
    return Pack(*np.array(columns, dtype=np.int64).T.copy(), *np.array([ends, numbers], dtype=np.int64))


def tree_mask(groups, branches):
    """Return (packs, length, length) booleans, True where a token (second axis) reads another (third axis).

    `groups` and `branches` are arrays or torch tensors of (packs, length).
    """
    same_group = groups[:, :, None] == groups[:, None, :]
    visible = (branches[:, None, :] == 0) | (branches[:, :, None] == branches[:, None, :])
    both = same_group & visible
    return both.tril() if hasattr(both, "tril") else np.tril(both)


def initializers(file: GgufFile, adapter: dict[str, np.ndarray], scale: float, layer: int) -> Iterator[tuple]:
    """Yield (name, array) of the weights of a layer.

    Args:
        file: the base model.
        adapter: tensors of a LoRA adapter, by name.
        scale: by which the adapter's products are multiplied, alpha / rank.
        layer: number of the layer, from 0.
    """
    for norm in ("attn_norm", "ffn_norm"):
        yield f"{layer}.{norm}", file.array(f"blk.{layer}.{norm}.weight")
    for module, peft_name in MODULES.items():
        name = f"blk.{layer}.{module}"
        blocks = file.blocks(f"{name}.weight").rounded()
        yield f"{layer}.{module}.weight", blocks.quants
        yield f"{layer}.{module}.scales", blocks.scales.reshape(-1)
        yield f"{layer}.{module}.zeros", blocks.zeros.astype(np.uint8).reshape(-1)
        if f"{name}.bias" in file.tensors:
            yield f"{layer}.{module}.bias", file.array(f"{name}.bias")
        stored = f"base_model.model.model.layers.{layer}.{peft_name}.lora"
        if f"{stored}_A.weight" in adapter:
            yield f"{layer}.{module}.lora_a", adapter[f"{stored}_A.weight"].T
            yield f"{layer}.{module}.lora_b", scale * adapter[f"{stored}_B.weight"].T


def head_of(file: GgufFile) -> np.ndarray:
    """Return (1, hidden size) weights of a verdict: the language model's for " yes" minus those for " no"."""
    name = "output.weight" if "output.weight" in file.tensors else "token_embd.weight"
    yes, no = (tokens[0] for tokens in token_ids(file.tokenizer, WORDS))
    return file.array(name, [yes]) - file.array(name, [no])


def graphs_digest(folder: Path) -> str:
    """Return one SHA-256 over the graphs of a checkpoint."""
    result = hashlib.sha256()
    for path in sorted(folder.glob(GRAPHS)):
        result.update(f"{path.name} {file_digest(path)}\n".encode())
    return result.hexdigest()


class PromptEngine:
    """A judge of prompts in ONNX Runtime.

    Args:
        folder: the checkpoint: adapter_config.json, adapter_model.safetensors, and graphs.
        base: path of the base model's GGUF file.
        layers: number of layers that are run; None for all.
    """

    device = SimpleNamespace(type="cpu")

    def __init__(self, folder: Path, base: Path, layers: int | None = None):
        self.file, self._folder = GgufFile(base), folder
        self._layers = layers or self.file.setting("block_count")
        self._size = self.file.setting("embedding_length") // self.file.setting("attention.head_count")
        self._base = self.file.setting("rope.freq_base")
        self._by_process: dict[int, list] = {}
        self._lock = threading.Lock()
        _ = self.graphs

    @property
    def graphs(self) -> list[tuple[int, object]]:
        """(number of the layer behind it, session) of each graph, in order; a forked process makes its own."""
        with self._lock:
            if os.getpid() not in self._by_process:
                self._by_process = {os.getpid(): list(self._loaded())}
            return self._by_process[os.getpid()]

    def _loaded(self) -> Iterator[tuple[int, object]]:
        settings = read_json(self._folder / "adapter_config.json")
        adapter, scale = load_numbers(self._folder / WEIGHTS[0]), settings["lora_alpha"] / settings["r"]
        paths = sorted(self._folder.glob(GRAPHS))
        for path, after in zip(paths, [*paths[1:], None], strict=True):
            first, last = (int(each.stem[-2:]) if each else self._layers for each in (path, after))
            layers = (initializers(self.file, adapter, scale, layer) for layer in range(first, last))
            weights = dict(chain.from_iterable(layers))
            if after is None:
                head = adapter[HEAD] if HEAD in adapter else head_of(self.file)
                weights |= {"output_norm": self.file.array("output_norm.weight"), "head": head.T}
            yield last, _session(path, weights)
            del weights
            _give_back_memory()
            self.file.forget_pages()

    def pack_logits(self, packs: Sequence[Pack]) -> np.ndarray:
        """Return (rows,) logits of packs, in the order of `Pack.rows`."""
        return np.concatenate([self._logits(pack) for pack in packs])

    def inputs(self, pack: Pack) -> dict[str, np.ndarray]:
        """Return {name: (tokens, ...) array}, the inputs of the first graph for a pack.

        Later graphs take the same arrays, with the output of the graph before them in place of `vectors`.
        """
        tokens, inverse = np.unique(pack.tokens, return_inverse=True)
        vectors = self.file.array("token_embd.weight", tokens)[inverse]
        frequencies = self._base ** (-np.arange(0, self._size, 2) / self._size)
        angles = np.tile(pack.positions[:, None] * frequencies, 2).astype(np.float32)
        mask = np.where(tree_mask(pack.groups[None], pack.branches[None])[0], 0, HIDDEN).astype(np.float32)
        return {"vectors": vectors, "cosines": np.cos(angles), "sines": np.sin(angles), "mask": mask}

    def _logits(self, pack: Pack) -> np.ndarray:
        inputs = self.inputs(pack)
        *graphs, (_, last) = self.graphs
        for _, graph in graphs:
            (inputs["vectors"],) = graph.run(None, inputs)
        (logits,) = last.run(None, inputs | {"ends": pack.ends})
        return logits[:, 0]


@cache
def _share_memory() -> None:
    """Let the sessions of this process work in one arena."""
    import onnxruntime

    kind, memory = onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, onnxruntime.OrtMemType.DEFAULT
    info = onnxruntime.OrtMemoryInfo("Cpu", kind, 0, memory)
    strategy = onnxruntime.OrtArenaCfg({"arena_extend_strategy": 1})  # as much as is asked for, not a power of two
    with suppress(RuntimeError, onnxruntime.capi.onnxruntime_pybind11_state.Fail):
        onnxruntime.create_and_register_allocator(info, strategy)


def _give_back_memory() -> None:
    """Return freed memory to the system where the C library is glibc, which keeps half a gigabyte otherwise."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _session(path: Path, weights: dict[str, np.ndarray]):
    """Return the session of a graph with these weights."""
    import onnxruntime

    check_onnx(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = cores()
    options.log_severity_level = 3  # errors
    options.enable_mem_pattern = False  # memory would grow with every new length
    _share_memory()
    options.add_session_config_entry("session.use_env_allocators", "1")
    arrays = [onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array)) for array in weights.values()]
    options.add_external_initializers(list(weights), arrays)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
