"""Loads the keyphrase predictor, its settings, and the encoder of BERTScore; no pickle, no remote code."""

import json
import os
import threading
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from ..core.checkpoints import (
    WEIGHTS,
    CheckpointError,
    ThreadTokenizer,
    base_encoder,
    check_row,
    check_vocabulary,
    encoder_source,
    find_checkpoint,
    hub_folder,
    is_checkpoint,
    load_tokenizer,
    one_error,
    read_settings,
    signature_digest,
    whole_model,
    with_adapter,
)
from ..core.encoders import (
    BUNDLED,
    OnnxEncoder,
    bundled,
    default_backend,
    encoder_config,
    is_on_bundled,
    onnx_encoder,
)
from ..core.inference import (
    checked_backend,
    checked_device,
    checked_dtype,
    engine_facts,
    run_on,
    tensors,
)
from ..core.scorer import is_whole, quiet, whole

SETTINGS_FILE = "kpqa_config.json"
SETTINGS_VERSION = 1
SHORTEST = 16  # word pieces; fewer leave no room for an answer


@dataclass(frozen=True)
class PredictorSettings:
    """Content of `kpqa_config.json`; the defaults apply to a checkpoint without the file."""

    version: int = SETTINGS_VERSION  # number of this format
    question: bool = True  # whether it is read before the answer; False for -KP
    head: str = "linear"  # "linear", or "tanh" for the paper's extra layer before the classifier
    max_length: int = 512  # word pieces of question and answer that are read at most
    keyphrase_label: int = 1  # number of the class that means "keyphrase", 0 or 1

    def facts(self) -> dict[str, str]:
        """Return the settings that differ from the defaults, for the metric's signature.

        >>> PredictorSettings().facts(), PredictorSettings(question=False).facts()
        ({}, {'question': 'False'})
        """
        used = ("question", "max_length", "keyphrase_label")
        default = PredictorSettings()
        return {name: str(getattr(self, name)) for name in used if getattr(self, name) != getattr(default, name)}


def write_settings(folder: Path, settings: PredictorSettings) -> None:
    """Write the settings beside the weights of a checkpoint."""
    (folder / SETTINGS_FILE).write_text(json.dumps(asdict(settings), indent=2) + "\n", encoding="utf-8")


_LOADING = threading.Lock()  # one thread loads, the others use its result
HUB_CHECKPOINTS = {"small": "genqa-metrics/kpqa-minilm"}  # where the package is not installed
KNOWN_ROW = ("Who wrote Hamlet?", "It was written by William Shakespeare in 1600.")
NEW_HEAD = r"^(classifier|score|pooler)\."  # tensors that an encoder may lack: trained later, or unused
HEAD_SIZE = 768  # Lee et al., section 5.1: a fully connected layer with tanh before the classifier


# The folder of a checkpoint, the metric's own by default.
checkpoint_folder = partial(find_checkpoint, code=Path(__file__).parent, hub_names=HUB_CHECKPOINTS)


def token_classifier(source: str | os.PathLike, head: str = "linear"):
    """Return a token classifier of two classes over an encoder, or of a saved one with a linear head."""
    import torch
    from transformers import AutoModelForTokenClassification

    with quiet():
        model = whole_model(AutoModelForTokenClassification, source, NEW_HEAD, num_labels=2)
    if head == "tanh":
        size = model.config.hidden_size
        model.classifier = torch.nn.Sequential(
            torch.nn.Linear(size, HEAD_SIZE), torch.nn.Tanh(), torch.nn.Linear(HEAD_SIZE, 2)
        )
        model.classifier.to(model.dtype)
    return model


def saved_head(folder: Path) -> str:
    """Return the head that the weights of a checkpoint have, "linear" or "tanh"."""
    from safetensors import safe_open

    weights = next(folder / name for name in WEIGHTS if (folder / name).is_file())
    with safe_open(weights, framework="np") as tensors:  # names only
        return "tanh" if any("classifier.2." in name for name in tensors.keys()) else "linear"


def checked_settings(folder: Path) -> PredictorSettings:
    """Return the checked settings of a checkpoint, the defaults without a file; the head is that of its weights."""
    with one_error(folder):
        head = saved_head(folder)
    if not (folder / SETTINGS_FILE).exists():
        return PredictorSettings(head=head)
    checks = {
        "version": (lambda setting: is_whole(setting, SETTINGS_VERSION, SETTINGS_VERSION), str(SETTINGS_VERSION)),
        "question": (lambda setting: isinstance(setting, bool), "true or false"),
        "head": (lambda setting: setting == head, f"{head!r}, the head of the weights"),
        "max_length": whole(SHORTEST, 512),
        "keyphrase_label": (lambda setting: is_whole(setting, 0, 1), "0 or 1"),
    }
    return PredictorSettings(**read_settings(folder / SETTINGS_FILE, asdict(PredictorSettings(head=head)), checks))


def load_token_classifier(folder: Path, base_model: str | os.PathLike | None = None):
    """Return a saved token classifier, its adapter merged, in evaluation mode on the CPU, and its fast tokenizer."""
    from safetensors.torch import load_file

    head = saved_head(folder)
    source = encoder_source(folder, base_model)
    if (folder / WEIGHTS[0]).is_file():
        model = with_adapter(token_classifier(source, head), folder)
    else:
        model = token_classifier(folder, head)
        model.load_state_dict(load_file(folder / WEIGHTS[1]))
    tokenizer = load_tokenizer(folder, source)
    check_vocabulary(folder, tokenizer.get_vocab(), model.get_input_embeddings().num_embeddings)
    return model.eval(), tokenizer


def _output(model, tokenizer, *texts: str) -> np.ndarray:
    """Return the output of a model for a row of texts."""
    row = {name: np.array(numbers) for name, numbers in tokenizer(*([text] for text in texts)).items()}
    if isinstance(model, OnnxEncoder):
        return model(**row) if model.head else model.states(**row)
    import torch

    with torch.inference_mode():
        output = model(**tensors(row))
    return (output.logits if hasattr(output, "logits") else output.last_hidden_state).numpy()


@dataclass(frozen=True)
class Models:
    """Keyphrase predictor and the encoder that BERTScore compares with; `facts` names both by digest."""

    predictor: object
    tokenizer: object
    embedder: object
    embedding_tokenizer: object
    layer: int
    facts: dict[str, str]
    settings: PredictorSettings

    @property
    def signature(self) -> str:
        """The facts on one line."""
        return "|".join(f"{name}:{fact}" for name, fact in self.facts.items())


def load_models(
    checkpoint=None,
    revision=None,
    device=None,
    dtype=None,
    embedding_model=None,
    embedding_layer=None,
    backend=None,
    base_model=None,
) -> Models:
    """Return the models, loaded once a process."""
    folder = checkpoint_folder(checkpoint, revision)
    on_bundled = base_model is None and is_on_bundled(folder)
    default = default_backend(folder, on_bundled and embedding_model is None)
    backend = checked_backend(backend, device, dtype, default)
    layer = 0 if embedding_layer is None else embedding_layer
    dtype, settings = checked_dtype(dtype), checked_settings(folder)
    source = BUNDLED if on_bundled and backend == "onnx" else encoder_source(folder, base_model)
    device = "cpu" if backend == "onnx" else checked_device(device)
    embedding_folder = _encoder_folder(embedding_model, backend)
    digest = signature_digest(folder, source)
    with _LOADING:
        return _loaded(folder, source, embedding_folder, digest, device, dtype, layer, backend, settings)


def _encoder_folder(embedding_model: str | os.PathLike | None, backend: str) -> Path:
    """Return the folder of the encoder that BERTScore compares with, None for the base encoder."""
    if embedding_model is None:
        return BUNDLED if backend == "onnx" and bundled() else base_encoder()
    folder, tried = Path(embedding_model), []
    if not folder.is_dir():
        folder = hub_folder(str(embedding_model), None, is_checkpoint, tried)
    if folder is None:
        raise ValueError(f"embedding_model: expected a folder or a Hub id. Tried: {'; '.join(tried)}; go online once")
    if not (folder / WEIGHTS[1]).is_file():
        raise ValueError(f"embedding_model: expected config.json and model.safetensors in {folder}")
    return folder


@lru_cache(maxsize=2)
def _loaded(
    folder: Path,
    source: Path,
    embedding_folder: Path,
    digest: str,
    device: str,
    dtype: str,
    layer: int,
    backend: str,
    settings: PredictorSettings,
) -> Models:
    with one_error(f"{folder} (or the encoder in {embedding_folder})"):
        if backend == "onnx":
            _check_layer(layer, encoder_config(embedding_folder)["num_hidden_layers"])
            predictor, tokenizer = onnx_encoder(folder, source, "tokens")
            embedder, embedding_tokenizer = onnx_encoder(embedding_folder, embedding_folder, None, layer)
        else:
            predictor, tokenizer = load_token_classifier(folder, source)
            embedder, embedding_tokenizer = _load_encoder(embedding_folder, layer)
        check_row("keyphrase predictor", folder, lambda: _output(predictor, tokenizer, *KNOWN_ROW))
        check_row("encoder", embedding_folder, lambda: _output(embedder, embedding_tokenizer, KNOWN_ROW[0]))
    if backend == "torch":
        run_on(device, dtype, predictor, embedder)
    facts = {"checkpoint": digest, "embedding": signature_digest(embedding_folder), "layer": str(layer)}
    facts |= engine_facts(backend, dtype) | settings.facts()
    tokenizers = ThreadTokenizer(tokenizer), ThreadTokenizer(embedding_tokenizer)
    return Models(predictor, tokenizers[0], embedder, tokenizers[1], layer, facts, settings)


def _check_layer(layer: object, layers: int) -> None:
    if not is_whole(layer, 0, layers):
        raise CheckpointError(f"embedding_layer: expected a whole number from 0 to {layers}, got {layer!r}")


def _load_encoder(folder: Path, layer: int) -> tuple:
    """Return the encoder that BERTScore compares with, without layers above the compared one, and its tokenizer."""
    from transformers import AutoModel

    with quiet():
        embedder = whole_model(AutoModel, folder, NEW_HEAD).eval()
        tokenizer = load_tokenizer(folder, folder)
    check_vocabulary(folder, tokenizer.get_vocab(), embedder.get_input_embeddings().num_embeddings)
    _check_layer(layer, embedder.config.num_hidden_layers)
    if (blocks := getattr(getattr(embedder, "encoder", None), "layer", None)) is not None:
        del blocks[max(1, layer) :]
    return embedder, tokenizer
