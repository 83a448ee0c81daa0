"""Measures labelling until something is decided: wrong decisions, numbers of labels, widths beside a plain sequence.

    python -m tests.programs.sequential_simulations --write

`tests/test_stopping.py` repeats it with bounds.
"""

from pathlib import Path

import numpy as np
from genqa_metrics.statistics.resampling import LEVEL
from genqa_metrics.statistics.sequential import confidence_sequence, controlled, fresh_rows, log_wealth, rejects
from scipy.special import betaln

from tests.programs.interval_simulations import show

RESULTS = Path(__file__).parent / "results/sequential_simulations.md"
QUESTIONS, REPEATS = 500, 2000
JUDGES = {"good judge (.95, .9)": (0.95, 0.9), "usual judge (.9, .8)": (0.9, 0.8), "bad judge (.7, .4)": (0.7, 0.4)}
PLAIN = "labels alone, beta mixture"


def answers(rng, size: tuple[int, int], share: float, judge: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, of which a share is right, and a judge's probabilities, most near 0 or 1."""
    right = rng.random(size) < share
    accepted = rng.random(size) < np.where(right, judge[0], 1 - judge[1])
    return right.astype(float), np.where(accepted, rng.beta(8, 1, size), rng.beta(1, 8, size))


def in_order(labels: np.ndarray, judged: np.ndarray):
    """Return the labels of a session, and what `controlled` makes of them with the other rows."""
    repeats, questions = labels.shape
    number = fresh_rows(questions)
    steps = questions // (1 + number)
    fresh = judged[:, steps : steps * (1 + number)].reshape(repeats, steps, -1)
    fresh = fresh.mean(axis=2) if number else np.zeros((repeats, steps))
    return labels[:, :steps], controlled(labels[:, :steps], judged[:, :steps], fresh, number)


def labelled(rng, share: float, judge, repeats: int, questions: int = QUESTIONS):
    """Return the same of a system that is right in a share of the questions."""
    return in_order(*answers(rng, (repeats, questions), share, judge))


def plain_wealth(labels: np.ndarray, mean: float) -> np.ndarray:
    """Return the log wealth of Robbins' beta mixture (1970) of labels alone, against an accuracy of just `mean`."""
    count, right = np.arange(1, labels.shape[-1] + 1), labels.cumsum(axis=-1)
    return betaln(right + 1, count - right + 1) - right * np.log(mean) - (count - right) * np.log(1 - mean)


def wrong_decisions(share: float, judge: str, questions: int = QUESTIONS, repeats: int = REPEATS) -> float:
    """Return how often `--until low=SHARE` calls a system of this accuracy better, or worse; the larger share."""
    _, moved = labelled(np.random.default_rng(questions), share, JUDGES[judge], repeats, questions)
    return max(float(rejects(*moved, share, side).mean()) for side in (1, -1))


def wrong_differences(share: float, judge: str, questions: int = QUESTIONS, repeats: int = REPEATS) -> float:
    """Return how often `--until decided` says that one of two equal systems is better."""
    rng = np.random.default_rng(questions)
    first, second = (np.array(answers(rng, (repeats, questions), share, JUDGES[judge])) for _ in "ab")
    _, moved = in_order(*(first - second))
    return float(np.mean(rejects(*moved, 0, 1, LEVEL / 2, -1) | rejects(*moved, 0, -1, LEVEL / 2, -1)))


def _labels_needed(wealth: np.ndarray) -> tuple[float, float]:
    passed = wealth >= -np.log(LEVEL)
    decided = passed.any(axis=1)
    return float(decided.mean()), float(np.where(decided, passed.argmax(axis=1) + 1, wealth.shape[1]).mean())


def labels_needed(share: float, judge: str, low: float = 0.75, repeats: int = REPEATS) -> tuple[float, float]:
    """Return how often 100 labels of 500 rows decide, and the mean number of labels, at most 100."""
    labels, moved = labelled(np.random.default_rng(1), share, JUDGES.get(judge, (0.9, 0.8)), repeats)
    if judge == PLAIN:
        return _labels_needed(plain_wealth(labels, low))
    return _labels_needed(log_wealth(*moved, low, 1 if share > low else -1))


def width(share: float, judge: str, number: int, repeats: int = 100) -> float:
    """Return the mean width in points of the 95% limits after so many labels."""
    labels, moved = labelled(np.random.default_rng(2), share, JUDGES.get(judge, (0.9, 0.8)), repeats)
    if judge == PLAIN:
        means = np.linspace(0, 1, 201)[1:-1]
        inside = [plain_wealth(labels[:, :number], mean).max(axis=1) < -np.log(LEVEL) for mean in means]
        return float(100 * np.mean(inside))
    low, high = confidence_sequence(*(part[:, :number] for part in moved))
    return float(100 * (high - low).mean())


def tables() -> list[str]:
    """Return the lines of the tables."""
    lines = ["| wrong decisions, at most | " + " | ".join(JUDGES) + " |", "|---" * (1 + len(JUDGES)) + "|"]
    for questions in (60, 200, 500):
        for share in (0.5, 0.75, 0.9):
            cells = [f"{wrong_decisions(share, judge, questions):.3f}" for judge in JUDGES]
            lines.append(f"| low={share}, accuracy {share}, {questions} questions | {' | '.join(cells)} |")
        cells = [f"{wrong_differences(0.75, judge, questions):.3f}" for judge in JUDGES]
        lines.append(f"| decided, both systems .75, {questions} questions | {' | '.join(cells)} |")
    columns = [*JUDGES, PLAIN]
    lines += ["", "| 500 questions | " + " | ".join(columns) + " |", "|---" * (1 + len(columns)) + "|"]
    for share in (0.6, 0.85, 0.9, 0.95):
        cells = [labels_needed(share, judge) for judge in columns]
        cells = [f"{labels:.0f} ({decided:.0%})" for decided, labels in cells]
        lines.append(f"| low=0.75, accuracy {share}: labels (decided by 100) | {' | '.join(cells)} |")
    for number in (30, 60, 100):
        for share in (0.5, 0.8):
            cells = [f"{width(share, judge, number):.0f}" for judge in columns]
            lines.append(f"| width after {number} labels, accuracy {share}, points | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    show(__doc__, {RESULTS: tables()})
