"""Demo of grounding: which sentences of an answer do the retrieved passages support?"""

import re
import sys
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
from common import checks, events, html, server, sharing, uploads
from genqa_metrics.grounding.scorer import GroundingScorer
from genqa_metrics.reports.report import as_sentence
from genqa_metrics.reports.table import number
from genqa_metrics.verbs.explain import unsupported

TITLE = "Grounding: is the answer supported?"
ABOUT = "A small judge reads every sentence of an answer beside the retrieved passages and shows the evidence."
MAX_ANSWER = 5_000  # characters
MAX_PASSAGE = 10_000
DEMO = sharing.Demo(__file__, TITLE, ABOUT)


@cache
def scorer() -> GroundingScorer:
    """Return the metric's scorer, whose model is loaded once."""
    return GroundingScorer(checkpoint=server.CHECKPOINT)


def page(question: str, answer: str, passages: str) -> list:
    """Return what the page shows for one answer."""
    values = (question, answer, passages)
    question = checks.text("Question", question, required=False)
    answer = checks.text("Answer", answer, MAX_ANSWER)
    text = checks.text("Passages", passages, checks.MAX_REFERENCES * MAX_PASSAGE)
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text) if block.strip()]
    given = checks.texts("Passages", blocks, limit=MAX_PASSAGE)
    found = unsupported.one_answer(question, answer, given, {"checkpoint": server.CHECKPOINT})
    (judged_answer,) = found.answers
    states = bool(judged_answer.sentences)
    said = unsupported.headline(found)
    if states:
        said = f"**{unsupported.supported(judged_answer)}**: the score is **{number(judged_answer.score, 2)}**."
    status = html.headline(
        said,
        as_sentence(found.error_rate) if states else "",
        *(f"Note: {text}." for text in found.warnings if states),
        DEMO.note(values),
    )
    report = html.frame("Sentences with their evidence", unsupported.unsupported_html(found, findings=False))
    columns = {"questions": [question]} if question else {}
    columns |= {"predictions": [answer], "contexts": [given]}
    code = sharing.metric_code("grounding", server.CHECKPOINT, **columns, explain=True)
    return [status + DEMO.mark(*values), report, code]


def score(question: str, answer: str, passages: list[str] | str) -> dict:
    """Judge an answer: the share of its supported sentences, and every sentence with its verdict and evidence.

    Args:
        question: the question, or "".
        answer: the answer, in English.
        passages: one passage, or a list of them.
    """
    question = checks.text("question", question, required=False)
    answer = checks.text("answer", answer, MAX_ANSWER)
    given = checks.texts("passages", passages, limit=MAX_PASSAGE)
    columns = {"questions": [question], "predictions": [answer], "contexts": [given]}
    statistics, _, details, _ = scorer().statistics(columns, explain=True)
    scores = {name: float(values[0]) for name, values in scorer().row_scores(statistics).items()}
    return {**scores, "explanation": details["explanation"][0]}


with DEMO.page() as demo:
    with gr.Tabs(overflow_behavior="wrap"):
        with gr.Tab("One answer"), gr.Row():
            with gr.Column(min_width=280):
                question = gr.Textbox(label="Question (optional)", lines=1, max_lines=6)
                answer = gr.Textbox(label="Answer", lines=2, max_lines=12)
                limits = f"With an empty line between them, at most {checks.MAX_REFERENCES}."
                passages = gr.Textbox(label="Passages", info=limits, lines=4, max_lines=20)
                button = gr.Button("Check the answer", variant="primary")
                examples = gr.Column()
            with gr.Column(min_width=280):
                area = events.results_area("Fill in the fields, or choose an example.")
                with area.results:
                    report = gr.HTML(apply_default_css=False)
                    code = sharing.link_and_code()
        uploads.score_tab(
            "Many answers",
            "grounding",
            ("question", "prediction", "contexts", "system", "id"),
            Path(__file__).with_name("example.csv"),
            "Columns: answer, passages (a list); also question, system and id.",
            settings=lambda: {"checkpoint": server.CHECKPOINT},
        )
    DEMO.add_background("How far to trust it", "grounding")
    inputs, outputs = [question, answer, passages], [report, code]
    DEMO.connect([button.click], page, inputs, area, outputs, examples)
    server.endpoint(score, *DEMO.examples[3].values[:2], ["Insects have six legs.", "Spiders have eight."])

if __name__ == "__main__":
    DEMO.launch()
