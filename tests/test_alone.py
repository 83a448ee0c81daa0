"""Assembled metrics in an interpreter without the package: the folder that is loaded brings its checkpoint."""

import json
import os
import subprocess
import sys
import sysconfig

import pytest
from genqa_metrics.core import checkpoints

from training.publish.assemble import assemble

MOVED = """
import importlib.util, json, shutil, sys
from pathlib import Path
assert importlib.util.find_spec("genqa_metrics") is None, "the package must not be there"
import evaluate
found = {}
for name in ("kpqa", "ava"):
    first, second = Path(name), Path("moved", name)
    row = {"questions": ["Who wrote it?"], "predictions": ["Ann wrote it."], "references": ["Ann"]}
    scores = []
    for folder in (first, second):
        if folder == second:
            shutil.move(first, second)
        module = evaluate.load(str(folder), device="cpu")
        scores.append([module.compute(**row), module.signature()])
    found[name] = scores
print(json.dumps(found))
"""


@pytest.mark.slow
def test_a_copied_folder_finds_its_checkpoint_also_after_a_move(tmp_path):
    """Without package and Hub; evaluate's cache still names the folder from before the move."""
    for metric in ("kpqa", "ava"):
        assemble(metric, tmp_path / metric)
    (tmp_path / "moved").mkdir()
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "HF_HOME": str(tmp_path / "huggingface"),
        "HF_HUB_OFFLINE": "1",
        "HF_EVALUATE_OFFLINE": "1",
        "PYTHONPATH": os.pathsep.join(places),
    }
    done = subprocess.run(  # -S: no .pth file, so an editable install of the package is not found
        [sys.executable, "-S", "-c", MOVED], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for before, after in json.loads(done.stdout.splitlines()[-1]).values():
        assert after == before


def test_the_folder_that_evaluate_loads_goes_before_the_one_in_its_note(tmp_path, monkeypatch):
    code = tmp_path / "cache"
    code.mkdir()
    (code / "ava.json").write_text(json.dumps({"original file path": str(tmp_path / "old/ava.py")}))
    monkeypatch.setattr(checkpoints, "loaded_from", lambda: tmp_path / "new/ava.py")
    folders = checkpoints.bundled_checkpoints(code)
    assert folders == [code / "checkpoint", tmp_path / "new/checkpoint", tmp_path / "old/checkpoint"]
