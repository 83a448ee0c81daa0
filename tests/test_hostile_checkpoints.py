"""Checkpoints that would run code or bring pickles: they never do."""

import json
import shutil

import pytest
from genqa_metrics.kpqa.loading import load_models

CODE = """
from pathlib import Path

Path({marker!r}).write_text("ran")
from transformers import BertConfig, BertModel, BertTokenizerFast


class Own(BertTokenizerFast):
    pass


class OwnConfig(BertConfig):
    model_type = "own"


class OwnModel(BertModel):
    config_class = OwnConfig
"""


def with_code(folder, copy, marker):
    """Copy a checkpoint or encoder and let its tokenizer and its config ask for code that lies beside them."""
    shutil.copytree(folder, copy)
    (copy / "own.py").write_text(CODE.format(marker=str(marker)))
    maps = {
        "tokenizer_config.json": {"AutoTokenizer": [None, "own.Own"]},
        "config.json": {
            "AutoConfig": "own.OwnConfig",
            "AutoModel": "own.OwnModel",
            "AutoModelForTokenClassification": "own.OwnModel",
        },
    }
    for name, auto_map in maps.items():
        values = json.loads((copy / name).read_text())
        (copy / name).write_text(json.dumps({**values, "auto_map": auto_map, "model_type": "own"}))
    return copy


@pytest.mark.parametrize("where", ["checkpoint", "embedding_model"])
def test_no_code_of_a_checkpoint_is_run(tiny_checkpoint, tiny_encoder, tmp_path, monkeypatch, where):
    """Neither with a question to a person, who may pipe `yes`, nor without one."""
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    marker = tmp_path / "ran"
    places = {"checkpoint": tiny_checkpoint, "embedding_model": tiny_encoder}
    places[where] = with_code(places[where], tmp_path / "hostile", marker)
    with pytest.raises(ValueError, match="hostile"):
        load_models(**{name: str(place) for name, place in places.items()}, device="cpu")
    assert not marker.exists()


def test_a_pickle_is_no_encoder(tiny_checkpoint, tiny_encoder, tmp_path):
    """An encoder whose only weights are pytorch_model.bin is refused, and the pickle is not opened."""
    import torch

    folder = shutil.copytree(tiny_encoder, tmp_path / "pickled")
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(ValueError, match="safetensors"):
        load_models(str(tiny_checkpoint), embedding_model=str(folder), device="cpu")
