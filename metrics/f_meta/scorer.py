"""The scorer of F-meta: settings, statistics per context, warnings, signature."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..core.scorer import Scorer
from .bases import BUILT_IN, Base, base_function, module_function
from .scoring import NAMES, best_matches, score_matrices, statistics

_RAW = re.compile(r"\w[?？]\s*$")  # "won?"; tokenised text has "won ?"
MAX_PAIRS = 4_000_000  # scores in the matrix of a context, about 200 MB with all parts
_ONE_AT_A_TIME = threading.RLock()  # a module of `evaluate` stores its rows


def loaded_module(base: str):
    """Return a module of `evaluate` by its name or path.

    Raises:
        ValueError: if there is none.
    """
    import evaluate

    try:
        return evaluate.load(base, keep_in_memory=True)
    except OSError as error:
        raise ValueError(
            f"base: expected {', '.join(map(repr, BUILT_IN))}, the name or path of a module of evaluate, or a "
            f"function of two lists of strings, got {base!r}, which is none of them: {error}"
        ) from error


def _locked(function: Callable) -> Callable:
    def call(*arguments):
        with _ONE_AT_A_TIME:
            return function(*arguments)

    return call


def check_sizes(predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> None:
    """Refuse a context with more pairs than fit into memory.

    Raises:
        ValueError: names the row, its numbers and the limit.
    """
    for i, (asked, wanted) in enumerate(zip(predictions, references, strict=True)):
        if len(asked) * len(wanted) > MAX_PAIRS:
            raise ValueError(
                f"predictions, row {i}: {len(asked):,} questions against {len(wanted):,} references are "
                f"{len(asked) * len(wanted):,} pairs; the limit is {MAX_PAIRS:,}: split the context into several rows"
            )


class FMetaScorer(Scorer):
    """F-meta of Schlichtkrull & Cheng (2020): the statistics of a context are its scores.

    Args:
        base: "rouge", "bleu", "meteor", name or path of a module of `evaluate`, a loaded one, or a function.
        base_kwargs: settings of the base.
        base_key: for a module, the result that is the list of scores.
    """

    name = "f_meta"
    title = "F-meta"
    main = "f_meta"
    names = ("f_meta", "f_meta_precision", "f_meta_recall", "f_meta_conventional")
    shown = ("f_meta_precision", "f_meta_recall", "f_meta_conventional")
    takes_sets = True

    def load(self) -> None:
        """Keep the modules of `evaluate` that the settings name: each is loaded once."""
        self._modules: dict[str, object] = {}

    def configure(
        self,
        base: object = "rouge",
        base_kwargs: dict | None = None,
        base_key: str | None = None,
    ) -> None:
        """Take settings of `compute`."""
        self.base = self._base(base, base_kwargs, base_key)
        self.facts = self.base.facts

    def _base(self, base: object, base_kwargs: dict | None, base_key: str | None) -> Base:
        kwargs = {} if base_kwargs is None else base_kwargs
        if not isinstance(kwargs, dict) or not all(isinstance(name, str) for name in kwargs):
            raise ValueError(f"base_kwargs: expected a dictionary from names to settings, got {base_kwargs!r}")
        if base_key is not None and not isinstance(base_key, str):
            raise ValueError(f"base_key: expected the name of a result, got {base_key!r}")
        if isinstance(base, str | Path) and base not in BUILT_IN:
            with _ONE_AT_A_TIME:
                if str(base) not in self._modules:
                    self._modules[str(base)] = loaded_module(str(base))
            base = self._modules[str(base)]
        if hasattr(base, "compute") and hasattr(base, "features"):
            made = module_function(base, kwargs, base_key)
            return replace(made, pairs=_locked(made.pairs), multiple=made.multiple and _locked(made.multiple))
        if base_key is not None:
            raise ValueError(
                f"base_key: only for a module of evaluate, got {base_key!r} with base {base!r}; leave it out"
            )
        return base_function(base, kwargs)

    def statistics(self, columns: Mapping[str, list]) -> tuple[np.ndarray, Counter]:
        """Return the scores of every context in the order of `names`; counts contexts that are not tokenised."""
        return self.statistics_with_details(columns, False)[:2]

    def statistics_with_details(
        self, columns: Mapping[str, list], explain: bool
    ) -> tuple[np.ndarray, Counter, dict[str, list]]:
        """Return the same, and of every context the best matches and the matrix of scores."""
        predictions, references = columns["predictions"], columns["references"]
        check_sizes(predictions, references)
        matrices = score_matrices(predictions, references, self.base)
        rows = statistics(predictions, references, self.base, matrices)
        matches = [best_matches(matrix) for matrix in matrices]
        details = {"best_match": matches}
        if explain:
            details["explanation"] = [
                {"scores": matrix.tolist(), "predictions": texts, "references": others, "best_match": match}
                for matrix, texts, others, match in zip(matrices, predictions, references, matches, strict=True)
            ]
        counts = Counter()
        if self.base.facts.get("tok") == "whitespace":
            counts["raw"] = sum(
                any(_RAW.search(text) for text in [*asked, *wanted])
                for asked, wanted in zip(predictions, references, strict=True)
            )
        return rows[:, [NAMES.index(name) for name in self.names]], counts, details

    def warnings(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Return a warning if the tokenizer does not fit the texts; see `Scorer.warnings`."""
        raw = counts.get("raw", 0)
        if not raw:
            return []
        return [
            f'a "?" has no blank before it in {raw} row{"s" * (raw > 1)}: for the tokenizer "whitespace", "won?" is '
            'another word than "won"; set base_kwargs={"tokenizer": "word"}'
        ]
