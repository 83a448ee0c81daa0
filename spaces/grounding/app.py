"""Demo of grounding: which sentences of an answer do the retrieved passages support?"""

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
from common import checks, events, html, server, sharing, uploads
from genqa_metrics.grounding.scorer import GroundingScorer
from genqa_metrics.reports.table import listed
from markupsafe import Markup

TITLE = "Grounding: is the answer supported?"
ABOUT = "A small judge reads every sentence of an answer beside the retrieved passages and shows the evidence."
MAX_ANSWER = 5_000  # characters
MAX_PASSAGE = 10_000
# Background of a sentence by its verdict, see style.css. The word of the verdict stands behind it.
COLOURS = {
    "supported": "var(--for)",
    "unsupported": "var(--light)",
    "contradicted": "var(--against)",
    "states nothing": "",
}
LEGEND = "Blue: supported. Grey: unsupported. Orange: contradicted by a passage. Click a sentence to see its passage."

EXAMPLES = sharing.read_examples(__file__)
ADDRESS = sharing.Address(dict.fromkeys(("question", "answer", "passages"), str), EXAMPLES[0].values, 3)


@cache
def scorer() -> GroundingScorer:
    """Return the metric's scorer, whose model is loaded once."""
    return GroundingScorer(checkpoint=server.CHECKPOINT)


def judged(question: str, answer: str, passages: Sequence[str]) -> dict:
    """Return the scores of one answer by name, and its "explanation" and "warnings"."""
    columns = {"questions": [question], "predictions": [answer], "contexts": [list(passages)]}
    statistics, counts, details = scorer().statistics_with_details(columns, explain=True)
    scores = {name: float(values[0]) for name, values in scorer().row_scores(statistics).items()}
    return {**scores, "explanation": details["explanation"][0], "warnings": scorer().warnings({}, counts)}


def split_passages(text: str) -> list[str]:
    """Return the passages of a field: blocks of lines with an empty line between them."""
    text = checks.text("Passages", text, checks.MAX_REFERENCES * MAX_PASSAGE)
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text) if block.strip()]
    return checks.texts("Passages", blocks, limit=MAX_PASSAGE)


def sentence_html(sentence: Mapping, passages: Sequence[str]) -> Markup:
    """Return a sentence with its verdict; a click opens the passage, in which the evidence is marked, if any."""
    verdict = sentence["verdict"]
    more = "" if sentence["probability"] is None else f", {html.probability(sentence['probability'])}"
    head = html.fill(
        '<span class="mark" style="background: {colour}">{text}<small>{verdict}</small></span>',
        colour=COLOURS[verdict] or "transparent",
        text=sentence["text"],
        verdict=verdict + more,
    )
    if sentence["passage"] is None:
        return html.fill('<p dir="auto">{head}</p>', head=head)
    passage, (start, end) = passages[sentence["passage"]], sentence["span"] or (0, 0)
    marked = html.fill("<mark>{evidence}</mark>", evidence=passage[start:end]) if sentence["span"] else ""
    says = f" It says: {sentence['instead']}." if sentence["instead"] else ""
    return html.fill(
        '<details style="--evidence: {colour}"><summary dir="auto">{head}</summary><p dir="auto"><small>{name} '
        "{number}.{says}</small> {before}{marked}{after}</p></details>",
        head=head,
        colour=COLOURS[verdict],
        name="Passage" if sentence["span"] else "No evidence. The closest passage is passage",
        number=sentence["passage"] + 1,
        says=says,
        before=passage[:start],
        marked=marked,
        after=passage[end:],
    )


def page(question: str, answer: str, passages: str) -> list:
    """Return what the page shows for one answer."""
    values = (question, answer, passages)
    question = checks.text("Question", question, required=False)
    answer = checks.text("Answer", answer, MAX_ANSWER)
    given = split_passages(passages)
    found = judged(question, answer, given)
    explained = found["explanation"]
    share = f"The score is **{html.probability(found['grounding'])}**, the share of the sentences that are supported."
    states = bool(found["grounding_answer_rate"])
    status = html.headline(
        *((explained["reason"], share if states else "")),
        *(f"Note: {text}." for text in found["warnings"] if states),
        sharing.example_note(EXAMPLES, values),
    )
    marked = html.fill(
        '<figure class="marked sentences"><figcaption>Answer</figcaption>{sentences}</figure>',
        sentences=html.joined(sentence_html(sentence, given) for sentence in explained["sentences"]),
    )
    columns = {"questions": [question]} if question else {}
    code = sharing.metric_code("grounding", predictions=[answer], contexts=[given], **columns, explain=True)
    return [status + ADDRESS.mark(*values), marked, code]


def score(question: str, answer: str, passages: list[str] | str) -> dict:
    """Judge an answer: the share of its supported sentences, and every sentence with its verdict and evidence.

    Args:
        question: the question, or "".
        answer: the answer, in English.
        passages: one passage, or a list of them.
    """
    question = checks.text("question", question, required=False)
    answer = checks.text("answer", answer, MAX_ANSWER)
    found = judged(question, answer, checks.texts("passages", passages, limit=MAX_PASSAGE))
    return {name: value for name, value in found.items() if name != "warnings"}


COLUMNS = ("question", "prediction", "contexts", "system", "id")


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows for a file."""
    rows = uploads.read(path, dict(zip(COLUMNS, columns, strict=True)), "grounding")
    items = rows.items
    statistics, counts = uploads.scored(items, scorer(), tick, "Reading")
    by_system: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        by_system.setdefault(item.system, []).append(place)
    found = {
        system: scorer().corpus_scores(statistics[places].sum(axis=0), len(places))
        for system, places in by_system.items()
    }
    cells = [
        [system, f"{len(by_system[system]):,}", *(f"{scores[name]:.3f}" for name in scorer().names)]
        for system, scores in sorted(found.items(), key=lambda one: -one[1]["grounding"])
    ]
    header = ["system", "answers", "supported sentences", "supported answers", "lowest probability", "answer rate"]
    table = html.table(header, cells, "Grounding of each system", set(range(1, len(header))))
    status = html.headline(
        "Share of supported sentences: " + listed([f"{cell[0]} **{cell[2]}**" for cell in cells]) + ".",
        f"{len(items):,} answers were read.",
        *(f"Note: {text}." for text in scorer().warnings({}, counts)),
    )
    scores = {name: values.tolist() for name, values in scorer().row_scores(statistics).items()}
    states = [i for i, states in enumerate(scores["grounding_answer_rate"]) if states]
    worst = sorted((i for i in states if scores["grounding"][i] < 1), key=scores["grounding"].__getitem__)[:5]
    table += html.table(
        ["system", "question", "answer", "supported"],
        [
            [items[i].system, items[i].text or "", items[i].predictions[0], f"{scores['grounding'][i]:.2f}"]
            for i in worst
        ],
        "Answers with the lowest share of supported sentences",
        {3},
    ) * bool(worst)
    results = uploads.scores_file("grounding_results.csv", items, scores, systems=True)
    return [status + rows.problems_html(), table, results]


with gr.Blocks(title=TITLE, delete_cache=server.DELETE_CACHE) as demo:
    sharing.introduction(__file__, TITLE)
    with gr.Tabs(overflow_behavior="wrap"):
        with gr.Tab("One answer"), gr.Row():
            with gr.Column(min_width=280):
                question = gr.Textbox(label="Question (optional)", lines=1, max_lines=6)
                answer = gr.Textbox(label="Answer", lines=2, max_lines=12)
                passages = gr.Textbox(
                    label="Passages",
                    info=f"With an empty line between them, at most {checks.MAX_REFERENCES}.",
                    lines=4,
                    max_lines=20,
                )
                button = gr.Button("Check the answer", variant="primary")
                examples = gr.Column()
            with gr.Column(min_width=280):
                area = events.results_area("Fill in the fields, or choose an example.")
                with area.results:
                    marked = gr.HTML(apply_default_css=False)
                    gr.Markdown(LEGEND, elem_classes="note")
                    code = sharing.link_and_code()
        uploads.file_tab(
            "Many answers",
            COLUMNS,
            Path(__file__).with_name("example.csv"),
            file_page,
            "Columns: answer, passages (a list); also question, system and id.",
            ("Check the answers", "Download the scores (CSV)"),
        )
    sharing.folded("How far to trust it", sharing.text_beside(__file__, "about.md"))
    sharing.metric_card("grounding")
    inputs, outputs = [question, answer, passages], [marked, code]
    events.connect([button.click], page, inputs, area, outputs)
    sharing.example_buttons(examples, EXAMPLES, inputs, page, inputs, area, outputs)
    ADDRESS.open(demo, inputs, page, area, outputs)
    server.endpoint(
        score,
        "score",
        {
            "question": EXAMPLES[3].values[0],
            "answer": EXAMPLES[3].values[1],
            "passages": ["Insects have six legs.", "Spiders have eight."],
        },
    )

if __name__ == "__main__":
    events.preset(area, inputs, EXAMPLES[0].values, outputs, page(*EXAMPLES[0].values))  # and the model is loaded
    server.launch(demo, __file__, ABOUT)
