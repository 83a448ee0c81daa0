"""What `explain` shows of an answer, made by no model."""

import io

from genqa_metrics.kpqa.explaining import Explanation, Score, Segment
from genqa_metrics.rows.reading import Item
from genqa_metrics.verbs.explain.unsupported import Grounded, GroundedAnswer, Judged
from rich.console import Console


def printed(show, shown, width=100, **kwargs):
    """Return what a function prints on a console of some width."""
    out = io.StringIO()
    show(shown, Console(file=out, width=width, legacy_windows=False, _environ={}, **kwargs))
    return out.getvalue()


def made(signature="kpqa|beta:1", cut_texts=0):
    """An explanation written by hand: 'the hypothesis' against 'a hypothesis' and '4'."""
    blank = Segment(" ")
    prediction = [Segment("the", (0.01,)), blank, Segment("hypo", (0.9,), True, True), Segment("thesis", (0.3,))]
    first = [Segment("a", (0.04,)), blank, Segment("hypo", (0.8,), True, False), Segment("thesis", (0.21,))]
    second = [Segment("4", (0.625,))]
    names = "bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa", "bleu1", "rougeL", "bertscore"
    values = [(0.5, None, None, 0), (0.25, 0.2, 0.125, 1), (0.75, 0.7, 0.65, 0)]
    values += [(0.3, None, None, 0), (0.4, 0.45, 0.55, 0), (0.6, 0.61, 0.62, 0)]
    scores = {name: Score(*numbers) for name, numbers in zip(names, values, strict=True)}
    return Explanation("which test?", [(prediction, first), (prediction, second)], scores, cut_texts, signature)


def judged(text="It was built in 1887."):
    """One of two answers with a contradicted and two unsupported sentences; every text is the given one."""
    item = Item(text, 3, text, text, text, [text], [], (None, None), [text])
    sentences = (
        Judged(text, "contradicted", 0.2, 1, text, text),
        Judged(text, "unsupported", 0.001, 1, text, None),
        Judged(text, "unsupported", 0.1, 1, None, None),
        Judged(text, "supported", 0.999, 1, text, None),
    )
    answer = GroundedAnswer(item, text, sentences)
    return Grounded((answer,), {text: 2}, {text: 1}, 0, 0.5, text, (text,), "grounding|threshold:0.5|version:1")
