"""Demo of grounding: which sentences of an answer do the retrieved passages support?"""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
from common import checks, html, server
from common.demo import Demo, Result, metric_code, plain_outputs
from genqa_metrics.core.checkpoints import CAUSAL_MODEL, ENCODERS
from genqa_metrics.grounding.loading import DEFAULT
from genqa_metrics.registry import make_scorer
from genqa_metrics.reports.report import as_sentence
from genqa_metrics.reports.table import number
from genqa_metrics.verbs.explain.report import Explainer
from markupsafe import Markup

CHECKPOINT = os.environ.get("GENQA_CHECKPOINT", DEFAULT)


def settings() -> dict[str, str]:
    """Return the settings of the metric; a `Problem` where its judge would have to be downloaded, but in a Space."""
    if CHECKPOINT == DEFAULT and "SPACE_ID" not in os.environ and not server.is_here(CAUSAL_MODEL):
        size, command = ENCODERS[CAUSAL_MODEL].megabytes, "genqa-metrics download --metric grounding"
        raise checks.Problem(
            f"The judge is not on this machine ({size:,} MB, once). Run: {command}. Then press Check the answer."
        )
    return {"checkpoint": CHECKPOINT}


def claims_of(evidence: Sequence[tuple[str, str]]) -> Markup:
    """Return a table of the sentences of an answer, each with its verdict and what the passages say.

    `evidence` are labels and texts: of a sentence its verdict, then, with blanks before the label, its passages.
    """
    rows = []
    for label, text in evidence:
        if label.startswith(" "):
            rows[-1][-1] += html.fill("<p><strong>{label}:</strong> {text}</p>", label=label.strip(), text=text)
            continue
        sentence, _, probability = text.removesuffix(")").rpartition(" (")
        call, sign = ("right", "✓") if label == "Supported" else ("wrong", "✗")
        verdict = '<div><strong class="{call}">{sign} {label}</strong><small>{probability}</small></div>'
        verdict = html.fill(verdict, call=call, sign=sign, label=label.lower(), probability=probability)
        rows.append([sentence, verdict, Markup()])
    rows = [[*texts, html.fill("<div>{passages}</div>", passages=passages)] for *texts, passages in rows]
    return html.table(["sentence", "verdict", "what the passages say"], rows, "Every sentence with its evidence")


def show(question: str, answer: str, passages: list[str]) -> Result:
    """Return what the page shows for one answer."""
    scorer = make_scorer("grounding", settings())
    explainer = Explainer(scorer)
    judged = explainer.explained(question, answer, passages)
    score, sentences, errs = judged.scores["grounding"], [judged.reason], Markup()
    if judged.evidence:
        headline = f"**{judged.reason}**: the score is **{number(score, 2)}**."
        sentences = [headline, *html.notes(explainer.warnings)]
        errs = html.hint(as_sentence(scorer.error_rate))
    page = explainer.page([replace(judged, reason="", evidence=(), scores={})])
    claims = claims_of(judged.evidence) if judged.evidence else ""
    outputs = [claims, html.frame("The answer and its passages", page)]
    columns = ({"questions": [question]} if question else {}) | {"predictions": [answer], "contexts": [passages]}
    code = metric_code("grounding", CHECKPOINT, DEFAULT, **columns, explain=True)
    scores = {"grounding": score, "evidence": [list(pair) for pair in judged.evidence]}
    return Result(scores, sentences, outputs, code, errs)


def score(question: str, answer: str, passages: list[str] | str) -> dict:
    """Judge an answer: the share of its supported sentences, and every sentence with its verdict and evidence.

    Args:
        question: the question, or ""
        answer: the answer, in English
        passages: one passage, or a list of them
    """
    return DEMO.score(question, answer, passages)


DEMO = Demo(__file__, "grounding", show, score, results=lambda: plain_outputs(2), settings=settings)

if __name__ == "__main__":
    DEMO.launch()
