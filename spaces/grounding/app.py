"""Demo of grounding: which sentences of an answer do the retrieved passages support?"""

import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
from common import checks, html, server
from common.demo import Demo, Result, metric_code
from genqa_metrics.core.checkpoints import CAUSAL_MODEL, ENCODERS
from genqa_metrics.grounding.loading import DEFAULT
from genqa_metrics.reports.report import as_sentence
from genqa_metrics.reports.table import number
from genqa_metrics.verbs.explain import unsupported

CHECKPOINT = os.environ.get("GENQA_CHECKPOINT", DEFAULT)


def settings() -> dict[str, str]:
    """Return the settings of the metric; a `Problem` where its judge would have to be downloaded, but in a Space."""
    if CHECKPOINT == DEFAULT and "SPACE_ID" not in os.environ and not server.is_here(CAUSAL_MODEL):
        size, command = ENCODERS[CAUSAL_MODEL].megabytes, "genqa-metrics download --metric grounding"
        raise checks.Problem(f"The judge is not on this machine ({size:,} MB, once). Run: {command}.")
    return {"checkpoint": CHECKPOINT}


def show(question: str, answer: str, passages: list[str]) -> Result:
    """Return what the page shows for one answer."""
    judged = unsupported.one_answer(question, answer, passages, settings())
    (judged_answer,) = judged.answers
    sentences = [unsupported.headline(judged)]
    if judged_answer.sentences:
        headline = f"**{unsupported.supported(judged_answer)}**: the score is **{number(judged_answer.score, 2)}**."
        sentences = [headline, as_sentence(judged.error_rate), *(f"Note: {text}." for text in judged.warnings)]
    report = html.frame("Sentences with their evidence", unsupported.unsupported_html(judged, findings=False))
    columns = ({"questions": [question]} if question else {}) | {"predictions": [answer], "contexts": [passages]}
    code = metric_code("grounding", CHECKPOINT, DEFAULT, **columns, explain=True)
    scores = {"grounding": judged_answer.score, "sentences": [each._asdict() for each in judged_answer.sentences]}
    return Result(scores, sentences, [report], code)


DEMO = Demo(__file__, "grounding", show, settings=settings)

if __name__ == "__main__":
    DEMO.launch()
