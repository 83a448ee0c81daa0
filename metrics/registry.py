"""The metrics by name. A metric is one folder with a `scorer.py` and one line here."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line reads the names of the metrics, and its --help does not wait for numpy
    from .core.scorer import Scorer

SCORERS = {
    "aev": "AevScorer",
    "ava": "AvaScorer",
    "f_meta": "FMetaScorer",
    "grounding": "GroundingScorer",
    "kpqa": "KpqaScorer",
}
JUDGE = "ava"  # judges answers where no other judge is named
OF_SETS, OF_WORDS, OF_PASSAGES = ("f_meta", "aev"), "aev", "grounding"  # for sets, texts without questions, passages
WITH_CHECKPOINT = ("kpqa", "ava", "grounding")  # that `download` can fetch


def scorer_class(metric: str) -> "type[Scorer]":
    """Return the class that computes a metric; its module is imported now, which loads no model."""
    if metric not in SCORERS:
        from .core.scorer import unknown_name_message

        raise ValueError(f"metric: {unknown_name_message(metric, 'not a metric', SCORERS)}")
    package = __name__.removesuffix(".registry")
    return getattr(import_module(f"{package}.{metric}.scorer"), SCORERS[metric])


def judge_among(metrics: Iterable[str]) -> str | None:
    """Return the first metric that judges answers, None if none does.

    >>> judge_among(["aev", "ava"]), judge_among(["aev", "mean column"])
    ('ava', None)
    """
    return next((metric for metric in metrics if metric in SCORERS and scorer_class(metric).verdict), None)


def make_scorer(metric: str, settings: Mapping | None = None, ready: bool = True) -> "Scorer":
    """Return the scorer of a metric with settings of its `load` and `compute`; unless `ready`, models load later.

    >>> make_scorer("aev", {"alpha": 0.25}).signature.split("|")[1]
    'alpha:0.25'
    """
    result = scorer_class(metric)
    try:
        result.check_parts(**(settings or {}))
        scorer = result(ready=ready, **settings or {})
        scorer.chosen_settings = {name: chosen for name, chosen in (settings or {}).items() if chosen is not None}
        return scorer
    except ImportError as error:
        raise ValueError(f"{metric}: {error}") from error
    except (ValueError, TypeError) as error:
        raise ValueError(f"{metric}.{error}") from error
