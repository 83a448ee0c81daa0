"""Demo of the toolkit: which of up to four systems answers best, by five metrics, and could it be chance?"""

import functools
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # a checkout has common.py there, a Space beside this file
import cases
import clicks
import common
import comparing
import gradio as gr
import judged
import look
import sharing
import uploads
from comparing import OF_A_ROW, SCORES

reports = import_module("genqa.toolkit.reports.compare")
tables = import_module("genqa.toolkit.reports.table")

TITLE = "Which answers are better, and could it be chance?"
ABOUT = "BLEU, ROUGE-L, BERTScore, KPQA and AVA side by side on answers of up to four systems, with tests and reports."
CODE = """
import genqa_metrics

questions = {questions}
references = {references}
answers = {answers}
systems = {{
    name: [
        {{"question": question, "references": accepted, "prediction": answer}}
        for question, accepted, answer in zip(questions, references, texts)
    ]
    for name, texts in answers.items()
}}
report = genqa_metrics.compare(systems, ["kpqa", "ava"])
print(report.to_markdown())
"""
CODE_OF_A_FILE = """
import genqa_metrics

# rows.csv: question, references, prediction, system; in a shell: genqa-metrics compare rows.csv --metric ava
report = genqa_metrics.compare("rows.csv", ["kpqa", "ava"])
print(report.to_markdown())
"""


def said_of(report) -> tuple[str, str]:
    """Return who is ahead by the judge and whether it could be chance, and whom the other scores put first."""
    facts, (metric, _) = report.to_dict(), SCORES["ava_accuracy"]
    first, second, *_ = reports.ordered(facts, metric, "ava_accuracy")
    p = reports.ranked_pairs(facts, metric, "ava_accuracy", neighbours=True)[0]["permutation_p_corrected"]
    values = report.scores[metric]["ava_accuracy"]
    if values[first]["value"] == values[second]["value"]:
        judge_says = f"By AVA {first} and {second} are level."
    elif p is not None and p < facts["settings"]["level"]:
        judge_says = f"By AVA {first} is ahead of {second}, and that is more than chance (p {tables.p_value(p)})."
    else:
        judge_says = f"By AVA {first} is ahead of {second}, but it could be chance (p {tables.p_value(p)})."
    firsts = Counter(reports.ordered(facts, metric, name)[0] for name, (metric, _) in SCORES.items())
    counts = ", ".join(f"{count} put {system} first" for system, count in firsts.most_common())
    return judge_says, f"Of the {len(SCORES)} scores {counts}."


def winners(report) -> look.Markup:
    """Return a table: every score of every system, who is ahead, and whether it could be chance."""
    facts, systems, lines = report.to_dict(), report.systems, []
    for name, (metric, label) in SCORES.items():
        order = reports.ordered(facts, metric, name)
        best = reports.ranked_pairs(facts, metric, name, neighbours=True)[0]
        p = best["permutation_p_corrected"]
        clear = p is not None and p < facts["settings"]["level"]
        values = report.scores[metric][name]
        tied = values[order[0]]["value"] == values[order[1]]["value"]
        chance = f"{'no' if clear else 'yes'} (p {tables.p_value(p)})"
        lines.append(
            [label, *(f"{values[system]['value']:.3f}" for system in systems), "tie" if tied else order[0], chance]
        )
    headers = ["score", *systems, "ahead", "could it be chance?"]
    return look.table(
        headers, lines, "Scores, and the first system against the second", set(range(1, len(systems) + 1))
    )


def plot_of(name: str, shown: dict) -> look.Markup:
    """Return the plot of one score: systems, values, intervals, an axis from 0 to 1."""
    label = shown["labels"][name]
    return look.intervals(shown["intervals"][name], f"{label}, with 95% intervals")


def picture(shown: dict) -> str:
    """Draw all plots into one picture, and return its path."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.2 + 0.45 * len(SCORES) * len(shown["systems"])), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    for axes, name in zip(figure.subplots(len(SCORES), 1, sharex=True), SCORES, strict=True):
        for place, (_, value, low, high) in enumerate(reversed(shown["intervals"][name])):
            axes.plot([low, high], [place, place], color="#94a3b8", linewidth=3, solid_capstyle="round")
            axes.plot([value], [place], "o", color="#1d4ed8")
            axes.annotate(f"{value:.3f}", (value, place), (0, 6), textcoords="offset points", fontsize=7, ha="center")
        names = [row[0][:40] for row in reversed(shown["intervals"][name])]
        axes.set_yticks(range(len(names)), names, parse_math=False)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(names) - 0.2))
        axes.set_title(shown["labels"][name], fontsize=9, loc="left", parse_math=False)
        axes.grid(axis="x", alpha=0.3)
    path = uploads.fresh_path("comparison.png")
    figure.savefig(path)
    return path


def disagreements_html(rows: Sequence[dict]) -> look.Markup:
    """Return those answers as a table with a button each."""
    cells = []
    for i, row in enumerate(rows):
        why = look.html('<button type="button" class="why" data-row="{i}" aria-label="Why? {text}">Why?</button>',
                        i=i, text=row["prediction"])  # fmt: skip
        values = [look.probability(row[name]) for name in OF_A_ROW]
        cells.append([row["question"], row["prediction"], " | ".join(row["references"]), row["system"], *values, why])
    headers = ["question", "answer", "accepted", "system", *OF_A_ROW.values(), "verdict"]
    return look.table(headers, cells, "Answers on which the metrics disagree most", set(range(4, 4 + len(OF_A_ROW))))


NOTHING = look.Markup("")
WHY = """element.addEventListener('click', event => {
  const button = event.target.closest('button[data-row]');
  if (button) trigger('click', {row: +button.dataset.row});
});"""


def shown_of(tick, rows: list[dict], said: Sequence[str] = (), bad: look.Markup = NOTHING) -> list:
    """Return what the page shows of rows.

    Args:
        tick: see `clicks.LongWork`.
        rows: of all systems.
        said: sentences for the end of the headline.
        bad: the rows that were left out.
    """
    systems = list(dict.fromkeys(row["system"] for row in rows))
    if len(systems) == 1:
        return one_system(tick, rows, systems[0], said, bad)
    report, run = comparing.compared(tick, rows)
    values = comparing.row_values(run)
    facts = report.to_dict()
    accuracy = facts["metrics"]["ava"]["accuracy"]["systems"]
    intervals = {}
    for name, (metric, _) in SCORES.items():
        found = accuracy if name == "ava_accuracy" else report.scores[metric][name]
        order = reports.ordered(facts, metric, name)
        ends = [(found[system]["value"], found[system]["low"], found[system]["high"]) for system in order]
        intervals[name] = [
            (system, value, value if low is None else low, value if high is None else high)
            for system, (value, low, high) in zip(order, ends, strict=True)
        ]
    shown = {"systems": report.systems, "intervals": intervals, "rows": comparing.disagreements(values)}
    shown["labels"] = {name: label for name, (_, label) in SCORES.items()}
    if reports.corrected_accuracy(facts, "ava"):
        shown["labels"]["ava_accuracy"] = "AVA: accuracy, corrected for the judge's measured errors"
    status = look.headline(*said_of(report), *(f"Note: {note}." for note in report.notes[:4]), *said)
    return results(status + bad, winners(report), shown, values, report)


def one_system(tick, rows: list[dict], system: str, said: Sequence[str], bad: look.Markup) -> list:
    """Return what the page shows of one system: its scores; there is nobody to compare it with."""
    means, values = comparing.alone(tick, rows)
    shown = {
        "systems": [system],
        "intervals": {name: [(system, means[name], means[name], means[name])] for name in SCORES},
        "rows": comparing.disagreements(values),
        "labels": {name: label for name, (_, label) in SCORES.items()},
    }
    table = look.table(
        ["score", system], [[label, f"{means[name]:.3f}"] for name, (_, label) in SCORES.items()], "Scores", {1}
    )
    right = round(means["ava_accuracy"] * len(rows))
    status = look.headline(
        f"{right:,} of {len(rows):,} answers are judged right by AVA.",
        "Add a second system to compare it with.",
        *said,
    )
    return results(status + bad, table, shown, values)


def results(status: look.Markup, table: look.Markup, shown: dict, values: Sequence[dict], report=None) -> list:
    """Return what the page shows, in the order of its outputs, without the code; files come later, see `files_of`."""
    shown["to write"] = values, report
    found = [status, table, gr.update(value="ava_accuracy"), plot_of("ava_accuracy", shown)]
    return [*found, disagreements_html(shown["rows"]), "", shown, *[gr.update(visible=False)] * len(FILES)]


FILES = ("HTML report", "LaTeX tables", "All scores (CSV)", "Plots (PNG)")


def files_of(shown: dict | None) -> list:
    """Write the files of what is shown, once, and return them for their buttons; nobody waits for them to read."""
    values, report = (shown or {}).pop("to write", (None, None))
    if not values:
        return [gr.skip()] * len(FILES)
    paths = [csv_of(values), picture(shown)]
    if report:
        texts = {"comparison.html": report.to_html(), "comparison.tex": report.to_latex()}
        paths[:0] = map(uploads.fresh_path, texts)
        for path, text in zip(paths, texts.values(), strict=False):
            Path(path).write_text(text, encoding="utf-8")
    hidden = [gr.update(visible=False)] * (len(FILES) - len(paths))
    return [*hidden, *(gr.update(value=path, visible=True) for path in paths)]


def csv_of(values: Sequence[dict]) -> str:
    """Write all scores of all answers, and return the path."""
    texts = {"id": "text", "system": "text", "question": "text", "prediction": "text", "references": "texts"}
    kinds = texts | dict.fromkeys((name for name in values[0] if name not in texts), "number")
    return uploads.written("comparison.csv", kinds, {name: [row[name] for row in values] for name in kinds})


def page(tick, *texts: str) -> list:
    """Return what the page shows of pasted texts."""
    rows = comparing.pasted(*texts)
    found = shown_of(tick, rows, [note] if (note := sharing.note_of(cases.CASES, texts)) else [])
    answers: dict[str, list[str]] = {}
    for row in rows:
        answers.setdefault(row["system"], []).append(row["prediction"])
    asked = rows[: len(next(iter(answers.values())))]
    columns = {"questions": [row["question"] for row in asked], "references": [row["references"] for row in asked]}
    return [*found, sharing.python_code(CODE, **columns, answers=answers)]


COLUMNS = ("question", "prediction", "references", "system", "id")


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows of a file."""
    rows = uploads.read(path, dict(zip(COLUMNS, columns, strict=True)), "ava")
    return [*shown_of(tick, comparing.rows_of(rows.items), bad=rows.said()), sharing.python_code(CODE_OF_A_FILE)]


def explained(shown: dict | None, event: gr.EventData) -> look.Markup:
    """Return why the judge judged the answer of a row as it did."""
    rows = (shown or {}).get("rows", [])
    if not 0 <= int(event.row) < len(rows):
        return NOTHING
    row = rows[int(event.row)]
    verdict = judged.verdict(comparing.judge(), row["question"], row["prediction"], row["references"])
    said = look.headline(
        judged.said(verdict["probability"], comparing.judge().threshold), row["question"], verdict["reason"]
    )
    return said + judged.words_html(f"Answer of {row['system']}", row["prediction"], verdict["words"])


def compare(rows: list[dict]) -> dict:
    """Compare systems on the same questions: scores with intervals, tests of all pairs, ranks.

    Args:
        rows: a list of objects with question, prediction, references (a text or a list) and system.
    """
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise common.Problem("rows: expected a list of objects with question, prediction, references and system.")
    if len(rows) > uploads.MAX_ROWS:
        raise common.Problem(f"rows: {len(rows):,} are too many for this page; {uploads.MAX_ROWS:,} are the most.")
    report, _ = comparing.compared(lambda *_: None, rows)
    return report.to_dict()


with gr.Blocks(title=TITLE, delete_cache=common.KEEP) as demo:
    gr.Markdown(
        f"# {TITLE}\n"
        "Answers of one to four systems to the same questions, measured by BLEU-1, ROUGE-L, BERTScore, the same with "
        "KPQA's weights, and judged by AVA. Who is ahead, could it be chance, and where do the metrics disagree? "
        "**English only.**"
    )
    shown = gr.State(None)
    fields = []
    with look.tabs():
        with gr.Tab("Paste"):
            with gr.Row():
                questions = gr.Textbox(
                    label="Questions", info="One on each line.", lines=6, max_lines=12, min_width=280
                )
                references = gr.Textbox(
                    label="Accepted answers",
                    info="A line for each question; several with | between.",
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
            examples = gr.Column()
        with gr.Tab("A file"):
            gr.Markdown(
                uploads.what_is_taken(
                    "Columns: question, accepted answers, and either answer and system, or one column of answers for "
                    "each system (pick them all)."
                )
            )
            picked = uploads.picker(COLUMNS, Path(__file__).with_name("example.csv"))
            file_button = gr.Button("Compare the file", variant="primary")
    area = clicks.results_area("Paste answers, or choose a file.")
    with area.results:
        table = gr.HTML(apply_default_css=False)
        choices = [(label, name) for name, (_, label) in SCORES.items()]
        which = gr.Dropdown(choices, value="ava_accuracy", label="Plot of", min_width=200)
        plot = gr.HTML(apply_default_css=False)
        rows = gr.HTML(apply_default_css=False, js_on_load=WHY)
        why = gr.HTML(apply_default_css=False, js_on_load=clicks.LIVE)
        gr.Markdown(
            "Everything as `genqa-metrics compare` computes it: paired permutation tests corrected for the number of "
            "pairs, bootstrap intervals over questions; AVA's intervals count the judge's own errors.",
            elem_classes="note",
        )
        with gr.Row():
            downloads = [gr.DownloadButton(label, size="sm", min_width=120) for label in FILES]
        sharing.share_row()
        with gr.Accordion("The same in Python", open=False):
            code = gr.HTML(apply_default_css=False, elem_classes="python")
    outputs = [table, which, plot, rows, why, shown, *downloads, code]
    ran = clicks.connect([button.click], page, fields, area, outputs, long=True)
    ran_example = sharing.gallery(examples, cases.CASES, fields, page, fields, area, outputs, long=True)
    ran_file = clicks.connect([file_button.click], file_page, picked.inputs, area, outputs, long=True)
    systems = [f"{what}{number}" for number in range(1, comparing.MAX_SYSTEMS + 1) for what in ("name", "answers")]
    names = dict.fromkeys(["questions", "references", *systems], sharing.text)
    at_once = functools.partial(page, lambda *_: None)
    address = demo, names, fields, cases.CASES[0], at_once, area, outputs
    opened = sharing.in_address(*address, [ran, ran_example], others=[ran_file])
    for one in (ran, ran_example, ran_file, opened):
        one.then(files_of, shown, downloads, api_visibility="private", show_progress="hidden", concurrency_id="files")
    which.input(
        lambda name, shown: plot_of(name, shown) if shown else "", [which, shown], plot, api_visibility="private"
    )
    rows.click(explained, shown, why, api_visibility="private", concurrency_id="why")
    common.endpoint(
        compare,
        "compare",
        {"rows": [{"question": "Who wrote Hamlet?", "prediction": "Shakespeare", "references": "William Shakespeare",
                   "system": "terse"}]},
    )  # fmt: skip

if __name__ == "__main__":
    first = cases.CASES[0].values
    *values, code_of_first = at_once(*first)  # and the models are warm
    values[-len(FILES) :] = files_of(values[-len(FILES) - 1])
    values = [value.get("value") if isinstance(value, dict) and "__type__" in value else value for value in values]
    clicks.preset(area, fields, first, outputs, [*values, code_of_first])
    common.launch(demo, __file__, ABOUT)
