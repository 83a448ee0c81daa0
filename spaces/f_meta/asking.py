"""The tab in which two generators ask about a sentence and F-meta scores them against the visitor's questions."""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import gradio as gr
from common import checks, events, html, sharing

sys.path.append(str(Path(__file__).resolve().parents[2]))  # the folder of training/ in a checkout
MAX_SENTENCE = 500  # characters
MAX_QUESTIONS = 8  # each takes a beam search
MAX_DRAW = 999
ALONE = {"concurrency_id": "ask"}  # a queue of its own, one at a time
TOP = {"baseline": 1, "diverse": 2}  # the bundled generators, and the number of beams that they draw from
SCORES = {"covered": "f_meta_covered", "F-meta": "f_meta", "precision": "f_meta_precision", "recall": "f_meta_recall"}
SCORES |= {"conventional": "f_meta_conventional"}
SENTENCE = "In 1969 Neil Armstrong became the first person to walk on the Moon."
OWN = "Who was the first person to walk on the Moon?\nWhen did Neil Armstrong walk on the Moon?"
OWN += "\nWhat did Neil Armstrong do in 1969?"
DRAW = 1
_LOADING = threading.Lock()


class Asked(NamedTuple):
    """The questions of one generator and their scores."""

    questions: list[str]
    scores: dict[str, float]


def generators() -> dict:
    """Return the bundled generators by name; they are loaded once, also if a visitor stops and starts again."""
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> dict:
    from training.question_generation.ask import load

    return {name: load(name) for name in TOP}


def asked(
    sentence: str,
    references: list[str],
    base: object,
    draw: int,
    results_of: Callable,
    tick: Callable[[str, int, int], None] = lambda *_: None,
) -> dict[str, Asked]:
    """Return each generator's questions about a checked sentence and their scores against a person's questions.

    A generator asks as many as there are `references`. `draw` is the seed; `results_of` returns an explanation and
    scores for questions, references and a base metric; `tick` is that of `events.LongWork`.
    """
    result: dict[str, Asked] = {}
    tick("Loading the generators", 0, 0)
    for name, generator in generators().items():
        tick(f"Asking, {name} generator", len(result), len(TOP))
        questions = generator.ask([sentence], len(references), seed=draw, top=TOP[name], distinct=False)[0]
        result[name] = Asked(questions, results_of(questions, references, base)[1])
    return result


def checked_draw(value: object) -> int:
    """Return the seed of the draws.

    >>> checked_draw(3.0)
    3
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(MAX_DRAW + 1):
        raise checks.Problem(f"draw: expected a whole number from 0 to {MAX_DRAW}, got {value!s:.40}.")
    return int(value)


def finding(sets: dict[str, Asked]) -> str:
    """Return which of two generators has the higher F.

    >>> finding({"a": Asked([], {"f_meta": 0.5}), "b": Asked([], {"f_meta": 0.75})})
    'The **b** generator has the higher F-meta: **0.750** against **0.500**.'
    >>> finding(dict.fromkeys("ab", Asked([], {"f_meta": 0.5})))
    'Both generators have the same F-meta: **0.500**.'
    """
    scores = {name: asked.scores["f_meta"] for name, asked in sets.items()}
    (name, high), (_, low) = sorted(scores.items(), key=lambda pair: -pair[1])
    if high == low:
        return f"Both generators have the same F-meta: **{high:.3f}**."
    return f"The **{name}** generator has the higher F-meta: **{high:.3f}** against **{low:.3f}**."


def results(sets: dict[str, Asked], base: str) -> list:
    """Return headline, table of questions and chart."""
    covered = ", ".join(
        f"{name} **{asked.scores['f_meta_covered'] * len(asked.questions):.0f} of {len(asked.questions)}**"
        for name, asked in sets.items()
        if "f_meta_covered" in asked.scores
    )
    covered = f"Your questions that are asked: {covered}." * bool(covered)
    recall = ", ".join(f"{name} **{asked.scores['f_meta_recall']:.3f}**" for name, asked in sets.items())
    counts = {name: (len(set(asked.questions)), len(asked.questions)) for name, asked in sets.items()}
    different = ", ".join(f"{name} {distinct} of {count}" for name, (distinct, count) in counts.items())
    status = html.headline(finding(sets), covered, f"Recall: {recall}.", f"Different questions: {different}.")
    rows = [
        [name, question, str(times)]
        for name, asked in sets.items()
        for question, times in Counter(asked.questions).items()
    ]
    shown = {label: score for label, score in SCORES.items() if all(score in asked.scores for asked in sets.values())}
    cells = [[name, *(f"{asked.scores[score]:.3f}" for score in shown.values())] for name, asked in sets.items()]
    questions = html.table(("generator", "question", "times"), rows, "Generated questions", {2})
    numbers = set(range(1, len(shown) + 1))
    scores = html.table(("generator", *shown), cells, f"Against your questions, base {base}", numbers)
    return [status, questions, scores]


def tab(results_of: Callable, bases: Sequence[str]) -> None:
    """Add the tab; `results_of` as in `asked`, and the labels of the base metrics."""

    def page(tick: Callable, sentence: str, references: str, base: str, draw: object) -> list:
        sentence = checks.text("Sentence", sentence, MAX_SENTENCE)
        questions = checks.lines("Your questions", references, MAX_QUESTIONS, MAX_SENTENCE)
        return results(asked(sentence, questions, base, checked_draw(draw), results_of, tick), base)

    with gr.Tab("Ask a sentence"):
        gr.Markdown(sharing.text_beside(__file__, "ask.md"))
        with gr.Row():
            with gr.Column(min_width=280):
                sentence = gr.Textbox(SENTENCE, label="Sentence", info="One sentence, in English.", lines=2)
                info = f"One on each line, at most {MAX_QUESTIONS}."
                references = gr.Textbox(OWN, label="Your questions", info=info, lines=4, max_lines=8)
                base = gr.Radio(list(bases), value=bases[0], label="Base metric")
                info = "The seed: another number draws other questions."
                draw = gr.Number(DRAW, label="Draw", info=info, precision=0)
                button = gr.Button("Generate questions", variant="primary")
            with gr.Column(min_width=280):
                area = events.results_area("The first click takes seconds: it loads the generators.")
                with area.results:
                    outputs = sharing.plain(2)
    events.connect([button.click], page, [sentence, references, base, draw], area, outputs, long=True, **ALONE)
