"""Counts names that say nothing, and strings that name a metric outside its folder: `python -m tests.programs.names`.

Exit status 1 if one of the counts is above its limit in `LIMITS`; `--list` prints every place.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMITS = {"banned names": 0, "vague names": 25, "strings that name a metric": 29}  # they only go down
BANNED = {"place", "own", "found", "given", "told", "said", "what", "one"}
VAGUE = {"value", "values", "things", "some", "known", "part", "parts"}
METRICS = ("aev", "ava", "f_meta", "grounding", "kpqa")
NAMES_A_METRIC = re.compile(rf"\b({'|'.join(METRICS)})(_\w+)?\b")


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the arguments, variables and attributes that a file binds, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def strings(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the strings of a file that are no docstrings, each with its line."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value, node.lineno


def findings(path: Path) -> Iterator[tuple[str, str, int]]:
    """Yield (key of `LIMITS`, name or string, line) of a Python file of the product."""
    tree, folders = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).parts
    for name, line in bound_names(tree):
        word = name.strip("_")
        if word in BANNED:
            yield "banned names", name, line
        elif word in VAGUE or word.startswith("of_"):
            yield "vague names", name, line
    if folders[0] == "metrics" and folders[1] not in METRICS and path.name != "registry.py":
        for text, line in strings(tree):
            if NAMES_A_METRIC.search(text):
                yield "strings that name a metric", text, line


def all_findings() -> Iterator[tuple[str, str, str]]:
    """Yield (key of `LIMITS`, name or string, "file:line") of the product."""
    for folder in ("metrics", "training", "spaces"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for kind, text, line in findings(path):
                yield kind, text, f"{path.relative_to(ROOT)}:{line}"


def main() -> int:
    """Print the counts with their limits."""
    rows = list(all_findings())
    counts = Counter(kind for kind, _, _ in rows)
    too_many = [kind for kind, most in LIMITS.items() if counts[kind] > most]
    for kind, text, place in rows:
        if "--list" in sys.argv:
            print(f"{place}: {kind}: {text[:60]!r}")
    for kind, most in LIMITS.items():
        fix = f"; python -m {__spec__.name} --list shows them" if kind in too_many else ""
        print(f"{kind}: {counts[kind]:,}, at most {most:,}{fix}")
    return bool(too_many)


if __name__ == "__main__":
    sys.exit(main())
