"""Demo of F-meta: does a set of generated questions cover the set of reference questions?"""

import sys
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # a checkout has common.py there, a Space beside this file
import common
import gradio as gr

METRIC = common.find_metric(__file__, "f_meta")
bases = import_module("genqa.f_meta.bases")
scoring = import_module("genqa.f_meta.scoring")

MAX_QUESTIONS = 20
MAX_LENGTH = 500  # characters of a question
WORDS = {"tokenizer": "word"}  # what is typed is raw text
NAMES = {"rouge": "ROUGE-L", "bleu": "BLEU-4", "meteor": "METEOR"}
EXAMPLES = {
    "Paper: one question for two": (
        "which event did the 2014 world cup",
        "who won the 2014 world cup\nwhich event did Germany win in 2014",
    ),
    "The same question again and again": (
        "Who won the 2014 world cup?\nWho won the world cup in 2014?\nWho was the winner of the 2014 world cup?",
        "Who won the 2014 world cup?\nWhich event did Germany win in 2014?\nWhere was the final played?",
    ),
    "Different questions": (
        "Who won the 2014 world cup?\nWhat did Germany win in 2014?\nWhere was the final of the world cup played?",
        "Who won the 2014 world cup?\nWhich event did Germany win in 2014?\nWhere was the final played?",
    ),
}


def base_of(name: str):
    """Return a base metric by its name."""
    return bases.base_function(name, {} if name == "meteor" else WORDS)


def available() -> tuple[dict[str, str], str]:
    """Return the bases that run here, label -> name, and what to say of METEOR."""
    try:
        base_of("meteor")
    except ImportError as error:
        missing = str(error).rsplit("not found: ", 1)[-1].replace("the command java", "Java")
        return {NAMES[n]: n for n in ("rouge", "bleu")}, f" METEOR is not offered: it needs {missing}, not found here."
    return {label: name for name, label in NAMES.items()}, " METEOR takes seconds: it starts Java."


BASES, METEOR_NOTE = available()


def results_of(generated: object, references: object, base: object) -> tuple:
    """Return checked lists of questions, their matrix and the scores."""
    generated = common.checked_lines("Generated questions", generated, MAX_QUESTIONS, MAX_LENGTH)
    references = common.checked_lines("Reference questions", references, MAX_QUESTIONS, MAX_LENGTH)
    if base not in BASES:
        raise common.Problem(f"Base metric: expected one of {', '.join(BASES)}.{METEOR_NOTE}")
    scorer = base_of(BASES[base])
    matrices = scoring.score_matrices([generated], [references], scorer)
    scores = scoring.corpus_scores(scoring.statistics([generated], [references], scorer, matrices))
    return generated, references, matrices[0], scores


def matrix_html(matrix, matches: dict) -> str:
    """Return the matrix as an HTML table of numbers, the best of every row and column marked."""
    head = "".join(f'<th scope="col">R{j}</th>' for j in range(1, matrix.shape[1] + 1))
    rows = []
    for i, scores in enumerate(matrix.tolist()):
        cells = []
        for j, value in enumerate(scores):
            of_row = matches["predictions"][i]["reference"] == j
            of_column = matches["references"][j]["prediction"] == i
            marks = "→" * of_row + "↓" * of_column
            strength = 15 + 60 * min(1.0, max(0.0, value)) if marks else 0
            cells.append(f'<td style="--strength: {strength:.0f}%">{marks} {value:.2f}</td>')
        rows.append(f'<tr><th scope="row">G{i + 1}</th>{"".join(cells)}</tr>')
    return (
        '<div class="wide" tabindex="0"><table class="numbers matrix"><caption>Generated questions (G) against '
        f"references (R)</caption><thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
        "</table></div>"
    )


def page(generated: str, references: str, base: str) -> list:
    """Return what the page shows."""
    generated, references, matrix, scores = results_of(generated, references, base)
    matches = scoring.best_matches(matrix)
    precision, recall = scores["f_meta_precision"], scores["f_meta_recall"]
    headline = (
        f"F-meta is **{scores['f_meta']:.3f}**; the conventional score says {scores['f_meta_conventional']:.3f}."
    )
    if recall < precision - 0.1:
        headline += " What was generated is close to a reference, but some references were never asked."
    elif precision < recall - 0.1:
        headline += " The references are covered, but some generated questions are close to none of them."
    parts = {"F-meta": "f_meta", "precision": "f_meta_precision", "recall": "f_meta_recall"}
    values = [(label, scores[name]) for label, name in parts.items()]
    values += [("conventional", scores["f_meta_conventional"])]
    chart = common.bars([("", values)], f"Scores from 0 to 1, base {base}", muted={"conventional"})
    of_generated = [
        [f"G{i + 1}", text, f"R{match['reference'] + 1}", f"{match['score']:.3f}"]
        for i, (text, match) in enumerate(zip(generated, matches["predictions"], strict=True))
    ]
    of_references = [
        [f"R{j + 1}", text, f"G{match['prediction'] + 1}", f"{match['score']:.3f}"]
        for j, (text, match) in enumerate(zip(references, matches["references"], strict=True))
    ]
    return [headline, chart, matrix_html(matrix, matches), of_generated, of_references]


def scores_of(generated: list[str], references: list[str], base: str = "ROUGE-L") -> dict:
    """Score a set of generated questions against a set of reference questions.

    Args:
        generated: the generated questions.
        references: the reference questions.
        base: what scores a pair: ROUGE-L, BLEU-4 or METEOR.
    """
    return results_of("\n".join(map(str, generated)), "\n".join(map(str, references)), base)[3]


with gr.Blocks(title="F-meta: is everything asked?") as demo:
    gr.Markdown(
        "# F-meta: is everything asked?\n"
        "A generator that asks one good question again and again looks fine to BLEU, ROUGE and METEOR. F-meta "
        "compares *sets*: **precision** asks how close every generated question is to its best reference, **recall** "
        "how close every reference is to its best generated question."
    )
    with gr.Row():
        with gr.Column(min_width=280):
            limits = f"One on each line, at most {MAX_QUESTIONS}."
            generated = gr.Textbox(label="Generated questions", info=limits, lines=4, max_lines=12)
            references = gr.Textbox(label="Reference questions", info=limits, lines=4, max_lines=12)
            base = gr.Radio(
                list(BASES), value="ROUGE-L", label="Base metric", info=f"It scores a pair of questions.{METEOR_NOTE}"
            )
            button = gr.Button("Compare the sets", variant="primary")
            examples = gr.Column()
        with gr.Column(min_width=280):
            area = common.results_area("Fill in both lists, or choose an example.")
            with area.results:
                headline = gr.Markdown(elem_classes="headline")
                chart = gr.HTML(apply_default_css=False)
                matrix = gr.HTML(apply_default_css=False)
                gr.Markdown(
                    "→ the best reference of the generated question in this row; ↓ the best generated question of the "
                    "reference in this column. Precision is the mean of →, recall the mean of ↓."
                )
                tables = [
                    gr.Dataframe(
                        headers=["", f"{here} question", "match", "score"],
                        datatype="str",
                        type="array",
                        label=f"{here} questions",
                        interactive=False,
                        wrap=True,
                        column_widths=["14%", "44%", "19%", "23%"],
                        buttons=[],
                    )
                    for here in ("Generated", "Reference")
                ]
    with gr.Accordion("The paper's example", open=False):
        gr.Markdown(
            '"which event did the 2014 world cup" is no good question, but its words stand in two references, one '
            "part in each. The conventional score takes them together: BLEU-4 0.595, ROUGE-L 0.624, METEOR 0.377. "
            "F-meta does not: 0.287, 0.599, 0.352 (the paper's BLEU is smoothed in another way than the one here). "
            "Schlichtkrull & Cheng, [Evaluating for Diversity in Question Generation over Text]"
            "(https://arxiv.org/abs/2008.07291), 2020."
        )
    common.connect(
        [button.click],
        page,
        [generated, references, base],
        area,
        [headline, chart, matrix, *tables],
        examples=(examples, EXAMPLES),
    )
    gr.api(common.answered(scores_of), api_name="score", concurrency_limit=1, concurrency_id="page")

if __name__ == "__main__":
    common.launch(demo)
