"""Demo of the toolkit: which of up to four systems answers best, by five metrics, and could it be chance?"""

import functools
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import comparing
import gradio as gr
from common import checks, events, html, server, sharing, uploads, verdicts
from comparing import OF_A_ROW, SCORES
from genqa_metrics.toolkit.reports import compare as reports
from genqa_metrics.toolkit.reports.table import p_value
from markupsafe import Markup

TITLE = "Which answers are better, and could it be chance?"
ABOUT = "BLEU, ROUGE-L, BERTScore, KPQA and AVA side by side on answers of up to four systems, with tests and reports."
EXAMPLES = sharing.read_examples(__file__)
_SYSTEMS = [f"{what}{number}" for number in range(1, comparing.MAX_SYSTEMS + 1) for what in ("name", "answers")]
ADDRESS = sharing.Address(dict.fromkeys(["questions", "references", *_SYSTEMS], str), EXAMPLES[0].values, 10)


def accuracy_label(facts: dict) -> str:
    """Return the label of the judge's score, which counts the judge's errors where they were measured."""
    corrected = reports.corrected_accuracy(facts, "ava")
    return "AVA: accuracy, corrected for the judge's errors" if corrected else SCORES["ava_accuracy"][1]


def estimates(report) -> dict[str, list[tuple]]:
    """Return per score the systems, the best one first, as (name, value, low, high).

    The ends are None where there is no interval: with few questions, or if all samples have the same value.
    """
    facts, found = report.to_dict(), {}
    for name, (metric, _) in SCORES.items():
        corrected = reports.corrected_accuracy(facts, "ava") if name == "ava_accuracy" else None
        values = corrected["systems"] if corrected else report.scores[metric][name]
        rows = [(system, *map(values[system].get, ("value", "low", "high"))) for system in report.systems]
        rows = [row if row[2] != row[3] else (*row[:2], None, None) for row in rows]
        found[name] = sorted(rows, key=lambda row: -row[1])
    return found


def first_system(rows: Sequence[tuple]) -> str | None:
    """Return the system with the highest value; None if several have it.

    >>> first_system([("a", 0.5), ("b", 0.4)]), first_system([("a", 0.5), ("b", 0.5)])
    ('a', None)
    """
    return None if len(rows) > 1 and rows[0][1] == rows[1][1] else rows[0][0]


def listed(names: Sequence[str]) -> str:
    """Return names as one phrase.

    >>> listed(["BLEU-1", "ROUGE-L", "BERTScore"])
    'BLEU-1, ROUGE-L and BERTScore'
    """
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def summary(report, found: dict[str, list[tuple]]) -> tuple[str, str]:
    """Return which system is better according to the judge, and which ones scores of shared words put first."""
    facts, rows = report.to_dict(), found["ava_accuracy"]
    p = reports.ranked_pairs(facts, "ava", "ava_accuracy", neighbours=True)[0]["permutation_p_corrected"]
    (first, *_), (second, *_) = rows[:2]
    if first_system(rows) is None:
        judge = f"AVA: {first} and {second} are level."
    elif p is not None and p < facts["settings"]["level"]:
        judge = f"AVA: {first} beats {second}; chance is unlikely to explain it (p {p_value(p)})."
    else:
        judge = f"AVA: {first} is ahead of {second}, but chance could explain it (p {p_value(p)})."
    by_system: dict[str | None, list[str]] = {}
    for name in list(SCORES)[1:]:
        by_system.setdefault(first_system(found[name]), []).append(SCORES[name][1])
    firsts = [f"{listed(names)} put {system} first" for system, names in by_system.items() if system]
    ties = [f"{listed(names)} {'are' if len(names) > 1 else 'is'} tied" for names in [by_system.get(None)] if names]
    if len(by_system) == 1 and not ties:
        firsts = [f"all five put {next(iter(by_system))} first"]
    return judge, f"Scores of shared words, which do not check facts: {'; '.join([*firsts, *ties])}."


def winners(report, found: dict[str, list[tuple]]) -> Markup:
    """Return a table: every score of every system, which system is ahead, and whether chance could explain it."""
    facts, lines = report.to_dict(), []
    for name, (metric, label) in SCORES.items():
        p = reports.ranked_pairs(facts, metric, name, neighbours=True)[0]["permutation_p_corrected"]
        clear = p is not None and p < facts["settings"]["level"]
        values = {system: f"{value:.3f}" for system, value, *_ in found[name]}
        label = accuracy_label(facts) if name == "ava_accuracy" else label
        chance = f"{'no' if clear else 'yes'} (p {p_value(p)})"
        lines.append([label, *map(values.get, report.systems), first_system(found[name]) or "tie", chance])
    header = ["score", *report.systems, "ahead", "could it be chance?"]
    caption = "Scores, and the first system against the second"
    return html.table(header, lines, caption, set(range(1, 1 + len(report.systems))))


def plot_of(name: str, shown: dict) -> Markup:
    """Return the plot of one score: systems with values and intervals."""
    rows, label = shown["intervals"][name], shown["labels"][name]
    return html.intervals(rows, label if all(row[2] is None for row in rows) else f"{label}, with 95% intervals")


def picture(shown: dict) -> str:
    """Draw all plots into one picture, and return its path."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.2 + 0.45 * len(SCORES) * len(shown["systems"])), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    for axes, name in zip(figure.subplots(len(SCORES), 1, sharex=True), SCORES, strict=True):
        for place, (_, value, low, high) in enumerate(reversed(shown["intervals"][name])):
            if low is not None:
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


def disagreements_html(rows: Sequence[dict]) -> Markup:
    """Return answers as a table, each with a button that explains its verdict."""
    cells = []
    for i, row in enumerate(rows):
        why = html.fill('<button type="button" class="why" data-row="{i}" aria-label="Why? {text}">Why?</button>',
                        i=i, text=row["prediction"])  # fmt: skip
        values = [html.probability(row[name]) for name in OF_A_ROW]
        cells.append([row["question"], row["prediction"], " | ".join(row["references"]), row["system"], *values, why])
    headers = ["question", "answer", "accepted", "system", *OF_A_ROW.values(), "verdict"]
    return html.table(headers, cells, "Answers on which the metrics disagree most", set(range(4, 4 + len(OF_A_ROW))))


WHY = """element.addEventListener('click', event => {
  const button = event.target.closest('button[data-row]');
  if (button) trigger('click', {row: +button.dataset.row});
});"""


def shown_of(tick, rows: list[dict], after: Markup, notes: Sequence[str] = ()) -> list:
    """Return what the page shows for rows.

    Args:
        tick: see `events.LongWork`.
        rows: of all systems.
        after: HTML for the end of the status.
        notes: sentences for the end of the headline.
    """
    systems = list(dict.fromkeys(row["system"] for row in rows))
    if len(systems) == 1:
        return one_system(tick, rows, systems[0], notes, after)
    report, run = comparing.compared(tick, rows)
    values, found = comparing.row_values(run), estimates(report)
    shown = {"systems": report.systems, "intervals": found, "rows": comparing.disagreements(values)}
    shown["labels"] = {name: label for name, (_, label) in SCORES.items()}
    shown["labels"]["ava_accuracy"] = accuracy_label(report.to_dict())
    status = html.headline(*summary(report, found), *(f"Note: {note}." for note in report.notes[:4]), *notes)
    return results(status + after, winners(report, found), shown, values, report)


def one_system(tick, rows: list[dict], system: str, notes: Sequence[str], after: Markup) -> list:
    """Return what the page shows for one system: its scores, without a comparison."""
    means, values = comparing.alone(tick, rows)
    shown = {
        "systems": [system],
        "intervals": {name: [(system, means[name], None, None)] for name in SCORES},
        "rows": comparing.disagreements(values),
        "labels": {name: label for name, (_, label) in SCORES.items()},
    }
    table = html.table(
        ["score", system], [[label, f"{means[name]:.3f}"] for name, (_, label) in SCORES.items()], "Scores", {1}
    )
    right = round(means["ava_accuracy"] * len(rows))
    status = html.headline(
        f"{right:,} of {len(rows):,} answers are judged right by AVA.",
        "Add a second system to compare it with.",
        *notes,
    )
    return results(status + after, table, shown, values)


def results(status: Markup, table: Markup, shown: dict, values: Sequence[dict], report=None) -> list:
    """Return values of all outputs except the code; `files_of` writes the files later."""
    shown["to write"] = values, report
    found = [status, table, gr.update(value="ava_accuracy"), plot_of("ava_accuracy", shown)]
    return [*found, disagreements_html(shown["rows"]), "", shown, *[gr.update(visible=False)] * len(FILES)]


FILES = ("HTML report", "LaTeX tables", "All scores (CSV)", "Plots (PNG)")


def files_of(shown: dict | None) -> list:
    """Write the files of the results, once, after the results are shown; return them for their buttons."""
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
    """Return what the page shows for pasted texts."""
    rows = comparing.pasted(*texts)
    found = shown_of(tick, rows, ADDRESS.mark(*texts), [sharing.example_note(EXAMPLES, texts)])
    answers: dict[str, list[str]] = {}
    for row in rows:
        answers.setdefault(row["system"], []).append(row["prediction"])
    asked = rows[: len(next(iter(answers.values())))]
    columns = {"questions": [row["question"] for row in asked], "references": [row["references"] for row in asked]}
    return [
        *found,
        sharing.python_code(sharing.text_beside(__file__, "code_of_texts.txt"), **columns, answers=answers),
    ]


COLUMNS = ("question", "prediction", "references", "system", "id")


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows for a file."""
    rows = uploads.read(path, dict(zip(COLUMNS, columns, strict=True)), "ava")
    return [
        *shown_of(tick, comparing.rows_of(rows.items), rows.problems_html()),
        sharing.python_code(sharing.text_beside(__file__, "code_of_a_file.txt")),
    ]


def explained(shown: dict | None, event: gr.EventData) -> Markup:
    """Return the explanation of the verdict on the answer of a row."""
    rows = (shown or {}).get("rows", [])
    if not 0 <= int(event.row) < len(rows):
        return Markup()
    row = rows[int(event.row)]
    verdict = verdicts.judge(comparing.judge(), row["question"], row["prediction"], row["references"])
    line = verdicts.sentence(verdict["probability"], comparing.judge().threshold)
    return html.headline(line, row["question"], verdict["reason"]) + verdicts.words_html(
        f"Answer of {row['system']}", row["prediction"], verdict["words"]
    )


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
    with gr.Tabs(overflow_behavior="wrap"):
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
            examples = gr.Column()
        with gr.Tab("A file"):
            gr.Markdown(
                uploads.accepted_files(
                    "Columns: question, accepted answers, and either answer and system, or one column of answers for "
                    "each system (choose all of them)."
                )
            )
            picked = uploads.picker(COLUMNS, Path(__file__).with_name("example.csv"))
            file_button = gr.Button("Compare the file", variant="primary")
    area = events.results_area("Paste answers, or choose a file.")
    with area.results:
        table = gr.HTML(apply_default_css=False)
        choices = [(label, name) for name, (_, label) in SCORES.items()]
        which = gr.Dropdown(choices, value="ava_accuracy", label="Plot of", min_width=200)
        plot = gr.HTML(apply_default_css=False)
        rows = gr.HTML(apply_default_css=False, js_on_load=WHY)
        why = gr.HTML(apply_default_css=False, js_on_load=events.LIVE)
        gr.Markdown(
            "The same numbers as `genqa-metrics compare`: paired permutation tests corrected for the number of pairs, "
            "bootstrap intervals over questions; AVA's intervals include the judge's own errors.",
            elem_classes="note",
        )
        with gr.Row():
            downloads = [gr.DownloadButton(label, size="sm", min_width=120) for label in FILES]
        code = sharing.link_and_code()
    outputs = [table, which, plot, rows, why, shown, *downloads, code]
    runs = [
        events.connect([button.click], page, fields, area, outputs, long=True),
        sharing.example_buttons(examples, EXAMPLES, fields, page, fields, area, outputs, long=True),
        events.connect([file_button.click], file_page, picked.inputs, area, outputs, long=True),
        ADDRESS.open(demo, fields, functools.partial(page, lambda *_: None), area, outputs),
    ]
    for run in runs:
        run.then(files_of, shown, downloads, api_visibility="private", show_progress="hidden", concurrency_id="files")
    which.input(
        lambda name, shown: plot_of(name, shown) if shown else "", [which, shown], plot, api_visibility="private"
    )
    rows.click(explained, shown, why, api_visibility="private", concurrency_id="why")
    server.endpoint(
        compare,
        "compare",
        {"rows": [{"question": "Who wrote Hamlet?", "prediction": "Shakespeare", "references": "William Shakespeare",
                   "system": "terse"}]},
    )  # fmt: skip

if __name__ == "__main__":
    first = EXAMPLES[0].values
    *values, code_of_first = page(lambda *_: None, *first)  # and the models are loaded
    values[-len(FILES) :] = files_of(values[-len(FILES) - 1])
    values = [value.get("value") if isinstance(value, dict) and "__type__" in value else value for value in values]
    events.preset(area, fields, first, outputs, [*values, code_of_first])
    server.launch(demo, __file__, ABOUT)
