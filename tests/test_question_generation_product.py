"""A trained generator in use: loading, asking, the small checkpoint and its card; and the model as printed."""

import dataclasses
import io
import json
import re
import shutil
import sys

import pytest
import torch
from genqa_metrics.core.checkpoints import file_digest

from tests.factories.question_generation import generator, run
from training.question_generation import ask, export, prepare_pairs


@pytest.fixture(scope="module")
def trained(made_up, tiny_encoder, tmp_path_factory):
    """Folders of a generator without and with a latent variable."""
    output = tmp_path_factory.mktemp("trained")
    for latent in (0, 3):
        run(made_up, output / str(latent), tiny_encoder, "--latent", str(latent), "--num_train_epochs", "1")
    return {latent: output / str(latent) / "final" for latent in (0, 3)}


TEXTS = ["There are seven steps in the house.", "There are two steps in the yard."]


@pytest.mark.parametrize("latent", [0, 3])
def test_asking(trained, latent):
    loaded = ask.load(trained[latent])
    assert bool(loaded.model.config.latent) == bool(latent)
    asked = loaded.ask(TEXTS, count=3, seed=1)
    assert asked == ask.load(trained[latent]).ask(TEXTS, count=3, seed=1)
    assert all(1 <= len(texts) <= 3 and len(set(texts)) == len(texts) for texts in asked)
    repeated = loaded.ask(TEXTS, count=4, distinct=False)
    assert [len(texts) for texts in repeated] == [4, 4]
    if not latent:
        assert all(len(set(texts)) == 1 for texts in repeated)
        assert len(asked[0]) > 1  # the next beams
    for texts, count, message in (
        (["  "], 1, "texts, row 0: expected a text with words"),
        ("one text", 1, "expected a list of texts, got one"),
        (TEXTS, 0, "count: expected at least 1, got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            loaded.ask(texts, count)


def test_the_command_writes_rows(trained, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["ask", "--model", str(trained[3]), "--count", "2", "--seed", "5"])
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(TEXTS) + "\n\n"))
    ask.main()
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["context"] for row in rows] == TEXTS
    assert [row["predictions"] for row in rows] == ask.load(trained[3]).ask(TEXTS, count=2, seed=5)


def test_the_small_checkpoint_asks_the_same(trained, tmp_path, monkeypatch):
    args = export.Arguments(str(trained[3]), str(tmp_path / "small"))
    pairs = {"data_digests": {"made.jsonl.gz": "ab12"}, "pairs": {"by source": {"made": 7}}}
    pairs |= {"arguments": {"test": ["squad_du2017.test"]}, "licences": {"made": "MIT"}}
    (tmp_path / "pairs.json").write_text(json.dumps(pairs))
    folder = export.export(dataclasses.replace(args, pairs=str(tmp_path / "pairs.json")))
    whole, small = (path.stat().st_size for path in (trained[3] / "model.safetensors", folder / "model.safetensors"))
    assert small < whole / 1.9
    assert ask.load(folder).ask(TEXTS, seed=2) == ask.load(trained[3]).ask(TEXTS, seed=2)
    card = (folder / "README.md").read_text()
    facts = json.loads((trained[3] / "train.json").read_text())
    stated = "latent variable of 3 dimensions", "| made | 7 | MIT | `ab12` |", "license: cc-by-sa-4.0"
    assert all(part in card for part in (*stated, f"{facts['pairs']} pairs of sentence"))
    assert str(tmp_path) not in card
    pairs["licences"]["made"] = prepare_pairs.NOT_STATED
    (tmp_path / "pairs.json").write_text(json.dumps(pairs))
    export.export(dataclasses.replace(args, pairs=str(tmp_path / "pairs.json")))
    card = (folder / "README.md").read_text()
    assert "license:" not in card
    assert "**No licence, or a non-commercial one, is stated of: made.**" in card
    monkeypatch.setattr(export, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match=r"model: 0.0 MB, more than .*; train with a smaller --hidden"):
        export.export(dataclasses.replace(args, output_dir=str(tmp_path / "large")))
    assert not (tmp_path / "large").exists()


def test_an_encoder_with_other_weights_is_refused(trained, tmp_path):
    shutil.copytree(trained[0], tmp_path / "model")
    path = tmp_path / "model/config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"encoder_sha256": "0" * 64}))
    with pytest.raises(ValueError, match=r"encoder: the generator was trained with weights 000000000000 of"):
        ask.load(tmp_path / "model")


def test_the_output_layer_as_printed():
    model = generator(output="free")
    context = torch.randn(2, 8)
    expected = context @ model.says.weight.T + model.bias  # equation 8, W_o c + b_o
    torch.testing.assert_close(model.speak(context), expected)
    assert not hasattr(model, "projects")


@pytest.mark.parametrize("name", ask.BUNDLED)
def test_the_bundled_generators(name):
    folder = ask.CHECKPOINTS / name
    loaded = ask.load(name)
    is_diverse = bool(loaded.model.config.latent)
    assert is_diverse == (name == "diverse")
    asked = loaded.ask(["The museum in Rome was opened in 1997."], count=4, distinct=False, top=is_diverse + 1)[0]
    assert len(asked) == 4
    assert all(re.fullmatch(r"[A-Z].+\?", question) for question in asked)
    assert len(set(asked)) > 1 if is_diverse else len(set(asked)) == 1
    assert sum(path.stat().st_size for path in folder.iterdir()) < export.MAX_BYTES
    card = (folder / "README.md").read_text()
    digest = file_digest(folder / "model.safetensors")
    assert digest in card
    licences = json.loads(prepare_pairs.LICENCES.read_text())
    rows = re.findall(r"^\| ([\w.]+) \| \d+ \| (.+?) \|", card, flags=re.M)
    assert len(rows) > 5
    assert all(licences[source] == licence for source, licence in rows)
