"""What people get from the Hub: real clients in fresh processes that know neither this repository nor its package."""

import json
import re
import sys

import genqa_metrics
import pytest
import torch
from genqa_metrics.core import checkpoints
from genqa_metrics.f_meta import bases
from genqa_metrics.kpqa import loading

from tests.factories.cases import tables
from tests.factories.files import contents
from tests.factories.kpqa import saved
from tests.factories.modules import ROWS, printed_by
from training.publish import publish

TAG = "v" + genqa_metrics.__version__
ALONE = """
import importlib.util, json, sys
assert importlib.util.find_spec("genqa_metrics") is None, "the package must not be importable"
import evaluate
given = json.loads(sys.argv[1])
"""
COMPUTE = """
results = {}
for name, rows in given.items():
    settings = {"device": "cpu"} if name in ("ava", "kpqa", "grounding") else {}
    settings |= {"checkpoint": "ns/prompts"} if name == "grounding" else {}
    metric = evaluate.load(f"ns/{name}", **settings)
    results[name] = [metric.compute(**rows, per_example=True), metric.signature()]
print(json.dumps(results))
"""
ERRORS = """
import pathlib, os
def stored():
    home = pathlib.Path(os.environ["HF_HOME"])
    kept = [path for path in home.rglob("*") if path.is_file() and path.stat().st_size]
    return sorted(str(path.relative_to(home)) for path in kept if path.suffix not in (".lock", ".arrow"))

results = {}
for name, (path, arguments) in given.items():
    before = stored()
    try:
        metric = evaluate.load(path, **arguments)
        results[name] = metric.compute(questions=["who"], predictions=["it"], references=["it"])
    except Exception as error:
        results[name] = f"{type(error).__name__}: {error}"
    results[name + " left"] = [path for path in stored() if path not in before]
print(json.dumps(results))
"""


def alone(hub, home, code, given, **environment):
    """What a script prints that runs in a process without the package, with a cache of its own."""
    home.mkdir(exist_ok=True)
    command = [sys.executable, "-S", "-c", ALONE + code, json.dumps(given)]
    return json.loads(printed_by(command, cwd=home, env=hub.environment(home, **environment)).splitlines()[-1])


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """The real folders, with the bundled checkpoints."""
    output = tmp_path_factory.mktemp("trees")
    return publish.write_folders(publish.Arguments(namespace="ns", output_dir=str(output)))


def without_files(signature):
    """Leave out the digest of all files that are read: a merged model has others than an adapter and its base."""
    return re.sub(r"\|files:\w+|(?<=checkpoint:\w{12})-\w{8}(?=\|embedding)", "", signature)


def assert_same(found, expected):
    """Same signatures and numbers; those of models but for the last digits, rounding goes by how memory is aligned."""
    assert found.keys() == expected.keys()
    for name, (results, signature) in expected.items():
        assert without_files(found[name][1]) == without_files(signature)
        if name not in publish.CHECKPOINTS:
            assert found[name][0] == results
            continue
        assert found[name][0].keys() == results.keys()
        for key, value in results.items():
            assert found[name][0][key] == pytest.approx(value, abs=1e-6), (name, key)


@pytest.mark.slow
def test_published_spaces_alone_compute_the_same(hub, client, trees, prompt_judge, tmp_path, monkeypatch):
    """From the Hub alone, a second time without a download, and without a network once everything is there.

    A module alone has no encoder with ten bits a weight: the package reads the whole one here too. The judge of
    grounding is a tiny one.
    """
    monkeypatch.setattr(bases, "bundled", lambda: False)
    for repository in trees:
        publish.upload(client, repository)
    hub.add("model", "ns/prompts", contents(prompt_judge))
    expected = {}
    for name, rows in ROWS.items():
        engine = {"backend": "torch", "device": "cpu"} if name in publish.CHECKPOINTS else {}
        judge = {"checkpoint": str(prompt_judge), "device": "cpu"} if name == "grounding" else {}
        metric = genqa_metrics.load(name, keep_in_memory=True, **engine, **judge)
        expected[name] = [metric.compute(**rows, per_example=True), metric.signature()]

    published = len(hub.requests)
    first = alone(hub, tmp_path / "home", COMPUTE, ROWS)
    assert_same(first, expected)
    asked = [path for _, path in hub.requests[published:] if path.startswith("/api/models/ns/kpqa-minilm/revision/")]
    assert len(asked) == 1  # not once for load, compute and signature each
    downloads = hub.bodies()
    folders = {"/".join(path.split("/")[:4]) for path in downloads}
    assert {f"/ns/{name}-minilm/resolve" for name in ("ava", "kpqa")} <= folders

    again = alone(hub, tmp_path / "home", COMPUTE, ROWS)
    assert_same(again, expected)
    assert hub.bodies() == downloads

    hub.stop()
    for name, offline in (("aev", {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}), ("kpqa", {})):
        assert_same(alone(hub, tmp_path / "home", COMPUTE, {name: ROWS[name]}, **offline), {name: expected[name]})


@pytest.fixture
def tiny_versions(hub, tiny_encoder, tmp_path):
    """A checkpoint in two versions on the Hub, the first tagged; their folders."""
    folders = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        folder = saved(loading.token_classifier(tiny_encoder), tiny_encoder, tmp_path / f"seed{seed}")
        hub.add("model", "ns/tiny", contents(folder), tag="v1" if seed == 1 else None)
        folders.append(folder)
    return folders


def published_kpqa(hub, trees):
    """Put the Space of KPQA on the Hub, without its checkpoint; returns its files."""
    folder = next(r.folder for r in trees if r.name == "ns/kpqa")
    space = contents(folder)
    hub.add("space", "ns/kpqa", space, TAG)
    return space


PINNED = """
rows = {"questions": ["who is it"], "predictions": ["it is seven"], "references": ["it is four"]}
results = {}
for name, (arguments, revision) in given.items():
    kpqa = evaluate.load("ns/kpqa", revision=revision, keep_in_memory=True, device="cpu", **arguments)
    results[name] = [kpqa.compute(**rows)["rougeL_kpqa"], kpqa.signature()]
print(json.dumps(results))
"""


@pytest.mark.slow
def test_revisions(hub, trees, tiny_versions, tiny_encoder, tmp_path):
    """A tag or commit behind a checkpoint's id, and `revision` for the module itself, pin what is loaded."""
    space = published_kpqa(hub, trees)
    changed = space["core_scorer.py"].replace(genqa_metrics.__version__.encode(), b"99.0.0")
    hub.add("space", "ns/kpqa", {"core_scorer.py": changed})
    first, newest = list(hub.repositories["model", "ns/tiny"].commits)
    given = {
        name: ({"checkpoint": checkpoint, "embedding_model": str(tiny_encoder)}, revision)
        for name, checkpoint, revision in (
            ("newest", "ns/tiny", None),
            ("tag", "ns/tiny@v1", genqa_metrics.__version__),  # evaluate takes 0.1.0 for the tag v0.1.0
            ("commit", f"ns/tiny@{first}", TAG),
        )
    }
    found = alone(hub, tmp_path / "home", PINNED, given)
    digests = [checkpoints.checkpoint_digest(folder)[:12] for folder in tiny_versions]
    assert found["tag"][0] == pytest.approx(found["commit"][0], abs=1e-6)
    assert found["tag"][1] == found["commit"][1]
    assert found["tag"][0] != found["newest"][0]
    assert f"checkpoint:{digests[0]}" in found["tag"][1]
    assert f"checkpoint:{digests[1]}" in found["newest"][1]
    assert f"version:{genqa_metrics.__version__}" in found["tag"][1]
    assert "version:99.0.0" in found["newest"][1]
    for name, folder in zip(("tag", "newest"), tiny_versions, strict=True):
        arguments = {"checkpoint": str(folder), "embedding_model": str(tiny_encoder), "device": "cpu"}
        local = genqa_metrics.load("kpqa", keep_in_memory=True, **arguments)
        rows = {"questions": ["who is it"], "predictions": ["it is seven"], "references": ["it is four"]}
        assert local.compute(**rows)["rougeL_kpqa"] == pytest.approx(found[name][0], abs=1e-6)
    assert newest != first


def test_revision_of_load_is_the_checkpoints():
    """What is asked for is seen in the message of a test run, which is offline."""
    with pytest.raises(ValueError, match="Tried: ns/tiny@v1 on the Hub"):
        genqa_metrics.load("kpqa", checkpoint="ns/tiny", revision="v1")


def test_each_failure_is_one_clear_error_and_leaves_nothing_half(hub, trees, tiny_versions, tiny_encoder, tmp_path):
    """Wrong names, missing and damaged files, a busy Hub; what is healed afterwards loads."""
    space = published_kpqa(hub, trees)
    hub.add("space", "ns/half", {"half.py" if p == "kpqa.py" else p: b for p, b in space.items() if p != "scoring.py"})
    good = contents(tiny_versions[0])
    hub.add("model", "ns/empty", {"config.json": good["config.json"]})
    hub.add("model", "ns/torn", good | {"model.safetensors": good["model.safetensors"][:-50]})
    hub.add("model", "ns/damaged", good)
    hub.corrupt.add(hub.files("model", "ns/damaged")["model.safetensors"].sha256)
    hub.unavailable.add("ns/busy")
    given = {"module": ("ns/nothing", {}), "sibling": ("ns/half", {})}
    for name in ("tiny", "nothing", "empty", "torn", "damaged", "busy", "tiny@v7", "damaged@main"):
        given[name] = ("ns/kpqa", {"checkpoint": f"ns/{name}", "embedding_model": str(tiny_encoder)})
    found = alone(hub, tmp_path / "home", ERRORS, given)

    for name, message in tables(__name__)["messages"].items():
        assert re.search(message, found[name]), found[name]
        assert "\n" not in found[name]
        assert not [path for path in found[f"{name} left"] if "incomplete" in path or "ns--half" in path]
    assert not [path for path in found["damaged left"] if re.search(r"safetensors|/blobs/[0-9a-f]{64}$", path)]
    for name in ("nothing", "busy", "tiny@v7"):
        assert found[f"{name} left"] == []
    assert found["damaged@main"] == pytest.approx(found["tiny"], abs=1e-6)
    assert 0 < found["tiny"]["rougeL"] <= 1


@pytest.mark.slow
def test_a_hub_that_is_down(hub, trees, tmp_path):
    """A module from the Hub (the message is that of evaluate), and one in a folder that wants its checkpoint."""
    folder = next(r.folder for r in trees if (r.kind, r.name) == ("space", "ns/ava"))
    hub.stop()
    given = {"module": ("ns/aev", {}), "checkpoint": (str(folder / "ava.py"), {})}
    found = alone(hub, tmp_path / "home", ERRORS, given)
    assert re.match(r"FileNotFoundError: .* 'ns/aev' doesn't exist on the Hugging Face Hub either", found["module"])
    default = rf"Tried: (\S+/checkpoint; )+ns/ava-minilm@{TAG} on the Hub: \w+"
    assert re.match(rf"ValueError: checkpoint: none found\. {default}.* Install genqa-metrics", found["checkpoint"])
    assert not re.search("models--|safetensors|incomplete", str(found["module left"] + found["checkpoint left"]))
