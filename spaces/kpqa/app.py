"""Demo of KPQA: the weights that a model gives to the words of answer and reference, and the scores they make."""

import sys
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
from common import checks, events, html, server, sharing, uploads
from genqa_metrics.core.reading import language_counts, language_warnings
from genqa_metrics.kpqa import loading
from genqa_metrics.kpqa.scorer import KpqaScorer
from genqa_metrics.reports.table import listed
from genqa_metrics.verbs.explain import kpqa as explanations
from markupsafe import Markup

TITLE = "KPQA: which words answer the question?"
ABOUT = "BLEU-1, ROUGE-L and BERTScore that give more weight to the words that answer the question."
NAMES = {"bleu1": "BLEU-1", "rougeL": "ROUGE-L", "bertscore": "BERTScore"}
SEEN = 0.01  # least change that two digits show
CLOSE = 0.1  # scores that differ by less are called about the same
# Colour of a weight in percent: one hue, which says neither right nor wrong; see style.css.
HEAT = "color-mix(in srgb, var(--heavy) {}%, var(--light))"

EXAMPLES = sharing.read_examples(__file__)
ADDRESS = sharing.Address(dict.fromkeys(("question", "answer", "references"), str), EXAMPLES[0].values, 3)
# Answers that give the document frequency of words; the paper counts in the references of its data.
CORPUS = tuple(sharing.text_beside(__file__, "corpus.txt").splitlines())


@cache
def models():
    """Return the models, loaded once."""
    return loading.load_models()


@cache
def scorer():
    """Return the metric's scorer, for files."""
    return KpqaScorer()


def explanation(question: str, answer: str, references: list[str]):
    """Return how KPQA computes its scores for checked input."""
    return explanations.explanation(question, answer, references, models(), corpus=CORPUS)


def heat_map(label: str, segments: list) -> Markup:
    """Return a text whose words are coloured by weight and marked if they match."""
    pieces = []
    for segment in segments:
        weight = max(segment.weights, default=0)
        step = round(10 * weight)
        note = " ".join([f"{weight:.1f}"] * (step > 0) + ["="] * segment.found)
        pieces.append((segment.text, HEAT.format(10 * step) if note else "", note))
    return html.marked_text(label, pieces)


def summary(scores: dict) -> tuple[str, str]:
    """Return what the numbers show, in two sentences; they do not tell whether an answer is right."""
    plain, weighted = scores["rougeL"].value, scores["rougeL_kpqa"].value
    change = weighted - plain
    about = "change it little" if abs(change) < CLOSE else "raise it" if change > 0 else "lower it"
    first = f"ROUGE-L is **{plain:.2f}** without weights and **{weighted:.2f}** with them: the weights {about}."
    recall, of_words = scores["rougeL_kpqa"].recall, scores["rougeL"].recall
    second = (
        f"In the reference the answer matches {100 * of_words:.0f}% of the words, and {100 * recall:.0f}% of the "
        "weight, in the same order."
    )
    return first, second


def page(question: str, answer: str, references: str) -> list:
    """Return what the page shows for one answer."""
    values = (question, answer, references)
    question = checks.text("Question", question)
    answer = checks.text("Answer to be scored", answer)
    lines = checks.lines("Reference answers", references)
    explained = explanation(question, answer, lines)
    scores = explained.scores
    best = scores["rougeL_kpqa"].reference
    of_answer, of_reference = explained.pairs[best]
    several = f"Reference {best + 1} of {len(lines)}, the best for ROUGE-L-KPQA" if len(lines) > 1 else "Reference"
    asked = {"questions": [question], "predictions": [answer], "references": [lines]}
    warnings = language_warnings(language_counts(asked))
    if explained.cut_texts:
        warnings.append("a text is longer than the model can read; its end is ignored")
    status = html.headline(
        *summary(scores), *(f"Note: {text}." for text in warnings), sharing.example_note(EXAMPLES, values)
    )
    groups = [
        (name, [("with weights", scores[f"{metric}_kpqa"].value), ("without", scores[metric].value)])
        for metric, name in NAMES.items()
    ]
    texts = heat_map("Answer", of_answer) + heat_map(several, of_reference)
    rare = map(heat_map, ("Answer, IDF", "Reference, IDF"), explained.rarity[best])
    code = sharing.metric_code("kpqa", questions=[question], predictions=[answer], references=[lines])
    chart = html.bars(groups, "Scores from 0 to 1", muted={"without"})
    return [status + ADDRESS.mark(*values), texts, chart, html.joined(rare), code]


def score(question: str, answer: str, references: list[str] | str) -> dict[str, float]:
    """Score an answer: BLEU-1, ROUGE-L and BERTScore with and without keyphrase weights.

    Args:
        question: the question, in English.
        answer: the answer to be scored.
        references: one reference answer, or a list of them; every score uses the best one.
    """
    question, answer = checks.text("question", question), checks.text("answer", answer)
    explained = explanation(question, answer, checks.texts("references", references))
    return {metric: found.value for metric, found in explained.scores.items()}


COLUMNS = ("question", "prediction", "references", "id")


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows for a file: mean scores, the rows that the weights lower most, a file to download."""
    rows = uploads.read(path, dict(zip(COLUMNS, columns, strict=True)), "kpqa")
    values, counts = uploads.scored(rows.items, scorer(), tick)
    by_name = dict(zip(scorer().names, values.T.tolist(), strict=True))
    means = {name: sum(column) / len(column) for name, column in by_name.items()}
    changes = [after - before for after, before in zip(by_name["rougeL_kpqa"], by_name["rougeL"], strict=True)]
    moved = {
        "lower": sum(change <= -CLOSE for change in changes),
        "raise": sum(change >= CLOSE for change in changes),
        "hardly change": sum(abs(change) < CLOSE for change in changes),
    }
    status = html.headline(
        f"**{len(rows.items):,}** answers: mean ROUGE-L **{means['rougeL']:.3f}** without weights, "
        f"**{means['rougeL_kpqa']:.3f}** with them.",
        f"The weights {listed([f'{what} {count:,}' for what, count in moved.items()])} of the ROUGE-L scores.",
        *(f"Note: {text}." for text in scorer().warnings({}, counts)),
    )
    groups = [
        (name, [("with weights", means[f"{metric}_kpqa"]), ("without", means[metric])])
        for metric, name in NAMES.items()
    ]
    order = sorted((i for i, change in enumerate(changes) if change <= -SEEN), key=changes.__getitem__)[:5]
    cells = [
        [
            rows.items[i].text,
            rows.items[i].predictions[0],
            rows.items[i].references[0],
            f"{by_name['rougeL'][i]:.2f}",
            f"{by_name['rougeL_kpqa'][i]:.2f}",
        ]
        for i in order
    ]
    most = html.table(
        ["question", "answer", "reference", "ROUGE\u2011L", "with weights"],
        cells,
        "Answers that the weights lower most",
        {3, 4},
    )
    return [
        status + rows.problems_html(),
        html.bars(groups, "Means over the rows", muted={"without"}) + most * bool(order),
        uploads.scores_file("kpqa_scores.csv", rows.items, by_name),
    ]


with gr.Blocks(title=TITLE, delete_cache=server.DELETE_CACHE) as demo:
    sharing.introduction(__file__, TITLE)
    with gr.Tabs(overflow_behavior="wrap"):
        with gr.Tab("One answer"), gr.Row():
            with gr.Column(min_width=280):
                question = gr.Textbox(label="Question", placeholder="How many ...?", lines=1, max_lines=6)
                answer = gr.Textbox(label="Answer to be scored", placeholder="There are ...", lines=1, max_lines=6)
                references = gr.Textbox(
                    label="Reference answers", info="Right answers, one on each line.", lines=2, max_lines=8
                )
                button = gr.Button("Score the answer", variant="primary")
                examples = gr.Column()
            with gr.Column(min_width=280):
                area = events.results_area("Fill in the fields, or choose an example.")
                with area.results:
                    texts = gr.HTML(apply_default_css=False)
                    gr.Markdown(
                        "The number is the weight of a word or a part of it: how much it helps to answer the "
                        "question, from 0 (not shown) to 1; the stronger the blue, the more. It does not say whether "
                        "the word is right. = marks words that the other text has too.",
                        elem_classes="note",
                    )
                    chart = gr.HTML(apply_default_css=False)
                    code = sharing.link_and_code()
                    with gr.Accordion("Weights by rarity (IDF), as in table 5 of the paper", open=False):
                        rare = gr.HTML(apply_default_css=False)
                        gr.Markdown(
                            "The paper's plain BERTScore gives rare words more weight, whatever the question is. Here "
                            f"rarity is counted in {len(CORPUS)} answers to other questions; the rarest word has 1."
                        )
        uploads.file_tab(
            "A file",
            COLUMNS,
            Path(__file__).with_name("example.csv"),
            file_page,
            "Columns: question, answer, references.",
            ("Score the file", "Download all scores (CSV)"),
        )
    sharing.folded("Results of the paper for its examples", sharing.text_beside(__file__, "about.md"))
    sharing.metric_card("kpqa")
    inputs, outputs = [question, answer, references], [texts, chart, rare, code]
    events.connect([button.click, question.submit, answer.submit], page, inputs, area, outputs)
    sharing.example_buttons(examples, EXAMPLES, inputs, page, inputs, area, outputs)
    ADDRESS.open(demo, inputs, page, area, outputs)
    server.endpoint(
        score,
        "score",
        {"question": EXAMPLES[0].values[0], "answer": EXAMPLES[0].values[1], "references": ["Four steps"]},
    )

if __name__ == "__main__":
    events.preset(area, inputs, EXAMPLES[0].values, outputs, page(*EXAMPLES[0].values))  # and the models are loaded
    server.launch(demo, __file__, ABOUT)
