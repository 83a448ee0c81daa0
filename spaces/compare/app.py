"""Demo of the toolkit: which of up to four systems answers best, by five metrics, and could it be chance?"""

import functools
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import comparing
import gradio as gr
import showing
from common import checks, events, html, server, sharing, uploads, verdicts
from comparing import SCORES
from genqa_metrics.reports.table import render
from markupsafe import Markup

TITLE = "Which answers are better, and could it be chance?"
ABOUT = "BLEU, ROUGE-L, BERTScore, KPQA and AVA side by side on answers of up to four systems, with tests and reports."
EXAMPLES = sharing.read_examples(__file__)
_SYSTEMS = [f"{what}{number}" for number in range(1, comparing.MAX_SYSTEMS + 1) for what in ("name", "answers")]
ADDRESS = sharing.Address(dict.fromkeys(["questions", "references", *_SYSTEMS], str), EXAMPLES[0].values, 10)


def python_code(template: str, **values: object) -> Markup:
    """Return Python code that compares the same with the same judge; `template` is a file beside this one."""
    text = sharing.text_beside(__file__, template)
    return sharing.python_code(text, settings=comparing.SETTINGS, checkpoint=server.CHECKPOINT, **values)


def page(tick, *texts: str) -> list:
    """Return what the page shows for pasted texts."""
    rows = comparing.pasted(*texts)
    names = " or ".join(dict.fromkeys(row["system"] for row in rows))
    mark = ADDRESS.mark(*texts, label=names)
    found = showing.shown_of(tick, rows, mark, sharing.example_note(EXAMPLES, texts))
    answers: dict[str, list[str]] = {}
    for row in rows:
        answers.setdefault(row["system"], []).append(row["prediction"])
    asked = rows[: len(next(iter(answers.values())))]
    columns = {"questions": [row["question"] for row in asked], "references": [row["references"] for row in asked]}
    return [
        *found,
        python_code("code_of_texts.txt", **columns, answers=answers),
    ]


COLUMNS = ("question", "prediction", "references", "system", "id")


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows for a file."""
    rows = uploads.read(path, dict(zip(COLUMNS, columns, strict=True)), "ava")
    return [
        *showing.shown_of(tick, comparing.rows_of(rows.items), rows.problems_html()),
        python_code("code_of_a_file.txt"),
    ]


def explained(shown: dict | None, event: gr.EventData) -> Markup:
    """Return the explanations of the verdicts on the answers to a question; the page moves them into its row."""
    rows = {row["number"]: row for row in (shown or {}).get("rows", [])}
    row = rows.get(int(event.row))
    if row is None:
        return Markup()
    parts = []
    for system in shown["systems"]:  # as in the row
        text = row["answers"][system]["prediction"]
        verdict = verdicts.judge(comparing.judge(), row["question"], text, row["references"])
        line = verdicts.sentence(verdict["probability"], comparing.judge().threshold)
        parts.append(html.paragraphs(f"{system}: {line}", verdict["reason"]))
        parts.append(verdicts.words_html(f"Answer of {system}", text, verdict["words"]))
    parts.append(html.fill('<p class="note">{legend}</p>', legend=verdicts.LEGEND))
    return html.fill('<div data-explains="{number}">{parts}</div>', number=row["number"], parts=html.joined(parts))


ROWS = str(render("rows.js")) + sharing.text_beside(__file__, "rows.js")
MOVE = sharing.text_beside(__file__, "move.js")


def compare(rows: list[dict]) -> dict:
    """Compare systems on the same questions: scores with intervals, tests of all pairs, ranks.

    Args:
        rows: a list of objects with question, prediction, references (a text or a list) and system.
    """
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise checks.Problem("rows: expected a list of objects with question, prediction, references and system.")
    given = [row.get("references") for row in rows]
    pairs = sum(len(texts) if isinstance(texts, list) else 1 for texts in given)
    uploads.check_budget("rows", len(rows), pairs, sum(len(str(value)) for row in rows for value in row.values()))
    report, _ = comparing.compared(lambda *_: None, rows)
    return report.to_dict()


with gr.Blocks(title=TITLE, delete_cache=server.DELETE_CACHE) as demo:
    sharing.introduction(__file__, TITLE)
    shown = gr.State(None)
    fields = []
    examples = gr.Column()
    with (
        gr.Accordion("Compare your own answers: paste them, or choose a file", open=False) as panel,
        gr.Tabs(overflow_behavior="wrap"),
    ):
        with gr.Tab("Paste"):
            with gr.Row():
                questions = gr.Textbox(
                    label="Questions", info="One on each line.", lines=6, max_lines=12, min_width=280
                )
                references = gr.Textbox(
                    label="Accepted answers",
                    info="A line for each question; separate several answers with |.",
                    lines=6,
                    max_lines=12,
                    min_width=280,
                )
            fields += [questions, references]
            for pair in ((1, 2), (3, 4)):
                with gr.Row():
                    for number in pair:
                        with gr.Column(min_width=280):
                            name = gr.Textbox(label=f"Name of system {number}", max_lines=1)
                            answers = gr.Textbox(
                                label=f"Answers of system {number}",
                                info="A line for each question.",
                                lines=4,
                                max_lines=8,
                            )
                            fields += [name, answers]
            button = gr.Button("Compare", variant="primary")
        with gr.Tab("A file"):
            gr.Markdown(
                uploads.accepted_files(
                    "Columns: question, accepted answers, and either answer and system, or one column of answers for "
                    "each system (choose all of them)."
                )
            )
            picked = uploads.picker(COLUMNS, Path(__file__).with_name("example.csv"))
            file_button = gr.Button("Compare the file", variant="primary")
            picked.preview.render()
    area = events.results_area("Paste answers, or choose a file.")
    with area.results:
        with gr.Row():
            with gr.Column(scale=3, min_width=280):
                plot = gr.HTML(apply_default_css=False)
            with gr.Column(scale=1, min_width=290):
                choices = [(label, name) for name, (_, label) in SCORES.items()]
                which = gr.Dropdown(choices, value="ava_accuracy", label="Rank by", min_width=290)
        table = gr.HTML(apply_default_css=False)
        rows = gr.HTML(apply_default_css=False, js_on_load=ROWS)
        why = gr.HTML(apply_default_css=False, js_on_load=MOVE, elem_classes="moved")
        gr.Markdown(
            "The same numbers as `genqa-metrics compare`: paired tests corrected for their number, "
            "95% bootstrap intervals over questions; AVA's intervals include the judge's own errors.",
            elem_classes="note",
        )
        with gr.Row():
            downloads = [gr.DownloadButton(label, size="sm", min_width=120) for label in showing.FILES]
        code = sharing.link_and_code()
    outputs = [panel, table, which, plot, rows, why, shown, *downloads, code]
    runs = [
        events.connect([button.click], page, fields, area, outputs, long=True),
        sharing.example_buttons(examples, EXAMPLES, fields, page, fields, area, outputs, long=True),
        events.connect([file_button.click], file_page, picked.inputs, area, outputs, long=True),
        ADDRESS.open(demo, fields, functools.partial(page, lambda *_: None), area, outputs),
    ]
    for run in runs:
        run.then(None, None, None, js=events.SCROLL, api_visibility="private")  # the fields above are folded
        run.then(
            showing.files_of,
            shown,
            downloads,
            api_visibility="private",
            show_progress="hidden",
            concurrency_id="files",
            trigger_mode="always_last",
        )
    which.input(
        lambda name, shown: showing.plot_of(name, shown) if shown else "",
        [which, shown],
        plot,
        api_visibility="private",
        trigger_mode="always_last",
    )
    rows.click(
        explained,
        shown,
        why,
        api_visibility="private",
        concurrency_id="why",
        trigger_mode="multiple",
        show_progress="hidden",
    )
    server.endpoint(
        compare,
        "compare",
        {"rows": [{"question": "Who wrote Hamlet?", "prediction": "Shakespeare", "references": "William Shakespeare",
                   "system": "terse"}]},
    )  # fmt: skip

if __name__ == "__main__":
    first = EXAMPLES[0].values
    *values, code_of_first = page(lambda *_: None, *first)  # and the models are loaded
    values[-len(showing.FILES) :] = showing.files_of(values[-len(showing.FILES) - 1])
    events.preset(area, fields, first, outputs, [*values, code_of_first])
    server.launch(demo, __file__, ABOUT)
