"""Changes random lines of the product, one at a time, and counts how many of the changes a test notices.

    python -m tests.programs.mutations --number 60 --seed 0 [--only statistics/intervals.py] [--record]

A change swaps an operator or a comparison, negates a condition, adds one to a small whole number, doubles another
number, or inverts True and False. For each change a forked process imports the changed code in place of the file and
runs the tests that call the changed function, the fastest first, until one fails. `build/mutations` records which test
calls which function, once for each test file and again after it changes. Code in further processes is not changed.
"""

import argparse
import ast
import importlib
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
METRICS = ROOT / "metrics"
FOLDERS = ("core", "statistics", "scale")
RECORDS = ROOT / "build/mutations"
# Tests of browsers, training, installations and pages: slow, and not about the arithmetic of these folders.
LEFT_OUT = (
    "browser spaces label_page viewer report_pages teaching training question_generation studies publish "
    "hub hands lock package docs readme pictures fuzz simulations"
).split()
HEAVY = (
    "torch transformers peft evaluate datasets pandas scipy.stats statsmodels.api onnxruntime hypothesis typer".split()
)
OPTIONS = ("-q", "-p", "no:cacheprovider", "--assert=plain")  # pytest would import the files that it rewrites itself
MOST_SECONDS = 20.0  # processor time of the tests for one change, as recorded
SWAPS = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult},
}
CALLED: set[str] = set()  # functions that the running test has called, while tests are recorded


@dataclass(frozen=True)
class Change:
    """One change of a file: the number of the node in `ast.walk`, and where it is."""

    path: Path
    node: int
    line: int


@cache
def sources() -> list[Path]:
    """Return the files that are changed."""
    return sorted(path for folder in FOLDERS for path in (METRICS / folder).glob("*.py"))


def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def swapped(node: ast.AST) -> ast.AST | None:
    """Return the node that takes the place of a node, None where nothing is to be changed."""
    match node:
        case ast.Compare(ops=[operator]):
            return ast.Compare(node.left, [SWAPS[type(operator)]()], node.comparators)
        case ast.BoolOp():
            return ast.BoolOp(SWAPS[type(node.op)](), node.values)
        case ast.BinOp() if type(node.op) in SWAPS:
            return ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
        case ast.AugAssign() if type(node.op) in SWAPS:
            return ast.AugAssign(node.target, SWAPS[type(node.op)](), node.value)
        case ast.UnaryOp(op=ast.Not()):
            return node.operand
        case ast.IfExp():
            return ast.IfExp(node.test, node.orelse, node.body)
        case ast.Constant(value=bool()):
            return ast.Constant(not node.value)
        case ast.Constant(value=int() | float() as number) if not 0 < number < 1e-6:  # a tolerance of rounding
            return ast.Constant(2 * number if number >= 10 or number % 1 else number + 1)
        case ast.If() | ast.While():
            return type(node)(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    return None


def changes(path: Path) -> list[Change]:
    """Return the changes that a file allows, but for those of type hints and of `zip(..., strict=True)`, a check."""
    tree, kept = parsed(path), set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if hint := getattr(node, name, None):
                kept.update(map(id, ast.walk(hint)))
        if isinstance(node, ast.keyword) and node.arg == "strict":
            kept.add(id(node.value))
    nodes = enumerate(ast.walk(tree))
    return [Change(path, n, node.lineno) for n, node in nodes if id(node) not in kept and swapped(node) is not None]


def changed(change: Change) -> tuple[ast.Module, str]:
    """Return the tree of a file with a change, and the change in words."""
    tree = parsed(change.path)
    node = list(ast.walk(tree))[change.node]
    new = ast.fix_missing_locations(ast.copy_location(swapped(node), node))

    class Swap(ast.NodeTransformer):
        def visit(self, visited: ast.AST) -> ast.AST:
            return new if visited is node else super().visit(visited)

    before, after = (ast.unparse(shown).split("\n")[0] for shown in (node, new))
    return Swap().visit(tree), f"{before:.60} -> {after:.60}"


@cache
def names_read(path: Path) -> dict[str, set[str]]:
    """Return the names that each function of a file reads."""
    return {
        name: {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        for name, node in functions(parsed(path))
    }


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield the functions of a file and the methods of its classes, with their names."""
    for node in tree.body:
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, ast.FunctionDef):
                yield f"{node.name}.{inner.name}" if inner is not node else node.name, inner


def key(path: Path, function: str) -> str:
    """Return the name of a function in the records."""
    return f"{path.relative_to(METRICS)}:{function}"


def covers(node: ast.AST, line: int) -> bool:
    """Return whether a function, a class or another statement has a line, its decorators included."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) <= line <= node.end_lineno


def callers(change: Change) -> set[str]:
    """Return the functions whose tests may notice a change: its own, for a constant those that read it."""
    tree = parsed(change.path)
    for name, node in functions(tree):
        if covers(node, change.line):
            return {key(change.path, name)}
    [top] = [node for node in tree.body if covers(node, change.line)]
    targets = getattr(top, "targets", None) or [getattr(top, "target", top)]
    bound = {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    readers = {key(path, name) for path in sources() for name, words in names_read(path).items() if bound & words}
    return readers or {key(change.path, name) for name, _ in functions(tree)}


def loading(source: Callable[[Path], ast.Module | None]) -> None:
    """Let every import of a file take the tree that `source` returns for it, unless that is None."""
    original = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str):
        path = Path(loader.path)
        tree = source(path) if METRICS in path.parents else None
        return original(loader, fullname) if tree is None else compile(tree, loader.path, "exec")

    SourceFileLoader.get_code = get_code


def in_fork(run: Callable[[], int], seconds: float) -> int | None:
    """Return the exit status of a function in a process of its own, None if it takes longer than that."""

    def child() -> None:
        os.setsid()
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        os._exit(run())

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(seconds)
    with suppress(ProcessLookupError):  # also the servers that a test has started
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return None if process.exitcode == -signal.SIGKILL else process.exitcode


def with_marks(path: Path) -> ast.Module | None:
    """Return the tree of a file of the folders whose functions note in `CALLED` that they were called."""
    if path.parent.name not in FOLDERS or path.parent.parent != METRICS:
        return None
    tree = parsed(path)
    for name, node in functions(tree):
        note = ast.parse(f"__import__('sys').modules['__mutations__'].CALLED.add({key(path, name)!r})").body
        node.body[bool(ast.get_docstring(node)) : 0] = note
    return ast.fix_missing_locations(tree)


def processor_seconds() -> float:
    """Return the processor time of this process and those that it has started."""
    return sum(os.times()[:4])


class Recorder:
    """A plugin of pytest: how long each passed test takes, and which functions it calls."""

    def __init__(self) -> None:
        self.tests: dict[str, list] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Note the functions that a test calls."""
        CALLED.clear()
        start, name = processor_seconds(), item.nodeid.partition("[")[0]
        result = yield
        seconds, called = self.tests.get(name, (0.0, ()))
        self.tests[name] = [round(seconds + processor_seconds() - start, 2), sorted(CALLED.union(called))]
        return result

    def pytest_runtest_logreport(self, report):
        """Leave out tests that fail or are skipped here."""
        if not report.passed:
            self.failed.add(report.nodeid.partition("[")[0])


def record(path: Path, target: Path) -> None:
    """Write {test: [seconds, functions that it calls]} of a test file, or of the doctests of a file."""

    def run() -> int:
        sys.modules["__mutations__"] = sys.modules[__name__]
        loading(with_marks)
        recorder = Recorder()
        pytest.main([str(path), *OPTIONS, "-m", "not slow"], plugins=[recorder])
        tests = {name: test for name, test in recorder.tests.items() if name not in recorder.failed and test[1]}
        target.write_text(json.dumps(tests, indent=0), encoding="utf-8")
        return 0

    if in_fork(run, 900) is None:
        target.write_text("{}", encoding="utf-8")


def recorded(renew: bool) -> dict[str, list]:
    """Return the records of all test files, and make those that are missing or older than their file."""
    RECORDS.mkdir(parents=True, exist_ok=True)
    paths = [path for path in (ROOT / "tests").glob("test_*.py") if not any(word in path.stem for word in LEFT_OUT)]
    paths += [
        path for folder in FOLDERS for path in (METRICS / folder).glob("*.py") if ">>>" in path.read_text("utf-8")
    ]
    tests = {}
    for path in sorted(paths):
        target = RECORDS / f"{path.parent.name}_{path.stem}.json"
        if renew or not target.exists() or target.stat().st_mtime < path.stat().st_mtime:
            print(f"recording {path.relative_to(ROOT)}", file=sys.stderr, flush=True)
            record(path, target)
        tests |= json.loads(target.read_text(encoding="utf-8"))
    return tests


def is_caught(change: Change, tests: dict[str, list]) -> bool:
    """Return whether one of the tests of a change fails with it, or never ends."""
    wanted, seconds, chosen = callers(change), 0.0, []
    for name, (duration, called) in sorted(tests.items(), key=lambda test: test[1][0]):
        if wanted.intersection(called) and (seconds + duration < MOST_SECONDS or not chosen):
            seconds += duration
            chosen.append(name)
    if not chosen:
        return False

    def run() -> int:
        tree, _ = changed(change)
        loading(lambda path: tree if path == change.path else None)
        return int(pytest.main([*chosen, *OPTIONS, "-x"]))

    return in_fork(run, 120 + 20 * seconds) != 0


def main() -> None:
    """Print which changes are caught, and the share."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--number", type=int, default=60, help="of lines")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="paths that contain this")
    parser.add_argument("--record", action="store_true", help="record again which tests call which functions")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        os.environ |= {"HF_HOME": folder, "HF_EVALUATE_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        os.chdir(ROOT)
        for name in HEAVY:
            importlib.import_module(name)
        tests = recorded(arguments.record)
        lines: dict[tuple[Path, int], list[Change]] = {}
        for change in [change for path in sources() if arguments.only in str(path) for change in changes(path)]:
            lines.setdefault((change.path, change.line), []).append(change)
        chance = random.Random(arguments.seed)
        sample = [
            chance.choice(lines[line]) for line in chance.sample(sorted(lines), min(arguments.number, len(lines)))
        ]
        survived = 0
        for change in sample:
            caught = is_caught(change, tests)
            survived += not caught
            place = f"{change.path.relative_to(ROOT)}:{change.line}"
            print(f"{'caught  ' if caught else 'SURVIVED'} {place} {changed(change)[1]}", flush=True)
        print(f"{len(sample) - survived} of {len(sample)} changes were caught")


if __name__ == "__main__":
    main()
