"""Who is measured in `bench_all`: the metrics in every way they run, and their peers on the same rows.

Every contestant gets the rows of a file of judgments and reads question, answer and references, or part of them.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from genqa_metrics.aev.scoring import Settings, scores, summed_statistics
from genqa_metrics.ava.judging import Judge, joined_references
from genqa_metrics.ava.loading import HUB_CHECKPOINT, load_judge, load_model
from genqa_metrics.ava.modeling import segments
from genqa_metrics.f_meta.bases import base_function
from genqa_metrics.f_meta.scoring import score_matrices
from genqa_metrics.kpqa.loading import load_models
from genqa_metrics.kpqa.models import base_encoder, find_checkpoint

from tests.benchmarks import bench_aev, bench_ava, bench_f_meta, bench_kpqa
from tests.benchmarks.bench_fast import ways
from tests.benchmarks.report import timed

SETS = 40  # sets of generated questions: some 18,000 pairs
AVA, KPQA, AEV, F_META = "AVA", "KPQA", "AEv", "F-meta, ROUGE-L"
CROSS_ENCODER, BERTSCORE = "CrossEncoder.predict", "torchmetrics BERTScore"


@dataclass
class Contestant:
    """One way to score rows.

    Attributes:
        name: as in the tables.
        group: contestants of a group are compared with its first.
        make: loads what is needed, and returns what scores rows of judgments.
        most: rows that it is given at most.
    """

    name: str
    group: str
    make: Callable[[], Callable[[list[dict]], object]]
    most: int

    @cached_property
    def run(self) -> Callable[[list[dict]], object]:
        """What scores rows."""
        return self.make()


def triples_of(rows: list[dict]) -> list[tuple[str, str, str]]:
    """Return question, joined references and answer of every row."""
    joined = (joined_references(row["references"], row["candidate"]) for row in rows)
    return [(row["question"], text, row["candidate"]) for row, text in zip(rows, joined, strict=True)]


def texts_of(rows: list[dict]) -> tuple[list[str], list[str]]:
    """Return answers and first references."""
    return [row["candidate"] for row in rows], [row["references"][0] for row in rows]


def one_reference(rows: list[dict]) -> list[dict]:
    """Return the rows with their first reference only."""
    return [row | {"references": row["references"][:1]} for row in rows]


def asked_texts(rows: list[dict]) -> tuple[list[str], list[str]]:
    """Return what KPQA's encoder reads of rows: question and answer, question and first reference."""
    questions = [row["question"] for row in rows]
    answers, references = (
        [f"{question} {text}" for question, text in zip(questions, texts, strict=True)] for texts in texts_of(rows)
    )
    return answers, references


def cross_encoder(device: str) -> Callable:
    """Return the predictions of a CrossEncoder with the judge's own weights, on the texts that the judge reads."""
    from sentence_transformers import CrossEncoder

    loaded = load_judge(device=device)
    checkpoint = find_checkpoint(None, None, "ava", HUB_CHECKPOINT)
    model, tokenizer = load_model(checkpoint, loaded.configuration, loaded.marks)
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        peer = CrossEncoder(folder, max_length=loaded.max_length, device=device)

    def run(rows: list[dict]) -> object:
        pairs = [segments(loaded.configuration, *triple)[0] for triple in triples_of(rows)]
        return peer.predict(pairs, show_progress_bar=False)

    return run


def bertscore(device: str, texts: Callable) -> Callable:
    """Return torchmetrics' BERTScore of texts of rows, on the base encoder, all of its layers."""
    from torchmetrics.text.bert import BERTScore

    metric = BERTScore(str(base_encoder()), num_layers=6, truncation=True, device=device)

    def run(rows: list[dict]) -> dict:
        metric.reset()
        metric.update(*texts(rows))
        return metric.compute()

    return run


def sentence_vectors(device: str) -> Callable:
    """Return SentenceTransformer.encode of the texts that KPQA's encoder reads."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(base_encoder()), device=device)
    return lambda rows: model.encode(list(chain(*asked_texts(rows))), show_progress_bar=False)


def judge(arguments: dict, compiled: bool = False) -> Callable:
    """Return the verdicts of a judge that is loaded with some arguments."""
    loaded = load_judge(**arguments)
    if compiled:
        loaded = replace(loaded, model=torch.compile(loaded.model, dynamic=True))
    return lambda rows: Judge(loaded).logits(triples_of(rows))


def judge_loop() -> Callable:
    """Return the verdicts of the judge, one row at a time."""
    loaded = load_judge(device="cpu")
    return lambda rows: bench_ava.one_at_a_time(loaded, triples_of(rows))


def kpqa(arguments: dict) -> Callable:
    """Return all of KPQA's scores, of models that are loaded with some arguments."""
    models = load_models(**arguments)
    return lambda rows: bench_kpqa.all_scores(models, one_reference(rows))


def kpqa_loop() -> Callable:
    """Return KPQA's weights, one text at a time."""
    models = load_models(device="cpu")
    return lambda rows: bench_kpqa.one_at_a_time(
        models, [(row["question"], text) for row in rows for text in (row["candidate"], row["references"][0])]
    )


def coco(scorer, rows: list[dict], **arguments) -> object:
    """Return what a scorer of pycocoevalcap gives for rows; it takes two blanks in a row for an empty word."""
    answers, references = ([" ".join(text.split()) or "." for text in texts] for texts in texts_of(rows))
    return scorer.compute_score(
        {i: [text] for i, text in enumerate(references)}, {i: [text] for i, text in enumerate(answers)}, **arguments
    )


def aev(rows: list[dict]) -> dict:
    """Return AEv of rows."""
    answers, references = texts_of(rows)
    settings = Settings()
    return scores(summed_statistics(answers, ([text] for text in references), settings), settings)


def aev_grid(rows: list[dict]) -> dict:
    """Return AEv of rows, all cells of its plane."""
    return bench_aev.aev_grid(zip(*texts_of(rows), strict=True))


def contestants(fast: dict[str, Path], arguments: argparse.Namespace) -> list[Contestant]:
    """Return all contestants; a model is loaded when it is first used.

    Args:
        fast: folders of the exported checkpoints, by metric.
        arguments: of the command: device, compile, sizes, ratio_rows, cheap.
    """
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.rouge.rouge import Rouge
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import corpus_bleu

    device, most, few = arguments.device, max(arguments.sizes), arguments.ratio_rows
    rouge = RougeScorer(["rougeL"])
    judges = {way: partial(judge, given) for way, given in ways(fast["ava"], device).items()}
    if arguments.compile:
        way, given = list(ways(fast["ava"], device).items())[-1]  # on a GPU 16 bits
        judges[f"{way}, compiled"] = partial(judge, given, compiled=True)
    predictors = {way: partial(kpqa, given) for way, given in ways(fast["kpqa"], device).items()}
    peers = {CROSS_ENCODER: partial(cross_encoder, device)}
    text_peers = {
        BERTSCORE: partial(bertscore, device, asked_texts),
        "torchmetrics BERTScore, answers only": partial(bertscore, device, texts_of),
        "SentenceTransformer.encode": partial(sentence_vectors, device),
    }
    if device == "cpu":
        peers["one row at a time"] = judge_loop
        text_peers["one text at a time, weights only"] = kpqa_loop
    words = {
        AEV: aev,
        f"{AEV}, all 44 cells of its plane": aev_grid,
        "sacrebleu corpus_bleu": lambda rows: corpus_bleu(texts_of(rows)[0], [texts_of(rows)[1]]),
        "rouge_score ROUGE-L": lambda rows: [rouge.score(r, p) for p, r in zip(*texts_of(rows), strict=True)],
        "pycocoevalcap Bleu(4)": lambda rows: coco(Bleu(4), rows, verbose=0),
        "pycocoevalcap Rouge": lambda rows: coco(Rouge(), rows),
    }
    fields = (
        ("judge", {AVA if way == "float32" else f"{AVA}, {way}": make for way, make in judges.items()}, most),
        ("judge", peers, few),
        ("kpqa", {KPQA if way == "float32" else f"{KPQA}, {way}": make for way, make in predictors.items()}, most),
        ("kpqa", text_peers, few),
        ("words", {name: lambda run=run: run for name, run in words.items()}, max(most, arguments.cheap)),
    )
    return [Contestant(name, group, make, limit) for group, made, limit in fields for name, make in made.items()]


def question_pairs(data: Path) -> dict[str, float]:
    """Return pairs of questions a second, of F-meta and of pycocoevalcap called pair by pair on the same sets."""
    predictions, references = (column[:SETS] for column in bench_f_meta.question_sets(data))
    pairs = sum(len(p) * len(r) for p, r in zip(predictions, references, strict=True))
    runs = {
        F_META: lambda: score_matrices(predictions, references, base_function("rouge")),
        "pycocoevalcap Rouge().calc_score": lambda: [
            bench_f_meta.coco_rouge_bare(p, r)
            for ps, rs in zip(predictions, references, strict=True)
            for p in ps
            for r in rs
        ],
    }
    return {name: pairs / min(timed(run)[0] for _ in range(3)) for name, run in runs.items()}
