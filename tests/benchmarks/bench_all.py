"""Everything that is fast here beside its peers, in one run on the same rows; writes a page of Markdown.

    python -m tests.benchmarks.bench_all --data DATA --write training/BENCHMARKS.md

DATA holds judgments/ and question_generation/. One thread; times are processor time, so that other work on the machine
does not count (on a GPU: wall time). Every contestant is run in turn on each number of rows, and the quickest of the
repeats counts. Memory and start-up are measured in processes of their own. On a GPU: `--device cuda`, and `--compile`
adds the judge through torch.compile.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from genqa_metrics.ava.judging import Judge, encoded
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.kpqa.loading import load_models
from genqa_metrics.kpqa.models import base_encoder
from transformers.utils import logging

from tests.benchmarks import bench_kpqa
from tests.benchmarks.bench_fast import AVA_DATA, KPQA_DATA, exported, largest_changes, quality, read
from tests.benchmarks.contestants import (
    AEV,
    AVA,
    BERTSCORE,
    CROSS_ENCODER,
    KPQA,
    Contestant,
    contestants,
    one_reference,
    question_pairs,
    triples_of,
)
from tests.benchmarks.report import facts, machine, measured_apart, peak_of, time_inside, timed

PACKAGES = ["genqa-metrics", "torch", "transformers", "onnxruntime", "sentence-transformers", "torchmetrics"]
PACKAGES += ["sacrebleu", "rouge-score", "pycocoevalcap"]
LOAD = "import torch, build the model, load its weights"


def different_rows(data: Path, count: int) -> list[dict]:
    """Return rows of different questions, so that nothing need be encoded twice.

    Where there are not enough, further rounds of the same rows follow, with their number behind question and answer.
    """
    by_question: dict[str, list[dict]] = {}
    for name in AVA_DATA:
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


def rates(field: list[Contestant], rows: list[dict], arguments: argparse.Namespace) -> dict:
    """Return rows a second, {name: {rows: rate}}; contestants run in turn."""
    found: dict[str, dict[int, float]] = {one.name: {} for one in field}
    for one in field:
        one.run(rows[:50])  # what libraries set up at first use
    device, few = arguments.device, arguments.ratio_rows
    for size in sorted({*arguments.sizes, few, arguments.cheap}):
        taken, best = rows[:size], {}
        for _ in range(arguments.repeats if size <= few else 1):
            for one in field:
                if size <= one.most:
                    seconds, _ = timed(partial(one.run, taken), device)
                    best[one.name] = min(seconds, best.get(one.name, float("inf")))
        for name, seconds in best.items():
            found[name][size] = size / seconds
            print(f"{size:>7,} rows, {name}: {size / seconds:,.0f} a second", file=sys.stderr, flush=True)
    return found


def shapes_of_input(field: list[Contestant], rows: list[dict], count: int, device: str) -> dict[str, float]:
    """Return how many times as quick as CrossEncoder the judge is on rows that repeat, and on rows of mixed length."""
    source = random.Random(0)
    few = rows[: count // 4]
    repeated = source.sample(few * 4, 4 * len(few))
    long = " ".join(row["candidate"] for row in rows[:200])
    mixed = [
        row if i % 10 else row | {"candidate": long[start : start + 600]}
        for i, (row, start) in enumerate(zip(rows[: count // 2], range(0, 10**6, 7), strict=False))
    ]
    by_name = {one.name: one.run for one in field}
    found = {}
    for name, taken in (("every row four times", repeated), ("every tenth answer long", mixed)):
        ours, theirs = (timed(partial(by_name[one], taken), device)[0] for one in (AVA, CROSS_ENCODER))
        found[name] = theirs / ours
    return found


def encoder_share(rows: list[dict], device: str) -> list[dict]:
    """Return what share of the time is the encoder's, and how near its arithmetic is to the machine's."""
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


def memory_of(name: str, field: list[Contestant], rows: list[dict]) -> dict:
    """Return the memory of this process while a contestant scores rows."""
    (one,) = (one for one in field if one.name == name)
    one.run(rows[:100])
    return {"name": name} | peak_of(lambda: one.run(rows))


def start_ups(fast: dict[str, Path], row: dict, folder: Path, repeats: int) -> dict[str, float]:
    """Return the processor seconds of whole processes, from nothing to the first score or the end of loading."""
    (folder / "one.jsonl").write_text(json.dumps(row | {"prediction": row["candidate"]}), encoding="utf-8")
    command = str(Path(sys.executable).with_name("genqa-metrics"))
    score = [command, "score", str(folder / "one.jsonl"), "--metric"]
    load = "import torch\nfrom transformers import AutoModelForSequenceClassification as M\nM.from_pretrained({!r})"
    onnx = {m: ["--set", f"{m}.backend=onnx", "--set", f"{m}.checkpoint={fast[m]}"] for m in fast}
    processes = {
        "Python alone": [sys.executable, "-c", ""],
        "genqa-metrics --help": [command, "--help"],
        "import torch": [sys.executable, "-c", "import torch"],
        LOAD: [sys.executable, "-c", load.format(str(base_encoder()))],
        "genqa-metrics score --metric ava": [*score, "ava"],
        "genqa-metrics score --metric kpqa": [*score, "kpqa"],
        "genqa-metrics score --metric ava, onnx int8": [*score, "ava", *onnx["ava"]],
        "genqa-metrics score --metric kpqa, onnx int8": [*score, "kpqa", *onnx["kpqa"]],
        "import evaluate": [sys.executable, "-c", "import evaluate"],
        "import sentence_transformers": [sys.executable, "-c", "import sentence_transformers"],
    }
    found = dict.fromkeys(processes, float("inf"))
    for _ in range(repeats):
        for name, process in processes.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(process, check=True, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found[name] = min(found[name], spent)
    return found


def targets(result: dict) -> list[tuple[str, str, float, bool]]:
    """Return what was wanted, the limit, what was measured, and whether it is reached."""
    few = result["ratio_rows"]
    rate = {name: by_rows[few] for name, by_rows in result["rates"].items()}
    start = result["start_up"]
    ours = [name for name in rate if name.startswith((AVA, KPQA, AEV))]
    first = {metric: start[f"genqa-metrics score --metric {metric}"] / start[LOAD] for metric in ("ava", "kpqa")}
    wanted = [
        ("KPQA to torchmetrics' BERTScore, same texts encoded", 2.0, rate[KPQA] / rate[BERTSCORE]),
        ("AVA to CrossEncoder.predict", 1.0, rate[AVA] / rate[CROSS_ENCODER]),
    ]
    wanted += [(f"AVA to CrossEncoder.predict, {name}", 1.0, value) for name, value in result["shapes"].items()]
    for share in result["encoder"]:
        wanted.append((f"{share['metric']}: the encoder's share of the time", 0.85, share["share"]))
        wanted.append((f"{share['metric']}: its matrices, share of the measured peak", 0.80, share["of_peak"]))
    fast = "onnx int8" if f"{AVA}, onnx int8" in rate else "bfloat16"
    wanted += [
        (f"{name}, {fast}, to 32-bit floats", 1.8, rate[f"{name}, {fast}"] / rate[name]) for name in (AVA, KPQA)
    ]
    change = result["changes"][fast]
    wanted.append((f"AVA, {fast}: the same verdict (the worst dev set)", 0.995, change["same_verdict"]))
    growth = [
        by_rows[max(by_rows)] / by_rows[min(by_rows)] for name, by_rows in result["rates"].items() if name in ours
    ]
    sizes = f"{max(result['rates'][AVA]):,} rows of a model, {max(result['rates'][AEV]):,} of words"
    wanted.append((f"rows a second at the most rows ({sizes}) to those at the fewest, the worst", 0.95, min(growth)))
    found = [(what, f"at least {limit:g}", value, value >= limit) for what, limit, value in wanted]
    most = [
        (f"{fast}: change of a correlation with people (the largest)", 0.005, abs(change["correlation"])),
        ("genqa-metrics --help, seconds", 0.5, start["genqa-metrics --help"]),
    ]
    most += [(f"{metric}: from the command to its first score, to: {LOAD}", 1.3, first[metric]) for metric in first]
    return found + [(what, f"at most {limit:g}", value, value <= limit) for what, limit, value in most]


WHY = {
    "BERTScore": "the encoder does the same arithmetic for both, so the ratio ends at what padding and overhead cost "
    "the peer. In 8-bit integers KPQA is ahead of it by more.",
    "measured peak": "softmax, GELU and normalization are in the time and not in the count, and the peak is the best "
    "of 50 products while the encoder's time is an average, slowed by other work on the machine.",
    "first score": "the command also imports peft, which merges the adapter, and joblib, which counts cores. The "
    "backend onnx needs no peft for AVA.",
    "most rows": "other work on the machine slowed the longer run.",
}
TITLES = {
    "judge": "Question, references and answer, read as one pair of texts by the same encoder",
    "kpqa": "Question with answer and question with reference, two texts a row, by the same encoder",
    "words": "Answer and reference, by words",
}
CLOCKS = {
    True: "One thread, in processor time: other work on the machine does not count, but takes cache away.",
    False: "In wall time, the device idle before and after.",
}
ABOUT_ENCODER = (
    "GFLOP a second count weight matrices and real tokens, no padding and no attention. The peak is the best product "
    "of one such matrix in torch, in the same process."
)


def field_table(result: dict, group: str) -> tuple[list[str], list[list]]:
    """Return header and rows of the table of a group of contestants."""
    few = result["ratio_rows"]
    rates = {name: result["rates"][name] for name, of in result["groups"].items() if of == group}
    ours, first = next(iter(rates.items()))
    sizes = sorted({size for by_rows in rates.values() for size in by_rows})
    rows = [
        [
            name,
            f"{first[few] / by_rows[few]:.2f}",
            *(f"{by_rows[size]:,.0f}" if size in by_rows else "" for size in sizes),
            result["memory"].get(name, ""),
        ]
        for name, by_rows in rates.items()
    ]
    return ["", f"{ours} is so many times as fast", *(f"{size:,} rows" for size in sizes), "MB"], rows


def sections(result: dict) -> Iterator[tuple[str, str, list[str], list[list]]]:
    """Yield title, text, header and rows of every part of the page, ratios first."""
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
    for group, title in TITLES.items():
        text = f"Ratios at {result['ratio_rows']:,} rows; rows a second; the peak of memory above what stood before."
        yield title, text, *field_table(result, group)
    missed = [what for what, _, _, good in result["targets"] if not good]
    if missed:
        known = [(what, next((why for key, why in WHY.items() if key in what), "not explained.")) for what in missed]
        yield "Why targets are missed", "\n".join(f"- {what}: {why}" for what, why in known), [], []
    text = f"{ours}: {pairs[ours]:,.0f} pairs a second, {pairs[ours] / pairs[peer]:.1f} times {peer}."
    yield "Pairs of generated questions", text, [], []
    names = ["metric", "share", "gflop_per_second", "peak", "of_peak"]
    rows = [[row["metric"], *(f"{row[name]:.3g}" for name in names[1:])] for row in result["encoder"]]
    yield "The encoder", ABOUT_ENCODER, ["", "share of the time", "GFLOP a second", "peak", "of the peak"], rows
    names = ["metric", "data", "rows", "way", "same_verdict", "pearson", "spearman"]
    rows = [[row.get(name, "") for name in names] for row in result["quality"]]
    text = "Correlations are with people, on the dev sets."
    yield "What the faster ways cost", text, ["", "data", "rows", "", "same verdict", "Pearson", "Spearman"], rows
    rows = [[name, f"{seconds:.2f}"] for name, seconds in result["start_up"].items()]
    yield "Starting", "Processor seconds of whole processes; `score` scores one row.", ["", "seconds"], rows
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    text = (
        f"{of['cpu']}, {of['cores']} cores ({', '.join(of['instructions'])}), {of['memory_gib']:g} GiB, load "
        f"{of['load'][0]:g} at the beginning, {machine()['load'][0]:g} at the end; Python {result['python']}, "
        f"{versions}."
    )
    rows = [[name, f"`{digest}`"] for name, digest in result["data"].items()]
    yield "Machine and data", text, ["file", "SHA-256"], rows


def page(result: dict) -> str:
    """Return everything as a page of Markdown."""
    lines = [
        "# Benchmarks",
        "",
        f"Written by `{result['command']}`, all in one run, on the same rows: different questions with one answer "
        f"each, so that nothing is encoded twice. {CLOCKS[result['device'] == 'cpu']}",
    ]
    for title, text, header, rows in sections(result):
        lines += ["", f"## {title}", *(["", text] if text else []), ""]
        lines += [f"| {' | '.join(map(str, row))} |" for row in (header, ["---"] * len(header), *rows) if header]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Measure, and write or print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with judgments/ and question_generation/")
    parser.add_argument("--device", default="cpu", help="device of torch")
    parser.add_argument("--compile", action="store_true", help="also run the judge through torch.compile")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10_000], help="rows for our own models")
    parser.add_argument("--ratio_rows", type=int, default=1000, help="rows for the peers, where all are compared")
    parser.add_argument("--cheap", type=int, default=100_000, help="rows for what has no model")
    parser.add_argument("--memory", action=argparse.BooleanOptionalAction, default=True, help="measure memory too")
    parser.add_argument("--repeats", type=int, default=2, help="the quickest of so many runs counts")
    parser.add_argument("--quality_rows", type=int, help="rows of every dev set; default: all")
    parser.add_argument("--write", type=Path, metavar="PAGE.md", help="write the page here; default: print it")
    parser.add_argument("--output", type=Path, help="write all numbers here as JSON")
    parser.add_argument("--fast", type=Path, help=argparse.SUPPRESS)  # checkpoints that are exported already
    parser.add_argument("--memory_of", help=argparse.SUPPRESS)  # the contestant whose process this is
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    judgments, begun = arguments.data / "judgments", machine()
    if arguments.device != "cpu":
        begun["cpu"] = f"{torch.cuda.get_device_name(arguments.device)}, {begun['cpu']}"
    with TemporaryDirectory() as temporary:
        fast = exported(arguments.fast or Path(temporary))
        if arguments.memory_of:
            rows = different_rows(judgments, arguments.ratio_rows)
            print(json.dumps(memory_of(arguments.memory_of, contestants(fast, arguments), rows)))
            return
        rows = different_rows(judgments, max(*arguments.sizes, arguments.ratio_rows, arguments.cheap))
        field = contestants(fast, arguments)
        found = quality(judgments, fast, arguments.device, arguments.quality_rows)
        result = {
            "device": arguments.device,
            "groups": {one.name: one.group for one in field},
            "ratio_rows": arguments.ratio_rows,
            "rates": rates(field, rows, arguments),
            "shapes": shapes_of_input(field, rows, arguments.ratio_rows, arguments.device),
            "encoder": encoder_share(rows[: arguments.ratio_rows], arguments.device),
            "quality": found,
            "changes": largest_changes(found),
            "question_pairs": question_pairs(arguments.data / "question_generation" / "qamr.test.jsonl.gz"),
            "start_up": start_ups(fast, rows[0], Path(temporary), arguments.repeats),
            "machine": begun,
        }
        result["targets"] = targets(result)
        files = [judgments / f"{name}.{part}.jsonl.gz" for name in AVA_DATA for part in ("train", "dev")]
        files += [judgments / f"{name}.dev.jsonl.gz" for name in KPQA_DATA]
        result |= facts(files, PACKAGES) | {"memory": {}}
        show(result, arguments)
        if arguments.memory:  # last, because a process for each of them takes long
            sys.argv += ["--fast", str(arguments.fast or temporary)]
            apart = measured_apart([one.name for one in field])
            result["memory"] = {one["name"]: one["peak_above_mb"] for one in apart}
            show(result, arguments)


def show(result: dict, arguments: argparse.Namespace) -> None:
    """Write the page and the numbers, or print the page."""
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if arguments.write:
        arguments.write.write_text(page(result), encoding="utf-8")
    else:
        print(page(result))


if __name__ == "__main__":
    main()
