"""Write the bundled encoder: `python -m training.publish.encoder`.

It is all-MiniLM-L6-v2 with ten bits a weight, 29 MB in place of 91, in `metrics/core/encoder`. Put the digest that is
printed into `metrics/core/encoders.py`.
"""

import json
import shutil
from pathlib import Path

import numpy as np
from genqa_metrics.core.checkpoints import WEIGHTS, base_encoder, file_digest
from genqa_metrics.core.encoders import BLOCK, BUNDLED, packed

FILES = ("config.json", "tokenizer.json", "tokenizer_config.json")
COPIES = "embeddings.position_ids"  # numbers that count up


def write_encoder(source: Path, folder: Path) -> str:
    """Write an encoder with its matrices in ten bits and the rest in half precision; returns the file's SHA-256."""
    from safetensors.numpy import load_file, save_file

    tensors: dict[str, np.ndarray] = {}
    for name, matrix in load_file(source / WEIGHTS[1]).items():
        if matrix.ndim == 2 and matrix.shape[1] % BLOCK == 0 and name != COPIES:
            tensors |= {name + end: tensor for end, tensor in packed(matrix.astype(np.float32)).items()}
        elif name != COPIES:
            tensors[name] = matrix.astype(np.float16)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / WEIGHTS[1], metadata={"format": "pt"})
    for name in FILES:
        shutil.copyfile(source / name, folder / name)
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    return file_digest(folder / WEIGHTS[1])


if __name__ == "__main__":
    print(write_encoder(base_encoder(), BUNDLED))
