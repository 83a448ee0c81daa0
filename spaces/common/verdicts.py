"""The judge's verdict on one answer: the sentence, and the words that decided."""

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from . import html

# Least size of an effect, and the colours of words that count for and against the answer, see style.css.
STEPS = ((0.05, "var(--for)", "var(--against)"), (0.3, "var(--for-much)", "var(--against-much)"))
MAX_EXPLAINED = 1_500  # characters of an answer that is explained; each of its words takes a pass of the model
LEGEND = (
    "Blue words count for the answer, orange words against it. The number is how much the probability falls without "
    "the word, or rises without it or with the words of the accepted answer in its place."
)


def judge(scorer, question: str, answer: str, references: Sequence[str]) -> dict:
    """Return the verdict on one answer and its explanation.

    Args:
        scorer: `genqa_metrics.ava.scorer.AvaScorer`.
        question: the question.
        answer: the answer.
        references: accepted answers.

    Returns:
        "probability", "by_reference" (with each reference alone), "reason" (a sentence, "" for a very long answer),
        "words" ([word, effect, start, end]) and "warnings".
    """
    rows = len(references)
    columns = {
        "questions": [question] * (rows + 1),
        "predictions": [answer] * (rows + 1),
        "references": [list(references), *([text] for text in references)],
    }
    statistics, counts = scorer.statistics(columns)
    found = {"probability": float(statistics[0, 1]), "by_reference": statistics[1:, 1].tolist()}
    explained = {"reason": "", "words": []}
    if len(answer) <= MAX_EXPLAINED:
        one = {name: column[:1] for name, column in columns.items()}
        (explained,) = scorer.statistics_with_details(one, explain=True)[2]["explanation"]
    counts = Counter({name: min(count, 1) for name, count in counts.items()})
    warnings = scorer.warnings({}, counts)
    return {**found, "reason": explained["reason"], "words": explained["words"], "warnings": warnings}


def sentence(probability: float, threshold: float) -> str:
    """Return the verdict in a line.

    >>> sentence(0.997, 0.5)
    '**✓ The judge calls it right.** Probability **above 0.99**; 0.50 or more counts as right.'
    """
    called = "✓ The judge calls it right" if probability >= threshold else "✗ The judge calls it wrong"
    return f"**{called}.** Probability **{html.probability(probability)}**; {threshold:.2f} or more counts as right."


def words_html(label: str, answer: str, words: Sequence[Sequence]) -> Markup:
    """Return an answer in which the words that count for and against it are marked."""
    pieces, end = [], 0
    for _, effect, start, stop in words:
        step = sum(abs(effect) >= least for least, *_ in STEPS)
        colour = STEPS[step - 1][1 if effect > 0 else 2] if step else ""
        pieces += [(answer[end:start], "", ""), (answer[start:stop], colour, f"{effect:+.2f}" if step else "")]
        end = stop
    return html.marked_text(label, [*pieces, (answer[end:], "", "")])
