"""Rankers of different kinds over the candidate answers of questions, as the systems that a judge has to measure.

Each takes questions and a seed and gives one score per candidate, the higher the better. They need not be good: the
judge is asked to tell good ones from bad ones.
"""

import copy
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

NOISE = 0.5  # standard deviation added to the gold labels, which are 0 and 1
NEGATIVES = 4  # incorrect answers of each correct one that the cross-encoder is trained on
TRAINING_LENGTH = 96  # word pieces; 95% of the pairs have fewer

_DETACHED = (  # tokens of the corpora that stand apart from their word
    (re.compile(r"\s*(?:``|''|\")\s+([^\"'`]*?)\s+(?:''|\")"), r' "\1"'),
    (re.compile(r"``|''"), '"'),
    (re.compile(r"-lrb-\s*|\(\s+", re.IGNORECASE), "("),
    (re.compile(r"\s*-rrb-|\s+\)", re.IGNORECASE), ")"),
    (re.compile(r"([$#])\s+(?=\d)"), r"\1"),
    (re.compile(r"\s+(n't|'(?:s|re|ve|ll|d|m))\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\s+([.,;:!?%])(?=\s|$|\")"), r"\1"),
)


@dataclass(frozen=True)
class Question:
    """A question and its candidate answers; `labels` are 1 for correct ones, 0 for others."""

    text: str
    candidates: tuple[str, ...]
    labels: tuple[int, ...]


def detokenized(text: str) -> str:
    """Return a text of blank-separated tokens as people write it.

    >>> print(detokenized("It was n't `` big '' , he said ( for $ 5 ) ."))
    It wasn't "big", he said (for $5).
    """
    for pattern, replacement in _DETACHED:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def questions_of(rows: Iterable[dict], plain: bool = True) -> list[Question]:
    """Return the questions of an answer-sentence selection corpus, in its order.

    Args:
        rows: `question`, `answer` and `label` 0 or 1; rows of a question with the same answer become one, which is
            correct if one of them is.
        plain: whether texts are freed of the blanks between tokens, see `detokenized`.
    """
    clean = detokenized if plain else str.strip
    grouped = defaultdict(dict)
    for row in rows:
        answers, answer = grouped[clean(row["question"])], clean(row["answer"])
        answers[answer] = max(int(row["label"]), answers.get(answer, 0))
    return [Question(text, tuple(answers), tuple(answers.values())) for text, answers in grouped.items()]


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return re.findall(r"\w+", text.lower())


def _flat(questions: Sequence[Question]) -> tuple[list[str], list[str]]:
    """Return question and candidate of every pair, question by question."""
    pairs = [(question.text, candidate) for question in questions for candidate in question.candidates]
    return [text for text, _ in pairs], [candidate for _, candidate in pairs]


def _split(scores: np.ndarray, questions: Sequence[Question]) -> list[np.ndarray]:
    return np.split(scores, np.cumsum([len(question.candidates) for question in questions])[:-1])


def bm25(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return BM25 of each candidate; the candidates of all questions are the collection."""
    import bm25s

    index = bm25s.BM25()
    index.index([words(text) for text in _flat(questions)[1]], show_progress=False)
    start, scores = 0, []
    for question in questions:
        end = start + len(question.candidates)
        scores.append(index.get_scores(words(question.text))[start:end])
        start = end
    return scores


def tfidf(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return the cosine of TF-IDF vectors; the candidates of all questions are the collection."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    asked, candidates = _flat(questions)
    vectorizer = TfidfVectorizer(sublinear_tf=True).fit(candidates)
    product = vectorizer.transform(asked).multiply(vectorizer.transform(candidates))
    return _split(np.asarray(product.sum(axis=1)).ravel(), questions)


def encoder_cosine(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return the cosine of sentence embeddings of MiniLM, the base encoder of the bundled checkpoints."""
    from genqa_metrics.kpqa.models import base_encoder
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(base_encoder()), device="cpu")
    asked, candidates = _flat(questions)
    texts = list(dict.fromkeys(asked + candidates))
    vectors = dict(zip(texts, model.encode(texts, normalize_embeddings=True, show_progress_bar=False), strict=True))
    scores = [vectors[q] @ vectors[t] for q, t in zip(asked, candidates, strict=True)]
    return _split(np.array(scores), questions)


def word_overlap(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return the share of the question's words that a candidate has; of equal ones the shorter is better."""
    scores = []
    for question in questions:
        asked = set(words(question.text))
        own = [words(candidate) for candidate in question.candidates]
        scores.append(
            np.array([len(asked & set(text)) / max(1, len(asked)) - 1e-6 * len(text) for text in own], dtype=float)
        )
    return scores


def longest(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return the number of words."""
    return [np.array([len(words(text)) for text in question.candidates], dtype=float) for question in questions]


def keyphrase_overlap(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return word overlap times the heaviest keyphrase weight of KPQA.

    A sentence answers if it speaks of what is asked and holds something that may be the answer.
    """
    from genqa_metrics.kpqa.encoding import Encoder
    from genqa_metrics.kpqa.loading import load_models

    pairs = list(zip(*_flat(questions), strict=True))
    weights = [float(w.max(initial=0.0)) for _, w in Encoder(load_models(device="cpu")).keyphrase_weights(pairs)]
    return [a * b for a, b in zip(word_overlap(questions, seed), _split(np.array(weights), questions), strict=True)]


def noisy_oracle(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return the gold labels plus Gaussian noise."""
    rng = np.random.default_rng(seed)
    return [question.labels + rng.normal(0, NOISE, len(question.labels)) for question in questions]


def shuffled(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return noise."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=len(question.labels)) for question in questions]


def cross_encoder(questions: Sequence[Question], seed: int, folder: str | Path) -> list[np.ndarray]:
    """Return the logit of the cross-encoder in a folder, see `trained_cross_encoder`."""
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder), device="cpu", max_length=2 * TRAINING_LENGTH)
    pairs = list(zip(*_flat(questions), strict=True))
    return _split(model.predict(pairs, batch_size=64, show_progress_bar=False), questions)


def training_pairs(questions: Sequence[Question], seed: int) -> list[tuple[str, str, int]]:
    """Return question, answer and label of all correct answers and of `NEGATIVES` incorrect ones for each."""
    rng = np.random.default_rng(seed)
    pairs = []
    for question in questions:
        correct = [t for t, label in zip(question.candidates, question.labels, strict=True) if label]
        wrong = [t for t, label in zip(question.candidates, question.labels, strict=True) if not label]
        drawn = rng.permutation(len(wrong))[: NEGATIVES * len(correct)]
        pairs += [(question.text, text, 1) for text in correct] + [(question.text, wrong[i], 0) for i in drawn]
    return pairs


def trained_cross_encoder(questions: Sequence[Question], folder: str | Path, seed: int, checkpoint=None) -> Path:
    """Train a cross-encoder on labelled answers, unless it is there, and return its folder.

    It starts from the encoder of KPQA's predictor, which has read questions beside sentences. One run from MiniLM,
    which has only ever read one text at a time, stayed at chance; it also had another learning rate and batch size.

    Args:
        questions: questions of the training parts.
        folder: where the model is put; one that is there is used as it is.
        seed: of the rows, their order and the new layer.
        checkpoint: folder or Hub id of the predictor, None for the bundled one.
    """
    folder = Path(folder)
    if (folder / "model.safetensors").is_file():
        return folder

    from genqa_metrics.kpqa.loading import load_models
    from transformers import (
        AutoModelForSequenceClassification,
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
        set_seed,
    )

    set_seed(seed)
    models = load_models(checkpoint, device="cpu")
    tokenizer, config = models.tokenizer, copy.deepcopy(models.predictor.config)
    config.num_labels, config.problem_type = 1, "multi_label_classification"  # a logistic loss
    model = AutoModelForSequenceClassification.from_config(config)
    model.base_model.load_state_dict(models.predictor.base_model.state_dict(), strict=False)  # without its pooler
    rows = [
        {**tokenizer(question, answer, truncation=True, max_length=TRAINING_LENGTH), "labels": [float(label)]}
        for question, answer, label in training_pairs(questions, seed)
    ]
    settings = TrainingArguments(
        output_dir=str(folder),
        use_cpu=True,
        bf16=True,
        seed=seed,
        learning_rate=1e-4,
        num_train_epochs=2,
        warmup_steps=50,
        per_device_train_batch_size=16,
        train_sampling_strategy="group_by_length",
        save_strategy="no",
        logging_steps=25,
        report_to="none",
        disable_tqdm=True,
    )
    Trainer(model, settings, train_dataset=rows, data_collator=DataCollatorWithPadding(tokenizer)).train()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


Ranker = Callable[[Sequence[Question], int], list[np.ndarray]]
RANKERS: dict[str, Ranker] = {
    "noisy_oracle": noisy_oracle,
    "encoder_cosine": encoder_cosine,
    "bm25": bm25,
    "tfidf": tfidf,
    "keyphrase_overlap": keyphrase_overlap,
    "word_overlap": word_overlap,
    "longest": longest,
    "shuffled": shuffled,
}


def all_rankers(folder: str | Path) -> dict[str, Ranker]:
    """Return `RANKERS` and the cross-encoder of a folder."""
    return {"cross_encoder": partial(cross_encoder, folder=folder), **RANKERS}
