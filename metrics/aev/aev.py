"""AEv(alpha, N), one family of n-gram metrics that spans BLEU and ROUGE, as a module of `evaluate`."""

import warnings

import datasets
import evaluate

from .scoring import GRID_ORDERS, Settings, grid_scores, scores, statistics, summed_statistics, warnings_for
from .shared import VERSION, CheckedModule, checked_references, checked_texts
from .stop_words import STOP_WORDS

__all__ = ["STOP_WORDS", "Aev"]

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
    """AEv(alpha, N) of Soricut & Brill (2004); `settings` of `load` are the defaults of `compute`."""

    setting_names = (*Settings.__dataclass_fields__, "grid", "per_example")

    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Sequence(datasets.Value("string"))}
            ),
            reference_urls=["https://aclanthology.org/P04-1078/"],
        )

    def _checked(self, columns: dict, first_row: int) -> dict:
        return {
            "predictions": checked_texts("predictions", columns["predictions"], first_row),
            "references": checked_references("references", columns["references"], first_row),
        }

    def _check_settings(self, grid: bool = False, per_example: bool = False, **settings) -> None:
        if grid and Settings(**settings).weights is not None:
            raise ValueError("weights: expected None with grid=True, where every N has its own 1 / N; leave it out")
        self._settings = Settings(**settings)

    def signature(self) -> str:
        """Return one line with everything that the numbers of the last `compute` depend on."""
        return f"aev|{self._settings.signature()}|version:{VERSION}"

    def _compute(self, predictions, references, grid=False, per_example=False, **settings):
        settings = Settings(**settings)
        orders = max(settings.max_order, *GRID_ORDERS) if grid else settings.max_order
        if per_example:
            rows = statistics(predictions, references, settings, orders)
            total = rows.sum(axis=0)
        else:
            total = summed_statistics(predictions, references, settings, orders)
        for warning in warnings_for(total, settings):
            warnings.warn(f"aev: {warning}", stacklevel=4)
        results = {name: float(value) for name, value in scores(total, settings).items()}
        if grid:
            results["aev_grid"] = grid_scores(total, settings)
        if per_example:
            for name, values in scores(rows, settings, effective_order=True).items():
                results[f"{name}_per_example"] = values.tolist()
        return results
