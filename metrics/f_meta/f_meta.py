"""F-meta, generalised precision, recall and F for sets of texts, as a module of `evaluate`."""

import evaluate
from genqa_metrics.core.evaluate_module import CheckedModule
from genqa_metrics.f_meta.scorer import FMetaScorer

_DESCRIPTION = """\
F-meta compares the set of questions that a system generates for a context with the set of reference questions.
Precision asks how close every generated question is to its best reference, recall how close every reference is to its
best generated question, both in the terms of a base metric: how likely two questions ask the same, BLEU,
ROUGE, METEOR or any other. A system that asks one good question again and again has precision but no recall. Where a
threshold is known, references that are asked are also counted.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions (list of lists of str): the generated texts, one list per context; it may be empty.
    references (list of lists of str): the reference texts, one list of at least one per context.
    base (str, function or module): what scores a pair. "same_question": how likely two questions ask the same,
        from ROUGE-L and the cosine of sentence vectors. "rouge": ROUGE-L, beta 1.2.
        "bleu": sentence BLEU-4. "meteor": METEOR 1.5; needs pycocoevalcap and Java. Another string: name or path of a
        module of `evaluate` with a score per example. A function: gets a list of predictions and an equally long list
        of references, returns a list of scores. Default None: "same_question"; "rouge" where neither
        the package's encoder nor torch is there.
    base_kwargs (dict): settings of the base. For "bleu" and "rouge" {"tokenizer": "word"} (default, for raw text),
        {"tokenizer": "whitespace"} for texts that are tokenised, or {"tokenizer": function}. For a module: settings of
        its `compute`. For a function: its further arguments.
    base_key (str): for a module, the result that is the list of scores. Default None: the only such list.
    threshold (float): score from which two questions ask the same. Default None: that of the base, if it has one:
        "same_question", "cosine", and "rouge" with the tokenizer "word".
    per_example (bool): add the values and the best matches of every context. Default False.
    explain (bool): add the matrix of scores of every context. Default False.
Returns:
    f_meta, f_meta_precision (u), f_meta_recall (v): floats from 0 to 1 with such a base; means over the contexts.
    f_meta_conventional: the base's score of each prediction against all references of its context together.
    f_meta_covered (with a threshold): share of the references that are asked; a prediction asks the closest one only.
    f_meta_relevant (with a threshold): share of the predictions that ask a reference.
    <name>_per_example (with per_example=True): for each of these, a list with one value per context.
    best_match_per_example (with per_example=True): per context {"predictions": [{"reference": index, "score": s},
        ...], "references": [{"prediction": index, "score": s}, ...]}.
    not_asked_per_example (with per_example=True and a threshold): per context the references that are not asked.
    explanation (with explain=True): per context {"scores": predictions x references, "best_match" and "not_asked" as
        above, "asked_besides" (questions that ask no reference), "matched": [[prediction, reference], ...], "reason":
        a sentence, and the texts as "predictions" and "references"}.
Examples:
    >>> f_meta = evaluate.load("metrics/f_meta")
    >>> results = f_meta.compute(
    ...     predictions=[["Which team won the 2014 world cup?", "Who won the world cup of 2014?"]],
    ...     references=[["Who won the 2014 world cup?", "Where was the final played?"]],
    ...     explain=True,
    ... )
    >>> print(results["f_meta_covered"], results["f_meta_relevant"], results["explanation"][0]["reason"])
    0.5 1.0 Covers 1 of 2 reference questions, with 1 repeat; not asked: "Where was the final played?".
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
    url = "https://arxiv.org/abs/2008.07291"

    def _info(self):
        return self._described(_DESCRIPTION, _KWARGS_DESCRIPTION, _CITATION)
