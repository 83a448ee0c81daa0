"""What the page shows of a comparison: headline, ranking, table of scores, rows, and files to download."""

from collections.abc import Sequence
from pathlib import Path

import comparing
import gradio as gr
from common import html, uploads
from comparing import OF_A_ROW, SCORES
from genqa_metrics.reports.charts import COLOURS
from genqa_metrics.reports.table import listed, p_value
from genqa_metrics.verbs.compare.page import rows_table
from markupsafe import Markup

FILES = ("HTML report", "LaTeX tables", "All scores (CSV)", "Plots (PNG)")


def accuracy_label(report) -> str:
    """Return the label of the judge's score, which counts the judge's errors where they were measured."""
    corrected = report.numbers.accuracy("ava")
    return "AVA: accuracy, corrected" if corrected else SCORES["ava_accuracy"][1]


def estimates(report) -> dict[str, list[tuple]]:
    """Return per score the systems, the best one first, as (name, value, low, high).

    The ends are None where there is no interval: with few questions, or if all samples have the same value.
    """
    found = {}
    for name, (metric, _) in SCORES.items():
        corrected = report.numbers.accuracy("ava") if name == "ava_accuracy" else None
        values = corrected["systems"] if corrected else report.scores[metric][name]
        ends = ("accuracy" if corrected else "value", "low", "high")
        rows = [(system, *(values[system][end] for end in ends)) for system in report.systems]
        rows = [row if row[2] != row[3] else (*row[:2], None, None) for row in rows]
        found[name] = sorted(rows, key=lambda row: -row[1])
    return found


def first_system(rows: Sequence[tuple]) -> str | None:
    """Return the system with the highest value; None if several have it.

    >>> first_system([("a", 0.5), ("b", 0.4)]), first_system([("a", 0.5), ("b", 0.5)])
    ('a', None)
    """
    return None if len(rows) > 1 and rows[0][1] == rows[1][1] else rows[0][0]


def preferred(found: dict[str, list[tuple]], names: Sequence[str]) -> str:
    """Return which system related scores put first, as one finding; a tie counts for nobody.

    >>> rows = {"x": [("a", 0.5), ("b", 0.4)], "y": [("b", 0.9), ("a", 0.1)], "z": [("a", 0.1), ("b", 0.1)]}
    >>> preferred(rows, ["x"]), preferred(rows, ["x", "y"]), preferred(rows, ["z"]), preferred(rows, ["x", "z"])
    ('a first', 'no agreement', 'a tie', 'a first')
    """
    firsts = {first_system(found[name]) for name in names} - {None}
    return "no agreement" if len(firsts) > 1 else f"{firsts.pop()} first" if firsts else "a tie"


def summary(report, found: dict[str, list[tuple]], questions: Sequence[dict]) -> tuple[str, str, str]:
    """Return which system is better by the judge, how many answers are right, and what shared words say."""
    rows = found["ava_accuracy"]
    top = rows[0][0]
    firsts, seconds = ([name for name, value, *_ in rows if value == rows[place][1]] for place in (0, 1))
    first, second = listed(firsts), listed(seconds)
    pairs = report.numbers.ranked_pairs("ava", "ava_accuracy")
    tested = [pair["p_corrected"] for pair in pairs if pair["first"] == top and pair["second"] in seconds]
    p = None if None in tested else max(tested, default=None)
    if first_system(rows) is None:
        judge = f"AVA: {first} are level."
    elif p is not None and p < report.numbers.settings["level"]:
        judge = f"AVA: {first} beats {second}; chance is unlikely to explain it (p {p_value(p)})."
    else:
        judge = f"AVA: {first} is ahead of {second}, but chance could explain it (p {p_value(p)})."
    right = {system: sum(row["answers"][system]["scores"]["ava_label"] for row in questions) for system, *_ in rows}
    counts = listed([f"**{right[system]:.0f} of {len(questions):,}** of {system}" for system, *_ in rows])
    words = [SCORES[name][1] for name in comparing.PLAIN]
    plain, weighted = preferred(found, comparing.PLAIN), preferred(found, comparing.WEIGHTED)
    return (
        judge,
        f"Judged right: {counts}.",
        f"Shared words, which check no facts ({listed(words)}): {plain}; with KPQA's weights: {weighted}.",
    )


def scores_table(report, found: dict[str, list[tuple]]) -> Markup:
    """Return a table: every score of every system, the highest in bold, and whether chance could explain it."""
    lines = []
    order = [system for system, *_ in found["ava_accuracy"]]  # as in the ranking above and the rows below
    for name, (metric, label) in SCORES.items():
        p = report.numbers.ranked_pairs(metric, name, neighbours=True)[0]["p_corrected"]
        clear, first = p is not None and p < report.numbers.settings["level"], first_system(found[name])
        values = {
            system: html.fill("<b>{value}</b>" if system == first else "{value}", value=f"{value:.3f}")
            for system, value, *_ in found[name]
        }
        label = accuracy_label(report) if name == "ava_accuracy" else label
        chance = f"{'unlikely' if clear else 'possible'} (p\u00a0{p_value(p)})" if first else "tie"
        lines.append([label, *map(values.get, order), chance])
    header = ["score", *order, "chance?"]
    caption = "All scores. The last column: could chance explain the lead of the best system over the next?"
    return html.table(header, lines, caption, set(range(1, 1 + len(order))))


def plot_of(name: str, shown: dict) -> Markup:
    """Return the ranking by one score: systems with values and intervals."""
    rows, label = shown["intervals"][name], shown["labels"][name]
    caption = label if all(row[2] is None for row in rows) else f"{label}, with 95% intervals"
    return html.intervals(rows, caption, "ava" if name == "ava_accuracy" else "")


def picture(shown: dict) -> str:
    """Draw all rankings into one picture, and return its path."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.2 + 0.45 * len(SCORES) * len(shown["systems"])), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    for axes, name in zip(figure.subplots(len(SCORES), 1, sharex=True), SCORES, strict=True):
        colour = COLOURS["AVA"] if name == "ava_accuracy" else COLOURS["KPQA" if "kpqa" in name else "shared words"]
        for place, (_, value, low, high) in enumerate(reversed(shown["intervals"][name])):
            if low is not None:
                axes.plot([low, high], [place, place], color=colour, linewidth=2, solid_capstyle="round")
            axes.plot([value], [place], "o", color=colour)
            axes.annotate(f"{value:.3f}", (value, place), (0, 6), textcoords="offset points", fontsize=7, ha="center")
        names = [row[0][:40] for row in reversed(shown["intervals"][name])]
        axes.set_yticks(range(len(names)), names, parse_math=False)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(names) - 0.2))
        axes.set_title(shown["labels"][name], fontsize=9, loc="left", parse_math=False)
        axes.grid(axis="x", alpha=0.3)
    path = uploads.fresh_path("comparison.png")
    figure.savefig(path)
    return path


def shown_of(tick, rows: list[dict], after: Markup, note: str = "") -> list:
    """Return what the page shows for rows.

    Args:
        tick: see `events.LongWork`.
        rows: of all systems.
        after: HTML for the end of the status.
        note: a sentence for the end of the headline.
    """
    systems = list(dict.fromkeys(row["system"] for row in rows))
    if len(systems) == 1:
        return one_system(tick, rows, systems[0], note, after)
    report, questions = comparing.compared(tick, rows)
    found = estimates(report)
    order = [system for system, *_ in found["ava_accuracy"]]
    shown = {"systems": order, "intervals": found, "rows": questions}
    shown["labels"] = {name: label for name, (_, label) in SCORES.items()}
    shown["labels"]["ava_accuracy"] = accuracy_label(report)
    status = html.headline(*summary(report, found, questions), note) + html.notes(report.notes)
    return results(status + after, scores_table(report, found), shown, report)


def one_system(tick, rows: list[dict], system: str, note: str, after: Markup) -> list:
    """Return what the page shows for one system: its scores, without a comparison."""
    means, questions = comparing.alone(tick, rows)
    shown = {
        "systems": [system],
        "intervals": {name: [(system, means[name], None, None)] for name in SCORES},
        "rows": questions,
        "labels": {name: label for name, (_, label) in SCORES.items()},
    }
    table = html.table(
        ["score", system], [[label, f"{means[name]:.3f}"] for name, (_, label) in SCORES.items()], "All scores", {1}
    )
    right = round(means["ava_accuracy"] * len(rows))
    status = html.headline(
        f"{right:,} of {len(rows):,} answers are judged right by AVA.",
        "Add a second system to compare it with.",
        note,
    )
    return results(status + after, table, shown)


def results(status: Markup, table: Markup, shown: dict, report=None) -> list:
    """Return values of all outputs except the code; `files_of` writes the files later."""
    shown["report"] = report
    menu = gr.update(value="ava_accuracy", choices=[(label, name) for name, label in shown["labels"].items()])
    rows = html.of_a_report(rows_table(shown["rows"], shown["systems"], OF_A_ROW, "rougeL", static=False))
    found = [status, gr.update(open=False), table, menu, plot_of("ava_accuracy", shown), rows]
    return [*found, "", shown, *[gr.update(visible=False)] * len(FILES)]


def files_of(shown: dict | None) -> list:
    """Write the files of the results, once, after the results are shown; return them for their buttons."""
    if not shown or "report" not in shown:
        return [gr.skip()] * len(FILES)
    report = shown.pop("report")
    paths = [csv_of(comparing.by_answer(shown["rows"])), picture(shown)]
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
