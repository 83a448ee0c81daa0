"""Demo of grounding: which sentences of an answer do the retrieved passages support?"""

import os
import re
import sys
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
from common import checks, html, server, sharing, uploads
from genqa_metrics.core.checkpoints import CAUSAL_MODEL, ENCODERS
from genqa_metrics.grounding.loading import DEFAULT
from genqa_metrics.grounding.scorer import GroundingScorer
from genqa_metrics.reports.report import as_sentence
from genqa_metrics.reports.table import number
from genqa_metrics.verbs.explain import unsupported

TITLE = "Grounding: is the answer supported?"
ABOUT = "A judge reads every sentence of an answer beside the retrieved passages and shows the evidence."
CHECKPOINT = os.environ.get("GENQA_CHECKPOINT", DEFAULT)
MAX_ANSWER = 5_000  # characters
MAX_PASSAGE = 10_000
DEMO = sharing.Demo(__file__, TITLE, ABOUT)


def settings() -> dict[str, str]:
    """Return the settings of the metric; a `Problem` where its judge would have to be downloaded, but in a Space."""
    model = ENCODERS[CAUSAL_MODEL]
    if CHECKPOINT == DEFAULT and "SPACE_ID" not in os.environ and not server.is_here(CAUSAL_MODEL):
        command = "genqa-metrics download --metric grounding"
        raise checks.Problem(f"The judge is not on this machine ({model.megabytes:,} MB, once). Run: {command}.")
    return {"checkpoint": CHECKPOINT}


@cache
def scorer() -> GroundingScorer:
    """Return the metric's scorer, whose model is loaded once."""
    return GroundingScorer(**settings())


def page(question: str, answer: str, passages: str) -> list:
    """Return what the page shows for one answer."""
    entries = (question, answer, passages)
    question = checks.text("Question", question, required=False)
    answer = checks.text("Answer", answer, MAX_ANSWER)
    text = checks.text("Passages", passages, checks.MAX_REFERENCES * MAX_PASSAGE)
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text) if block.strip()]
    contexts = checks.texts("Passages", blocks, limit=MAX_PASSAGE)
    judged = unsupported.one_answer(question, answer, contexts, settings())
    (judged_answer,) = judged.answers
    states = bool(judged_answer.sentences)
    headline = unsupported.headline(judged)
    if states:
        headline = f"**{unsupported.supported(judged_answer)}**: the score is **{number(judged_answer.score, 2)}**."
    status = html.headline(
        headline,
        as_sentence(judged.error_rate) if states else "",
        *(f"Note: {text}." for text in judged.warnings if states),
        DEMO.note(entries),
    )
    report = html.frame("Sentences with their evidence", unsupported.unsupported_html(judged, findings=False))
    columns = {"questions": [question]} if question else {}
    columns |= {"predictions": [answer], "contexts": [contexts]}
    code = sharing.metric_code("grounding", CHECKPOINT, DEFAULT, **columns, explain=True)
    return [status + DEMO.mark(*entries), report, code]


def score(question: str, answer: str, passages: list[str] | str) -> dict:
    """Judge an answer: the share of its supported sentences, and every sentence with its verdict and evidence.

    Args:
        question: the question, or "".
        answer: the answer, in English.
        passages: one passage, or a list of them.
    """
    question = checks.text("question", question, required=False)
    answer = checks.text("answer", answer, MAX_ANSWER)
    contexts = checks.texts("passages", passages, limit=MAX_PASSAGE)
    columns = {"questions": [question], "predictions": [answer], "contexts": [contexts]}
    statistics, _, details, _ = scorer().statistics(columns, explain=True)
    scores = {name: float(values[0]) for name, values in scorer().row_scores(statistics).items()}
    return {**scores, "explanation": details["explanation"][0]}


with DEMO.page() as demo:
    limits = f"With an empty line between them, at most {checks.MAX_REFERENCES}."
    fields = [
        sharing.text_box("Question (optional)", most=6),
        sharing.text_box("Answer", lines=2, most=12),
        sharing.text_box("Passages", lines=4, most=20, info=limits),
    ]
    with gr.Tabs(overflow_behavior="wrap"):
        DEMO.form("One answer", fields, "Check the answer", page)
        uploads.score_tab(
            "Many answers",
            "grounding",
            ("question", "prediction", "contexts", "system", "id"),
            DEMO.example_file,
            "Columns: answer, passages (a list); also question, system and id.",
            settings=settings,
        )
    DEMO.add_background("How far to trust it", "grounding")
    server.endpoint(score, *DEMO.examples[3].entries[:2], ["Insects have six legs.", "Spiders have eight."])

if __name__ == "__main__":
    DEMO.launch()
