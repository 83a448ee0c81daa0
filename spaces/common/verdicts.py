"""The judge's verdict on one answer: the sentence, and the report of `genqa-metrics explain`."""

from collections.abc import Mapping, Sequence

from genqa_metrics.core.scorer import UNSURE_FROM, UNSURE_TO
from genqa_metrics.registry import make_scorer
from genqa_metrics.reports.table import probability_and_threshold
from genqa_metrics.verbs.explain.verdict import verdict, verdict_html
from markupsafe import Markup

from . import html

MAX_EXPLAINED = 1_500  # characters of an answer that is explained; each of its words takes a pass of the model
TOO_LONG = f"Answers of more than {MAX_EXPLAINED:,} characters get a verdict without its reason on this page."


def judged(question: str, answer: str, references: Sequence[str], settings: Mapping) -> dict:
    """Return the verdict of `ava` with some settings on one answer.

    It has "probability", "threshold", "by_reference" (the probability with each reference alone), "reason" (a
    sentence), "report" (HTML; "" for a very long answer) and "warnings".
    """
    scorer, rows = make_scorer("ava", settings), len(references)
    alone = {"questions": [question] * rows, "predictions": [answer] * rows}
    alone["references"] = [[reference] for reference in references]
    by_reference = scorer.statistics(alone)[0][:, 1].tolist()
    if len(answer) <= MAX_EXPLAINED:
        verdict_of_answer = verdict(question, answer, references, settings)
        result = {"probability": verdict_of_answer.probability, "reason": verdict_of_answer.reason}
        result["warnings"] = verdict_of_answer.warnings
        result["report"] = html.frame("Why the judge says so", verdict_html(verdict_of_answer, verdicts=False))
    else:
        columns = {"questions": [question], "predictions": [answer], "references": [list(references)]}
        statistics, counts, *_ = scorer.statistics(columns)
        result = {"probability": float(statistics[0, 1]), "reason": TOO_LONG, "report": ""}
        result["warnings"] = scorer.warnings({}, counts)
    return {**result, "threshold": scorer.threshold, "by_reference": by_reference}


def sentence(probability: float, threshold: float) -> str:
    """Return the verdict in a line.

    >>> sentence(0.5796, 0.58)
    '**✗ The judge calls it wrong.** Probability **0.5796**; 0.5800 or more counts as right.'
    """
    called = "✓ The judge calls it right" if probability >= threshold else "✗ The judge calls it wrong"
    value, least = probability_and_threshold(probability, threshold)
    return f"**{called}.** Probability **{value}**; {least} or more counts as right."


def scale(probability: float, threshold: float) -> Markup:
    """Return a picture of a probability on a scale from 0 to 1: where right begins, and where the judge is unsure."""
    marks = {"shown": probability, "threshold": threshold, "unsure_from": UNSURE_FROM, "unsure_to": UNSURE_TO}
    return html.rendered(__file__, "scale.svg.j2", **marks)
