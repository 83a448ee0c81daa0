"""Labels until something is decided: which rows are labelled in which order, and when labelling may stop.

Questions come in random order, one answer of each question and system, drawn at random; each question counts alike.
The rule may be looked at after every label, see `statistics.sequential`: at most 5% of decisions are wrong.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from ...core.reading import text_key
from ...rows.columns import STOPPED_BY
from ...rows.errors import FileError
from ...statistics.resampling import LEVEL
from ...statistics.sequential import confidence_sequence, controlled, fresh_rows, rejects
from .labelling import Task, hash_uniform, ranks_within, task_of
from .labels import SEED, key_of

DECIDED = "decided"
LATER = "Intervals of accuracy assume a number of labels that was decided before looking: after --until, use these."


def lowest_accuracy(until: str) -> float | None:
    """Return the accuracy that is asked for by "low=0.75"; None for "decided".

    >>> lowest_accuracy("low=0.75"), lowest_accuracy("decided")
    (0.75, None)
    """
    name, _, number = until.partition("=")
    try:
        low = float(number) if name == "low" else None
    except ValueError:
        low = None
    if until != DECIDED and (low is None or not 0 < low < 1):
        raise ValueError(f"--until: expected low=0.75, a number between 0 and 1, or decided, got {until!r:.40}")
    return low


@dataclass(frozen=True)
class Question:
    """A stopping question: whether one system is accurate enough, or which of two systems is better."""

    names: tuple[str, ...]  # the system, or the two systems
    steps: tuple[tuple[str, ...], ...]  # (steps, systems) keys of the rows in the order in which they are labelled
    judged: np.ndarray  # (steps,) the judge's probability of each answer; of two systems the difference
    fresh: np.ndarray  # (steps,) the mean of such numbers of `number` questions that are not labelled
    number: int
    low: float | None  # the accuracy that is asked for; None for which of two systems is better

    def _moved(self, labels: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """Return (labels corrected by the judge, weights of the judge), up to the first row without a label."""
        labelled = takewhile(lambda keys: all(key in labels for key in keys), self.steps)
        outcomes = [labels[keys[0]] - (labels[keys[1]] if len(keys) == 2 else 0) for keys in labelled]
        count = len(outcomes)
        return controlled(np.array(outcomes, dtype=float), self.judged[:count], self.fresh[:count], self.number)

    def decision(self, labels: Mapping[str, float]) -> str:
        """Return the decision that the labels allow, in words; "" while undecided."""
        moved, two = self._moved(labels), self.low is None
        mean, level, least = (0.0, LEVEL / 2, -1.0) if two else (self.low, LEVEL, 0.0)
        above, below = (bool(rejects(*moved, mean, side, level, least)) for side in (1, -1))
        if not above and not below:
            return ""
        if two:
            return " is better than ".join(self.names if above else self.names[::-1])
        return f"{self.names[0]}: the accuracy is {'at least' if above else 'below'} {self.low:.0%}"

    def outcome(self, labels: Mapping[str, float]) -> str:
        """Return the decision and the limits that hold at every number of labels, in one line."""
        moved, weight = self._moved(labels)
        low, high = confidence_sequence(moved, weight, least=-1.0 if self.low is None else 0.0)
        kind = "difference" if self.low is None else "accuracy"
        result = self.decision(labels) or f"{' - '.join(self.names)}: not decided"
        return f"{result} ({len(moved):,} questions; {kind} {low:.0%} to {high:.0%} at any number of labels)"


@dataclass(frozen=True)
class StoppingRule:
    """The questions of a session of labelling."""

    questions: Sequence[Question]
    text: str  # the rule and the seed, as the labels' file has them

    def closed(self, labels: Mapping[str, float]) -> set[str]:
        """Return the keys of rows that need no label any more."""
        decided = (question.steps for question in self.questions if question.decision(labels))
        return {key for steps in decided for keys in steps for key in keys}

    def outcomes(self, labels: Mapping[str, float]) -> list[str]:
        """Return a line for each question, and what later intervals assume."""
        return [*(question.outcome(labels) for question in self.questions), LATER]


def plan_until(items: Sequence, judged: np.ndarray, until: str, seed: int) -> tuple[list[Task], StoppingRule]:
    """Return the tasks in the order in which they are labelled, and the rule that says when labels are enough.

    `judged` has the judge's (items,) probabilities; the order is the same for the same seed.
    """
    low = lowest_accuracy(until)
    keys = [key_of(item) for item in items]
    texts = [text_key(item.text or key) for item, key in zip(items, keys, strict=True)]
    rank = ranks_within(texts, [item.system for item in items], keys, seed)
    sizes = Counter((item.system, text) for item, text in zip(items, texts, strict=True))
    first: dict[str, dict[str, int]] = {}  # {system: {question: row of the answer to label}}
    for row in np.flatnonzero(rank == 0).tolist():
        first.setdefault(items[row].system, {})[texts[row]] = row
    if low is None and len(first) != 2:
        raise FileError(f"--until decided: expected two systems, got {len(first)}; name files of two systems")
    questions, tasks = [], []
    for names in [(name,) for name in first] if low is not None else [tuple(first)]:
        shared = [text for text in first[names[0]] if all(text in first[name] for name in names)]
        if not shared:
            raise FileError("--until decided: the two systems answer no question in common; name files that do")
        order = np.argsort(hash_uniform(shared, seed), kind="stable")
        rows = np.array([[first[name][shared[at]] for name in names] for at in order])  # (questions, systems)
        judgments = judged[rows[:, 0]] - (judged[rows[:, 1]] if len(names) == 2 else 0)
        number = fresh_rows(len(shared))
        steps = len(shared) // (1 + number)
        unlabelled = judgments[steps : steps * (1 + number)].reshape(steps, number)
        fresh = unlabelled.mean(axis=1) if number else np.zeros(steps)
        planned = tuple(tuple(keys[row] for row in step) for step in rows[:steps])
        questions.append(Question(names, planned, judgments[:steps], fresh, number, low))
        for step, answers in enumerate(rows[:steps].tolist()):
            for row in answers:
                odds = steps / len(shared) / sizes[items[row].system, texts[row]]
                tasks.append((step, task_of(items[row], keys[row], odds, steps)))
    in_order = [task for _, task in sorted(tasks, key=lambda pair: pair[0])]
    return in_order, StoppingRule(questions, f"{until}{SEED}{seed}")


def stopped_outcomes(items: Sequence, judged: np.ndarray, labels: np.ndarray, text: str) -> list[str]:
    """Return what labels show that a rule stopped, a line each: the decision, and limits at any number of labels.

    `judged` has the judge's (items,) probabilities, `labels` (items,) labels, NaN without one; answers of systems
    without a label are left out. `text` is the rule as the file of labels has it.
    """
    until, _, seed = text.partition(SEED)
    try:
        lowest_accuracy(until), int(seed)
    except ValueError as error:
        problem = f"labels: {STOPPED_BY}: expected a rule that genqa-metrics label wrote, got {text!r:.40}"
        raise FileError(f"{problem}; name a file of labels as it was written") from error
    label_of = {key_of(items[row]): float(labels[row]) for row in np.flatnonzero(~np.isnan(labels))}
    systems = {items[row].system for row in np.flatnonzero(~np.isnan(labels))}
    rows = [row for row, item in enumerate(items) if item.system in systems]
    try:
        _, rule = plan_until([items[row] for row in rows], judged[rows], until, int(seed))
    except FileError as error:  # rows of one of two systems
        return [f"no interval that holds at any number of labels: {error}"]
    return [question.outcome(label_of) for question in rule.questions]
