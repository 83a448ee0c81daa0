"""What every benchmark says about itself: command, machine, versions, digests of the data."""

import argparse
import gzip
import hashlib
import json
import os
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


def quickest(runs: dict[str, Callable], repeats: int) -> tuple[dict[str, float], dict[str, object]]:
    """Return the processor seconds of the quickest of some runs of each, which take turns, and the last results."""
    seconds, results = dict.fromkeys(runs, float("inf")), {}
    for _ in range(repeats):
        for name, run in runs.items():
            elapsed, results[name] = timed(run)
            seconds[name] = min(seconds[name], elapsed)
    return seconds, results


def time_inside(modules: list, function: Callable) -> tuple[float, float]:
    """Return the time of a call that is spent inside torch modules, and the time of the whole call, in seconds."""
    inside, started, hooks = 0.0, [], []

    def counted(module, inputs, output):
        nonlocal inside
        inside += time.process_time() - started[-1]

    for module in modules:
        hooks.append(module.register_forward_pre_hook(lambda *_: started.append(time.process_time())))
        hooks.append(module.register_forward_hook(counted))
    whole, _ = timed(function)
    for hook in hooks:
        hook.remove()
    return inside, whole


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


def measured_apart(counts: list) -> list[dict]:
    """Return what this benchmark prints with `--memory_of COUNT` for every count, each in a process of its own."""
    module = f"tests.programs.benchmarks.{Path(sys.argv[0]).stem}"
    measured = []
    for count in counts:
        command = [sys.executable, "-m", module, *sys.argv[1:], "--memory_of", str(count)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        measured.append(json.loads(done.stdout.splitlines()[-1]))
    return measured


def speed_or_memory(
    description: str, speed: Callable, memory_of: Callable | None = None, packages: tuple = ()
) -> None:
    """Run a benchmark of a metric on rows of a file, as its command line says, and print the result.

    Args:
        description: what `--help` prints.
        speed: called with the rows and the number of repeats; returns the result.
        memory_of: called with the rows and how many of them; returns what was measured. None: no memory.
        packages: distributions whose versions matter, beside genqa-metrics.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="JSON lines, gzip")
    parser.add_argument("--threads", type=int, default=1, help="of torch")
    parser.add_argument("--repeats", type=int, default=3, help="the quickest of so many runs counts")
    if memory_of:
        parser.add_argument("--memory", type=int, nargs="+", help="measure memory at these numbers of rows, not speed")
        parser.add_argument("--memory_of", type=int, help=argparse.SUPPRESS)  # the process that is measured
    parser.add_argument("--output", type=Path, help="write the result here as JSON")
    parser.set_defaults(memory=None, memory_of=None)
    arguments = parser.parse_args()

    if "torch" in packages:
        import torch

        torch.set_num_threads(arguments.threads)
    with gzip.open(arguments.data, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if arguments.memory_of:
        print(json.dumps(memory_of(rows, arguments.memory_of)))
        return
    if arguments.memory:
        result = {"memory": measured_apart(arguments.memory)}
    else:
        result = speed(rows, arguments.repeats)
    result |= facts([arguments.data], ["genqa-metrics", *packages])
    write(result, arguments.output)
