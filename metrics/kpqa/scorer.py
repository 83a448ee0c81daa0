"""The scorer of KPQA: settings, statistics per row, scores, warnings, signature."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from itertools import product
from typing import ClassVar, Self

import numpy as np

from ..core.inference import check_fork
from ..core.reading import language_counts, language_warnings, readable
from ..core.scorer import AT_LEAST_1, SWITCH, ExplainedRow, RowStatistics, Scorer, checked_column, is_number, one_of
from .encoding import NEGATION, Encoder, denied_pieces, word_pieces
from .explaining import STEPS, marks, rarities
from .loading import load_models
from .scoring import (
    METRICS,
    RESULTS,
    ROUGE_WEIGHTS,
    Tokens,
    inverse_document_frequencies,
    pair_statistics,
    row_scores,
)

# Token vectors of at most so many rows, or characters, are in memory at once: about 100 MB.
_CHUNK, _CHUNK_CHARACTERS = 1024, 2**18
NAMED = 2  # words that a reason names at most
TITLES = {"bleu1": "BLEU-1", "rougeL": "ROUGE-L", "bertscore": "BERTScore"}
HEAVY = 0.3  # weight from which a word counts as a keyphrase
_IN_WORD = re.compile(r"(?<=\w)['\N{RIGHT SINGLE QUOTATION MARK}](?=\w)|(?<=\d)[.,:](?=\d)")  # "isn't", "7.5"


class KpqaScorer(Scorer):
    """KPQA of Lee et al. (2021): the statistics of a row are its scores."""

    name = "kpqa"
    explains_answers = True
    legend = (
        "A number is the keyphrase weight of the word piece before it, from 0 to 1: how much it answers the question; "
        f"below {STEPS[0]} it is left out. B: in the other text too, BLEU-1 counts it in the prediction. L: in the "
        "heaviest common subsequence, ROUGE-L counts it. The answer is compared with the reference that gave "
        "ROUGE-L-KPQA."
    )
    title = "KPQA"
    main = "rougeL_kpqa"
    measures = (
        "words in common, in the same order, as a share of both texts; words that answer the question count more, in "
        "rougeL all alike; of a system the mean of its rows"
    )
    beside = ("rougeL",)  # without weights
    names = RESULTS
    significance_scores = ("rougeL_kpqa", "bleu1_kpqa", "bertscore_kpqa")
    meta_evaluated = METRICS
    needs_question = True
    passes = 2  # one for the weights, one for the vectors of BERTScore
    presets: ClassVar = {  # section 3.2 and appendix C.4 as printed: eq. 5, the first hidden layer, IDF in BERTScore
        "paper": {"rouge_weights": "candidate", "idf": True, "negation": False, "values": False, "embedding_layer": 1},
    }
    checks: ClassVar = {
        "batch_tokens": AT_LEAST_1,
        "beta": (lambda beta: is_number(beta, 0) and beta > 0, "a number above 0"),
        "rouge_weights": one_of(ROUGE_WEIGHTS),
        **dict.fromkeys(("negation", "values", "clipped"), SWITCH),
    }
    only_in_files = tuple(name for name in RESULTS if name.endswith(("_precision", "_recall")))

    @classmethod
    def check_parts(cls, idf=False, **settings):
        """Refuse `idf=True`; see `Scorer.check_parts`."""
        if idf is True:
            raise ValueError("idf: True needs all rows at once, and rows are read in parts here; give a list of texts")

    @classmethod
    def check(cls, idf=False, **settings):
        """Refuse bad settings; see `Scorer.check`."""
        super().check(**settings)
        if not isinstance(idf, bool):
            _checked_corpus(idf)

    def load(
        self,
        checkpoint: str | os.PathLike | None = None,
        revision: str | None = None,
        device: str | None = None,
        dtype: object = None,
        batch_tokens: int = 4096,
        embedding_model: str | os.PathLike | None = None,
        embedding_layer: int | None = None,
        backend: str | None = None,
        base_model: str | os.PathLike | None = None,
    ) -> None:
        """Load predictor and encoder; see `loading.load_models`, and `inference.budget_on` for `batch_tokens`."""
        self.batch_tokens = batch_tokens
        self._process = os.getpid()
        self.models = load_models(
            checkpoint, revision, device, dtype, embedding_model, embedding_layer, backend, base_model
        )
        self.device = self.models.predictor.device.type

    def configure(
        self,
        beta: float = 1.0,
        rouge_weights: str = "both",
        idf: bool | Sequence[str] = False,
        negation: bool = True,
        values: bool = True,
        clipped: bool = True,
    ) -> None:
        """Take settings of `compute`."""
        self.beta = float(beta)
        self.rouge_weights = rouge_weights
        self.negation, self.values, self.clipped = negation, values, clipped
        self._idf_of = idf if isinstance(idf, bool) else _checked_corpus(idf)
        self._frequencies: dict[int, float] | None = None
        self._idf_digest = "references" if idf is True else ""
        if not isinstance(idf, bool):
            self._set_frequencies(self._idf_of)

    @property
    def facts(self) -> dict[str, str]:
        """Predictor, encoder and the settings that are not the default; see `Scorer.facts`."""
        facts = {**self.models.facts, "beta": f"{self.beta:g}", "unknown": "surface"}
        facts |= {} if self.rouge_weights == "both" else {"rouge_weights": self.rouge_weights}
        facts |= {"idf": self._idf_digest} if self._idf_digest else {}
        switches = {"negation": self.negation, "values": self.values, "clipped": self.clipped}
        return facts | {name: "False" for name, is_on in switches.items() if not is_on}

    def _set_frequencies(self, texts: Sequence[str]) -> None:
        documents = word_pieces(self.models.tokenizer, list(map(readable, texts)))
        self._frequencies = inverse_document_frequencies(documents)
        self._idf_digest = hashlib.sha256(repr(sorted(texts)).encode()).hexdigest()[:12]

    def for_rows(self, columns: Mapping[str, list]) -> Self:
        """Return the scorer with the IDF weights of the references of one call, if `idf` is True; else itself."""
        if self._idf_of is not True:
            return self
        result = copy(self)
        result._set_frequencies([text for row in columns["references"] for text in row])
        return result

    def chunks(self, columns: Mapping[str, list]) -> Iterator[Sequence[int]]:
        """Yield row numbers in chunks of limited size; rows of one question stay together up to twice that size."""
        questions, predictions, references = (columns[name] for name in ("questions", "predictions", "references"))
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

    def statistics(self, columns: Mapping[str, list], explain: bool = False) -> RowStatistics:
        """Return the scores of every row, which references counted, weights of word pieces, and how many were cut."""
        questions, predictions = ([readable(text) for text in columns[name]] for name in ("questions", "predictions"))
        references = [[readable(text) or text for text in row] for row in columns["references"]]
        check_fork(self.device, self._process)
        if self._idf_of is True and self._frequencies is None:
            raise ValueError(
                "idf: True needs the references of all rows in one call; for rows in parts give a list of texts"
            )
        rows = len(questions)
        asked = [*questions, *(question for i, question in enumerate(questions) for _ in references[i])]
        texts = [*predictions, *(text for row in references for text in row)]
        encoder = Encoder(self.models, self.batch_tokens)
        tokens, offsets = self._tokens(encoder, list(zip(asked, texts, strict=True)))
        numbers = np.repeat(np.arange(rows), [len(row) for row in references])
        candidates = [tokens[n] for n in numbers]
        pairs = pair_statistics(candidates, tokens[rows:], self.rouge_weights, self._frequencies, self.clipped)
        scores, winners = row_scores(pairs, numbers, self.beta)
        details = {f"{metric}_reference": winners[metric].tolist() for metric in METRICS}
        if explain:
            pieces = [
                [[text[a:b], weight, a, b] for weight, (a, b) in zip(of.weights.tolist(), spans.tolist(), strict=True)]
                for text, of, spans in zip(texts, tokens, offsets, strict=True)
            ]
            others = iter(pieces[rows:])
            details["explanation"] = [
                {"question": question, "prediction": piece, "references": [next(others) for _ in row]}
                for question, piece, row in zip(questions, pieces, references, strict=False)
            ]
        statistics = np.stack([scores[name] for name in self.names], axis=1)
        counts_by_row = [Counter() for _ in range(rows)]
        for row, pair in zip([*range(rows), *numbers.tolist()], zip(asked, texts, strict=True), strict=True):
            counts_by_row[row]["truncated"] += pair in encoder.cut
        return RowStatistics(statistics, details, counts_by_row)

    def _tokens(self, encoder: Encoder, pairs: Sequence[tuple[str, str]]) -> tuple[list[Tokens], list[np.ndarray]]:
        """Return what `Encoder.tokens` returns, without the rules that are switched off."""
        tokens, offsets = encoder.tokens(pairs)
        if not self.negation:
            tokens = [token._replace(denied=None) for token in tokens]
        if not self.values:
            tokens = [token._replace(values=None) for token in tokens]
        return tokens, offsets

    def explained(
        self, columns: Mapping[str, list], corpus: Sequence[str] = ()
    ) -> tuple[list[ExplainedRow], RowStatistics]:
        """Return rows with weights, matches and scores, with a corpus also how rare words are; see the base class."""
        rows, result = super().explained(columns)
        scores, encoder = self.row_scores(result.values), Encoder(self.models, self.batch_tokens)
        for i, (question, row) in enumerate(zip(columns["questions"], rows, strict=True)):
            texts = [readable(row.prediction), *(readable(text) or text for text in row.references)]
            tokens, offsets = self._tokens(encoder, [(readable(question), text) for text in texts])
            best = result.details["rougeL_kpqa_reference"][i]
            evidence = []
            for name, title in TITLES.items():
                weighted = f"{name}_kpqa"
                text = f"{scores[weighted][i]:.3f}, without weights {scores[name][i]:.3f}"
                if f"{weighted}_recall" in scores:
                    shares = (f"{side} {scores[f'{weighted}_{side}'][i]:.3f}" for side in ("precision", "recall"))
                    text += f" ({', '.join(shares)} with weights)"
                if len(row.references) > 1:
                    text += f"; reference {result.details[f'{weighted}_reference'][i] + 1}"
                evidence.append((f"{title}-KPQA", text))
            for number, text in enumerate(texts if corpus else ()):
                label = f"reference {number}".removesuffix(" 1" * (len(texts) == 2)) if number else "answer"
                evidence.append((f"Rarity (IDF), {label}", rarities(self.models.tokenizer, corpus, text)))
            rows[i] = row._replace(
                prediction=texts[0],
                references=texts[1:],
                marks=marks(offsets[0], tokens[0], tokens[1 + best]),
                reference_marks=[marks(*of, tokens[0]) for of in zip(offsets[1:], tokens[1:], strict=True)],
                evidence=evidence,
            )
        return rows, result

    def counts(self, columns: Mapping[str, list], statistics: np.ndarray) -> Counter:
        """Return how many rows there are, and are in other languages; see `Scorer.counts`."""
        return language_counts(columns)

    def reason(self, scores: Mapping[str, float], details: Mapping[str, object]) -> str:
        """Say which keyphrases of the reference that counted the answer has and lacks, and which it adds."""
        explained = details["explanation"]
        reference = explained["references"][details["rougeL_kpqa_reference"]]
        return keyphrase_reason(explained["prediction"], reference, self.negation)

    def warnings(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Say how many rows are not English, and how many texts were truncated."""
        longer = "texts are longer than the model reads together with their question"
        cut = counts.get("truncated", 0)
        sentences = [f"{cut} {longer}; what is behind its limit was left out"] if cut else []
        return [*language_warnings(counts), *sentences]


def _checked_corpus(idf: object) -> list[str]:
    try:
        texts = checked_column("idf", idf, "text")
    except ValueError as error:
        raise ValueError(f"{error}; idf is True, False or a list of texts") from None
    if not texts:
        raise ValueError("idf: expected True, False or at least one text, got an empty list")
    return texts


def keyphrase_reason(prediction: Sequence[Sequence], reference: Sequence[Sequence], negation: bool = True) -> str:
    """Return which keyphrases of a reference an answer has, lacks and adds, of word pieces as in `_words`.

    Words that share only a piece, which the scores match, are said apart.

    >>> ice = [["Ice", 0.8, 0, 3], ["ocean", 0.7, 4, 9]], [["ice", 0.9, 0, 3], ["berg", 0.9, 3, 7]]
    >>> keyphrase_reason(ice[1], ice[0])
    "Of the reference's keyphrases it lacks 'ocean'; 'Ice' and 'iceberg' share the piece 'ice'."
    """
    words, others = _words(prediction, negation), _words(reference, negation)
    pairs = _sharing_a_piece(others, words)
    apart = {word for pair in pairs for word in pair}
    has, lacks = _keyphrases(others, words, True), _keyphrases(others, words, False, apart)
    adds = _keyphrases(words, others, False, apart)
    sentence = " and ".join(f"{verb} {named}" for verb, named in (("has", has), ("lacks", lacks)) if named)
    clauses = [f"of the reference's keyphrases it {sentence}"] * bool(sentence) + [f"it adds {adds}"] * bool(adds)
    clauses += [f"'{a}' and '{b}' share the piece '{piece}'" for (a, b), piece in [*pairs.items()][:NAMED]]
    text = "; ".join(clauses) or "no word of the answer or the reference is a keyphrase"
    return text[0].upper() + text[1:] + "."


def _words(pieces: Sequence[Sequence], negation: bool = True) -> dict[str, list]:
    """Return the words that word pieces form, each with the weight of its heaviest piece, and its pieces.

    With `negation`, a keyphrase that is denied forms one word with its negation, as the scores do not match it.

    >>> _words([["Shel", 0.9, 0, 4], ["ley", 0.2, 4, 7], [",", 0.1, 7, 8], ["no", 0.3, 9, 11]])
    {',': [0.1, ','], 'no': [0.3, 'no'], 'Shelley': [0.9, 'shel', '##ley']}
    >>> pieces = [["isn", 0.2, 0, 3], ["'", 0.4, 3, 4], ["t", 0.7, 4, 5], ["blue", 0.8, 6, 10]]
    >>> [{word: weight for word, (weight, *_) in _words(pieces, on).items()} for on in (True, False)]
    [{"isn't blue": 0.8}, {"isn't": 0.7, 'blue': 0.8}]
    >>> [*_words([["7", 0.9, 0, 1], [".", 0.1, 1, 2], ["5", 0.8, 2, 3], ["tonnes", 0.2, 4, 10]])]
    ['tonnes', '7.5']
    """
    text = ""
    for piece, _, start, _ in pieces:
        text = text[:start].ljust(start) + piece  # bytes of one emoji are pieces at one place
    weights = np.array([weight for _, weight, *_ in pieces])
    denied = denied_pieces(text, [(start, end) for *_, start, end in pieces], weights * negation)
    signs = {match.start() for match in _IN_WORD.finditer(text)}
    words: list[list] = []  # start, end, weight, pieces
    for (piece, weight, start, end), is_denied in zip(pieces, denied, strict=True):
        is_inside = start > 0 and all(text[i].isalnum() or i in signs for i in (start - 1, start))
        if words and (is_inside or is_denied or start < words[-1][1]):
            words[-1][1:3] = end, max(weight, words[-1][2])
            words[-1].append(f"##{piece.lower()}")
        else:
            words.append([start, end, weight, piece.lower()])
    words.sort(key=lambda word: word[2])
    return {text[start:end]: entry for start, end, *entry in words}


def _sharing_a_piece(words: Mapping[str, list], others: Mapping[str, list]) -> dict[tuple[str, str], str]:
    """Return {(word, other word): the piece that they share}, of keyphrases that the other text has not.

    Numbers and denied words are left out: they say another thing.
    """
    both = {*map(str.lower, words)} & {*map(str.lower, others)}
    alone = ([word for word in text if word.isalpha() and word.lower() not in both] for text in (words, others))
    result = {}
    for word, other in product(*alone):
        (weight, *pieces), (other_weight, *other_pieces) = words[word], others[other]
        shared = [piece for piece in pieces if piece in other_pieces]
        if shared and max(weight, other_weight) >= HEAVY:
            result[word, other] = shared[0].removeprefix("##")
    return result


def _key(word: str) -> str:
    """Return a word as it is compared: "isn't" and "not" deny the same."""
    return "not" if NEGATION.search(word) else word


def _keyphrases(
    words: Mapping[str, list], others: Mapping[str, list], shared: bool, apart: Collection[str] = ()
) -> str:
    """Return the heaviest keyphrases among words, in quotes, that the other text has too or has not, but for some."""
    other_keys = {_key(word.lower()) for word in others}
    heavy = [word for word, (weight, *_) in words.items() if weight >= HEAVY and word not in apart]
    chosen = [word for word in heavy if (_key(word.lower()) in other_keys) == shared]
    chosen.sort(key=lambda word: -words[word][0])
    return " and ".join(f"'{word}'" for word in chosen[:NAMED])
