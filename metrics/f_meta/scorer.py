"""The scorer of F-meta: settings, statistics per context, warnings, signature."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..core.reading import the_first
from ..core.scorer import ASKED, RowStatistics, Scorer, check_setting, is_number
from .bases import BUILT_IN, ONE_AT_A_TIME, PAPER, Base, base_function, default_base, module_function
from .scoring import COUNTS, NAMES, best_matches, coverage, matched, reason, score_matrices, statistics

SYSTEMS = 10  # that a remark names
# Mean error of the default base on sets that people counted: 0.49 on NACo, 0.74 on quiz design; table "How many
# reference questions a set asks" of spaces/docs/pages/results/9-similarity.md.
MEASURED = "a model counts what is asked; in our tests it was off by 0.5 to 0.7 questions a set, up or down"
_RAW = re.compile(r"\w[?？]\s*$")  # "won?"; tokenised text has "won ?"
MAX_PAIRS = 4_000_000  # scores in the matrix of a context, about 200 MB with all parts


class FMetaScorer(Scorer):
    """F-meta of Schlichtkrull & Cheng (2020): the statistics of a context are its scores.

    With a threshold two further scores count: the share of the reference questions that are asked, where a generated
    question asks at most one, and the share of the generated questions that ask one.
    """

    name = "f_meta"
    title = "F-meta"
    main = "f_meta"
    measures = "how well a set covers the reference questions, and asks nothing else"
    names = ("f_meta", "f_meta_precision", "f_meta_recall", "f_meta_conventional", *COUNTS[:2])
    shown = ("f_meta_precision", "f_meta_recall", "f_meta_covered")
    beside = ("f_meta_covered",)
    presets: ClassVar = {"paper": {"base": "rouge", "base_kwargs": PAPER}}
    takes_sets = True

    def load(self) -> None:
        """Keep the modules of `evaluate` that the settings name: each is loaded once."""
        self._modules: dict[str, object] = {}

    def configure(
        self,
        base: object = None,
        base_kwargs: dict | None = None,
        base_key: str | None = None,
        threshold: float | None = None,
    ) -> None:
        """Take settings of `compute`."""
        expected = "the score from which two questions ask the same, or None for that of the base"
        check_setting("threshold", threshold is None or is_number(threshold), expected, threshold)
        self.base = self._base(base, base_kwargs, base_key)
        self.threshold = self.base.threshold if threshold is None else float(threshold)
        counted = self.threshold is not None
        self.names = self.row_names = type(self).names if counted else type(self).names[:-2]
        self.missing = "not_asked" if counted else ""
        self.facts = {**self.base.facts, **({"threshold": f"{self.threshold:g}"} if counted else {})}

    def _module(self, name: str) -> object:
        """Return a module of `evaluate`; each is loaded once."""
        import evaluate

        with ONE_AT_A_TIME:
            try:
                if name not in self._modules:
                    self._modules[name] = evaluate.load(name, keep_in_memory=True)
            except OSError as error:
                raise ValueError(
                    f"base: expected {', '.join(map(repr, BUILT_IN))}, the name or path of a module of evaluate, or a "
                    f"function of two lists of strings, got {name!r}, which is none of them: {error}"
                ) from error
        return self._modules[name]

    def _base(self, base: object, base_kwargs: dict | None, base_key: str | None) -> Base:
        kwargs = {} if base_kwargs is None else base_kwargs
        if not isinstance(kwargs, dict) or not all(isinstance(name, str) for name in kwargs):
            raise ValueError(f"base_kwargs: expected a dictionary from names to settings, got {base_kwargs!r}")
        if base_key is not None and not isinstance(base_key, str):
            raise ValueError(f"base_key: expected the name of a result, got {base_key!r}")
        if base is None:
            if kwargs:
                raise ValueError(
                    f"base_kwargs: the default base has no settings, got {base_kwargs!r}; name the base that they are "
                    'for, such as base="rouge", or leave them out'
                )
            if base_key is None:
                return default_base()
            base = "same_question"
        if isinstance(base, str | Path) and base not in BUILT_IN:
            base = self._module(str(base))
        if hasattr(base, "compute") and hasattr(base, "features"):
            return module_function(base, kwargs, base_key)
        if base_key is not None:
            raise ValueError(
                f"base_key: only for a module of evaluate, got {base_key!r} with base {base!r}; leave it out"
            )
        return base_function(base, kwargs)

    def statistics(self, columns: Mapping[str, list], explain: bool = False) -> RowStatistics:
        """Return scores and, with a threshold, `COUNTS` of contexts, with details."""
        predictions, references = columns["predictions"], columns["references"]
        for i, (asked, wanted) in enumerate(zip(predictions, references, strict=True)):
            if (pairs := len(asked) * len(wanted)) > MAX_PAIRS:
                raise ValueError(
                    f"predictions, row {i}: {len(asked):,} questions against {len(wanted):,} references are {pairs:,} "
                    f"pairs; the limit is {MAX_PAIRS:,}: split the context into several rows"
                )
        matrices = score_matrices(predictions, references, self.base)
        rows = statistics(predictions, references, self.base, matrices)
        rows = rows[:, [NAMES.index(name) for name in self.names[: len(NAMES)]]]
        details = {"best_match": [best_matches(matrix) for matrix in matrices]}
        if self.threshold is not None:
            pairs = [matched(matrix, self.threshold) for matrix in matrices]
            counts = [coverage(*each, self.threshold) for each in zip(matrices, pairs, strict=True)]
            rows = np.hstack([rows, np.array(counts, dtype=float).reshape(len(counts), len(COUNTS))])
            asked = [{reference for _, reference in matches} for matches in pairs]
            both = zip(references, asked, strict=True)
            details["not_asked"] = [[text for i, text in enumerate(texts) if i not in has] for texts, has in both]
        if explain:
            explanations = []
            for i, (matrix, texts, others) in enumerate(zip(matrices, predictions, references, strict=True)):
                item = {"scores": matrix.tolist(), "predictions": texts, "references": others}
                item |= {name: column[i] for name, column in details.items()}
                if self.threshold is not None:
                    asks = matrix.max(axis=1, initial=0.0) >= self.threshold
                    besides = [text for text, asking in zip(texts, asks, strict=True) if text.strip() and not asking]
                    item |= {"matched": list(map(list, pairs[i])), "asked_besides": besides}
                explanations.append(item | {"reason": reason(item)})
            details["explanation"] = explanations
        return RowStatistics.of(rows, details)

    def asked_besides(self, columns: Mapping[str, list]) -> list[list[str]]:
        """Return the questions of each set that ask no reference; see `Scorer.asked_besides`."""
        explanations = self.ready().statistics(columns, explain=True).details["explanation"]
        return [explanation["asked_besides"] for explanation in explanations]

    def counts(self, columns: Mapping[str, list], statistics: np.ndarray) -> Counter:
        """Return how many sets have text that is not tokenized, where it must be; see `Scorer.counts`."""
        if self.base.facts.get("tok") != "whitespace":
            return Counter()
        sets = zip(columns["predictions"], columns["references"], strict=True)
        return Counter(raw=sum(any(map(_RAW.search, [*asked, *wanted])) for asked, wanted in sets))

    def row_scores(self, statistics: np.ndarray) -> dict[str, np.ndarray]:
        """Return the scores of single rows; see `Scorer.row_scores`."""
        return super().row_scores(np.asarray(statistics)[..., : len(self.names)])

    def remarks(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Return how many reference questions every system asks, and what the numbers mean; see `Scorer.remarks`."""
        if self.threshold is None or not totals:
            return []
        counts = []
        for system, total in totals.items():
            asked, references, repeats = total[-3:].astype(int).tolist()
            repeated = f" ({repeats:,} repeat{'s' * (repeats > 1)})" * bool(repeats)
            counts.append(f"{system} {asked:,} of {references:,}{repeated}".strip())
        measured = self.base.facts.get("base") == "same_question" and self.threshold == self.base.threshold
        meaning = (
            "in f_meta similar questions count in part, so that a set can be high which asks few; covered counts "
        )
        meaning += f"each reference question once, from a similarity of {self.threshold:g} on"
        return [f"{ASKED}: {the_first(counts, SYSTEMS)}", meaning, *[MEASURED] * measured]

    def warnings(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Return a warning if the tokenizer does not fit the texts; see `Scorer.warnings`."""
        raw = counts.get("raw", 0)
        if not raw:
            return []
        return [
            f'a "?" has no blank before it in {raw} row{"s" * (raw > 1)}: for the tokenizer "whitespace", "won?" is '
            'another word than "won"; set base_kwargs={"tokenizer": "word"}, the default'
        ]
