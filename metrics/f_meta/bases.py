"""The scoring functions under F-meta: BLEU-4, ROUGE-L, METEOR 1.5, modules of `evaluate`, functions of your own.

BLEU and ROUGE are those of the COCO caption evaluation (pycocoevalcap), which give the numbers of the paper's example.
They are fast because a text is cut into tokens and n-grams once, however many pairs it is in.
"""

import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import regex
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

BUILT_IN = ("bleu", "rouge", "meteor")
BETA = 1.2
MAX_ORDER = 4

# David Chiang's constants in pycocoevalcap: an order without matches, or without n-grams, does not make BLEU 0.
_TINY = 1e-15
_SMALL = 1e-9

_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]\p{M}*"
    r"|[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*"
    r"|\S"
)


@dataclass(frozen=True)
class Base:
    """A scoring function s(p, r), in the one form that F-meta uses.

    Attributes:
        name: for error messages.
        signature: everything that its numbers depend on, as parts of a line separated by "|".
        pairs: from n predictions and n references (lists of strings) to n scores.
        multiple: from n predictions and n lists of references to n scores, the base's own rule for several references;
            None where that is the best reference.
    """

    name: str
    signature: str
    pairs: Callable[[list[str], list[str]], Sequence[float]]
    multiple: Callable[[list[str], list[list[str]]], Sequence[float]] | None = None


def _words(text: str) -> list[str]:
    """Return the tokens of a raw text: words in lower case, and every mark of punctuation by itself."""
    return _WORD.findall(text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


def _tokenizer(base: str, tokenizer: object) -> Callable[[str], list[str]]:
    if callable(tokenizer):

        def tokens(text: str) -> list[str]:
            result = tokenizer(text)
            if isinstance(result, str | bytes) or not isinstance(result, Sequence):
                raise ValueError(
                    f"base_kwargs: the tokenizer of base {base!r} must return a list of tokens, got "
                    f"{type(result).__name__} {result!r:.60}"
                )
            return list(result)

        return tokens
    named = {"whitespace": str.split, "word": _words}
    if not isinstance(tokenizer, str) or tokenizer not in named:
        raise ValueError(
            f"base_kwargs: expected 'whitespace', 'word' or a function from text to tokens as the tokenizer of base "
            f"{base!r}, got {tokenizer!r:.60}"
        )
    return named[tokenizer]


def _name_of(value: object) -> str:
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    return str(value)


class _Numbers(dict):
    """Gives every new word the next number."""

    def __missing__(self, word: object) -> int:
        number = self[word] = len(self)
        return number


def counted_ngrams(numbers: list[int]) -> tuple[set, ...]:
    """Return the n-grams of a text, one set for each order from 1 to 4.

    The k-th repetition of an n-gram is a member of its own, so that the size of the intersection of two such sets is
    the clipped count, and their union has the larger counts. An n-gram is one integer: unlike a tuple it is no work
    for the garbage collector.

    Args:
        numbers: the tokens as numbers below 2**32.

    >>> [len(ngrams) for ngrams in counted_ngrams([5, 6, 5, 6])]
    [4, 3, 2, 1]
    >>> sorted(counted_ngrams([5, 6, 5])[0], key=str)
    [(5, 2), 5, 6]
    """
    ngrams = numbers
    sets = []
    for order in range(1, MAX_ORDER + 1):
        if order > 1:
            ngrams = [first << 32 | last for first, last in zip(ngrams, numbers[order - 1 :], strict=False)]
        distinct = set(ngrams)
        if len(distinct) < len(ngrams):
            repeated = Counter(ngrams)
            distinct.update((ngram, k) for ngram, count in repeated.items() for k in range(2, count + 1))
        sets.append(distinct)
    return tuple(sets)


class _NgramSets(dict):
    """From a text to its number of tokens and its four sets of n-grams; forgets all when it has grown too large."""

    max_tokens = 2**18

    def __init__(self, tokenize: Callable[[str], list[str]]):
        self.tokenize = tokenize
        self.numbers = _Numbers()
        self.tokens = 0

    def __missing__(self, text: str) -> tuple:
        numbers = [self.numbers[token] for token in self.tokenize(text)]
        if self.tokens > self.max_tokens:
            self.clear()
            self.tokens = 0
        self.tokens += len(numbers)
        entry = self[text] = (len(numbers), *counted_ngrams(numbers))
        return entry


def bleu_from_counts(matches: np.ndarray, length: np.ndarray, reference_length: np.ndarray) -> np.ndarray:
    """Return sentence BLEU-4 as pycocoevalcap computes it, from clipped counts.

    Args:
        matches: clipped counts of the orders 1 to 4, rows x 4.
        length: tokens of the candidates, rows.
        reference_length: tokens of the references, the one closest in length to the candidate, rows.

    Returns:
        Rows; from 0 to 1 (up to the constants).
    """
    length = np.asarray(length, dtype=np.float64)
    guesses = np.maximum(length[:, None] - np.arange(MAX_ORDER), 0)
    bleu = ((np.asarray(matches) + _TINY) / (guesses + _SMALL)).prod(axis=1) ** (1 / MAX_ORDER)
    ratio = (length + _TINY) / (np.asarray(reference_length) + _SMALL)
    return bleu * np.exp(np.minimum(0, 1 - 1 / ratio))


def _bleu(tokenize: Callable[[str], list[str]]) -> tuple[Callable, Callable]:
    sets = _NgramSets(tokenize)

    def row(mine: tuple, theirs: tuple) -> tuple:
        length, ones, twos, threes, fours = mine
        other_length, other_ones, other_twos, other_threes, other_fours = theirs
        # Without a match of one order there is none of the next.
        one = len(ones & other_ones)
        two = len(twos & other_twos) if one > 1 else 0
        three = len(threes & other_threes) if two > 1 else 0
        four = len(fours & other_fours) if three > 1 else 0
        return one, two, three, four, length, other_length

    def scores(rows: list[tuple]) -> np.ndarray:
        counts = np.array(rows, dtype=np.int64).reshape(len(rows), MAX_ORDER + 2)
        return bleu_from_counts(counts[:, :MAX_ORDER], counts[:, MAX_ORDER], counts[:, MAX_ORDER + 1])

    def pairs(predictions: list[str], references: list[str]) -> np.ndarray:
        return scores([row(sets[p], sets[r]) for p, r in zip(predictions, references, strict=True)])

    def multiple(predictions: list[str], references: list[list[str]]) -> np.ndarray:
        rows, pooled_texts, lengths, pooled = [], None, [], []
        for prediction, texts in zip(predictions, references, strict=True):
            mine = sets[prediction]
            if texts is not pooled_texts:
                entries = [sets[text] for text in texts]
                lengths, *pooled = ([entry[part] for entry in entries] for part in range(MAX_ORDER + 1))
                pooled = [set().union(*ngrams) for ngrams in pooled]
                pooled_texts = texts
            closest = min(lengths, key=lambda other: (abs(other - mine[0]), other))
            rows.append(row(mine, (closest, *pooled)))
        return scores(rows)

    return pairs, multiple


def rouge_from_parts(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """Return ROUGE-L with beta 1.2 as pycocoevalcap computes it; 0 where precision or recall is 0.

    Args:
        precision: LCS / tokens of the candidate, rows.
        recall: LCS / tokens of the reference, rows.
    """
    denominator = recall + BETA**2 * precision
    good = (precision > 0) & (recall > 0)
    return np.where(good, (1 + BETA**2) * precision * recall / np.where(good, denominator, 1), 0)


def _rouge(tokenize: Callable[[str], list[str]]) -> tuple[Callable, Callable]:
    def parts(predictions: list[str], references: list[str]) -> tuple[np.ndarray, np.ndarray]:
        words = _Numbers()
        coded = {text: [words[word] for word in tokenize(text)] for text in {*predictions, *references}}
        if len(words) <= sys.maxunicode:
            # One character per distinct token: rapidfuzz compares strings much faster than lists.
            coded = {text: "".join(map(chr, numbers)) for text, numbers in coded.items()}
        left = [coded[text] for text in predictions]
        right = [coded[text] for text in references]
        common = cpdist(left, right, scorer=LCSseq.similarity, dtype=np.int64)
        return tuple(common / [max(len(text), 1) for text in side] for side in (left, right))

    def pairs(predictions: list[str], references: list[str]) -> np.ndarray:
        return rouge_from_parts(*parts(predictions, references))

    def multiple(predictions: list[str], references: list[list[str]]) -> np.ndarray:
        counts = [len(texts) for texts in references]
        repeated = [text for text, count in zip(predictions, counts, strict=True) for _ in range(count)]
        precision, recall = parts(repeated, [text for texts in references for text in texts])
        starts = np.cumsum([0, *counts[:-1]])
        return rouge_from_parts(np.maximum.reduceat(precision, starts), np.maximum.reduceat(recall, starts))

    return pairs, multiple


def _meteor_command() -> list[str]:
    """Return the command that runs METEOR 1.5; raise an ImportError that says what is missing."""
    spec = find_spec("pycocoevalcap")
    jar = Path(spec.submodule_search_locations[0], "meteor", "meteor-1.5.jar") if spec else None
    java = shutil.which("java")
    missing = [
        name
        for name, there in (("pycocoevalcap", jar is not None and jar.is_file()), ("the command java", java))
        if not there
    ]
    if missing:
        raise ImportError(
            'base: "meteor" needs the package pycocoevalcap (pip install "genqa-metrics[meteor]", or '
            "pip install pycocoevalcap) and Java (for example apt-get install default-jre-headless); not found: "
            + " and ".join(missing)
        )
    return [java, "-Xmx2G", "-jar", str(jar)]


def _meteor(command: list[str]) -> Callable:
    def line(text: str) -> str:
        return " ".join(text.split()) + "\n"

    def pairs(predictions: list[str], references: list[str]) -> list[float]:
        # Files, not the interactive mode: nothing can block, no process stays, and "|||" is a text like any other.
        with tempfile.TemporaryDirectory() as folder:
            for name, texts in (("candidates", predictions), ("references", references)):
                with open(Path(folder, name), "w", encoding="utf-8", newline="\n") as file:
                    file.writelines(map(line, texts))
            done = subprocess.run(
                [*command, "candidates", "references", "-l", "en", "-norm"],
                cwd=folder,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                stdin=subprocess.DEVNULL,
            )
        found = regex.findall(r"^Segment \d+ score:\t(\S+)$", done.stdout, flags=regex.MULTILINE)
        if done.returncode or len(found) != len(predictions):
            raise RuntimeError(
                f'base "meteor": Java ended with status {done.returncode} after {len(found)} of {len(predictions)} '
                f"pairs: {done.stderr.strip()[-300:] or 'no message'}"
            )
        return [float(score) for score in found]

    return pairs


def _from_callable(function: Callable, kwargs: Mapping) -> Base:
    name = _name_of(function)

    def pairs(predictions: list[str], references: list[str]) -> Sequence[float]:
        try:
            return function(predictions, references, **kwargs)
        except (TypeError, AttributeError) as error:
            raise ValueError(
                f"base {name}: {type(error).__name__}: {error}; a base gets two equally long lists of strings and "
                "returns a list with one number per pair; make one of a function of two strings with "
                "base=lambda predictions, references: [f(p, r) for p, r in zip(predictions, references)]"
            ) from error

    return Base(name, "|".join([f"base:{name}", *_shown_kwargs(kwargs)]), pairs)


def _shown_kwargs(kwargs: Mapping) -> list[str]:
    return [f"{name}:{_name_of(value)}" for name, value in kwargs.items()]


def _text_features(module: object, where: str) -> bool:
    """Return whether a module takes a list of references per row; raise a ValueError if it does not take texts."""
    features = module.features if isinstance(module.features, list) else [module.features]
    kinds = set()
    for columns in features:
        if set(columns) == {"predictions", "references"}:
            text = getattr(columns["predictions"], "dtype", None) == "string"
            single = getattr(columns["references"], "dtype", None) == "string"
            inner = getattr(columns["references"], "feature", None)
            several = getattr(inner, "dtype", None) == "string"
            if text and (single or several):
                kinds.add(several)
    if not kinds:
        raise ValueError(
            f"{where}: expected a module with the inputs predictions and references, both texts, got the inputs "
            f"{module.features}; wrap another module in a function of two lists of strings"
        )
    return True in kinds


def module_function(module: object, base_kwargs: Mapping | None = None, base_key: str | None = None) -> Base:
    """Return a loaded module of `evaluate` as a base.

    Args:
        module: the module; its inputs are texts named predictions and references.
        base_kwargs: settings of its `compute`.
        base_key: name of the result that is a list with one score per row; None if it has only one such result.

    Returns:
        The base. If the module takes several references per row, its own rule is the one for several references.

    Raises:
        ValueError: if the module does not take texts.
    """
    kwargs = dict(base_kwargs or {})
    name = repr(module.name)
    several = _text_features(module, f"base {name}")

    def compute(predictions: list[str], references: list) -> Sequence[float]:
        results = module.compute(predictions=predictions, references=references, **kwargs)
        lists = {
            key: value
            for key, value in results.items()
            if not isinstance(value, str | bytes) and np.shape(value) == (len(predictions),)
        }
        key = base_key
        if key is None and len(lists) == 1:
            key = next(iter(lists))
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
    signature = [f"base:{module.name}", *([f"hash:{digest}"] if digest else []), *_shown_kwargs(kwargs)]
    if base_key is not None:
        signature.append(f"key:{base_key}")
    return Base(name, "|".join(signature), pairs, compute if several else None)


def base_function(base: str | Callable = "rouge", base_kwargs: Mapping | None = None) -> Base:
    """Return a built-in base by its name, or a Python function as a base.

    Args:
        base: "bleu" (sentence BLEU-4), "rouge" (ROUGE-L, beta 1.2), "meteor" (METEOR 1.5, needs the package
            pycocoevalcap and Java), or a function from a list of predictions and a list of references, of the same
            length, to a list of scores.
        base_kwargs: for "bleu" and "rouge" {"tokenizer": ...}: "whitespace" (default) for texts that are tokenised
            already, "word" for raw text, or a function from a text to a list of tokens; none for "meteor"; for a
            function its further arguments.

    Returns:
        The base.

    Raises:
        ValueError: if there is no such base or it has no such setting.
        ImportError: if "meteor" lacks the package or Java.

    >>> base_function("rouge").pairs(["who won it"], ["who won the cup"])
    array([0.55707763])
    """
    kwargs = dict(base_kwargs or {})
    if callable(base):
        return _from_callable(base, kwargs)
    if base not in BUILT_IN:
        raise ValueError(f"base: expected one of {', '.join(BUILT_IN)} or a function, got {base!r:.60}")
    known = () if base == "meteor" else ("tokenizer",)
    unknown = sorted(set(kwargs) - set(known), key=str)
    if unknown:
        raise ValueError(
            f"base_kwargs: {unknown[0]!r} is no setting of base {base!r}; it has {', '.join(known) or 'no settings'}"
        )
    if base == "meteor":
        return Base("'meteor'", "base:meteor|meteor:1.5-en-norm", _meteor(_meteor_command()))
    tokenizer = kwargs.get("tokenizer", "whitespace")
    functions = (_bleu if base == "bleu" else _rouge)(_tokenizer(base, tokenizer))
    details = f"order:{MAX_ORDER}" if base == "bleu" else f"beta:{BETA}"
    return Base(f"'{base}'", f"base:{base}|{details}|tok:{_name_of(tokenizer)}", *functions)
