"""`uv.lock`: what setup.cfg asks for, each version with its hashes; constraints.txt has the same versions."""

import configparser
import re
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def lock(repository):
    return tomllib.loads((repository / "uv.lock").read_text())


def exported(repository, *options) -> list[str]:
    command = [sys.executable, "-m", "uv", "export", "--frozen", "--offline", "--quiet", "--extra", "test", *options]
    command += ["--no-emit-project", "--no-annotate", "--no-header"]
    return subprocess.run(command, check=True, cwd=repository, capture_output=True, text=True).stdout.splitlines()


def test_the_constraints_have_the_versions_of_the_lock(repository):
    pins = [line.partition(" ;")[0] for line in exported(repository, "--no-hashes")]
    assert (repository / "constraints.txt").read_text().splitlines() == pins, "run make lock"
    assert len({pin.partition("==")[0] for pin in pins}) == len(pins) > 200


def test_the_lock_is_of_the_dependencies_in_setup_cfg(repository, lock):
    setup = configparser.ConfigParser()
    setup.read(repository / "setup.cfg")
    [project] = [package for package in lock["package"] if package["source"] == {"editable": "."}]
    locked = {}
    for entry in project["metadata"]["requires-dist"]:
        extra = re.search(r"extra == '(\w+)'", entry.get("marker", ""))
        text = entry["name"] + (f"[{','.join(entry['extras'])}]" if "extras" in entry else "") + entry["specifier"]
        locked.setdefault(extra[1] if extra else "", set()).add(normalized(text))
    wanted = {extra: set(map(normalized, lines.split())) for extra, lines in setup["options.extras_require"].items()}
    wanted[""] = set(map(normalized, setup["options"]["install_requires"].split()))
    assert locked == wanted, "run make lock"


def normalized(requirement: str) -> tuple:
    parsed = Requirement(requirement)
    return canonicalize_name(parsed.name), frozenset(parsed.extras), parsed.specifier


def test_every_package_has_a_hash_and_the_public_index_as_its_source(lock):
    for package in lock["package"]:
        if package["source"] == {"editable": "."}:
            continue
        assert package["source"] == {"registry": "https://pypi.org/simple"}
        files = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else ())]
        assert files
        assert all(file["hash"].startswith("sha256:") for file in files)
        assert all(file["url"].startswith("https://files.pythonhosted.org/packages/") for file in files)


def test_what_ci_installs_has_hashes_and_leaves_pytorch_to_make(repository):
    entries = re.split(r"\n(?=\S)", "\n".join(exported(repository, "--prune", "torch")))
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not any(re.match(r"(torch|triton)==|nvidia-|cuda-", entry) for entry in entries)
    assert "--prune torch" in (repository / ".ci" / "run").read_text()


def test_workflows_run_only_what_is_pinned_by_hash(repository):
    """Tags of actions can be moved; `make lock` writes the hashes of the programs."""
    used = 0
    for path in sorted((repository / ".github/workflows").glob("*.yml")):
        text = path.read_text()
        for action in re.findall(r"uses: (.*)", text):
            used += 1
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action), f"{path.name}: {action}"
        for command in re.findall(r"run: (.*pip install.*)", text):
            assert "--require-hashes -r .github/release.txt" in command, f"{path.name}: {command}"
    assert used >= 7
    locked = (repository / ".github/release.txt").read_text().removeprefix("#").split("\n", 1)[1]
    blocks = [block for block in re.split(r"\n(?=\S)", locked) if block.strip()]
    assert all("--hash=sha256:" in block for block in blocks)
    versions = dict(re.match(r"([\w.-]+)==([\w.]+)", block).groups() for block in blocks)
    wanted = {Requirement(line).name for line in (repository / ".github/release.in").read_text().split("\n") if line}
    assert wanted <= set(versions)
    constraints = dict(line.split("==") for line in (repository / "constraints.txt").read_text().splitlines())
    assert {name: versions[name] for name in set(versions) & set(constraints)} == {
        name: constraints[name] for name in set(versions) & set(constraints)
    }, "run make lock"
