"""From pasted texts or the rows of a file to a report on the systems and the scores of every answer."""

import re

import genqa_metrics
from common import checks, html, server
from genqa_metrics.reports.report import Untold
from genqa_metrics.rows.writing import Writer
from genqa_metrics.statistics.estimation import LABELS, TOGETHER
from markupsafe import Markup

METRICS = ("ava", "kpqa")
SETTINGS = {"ava": {"checkpoint": server.CHECKPOINT}}
# What the page shows side by side, of each system: counts of right answers, then means of scores.
COUNTS = {"label": "People (labels)", "ava_label": "AVA, the judge"}
SHOWN = {**COUNTS, "rougeL": "ROUGE-L", "bertscore": "BERTScore"}
SHOWN |= {"rougeL_kpqa": "ROUGE-L-KPQA", "bertscore_kpqa": "BERTScore-KPQA"}
NO_WINNER = "No system is significantly better than every other one."
LABEL_THEM = "Next: add labels of all systems (1 right, 0 wrong). Then the finding rests on people, not on the judge."
MAX_SYSTEMS = 4
MAX_PASTED = 100  # pasted questions


def pasted(questions: str, references: str, *named: str) -> list[dict]:
    """Return the rows of pasted texts: a line for each question, accepted answers separated by " | ".

    `named` are name, answers and labels of each system, in turn; systems without answers are left out. An answer is
    a line, or a block of lines with an empty line before the next one; a label is a line.
    """
    asked = checks.texts("Questions", questions, MAX_PASTED)
    accepted = checks.texts("Accepted answers", references, MAX_PASTED)
    if len(accepted) != len(asked):
        raise checks.Problem(
            f"Accepted answers: {len(accepted)} lines for {len(asked)} questions; write one line for each question."
        )
    rows, seen = [], set()
    for number, (name, answers, judged) in enumerate(zip(named[::3], named[1::3], named[2::3], strict=True), 1):
        text = checks.text(f"Answers of system {number}", answers, MAX_PASTED * checks.MAX_TEXT, required=False)
        if not text:
            continue
        system = checks.text(f"Name of system {number}", name, 80, required=False) or f"system {number}"
        lines = [line.strip() for line in text.splitlines()]
        blocks = re.split(r"\n\s*\n", text)
        if len(lines) != len(asked) and len(blocks) != len(asked):
            raise checks.Problem(
                f"Answers of {system}: {len(lines)} lines for {len(asked)} questions; write one line for each, "
                "an empty one if there is no answer. Answers of several lines need an empty line between them, none "
                "inside; others go through the tab 'A file'."
            )
        lines = lines if len(lines) == len(asked) else blocks
        if system in seen:
            raise checks.Problem(f"Name of system {number}: {system} is named twice; give it another name.")
        seen.add(system)
        labels = checks.texts(f"Labels of {system}", judged, MAX_PASTED) if (judged or "").strip() else None
        if labels and (len(labels) != len(asked) or not {*labels} <= {"0", "1"}):
            raise checks.Problem(
                f"Labels of {system}: {len(labels)} lines for {len(asked)} questions; write 1 (right) or 0 (wrong) on "
                "one line for each question, or leave the field empty."
            )
        for i, (question, accepts, answer) in enumerate(zip(asked, accepted, lines, strict=True)):
            texts = [text.strip() for text in accepts.split(" | ") if text.strip()]
            row = {"question": question, "references": texts, "system": system}
            rows.append({**row, "prediction": answer} | ({"label": int(labels[i])} if labels else {}))
    if not rows:
        raise checks.Problem("Answers of system 1: this field is empty; fill it in.")
    return rows


def of_few_systems(rows: list[dict]) -> list[dict]:
    """Return rows of a file after checking the number of their systems."""
    systems = {row["system"] for row in rows}
    if len(systems) > MAX_SYSTEMS:
        raise checks.Problem(
            f"File: {len(systems)} systems are too many for this page; the limit is {MAX_SYSTEMS}. Is the right "
            "column chosen for the system?"
        )
    return rows


def compared(tick, rows: list[dict]):
    """Return the report of `genqa-metrics compare` on at least two systems."""

    def progress(metric: str, done: int, total: int) -> None:
        tick({"kpqa": "Scoring", "ava": "Judging"}[metric], done, total)

    return genqa_metrics.compare(rows, METRICS, SETTINGS, on_error="skip", progress=progress)


def finding_of_a_page(report) -> list[str]:
    """Return the finding of a report, and what to do where answers have no labels."""
    finding = report.findings[0]
    accuracy = report.metrics["ava"]["accuracy"]
    systems = accuracy["systems"].values()
    if all(of["basis"] in (LABELS, TOGETHER) for of in systems):
        return [finding.replace("accuracy:", "Accuracy by labels:", 1)]
    are_labelled = all(of["labelled"] == of["rows"] for of in systems)
    finding = finding.replace("accuracy:", "Accuracy by the judge:", 1)
    finding += f" The accuracy {accuracy['assumes']}." * bool(accuracy["assumes"])
    return [finding, *[LABEL_THEM] * (not are_labelled)]


def notes_of_a_page(report) -> list[str]:
    """Return the notes of a report that name no command, and do not stand with the finding."""
    return [note for note in report.notes if "genqa-metrics" not in note and not isinstance(note, Untold)]


def side_by_side(table) -> Markup:
    """Return a table of what people, the judge and words say of each system, from a `pandas.DataFrame` of answers.

    The score of a system is bold if a test says that it is better than every other one.
    """
    systems = list(dict.fromkeys(table["system"]))
    names = [name for name in SHOWN if name in table and not table[name].isna().any()]
    ahead = {}
    if len(systems) > 1:
        tested = genqa_metrics.compare(table, (), score_columns=names)
        leaders = {name: tested.ranking(name).leaders for name in names}
        ahead = {name: leading[0] for name, leading in leaders.items() if len(leading) == 1}
    rows = []
    for name in names:
        cells = []
        for system in systems:
            scores = table.loc[table["system"] == system, name]
            cell = f"{scores.sum():.0f} of {len(scores)}" if name in COUNTS else f"{scores.mean():.2f}"
            cells.append(html.fill("<b>{cell}</b>", cell=cell) if ahead.get(name) == system else cell)
        rows.append([SHOWN[name], *cells])
    caption = "Right answers, by people or by the judge, and mean scores"
    if len(systems) > 1:
        bold = "Bold: significantly better than every other system." if ahead else NO_WINNER
        caption = f"{caption}. {bold}"
    return html.table(["", *systems], rows, caption, range(1, len(systems) + 1))


def write_csv(path: str, table) -> str:
    """Write a `pandas.DataFrame` as CSV in which no cell is a formula; return the path."""
    columns = table.astype(object).where(table.notna(), None).to_dict("list")
    with Writer(path, dict.fromkeys(columns, "any"), {}) as writer:
        writer.write(columns)
    return path


def by_answer(report) -> list[dict]:
    """Return a row per answer: id, system, question, prediction, references, label, and a value per score."""
    rows = [row | {"references": " | ".join(row["references"])} for row in report.answers()]
    return [{name: row[name] for name in row if name != "number"} for row in rows]
