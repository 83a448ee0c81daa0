"""Scoring functions for two questions, from overlap to a trained judge, in the form that F-meta uses."""

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

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


@cache
def _sentence_encoder():
    from genqa_metrics.core.encoders import base_encoder
    from genqa_metrics.core.scorer import quiet
    from sentence_transformers import SentenceTransformer

    with quiet():
        return SentenceTransformer(str(base_encoder()), device="cpu")


_known: dict[str, np.ndarray] = {}


def sentence_vectors(texts: Sequence[str], cache: str | Path | None = None) -> np.ndarray:
    """Return the encoder's sentence vectors of length 1, (texts, size); a text is read once in a process.

    Args:
        texts: any texts.
        cache: folder to keep the vectors of exactly these texts in; None keeps nothing.
    """
    from safetensors.numpy import load_file, save_file

    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    path = Path(cache) / f"sentences_{digest}.safetensors" if cache else None
    if path and path.is_file():
        _known.update(zip(texts, load_file(path)["vectors"], strict=True))
    new = list(dict.fromkeys(text for text in texts if text not in _known))
    if new:
        found = _sentence_encoder().encode(new, normalize_embeddings=True, show_progress_bar=False, batch_size=64)
        _known.update(zip(new, found, strict=True))
    vectors = np.stack([_known[text] for text in texts])
    if path and not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file({"vectors": vectors}, path)
    return vectors


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


def trained_judge(folder: str | Path, seed: int = 0, cache: str | Path | None = None) -> tuple[Callable, dict]:
    """Return a paraphrase judge, the probability that two questions ask the same, and facts about its training.

    A logistic regression over the frozen encoder: seconds to train, and as fast as the cosine.

    Args:
        folder: folder of `JUDGE_DATA` and `JUDGE_DEV`.
        seed: of the solver.
        cache: folder for the sentence vectors of the training pairs.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    parts = [read_pairs(folder, name, number) for name, number in JUDGE_DATA.items()]
    for first, second, _ in parts:
        sentence_vectors([*first, *second], cache)
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
    train, and every pair is a pass of its own.

    Args:
        folder: folder of `JUDGE_DATA` and `JUDGE_DEV`.
        seed: of the training.
        cache: folder that the model is kept in.
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


def remembered(function: Callable, name: str, cache: str | Path | None) -> Callable:
    """Return a base that keeps its scores in a folder, so that a killed run continues.

    Args:
        function: from predictions and references to scores.
        name: everything but the texts that the scores depend on.
        cache: the folder; None keeps nothing.
    """
    if cache is None:
        return function

    def scores(predictions: Sequence[str], references: Sequence[str]) -> np.ndarray:
        facts = json.dumps([name, list(predictions), list(references)])
        path = Path(cache) / f"scores_{hashlib.sha256(facts.encode()).hexdigest()[:16]}.json"
        if not path.is_file():
            found = [float(score) for score in function(predictions, references)]
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = path.with_suffix(".new")
            whole.write_text(json.dumps(found), encoding="utf-8")
            whole.rename(path)  # an existing file is complete
        return np.array(json.loads(path.read_text(encoding="utf-8")))

    return scores


class LazyJudge:
    """A trained judge as a base: it is trained when it is asked for the first time.

    Args:
        name: of the judge in `TITLES`.
        train: `trained_judge` or `trained_cross_encoder`.
        folder: folder of the sentence pairs.
        seed: of the training.
        cache: folder for what is kept of the training.
    """

    def __init__(self, name: str, train: Callable, folder: str | Path, seed: int, cache: str | Path | None):
        self._train, self._arguments, self._judge = train, (folder, seed, cache), None
        self._facts = Path(cache) / f"{name}_{seed}.json" if cache else None

    def _trained(self) -> Callable:
        if self._judge is None:
            self._judge, self.facts_found = self._train(*self._arguments)
            if self._facts:
                self._facts.parent.mkdir(parents=True, exist_ok=True)
                self._facts.write_text(json.dumps(self.facts_found), encoding="utf-8")
        return self._judge

    def __call__(self, predictions: Sequence[str], references: Sequence[str]) -> np.ndarray:
        """Return the probability that two questions ask the same, for every pair."""
        return self._trained()(predictions, references)

    @property
    def facts(self) -> dict:
        """What is known of the training."""
        if self._facts and self._facts.is_file():
            return json.loads(self._facts.read_text(encoding="utf-8"))
        self._trained()
        return self.facts_found


def functions(
    names: Sequence[str], pairs_dir: str | Path, seed: int = 0, cache: str | Path | None = None
) -> tuple[dict[str, Callable], dict[str, LazyJudge]]:
    """Return name of `TITLES` -> function from predictions and references to scores, and the judges among them.

    Args:
        names: some of `TITLES`.
        pairs_dir: folder of the pairs that judges learn from.
        seed: of the judges.
        cache: folder for what has been computed; None keeps nothing.
    """
    trainings = {"judge": trained_judge, "cross_encoder": trained_cross_encoder}
    made: dict[str, Callable] = {}
    judges = {}
    for name in names:
        if name not in TITLES:
            raise ValueError(f"bases: expected some of {', '.join(TITLES)}, got {name!r}")
        if name in trainings:
            function = judges[name] = LazyJudge(name, trainings[name], pairs_dir, seed, cache)
        elif name in ("bleu", "rouge", "meteor"):
            function = overlap(name)
        elif name.endswith("_kpqa"):
            function = kpqa({"rouge_kpqa": "rougeL_kpqa"}.get(name, name))
        else:
            function = {"bertscore": bertscore, "cosine": cosine, "mean": mean_of_two}[name]
        made[name] = remembered(function, f"{name}, seed {seed}" if name in judges else name, cache)
    return made, judges
