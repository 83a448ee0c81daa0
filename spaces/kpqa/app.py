"""Demo of KPQA: the weights that a model gives to the words of answer and reference, and the scores they make."""

import sys
from functools import cache
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # a checkout has common.py there, a Space beside this file
import clicks
import common
import gradio as gr
import look
import sharing
import uploads
from sharing import Example

METRIC = common.find_metric(__file__, "kpqa")
explain = import_module("genqa.toolkit.analysis.explanation")
languages = import_module("genqa.kpqa.languages")
loading = import_module("genqa.kpqa.loading")
scorer_of = import_module("genqa.kpqa.scorer").KpqaScorer

TITLE = "KPQA: which words answer the question?"
ABOUT = "BLEU-1, ROUGE-L and BERTScore that count the words that answer the question more than those that repeat it."
NAMES = {"bleu1": "BLEU-1", "rougeL": "ROUGE-L", "bertscore": "BERTScore"}
CLOSE = 0.1  # two scores this close are said to be about the same
# Grounds of weights 0.0, 0.1 ... 1.0, all light enough for black letters.
HEAT = ("#e7e5e4", "#fdf3d8", "#fdebbb", "#fde19a", "#fcd574", "#fbc653", "#fbb53c", "#fba33c", "#fb923c", "#f97f4f",
        "#f87171")  # fmt: skip

EXAMPLES = [
    Example(
        "Paper, figure 1: the wrong number",
        (
            "How many steps are involved in a hypothesis test?",
            "There are seven steps involved in a hypothesis test .",
            "Four steps are involved in a hypothesis test .",
        ),
        "Nearly all words are shared, and the one that answers the question is not. People gave this answer 0.063.",
    ),
    Example(
        "Paper, table 5: right, in other words",
        (
            "How long do i need to walk in order to loose a pound ?",
            "You need to walk for 5 to 20 hours in order to loose a pound .",
            "Walk for 5 to 20 hours to lose 1 pound .",
        ),
        "Other words around it, and the same 5 to 20 hours. People gave this answer 0.94.",
    ),
    Example(
        "Chatty language model, right",
        (
            "What is the capital of Australia?",
            "Great question! While many people assume it is Sydney, the capital of Australia is actually Canberra.",
            "Canberra",
        ),
        "A short reference and a long answer: the weights let the chat around it count for little.",
    ),
    Example(
        "Two references",
        (
            "Where were the first modern Olympic Games held?",
            "They were held in Athens.",
            "The first modern Olympic Games took place in Athens, Greece.\nin Athens",
        ),
        "Every score takes the reference that is best for it.",
    ),
    Example(
        "Failure: not, in a long answer",
        (
            "Can you freeze cooked rice?",
            "You cannot freeze cooked rice for up to six months.",
            "You can freeze cooked rice for up to six months.",
        ),
        "One word turns the answer around, and no metric of shared words sees much of it.",
    ),
    Example(
        "A wrong name",
        (
            "Who painted the ceiling of the Sistine Chapel?",
            "The ceiling of the Sistine Chapel was painted by Leonardo.",
            "The ceiling of the Sistine Chapel was painted by Michelangelo.",
        ),
        "The one word that matters is wrong, and it carries nearly all of the weight.",
    ),
]

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

CODE = """
import evaluate

kpqa = evaluate.load("metrics/kpqa")
results = kpqa.compute(
    questions=[{question}],
    predictions=[{answer}],
    references=[{references}],
)
print(results)
"""


@cache
def models():
    """Return the models, loaded once."""
    return loading.load_models(common.bundled_checkpoint(METRIC))


@cache
def scorer():
    """Return what scores a file, with the same models."""
    return scorer_of(checkpoint=common.bundled_checkpoint(METRIC))


def explanation(question: str, answer: str, references: list[str]):
    """Return how KPQA comes to its scores, of checked input."""
    return explain.explanation(question, answer, references, models(), corpus=CORPUS)


def heat_map(label: str, segments: list) -> look.Markup:
    """Return a text with the weights of its words as grounds, and marks of matching."""
    pieces = []
    for segment in segments:
        weight = max(segment.weights, default=0)
        step = round(10 * weight)
        note = " ".join([f"{weight:.1f}"] * (step > 0) + ["✓"] * segment.found)
        pieces.append((segment.text, HEAT[step] if note else "", note))
    return look.marked_text(label, pieces)


def said(scores: dict) -> tuple[str, str]:
    """Return what the numbers show, in two sentences; whether an answer is right they do not say."""
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
    """Return what the page shows."""
    values = (question, answer, references)
    question = common.checked_text("Question", question)
    answer = common.checked_text("Answer to be scored", answer)
    lines = common.checked_lines("Reference answers", references)
    explained = explanation(question, answer, lines)
    scores = explained.scores
    best = scores["rougeL_kpqa"].reference
    of_answer, of_reference = explained.pairs[best]
    several = f"Reference {best + 1} of {len(lines)}, the best for ROUGE-L-KPQA" if len(lines) > 1 else "Reference"
    asked = {"questions": [question], "predictions": [answer], "references": [lines]}
    warnings = languages.language_warnings(languages.language_counts(asked))
    if explained.cut_texts:
        warnings.append("a text is longer than the model reads; its end does not count")
    status = look.headline(*said(scores), *(f"Note: {text}." for text in warnings), sharing.note_of(EXAMPLES, values))
    groups = [
        (name, [("with weights", scores[f"{metric}_kpqa"].value), ("without", scores[metric].value)])
        for metric, name in NAMES.items()
    ]
    texts = heat_map("Answer", of_answer) + heat_map(several, of_reference)
    rare = map(heat_map, ("Answer, IDF", "Reference, IDF"), explained.rarity[best])
    code = sharing.python_code(CODE, question=question, answer=answer, references=lines)
    chart = look.bars(groups, "Scores from 0 to 1", muted={"without"})
    return [status, texts, chart, look.joined(rare), code]


def score(question: str, answer: str, references: list[str] | str) -> dict[str, float]:
    """Score an answer: BLEU-1, ROUGE-L and BERTScore with and without keyphrase weights.

    Args:
        question: the question, in English.
        answer: the answer to be scored.
        references: one reference answer, or a list of them; every score takes the best one.
    """
    question, answer = common.checked_text("question", question), common.checked_text("answer", answer)
    explained = explanation(question, answer, common.checked_list("references", references))
    return {metric: found.value for metric, found in explained.scores.items()}


COLUMNS = ("question", "prediction", "references", "id")


def file_page(tick, path: str | None, *columns) -> list:
    """Return what the page shows of a file: the mean scores, the rows that the weights lower most, a file."""
    rows = uploads.read(path, dict(zip(COLUMNS, columns, strict=True)), "kpqa")
    names, makes = scorer().names, scorer()
    values, counts = uploads.scored(rows.items, makes, tick)
    by_name = dict(zip(names, values.T.tolist(), strict=True))
    means = {name: sum(column) / len(column) for name, column in by_name.items()}
    status = look.headline(
        f"**{len(rows.items):,}** answers: mean ROUGE-L **{means['rougeL']:.3f}** without weights, "
        f"**{means['rougeL_kpqa']:.3f}** with them.",
        *(f"Note: {text}." for text in makes.warnings({}, counts)),
    )
    groups = [
        (name, [("with weights", means[f"{metric}_kpqa"]), ("without", means[metric])])
        for metric, name in NAMES.items()
    ]
    lower = [after - before for after, before in zip(by_name["rougeL_kpqa"], by_name["rougeL"], strict=True)]
    order = sorted(range(len(lower)), key=lower.__getitem__)[:5]
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
    most = look.table(
        ["question", "answer", "reference", "ROUGE-L", "with weights"],
        cells,
        "The answers that the weights lower most",
        {3, 4},
    )
    table = {name: [getattr(item, name) for item in rows.items] for name in ("line", "id", "references")}
    table |= {
        "question": [item.text for item in rows.items],
        "prediction": [item.predictions[0] for item in rows.items],
    }
    kinds = {"line": "integer", "id": "text", "question": "text", "prediction": "text", "references": "texts"}
    kinds |= dict.fromkeys(names, "number")
    made = uploads.written("kpqa_scores.csv", kinds, {**table, **by_name})
    return [status + rows.said(), look.bars(groups, "Means over the rows", muted={"without"}) + most, made]


with gr.Blocks(title=TITLE, delete_cache=common.KEEP) as demo:
    gr.Markdown(
        f"# {TITLE}\n"
        "Most words of an answer repeat the question. KPQA lets a small model find those that *answer* it, and makes "
        "BLEU-1, ROUGE-L and BERTScore count them more. It compares words with reference answers; it does not judge "
        "whether an answer is right. **English only.**"
    )
    with look.tabs():
        with gr.Tab("One answer"), gr.Row():
            with gr.Column(min_width=280):
                question = gr.Textbox(label="Question", placeholder="How many ...?", lines=1, max_lines=6)
                answer = gr.Textbox(label="Answer to be scored", placeholder="There are ...", lines=1, max_lines=6)
                references = gr.Textbox(
                    label="Reference answers", info="What a right answer says; one on each line.", lines=2, max_lines=8
                )
                button = gr.Button("Score the answer", variant="primary")
                examples = gr.Column()
            with gr.Column(min_width=280):
                area = clicks.results_area("Fill in the fields, or choose an example.")
                with area.results:
                    texts = gr.HTML(apply_default_css=False)
                    gr.Markdown(
                        "The number is the weight of a word, or of a piece of one: how much it answers the question, "
                        "from 0 (not shown) to 1. ✓ means that the other text has it too.",
                        elem_classes="note",
                    )
                    chart = gr.HTML(apply_default_css=False)
                    sharing.share_row()
                    with gr.Accordion("The same in Python", open=False):
                        code = gr.HTML(apply_default_css=False, elem_classes="python")
                    with gr.Accordion("The same words by their rarity (IDF), as in table 5 of the paper", open=False):
                        rare = gr.HTML(apply_default_css=False)
                        gr.Markdown(
                            "The paper's plain BERTScore weighs a word by how few texts have it, whatever the "
                            f"question is: here of {len(CORPUS)} answers to other questions, 1 for the rarest."
                        )
        uploads.file_tab(
            "A file",
            COLUMNS,
            Path(__file__).with_name("example.csv"),
            file_page,
            "Columns: question, answer, references.",
            ("Score the file", "Download all scores (CSV)"),
        )
    with gr.Accordion("What the paper reports of its examples", open=False):
        gr.Markdown(
            "| | people | BLEU-1 | BLEU-1-KPQA | ROUGE-L | ROUGE-L-KPQA | BERTScore | BERTScore-KPQA |\n"
            "|---|---|---|---|---|---|---|---|\n"
            "| Figure 1 | 0.063 | 0.778 | 0.057 | 0.713 | 0.127 | – | – |\n"
            "| Table 5 | 0.94 | – | – | – | – | 0.72 | 0.93 |\n\n"
            "Its model is five times as large as the one here, and its BERTScore weighs words by their rarity where "
            "the one here weighs them equally, so numbers differ. Lee et al., "
            "[KPQA: A Metric for Generative Question Answering Using Keyphrase Weights]"
            "(https://aclanthology.org/2021.naacl-main.170/), NAACL 2021.",
            elem_classes="wide",
        )
    sharing.card(METRIC)
    inputs, outputs = [question, answer, references], [texts, chart, rare, code]
    ran = clicks.connect([button.click, question.submit, answer.submit], page, inputs, area, outputs)
    ran_example = sharing.gallery(examples, EXAMPLES, inputs, page, inputs, area, outputs)
    names = {"question": sharing.text, "answer": sharing.text, "references": sharing.text}
    sharing.in_address(demo, names, inputs, EXAMPLES[0], page, area, outputs, [ran, ran_example])
    common.endpoint(
        score,
        "score",
        {"question": EXAMPLES[0].values[0], "answer": EXAMPLES[0].values[1], "references": ["Four steps"]},
    )

if __name__ == "__main__":
    clicks.preset(area, inputs, EXAMPLES[0].values, outputs, page(*EXAMPLES[0].values))  # and the models are warm
    common.launch(demo, __file__, ABOUT)
