"""Everything that is fast here beside its peers, in one run on the same rows; writes the tables of a page.

    python -m tests.programs.benchmarks.bench_all --data DATA --write tests/programs/benchmarks/results/benchmarks.md

DATA holds judgments/ and question_generation/. Every contestant has a process of its own, one thread, and the first of
the same rows: from nothing to its first row, then all its rows twice, of which the quicker run counts. Slow ones get
fewer rows. Times are processor time, so that other work on the machine does not count (on a GPU: wall time); what
shares a core or a cache with it still slows it. On a GPU: `--device cuda`, and `--compile` adds the judge through
torch.compile.
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

from tests.programs.benchmarks.contestants import (
    AEV,
    AVA,
    BERTSCORE,
    CROSS_ENCODER,
    CROSS_INT8,
    KPQA,
    WORD_ROWS,
    contestants,
    exported,
    question_pairs,
    read,
)
from tests.programs.benchmarks.report import facts, machine, megabytes, table, time_inside, timed
from training.common import around_markers, put_between_markers

DATA = ("evouna_nq", "evouna_tq")
PACKAGES = ["genqa-metrics", "torch", "transformers", "onnxruntime", "sentence-transformers", "torchmetrics"]
PACKAGES += ["bert-score", "sacrebleu", "rouge-score", "pycocoevalcap"]
LOAD = "import torch, build the model, load its weights"
MARKER = "speed beside others"
MANY, CORES, PRICE = 100_000_000, 64, 0.04  # rows, cores and dollars a core-hour of the sum on paper
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


def measured(name: str, path: Path, fast: dict[str, Path], arguments: argparse.Namespace) -> dict:
    """Return start-up, rate and memory of one contestant, whose process this is.

    Returns:
        "start_up", processor seconds from the beginning of the process to its first score; "rate", rows a second;
        "rows"; "mb", the peak of the process's memory.
    """
    warnings.simplefilter("ignore")
    one = next(one for one in contestants(fast, arguments.device, arguments.compile) if one.name == name)
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, one.rows)]
    run = one.make()
    run(rows[:1])
    start_up = time.process_time()
    run(rows[:FIRST])
    seconds = min(timed(partial(run, rows), arguments.device)[0] for _ in range(2))
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


def encoder_share(rows: list[dict], device: str) -> list[dict]:
    """Return what share of the time is the encoder's, and how near its arithmetic is to the machine's."""
    import torch
    from genqa_metrics.ava.judging import Judge
    from genqa_metrics.ava.loading import load_judge
    from genqa_metrics.core.judge_reading import encoded
    from genqa_metrics.kpqa.loading import load_models

    from tests.programs.benchmarks import bench_kpqa
    from tests.programs.benchmarks.contestants import one_reference, triples_of

    peak = bench_kpqa.matrix_rate(torch.float32, device)
    judge, models = load_judge(device=device), load_models(device=device)
    triples, single = list(dict.fromkeys(triples_of(rows))), one_reference(rows)
    (judged,) = encoded(judge.tokenizer, judge.configuration, triples, judge.max_length, judge.marks)
    asked = dict.fromkeys((row["question"], text) for row in single for text in (row["candidate"], *row["references"]))
    weighted = models.tokenizer(*map(list, zip(*asked, strict=True)), truncation="only_second", max_length=512)
    pieces = {
        AVA: sum(len(inputs["input_ids"]) for inputs in judged),
        KPQA: sum(map(len, weighted["input_ids"])),
    }
    runs = {
        AVA: (judge.model, lambda: Judge(judge).logits(triples_of(rows))),
        KPQA: (models.predictor, lambda: bench_kpqa.all_scores(models, single)),
    }
    found = []
    for name, (model, run) in runs.items():
        inside, whole = min((time_inside([model], run, device) for _ in range(2)), key=lambda times: times[1])
        rate = bench_kpqa.matrix_operations(model, pieces[name]) / inside
        found.append(
            {"metric": name, "share": inside / whole, "gflop_per_second": rate, "peak": peak, "of_peak": rate / peak}
        )
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


def targets(result: dict) -> list[tuple[str, str, float, bool]]:
    """Return what was wanted, the limit, what was measured, and whether it is reached."""
    rate = {name: found["rate"] for name, found in result["contestants"].items()}
    start = result["start_up"]
    fast = "onnx int8" if f"{AVA}, onnx int8" in rate else "bfloat16"
    wanted = [
        ("KPQA to torchmetrics' BERTScore, same texts encoded", 2.0, rate[KPQA] / rate[BERTSCORE]),
        (f"KPQA, {fast}, to the same", 2.5, rate[f"{KPQA}, {fast}"] / rate[BERTSCORE]),
        ("AVA to CrossEncoder.predict", 1.0, rate[AVA] / rate[CROSS_ENCODER]),
        (f"AVA, {fast}: rows a second and core", 280.0, rate[f"{AVA}, {fast}"]),
    ]
    if CROSS_INT8 in rate:
        wanted.append((f"AVA, {fast}, to {CROSS_INT8}", 1.0, rate[f"{AVA}, {fast}"] / rate[CROSS_INT8]))
    for share in result["encoder"]:
        wanted.append((f"{share['metric']}: the encoder's share of the time", 0.85, share["share"]))
        wanted.append((f"{share['metric']}: its matrices, share of the measured peak", 0.80, share["of_peak"]))
    wanted += [
        (f"{name}, {fast}, to 32-bit floats", 1.8, rate[f"{name}, {fast}"] / rate[name]) for name in (AVA, KPQA)
    ]
    found = [(what, f"at least {limit:g}", value, value >= limit) for what, limit, value in wanted]
    most = [
        ("genqa-metrics --help, seconds", 0.5, start["genqa-metrics --help"]),
        ("ava: from the command to the scores of ten rows, seconds", 4.0, start["genqa-metrics score --metric ava"]),
        ("the same, onnx int8", 2.0, start["genqa-metrics score --metric ava, onnx int8"]),
    ]
    return found + [(what, f"at most {limit:g}", value, value <= limit) for what, limit, value in most]


WHY = {
    "BERTScore": "the encoder does the same arithmetic for both, so the ratio ends at what padding and overhead cost "
    "the peer. In 8-bit integers KPQA is ahead of it by more.",
    "measured peak": "softmax, GELU and normalization are in the time and not in the count, and the peak is the best "
    "of 50 products while the encoder's time is an average, slowed by other work on the machine.",
    "rows a second and core": "the encoder has nearly all of the time, and runs on a hyperthread whose core another "
    "program may share. Where rows have several references, `enough` saves a part of it, see below.",
    "from the command": "most of it are torch's and transformers' own imports; in 8-bit integers neither is imported.",
}
TITLES = {
    "judge": "Question, references and answer, read as one pair of texts by one encoder",
    "kpqa": "Question with answer and question with reference, two texts a row, by the same encoder",
    "words": "Answer and reference, by words",
}
ABOUT = {
    "judge": "The peers are the judge's own weights in sentence-transformers, and encoders of the size of two "
    "published judges with weights drawn from a seed: their speed is that of the trained ones, on the same texts and "
    "with the same word pieces. sentence-transformers' own ONNX backend does not run with transformers 5; what it "
    "runs, `quantize_dynamic` and a session, was put in the model's place. PEDANTS (`qa-metrics`) downloads its "
    "models when it is first called and pins an old scikit-learn: left out.",
    "kpqa": "`evaluate`'s module bertscore calls the package bert_score; its script is on the Hub only: left out.",
    "words": "",
}
ABOUT_MANY = (
    f"Nobody has run {MANY:,} rows: the rates above, multiplied, at {PRICE} dollars for a core-hour (an assumption: "
    "put in yours). A row has one reference; longer texts and further references cost more. Memory does not grow with "
    "the rows, which are read and written in windows; `score` runs one process a machine and a window a core, "
    "`--engine ray` an actor a core."
)
ABOUT_ENCODER = (
    "GFLOP a second count weight matrices and real tokens, no padding and no attention. The peak is the best product "
    "of one such matrix in torch, in the same process."
)


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
    """Yield title, text, header and rows of every part of the tables, targets first."""
    of, pairs = result["machine"], result["question_pairs"]
    ours, peer = pairs
    yield (
        "Targets",
        "",
        ["what", "wanted", "measured", ""],
        [
            [what, limit, f"{value:.3g}", "" if good else "**missed**"]
            for what, limit, value, good in result["targets"]
        ],
    )
    missed = [what for what, _, _, good in result["targets"] if not good]
    known = [f"- {what}: {why}" for what in missed for key, why in WHY.items() if key in what]
    if known:
        yield "Why targets are missed", "\n".join(known), [], []
    for group, title in TITLES.items():
        yield title, ABOUT[group], *field_table(result, group)
    if result["device"] == "cpu":
        names = [AEV, *(name for name in result["contestants"] if name.startswith((AVA, KPQA)))]
        hours = {name: MANY / result["contestants"][name]["rate"] / 3600 for name in names}
        rows = [[name, f"{h:,.0f}", f"{h / CORES:,.1f}", f"{h * PRICE:,.0f}"] for name, h in hours.items()]
        header = ["", "core-hours", f"hours on {CORES} cores", "dollars"]
        yield f"{MANY:,} rows on paper", ABOUT_MANY, header, rows
    text = f"{ours}: {pairs[ours]:,.0f} pairs a second, {pairs[ours] / pairs[peer]:.1f} times {peer}."
    yield "Pairs of generated questions", text, [], []
    names = ["metric", "share", "gflop_per_second", "peak", "of_peak"]
    rows = [[row["metric"], *(f"{row[name]:.3g}" for name in names[1:])] for row in result["encoder"]]
    yield "The encoder", ABOUT_ENCODER, ["", "share of the time", "GFLOP a second", "peak", "of the peak"], rows
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
    clocks = "processor time: other work on the machine does not count, but takes cache and shared cores away"
    lines = [
        f"Written by `{result['command']}`, all in one run, on the first of the same rows: different questions with "
        "one answer each, so that nothing is encoded twice. Every contestant has a process of its own and one thread; "
        f"times are {clocks if result['device'] == 'cpu' else 'wall time, the device idle before and after'}. MB is "
        "the peak of the whole process, start-up its processor seconds from nothing to the first score, imports and "
        "loading included.",
    ]
    for title, text, header, rows in sections(result):
        lines += ["", f"## {title}", *(["", text] if text else []), *(["", *table(header, rows)] if header else [])]
    return "\n".join(lines)


def main() -> None:
    """Measure, and write or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with judgments/ and question_generation/")
    parser.add_argument("--device", default="cpu", help="device of torch")
    parser.add_argument("--compile", action="store_true", help="also run the judge through torch.compile")
    parser.add_argument("--write", type=Path, metavar="PAGE.md", help=f"write between its lines {MARKER}; or print")
    parser.add_argument("--output", type=Path, help="write all numbers here as JSON")
    parser.add_argument("--only", help="measure the contestants of this group only, and print")
    parser.add_argument("--contestant", help=argparse.SUPPRESS)  # whose process this is
    parser.add_argument("--rows_file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--fast", type=Path, help=argparse.SUPPRESS)  # checkpoints that are exported already
    arguments = parser.parse_args()
    if arguments.contestant:
        fast = {metric: arguments.fast / metric for metric in ("ava", "kpqa")}
        print(json.dumps(measured(arguments.contestant, arguments.rows_file, fast, arguments)))
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
        field = [
            one
            for one in contestants(fast, arguments.device, arguments.compile)
            if arguments.only in (None, one.group)
        ]
        found = {one.name: {"group": one.group} | measured_apart(one.name, path, folder) for one in field}
        if arguments.only:
            print("\n".join(table(*field_table({"contestants": found}, arguments.only))))
            return

        import torch

        torch.set_num_threads(1)
        if arguments.device != "cpu":
            begun["cpu"] = f"{torch.cuda.get_device_name(arguments.device)}, {begun['cpu']}"
        result = {
            "device": arguments.device,
            "contestants": found,
            "encoder": encoder_share(rows[:200], arguments.device),
            "question_pairs": question_pairs(arguments.data / "question_generation" / "qamr.test.jsonl.gz"),
            "start_up": start_ups(fast, rows, Path(temporary)),
            "machine": begun,
            "load_at_end": machine()["load"][0],
            "minutes": (time.monotonic() - start) / 60,
        }
    result["targets"] = targets(result)
    result |= facts([judgments / f"{name}.train.jsonl.gz" for name in DATA], PACKAGES)
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if arguments.write:
        put_between_markers(arguments.write, MARKER, page(result))
    else:
        print(page(result))


if __name__ == "__main__":
    main()
