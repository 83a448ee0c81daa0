"""Everything that is fast here beside its peers, in one run on the same rows; writes the tables of a page.

    python -m tests.programs.benchmarks.bench_all --data DATA --write tests/programs/benchmarks/results/benchmarks.md

DATA holds judgments/. Every contestant has a process of its own, one thread, and the first of the same rows: from
nothing to its first row, then all its rows twice, of which the quicker run counts. Times are processor time, so that
other work on the machine does not count; what shares a core or a cache with it still slows it. A contestant is a
function that imports and loads what it needs, and returns what scores rows of judgments.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import platform
import random
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from training.common import between_markers, command_line, json_rows, markdown_table, write_rows
from training.studies.harness import versions

DATA = ("evouna_nq", "evouna_tq")
PACKAGES = ["genqa-metrics", "torch", "transformers", "onnxruntime", "sentence-transformers", "torchmetrics"]
PACKAGES += ["sacrebleu", "rouge-score"]
LOAD = "import torch, build the model, load its weights"
MARKER = "speed beside others"
FIRST = 10  # rows that are scored to set up what libraries set up at first use
FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_int8", "amx_bf16")
SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TQDM_DISABLE": "1",
}
TITLES = {
    "judge": "Question, references and answer, read as one pair of texts by one encoder",
    "kpqa": "Question with answer and question with reference, two texts a row, by the same encoder",
    "words": "Answer and reference, by words",
}
ROWS = {"judge": 250, "kpqa": 250, "words": 20_000}


# The ways to run a model, the plain one first: name -> arguments of `load`.
WAYS = {
    "torch": {"device": "cpu", "backend": "torch"},
    "onnx": {"backend": "onnx"},
    "torch, bfloat16": {"device": "cpu", "dtype": "bfloat16"},
}


def triples_of(rows: list[dict]) -> list[tuple[str, str, str]]:
    """Return question, joined references and answer of every row."""
    from genqa_metrics.ava.judging import joined_references

    return [
        (row["question"], joined_references(row["references"], row["candidate"]), row["candidate"]) for row in rows
    ]


def texts_of(rows: list[dict], asked: bool = False) -> tuple[list[str], list[str]]:
    """Return answers and first references, behind their questions as KPQA's encoder reads them if that is asked."""
    starts = [f"{row['question']} " if asked else "" for row in rows]
    columns = [row["candidate"] for row in rows], [row["references"][0] for row in rows]
    answers, references = ([f"{start}{text}" for start, text in zip(starts, c, strict=True)] for c in columns)
    return answers, references


def judge(arguments: dict) -> Callable:
    """Return the verdicts of a judge that is loaded with some arguments."""
    from genqa_metrics.ava.judging import Judge
    from genqa_metrics.ava.loading import load_judge

    loaded = load_judge(**arguments)
    return lambda rows: Judge(loaded).logits(triples_of(rows))


def judge_loop() -> Callable:
    """Return the verdicts of the judge, one row at a time."""
    import torch
    from genqa_metrics.ava.loading import load_judge
    from genqa_metrics.core.judge_model import encoded

    loaded = load_judge(device="cpu")

    def logit(triple: tuple[str, str, str]) -> float:
        ((inputs,),) = encoded(loaded.tokenizer, loaded.configuration, [triple], loaded.max_length, loaded.marks)
        with torch.inference_mode():
            return float(loaded.model(**{name: torch.tensor([ids]) for name, ids in inputs.items()}).logits)

    return lambda rows: list(map(logit, triples_of(rows)))


def cross_encoder() -> Callable:
    """Return the predictions of a CrossEncoder with the judge's own weights, on the texts that the judge reads."""
    from genqa_metrics.ava.loading import load_judge
    from genqa_metrics.core.judge_model import load_model, segments
    from sentence_transformers import CrossEncoder

    loaded = load_judge(device="cpu")
    model, tokenizer = load_model(loaded.folder, loaded.configuration, loaded.marks)
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        peer = CrossEncoder(folder, max_length=loaded.max_length, device="cpu")

    def predict(rows: list[dict]) -> object:
        pairs = [segments("a1-r_qt", *triple)[0] for triple in triples_of(rows)]
        return peer.predict(pairs, show_progress_bar=False)

    return predict


def kpqa_scores(models, rows: list[dict]) -> dict:
    """Return KPQA's (rows,) scores, the best reference of each row."""
    import numpy as np
    from genqa_metrics.kpqa.encoding import Encoder
    from genqa_metrics.kpqa.scoring import pair_statistics, row_scores

    numbers = np.repeat(np.arange(len(rows)), [len(row["references"]) for row in rows])
    pairs = [(row["question"], row["candidate"]) for row in rows]
    pairs += [(row["question"], text) for row in rows for text in row["references"]]
    tokens, _ = Encoder(models).tokens(pairs)
    return row_scores(pair_statistics([tokens[n] for n in numbers], tokens[len(rows) :]), numbers)[0]


def kpqa(arguments: dict) -> Callable:
    """Return all of KPQA's scores against the first reference, of models that are loaded with some arguments."""
    from genqa_metrics.kpqa.loading import load_models

    models = load_models(**arguments)
    return lambda rows: kpqa_scores(models, [row | {"references": row["references"][:1]} for row in rows])


def kpqa_loop() -> Callable:
    """Return KPQA's weights, one text at a time."""
    import torch
    from genqa_metrics.kpqa.loading import load_models

    models = load_models(device="cpu")

    def weights(question: str, text: str) -> object:
        batch = models.tokenizer(question, text, truncation="only_second", max_length=512, return_tensors="pt")
        with torch.inference_mode():
            return models.predictor(**batch).logits.softmax(-1)[0, :, 1]

    return lambda rows: [weights(r["question"], text) for r in rows for text in (r["candidate"], r["references"][0])]


def bertscore() -> Callable:
    """Return torchmetrics' BERTScore of the texts that KPQA reads, on the base encoder, all of its layers."""
    from genqa_metrics.core.checkpoints import base_encoder
    from torchmetrics.text.bert import BERTScore

    metric = BERTScore(str(base_encoder()), num_layers=6, truncation=True, device="cpu")
    return lambda rows: metric(*texts_of(rows, asked=True))


def aev() -> Callable:
    """Return AEv of rows."""
    from genqa_metrics.aev.scoring import Settings, scores, statistics

    def run(rows: list[dict]) -> dict:
        answers, references = texts_of(rows)
        return scores(statistics(answers, ([text] for text in references), Settings()).sum(axis=0), Settings())

    return run


def corpus_bleu() -> Callable:
    """Return sacrebleu's score of a corpus."""
    from sacrebleu import corpus_bleu

    return lambda rows: corpus_bleu(texts_of(rows)[0], [texts_of(rows)[1]])


def rouge_score() -> Callable:
    """Return ROUGE-L of the package rouge_score."""
    from rouge_score.rouge_scorer import RougeScorer

    rouge = RougeScorer(["rougeL"])
    return lambda rows: [rouge.score(r, p) for p, r in zip(*texts_of(rows), strict=True)]


def contestants() -> dict[str, dict[str, Callable]]:
    """Return {group: {name as in the tables: contestant}}, ours first in every group."""

    def by_way(name: str, make: Callable) -> dict[str, Callable]:
        return {
            name if way == "torch" else f"{name}, {way}": partial(make, arguments) for way, arguments in WAYS.items()
        }

    peers = {"CrossEncoder.predict": cross_encoder, "one row at a time": judge_loop}
    text_peers = {"torchmetrics BERTScore": bertscore, "one text at a time, weights only": kpqa_loop}
    return {
        "judge": by_way("AVA", judge) | peers,
        "kpqa": by_way("KPQA", kpqa) | text_peers,
        "words": {"AEv": aev, "sacrebleu corpus_bleu": corpus_bleu, "rouge_score ROUGE-L": rouge_score},
    }


def different_rows(data: Path, count: int) -> list[dict]:
    """Return rows of different questions, none encoded twice; where they are too few, numbered copies follow."""
    by_question: dict[str, list[dict]] = {}
    for name in DATA:
        for row in json_rows(data / f"{name}.train.jsonl.gz"):
            by_question.setdefault(row["question"], []).append(row)
    rows = [of_one[i % len(of_one)] for i, of_one in enumerate(by_question.values())]  # of every system some
    random.Random(0).shuffle(rows)
    found = rows[:count]
    while len(found) < count:
        turn = len(found) // len(rows)
        more = [row | {name: f"{row[name]} {turn}" for name in ("question", "candidate")} for row in rows]
        found += more[: count - len(found)]
    return found


def timed(function: Callable) -> tuple[float, object]:
    """Return the processor seconds of a call, of all threads, and its result: other work does not count."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def measured(make: Callable, path: Path, count: int) -> dict:
    """Return processor seconds to the first score, rows a second and peak MB of the contestant of this process."""
    warnings.simplefilter("ignore")
    rows = list(islice(json_rows(path), count))
    run = make()
    run(rows[:1])
    start_up = time.process_time()
    run(rows[:FIRST])
    seconds = min(timed(partial(run, rows))[0] for _ in range(2))
    facts = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    peak = int(next(line for line in facts if line.startswith("VmHWM")).split()[1]) / 1024
    return {"start_up": start_up, "rate": len(rows) / seconds, "rows": len(rows), "mb": round(peak)}


def measured_apart(make: Callable, path: Path, count: int) -> dict:
    """Return what a process of its own measures of a contestant."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(measured, make, path, count).result()


def start_ups(rows: list[dict], folder: Path) -> dict[str, float]:
    """Return the processor seconds of whole processes, the quicker of two runs; `score` gets ten rows."""
    from genqa_metrics.core.checkpoints import base_encoder

    lines = (json.dumps(row | {"prediction": row["candidate"]}) for row in rows[:10])
    (folder / "ten.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = str(Path(sys.executable).with_name("genqa-metrics"))
    score = [command, "score", str(folder / "ten.jsonl"), "--metric"]
    load = "import torch\nfrom transformers import AutoModelForSequenceClassification as M\nM.from_pretrained({!r})"
    processes = {
        "genqa-metrics --help": [command, "--help"],
        "import torch": [sys.executable, "-c", "import torch"],
        LOAD: [sys.executable, "-c", load.format(str(base_encoder()))],
        "genqa-metrics score --metric ava": [*score, "ava"],
        "genqa-metrics score --metric kpqa": [*score, "kpqa"],
        "genqa-metrics score --metric ava, torch": [*score, "ava", "--set", "ava.backend=torch"],
        "genqa-metrics score --metric kpqa, torch": [*score, "kpqa", "--set", "kpqa.backend=torch"],
        "import evaluate": [sys.executable, "-c", "import evaluate"],
    }
    found = dict.fromkeys(processes, float("inf"))
    for _ in range(2):
        for name, process in processes.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(process, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found[name] = min(found[name], spent)
    return found


def machine() -> str:
    """Return what a machine is, as far as speed depends on it: processor, cores, instructions, memory, load."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    flags = [flag for flag in FLAGS if flag in " ".join(lines).split()]
    memory = int(Path("/proc/meminfo").read_text(encoding="utf-8").split()[1]) / 2**20
    cores = len(os.sched_getaffinity(0))
    return f"{cpu}, {cores} cores given ({', '.join(flags)}), {memory:.1f} GiB, load {os.getloadavg()[0]:.1f}"


def field_table(field: dict[str, dict]) -> str:
    """Return the table of a group of contestants, {name: what was measured}."""
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
    return markdown_table([*header, "rows measured"], rows)


def sections(data: Path, folder: Path) -> Iterator[str]:
    """Measure on the judgments in `data`, in an empty folder; yield the parts of the page in Markdown."""
    begun, start = machine(), time.monotonic()
    command = command_line("tests.programs.benchmarks.bench_all", sys.argv[1:])
    yield (
        f"Written by `{command}`, all in one run, on the first of the same rows: different questions with one answer "
        "each, so that nothing is encoded twice. Every contestant has a process of its own and one thread; times are "
        "processor time: other work on the machine does not count, but takes cache and shared cores away. MB is the "
        "peak of the whole process, start-up its processor seconds from nothing to the first score, imports and "
        "loading included."
    )
    rows, path = different_rows(data, max(ROWS.values())), folder / "rows.jsonl"
    write_rows(path, rows)
    for group, field in contestants().items():
        found = {name: measured_apart(make, path, ROWS[group]) for name, make in field.items()}
        yield f"## {TITLES[group]}\n\n{field_table(found)}"
    seconds = [[name, f"{seconds:.2f}"] for name, seconds in start_ups(rows, folder).items()]
    said = "Processor seconds of whole processes; `score` scores ten rows."
    yield f"## Starting\n\n{said}\n\n{markdown_table(['', 'seconds'], seconds)}"
    packages = ", ".join(f"{name} {number}" for name, number in versions(*PACKAGES).items())
    text = (
        f"{begun} at the beginning, {os.getloadavg()[0]:.1f} at the end (this run is 1 of it), "
        f"{(time.monotonic() - start) / 60:.0f} minutes; Python {platform.python_version()}, {packages}."
    )
    files = [data / f"{name}.train.jsonl.gz" for name in DATA]
    digests = [[file.name, f"`{hashlib.sha256(file.read_bytes()).hexdigest()}`"] for file in files]
    yield f"## Machine and data\n\n{text}\n\n{markdown_table(['file', 'SHA-256'], digests)}"


def write_page(doc: str, marker: str, text: Callable[[argparse.Namespace, Path], str], **options: dict) -> None:
    """Write the Markdown that `text` makes of arguments and an empty folder between markers of a page, or print it."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with judgments/")
    parser.add_argument("--write", type=Path, metavar="PAGE.md", help=f"write between its lines {marker}; or print")
    for name, settings in options.items():
        parser.add_argument(f"--{name}", **settings)
    arguments = parser.parse_args()
    if arguments.write:
        between_markers(arguments.write, marker, "")  # refuses a page without them before the work
    with TemporaryDirectory() as folder:
        page = text(arguments, Path(folder))
    if arguments.write:
        arguments.write.write_text(between_markers(arguments.write, marker, page), encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    os.environ |= SETTINGS
    write_page(__doc__, MARKER, lambda given, folder: "\n\n".join(sections(given.data / "judgments", folder)))
