"""Judge rows: order the references, judge each distinct triple once, in batches of a token budget."""

from collections.abc import Callable, Container, Sequence

import numpy as np

from ..core.answers import declines
from ..core.judge_model import LINEAR, PROMPT, words
from ..core.judge_reading import JudgeReader, keys
from ..core.passages import passage
from .rules import Rules

CERTAIN = 8.0  # logit of an answer that a rule decides; see `Judge.pairs`
READING = 1  # version of the rules by which texts are read before the model; in signatures
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


def reference_words(references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return (rows,) mean number of words of the references of a row.

    >>> reference_words([["Paris", "the city of Paris"], ["4"]])
    array([2.5, 1. ])
    """
    return np.array([sum(len(words(text)) for text in texts) / len(texts) for texts in references])


class Judge(JudgeReader):
    """Computes the probability that a candidate is correct, given question and references.

    Args:
        loaded, batch_tokens: see `JudgeReader`.
        rules: what is decided without the model; default: all.
    """

    def __init__(self, loaded, batch_tokens: int = 4096, rules: Rules | None = None):
        super().__init__(loaded, batch_tokens)
        self.rules = rules or Rules()

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

        Texts are read without invisible characters, look-alikes and special tokens (`characters`). Of an output with
        reasoning or wrapping only the answer is judged (`answers.extract_answer`), of that only what it asserts
        (`assertions.asserted`), and of a long answer a passage (`passages`). Four rules need no model: an answer
        identical to a reference is correct (`answers.identical`); one that asserts nothing is incorrect; one that
        only declines is correct where a reference declines too, else incorrect; and one whose quantity conflicts with
        the references is incorrect (`quantity_guard`). See `rules.Rules`.

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
        rows, triples, ruled, rules = [], [], {}, self.rules
        short = short_answers if short_answers is not None and self.loaded.configuration == LINEAR else None
        for i, row in enumerate(zip(questions, references, predictions, strict=True)):
            question, texts, prediction, same = rules.read(*row)
            if not prediction.strip() or not (same or any(map(str.isalnum, prediction))):
                continue
            conflict = None if same else rules.conflict(question, texts, prediction)
            whole = self.loaded.configuration == PROMPT
            if rules.reading and not whole:
                prediction = passage(prediction, question, texts, keys, self.loaded.long_answer, self.loaded.passage)
            given = list(dict.fromkeys(texts))
            if whole:
                given = [tuple(given)] if joined else [(text,) for text in given]
            elif joined:
                given = [joined_references(texts, prediction)]
            if rules.declines(prediction):
                agree = [any(map(declines, texts))] if joined else [declines(text) for text in given]
                ruled |= {len(rows) + k: CERTAIN if agrees else -CERTAIN for k, agrees in enumerate(agree)}
            elif same:
                given = same[:1] if best else given
                ruled |= {len(rows) + k: CERTAIN for k, text in enumerate(given) if joined or text in same}
            elif conflict:
                ruled |= dict.fromkeys(range(len(rows), len(rows) + len(given)), -CERTAIN)
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
