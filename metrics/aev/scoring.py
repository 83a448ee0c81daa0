"""AEv(alpha, N): text to n-gram statistics per row, and (summed) statistics to scores. No input or output.

Soricut & Brill, "A Unified Framework for Automatic Evaluation using N-gram Co-Occurrence Statistics", ACL 2004,
section 3. What the paper leaves open is decided here as sacrebleu decides it: with several references a candidate's
n-gram counts as often as in the reference that has it most often, and |r| is the length closest to the candidate's.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import regex

from ..core.scorer import Stemmer, check_setting, counted_ngrams, is_number, is_whole
from .stop_words import STOP_WORDS

GRID_ALPHAS = tuple(i / 10 for i in range(11))
GRID_ORDERS = (1, 2, 3, 4)
STRONG = 0.5  # a length penalty below it says more about a score than the n-grams do
COUNTS = 2  # column of the statistics where the n-gram counts begin

# Words are runs of letters, marks and digits, with apostrophes inside; scripts without blanks are cut into characters.
_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]\p{M}*"
    r"|[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*"
)
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")  # the same on ASCII text, four times as fast


def _words(text: str) -> list[str]:
    text = text.lower()
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return _WORD.findall(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


def _words_13a() -> Callable[[str], list[str]]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenizer = Tokenizer13a()
    return lambda text: tokenizer(text).split()


@dataclass(frozen=True)
class Settings:
    """Everything that changes the score; the defaults are the paper's, alpha and N in the middle of their ranges."""

    alpha: float = 0.5  # in [0, 1], from the recall side RS(N) to the precision side PS(N)
    max_order: int = 2  # N, the longest n-gram, at least 1
    brevity: float = 1.0  # B > 0, candidates shorter than |r| / B are penalised; infinity switches the penalty off
    wordiness: float = 2.0  # W > 0, candidates longer than W |r| are penalised; infinity switches the penalty off
    weights: Sequence[float] | None = None  # one weight w_n >= 0 for every order, or None for 1 / N each
    stop_words: str | Collection[str] | None = "english"  # "english", "smart", your own, None for none
    stemmer: str | None = "porter"  # "porter" (Porter 1980) or None
    tokenizer: str | Callable[[str], list[str]] = "word"  # "13a", sacrebleu's, keeps case and punctuation
    reference_recall: str = "all"  # "all" pools references, as R(n); "best": that of highest recall
    effective_order: bool = True  # without the orders of which a corpus has no n-gram; False gives 0 then

    def __post_init__(self):
        weights, words, tokenizer = self.weights, self.stop_words, self.tokenizer
        are_weights = isinstance(weights, Sequence | np.ndarray) and len(weights) == self.max_order
        weighed = weights is None or (are_weights and all(is_number(w, 0) for w in weights) and sum(weights) > 0)
        are_words = words is None or (isinstance(words, Collection) and all(isinstance(w, str) for w in words))
        are_known = words in STOP_WORDS if isinstance(words, str) else are_words
        lists = ", ".join(map(repr, STOP_WORDS))
        for name, is_good, expected in (
            ("alpha", is_number(self.alpha, 0, 1), "a number from 0 to 1"),
            ("max_order", is_whole(self.max_order, 1), "a whole number of at least 1"),
            ("brevity", _is_above_0(self.brevity), "a number above 0, or infinity"),
            ("wordiness", _is_above_0(self.wordiness), "a number above 0, or infinity"),
            ("weights", weighed, f"{self.max_order} numbers of at least 0, not all 0 (one for each order), or None"),
            ("stop_words", are_known, f"{lists}, a collection of words, or None"),
            ("stemmer", self.stemmer in ("porter", None), "'porter' or None"),
            ("tokenizer", callable(tokenizer) or tokenizer in ("word", "13a"), "'word', '13a' or a function"),
            ("reference_recall", self.reference_recall in ("all", "best"), "'all' or 'best'"),
            ("effective_order", isinstance(self.effective_order, bool), "True or False"),
        ):
            check_setting(name, is_good, expected, getattr(self, name))

    def facts(self) -> dict[str, str]:
        """Return the settings by short names, for a signature in the manner of sacrebleu's."""
        weights = "uniform" if self.weights is None else ",".join(f"{w:g}" for w in self.weights)
        stop_words, tokenizer = self.stop_words, self.tokenizer
        if stop_words is not None and not isinstance(stop_words, str):
            stop_words = "own-" + hashlib.sha256(" ".join(sorted(stop_words)).encode()).hexdigest()[:8]
        if callable(tokenizer):
            tokenizer = getattr(tokenizer, "__qualname__", type(tokenizer).__qualname__)
        return {
            "alpha": f"{self.alpha:g}",
            "order": str(self.max_order),
            "brevity": f"{self.brevity:g}",
            "wordiness": f"{self.wordiness:g}",
            "weights": weights,
            "stop": str(stop_words),
            "stem": str(self.stemmer),
            "tok": str(tokenizer),
            "recall": self.reference_recall,
            "orders": "effective" if self.effective_order else "all",
        }


def _is_above_0(setting: object) -> bool:
    return setting == inf or (is_number(setting, 0) and setting > 0)


class _Terms(dict):
    """Cache from word to stem, or None for a stop word."""

    max_words = 2**18

    def __init__(self, stop_words: Collection[str], stemmer: str | None):
        self.stop_words = frozenset(
            word.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") for word in stop_words
        )
        self.stemmer = Stemmer(stemmer) if stemmer else None

    def __missing__(self, word: str) -> str | None:
        lower = word.lower()
        base = lower.removesuffix("'s")
        if len(self) >= self.max_words:
            self.clear()
        is_stop_word = lower in self.stop_words or base in self.stop_words
        self[word] = None if is_stop_word else self.stemmer.stem(base) if self.stemmer else word
        return self[word]


def terms_function(settings: Settings) -> Callable[[str], list[str]]:
    """Return the function from a text to its terms: tokens without stop words, stemmed (S(C, 1) in the paper).

    Stop words are looked up in lower case and before stemming; a possessive "'s" is cut off first.

    >>> terms_function(Settings())("There are seven steps involved in Fisher's test")
    ['seven', 'step', 'involv', 'fisher', 'test']
    """
    tokenize = settings.tokenizer
    if not callable(tokenize):
        tokenize = _words if tokenize == "word" else _words_13a()
    stop_words = STOP_WORDS.get(settings.stop_words) if isinstance(settings.stop_words, str) else settings.stop_words
    if not stop_words and not settings.stemmer:
        return tokenize
    cache = _Terms(stop_words or (), settings.stemmer)
    return lambda text: [term for word in tokenize(text) if (term := cache[word])]


def row_statistics(
    candidate: Sequence[str], references: Sequence[Sequence[str]], orders: int, best: bool
) -> list[int]:
    """Return candidate length, reference length, and per order matches and n-grams of candidate and of references.

    The closest reference in length counts, the shorter of two; matches of the candidate are clipped. With `best` the
    recall side is the reference with the highest recall, of the shortest n-grams on which they differ.
    """
    length, *lengths = map(len, (candidate, *references))
    closest = min(lengths, key=lambda other: (abs(other - length), other))
    matches, totals, precision = [], [], []
    for order in range(1, orders + 1):
        mine, *theirs = (counted_ngrams(terms, order) for terms in (candidate, *references))
        matches.append([len(mine & other) for other in theirs])
        totals.append([len(other) for other in theirs])
        precision_match = matches[-1][0] if len(theirs) == 1 else len(mine & set().union(*theirs))
        precision.append((precision_match, len(mine)))
    chosen = slice(None)
    if best and len(references) > 1:
        recalls = (np.array(matches) / np.maximum(totals, 1)).T.tolist()  # references x orders
        winner = recalls.index(max(recalls))
        chosen = slice(winner, winner + 1)
    row = [length, closest]
    for (match, total), their_matches, their_totals in zip(precision, matches, totals, strict=True):
        row += [match, total, sum(their_matches[chosen]), sum(their_totals[chosen])]
    return row


def readers(settings: Settings) -> tuple[Callable[[str], list[str]], ...]:
    """Return functions from a text to its terms; a row is read by the first that finds a term in every reference.

    Of "The Who" the second keeps the stop words, and the third reads texts without any word, such as "%".
    """
    with_stop_words = replace(settings, stop_words=None)
    return terms_function(settings), terms_function(with_stop_words), lambda text: text.lower().split()


def statistics(
    predictions: Iterable[str],
    references: Iterable[Sequence[str]],
    settings: Settings,
    orders: int | None = None,
    read: Sequence[Callable[[str], list[str]]] = (),
) -> np.ndarray:
    """Return rows x (2 + 4 orders) integers, see `row_statistics`; `read` are the `readers`, which keep stems."""
    read, orders, rows = read or readers(settings), orders or settings.max_order, []
    for prediction, texts in zip(predictions, references, strict=True):
        for terms in read:
            reference_terms = list(map(terms, texts))
            if all(reference_terms):
                break
        rows.append(row_statistics(terms(prediction), reference_terms, orders, settings.reference_recall == "best"))
    return np.array(rows, dtype=np.int64).reshape(len(rows), COUNTS + 4 * orders)


def _geometric_mean(matches: np.ndarray, totals: np.ndarray, weights: np.ndarray, effective_order: bool) -> np.ndarray:
    """exp(sum of w_n log(matches / totals)) over the last axis; 0 where an order with weight has no match."""
    used = np.broadcast_to(weights > 0, totals.shape)
    if effective_order:
        used = used & (totals > 0)
    kept = np.where(used, weights, 0.0)
    total_weight = kept.sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(used, np.log(matches / totals), 0.0)
        rescaled = kept * (weights.sum() / total_weight)[..., None] if effective_order else kept
        mean = np.exp((rescaled * logs).sum(-1))
    shortest = int(np.argmax(weights > 0))  # order with weight; texts that share none of it share nothing that counts
    return np.where((total_weight > 0) & (matches[..., shortest] > 0) & ~np.isnan(mean), mean, 0.0)


def scores(statistics: np.ndarray, settings: Settings, effective_order: bool | None = None) -> dict[str, np.ndarray]:
    """Return AEv(alpha, N) and its parts, arrays of the leading shape, from ... x (2 + 4 orders) statistics.

    Scores are 0 to 1, lengths numbers of terms. `effective_order` leaves out the orders that a side is too short to
    have, and scales the other weights up; None takes that of the settings. For single rows it is True, as in
    sacrebleu's sentence BLEU: an answer of one word has no bigrams at all.
    """
    statistics = np.asarray(statistics, dtype=np.float64)
    effective_order = settings.effective_order if effective_order is None else effective_order
    order = settings.max_order
    weights = np.full(order, 1.0 / order) if settings.weights is None else np.asarray(settings.weights, dtype=float)
    candidate, reference = statistics[..., 0], statistics[..., 1]
    counts = statistics[..., COUNTS : COUNTS + 4 * order].reshape(*statistics.shape[:-1], order, 4)
    brevity, wordiness = settings.brevity, settings.wordiness
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        long_enough = np.isinf(brevity) | (brevity * candidate >= reference)
        brevity_penalty = np.where(long_enough, 1.0, np.exp(1.0 - reference / (brevity * candidate)))
        short_enough = np.isinf(wordiness) | (candidate <= wordiness * reference)
        wordiness_penalty = np.where(short_enough, 1.0, np.exp(1.0 - candidate / (wordiness * reference)))
    precision = brevity_penalty * _geometric_mean(counts[..., 0], counts[..., 1], weights, effective_order)
    recall = wordiness_penalty * _geometric_mean(counts[..., 2], counts[..., 3], weights, effective_order)
    return {
        "aev": combine(precision, recall, settings.alpha),
        "aev_precision": precision,
        "aev_recall": recall,
        "brevity_penalty": brevity_penalty,
        "wordiness_penalty": wordiness_penalty,
        "prediction_length": candidate,
        "reference_length": reference,
    }


def warnings_for(statistics: np.ndarray, settings: Settings) -> list[str]:
    """Return warnings about the score of a corpus, of 2 + 4 orders summed statistics.

    They are about an N that no text is long enough to have or that never matches, and a length penalty below `STRONG`.
    """
    results = []
    counts = statistics[COUNTS:].reshape(-1, 4)[: settings.max_order]
    unused = np.zeros(len(counts), dtype=bool) if settings.weights is None else np.asarray(settings.weights) == 0
    matches, totals = unused | (counts[:, [0, 2]].all(axis=1)), unused | (counts[:, [1, 3]].all(axis=1))
    if statistics[0] and not totals.all():
        order = int(np.argmin(totals)) + 1
        in_answers, in_references = counts[order - 1, [1, 3]]
        side = "texts" if in_answers == in_references else "references" if in_answers else "answers"
        left = f"so the corpus score is 0; use a max_order below {order}, or effective_order=True"
        if settings.effective_order and side != "texts":  # those of the other side match nothing
            zero = "precision" if in_answers else "recall"
            left = f"so {zero} is 0; a max_order below {order} leaves them out"
        elif settings.effective_order:
            left = f"which are left out: this is AEv with N = {order - 1}; effective_order=False gives 0 as the paper"
        results.append(f"the {side} have no {order}-grams, {left}")
    elif matches[0] and not matches.all():
        order = int(np.argmin(matches)) + 1
        results.append(
            f"no {order}-gram of an answer is in its reference, so the corpus score is 0 though words match; "
            f"a max_order below {order} counts them"
        )
    result = scores(statistics, settings)
    for penalty, setting in (("brevity_penalty", "brevity"), ("wordiness_penalty", "wordiness")):
        if statistics[0] and statistics[1] and result[penalty] < STRONG:
            ratio = statistics[0] / statistics[1]
            results.append(
                f"the answers are {ratio:.3g} times as long as the references, so the {penalty} is "
                f"{result[penalty]:.2g}; {setting}=inf switches it off"
            )
    return results


def combine(precision: np.ndarray, recall: np.ndarray, alpha: float) -> np.ndarray:
    """Return RS PS / (alpha RS + (1 - alpha) PS), section 3.3: RS for alpha = 0, PS for alpha = 1, 0 if either is 0.

    >>> float(combine(0.5, 1.0, 0.5))
    0.6666666666666666
    """
    if alpha in (0, 1):
        return np.asarray(precision if alpha else recall, dtype=float)
    with np.errstate(divide="ignore"):
        return 1.0 / (alpha / np.asarray(precision, dtype=float) + (1.0 - alpha) / np.asarray(recall, dtype=float))


def grid_scores(statistics: np.ndarray, settings: Settings) -> dict[str, list]:
    """Return AEv over the whole evaluation plane, from 2 + 4 x 4 summed statistics: "aev" has 4 lists of 11 scores."""
    table = []
    for order in GRID_ORDERS:
        cell = scores(statistics, replace(settings, max_order=order, weights=None))
        table.append([float(combine(cell["aev_precision"], cell["aev_recall"], alpha)) for alpha in GRID_ALPHAS])
    return {"alpha": list(GRID_ALPHAS), "max_order": list(GRID_ORDERS), "aev": table}
