"""Demo of AEv: the evaluation plane of alpha and N, with BLEU and ROUGE in its corners."""

import sys
from importlib import import_module
from math import inf
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # a checkout has common.py there, a Space beside this file
import common
import gradio as gr

METRIC = common.find_metric(__file__, "aev")
scoring = import_module("genqa.aev.scoring")

MAX_TEXT = 20_000  # characters; nothing here is slow
MAX_ORDER = max(scoring.GRID_ORDERS)
# Backgrounds of scores 0.0 to 1.0, and how many of them take black letters.
HEAT = ("#eff6ff", "#dbeafe", "#bfdbfe", "#93c5fd", "#60a5fa", "#3b82f6", "#2563eb", "#1d4ed8", "#1e40af", "#1e3a8a")
PALE = 6

EXAMPLES = {
    "One wrong word": (
        "There are seven steps involved in a hypothesis test.",
        "Four steps are involved in a hypothesis test.",
    ),
    "Right answer, much around it": (
        "Good question! The Danube flows into the Black Sea. By the way, many people like boats, and a holiday by the "
        "water is always nice, whatever the weather may be.",
        "The Danube flows into the Black Sea.",
    ),
    "Right words, another order": (
        "Into the Black Sea the Danube flows.",
        "The Danube flows into the Black Sea.",
    ),
    "Too short": ("Black Sea", "The river Danube flows through ten countries into the Black Sea."),
}
# Corners of the plane: alpha, N, B, W, no limit on wordiness, every word as it is.
CORNERS = {
    "BLEU-4": (1, 4, 1, 2, False, True),
    "ROUGE-1 recall": (0, 1, 1, 2, True, True),
    "Middle (default)": (0.5, 2, 1, 2, False, False),
}


def settings_of(alpha, order, brevity, wordiness, unlimited, plain):
    """Return the settings that the controls say."""
    if order not in scoring.GRID_ORDERS:
        raise common.Problem(f"N: expected a whole number from 1 to {MAX_ORDER}.")
    words = {"stop_words": None, "stemmer": None} if plain else {}
    return scoring.Settings(
        alpha=alpha,
        max_order=int(order),
        brevity=brevity,
        wordiness=inf if unlimited else wordiness,
        **words,
    )


def statistics_of(source, answer, reference, path, settings):
    """Return the summed statistics of two texts or of a file, and the number of rows."""
    if source == "file":
        items = common.read_items(path, ("prediction", "references"))
        answers, references = [item.predictions[0] for item in items], [item.references for item in items]
    else:
        answers = [common.checked_text("Answer", answer, MAX_TEXT)]
        references = [[common.checked_text("Reference", reference, MAX_TEXT)]]
    return scoring.summed_statistics(answers, references, settings, MAX_ORDER), len(answers)


def plane_html(grid: dict, alpha: float, order: int) -> str:
    """Return the plane as an HTML table of numbers, the cell of alpha and N marked."""
    corners = {(0.0, 1): "ROUGE", (1.0, 4): "BLEU"}
    sides, units = {0.0: "recall", 1.0: "precision"}, {1: "words", MAX_ORDER: "wording"}
    head = "".join(f'<th scope="col">N = {n}<small>{units.get(n, "&nbsp;")}</small></th>' for n in grid["max_order"])
    rows = []
    for i, at in enumerate(grid["alpha"]):
        cells = []
        for n, scores in zip(grid["max_order"], grid["aev"], strict=True):
            step = min(int(scores[i] * len(HEAT)), len(HEAT) - 1)
            here = ' class="here" aria-current="true"' if (at, n) == (round(alpha, 1), order) else ""
            corner = f"<small>{corners[at, n]}</small>" if (at, n) in corners else ""
            colour = "#000000" if step < PALE else "#ffffff"
            cells.append(f'<td{here} style="background: {HEAT[step]}; color: {colour}">{corner}{scores[i]:.2f}</td>')
        side = f"<small>{sides[at]}</small>" if at in sides else ""
        rows.append(f'<tr><th scope="row">{at:.1f}{side}</th>{"".join(cells)}</tr>')
    return (
        '<div class="wide"><table class="numbers plane"><caption>AEv(alpha, N): alpha down, N across</caption>'
        f'<thead><tr><th scope="col">alpha</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def meaning(settings) -> str:
    """Return in words what the chosen place of the plane measures."""
    alpha, order = settings.alpha, settings.max_order
    plain = settings.stop_words is None
    if alpha in (0, 1):
        what = (
            "only **precision** counts: does the reference back what the answer says? An answer may leave things out; "
            "the penalty for brevity keeps it from saying next to nothing"
            if alpha
            else "only **recall** counts: does the answer say what the reference says? It may say more; the penalty "
            "for wordiness keeps it from saying everything"
        )
    else:
        lean = "both alike" if alpha == 0.5 else "precision more" if alpha > 0.5 else "recall more"
        what = f"precision and recall count, {lean}"
    how = "single words: **content**" if order == 1 else f"runs of 1 to {order} words: content and **wording**"
    text = f"With alpha = {alpha:g} {what}. With N = {order} it looks at {how}."
    if (alpha, order) == (1, 4):
        if plain and settings.brevity == 1:
            text += " This is **BLEU-4**, without smoothing."
        else:
            text += " This is the corner of **BLEU-4**, which takes every word as it is, and B = 1."
    elif (alpha, order) == (0, 1):
        if plain and settings.wordiness == inf:
            text += " This is the **recall of ROUGE-1**."
        else:
            text += (
                " This is the corner of **ROUGE-1**, which takes every word as it is and has no limit on wordiness."
            )
    return text


def page(answer, reference, source, path, *controls) -> list:
    """Return what the page shows."""
    settings = settings_of(*controls)
    total, rows = statistics_of(source, answer, reference, path, settings)
    found = {name: float(value) for name, value in scoring.scores(total, settings).items()}
    lengths = f"{found['prediction_length']:.0f} terms against {found['reference_length']:.0f}"
    headline = f"AEv({settings.alpha:g}, {settings.max_order}) is **{found['aev']:.3f}**"
    headline += f", over {rows:,} rows together." if rows > 1 else "."
    notes = [f"Note: {note}." for note in scoring.warnings_for(total, settings)]
    parts = common.bars(
        [
            ("Precision side", [("PS(N)", found["aev_precision"]), ("brevity penalty", found["brevity_penalty"])]),
            ("Recall side", [("RS(N)", found["aev_recall"]), ("wordiness penalty", found["wordiness_penalty"])]),
        ],
        f"What it is made of; lengths: {lengths}",
        muted={"brevity penalty", "wordiness penalty"},
    )
    plane = plane_html(scoring.grid_scores(total, settings), settings.alpha, settings.max_order)
    return [headline, plane, "\n\n".join([meaning(settings), *notes]), parts]


def moved(answer, reference, source, path, *controls) -> list:
    """Return what the page shows after a control was moved."""
    if not (path if source == "file" else (answer or reference)):
        raise common.Untouched
    return page(answer, reference, source, path, *controls)


def plane(answer: str, reference: str, alpha: float = 0.5, order: int = 2) -> dict:
    """Score an answer against a reference over the whole plane.

    Args:
        answer: the answer to be scored.
        reference: the reference answer.
        alpha: from 0, recall, to 1, precision.
        order: N, the longest run of words, 1 to 4.
    """
    settings = settings_of(alpha, order, brevity=1, wordiness=2, unlimited=False, plain=False)
    total, _ = statistics_of("texts", answer, reference, None, settings)
    return {"aev": float(scoring.scores(total, settings)["aev"]), "aev_grid": scoring.grid_scores(total, settings)}


with gr.Blocks(title="AEv: from ROUGE to BLEU on one plane", delete_cache=common.KEEP) as demo:
    gr.Markdown(
        "# AEv: from ROUGE to BLEU on one plane\n"
        "How much of a reference must an answer say (recall), how much of what it says must be right (precision), and "
        "does wording count or only content? AEv has a dial for each, **alpha** and **N**. ROUGE and BLEU are two "
        "corners of the plane that they span."
    )
    source = gr.State("texts")
    with gr.Row():
        with gr.Column(min_width=280):
            with gr.Tabs(overflow_behavior="wrap"):  # a menu would hide a tab on a phone
                with gr.Tab("Two texts") as texts_tab:
                    answer = gr.Textbox(label="Answer to be scored", lines=2, max_lines=8)
                    reference = gr.Textbox(label="Reference answer", lines=2, max_lines=8)
                    texts_button = gr.Button("Show the plane", variant="primary")
                    examples = gr.Column()
                with gr.Tab("A file") as file_tab:
                    gr.Markdown(
                        f"CSV or JSON lines, at most {common.MAX_FILE // 2**20} MB and {common.MAX_ROWS:,} rows, with "
                        'the columns `prediction` and `references` (one text, or a list such as `["four", "4"]`).'
                    )
                    path = common.upload_field()
                    common.example_button(path, Path(__file__).with_name("example.csv"))
                    file_button = gr.Button("Show the plane of the file", variant="primary")
            gr.Markdown("### Move the marker")
            with gr.Row():
                corners = [(gr.Button(name, size="sm", min_width=90), values) for name, values in CORNERS.items()]
            alpha = gr.Slider(0, 1, 0.5, step=0.1, label="alpha", info="0: recall of the reference; 1: precision")
            order = gr.Slider(1, MAX_ORDER, 2, step=1, label="N", info="longest run of words that is compared")
            brevity = gr.Slider(
                0.2, 5, 1, step=0.1, label="B", info="answers shorter than 1/B of the reference are penalised"
            )
            wordiness = gr.Slider(
                0.2, 5, 2, step=0.1, label="W", info="answers longer than W times the reference are penalised"
            )
            unlimited = gr.Checkbox(False, label="No limit on wordiness")
            plain = gr.Checkbox(False, label="Take every word as it is (keep stop words, no stemming)")
        with gr.Column(min_width=280):
            area = common.results_area("Type two texts, or choose an example.")
            with area.results:
                headline = gr.Markdown(elem_classes="headline")
                plane_table = gr.HTML(apply_default_css=False)
                explanation = gr.Markdown()
                parts = gr.HTML(apply_default_css=False)
    with gr.Accordion("What the paper found", open=False):
        gr.Markdown(
            "Which place agrees with people depends on what they were asked to reward. Best cells, by R² with human "
            "scores of systems: fluency of translations AEv(1, 3), 79%; adequacy AEv(0, 4), 83%; coverage of "
            "summaries AEv(0, 1), 91%; answers, where a right one may stand among other text, AEv(0, 2), 92%; "
            "answers, where that is marked down, AEv(0.3, 2), 86%. Soricut & Brill, [A Unified Framework for "
            "Automatic Evaluation using N-gram Co-Occurrence Statistics](https://aclanthology.org/P04-1078/), 2004."
        )
    controls = [alpha, order, brevity, wordiness, unlimited, plain]
    inputs, outputs = [answer, reference, source, path, *controls], [headline, plane_table, explanation, parts]
    texts_tab.select(lambda: "texts", None, source, api_visibility="private")
    file_tab.select(lambda: "file", None, source, api_visibility="private")
    common.connect([texts_button.click, file_button.click], page, inputs, area, outputs, examples=(examples, EXAMPLES))
    common.connect(
        [control.change for control in controls],
        moved,
        inputs,
        area,
        outputs,
        api_name="moved",
        show_progress="hidden",
        trigger_mode="always_last",
    )
    for button, values in corners:
        button.click(lambda values=values: list(values), None, controls, api_visibility="private")
    gr.api(common.answered(plane), api_name="plane", concurrency_limit=1, concurrency_id="page")

if __name__ == "__main__":
    common.launch(demo)
