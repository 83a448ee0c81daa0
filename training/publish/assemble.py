"""Assemble metrics that load alone: core and metric in one folder, as `evaluate` copies it.

`evaluate` copies only the siblings that the main script imports with `from .sibling import ...`, so every one is named
there. Files of `metrics/core` become `core_FILE.py`; nothing else changes. Run it for `build/modules/NAME`.
"""

import ast
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
METRICS = ROOT / "metrics"
_IMPORT = r"^(\s*)from {} import "


def core_files(paths: list[Path]) -> set[str]:
    """Return the names of the files of the core that some files import, directly or not."""
    result: set[str] = set()
    texts = [path.read_text(encoding="utf-8") for path in paths]
    while texts:
        names = set(re.findall(r"^\s*from (?:\.\.|genqa_metrics\.)core\.(\w+) import ", texts.pop(), re.MULTILINE))
        for name in names - result:
            result.add(name)
            texts.append(re.sub(r"(?m)^(\s*from )\.(\w+ import )", r"\1..core.\2", _core(name)))
    return result


def _core(name: str) -> str:
    return (METRICS / "core" / f"{name}.py").read_text(encoding="utf-8")


def alone(text: str, metric: str) -> str:
    r"""Return the source of a file of a metric with imports that need no package.

    >>> alone("from ..core.scorer import Scorer\nfrom genqa_metrics.aev.scorer import AevScorer\n", "aev")
    'from .core_scorer import Scorer\nfrom .scorer import AevScorer\n'
    """
    text = re.sub(_IMPORT.format(r"(?:\.\.|genqa_metrics\.)core\.(\w+)"), r"\1from .core_\2 import ", text, flags=re.M)
    return re.sub(_IMPORT.format(rf"genqa_metrics\.{metric}\.(\w+)"), r"\1from .\2 import ", text, flags=re.M)


def defined_name(text: str) -> str:
    """Return the first public name that a file defines."""
    for node in ast.parse(text).body:
        names = [node.name] if hasattr(node, "name") else [getattr(t, "id", "_") for t in getattr(node, "targets", [])]
        if names and not names[0].startswith("_"):
            return names[0]
    raise ValueError("expected a file with a public name, got none")


def assemble(metric: str, folder: Path) -> Path:
    """Write a metric as a folder, emptied first, that `evaluate.load` takes on a machine without the package."""
    source = METRICS / metric
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__", "*.py", ".*"))
    scripts = [path for path in sorted(source.glob("*.py")) if path.name != "__init__.py"]
    files = {path.stem: alone(path.read_text(encoding="utf-8"), metric) for path in scripts}
    for name in core_files(scripts):
        files[f"core_{name}"] = re.sub(_IMPORT.format(r"\.(\w+)"), r"\1from .core_\2 import ", _core(name), flags=re.M)
    script = files[metric]
    named = set(re.findall(r"^from \.(\w+) import ", script, re.MULTILINE)) | {metric}
    more = "".join(f"from .{name} import {defined_name(files[name])}\n" for name in sorted(set(files) - named))
    files[metric] = script.replace("\nimport evaluate\n", f"\nimport evaluate\n{more}", 1)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    for scorer in sorted(METRICS.glob("*/scorer.py")):
        if scorer.parent.name != "core":
            print(assemble(scorer.parent.name, ROOT / "build" / "modules" / scorer.parent.name).relative_to(ROOT))
