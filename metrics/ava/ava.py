"""AVA: the probability that an answer is right, given question and references, as a module of `evaluate`."""

import evaluate
from genqa_metrics.ava.scorer import AvaScorer
from genqa_metrics.core.evaluate_module import CheckedModule

_DESCRIPTION = """\
AVA reads a question, one or several references and an answer, and gives the probability that the answer is right.
A transformer trained on human verdicts compares the answer with the references, and does not only count the words that
they share: a long answer can be right, and one that shares most words with the reference wrong.
"""

_KWARGS_DESCRIPTION = """
Args:
    questions (list of str): one question per row.
    predictions (list of str): the answers to be judged, one per row.
    references (list of str, or list of lists of str): one or several accepted answers per row.
    short_answers (list of str): optional; the few words of each row that answer the question, "" where there are
        none. Only the linear judge reads them. Default: it reads the reference in their place.
    threshold (float from 0 to 1): probability from which an answer counts as right. Default: the checkpoint's own.
    reference_aggregation (str): "joined" reads all references of a row at once, "max" and "mean" (the paper's) one
        at a time. Default: the checkpoint's own.
    rules (bool): judge only the answer in an output and one passage of a long answer, and compare identical texts
        exactly. Default True; False, as in the paper, also turns the next off.
    quantity_guard (bool): answers and references that are one plain number with the same unit are compared exactly.
        Default True.
    calibration (str): a file of `genqa-metrics calibrate`: scale and threshold from labels of your own. Default:
        calibration.json beside the checkpoint, if there is one; False for none.
    per_example (bool): add "ava_score_per_example", "ava_label_per_example" and "ava_declined_per_example". Default
        False.
    explain (bool): add "explanation": per row {"reference": number of the one that decided, "probability",
        "words": [[word, effect, start, end], ...], "reason", "differences": [[kind, text, accepted], ...]}; the effect
        of a word is how much the probability falls without it; in a wrong answer a number or name gives way to the
        reference's. Kinds of differences are "missing", "adds" and "contradicts". Each word is a further answer to
        judge. Default False.
Returns:
    ava_accuracy: share of the answers judged right, from 0 to 1.
    ava_score: mean probability of being right, from 0 to 1.
    ava_declined: share of the answers that only decline to answer ("I don't know") or are empty, and are not right.
    ava_wrong: share of the other answers that are not right; with ava_accuracy and ava_declined the sum is 1.
    ava_accuracy_given_attempted: share of the answers that do not decline that is right.
    ava_threshold: the threshold that was used.
Examples:
    >>> ava = evaluate.load("metrics/ava")
    >>> results = ava.compute(
    ...     questions=["Who wrote Hamlet?"] * 2,
    ...     predictions=["William Shakespeare wrote it around 1600.", "It was written by Christopher Marlowe."],
    ...     references=["Shakespeare", "Shakespeare"],
    ...     per_example=True,
    ... )
    >>> results["ava_label_per_example"]
    [1, 0]
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
class Ava(CheckedModule, evaluate.Metric):
    """AVA of Vu & Moschitti (2021); the arguments below are those of `load`.

    Args:
        checkpoint: "small" (default), "base" (491 MB), "large" (1,117 MB, long texts), a folder or "org/name@rev".
        escalate: a second judge, such as "base", for the rows of which the first is unsure. Default: none.
        limit_seconds: the second judge reads for so long, the rows first of which the first judge is least sure.
        revision: branch, tag or commit of a checkpoint; `evaluate.load` takes this argument for the module's own.
        device: "cpu", "cuda", "cuda:1", "mps"; default: the best available.
        dtype: "float32" (default), "bfloat16" or "float16".
        batch_tokens: word pieces per batch of the encoder, padding included.
        progress: show a progress bar; default: where stderr is a terminal.
        backend: "onnx" (on a CPU) or "torch"; default: "onnx" for bundled ones, "torch" for others, GPUs and `dtype`.
        base_model: the encoder of a checkpoint that is an adapter: a folder, or "org/name@commit".
        settings: defaults for `compute`; "paper" for no rules and the mean over references, read one at a time.
    """

    scorer_class = AvaScorer
    url = "https://aclanthology.org/2021.naacl-main.412/"

    def _info(self):
        return self._described(_DESCRIPTION, _KWARGS_DESCRIPTION, _CITATION)

    def _more(self, scorer, columns, results):
        verdicts = ("ava_label_per_example", "ava_declined_per_example")
        labels = {name: list(map(int, results[name])) for name in verdicts if name in results}
        return {"ava_threshold": scorer.threshold, **labels}
