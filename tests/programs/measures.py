"""Prints the measures of the house: lines, files that a row passes, import circles, synthesized signatures, names.

python -m tests.programs.measures
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import networkx

ROOT = Path(__file__).resolve().parents[2]
METRICS = ROOT / "metrics"
NAMES = ("aev", "ava", "f_meta", "grounding", "kpqa")
MOST = {"product": 34_000, "tests": 21_000, "score": 28, "compute": 14, "circles": 0, "signatures": 1, "names": 3}
_TRACED = """
import sys
files = set()
def see(frame, event, argument):
    path = frame.f_code.co_filename
    if {metrics!r} in path and frame.f_code.co_flags & 1:  # of a function, not the body of a module or class
        files.add(path)
sys.setprofile(see)
import threading
threading.setprofile(see)
{code}
sys.setprofile(None)
print("files:", len(files), file=sys.stderr)
"""


def python_files(*folders: str) -> list[Path]:
    """Return the Python files of folders of the repository."""
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return sorted(path for path in paths if "build" not in path.relative_to(ROOT).parts)


def lines(*folders: str) -> int:
    """Return the number of lines of Python in folders."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in python_files(*folders))


def imported(path: Path) -> Iterator[Path]:
    """Yield the modules of the product that a file imports, anywhere in it."""
    package = path.parent.relative_to(METRICS).parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        folder = METRICS.joinpath(*package[: len(package) - node.level + 1])
        target = folder.joinpath(*(node.module or "").split(".")) if node.module else folder
        for name in [None, *(alias.name for alias in node.names)]:
            file = (target / name if name else target).with_suffix(".py")
            if file.is_file():
                yield file


def circles() -> list[set[Path]]:
    """Return the sets of modules that import each other, directly or not."""
    graph = networkx.DiGraph((path, other) for path in python_files("metrics") for other in imported(path))
    return [circle for circle in networkx.strongly_connected_components(graph) if len(circle) > 1]


def metric_names() -> list[str]:
    """Return the places outside the folders of the metrics that compare with the name of a metric."""
    found = []
    for path in python_files("metrics"):
        if path.relative_to(METRICS).parts[0] in NAMES:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
                if any(text in NAMES for text in texts if isinstance(text, str)):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def synthesized() -> list[str]:
    """Return the places that write a signature."""
    pattern = re.compile(r"__signature__\s*=")
    return [
        f"{path.relative_to(ROOT)}:{number}"
        for path in python_files("metrics", "spaces", "training")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def files_passed(code: str) -> int:
    """Return the number of files of the product whose functions run during some code, in a process of its own."""
    script = _TRACED.format(metrics=str(METRICS), code=code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    match = re.search(r"files: (\d+)", done.stderr)
    if match is None:
        raise SystemExit(done.stderr)
    return int(match[1])


def measures() -> dict[str, tuple[object, object]]:
    """Return {measure: (value, most)}."""
    row = '{"question": "Who wrote Hamlet?", "prediction": "It was Shakespeare.", "references": ["Shakespeare"]}'
    score = (
        "import tempfile, pathlib, genqa_metrics.cli as cli\n"
        f"path = pathlib.Path(tempfile.mkdtemp(), 'rows.jsonl'); path.write_text({row!r})\n"
        "try:\n    cli.app(['score', str(path), '--metric', 'ava'])\nexcept SystemExit: pass"
    )
    compute = (
        "import genqa_metrics\nmetric = genqa_metrics.load('ava')\n"
        "metric.compute(questions=['Who?'], predictions=['Ann'], references=['Bob'])"
    )
    passed = {"score": files_passed(score), "compute": files_passed(compute)}
    return {
        "lines of Python, product": (lines("metrics", "training", "spaces"), MOST["product"]),
        "lines of Python, tests": (lines("tests"), MOST["tests"]),
        "files of one row, score --metric ava": (passed["score"], MOST["score"]),
        "files of one row, load('ava').compute": (passed["compute"], MOST["compute"]),
        "import circles": (len(circles()), MOST["circles"]),
        "synthesized signatures": (len(synthesized()), MOST["signatures"]),
        "names of metrics in conditions": (len(metric_names()), MOST["names"]),
        "stub files": (len(list(METRICS.rglob("*.pyi"))), 0),
    }


if __name__ == "__main__":
    for name, (value, most) in measures().items():
        print(f"{name:40} {value:>7,} (at most {most:,})")
    for circle in circles():
        print("circle:", *sorted(str(path.relative_to(METRICS)) for path in circle))
    print("signatures:", *synthesized())
    print("names:", *metric_names())
