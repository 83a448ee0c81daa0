"""Checkpoints that would run code or bring pickles: they never do."""

import json
import os
import shutil

import pytest
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.kpqa.loading import load_models, token_classifier

from tests.factories.cases import with_cases

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


@pytest.fixture(scope="module")
def adapter(tiny_encoder, tmp_path_factory):
    """Folder of an adapter of the tiny encoder."""
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(r=2, lora_alpha=4, target_modules=["query"], modules_to_save=["classifier"])
    folder = tmp_path_factory.mktemp("adapter")
    get_peft_model(token_classifier(tiny_encoder), config).save_pretrained(folder)
    return folder


def changed(folder, copy, **values):
    """Copy an adapter with other values in its config."""
    shutil.copytree(folder, copy)
    path = copy / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))
    return copy


def with_tensors(folder, copy, change):
    """Copy a checkpoint, and let a function change its tensors in place."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, copy)
    path = next(copy.glob("*model.safetensors"))
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path, metadata={"format": "pt"})
    return copy


def load(checkpoint, encoder, **arguments):
    return load_models(str(checkpoint), embedding_model=str(encoder), device="cpu", **arguments)


def test_the_base_that_an_adapter_names_is_not_fetched(adapter, tiny_encoder, tmp_path, monkeypatch):
    """Not from the Hub unasked, and asked for only with a revision."""
    import huggingface_hub

    asked = []
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *names, **_: asked.append(names) or tiny_encoder)
    foreign = changed(adapter, tmp_path / "foreign", base_model_name_or_path="stranger/model")
    with pytest.raises(ValueError, match=r"'stranger/model', which is not downloaded automatically.*base_model="):
        load(foreign, tiny_encoder)
    with pytest.raises(ValueError, match="a Hub id with its revision"):
        load(foreign, tiny_encoder, base_model="stranger/model")
    assert not asked
    assert load(foreign, tiny_encoder, base_model="stranger/model@1234567")
    assert asked == [("stranger/model",)]
    assert load(foreign, tiny_encoder, base_model=str(tiny_encoder))


def test_every_file_that_is_read_is_in_the_signature(adapter, tiny_encoder, tmp_path):
    """The adapter's settings, and weights, config and tokenizer of its base."""
    encoder = shutil.copytree(tiny_encoder, tmp_path / "base")
    mine = changed(adapter, tmp_path / "mine", base_model_name_or_path=str(encoder))
    found = [load(mine, tiny_encoder).signature]
    for path, old, new in (
        (mine / "adapter_config.json", '"lora_alpha": 4', '"lora_alpha": 5'),
        (encoder / "config.json", '"pad_token_id": 0', '"pad_token_id": 1'),
        (encoder / "tokenizer_config.json", '"model_max_length": 128', '"model_max_length": 64'),
        (encoder / "tokenizer.json", '"Ċ"', '"x"'),
    ):
        text = path.read_text()
        if old in text:
            path.write_text(text.replace(old, new))
        else:
            path.write_text(text + "\n")
        found.append(load(mine, tiny_encoder).signature)
    assert len(set(found)) == 5


def nan(tensors):
    next(iter(tensors.values())).view(-1)[0] = float("nan")


def half(tensors):
    for name in sorted(tensors)[: len(tensors) // 2]:
        del tensors[name]


def huge(tensors):
    for tensor in tensors.values():
        tensor *= 1e30


@pytest.fixture(scope="module")
def loaders(tiny_checkpoint, tiny_encoder, adapter, judges):
    """{what is loaded: (a good folder, function that loads one in its place)}."""
    return {
        "checkpoint": (tiny_checkpoint, lambda folder: load(folder, tiny_encoder)),
        "embedding_model": (tiny_encoder, lambda folder: load(tiny_checkpoint, folder)),
        "adapter": (adapter, lambda folder: load(folder, tiny_encoder)),
        "base": (tiny_encoder, lambda folder: load(adapter, tiny_encoder, base_model=str(folder))),
        "judge": (judges(), lambda folder: load_judge(str(folder), device="cpu")),
    }


@pytest.mark.parametrize("change", [nan, half, huge])
@pytest.mark.parametrize("where", ["checkpoint", "embedding_model", "adapter", "base", "judge"])
def test_broken_weights_are_refused(loaders, tmp_path, change, where):
    """NaN, missing tensors, and what overflows on a row; of everything that is loaded."""
    good, loaded = loaders[where]
    broken = with_tensors(good, tmp_path / "broken", change)
    with pytest.raises(ValueError, match=r" (NaN or|lacks|has, but|Missing key|returns (nan|-?inf|-?[\d.]+e\+))"):
        loaded(broken)


OF = {"adapter_config.json": ["adapter"], "config.json": ["checkpoint"]}


@with_cases
def test_settings_that_ask_for_more_are_refused(loaders, tmp_path, name, values, message):
    for where in OF.get(name, ["checkpoint", "embedding_model"]):
        good, loaded = loaders[where]
        path = shutil.copytree(good, tmp_path / where) / name
        path.write_text(json.dumps(json.loads(path.read_text()) | values))
        with pytest.raises(ValueError, match=message):
            loaded(path.parent)


@pytest.mark.parametrize("where", ["checkpoint", "embedding_model"])
@pytest.mark.parametrize("name", ["config.json", "kpqa_config.json", "tokenizer.json", "special_tokens_map.json"])
def test_a_pipe_in_a_checkpoint_is_refused(loaders, tmp_path, name, where):
    """Its reader would wait for ever."""
    good, loaded = loaders[where]
    path = shutil.copytree(good, tmp_path / "odd") / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(ValueError, match="odd"):
        loaded(path.parent)


def test_an_encoder_with_an_adapter_beside_it_is_refused(tiny_checkpoint, tiny_encoder, adapter, tmp_path):
    """Transformers would load what the adapter names in its place."""
    folder = shutil.copytree(tiny_encoder, tmp_path / "both")
    changed(adapter, tmp_path / "foreign", base_model_name_or_path="stranger/model")
    shutil.copy(tmp_path / "foreign/adapter_config.json", folder)
    with pytest.raises(ValueError, match="json beside it"):
        load(tiny_checkpoint, folder)
