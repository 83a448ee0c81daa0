"""Judges of texts: what their models read, and how these are found, checked, loaded and run.

A judge is of a configuration of pairs of texts (see `ava_model`), linear, or reads one prompt (see `causal_judge`).
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np

from .ava_model import CONFIGURATIONS, PEER_ATTENTION, ava_classes
from .causal_judge import PROMPT_VERSION, WINDOW, answer_prompt, load_causal, prompt_logits
from .checkpoints import (
    GGUF,
    NO_CODE,
    WEIGHTS,
    CheckpointError,
    ThreadTokenizer,
    check_row,
    check_vocabulary,
    check_weights,
    checkpoint_digest,
    encoder_source,
    file_digest,
    load_tokenizer,
    one_error,
    read_digest,
    read_json,
    signature_digest,
    whole_model,
    with_adapter,
)
from .checkpoints import read_settings as read_checked
from .encoders import BUNDLED, OnnxEncoder, default_backend, is_on_bundled, onnx_encoder
from .inference import (
    budget_on,
    budgeted,
    checked_backend,
    checked_device,
    checked_dtype,
    checked_encoder,
    engine_facts,
    padded,
    results_of,
    run_on,
    tensors,
)
from .kept_logits import KeptLogits
from .prompt_engine import GRAPHS, PromptEngine, graphs_digest
from .reading import LONG_ANSWER, PASSAGE
from .scorer import check_setting, is_number, number_within, one_of, or_null, quiet, whole
from .words import MARK_TYPES, MARKS, marked, word_marks, words

LINEAR = "linear"  # a classifier of four features
PROMPT = "prompt"  # one prompt through a causal language model, see `causal_judge`
STATEMENT = "What is true?"  # read in the place of the question beside a text that stands alone


def segments(configuration: str, question: str, reference: str, candidate: str) -> list[tuple[str, str]]:
    """Return the pair of texts that each encoder reads (section 4.2); the question gets "?" if it has no end.

    >>> segments("a1-r_qt", "who won", "Ann", "It was Ann.")
    [('Ann', 'who won? It was Ann.')]
    """
    question = question.strip()
    question += "" if question[-1:] in ("?", ".", "!", "") else "?"
    texts = {"q": question, "r": reference, "t": candidate}
    pairs = CONFIGURATIONS[configuration]
    return [tuple(" ".join(texts[symbol] for symbol in segment) for segment in pair) for pair in pairs]


def linear_features(question: str, reference: str, candidate: str, short_answer: str | None = None) -> list[float]:
    """Return x1 to x4 (section 4.1): whether s occurs in t, sim(r, t), sim(r, q) and sim(q, t).

    The short answer s is the reference if there is none; sim(a, b) = 2 |a & b| / (|a| + |b|) on the sets of words.

    >>> linear_features("who won?", "Ann", "Ann did.")
    [1.0, 0.6666666666666666, 0.0, 0.0]
    """
    wanted = words(reference if short_answer is None else short_answer)
    result = bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(words(candidate))} "

    def sim(a: str, b: str) -> float:
        first, second = set(words(a)), set(words(b))
        return 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0

    return [float(result), sim(reference, candidate), sim(reference, question), sim(question, candidate)]


def encoded(
    tokenizer,
    configuration: str,
    rows: Sequence[tuple[str, str, str]],
    max_length: int | None,
    marks: str | None = None,
) -> list[list[dict]]:
    """Return per encoder the word pieces of rows, cut to `max_length`; with `marks`, token types are `word_marks`."""
    pairs = [segments(configuration, *row) for row in rows]
    columns = []
    for k in range(len(CONFIGURATIONS[configuration])):
        batch = tokenizer(
            [pair[k][0] for pair in pairs],
            [pair[k][1] for pair in pairs],
            truncation="longest_first" if max_length else False,
            max_length=max_length,
            return_attention_mask=True,
            verbose=False,
        )
        column = [{name: batch[name][i] for name in batch} for i in range(len(rows))]
        if marks and {"r", "t"} <= set("".join(CONFIGURATIONS[configuration][k])):
            for inputs, pair, row, encoding in zip(column, pairs, rows, batch.encodings, strict=True):
                inputs["token_type_ids"] = marked(encoding, pair[k], word_marks(*row, max_length))
        columns.append(column)
    return columns


class JudgeReader:
    """Runs a judge on triples of texts; `cut` are the triples so far of which the model could not read the end."""

    def __init__(self, loaded, batch_tokens: int = 4096):
        self.loaded, self.batch_tokens = loaded, batch_tokens
        self.cut: set[tuple] = set()

    def logits(self, triples: Sequence[tuple]) -> np.ndarray:
        """Return (triples,) logits before calibration, above 0 for correct answers; equal triples are read once.

        A triple is question, reference and candidate; for the linear judge a short answer, or None, may follow; for
        one that reads a prompt the second is a tuple of references.
        """
        if self.loaded.configuration == PROMPT:
            prompts = [(answer_prompt(question, texts), text) for question, texts, text, *_ in triples]
            return self.prompt_logits(prompts)
        unique = {triple: i for i, triple in enumerate(dict.fromkeys(triples))}
        if not unique:
            return np.zeros(0)
        rows, loaded, model = list(unique), self.loaded, self.loaded.model
        if loaded.configuration == LINEAR:
            logits = np.array([linear_features(*row) for row in rows]) @ model["weight"] + model["bias"]
            return logits[[unique[triple] for triple in triples]]

        columns = encoded(loaded.tokenizer, loaded.configuration, rows, loaded.max_length, loaded.marks)
        lengths = [max(len(column[i]["input_ids"]) for column in columns) for i in range(len(rows))]
        full = [row for row, length in zip(rows, lengths, strict=True) if length >= loaded.max_length]
        whole = encoded(loaded.tokenizer, loaded.configuration, full, None) if full else [[]]
        longest = [max(len(column[i]["input_ids"]) for column in whole) for i in range(len(full))]
        self.cut.update(row for row, length in zip(full, longest, strict=True) if length > loaded.max_length)
        logits = np.zeros(len(rows))

        def run(batch: list[int]) -> np.ndarray:
            return self._run([padded([column[i] for i in batch]) for column in columns])

        workers = getattr(model, "workers", 1)
        batches = budgeted(lengths, budget_on(model.device.type, self.batch_tokens))
        for batch, batch_logits in results_of(run, batches, workers):
            logits[batch] = batch_logits.reshape(-1)
        return logits[[unique[triple] for triple in triples]]

    def prompt_logits(self, prompts: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return the logits of prompts, (shared part, judged text); those that were read before are kept.

        See `causal_judge.prompt_logits` and `kept_logits`.
        """
        kept = KeptLogits(self.loaded.kept_as)
        logits = kept.known(prompts)
        new = np.flatnonzero(np.isnan(logits))
        if len(new):
            model = self.loaded.model
            budget = budget_on(model.device.type, self.batch_tokens)
            unread = [prompts[row] for row in new]
            logits[new] = prompt_logits(model, self.loaded.tokenizer, unread, budget, kept.keep)
        return logits

    def _run(self, inputs: list[dict[str, np.ndarray]]) -> np.ndarray:
        """Return the logits of padded inputs, one for each encoder."""
        model = self.loaded.model
        if isinstance(model, OnnxEncoder):
            return model(**inputs[0])
        import torch

        inputs = [tensors(arrays, model.device) for arrays in inputs]
        with torch.inference_mode():
            output = model(**inputs[0]) if len(inputs) == 1 else model(pairs=inputs)
        return output.logits.float().cpu().numpy()


NEW_HEAD = r"^(classifier|score)\."  # tensors that an adapter adds to an encoder
POOLER = r"|(^|\.)(pooler|pre_classifier)\.|^head\."  # missing in some encoders; trained with the head


def judge_model(source, configuration: str, marks: str | None = None, new: str = NEW_HEAD + POOLER):
    """Return an untrained judge of (rows, 1) `logits`: a sequence classifier, or an `AvaModel` that takes `pairs`."""
    from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

    kind = AutoConfig.from_pretrained(source, **NO_CODE).model_type
    checked_encoder(kind, configuration, configuration in PEER_ATTENTION)
    if len(CONFIGURATIONS[configuration]) == 1:
        with quiet():
            model = whole_model(AutoModelForSequenceClassification, source, new, num_labels=1)
        if marks:
            _widen_types(model.base_model)
        return model
    ava_config, ava_model = ava_classes()
    encoder = whole_model(AutoModel, source, new)
    if marks:
        _widen_types(encoder)
    model = ava_model(ava_config(configuration=configuration, encoder=encoder.config.to_dict()))
    trained = encoder.state_dict()
    for encoder in (*model.encoders, *model.peers):
        encoder.load_state_dict(trained, strict=False)  # the cross attention of peers is new
    return model


def _widen_types(encoder) -> None:
    """Give an encoder one token type per mark, all initialised near its first."""
    import torch

    old = getattr(getattr(encoder, "embeddings", None), "token_type_embeddings", None)
    if old is None:
        why = f"{type(encoder).__name__} has no token types"
        raise ValueError(f"marks: {why}; take an encoder like BERT or RoBERTa, or no marks")
    weight = old.weight.detach()[:1].repeat(MARK_TYPES, 1)
    weight[1:] += 0.02 * torch.randn_like(weight[1:])
    encoder.embeddings.token_type_embeddings = torch.nn.Embedding.from_pretrained(weight, freeze=False)
    encoder.config.type_vocab_size = MARK_TYPES


_LOADING = threading.Lock()  # one thread loads, the others use its result
SETTINGS_FILE = "ava_config.json"
OF_LOGITS = (SETTINGS_FILE, "measured.json")  # files on what is made of logits; of their settings `layers` counts
MAX_SETTING = 10_000
LEAST_LENGTH = 8  # word pieces: the special ones and one per text
KNOWN_ROW = ("Who wrote Hamlet?", "William Shakespeare", "It was written by William Shakespeare in 1600.")
AGGREGATIONS = ("joined", "max", "mean")


@dataclass(frozen=True, kw_only=True)
class JudgeSettings:
    """Content of `ava_config.json`; missing settings have their defaults."""

    configuration: str | None = None  # name in `CONFIGURATIONS`, "linear" or "prompt"
    max_length: int = 256  # word pieces of a pair of segments
    marks: str | None = None  # meaning of the token types, name in `MARKS`; None for the encoder's own token types
    slope: float = 1.0  # Platt scaling, probability = sigmoid(slope * logit + intercept)
    intercept: float = 0.0
    threshold: float = 0.5  # probability from which an answer counts as correct
    long_answer: int = LONG_ANSWER  # words of an answer above which only a passage of it is read
    passage: int = PASSAGE  # words of that passage
    reference_aggregation: str = "mean"  # how several references become one probability
    layers: int | None = None  # a judge that reads prompts runs so many layers of its base model; None for all


_CHECKS = {  # of these settings
    "marks": or_null(one_of(MARKS)),
    "configuration": one_of((*CONFIGURATIONS, LINEAR, PROMPT)),
    "reference_aggregation": one_of(AGGREGATIONS),
    "max_length": whole(LEAST_LENGTH, MAX_SETTING),
    "layers": or_null(whole(1, MAX_SETTING)),
    **dict.fromkeys(("long_answer", "passage"), whole(1, MAX_SETTING)),
    **dict.fromkeys(("slope", "intercept"), number_within(-MAX_SETTING, MAX_SETTING)),
    "threshold": number_within(0, 1),
}


@dataclass(frozen=True, kw_only=True)
class LoadedJudge(JudgeSettings):
    """A judge; its model is loaded on first use: rows that it has judged before need none."""

    load: Callable[[], tuple[object, object]]  # returns model and tokenizer; called once
    folder: Path  # where it was loaded from
    facts: dict[str, str]  # weights and settings by digest, for a signature
    kept_as: str = ""  # all that its logits depend on but the prompt; "" keeps none

    @cached_property
    def _parts(self) -> tuple[object, object]:
        return self.load()

    @property
    def is_loaded(self) -> bool:
        """Whether the model was used."""
        return "_parts" in vars(self)

    @property
    def model(self) -> object:
        """Torch model whose logits are (rows, 1); of the linear judge its weight (4,) and bias."""
        return self._parts[0]

    @property
    def tokenizer(self) -> object:
        """Tokenizer of the encoders, None for the linear judge."""
        return self._parts[1]

    @property
    def device(self) -> str:
        """Kind of the device that the model runs on."""
        return self.model.device.type if hasattr(self.model, "device") else "cpu"

    @property
    def signature(self) -> str:
        """The facts on one line."""
        return "|".join(f"{name}:{fact}" for name, fact in self.facts.items())

    def ready(self) -> Self:
        """Return the judge with its model loaded, or raise the error of loading."""
        _ = self._parts
        return self

    def calibrated(self, logits: np.ndarray) -> np.ndarray:
        """Return (rows,) probabilities from logits."""
        return 1 / (1 + np.exp(-np.clip(self.slope * logits + self.intercept, -60, 60)))


def read_settings(folder: Path) -> dict:
    """Return the checked settings of a checkpoint, missing ones filled in; see `JudgeSettings`."""
    path = folder / SETTINGS_FILE
    if not path.is_file():
        fix = "training/ava/train_ava.py makes a judge with it"
        raise ValueError(f"checkpoint: {folder} has no {SETTINGS_FILE}; {fix}")
    return read_checked(path, {field.name: field.default for field in fields(JudgeSettings)}, _CHECKS)


def load_model(
    folder: Path,
    configuration: str,
    marks: str | None = None,
    base_model: str | os.PathLike | None = None,
    dtype: str = "float32",
    layers: int | None = None,
):
    """Return a checkpoint's model, adapter merged, on the CPU, and tokenizer.

    A causal model is read in `dtype`, and only its first `layers`; None for all.
    """
    if configuration == LINEAR:
        from safetensors.numpy import load_file

        check_weights(folder / WEIGHTS[1])
        tensors = load_file(folder / WEIGHTS[1])
        return {"weight": tensors["weight"].reshape(4).astype(float), "bias": float(tensors["bias"][0])}, None

    from transformers import AutoModelForSequenceClassification

    source = encoder_source(folder, base_model)
    if configuration == PROMPT:
        if source.suffix != GGUF:
            raise CheckpointError(f"checkpoint: {folder}: expected an adapter of a {GGUF} file, got one of {source}")
        model, tokenizer = load_causal(source, dtype, layers)
        return with_adapter(model, folder).eval(), tokenizer
    if source != folder:
        model = with_adapter(judge_model(source, configuration, marks, NEW_HEAD), folder)
    elif len(CONFIGURATIONS[configuration]) == 1:
        model = whole_model(AutoModelForSequenceClassification, folder)
    else:
        model = whole_model(ava_classes()[1], folder)
    tokenizer = load_tokenizer(folder, source)
    for encoder in getattr(model, "encoders", [model]):
        check_vocabulary(folder, tokenizer.get_vocab(), encoder.get_input_embeddings().num_embeddings)
    return model.eval(), tokenizer


def load_judge_of(
    checkpoint_folder: Callable[[object, str | None], Path],
    checkpoint: str | os.PathLike | None = None,
    revision: str | None = None,
    device: str | None = None,
    dtype: object = None,
    backend: str | None = None,
    base_model: str | os.PathLike | None = None,
    ready: bool = True,
) -> LoadedJudge:
    """Return the judge of a checkpoint, loaded now if `ready`, else on first use; once a process and set of files."""
    folder = checkpoint_folder(checkpoint, revision)
    settings = read_settings(folder)
    configuration = settings["configuration"]
    on_bundled = base_model is None and is_on_bundled(folder)
    backend = judge_backend(folder, configuration, backend, device, dtype, on_bundled)
    source = BUNDLED if on_bundled and backend == "onnx" else encoder_source(folder, base_model)
    device = "cpu" if backend == "onnx" else None if device is None else checked_device(device)
    digest, dtype = signature_digest(folder, source), checked_dtype(dtype)
    facts = {"checkpoint": short_digest(folder), "files": digest.rpartition("-")[2], "configuration": configuration}
    if configuration == PROMPT and backend == "onnx":
        facts["backend"] = f"onnx-{graphs_digest(folder)[:12]}"
    else:
        facts |= engine_facts(backend, dtype)
    if configuration == PROMPT:
        facts |= {"prompt": str(PROMPT_VERSION), "window": str(WINDOW)}

    folders = (folder,) if source in (None, folder) else (folder, source)
    engine = [fact for name, fact in facts.items() if name not in ("checkpoint", "files")]
    kept_as = "|".join([read_digest(*folders, without=OF_LOGITS), str(settings["layers"]), *engine])

    def load() -> tuple[object, object]:
        with _LOADING:
            return _loaded(
                folder, source, digest, tuple(settings.items()), device or checked_device(None), dtype, backend
            )

    judge = LoadedJudge(load=load, folder=folder, facts=facts, kept_as=kept_as, **settings)
    return judge.ready() if ready else judge


def judge_backend(
    folder: Path, configuration: str, backend: object, device: object, dtype: object, on_bundled: bool
) -> str:
    """Return the backend of a judge: "onnx" for prompts, unless something is asked for that torch alone has."""
    has_graphs = configuration == PROMPT and any(folder.glob(GRAPHS))
    if configuration == PROMPT:
        default = "onnx" if has_graphs and dtype is None and find_spec("onnxruntime") else "torch"
    else:
        default = default_backend(folder, on_bundled)
    backend = checked_backend(backend, device, dtype, default)
    if backend == "onnx" and configuration == PROMPT and not has_graphs:
        raise ValueError(f"backend: {folder} has no graphs for 'onnx'; leave it out, or write them again")
    if backend == "onnx" and configuration != PROMPT and len(CONFIGURATIONS.get(configuration, ())) != 1:
        why = "backend 'onnx' runs those that read one pair of texts; take backend 'torch'"
        raise ValueError(f"checkpoint: {folder} is a judge of configuration {configuration}; {why}")
    return backend


def short_digest(folder: Path) -> str:
    """Return the name of a judge in signatures: the start of the digests of its weights and settings."""
    return f"{checkpoint_digest(folder)[:12]}-{file_digest(folder / SETTINGS_FILE)[:8]}"


@lru_cache(maxsize=4)
def _loaded(
    folder: Path, source: Path, digest: str, settings: tuple, device: str, dtype: str, backend: str
) -> tuple[object, object]:
    """Return the model of a judge, which has judged a known row, and its tokenizer."""
    options = dict(settings)
    if backend == "onnx" and options["configuration"] == PROMPT:
        model = PromptEngine(folder, source, options["layers"])
        tokenizer = model.file.tokenizer
    elif backend == "onnx":
        model, tokenizer = onnx_encoder(folder, source, "first")
    else:
        with one_error(folder), quiet():
            model, tokenizer = load_model(
                folder, options["configuration"], options["marks"], source, dtype, options["layers"]
            )
        if tokenizer is not None:
            run_on(device, dtype, model)
    shared = options["configuration"] in (LINEAR, PROMPT)  # whose tokenizer, if any, stores no settings
    loaded = model, tokenizer if shared else ThreadTokenizer(tokenizer)
    judge = LoadedJudge(load=lambda: loaded, folder=folder, facts={}, **options)

    def logit_and_probability() -> np.ndarray:
        logits = JudgeReader(judge).logits([KNOWN_ROW])
        return np.concatenate([logits, judge.calibrated(logits)])

    check_row("judge", folder, logit_and_probability)
    return loaded


# --- measured errors ------------------------------------------------------------------------------------------------

MEASURED_FILE = "measured.json"
MUST_BE_EQUAL = ("checkpoint", "threshold", "references")  # parts of a signature that the judge's errors depend on
COUNTED = (("accepted", "correct"), ("rejected", "incorrect"))  # answers that a judge was right about, and of all
MOST_ANSWERS = 1_000_000  # with a label; more are a mistake, and would make every interval narrow


Limits = list[tuple[str, object, float, float]]  # names and numbers with the least and the most that they can be


def limits_of_counts(counts: Mapping[str, Any], least: float = 1) -> Limits:
    """Return the limits of counts of answers by verdict and label, of which each label has at least `least`."""
    limits = []
    for hits, answers in COUNTED:
        limits += [(answers, counts[answers], least, MOST_ANSWERS), (hits, counts[hits], 0, counts[answers])]
    return limits


def check_measured(content: Mapping[str, Any], least: float = 1, more: Limits = ()) -> None:
    """Raise a ValueError unless a file names its data, and its counts, and `more` numbers, are within their limits.

    >>> counts = {"accepted": 9, "correct": 10, "rejected": float("nan"), "incorrect": 10}
    >>> check_measured({"data": {}, "systems": [counts]})
    Traceback (most recent call last):
        ...
    ValueError: rejected: expected a number from 0 to 10, got nan
    """
    if not isinstance(content["data"], Mapping):
        raise ValueError(f"data: expected names with digests, got {content['data']!r:.40}")
    limits = [limit for counts in content["systems"] for limit in limits_of_counts(counts, least)]
    profile = dict(content.get("profile", {}))
    limits += [(f"profile, {name}", count, 0, MOST_ANSWERS) for name, count in profile.items()]
    for name, number, least, most in [*more, *limits]:
        check_setting(name, is_number(number, least, most), f"a number from {least:,g} to {most:,.12g}", number)


def read_measured(folder: Path) -> list[dict[str, Any]]:
    """Return the contents of the files that say how often the judge in a folder errs, checked."""
    result = []
    for path in sorted(folder.glob("measured*.json")):
        try:
            content = read_json(path)
            content |= {name: str(content[name]) for name in MUST_BE_EQUAL}
            check_measured(content)
        except (CheckpointError, ValueError, KeyError, AttributeError, TypeError) as error:
            names = ", ".join(name for pair in COUNTED for name in pair)
            raise ValueError(
                f"{path}: expected {', '.join(MUST_BE_EQUAL)}, data, and systems with {names}: "
                f"{type(error).__name__}: {error}; delete it, or write it with "
                "training.studies.accuracy.measure --measured"
            ) from error
        result.append(content)
    return result
