"""From pasted texts or the rows of a file to a report on the systems and the scores of every answer."""

import re
from collections.abc import Sequence

import genqa_metrics
from common import checks, server
from genqa_metrics.rows.writing import Writer

METRICS = ("ava", "kpqa")
SETTINGS = {"ava": {"checkpoint": server.CHECKPOINT}}
COMMAND = re.compile(r" \(genqa-metrics [^)]*\)|,? then run genqa-metrics .*|: genqa-metrics .*")
MAX_SYSTEMS = 4
MAX_PASTED = 100  # pasted questions


def pasted(questions: str, references: str, *named: str) -> list[dict]:
    """Return the rows of pasted texts: a line for each question, accepted answers separated by " | ".

    `named` are name and answers of each system, alternating; systems without answers are left out. An answer is a
    line, or a block of lines with an empty line before the next one.
    """
    asked = checks.lines("Questions", questions, MAX_PASTED)
    accepted = checks.lines("Accepted answers", references, MAX_PASTED)
    if len(accepted) != len(asked):
        raise checks.Problem(
            f"Accepted answers: {len(accepted)} lines for {len(asked)} questions; write one line for each question."
        )
    rows, seen = [], set()
    for number, (name, answers) in enumerate(zip(named[::2], named[1::2], strict=True), 1):
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
        for number, (question, accepts, answer) in enumerate(zip(asked, accepted, lines, strict=True), 1):
            texts = [part.strip() for part in accepts.split(" | ") if part.strip()]
            row = {"id": str(number), "question": question, "references": texts, "system": system}
            rows.append({**row, "prediction": answer})
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
    """Return the report of `genqa-metrics compare` on at least two systems, and all questions with their scores."""

    def progress(metric: str, done: int, of_all: int) -> None:
        tick({"kpqa": "Scoring", "ava": "Judging"}[metric], done, of_all)

    report = genqa_metrics.compare(rows, METRICS, SETTINGS, on_error="skip", progress=progress)
    return report, report.answers()


def without_commands(note: str) -> str:
    """Return a note without commands, for a page that has no terminal.

    >>> without_commands("label all answers (genqa-metrics label FILE), then run genqa-metrics accuracy FILE")
    'label all answers'
    """
    return COMMAND.sub("", note)


def write_csv(path: str, table) -> None:
    """Write a `pandas.DataFrame` as CSV in which no cell is a formula."""
    columns = table.astype(object).where(table.notna(), None).to_dict("list")
    with Writer(path, dict.fromkeys(columns, "any"), {}) as writer:
        writer.write(columns)


def by_answer(questions: Sequence[dict]) -> list[dict]:
    """Return a row per answer: id, system, question, prediction, references, and a value per score."""
    return [
        {"id": row["id"], "system": system, "question": row["question"], "prediction": answer["prediction"]}
        | {"references": " | ".join(row["references"]), **answer["scores"]}
        for row in questions
        for system, answer in row["answers"].items()
    ]
