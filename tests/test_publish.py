"""Publishing to a loopback Hub with the real client: exact trees, no second upload, clear refusals."""

import re
import shutil
import sys
from functools import partial

import genqa_metrics
import huggingface_hub
import pytest
from huggingface_hub import RepoCard

from tests.factories.cases import with_cases
from tests.factories.files import contents
from training.common import write_rows
from training.publish import publish
from training.publish import space as publish_space

REPOSITORIES = [
    *(("model", f"ns/{name}-minilm") for name in publish.CHECKPOINTS),
    *(("space", f"ns/{name}") for name in (*genqa_metrics.METRICS, "home", "compare")),
]


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Publish tiny folders instead of the bundled checkpoints."""
    folders = {}
    for name in publish.CHECKPOINTS:
        folders[name] = {f"{name}-minilm": tmp_path / "checkpoints" / name}
        write_rows(tmp_path / f"checkpoints/{name}/{name}_config.json", [{}])
        (tmp_path / f"checkpoints/{name}/README.md").write_text(f"# One of {name}\n")
    monkeypatch.setattr(publish, "CHECKPOINTS", folders)


@pytest.fixture
def run(client, tmp_path, monkeypatch, capsys):
    """Run the script with arguments; returns what it printed."""

    def run(*arguments, namespace="ns"):
        command = ["publish.py", "--namespace", namespace, "--output_dir", str(tmp_path / "trees"), *arguments]
        monkeypatch.setattr(sys, "argv", command)
        capsys.readouterr()
        publish.main()
        return capsys.readouterr().out.splitlines()

    return run


@pytest.mark.slow
def test_what_is_published_is_what_a_dry_run_writes_and_a_second_run_uploads_nothing(hub, tiny, run, tmp_path):
    lines = run("--dry-run")
    assert hub.requests == []
    assert [tuple(line.split(":")[0].split()) for line in lines] == REPOSITORIES
    trees = {(kind, name): contents(tmp_path / f"trees/{kind}s" / name) for kind, name in REPOSITORIES}
    shutil.rmtree(tmp_path / "trees")
    tag = "v" + genqa_metrics.__version__
    assert all(line.endswith(f": uploaded, tagged {tag}") for line in run())
    assert set(hub.repositories) == set(REPOSITORIES)
    for (kind, name), tree in trees.items():
        for revision in ("main", "v" + genqa_metrics.__version__):
            published = hub.content(kind, name, revision)
            del published[".gitattributes"]
            assert published == tree
    writes = hub.writes()
    assert len([w for w in writes if "/commit/" in w]) == len(REPOSITORIES)
    again = run("--metrics", "f_meta", "kpqa")  # of the others too, see below
    assert all(f": {tag} is published already" in line for line in again)
    assert len(again) == 3
    assert hub.writes() == writes


def test_an_interrupted_run_is_finished_by_the_next(hub, tiny, run):
    hub.unavailable.add("ns/ava/commit")  # the Space, not the model
    with pytest.raises(huggingface_hub.errors.HfHubHTTPError, match="503"):
        run("--metrics", "aev", "ava")
    hub.unavailable.clear()
    *done, last = [line.split(": ")[1] for line in run("--metrics", "aev", "ava")]
    assert all("is published already" in line for line in done)
    assert len(done) == 2  # the model, and the Space of aev
    assert last.startswith("uploaded, tagged")
    assert hub.repositories["space", "ns/ava"].tags


@pytest.mark.slow
def test_a_published_version_does_not_change(hub, tiny, run, monkeypatch):
    some = "--metrics", "aev", "f_meta"
    run(*some)
    writes = hub.writes()
    write_space = publish.write_space

    def changed(name, namespace, tag, folder):
        write_space(name, namespace, tag, folder)
        if name == "aev":
            (folder / "stop_words.py").unlink()
            (folder / "README.md").write_text("---\nsdk: gradio\n---\n")

    monkeypatch.setattr(publish, "write_space", changed)
    tag = "v" + genqa_metrics.__version__
    assert all(f"{tag} is published already; raise the version" in line for line in run(*some))
    assert hub.writes() == writes
    assert run("--move_tag", *some) == [
        f"space ns/aev: uploaded, tagged {tag}",
        f"space ns/f_meta: unchanged, tagged {tag}",
    ]
    assert hub.content("space", "ns/aev", tag) == hub.content("space", "ns/aev")
    assert "stop_words.py" not in hub.content("space", "ns/aev")
    assert hub.content("space", "ns/aev")["README.md"] == b"---\nsdk: gradio\n---\n"
    assert ".gitattributes" in hub.content("space", "ns/aev")
    monkeypatch.setattr(publish, "version_tag", lambda: "v9.9.9")
    run(*some)
    assert set(hub.repositories["space", "ns/aev"].tags) == {tag, "v9.9.9"}


def test_a_commit_of_somebody_else_meanwhile_is_not_lost(hub, tiny, run, monkeypatch):
    hub.add("space", "ns/aev", {"README.md": b"old"})
    upload_folder = huggingface_hub.HfApi.upload_folder

    def slow(*names, **settings):
        hub.add("space", "ns/aev", {"theirs.txt": b"new"})
        return upload_folder(*names, **settings)

    monkeypatch.setattr(huggingface_hub.HfApi, "upload_folder", slow)
    with pytest.raises(huggingface_hub.errors.HfHubHTTPError, match="412"):
        run("--metrics", "aev")
    assert hub.content("space", "ns/aev") == {"README.md": b"old", "theirs.txt": b"new"}


def test_a_space_is_complete(tiny, run, tmp_path, repository):
    """Every sibling, what the demo includes, the requirements of both, the one default checkpoint."""
    run("--dry-run", namespace="me")
    constraints = (repository / "constraints.txt").read_text()
    for name in genqa_metrics.METRICS:
        folder = tmp_path / "trees/spaces/me" / name
        script = (folder / f"{name}.py").read_text()
        assert all((folder / f"{sibling}.py").is_file() for sibling in re.findall(r"^from \.(\w+)", script, re.M))
        wanted = set((repository / "metrics" / name / "requirements.txt").read_text().split())
        extra = repository / "spaces" / name / "requirements.txt"
        wanted |= set(extra.read_text().split()) if extra.is_file() else set()
        lines = (folder / "requirements.txt").read_text().splitlines()
        assert lines == publish_space.on_cpu(wanted)
        assert ("--extra-index-url https://download.pytorch.org/whl/cpu" in lines) == ("torch>=2.6" in wanted)
        assert any(re.fullmatch(r"torch==[\d.]+\+cpu", line) for line in lines) == ("torch>=2.6" in wanted)
        for path in re.findall(r"`([\w/]+/README\.md)`(?! of the)", (folder / "README.md").read_text()):
            assert (folder / path).is_file(), "a card must not point to what is not there"
        front = RepoCard.load(folder / "README.md").data
        assert (folder / front.app_file).is_file()
        assert front.tags == ["evaluate", "metric"]
        assert front.python_version == "3.11"
        assert f"gradio=={front.sdk_version}\n" in constraints
        assert len(front.short_description) <= 60  # the Hub refuses longer ones, and other colours
        colours = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
        assert {front.colorFrom, front.colorTo} <= colours
        assert f'evaluate.load("me/{name}")' in (folder / "README.md").read_text()
        names = {path.name for path in folder.rglob("*")}
        assert not names & {"checkpoint", "checkpoint_base", "integrations", "__pycache__"}
        assert not [path for path in folder.rglob("*.py") if 'evaluate.load("metrics/' in path.read_text()]
        if name in publish_space.WITH_CHECKPOINT:
            assert front.models == [f"me/{name}-minilm"]
            for path in (folder / "loading.py", folder / "genqa_metrics" / name / "loading.py"):
                assert f'"small": "me/{name}-minilm@v{genqa_metrics.__version__}"' in path.read_text()
    assert 'HUB_CHECKPOINTS = {"small": "genqa' in (repository / "metrics/kpqa/loading.py").read_text()


def test_the_documentation_is_a_static_space_with_its_folders(hub, run, monkeypatch, tmp_path):
    monkeypatch.setattr(publish, "write_site", partial(publish.write_site, site=tmp_path / "docs"))
    with pytest.raises(ValueError, match="run `make docs` first"):
        run("--metrics", "aev", "--docs")
    card = "---\nsdk: static\n---\n"
    site = {"README.md": card, "build/html/index.html": "<p>", "build/html/how-to/ci.html": "<p>", "build/html/.x": ""}
    for name, text in site.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    kinds = []
    create = huggingface_hub.HfApi.create_repo

    def noted(*names, **options):
        kinds.append(options["space_sdk"])
        return create(*names, **options)

    monkeypatch.setattr(huggingface_hub.HfApi, "create_repo", noted)
    run("--metrics", "aev", "--docs")
    assert kinds == ["gradio", "static"]
    published = hub.content("space", "ns/docs", "v" + genqa_metrics.__version__)
    assert set(published) - {".gitattributes"} == {"README.md", "index.html", "how-to/ci.html"}
    assert published["README.md"].decode() == card


def test_every_checkpoint_of_the_hub_is_in_the_repository():
    for checkpoints in publish.CHECKPOINTS.values():
        assert all((folder / "README.md").is_file() for folder in checkpoints.values())


@with_cases
def test_bad_names_are_refused_before_anything_is_uploaded(hub, tiny, run, arguments, namespace, message):
    with pytest.raises(ValueError, match=message):
        run(*arguments, namespace=namespace)
    assert hub.writes() == []


def test_a_missing_login_is_refused_before_anything_is_uploaded(hub, tiny, run, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(huggingface_hub.errors.HfHubHTTPError, match="hf auth login"):
        run("--metrics", "aev")
    assert hub.writes() == []
