"""Scoring functions for two questions, from overlap to a trained judge, in the form that F-meta uses."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from training import similarity
from training.common import json_rows

JUDGE_DATA = {"quora.train": None, "paws_wiki.train": 2000}  # what judges learn from: the first pairs, None: all
JUDGE_DEV = "quora.dev"  # pairs that their accuracy is measured on, and the regularisation of one chosen
JUDGE_EPOCHS = 3  # of the cross-encoder
BERTSCORE_LAYER = 6  # the encoder's last


def _lists(predictions: Sequence[str], references: Sequence[str]) -> tuple[list[str], list[str]]:
    return list(predictions), list(references)


def overlap(name: str) -> Callable:
    """Return BLEU-4, ROUGE-L or METEOR of raw texts."""
    from genqa_metrics.f_meta.bases import base_function
    from genqa_metrics.f_meta.overlap import words

    if name != "meteor":
        return base_function(name, {"tokenizer": "word"}).pairs
    pairs = base_function(name).pairs
    return lambda predictions, references: pairs(
        *([" ".join(words(text)) for text in texts] for texts in (predictions, references))
    )


_known: dict[str, np.ndarray] = {}


def sentence_vectors(texts: Sequence[str]) -> np.ndarray:
    """Return the encoder's sentence vectors of length 1, (texts, size); a text is read once in a process."""
    _known.update(similarity.sentence_vectors(text for text in texts if text not in _known))
    return np.stack([_known[text] for text in texts])


def cosine(predictions: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Return the cosines of the sentence vectors of two lists of texts."""
    return (sentence_vectors(predictions) * sentence_vectors(references)).sum(axis=1)


def bertscore(predictions: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Return BERTScore F of two lists of texts with the bundled encoder's last layer, without idf or rescaling."""
    from genqa_metrics.core.encoders import base_encoder
    from genqa_metrics.core.scorer import quiet

    with quiet():
        return _bert_scorer(str(base_encoder())).score(*_lists(predictions, references))[2].numpy()


@cache
def _bert_scorer(folder: str):
    from bert_score import BERTScorer

    return BERTScorer(model_type=folder, num_layers=BERTSCORE_LAYER, batch_size=64, device="cpu")


@cache
def _kpqa():
    import genqa_metrics

    return genqa_metrics.load("kpqa", device="cpu", progress=False)


@lru_cache(maxsize=2)
def _kpqa_scores(predictions: tuple[str, ...], references: tuple[str, ...]) -> Mapping:
    return _kpqa().compute(questions=references, predictions=predictions, references=references, per_example=True)


def kpqa(result: str) -> Callable:
    """Return a result of KPQA as a base: words weighted by how much they say beyond the reference question."""
    return lambda predictions, references: np.array(
        _kpqa_scores(tuple(predictions), tuple(references))[f"{result}_per_example"]
    )


def read_pairs(folder: str | Path, name: str, number: int | None = None) -> tuple[list[str], list[str], np.ndarray]:
    """Return first and second texts and labels (paraphrase or not) of the first rows of a file of sentence pairs."""
    rows = list(islice(json_rows(Path(folder) / f"{name}.jsonl.gz"), number))
    return (
        [r["first"] for r in rows],
        [r["second"] for r in rows],
        np.array([r["label"] == "paraphrase" for r in rows]),
    )


def features(predictions: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Return what the judge reads of pairs: differences and products of sentence vectors, cosine, overlap.

    The first two are those of Conneau et al. (2017); all are the same when the texts change sides.
    """
    left, right = sentence_vectors(predictions), sentence_vectors(references)
    both = [overlap("rouge")(*pair) for pair in ((predictions, references), (references, predictions))]
    words = [[set(text.lower().split()) for text in texts] for texts in (predictions, references)]
    shared = [len(a & b) / max(len(a | b), 1) for a, b in zip(*words, strict=True)]
    extra = [(left * right).sum(axis=1), np.mean(both, axis=0), np.array(shared)]
    return np.hstack([np.abs(left - right), left * right, np.stack(extra, axis=1)])


def trained_judge(folder: str | Path, seed: int = 0, _: str | None = None) -> tuple[Callable, dict]:
    """Return a paraphrase judge, the probability that two questions ask the same, and facts about its training.

    A logistic regression over the frozen encoder: seconds to train, and as fast as the cosine.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    parts = [read_pairs(folder, name, number) for name, number in JUDGE_DATA.items()]
    x = np.concatenate([features(first, second) for first, second, _ in parts])
    y = np.concatenate([labels for *_, labels in parts])
    first, second, labels = read_pairs(folder, JUDGE_DEV)
    dev = features(first, second)
    best = None
    for c in (0.0003, 0.001, 0.003, 0.01, 0.03):
        judge = make_pipeline(StandardScaler(), LogisticRegression(C=c, max_iter=300, random_state=seed)).fit(x, y)
        accuracy = float(judge.score(dev, labels))
        if best is None or accuracy > best[0]:
            best = accuracy, c, judge
    accuracy, c, judge = best
    facts = {"pairs": len(y), "data": JUDGE_DATA, "dev": JUDGE_DEV, "dev_accuracy": round(accuracy, 4), "C": c}
    print(f"judge: {facts}", file=sys.stderr, flush=True)
    return lambda predictions, references: judge.predict_proba(features(predictions, references))[:, 1], facts


def trained_cross_encoder(folder: str | Path, seed: int = 0, cache: str | Path | None = None) -> tuple[Callable, dict]:
    """Return a paraphrase judge of which all weights are trained, and facts about its training.

    The encoder reads both questions together, and each pair in both orders: the probability is the mean. Minutes to
    train, and every pair is a pass of its own. The model is kept in the folder `cache`.
    """
    from genqa_metrics.core.encoders import base_encoder

    from training.cross_encoder import probabilities, trained

    temporary = None if cache else TemporaryDirectory()
    parts = [read_pairs(folder, name, number) for name, number in JUDGE_DATA.items()]
    pairs = [(first, second, int(label)) for part in parts for first, second, label in zip(*part, strict=True)]
    model = trained(pairs, Path(cache or temporary.name) / f"cross_encoder_{seed}", seed, base_encoder(), JUDGE_EPOCHS)

    def judge(predictions: Sequence[str], references: Sequence[str]) -> np.ndarray:
        sides = [*zip(predictions, references, strict=True), *zip(references, predictions, strict=True)]
        return probabilities(sides, model).reshape(2, -1).mean(axis=0)

    judge.folder = temporary  # which lives as long as the judge
    first, second, labels = read_pairs(folder, JUDGE_DEV)
    accuracy = float(((judge(first, second) > 0.5) == labels).mean())
    facts = {"pairs": len(pairs), "data": JUDGE_DATA, "epochs": JUDGE_EPOCHS}
    facts |= {"dev": JUDGE_DEV, "dev_accuracy": round(accuracy, 4)}
    print(f"cross-encoder: {facts}", file=sys.stderr, flush=True)
    return judge, facts


TITLES = {
    "bleu": "BLEU-4",
    "rouge": "ROUGE-L",
    "meteor": "METEOR 1.5",
    "bertscore": "BERTScore",
    "cosine": "encoder cosine",
    "rouge_kpqa": "ROUGE-L, KPQA weights",
    "bertscore_kpqa": "BERTScore, KPQA weights",
    "judge": "paraphrase judge, frozen encoder",
    "cross_encoder": "paraphrase judge, cross-encoder",
    "mean": "mean of ROUGE-L and cosine",
}


def mean_of_two(predictions: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Return the mean of ROUGE-L and the cosine."""
    return (overlap("rouge")(*_lists(predictions, references)) + cosine(predictions, references)) / 2


JUDGES = ("judge", "cross_encoder")


@cache
def _judge(name: str, folder: str, seed: int, kept: str | None) -> tuple[Callable, dict]:
    return (trained_judge if name == "judge" else trained_cross_encoder)(folder, seed, kept)


def judge_facts(name: str, folder: str, seed: int, kept: str | None) -> dict:
    """Return facts about the training of one of `JUDGES`."""
    return _judge(name, folder, seed, kept)[1]


def scores(
    name: str, predictions: Sequence[str], references: Sequence[str], folder: str, seed: int, kept: str | None
) -> np.ndarray:
    """Return the scores of one of `TITLES`.

    Args:
        name: of the base.
        predictions: questions.
        references: as many questions.
        folder: pairs that judges learn from.
        seed: of the judges.
        kept: folder that a trained model is kept in.
    """
    if name in JUDGES:
        base = _judge(name, folder, seed, kept)[0]
    elif name in ("bleu", "rouge", "meteor"):
        base = overlap(name)
    elif name.endswith("_kpqa"):
        base = kpqa({"rouge_kpqa": "rougeL_kpqa"}.get(name, name))
    else:
        base = {"bertscore": bertscore, "cosine": cosine, "mean": mean_of_two}[name]
    return np.asarray(base(list(predictions), list(references)), dtype=float)


def functions(
    names: Sequence[str], folder: str | Path, seed: int = 0, cache: str | None = None
) -> tuple[dict[str, Callable], Callable[[], dict]]:
    """Return name of `TITLES` -> function from predictions and references to scores, and one to facts of the judges.

    Args:
        names: some of `TITLES`.
        folder: pairs that judges learn from.
        seed: of the judges.
        cache: folder for what has been computed, from which a killed run continues; None keeps nothing.
    """
    from joblib import Memory

    if unknown := [name for name in names if name not in TITLES]:
        raise ValueError(f"bases: expected some of {', '.join(TITLES)}, got {unknown[0]!r}")
    given, memory = (str(folder), seed, cache), Memory(cache, verbose=0)
    kept, facts = (memory.cache(function, ignore=["folder", "kept"]) for function in (scores, judge_facts))
    made = {name: lambda first, second, name=name: kept(name, list(first), list(second), *given) for name in names}
    return made, lambda: {name: facts(name, *given) for name in names if name in JUDGES}
