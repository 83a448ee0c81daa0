"""Rankers of different kinds over the candidate answers of questions, as the systems that a judge has to measure.

All are systems that people use or used; none knows the labels of what it ranks. One learns from answer sentences of
extractive QA first, as in Garg, Vu & Moschitti, "TANDA: Transfer and Adapt Pre-Trained Transformer Models for Answer
Sentence Selection", AAAI 2020: there of Natural Questions, here of paragraphs.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from genqa_metrics.core.scorer import quiet
from genqa_metrics.f_meta.bases import cosines
from genqa_metrics.kpqa.encoding import Encoder
from genqa_metrics.kpqa.loading import load_models

from training.ava.ranking import Question, words
from training.common import float32_if_emulated
from training.common import trained as trained_by
from training.kpqa.data import read_rows
from training.studies.answer_ranking import compare_aggregate
from training.studies.ava_configurations.compare import reading_encoder

SOURCES = ("squad.train", "nq_oracle", "squadshifts_new_wiki")  # questions about Wikipedia
QUESTIONS = 3000  # of each source at most: about 28,000 pairs, ten minutes on one core
SENTENCES, LONGEST = 6, 60  # sentences of a paragraph, words of a sentence
LENGTH = 96  # word pieces of a pair that training reads; 95% of the answer pairs of WikiQA and TREC-QA have fewer
NEGATIVES = 4  # incorrect answers of each correct one that the cross-encoder is trained on

Ranker = Callable[[Sequence[Question], int], list[np.ndarray]]


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
    places = _split(np.arange(sum(len(question.candidates) for question in questions)), questions)
    return [index.get_scores(words(q.text))[position] for q, position in zip(questions, places, strict=True)]


def tfidf(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return the cosine of TF-IDF vectors; the candidates of all questions are the collection."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    asked, candidates = _flat(questions)
    vectorizer = TfidfVectorizer(sublinear_tf=True).fit(candidates)
    product = vectorizer.transform(asked).multiply(vectorizer.transform(candidates))
    return _split(np.asarray(product.sum(axis=1)).ravel(), questions)


def encoder_cosine(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return the cosine of sentence embeddings of MiniLM, the base encoder of the bundled checkpoints."""
    return _split(cosines(*_flat(questions)), questions)


def word_overlap(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return the share of the question's words that a candidate has; of equal ones the shorter is better."""
    scores = []
    for question in questions:
        asked = set(words(question.text))
        texts = map(words, question.candidates)
        shares = [len(asked & set(text)) / max(1, len(asked)) - 1e-6 * len(text) for text in texts]
        scores.append(np.array(shares, dtype=float))
    return scores


def keyphrase_overlap(questions: Sequence[Question], seed: int) -> list[np.ndarray]:
    """Return word overlap times the heaviest keyphrase weight of KPQA: on the subject, and with a possible answer."""
    pairs = list(zip(*_flat(questions), strict=True))
    weights = [float(w.max(initial=0.0)) for *_, w in Encoder(load_models(device="cpu")).keyphrase_weights(pairs)]
    return [a * b for a, b in zip(word_overlap(questions, seed), _split(np.array(weights), questions), strict=True)]


def cross_encoder(questions: Sequence[Question], seed: int, folder: str | Path) -> list[np.ndarray]:
    """Return the probability by the cross-encoder in a folder, see `trained_cross_encoder`."""
    from sentence_transformers import CrossEncoder

    with quiet():
        model = CrossEncoder(str(folder), device="cpu", max_length=2 * LENGTH)
    pairs = list(zip(*_flat(questions), strict=True))
    return _split(model.predict(pairs, batch_size=64, show_progress_bar=False), questions)


def training_pairs(questions: Sequence[Question], seed: int) -> Iterator[tuple[str, str, int]]:
    """Yield question, answer and label of all correct answers and of `NEGATIVES` incorrect ones for each."""
    rng = np.random.default_rng(seed)
    for question in questions:
        answers = list(zip(question.candidates, question.labels, strict=True))
        correct, wrong = ([text for text, label in answers if label == kind] for kind in (1, 0))
        drawn = rng.permutation(len(wrong))[: NEGATIVES * len(correct)]
        yield from [(question.text, text, 1) for text in correct] + [(question.text, wrong[i], 0) for i in drawn]


def trained_cross_encoder(questions: Sequence[Question], folder: Path, seed: int, start: str | Path) -> Path:
    """Train, for one epoch, an encoder that reads question and answer together, unless it exists; return it."""
    if (folder / "model.safetensors").is_file():
        return folder

    import transformers

    transformers.set_seed(seed)
    tokenizer = transformers.AutoTokenizer.from_pretrained(start)
    loss = {"num_labels": 1, "problem_type": "multi_label_classification"}  # a logistic one
    with quiet():
        model = transformers.AutoModelForSequenceClassification.from_pretrained(start, **loss)
    model.set_attn_implementation("eager")
    for module in model.modules():
        if hasattr(module, "p"):  # dropout costs more time than it helps on so few rows
            module.p = 0.0
    rows = [
        {**tokenizer(first, second, truncation=True, max_length=LENGTH), "labels": [float(label)]}
        for first, second, label in training_pairs(questions, seed)
    ]
    rates = {"learning_rate": 1e-4, "warmup_steps": 20, "per_device_train_batch_size": 32, "num_train_epochs": 1}
    silent = {"save_strategy": "no", "logging_steps": 25, "report_to": "none", "disable_tqdm": True}
    settings = transformers.TrainingArguments(str(folder), use_cpu=True, bf16=True, seed=seed, **rates, **silent)
    float32_if_emulated(settings)
    trained_by(
        settings,
        lengths=[len(row["input_ids"]) for row in rows],
        model=model,
        train_dataset=rows,
        data_collator=transformers.DataCollatorWithPadding(tokenizer),
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def sentence_questions(rows: Iterable[dict], rng: random.Random) -> list[Question]:
    """Return the sentences of the paragraphs of extractive QA (rows as SQuAD's) as candidate answers.

    A sentence is right that holds the first answer's span, wrong if no answer's text is in it; others are left out,
    and questions without both kinds. Of more than `SENTENCES` candidates the wrong ones are drawn at random.

    >>> answers = {"text": ["Ann"], "answer_start": [0]}
    >>> rows = [{"question": "Who won?", "context": "Ann won. It rained.", "answers": answers}]
    >>> sentence_questions(rows, random.Random(0))
    [Question(text='Who won?', candidates=('Ann won.', 'It rained.'), labels=(1, 0))]
    """
    from sentencex import get_sentence_boundaries

    result = []
    for row in rows:
        context, answers = row["context"], row["answers"]
        start, right, wrong = answers["answer_start"][0], [], []
        for bounds in get_sentence_boundaries("en", context):
            begin, end = bounds["start_index"], bounds["end_index"]
            text = " ".join(context[begin:end].split())
            if not 0 < len(text.split()) <= LONGEST:
                continue
            if begin <= start < end:
                right.append(text)
            elif not any(answer.lower() in text.lower() for answer in answers["text"]):
                wrong.append(text)
        if right and wrong:
            texts = dict.fromkeys((*right, *rng.sample(wrong, min(SENTENCES - 1, len(wrong)))))
            result.append(Question(row["question"], tuple(texts), tuple(int(text in right) for text in texts)))
    return result


def transfer_questions(spans_dir: str | Path, seed: int) -> list[Question]:
    """Return the answer sentences of `SOURCES` that a ranker learns from before those of WikiQA and TREC-QA."""
    rng, result = random.Random(seed), []
    for source in SOURCES:
        rows = list(read_rows(source, spans_dir))
        result += sentence_questions(rng.sample(rows, min(QUESTIONS, len(rows))), rng)
    return result


def ensemble(questions: Sequence[Question], seed: int, members: Sequence[Ranker]) -> list[np.ndarray]:
    """Return the mean over rankers of the share of a question's candidates that a candidate is above."""
    from scipy.stats import rankdata

    scores_by_member = [member(questions, seed) for member in members]
    return [np.mean([rankdata(s) / len(s) for s in scores], axis=0) for scores in zip(*scores_by_member, strict=True)]


RANKERS: dict[str, Ranker] = {
    "bm25": bm25,
    "tfidf": tfidf,
    "word_overlap": word_overlap,
    "keyphrase_overlap": keyphrase_overlap,
    "encoder_cosine": encoder_cosine,
}


def all_rankers(
    training: Sequence[Question], dev: Sequence[Question], spans_dir: str | Path, folder: str | Path, seed: int
) -> dict[str, Ranker]:
    """Return `RANKERS`, four that are trained into a folder unless they are there, and an ensemble."""
    folder = Path(folder)
    reader = reading_encoder(folder / "encoder")
    plain = trained_cross_encoder(training, folder / "cross_encoder", seed, reader)
    transferred = folder / "transferred"
    if not (transferred / "model.safetensors").is_file():
        trained_cross_encoder(transfer_questions(spans_dir, seed), transferred, seed, reader)
    tanda = trained_cross_encoder(training, folder / "tanda", seed, transferred)
    first = folder / "compare_aggregate_transferred"
    if not (first / compare_aggregate.FILE).is_file():
        compare_aggregate.trained(transfer_questions(spans_dir, seed), dev, first, seed)
    comparing = compare_aggregate.trained(training, dev, folder / "compare_aggregate_adapted", seed, first)
    rankers = RANKERS | {
        "compare_aggregate": partial(compare_aggregate.ranked, folder=comparing),
        "cross_encoder": partial(cross_encoder, folder=plain),
        "transferred": partial(cross_encoder, folder=transferred),
        "tanda": partial(cross_encoder, folder=tanda),
    }
    members = ("bm25", "encoder_cosine", "compare_aggregate", "tanda")
    return rankers | {"ensemble": partial(ensemble, members=[rankers[name] for name in members])}
