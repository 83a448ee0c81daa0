"""Grounding: is an answer supported by the passages that were retrieved for it? A module of `evaluate`."""

import evaluate
from genqa_metrics.core.evaluate_module import CheckedModule
from genqa_metrics.grounding.scorer import GroundingScorer

_DESCRIPTION = """\
Grounding reads an answer sentence by sentence beside the passages that were retrieved for it, and gives the share of
the sentences that the passages support. The large judge of AVA reads them on your machine (Qwen2.5-Coder-1.5B, 1.1 GB
once); no reference answer is needed.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions (list of str): the answers, one per row.
    contexts (list of lists of str): the passages of each row; empty ones count for citations. A row without any
        supports nothing that its answer states.
    questions (list of str): optional; read with answers of up to three words. "" where there is none.
    threshold (float from 0 to 1): probability from which a sentence is supported. Default: the checkpoint's own.
    words (int): words of the passages that are read for an answer at most; of longer ones the parts that are nearest
        to its sentences. Default 1000.
    citations (bool): a sentence that cites passages, such as "[2]", must be supported by those. Default True.
    per_example (bool): add the scores of every row. Default False.
    explain (bool): add "explanation": per row {"answer", "sentences", "reason"}; a sentence has its place, "verdict"
        ("supported", "unsupported", "contradicted", "wrong citation" or "states nothing"), probability, passage, and
        the place of its evidence there, or of the nearest sentence. Default False.
Returns:
    grounding: mean over answers of the share of supported sentences, from 0 to 1.
    grounding_answers: share of the answers of which every sentence is supported.
    grounding_score: mean over answers of the lowest probability of a sentence.
    grounding_answer_rate: share of the answers that state something; the others are left out of the means above.
Examples:
    After `genqa-metrics download --metric grounding`:

    >>> grounding = evaluate.load("metrics/grounding")  # doctest: +SKIP
    >>> results = grounding.compute(  # doctest: +SKIP
    ...     predictions=["The bridge is 120 metres long.", "The bridge was painted by Ann Lee."],
    ...     contexts=[["The old bridge has a length of 120 metres."]] * 2,
    ...     per_example=True,
    ... )
    >>> results["grounding_per_example"]  # doctest: +SKIP
    [1.0, 0.0]
"""

_CITATION = """\
@inproceedings{vu-moschitti-2021-ava,
    title = "{AVA}: an Automatic e{V}aluation Approach for Question Answering Systems",
    author = "Vu, Thuy and Moschitti, Alessandro",
    booktitle = "Proceedings of NAACL-HLT 2021",
    year = "2021",
    pages = "5223--5233"
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Grounding(CheckedModule, evaluate.Metric):
    """Share of the sentences of an answer that passages support; the arguments below are those of `load`.

    Args:
        checkpoint: "large" (default; 1.1 GB once), a folder or "org/name@rev"; any judge that reads prompts.
        revision: branch, tag or commit of a checkpoint; `evaluate.load` takes this argument for the module's own.
        device: "cpu", "cuda", "cuda:1", "mps"; default: the best available.
        dtype: "float32" (default), "bfloat16" or "float16".
        batch_tokens: tokens that are read at once.
        progress: show a progress bar; default: where stderr is a terminal.
        backend: "onnx" (on a CPU) or "torch"; default: "onnx" where the checkpoint has graphs, "torch" with a GPU.
        base_model: the GGUF file that a checkpoint is an adapter of.
        settings: defaults for `compute`.
    """

    scorer_class = GroundingScorer
    url = "https://aclanthology.org/2021.naacl-main.412/"

    def _info(self):
        return self._described(_DESCRIPTION, _KWARGS_DESCRIPTION, _CITATION)
