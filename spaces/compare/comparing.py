"""Systems that answer the same questions: pasted texts or rows of a file, their report, and every answer's scores."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module

import common
import uploads

METRICS = common.find_metric(__file__, "")
analysis = import_module("genqa.toolkit.analysis.compare")
registry = import_module("genqa.toolkit.scoring.registry")
reports = import_module("genqa.toolkit.reports.compare")

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
    **{name: SCORES[name][1] for name in ("bertscore", "rougeL", "bleu1")},
}


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

    run = analysis.CompareRun(rows, ["kpqa", "ava"], settings(), on_error="skip")
    run.scorers["kpqa"].significance_scores = tuple(name for name, (metric, _) in SCORES.items() if metric == "kpqa")
    found = run.report(progress=progress)
    return reports.CompareReport(found, lambda: analysis.explanations(run, found)), run


def alone(tick, rows: list[dict]) -> tuple[dict[str, float], list[dict]]:
    """Return the mean scores of one system, and its rows with their scores; there is nothing to test."""
    item = import_module("genqa.toolkit.rows.items").Item
    made = [
        item(
            "rows", i, row["id"], row["system"], row["question"], [row["prediction"]], row["references"], (None, None)
        )
        for i, row in enumerate(rows, 1)
    ]
    found, means = [dict(row) for row in rows], {}
    for metric, what in (("kpqa", "Scoring"), ("ava", "Judging")):
        scorer = registry.make_scorer(metric, settings()[metric])
        statistics, _ = uploads.scored(made, scorer, tick, what)
        means |= dict(zip(scorer.names, statistics.mean(axis=0).tolist(), strict=True))
        for row, values in zip(found, statistics.tolist(), strict=True):
            row |= dict(zip(scorer.row_names, values, strict=True))
    return means, found


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


def disagreements(values: Sequence[dict]) -> list[dict]:
    """Return the answers on which the judge and shared words differ most: largest less least."""

    def spread(row: dict) -> float:
        scores = [row[name] for name in ("ava_score", "rougeL_kpqa", "rougeL")]
        return max(scores) - min(scores)

    return sorted(values, key=spread, reverse=True)[:DISAGREEING]
