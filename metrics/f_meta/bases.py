"""The scoring functions under F-meta: BLEU-4, ROUGE-L, METEOR 1.5, an encoder, modules of `evaluate`, your functions.

BLEU, ROUGE and METEOR are those of the COCO caption evaluation, which give the numbers of the paper's example.
"""

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import regex

from ..core.checkpoints import BASE_MODEL, ENCODERS, ThreadTokenizer, base_encoder
from ..core.encoders import BUNDLED, BUNDLED_SHA256, bundled, onnx_encoder
from ..core.inference import CPU_BATCH, run_padded
from .overlap import BETA, MAX_ORDER, bleu, rouge, words

BUILT_IN = ("same_question", "rouge", "bleu", "meteor", "cosine")
# Weights of ROUGE-L, cosine and 1, and thresholds, learned from NACo and FairytaleQA by logistic regression:
# spaces/docs/pages/results/9-similarity.md.
WEIGHTS = (4.64, 16.78, -11.05)
THRESHOLDS = {"same_question": 0.5, "rouge": 0.3, "cosine": 0.57}
PAPER = {"tokenizer": "whitespace"}  # settings of "rouge" and "bleu" for texts that are tokenised, as the paper's
ONE_AT_A_TIME = threading.RLock()  # a module of `evaluate` stores its rows
_LONGEST = 256  # most word pieces of a text, as in its training


FORM = (
    "a base gets two equally long lists, all predictions and all references, and returns a list with one number per "
    "pair; make one of a function of two strings with "
    "base=lambda predictions, references: [f(p, r) for p, r in zip(predictions, references)]"
)


@dataclass(frozen=True)
class Base:
    """A scoring function s(p, r), in the one form that F-meta uses."""

    name: str  # for error messages
    facts: Mapping[str, str]  # everything that its numbers depend on, by name, for a signature
    pairs: Callable[[list[str], list[str]], Sequence[float]]  # from n >= 1 predictions and references to n scores
    # The base's own rule for n lists of references; None where the best reference counts.
    multiple: Callable[[list[str], list[list[str]]], Sequence[float]] | None = None
    threshold: float | None = None  # score from which two questions ask the same; None where it is unknown


def _tokenizer(base: str, tokenizer: object) -> Callable[[str], list[str]]:
    if not callable(tokenizer):
        named = {"whitespace": str.split, "word": words}
        if not isinstance(tokenizer, str) or tokenizer not in named:
            raise ValueError(
                "base_kwargs: expected 'whitespace', 'word' or a function from text to tokens as the tokenizer of "
                f"base {base!r}, got {tokenizer!r:.60}"
            )
        return named[tokenizer]

    def tokens(text: str) -> list[str]:
        result = tokenizer(text)
        if isinstance(result, str | bytes) or not isinstance(result, Sequence):
            got = f"{type(result).__name__} {result!r:.60}"
            raise ValueError(f"base_kwargs: the tokenizer of base {base!r} must return a list of tokens, got {got}")
        return list(result)

    return tokens


def _name_of(setting: object) -> str:
    if callable(setting):
        return getattr(setting, "__qualname__", type(setting).__qualname__)
    return str(setting)


def _meteor_command() -> list[str]:
    """Return the command that runs METEOR 1.5; raise an ImportError that says what is missing."""
    spec = find_spec("pycocoevalcap")
    jar = Path(spec.submodule_search_locations[0], "meteor", "meteor-1.5.jar") if spec else None
    java = shutil.which("java")
    available = {"pycocoevalcap": jar and jar.is_file(), "the command java": java}
    if missing := [name for name, there in available.items() if not there]:
        raise ImportError(
            'base: "meteor" needs the package pycocoevalcap (pip install "genqa-metrics[meteor]", or '
            "pip install pycocoevalcap) and Java (for example apt-get install default-jre-headless); not found: "
            + " and ".join(missing)
        )
    return [java, "-Xmx2G", "-jar", str(jar)]


def _meteor(command: list[str]) -> Callable:
    # Named, since METEOR quotes its own path twice when it looks for this file: a blank in it would not be found.
    paraphrases = Path(command[-1]).with_name("data") / "paraphrase-en.gz"

    def pairs(predictions: list[str], references: list[str]) -> list[float]:
        # Files instead of the interactive mode: nothing can block, no process remains, and "|||" needs no escape.
        with tempfile.TemporaryDirectory() as folder:
            for name, texts in (("candidates", predictions), ("references", references)):
                lines = "".join(" ".join(text.split()) + "\n" for text in texts)
                Path(folder, name).write_text(lines, encoding="utf-8", newline="\n")
            done = subprocess.run(
                [*command, "candidates", "references", "-l", "en", "-norm", "-a", str(paraphrases)],
                cwd=folder,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                stdin=subprocess.DEVNULL,
            )
        matches = regex.findall(r"^Segment \d+ score:\t(\S+)$", done.stdout, flags=regex.MULTILINE)
        if done.returncode or len(matches) != len(predictions):
            raise RuntimeError(
                f'base "meteor": Java ended with status {done.returncode} after {len(matches)} of {len(predictions)} '
                f"pairs: {done.stderr.strip()[-300:] or 'no message'}"
            )
        return [float(score) for score in matches]

    return pairs


@lru_cache(1)
def _encoder(folder: Path) -> tuple:
    model, tokenizer = onnx_encoder(folder, folder, None)
    return model, ThreadTokenizer(tokenizer)


def _sentence_vectors(texts: Sequence[str], longest: int) -> np.ndarray:
    """Return the encoder's sentence vectors, the mean of its last states scaled to length 1: (texts, size)."""
    model, tokenizer = _encoder(BUNDLED if bundled() else base_encoder())
    batch = tokenizer(texts, truncation=True, max_length=longest)
    encoded = [dict(zip(batch, columns, strict=True)) for columns in zip(*batch.values(), strict=True)]
    states = run_padded(encoded, lambda inputs: model.states(**inputs), CPU_BATCH, model.workers)
    means = np.stack([text_states.mean(axis=0) for text_states in states])
    return means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)


def cosines(predictions: Sequence[str], references: Sequence[str], longest: int = _LONGEST) -> np.ndarray:
    """Return the cosines of the sentence vectors of n predictions and n references; every text is read once."""
    number_by_text = {text: i for i, text in enumerate(dict.fromkeys([*predictions, *references]))}
    vectors = _sentence_vectors(list(number_by_text), longest)
    left, right = (vectors[[number_by_text[text] for text in texts]] for texts in (predictions, references))
    return (left * right).sum(axis=1)


def same_question_scores(rouge: np.ndarray, cosine: np.ndarray) -> np.ndarray:
    """Return how likely two questions ask the same, from 0 to 1, by logistic regression; equal questions have 1.

    >>> same_question_scores(np.array([1.0, 0.2]), np.array([1.0, 0.3])).round(3).tolist()
    [1.0, 0.006]
    """
    logits = WEIGHTS[0] * rouge + WEIGHTS[1] * cosine + WEIGHTS[2]
    return np.minimum((1 + np.exp(-sum(WEIGHTS))) / (1 + np.exp(-logits)), 1)


def _same_question(predictions: list[str], references: list[str]) -> np.ndarray:
    overlap = rouge(words, predictions, [[text] for text in references])
    return same_question_scores(overlap, cosines(predictions, references))


def _from_callable(function: Callable, kwargs: Mapping) -> Base:
    name = _name_of(function)

    def pairs(predictions: list[str], references: list[str]) -> Sequence[float]:
        try:
            return function(predictions, references, **kwargs)
        except (TypeError, AttributeError) as error:
            raise ValueError(f"base {name}: {type(error).__name__}: {error}; {FORM}") from error

    return Base(name, {"base": name, **{key: _name_of(setting) for key, setting in kwargs.items()}}, pairs)


def _text_features(module: object, where: str) -> bool:
    """Return whether a module takes a list of references per row; raise a ValueError if it does not take texts."""
    kinds = set()
    for columns in module.features if isinstance(module.features, list) else [module.features]:
        if set(columns) == {"predictions", "references"}:
            predictions, references = columns["predictions"], columns["references"]
            texts = (predictions, references, getattr(references, "feature", None))
            text, single, several = (getattr(feature, "dtype", None) == "string" for feature in texts)
            kinds |= {several} if text and (single or several) else set()
    if not kinds:
        raise ValueError(
            f"{where}: expected a module with the inputs predictions and references, both texts, got the inputs "
            f"{module.features}; wrap another module in a function of two lists of strings"
        )
    return True in kinds


def module_function(module: object, base_kwargs: Mapping | None = None, base_key: str | None = None) -> Base:
    """Return a loaded module of `evaluate` as a base; one that takes several references has its own rule for them."""
    kwargs = dict(base_kwargs or {})
    name = repr(module.name)
    several = _text_features(module, f"base {name}")

    def compute(predictions: list[str], references: list) -> Sequence[float]:
        with ONE_AT_A_TIME:
            results = module.compute(predictions=predictions, references=references, **kwargs)
        shapes = {key: np.shape(item) for key, item in results.items() if not isinstance(item, str | bytes)}
        lists = {key: results[key] for key, shape in shapes.items() if shape == (len(predictions),)}
        key = next(iter(lists)) if base_key is None and len(lists) == 1 else base_key
        if key not in lists:
            wrong = "base_key: None" if base_key is None else f"base_key: {base_key!r}"
            raise ValueError(
                f"{wrong} does not say which result of base {name} is the score of every pair; its results are "
                f"{sorted(results)}, those with one value per pair {sorted(lists) or 'none'}. Set base_key, and if "
                'there is none ask the module for it with base_kwargs, for example {"per_example": True} for the '
                'metrics of this package (aev: base_key="aev_per_example") or {"use_aggregator": False} for rouge'
            )
        return lists[key]

    def pairs(predictions: list[str], references: list[str]) -> Sequence[float]:
        return compute(predictions, [[text] for text in references] if several else references)

    digest = (getattr(module, "_hash", None) or "")[:12]
    facts = {"base": module.name} | ({"hash": digest} if digest else {})
    facts |= {key: _name_of(item) for key, item in kwargs.items()} | ({} if base_key is None else {"key": base_key})
    return Base(name, facts, pairs, compute if several else None)


def default_base() -> Base:
    """Return the base "same_question"; without its packages "rouge", whose signature names the missing package."""
    try:
        return base_function("same_question")
    except ImportError as error:
        base = base_function("rouge")
        return replace(base, facts={**base.facts, "instead": f"same_question ({error.name} missing)"})


def base_function(base: str | Callable, base_kwargs: Mapping | None = None) -> Base:
    """Return a built-in base by its name, or a Python function as a base; see the arguments of the module.

    >>> base_function("rouge").pairs(["who won it"], ["who won the cup"])
    array([0.55707763])
    """
    kwargs = dict(base_kwargs or {})
    if callable(base):
        return _from_callable(base, kwargs)
    if base not in BUILT_IN:
        raise ValueError(f"base: expected one of {', '.join(BUILT_IN)} or a function, got {base!r:.60}")
    settings = ("tokenizer",) if base in ("bleu", "rouge") else ()
    unknown = sorted(set(kwargs) - set(settings), key=str)
    if unknown:
        has = ", ".join(settings) or "no settings"
        raise ValueError(f"base_kwargs: {unknown[0]!r} is no setting of base {base!r}; it has {has}")
    if base == "meteor":
        return Base("'meteor'", {"base": "meteor", "meteor": "1.5-en-norm"}, _meteor(_meteor_command()))
    if not settings:
        if not (bundled() or find_spec("onnxruntime")):
            message = "onnxruntime is not installed; run pip install genqa-metrics"
            raise ImportError(f'base: "{base}": {message}', name="onnxruntime")
        digest = BUNDLED_SHA256 if bundled() else ENCODERS[BASE_MODEL].sha256
        encoder = f"{BASE_MODEL.split('/')[1]}@{digest[:12]}"
        pairs = cosines if base == "cosine" else _same_question
        return Base(f"'{base}'", {"base": base, "encoder": encoder}, pairs, threshold=THRESHOLDS[base])
    tokenizer = kwargs.get("tokenizer", "word")
    tokenize = _tokenizer(base, tokenizer)
    score = bleu if base == "bleu" else rouge
    details = {"order": str(MAX_ORDER)} if base == "bleu" else {"beta": str(BETA)}
    return Base(
        f"'{base}'",
        {"base": base, **details, "tok": _name_of(tokenizer)},
        pairs=lambda predictions, references: score(tokenize, predictions, [[text] for text in references]),
        multiple=partial(score, tokenize),
        threshold=THRESHOLDS.get(base) if tokenizer == "word" else None,
    )
