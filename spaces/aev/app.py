"""Demo of AEv: a score between recall and precision, words and phrases, with BLEU and ROUGE as its corners."""

import json
import sys
from collections import Counter
from math import inf
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
from common import checks, events, html, server, sharing, uploads
from genqa_metrics.aev import scoring
from genqa_metrics.core.reading import the_first

TITLE = "AEv: what should an overlap score reward?"
ABOUT = "Recall or precision, words or phrases: one score with BLEU and ROUGE among its settings."
MAX_TEXT = 20_000  # characters
MAX_ORDER = max(scoring.GRID_ORDERS)
NAMED = 10  # words in a sentence
# Backgrounds of scores 0.0 to 1.0, and how many of them have black text.
HEAT = ("#eff6ff", "#dbeafe", "#bfdbfe", "#93c5fd", "#60a5fa", "#3b82f6", "#2563eb", "#1d4ed8", "#1e40af", "#1e3a8a")
PALE = 6

LOW, WORDS = 0.5, 0.5  # a score below LOW is explained where words of the reference are found, a share from WORDS on
LONG = 1.5  # times the length of the reference
RIGHT = "It counts shared words and does not judge whether the answer is right: one wrong word can cost little."
# Points of the plane: alpha, N, B, W, no limit on wordiness, words unchanged, the best reference counts.
IN_BETWEEN = (0.5, 2, 1, 2, False, False, False)
CORNERS = {
    "BLEU-4": (1, 4, 1, 2, False, True, False),
    "ROUGE-1 recall": (0, 1, 1, 2, True, True, False),
    "Content": (0, 1, 1, 2, True, False, True),
    "Ours: in between": IN_BETWEEN,
}
DEMO = sharing.Demo(__file__, TITLE, ABOUT, *IN_BETWEEN)


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


def corner_of(settings) -> dict[tuple[float, int], str]:
    """Return which corners of the plane are exactly BLEU and ROUGE with these settings."""
    plain = settings.stop_words is None and settings.stemmer is None
    corners = {}
    if plain and settings.wordiness == inf:
        corners[0.0, 1] = "ROUGE-1"
    if plain and settings.brevity == 1:
        corners[1.0, 4] = "BLEU-4"
    return corners


# A click on a cell sets the sliders. The cell keeps the keyboard focus when the plane is drawn again, until the focus
# moves elsewhere.
CELLS = sharing.text_beside(__file__, "cells.js")


def meaning(settings) -> str:
    """Return what these settings measure, for a reader who does not know the paper."""
    alpha, order = settings.alpha, settings.max_order
    extra = "nothing" if settings.wordiness == inf else "only the wordiness penalty"
    if alpha in (0, 1):
        counted = f"Only **recall** counts: does the answer say what the reference says? Extra text costs {extra}"
        if alpha:
            counted = "Only **precision** counts: does the reference support what the answer says? Leaving things out "
            counted += "costs only the brevity penalty"
    else:
        lean = "equally" if alpha == 0.5 else "precision more" if alpha > 0.5 else "recall more"
        counted = f"**Recall and precision** count, {lean}"
    compared = "Single **words**" if order == 1 else f"Words and **phrases** of up to {order} words"
    text = f"{counted}. {compared} are compared."
    corner = corner_of(settings).get((float(alpha), order))
    if corner == "BLEU-4":
        text += " This is **BLEU-4**, without smoothing."
    elif corner:
        text += " This is the **recall of ROUGE-1**."
    elif settings == settings_of(*CORNERS["Content"]):
        text += " These are the settings for **content**: extra text and length do not matter."
    return text


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


def why_low(answer: str, reference: str, scores: dict) -> str:
    """Return why a score is low although the words of the reference are in the answer; "" if that is not so."""
    content = settings_of(*CORNERS["Content"])
    words = float(scoring.scores(scoring.statistics([answer], [[reference]], content).sum(axis=0), content)["aev"])
    if scores["aev"] >= LOW or words < WORDS:
        return ""
    ratio = scores["prediction_length"] / max(scores["reference_length"], 1)
    reason = "few words stand in the same order as in the reference"
    if ratio > LONG:
        reason = f"the answer is {ratio:.3g} times as long as the reference"
    return (
        f"Low because {reason}. The answer has **{words:.0%}** of the words of the reference: that is the score with "
        "the button Content, which ignores extra text, length and order."
    )


def page(answer, reference, *controls) -> list:
    """Return what the page shows for two texts."""
    arguments, mark = chosen(*controls), DEMO.mark(answer, reference, *controls)
    example = DEMO.note((answer, reference)) if controls == IN_BETWEEN else ""  # notes describe these settings only
    answer = checks.text("Answer to be scored", answer, MAX_TEXT)
    reference = checks.text("Reference answer", reference, MAX_TEXT)
    settings = scoring.Settings(**arguments)
    total = scoring.statistics([answer], [[reference]], settings, MAX_ORDER).sum(axis=0)
    scores = {name: float(value) for name, value in scoring.scores(total, settings).items()}
    lengths = f"{scores['prediction_length']:.0f} terms against {scores['reference_length']:.0f}"
    count, words = shared_words(answer, reference, settings)
    headline = f"AEv is **{scores['aev']:.3f}**, from 0 to 1. {count}"
    measured = f"AEv({settings.alpha:g}, {settings.max_order}): {meaning(settings)}"
    # What follows the semicolon names settings, which are controls here.
    notes = [f"Note: {note.partition(';')[0].replace('_', ' ')}." for note in scoring.warnings_for(total, settings)]
    cells = [
        ("Precision: how much of the answer is in the reference", "aev_precision", "brevity_penalty"),
        ("Recall: how much of the reference is in the answer", "aev_recall", "wordiness_penalty"),
    ]
    cells = [[label, *(f"{scores[name]:.3f}" for name in names)] for label, *names in cells]
    caption = f"Parts of the score, penalties included (a penalty of 1 is none); lengths: {lengths}"
    parts = html.table(("part", "value", "penalty"), cells, caption, {1, 2})
    cell, sides = (round(settings.alpha, 1), settings.max_order), {0.0: "recall", 0.5: "both", 1.0: "precision"}
    drawn = {"corners": corner_of(settings), "chosen": cell, "sides": sides, "heat": HEAT, "pale": PALE}
    plane = html.rendered(__file__, "plane.html.j2", grid=scoring.grid_scores(total, settings), **drawn)
    status = html.headline(headline, words, why_low(answer, reference, scores), measured, *notes, RIGHT, example)
    code = sharing.metric_code("aev", predictions=[answer], references=[reference], **arguments, grid=True)
    return [status + mark, plane, parts, code]


def moved(answer, reference, *controls) -> list:
    """Return what the page shows after a control has changed."""
    if not (answer or reference):
        raise events.NothingToScore
    return page(answer, reference, *controls)


def plane(answer: str, reference: str, alpha: float = 0.5, order: int = 2) -> dict:
    """Score an answer against a reference over the whole plane.

    Args:
        answer: the answer to be scored.
        reference: the reference answer.
        alpha: from 0, recall, to 1, precision.
        order: N, the length of the longest word sequence, 1 to 4.
    """
    for name, value in (("alpha", alpha), ("order", order)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            got = "null" if value is None else type(value).__name__
            raise checks.Problem(f"{name}: expected a number, got {got}.")
    settings = settings_of(alpha, order, *IN_BETWEEN[2:])
    answers = [checks.text("answer", answer, MAX_TEXT)]
    references = [[checks.text("reference", reference, MAX_TEXT)]]
    total = scoring.statistics(answers, references, settings, MAX_ORDER).sum(axis=0)
    return {"aev": float(scoring.scores(total, settings)["aev"]), "aev_grid": scoring.grid_scores(total, settings)}


def main_sliders() -> list[gr.Slider]:
    """Return the controls of alpha and N, not rendered yet."""
    recall, words = "0: recall alone; 1: precision alone", "1: single words; 4: phrases of up to 4"
    return [
        gr.Slider(0, 1, 0.5, step=0.1, label="Recall or precision (alpha)", info=recall, render=False),
        gr.Slider(1, MAX_ORDER, 2, step=1, label="Words or phrases (N)", info=words, render=False),
    ]


def controls_of_lengths() -> list:
    """Return the controls that are folded: penalties of lengths, stop words, several references; not rendered yet."""
    short = "Answers shorter than 1/B of the reference are penalised."
    long = "Answers longer than W times the reference are penalised."
    plain = "Leave words unchanged (keep stop words, no stemming)"
    return [
        gr.Slider(0.2, 5, 1, step=0.1, label="Too short (B)", info=short, render=False),
        gr.Slider(0.2, 5, 2, step=0.1, label="Too long (W)", info=long, render=False),
        gr.Checkbox(False, label="No limit on wordiness", render=False),
        gr.Checkbox(False, label=plain, render=False),
        gr.Checkbox(False, label="Several references are alternatives: the best one counts", render=False),
    ]


with DEMO.page() as demo:
    controls = [*main_sliders(), *controls_of_lengths()]
    corners = {gr.Button(name, size="sm", min_width=90, render=False): point for name, point in CORNERS.items()}
    plane_table = gr.HTML(apply_default_css=False, js_on_load=CELLS, render=False)

    def results() -> list:
        """Add the controls, the plane and the table of parts."""
        for control in controls[:2]:
            control.render()
        with gr.Row():
            for button in corners:
                button.render()
        plane_table.render()
        outputs = [plane_table, *sharing.plain(1)]
        with gr.Accordion("More settings: length penalties, stop words", open=False):
            for control in controls[2:]:
                control.render()
        return outputs

    with gr.Tabs(overflow_behavior="wrap"):
        fields = [sharing.text_box("Answer to be scored", lines=2), sharing.text_box("Reference answer", lines=2)]
        hint = "Type two texts, or choose an example."
        form = DEMO.form("Two texts", fields, "Score the answer", page, results, hint, controls=controls)
        uploads.score_tab(
            "A file",
            "aev",
            ("prediction", "references", "system", "id"),
            DEMO.example_file,
            "Columns: answer, references; also system and id.",
            others=main_sliders(),
            settings=lambda alpha, order: chosen(alpha, order, *IN_BETWEEN[2:]),
        )
    DEMO.add_background("What the paper found", "aev")
    quiet = {"scroll": False, "show_progress": "hidden"}
    events.connect([control.change for control in controls], moved, *form, **quiet)

    def clicked(event: gr.EventData) -> list:
        """Return alpha and N of the cell that was clicked."""
        return [event.alpha, event.order]

    hidden = {"api_visibility": "private", "show_progress": "hidden"}
    plane_table.click(clicked, None, controls[:2], trigger_mode="multiple", **hidden)
    for button, values in corners.items():
        button.click(None, None, controls, js=f"() => {json.dumps(values)}", api_visibility="private")
    server.endpoint(plane, *DEMO.examples[1].entries[:2], 0.5, 2)

if __name__ == "__main__":
    DEMO.launch()
