"""Everything that is fast here beside its peers, in one run on the same rows; writes the tables of a page.

    python -m tests.programs.benchmarks.bench_all --data DATA --write tests/programs/benchmarks/results/benchmarks.md

DATA holds judgments/. Every contestant has a process of its own, one thread, and the first of the same rows: from
nothing to its first row, then all its rows twice, of which the quicker run counts. Times are processor time, so that
other work on the machine does not count; what shares a core or a cache with it still slows it.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.programs.benchmarks.contestants import WORD_ROWS, contestants, exported, read
from tests.programs.benchmarks.report import facts, machine, megabytes, timed
from training.common import around_markers, markdown_table, put_between_markers

DATA = ("evouna_nq", "evouna_tq")
PACKAGES = ["genqa-metrics", "torch", "transformers", "onnxruntime", "sentence-transformers", "torchmetrics"]
PACKAGES += ["sacrebleu", "rouge-score"]
LOAD = "import torch, build the model, load its weights"
MARKER = "speed beside others"
FIRST = 10  # rows that are scored to set up what libraries set up at first use


def different_rows(data: Path, count: int) -> list[dict]:
    """Return rows of different questions, so that nothing need be encoded twice.

    Where there are not enough, further rounds of the same rows follow, with their number behind question and answer.
    """
    by_question: dict[str, list[dict]] = {}
    for name in DATA:
        for row in read(data / f"{name}.train.jsonl.gz"):
            by_question.setdefault(row["question"], []).append(row)
    rows = [of_one[i % len(of_one)] for i, of_one in enumerate(by_question.values())]  # of every system some
    random.Random(0).shuffle(rows)
    found = rows[:count]
    while len(found) < count:
        turn = len(found) // len(rows)
        more = [row | {name: f"{row[name]} {turn}" for name in ("question", "candidate")} for row in rows]
        found += more[: count - len(found)]
    return found


def measured(name: str, path: Path, fast: dict[str, Path]) -> dict:
    """Return start-up, rate and memory of one contestant, whose process this is.

    Returns:
        "start_up", processor seconds from the beginning of the process to its first score; "rate", rows a second;
        "rows"; "mb", the peak of the process's memory.
    """
    warnings.simplefilter("ignore")
    one = next(one for one in contestants(fast) if one.name == name)
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, one.rows)]
    run = one.make()
    run(rows[:1])
    start_up = time.process_time()
    run(rows[:FIRST])
    seconds = min(timed(partial(run, rows))[0] for _ in range(2))
    return {"start_up": start_up, "rate": len(rows) / seconds, "rows": len(rows), "mb": round(megabytes("VmHWM"))}


def measured_apart(name: str, path: Path, folder: Path) -> dict:
    """Return what a process of its own measures of a contestant."""
    given = ["--contestant", name, "--rows_file", str(path), "--fast", str(folder)]
    command = [sys.executable, "-m", "tests.programs.benchmarks.bench_all", *sys.argv[1:], *given]
    quiet = {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "TQDM_DISABLE": "1"}
    settings = os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"} | quiet
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=settings)
    found = json.loads(done.stdout.splitlines()[-1])
    print(f"{name}: {found['rate']:,.1f} rows a second, {found['mb']} MB", file=sys.stderr, flush=True)
    return found


def start_ups(fast: dict[str, Path], rows: list[dict], folder: Path) -> dict[str, float]:
    """Return the processor seconds of whole processes, the quicker of two runs; `score` gets ten rows."""
    from genqa_metrics.core.checkpoints import base_encoder

    lines = (json.dumps(row | {"prediction": row["candidate"]}) for row in rows[:10])
    (folder / "ten.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = str(Path(sys.executable).with_name("genqa-metrics"))
    score = [command, "score", str(folder / "ten.jsonl"), "--metric"]
    load = "import torch\nfrom transformers import AutoModelForSequenceClassification as M\nM.from_pretrained({!r})"
    onnx = {m: ["--set", f"{m}.backend=onnx", "--set", f"{m}.checkpoint={fast[m]}"] for m in fast}
    processes = {
        "genqa-metrics --help": [command, "--help"],
        "import torch": [sys.executable, "-c", "import torch"],
        LOAD: [sys.executable, "-c", load.format(str(base_encoder()))],
        "genqa-metrics score --metric ava": [*score, "ava"],
        "genqa-metrics score --metric kpqa": [*score, "kpqa"],
        "genqa-metrics score --metric ava, onnx int8": [*score, "ava", *onnx["ava"]],
        "genqa-metrics score --metric kpqa, onnx int8": [*score, "kpqa", *onnx["kpqa"]],
        "import evaluate": [sys.executable, "-c", "import evaluate"],
    }
    found = dict.fromkeys(processes, float("inf"))
    for _ in range(2):
        for name, process in processes.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(process, check=True, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found[name] = min(found[name], spent)
    return found


TITLES = {
    "judge": "Question, references and answer, read as one pair of texts by one encoder",
    "kpqa": "Question with answer and question with reference, two texts a row, by the same encoder",
    "words": "Answer and reference, by words",
}


def field_table(result: dict, group: str) -> tuple[list[str], list[list]]:
    """Return header and rows of the table of a group of contestants."""
    field = {name: found for name, found in result["contestants"].items() if found["group"] == group}
    ours, first = next(iter(field.items()))
    rows = [
        [
            name,
            f"{first['rate'] / found['rate']:.2f}",
            f"{found['rate']:,.0f}" if found["rate"] >= 10 else f"{found['rate']:.1f}",
            f"{1e6 / found['rate'] / 3600:.3g}",
            f"{found['mb']:,}",
            f"{found['start_up']:.1f}",
            f"{found['rows']:,}",
        ]
        for name, found in field.items()
    ]
    header = ["", f"{ours} is so many times as fast", "rows a second", "core-hours a million", "MB", "start-up, s"]
    return [*header, "rows measured"], rows


def sections(result: dict) -> Iterator[tuple[str, str, list[str], list[list]]]:
    """Yield title, text, header and rows of every part of the tables."""
    of = result["machine"]
    for group, title in TITLES.items():
        yield title, "", *field_table(result, group)
    rows = [[name, f"{seconds:.2f}"] for name, seconds in result["start_up"].items()]
    yield "Starting", "Processor seconds of whole processes; `score` scores ten rows.", ["", "seconds"], rows
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    text = (
        f"{of['cpu']}, {of['cores']} cores given ({', '.join(of['instructions'])}), {of['memory_gib']:g} GiB, load "
        f"{of['load'][0]:g} at the beginning, {result['load_at_end']:g} at the end (this run is 1 of it), "
        f"{result['minutes']:.0f} minutes; Python {result['python']}, {versions}."
    )
    rows = [[name, f"`{digest}`"] for name, digest in result["data"].items()]
    yield "Machine and data", text, ["file", "SHA-256"], rows


def page(result: dict) -> str:
    """Return everything as Markdown."""
    lines = [
        f"Written by `{result['command']}`, all in one run, on the first of the same rows: different questions with "
        "one answer each, so that nothing is encoded twice. Every contestant has a process of its own and one thread; "
        "times are processor time: other work on the machine does not count, but takes cache and shared cores away. "
        "MB is the peak of the whole process, start-up its processor seconds from nothing to the first score, imports "
        "and loading included."
    ]
    for title, text, header, rows in sections(result):
        lines += [
            "",
            f"## {title}",
            *(["", text] if text else []),
            *(["", markdown_table(header, rows)] if header else []),
        ]
    return "\n".join(lines)


def main() -> None:
    """Measure, and write or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with judgments/")
    parser.add_argument("--write", type=Path, metavar="PAGE.md", help=f"write between its lines {MARKER}; or print")
    parser.add_argument("--output", type=Path, help="write all numbers here as JSON")
    parser.add_argument("--contestant", help=argparse.SUPPRESS)  # whose process this is
    parser.add_argument("--rows_file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--fast", type=Path, help=argparse.SUPPRESS)  # checkpoints that are exported already
    arguments = parser.parse_args()
    if arguments.contestant:
        fast = {metric: arguments.fast / metric for metric in ("ava", "kpqa")}
        print(json.dumps(measured(arguments.contestant, arguments.rows_file, fast)))
        return
    if arguments.write:
        around_markers(arguments.write, MARKER)

    begun, start = machine(), time.monotonic()
    judgments = arguments.data / "judgments"
    with TemporaryDirectory() as temporary:
        folder = arguments.fast or Path(temporary)
        fast = exported(folder)
        rows = different_rows(judgments, WORD_ROWS)
        path = Path(temporary) / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        found = {one.name: {"group": one.group} | measured_apart(one.name, path, folder) for one in contestants(fast)}
        result = {
            "contestants": found,
            "start_up": start_ups(fast, rows, Path(temporary)),
            "machine": begun,
            "load_at_end": machine()["load"][0],
            "minutes": (time.monotonic() - start) / 60,
        }
    result |= facts([judgments / f"{name}.train.jsonl.gz" for name in DATA], PACKAGES)
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if arguments.write:
        put_between_markers(arguments.write, MARKER, page(result))
    else:
        print(page(result))


if __name__ == "__main__":
    main()
