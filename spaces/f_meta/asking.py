"""Two generators ask about a sentence, and F-meta says which of them covers the visitor's own questions."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import clicks
import common
import gradio as gr
import look

MAX_SENTENCE = 500  # characters
MAX_QUESTIONS = 8  # each is a search
MAX_DRAW = 999
ALONE = {"concurrency_id": "ask"}  # one at a time; in the queue of the page, its limit would be everybody's
TOP = {"baseline": 1, "diverse": 2}  # generators that come with the repository, and the beams that they draw from
PARTS = {"F-meta": "f_meta", "precision": "f_meta_precision", "recall": "f_meta_recall"}
PARTS |= {"conventional": "f_meta_conventional"}
SENTENCE = "In 1969 Neil Armstrong became the first person to walk on the Moon."
OWN = "Who was the first person to walk on the Moon?\nWhen did Neil Armstrong walk on the Moon?"
OWN += "\nWhat did Neil Armstrong do in 1969?"
DRAW = 1
ABOUT = """Two small generators ask as many questions as you do. The **baseline** has one question for a sentence and
asks it again and again; the **diverse** one draws a latent variable for every question. They show what F-meta sees,
and many of their questions are not good: both learned from 34,123 questions in half an hour of a processor. The
sentence and the draw that stand here were chosen because the effect shows; with others the diverse one may repeat
itself too."""


class Asked(NamedTuple):
    """What one generator asked, and its scores against the visitor's questions."""

    questions: list[str]
    scores: dict[str, float]


@cache
def generators() -> dict:
    """Return the bundled generators by name, loaded once; a Space has their code and no package genqa-metrics."""
    here = Path(__file__).resolve().parent
    sys.path.append(str(here if (here / "training").is_dir() else here.parents[1]))
    try:
        import_module("genqa_metrics")
    except ImportError:
        sys.modules |= {name.replace("genqa", "genqa_metrics"): sys.modules[name] for name in ("genqa", "genqa.kpqa")}
    load = import_module("training.question_generation.ask").load
    return {name: load(name) for name in TOP}


def asked(sentence: str, own: list[str], base: object, draw: int, results_of: Callable) -> dict[str, Asked]:
    """Return what each generator asks about a sentence, as many questions as a person did.

    Args:
        sentence: a checked text.
        own: the person's questions.
        base: label of the base metric.
        draw: seed of the draws.
        results_of: from questions, references and base to a matrix and the scores.
    """
    found = {}
    for name, generator in generators().items():
        questions = generator.ask([sentence], len(own), seed=draw, top=TOP[name], distinct=False)[0]
        found[name] = Asked(questions, results_of(questions, own, base)[1])
    return found


def checked_draw(value: object) -> int:
    """Return the number of a draw.

    Raises:
        common.Problem: if it is none.

    >>> checked_draw(3.0)
    3
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(MAX_DRAW + 1):
        raise common.Problem(f"draw: expected a whole number from 0 to {MAX_DRAW}, got {value!s:.40}.")
    return int(value)


def shown(found: dict[str, Asked], base: str) -> list:
    """Return headline, table of questions and chart."""
    both = " and ".join(f"**{one.scores['f_meta']:.3f}** for the {name} one" for name, one in found.items())
    recall = " and ".join(f"**{one.scores['f_meta_recall']:.3f}**" for one in found.values())
    different = " and ".join(f"{len(set(one.questions))} of {len(one.questions)}" for one in found.values())
    status = look.headline(f"F-meta is {both}; recall {recall}.", f"Different questions: {different}.")
    rows = [
        [name, question, str(times)]
        for name, one in found.items()
        for question, times in Counter(one.questions).items()
    ]
    chart = [(name, [(label, one.scores[part]) for label, part in PARTS.items()]) for name, one in found.items()]
    return [
        status,
        look.table(("generator", "question", "times"), rows, "What they ask", {2}),
        look.bars(chart, f"Against your questions, base {base}", muted={"conventional"}),
    ]


def tab(results_of: Callable, bases: Sequence[str]) -> None:
    """Add the tab.

    Args:
        results_of: see `asked`.
        bases: labels of the base metrics.
    """

    def page(sentence: str, own: str, base: str, draw: object) -> list:
        sentence = common.checked_text("Sentence", sentence, MAX_SENTENCE)
        questions = common.checked_lines("Your questions", own, MAX_QUESTIONS, MAX_SENTENCE)
        return shown(asked(sentence, questions, base, checked_draw(draw), results_of), base)

    with gr.Tab("Ask a sentence"):
        gr.Markdown(ABOUT)
        with gr.Row():
            with gr.Column(min_width=280):
                sentence = gr.Textbox(SENTENCE, label="Sentence", info="One sentence, in English.", lines=2)
                info = f"One on each line, at most {MAX_QUESTIONS}."
                own = gr.Textbox(OWN, label="Your questions", info=info, lines=4, max_lines=8)
                base = gr.Radio(list(bases), value="ROUGE-L", label="Base metric")
                draw = gr.Number(DRAW, label="Draw", info="Another number draws other questions.", precision=0)
                button = gr.Button("Let them ask", variant="primary")
            with gr.Column(min_width=280):
                area = clicks.results_area("The first click takes seconds: it loads the generators.")
                with area.results:
                    outputs = [gr.HTML(apply_default_css=False), gr.HTML(apply_default_css=False)]
    clicks.connect([button.click], page, [sentence, own, base, draw], area, outputs, **ALONE)
