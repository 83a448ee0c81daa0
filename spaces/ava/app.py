"""Demo of AVA: is an answer right, and how many of a system's answers are?"""

import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # a checkout has common.py there, a Space beside this file
import common
import gradio as gr
import numpy as np

METRIC = common.find_metric(__file__, "ava")
accuracy = import_module("genqa.toolkit.analysis.accuracy")
judging = import_module("genqa.ava.judging")
loading = import_module("genqa.ava.loading")
resampling = import_module("genqa.toolkit.analysis.resampling")

MAX_SYSTEMS = 20
STEP = 32  # answers between two steps of the progress bar
LEVEL = 0.05
SAMPLES = 10_000

EXAMPLES = {
    "Right, in other words": (
        "How many eggs are in a dozen?",
        "There are twelve eggs in a dozen.",
        "12\ntwelve",
    ),
    "Wrong": ("Who wrote Hamlet?", "It was written by Christopher Marlowe.", "William Shakespeare\nShakespeare"),
    "Long and right": (
        "What is the capital of Australia?",
        "Many people think of Sydney, which is the largest city, but the capital of Australia is Canberra.",
        "Canberra",
    ),
}


@cache
def judge() -> object:
    """Return the judge, loaded once."""
    return loading.load_judge(common.bundled_checkpoint(METRIC))


def probabilities(questions: Sequence, references: Sequence, answers: Sequence) -> np.ndarray:
    """Return the probability that each answer is right."""
    return judging.Judge(judge()).probabilities(questions, references, answers)


def judged(question: object, answer: object, references: object) -> tuple:
    """Return the references, the probability, and the probability by each reference alone, of checked input."""
    question = common.checked_text("Question", question)
    answer = common.checked_text("Answer", answer)
    references = common.checked_lines("Accepted answers", references)
    found = probabilities(
        [question] * (len(references) + 1),
        [references, *([text] for text in references)],
        [answer] * (len(references) + 1),
    )
    return references, float(found[0]), found[1:].tolist()


def page(question: str, answer: str, references: str) -> list:
    """Return what the page shows of one answer."""
    references, probability, by_reference = judged(question, answer, references)
    threshold = judge().threshold
    right = probability >= threshold
    headline = (
        f"**{'✓ Judged right' if right else '✗ Judged wrong'}.** The probability of being right is "
        f"**{probability:.2f}**; from {threshold:g} on an answer counts as right."
    )
    values = [("probability", probability), ("threshold", threshold)]
    chart = common.bars([("", values)], "From 0 to 1", muted={"threshold"})
    table = [[text, f"{value:.3f}"] for text, value in zip(references, by_reference, strict=True)]
    return [headline, chart, table]


def score(question: str, answer: str, references: list[str]) -> dict:
    """Judge an answer: probability of being right, verdict, and the probability by each reference alone.

    Args:
        question: the question.
        answer: the answer to be judged.
        references: one or several accepted answers.
    """
    _, probability, by_reference = judged(question, answer, "\n".join(map(str, references)))
    threshold = judge().threshold
    return {
        "ava_score": probability,
        "ava_label": int(probability >= threshold),
        "ava_threshold": threshold,
        "ava_score_per_reference": by_reference,
    }


def matched(by_system: dict[str, list], verdicts: dict[str, list[int]]) -> np.ndarray | None:
    """Return the verdicts as (questions, systems) if all systems answer the same questions once each, else None."""
    columns = []
    for system, items in by_system.items():
        keys = [(item.text, tuple(sorted(item.references))) for item in items]
        column = dict(zip(keys, verdicts[system], strict=True))
        if len(column) != len(keys) or (columns and column.keys() != columns[0].keys()):
            return None
        columns.append(column)
    return np.array([[column[key] for column in columns] for key in columns[0]], dtype=float)


def ranks(verdicts: np.ndarray) -> list[tuple[int, int]]:
    """Return the best and the worst rank of every system that chance leaves open, from verdicts on the same questions.

    Args:
        verdicts: (questions, systems) 0 or 1.
    """
    questions, systems = verdicts.shape
    pairs = [(i, j) for i in range(systems) for j in range(i + 1, systems)]
    statistics = verdicts[:, :, None]
    swapped = resampling.resampled_sums(resampling.swaps(questions, SAMPLES, 0), statistics)
    totals = statistics.sum(axis=0)
    p_values = resampling.permutation_p_values(swapped, totals, lambda sums: sums[..., 0] / questions, pairs)
    better = np.zeros((systems, systems), dtype=bool)
    for (i, j), p in zip(pairs, resampling.corrected(p_values), strict=True):
        if p < LEVEL:
            better[(i, j) if totals[i, 0] > totals[j, 0] else (j, i)] = True
    return resampling.ranking(totals[:, 0], better)[1]


def intervals_html(found: list) -> str:
    """Return the intervals as a chart of numbers; systems stand there by their place in the table."""
    rows = []
    for place, result in enumerate(found, 1):
        low, high, middle = 100 * result.low, 100 * result.high, 100 * result.estimate
        rows.append(
            f'<tr><th scope="row">{place}.</th><td><div class="line"><div class="span" style="left: {low:.1f}%; '
            f'width: {high - low:.1f}%"></div><div class="dot" style="left: {middle:.1f}%"></div></div></td>'
            f"<td>{result.estimate:.3f}</td></tr>"
        )
    return (
        '<table class="numbers bars"><caption>Share of answers judged right with its 95% interval, from 0 to 1, '
        f"in the order of the table</caption><tbody>{''.join(rows)}</tbody></table>"
    )


def all_probabilities(items: Sequence, progress: gr.Progress) -> Iterator[float]:
    """Yield the probability of every row, and move the progress bar."""
    for start in range(0, len(items), STEP):
        progress((start, len(items)), desc="Judging", unit="answers")
        part = items[start : start + STEP]
        yield from probabilities(
            [item.text for item in part], [item.references for item in part], [item.predictions[0] for item in part]
        ).tolist()


def written(items: Sequence, scores: Sequence[float], labels: Sequence[int]) -> str:
    """Write the verdicts of all rows into a CSV file where Gradio takes it from, and return its path."""
    folder = tempfile.mkdtemp(dir=_made(Path(download.GRADIO_CACHE)))
    path = Path(folder, "ava_results.csv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "system", "question", "prediction", "references", "ava_score", "ava_label"])
        for item, value, label in zip(items, scores, labels, strict=True):
            texts = json.dumps(item.references, ensure_ascii=False)
            rows.writerow([item.id, item.system, item.text, item.predictions[0], texts, f"{value:.6f}", label])
    return str(path)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def rank(path: str | None, progress=gr.Progress()) -> list:  # noqa: B008
    """Return what the page shows of the systems in a file."""
    items = common.read_items(path, ("question", "prediction", "references"))
    by_system: dict[str, list[int]] = {}
    for i, item in enumerate(items):
        by_system.setdefault(item.system, []).append(i)
    if len(by_system) > MAX_SYSTEMS:
        raise common.Problem(f"File: {len(by_system)} systems are too many for this page; {MAX_SYSTEMS} are the most.")
    scores = list(all_probabilities(items, progress))
    threshold = judge().threshold
    labels = [int(value >= threshold) for value in scores]
    verdicts = {system: [labels[i] for i in rows] for system, rows in by_system.items()}
    found = {system: accuracy.from_verdicts(column) for system, column in verdicts.items()}
    order = sorted(found, key=lambda system: -found[system].estimate)
    table = matched({system: [items[i] for i in rows] for system, rows in by_system.items()}, verdicts)
    places = {}
    if table is not None and len(order) > 1:
        places = dict(zip(verdicts, ranks(table), strict=True))
    ranking = []
    for place, system in enumerate(order, 1):
        best, worst = places.get(system, (place, place))
        result = found[system]
        ranking.append(
            [
                f"{place}" + f" ({best} to {worst})" * (best != worst),
                system,
                f"{result.estimate:.3f} ({result.low:.3f} to {result.high:.3f})",
                len(by_system[system]),
            ]
        )
    headline = f"**{len(items):,}** answers of **{len(order)}** system{'s' * (len(order) > 1)} judged."
    if places:
        headline += " In brackets: the ranks that chance leaves open (paired permutation tests, Holm's correction)."
    elif len(order) > 1:
        headline += " The systems do not answer the same questions, so ranks are not tested."
    return [headline, ranking, intervals_html([found[system] for system in order]), written(items, scores, labels)]


CAUTION = (
    "The judge is a small model, and it errs: it misses some negations, and accepts names that are close to the right "
    "one. It compares with the accepted answers and knows no other facts. The intervals are of the share that the "
    "judge accepts; they do not cover its own errors."
)

with gr.Blocks(title="AVA: is the answer right?", delete_cache=common.KEEP) as demo:
    gr.Markdown(
        "# AVA: is the answer right?\n"
        "AVA reads a question, accepted answers and an answer, and says how probable it is that the answer is right. "
        "Its verdicts on many answers say which system is better."
    )
    with gr.Tabs(overflow_behavior="wrap"):  # a menu would hide a tab on a phone
        with gr.Tab("One answer"), gr.Row():
            with gr.Column(min_width=280):
                question = gr.Textbox(label="Question", lines=1, max_lines=6)
                answer = gr.Textbox(label="Answer to be judged", lines=1, max_lines=6)
                references = gr.Textbox(
                    label="Accepted answers",
                    info=f"One on each line, at most {common.MAX_REFERENCES}.",
                    lines=2,
                    max_lines=8,
                )
                button = gr.Button("Judge the answer", variant="primary")
                examples = gr.Column()
            with gr.Column(min_width=280):
                area = common.results_area("Fill in the fields, or choose an example.")
                with area.results:
                    headline = gr.Markdown(elem_classes="headline")
                    chart = gr.HTML(apply_default_css=False)
                    table = gr.Dataframe(
                        headers=["accepted answer", "probability by it alone"],
                        datatype="str",
                        type="array",
                        label="Each accepted answer by itself",
                        interactive=False,
                        wrap=True,
                        column_widths=["60%", "40%"],
                        buttons=[],
                    )
        with gr.Tab("Compare systems"):
            gr.Markdown(
                f"CSV or JSON lines, at most {common.MAX_FILE // 2**20} MB, {common.MAX_ROWS:,} rows and "
                f"{MAX_SYSTEMS} systems, with the columns `system`, `question`, `prediction` and `references` (one "
                "text, or a list "
                'such as `["four", "4"]`); `id` is optional.'
            )
            with gr.Row():
                with gr.Column(min_width=280):
                    path = common.upload_field()
                    common.example_button(path, Path(__file__).with_name("example.csv"))
                    rank_button = gr.Button("Rank the systems", variant="primary")
                with gr.Column(min_width=280):
                    rank_area = common.results_area("Choose a file, or take the example.")
                    with rank_area.results:
                        rank_headline = gr.Markdown()
                        ranking = gr.Dataframe(
                            headers=["rank", "system", "judged right", "of"],
                            datatype="str",
                            type="array",
                            label="Ranking",
                            interactive=False,
                            wrap=True,
                            column_widths=["20%", "32%", "34%", "14%"],
                            buttons=[],
                        )
                        intervals = gr.HTML(apply_default_css=False)
                        download = gr.DownloadButton("Download the verdicts (CSV)")
    with gr.Accordion("How far to trust it", open=False):
        gr.Markdown(
            CAUTION + " Vu & Moschitti, [AVA: an Automatic eValuation Approach for Question Answering Systems]"
            "(https://aclanthology.org/2021.naacl-main.412/), NAACL 2021."
        )
    common.connect(
        [button.click, question.submit, answer.submit],
        page,
        [question, answer, references],
        area,
        [headline, chart, table],
        examples=(examples, EXAMPLES),
    )
    common.connect(
        [rank_button.click],
        rank,
        [path],
        rank_area,
        [rank_headline, ranking, intervals, download],
        api_name="rank",
        concurrency_id="file",  # who asks about one answer does not wait for a whole file
    )
    gr.api(common.answered(score), api_name="score", concurrency_limit=1, concurrency_id="page")

if __name__ == "__main__":
    judge()  # before the first visitor comes
    common.launch(demo)
