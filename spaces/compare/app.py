"""Demo of the toolkit: which of up to four systems answers best, by five metrics, and could it be chance?"""

import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

sys.path.append(str(Path(__file__).resolve().parents[1]))  # a checkout has common.py there, a Space beside this file
import clicks
import common
import gradio as gr
import judged
import look
import sharing
import uploads

METRICS = common.find_metric(__file__, "")
analysis = import_module("genqa.toolkit.analysis.compare")
registry = import_module("genqa.toolkit.scoring.registry")
reports = import_module("genqa.toolkit.reports.compare")
tables = import_module("genqa.toolkit.reports.table")

TITLE = "Which answers are better, and could it be chance?"
ABOUT = "BLEU, ROUGE-L, BERTScore, KPQA and AVA side by side on answers of up to four systems, with tests and reports."
MAX_SYSTEMS = 4
MAX_PASTED = 100  # questions that are pasted
DISAGREEING = 8  # answers on which the metrics disagree that are shown
CHECKPOINTS = {name: folder for name in ("kpqa", "ava") if (folder := common.bundled_checkpoint(METRICS / name))}
# Score -> (metric, what the page calls it); all of them are tested.
SCORES = {
    "ava_accuracy": ("ava", "AVA: share judged right"),
    "rougeL_kpqa": ("kpqa", "ROUGE-L, KPQA weights"),
    "bertscore_kpqa": ("kpqa", "BERTScore, KPQA weights"),
    "bertscore": ("kpqa", "BERTScore"),
    "rougeL": ("kpqa", "ROUGE-L"),
    "bleu1": ("kpqa", "BLEU-1"),
}
OF_A_ROW = {
    "ava_score": "AVA",
    "rougeL_kpqa": "KPQA",
    "bertscore": "BERTScore",
    "rougeL": "ROUGE-L",
    "bleu1": "BLEU-1",
}

QUESTIONS = """How many eggs are in a dozen?
Who wrote Hamlet?
What is the capital of Australia?
Where does the Danube end?
When did the Berlin Wall fall?
What do bees make?
How long is a marathon?
Who painted the ceiling of the Sistine Chapel?
Which planet is closest to the sun?
How many legs has a spider?
What is the boiling point of water at sea level?
In which year did the Titanic sink?"""
REFERENCES = """12 | twelve
William Shakespeare
Canberra
the Black Sea
9 November 1989 | in 1989
honey
42.195 kilometres | about 26.2 miles
Michelangelo
Mercury
eight
100 degrees Celsius | 212 degrees Fahrenheit
1912"""
CHATTY = """There are twelve eggs in a dozen.
Hamlet was written by William Shakespeare, around the year 1600.
Many people think of Sydney, but the capital of Australia is Canberra.
After flowing through ten countries the Danube ends in the Black Sea.
The Berlin Wall fell on the 9th of November 1989.
Bees make honey, and wax for their combs.
A marathon is a little more than 42 kilometres long.
The ceiling of the Sistine Chapel was painted by Michelangelo.
The planet that is closest to the sun is Mercury.
A spider has eight legs.
At sea level water boils at 100 degrees Celsius.
The Titanic sank in April 1912."""
CARELESS = """There are ten eggs in a dozen.
Hamlet was written by Christopher Marlowe.
The capital of Australia is Sydney.
The Danube ends in the Black Sea.
The Berlin Wall fell on 9 November 1991.
Bees make honey.
A marathon is 26 kilometres long.
The ceiling of the Sistine Chapel was painted by Leonardo.
The planet that is closest to the sun is Venus.
A spider has six legs.
At sea level water boils at 90 degrees Celsius.
The Titanic sank in 1921."""
TERSE = """12
Shakespeare
Canberra
Black Sea
1989
honey
26.2 miles
Michelangelo
Mercury
8
100 °C
1912"""
FIRST = (QUESTIONS, REFERENCES, "chatty", CHATTY, "careless", CARELESS, "terse", TERSE, "", "")
CODE = (
    "import genqa_metrics\n\n"
    "# rows.csv: question, references, prediction, system; in a shell: genqa-metrics compare rows.csv --metric ava\n"
    'report = genqa_metrics.compare("rows.csv", ["kpqa", "ava"])\n'
    "print(report.to_markdown())\n"
)


@cache
def judge():
    """Return the judge, loaded once."""
    return registry.make_scorer("ava", settings()["ava"])


def settings() -> dict[str, dict]:
    """Return where the models are; without bundled ones the metrics find those of the Hub."""
    return {name: {"checkpoint": str(CHECKPOINTS[name])} if name in CHECKPOINTS else {} for name in ("kpqa", "ava")}


def pasted(questions: str, references: str, *named: str) -> list[dict]:
    """Return the rows of texts that were pasted.

    Args:
        questions: one on each line.
        references: accepted answers to each, on the same line, several with " | " between.
        *named: name and answers of each system, one after the other; systems without answers are left out.
    """
    asked = common.checked_lines("Questions", questions, MAX_PASTED)
    accepted = common.checked_lines("Accepted answers", references, MAX_PASTED)
    if len(accepted) != len(asked):
        raise common.Problem(
            f"Accepted answers: {len(accepted)} lines for {len(asked)} questions; write one line for each question."
        )
    rows, seen = [], set()
    for number, (name, answers) in enumerate(zip(named[::2], named[1::2], strict=True), 1):
        text = common.checked_text(f"Answers of system {number}", answers, MAX_PASTED * common.MAX_TEXT, needed=False)
        if not text:
            continue
        system = common.checked_text(f"Name of system {number}", name, 80, needed=False) or f"system {number}"
        said = [line.strip() for line in text.splitlines()]
        if len(said) != len(asked):
            raise common.Problem(
                f"Answers of {system}: {len(said)} lines for {len(asked)} questions; write one line for each, "
                "an empty one where there is no answer."
            )
        if system in seen:
            raise common.Problem(f"Name of system {number}: {system} is named twice; give it another name.")
        seen.add(system)
        for place, (question, accepts, answer) in enumerate(zip(asked, accepted, said, strict=True), 1):
            texts = [part.strip() for part in accepts.split(" | ") if part.strip()]
            row = {"id": str(place), "question": question, "references": texts, "system": system}
            rows.append({**row, "prediction": answer})
    if not rows:
        raise common.Problem("Answers of system 1: this field is empty; fill it in.")
    return rows


def rows_of(items: Sequence) -> list[dict]:
    """Return rows of a file as `CompareRun` takes them."""
    systems = list(dict.fromkeys(item.system for item in items))
    if len(systems) > MAX_SYSTEMS:
        raise common.Problem(
            f"File: {len(systems)} systems are too many for this page; {MAX_SYSTEMS} are the most. Is the right "
            "column picked for the system?"
        )
    keys = ("id", "system", "references")
    return [
        {**{key: getattr(item, key) for key in keys}, "question": item.text, "prediction": item.predictions[0]}
        for item in items
    ]


def compared(tick, rows: list[dict]):
    """Return the report of `genqa-metrics compare` on rows of two systems or more, and the run with its numbers."""

    def progress(metric: str, done: int, of_all: int) -> None:
        tick({"kpqa": "Scoring", "ava": "Judging"}[metric], done, of_all)

    run = analysis.CompareRun(rows, ["kpqa", "ava"], settings())
    run.scorers["kpqa"].tested = tuple(name for name, (metric, _) in SCORES.items() if metric == "kpqa")
    found = run.report(skip_bad_rows=True, progress=progress)
    return reports.CompareReport(found, lambda: analysis.explanations(run, found)), run


def alone(tick, rows: list[dict]) -> tuple[list[str], dict, SimpleNamespace]:
    """Return the scores of one system, in the form that those of several have; there is nothing to test."""
    items = import_module("genqa.toolkit.rows.items").Item
    made = [
        items(
            "rows", i, row["id"], row["system"], row["question"], [row["prediction"]], row["references"], (None, None)
        )
        for i, row in enumerate(rows, 1)
    ]
    values, means = {}, {}
    for metric, what in (("kpqa", "Scoring"), ("ava", "Judging")):
        scorer = registry.make_scorer(metric, settings()[metric])
        statistics, _ = uploads.scored(made, scorer, tick, what)
        values |= dict(zip(scorer.row_names, statistics.T.tolist(), strict=True))
        means |= {
            name: sum(column) / len(column) for name, column in zip(scorer.names, statistics.T.tolist(), strict=True)
        }
    return made, means, values


def row_values(run) -> list[dict]:
    """Return every answer with its scores: question, references, system, prediction, and one value per metric."""
    found = []
    for q, question in enumerate(run.matched.rows):
        for s, row in enumerate(question):
            values = {}
            for metric, scorer in run.scorers.items():
                sums = run.statistics[metric][q, s]
                values |= dict(zip(scorer.row_names, (sums[:-1] / sums[-1]).tolist(), strict=True))
            asked = question[0].item
            texts = {"question": asked.text, "references": asked.references, "id": asked.id}
            found.append({**texts, "system": row.item.system, "prediction": row.item.predictions[0], **values})
    return found


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


def disagreements(values: Sequence[dict]) -> list[dict]:
    """Return the answers on which the judge and shared words differ most: largest less least."""

    def spread(row: dict) -> float:
        scores = [row[name] for name in ("ava_score", "rougeL_kpqa", "rougeL")]
        return max(scores) - min(scores)

    return sorted(values, key=spread, reverse=True)[:DISAGREEING]


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


def shown_of(tick, rows: list[dict], bad: look.Markup = NOTHING) -> list:
    """Return what the page shows of rows."""
    systems = list(dict.fromkeys(row["system"] for row in rows))
    if len(systems) == 1:
        return one_system(tick, rows, systems[0], bad)
    report, run = compared(tick, rows)
    values = row_values(run)
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
    labels = {name: label for name, (_, label) in SCORES.items()}
    if reports.corrected_accuracy(facts, "ava"):
        labels["ava_accuracy"] = "AVA: accuracy, corrected for the judge's measured errors"
    shown = {"systems": report.systems, "intervals": intervals, "rows": disagreements(values), "labels": labels}
    notes = [f"Note: {note}." for note in report.notes[:4]]
    status = look.headline(*said_of(report), *notes)
    html_path, latex_path = uploads.fresh_path("comparison.html"), uploads.fresh_path("comparison.tex")
    Path(html_path).write_text(report.to_html(), encoding="utf-8")
    Path(latex_path).write_text(report.to_latex(), encoding="utf-8")
    downloads = [html_path, latex_path, csv_of(values), picture(shown)]
    found = [status + bad, winners(report), gr.update(value="ava_accuracy"), plot_of("ava_accuracy", shown)]
    found += [disagreements_html(shown["rows"]), "", shown]
    return [*found, *(gr.update(value=path, visible=True) for path in downloads)]


def one_system(tick, rows: list[dict], system: str, bad: look.Markup) -> list:
    """Return what the page shows of one system: its scores; there is nobody to compare it with."""
    made, means, columns = alone(tick, rows)
    values = [
        {"question": item.text, "references": item.references, "id": item.id, "system": system,
         "prediction": item.predictions[0], **{name: columns[name][i] for name in columns}}
        for i, item in enumerate(made)
    ]  # fmt: skip
    shown = {
        "systems": [system],
        "intervals": {name: [(system, means[name], means[name], means[name])] for name in SCORES},
        "rows": disagreements(values),
        "labels": {name: label for name, (_, label) in SCORES.items()},
    }
    table = look.table(
        ["score", system], [[label, f"{means[name]:.3f}"] for name, (_, label) in SCORES.items()], "Scores", {1}
    )
    right = round(means["ava_accuracy"] * len(rows))
    status = look.headline(
        f"{right:,} of {len(rows):,} answers are judged right by AVA.", "Add a second system to compare it with."
    )
    hidden = gr.update(visible=False)
    return [status + bad, table, gr.update(value="ava_accuracy"), plot_of("ava_accuracy", shown),
            disagreements_html(shown["rows"]), "", shown, hidden, hidden,
            gr.update(value=csv_of(values), visible=True), gr.update(value=picture(shown), visible=True)]  # fmt: skip


def csv_of(values: Sequence[dict]) -> str:
    """Write all scores of all answers, and return the path."""
    texts = {"id": "text", "system": "text", "question": "text", "prediction": "text", "references": "texts"}
    kinds = texts | dict.fromkeys((name for name in values[0] if name not in texts), "number")
    return uploads.written("comparison.csv", kinds, {name: [row[name] for row in values] for name in kinds})


def page(tick, *texts: str) -> list:
    """Return what the page shows of pasted texts."""
    return shown_of(tick, pasted(*texts))


COLUMNS = ("question", "prediction", "references", "system", "id")


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows of a file."""
    rows = uploads.read(path, dict(zip(COLUMNS, columns, strict=True)), "ava")
    return shown_of(tick, rows_of(rows.items), rows.said())


def explained(shown: dict | None, event: gr.EventData) -> look.Markup:
    """Return why the judge judged the answer of a row as it did."""
    rows = (shown or {}).get("rows", [])
    if not 0 <= int(event.row) < len(rows):
        return NOTHING
    row = rows[int(event.row)]
    verdict = judged.verdict(judge(), row["question"], row["prediction"], row["references"])
    said = look.headline(judged.said(verdict["probability"], judge().threshold), row["question"], verdict["reason"])
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
    report, _ = compared(lambda *_: None, rows)
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
    with gr.Tabs():
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
            downloads = [
                gr.DownloadButton(label, size="sm", min_width=120)
                for label in ("HTML report", "LaTeX tables", "All scores (CSV)", "Plots (PNG)")
            ]
        with gr.Accordion("The same in Python", open=False):
            gr.HTML(sharing.python_code(CODE), apply_default_css=False, elem_classes="python")
    outputs = [table, which, plot, rows, why, shown, *downloads]
    clicks.connect([button.click], page, fields, area, outputs, long=True)
    clicks.connect([file_button.click], file_page, picked.inputs, area, outputs, long=True)
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
    results = page(lambda *_: None, *FIRST)  # and the models are warm
    values = [value.get("value") if isinstance(value, dict) and "__type__" in value else value for value in results]
    clicks.preset(area, fields, FIRST, outputs, values)
    common.launch(demo, __file__, ABOUT)
