"""Scores as classifiers of correct answers: thresholds and calibration."""

import numpy as np


def best_threshold(scores: np.ndarray, positive: np.ndarray) -> tuple[float, float]:
    """Return the score from which on answers are best called correct, and the accuracy of that on these rows.

    Scores are (rows,), and so are the booleans, which answers humans accept; both classes must be there. The
    threshold is one of the scores, the highest of equally good ones (infinity: call no answer correct).

    >>> best_threshold(np.array([0.1, 0.4, 0.6, 0.9]), np.array([False, True, False, True]))
    (0.9, 0.75)
    """
    from sklearn.metrics import roc_curve

    false, hits, thresholds = roc_curve(positive, scores, drop_intermediate=False)
    accuracy = hits * positive.mean() + (1 - false) * (1 - positive.mean())
    best = int(np.argmax(accuracy > accuracy.max() - 1e-12))
    return float(thresholds[best]), float(accuracy[best])


def held_out(scores: np.ndarray, positive: np.ndarray, clusters: np.ndarray, seed: int, folds: int = 5) -> float:
    """Return the accuracy of the best threshold on questions that it was not chosen on, by cross-validation.

    Each row is judged by the threshold of the other folds; a question, the (rows,) `clusters`, is in one fold. NaN
    where those have one class.
    """
    size = int(clusters.max()) + 1
    fold = np.random.default_rng(seed).permutation(size)[clusters] % folds
    called = np.zeros(len(scores), dtype=bool)
    for number in np.unique(fold):
        rest = fold != number
        if not (positive[rest].any() and (~positive[rest]).any()):
            return float("nan")
        called[~rest] = scores[~rest] >= best_threshold(scores[rest], positive[rest])[0]
    return float((called == positive).mean())


def calibration(scores: np.ndarray, positive: np.ndarray, bins: int = 10) -> dict[str, object]:
    """Return how far scores within 0 to 1 are probabilities: bins, expected calibration error, Brier score.

    "bins": of every bin of equal width that is not empty the number of rows, their mean score, and the share that
    humans accept; "ece": the mean gap between the two, weighted by rows (Guo et al. 2017); "brier": mean squared
    difference.

    >>> errors = calibration(np.array([0.1, 0.9, 0.95]), np.array([False, True, False]))
    >>> round(errors["ece"], 4), round(errors["brier"], 4)  # (1 * 0.1 + 2 * |0.5 - 0.925|) / 3
    (0.3167, 0.3075)
    """
    from sklearn.metrics import brier_score_loss

    bin_numbers = np.minimum((scores * bins).astype(int), bins - 1)
    rows = np.bincount(bin_numbers, minlength=bins)
    filled = rows > 0
    score, share = (np.bincount(bin_numbers, of, bins)[filled] / rows[filled] for of in (scores, positive))
    return {
        "bins": [
            {"rows": int(n), "score": float(s), "correct": float(c)}
            for n, s, c in zip(rows[filled], score, share, strict=True)
        ],
        "ece": float((rows[filled] * np.abs(share - score)).sum() / len(scores)),
        "brier": float(brier_score_loss(positive, scores)),
    }
