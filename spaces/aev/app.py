"""Demo of AEv: the evaluation plane of alpha and N, with BLEU and ROUGE in its corners."""

import re
import sys
from importlib import import_module
from math import inf
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # a checkout has common.py there, a Space beside this file
import clicks
import common
import gradio as gr
import look
import sharing
import uploads
from sharing import Example

METRIC = common.find_metric(__file__, "aev")
scoring = import_module("genqa.aev.scoring")

TITLE = "AEv: from ROUGE to BLEU on one plane"
ABOUT = "How much must an answer say, how much of it must be right, does wording count? From ROUGE to BLEU."
MAX_TEXT = 20_000  # characters; nothing here is slow
MAX_ORDER = max(scoring.GRID_ORDERS)
# Backgrounds of scores 0.0 to 1.0, and how many of them take black letters.
HEAT = ("#eff6ff", "#dbeafe", "#bfdbfe", "#93c5fd", "#60a5fa", "#3b82f6", "#2563eb", "#1d4ed8", "#1e40af", "#1e3a8a")
PALE = 6

EXAMPLES = [
    Example(
        "Right answer, much around it",
        (
            "Good question! The Danube flows into the Black Sea. By the way, many people like boats, and a holiday by "
            "the water is always nice, whatever the weather may be.",
            "The Danube flows into the Black Sea.",
        ),
        "Recall (top) is twice the precision (bottom): alpha decides how much the extra text is a fault.",
    ),
    Example(
        "Too short",
        ("Black Sea", "The river Danube flows through ten countries into the Black Sea."),
        "All that it says is right (precision), and it says little (recall); the penalty for brevity speaks up.",
    ),
    Example(
        "Right words, another order",
        ("Into the Black Sea the Danube flows.", "The Danube flows into the Black Sea."),
        "Every word is there at N = 1; longer runs of words see the other wording.",
    ),
    Example(
        "Failure: one wrong word",
        (
            "There are seven steps involved in a hypothesis test.",
            "Four steps are involved in a hypothesis test.",
        ),
        "The answer is wrong, and every cell is far from 0. Both texts are equally long, so alpha changes nothing.",
    ),
    Example(
        "Failure: right, in other words",
        ("She passed away at the age of eighty.", "She died when she was 80 years old."),
        "The answer is right, and hardly a word is shared: no place of the plane sees it.",
    ),
]
# Corners of the plane: alpha, N, B, W, no limit on wordiness, every word as it is.
CORNERS = {
    "BLEU-4": (1, 4, 1, 2, False, True),
    "ROUGE-1 recall": (0, 1, 1, 2, True, True),
    "Middle (default)": (0.5, 2, 1, 2, False, False),
}
CODE = """
import evaluate

aev = evaluate.load("metrics/aev")
results = aev.compute(
    predictions=[{answer}],
    references=[{reference}],
    {settings},
)
print(results)
"""


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


def corner_of(settings) -> dict[tuple[float, int], str]:
    """Return which corners of the plane are BLEU and ROUGE with these settings; else they are only near them."""
    plain = settings.stop_words is None and settings.stemmer is None
    found = {}
    if plain and settings.wordiness == inf:
        found[0.0, 1] = "ROUGE-1"
    if plain and settings.brevity == 1:
        found[1.0, 4] = "BLEU-4"
    return found


def plane_html(grid: dict, settings) -> look.Markup:
    """Return the plane as an HTML table of buttons, the cell of alpha and N marked."""
    corners, place = corner_of(settings), (round(settings.alpha, 1), settings.max_order)
    sides, units = {0.0: "recall", 1.0: "precision"}, {1: "words", MAX_ORDER: "wording"}
    head = "".join(f'<th scope="col">N = {n}<small>{units.get(n, "&nbsp;")}</small></th>' for n in grid["max_order"])
    rows = []
    for i, at in enumerate(grid["alpha"]):
        cells = []
        for n, scores in zip(grid["max_order"], grid["aev"], strict=True):
            step = min(int(scores[i] * len(HEAT)), len(HEAT) - 1)
            here = (at, n) == place
            name = corners.get((at, n), "")
            colour = "#000000" if step < PALE else "#ffffff"
            cells.append(
                f'<td{" class=here" if here else ""} style="background: {HEAT[step]}"><button type="button" '
                f'aria-label="alpha {at:g}, N {n}: {scores[i]:.2f}{", " * bool(name)}{name}" '
                f'aria-pressed="{str(here).lower()}" data-alpha="{at:g}" data-order="{n}" style="color: {colour}">'
                f"{f'<small>{name}</small>' if name else ''}{scores[i]:.2f}</button></td>"
            )
        side = f"<small>{sides[at]}</small>" if at in sides else ""
        rows.append(f'<tr><th scope="row">{at:.1f}{side}</th>{"".join(cells)}</tr>')
    return look.Markup(
        '<div class="wide"><table class="numbers plane"><caption>AEv(alpha, N): alpha down, N across; click a '
        "cell</caption>"
        f'<thead><tr><th scope="col">alpha</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


# A click on a cell moves the dials; the cell keeps the keyboard's focus whenever the plane is drawn anew, until the
# focus has gone elsewhere.
CELLS = """element.addEventListener('click', event => {
  const cell = event.target.closest('button[data-alpha]');
  if (!cell) return;
  element.dataset.clicked = 'yes';
  trigger('click', {alpha: +cell.dataset.alpha, order: +cell.dataset.order});
});
watch('value', () => { if (element.dataset.clicked) setTimeout(() => {
  const focused = document.activeElement;
  if (focused === document.body) element.querySelector('.here button')?.focus({preventScroll: true});
  else if (!element.contains(focused)) delete element.dataset.clicked;
}, 50); });"""


def meaning(settings) -> str:
    """Return in words what the chosen place of the plane measures."""
    alpha, order = settings.alpha, settings.max_order
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
    corner = corner_of(settings).get((float(alpha), order))
    if corner == "BLEU-4":
        text += " This is **BLEU-4**, without smoothing."
    elif corner:
        text += " This is the **recall of ROUGE-1**."
    elif (alpha, order) == (1, 4):
        text += " This is near **BLEU-4**, which takes every word as it is, and B = 1; the button above sets that."
    elif (alpha, order) == (0, 1):
        text += (
            " This is near the recall of **ROUGE-1**, which takes every word as it is and has no limit on wordiness; "
            "the button above sets that."
        )
    return text


def in_words_of_the_page(note: str) -> str:
    """Return a warning of the metric with what its settings are called on the page.

    >>> in_words_of_the_page("use a max_order below 3")
    'use an N below 3'
    """
    note = re.sub(r"\ba max_order\b", "an N", note).replace(
        "stop_words=None keeps stop words", "the last box keeps them"
    )
    note = note.replace("brevity=inf switches it off", "a higher B makes it milder")
    note = note.replace("wordiness=inf switches it off", "the box below switches it off")
    return note.replace("brevity_penalty", "brevity penalty").replace("wordiness_penalty", "wordiness penalty")


def shown_of(answers: list, references: list, settings, *more: str) -> list:
    """Return what the page shows of checked texts."""
    total, rows = scoring.summed_statistics(answers, references, settings, MAX_ORDER), len(answers)
    found = {name: float(value) for name, value in scoring.scores(total, settings).items()}
    lengths = f"{found['prediction_length']:.0f} terms against {found['reference_length']:.0f}"
    headline = f"AEv({settings.alpha:g}, {settings.max_order}) is **{found['aev']:.3f}**"
    headline += f", over {rows:,} rows together." if rows > 1 else "."
    notes = [f"Note: {in_words_of_the_page(note)}." for note in scoring.warnings_for(total, settings)]
    parts = look.bars(
        [
            ("Precision side", [("PS(N)", found["aev_precision"]), ("brevity penalty", found["brevity_penalty"])]),
            ("Recall side", [("RS(N)", found["aev_recall"]), ("wordiness penalty", found["wordiness_penalty"])]),
        ],
        f"What it is made of; lengths: {lengths}",
        muted={"brevity penalty", "wordiness penalty"},
    )
    plane = plane_html(scoring.grid_scores(total, settings), settings)
    return [look.headline(headline, *more), plane, "\n\n".join([meaning(settings), *notes]), parts]


def code_of(answer: str, reference: str, controls) -> look.Markup:
    """Return the same in Python."""
    alpha, order, brevity, wordiness, unlimited, plain = controls
    limit = 'float("inf")' if unlimited else f"{wordiness:g}"
    settings = f"alpha={alpha:g}, max_order={order}, brevity={brevity:g}, wordiness={limit}, grid=True"
    settings += ", stop_words=None, stemmer=None" if plain else ""
    return sharing.python_code(CODE.replace("{settings}", settings), answer=answer, reference=reference)


def page(answer, reference, *controls) -> list:
    """Return what the page shows of two texts."""
    settings = settings_of(*controls)
    usual = controls == CORNERS["Middle (default)"]  # what a note says need not hold elsewhere
    note = sharing.note_of(EXAMPLES, (answer, reference)) if usual else ""
    answer = common.checked_text("Answer to be scored", answer, MAX_TEXT)
    reference = common.checked_text("Reference answer", reference, MAX_TEXT)
    return [*shown_of([answer], [[reference]], settings, note), code_of(answer, reference, controls)]


COLUMNS = ("prediction", "references")


def either_page(source, answer, reference, path, prediction_column, references_column, *controls) -> list:
    """Return what the page shows of two texts or of a file, whichever tab is open."""
    if source == "texts":
        return page(answer, reference, *controls)
    columns = dict(zip(COLUMNS, (prediction_column, references_column), strict=True))
    rows = uploads.read(path, {**columns, "system": uploads.NONE, "id": uploads.NONE})
    answers, references = [item.predictions[0] for item in rows.items], [item.references for item in rows.items]
    status, *results = shown_of(answers, references, settings_of(*controls))
    return [status + rows.said(), *results, code_of("an answer", "its reference", controls)]


def moved(source, answer, reference, path, *others) -> list:
    """Return what the page shows after a control was moved, or another tab opened."""
    if not (path if source == "file" else (answer or reference)):
        raise clicks.Untouched
    return either_page(source, answer, reference, path, *others)


def plane(answer: str, reference: str, alpha: float = 0.5, order: int = 2) -> dict:
    """Score an answer against a reference over the whole plane.

    Args:
        answer: the answer to be scored.
        reference: the reference answer.
        alpha: from 0, recall, to 1, precision.
        order: N, the longest run of words, 1 to 4.
    """
    for name, value in (("alpha", alpha), ("order", order)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise common.Problem(
                f"{name}: expected a number, got {type(value).__name__ if value is not None else 'null'}."
            )
    settings = settings_of(alpha, order, brevity=1, wordiness=2, unlimited=False, plain=False)
    answers = [common.checked_text("answer", answer, MAX_TEXT)]
    references = [[common.checked_text("reference", reference, MAX_TEXT)]]
    total = scoring.summed_statistics(answers, references, settings, MAX_ORDER)
    return {"aev": float(scoring.scores(total, settings)["aev"]), "aev_grid": scoring.grid_scores(total, settings)}


with gr.Blocks(title=TITLE, delete_cache=common.KEEP) as demo:
    gr.Markdown(
        f"# {TITLE}\n"
        "How much of a reference must an answer say (recall), how much of what it says must be right (precision), and "
        "does wording count or only content? AEv has a dial for each, **alpha** and **N**. ROUGE and BLEU are two "
        "corners of the plane that they span. Stop words and stems are **English**."
    )
    source = gr.State("texts")
    with gr.Row():
        with gr.Column(min_width=280):
            with look.tabs():
                with gr.Tab("Two texts") as texts_tab:
                    answer = gr.Textbox(label="Answer to be scored", lines=2, max_lines=8)
                    reference = gr.Textbox(label="Reference answer", lines=2, max_lines=8)
                    texts_button = gr.Button("Show the plane", variant="primary")
                    examples = gr.Column()
                with gr.Tab("A file") as file_tab:
                    gr.Markdown(uploads.what_is_taken("Columns: answer, references."))
                    picked = uploads.picker(COLUMNS, Path(__file__).with_name("example.csv"))
                    file_button = gr.Button("Show the plane of the file", variant="primary")
        with gr.Column(min_width=280):
            area = clicks.results_area("Type two texts, or choose an example.")
            with area.results:
                with gr.Row():
                    corners = [(gr.Button(name, size="sm", min_width=90), values) for name, values in CORNERS.items()]
                plane_table = gr.HTML(apply_default_css=False, js_on_load=CELLS)
                explanation = gr.Markdown()
                parts = gr.HTML(apply_default_css=False)
                with gr.Accordion("Dials", open=True):
                    alpha = gr.Slider(
                        0, 1, 0.5, step=0.1, label="alpha", info="0: recall of the reference; 1: precision"
                    )
                    order = gr.Slider(1, MAX_ORDER, 2, step=1, label="N", info="longest run of words that is compared")
                    brevity = gr.Slider(
                        0.2, 5, 1, step=0.1, label="B", info="answers shorter than 1/B of the reference are penalised"
                    )
                    wordiness = gr.Slider(
                        0.2, 5, 2, step=0.1, label="W", info="answers longer than W times the reference are penalised"
                    )
                    unlimited = gr.Checkbox(False, label="No limit on wordiness")
                    plain = gr.Checkbox(False, label="Take every word as it is (keep stop words, no stemming)")
                sharing.share_row()
                with gr.Accordion("The same in Python", open=False):
                    code = gr.HTML(apply_default_css=False, elem_classes="python")
    with gr.Accordion("What the paper found", open=False):
        gr.Markdown(
            "Which place agrees with people depends on what they were asked to reward. Best cells, by R² with human "
            "scores of systems: fluency of translations AEv(1, 3), 79%; adequacy AEv(0, 4), 83%; coverage of "
            "summaries AEv(0, 1), 91%; answers, where a right one may stand among other text, AEv(0, 2), 92%; "
            "answers, where that is marked down, AEv(0.3, 2), 86%. Soricut & Brill, [A Unified Framework for "
            "Automatic Evaluation using N-gram Co-Occurrence Statistics](https://aclanthology.org/P04-1078/), 2004."
        )
    sharing.card(METRIC)
    controls = [alpha, order, brevity, wordiness, unlimited, plain]
    fields = [answer, reference, *controls]
    inputs = [source, answer, reference, *picked.inputs, *controls]
    outputs = [plane_table, explanation, parts, code]
    ran = clicks.connect([texts_button.click, file_button.click], either_page, inputs, area, outputs)
    ran_example = sharing.gallery(examples, EXAMPLES, fields[:2], either_page, inputs, area, outputs)
    quiet = {"scroll": False, "show_progress": "hidden", "trigger_mode": "always_last"}
    ran_moved = clicks.connect([control.change for control in controls], moved, inputs, area, outputs, **quiet)
    for tab, name in ((texts_tab, "texts"), (file_tab, "file")):
        tab.select(lambda name=name: name, None, source, api_visibility="private")
    # Not of select, which also fires when the page opens: its result would take the place of what a link asked for.
    clicks.connect([source.change], moved, inputs, area, outputs, scroll=False, show_progress="hidden")

    def clicked(event: gr.EventData) -> list:
        """Return alpha and N of the cell that was clicked."""
        return [event.alpha, event.order]

    plane_table.click(clicked, None, [alpha, order], api_visibility="private", show_progress="hidden")
    for button, values in corners:
        button.click(lambda values=values: list(values), None, controls, api_visibility="private")
    names = {"answer": sharing.text, "reference": sharing.text, "alpha": sharing.number(0, 1)}
    names |= {"n": sharing.number(1, MAX_ORDER), "b": sharing.number(0.2, 5), "w": sharing.number(0.2, 5)}
    names |= {"unlimited": sharing.flag, "plain": sharing.flag}
    sharing.in_address(demo, names, fields, EXAMPLES[0], page, area, outputs, [ran, ran_example, ran_moved])
    common.endpoint(
        plane,
        "plane",
        {"answer": EXAMPLES[1].values[0], "reference": EXAMPLES[1].values[1], "alpha": 0.5, "order": 2},
    )

if __name__ == "__main__":
    first = (*EXAMPLES[0].values, *CORNERS["Middle (default)"])
    clicks.preset(area, fields, first, outputs, page(*first))
    common.launch(demo, __file__, ABOUT)
