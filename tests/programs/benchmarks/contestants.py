"""Who is measured in `bench_all`: the metrics in every way they run, and their peers on the same rows.

Every contestant gets rows of judgments and reads question, answer and references, or part of them. Libraries are
imported where a contestant is made: what that costs is measured too.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

MODEL_ROWS, SLOW_ROWS, WORD_ROWS = 250, 24, 20_000
AVA, KPQA, AEV = "AVA", "KPQA", "AEv"
CROSS_ENCODER, BERTSCORE = "CrossEncoder.predict", "torchmetrics BERTScore"
CROSS_INT8 = f"{CROSS_ENCODER} over ONNX Runtime, int8"
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


@contextmanager
def judge_as_folder() -> Iterator[tuple[str, object]]:
    """Give a folder with the judge as an ordinary model of transformers, and the judge."""
    from genqa_metrics.ava.loading import load_judge
    from genqa_metrics.core.judge_model import load_model

    loaded = load_judge(device="cpu")
    model, tokenizer = load_model(loaded.folder, loaded.configuration, loaded.marks)
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        yield folder, loaded


def pairs_of(rows: list[dict]) -> list[tuple[str, str]]:
    """Return the two texts that a judge reads of every row: reference, question with answer."""
    from genqa_metrics.core.judge_reading import segments

    return [segments("a1-r_qt", *triple)[0] for triple in triples_of(rows)]


def cross_encoder() -> Callable:
    """Return the predictions of a CrossEncoder with the judge's own weights, on the texts that the judge reads."""
    from sentence_transformers import CrossEncoder

    with judge_as_folder() as (folder, loaded):
        peer = CrossEncoder(folder, max_length=loaded.max_length, device="cpu")
    return lambda rows: peer.predict(pairs_of(rows), show_progress_bar=False)


def cross_encoder_int8() -> Callable:
    """Return the same in 8-bit integers, quantized as sentence-transformers' own backend for ONNX does it.

    That backend is in optimum-onnx, which does not run with transformers 5. Both are `quantize_dynamic` of ONNX
    Runtime, and its session in place of the model; tokens, order and batches are the CrossEncoder's.
    """
    import onnxruntime
    import torch
    from onnxruntime.quantization import quantize_dynamic
    from sentence_transformers import CrossEncoder
    from transformers.modeling_outputs import SequenceClassifierOutput

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    with judge_as_folder() as (folder, loaded):
        peer = CrossEncoder(folder, max_length=loaded.max_length, device="cpu")
        model, (whole, small) = peer.transformers_model, (f"{folder}/{name}.onnx" for name in ("whole", "small"))
        names = ["input_ids", "attention_mask", "token_type_ids"]
        sample = torch.ones((2, 16), dtype=torch.long)
        model.set_attn_implementation("eager")
        torch.onnx.export(
            model.eval(),
            tuple(sample * (name != "token_type_ids") for name in names),
            whole,
            input_names=names,
            output_names=["logits"],
            dynamic_axes={name: {0: "rows", 1: "tokens"} for name in names} | {"logits": {0: "rows"}},
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(whole, small)
        session = onnxruntime.InferenceSession(small, options, providers=["CPUExecutionProvider"])

    def forward(**inputs) -> SequenceClassifierOutput:
        (logits,) = session.run(None, {name: inputs[name].numpy() for name in names})
        return SequenceClassifierOutput(logits=torch.from_numpy(logits))

    model.forward = forward
    return lambda rows: peer.predict(pairs_of(rows), show_progress_bar=False)


def random_cross_encoder(kind: str, **sizes: int) -> Callable:
    """Return the predictions of a CrossEncoder whose weights are drawn from a seed: its speed is that of trained ones.

    Args:
        kind: type of the encoder in transformers, whose own sizes it has.
        sizes: settings of the encoder that are not the usual.
    """
    import torch
    from genqa_metrics.core.checkpoints import base_encoder
    from sentence_transformers import CrossEncoder
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(kind, num_labels=1, **sizes))
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        AutoTokenizer.from_pretrained(base_encoder()).save_pretrained(folder)
        peer = CrossEncoder(folder, max_length=512, device="cpu")
    return lambda rows: peer.predict(pairs_of(rows), show_progress_bar=False)


def bertscore(texts: Callable) -> Callable:
    """Return torchmetrics' BERTScore of texts of rows, on the base encoder, all of its layers."""
    from genqa_metrics.core.checkpoints import base_encoder
    from torchmetrics.text.bert import BERTScore

    metric = BERTScore(str(base_encoder()), num_layers=6, truncation=True, device="cpu")

    def run(rows: list[dict]) -> dict:
        metric.reset()
        metric.update(*texts(rows))
        return metric.compute()

    return run


def bert_score_package(texts: Callable) -> Callable:
    """Return the BERTScore of the package bert_score, which `evaluate`'s module calls too, on the same encoder."""
    from bert_score import BERTScorer
    from genqa_metrics.core.checkpoints import base_encoder

    scorer = BERTScorer(str(base_encoder()), num_layers=6, device="cpu", nthreads=1)
    scorer._tokenizer.model_max_length = 512  # without it the package fails on this tokenizer
    return lambda rows: scorer.score(*texts(rows))


def sentence_vectors() -> Callable:
    """Return SentenceTransformer.encode of the texts that KPQA's encoder reads."""
    from genqa_metrics.core.checkpoints import base_encoder
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(base_encoder()), device="cpu")
    return lambda rows: model.encode(list(chain(*asked_texts(rows))), show_progress_bar=False)


def judge(arguments: dict) -> Callable:
    """Return the verdicts of a judge that is loaded with some arguments."""
    from genqa_metrics.ava.judging import Judge
    from genqa_metrics.ava.loading import load_judge

    loaded = load_judge(**arguments)
    return lambda rows: Judge(loaded).logits(triples_of(rows))


def judge_loop() -> Callable:
    """Return the verdicts of the judge, one row at a time."""
    from genqa_metrics.ava.loading import load_judge

    from tests.programs.benchmarks.bench_ava import one_at_a_time

    loaded = load_judge(device="cpu")
    return lambda rows: one_at_a_time(loaded, triples_of(rows))


def kpqa(arguments: dict) -> Callable:
    """Return all of KPQA's scores, of models that are loaded with some arguments."""
    import numpy as np
    from genqa_metrics.kpqa.encoding import Encoder
    from genqa_metrics.kpqa.loading import load_models
    from genqa_metrics.kpqa.scoring import pair_statistics, row_scores

    models = load_models(**arguments)

    def run(rows: list[dict]) -> object:
        pairs = [(row["question"], text) for texts in texts_of(rows) for row, text in zip(rows, texts, strict=True)]
        tokens, _ = Encoder(models).tokens(pairs)
        return row_scores(pair_statistics(tokens[: len(rows)], tokens[len(rows) :]), np.arange(len(rows)))

    return run


def kpqa_loop() -> Callable:
    """Return KPQA's weights, one text at a time."""
    from genqa_metrics.kpqa.loading import load_models

    from tests.programs.benchmarks.bench_kpqa import one_at_a_time

    models = load_models(device="cpu")
    return lambda rows: one_at_a_time(
        models, [(row["question"], text) for row in rows for text in (row["candidate"], row["references"][0])]
    )


def aev() -> Callable:
    """Return AEv of rows."""
    from genqa_metrics.aev.scoring import Settings, scores, summed_statistics

    def run(rows: list[dict]) -> dict:
        answers, references = texts_of(rows)
        return scores(summed_statistics(answers, ([text] for text in references), Settings()), Settings())

    return run


def aev_grid() -> Callable:
    """Return AEv of rows, all cells of its plane."""
    from genqa_metrics.aev.scoring import GRID_ORDERS, Settings, grid_scores, summed_statistics

    def run(rows: list[dict]) -> dict:
        answers, references = texts_of(rows)
        statistics = summed_statistics(answers, ([text] for text in references), Settings(), max(GRID_ORDERS))
        return grid_scores(statistics, Settings())

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


def coco(module: str, name: str, *sizes: int, **arguments: int) -> Callable:
    """Return what a scorer of pycocoevalcap gives for rows; it takes two blanks in a row for an empty word."""
    from importlib import import_module

    scorer = getattr(import_module(f"pycocoevalcap.{module}"), name)(*sizes)

    def run(rows: list[dict]) -> object:
        answers, references = ([" ".join(text.split()) or "." for text in texts] for texts in texts_of(rows))
        by_row = [{i: [text] for i, text in enumerate(texts)} for texts in (references, answers)]
        return scorer.compute_score(*by_row, **arguments)

    return run


def contestants(fast: dict[str, Path]) -> list[Contestant]:
    """Return all contestants, ours first in every group.

    Args:
        fast: folders of the exported checkpoints, by metric.
    """
    judges = {way: partial(judge, given) for way, given in ways(fast["ava"]).items()}
    predictors = {way: partial(kpqa, given) for way, given in ways(fast["kpqa"]).items()}
    peers = {
        CROSS_ENCODER: cross_encoder,
        CROSS_INT8: cross_encoder_int8,
        "one row at a time": judge_loop,
    }
    text_peers = {
        BERTSCORE: partial(bertscore, asked_texts),
        f"{BERTSCORE}, answers only": partial(bertscore, texts_of),
        "bert_score": partial(bert_score_package, asked_texts),
        "SentenceTransformer.encode": sentence_vectors,
        "one text at a time, weights only": kpqa_loop,
    }
    large = {
        "CrossEncoder.predict, BERT-base (BEM's size)": partial(random_cross_encoder, "bert"),
        "CrossEncoder.predict, EuroBERT-210M (BERT-as-a-judge's size)": partial(
            random_cross_encoder, "eurobert", pad_token_id=0
        ),
    }
    words = {
        AEV: aev,
        f"{AEV}, all 44 cells of its plane": aev_grid,
        "sacrebleu corpus_bleu": corpus_bleu,
        "rouge_score ROUGE-L": rouge_score,
        "pycocoevalcap Bleu(4)": partial(coco, "bleu.bleu", "Bleu", 4, verbose=0),
        "pycocoevalcap Rouge": partial(coco, "rouge.rouge", "Rouge"),
    }
    fields = (
        ("judge", {AVA if way == "float32" else f"{AVA}, {way}": make for way, make in judges.items()}, MODEL_ROWS),
        ("judge", peers, MODEL_ROWS),
        ("judge", large, SLOW_ROWS),
        ("kpqa", {KPQA if way == "float32" else f"{KPQA}, {way}": m for way, m in predictors.items()}, MODEL_ROWS),
        ("kpqa", text_peers, MODEL_ROWS),
        ("words", words, WORD_ROWS),
    )
    return [Contestant(name, group, make, rows) for group, made, rows in fields for name, make in made.items()]
