"""Writes the ONNX graphs of a judge that reads prompts, without weights: see `genqa_metrics.core.prompt_engine`.

    python -m training.publish.prompt_graph CHECKPOINT --base MODEL.gguf

The graph is that of Qwen2 (transformers, modeling_qwen2.py) on one pack of prompts. Its last layer computes only the
tokens that end a judged text.
"""

import argparse
from pathlib import Path

import numpy as np
from genqa_metrics.core.checkpoints import read_json
from genqa_metrics.core.gguf_file import BLOCK_SIZES, MODULES, GgufFile
from genqa_metrics.core.judge_model import read_settings
from genqa_metrics.core.prompt_engine import GRAPHS, LAYERS

OPSET, FORMAT = 21, 10


class Graph:
    """Nodes of an ONNX graph; every method returns the name of its result."""

    def __init__(self, file: GgufFile, adapted: set[tuple[int, str]], rank: int):
        self.file, self.adapted, self.rank = file, adapted, rank
        self.nodes, self.tensors, self._constants = [], {}, {}

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes) -> str:
        """Add a node of one result."""
        from onnx import helper

        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return name

    def weight(self, name: str, shape: tuple[int, ...], kind: str = "FLOAT") -> str:
        """Declare a weight that is handed over when the graph is loaded."""
        from onnx import TensorProto

        tensor = TensorProto(name=name, dims=shape, data_type=getattr(TensorProto, kind))
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="none")
        self.tensors[name] = tensor
        return name

    def whole(self, *numbers: int) -> str:
        """Return a constant list of whole numbers."""
        return self._constant(np.array(numbers, dtype=np.int64))

    def number(self, number: float) -> str:
        """Return a constant number."""
        return self._constant(np.float32(number))

    def _constant(self, array) -> str:
        from onnx import numpy_helper

        array = np.asarray(array)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = f"c{len(self._constants)}"
            self.tensors[self._constants[key]] = numpy_helper.from_array(array, self._constants[key])
        return self._constants[key]

    def norm(self, vectors: str, name: str) -> str:
        """Return RMS-normed vectors."""
        size, epsilon = self.file.setting("embedding_length"), self.file.setting("attention.layer_norm_rms_epsilon")
        square = self.node("ReduceMean", self.node("Mul", vectors, vectors), self.whole(-1), keepdims=1)
        root = self.node("Sqrt", self.node("Add", square, self.number(epsilon)))
        return self.node("Mul", self.node("Div", vectors, root), self.weight(name, (size,)))

    def linear(self, vectors: str, layer: int, module: str) -> str:
        """Return a quantized linear layer with its adapter."""
        name = f"{layer}.{module}"
        kind, (rows, columns), _ = self.file.tensors[f"blk.{layer}.{module}.weight"]
        size = BLOCK_SIZES[kind]
        count = columns // size
        quantized = (
            self.weight(f"{name}.weight", (rows, count, size), "UINT8"),
            self.weight(f"{name}.scales", (rows * count,)),
            self.weight(f"{name}.zeros", (rows * count,), "UINT8"),
        )
        settings = {"K": columns, "N": rows, "bits": 8, "block_size": size, "accuracy_level": 4}
        result = self.node("MatMulNBits", vectors, *quantized, domain="com.microsoft", **settings)
        if f"blk.{layer}.{module}.bias" in self.file.tensors:
            result = self.node("Add", result, self.weight(f"{name}.bias", (rows,)))
        if (layer, module) in self.adapted:
            low = self.node("MatMul", vectors, self.weight(f"{name}.lora_a", (columns, self.rank)))
            high = self.node("MatMul", low, self.weight(f"{name}.lora_b", (self.rank, rows)))
            result = self.node("Add", result, high)
        return result

    def turned(self, vectors: str, cosines: str, sines: str, size: int) -> str:
        """Return vectors (tokens, heads, size) with rotary position embedding."""
        first = self.node("Slice", vectors, self.whole(0), self.whole(size // 2), self.whole(2))
        second = self.node("Slice", vectors, self.whole(size // 2), self.whole(size), self.whole(2))
        other = self.node("Concat", self.node("Neg", second), first, axis=2)
        return self.node("Add", self.node("Mul", vectors, cosines), self.node("Mul", other, sines))

    def layer(self, vectors: str, layer: int, is_last: bool) -> str:
        """Return the vectors behind a layer; behind the last one, those of the ends alone."""
        heads, groups = self.file.setting("attention.head_count"), self.file.setting("attention.head_count_kv")
        size, shared = self.file.setting("embedding_length") // heads, heads // groups
        normed, kept, mask = self.norm(vectors, f"{layer}.attn_norm"), vectors, "mask"
        cosines, sines = (self.node("Unsqueeze", name, self.whole(1)) for name in ("cosines", "sines"))
        keys = self.node("Reshape", self.linear(normed, layer, "attn_k"), self.whole(-1, groups, size))
        keys = self.node("Transpose", self.turned(keys, cosines, sines, size), perm=[1, 2, 0])
        read = self.node("Reshape", self.linear(normed, layer, "attn_v"), self.whole(-1, groups, size))
        read = self.node("Transpose", read, perm=[1, 0, 2])
        if is_last:
            normed, kept, mask, cosines, sines = (
                self.node("Gather", name, "ends", axis=0) for name in (normed, kept, mask, cosines, sines)
            )
        asked = self.node("Reshape", self.linear(normed, layer, "attn_q"), self.whole(-1, heads, size))
        asked = self.node("Transpose", self.turned(asked, cosines, sines, size), perm=[1, 0, 2])
        asked = self.node("Reshape", asked, self.whole(groups, -1, size))  # (groups, shared * tokens, size)
        scores = self.node("Mul", self.node("MatMul", asked, keys), self.number(size**-0.5))
        width = self.node("Slice", self.node("Shape", keys), self.whole(2), self.whole(3))
        shape = self.node("Concat", self.whole(groups, shared, -1), width, axis=0)
        scores = self.node("Add", self.node("Reshape", scores, shape), mask)
        weights = self.node("Softmax", scores, axis=-1)
        flat = self.node("Concat", self.whole(groups, -1), width, axis=0)
        mixed = self.node("MatMul", self.node("Reshape", weights, flat), read)
        mixed = self.node("Reshape", mixed, self.whole(heads, -1, size))
        mixed = self.node("Reshape", self.node("Transpose", mixed, perm=[1, 0, 2]), self.whole(-1, heads * size))
        vectors = self.node("Add", kept, self.linear(mixed, layer, "attn_output"))
        normed = self.norm(vectors, f"{layer}.ffn_norm")
        gate = self.linear(normed, layer, "ffn_gate")
        gate = self.node("Mul", gate, self.node("Sigmoid", gate))
        inner = self.node("Mul", gate, self.linear(normed, layer, "ffn_up"))
        return self.node("Add", vectors, self.linear(inner, layer, "ffn_down"))

    def model(self, first: int, last: int, layers: int):
        """Return the ONNX model of the layers from `first` to before `last`; of the last one, with the head."""
        from onnx import TensorProto, helper

        size = self.file.setting("embedding_length")
        width = size // self.file.setting("attention.head_count")
        vectors, output, shape, ends = "vectors", "next", ["tokens", size], []
        for layer in range(first, last):
            vectors = self.layer(vectors, layer, layer == layers - 1)
        if last == layers:
            self.node("MatMul", self.norm(vectors, "output_norm"), self.weight("head", (size, 1)))
            output, shape = "logits", ["rows", 1]
            ends = [helper.make_tensor_value_info("ends", TensorProto.INT64, ["rows"])]
        self.nodes[-1].output[0] = output
        shapes = {"vectors": size, "cosines": width, "sines": width, "mask": "tokens"}
        inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["tokens", w]) for n, w in shapes.items()]
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
        graph = helper.make_graph(self.nodes, "judge", [*inputs, *ends], outputs, list(self.tensors.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=FORMAT)


def write_graphs(checkpoint: Path, base: Path, together: int = LAYERS) -> Path:
    """Write the graphs of a checkpoint, of so many layers `together`, and return its folder."""
    import onnx
    from safetensors import safe_open

    file = GgufFile(base)
    settings = read_json(checkpoint / "adapter_config.json")
    with safe_open(checkpoint / "adapter_model.safetensors", framework="numpy") as tensors:
        stored = set(tensors.keys())
    layers = read_settings(checkpoint)["layers"] or file.setting("block_count")
    adapted = {
        (layer, module)
        for layer in range(layers)
        for module, name in MODULES.items()
        if f"base_model.model.model.layers.{layer}.{name}.lora_A.weight" in stored
    }
    for earlier in checkpoint.glob(GRAPHS):
        earlier.unlink()
    for first in range(0, layers, together):
        model = Graph(file, adapted, settings["r"]).model(first, min(first + together, layers), layers)
        onnx.save_model(model, checkpoint / GRAPHS.replace("*", f"{first:02d}"))
    return checkpoint


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes the ONNX graph of a judge that reads prompts.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--base", type=Path, required=True, help="GGUF file of the base model")
    arguments = parser.parse_args()
    print(write_graphs(arguments.checkpoint, arguments.base))
