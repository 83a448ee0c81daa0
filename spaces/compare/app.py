"""Demo of the toolkit: which of up to four systems is better, by people, a judge and words, and could it be chance?"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import comparing
import gradio as gr
import pandas
from common import checks, events, html, server, sharing, uploads
from markupsafe import Markup

TITLE = "Which answers are better, and could it be chance?"
ABOUT = "BLEU, ROUGE-L, BERTScore, KPQA and AVA side by side on answers of up to four systems, with tests and reports."
FILES = {"comparison.html": "Report (HTML)", "comparison.tex": "Tables (LaTeX)", "comparison.csv": "All scores (CSV)"}
DEMO = sharing.Demo(__file__, TITLE, ABOUT)
MANY_LINES = "One line for each question. Answers of several lines: an empty line between two answers."
LABELS = "Optional: 1 (right) or 0 (wrong), one line for each question."
COLUMNS = ("question", "prediction", "references", "system", "label", "id")


def python_code(template: str, **values: object) -> Markup:
    """Return Python code that compares the same with the same judge; `template` is a file beside this one."""
    text = sharing.text_beside(__file__, template)
    return sharing.python_code(text, settings=comparing.SETTINGS, checkpoint=server.CHECKPOINT, **values)


def shown_of(tick, rows: list[dict], after: Markup, note: str = "") -> list:
    """Return what the page shows for rows, but the code; `after` is HTML for the end of the status."""
    if len({row["system"] for row in rows}) > 1:
        report, questions = comparing.compared(tick, rows)
        finding, more = report.findings[0].replace("accuracy:", "Accuracy by your labels:", 1), ""
        table = pandas.DataFrame(comparing.by_answer(questions))
        notes = comparing.notes_of_a_page(report)
        shown = replace(report, notes=notes, findings=report.findings[1:]).to_html()
    else:
        report = uploads.scored(tick, rows, comparing.METRICS, comparing.SETTINGS)
        table = report.to_pandas()
        finding = f"The judge calls **{table['ava_label'].sum():.0f} of {len(rows):,}** answers right."
        more, shown = "Add a second system to compare it with.", report.to_html()
    page_file, latex, scores = FILES
    files = [uploads.saved(page_file, report.to_html()), uploads.saved(latex, report.to_latex())]
    files.append(uploads.kept(scores, lambda path: comparing.write_csv(path, table)))
    status = html.headline(finding, more, note) + after
    return [
        status,
        gr.update(open=False),
        comparing.side_by_side(table),
        html.frame("Report", shown, "embedded rows-first"),
        *files,
    ]


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


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows for a file."""
    rows = uploads.read(path, dict(zip(COLUMNS, columns, strict=True)), "ava")
    results = shown_of(tick, comparing.of_few_systems(rows.rows()), rows.problems_html())
    return [*results, python_code("code_of_a_file.txt")]


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
            fields = [questions, references]
            for pair in ((1, 2), (3, 4)):
                with gr.Row():
                    for number in pair:
                        with gr.Column(min_width=280):
                            fields.append(gr.Textbox(label=f"Name of system {number}", max_lines=1))
                            for label, info in (("Answers", MANY_LINES), ("Labels", LABELS)):
                                label = f"{label} of system {number}"
                                fields.append(gr.Textbox(label=label, info=info, lines=4, max_lines=8))
            button = gr.Button("Compare", variant="primary")
        with gr.Tab("A file"):
            needs = "Columns: question, accepted answers, and either answer and system, or one column of answers for "
            needs += "each system (choose all of them); also label: 1 or true for right, 0 or false for wrong."
            gr.Markdown(uploads.accepted_files(needs))
            picked = uploads.picker(COLUMNS, DEMO.example_file)
            file_button = gr.Button("Compare the file", variant="primary")
            picked.preview.render()
    area = events.results_area("Paste answers, or choose a file.")
    with area.results:
        shown = sharing.plain(2)
        with gr.Row():
            downloads = [gr.DownloadButton(label, size="sm", min_width=120) for label in FILES.values()]
        code = sharing.link_and_code()
    outputs = [panel, *shown, *downloads, code]
    runs = [
        *DEMO.connect([button.click], page, fields, area, outputs, examples, long=True),
        events.connect([file_button.click], file_page, picked.inputs, area, outputs, long=True),
    ]
    for run in runs:
        run.then(None, None, None, js=events.SCROLL, api_visibility="private")  # the fields above are folded
    row = {"question": "Who wrote Hamlet?", "prediction": "Shakespeare", "references": "William Shakespeare"}
    server.endpoint(compare, [{**row, "system": "terse"}])

if __name__ == "__main__":
    DEMO.launch()
