"""What every benchmark says about itself: command, machine, versions, digests of the data."""

import hashlib
import json
import platform
import shlex
import sys
from importlib.metadata import version
from pathlib import Path


def cpu_model() -> str:
    """Return the processor's name as the kernel gives it, or the architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def facts(data_files: list[Path], packages: list[str]) -> dict:
    """Return what is needed to run a benchmark again.

    Args:
        data_files: the files that were read.
        packages: the distributions whose versions matter.

    Returns:
        "command", "cpu", "python", "versions" by distribution and "data", the SHA-256 by file name.
    """
    words = [Path(word).name if Path(word).exists() else word for word in sys.argv[1:]]
    return {
        "command": shlex.join(["python", "-m", f"tests.benchmarks.{Path(sys.argv[0]).stem}", *words]),
        "cpu": cpu_model(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
        "data": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in data_files},
    }


def write(result: dict, output: Path | None) -> None:
    """Print the result as JSON on standard output, or write it to a file.

    Args:
        result: what was measured, with `facts`.
        output: path of a JSON file, or None.
    """
    text = json.dumps(result, indent=2, ensure_ascii=False)
    if output is None:
        print(text)
    else:
        output.write_text(text + "\n", encoding="utf-8")
