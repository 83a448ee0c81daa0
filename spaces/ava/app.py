"""Demo of AVA: is an answer right, and how many of a system's answers are?"""

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
from common import checks, events, html, server, sharing, uploads, verdicts
from genqa_metrics.ava.scorer import AvaScorer
from genqa_metrics.reports.table import estimate, listed
from genqa_metrics.rows import errors
from genqa_metrics.scale.tally import totals_by_system
from genqa_metrics.verbs import judge_errors
from genqa_metrics.verbs.compare import run as compare

TITLE = "AVA: is the answer right?"
ABOUT = "A small judge reads a question, accepted answers and an answer, and gives a verdict with its reasons."
MAX_ANSWER = 20_000  # characters; of a long answer the judge reads the most similar passage
MAX_SYSTEMS = 20

EXAMPLES = sharing.read_examples(__file__)
ADDRESS = sharing.Address(dict.fromkeys(("question", "answer", "references"), str), EXAMPLES[0].values, 3)


@cache
def scorer():
    """Return the metric's scorer, whose model is loaded once."""
    return AvaScorer(checkpoint=server.CHECKPOINT)


def page(question: str, answer: str, references: str) -> list:
    """Return what the page shows for one answer."""
    values = (question, answer, references)
    question = checks.text("Question", question)
    answer = checks.text("Answer to be judged", answer, MAX_ANSWER)
    lines = checks.lines("Accepted answers", references)
    verdict = verdicts.judge(scorer(), question, answer, lines)
    threshold = scorer().threshold
    status = html.headline(
        verdicts.sentence(verdict["probability"], threshold),
        verdict["reason"],
        *(f"Note: {text}." for text in verdict["warnings"]),
        sharing.example_note(EXAMPLES, values),
    )
    shown = [("", [("probability", verdict["probability"]), ("threshold", threshold)])]
    chart = html.bars(shown, "From 0 to 1", {"threshold"}, "ava")
    words = verdicts.words_html("Answer", answer, verdict["words"])
    by_reference = html.table(
        ["accepted answer", "probability"],
        [[text, html.probability(value, 3)] for text, value in zip(lines, verdict["by_reference"], strict=True)],
        "Probability with each accepted answer only",
        {1},
    )
    code = sharing.metric_code("ava", questions=[question], predictions=[answer], references=[lines], explain=True)
    return [status + ADDRESS.mark(*values), chart, words, by_reference if len(lines) > 1 else "", code]


def score(question: str, answer: str, references: list[str] | str) -> dict:
    """Judge an answer: its probability of being right, verdict, reason, and the probability with each reference only.

    Args:
        question: the question, in English.
        answer: the answer to be judged.
        references: one accepted answer, or a list of them.
    """
    question = checks.text("question", question)
    answer = checks.text("answer", answer, MAX_ANSWER)
    found = verdicts.judge(scorer(), question, answer, checks.texts("references", references))
    threshold = scorer().threshold
    return {
        "ava_score": found["probability"],
        "ava_label": int(found["probability"] >= threshold),
        "ava_threshold": threshold,
        "ava_score_per_reference": found["by_reference"],
        "reason": found["reason"],
    }


COLUMNS = ("question", "prediction", "references", "system", "id")


def possible_ranks(items: Sequence, labels: Sequence[int]) -> tuple[dict[str, Mapping], str]:
    """Return the possible ranks of every system and a sentence on them, as `genqa-metrics compare` computes them.

    Args:
        items: rows of at least two systems.
        labels: verdicts of the judge.
    """
    rows = [
        {"id": item.id, "question": item.text, "references": item.references, "system": item.system, "ava": label}
        for item, label in zip(items, labels, strict=True)
    ]
    try:
        report = compare.CompareRun(rows, score_columns=["ava"], on_error="skip").report()
    except errors.FileError:
        return {}, "The systems do not answer the same questions, so ranks are not tested."
    left_out = sum(report.left_out.values())
    note = "Possible ranks, given chance (paired tests, Holm's correction, "
    note += f"{report.questions:,} questions"
    note += f"; {left_out:,} without an answer of every system are left out)." if left_out else ")."
    return report.metrics["ava"]["tests"]["ava"]["systems"], note


def ranking(tick, path: str | None, columns: Mapping) -> tuple[dict, uploads.Rows]:
    """Return the ranking of the systems in a file with the verdict on every row, and the rows.

    Args:
        tick: see `events.LongWork`.
        path: the upload.
        columns: see `uploads.read`.
    """
    rows = uploads.read(path, columns, "ava")
    items = rows.items
    by_system: dict[str, list[int]] = {}
    for i, item in enumerate(items):
        by_system.setdefault(item.system, []).append(i)
    if len(by_system) > MAX_SYSTEMS:
        raise checks.Problem(
            f"File: {len(by_system)} systems are too many for this page; {MAX_SYSTEMS} are the most. Is the right "
            "column picked for the system?"
        )
    values, counts = uploads.scored(items, scorer(), tick, "Judging")
    labels = values[:, 0].astype(int).tolist()
    totals = totals_by_system(items, values[:, 1], values[:, 0])
    sums = {system: of_system.question_sums for system, of_system in totals.items()}
    accuracy = judge_errors.judged_systems(sums, scorer(), ignore_judge_errors=False, rows=counts)
    ranks, note = possible_ranks(items, labels) if len(by_system) > 1 else ({}, "")
    known = all(estimate["low"] is not None for estimate in accuracy["systems"].values())
    key = "accuracy" if known else "judged"
    order = sorted(by_system, key=lambda system: -accuracy["systems"][system][key])
    systems = []
    for place, system in enumerate(order, 1):
        found, possible = accuracy["systems"][system], ranks.get(system, {})
        systems.append(
            {
                "system": system,
                "rank": place,
                "best_rank": possible.get("best_rank"),
                "worst_rank": possible.get("worst_rank"),
                "accuracy": found["accuracy"],
                "low": found["low"],
                "high": found["high"],
                "judged_right": sum(labels[i] for i in by_system[system]),
                "answers": len(by_system[system]),
            }
        )
    report = {
        "systems": systems,
        "threshold": scorer().threshold,
        "method": accuracy["method"],
        "measured": accuracy["measured"],
        "accuracy_notes": accuracy["notes"],
        "note": note,
        "warnings": scorer().warnings({}, counts),
        "left_out": rows.bad,
        "verdicts": [
            {"line": item.line, "id": item.id, "system": item.system, "ava_score": value, "ava_label": label}
            for item, value, label in zip(items, values[:, 1].tolist(), labels, strict=True)
        ],
    }
    return report, rows


def finding(systems: Sequence[Mapping]) -> str:
    """Return which system is best, and whether chance could explain it.

    Args:
        systems: of the ranking, the best one first.

    >>> one = {"system": "a", "accuracy": 0.9, "low": 0.8, "high": 1.0, "best_rank": 1, "worst_rank": 2}
    >>> other = {"system": "b", "accuracy": 0.7, "low": 0.5, "high": 0.8, "best_rank": 1, "worst_rank": 2}
    >>> finding([one, other])
    '**a** is ahead: accuracy **0.900** [0.800, 1.000]. Chance could explain its lead over b.'
    >>> finding([{**one, "worst_rank": 1}, {**other, "best_rank": 2}]).partition(". ")[2]
    'Chance is unlikely to explain it.'
    """
    first, *others = systems
    if any(values["low"] is None for values in systems):
        return "How many answers are right **cannot be told** from these rows; read and label some of them."
    value, _, interval = estimate({**first, "value": first["accuracy"]}).partition(" ")
    if not others:
        return f"The accuracy of **{first['system']}** is **{value}** {interval}."
    if level := [other["system"] for other in others if other["accuracy"] == first["accuracy"]]:
        return f"**{listed([first['system'], *level])}** are level: accuracy **{value}** {interval}."
    said = f"**{first['system']}** is ahead: accuracy **{value}** {interval}."
    if first["worst_rank"] is None:
        return said
    close = [other["system"] for other in others if other["best_rank"] == 1]
    return f"{said} Chance {f'could explain its lead over {listed(close)}' if close else 'is unlikely to explain it'}."


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows for a file."""
    report, rows = ranking(tick, path, dict(zip(COLUMNS, columns, strict=True)))
    systems, items = report["systems"], rows.items
    cells = []
    for found in systems:
        best, worst = found["best_rank"], found["worst_rank"]
        rank = str(found["rank"]) if best in (None, worst) else f"{best} to {worst}"
        cells.append([rank, found["system"], f"{found['judged_right']:,} of {found['answers']:,}"])
    table = html.table(["rank", "system", "judged right"], cells, report["note"] or "Verdicts", {2})
    intervals = [(found["system"], found["accuracy"], found["low"], found["high"]) for found in systems]
    told = all(low is not None for _, _, low, _ in intervals)
    plot = html.intervals(intervals, "Accuracy with its 95% interval, from 0 to 1", "ava") if told else ""
    scores = {name: [row[name] for row in report["verdicts"]] for name in ("ava_score", "ava_label")}
    many = "s" * (len(systems) > 1)
    status = html.headline(
        finding(systems),
        f"**{len(items):,}** answers of **{len(systems)}** system{many} judged.",
        *(f"Note: {text}." for text in report["warnings"]),
    )
    status += html.notes([f"Accuracy: {report['method']}", *report["accuracy_notes"]])
    return [
        status + rows.problems_html(),
        plot + table,
        uploads.scores_file("ava_results.csv", items, scores, systems=True),
    ]


def rank(file: str | None) -> dict:
    """Judge the answers in a file and rank its systems; columns are recognised by their names."""
    columns, _ = uploads.peek(file)
    return ranking(lambda *_: None, file, uploads.guessed(columns))[0]


with gr.Blocks(title=TITLE, delete_cache=server.DELETE_CACHE) as demo:
    sharing.introduction(__file__, TITLE)
    with gr.Tabs(overflow_behavior="wrap"):
        with gr.Tab("One answer"), gr.Row():
            with gr.Column(min_width=280):
                question = gr.Textbox(label="Question", lines=1, max_lines=6)
                answer = gr.Textbox(label="Answer to be judged", lines=1, max_lines=8)
                references = gr.Textbox(
                    label="Accepted answers",
                    info=f"One on each line, at most {checks.MAX_REFERENCES}.",
                    lines=2,
                    max_lines=8,
                )
                button = gr.Button("Judge the answer", variant="primary")
                examples = gr.Column()
            with gr.Column(min_width=280):
                area = events.results_area("Fill in the fields, or choose an example.")
                with area.results:
                    chart = gr.HTML(apply_default_css=False)
                    words = gr.HTML(apply_default_css=False)
                    gr.Markdown(verdicts.LEGEND, elem_classes="note")
                    table = gr.HTML(apply_default_css=False)
                    code = sharing.link_and_code()
        picked = uploads.file_tab(
            "Compare systems",
            COLUMNS,
            Path(__file__).with_name("example.csv"),
            file_page,
            "Columns: question, answer, accepted answers; also system and id.",
            ("Rank the systems", "Download the verdicts (CSV)"),
        )
    sharing.folded("How far to trust it", sharing.text_beside(__file__, "about.md"))
    sharing.metric_card("ava")
    inputs, outputs = [question, answer, references], [chart, words, table, code]
    events.connect([button.click, question.submit, answer.submit], page, inputs, area, outputs)
    sharing.example_buttons(examples, EXAMPLES, inputs, page, inputs, area, outputs)
    ADDRESS.open(demo, inputs, page, area, outputs)
    server.endpoint(
        score,
        "score",
        {"question": EXAMPLES[0].values[0], "answer": EXAMPLES[0].values[1], "references": ["12", "twelve"]},
    )
    with gr.Row(visible=False):  # an endpoint for programs; only a field checks that a file was uploaded
        gr.Button("rank").click(
            server.with_clear_errors(rank),
            picked.file,
            gr.JSON(label="systems, threshold, method, note, left_out, verdicts"),
            api_name="rank",
            concurrency_id="file",
            concurrency_limit=1,
            trigger_mode="multiple",
        )

if __name__ == "__main__":
    events.preset(area, inputs, EXAMPLES[0].values, outputs, page(*EXAMPLES[0].values))  # and the model is loaded
    server.launch(demo, __file__, ABOUT)
