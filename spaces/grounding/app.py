"""Demo of grounding: which sentences of an answer do the retrieved passages support?"""

import os
import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
from common import checks, html, server
from common.demo import Demo, Result, metric_code
from genqa_metrics.core.checkpoints import CAUSAL_MODEL, ENCODERS
from genqa_metrics.grounding.loading import DEFAULT
from genqa_metrics.registry import make_scorer
from genqa_metrics.reports.report import as_sentence
from genqa_metrics.reports.table import number
from genqa_metrics.verbs.explain.report import Explainer

CHECKPOINT = os.environ.get("GENQA_CHECKPOINT", DEFAULT)


def settings() -> dict[str, str]:
    """Return the settings of the metric; a `Problem` where its judge would have to be downloaded, but in a Space."""
    if CHECKPOINT == DEFAULT and "SPACE_ID" not in os.environ and not server.is_here(CAUSAL_MODEL):
        size, command = ENCODERS[CAUSAL_MODEL].megabytes, "genqa-metrics download --metric grounding"
        raise checks.Problem(f"The judge is not on this machine ({size:,} MB, once). Run: {command}.")
    return {"checkpoint": CHECKPOINT}


def show(question: str, answer: str, passages: list[str]) -> Result:
    """Return what the page shows for one answer."""
    scorer = make_scorer("grounding", settings())
    explainer = Explainer(scorer)
    judged = explainer.explained(question, answer, passages)
    score, sentences = judged.scores["grounding"], [judged.reason]
    if judged.evidence:
        headline = f"**{judged.reason}**: the score is **{number(score, 2)}**."
        sentences = [headline, as_sentence(scorer.error_rate), *html.notes(explainer.warnings)]
    report = html.frame("Sentences with their evidence", explainer.page([replace(judged, reason="")]))
    columns = ({"questions": [question]} if question else {}) | {"predictions": [answer], "contexts": [passages]}
    code = metric_code("grounding", CHECKPOINT, DEFAULT, **columns, explain=True)
    scores = {"grounding": score, "evidence": [list(pair) for pair in judged.evidence]}
    return Result(scores, sentences, [report], code)


def score(question: str, answer: str, passages: list[str] | str) -> dict:
    """Judge an answer: the share of its supported sentences, and every sentence with its verdict and evidence.

    Args:
        question: the question, or ""
        answer: the answer, in English
        passages: one passage, or a list of them
    """
    return DEMO.score(question, answer, passages)


DEMO = Demo(__file__, "grounding", show, score, settings=settings)

if __name__ == "__main__":
    DEMO.launch()
