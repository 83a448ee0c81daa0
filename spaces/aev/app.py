"""Demo of AEv: a score between recall and precision, words and phrases, with BLEU and ROUGE as its corners."""

import json
import sys
from collections import Counter
from math import inf
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
import numpy as np
from common import checks, events, html
from common.demo import Demo, Result, link_to, metric_code, plain_outputs
from genqa_metrics.aev import scoring
from genqa_metrics.core.reading import the_first

MAX_ORDER = max(scoring.GRID_ORDERS)
NAMED = 10  # words in a sentence
# Backgrounds of scores 0.0 to 1.0, and how many of them have black text.
HEAT = ("#eff6ff", "#dbeafe", "#bfdbfe", "#93c5fd", "#60a5fa", "#3b82f6", "#2563eb", "#1d4ed8", "#1e40af", "#1e3a8a")
PALE = 6
SIDES = {0.0: "recall", 0.5: "both", 1.0: "precision"}  # of alpha

LOW, WORDS = 0.5, 0.5  # a score below LOW is explained where words of the reference are found, a share from WORDS on
LONG = 1.5  # times the length of the reference
NOTHING = (
    "No word that counts is shared, so the score is 0 with every alpha and N. Read such an answer with the judge "
    "**AVA**: it can be right in other words."
)
RIGHT = html.hint("It counts shared words and does not judge what is right: one wrong word can cost little.")
# Points of the plane: alpha, N, B, W, no limit on wordiness, words unchanged, the best reference counts.
IN_BETWEEN = (0.5, 2, 1, 2, False, False, False)
CORNERS = {
    "Content": (0, 1, 1, 2, True, False, True),
    "In between": IN_BETWEEN,
    "BLEU-4": (1, 4, 1, 2, False, True, False),
    "ROUGE-1 recall": (0, 1, 1, 2, True, True, False),
}
WHICH = (
    "**Content**: is it said at all? For facts, and for assistants' long answers. **In between**: for answers about "
    "as long as their reference. **BLEU-4**, **ROUGE-1 recall**: to compare with published numbers."
)


def chosen(alpha, order, brevity, wordiness, unlimited, plain, best) -> dict:
    """Return the settings of the controls, by the names that `compute` has for them."""
    if order not in scoring.GRID_ORDERS:
        raise checks.Problem(f"N: expected a whole number from 1 to {MAX_ORDER}.")
    settings = {"alpha": alpha, "max_order": int(order), "brevity": brevity}
    settings["wordiness"] = inf if unlimited else wordiness
    settings |= {"stop_words": None, "stemmer": None} if plain else {}
    return settings | ({"reference_recall": "best"} if best else {})


def settings_of(*controls) -> scoring.Settings:
    """Return the settings of the controls."""
    return scoring.Settings(**chosen(*controls))


def sums_and_scores(answer: str, reference: str, settings: scoring.Settings) -> tuple[np.ndarray, dict[str, float]]:
    """Return the statistics of an answer for all N, and its scores."""
    sums = scoring.statistics([answer], [[reference]], settings, MAX_ORDER).sum(axis=0)
    return sums, {name: float(score) for name, score in scoring.scores(sums, settings).items()}


def corners_of(settings: scoring.Settings) -> dict[tuple[float, int], str]:
    """Return {(alpha, N): BLEU or ROUGE} for the corners of the plane that are exactly these with the settings."""
    if settings.stop_words is not None or settings.stemmer is not None:
        return {}
    rouge, bleu = settings.wordiness == inf, settings.brevity == 1
    return ({(0.0, 1): "ROUGE-1"} if rouge else {}) | ({(1.0, 4): "BLEU-4"} if bleu else {})


def meaning(settings: scoring.Settings) -> str:
    """Return what these settings measure, for a reader who does not know the paper."""
    alpha, order = settings.alpha, settings.max_order
    extra = "nothing" if settings.wordiness == inf else "only the wordiness penalty"
    if alpha == 0:
        counted = f"Only **recall** counts: does the answer say what the reference says? Extra text costs {extra}"
    elif alpha == 1:
        counted = "Only **precision** counts: does the reference support what the answer says? Leaving things out "
        counted += "costs only the brevity penalty"
    else:
        lean = "equally" if alpha == 0.5 else "precision more" if alpha > 0.5 else "recall more"
        counted = f"**Recall and precision** count, {lean}"
    compared = "Single **words**" if order == 1 else f"Words and **phrases** of up to {order} words"
    corner = corners_of(settings).get((float(alpha), order))
    if corner == "BLEU-4":
        name = " This is **BLEU-4**, without smoothing."
    elif corner:
        name = " This is the **recall of ROUGE-1**."
    else:
        is_content = settings == settings_of(*CORNERS["Content"])
        name = " These are the settings for **content**: extra text and length do not matter." if is_content else ""
    return f"{counted}. {compared} are compared.{name}"


def shared_words(answer: str, reference: str, settings: scoring.Settings) -> tuple[str, str]:
    """Return which words of the reference the answer has, and which words it lacks or adds, each in a sentence.

    >>> texts = "The Danube flows west.", "It flows into the Black Sea."
    >>> for sentence in shared_words(*texts, settings_of(*IN_BETWEEN)): print(sentence)
    The answer has **1 of 3** words of the reference, and **2** others.
    Missing: black, sea. Others: danube, west.
    """
    plain = scoring.readers(scoring.Settings(stop_words=None, stemmer=None))
    read, split = next(pair for pair in zip(scoring.readers(settings), plain, strict=True) if pair[0](reference))
    shown = {term: word for text in (answer, reference) for word in split(text) for term in read(word)}
    has, wants = Counter(read(answer)), Counter(read(reference))
    missing, others = wants - has, has - wants
    count = f"The answer has **{(has & wants).total()} of {wants.total()}** words of the reference"
    count += f", and **{others.total()}** other{'s' * (others.total() > 1)}." if others else ", and no others."
    lists = (("Missing", missing), ("Others", others))
    named = (f"{name}: {the_first([shown[term] for term in terms], NAMED)}." for name, terms in lists if terms)
    return count, " ".join(named)


def why_low(answer: str, reference: str, scores: dict, order: int) -> str:
    """Return why a score is low although the words of the reference are in the answer; "" if that is not so."""
    words = sums_and_scores(answer, reference, settings_of(*CORNERS["Content"]))[1]["aev"]
    if scores["aev"] >= LOW or words < WORDS:
        return ""
    ratio = scores["prediction_length"] / max(scores["reference_length"], 1)
    reason = "few words stand in the same order as in the reference"
    if not scores["aev"]:
        reason = f"the texts share no phrase of {order} words that count"
    elif ratio > LONG:
        reason = f"the answer is {ratio:.3g} times as long as the reference"
    return (
        f"Low because {reason}. The answer has **{words:.0%}** of the words of the reference: that is the score with "
        "the button Content, which ignores extra text, length and order."
    )


def show(answer: str, reference: str, *controls) -> Result:
    """Return what the page shows for two texts."""
    arguments, settings = chosen(*controls), settings_of(*controls)
    sums, scores = sums_and_scores(answer, reference, settings)
    count, words = shared_words(answer, reference, settings)
    grid = scoring.grid_scores(sums, settings)
    is_nothing = not np.any(grid["aev"])
    low = NOTHING if is_nothing else why_low(answer, reference, scores, settings.max_order)
    sentences = [f"AEv is **{scores['aev']:.3f}**, from 0 to 1. {count}", words, low]
    sentences.append(f"AEv({settings.alpha:g}, {settings.max_order}): {meaning(settings)}")
    # What follows the semicolon names settings, which are controls here. The score can have one part only.
    without = {0: "brevity_penalty", 1: "wordiness_penalty"}.get(settings.alpha, "none")
    notes = [
        note for note in scoring.warnings_for(sums, settings) if without not in note and not (low and "-gram" in note)
    ]
    sentences += html.notes(note.partition(";")[0].replace("_", " ") for note in notes)
    sides = [
        ("Precision: how much of the answer is in the reference", "aev_precision", "brevity_penalty"),
        ("Recall: how much of the reference is in the answer", "aev_recall", "wordiness_penalty"),
    ]
    cells = []
    for label, side, penalty in sides:
        share = scores[side] / scores[penalty] if scores[penalty] else 0.0
        cells.append([label, *(f"{number:.3f}" for number in (share, scores[penalty], scores[side]))])
    lengths = f"{scores['prediction_length']:.0f} terms against {scores['reference_length']:.0f}"
    caption = f"Parts of the score; a penalty of 1 is none. Lengths: {lengths}"
    drawn = {"corners": corners_of(settings), "chosen": (round(settings.alpha, 1), settings.max_order)}
    drawn |= {"sides": SIDES, "heat": HEAT, "pale": PALE, "grid": grid}
    outputs = ["" if is_nothing else html.rendered(__file__, "plane.html.j2", **drawn)]
    outputs.append(html.table(("part", "share", "penalty", "product"), cells, caption, {1, 2, 3}))
    programs = {"aev": scores["aev"], "aev_grid": grid}
    code = metric_code("aev", predictions=[answer], references=[reference], **arguments, grid=True)
    judge = html.fill('<p class="hint"><a href="{address}">AVA, the judge</a></p>', address=link_to("ava"))
    return Result(programs, sentences, outputs, code, RIGHT + (judge if is_nothing else ""))


def main_sliders() -> list[gr.Slider]:
    """Return the controls of alpha and N, not rendered yet."""
    recall, words = "0: recall alone; 1: precision alone", "1: single words; 4: phrases of up to 4"
    return [
        gr.Slider(0, 1, 0.5, step=0.1, label="Recall or precision (alpha)", info=recall, render=False),
        gr.Slider(1, MAX_ORDER, 2, step=1, label="Words or phrases (N)", info=words, render=False),
    ]


def check_box(label: str) -> gr.Checkbox:
    """Return a box that is not ticked, not rendered yet."""
    return gr.Checkbox(False, label=label, render=False)


def length_slider(default: float, label: str, info: str) -> gr.Slider:
    """Return a control of a penalty of lengths, not rendered yet."""
    return gr.Slider(0.2, 5, default, step=0.1, label=label, info=info, render=False)


CONTROLS = [
    *main_sliders(),
    length_slider(1, "Too short (B)", "Answers shorter than 1/B of the reference are penalised."),
    length_slider(2, "Too long (W)", "Answers longer than W times the reference are penalised."),
    check_box("No limit on wordiness"),
    check_box("Leave words unchanged (keep stop words, no stemming)"),
    check_box("Several references are alternatives: the best one counts"),
]


def clicked(event: gr.EventData) -> list:
    """Return alpha and N of the cell that was clicked."""
    return [event.alpha, event.order]


def results() -> list:
    """Add the controls, the plane and the table of parts."""
    for control in CONTROLS[:2]:
        control.render()
    with gr.Row(elem_classes="choices"):
        for name, entries in CORNERS.items():
            button = gr.Button(name, size="sm", min_width=100)
            button.click(None, None, CONTROLS, js=f"() => {json.dumps(entries)}", api_visibility="private")
    gr.Markdown(WHICH, elem_classes="note")
    # A click on a cell sets the sliders. The cell keeps the keyboard focus when the plane is drawn again, until the
    # focus moves elsewhere.
    cells = gr.HTML(apply_default_css=False, js_on_load=html.text_beside(__file__, "cells.js"))
    hidden = {"api_visibility": "private", "show_progress": "hidden"}
    cells.click(clicked, None, CONTROLS[:2], trigger_mode="multiple", **hidden)
    outputs = [cells, *plain_outputs()]
    with gr.Accordion("More settings: length penalties, stop words", open=False):
        for control in CONTROLS[2:]:
            control.render()
    return outputs


def score(
    answer: str,
    reference: str,
    alpha: float = 0.5,
    order: float = 2,
    brevity: float = 1,
    wordiness: float = 2,
    unlimited: bool = False,
    unchanged: bool = False,
    best: bool = False,
) -> dict:
    """Score an answer against a reference, with one setting and over the whole plane.

    Args:
        answer: the answer to be scored
        reference: the reference answer
        alpha: 0 is recall alone, 1 precision alone
        order: N: 1 compares single words, 4 phrases of up to 4 words
        brevity: B: answers shorter than 1/B of the reference are penalised
        wordiness: W: answers longer than W times the reference are penalised
        unlimited: no limit on wordiness
        unchanged: keep stop words, no stemming
        best: several references are alternatives: the best one counts
    """
    return DEMO.score(answer, reference, alpha, order, brevity, wordiness, unlimited, unchanged, best)


DEMO = Demo(
    __file__,
    "aev",
    show,
    score,
    controls=CONTROLS,
    controls_in_form=False,
    results=results,
    file_controls=main_sliders,
    settings=lambda alpha, order: chosen(alpha, order, *IN_BETWEEN[2:]),
)
with DEMO.page:
    changes, quiet = [control.change for control in CONTROLS], {"scroll": False, "show_progress": "hidden"}
    events.connect(changes, DEMO.scored, DEMO.inputs, DEMO.area, DEMO.outputs, **quiet)

if __name__ == "__main__":
    DEMO.launch()
