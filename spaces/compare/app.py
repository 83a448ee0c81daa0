"""Demo of the toolkit: which of up to four systems answers best, by five metrics, and could it be chance?"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import comparing
import gradio as gr
import pandas
from common import checks, events, html, server, sharing, uploads, verdicts
from markupsafe import Markup

TITLE = "Which answers are better, and could it be chance?"
ABOUT = "BLEU, ROUGE-L, BERTScore, KPQA and AVA side by side on answers of up to four systems, with tests and reports."
FILES = {"comparison.html": "Report (HTML)", "comparison.tex": "Tables (LaTeX)", "comparison.csv": "All scores (CSV)"}
DEMO = sharing.Demo(__file__, TITLE, ABOUT)
MANY_LINES = "A line for each question. Several lines, as in Markdown: an empty line between answers, or a file."


def python_code(template: str, **values: object) -> Markup:
    """Return Python code that compares the same with the same judge; `template` is a file beside this one."""
    text = sharing.text_beside(__file__, template)
    return sharing.python_code(text, settings=comparing.SETTINGS, checkpoint=server.CHECKPOINT, **values)


def shown_of(tick, rows: list[dict], after: Markup, note: str = "") -> list:
    """Return what the page shows for rows, but the code; `after` is HTML for the end of the status."""
    if len({row["system"] for row in rows}) > 1:
        report, questions = comparing.compared(tick, rows)
        status = html.headline(report.findings[0], note)
        table = pandas.DataFrame(comparing.by_answer(questions))
        notes = list(map(comparing.without_commands, report.notes))
        shown = replace(report, notes=notes, findings=report.findings[1:]).to_html()
    else:
        report = uploads.scored(tick, rows, comparing.METRICS, comparing.SETTINGS)
        table = report.to_pandas()
        finding = f"The judge calls **{table['ava_label'].sum():.0f} of {len(rows):,}** answers right."
        status = html.headline(finding, "Add a second system to compare it with.", note)
        shown = report.to_html()
    asked = {row["question"]: row["references"] for row in rows}
    answered = [(row["question"], row["system"], row["prediction"]) for row in rows]
    page_file, latex, scores = FILES
    files = [uploads.saved(page_file, report.to_html()), uploads.saved(latex, report.to_latex())]
    files.append(uploads.kept(scores, lambda path: comparing.write_csv(path, table)))
    menu = gr.update(choices=[(text, text) for text in asked], value=None)
    return [status + after, gr.update(open=False), html.frame("Report", shown), menu, "", (asked, answered), *files]


def page(tick, *texts: str) -> list:
    """Return what the page shows for pasted texts."""
    rows = comparing.pasted(*texts)
    names = " or ".join(dict.fromkeys(row["system"] for row in rows))
    results = shown_of(tick, rows, DEMO.mark(*texts, label=names), DEMO.note(texts))
    answers: dict[str, list[str]] = {}
    for row in rows:
        answers.setdefault(row["system"], []).append(row["prediction"])
    asked = rows[: len(next(iter(answers.values())))]
    columns = {"questions": [row["question"] for row in asked], "references": [row["references"] for row in asked]}
    return [*results, python_code("code_of_texts.txt", **columns, answers=answers)]


COLUMNS = ("question", "prediction", "references", "system", "id")


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows for a file."""
    rows = uploads.read(path, dict(zip(COLUMNS, columns, strict=True)), "ava")
    results = shown_of(tick, comparing.of_few_systems(rows.rows()), rows.problems_html())
    return [*results, python_code("code_of_a_file.txt")]


def explained(question: str | None, shown: tuple[dict, list] | None) -> Markup:
    """Return why the judge decided so on the answers to a question."""
    asked, answered = shown or ({}, [])
    blocks = []
    for system, answer in ((system, answer) for text, system, answer in answered if text == question):
        judged = verdicts.judged(question, answer, asked[question], comparing.SETTINGS["ava"])
        line = verdicts.sentence(judged["probability"], judged["threshold"])
        blocks += [html.paragraphs(f"{system}: {line}", judged["reason"]), judged["report"]]
    return html.joined(blocks)


def compare(rows: list[dict]) -> dict:
    """Compare systems on the same questions: scores with intervals, tests of all pairs, ranks.

    Args:
        rows: a list of objects with question, prediction, references (a text or a list) and system.
    """
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise checks.Problem("rows: expected a list of objects with question, prediction, references and system.")
    references = [row.get("references") for row in rows]
    pairs = sum(len(texts) if isinstance(texts, list) else 1 for texts in references)
    uploads.check_budget("rows", len(rows), pairs, sum(len(str(value)) for row in rows for value in row.values()))
    report, _ = comparing.compared(lambda *_: None, rows)
    return report.to_dict()


with DEMO.page() as demo:
    shown = gr.State(None)
    fields = []
    examples = gr.Column()
    with (
        gr.Accordion("Compare your own answers: paste them, or choose a file", open=False) as panel,
        gr.Tabs(overflow_behavior="wrap"),
    ):
        with gr.Tab("Paste"):
            with gr.Row():
                size = {"lines": 6, "max_lines": 12, "min_width": 280}
                questions = gr.Textbox(label="Questions", info="One on each line.", **size)
                info = "A line for each question; separate several answers with |."
                references = gr.Textbox(label="Accepted answers", info=info, **size)
            fields += [questions, references]
            for pair in ((1, 2), (3, 4)):
                with gr.Row():
                    for number in pair:
                        with gr.Column(min_width=280):
                            name = gr.Textbox(label=f"Name of system {number}", max_lines=1)
                            label = f"Answers of system {number}"
                            fields += [name, gr.Textbox(label=label, info=MANY_LINES, lines=4, max_lines=8)]
            button = gr.Button("Compare", variant="primary")
        with gr.Tab("A file"):
            needs = "Columns: question, accepted answers, and either answer and system, or one column of answers for "
            gr.Markdown(uploads.accepted_files(f"{needs}each system (choose all of them)."))
            picked = uploads.picker(COLUMNS, DEMO.example_file)
            file_button = gr.Button("Compare the file", variant="primary")
            picked.preview.render()
    area = events.results_area("Paste answers, or choose a file.")
    with area.results:
        report = gr.HTML(apply_default_css=False)
        asked = gr.Dropdown(
            [],
            label="Why did the judge decide so?",
            info="Choose a question to see the words.",
            allow_custom_value=True,  # or Gradio would know no choices but those of this line
        )
        why = gr.HTML(apply_default_css=False)
        with gr.Row():
            downloads = [gr.DownloadButton(label, size="sm", min_width=120) for label in FILES.values()]
        code = sharing.link_and_code()
    outputs = [panel, report, asked, why, shown, *downloads, code]
    runs = [
        *DEMO.connect([button.click], page, fields, area, outputs, examples, long=True),
        events.connect([file_button.click], file_page, picked.inputs, area, outputs, long=True),
    ]
    for run in runs:
        run.then(None, None, None, js=events.SCROLL, api_visibility="private")  # the fields above are folded
    queue = {"concurrency_id": "why", "trigger_mode": "always_last", "api_visibility": "private"}
    asked.input(explained, [asked, shown], why, **queue)
    row = {"question": "Who wrote Hamlet?", "prediction": "Shakespeare", "references": "William Shakespeare"}
    server.endpoint(compare, [{**row, "system": "terse"}])

if __name__ == "__main__":
    DEMO.launch()
