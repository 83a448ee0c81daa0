"""The package as it is published: built without warnings, links that work on the index, a wheel that works alone."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes

import genqa_metrics
import pytest

from tests.factories.modules import printed_by
from tests.programs.packaging.licences import installed, licence
from tests.programs.packaging.requirements import required
from tests.programs.packaging.resolve import PYTHONS, resolved

EPOCH = "1750000000"


@pytest.fixture(scope="module")
def built(repository, tmp_path_factory):
    """Folder with sdist and wheel, and what building them said."""
    folder = tmp_path_factory.mktemp("built")
    skip = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__")
    shutil.copytree(repository, folder / "source", ignore=skip)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(folder / "source")]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["SOURCE_DATE_EPOCH"] = EPOCH
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built[0].glob("*.whl")
    return path


@pytest.mark.slow
def test_building_warns_of_nothing(built):
    assert not re.findall(r"^.*(?:warning|deprecat).*$", built[1], re.IGNORECASE | re.MULTILINE)


def test_wheel_holds_what_the_modules_need(repository, wheel):
    files = set(zipfile.ZipFile(wheel).namelist())
    for name in genqa_metrics.METRICS:
        for path in (repository / "metrics" / name).iterdir():
            if path.is_file():
                assert f"genqa_metrics/{name}/{path.name}" in files
    for path in (repository / "metrics").glob("*.py"):
        assert f"genqa_metrics/{path.name}" in files
    assert {f"genqa_metrics/examples/{name}.jsonl" for name in ("answers", "questions", "echo")} <= files
    templates = {path.name for path in (repository / "metrics/reports/templates").iterdir()}
    assert templates == {path.rpartition("/")[2] for path in files if "/reports/templates/" in path}
    assert "genqa_metrics/py.typed" in files


def test_the_index_page_has_absolute_links_that_exist(repository, built, wheel):
    name = next(name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("/METADATA"))
    facts = message_from_bytes(zipfile.ZipFile(wheel).read(name))
    text = facts.get_payload()
    links = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r'src(?:set)?="([^"]+)"', text)
    assert len(links) > 15
    assert [link for link in links if not link.startswith("https://")] == []
    of_file = re.compile(r"^.*?/(?:blob|raw)/v[\d.]+/")
    own = [of_file.sub("", link.replace("https://huggingface.co/spaces/genqa-metrics/", "spaces/"))
           for link in links if "/genqa-metrics/" in link]  # fmt: skip
    assert [path for path in own if not (repository / path.partition("#")[0]).exists()] == []
    assert {it.partition(", ")[0] for it in facts.get_all("Project-URL")} >= {"Changelog", "Issues"}
    (sdist,) = built[0].glob("*.tar.gz")
    inside = {path.partition("/")[2] for path in tarfile.open(sdist).getnames()}
    assert {"LICENSE", "README.md", "setup.py", "metrics/ava/checkpoint/adapter_model.safetensors"} <= inside


@pytest.mark.slow
def test_a_second_build_has_the_same_bytes(built, wheel, tmp_path):
    """Of the same source, elsewhere and later."""
    source = shutil.copytree(built[0] / "source", tmp_path / "elsewhere", copy_function=shutil.copyfile,
                             ignore=shutil.ignore_patterns("build", "*.egg-info"))  # fmt: skip
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(source)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"SOURCE_DATE_EPOCH": EPOCH})
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_notice_names_what_the_bundled_weights_were_trained_on(repository, wheel):
    notice = (repository / "NOTICE").read_text()
    (inside,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("/NOTICE")]
    assert zipfile.ZipFile(wheel).read(inside).decode() == notice
    for card in repository.glob("metrics/*/checkpoint*/README.md"):
        rows = [
            [cell.strip() for cell in line.split("|")[1:-1]]
            for line in card.read_text().splitlines()
            if line[:1] == "|"
        ]
        rows = [row for row in rows if set(row[0]) - {"-"}]
        heads = [i for i, row in enumerate(rows) if row[0] == "source" and "licence" in row]
        licensed = {row[0].partition(".")[0] for i in heads for row in rows[i + 1 :] if len(row) == len(rows[i])
                    and row[0] != "source" and row[rows[i].index("licence")]}  # fmt: skip
        assert len(licensed) > 8
        assert [name for name in licensed if not re.search(rf"\b{name}\b", notice)] == [], f"NOTICE: sources of {card}"


@pytest.mark.slow
def test_the_wheel_works_alone(repository, wheel, tmp_path):
    """Unpacked into a folder, with the requirements installed, and no checkout near."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site"), "HF_HOME": str(tmp_path / "cache")}
    smoke = shutil.copy(repository / "tests/programs/packaging/smoke.py", tmp_path)
    out = printed_by([sys.executable, smoke], cwd=tmp_path, env=environment)
    assert "aev, f_meta, kpqa, ava: as expected" in out
    assert str(tmp_path / "site" / "genqa_metrics") in out


def test_every_licence_is_known():
    unknown = {name: licence(found) for name, found in installed(required("all")).items()}
    assert {name: said for name, said in unknown.items() if said.startswith("?")} == {}


@pytest.mark.slow
@pytest.mark.parametrize("python", PYTHONS)
def test_it_resolves_on_every_python(python):
    assert len(resolved(python, required("all"))) > 50
