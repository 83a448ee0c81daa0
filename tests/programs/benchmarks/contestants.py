"""Who is measured in `bench_all`: the metrics in every way they run, and their peers on the same rows.

Every contestant gets rows of judgments and reads question, answer and references, or part of them. Libraries are
imported where a contestant is made: what that costs is measured too.
"""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

MODEL_ROWS, WORD_ROWS = 250, 20_000
AVA, KPQA, AEV = "AVA", "KPQA", "AEv"
MODEL_METRICS = ("ava", "kpqa")


@dataclass
class Contestant:
    """One way to score rows.

    Attributes:
        name: as in the tables.
        group: contestants of a group are compared with its first.
        make: loads what is needed, and returns what scores rows of judgments.
        rows: how many it is given.
    """

    name: str
    group: str
    make: Callable[[], Callable[[list[dict]], object]]
    rows: int


def read(path: Path, count: int | None = None) -> list[dict]:
    """Return the first rows of a file of judgments."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line, _ in zip(lines, range(count or 10**9), strict=False)]


def exported(folder: Path) -> dict[str, Path]:
    """Export the bundled checkpoints into a folder; return their folders by metric."""
    from genqa_metrics.scale.exporting import export_checkpoint

    for metric in MODEL_METRICS:
        if not (folder / metric).exists():
            export_checkpoint(metric, None, folder / metric)
    return {metric: folder / metric for metric in MODEL_METRICS}


def ways(fast: Path) -> dict[str, dict]:
    """Return the ways to run a model, the plain one first: name -> arguments of `load`."""
    return {
        "float32": {"device": "cpu"},
        "onnx int8": {"checkpoint": fast, "backend": "onnx"},
        "bfloat16": {"device": "cpu", "dtype": "bfloat16"},
    }


def triples_of(rows: list[dict]) -> list[tuple[str, str, str]]:
    """Return question, joined references and answer of every row."""
    from genqa_metrics.ava.judging import joined_references

    joined = (joined_references(row["references"], row["candidate"]) for row in rows)
    return [(row["question"], text, row["candidate"]) for row, text in zip(rows, joined, strict=True)]


def texts_of(rows: list[dict]) -> tuple[list[str], list[str]]:
    """Return answers and first references."""
    return [row["candidate"] for row in rows], [row["references"][0] for row in rows]


def asked_texts(rows: list[dict]) -> tuple[list[str], list[str]]:
    """Return what KPQA's encoder reads of rows: question and answer, question and first reference."""
    questions = [row["question"] for row in rows]
    answers, references = (
        [f"{question} {text}" for question, text in zip(questions, texts, strict=True)] for texts in texts_of(rows)
    )
    return answers, references


def pairs_of(rows: list[dict]) -> list[tuple[str, str]]:
    """Return the two texts that a judge reads of every row: reference, question with answer."""
    from genqa_metrics.core.judge_reading import segments

    return [segments("a1-r_qt", *triple)[0] for triple in triples_of(rows)]


def cross_encoder() -> Callable:
    """Return the predictions of a CrossEncoder with the judge's own weights, on the texts that the judge reads."""
    from genqa_metrics.ava.loading import load_judge
    from genqa_metrics.core.judge_model import load_model
    from sentence_transformers import CrossEncoder

    loaded = load_judge(device="cpu")
    model, tokenizer = load_model(loaded.folder, loaded.configuration, loaded.marks)
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        peer = CrossEncoder(folder, max_length=loaded.max_length, device="cpu")
    return lambda rows: peer.predict(pairs_of(rows), show_progress_bar=False)


def bertscore() -> Callable:
    """Return torchmetrics' BERTScore of the texts that KPQA reads, on the base encoder, all of its layers."""
    from genqa_metrics.core.checkpoints import base_encoder
    from torchmetrics.text.bert import BERTScore

    metric = BERTScore(str(base_encoder()), num_layers=6, truncation=True, device="cpu")

    def run(rows: list[dict]) -> dict:
        metric.reset()
        metric.update(*asked_texts(rows))
        return metric.compute()

    return run


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
    from genqa_metrics.core.judge_reading import encoded

    loaded = load_judge(device="cpu")

    def logit(triple: tuple[str, str, str]) -> float:
        ((inputs,),) = encoded(loaded.tokenizer, loaded.configuration, [triple], loaded.max_length, loaded.marks)
        with torch.inference_mode():
            return float(loaded.model(**{name: torch.tensor([ids]) for name, ids in inputs.items()}).logits)

    return lambda rows: list(map(logit, triples_of(rows)))


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


def contestants(fast: dict[str, Path]) -> list[Contestant]:
    """Return all contestants, ours first in every group.

    Args:
        fast: folders of the exported checkpoints, by metric.
    """
    judges = {way: partial(judge, given) for way, given in ways(fast["ava"]).items()}
    predictors = {way: partial(kpqa, given) for way, given in ways(fast["kpqa"]).items()}
    peers = {"CrossEncoder.predict": cross_encoder, "one row at a time": judge_loop}
    text_peers = {"torchmetrics BERTScore": bertscore, "one text at a time, weights only": kpqa_loop}
    words = {AEV: aev, "sacrebleu corpus_bleu": corpus_bleu, "rouge_score ROUGE-L": rouge_score}
    fields = (
        ("judge", {AVA if way == "float32" else f"{AVA}, {way}": make for way, make in judges.items()}, MODEL_ROWS),
        ("judge", peers, MODEL_ROWS),
        ("kpqa", {KPQA if way == "float32" else f"{KPQA}, {way}": m for way, m in predictors.items()}, MODEL_ROWS),
        ("kpqa", text_peers, MODEL_ROWS),
        ("words", words, WORD_ROWS),
    )
    return [Contestant(name, group, make, rows) for group, made, rows in fields for name, make in made.items()]
