"""Keyphrase weights and token vectors of texts: each encoded once, longest first, in batches of a token budget."""

import re
import unicodedata
import zlib
from collections.abc import Sequence

import numpy as np

from ..core.checkpoints import token_limit
from ..core.encoders import OnnxEncoder
from ..core.inference import budget_on, run_padded, tensors
from ..core.words import NUMBER_WORDS
from .scoring import UNKNOWN, Tokens

MIN_ANSWER = 64  # word pieces reserved for an answer, however long the question


class Encoder:
    """Computes keyphrase weights and token vectors of texts; `cut` are those that were not read to their end."""

    def __init__(self, models, batch_tokens: int = 4096):
        self.predictor, self.tokenizer = models.predictor, models.tokenizer
        self.embedder, self.embedding_tokenizer = models.embedder, models.embedding_tokenizer
        self.layer = models.layer
        self.batch_tokens = budget_on(self.predictor.device.type, batch_tokens)
        self.settings, self.workers = models.settings, getattr(self.predictor, "workers", 1)
        self.cut: set[tuple[str, str]] = set()  # (question, text)

    def keyphrase_weights(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return (tokens,) ids, (tokens, 2) character offsets and (tokens,) keyphrase weights of (question, text)."""
        if not pairs:
            return []
        limit = min(token_limit(self.predictor, self.tokenizer), self.settings.max_length)
        questions, texts = [q for q, _ in pairs], [t for _, t in pairs]
        if self.settings.question:
            columns, side, truncation = ([self._short_question(q, limit) for q in questions], texts), 1, "only_second"
        else:
            columns, side, truncation = (texts,), 0, True
        encoded, pieces, masks = [], [], []
        ways = {"return_offsets_mapping": True, "verbose": False}
        batch = self.tokenizer(*columns, truncation=truncation, max_length=limit, **ways)
        keys = [k for k in batch if k != "offset_mapping"]
        for i in range(len(pairs)):
            in_text = np.array([s == side for s in batch.sequence_ids(i)], dtype=bool)
            ids = np.asarray(batch["input_ids"][i])
            offsets = np.asarray(batch["offset_mapping"][i]).reshape(-1, 2)[in_text]
            pieces.append((with_distinct_unknowns(ids[in_text], offsets, texts[i], self.tokenizer), offsets))
            masks.append(in_text)
            encoded.append({key: batch[key][i] for key in keys})
            end = offsets[-1][1] if len(offsets) else 0
            if len(ids) == limit and texts[i][end:].strip():
                self.cut.add(pairs[i])
        weights = run_padded(encoded, self._keyphrases, self.batch_tokens, self.workers)
        return [(*piece, row[in_text]) for piece, row, in_text in zip(pieces, weights, masks, strict=True)]

    def _keyphrases(self, inputs: dict[str, np.ndarray]) -> np.ndarray:
        """Return (batch, tokens) probabilities of padded inputs."""
        if isinstance(self.predictor, OnnxEncoder):
            logits = self.predictor(**inputs)
            powers = np.exp(logits - logits.max(-1, keepdims=True))
            return (powers / powers.sum(-1, keepdims=True))[..., self.settings.keyphrase_label]
        import torch

        with torch.inference_mode():
            logits = self.predictor(**tensors(inputs, self.predictor.device)).logits
            return logits.float().softmax(-1)[..., self.settings.keyphrase_label].cpu().numpy()

    def _short_question(self, question: str, limit: int) -> str:
        kept = limit - min(MIN_ANSWER, limit // 2)
        if len(question) <= kept:  # a piece is at least one character
            return question
        batch = self.tokenizer(question, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        offsets = batch["offset_mapping"]
        return question if len(offsets) <= kept else question[: offsets[kept - 1][1]]

    def vectors(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for every text (tokens, size) unit vectors at the chosen layer, and (tokens, 2) character offsets."""
        if not texts:
            return []
        batch = self.embedding_tokenizer(
            list(texts),
            truncation=True,
            max_length=token_limit(self.embedder, self.embedding_tokenizer),
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            verbose=False,
        )
        keys = [k for k in batch if k not in ("offset_mapping", "special_tokens_mask")]
        encoded = [{key: batch[key][i] for key in keys} for i in range(len(texts))]
        results = []
        for i, vectors in enumerate(run_padded(encoded, self._unit_vectors, self.batch_tokens, self.workers)):
            is_word = np.asarray(batch["special_tokens_mask"][i]) == 0
            results.append((vectors[is_word], np.asarray(batch["offset_mapping"][i]).reshape(-1, 2)[is_word]))
        return results

    def _unit_vectors(self, inputs: dict[str, np.ndarray]) -> np.ndarray:
        """Return (batch, tokens, size) unit vectors of padded inputs."""
        if isinstance(self.embedder, OnnxEncoder):
            states = self.embedder.states(**inputs)
            return states / np.maximum(np.linalg.norm(states, axis=-1, keepdims=True), 1e-12)
        import torch

        inputs = tensors(inputs, self.embedder.device)
        with torch.inference_mode():
            if self.layer == 0 and hasattr(self.embedder, "embeddings"):
                hidden = self.embedder.embeddings(input_ids=inputs["input_ids"])  # the layers above are not needed
            else:
                hidden = self.embedder(**inputs, output_hidden_states=True).hidden_states[self.layer]
            return torch.nn.functional.normalize(hidden.float(), dim=-1).cpu().numpy()

    def tokens(self, pairs: Sequence[tuple[str, str]]) -> tuple[list[Tokens], list[np.ndarray]]:
        """Return `Tokens` and (tokens, 2) character offsets of every (question, text), each encoded once."""
        unique = list(dict.fromkeys(pairs))
        weighted = dict(zip(unique, self.keyphrase_weights(unique), strict=True))
        texts = list(dict.fromkeys(text for _, text in unique))
        embedded = dict(zip(texts, self.vectors(texts), strict=True))
        items = {}
        for pair in unique:
            ids, offsets, weights = weighted[pair]
            vectors = aligned(*embedded[pair[1]], offsets)
            signs = denied_pieces(pair[1], offsets, weights), values_of(pair[1], offsets)
            items[pair] = Tokens(ids, weights, vectors, *signs), offsets
        return [items[pair][0] for pair in pairs], [items[pair][1] for pair in pairs]


def with_distinct_unknowns(ids: np.ndarray, offsets: np.ndarray, text: str, tokenizer) -> np.ndarray:
    """Return (tokens,) ids with an id for each word that the vocabulary lacks, such as an emoji, in place of [UNK]."""
    unknown = getattr(tokenizer, "unk_token_id", None)
    positions = () if unknown is None else np.flatnonzero(ids == unknown)
    if not len(positions):
        return ids
    ids = ids.astype(np.int64)
    for position in positions:
        start, end = offsets[position]
        word = unicodedata.normalize("NFKC", text[start:end]).casefold()
        ids[position] = UNKNOWN + zlib.crc32(word.encode("utf-8", "replace")) % UNKNOWN
    return ids


def word_pieces(tokenizer, texts: Sequence[str]) -> list[np.ndarray]:
    """Return the (tokens,) ids of the word pieces of every text, special ones left out."""
    if not texts:
        return []
    batch = tokenizer(list(texts), add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    ids = [np.array(row, dtype=np.int64) for row in batch["input_ids"]]
    offsets = [np.array(row).reshape(-1, 2) for row in batch["offset_mapping"]]
    return [with_distinct_unknowns(*row, tokenizer) for row in zip(ids, offsets, texts, strict=True)]


def aligned(vectors: np.ndarray, offsets: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return (others, size) vectors of the tokens at the first characters of `wanted` offsets, 0 if none is there."""
    if len(offsets) >= len(wanted) and np.array_equal(offsets[: len(wanted)], wanted):
        return vectors[: len(wanted)]
    out = np.zeros((len(wanted), vectors.shape[1]), dtype=vectors.dtype)
    if len(offsets):
        positions = np.searchsorted(offsets[:, 0], wanted[:, 0], side="right") - 1
        is_covered = (positions >= 0) & (wanted[:, 0] < offsets[np.maximum(positions, 0), 1])
        out[is_covered] = vectors[positions[is_covered]]
    return out


# A negation denies a word only if that is the answer: its weight is at least `LEAST`, and at least `SHARE` of the
# heaviest other piece, the negation itself left out.
LEAST, SHARE = 0.3, 0.9

NEGATION = re.compile(r"\b(?:not|never|cannot|nor|neither)\b|n['\N{RIGHT SINGLE QUOTATION MARK}]\s?t\b", re.IGNORECASE)
_MINUS = re.compile(r"(?<![\w.,)\]%])(?<!\d\s)[-\N{MINUS SIGN}](?=\s?\.?\d)")  # of a number, not of a range
_OPERATORS = {
    "\N{GREATER-THAN OR EQUAL TO}": ">=",
    "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{NOT EQUAL TO}": "!=",
    "<>": "!=",
}
_COMPARISON = re.compile(rf"(?<=[\w)\]])\s*(>=|<=|!=|<>|[{''.join(list(_OPERATORS)[:3])}]|[<>](?=\s*-?\.?\d))")
_IN_TAG = re.compile(r"<[/\w][^<>\s]*\Z")
_NEXT_WORD = re.compile(r"\s*([^\s,.;:!?]|[.,:](?=\d))+")


def denied_pieces(text: str, offsets: Sequence, weights: np.ndarray) -> np.ndarray:
    """Return (tokens,) integers, above 0 for keyphrases behind a negation, a minus sign (1), or an operator but "=".

    >>> denied_pieces("Not Canberra", [(0, 3), (4, 12)], np.array([0.0, 0.9])).tolist()
    [0, 1]
    """
    weights = np.asarray(weights)
    denied = np.zeros(len(weights), dtype=np.int64)
    if not len(weights) or weights.max() < LEAST:
        return denied
    cues = [(*match.span(), 1) for pattern in (NEGATION, _MINUS) for match in pattern.finditer(text)]
    for match in _COMPARISON.finditer(text):
        if _IN_TAG.search(text, 0, match.start(1)):
            continue
        operator = _OPERATORS.get(match[1], match[1])
        cues.append((*match.span(1), 2 + zlib.crc32(operator.encode()) % 2**16))
    if not cues:
        return denied
    in_cue = np.array([any(a <= start and end <= b for a, b, _ in cues) for start, end in offsets])
    heavy = weights >= max(LEAST, SHARE * weights[~in_cue].max(initial=0.0))
    for _, behind, mark in cues:
        word = _NEXT_WORD.match(text, behind)
        if word:
            inside = np.array([behind <= start and end <= word.end() for start, end in offsets])
            denied[heavy & inside & (denied == 0)] = mark
    return denied


_SAME = {word: str(number) for word, number in NUMBER_WORDS.items()}
_SAME |= {word: word for word in ("hundred", "thousand", "million", "billion", "yes", "no")}
_VALUE = re.compile(rf".*\d|(?:{'|'.join(_SAME)})$", re.IGNORECASE | re.DOTALL)

_CONTINUES = re.compile(r"(?<=\d)|(?<=\d[.,])")  # the 5 of 1,945 is not the number 5


def values_of(text: str, offsets: Sequence) -> np.ndarray:
    """Return (tokens,) codes of pieces with a digit, number words, yes and no, equal for "2" and "two"; 0 for others.

    >>> values = values_of("Two of 2, no 3", [(0, 3), (4, 6), (7, 8), (10, 12), (13, 14)])
    >>> values[0] == values[2] != values[4], values[1]
    (np.True_, np.int64(0))
    """
    array = np.zeros(len(offsets), dtype=np.int64)
    for i, (start, end) in enumerate(np.asarray(offsets).reshape(-1, 2).tolist()):
        piece = text[start:end].lower()
        if _VALUE.match(piece):
            key = f"#{piece}" if _CONTINUES.match(text, start) else _SAME.get(piece, piece)
            array[i] = zlib.crc32(key.encode()) + 1
    return array
