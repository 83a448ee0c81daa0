"""Demo of AVA: is an answer right, and how many of a system's answers are?"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
from common import checks, events, html, server, uploads
from common.demo import Demo, Result, metric_code, plain_outputs
from genqa_metrics.core.checkpoints import CAUSAL_MODEL, ENCODERS, SMALL_CAUSAL_MODEL
from genqa_metrics.core.reading import probability_and_threshold
from genqa_metrics.core.scorer import UNSURE_FROM, UNSURE_TO
from genqa_metrics.registry import make_scorer
from genqa_metrics.verbs.explain.report import Explainer, beside_verdict
from markupsafe import Markup

MAX_EXPLAINED = 1_500  # characters of an answer that is explained; each of its words takes a pass of the model
TOO_LONG = f"Answers of more than {MAX_EXPLAINED:,} characters get a verdict without its reason on this page."
ERRS = html.hint("The judge knows no facts and can be wrong, above all on long answers: see How far to trust it.")
LARGER = {"base": SMALL_CAUSAL_MODEL, "large": CAUSAL_MODEL}
JUDGES = list(
    dict.fromkeys([server.CHECKPOINT, "small", *(size for size, model in LARGER.items() if server.is_here(model))])
)
SIZES = {size: f"{size} ({ENCODERS[model].megabytes:,} MB)" for size, model in LARGER.items()}
MISSING = " or ".join(text for size, text in SIZES.items() if size not in JUDGES)
JUDGE_NOTE = "small reads English; base and large read German and Arabic too, and take longer."
if MISSING:
    JUDGE_NOTE += f" To get {MISSING}: genqa-metrics download --metric ava --checkpoint SIZE."


def settings(judge: str = JUDGES[0]) -> dict:
    """Return the settings of the metric for a judge that is offered."""
    if judge not in JUDGES:
        raise checks.Problem(f"Judge: expected one of {', '.join(JUDGES)}, got {judge!s:.40}.")
    return {"checkpoint": judge}


def judge_field() -> gr.Radio:
    """Return the choice of a judge, not rendered yet."""
    return gr.Radio(JUDGES, value=JUDGES[0], label="Judge", info=JUDGE_NOTE, render=False)


def scale(probability: float, threshold: float) -> Markup:
    """Return a picture of a probability on a scale from 0 to 1: where right begins, and where the judge is unsure."""
    marks = {"shown": probability, "threshold": threshold, "unsure_from": UNSURE_FROM, "unsure_to": UNSURE_TO}
    return html.rendered(__file__, "scale.svg.j2", **marks)


def show(question: str, answer: str, references: list[str], judge: str) -> Result:
    """Return what the page shows for one answer; a very long one is judged without a reason."""
    scorer, number = make_scorer("ava", settings(judge)), len(references)
    alone = {"questions": [question] * number, "predictions": [answer] * number}
    alone["references"] = [[reference] for reference in references]
    by_reference = scorer.statistics(alone)[0][:, 1].tolist()
    columns = {"questions": [question], "predictions": [answer], "references": [references]}
    if len(answer) <= MAX_EXPLAINED:
        explainer = Explainer(scorer)
        explained = explainer.explained(question, answer, references)
        probability, reason, warnings = explained.probability, beside_verdict(explained.reason), explainer.warnings
        marked = replace(explained, reason="", verdict=None, probability=None)  # which the headline says
        report = html.frame("Words that count", explainer.page([marked]))
    else:
        result = scorer.statistics(columns)
        probability, reason, report = float(result.values[0, 1]), TOO_LONG, ""
        warnings = scorer.warnings({}, scorer.all_counts(columns, result))
    threshold = scorer.threshold
    label = int(probability >= threshold)
    called = "✓ The judge calls it right" if label else "✗ The judge calls it wrong"
    called += ", but is unsure" * (UNSURE_FROM < probability < UNSURE_TO)
    shown, least = probability_and_threshold(probability, threshold)
    sentences = [f"**{called}.** Probability **{shown}**; {least} or more counts as right.", reason]
    sentences += html.notes(warnings)
    cells = [probability_and_threshold(alone, threshold)[0] for alone in by_reference]
    caption = "Probability with each accepted answer only"
    table = html.table(["accepted answer", "probability"], zip(references, cells, strict=True), caption, {1})
    scores = {"ava_score": probability, "ava_label": label, "ava_threshold": threshold, "reason": reason}
    scores["ava_score_per_reference"] = by_reference
    code, picture = metric_code("ava", judge, **columns, explain=True), scale(probability, threshold) + ERRS
    return Result(scores, sentences, [report, table if number > 1 else ""], code, picture)


def score(question: str, answer: str, references: list[str] | str, judge: str = JUDGES[0]) -> dict:
    """Judge an answer: its probability of being right, verdict, reason, and the probability with each reference only.

    Args:
        question: the question
        answer: the answer to be judged
        references: one accepted answer, or a list of them
        judge: "small" reads English; "base" and "large", where they are installed, read German and Arabic too
    """
    return DEMO.score(question, answer, references, judge)


def rank(file: str | None) -> dict:
    """Judge the answers in a file: accuracy of its systems and every verdict. Columns are known by their names."""
    upload = uploads.read(file, uploads.guessed(uploads.peek(file)[0]), "ava")
    report = uploads.scored(events.ignore, upload.rows, "ava", settings())
    table = report.to_pandas()[["id", "system", "ava_score", "ava_label"]]
    return {**report.to_dict(), "left_out": upload.bad, "verdicts": table.to_dict("records")}


DEMO = Demo(
    __file__,
    "ava",
    show,
    score,
    controls=[judge_field()],
    results=lambda: plain_outputs(2),
    file_controls=lambda: [judge_field()],
    settings=settings,
)
with DEMO.page:
    with gr.Row(visible=False):  # an endpoint for programs; only a field checks that a file was uploaded
        result = gr.JSON(label="systems, accuracy, notes, signatures, left_out, verdicts")
        limits = {"concurrency_id": "file", "concurrency_limit": 1, "trigger_mode": "multiple"}
        gr.Button("rank").click(server.with_clear_errors(rank), DEMO.upload[0], result, api_name="rank", **limits)

if __name__ == "__main__":
    DEMO.launch()
