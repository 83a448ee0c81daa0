"""Judge rows: order the references, judge each distinct triple once, in batches of a token budget."""

from collections import Counter
from collections.abc import Callable, Container, Sequence

import numpy as np

from ..core.judge_reading import LINEAR, PROMPT, JudgeReader, keys, words
from ..core.reading import COMMON, passage
from .rules import Row, Rules

CERTAIN = 8.0  # logit of an answer that a rule decides; see `Judge.pairs`
READING = 2  # version of the rules by which texts are read before the model; in signatures
LONG_REFERENCE = 20  # words from which a reference of several must share a word with the answer
SEPARATOR = "; "  # between references that are read together


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


def read_references(row: Row, joined: bool, best: bool) -> list[tuple[tuple[str, ...], bool | None]]:
    """Return the references that are read together, and whether the answer is right by them, None for the model.

    Args:
        row: what is read of a row.
        joined: whether the references make one text: only those are in it that no exact comparison rejects.
        best: whether the best reference decides: beside one that is the answer no other is read.
    """
    verdicts = {}
    for text, verdict in zip(row.references, row.verdicts, strict=True):
        verdicts[text] = None if verdict is None else verdict.right
    if joined:
        left = [text for text, right in verdicts.items() if right is None]
        right = True if True in verdicts.values() else None if left else False
        return [(tuple(left or verdicts), right)]
    if best and True in verdicts.values():
        return [((next(text for text, right in verdicts.items() if right),), True)]
    pairs = [((text,), right) for text, right in verdicts.items()]
    return [pair for pair in pairs if pair[1] is not None or _is_relevant(pair[0][0], row)] or pairs


def reference_words(references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return (rows,) mean number of words of the references of a row.

    >>> reference_words([["Paris", "the city of Paris"], ["4"]])
    array([2.5, 1. ])
    """
    return np.array([sum(len(words(text)) for text in texts) / len(texts) for texts in references])


def _is_relevant(reference: str, row: Row) -> bool:
    """Return whether a reference can make an answer right: a long one must share a word with it.

    A judge that reads one reference at a time may take an answer to agree with a long text about something else.
    """
    if len(reference.split()) <= LONG_REFERENCE:
        return True
    content = " ".join(word for word in words(row.answer) if word not in COMMON)
    new = set(keys(content)) - set(keys(row.question))
    return not new or bool(new & set(keys(reference)))


def default_rules(loaded) -> Rules:
    """Return the rules beside a judge; one that reads a prompt needs only the wrapping off and exact quantities."""
    return Rules(("answer", "quantity")) if loaded.configuration == PROMPT else Rules()


class Judge(JudgeReader):
    """Computes the probability that a candidate is correct, given question and references.

    Args:
        loaded, batch_tokens: see `JudgeReader`.
        rules: what is decided without the model; default: all.

    Attributes:
        cut_of_row: {row of the call: its triples of which the model could not read the end}, for a single call.
    """

    def __init__(self, loaded, batch_tokens: int = 4096, rules: Rules | None = None):
        super().__init__(loaded, batch_tokens)
        self.rules = rules or default_rules(loaded)
        self.cut_of_row: Counter[int] = Counter()

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
            (n,) probabilities; 0 for a prediction without any letter or digit, unless it is a reference itself.
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

        Texts are read without invisible characters, look-alikes and special tokens (`reading`), without wrapping,
        reasoning and what they take back (`answers`), and of a long answer a passage (`reading`). No model is needed
        where answer and reference are the same text, or where both are a quantity, an option of the question, a list
        or a refusal: these are compared exactly. See `rules.Rules`.

        Args:
            questions: n questions.
            references: n lists of references.
            predictions: n answers; one without any letter or digit makes no pair, unless it is a reference itself.
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
        for i, columns in enumerate(zip(questions, references, predictions, strict=True)):
            row = self.rules.read(*columns)
            answer = row.answer
            if not answer.strip() or not (row.is_reference or any(map(str.isalnum, answer))):
                continue
            whole = self.loaded.configuration == PROMPT
            if "passage" in self.rules.names and not whole:
                answer = passage(
                    answer, row.question, row.references, keys, self.loaded.long_answer, self.loaded.passage
                )
            for texts, right in read_references(row, joined, best):
                if right is not None:
                    ruled[len(rows)] = CERTAIN if right else -CERTAIN
                text = texts if whole else joined_references(texts, answer)
                triples.append((row.question, text, answer, *([short[i] or None] if short else [])))
                rows.append(i)
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
        if self.cut:
            first = dict(zip(reversed(triples), reversed(rows), strict=True))
            self.cut_of_row.update(first[triple] for triple in self.cut if triple in first)
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
