"""KPQA: BLEU-1, ROUGE-L and BERTScore weighted by how much a word answers the question, as a module of `evaluate`."""

import evaluate
from genqa_metrics.core.evaluate_module import CheckedModule
from genqa_metrics.kpqa.scorer import KpqaScorer

_DESCRIPTION = """\
KPQA compares answers with references by the words that answer the question. A token classifier reads question and
answer and gives every word piece a keyphrase weight; BLEU-1, ROUGE-L and BERTScore are computed with these weights.
"""

_KWARGS_DESCRIPTION = """
Args:
    questions (list of str): one question per row.
    predictions (list of str): the answers to be scored, one per row.
    references (list of str, or list of lists of str): one or several reference answers per row; the best one counts.
    beta (float above 0): weight of recall against precision in ROUGE-L. Default 1.
    rouge_weights (str): whose weights ROUGE-L-KPQA sums. "both" (default): precision the prediction's, recall the
        reference's; "candidate": eq. 5 as printed, the prediction's for both, so that recall can exceed 1; "code":
        what the paper's published code computes, the reference's for both.
    idf (bool, or list of str): weigh the word pieces of bertscore by their rarity in the references (True) or in texts
        of your own, as the paper did. Default False.
    negation (bool): a keyphrase behind "not", "never" or a minus sign matches only where the other text denies it too,
        and one behind >=, <, != only where the same operator stands before it.
        Default True; the paper has no such rule.
    values (bool): in bertscore_kpqa two different numbers, or yes and no, are half as alike as their vectors say, and
        "2" and "two" are the same. Default True; the paper has no such rule.
    clipped (bool): in bleu1_kpqa a word of the reference matches one word of the prediction. Default True; False
        counts every pair of equal words, as equation 1 is printed, and can exceed 1.
    per_example (bool): add "<name>_per_example" for every result, a list with one value per row, and
        "<metric>_reference_per_example", the number of the reference that counted. Default False.
    explain (bool): add "explanation": per row the word pieces, weights and character offsets of all texts.
Returns:
    bleu1_kpqa, rougeL_kpqa, bertscore_kpqa: floats from 0 to 1, means over the rows.
    rougeL_kpqa_precision, rougeL_kpqa_recall, bertscore_kpqa_precision, bertscore_kpqa_recall: of the best reference.
    bleu1, rougeL, bertscore: the same metrics with equal weights.
Examples:
    >>> kpqa = evaluate.load("metrics/kpqa")
    >>> results = kpqa.compute(
    ...     questions=["How many steps are involved in a hypothesis test?"],
    ...     predictions=["There are seven steps involved in a hypothesis test."],
    ...     references=["Four steps are involved in a hypothesis test."],
    ... )
    >>> results["rougeL_kpqa"] < 0.2 < 0.7 < results["rougeL"]
    True
"""


_CITATION = """\
@inproceedings{lee-etal-2021-kpqa,
    title = "{KPQA}: A Metric for Generative Question Answering Using Keyphrase Weights",
    author = "Lee, Hwanhee and Yoon, Seunghyun and Dernoncourt, Franck and Kim, Doo Soon and Bui, Trung and
        Shin, Joongbo and Jung, Kyomin",
    booktitle = "Proceedings of NAACL-HLT 2021",
    year = "2021",
    pages = "2105--2115"
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Kpqa(CheckedModule, evaluate.Metric):
    """KPQA of Lee et al. (2021); the arguments below are those of `load`.

    Args:
        checkpoint: folder or Hub id of a keyphrase predictor, also "org/name@revision"; default: the bundled one.
        revision: branch, tag or commit of a checkpoint; `evaluate.load` takes this argument for the module's own.
        device: "cpu", "cuda", "cuda:1", "mps"; default: the best available.
        dtype: "float32" (default), "bfloat16" or "float16".
        batch_tokens: word pieces per batch of the encoder at most, padding included; a CPU takes 256 to 1024.
        progress: show a progress bar; default: where stderr is a terminal.
        embedding_model: folder or Hub id of the encoder that BERTScore compares with; default: the base encoder.
        embedding_layer: its hidden layer; default 0, the embeddings below the first (the paper took the first).
        backend: "onnx" (on a CPU) or "torch"; default: "onnx" for bundled ones, "torch" for others, GPUs and `dtype`.
        base_model: the encoder of a checkpoint that is an adapter: a folder, or "org/name@commit".
        settings: defaults for `compute`; "paper" for the equations as printed.
    """

    scorer_class = KpqaScorer
    url = "https://aclanthology.org/2021.naacl-main.170/"

    def _info(self):
        return self._described(_DESCRIPTION, _KWARGS_DESCRIPTION, _CITATION)
