"""F-meta, generalised precision, recall and F for sets of texts, as a module of `evaluate`."""

import datasets
import evaluate
from genqa_metrics.core.evaluate_module import CheckedModule
from genqa_metrics.f_meta.scorer import FMetaScorer

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

    scorer_class = FMetaScorer
    flags = ("per_example", "explain")

    def _info(self):
        texts = datasets.Sequence(datasets.Value("string"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features({"predictions": texts, "references": texts}),
            reference_urls=["https://arxiv.org/abs/2008.07291"],
        )
