"""Demo of KPQA: the weights that a model gives to the words of answer and reference, and the scores they make."""

import sys
from functools import cache
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # a checkout has common.py there, a Space beside this file
import common
import gradio as gr

METRIC = common.find_metric(__file__, "kpqa")
explain = import_module("genqa.toolkit.analysis.explanation")
loading = import_module("genqa.kpqa.loading")

NAMES = {"bleu1": "BLEU-1", "rougeL": "ROUGE-L", "bertscore": "BERTScore"}
# Backgrounds of weights 0.0, 0.1 ... 1.0, all light enough for black letters.
HEAT = ("#e7e5e4", "#fdf3d8", "#fdebbb", "#fde19a", "#fcd574", "#fbc653", "#fbb53c", "#fba33c", "#fb923c", "#f97f4f",
        "#f87171")  # fmt: skip
COLOURS = {f"{i / 10:.1f}{mark}": colour for i, colour in enumerate(HEAT) if i for mark in ("", " ✓")} | {"✓": HEAT[0]}

EXAMPLES = {
    "Paper, figure 1: the wrong number": (
        "How many steps are involved in a hypothesis test?",
        "There are seven steps involved in a hypothesis test .",
        "Four steps are involved in a hypothesis test .",
    ),
    "Paper, table 5: right, in other words": (
        "How long do i need to walk in order to loose a pound ?",
        "You need to walk for 5 to 20 hours in order to loose a pound .",
        "Walk for 5 to 20 hours to lose 1 pound .",
    ),
    "Two references": (
        "Where were the first modern Olympic Games held?",
        "They were held in Athens.",
        "The first modern Olympic Games took place in Athens, Greece.\nin Athens",
    ),
}


# Answers in which words are counted for their rarity; the paper counted in the references of its data.
CORPUS = (
    "It takes 20 minutes to boil an egg in a small pot.",
    "The test is done in two steps.",
    "You need to wait for 3 to 5 days.",
    "A hypothesis is an idea that is to be tested.",
    "She was born in Greece in 1950.",
    "The capital of France is Paris.",
    "It is a kind of fish that lives in the sea.",
    "There are ten players in the team.",
    "The average price of a house is 200,000 dollars.",
    "He is known for his work on the moon.",
    "You have to walk to the station in order to catch the train.",
    "The games are held every four years in another city.",
    "In order to lose a game you have to play it first.",
    "A pound is about 450 grams.",
    "The river is 300 miles long.",
    "Yes, it is open on Sunday for 5 hours.",
    "The first step is to read the question.",
    "They were the first to see it.",
    "It is used to treat pain.",
    "The school is in the north of the country.",
)


@cache
def models():
    """Return the models, loaded once."""
    return loading.load_models(common.bundled_checkpoint(METRIC))


def explanation(question: str, answer: str, references: str):
    """Return how KPQA comes to its scores, of checked input."""
    question = common.checked_text("Question", question)
    answer = common.checked_text("Answer", answer)
    lines = common.checked_lines("Reference answers", references)
    return explain.explanation(question, answer, lines, models(), corpus=CORPUS)


def heat_map(segments: list) -> list[tuple[str, str | None]]:
    """Return a text as pieces with their labels, a weight and a mark of matching."""
    pieces = []
    for segment in segments:
        weight = f"{max(segment.weights, default=0):.1f}"
        marks = [weight] * (weight != "0.0") + ["✓"] * segment.found
        pieces.append((segment.text, " ".join(marks) or None))
    return pieces


def score(question: str, answer: str, references: str) -> list:
    """Return what the page shows."""
    explained = explanation(question, answer, references)
    scores = explained.scores
    best = scores["rougeL_kpqa"].reference
    of_answer, of_reference = map(heat_map, explained.pairs[best])
    rare_answer, rare_reference = map(heat_map, explained.rarity[best])
    plain, weighted = scores["rougeL"].value, scores["rougeL_kpqa"].value
    if weighted < plain - 0.1:
        text = "the words that differ are those that answer the question"
    elif weighted > plain + 0.1:
        text = "what answers the question is there, and the rest matters little"
    else:
        text = "the weights change little here"
    headline = f"ROUGE-L **{plain:.2f}** without weights, **{weighted:.2f}** with them: {text}."
    if explained.cut_texts:
        headline += " A text is longer than the model reads; its end does not count."
    which = (
        f"Reference {best + 1} of {len(explained.pairs)}, the best for ROUGE-L-KPQA"
        if len(explained.pairs) > 1
        else "Reference"
    )
    groups = [
        (name, [("with weights", scores[f"{metric}_kpqa"].value), ("without", scores[metric].value)])
        for metric, name in NAMES.items()
    ]
    chart = common.bars(groups, "Scores from 0 to 1", muted={"without"})
    return [headline, of_answer, gr.update(value=of_reference, label=which), chart, rare_answer, rare_reference]


def scores_of(question: str, answer: str, references: list[str]) -> dict:
    """Score an answer: BLEU-1, ROUGE-L and BERTScore with and without keyphrase weights.

    Args:
        question: the question.
        answer: the answer to be scored.
        references: one or several reference answers.
    """
    explained = explanation(question, answer, "\n".join(map(str, references)))
    return {metric: found.value for metric, found in explained.scores.items()}


with gr.Blocks(title="KPQA: which words answer the question?") as demo:
    gr.Markdown(
        "# KPQA: which words answer the question?\n"
        "Most words of an answer repeat the question. KPQA lets a small model find those that *answer* it, and makes "
        "BLEU-1, ROUGE-L and BERTScore count them more."
    )
    with gr.Row():
        with gr.Column(min_width=280):
            question = gr.Textbox(label="Question", placeholder="How many ...?", lines=1, max_lines=6)
            answer = gr.Textbox(label="Answer to be scored", placeholder="There are ...", lines=1, max_lines=6)
            references = gr.Textbox(
                label="Reference answers", info="What a right answer says; one on each line.", lines=2, max_lines=8
            )
            button = gr.Button("Score the answer", variant="primary")
            examples = gr.Column()
        with gr.Column(min_width=280):
            area = common.results_area("Fill in the fields, or choose an example.")
            with area.results:
                headline = gr.Markdown(elem_classes="headline")
                of_answer = gr.HighlightedText(label="Answer", color_map=COLOURS, elem_classes="heat")
                of_reference = gr.HighlightedText(label="Reference", color_map=COLOURS, elem_classes="heat")
                gr.Markdown(
                    "The number is the weight of a word, or of a piece of one: how much it answers the question, from "
                    "0 (not shown) to 1. ✓ means that the other text has it too."
                )
                chart = gr.HTML(apply_default_css=False)
                with gr.Accordion("The same words by their rarity (IDF), as in table 5 of the paper", open=False):
                    rare_answer = gr.HighlightedText(label="Answer, IDF", color_map=COLOURS, elem_classes="heat")
                    rare_reference = gr.HighlightedText(label="Reference, IDF", color_map=COLOURS, elem_classes="heat")
                    gr.Markdown(
                        "The paper's plain BERTScore weighs a word by how few texts have it, whatever the question "
                        f"is: here of {len(CORPUS)} answers to other questions, 1 for the rarest of the text."
                    )
    with gr.Accordion("What the paper reports of its examples", open=False):
        gr.Markdown(
            "| | people | BLEU-1 | BLEU-1-KPQA | ROUGE-L | ROUGE-L-KPQA | BERTScore | BERTScore-KPQA |\n"
            "|---|---|---|---|---|---|---|---|\n"
            "| Figure 1 | 0.063 | 0.778 | 0.057 | 0.713 | 0.127 | | |\n"
            "| Table 5 | 0.94 | | | | | 0.72 | 0.93 |\n\n"
            "Its model is five times as large as the one here, and its BERTScore weighs words by their rarity where "
            "the one here weighs them equally, so numbers differ. Lee et al., "
            "[KPQA: A Metric for Generative Question Answering Using Keyphrase Weights]"
            "(https://aclanthology.org/2021.naacl-main.170/), NAACL 2021.",
            elem_classes="wide",
        )
    common.connect(
        [button.click, question.submit, answer.submit],
        score,
        [question, answer, references],
        area,
        [headline, of_answer, of_reference, chart, rare_answer, rare_reference],
        examples=(examples, EXAMPLES),
    )
    gr.api(common.answered(scores_of), api_name="score", concurrency_id="page", concurrency_limit=1)

if __name__ == "__main__":
    models()  # before the first visitor comes
    common.launch(demo)
