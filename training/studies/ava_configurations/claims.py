"""Scores of configurations in bootstrap samples of questions, and what they say of the paper's claims (sec. 6.2)."""

from collections.abc import Callable

import numpy as np
from genqa_metrics.core.judge_model import LINEAR
from genqa_metrics.statistics.correlation import resampled_auc
from genqa_metrics.statistics.resampling import bootstrap_counts, interval

from training.ava import triples as t

SAMPLES = 1000  # of the bootstrap
CLAIMS = (  # of section 6.2: the claim, the better configuration, the worse one
    ("encoders of all three texts are above the linear judge", "a0-all", LINEAR),
    ("one concatenated triple is above the linear judge", "a1-r_qt", LINEAR),
    ("question and answer alone tell more than reference and answer", "a0-qt", "a0-rt"),
    ("the question helps to compare reference and answer", "a0-all", "a0-rt"),
    ("the question helps in one concatenated triple", "a1-r_qt", "a0-rt"),
    ("one concatenated triple is above three pairs", "a1-r_qt", "a0-all"),
    ("two triples are above one", "a1-r_qt-t_qr", "a1-r_qt"),
    ("a third triple brings nothing", "a1-r_qt-t_qr", "a1-all"),
    ("peer attention is above the same pairs without", "a2", "a1-r_qt-t_qr"),
    ("peer attention is above one concatenated triple", "a2", "a1-r_qt"),
)


def best_threshold(logits: np.ndarray, labels: np.ndarray) -> float:
    """Return the logit from which "correct" has the best F1, half-way to the next lower one.

    >>> best_threshold(np.array([2.0, 1.0, 0.0, -1.0]), np.array([1, 1, 0, 0]))
    0.5
    """
    order = np.argsort(-logits, kind="stable")
    hits, predicted = np.cumsum(labels[order]), np.arange(1, len(labels) + 1)
    f1 = 2 * hits / (predicted + labels.sum())
    f1[:-1][np.diff(logits[order]) == 0] = 0  # equal logits are accepted together
    best = int(np.argmax(f1))
    return float(logits[order[best : best + 2]].mean())


def weighted_scores(logits: np.ndarray, labels: np.ndarray, threshold: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from (samples, rows) counts of rows to (samples, 4) precision, recall, F1 and AUC.

    >>> scores = weighted_scores(np.array([2.0, 1.0, -1.0]), np.array([1, 0, 1]), 0.0)
    >>> scores(np.array([[1, 1, 1], [2, 1, 0]])).round(3).tolist()
    [[0.5, 0.5, 0.5, 0.5], [0.667, 1.0, 0.8, 1.0]]
    """
    right, predicted = labels == 1, logits >= threshold

    def scores(counts: np.ndarray) -> np.ndarray:
        hits, accepted, true = (counts @ part for part in (right & predicted, predicted.astype(float), right))
        f1 = 2 * hits / np.maximum(1, accepted + true)
        area = resampled_auc(logits, right, counts)
        return np.stack([hits / np.maximum(1, accepted), hits / np.maximum(1, true), f1, area], axis=1)

    return scores


def resampled(
    rows: list[t.Triple], runs: dict[str, list[tuple[np.ndarray, float]]], seed: int
) -> dict[str, np.ndarray]:
    """Return the scores of configurations in the same bootstrap samples of questions; row 0 is all rows once.

    `runs` has per seed of training the (rows,) logits and the threshold. Of several seeds the mean counts, over seeds
    that are drawn with replacement too. Scores are (1 + SAMPLES, 4) precision, recall, F1, AUC.
    """
    labels = np.array([int(row.label) for row in rows])
    questions = {question: i for i, question in enumerate(dict.fromkeys(row.question for row in rows))}
    clusters = np.array([questions[row.question] for row in rows])
    functions = {name: [weighted_scores(logits, labels, at) for logits, at in own] for name, own in runs.items()}
    items = {name: [np.stack([f(np.ones((1, len(rows)))) for f in own])] for name, own in functions.items()}
    for counts in bootstrap_counts(clusters, SAMPLES, seed):
        for name, own in functions.items():
            items[name].append(np.stack([f(counts) for f in own]))
    scores, rng = {}, np.random.default_rng(seed)
    for name, parts in items.items():
        values = np.concatenate(parts, axis=1)  # seeds x samples x 4
        drawn = rng.integers(len(values), size=(1 + SAMPLES, len(values)))
        drawn[0] = np.arange(len(values))
        scores[name] = values[drawn, np.arange(1 + SAMPLES)[:, None]].mean(axis=1)
    return scores


def summary(scores: dict[str, np.ndarray], questions: int) -> dict:
    """Return scores, and for the paper's claims the differences of F1 and AUC, with intervals; see `resampled`."""

    def noted(values: np.ndarray) -> list[float]:
        return [float(values[0]), *map(float, interval(values[1:], questions))]

    names = "precision", "recall", "f1", "auc"
    result = {c: {n: noted(score[:, i]) for i, n in enumerate(names)} for c, score in scores.items()}
    claims = [
        {"claim": claim, "better": better, "worse": worse}
        | {n: noted(scores[better][:, i] - scores[worse][:, i]) for i, n in enumerate(names) if n in ("f1", "auc")}
        for claim, better, worse in CLAIMS
        if better in scores and worse in scores
    ]
    return {"scores": result, "claims": claims}


def verdict(difference: list[float]) -> str:
    """Return what an interval of a difference says about the claim that it is above 0.

    >>> verdict([0.02, 0.01, 0.03]), verdict([0.02, -0.01, 0.05]), verdict([-0.02, -0.03, -0.01])
    ('holds', 'open', 'the reverse')
    """
    _, low, high = difference
    return "holds" if low > 0 else "the reverse" if high < 0 else "open"
