"""What every benchmark says about itself: command, machine, versions, digests of the data."""

import hashlib
import json
import os
import platform
import shlex
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


FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_int8", "amx_bf16")


def machine() -> dict:
    """Return what a machine is, as far as speed depends on it: processor, cores, instructions, memory, load."""
    try:
        words = set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
        memory = Path("/proc/meminfo").read_text(encoding="utf-8").split()[1]
    except OSError:
        words, memory = set(), 0
    return {
        "cpu": cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "instructions": [flag for flag in FLAGS if flag in words],
        "memory_gib": round(int(memory) / 2**20, 1),
        "load": [round(load, 1) for load in os.getloadavg()],
    }


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
        "command": shlex.join(["python", "-m", f"tests.programs.benchmarks.{Path(sys.argv[0]).stem}", *words]),
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
    """Return the processor seconds of a call, of all threads, and its result: other work does not count."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def megabytes(field: str) -> float:
    """Return a field of this process's status, VmRSS or VmHWM, in MB (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024
