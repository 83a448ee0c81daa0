"""The metrics as the toolkit uses them: items -> statistics per row -> scores, without importing `evaluate`.

The numbers are those of the `evaluate` modules, because both call the same pure functions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from .rows import Item


class _AevScorer:
    """AEv: one row of statistics per prediction; sums of them score a corpus."""

    per_prediction = True
    names = (
        "aev",
        "aev_precision",
        "aev_recall",
        "brevity_penalty",
        "wordiness_penalty",
        "prediction_length",
        "reference_length",
    )

    def __init__(self, **settings):
        from .aev.scoring import Settings, terms_function
        from .aev.shared import VERSION

        self.settings = Settings(**settings)
        # The same terms, from one function that remembers the stems it has seen from one chunk to the next.
        self._counted = replace(self.settings, tokenizer=terms_function(self.settings), stop_words=None, stemmer=None)
        self.signature = f"aev|{self.settings.signature()}|version:{VERSION}"

    @staticmethod
    def setting_names() -> tuple[str, ...]:
        from .aev.scoring import Settings

        return tuple(setting.name for setting in fields(Settings))

    def statistics(self, items: Sequence[Item]) -> np.ndarray:
        from .aev.scoring import statistics

        predictions = [text for item in items for text in item.predictions]
        references = [item.references for item in items for _ in item.predictions]
        return statistics(predictions, references, self._counted)

    def row_scores(self, statistics: np.ndarray) -> dict[str, np.ndarray]:
        from .aev.scoring import scores

        return scores(statistics, self.settings, effective_order=True)

    def warnings(self, total: np.ndarray) -> list[str]:
        from .aev.scoring import warnings_for

        return warnings_for(total, self.settings)

    def corpus_scores(self, total: np.ndarray, rows: int) -> dict[str, float]:
        from .aev.scoring import scores

        return {name: float(value) for name, value in scores(total, self.settings).items()}


class _FMetaScorer:
    """F-meta: one row of statistics per context; their mean is the score of a corpus."""

    per_prediction = False
    names = ("f_meta", "f_meta_precision", "f_meta_recall", "f_meta_conventional")

    def __init__(self, base="rouge", base_kwargs=None, base_key=None):
        from .f_meta.shared import VERSION

        self.base = self._base(base, base_kwargs, base_key)
        self.signature = f"f_meta|{self.base.signature}|version:{VERSION}"

    @staticmethod
    def setting_names() -> tuple[str, ...]:
        return "base", "base_kwargs", "base_key"

    @staticmethod
    def _base(base, base_kwargs, base_key):
        from .f_meta.bases import BUILT_IN, base_function, module_function

        if base_kwargs is not None and not isinstance(base_kwargs, dict):
            raise ValueError(f"base_kwargs: expected an object from names to settings, got {base_kwargs!r}")
        if isinstance(base, str) and base not in BUILT_IN:
            import evaluate

            try:
                return module_function(evaluate.load(base, keep_in_memory=True), base_kwargs, base_key)
            except OSError as error:
                raise ValueError(
                    f"base: expected {', '.join(map(repr, BUILT_IN))} or the name or path of a module of evaluate, "
                    f"got {base!r}, which is none of them"
                ) from error
        if base_key is not None:
            raise ValueError(f"base_key: only for a module of evaluate, got it with base {base!r}; leave it out")
        return base_function(base, base_kwargs)

    def statistics(self, items: Sequence[Item]) -> np.ndarray:
        from .f_meta.scoring import statistics

        return statistics([item.predictions for item in items], [item.references for item in items], self.base)

    def row_scores(self, statistics: np.ndarray) -> dict[str, np.ndarray]:
        from .f_meta.scoring import NAMES

        return dict(zip(NAMES, statistics.T, strict=True))

    def warnings(self, total: np.ndarray) -> list[str]:
        return []

    def corpus_scores(self, total: np.ndarray, rows: int) -> dict[str, float]:
        from .f_meta.scoring import corpus_scores

        means = corpus_scores((total / max(rows, 1))[None])
        return {name: means[name] for name in self.names}


SCORERS = {"aev": _AevScorer, "f_meta": _FMetaScorer}


def make_scorer(metric: str, settings: Mapping | None = None):
    """Return what computes one metric from items.

    Args:
        metric: "aev" or "f_meta".
        settings: settings of the metric's `compute`, by name.

    Raises:
        ValueError: if there is no such metric or setting, or its value is bad.

    >>> make_scorer("aev", {"alpha": 0.25}).signature.split("|")[1]
    'alpha:0.25'
    """
    if metric not in SCORERS:
        raise ValueError(f"metric: expected one of {', '.join(SCORERS)}, got {metric!r}")
    known = SCORERS[metric].setting_names()
    for name in settings or {}:
        if name not in known:
            raise ValueError(f"{metric}.{name}: {metric} has no such setting here; it has {', '.join(known)}")
    try:
        return SCORERS[metric](**settings or {})
    except (ValueError, TypeError, ImportError) as error:
        raise ValueError(f"{metric}.{error}") from error
