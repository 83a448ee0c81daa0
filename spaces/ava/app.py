"""Demo of AVA: is an answer right, and how many of a system's answers are?"""

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # a checkout has common.py there, a Space beside this file
import clicks
import common
import gradio as gr
import judged
import look
import sharing
import uploads
from sharing import Example

METRIC = common.find_metric(__file__, "ava")
compare = import_module("genqa.toolkit.analysis.compare")
formats = import_module("genqa.toolkit.rows.formats")
judge_errors = import_module("genqa.toolkit.analysis.judge_errors")
scorer_of = import_module("genqa.ava.scorer").AvaScorer

TITLE = "AVA: is the answer right?"
ABOUT = "A small judge reads question, accepted answers and answer: verdict, probability, words that decided."
MAX_ANSWER = 20_000  # characters; of long answers the judge reads the passage nearest to question and reference
MAX_SYSTEMS = 20

EXAMPLES = [
    Example(
        "Right, in other words",
        ("How many eggs are in a dozen?", "There are twelve eggs in a dozen.", "12"),
        "No word of the accepted answer stands there; a metric of shared words gives 0.",
    ),
    Example(
        "Wrong, in the right words",
        (
            "How many steps are involved in a hypothesis test?",
            "There are seven steps involved in a hypothesis test.",
            "Four steps are involved in a hypothesis test.",
        ),
        "The paper of KPQA, figure 1: nearly all words are shared, and the number is wrong.",
    ),
    Example(
        "Chatty language model, right",
        (
            "What is the capital of Australia?",
            "Many people think of Sydney, which is the largest city, but the capital of Australia is Canberra.",
            "Canberra",
        ),
        "A wrong name is in it too, and denied.",
    ),
    Example(
        "A wrong name",
        ("Who wrote Hamlet?", "It was written by Christopher Marlowe.", "William Shakespeare\nShakespeare"),
        "Two accepted answers: each is also judged by itself.",
    ),
    Example(
        "Does not know",
        ("Who wrote Hamlet?", "I don't know.", "William Shakespeare"),
        "An answer that only says so is wrong by a rule, where the accepted answers say something; no model is asked.",
    ),
    Example(
        "Hard: a fact that is not in the references",
        ("In which country is Mount Everest?", "In Tibet and Nepal.", "It lies on the border of Nepal and China"),
        "The judge knows no facts but the accepted answers.",
    ),
]
CODE = """
import evaluate

ava = evaluate.load("metrics/ava")
results = ava.compute(
    questions=[{question}],
    predictions=[{answer}],
    references=[{references}],
    explain=True,
)
print(results)
"""


@cache
def scorer():
    """Return what scores, its model loaded once."""
    return scorer_of(checkpoint=common.bundled_checkpoint(METRIC))


def page(question: str, answer: str, references: str) -> list:
    """Return what the page shows of one answer."""
    values = (question, answer, references)
    question = common.checked_text("Question", question)
    answer = common.checked_text("Answer to be judged", answer, MAX_ANSWER)
    lines = common.checked_lines("Accepted answers", references)
    verdict = judged.verdict(scorer(), question, answer, lines)
    threshold = scorer().threshold
    status = look.headline(
        f"{judged.said(verdict['probability'], threshold)}",
        verdict["reason"],
        *(f"Note: {text}." for text in verdict["warnings"]),
        sharing.note_of(EXAMPLES, values),
    )
    chart = look.bars(
        [("", [("probability", verdict["probability"]), ("threshold", threshold)])], "From 0 to 1", muted={"threshold"}
    )
    words = judged.words_html("Answer", answer, verdict["words"])
    several = len(lines) > 1
    table = look.table(
        ["accepted answer", "by it alone"],
        [[text, look.probability(value, 3)] for text, value in zip(lines, verdict["by_reference"], strict=True)],
        "Each accepted answer by itself",
        {1},
    )
    code = sharing.python_code(CODE, question=question, answer=answer, references=lines)
    return [status, chart, words, table if several else "", code]


def score(question: str, answer: str, references: list[str] | str) -> dict:
    """Judge an answer: probability of being right, verdict, reason, and the probability by each reference alone.

    Args:
        question: the question, in English.
        answer: the answer to be judged.
        references: one accepted answer, or a list of them.
    """
    question = common.checked_text("question", question)
    answer = common.checked_text("answer", answer, MAX_ANSWER)
    found = judged.verdict(scorer(), question, answer, common.checked_list("references", references))
    threshold = scorer().threshold
    return {
        "ava_score": found["probability"],
        "ava_label": int(found["probability"] >= threshold),
        "ava_threshold": threshold,
        "ava_score_per_reference": found["by_reference"],
        "reason": found["reason"],
    }


COLUMNS = ("question", "prediction", "references", "system", "id")


def tested(items: Sequence, labels: Sequence[int]) -> tuple[dict[str, Mapping], str]:
    """Return per system the ranks that chance leaves open, and what is said of them; as `genqa-metrics compare` does.

    Args:
        items: rows of at least two systems.
        labels: the judge's verdict of each.
    """
    rows = [
        {"id": item.id, "question": item.text, "references": item.references, "system": item.system, "ava": label}
        for item, label in zip(items, labels, strict=True)
    ]
    try:
        report = compare.CompareRun(rows, score_columns=["ava"], on_error="skip").report()
    except formats.FileError:
        return {}, "The systems do not answer the same questions, so ranks are not tested."
    left_out = sum(report["left_out"].values())
    said = "Ranks: what chance leaves open (paired permutation tests, Holm's correction, "
    said += f"{report['questions']:,} questions"
    said += f"; {left_out:,} that not all answer are left out)." if left_out else ")."
    return report["metrics"]["ava"]["tests"]["ava"]["systems"], said


def ranking(tick, path: str | None, columns: Mapping) -> tuple[dict, uploads.Rows]:
    """Return the systems of a file in order, the verdict of every row, and what was read.

    Args:
        tick: see `clicks.LongWork`.
        path: the upload.
        columns: see `uploads.read`.
    """
    rows = uploads.read(path, columns, "ava")
    items = rows.items
    by_system: dict[str, list[int]] = {}
    for i, item in enumerate(items):
        by_system.setdefault(item.system, []).append(i)
    if len(by_system) > MAX_SYSTEMS:
        raise common.Problem(
            f"File: {len(by_system)} systems are too many for this page; {MAX_SYSTEMS} are the most. Is the right "
            "column picked for the system?"
        )
    values, counts = uploads.scored(items, scorer(), tick, "Judging")
    labels = values[:, 0].astype(int).tolist()
    rates = {
        system: judged.rate([items[i] for i in places], values[places, 0]) for system, places in by_system.items()
    }
    accuracy = judge_errors.judged_systems(rates, scorer(), ignore_judge_errors=False)
    ranks, said = tested(items, labels) if len(by_system) > 1 else ({}, "")
    order = sorted(by_system, key=lambda system: -accuracy["systems"][system]["value"])
    systems = []
    for place, system in enumerate(order, 1):
        found, open_ranks = accuracy["systems"][system], ranks.get(system)
        systems.append(
            {
                "system": system,
                "rank": place,
                "best_rank": open_ranks["best_rank"] if open_ranks else None,
                "worst_rank": open_ranks["worst_rank"] if open_ranks else None,
                "accuracy": found["value"],
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
        "note": said,
        "warnings": scorer().warnings({}, counts),
        "left_out": rows.bad,
        "verdicts": [
            {"line": item.line, "id": item.id, "system": item.system, "ava_score": value, "ava_label": label}
            for item, value, label in zip(items, values[:, 1].tolist(), labels, strict=True)
        ],
    }
    return report, rows


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows of the systems in a file."""
    report, rows = ranking(tick, path, dict(zip(COLUMNS, columns, strict=True)))
    systems, items = report["systems"], rows.items
    cells = []
    for found in systems:
        best, worst = found["best_rank"], found["worst_rank"]
        cells.append(
            [
                str(found["rank"]) if best in (None, worst) else f"{best} to {worst}",
                found["system"],
                f"{found['accuracy']:.3f} ({found['low']:.3f} to {found['high']:.3f})",
                f"{found['judged_right']:,} of {found['answers']:,}",
            ]
        )
    table = look.table(["rank", "system", "accuracy", "judged right"], cells, "Ranking", {2, 3})
    plot = look.intervals(
        [(found["system"], found["accuracy"], found["low"], found["high"]) for found in systems],
        "Accuracy with its 95% interval, from 0 to 1",
    )
    columns = {
        "line": [item.line for item in items],
        "id": [item.id for item in items],
        "system": [item.system for item in items],
        "question": [item.text for item in items],
        "prediction": [item.predictions[0] for item in items],
        "references": [item.references for item in items],
        "ava_score": [row["ava_score"] for row in report["verdicts"]],
        "ava_label": [row["ava_label"] for row in report["verdicts"]],
    }
    kinds = dict.fromkeys(columns, "text") | {"line": "integer", "references": "texts"}
    kinds |= {"ava_score": "number", "ava_label": "integer"}
    many = "s" * (len(systems) > 1)
    status = look.headline(
        f"**{len(items):,}** answers of **{len(systems)}** system{many} judged.",
        report["note"],
        f"Accuracy: {report['method']}" + (f"; {report['measured']}." if report["measured"] else "."),
        *(f"Note: {text}." for text in report["warnings"]),
    )
    return [status + rows.said(), table + plot, uploads.written("ava_results.csv", kinds, columns)]


def rank(file: str | None) -> dict:
    """Judge the answers in a file and rank its systems; columns are guessed by their names."""
    columns, _ = uploads.peek(file)
    return ranking(lambda *_: None, file, uploads.guessed(columns))[0]


CAUTION = (
    "The judge is a small model, and it errs: it misses some negations, and accepts names that are close to the right "
    "one. It compares with the accepted answers and knows no other facts. How often it errs was measured on answers "
    "of other systems, and the intervals count that; on your questions it can err more."
)

with gr.Blocks(title=TITLE, delete_cache=common.KEEP) as demo:
    gr.Markdown(
        f"# {TITLE}\n"
        "AVA reads a question, accepted answers and an answer, and says how probable it is that the answer is right. "
        "Its verdicts on many answers say which system is better. **English only.**"
    )
    with look.tabs():
        with gr.Tab("One answer"), gr.Row():
            with gr.Column(min_width=280):
                question = gr.Textbox(label="Question", lines=1, max_lines=6)
                answer = gr.Textbox(label="Answer to be judged", lines=1, max_lines=8)
                references = gr.Textbox(
                    label="Accepted answers",
                    info=f"One on each line, at most {common.MAX_REFERENCES}.",
                    lines=2,
                    max_lines=8,
                )
                button = gr.Button("Judge the answer", variant="primary")
                examples = gr.Column()
            with gr.Column(min_width=280):
                area = clicks.results_area("Fill in the fields, or choose an example.")
                with area.results:
                    chart = gr.HTML(apply_default_css=False)
                    words = gr.HTML(apply_default_css=False)
                    gr.Markdown(judged.LEGEND, elem_classes="note")
                    table = gr.HTML(apply_default_css=False)
                    sharing.share_row()
                    with gr.Accordion("The same in Python", open=False):
                        code = gr.HTML(apply_default_css=False, elem_classes="python")
        picked = uploads.file_tab(
            "Compare systems",
            COLUMNS,
            Path(__file__).with_name("example.csv"),
            file_page,
            "Columns: question, answer, accepted answers; also system and id.",
            ("Rank the systems", "Download the verdicts (CSV)"),
        )
    with gr.Accordion("How far to trust it", open=False):
        gr.Markdown(
            CAUTION + " Vu & Moschitti, [AVA: an Automatic eValuation Approach for Question Answering Systems]"
            "(https://aclanthology.org/2021.naacl-main.412/), NAACL 2021."
        )
    sharing.card(METRIC)
    inputs, outputs = [question, answer, references], [chart, words, table, code]
    ran = clicks.connect([button.click, question.submit, answer.submit], page, inputs, area, outputs)
    ran_example = sharing.gallery(examples, EXAMPLES, inputs, page, inputs, area, outputs)
    names = {"question": sharing.text, "answer": sharing.text, "references": sharing.text}
    sharing.in_address(demo, names, inputs, EXAMPLES[0], page, area, outputs, [ran, ran_example])
    common.endpoint(
        score,
        "score",
        {"question": EXAMPLES[0].values[0], "answer": EXAMPLES[0].values[1], "references": ["12", "twelve"]},
    )
    with gr.Row(visible=False):  # an endpoint for programs; a field is what checks that a file was uploaded
        gr.Button("rank").click(
            common.answered(rank),
            picked.file,
            gr.JSON(label="systems, threshold, method, note, left_out, verdicts"),
            api_name="rank",
            concurrency_id="file",
            concurrency_limit=1,
        )

if __name__ == "__main__":
    clicks.preset(area, inputs, EXAMPLES[0].values, outputs, page(*EXAMPLES[0].values))  # and the model is warm
    common.launch(demo, __file__, ABOUT)
