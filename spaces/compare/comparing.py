"""From pasted texts or the rows of a file to a report on the systems and the scores of every answer."""

from collections.abc import Sequence
from functools import cache

from common import checks, server, uploads
from genqa_metrics import registry
from genqa_metrics.rows.items import Item
from genqa_metrics.verbs.compare import report as reports
from genqa_metrics.verbs.compare import run as compare

METRICS = ("kpqa", "ava")
SETTINGS = {"ava": {"checkpoint": server.CHECKPOINT}}
MAX_SYSTEMS = 4
MAX_PASTED = 100  # pasted questions
# Score -> (metric, label); all of them are tested.
SCORES = {
    "ava_accuracy": ("ava", "AVA: share judged right"),
    "rougeL_kpqa": ("kpqa", "ROUGE-L, KPQA weights"),
    "bertscore_kpqa": ("kpqa", "BERTScore, KPQA weights"),
    "bertscore": ("kpqa", "BERTScore"),
    "rougeL": ("kpqa", "ROUGE-L"),
    "bleu1": ("kpqa", "BLEU-1"),
}
# The scores of shared words are one kind of evidence, not five votes: they rise and fall together.
PLAIN, WEIGHTED = ("rougeL", "bertscore", "bleu1"), ("rougeL_kpqa", "bertscore_kpqa")
OF_A_ROW = {"ava_score": "AVA", "rougeL_kpqa": "ROUGE-L-KPQA", **{name: SCORES[name][1] for name in PLAIN}}


@cache
def judge():
    """Return the judge, loaded once."""
    return registry.make_scorer("ava", SETTINGS["ava"])


def pasted(questions: str, references: str, *named: str) -> list[dict]:
    """Return the rows of pasted texts.

    Args:
        questions: one on each line.
        references: for each question a line with its accepted answers, separated by " | ".
        *named: name and answers of each system, alternating; systems without answers are left out.
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
        if len(lines) != len(asked):
            raise checks.Problem(
                f"Answers of {system}: {len(lines)} lines for {len(asked)} questions; write one line for each, "
                "an empty one if there is no answer."
            )
        if system in seen:
            raise checks.Problem(f"Name of system {number}: {system} is named twice; give it another name.")
        seen.add(system)
        for place, (question, accepts, answer) in enumerate(zip(asked, accepted, lines, strict=True), 1):
            texts = [part.strip() for part in accepts.split(" | ") if part.strip()]
            row = {"id": str(place), "question": question, "references": texts, "system": system}
            rows.append({**row, "prediction": answer})
    if not rows:
        raise checks.Problem("Answers of system 1: this field is empty; fill it in.")
    return rows


def rows_of(items: Sequence) -> list[dict]:
    """Return rows of a file as `CompareRun` takes them."""
    systems = list(dict.fromkeys(item.system for item in items))
    if len(systems) > MAX_SYSTEMS:
        raise checks.Problem(
            f"File: {len(systems)} systems are too many for this page; the limit is {MAX_SYSTEMS}. Is the right "
            "column chosen for the system?"
        )
    keys = ("id", "system", "references")
    return [
        {**{key: getattr(item, key) for key in keys}, "question": item.text, "prediction": item.predictions[0]}
        for item in items
    ]


def compared(tick, rows: list[dict]):
    """Return the report of `genqa-metrics compare` on at least two systems, and all questions with their scores."""

    def progress(metric: str, done: int, of_all: int) -> None:
        tick({"kpqa": "Scoring", "ava": "Judging"}[metric], done, of_all)

    run = compare.CompareRun(rows, METRICS, SETTINGS, on_error="skip")
    run.scorers["kpqa"].significance_scores = tuple(name for name, (metric, _) in SCORES.items() if metric == "kpqa")
    return reports.CompareReport(run.report(progress=progress), run), run.rows()


def alone(tick, rows: list[dict]) -> tuple[dict[str, float], list[dict]]:
    """Return the mean scores of one system, and its questions as `Matched.scored` returns them."""
    made = [
        Item(
            "rows", i, row["id"], row["system"], row["question"], [row["prediction"]], row["references"], (None, None)
        )
        for i, row in enumerate(rows, 1)
    ]
    scores: list[dict] = [{} for _ in rows]
    means: dict[str, float] = {}
    for metric, what in (("kpqa", "Scoring"), ("ava", "Judging")):
        scorer = registry.make_scorer(metric, SETTINGS.get(metric))
        statistics, _ = uploads.scored(made, scorer, tick, what)
        means |= scorer.corpus_scores(statistics.sum(axis=0), len(rows))
        for found, values in zip(scores, statistics.tolist(), strict=True):
            found |= dict(zip(scorer.row_names, values, strict=True))
    keys = ("id", "question", "references")
    return means, [
        {"number": i, **{key: row[key] for key in keys}}
        | {"answers": {row["system"]: {"prediction": row["prediction"], "scores": found}}}
        for i, (row, found) in enumerate(zip(rows, scores, strict=True), 1)
    ]


def by_answer(questions: Sequence[dict]) -> list[dict]:
    """Return a row per answer: id, system, question, prediction, references, and a value per score."""
    return [
        {"id": row["id"], "system": system, "question": row["question"], "prediction": answer["prediction"]}
        | {"references": row["references"], **answer["scores"]}
        for row in questions
        for system, answer in row["answers"].items()
    ]
