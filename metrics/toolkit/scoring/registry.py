"""The metrics as the toolkit uses them: items -> statistics per row -> scores, without importing `evaluate`.

The numbers are those of the `evaluate` modules, because both call the same pure functions.
"""

import threading
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import fields, replace

import numpy as np

from ..rows.items import Item


class _Scorer:
    """What all metrics have.

    Attributes:
        device: kind of device that a model runs on; None for a metric without one.
        cut: number of texts so far of which a model could not read the end.
    """

    device = None
    cut = 0

    def counted_statistics(self, items: Sequence[Item]) -> tuple[np.ndarray, int]:
        """Return the statistics of items, and of how many texts a model could not read the end."""
        return self.statistics(items), 0


class _AevScorer(_Scorer):
    """AEv: one row of statistics per prediction; sums of them score a corpus."""

    per_prediction = True
    needs_question = False
    main = "aev"
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
        from ...aev.scoring import Settings, terms_function
        from ...aev.shared import VERSION

        self.settings = Settings(**settings)
        # The same terms, from one function that remembers the stems it has seen from one chunk to the next.
        self._counted = replace(self.settings, tokenizer=terms_function(self.settings), stop_words=None, stemmer=None)
        self.signature = f"aev|{self.settings.signature()}|version:{VERSION}"

    @staticmethod
    def setting_names() -> tuple[str, ...]:
        from ...aev.scoring import Settings

        return tuple(setting.name for setting in fields(Settings))

    def statistics(self, items: Sequence[Item]) -> np.ndarray:
        from ...aev.scoring import statistics

        predictions = [text for item in items for text in item.predictions]
        references = [item.references for item in items for _ in item.predictions]
        return statistics(predictions, references, self._counted)

    def row_scores(self, statistics: np.ndarray) -> dict[str, np.ndarray]:
        from ...aev.scoring import scores

        return scores(statistics, self.settings, effective_order=True)

    def warnings(self, sums: Mapping[str, np.ndarray]) -> list[str]:
        from ...aev.scoring import warnings_for

        return [f"{system}: {said}" for system, total in sums.items() for said in warnings_for(total, self.settings)]

    def corpus_scores(self, total: np.ndarray, rows: int) -> dict[str, float]:
        from ...aev.scoring import scores

        return {name: float(value) for name, value in scores(total, self.settings).items()}

    def resampled_scores(self, totals: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
        from ...aev.scoring import scores

        return scores(totals, self.settings)


class _FMetaScorer(_Scorer):
    """F-meta: one row of statistics per context; their mean is the score of a corpus."""

    per_prediction = False
    needs_question = False
    main = "f_meta"
    names = ("f_meta", "f_meta_precision", "f_meta_recall", "f_meta_conventional")

    def __init__(self, base="rouge", base_kwargs=None, base_key=None):
        from ...f_meta.shared import VERSION

        self.base = self._base(base, base_kwargs, base_key)
        self.signature = f"f_meta|{self.base.signature}|version:{VERSION}"

    @staticmethod
    def setting_names() -> tuple[str, ...]:
        return "base", "base_kwargs", "base_key"

    @staticmethod
    def _base(base, base_kwargs, base_key):
        from ...f_meta.bases import BUILT_IN, base_function, module_function

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
        from ...f_meta.scoring import statistics

        return statistics([item.predictions for item in items], [item.references for item in items], self.base)

    def row_scores(self, statistics: np.ndarray) -> dict[str, np.ndarray]:
        from ...f_meta.scoring import NAMES

        return dict(zip(NAMES, statistics.T, strict=True))

    def warnings(self, sums: Mapping[str, np.ndarray]) -> list[str]:
        return []

    def corpus_scores(self, total: np.ndarray, rows: int) -> dict[str, float]:
        from ...f_meta.scoring import corpus_scores

        means = corpus_scores((total / max(rows, 1))[None])
        return {name: means[name] for name in self.names}

    def resampled_scores(self, totals: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
        from ...f_meta.scoring import NAMES

        return mean_scores(NAMES, totals, rows)


class _ModelScorer(_Scorer):
    """A metric with a model: the scores of a row are its statistics; their mean is the score of a corpus.

    Several threads may ask for statistics at once. They share the model, but no tokenizer can be shared.
    """

    per_prediction = True
    needs_question = True

    def __init__(self, device: str):
        self.device = device
        self._own = threading.local()

    @property
    def reader(self):
        """The thread's own object that runs the model, and counts the texts that it had to cut."""
        if not hasattr(self._own, "reader"):
            self._own.reader = self._new_reader()
        return self._own.reader

    def statistics(self, items: Sequence[Item]) -> np.ndarray:
        statistics, cut = self.counted_statistics(items)
        self.cut += cut
        return statistics

    def row_scores(self, statistics: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(self.names, statistics.T, strict=True))

    def corpus_scores(self, total: np.ndarray, rows: int) -> dict[str, float]:
        return dict(zip(self.names, (total / max(rows, 1)).tolist(), strict=True))

    def resampled_scores(self, totals: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
        return mean_scores(self.names, totals, rows)


class _KpqaScorer(_ModelScorer):
    """KPQA."""

    main = "rougeL_kpqa"

    def __init__(self, beta=1.0, batch_tokens=4096, **models):
        from ...kpqa.loading import load_models
        from ...kpqa.models import checked_budget
        from ...kpqa.scoring import RESULTS, checked_beta
        from ...kpqa.shared import VERSION

        self.names = RESULTS
        self.beta = checked_beta(beta)
        self.batch_tokens = checked_budget(batch_tokens)
        self.models = load_models(**models)
        self.signature = f"kpqa|{self.models.signature}|beta:{self.beta:g}|version:{VERSION}"
        super().__init__(self.models.predictor.device.type)

    @staticmethod
    def setting_names() -> tuple[str, ...]:
        models = "checkpoint", "revision", "device", "dtype", "backend", "embedding_model", "embedding_layer"
        return ("beta", "batch_tokens", *models)

    def _new_reader(self):
        from ...kpqa.encoding import Encoder

        tokenizers = {name: deepcopy(getattr(self.models, name)) for name in ("tokenizer", "embedding_tokenizer")}
        return Encoder(replace(self.models, **tokenizers), self.batch_tokens)

    def counted_statistics(self, items: Sequence[Item]) -> tuple[np.ndarray, int]:
        from ...kpqa.scoring import pair_statistics, row_scores

        _check_questions(items, "kpqa")
        answers = [(item, text) for item in items for text in item.predictions]
        pairs = [(item.text, text, reference) for item, text in answers for reference in item.references]
        rows = np.repeat(np.arange(len(answers)), [len(item.references) for item, _ in answers])
        encoder = self.reader
        before = encoder.cut_texts
        tokens, _ = encoder.tokens([*((q, text) for q, text, _ in pairs), *((q, other) for q, _, other in pairs)])
        scores, _ = row_scores(pair_statistics(tokens[: len(pairs)], tokens[len(pairs) :]), rows, self.beta)
        return np.stack([scores[name] for name in self.names], axis=1), encoder.cut_texts - before

    def warnings(self, sums: Mapping[str, np.ndarray]) -> list[str]:
        encoder = self._new_reader()
        encoder.cut_texts = self.cut
        return encoder.warnings()


class _AvaScorer(_ModelScorer):
    """AVA: probability and verdict of a row."""

    main = "ava_accuracy"
    names = ("ava_accuracy", "ava_score")

    def __init__(self, threshold=None, reference_aggregation=None, batch_tokens=4096, **models):
        from ...ava.loading import checked_aggregation, checked_threshold, load_judge
        from ...ava.models import checked_budget
        from ...ava.shared import VERSION

        loaded = self.loaded = load_judge(**models)
        self.batch_tokens = checked_budget(batch_tokens)
        threshold = checked_threshold(threshold)
        self.threshold = loaded.threshold if threshold is None else threshold
        self.aggregation = checked_aggregation(reference_aggregation) or loaded.reference_aggregation
        settings = f"threshold:{self.threshold:g}|references:{self.aggregation}"
        self.signature = f"ava|{loaded.signature}|{settings}|version:{VERSION}"
        super().__init__(loaded.model.device.type if hasattr(loaded.model, "device") else "cpu")

    @staticmethod
    def setting_names() -> tuple[str, ...]:
        models = "checkpoint", "revision", "device", "dtype", "backend"
        return ("threshold", "reference_aggregation", "batch_tokens", *models)

    def _new_reader(self):
        from ...ava.judging import Judge

        return Judge(replace(self.loaded, tokenizer=deepcopy(self.loaded.tokenizer)), self.batch_tokens)

    def counted_statistics(self, items: Sequence[Item]) -> tuple[np.ndarray, int]:
        _check_questions(items, "ava")
        answers = [(item, text) for item in items for text in item.predictions]
        judge = self.reader
        before = judge.cut_triples
        scores = judge.probabilities(
            [item.text for item, _ in answers],
            [item.references for item, _ in answers],
            [text for _, text in answers],
            self.aggregation,
        )
        return np.stack([scores >= self.threshold, scores], axis=1), judge.cut_triples - before

    def warnings(self, sums: Mapping[str, np.ndarray]) -> list[str]:
        judge = self._new_reader()
        judge.cut_triples = self.cut
        return judge.warnings()


def _check_questions(items: Sequence[Item], metric: str) -> None:
    for item in items:
        if item.text is None:
            raise ValueError(f"{item.file}, line {item.line}: question: expected a string for {metric}, got null")


def mean_scores(names: Sequence[str], totals: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return the scores of corpora that are means over rows.

    Args:
        names: k names of scores.
        totals: (..., k) sums of the scores over rows.
        rows: (...) numbers of rows.

    Returns:
        name -> (...) means, 0 where there are no rows.
    """
    means = np.asarray(totals) / np.maximum(rows, 1)[..., None]
    return {name: means[..., place] for place, name in enumerate(names)}


SCORERS = {"aev": _AevScorer, "ava": _AvaScorer, "f_meta": _FMetaScorer, "kpqa": _KpqaScorer}


def make_scorer(metric: str, settings: Mapping | None = None):
    """Return what computes one metric from items.

    Args:
        metric: "aev", "ava", "f_meta" or "kpqa".
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
