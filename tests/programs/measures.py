"""Prints the measures of the code: its size, the files that a row passes, import circles, and names.

python -m tests.programs.measures

What runs while a module is imported is not part of a row's way.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import networkx

from tests.programs.names import all_findings

ROOT = Path(__file__).resolve().parents[2]
METRICS = ROOT / "metrics"
GOALS = {
    "lines of Python, product": 33_000,
    "lines of Python, tests": 20_000,
    "score --metric ava: files": 22,
    "score --metric ava: changes of file": 350,
    "score --metric ava: times that the input is opened": 1,
    "load('ava').compute: files": 12,
    "import circles": 0,
    "synthesized signatures": 0,
    "banned names": 0,
    "vague names": 300,
    "strings that name a metric": 40,
}
# Two rows, scored by the command or in Python, with a record of the files whose functions are called.
_FOLLOWED = """
import json, pathlib, sys, tempfile, threading
questions = ["Who wrote Emma?", "How many legs has an insect?"]
predictions, references = ["Jane Austen did.", "It has eight legs."], ["Jane Austen", "An insect has six legs."]
input_file = pathlib.Path(tempfile.mkdtemp(), "rows.jsonl")
rows = zip(questions, predictions, references)
input_file.write_text("".join(json.dumps(dict(question=q, prediction=p, references=[r])) + "\\n" for q, p, r in rows))
files, opened = [], []
def imports(frame):
    while frame := frame.f_back:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename != "<string>":
            return True
def follow(frame, event, argument):
    path = frame.f_code.co_filename
    if event == "call" and {metrics!r} in path and frame.f_code.co_flags & 1 and not imports(frame):
        files.append(path)
{before}
sys.addaudithook(lambda event, details: event == "open" and opened.append(details[0] == str(input_file)))
sys.setprofile(follow), threading.setprofile(follow)
try:
    {code}
except SystemExit:
    pass
sys.setprofile(None), threading.setprofile(None)
changes = sum(path != before for path, before in zip(files[1:], files))
print("followed:", len(set(files)), changes, sum(opened), file=sys.stderr)
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


def synthesized() -> int:
    """Return the number of lines that write a signature."""
    texts = [path.read_text(encoding="utf-8") for path in python_files("metrics", "spaces", "training")]
    return sum(len(re.findall(r"__signature__\s*=", text)) for text in texts)


def followed(code: str, before: str = "") -> tuple[int, ...]:
    """Return how many files some code passes, how often the file changes, and how often the input is opened."""
    script = _FOLLOWED.format(metrics=f"{METRICS}/", code=code, before=before)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    match = re.search(r"followed: (\d+) (\d+) (\d+)", done.stderr)
    if match is None:
        raise SystemExit(done.stderr)
    return tuple(map(int, match.groups()))


def measures() -> dict[str, int]:
    """Return the measures by the names of `GOALS`."""
    score = followed(
        "command(['score', str(input_file), '--metric', 'ava'])", "from genqa_metrics.cli import app as command"
    )
    compute = followed(
        "load('ava').compute(questions=questions, predictions=predictions, references=references)",
        "from genqa_metrics import load",
    )
    numbers = [
        lines("metrics", "training", "spaces"),
        lines("tests"),
        *score,
        compute[0],
        len(circles()),
        synthesized(),
    ]
    names = Counter(kind for kind, _, _ in all_findings())
    return dict(zip(GOALS, numbers, strict=False)) | dict(names)


if __name__ == "__main__":
    for name, number in measures().items():
        print(f"{name:52} {number:>7,}   goal {GOALS[name]:,}")
