"""AVA: the probability that an answer is correct, given question and references, as a module of `evaluate`."""

import sys
import warnings

import datasets
import evaluate
import numpy as np

from .fast import checked_backend
from .judging import Judge
from .loading import checked_aggregation, checked_threshold, load_judge
from .modeling import CONFIGURATIONS
from .models import checked_budget
from .shared import VERSION, CheckedModule, checked_references, checked_texts

_CHUNK = 4096  # rows that are tokenized and judged between two steps of the progress bar

_DESCRIPTION = """\
AVA reads a question, one or several references and an answer, and gives the probability that the answer is correct.
A transformer trained on human verdicts reads the answer as a person would: a long answer can be right, and one that
shares most words with the reference wrong.
"""

_KWARGS_DESCRIPTION = """
Args:
    questions (list of str): one question per row.
    predictions (list of str): the answers to be judged, one per row.
    references (list of str, or list of lists of str): one or several accepted answers per row.
    threshold (float from 0 to 1): probability from which an answer counts as correct. Default: the checkpoint's own.
    reference_aggregation (str): "joined" reads all references of a row at once, "max" and "mean" (the paper's) one
        at a time. Default: the checkpoint's own.
    per_example (bool): add "ava_score_per_example" and "ava_label_per_example". Default False.
Returns:
    ava_accuracy: share of the answers judged correct, from 0 to 1.
    ava_score: mean probability of being correct, from 0 to 1.
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
        checkpoint: folder or Hub id of a judge, also "org/name@revision"; default: the bundled one.
        revision: branch, tag or commit of a checkpoint; `evaluate.load` takes this argument for the module's own.
        device: "cpu", "cuda", "cuda:1", "mps"; default: the best available.
        dtype: "float32" (default), "bfloat16" or "float16".
        batch_tokens: word pieces per batch of the encoder, padding included.
        progress: show a progress bar; default: where stderr is a terminal.
        backend: "torch" (default), or "onnx" for 8-bit integers on a CPU, see `genqa-metrics export`.
        settings: defaults for `compute`.
    """

    setting_names = ("threshold", "reference_aggregation", "per_example")

    def __init__(
        self,
        *args,
        checkpoint=None,
        revision=None,
        device=None,
        dtype=None,
        batch_tokens=4096,
        progress=None,
        backend=None,
        **kwargs,
    ):
        self.model_arguments = {
            "checkpoint": checkpoint,
            "revision": revision,
            "device": device,
            "dtype": dtype,
            "backend": checked_backend(backend, device, dtype),
        }
        self.batch_tokens = checked_budget(batch_tokens)
        self.progress = progress
        super().__init__(*args, **kwargs)

    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {"questions": text, "predictions": text, "references": datasets.Sequence(text)}
            ),
            reference_urls=["https://aclanthology.org/2021.naacl-main.412/"],
        )

    def _checked(self, columns: dict, first_row: int) -> dict:
        return {
            "questions": checked_texts("questions", columns["questions"], first_row),
            "predictions": checked_texts("predictions", columns["predictions"], first_row),
            "references": checked_references("references", columns["references"], first_row),
        }

    def _check_settings(self, threshold=None, reference_aggregation=None, per_example: bool = False) -> None:
        self._threshold = checked_threshold(threshold)
        self._aggregation = checked_aggregation(reference_aggregation)

    def _download_and_prepare(self, dl_manager):
        load_judge(**self.model_arguments)  # whatever is wrong is said on loading

    @property
    def segments(self) -> tuple[tuple[str, str], ...]:
        """The pair of texts that each encoder of the judge reads, of q, r and t; empty for the linear judge."""
        return CONFIGURATIONS.get(load_judge(**self.model_arguments).configuration, ())

    def signature(self) -> str:
        """Return one line with everything that the numbers of the last `compute` depend on."""
        judge = load_judge(**self.model_arguments)
        threshold = judge.threshold if self._threshold is None else self._threshold
        how = self._aggregation or judge.reference_aggregation
        return f"ava|{judge.signature}|threshold:{threshold:g}|references:{how}|version:{VERSION}"

    def _compute(
        self, questions, predictions, references, threshold=None, reference_aggregation=None, per_example=False
    ):
        from tqdm import tqdm

        judge = Judge(load_judge(**self.model_arguments), self.batch_tokens)
        threshold = judge.loaded.threshold if threshold is None else threshold
        scores = np.zeros(len(questions))
        hidden = not (sys.stderr.isatty() if self.progress is None else self.progress)
        with tqdm(total=len(questions), desc="ava", unit="row", disable=hidden) as bar:
            for start in range(0, len(questions), _CHUNK):
                rows = slice(start, start + _CHUNK)
                scores[rows] = judge.probabilities(
                    questions[rows], references[rows], predictions[rows], reference_aggregation
                )
                bar.update(len(questions[rows]))
        for warning in judge.warnings():
            warnings.warn(f"ava: {warning}", stacklevel=4)
        labels = scores >= threshold
        results = {
            "ava_accuracy": float(labels.mean()) if questions else 0.0,
            "ava_score": float(scores.mean()) if questions else 0.0,
            "ava_threshold": float(threshold),
        }
        if per_example:
            results["ava_score_per_example"] = scores.tolist()
            results["ava_label_per_example"] = labels.astype(int).tolist()
        return results
