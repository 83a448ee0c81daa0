"""Exports checkpoints whose models run as ONNX in 8-bit integers: where asked, or once into a cache folder."""

import json
import shutil
import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np

from .. import __version__
from ..core.checkpoints import base_encoder, cache_folder, encoder_source, signature_digest
from ..core.onnx_backend import FAST_FILE, FastModel
from ..core.scorer import quiet, require_extra

OPSET = 17
FORMAT = 2  # to be raised when the file of a checkpoint changes; cached files of another one are not taken
WITH_MODEL = ("ava", "grounding", "kpqa")
NEEDED = ("onnx", "onnxruntime", "torch", "transformers")


def with_exported(metric: str, settings: Mapping) -> dict:
    """Return settings whose checkpoint has what `backend="onnx"` runs; it is made once for each checkpoint."""
    if settings.get("backend") != "onnx" or metric not in WITH_MODEL:
        return dict(settings)
    folder = _loading(metric).checkpoint_folder(settings.get("checkpoint"), settings.get("revision"))
    if not (folder / FAST_FILE).is_file():
        require_extra("export", *NEEDED)
        source = folder
        made_by = f"{__version__}-{FORMAT}"
        folder = cache_folder() / f"{metric}-{signature_digest(source, encoder_source(source))}-{made_by}"
        if not (folder / FAST_FILE).is_file():
            folder.parent.mkdir(parents=True, exist_ok=True)
            export_checkpoint(metric, str(source), folder)
    return {**settings, "checkpoint": str(folder), "revision": None}


def _loading(metric: str) -> ModuleType:
    """Return the module of a metric that has `checkpoint_folder` and `model_to_export`."""
    return import_module(f"{__name__.removesuffix('.scale.exporting')}.{metric}.loading")


def export_checkpoint(metric: str, checkpoint: str | None, output: Path) -> int:
    """Write a checkpoint's files and its model in 8-bit integers into a folder, atomically; returns its bytes."""
    require_extra("export", *NEEDED)
    loading = _loading(metric)
    with quiet():
        folder = loading.checkpoint_folder(checkpoint)
        model, names = loading.model_to_export(folder)
    with TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as temporary:
        result, replaced = Path(temporary, "new"), Path(temporary, "old")
        result.mkdir()
        for path in folder.iterdir():
            if path.is_file() and path.name != FAST_FILE:
                shutil.copyfile(path, result / path.name)
        source = encoder_source(folder)
        for name in ("tokenizer.json", "tokenizer_config.json"):  # the backend reads this folder only
            if not (result / "tokenizer.json").is_file() or not (result / name).is_file():
                shutil.copyfile(source / name, result / name)
        digest = signature_digest(result)
        export_model(model, names, result / FAST_FILE, digest)
        if embeddings := getattr(loading, "EMBEDDINGS_FILE", None):
            export_embeddings(base_encoder(), result / embeddings)
        FastModel(result, digest, metric)
        if output.exists():
            output.rename(replaced)
        try:
            result.rename(output)
        except BaseException:
            if replaced.exists():
                replaced.rename(output)
            raise
    return (output / FAST_FILE).stat().st_size


def export_model(model, names: Sequence[str], path: Path, digest: str) -> None:
    """Write a model as ONNX, the weights of its large matrix products in 8-bit integers.

    The model takes one text or pair of texts as (rows, tokens) integers, and its output has `logits`. `FastModel`
    wants the same digest.
    """
    import onnx
    import torch

    model = deepcopy(model).cpu().float()  # what follows changes it
    model.set_attn_implementation("eager")  # plain matrix products, which the runtime knows how to fuse

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *tensors):
            return self.model(**dict(zip(names, tensors, strict=True))).logits

    logits = Logits().eval()
    sample = {name: torch.ones((2, 16), dtype=torch.long) for name in names}
    if "attention_mask" in sample:
        sample["attention_mask"][1, 9:] = 0
    with TemporaryDirectory() as folder, warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")  # of the tracer about sizes, which are free; tests run other sizes
        free = {0: "rows", 1: "tokens"} if logits(*sample.values()).ndim == 3 else {0: "rows"}
        whole = str(Path(folder) / FAST_FILE)
        axes = {name: {0: "rows", 1: "tokens"} for name in sample} | {"logits": free}
        ends = {"input_names": list(sample), "output_names": ["logits"], "dynamic_axes": axes}
        torch.onnx.export(logits, tuple(sample.values()), whole, **ends, opset_version=OPSET, dynamo=False)
        exported = onnx.load(whole)
    words = np.random.default_rng(0).integers(0, model.config.vocab_size, (16, 32))
    of_words = {"input_ids": words, "attention_mask": np.ones_like(words)}
    _quantize(exported, _zero_levels(exported, {name: of_words.get(name, np.zeros_like(words)) for name in names}))
    positions = getattr(model.config, "max_position_embeddings", None)
    onnx.helper.set_model_props(exported, {"checkpoint": digest, "positions": str(positions or "")})
    onnx.save(exported, str(path))


def export_embeddings(encoder: Path, path: Path) -> None:
    """Write what `FastEmbedder` of kpqa needs of an encoder like BERT: its vectors below the first layer."""
    import torch
    from safetensors.numpy import save
    from transformers import AutoModel

    with quiet():
        below = AutoModel.from_pretrained(encoder, use_safetensors=True).embeddings
    with torch.inference_mode():
        words = below.word_embeddings.weight.float().numpy()
        places = (below.position_embeddings.weight + below.token_type_embeddings.weight[:1]).float().numpy()
        weight, bias = below.LayerNorm.weight.float().numpy(), below.LayerNorm.bias.float().numpy()
    levels, steps = by_rows(words)
    tensors = {"levels": levels, "steps": steps, "places": places, "weight": weight, "bias": bias}
    facts = {"digest": signature_digest(encoder), "epsilon": below.LayerNorm.eps}
    path.write_bytes(save(tensors, metadata={"encoder": json.dumps(facts)}))


def by_rows(values):
    """Return (rows, size) levels in 8-bit integers and the (rows, 1) steps that they count.

    >>> by_rows(np.array([[1.27, -0.5]]))
    (array([[127, -50]], dtype=int8), array([[0.01]], dtype=float32))
    """
    steps = (np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-12) / 127).astype(np.float32)
    return np.rint(values / steps).astype(np.int8), steps


def _zero_levels(whole, inputs: Mapping) -> dict[str, int]:
    """Return the level for 0 of everything that a weight matrix is multiplied with: the median over its rows.

    Words at random will do as inputs: the range is that of a few channels, much the same on texts.
    """
    import onnxruntime
    from onnx import ModelProto, TensorProto, helper

    probed = ModelProto()
    probed.CopyFrom(whole)
    weights = {tensor.name for tensor in whole.graph.initializer}
    products = (node for node in whole.graph.node if node.op_type == "MatMul" and node.input[1] in weights)
    sources = list(dict.fromkeys(node.input[0] for node in products))
    probed.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in sources)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    session = onnxruntime.InferenceSession(probed.SerializeToString(), options, providers=["CPUExecutionProvider"])
    levels = {}
    for name, values in zip(sources, session.run(sources, dict(inputs)), strict=True):
        low, high = np.minimum(values.min(axis=-1), -1e-6), np.maximum(values.max(axis=-1), 1e-6)
        levels[name] = int(np.clip(np.rint(np.median(-255 * low / (high - low))), 8, 247))
    return levels


def _quantize(whole, zero_levels: Mapping[str, int]) -> None:
    """Change the large matrix products and tables of an ONNX model, in place, into ones of 8-bit integers.

    Tables of vectors, as of word pieces, have one scale per row.

    A weight matrix has one scale per column. What it is multiplied with is rounded anew in every product, with one
    scale per row: a token's numbers do not depend on what stands beside it in a batch, as they would with the one
    scale per tensor of the runtime's own `quantize_dynamic`, and one large value spoils no other token. The level for
    0 (from 1 to 254, by default 128) is the same for all rows, so that the runtime takes off what it adds while it
    multiplies; one for each row would cost two more passes over every product. A row that goes further down or up than
    others gets larger steps.
    """
    from onnx import TensorProto, helper, numpy_helper

    graph = whole.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    nodes, rounded, used = [], {}, set()

    def constant(name: str, values: np.ndarray) -> str:
        graph.initializer.append(numpy_helper.from_array(values, name))
        return name

    def add(kind: str, inputs: list[str], output: str, **attributes) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    tiny = constant("int8/tiny", np.array(1e-12, dtype=np.float32))
    result = constant("int8/one", np.array(1, dtype=np.float32))
    flat = constant("int8/flat", np.array([-1], dtype=np.int64))
    for node in graph.node:
        if node.op_type == "Gather" and node.input[0] in weights and len(weights[node.input[0]].dims) == 2:
            table, places, output = *node.input, node.output[0]
            if table not in used:
                used.add(table)
                levels, row_scale = by_rows(numpy_helper.to_array(weights[table]))
                constant(f"int8/{table}", levels)
                constant(f"int8/{table}/scale", row_scale)
            levels = add("Gather", [f"int8/{table}", places], f"int8/{output}/levels", axis=0)
            scale = add("Gather", [f"int8/{table}/scale", places], f"int8/{output}/scale", axis=0)
            add("Mul", [add("Cast", [levels], f"int8/{output}/cast", to=TensorProto.FLOAT), scale], output)
            continue
        if node.op_type != "MatMul" or node.input[1] not in weights:
            nodes.append(node)
            continue
        source, weight, output = *node.input, node.output[0]
        if source not in rounded:
            name = f"int8/{source}"
            high = add("ReduceMax", [source], f"{name}/max", axes=[-1], keepdims=1)
            low = add("ReduceMin", [source], f"{name}/min", axes=[-1], keepdims=1)
            level = zero_levels.get(source, 128)
            zero = constant(f"{name}/zero", np.array(level, dtype=np.uint8))
            up = constant(f"{name}/steps_up", np.array(1 / (255 - level), dtype=np.float32))
            down = constant(f"{name}/steps_down", np.array(-1 / level, dtype=np.float32))
            up, down = add("Mul", [high, up], f"{name}/up"), add("Mul", [low, down], f"{name}/down")
            scale = add("Max", [up, down, tiny], f"{name}/scale")
            row_scale = add("Reshape", [scale, flat], f"{name}/row_scale")
            count = add("Shape", [row_scale], f"{name}/count")
            value = helper.make_tensor("value", TensorProto.UINT8, [1], [level])
            row_zero = add("ConstantOfShape", [count], f"{name}/row_zero", value=value)
            rows = add("Flatten", [source], f"{name}/flat", axis=2)
            levels = add("QuantizeLinear", [rows, row_scale, row_zero], f"{name}/levels", axis=0)
            levels = add("Reshape", [levels, add("Shape", [source], f"{name}/shape")], f"{name}/shaped")
            rounded[source] = levels, scale, zero
        levels, scale, zero = rounded[source]
        if weight not in used:
            used.add(weight)
            values = numpy_helper.to_array(weights[weight])
            column_scale = (np.maximum(np.abs(values).max(axis=0), 1e-12) / 127).astype(np.float32)
            constant(f"int8/{weight}", np.rint(values / column_scale).astype(np.int8))
            constant(f"int8/{weight}/scale", column_scale)
        inputs = [levels, f"int8/{weight}", result, f"int8/{weight}/scale", zero]
        product = add("MatMulIntegerToFloat", inputs, f"int8/{output}", domain="com.microsoft")
        add("Mul", [product, scale], output)
    del graph.node[:]
    graph.node.extend(nodes)
    kept = [tensor for tensor in graph.initializer if tensor.name not in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    whole.opset_import.append(helper.make_opsetid("com.microsoft", 1))
