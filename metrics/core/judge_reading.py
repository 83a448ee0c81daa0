"""What a judge reads: triples of texts as word pieces with marks, each distinct one run once, in batches.

A configuration (Vu & Moschitti 2021, section 4) is a list of pairs of segments over q (question), r (reference) and t
(candidate); "qt" is q and t one after the other. Each pair is read by an encoder of its own; the classifier sees their
pooled outputs side by side.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

import numpy as np

from .causal_judge import answer_prompt, prompt_logits
from .inference import budget_on, budgeted, padded, tensors
from .onnx_backend import FastModel
from .quantities import NUMBER_WORDS, equal, quantities
from .scorer import Stemmer

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
    """Return the pairs of texts that a configuration reads (section 4.2).

    Args:
        configuration: name in `CONFIGURATIONS`.
        question: the question; one without punctuation at its end gets a question mark, so that its end is seen.
        reference: the reference.
        candidate: the answer to be judged.

    Returns:
        One pair of segments per encoder.

    >>> segments("a1-r_qt", "who won", "Ann", "It was Ann.")
    [('Ann', 'who won? It was Ann.')]
    """
    question = question.strip()
    question += "" if question[-1:] in ("?", ".", "!", "") else "?"
    texts = {"q": question, "r": reference, "t": candidate}
    return [
        tuple(" ".join(texts[symbol] for symbol in segment) for segment in pair)
        for pair in CONFIGURATIONS[configuration]
    ]


def linear_features(question: str, reference: str, candidate: str, short_answer: str | None = None) -> list[float]:
    """Return x1 to x4 of the linear judge (section 4.1).

    Args:
        question: the question q.
        reference: the reference r.
        candidate: the answer t to be judged.
        short_answer: the short answer s; where there is none the reference takes its place.

    Returns:
        Whether s occurs in t, sim(r, t), sim(r, q) and sim(q, t), with sim(a, b) = 2 |a & b| / (|a| + |b|) on the sets
        of their words.

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
    """Return the word pieces of rows, for each encoder of a configuration.

    Args:
        tokenizer: tokenizer of the encoders.
        configuration: name in `CONFIGURATIONS`.
        rows: (question, reference, candidate).
        max_length: word pieces of a pair; of longer ones the longer text loses its end. None cuts nothing.
        marks: name in `MARKS`: token_type_ids are what `word_marks` says of every word, instead of numbers
            of the segments. What an answer lacks, says in another order, or only repeats is seen in the first layer.

    Returns:
        One list per encoder of one dict per row: input_ids, attention_mask and, where the model has them,
        token_type_ids.
    """
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
    """Return the keys of the words of a text with their positions, and the quantities among them by key.

    With "valued" a number is one word together with its unit; its key is its value.
    """
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

    Args:
        question: the question.
        reference: the reference.
        candidate: the answer to be judged.
        marks: "shared" marks words that reference and candidate share, "asked" also those of the question, and takes
            words of one stem and numbers of one value for the same; "valued" also reads numbers with their units, see
            `quantities.equal`, and takes long words for the same that differ in one letter, see `misspelt`.
        longest: words of reference and candidate that are compared, the time for which grows with their square; a
            model reads at least one word piece of each, so that its `max_length` loses none. None for all.

    Returns:
        1 for a word of both reference and candidate, 2 if it comes in the same order in both; with "asked" and
        "valued" 3 more for a word of the question.

    >>> word_marks("who won", "Ann Lee beat Bob.", "Bob lost: Ann Lee beat him", "shared")
    {'ann': 2, 'lee': 2, 'beat': 2, 'bob': 1}
    >>> word_marks("How many cats did Ann see?", "two cats", "She saw 2", "asked")["2"]
    2
    >>> word_marks("How long?", "two years", "24 months", "valued")
    {'#24|months': 2, 'how': 3, 'long': 3}
    """
    (asked, _), (given, theirs), (said, own) = (_keyed(text, marks) for text in (question, reference, candidate))
    first, second = ([key for key, *_ in value[:longest]] for value in (given, said))
    theirs, own = (
        {key: numbers[key] for key in words if key in numbers} for words, numbers in ((first, theirs), (second, own))
    )
    alias = {}
    for key, number in own.items():
        match = next((k for k, other in theirs.items() if equal(number, other)), None)
        if match is not None and match != key:
            alias[key] = match
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
    """Return the mark of the word that each word piece of a pair of segments belongs to, 0 for words without.

    Args:
        encoding: what a fast tokenizer made of the pair.
        pair: the two segments.
        found: what `word_marks` returned.
        marks: see `word_marks`.
    """
    places = [
        {place: found[key] for key, *span in _keyed(text, marks)[0] if key in found for place in range(*span)}
        for text in pair
    ]
    return [
        0 if segment is None else places[segment].get(start, 0)
        for segment, (start, _) in zip(encoding.sequence_ids, encoding.offsets, strict=True)
    ]


class JudgeReader:
    """Runs a judge on triples of texts, in batches of a token budget.

    Args:
        loaded: model, tokenizer and settings, see `judge_model.LoadedJudge`.
        batch_tokens: word pieces of a batch at most, padding included; see `inference.budget_on`.

    Attributes:
        cut: the triples so far of which the model could not read the end.
    """

    def __init__(self, loaded, batch_tokens: int = 4096):
        self.loaded = loaded
        self.batch_tokens = batch_tokens
        self.cut: set[tuple] = set()

    def logits(self, triples: Sequence[tuple]) -> np.ndarray:
        """Return the model's logit of every triple, before calibration.

        Args:
            triples: (question, reference, candidate), repetitions allowed; each different one is judged once. For the
                linear judge a short answer, or None, may follow; for one that reads a prompt the second is a tuple of
                references.

        Returns:
            (triples,) floats, above 0 where the model leans to correct.
        """
        if self.loaded.configuration == PROMPT:
            return self.prompt_logits(
                [(answer_prompt(question, texts), text) for question, texts, text, *_ in triples]
            )
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
        self.cut.update(
            row
            for i, row in enumerate(full)
            if any(len(column[i]["input_ids"]) > loaded.max_length for column in whole)
        )
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
