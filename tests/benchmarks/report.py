"""What every benchmark says about itself: command, machine, versions, digests of the data."""

import hashlib
import json
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
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


def timed(function: Callable) -> tuple[float, object]:
    """Return the processor time of a call in seconds, and its result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def megabytes(field: str) -> float:
    """Return a field of this process's status, VmRSS or VmHWM, in MB (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def peak_of(function: Callable) -> dict:
    """Return what this process holds before a call, the peak of the call above it, and its processor time."""
    before = megabytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak counts from here
    elapsed, _ = timed(function)
    peak = megabytes("VmHWM") - before
    return {"before_mb": round(before), "peak_above_mb": round(peak), "processor_seconds": round(elapsed)}


def measured_apart(counts: list[int]) -> list[dict]:
    """Return what this benchmark prints with `--memory_of COUNT` for every count, each in a process of its own."""
    module = f"tests.benchmarks.{Path(sys.argv[0]).stem}"
    measured = []
    for count in counts:
        command = [sys.executable, "-m", module, *sys.argv[1:], "--memory_of", str(count)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        measured.append(json.loads(done.stdout.splitlines()[-1]))
    return measured
