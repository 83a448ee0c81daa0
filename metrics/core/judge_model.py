"""Judges of texts: what their models read, and how these are found, checked, loaded and run.

A configuration (Vu & Moschitti 2021, section 4) is a list of pairs of segments over q (question), r (reference) and t
(candidate); "qt" is q and t one after the other. Each pair is read by an encoder of its own; the classifier sees their
pooled outputs side by side. Each distinct triple is run once, in batches.
"""

import math
import os
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Self

import numpy as np

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
    signature_digest,
    whole_model,
    with_adapter,
)
from .checkpoints import read_settings as read_checked
from .inference import (
    budget_on,
    budgeted,
    checked_backend,
    checked_device,
    checked_dtype,
    dtype_facts,
    padded,
    run_in_forked_children,
    tensors,
    warn_if_emulated,
)
from .onnx_backend import FastModel, FastTokenizer, fast_file
from .quantities import NUMBER_WORDS, equal, quantities
from .reading import LONG_ANSWER, PASSAGE
from .scorer import UNSURE_FROM, UNSURE_TO, Stemmer, is_number, one_of, quiet, whole

WORD = re.compile(r"\w+")

CONFIGURATIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "a0-qr": (("q", "r"),),
    "a0-rt": (("r", "t"),),
    "a0-qt": (("q", "t"),),
    "a0-all": (("q", "r"), ("r", "t"), ("q", "t")),
    "a1-q_rt": (("q", "rt"),),
    "a1-r_qt": (("r", "qt"),),
    "a1-t_qr": (("t", "qr"),),
    "a1-q_rt-t_qr": (("q", "rt"), ("t", "qr")),
    "a1-r_qt-t_qr": (("r", "qt"), ("t", "qr")),
    "a1-r_qt-q_rt": (("r", "qt"), ("q", "rt")),
    "a1-all": (("q", "rt"), ("r", "qt"), ("t", "qr")),
    "a2": (("r", "qt"), ("t", "qr")),
}
LINEAR = "linear"
PROMPT = "prompt"  # one prompt through a causal language model, see `causal_judge`
MARKS = {
    "shared": 3,
    "asked": 6,
    "valued": 6,
}  # number of token types, by kind of marks; see `word_marks`
STATEMENT = "What is true?"  # read in the place of the question beside a text that stands alone
LONG = 5  # least letters of a stem that may be misspelt
ASKED = 3  # added to the mark of a word of the question
LARGEST_WORD = 20  # number words up to this one equal their digits
_STEMMER = Stemmer("porter")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation.

    >>> words("In 1,905 B.C.")
    ['in', '1', '905', 'b', 'c']
    """
    return WORD.findall(text.lower())


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
                inputs["token_type_ids"] = marked(encoding, pair[k], word_marks(*row, marks, max_length), marks)
        columns.append(column)
    return columns


@lru_cache(2**16)
def _stem(word: str) -> str:
    """Return the key shared by the forms of a word: its stem, or the digits of a number."""
    ordinal = re.fullmatch(r"(\d+)(?:st|nd|rd|th)", word)
    if NUMBER_WORDS.get(word, LARGEST_WORD + 1) <= LARGEST_WORD:
        return str(NUMBER_WORDS[word])
    return ordinal[1] if ordinal else _STEMMER.stem(word)


def keys(text: str) -> list[str]:
    """Return the keys of the words of a text; forms of one word, and a number and its word, have one key.

    >>> keys("Two cities"), keys("2 city")
    (['2', 'citi'], ['2', 'citi'])
    """
    return [_stem(word) for word in words(text)]


@lru_cache(2**12)
def _keyed(text: str, marks: str) -> tuple[tuple[tuple[str, int, int], ...], dict[str, object]]:
    """Return (key, start, end) of the words of a text, and its quantities by key; with "valued" these are words."""
    same = str if marks == "shared" else _stem  # words that count as the same have one key
    numbers = quantities(text) if marks == "valued" else []
    taken = {place for number in numbers for place in range(number.start, number.end)}
    values = [(same(word[0].lower()), *word.span()) for word in WORD.finditer(text) if word.start() not in taken]
    values += [(number.key, number.start, number.end) for number in numbers]
    return tuple(sorted(values, key=lambda word: word[1])), {number.key: number for number in numbers}


def misspelt(word: str, other: str) -> bool:
    """Return whether one of two words is the other with a letter more, fewer, changed, or two neighbours swapped.

    >>> misspelt("digestve", "digestive"), misspelt("recieve", "receive"), misspelt("north", "south")
    (True, True, False)
    """
    if abs(len(word) - len(other)) > 1:
        return False
    shorter, start, end = min(len(word), len(other)), 0, 0
    while start < shorter and word[start] == other[start]:
        start += 1
    while end < shorter - start and word[-1 - end] == other[-1 - end]:
        end += 1
    left, right = word[start : len(word) - end], other[start : len(other) - end]
    return max(len(left), len(right)) <= 1 or (len(left) == 2 and left == right[::-1])


def word_marks(
    question: str, reference: str, candidate: str, marks: str, longest: int | None = None
) -> dict[str, int]:
    """Return the marks of the words that are not 0, by the keys of `_keyed`.

    1 is a word of both reference and candidate, 2 if it comes in the same order in both; except with "shared", 3 more
    is a word of the question, and words of one stem and numbers of one value are the same. With "valued" numbers have
    units, see `quantities.equal`, and long words may be `misspelt`. At most `longest` words are compared, since the
    time grows with their square; a model's `max_length` loses none, as every word has a piece.

    >>> word_marks("who won", "Ann Lee beat Bob.", "Bob lost: Ann Lee beat him", "shared")
    {'ann': 2, 'lee': 2, 'beat': 2, 'bob': 1}
    >>> word_marks("How many cats did Ann see?", "two cats", "She saw 2", "asked")["2"]
    2
    >>> word_marks("How long?", "two years", "24 months", "valued")
    {'#24|months': 2, 'how': 3, 'long': 3}
    """
    (asked, _), (given, theirs), (said, own) = (_keyed(text, marks) for text in (question, reference, candidate))
    first, second = ([key for key, *_ in value[:longest]] for value in (given, said))
    alias = {}
    for key in filter(own.get, dict.fromkeys(second)):
        numbers = (other for other in first if other in theirs)
        match = next((other for other in numbers if equal(own[key], theirs[other])), key)
        alias |= {} if match == key else {key: match}
    if marks == "valued":
        long = [word for word in set(first).difference(second) if len(word) >= LONG and word.isalpha()]
        for word in set(second).difference(first) if long else ():
            if len(word) >= LONG and word.isalpha():
                match = min((other for other in long if misspelt(word, other)), default=None)
                alias |= {} if match is None else {word: match}
    second = [alias.get(key, key) for key in second]
    both = set(second)
    value = {word: 1 for word in first if word in both}
    if len(value) > 1:
        for start, _, size in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
            value.update(dict.fromkeys(first[start : start + size], 2))
    else:
        value = dict.fromkeys(value, 2)
    value.update({key: value[match] for key, match in alias.items() if match in value})
    if marks != "shared":
        for word, *_ in asked:
            value[word] = value.get(word, 0) % ASKED + ASKED
    return value


def marked(encoding, pair: tuple[str, str], found: dict[str, int], marks: str) -> list[int]:
    """Return the mark of the word that each word piece of a pair of segments belongs to, 0 for words without one."""
    words_of = [[word for word in _keyed(text, marks)[0] if word[0] in found] for text in pair]
    places = [{place: found[key] for key, *span in spans for place in range(*span)} for spans in words_of]
    pieces = zip(encoding.sequence_ids, encoding.offsets, strict=True)
    return [0 if segment is None else places[segment].get(start, 0) for segment, (start, _) in pieces]


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
        rows, loaded = list(unique), self.loaded
        if loaded.configuration == LINEAR:
            values = np.array([linear_features(*row) for row in rows]) @ loaded.model["weight"] + loaded.model["bias"]
            return values[[unique[triple] for triple in triples]]

        columns = encoded(loaded.tokenizer, loaded.configuration, rows, loaded.max_length, loaded.marks)
        lengths = [max(len(column[i]["input_ids"]) for column in columns) for i in range(len(rows))]
        full = [row for row, length in zip(rows, lengths, strict=True) if length >= loaded.max_length]
        whole = encoded(loaded.tokenizer, loaded.configuration, full, None) if full else [[]]
        longest = [max(len(column[i]["input_ids"]) for column in whole) for i in range(len(full))]
        self.cut.update(row for row, length in zip(full, longest, strict=True) if length > loaded.max_length)
        values = np.zeros(len(rows))
        fast = isinstance(loaded.model, FastModel)
        for batch in budgeted(lengths, budget_on(loaded.model.device.type, self.batch_tokens, fast)):
            values[batch] = self._run([padded([column[i] for i in batch]) for column in columns]).reshape(-1)
        return values[[unique[triple] for triple in triples]]

    def prompt_logits(self, prompts: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return the logits of prompts, (shared part, judged text); see `causal_judge.prompt_logits`."""
        model = self.loaded.model
        budget = budget_on(model.device.type, self.batch_tokens)
        return prompt_logits(model, self.loaded.tokenizer, prompts, budget)

    def _run(self, inputs: list[dict[str, np.ndarray]]) -> np.ndarray:
        """Return the logits of padded inputs, one for each encoder."""
        model = self.loaded.model
        if isinstance(model, FastModel):
            return model(**inputs[0])
        import torch

        inputs = [tensors(part, model.device) for part in inputs]
        with torch.inference_mode():
            output = model(**inputs[0]) if len(inputs) == 1 else model(pairs=inputs)
        return output.logits.float().cpu().numpy()


PEER_ATTENTION = ("a2",)
# Encoder types in transformers; all have their class token first.
ENCODERS = (
    "albert", "bert", "camembert", "deberta-v2", "distilbert", "electra", "modernbert", "mpnet", "roberta",
    "xlm-roberta",
)  # fmt: skip
CROSS_ATTENTION = ("bert", "camembert", "electra", "roberta", "xlm-roberta")  # types with cross attention


def checked_encoder(kind: str, configuration: str) -> None:
    """Raise a ValueError if an encoder's `model_type` is not tested, or cannot do what a configuration needs."""
    possible = CROSS_ATTENTION if configuration in PEER_ATTENTION else ENCODERS
    if kind not in possible:
        why = "has no layers that read a peer" if kind in ENCODERS else "is not supported"
        raise ValueError(
            f"encoder: type {kind!r} {why}; for configuration {configuration} take one of {', '.join(possible)}"
        )


NEW_HEAD = r"^(classifier|score)\."  # tensors that an adapter adds to an encoder
POOLER = r"|(^|\.)(pooler|pre_classifier)\.|^head\."  # missing in some encoders; trained with the head


def judge_model(source, configuration: str, marks: str | None = None, new: str = NEW_HEAD + POOLER):
    """Return an untrained judge of (rows, 1) `logits`: a sequence classifier, or an `AvaModel` that takes `pairs`."""
    from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

    checked_encoder(AutoConfig.from_pretrained(source, **NO_CODE).model_type, configuration)
    if len(CONFIGURATIONS[configuration]) == 1:
        with quiet():
            model = whole_model(AutoModelForSequenceClassification, source, new, num_labels=1)
        if marks:
            _widen_types(model.base_model, MARKS[marks])
        return model
    ava_config, ava_model = ava_classes()
    encoder = whole_model(AutoModel, source, new)
    if marks:
        _widen_types(encoder, MARKS[marks])
    model = ava_model(ava_config(configuration=configuration, encoder=encoder.config.to_dict()))
    trained = encoder.state_dict()
    for part in (*model.encoders, *model.peers):
        part.load_state_dict(trained, strict=False)  # the cross attention of peers is new
    return model


def _widen_types(encoder, count: int) -> None:
    """Give an encoder one token type per mark, all initialised near its first."""
    import torch

    old = getattr(getattr(encoder, "embeddings", None), "token_type_embeddings", None)
    if old is None:
        why = f"{type(encoder).__name__} has no token types"
        raise ValueError(f"marks: {why}; take an encoder like BERT or RoBERTa, or no marks")
    weight = old.weight.detach()[:1].repeat(count, 1)
    weight[1:] += 0.02 * torch.randn_like(weight[1:])
    encoder.embeddings.token_type_embeddings = torch.nn.Embedding.from_pretrained(weight, freeze=False)
    encoder.config.type_vocab_size = count


@cache
def ava_classes() -> tuple[type, type]:
    """Return the classes AvaConfig and AvaModel; made on first use, because importing torch takes seconds."""
    import torch
    from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
    from transformers.modeling_outputs import SequenceClassifierOutput

    class AvaConfig(PretrainedConfig):
        """Configuration of a judge with several encoders: its name in CONFIGURATIONS and the encoder's own."""

        model_type = "ava"

        def __init__(self, configuration: str = "a1-all", encoder: dict | None = None, **kwargs):
            self.configuration = configuration
            self.encoder = encoder or {}
            super().__init__(**kwargs)

    class AvaModel(PreTrainedModel):
        """A judge of several pairs of texts, each read by an encoder of its own (A0, A1) or in two rounds (A2)."""

        config_class = AvaConfig

        def __init__(self, config):
            super().__init__(config)
            count = len(CONFIGURATIONS[config.configuration])
            checked_encoder(config.encoder["model_type"], config.configuration)

            def encoder(**changes):
                kind = dict(config.encoder)
                return AutoModel.from_config(AutoConfig.for_model(kind.pop("model_type"), **{**kind, **changes}))

            self.encoders = torch.nn.ModuleList(encoder() for _ in range(count))
            self.peers = torch.nn.ModuleList()
            if config.configuration in PEER_ATTENTION:
                for _ in range(count):
                    peer = encoder(is_decoder=True, add_cross_attention=True)
                    peer.config.is_decoder = False  # reads its own text in both directions
                    peer.config.use_cache = False
                    for module in peer.modules():
                        if hasattr(module, "is_causal"):
                            module.is_causal = False
                    self.peers.append(peer)
            size = self.encoders[0].config.hidden_size
            self.dropout = torch.nn.Dropout(0.1)
            self.classifier = torch.nn.Linear(count * size, 1)
            self.post_init()

        def forward(self, pairs: Sequence[dict], labels=None) -> SequenceClassifierOutput:
            outputs = [encoder(**inputs) for encoder, inputs in zip(self.encoders, pairs, strict=True)]
            if self.peers:  # section 4.3: each text is read again with attention to the other
                outputs = [
                    peer(
                        **inputs,
                        encoder_hidden_states=other.last_hidden_state,
                        encoder_attention_mask=other_inputs["attention_mask"],
                    )
                    for peer, inputs, other, other_inputs in zip(
                        self.peers, pairs, outputs[::-1], pairs[::-1], strict=True
                    )
                ]
            first = [output.last_hidden_state[:, 0] for output in outputs]
            pooled = [output.get("pooler_output", own) for output, own in zip(outputs, first, strict=True)]
            return SequenceClassifierOutput(logits=self.classifier(self.dropout(torch.cat(pooled, dim=-1))))

    return AvaConfig, AvaModel


_LOADING = threading.Lock()  # one thread loads, the others use its result
SETTINGS_FILE = "ava_config.json"
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
    long_words: float | None = None  # rows whose references have more words on average have their own scaling
    long_slope: float = 1.0  # their scaling
    long_intercept: float = 0.0
    threshold: float = 0.5  # probability from which an answer counts as correct
    long_answer: int = LONG_ANSWER  # words of an answer above which only a passage of it is read
    passage: int = PASSAGE  # words of that passage
    unsure_from: float = UNSURE_FROM  # probabilities between which a second judge reads a row, see `AvaScorer.load`
    unsure_to: float = UNSURE_TO
    reference_aggregation: str = "mean"  # how several references become one probability


@dataclass(frozen=True, kw_only=True)
class LoadedJudge(JudgeSettings):
    """A judge; its model is loaded on first use: rows that it has judged before need none."""

    load: Callable[[], tuple[object, object]]  # returns model and tokenizer; called once
    folder: Path  # where it was loaded from
    facts: dict[str, str]  # weights and settings by digest, for a signature

    @cached_property
    def _parts(self) -> tuple[object, object]:
        return self.load()

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
        return "|".join(f"{name}:{value}" for name, value in self.facts.items())

    def ready(self) -> Self:
        """Return the judge with its model loaded, or raise the error of loading."""
        _ = self._parts
        return self

    def calibrated(self, logits: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return (rows,) probabilities from logits, and from how many words a reference has on average."""
        long = lengths > (math.inf if self.long_words is None else self.long_words)
        scaled = np.where(long, self.long_slope * logits + self.long_intercept, self.slope * logits + self.intercept)
        return 1 / (1 + np.exp(-np.clip(scaled, -60, 60)))


def read_settings(folder: Path) -> dict:
    """Return the checked settings of a checkpoint, missing ones filled in; see `JudgeSettings`."""
    path = folder / SETTINGS_FILE
    if not path.is_file():
        fix = "training/ava/train_ava.py makes a judge with it"
        raise ValueError(f"checkpoint: {folder} has no {SETTINGS_FILE}; {fix}")
    limits = f"a number from -{MAX_SETTING} to {MAX_SETTING}"
    number = (lambda value: is_number(value, -MAX_SETTING, MAX_SETTING)), limits
    checks = {
        "marks": (lambda value: value in (None, *MARKS), f"null or one of {', '.join(MARKS)}"),
        "configuration": one_of((*CONFIGURATIONS, LINEAR, PROMPT)),
        "reference_aggregation": one_of(AGGREGATIONS),
        "max_length": whole(LEAST_LENGTH, MAX_SETTING),
        "long_words": (lambda value: value is None or number[0](value), limits),
        **dict.fromkeys(("long_answer", "passage"), whole(1, MAX_SETTING)),
        **dict.fromkeys(("slope", "intercept", "long_slope", "long_intercept"), number),
    }
    for name in ("threshold", "unsure_from", "unsure_to"):
        checks[name] = (lambda value: is_number(value, 0, 1)), "a number from 0 to 1"
    return read_checked(path, {field.name: field.default for field in fields(JudgeSettings)}, checks)


def load_model(
    folder: Path,
    configuration: str,
    marks: str | None = None,
    base_model: str | os.PathLike | None = None,
    dtype: str = "float32",
):
    """Return a checkpoint's model, adapter merged, on the CPU, and tokenizer; a causal model is read in `dtype`."""
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
        model, tokenizer = load_causal(source, dtype)
        return with_adapter(model, folder).eval(), tokenizer
    if source != folder:
        model = with_adapter(judge_model(source, configuration, marks, NEW_HEAD), folder)
    elif len(CONFIGURATIONS[configuration]) == 1:
        model = whole_model(AutoModelForSequenceClassification, folder)
    else:
        model = whole_model(ava_classes()[1], folder)
    tokenizer = load_tokenizer(folder, source)
    for encoder in getattr(model, "encoders", [model]):
        check_vocabulary(encoder, tokenizer, folder)
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
    backend = checked_backend(backend, device, dtype, base_model)
    settings = read_settings(folder)
    if backend == "onnx":
        check_onnx_support(settings["configuration"], folder)
        source, device, fast = folder, "cpu", file_digest(fast_file(folder, "ava"))
    else:
        source, fast = encoder_source(folder, base_model), None
        device = None if device is None else checked_device(device)
    digest, dtype = signature_digest(folder, source), checked_dtype(dtype)
    facts = {"checkpoint": short_digest(folder), "files": digest.rpartition("-")[2]}
    facts["configuration"] = settings["configuration"]
    facts |= {"backend": f"onnx-{fast[:12]}"} if fast else dtype_facts(dtype)
    if settings["configuration"] == PROMPT:
        facts |= {"prompt": str(PROMPT_VERSION), "window": str(WINDOW)}

    def load() -> tuple[object, object]:
        with _LOADING:
            where = device or checked_device(None)
            return _loaded(folder, source, digest, tuple(settings.items()), where, dtype, fast)

    judge = LoadedJudge(load=load, folder=folder, facts=facts, **settings)
    return judge.ready() if ready else judge


def short_digest(folder: Path) -> str:
    """Return the name of a judge in signatures: the start of the digests of its weights and settings."""
    return f"{checkpoint_digest(folder)[:12]}-{file_digest(folder / SETTINGS_FILE)[:8]}"


def check_onnx_support(configuration: str, folder: Path) -> None:
    """Raise a ValueError if the backend "onnx" cannot run a judge: a linear one, or one of several pairs of texts."""
    if len(CONFIGURATIONS.get(configuration, ())) != 1:
        why = "backend 'onnx' runs those that read one pair of texts; take backend 'torch'"
        raise ValueError(f"checkpoint: {folder} is a judge of configuration {configuration}; {why}")


def model_to_export(folder: Path) -> tuple[object, list[str]]:
    """Return the torch model of a judge for the backend "onnx", and the names of the model's inputs."""
    settings = read_settings(folder)
    check_onnx_support(settings["configuration"], folder)
    model, tokenizer = load_model(folder, settings["configuration"], settings["marks"])
    marks = ["token_type_ids"] if settings["marks"] else []
    return model, list(dict.fromkeys([*tokenizer.model_input_names, *marks]))


@lru_cache(maxsize=4)
def _loaded(
    folder: Path, source: Path, digest: str, settings: tuple, device: str, dtype: str, fast: str | None
) -> tuple[object, object]:
    """Return the model of a judge, which has judged a known row, and its tokenizer."""
    run_in_forked_children()
    values = dict(settings)
    if fast:
        model, tokenizer = FastModel(folder, digest, "ava"), FastTokenizer(folder)
    else:
        with one_error(folder), quiet():
            model, tokenizer = load_model(folder, values["configuration"], values["marks"], source, dtype)
        if tokenizer is not None:
            import torch

            warn_if_emulated(dtype, device)
            model.to(device, getattr(torch, dtype))
    parts = model, None if tokenizer is None else ThreadTokenizer(tokenizer)
    judge = LoadedJudge(load=lambda: parts, folder=folder, facts={}, **values)

    def logit_and_probability() -> np.ndarray:
        logits = JudgeReader(judge).logits([KNOWN_ROW])
        return np.concatenate([logits, judge.calibrated(logits, np.ones(1))])

    check_row("judge", folder, logit_and_probability)
    return parts
