"""The layout that CONTRIBUTING.md describes: five layers of the toolkit, small files, who may import whom."""

import ast

import pytest

LAYERS = ("rows", "scoring", "analysis", "reports", "commands")
LONGEST_FILE = 450
LONGEST_TOOLKIT = 12_500  # to be lowered with every line that is deleted


@pytest.fixture(scope="module")
def toolkit(repository):
    return repository / "metrics/toolkit"


def imported(path, package):
    """Yield the absolute names of the modules that a file imports, also inside functions.

    Args:
        path: the file.
        package: name of its package, with dots.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            base = ".".join(parents[: len(parents) - node.level + 1]) + "." if node.level else ""
            module = (base + (node.module or "")).strip(".")
            yield from (f"{module}.{alias.name}" for alias in node.names)


def layer(name):
    """Return the layer of a module of the toolkit by its name; cli.py stands above the commands."""
    parts = name.removeprefix("genqa_metrics.toolkit").strip(".").split(".")
    return LAYERS.index(parts[0]) if parts[0] in LAYERS else len(LAYERS)


def test_no_import_runs_up_a_layer(toolkit):
    wrong, seen = [], 0
    for path in toolkit.rglob("*.py"):
        package = ".".join(("genqa_metrics", "toolkit", *path.relative_to(toolkit).parent.parts))
        for name in imported(path, package):
            if name.startswith("genqa_metrics.toolkit."):
                seen += 1
                if layer(name) > layer(package):
                    wrong.append(f"{path.relative_to(toolkit)} imports {name}")
    assert not wrong
    assert seen > 50


def test_modules_know_nothing_of_the_toolkit_nor_of_each_other(repository):
    """A module folder stands alone: what it imports of the package is in its own folder."""
    wrong = []
    for folder in (path.parent for path in repository.glob("metrics/*/shared.py")):
        package = f"genqa_metrics.{folder.name}"
        for path in folder.glob("*.py"):
            names = imported(path, package)
            wrong += [
                f"{path.relative_to(repository)} imports {name}"
                for name in names
                if name.startswith(("genqa_metrics", "training", "tests", "spaces"))
                and not name.startswith(f"{package}.")
            ]
    assert not wrong


def test_nothing_imports_the_integrations(repository):
    folder = repository / "metrics/integrations"
    files = {*(repository / "metrics").rglob("*.py")} - {*folder.glob("*.py")}
    assert [path for path in files if "integrations" in path.read_text(encoding="utf-8")] == []
    for path in folder.glob("*.py"):
        assert not [name for name in imported(path, "genqa_metrics.integrations") if "toolkit.commands" in name]


def test_training_imports_no_tests_and_changes_no_path(repository):
    wrong = []
    for path in (repository / "training").rglob("*.py"):
        package = ".".join(path.relative_to(repository).parent.parts)
        wrong += [f"{path.name} imports {name}" for name in imported(path, package) if name.split(".")[0] == "tests"]
        wrong += [f"{path.name} edits sys.path"] * ("sys.path" in path.read_text(encoding="utf-8"))
    assert not wrong


def test_tests_import_nothing_from_other_tests(repository):
    wrong = []
    for path in (repository / "tests").rglob("*.py"):
        package = ".".join(path.relative_to(repository).parent.parts)
        wrong += [f"{path.name} imports {name}" for name in imported(path, package) if name.startswith("tests.test_")]
    assert not wrong


def lengths(folder, repository):
    found = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py")}
    return {str(path.relative_to(repository)): length for path, length in found.items()}


def test_no_file_is_too_long(toolkit, repository):
    found = {**lengths(toolkit, repository), **lengths(repository / "training", repository)}
    long = {name for name, length in found.items() if length > LONGEST_FILE}
    assert not long


def test_the_toolkit_does_not_grow(toolkit, repository):
    assert sum(lengths(toolkit, repository).values()) <= LONGEST_TOOLKIT
