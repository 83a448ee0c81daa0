"""Which of one to four systems is better, by people, a judge and words, and could it be chance?"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import comparing
import gradio as gr
import pandas
from common import checks, events, html, server, uploads
from common.demo import Demo, Text, link_and_code, plain_outputs
from markupsafe import Markup

FILES = {"comparison.html": "Report (HTML)", "comparison.tex": "Tables (LaTeX)", "comparison.csv": "All scores (CSV)"}
MANY_LINES = "One line for each question. Answers of several lines: an empty line between two answers."
LABELS = "Optional: 1 (right) or 0 (wrong), one line for each question."
EXAMPLE = [{"question": "Who wrote Hamlet?", "prediction": "Bacon", "references": "Shakespeare", "system": "terse"}]
FIELDS = [
    Text("Questions", info="One on each line.", lines=6, grows_to=12),
    Text("Accepted answers", info="A line for each question; separate several answers with |.", lines=6, grows_to=12),
]
for number in range(1, comparing.MAX_SYSTEMS + 1):
    FIELDS.append(Text(f"Name of system {number}", grows_to=1))
    FIELDS.append(Text(f"Answers of system {number}", info=MANY_LINES, lines=4))
    FIELDS.append(Text(f"Labels of system {number}", info=LABELS, lines=4))


def python_code(template: str, **variables: object) -> Markup:
    """Return Python code that compares the same with the same judge; `template` is a file beside this one."""
    variables |= {"settings": comparing.SETTINGS, "checkpoint": server.CHECKPOINT}
    text = html.text_beside(__file__, template)
    return html.python(text.format(**{name: repr(variable) for name, variable in variables.items()}))


def shown_of(tick, rows: list[dict], after: Markup, note: str = "") -> list:
    """Return what the page shows for rows, but the code; `after` is HTML for the end of the status."""
    if len({row["system"] for row in rows}) > 1:
        report = comparing.compared(tick, rows)
        finding, *more = comparing.finding_of_a_page(report)
        table = pandas.DataFrame(comparing.by_answer(report))
        notes = comparing.notes_of_a_page(report)
        shown = replace(report, notes=notes, conclusions=report.conclusions[1:]).to_html()
    else:
        report = uploads.scored(tick, rows, comparing.METRICS, comparing.SETTINGS)
        table = report.to_pandas()
        finding = f"The judge calls **{table['ava_label'].sum():.0f} of {len(rows):,}** answers right."
        more, shown = ["Add a second system to compare it with."], report.to_html()
    page_file, latex, scores = FILES
    files = [uploads.saved(page_file, report.to_html()), uploads.saved(latex, report.to_latex())]
    files.append(comparing.write_csv(str(uploads.new_path(scores)), table))
    status = html.headline(finding, *more, note) + after
    frame = html.frame("Report", shown, "embedded rows-first")
    return [status, gr.update(open=False), comparing.side_by_side(table), frame, *files]


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows for a file."""
    upload = uploads.read(path, dict(zip(DEMO.description["file"]["columns"], columns, strict=True)), "ava")
    results = shown_of(tick, comparing.of_few_systems(upload.rows), upload.problems_html())
    return [*results, python_code("code_of_a_file.txt")]


def compare(rows: list[dict]) -> dict:
    """Compare systems on the same questions: scores with intervals, tests of all pairs, ranks.

    Args:
        rows: a list of objects with question, prediction, references (a text or a list) and system
    """
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise checks.Problem("rows: expected a list of objects with question, prediction, references and system.")
    references = [row.get("references") for row in rows]
    pairs = sum(len(texts) if isinstance(texts, list) else 1 for texts in references)
    uploads.check_budget("rows", len(rows), pairs, sum(len(str(cell)) for row in rows for cell in row.values()))
    return comparing.compared(events.ignore, rows).to_dict()


class Comparison(Demo):
    """The page that compares systems: its result has the width of the page, above folded fields."""

    long = True

    def layout(self) -> None:
        """Add the examples, the fields for texts and for a file, and one place for their results."""
        examples = gr.Column()
        with (
            gr.Accordion("Compare your own answers: paste them, or choose a file", open=False) as panel,
            gr.Tabs(overflow_behavior="wrap"),
        ):
            with gr.Tab("Paste"):
                for group in (self.texts[:2], *(self.texts[start : start + 6] for start in (2, 8))):
                    with gr.Row():
                        for half in (group[: len(group) // 2], group[len(group) // 2 :]):
                            with gr.Column(min_width=280):
                                for field in half:
                                    field.render()
                button = gr.Button("Compare", variant="primary")
            with gr.Tab(self.description["file"]["title"]):
                upload, preview = uploads.picker(self.description["file"], self.example_file)
                file_button = gr.Button("Compare the file", variant="primary")
                preview.render()
        area = events.results_area("Paste answers, or choose a file.")
        with area.results:
            outputs = [panel, *plain_outputs(2), *uploads.downloads(*FILES.values()), link_and_code()]
        runs = self.connect([button.click], area, outputs, examples)
        runs.append(events.connect([file_button.click], file_page, upload, area, outputs, long=True, linked=False))
        for run in runs:
            run.then(None, None, None, js=events.SCROLL, api_visibility="private")  # the fields above are folded

    def scored(self, tick, *texts: str) -> list:
        """Return what the page shows for pasted texts."""
        rows = comparing.pasted(*texts)
        answers: dict[str, list[str]] = {}
        labels: dict[str, list[int]] = {}
        for row in rows:
            answers.setdefault(row["system"], []).append(row["prediction"])
            if "label" in row:
                labels.setdefault(row["system"], []).append(row["label"])
        asked = rows[: len(next(iter(answers.values())))]
        columns = {"questions": [row["question"] for row in asked], "references": [row["references"] for row in asked]}
        results = shown_of(tick, rows, Markup(), self.note(texts))
        return [*results, python_code("code_of_texts.txt", **columns, answers=answers, labels=labels)]

    def example_arguments(self) -> list:
        """Return an example of the rows that `compare` takes."""
        return [EXAMPLE]


DEMO = Comparison(__file__, "compare", comparing.pasted, compare, fields=FIELDS)

if __name__ == "__main__":
    DEMO.launch()
