"""The layout that CONTRIBUTING.md describes: who may import whom."""

import ast

import genqa_metrics

from tests.programs import names

LAYERS = ("rows", "statistics", "scale", "reports", "terminal", "verbs", "cli")  # each may import those before it


def imported(path, package):
    """Yield the absolute names of the modules that a file of a package imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            base = ".".join(parents[: len(parents) - node.level + 1]) + "." if node.level else ""
            module = (base + (node.module or "")).strip(".")
            yield from (f"{module}.{alias.name}" for alias in node.names)


def layer(module):
    """Return the place of a module among the layers by its absolute name; -1 for core, metrics and the registry."""
    part = module.removeprefix("genqa_metrics").strip(".").split(".")[0]
    return LAYERS.index(part) if part in LAYERS else -1


def test_no_import_runs_up_a_layer(repository):
    wrong, seen = [], 0
    for part in LAYERS:
        folder = repository / "metrics" / part
        for path in folder.rglob("*.py") if folder.is_dir() else [folder.with_suffix(".py")]:
            package = ".".join(("genqa_metrics", *path.relative_to(repository / "metrics").parent.parts))
            for name in imported(path, package):
                if name.startswith("genqa_metrics."):
                    seen += 1
                    if layer(name) > LAYERS.index(part):
                        wrong.append(f"{path.relative_to(repository)} imports {name}")
    assert not wrong
    assert seen > 300


def test_metrics_know_only_themselves_and_the_core(repository):
    """A metric imports from its own folder and from core; core imports nothing of the project but itself."""
    wrong, seen = [], 0
    for folder in (
        repository / "metrics/core",
        *(repository / "metrics" / metric for metric in genqa_metrics.METRICS),
    ):
        package = f"genqa_metrics.{folder.name}"
        for path in folder.glob("*.py"):
            for name in imported(path, package):
                if name.startswith(("genqa_metrics", "training", "tests", "spaces")):
                    seen += 1
                    if not name.startswith((f"{package}.", "genqa_metrics.core.")):
                        wrong.append(f"{path.relative_to(repository)} imports {name}")
    assert not wrong
    assert seen > 50


def test_nothing_imports_the_integrations(repository):
    folder = repository / "metrics/integrations"
    files = {*(repository / "metrics").rglob("*.py")} - {*folder.glob("*.py")}
    assert [path for path in files if "integrations" in path.read_text(encoding="utf-8")] == []
    for path in folder.glob("*.py"):
        assert not [
            name
            for name in imported(path, "genqa_metrics.integrations")
            if "genqa_metrics.terminal" in name or ".command" in name
        ]


def test_names_that_say_nothing_are_counted():
    code = "def place(what, rows):\n    known = rows.own = 'kpqa_f1'\n    return 'kpqa_f1', of_all(known)"
    assert {name for name, _ in names.bound_names(ast.parse(code))} == {"what", "rows", "known", "own"}
    assert [text for text, _ in names.strings(ast.parse(f"'a doc'\n{code}"))] == ["kpqa_f1", "kpqa_f1"]
