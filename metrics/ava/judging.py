"""Judge rows: order the references, judge each distinct triple once, in batches of a token budget."""

import re
from collections.abc import Callable, Container, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

import numpy as np

from ..core.batching import budget_on, budgeted, checked_budget, padded, tensors
from ..core.numbers import NUMBER_WORDS, equal, quantities
from ..core.onnx_backend import FastModel
from ..core.scorer import Stemmer
from .answers import declines, extract_answer, identical
from .modeling import CONFIGURATIONS, LINEAR, WORD, linear_features, segments, words
from .passages import passage

LONG = 5  # least letters of a stem that may be misspelt
CERTAIN = 8.0  # logit of an answer that a rule decides; see `Judge.pairs`
SEPARATOR = "; "  # between references that are read together
ASKED = 3  # added to the mark of a word of the question
LARGEST_WORD = 20  # number words up to this one equal their digits
_STEMMER = Stemmer("porter")


def joined_references(references: Sequence[str], candidate: str) -> str:
    """Return the references as one text, the most similar to the candidate first.

    A model reads only the start of a long list, and the reference that decides should be in it. References that the
    candidate contains word for word come first, then by the share of their words in the candidate.

    Args:
        references: the references of a row.
        candidate: the answer to be judged.

    Returns:
        The different references joined by "; ".

    >>> joined_references(["CA", "California", "california"], "It is in California.")
    'California; CA'
    """
    spoken, ranked = words(candidate), {}
    for reference in references:
        own = words(reference)
        key = " ".join(own) or reference
        if key not in ranked:
            ranked[key] = (*unlikeness(own, spoken), len(ranked), reference)
    return SEPARATOR.join(reference for *_, reference in sorted(ranked.values()))


def unlikeness(own: Sequence[str], spoken: Sequence[str]) -> tuple[bool, float]:
    """Return a sort key of references, the most similar to an answer first; see `joined_references`.

    Args:
        own: words of the reference.
        spoken: words of the answer.

    >>> unlikeness(["paris", "france"], ["in", "paris"]), unlikeness(["paris"], ["in", "paris"])
    ((True, -0.5), (False, -1.0))
    """
    known = set(spoken)
    inside = own and f" {' '.join(own)} " in f" {' '.join(spoken)} "
    return not inside, -sum(word in known for word in own) / max(1, len(own))


def reference_words(references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return (rows,) mean number of words of the references of a row.

    >>> reference_words([["Paris", "the city of Paris"], ["4"]])
    array([2.5, 1. ])
    """
    return np.array([sum(len(words(text)) for text in texts) / len(texts) for texts in references])


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
        configuration: name in `modeling.CONFIGURATIONS`.
        rows: (question, reference, candidate).
        max_length: word pieces of a pair; of longer ones the longer text loses its end. None cuts nothing.
        marks: name in `modeling.MARKS`: token_type_ids are what `word_marks` says of every word, instead of numbers
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


def _keys(text: str) -> list[str]:
    return [_stem(word) for word in words(text)]


def _same(marks: str) -> Callable[[str], str]:
    """Return a function from lower-case words to keys; words that count as the same have one key."""
    return str if marks == "shared" else _stem


@lru_cache(2**12)
def _keyed(text: str, marks: str) -> tuple[tuple[tuple[str, int, int], ...], dict[str, object]]:
    """Return the keys of the words of a text with their positions, and the quantities among them by key.

    With "valued" a number is one word together with its unit; its key is its value.
    """
    same, numbers = _same(marks), quantities(text) if marks == "valued" else []
    taken = {place for number in numbers for place in range(number.start, number.end)}
    found = [(same(word[0].lower()), *word.span()) for word in WORD.finditer(text) if word.start() not in taken]
    found += [(number.key, number.start, number.end) for number in numbers]
    return tuple(sorted(found, key=lambda word: word[1])), {number.key: number for number in numbers}


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
    """Return the marks of the words that are not 0, by the keys of `_same`.

    Args:
        question: the question.
        reference: the reference.
        candidate: the answer to be judged.
        marks: "shared" marks words that reference and candidate share, "asked" also those of the question, and takes
            words of one stem and numbers of one value for the same; "valued" also reads numbers with their units, see
            `numbers.equal`, and takes long words for the same that differ in one letter, see `misspelt`.
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
    first, second = ([key for key, *_ in found[:longest]] for found in (given, said))
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
    found = {word: 1 for word in first if word in both}
    if len(found) > 1:
        for start, _, size in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
            found.update(dict.fromkeys(first[start : start + size], 2))
    else:
        found = dict.fromkeys(found, 2)
    found.update({key: found[match] for key, match in alias.items() if match in found})
    if marks != "shared":
        for word, *_ in asked:
            found[word] = found.get(word, 0) % ASKED + ASKED
    return found


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


class Judge:
    """Computes the probability that a candidate is correct, given question and references.

    Args:
        loaded: model, tokenizer and settings, see `loading.LoadedJudge`.
        batch_tokens: word pieces of a batch at most, padding included; see `batching.budget_on`.

    Attributes:
        cut_triples: number of triples so far of which the model could not read the end.
    """

    def __init__(self, loaded, batch_tokens: int = 4096):
        self.loaded = loaded
        self.batch_tokens = checked_budget(batch_tokens)
        self.cut_triples = 0

    def warnings(self) -> list[str]:
        """Return warnings about the triples judged so far, one sentence each."""
        if not self.cut_triples:
            return []
        return [
            f"{self.cut_triples} answers are longer than the model reads together with question and reference "
            f"({self.loaded.max_length} word pieces); what is behind its limit was left out"
        ]

    def logits(self, triples: Sequence[tuple]) -> np.ndarray:
        """Return the model's logit of every triple, before calibration.

        Args:
            triples: (question, reference, candidate), repetitions allowed; each different one is judged once. For the
                linear judge a short answer, or None, may follow.

        Returns:
            (triples,) floats, above 0 where the model leans to correct.
        """
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
        self.cut_triples += sum(
            any(len(column[i]["input_ids"]) > loaded.max_length for column in whole) for i in range(len(full))
        )
        values = np.zeros(len(rows))
        fast = isinstance(loaded.model, FastModel)
        for batch in budgeted(lengths, budget_on(loaded.model.device.type, self.batch_tokens, fast)):
            values[batch] = self._run([padded([column[i] for i in batch]) for column in columns]).reshape(-1)
        return values[[unique[triple] for triple in triples]]

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

    def probabilities(
        self,
        questions: Sequence[str],
        references: Sequence[Sequence[str]],
        predictions: Sequence[str],
        reference_aggregation: str | None = None,
        short_answers: Sequence[str] | None = None,
        early_stop: float | None = None,
    ) -> np.ndarray:
        """Return the calibrated probability that each prediction is a correct answer.

        Args:
            questions: n questions.
            references: n lists of references.
            predictions: n answers.
            reference_aggregation: "joined" reads all references of a row at once, "max" and "mean" one at a time;
                None takes the checkpoint's own.
            short_answers: n short answers, "" for none; read by the linear judge only.
            early_stop: with "max", probability from which no further reference of a row is read; None reads all.

        Returns:
            (n,) probabilities; 0 for a prediction without any letter or digit.
        """
        how, lengths = reference_aggregation or self.loaded.reference_aggregation, reference_words(references)

        def probabilities(logits: np.ndarray, rows: np.ndarray) -> np.ndarray:
            return self.loaded.calibrated(logits, lengths[rows])

        settled = None if early_stop is None else lambda logits, rows: probabilities(logits, rows) >= early_stop
        ways = how == "joined", how == "max", short_answers, settled
        logits, rows = self.pairs(questions, references, predictions, *ways)
        return aggregated(probabilities(logits, rows), rows, len(predictions), how)

    def pairs(
        self,
        questions: Sequence[str],
        references: Sequence[Sequence[str]],
        predictions: Sequence[str],
        joined: bool,
        best: bool = False,
        short_answers: Sequence[str] | None = None,
        settled: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the logit of every pair of a row and one of its references, before calibration.

        Of an output with reasoning or wrapping only the answer is judged (`answers.extract_answer`), of a long answer
        one passage (`passages`). Two rules need no model: an answer identical to a reference is correct
        (`answers.identical`); an answer that only declines is correct where a reference declines too, else incorrect.

        Args:
            questions: n questions.
            references: n lists of references.
            predictions: n answers; one without any letter or digit makes no pair.
            joined: whether the references of a row make one text.
            best: whether the best reference decides: beside one that is the answer itself no other makes a pair.
            short_answers: see `probabilities`.
            settled: says of (pairs,) logits and their (pairs,) rows which of them leave no need to read more of their
                row. None reads all.

        Returns:
            (pairs,) logits, -inf for pairs that were not read, and (pairs,) rows that they belong to.
        """
        rows, triples, ruled = [], [], {}
        short = short_answers if short_answers is not None and self.loaded.configuration == LINEAR else None
        for i, (question, texts, prediction) in enumerate(
            zip(questions, references, map(extract_answer, predictions), strict=True)
        ):
            if not any(character.isalnum() for character in prediction):
                continue
            same = [text for text in texts if identical(prediction, text, question)]
            prediction = passage(prediction, question, texts, _keys, self.loaded.long_answer, self.loaded.passage)
            given = [joined_references(texts, prediction)] if joined else list(dict.fromkeys(texts))
            if declines(prediction):
                agree = [any(map(declines, texts))] if joined else [declines(text) for text in given]
                ruled |= {len(rows) + k: CERTAIN if agrees else -CERTAIN for k, agrees in enumerate(agree)}
            elif same:
                given = same[:1] if best else given
                ruled |= {len(rows) + k: CERTAIN for k, text in enumerate(given) if joined or text in same}
            triples += [(question, text, prediction, *([short[i] or None] if short else [])) for text in given]
            rows += [i] * len(given)
        logits, of_row = np.full(len(triples), -np.inf), np.array(rows, dtype=int)
        logits[list(ruled)] = list(ruled.values())
        asked = [number for number in range(len(triples)) if number not in ruled]
        if settled is not None:
            asked.sort(key=lambda number: _order(triples[number]))
        while asked:
            now, asked = asked, []
            if settled is not None:
                read = np.isfinite(logits)
                done = of_row[read][settled(logits[read], of_row[read])]
                now, asked = _next(now, rows, set(done.tolist()))
            logits[now] = self.logits([triples[number] for number in now])
        return logits, of_row


def _order(triple: tuple) -> tuple:
    _, reference, candidate, *_ = triple
    return *unlikeness(words(reference), words(candidate)), reference


def _next(asked: Sequence[int], rows: Sequence[int], done: Container[int]) -> tuple[list[int], list[int]]:
    """Return the first pair of every row that is not done, and the other pairs of these rows.

    >>> _next([0, 1, 2, 3, 4], [7, 7, 8, 9, 9], {8})
    ([0, 3], [1, 4])
    """
    first: dict[int, int] = {}
    left = [number for number in asked if rows[number] not in done]
    later = [number for number in left if first.setdefault(rows[number], number) != number]
    return list(first.values()), later


def aggregated(probabilities: np.ndarray, rows: np.ndarray, count: int, how: str) -> np.ndarray:
    """Return one probability per row from those of its references.

    Args:
        probabilities: (pairs,) probability of every pair of a row and a reference.
        rows: (pairs,) row of every pair.
        count: number of rows; those without a pair get 0.
        how: "max" or "mean" (the paper's) over the references; "joined" rows have one pair each.

    Returns:
        (count,) probabilities.

    >>> aggregated(np.array([0.2, 0.6, 0.5]), np.array([0, 0, 2]), 3, "mean")
    array([0.4, 0. , 0.5])
    """
    out = np.zeros(count)
    if how == "mean":
        np.add.at(out, rows, probabilities)
        return out / np.maximum(1, np.bincount(rows, minlength=count))
    np.maximum.at(out, rows, probabilities)
    return out
