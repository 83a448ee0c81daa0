"""Pinned encoders: the Hub's cache, an installed package, the Hub; always verified, never downloaded silently."""

import hashlib
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest
from genqa_metrics.cli import app
from genqa_metrics.core import checkpoints
from typer.testing import CliRunner

from tests.programs import base_models

SCRIPT = """
import json, sys
from dataclasses import replace
from genqa_metrics.core import checkpoints
given = json.loads(sys.argv[1])
pinned = {"revision": given["revision"], "sha256": given["sha256"], "installed": lambda: None}
checkpoints.ENCODERS[checkpoints.LARGE_MODEL] = replace(checkpoints.ENCODERS[checkpoints.LARGE_MODEL], **pinned)
print(checkpoints.base_encoder(checkpoints.LARGE_MODEL))
"""


def digest(folder):
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def pinned(monkeypatch, tiny_encoder):
    """Pin the large encoder to the weights of a tiny one that no package has."""

    def pin(**changes):
        given = {"sha256": digest(tiny_encoder), "installed": lambda: None} | changes
        one = replace(checkpoints.ENCODERS[checkpoints.LARGE_MODEL], **given)
        monkeypatch.setitem(checkpoints.ENCODERS, checkpoints.LARGE_MODEL, one)

    pin()
    return pin


def fetched(hub, home, **given):
    environment = hub.environment(home)
    command = [sys.executable, "-c", SCRIPT, json.dumps(given)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_a_download_is_announced_and_verified_and_the_second_run_needs_no_network(hub, tiny_encoder, tmp_path):
    commit = hub.add("model", checkpoints.LARGE_MODEL, contents(tiny_encoder))
    given = {"revision": commit, "sha256": digest(tiny_encoder)}
    done = fetched(hub, tmp_path / "home", **given)
    assert done.returncode == 0, done.stderr
    assert f"downloading {checkpoints.LARGE_MODEL} (439 MB) from http://127.0.0.1" in done.stderr
    hub.stop()
    again = fetched(hub, tmp_path / "home", **given)
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert "downloading" not in again.stderr


def test_other_weights_under_the_same_name_are_refused(hub, tiny_encoder, tmp_path):
    commit = hub.add("model", checkpoints.LARGE_MODEL, contents(tiny_encoder))
    done = fetched(hub, tmp_path / "home", revision=commit, sha256="0" * 64)
    assert done.returncode == 1
    assert "on the Hub: not the expected files" in done.stderr
    assert "genqa-metrics download --metric ava --checkpoint base" in done.stderr


def test_offline_one_error_names_every_way(pinned):
    with pytest.raises(
        ValueError,
        match=r"Tried: not in the Hub's cache.*Run `genqa-metrics download .* base`, go online once, or pass",
    ):
        checkpoints.base_encoder(checkpoints.LARGE_MODEL)


def test_packages_are_joined_into_the_cache(monkeypatch, tiny_encoder, tmp_path):
    """What machines without a Hub do: a program puts the official file, in parts of packages, where the Hub's is."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in contents(tiny_encoder).items():
            archive.writestr(f"all-mpnet-base-v2/{name}", content)
        archive.writestr("all-mpnet-base-v2/onnx/model.onnx", b"not read")
        archive.writestr("all-mpnet-base-v2/code.py", b"not read")
    text, size = whole.getvalue(), -(-len(whole.getvalue()) // 3)
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    monkeypatch.setattr(base_models, "parts", lambda packages, pattern, folder: iter(parts))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    encoder = replace(checkpoints.ENCODERS[checkpoints.LARGE_MODEL], sha256=digest(tiny_encoder))
    monkeypatch.setitem(checkpoints.ENCODERS, checkpoints.LARGE_MODEL, encoder)
    folder = base_models.fetch("base")
    assert folder.parent.parent.name == "models--sentence-transformers--all-mpnet-base-v2"
    wanted = {n: c for n, c in contents(tiny_encoder).items() if n.endswith((".json", ".txt", ".safetensors"))}
    assert contents(folder) == wanted
    monkeypatch.setattr(base_models, "parts", lambda *_: pytest.fail("it is there"))
    assert base_models.fetch("base") == folder
    monkeypatch.setattr(base_models, "parts", lambda *_: iter([b"other"]))
    with pytest.raises(SystemExit, match="large: expected SHA-256"):
        base_models.fetch("large")


def test_a_size_that_a_metric_has_not_is_refused(tmp_path):
    with pytest.raises(ValueError, match="checkpoint: expected one of small, a folder or a Hub id, got 'base'"):
        checkpoints.find_checkpoint("base", code=tmp_path, hub_names={"small": "ns/kpqa"})


def test_download_says_where_checkpoint_and_encoder_are():
    result = CliRunner().invoke(app, ["download", "--metric", "kpqa"])
    assert result.exit_code == 0, result.output
    assert "Both are complete." in result.output
    result = CliRunner().invoke(app, ["download", "--metric", "kpqa", "--checkpoint", "base"])
    assert result.exit_code == 1
    assert "expected one of small" in result.output
