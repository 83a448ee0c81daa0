"""F-meta: sets of texts -> matrix of pair scores -> generalised precision, recall and F. No input or output.

Schlichtkrull & Cheng, "Evaluating for Diversity in Question Generation over Text", 2020, section 3. Every function
works on all contexts at once, so that the base is asked once, and for no pair twice.
"""

from collections.abc import Mapping, Sequence
from math import fsum

import numpy as np

from ..core.reading import the_first
from .bases import FORM, Base

NAMES = ("f_meta_precision", "f_meta_recall", "f_meta", "f_meta_conventional")
NAMED = 5  # references that a sentence names
COUNTS = ("f_meta_covered", "f_meta_relevant", "asked", "references", "repeats")  # shares of R and of P, then numbers


def _checked_scores(base: Base, scores: object, predictions: list[str], references: list) -> np.ndarray:
    """Return the scores of a base as an array of finite floats, one per pair."""
    expected = f"base {base.name}: expected a list of {len(predictions)} numbers, got"
    try:
        array = np.asarray(scores)
        if array.dtype.kind not in "biufO" or array.ndim == 0:
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{expected} {scores!r:.60}; {FORM}") from error
    if array.shape != (len(predictions),):
        raise ValueError(f"{expected} an array of shape {array.shape}; {FORM}")
    if not np.isfinite(array).all():
        i = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(
            f"base {base.name}: expected finite scores, got {array[i]} for prediction {predictions[i]!r:.60} and "
            f"reference {references[i]!r:.60}; make the base return a number for every pair"
        )
    return array


def score_matrices(
    predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]], base: Base
) -> list[np.ndarray]:
    """Return s(p, r), |P| x |R|, of every context; the base is asked once and for no pair twice, a blank p scores 0.

    >>> exact = Base("exact", {}, lambda ps, rs: [float(p == r) for p, r in zip(ps, rs)])
    >>> score_matrices([["when?", "who?"]], [["who?", "where?", "when?"]], exact)[0].tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    texts: dict[str, int] = {}
    ids = [
        [np.array([texts.setdefault(text, len(texts)) for text in side], dtype=np.int64) for side in context]
        for context in zip(predictions, references, strict=True)
    ]
    if not ids:
        return []
    grids = [(left[:, None] * len(texts) + right).ravel() for left, right in ids]
    pairs, inverse = np.unique(np.concatenate(grids), return_inverse=True)
    strings = list(texts)
    says = np.array([bool(text.strip()) for text in strings], dtype=bool)
    left, right = np.divmod(pairs, max(len(texts), 1))
    asked = says[left] if len(left) else np.zeros(0, dtype=bool)
    scores = np.zeros(len(pairs))
    if asked.any():
        left_texts = [strings[i] for i in left[asked].tolist()]
        right_texts = [strings[i] for i in right[asked].tolist()]
        scores[asked] = _checked_scores(base, base.pairs(left_texts, right_texts), left_texts, right_texts)
    flat = np.split(scores[inverse], np.cumsum([len(grid) for grid in grids])[:-1])
    return [block.reshape(len(left), len(right)) for block, (left, right) in zip(flat, ids, strict=True)]


def _mean(numbers: Sequence[float]) -> float:
    """Return the exactly rounded mean, which does not depend on the order of the numbers; 0 without numbers."""
    return fsum(numbers) / len(numbers) if len(numbers) else 0.0


def conventional_scores(
    predictions: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    base: Base,
    matrices: Sequence[np.ndarray],
) -> list[float]:
    """Return per context the mean score of predictions against all references, by the base's rule or the best one."""
    if base.multiple is None:
        return [_mean(matrix.max(axis=1).tolist()) if matrix.size else 0.0 for matrix in matrices]
    numbered = ((text, i) for i, texts in enumerate(predictions) if references[i] for text in texts)
    rows, scored = list(dict.fromkeys(row for row in numbered if row[0].strip())), {}
    if rows:
        texts, lists = [text for text, _ in rows], [references[i] for _, i in rows]
        scores = _checked_scores(base, base.multiple(texts, lists), texts, lists)
        scored = dict(zip(rows, scores.tolist(), strict=True))
    return [_mean([scored.get((text, i), 0.0) for text in texts]) for i, texts in enumerate(predictions)]


def f_score(precision: float, recall: float) -> float:
    """Return 2 u v / (u + v), equation 3; 0 unless both are above 0.

    >>> f_score(0.5, 1.0), f_score(0.5, -0.5), f_score(0.0, 0.0)
    (0.6666666666666666, 0.0, 0.0)
    """
    if precision <= 0 or recall <= 0:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def statistics(
    predictions: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    base: Base,
    matrices: Sequence[np.ndarray] | None = None,
) -> np.ndarray:
    """Return contexts x 4 floats, `NAMES` by equations 1 to 3, whose means are corpus scores; 0 without predictions.

    >>> exact = Base("exact", {}, lambda ps, rs: [float(p == r) for p, r in zip(ps, rs)])
    >>> statistics([["when?", "why?"]], [["who?", "where?", "when?", "how?"]], exact).round(3).tolist()
    [[0.5, 0.25, 0.333, 0.5]]
    """
    if matrices is None:
        matrices = score_matrices(predictions, references, base)
    conventional = conventional_scores(predictions, references, base, matrices)
    rows = []
    for matrix, conventional_score in zip(matrices, conventional, strict=True):
        u = _mean(matrix.max(axis=1).tolist()) if matrix.size else 0.0
        v = _mean(matrix.max(axis=0).tolist()) if matrix.size else 0.0
        rows.append((u, v, f_score(u, v), conventional_score))
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(NAMES))


def best_matches(matrix: np.ndarray) -> dict[str, list[dict]]:
    """Return the best match of every prediction and reference in |P| x |R| scores, the first of equals, None for none.

    >>> best_matches(np.array([[0.2, 0.5]]))["references"]
    [{'prediction': 0, 'score': 0.2}, {'prediction': 0, 'score': 0.5}]
    """

    def matches(matrix: np.ndarray, other: str) -> list[dict]:
        if not matrix.size:
            return [{other: None, "score": 0.0} for _ in matrix]
        best = matrix.argmax(axis=1).tolist()
        return [{other: j, "score": s} for j, s in zip(best, matrix.max(axis=1).tolist(), strict=True)]

    return {"predictions": matches(matrix, "reference"), "references": matches(matrix.T, "prediction")}


def matched(matrix: np.ndarray, threshold: float) -> list[tuple[int, int]]:
    """Return (row, column) of every reference that is asked, by |P| x |R| scores of at least the threshold.

    A prediction asks one reference, the one that it is closest to; so a question that is repeated, in the same or in
    other words, asks one. Of several predictions that ask the same the closest counts.

    >>> matched(np.array([[0.9, 0.8], [0.95, 0.8], [0.2, 0.7], [0.1, 0.3]]), 0.6)
    [(1, 0), (2, 1)]
    """
    if not matrix.size:
        return []
    closest, scores = matrix.argmax(axis=1).tolist(), matrix.max(axis=1)
    rows: dict[int, int] = {}
    for row in np.argsort(-scores, kind="stable").tolist():
        if scores[row] >= threshold:
            rows.setdefault(closest[row], row)
    return sorted((row, column) for column, row in rows.items())


def coverage(matrix: np.ndarray, pairs: Sequence[tuple[int, int]], threshold: float) -> tuple[float, ...]:
    """Return the numbers of `COUNTS` for one context, from |P| x |R| scores and the pairs of `matched`.

    Repeats are the questions that ask a reference which another question of the set asks.

    >>> coverage(np.array([[0.9, 0.8], [0.95, 0.8], [0.2, 0.7], [0.1, 0.3]]), [(1, 0), (2, 1)], 0.6)
    (1.0, 0.75, 2, 2, 1)
    """
    predictions, references = matrix.shape
    relevant = int((matrix >= threshold).any(axis=1).sum())
    return len(pairs) / references, relevant / max(predictions, 1), len(pairs), references, relevant - len(pairs)


def reason(explained: Mapping) -> str:
    """Return in words what a set of questions covers.

    With a threshold "not_asked" are the references without a match, "asked_besides" the questions that ask none; the
    other questions are those of "matched", and repeats.

    >>> reason({"references": ["Who won?", "When?", "Why?"], "scores": [], "not_asked": ["When?", "Why?"]})
    'Covers 1 of 3 reference questions; not asked: "When?", "Why?".'
    >>> reason({"references": ["Who won?", "When?"], "scores": [[0.9, 0.2]]})
    'Least covered, with 0.20, is "When?".'
    """
    references, missing = explained["references"], explained.get("not_asked")
    if missing is not None:
        count = f"Covers {len(references) - len(missing)} of {len(references)} reference questions"
        questions = sum(bool(text.strip()) for text in explained.get("predictions", ()))
        repeats = questions - len(explained.get("matched", ())) - len(explained.get("asked_besides", ()))
        count += f", with {repeats} repeat{'s' * (repeats > 1)}" * (repeats > 0)
        lists = {"not asked": missing, "asked besides": explained.get("asked_besides")}
        named = [f"{name}: {the_first(list(map(_quoted, texts)), NAMED)}" for name, texts in lists.items() if texts]
        return f"{'; '.join([count, *named])}."
    if not explained["scores"]:
        return "There are no questions."
    score, text = min(zip(map(max, zip(*explained["scores"], strict=True)), references, strict=True))
    return f"Least covered, with {score:.2f}, is {_quoted(text)}."


def _quoted(text: str) -> str:
    return f'"{text}"'
