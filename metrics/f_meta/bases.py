"""The scoring functions under F-meta: BLEU-4, ROUGE-L, METEOR 1.5, modules of `evaluate`, functions of your own.

BLEU and ROUGE are those of the COCO caption evaluation (pycocoevalcap), which give the numbers of the paper's example.
They are fast because a text is cut into tokens and n-grams once, however many pairs it is in.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import regex
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

BUILT_IN = ("bleu", "rouge", "meteor")
BETA = 1.2
MAX_ORDER = 4

# Pairs, and texts x tokens, that are compared at once: small enough for memory, large enough for numpy to pay.
MAX_PAIRS = 2**16
MAX_BITS = 2**21

MAX_CHARACTER = sys.maxunicode

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
        pairs: from n >= 1 predictions and n references (lists of strings) to n scores.
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
    """Gives every new key the next number."""

    def __missing__(self, key: object) -> int:
        number = self[key] = len(self)
        return number


@dataclass(frozen=True)
class _Rows:
    """Predictions, each with one or several references, as numbers.

    Attributes:
        tokens: the token numbers of all distinct texts, text after text.
        bounds: where every text begins in `tokens`, and the end of the last.
        left: number of the prediction's text, one per row.
        right: numbers of the references' texts, row after row.
        starts: where every row's references begin in `right`.
    """

    tokens: np.ndarray
    bounds: np.ndarray
    left: np.ndarray
    right: np.ndarray
    starts: np.ndarray

    @classmethod
    def of_pairs(cls, tokenize: Callable, predictions: list[str], references: list[str]) -> "_Rows":
        return cls._of(tokenize, predictions, references, np.arange(len(predictions)))

    @classmethod
    def of_lists(cls, tokenize: Callable, predictions: list[str], references: list[list[str]]) -> "_Rows":
        starts = np.cumsum([0, *(len(texts) for texts in references[:-1])])
        return cls._of(tokenize, predictions, [text for texts in references for text in texts], starts)

    @classmethod
    def _of(cls, tokenize: Callable, predictions: list[str], references: list[str], starts: np.ndarray) -> "_Rows":
        texts, words = _Numbers(), _Numbers()
        left = np.array([texts[text] for text in predictions], dtype=np.int64)
        right = np.array([texts[text] for text in references], dtype=np.int64)
        tokens, bounds = [], [0]
        for text in texts:
            tokens += [words[word] for word in tokenize(text)]
            bounds.append(len(tokens))
        return cls(np.array(tokens, dtype=np.int64), np.array(bounds), left, right, starts)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of every distinct text."""
        return np.diff(self.bounds)

    @property
    def row_of_reference(self) -> np.ndarray:
        """The row of every entry of `right`."""
        return np.repeat(np.arange(len(self.left)), np.diff(self.starts, append=len(self.right)))

    def part(self, first: int, last: int) -> "_Rows":
        starts = np.append(self.starts, len(self.right))
        inside = slice(starts[first], starts[last])
        return replace(
            self, left=self.left[first:last], right=self.right[inside], starts=self.starts[first:last] - inside.start
        )


def _ngrams(tokens: np.ndarray, owner: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the n-grams of some texts for each order from 1 to 4, as two arrays: text and number of the n-gram.

    The k-th repetition of an n-gram in a text has a number of its own, so that the clipped count of two texts is the
    number of n-grams that they have in common, and several references together have the union of their n-grams.

    Args:
        tokens: the token numbers, text after text.
        owner: the text that every token belongs to.
    """
    words = np.unique(tokens, return_inverse=True)[1]
    ngrams = words
    for order in range(1, MAX_ORDER + 1):
        if order > 1:
            longer = ngrams[:-1] * len(words) + words[order - 1 :]
            ngrams = np.unique(longer, return_inverse=True)[1]
        # Those that reach from one text into the next are numbered too, and left out here.
        inside = owner[: len(ngrams)] == owner[order - 1 :]
        keys = np.sort(owner[: len(ngrams)][inside] * len(words) + ngrams[inside])
        place = np.arange(len(keys))
        is_first = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
        repetition = place - np.maximum.accumulate(np.where(is_first, place, 0))
        texts, ngram = np.divmod(keys, max(len(words), 1))
        yield texts, repetition * len(words) + ngram


def _clipped_counts(rows: _Rows) -> np.ndarray:
    """Return how many n-grams of the prediction its references have, rows x 4.

    The n-grams of a text are bits, so that numpy counts those that two texts share 64 at a time.
    """
    # A text on both sides is two texts here, so that "in two texts" below includes it.
    left_texts, left = np.unique(rows.left, return_inverse=True)
    right_texts, right = np.unique(rows.right, return_inverse=True)
    right += len(left_texts)
    texts = np.concatenate([left_texts, right_texts])
    lengths = rows.lengths[texts]
    # Where a text is in many pairs, its n-grams are worth keeping for all of them.
    limit = MAX_BITS * max(1, len(right) // len(texts) // 4)
    if len(left) > 1 and (len(right) > MAX_PAIRS or len(texts) * int(lengths.sum()) > limit):
        middle = len(left) // 2
        return np.concatenate([_clipped_counts(rows.part(0, middle)), _clipped_counts(rows.part(middle, len(left)))])
    counts = np.zeros((len(left), MAX_ORDER), dtype=np.int64)
    tokens = np.concatenate([rows.tokens[rows.bounds[i] : rows.bounds[i + 1]] for i in texts.tolist()])
    owner = np.repeat(np.arange(len(texts)), lengths)
    for order, (owners, ngram) in enumerate(_ngrams(tokens, owner)):
        _, column, texts_with = np.unique(ngram, return_inverse=True, return_counts=True)
        shared = texts_with > 1
        if not shared.any():
            break
        kept = shared[column]
        column = (np.cumsum(shared) - 1)[column[kept]]
        present = np.zeros((len(texts), -(-int(shared.sum()) // 64) * 64), dtype=bool)
        present[owners[kept], column] = True
        bits = np.packbits(present, axis=1).view(np.uint64)
        right_bits = bits[right]
        if len(right) > len(left):
            right_bits = np.bitwise_or.reduceat(right_bits, rows.starts)
        counts[:, order] = np.bitwise_count(bits[left] & right_bits).sum(axis=1)
    return counts


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


def _bleu(rows: _Rows) -> np.ndarray:
    counts = _clipped_counts(rows)
    length, other = rows.lengths[rows.left], rows.lengths[rows.right]
    # The length closest to the candidate's, of two the smaller: the least of distance and length, in one number.
    base = int(other.max()) + 1
    ranked = np.abs(other - length[rows.row_of_reference]) * base + other
    return bleu_from_counts(counts, length, np.minimum.reduceat(ranked, rows.starts) % base)


def rouge_from_parts(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """Return ROUGE-L with beta 1.2 as pycocoevalcap computes it; 0 where precision or recall is 0.

    Args:
        precision: LCS / tokens of the candidate, rows.
        recall: LCS / tokens of the reference, rows.
    """
    denominator = recall + BETA**2 * precision
    good = (precision > 0) & (recall > 0)
    return np.where(good, (1 + BETA**2) * precision * recall / np.where(good, denominator, 1), 0)


def _rouge(rows: _Rows) -> np.ndarray:
    tokens = rows.tokens.tolist()
    if max(tokens, default=0) <= MAX_CHARACTER:
        # One character per distinct token: rapidfuzz compares strings much faster than lists.
        tokens = "".join(map(chr, tokens))
    bounds = rows.bounds.tolist()
    texts = [tokens[first:last] for first, last in pairwise(bounds)]
    left = rows.left[rows.row_of_reference]
    common = cpdist(
        [texts[i] for i in left.tolist()],
        [texts[i] for i in rows.right.tolist()],
        scorer=LCSseq.similarity,
        dtype=np.int64,
    )
    lengths = np.maximum(rows.lengths, 1)
    precision, recall = common / lengths[left], common / lengths[rows.right]
    return rouge_from_parts(np.maximum.reduceat(precision, rows.starts), np.maximum.reduceat(recall, rows.starts))


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
    tokenize = _tokenizer(base, tokenizer)
    score = _bleu if base == "bleu" else _rouge
    details = f"order:{MAX_ORDER}" if base == "bleu" else f"beta:{BETA}"
    return Base(
        f"'{base}'",
        f"base:{base}|{details}|tok:{_name_of(tokenizer)}",
        pairs=lambda predictions, references: score(_Rows.of_pairs(tokenize, predictions, references)),
        multiple=lambda predictions, references: score(_Rows.of_lists(tokenize, predictions, references)),
    )
