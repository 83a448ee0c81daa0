"""What the demos with the judge share: the verdict on one answer in words, and the words that decided."""

from collections import Counter
from collections.abc import Sequence
from importlib import import_module

import look
import numpy as np

# Least size of an effect, and the ground of words that speak for and against the answer; black on them is readable.
STEPS = ((0.05, "#bfdbfe", "#fed7aa"), (0.3, "#60a5fa", "#fb923c"))
MAX_EXPLAINED = 1_500  # characters of an answer whose words are tried one by one, a pass of the model each
LEGEND = (
    "Blue words count for the answer, orange words against it: the number is how much the probability falls without "
    "the word, or would rise without it or with what the accepted answer says in its place."
)


def verdict(scorer, question: str, answer: str, references: Sequence[str]) -> dict:
    """Return why the judge judged one answer as it did.

    Args:
        scorer: `genqa.ava.scorer.AvaScorer`.
        question: checked, as are the others.
        answer: the answer.
        references: accepted answers.

    Returns:
        "probability", "by_reference" (by each reference alone), "reason" (a sentence, "" for a very long answer),
        "words" ([word, effect, start, end]) and "warnings".
    """
    rows = len(references)
    columns = {
        "questions": [question] * (rows + 1),
        "predictions": [answer] * (rows + 1),
        "references": [list(references), *([text] for text in references)],
    }
    statistics, counts = scorer.statistics(columns)
    found = {
        "probability": float(statistics[0, 1]),
        "by_reference": statistics[1:, 1].tolist(),
        "reason": "",
        "words": [],
    }
    if len(answer) <= MAX_EXPLAINED:
        one = {name: column[:1] for name, column in columns.items()}
        (explained,) = scorer.statistics_with_details(one, explain=True)[2]["explanation"]
        found |= {"reason": explained["reason"], "words": explained["words"]}
    counts = Counter({name: min(count, 1) for name, count in counts.items()})
    return {**found, "warnings": scorer.warnings({}, counts)}


def said(probability: float, threshold: float) -> str:
    """Return the verdict in a line.

    >>> said(0.997, 0.5)
    '**✓ The judge calls it right.** Probability **above 0.99**; from 0.50 on an answer counts as right.'
    """
    called = "✓ The judge calls it right" if probability >= threshold else "✗ The judge calls it wrong"
    shown = look.probability(probability)
    return f"**{called}.** Probability **{shown}**; from {threshold:.2f} on an answer counts as right."


def words_html(label: str, answer: str, words: Sequence[Sequence]) -> look.Markup:
    """Return an answer with the words that speak for and against it."""
    pieces, end = [], 0
    for _, effect, start, stop in words:
        step = sum(abs(effect) >= least for least, *_ in STEPS)
        ground = STEPS[step - 1][1 if effect > 0 else 2] if step else ""
        pieces.append((answer[end:start], "", ""))
        pieces.append((answer[start:stop], ground, f"{effect:+.2f}" if step else ""))
        end = stop
    return look.marked_text(label, [*pieces, (answer[end:], "", "")])


def rate(items: Sequence, labels: np.ndarray) -> tuple[float, float]:
    """Return the share of a system's answers that were judged right, and how many independent answers they are worth.

    Args:
        items: its rows; those with one id, or one question, belong together.
        labels: (rows,) 0 or 1.
    """
    effective_sample_size = import_module("genqa.toolkit.analysis.judge_errors").effective_sample_size
    keys = [item.id if item.id is not None else item.text for item in items]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    sums, numbers = np.zeros(len(places)), np.zeros(len(places))
    for key, label in zip(keys, labels, strict=True):
        sums[places[key]] += label
        numbers[places[key]] += 1
    return float(labels.mean()), effective_sample_size(sums, numbers)
