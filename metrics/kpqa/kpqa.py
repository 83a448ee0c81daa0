"""KPQA: BLEU-1, ROUGE-L and BERTScore weighted by how much a word answers the question, as a module of `evaluate`."""

import sys
import warnings
from collections.abc import Iterator

import datasets
import evaluate
import numpy as np

from .encoding import Encoder
from .fast import checked_backend
from .loading import load_models
from .models import checked_budget
from .scoring import METRICS, RESULTS, Tokens, checked_beta, pair_statistics, row_scores
from .shared import VERSION, CheckedModule, checked_references, checked_texts

_CHUNK = 1024  # rows whose token vectors are in memory at a time,
_CHUNK_CHARACTERS = 2**18  # or fewer if their texts are long: about 100 MB of vectors

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
        batch_tokens: word pieces per batch of the encoder at most, padding included; a CPU takes at most 1024.
        progress: show a progress bar; default: where stderr is a terminal.
        embedding_model: folder or Hub id of the encoder that BERTScore compares with; default: the base encoder.
        embedding_layer: its hidden layer; default 0, the embeddings below the first (the paper took the first).
        backend: "torch" (default), or "onnx" for 8-bit integers on a CPU, see `genqa-metrics export`.
        settings: defaults for `compute`.
    """

    setting_names = ("beta", "per_example", "explain")

    def __init__(
        self,
        *args,
        checkpoint=None,
        revision=None,
        device=None,
        dtype=None,
        batch_tokens=4096,
        progress=None,
        embedding_model=None,
        embedding_layer=None,
        backend=None,
        **kwargs,
    ):
        self.model_arguments = {
            "checkpoint": checkpoint,
            "revision": revision,
            "device": device,
            "dtype": dtype,
            "embedding_model": embedding_model,
            "embedding_layer": embedding_layer,
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
            reference_urls=["https://aclanthology.org/2021.naacl-main.170/"],
        )

    def _checked(self, columns: dict, first_row: int) -> dict:
        return {
            "questions": checked_texts("questions", columns["questions"], first_row),
            "predictions": checked_texts("predictions", columns["predictions"], first_row),
            "references": checked_references("references", columns["references"], first_row),
        }

    def _check_settings(self, beta: float = 1.0, per_example: bool = False, explain: bool = False) -> None:
        self._beta = checked_beta(beta)

    def _download_and_prepare(self, dl_manager):
        Encoder(load_models(**self.model_arguments), self.batch_tokens)  # whatever is wrong is said on loading

    def signature(self) -> str:
        """Return one line with everything that the numbers of the last `compute` depend on."""
        models = load_models(**self.model_arguments)
        return f"kpqa|{models.signature}|beta:{self._beta:g}|version:{VERSION}"

    def _compute(self, questions, predictions, references, beta=1.0, per_example=False, explain=False):
        from tqdm import tqdm

        encoder = Encoder(load_models(**self.model_arguments), self.batch_tokens)
        rows = {name: np.zeros(len(questions)) for name in RESULTS}
        rows |= {f"{metric}_reference": np.zeros(len(questions), dtype=int) for metric in METRICS}
        explanation = [{"question": question} for question in questions] if explain else []
        hidden = not (sys.stderr.isatty() if self.progress is None else self.progress)
        with tqdm(total=len(questions), desc="kpqa", unit="row", disable=hidden) as bar:
            for chunk in _chunks(questions, predictions, references):
                asked = [questions[i] for i in chunk] + [questions[i] for i in chunk for _ in references[i]]
                texts = [predictions[i] for i in chunk] + [text for i in chunk for text in references[i]]
                tokens, offsets = encoder.tokens(list(zip(asked, texts, strict=True)))
                numbers = np.repeat(np.arange(len(chunk)), [len(references[i]) for i in chunk])
                statistics = pair_statistics([tokens[n] for n in numbers], tokens[len(chunk) :])
                scores, winners = row_scores(statistics, numbers, beta)
                for name, values in scores.items():
                    rows[name][chunk] = values
                for metric, values in winners.items():
                    rows[f"{metric}_reference"][chunk] = values
                if explain:
                    pieces = [_weighted_pieces(*it) for it in zip(texts, tokens, offsets, strict=True)]
                    references_of_chunk = iter(pieces[len(chunk) :])
                    for i, prediction in zip(chunk, pieces, strict=False):
                        explanation[i]["prediction"] = prediction
                        explanation[i]["references"] = [next(references_of_chunk) for _ in references[i]]
                bar.update(len(chunk))
        for warning in encoder.warnings():
            warnings.warn(f"kpqa: {warning}", stacklevel=4)
        results = {name: float(rows[name].mean()) if questions else 0.0 for name in RESULTS}
        if per_example:
            results |= {f"{name}_per_example": values.tolist() for name, values in rows.items()}
        if explain:
            results["explanation"] = explanation
        return results


def _chunks(questions: list[str], predictions: list[str], references: list[list[str]]) -> Iterator[list[int]]:
    """Yield row numbers in pieces of limited size, all rows of a question in one piece if two such sizes hold them."""
    order = sorted(range(len(questions)), key=questions.__getitem__)
    chunk, share = [], 0.0
    for i in order:
        if (share >= 1 and questions[chunk[-1]] != questions[i]) or share >= 2:
            yield chunk
            chunk, share = [], 0.0
        chunk.append(i)
        share += max(1 / _CHUNK, (len(predictions[i]) + sum(map(len, references[i]))) / _CHUNK_CHARACTERS)
    if chunk:
        yield chunk


def _weighted_pieces(text: str, tokens: Tokens, offsets: np.ndarray) -> list[list]:
    weights = tokens.weights.tolist()
    return [[text[a:b], weight, a, b] for weight, (a, b) in zip(weights, offsets.tolist(), strict=True)]
