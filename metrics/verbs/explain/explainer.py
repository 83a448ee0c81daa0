"""What each way of explaining an answer offers to the command, and which metric is explained in which way."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from ...registry import SCORERS, scorer_class


class Explainer(NamedTuple):
    """Functions that compute and show the explanation of one answer's score."""

    load: Callable  # (metric, settings, texts in which words are counted) -> function of question, answer, references
    show: Callable  # prints what that function returns on a console, with a legend if `legend`
    page: Callable | None = None  # makes a page of several of them, with their `headings`


def explained_metrics() -> tuple[str, ...]:
    """Return the metrics that explain one answer, the judge of answers first."""
    metrics = (metric for metric in SCORERS if scorer_class(metric).explainer)
    return tuple(sorted(metrics, key=lambda metric: not scorer_class(metric).verdict))


def explainer_of(metric: str) -> Explainer:
    """Return the `Explainer` of a metric; a metric without one is explained by a sentence."""
    module = scorer_class(metric).explainer or "reasons"
    return import_module(f"{__package__}.{module}").EXPLAINER
