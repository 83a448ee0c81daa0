"""What `explain` shows of an answer, made by no model."""

import io
from types import SimpleNamespace

from genqa_metrics.core.scorer import Scorer
from genqa_metrics.reports.viewer import ViewedAnswer
from genqa_metrics.verbs.explain.report import Explainer
from rich.console import Console


def on_console(show, width=100, **kwargs):
    """Return what a function prints on a console of some width."""
    out = io.StringIO()
    show(Console(file=out, width=width, legacy_windows=False, _environ={}, **kwargs))
    return out.getvalue()


def printed(answer, explainer, width=100, **kwargs):
    """Return what an explainer prints of an answer on a console of some width."""

    def show(console):
        explainer.show(answer, console)
        explainer.show_legend([answer], console)

    return on_console(show, width, **kwargs)


def explainer(**attributes):
    """An explainer of a judge that calls answers right from a probability of 0.5, and reads nothing."""
    judge = {"legend": "What marks mean.", "signature": "judge|x", "title": "Judge", "threshold": 0.5}
    judge |= {"takes_sets": False, "explains_answers": True, "main": "judge", "error_rate": ""}
    judge |= {"colours_of_marks": "Blue is good."}
    return Explainer(SimpleNamespace(**judge | attributes, warnings=Scorer().warnings))


def judged(**changes):
    """'In 1944.' against '1945' is wrong, '1944' counts against it."""
    texts = {"key": "k", "question": "When?", "references": ("1945", "later"), "system": "", "answer": "In 1944."}
    judge = {"verdict": False, "probability": 0.125, "reason": '"1944" instead of "1945".'}
    marks = {"marks": ((3, 7, "against", "-0.50"),), "evidence": (("Compared with", "1945"),)}
    return ViewedAnswer(**texts | judge | marks | changes)
