"""F-meta, generalised precision, recall and F for sets of texts, as a module of `evaluate`."""

from pathlib import Path

import datasets
import evaluate

from .bases import BUILT_IN, Base, base_function, module_function
from .overlap import bleu_from_counts, rouge_from_parts
from .scoring import NAMES, best_matches, corpus_scores, score_matrices, statistics
from .shared import VERSION, CheckedModule, checked_text_sets

__all__ = ["FMeta", "bleu_from_counts", "rouge_from_parts"]

_DESCRIPTION = """\
F-meta compares the set of questions that a system generates for a context with the set of reference questions.
Precision asks how close every generated question is to its best reference, recall how close every reference is to its
best generated question, both in the terms of a base metric: BLEU, ROUGE, METEOR or any other. A system that asks one
good question again and again has precision but no recall.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions (list of lists of str): the generated texts, one list per context; it may be empty.
    references (list of lists of str): the reference texts, one list of at least one per context.
    base (str, function or module): what scores a pair. "rouge" (default): ROUGE-L, beta 1.2. "bleu": sentence BLEU-4.
        "meteor": METEOR 1.5; needs pycocoevalcap and Java. Another string: name or path of a module of `evaluate`
        with a score per example. A function: gets a list of predictions and an equally long list of references,
        returns a list of scores.
    base_kwargs (dict): settings of the base. For "bleu" and "rouge" {"tokenizer": "whitespace"} (default, for texts
        that are tokenised), {"tokenizer": "word"} for raw text, or {"tokenizer": function}. For a module: settings of
        its `compute`. For a function: its further arguments.
    base_key (str): for a module, the result that is the list of scores. Default None: the only such list.
    per_example (bool): add the values and the best matches of every context. Default False.
    explain (bool): add the matrix of scores of every context. Default False.
Returns:
    f_meta, f_meta_precision (u), f_meta_recall (v): floats from 0 to 1 with such a base; means over the contexts.
    f_meta_conventional: the base's score of each prediction against all references of its context together.
    <name>_per_example (with per_example=True): for each of the four, a list with one value per context.
    best_match_per_example (with per_example=True): per context {"predictions": [{"reference": index, "score": s},
        ...], "references": [{"prediction": index, "score": s}, ...]}.
    explanation (with explain=True): per context {"scores": predictions x references, "best_match": as above, and the
        texts as "predictions" and "references"}.
Examples:
    >>> f_meta = evaluate.load("metrics/f_meta")
    >>> results = f_meta.compute(
    ...     predictions=[["which event did the 2014 world cup"]],
    ...     references=[["who won the 2014 world cup", "which event did Germany win in 2014"]],
    ... )
    >>> print(round(results["f_meta_conventional"], 4), round(results["f_meta"], 4))
    0.624 0.6106
"""

_CITATION = """\
@article{schlichtkrull-cheng-2020-evaluating,
    title = "Evaluating for Diversity in Question Generation over Text",
    author = "Schlichtkrull, Michael Sejr and Cheng, Weiwei",
    journal = "arXiv preprint arXiv:2008.07291",
    year = "2020"
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class FMeta(CheckedModule, evaluate.Metric):
    """F-meta of Schlichtkrull & Cheng (2020)."""

    setting_names = ("base", "base_kwargs", "base_key", "per_example", "explain")

    def __init__(self, *args, **kwargs):
        self._modules = {}
        super().__init__(*args, **kwargs)

    def _info(self):
        texts = datasets.Sequence(datasets.Value("string"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features({"predictions": texts, "references": texts}),
            reference_urls=["https://arxiv.org/abs/2008.07291"],
        )

    def _checked(self, columns: dict, first_row: int) -> dict:
        checked = {name: checked_text_sets(name, column, first_row) for name, column in columns.items()}
        for row, texts in enumerate(checked["references"], first_row):
            if not texts:
                raise ValueError(
                    f"references, row {row}: expected at least one reference, got an empty list; drop the row or "
                    "add one"
                )
        return checked

    def _module(self, base: str) -> evaluate.EvaluationModule:
        if base not in self._modules:
            try:
                self._modules[base] = evaluate.load(base, keep_in_memory=True)
            except FileNotFoundError as error:
                raise ValueError(
                    f"base: expected {', '.join(map(repr, BUILT_IN))}, the name or path of a module of evaluate, or a "
                    f"function of two lists of strings, got {base!r}, which is none of them: {error}"
                ) from error
        return self._modules[base]

    def _base(self, base: object, base_kwargs: dict | None, base_key: str | None) -> Base:
        kwargs = {} if base_kwargs is None else base_kwargs
        if not isinstance(kwargs, dict) or not all(isinstance(name, str) for name in kwargs):
            raise ValueError(f"base_kwargs: expected a dictionary from names to settings, got {base_kwargs!r}")
        if base_key is not None and not isinstance(base_key, str):
            raise ValueError(f"base_key: expected the name of a result, got {base_key!r}")
        if isinstance(base, evaluate.EvaluationModule):
            return module_function(base, kwargs, base_key)
        if isinstance(base, str | Path) and base not in BUILT_IN:
            return module_function(self._module(str(base)), kwargs, base_key)
        if base_key is not None:
            raise ValueError(
                f"base_key: only for a module of evaluate, got {base_key!r} with base {base!r}; leave it out"
            )
        return base_function(base, kwargs)

    def _check_settings(self, base="rouge", base_kwargs=None, base_key=None, per_example=False, explain=False) -> None:
        for name, flag in (("per_example", per_example), ("explain", explain)):
            if not isinstance(flag, bool):
                raise ValueError(f"{name}: expected True or False, got {flag!r}")
        self._signature = self._base(base, base_kwargs, base_key).signature

    def signature(self) -> str:
        """Return one line with everything that the numbers of the last `compute` depend on."""
        return f"f_meta|{self._signature}|version:{VERSION}"

    def _compute(
        self,
        predictions,
        references,
        base="rouge",
        base_kwargs=None,
        base_key=None,
        per_example=False,
        explain=False,
    ):
        scorer = self._base(base, base_kwargs, base_key)
        matrices = score_matrices(predictions, references, scorer)
        rows = statistics(predictions, references, scorer, matrices)
        results = corpus_scores(rows)
        matches = [best_matches(matrix) for matrix in matrices] if per_example or explain else []
        if per_example:
            results |= {f"{name}_per_example": rows[:, i].tolist() for i, name in enumerate(NAMES)}
            results["best_match_per_example"] = matches
        if explain:
            results["explanation"] = [
                {"scores": matrix.tolist(), "predictions": texts, "references": others, "best_match": match}
                for matrix, texts, others, match in zip(matrices, predictions, references, matches, strict=True)
            ]
        return results
