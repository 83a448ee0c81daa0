"""What each way of explaining an answer offers to the command, and which metric is explained in which way."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from ...registry import SCORERS, scorer_class


class Explainer(NamedTuple):
    """A way of explaining how an answer was scored by its references."""

    load: Callable  # (metric, settings, texts in which words are counted) -> function of question, answer, references
    show: Callable  # prints what that function returns on a console, with a legend if `legend`
    page: Callable | None = None  # makes a page of several of them, with their `headings`


def explained_metrics() -> tuple[str, ...]:
    """Return the metrics that explain one answer, the judge of answers first."""
    metrics = (metric for metric in SCORERS if scorer_class(metric).explainer)
    return tuple(sorted(metrics, key=lambda metric: not scorer_class(metric).verdict))


def explainer_of(metric: str) -> Explainer:
    """Return the way in which a metric is explained, by a sentence where it has none of its own."""
    module = scorer_class(metric).explainer or "reasons"
    return import_module(f"{__package__}.{module}").EXPLAINER
