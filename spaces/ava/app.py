"""Demo of AVA: is an answer right, and how many of a system's answers are?"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
from common import checks, html, server, sharing, uploads, verdicts
from genqa_metrics.core.checkpoints import CAUSAL_MODEL, ENCODERS, LARGE_MODEL
from genqa_metrics.reports.table import probability_and_threshold

TITLE = "AVA: is the answer right?"
ABOUT = "A small judge reads a question, accepted answers and an answer, and gives a verdict with its reasons."
MAX_ANSWER = 20_000  # characters; of a long answer the judge reads the most similar passage
ERRS = "The judge knows no facts and can be wrong, above all on long answers: see How far to trust it."
LARGER = {"base": LARGE_MODEL, "large": CAUSAL_MODEL}
JUDGES = list(
    dict.fromkeys([server.CHECKPOINT, "small", *(size for size, model in LARGER.items() if server.is_here(model))])
)
SIZES = {size: f"{size} ({ENCODERS[model].megabytes} MB)" for size, model in LARGER.items()}
MISSING = " or ".join(text for size, text in SIZES.items() if size not in JUDGES)
JUDGE_NOTE = "small and base read English; large reads German and Arabic too, and takes longer."
if MISSING:
    JUDGE_NOTE += f" To get {MISSING}: genqa-metrics download --metric ava --checkpoint SIZE."


DEMO = sharing.Demo(__file__, TITLE, ABOUT, JUDGES[0])


def settings(judge: str = JUDGES[0]) -> dict:
    """Return the settings of the metric for a judge that is offered."""
    if judge not in JUDGES:
        raise checks.Problem(f"Judge: expected one of {', '.join(JUDGES)}, got {judge!s:.40}.")
    return {"checkpoint": judge}


def page(question: str, answer: str, references: str, judge: str) -> list:
    """Return what the page shows for one answer."""
    entries = (question, answer, references, judge)
    question = checks.text("Question", question)
    answer = checks.text("Answer to be judged", answer, MAX_ANSWER)
    lines = checks.lines("Accepted answers", references)
    judged = verdicts.judged(question, answer, lines, settings(judge))
    status = html.headline(
        verdicts.sentence(judged["probability"], judged["threshold"]),
        ERRS,
        "" if judged["report"] else judged["reason"],  # the report says it
        *(f"Note: {text}." for text in judged["warnings"]),
        DEMO.note(entries) if judge == JUDGES[0] else "",
    )
    alone = zip(lines, judged["by_reference"], strict=True)
    rows = [[text, probability_and_threshold(value, judged["threshold"])[0]] for text, value in alone]
    caption = "Probability with each accepted answer only"
    by_reference = html.table(["accepted answer", "probability"], rows, caption, {1})
    columns = {"questions": [question], "predictions": [answer], "references": [lines]}
    code = sharing.metric_code("ava", settings(judge)["checkpoint"], **columns, explain=True)
    status += verdicts.scale(judged["probability"], judged["threshold"])
    return [status + DEMO.mark(*entries), judged["report"], by_reference if len(lines) > 1 else "", code]


def score(question: str, answer: str, references: list[str] | str) -> dict:
    """Judge an answer: its probability of being right, verdict, reason, and the probability with each reference only.

    Args:
        question: the question.
        answer: the answer to be judged.
        references: one accepted answer, or a list of them.
    """
    question = checks.text("question", question)
    answer = checks.text("answer", answer, MAX_ANSWER)
    judged = verdicts.judged(question, answer, checks.texts("references", references), settings())
    return {
        "ava_score": judged["probability"],
        "ava_label": int(judged["probability"] >= judged["threshold"]),
        "ava_threshold": judged["threshold"],
        "ava_score_per_reference": judged["by_reference"],
        "reason": judged["reason"],
    }


def rank(file: str | None) -> dict:
    """Judge the answers in a file: accuracy of its systems and every verdict. Columns are known by their names."""
    columns, _ = uploads.peek(file)
    rows = uploads.read(file, uploads.guessed(columns), "ava")
    report = uploads.scored(lambda *_: None, rows.rows(), "ava", settings())
    kept = {name: report.results.columns[name] for name in ("id", "system", "ava_score", "ava_label")}
    verdicts = [dict(zip(kept, values, strict=True)) for values in zip(*kept.values(), strict=True)]
    return {**report.to_dict(), "left_out": rows.bad, "verdicts": verdicts}


def judge_field() -> gr.Radio:
    """Return the choice of a judge, not rendered yet."""
    return gr.Radio(JUDGES, value=JUDGES[0], label="Judge", info=JUDGE_NOTE, render=False)


with DEMO.page() as demo:
    question = sharing.text_box("Question", most=6)
    answer = sharing.text_box("Answer to be judged")
    limits = f"One on each line, at most {checks.MAX_REFERENCES}."
    references = sharing.text_box("Accepted answers", lines=2, info=limits)
    with gr.Tabs(overflow_behavior="wrap"):
        fields = [question, answer, references, judge_field()]
        DEMO.form("One answer", fields, "Judge the answer", page, 2, submit=[question, answer])
        picked = uploads.score_tab(
            "Compare systems",
            "ava",
            ("question", "prediction", "references", "system", "id"),
            DEMO.example_file,
            "Columns: question, answer, accepted answers; also system, id, and label (0 or 1, by people).",
            others=[judge_field()],
            settings=settings,
        )
    DEMO.add_background("How far to trust it", "ava")
    server.endpoint(score, *DEMO.examples[0].entries[:2], ["12", "twelve"])
    with gr.Row(visible=False):  # an endpoint for programs; only a field checks that a file was uploaded
        result = gr.JSON(label="systems, accuracy, notes, signatures, left_out, verdicts")
        limits = {"concurrency_id": "file", "concurrency_limit": 1, "trigger_mode": "multiple"}
        rank_file = server.with_clear_errors(rank)
        gr.Button("rank").click(rank_file, picked.file, result, api_name="rank", **limits)

if __name__ == "__main__":
    DEMO.launch()
