"""Word-piece vectors of an encoder's embedding layer, in 8-bit integers, without torch."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from ..core.checkpoint_validation import CheckpointError, file_digest

EMBEDDINGS_FILE = "embeddings.int8.safetensors"


class FastEmbedder:
    """Replaces the encoder of BERTScore at layer 0: the normalised sum of word-piece and position embeddings.

    Args:
        folder: of a checkpoint that `genqa-metrics export --metric kpqa` made.

    Attributes:
        device: the CPU.
        config: has max_position_embeddings.
        signature: names the encoder and the file by digest.

    Raises:
        CheckpointError: if the file is missing or damaged.
    """

    def __init__(self, folder: Path):
        from safetensors import safe_open

        path = folder / EMBEDDINGS_FILE
        try:
            with safe_open(path, framework="np") as tensors:
                encoder = json.loads(tensors.metadata()["encoder"])
                names = ("levels", "steps", "places", "weight", "bias")
                self._levels, self._steps, self._places, self._weight, self._bias = map(tensors.get_tensor, names)
        except Exception as error:  # a missing or damaged file raises many types of errors
            raise CheckpointError(
                f"checkpoint: {folder} has no readable {EMBEDDINGS_FILE} ({str(error).splitlines()[0]:.80}); make it "
                "again with genqa-metrics export --metric kpqa, or take backend 'torch'"
            ) from error
        self._least = float(encoder["epsilon"])
        self.device = SimpleNamespace(type="cpu")
        self.config = SimpleNamespace(max_position_embeddings=len(self._places))
        self.signature = f"{encoder['digest']}-int8-{file_digest(path)[:8]}"

    def __call__(self, ids: np.ndarray) -> np.ndarray:
        """Return (rows, tokens, size) unit vectors of (rows, tokens) word pieces."""
        sums = self._levels[ids] * self._steps[ids] + self._places[: ids.shape[1]]
        sums -= sums.mean(-1, keepdims=True)
        sums /= np.sqrt((sums**2).mean(-1, keepdims=True) + self._least)
        vectors = sums * self._weight + self._bias
        return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
