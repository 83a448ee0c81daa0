"""BLEU-4 and ROUGE-L of many pairs of texts at once, as the COCO caption evaluation (pycocoevalcap) computes them.

Fast because a text is cut into tokens and n-grams once, however many pairs it is in.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import regex
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

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


def words(text: str) -> list[str]:
    """Return the tokens of a raw text: words in lower case, and every mark of punctuation by itself."""
    return _WORD.findall(text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


class _Numbers(dict):
    """Number new keys consecutively."""

    def __missing__(self, key: object) -> int:
        number = self[key] = len(self)
        return number


@dataclass(frozen=True)
class Rows:
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
    def of_pairs(cls, tokenize: Callable, predictions: list[str], references: list[str]) -> "Rows":
        """Return rows of one reference each."""
        return cls._of(tokenize, predictions, references, np.arange(len(predictions)))

    @classmethod
    def of_lists(cls, tokenize: Callable, predictions: list[str], references: list[list[str]]) -> "Rows":
        """Return rows of several references."""
        starts = np.cumsum([0, *(len(texts) for texts in references[:-1])])
        return cls._of(tokenize, predictions, [text for texts in references for text in texts], starts)

    @classmethod
    def _of(cls, tokenize: Callable, predictions: list[str], references: list[str], starts: np.ndarray) -> "Rows":
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

    def part(self, first: int, last: int) -> "Rows":
        """Return the rows from `first` up to, and without, `last`."""
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
        # N-grams across the boundary of two texts are numbered too, and dropped here.
        inside = owner[: len(ngrams)] == owner[order - 1 :]
        keys = np.sort(owner[: len(ngrams)][inside] * len(words) + ngrams[inside])
        place = np.arange(len(keys))
        is_first = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
        repetition = place - np.maximum.accumulate(np.where(is_first, place, 0))
        texts, ngram = np.divmod(keys, max(len(words), 1))
        yield texts, repetition * len(words) + ngram


def _clipped_counts(rows: Rows) -> np.ndarray:
    """Return how many n-grams of the prediction its references have, rows x 4.

    The n-grams of a text are bits, so that numpy counts those that two texts share 64 at a time.
    """
    # A text on both sides is two texts here, so that "in two texts" below includes it.
    left_texts, left = np.unique(rows.left, return_inverse=True)
    right_texts, right = np.unique(rows.right, return_inverse=True)
    right += len(left_texts)
    texts = np.concatenate([left_texts, right_texts])
    lengths = rows.lengths[texts]
    # If texts occur in many pairs, their n-grams are kept.
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


def bleu(rows: Rows) -> np.ndarray:
    """Return sentence BLEU-4 of every row, several references clipped together."""
    return bleu_from_counts(*bleu_counts(rows))


def bleu_counts(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return per row clipped counts, rows x 4, tokens of the candidate, and of the reference closest in length."""
    counts = _clipped_counts(rows)
    length, other = rows.lengths[rows.left], rows.lengths[rows.right]
    # The length closest to the candidate's, of two the smaller: the least of distance and length, in one number.
    base = int(other.max()) + 1
    ranked = np.abs(other - length[rows.row_of_reference]) * base + other
    return counts, length, np.minimum.reduceat(ranked, rows.starts) % base


def rouge_from_parts(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """Return ROUGE-L with beta 1.2 as pycocoevalcap computes it; 0 where precision or recall is 0.

    Args:
        precision: LCS / tokens of the candidate, rows.
        recall: LCS / tokens of the reference, rows.
    """
    denominator = recall + BETA**2 * precision
    good = (precision > 0) & (recall > 0)
    return np.where(good, (1 + BETA**2) * precision * recall / np.where(good, denominator, 1), 0)


def rouge(rows: Rows) -> np.ndarray:
    """Return ROUGE-L of every row, from the best precision and the best recall of its references."""
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
