"""BLEU-4 and ROUGE-L of many pairs of texts at once, as the COCO caption evaluation (pycocoevalcap) computes them.

A text is cut into tokens and n-grams once, however many pairs it is in.
"""

from collections.abc import Callable, Sequence

import numpy as np
import regex
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from ..core.scorer import counted_ngrams

BETA = 1.2
MAX_ORDER = 4
Tokenize = Callable[[str], list[str]]

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


def _tokens(tokenize: Tokenize, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, list]:
    """Return the tokens of every different text."""
    texts = dict.fromkeys([*predictions, *(text for row in references for text in row)])
    return {text: tokenize(text) for text in texts}


def bleu(tokenize: Tokenize, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return sentence BLEU-4 of every prediction, its references clipped together."""
    matches, length, reference_length = bleu_counts(tokenize, predictions, references)
    guesses = np.maximum(length[:, None] - np.arange(MAX_ORDER), 0)
    precision = ((matches + _TINY) / (guesses + _SMALL)).prod(axis=1) ** (1 / MAX_ORDER)
    ratio = (length + _TINY) / (reference_length + _SMALL)
    return precision * np.exp(np.minimum(0, 1 - 1 / ratio))


def bleu_counts(
    tokenize: Tokenize, predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return per row clipped counts, rows x 4, tokens of the candidate, and of the reference closest in length."""
    tokens = _tokens(tokenize, predictions, references)
    ngrams = {text: [counted_ngrams(of, n) for n in range(1, MAX_ORDER + 1)] for text, of in tokens.items()}
    counts, lengths, closest = [], [], []
    for prediction, texts in zip(predictions, references, strict=True):
        sides = zip(ngrams[prediction], zip(*(ngrams[text] for text in texts), strict=True), strict=True)
        counts.append(
            [len(mine & (theirs[0] if len(theirs) == 1 else set().union(*theirs))) for mine, theirs in sides]
        )
        lengths.append(len(tokens[prediction]))
        closest.append(min((len(tokens[text]) for text in texts), key=lambda n: (abs(n - lengths[-1]), n)))
    return np.array(counts).reshape(-1, MAX_ORDER), np.array(lengths), np.array(closest)


def rouge(tokenize: Tokenize, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return ROUGE-L of every prediction, from the best precision and the best recall of its references."""
    tokens = _tokens(tokenize, predictions, references)
    left = [tokens[text] for text, row in zip(predictions, references, strict=True) for _ in row]
    right = [tokens[text] for row in references for text in row]
    starts = np.cumsum([0, *(len(texts) for texts in references[:-1])])
    common = cpdist(left, right, scorer=LCSseq.similarity, dtype=np.int64)
    precision, recall = (
        np.maximum.reduceat(common / np.maximum([len(of) for of in side], 1), starts) for side in (left, right)
    )
    good = (precision > 0) & (recall > 0)
    denominator = np.where(good, recall + BETA**2 * precision, 1)
    return np.where(good, (1 + BETA**2) * precision * recall / denominator, 0)
