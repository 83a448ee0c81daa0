"""AEv(alpha, N), one family of n-gram metrics that spans BLEU and ROUGE, as a module of `evaluate`."""

import evaluate
from genqa_metrics.aev.scorer import AevScorer
from genqa_metrics.core.evaluate_module import CheckedModule

_DESCRIPTION = """\
AEv(alpha, N) compares answers with references by their n-grams. N says how long the n-grams are (1: content, 4:
wording) and alpha what counts: recall of the reference (0), precision of the answer (1), or both. AEv(1, 4) without
stop words and stemmer is BLEU-4, AEv(0, 1) without a limit on wordiness is the recall of ROUGE-1.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions (list of str): answers, one per row.
    references (list of str, or list of lists of str): one or several references per row.
    alpha (float, 0 to 1): guideline axis, from recall (0) to precision (1). Default 0.5.
    max_order (int, at least 1): N, the longest n-gram. Default 2.
    brevity (float above 0): B; an answer shorter than |reference| / B is penalised. Default 1; infinity: never.
    wordiness (float above 0): W; an answer longer than W |reference| is penalised. Default 2; infinity: never.
    weights (list of max_order floats): weights of the orders. Default None: 1 / N each.
    stop_words (str, collection of str, or None): "english" (default), "smart", your own words, or none.
    stemmer (str or None): "porter" (default) or none.
    tokenizer (str or function): "word" (default), "13a" (sacrebleu's), or a function from a text to a list of tokens.
    reference_recall (str): "all" (default) pools the n-grams of all references of a row, as the paper does; "best"
        counts only the reference with the highest recall, for references that are alternatives of each other.
    effective_order (bool): True (default) leaves out orders of which a corpus has no n-gram, such as the bigrams of
        one-word answers; False gives 0 then, as the paper's formula does (also with `settings="paper"` of `load`).
    grid (bool): add "aev_grid", the table over alpha = 0, 0.1 .. 1 and N = 1 .. 4. Default False.
    per_example (bool): add "<name>_per_example" for every result, a list with one value per row. Default False.
Returns:
    aev, aev_precision (PS), aev_recall (RS), brevity_penalty, wordiness_penalty: floats from 0 to 1, for the corpus.
    prediction_length, reference_length: number of terms in the corpus; the reference closest in length counts.
    aev_grid (with grid=True): {"alpha": 11 values, "max_order": 4 values, "aev": 4 lists of 11 scores}.
Examples:
    >>> aev = evaluate.load("metrics/aev")
    >>> results = aev.compute(
    ...     predictions=["There are seven steps involved in a hypothesis test."],
    ...     references=["Four steps are involved in a hypothesis test."],
    ... )
    >>> print(round(results["aev"], 3))
    0.775
"""

_CITATION = """\
@inproceedings{soricut-brill-2004-unified,
    title = "A Unified Framework For Automatic Evaluation Using 4-Gram Co-occurrence Statistics",
    author = "Soricut, Radu and Brill, Eric",
    booktitle = "Proceedings of the 42nd Annual Meeting of the Association for Computational Linguistics (ACL-04)",
    year = "2004",
    pages = "613--620"
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Aev(CheckedModule, evaluate.Metric):
    """AEv(alpha, N) of Soricut & Brill (2004); settings given to `load` are the defaults of `compute`."""

    scorer_class = AevScorer
    url = "https://aclanthology.org/P04-1078/"
    flags = ("per_example", "grid")

    def _info(self):
        return self._described(_DESCRIPTION, _KWARGS_DESCRIPTION, _CITATION)

    def _without_flags(self, settings):
        if settings.get("grid") and settings.get("weights") is not None:
            raise ValueError("weights: expected None with grid=True, where every N has its own 1 / N; leave it out")
        return super()._without_flags(settings)

    def _more(self, scorer, columns, results, grid=False):
        return {"aev_grid": scorer.grid_scores(columns)} if grid else {}
