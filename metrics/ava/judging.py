"""Judges rows: what a judge reads of them, what is compared exactly before the model, and each distinct triple once.

A rule takes a wrapper off, or compares two texts exactly. What the model reads, the model decides: no rule makes an
answer right or wrong because of how it is phrased. References are ordered; triples go in batches of a token budget.
"""

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.answers import declines, extract_answer, has_no_answer, without_retracted
from ..core.exact import identical, same_number
from ..core.judge_model import LINEAR, PROMPT, JudgeReader
from ..core.reading import COMMON, passage, readable, readable_answer
from ..core.words import keys, words

# What is read: a text without wrappers and without what it takes back, an option's text for its letter, a passage of a
# long answer. What is compared before the model: letters, plain numbers, and whether an answer declines where the
# question has no answer.
READING = ("answer", "retraction", "option", "passage")
EXACT = ("identity", "number", "no_answer")
NO_ANSWER = "unanswerable"  # how a model reads that a question has no answer


@dataclass(frozen=True)
class Verdict:
    """Verdict of an exact comparison of an answer and a reference: right or wrong, and the rule, one of `EXACT`."""

    right: bool
    rule: str


@dataclass(frozen=True)
class Row:
    """The texts of a row as a judge reads them, with the verdicts of exact comparisons."""

    question: str
    references: list[str]  # of an option's letter its text, or `NO_ANSWER`
    answer: str  # without wrapping
    verdicts: list[Verdict | None]  # per reference what an exact comparison says, None where the model decides

    @property
    def is_reference(self) -> bool:
        """Whether the answer is a reference itself, such as "%"."""
        return any(verdict is not None and verdict.right for verdict in self.verdicts)


@dataclass(frozen=True)
class Rules:
    """Which rules a judge applies; none of them, as in the paper, with `Rules(())`."""

    names: tuple[str, ...] = READING + EXACT

    def __str__(self) -> str:
        """Return the rules by name, for a signature.

        >>> str(Rules()), str(Rules(()))
        ('answer+retraction+option+passage+identity+number+no_answer', 'none')
        """
        return "+".join(self.names) or "none"

    def read(self, question: str, references: Sequence[str], output: str) -> Row:
        """Return a row as a judge reads it, with the verdicts of exact comparisons."""
        question, texts = readable(question), [readable(text) or text for text in references]
        answer = readable(output)
        if "answer" in self.names:
            extracted = [extract_answer(text) for text in texts]
            if all(extracted):  # a reference can be a call of a tool
                texts, answer = extracted, readable_answer(extract_answer(output), extracted)
        if "retraction" in self.names and answer not in texts:
            answer = without_retracted(answer, question)
        if "option" in self.names and (letters := options(question)):
            texts, answer = [with_option(text, letters) for text in texts], with_option(answer, letters)
        if "no_answer" in self.names:
            texts = [NO_ANSWER if has_no_answer(text) else text for text in texts]
        return Row(question, texts, answer, [self._verdict(question, text, answer) for text in texts])

    def _verdict(self, question: str, reference: str, answer: str) -> Verdict | None:
        """Return the verdict of the first exact comparison that decides on an answer and a reference; else None."""
        comparisons = {
            "identity": lambda: identical(reference, answer, question),
            "number": lambda: same_number(reference, answer, question),
            "no_answer": lambda: (has_no_answer(reference) and declines(answer)) or None,
        }
        verdicts = ((comparisons[rule](), rule) for rule in EXACT if rule in self.names)
        return next((Verdict(right, rule) for right, rule in verdicts if right is not None), None)


_OPTION = re.compile(r"(?m)^[ \t]*\(?([A-J])[).:][ \t]+(\S.*?)[ \t]{0,9}$")
_INLINE = re.compile(r"(?<!\w)\(?([A-J])[).:][ \t]*(\S.*?)(?=[\s,;]{0,9}(?<!\w)\(?[A-J][).:][ \t]|[\n?]|\Z)")
_LETTER = re.compile(
    r"(?i:(?:option|choice|letter|选项?)\s*)?[\[(]{0,2}([A-J]|[a-j](?=\W*\Z))[\])]{0,2}"
    r"(?:(?P<mark>[.:,、，：。)]+)\s*|(?=\s+(?:because|since|as|is)\b)|\s*\Z)"
)
_LETTERS = re.compile(r"\(?[A-J]\)?(?:(?![A-J(])\s*+(?:(?:,|and|&|/)\s*+)?\(?[A-J]\)?)+|[A-J]{2,4}")


def options(question: str) -> dict[str, str]:
    r"""Return the options that a question lists, by their letters.

    >>> options("Which is red?\nA. Mars\nB. Venus"), options("Which is red? (A) Mars (B) Venus"), options("Who?")
    ({'A': 'Mars', 'B': 'Venus'}, {'A': 'Mars', 'B': 'Venus'}, {})
    """
    for pattern in (_OPTION, _INLINE):
        result = {letter: text.strip() for letter, text in pattern.findall(question)}
        if len(result) > 1 and list(result) == [chr(ord("A") + i) for i in range(len(result))]:
            return result
    return {}


def with_option(text: str, letters: dict[str, str]) -> str:
    """Return a text with the texts of options in place of the letters by which it chooses them.

    >>> metals = {"A": "Iron", "B": "Mercury", "C": "Tin"}
    >>> [with_option(text, metals) for text in ("b", "(B) Mercury", "B because it flows", "C and A", "A metal")]
    ['Mercury', 'Mercury', 'Mercury', 'Iron, Tin', 'A metal']
    """
    bare = text.strip()
    if _LETTERS.fullmatch(bare) and not {*re.findall("[A-J]", bare)} - letters.keys():
        return ", ".join(letters[letter] for letter in sorted({*re.findall("[A-J]", bare)}))
    match = _LETTER.match(bare)
    if not match or match[1].upper() not in letters:
        return text
    option, rest = letters[match[1].upper()], bare[match.end() :]
    if rest.casefold().startswith(option.casefold()):
        rest, match = rest[len(option) :], None
    if re.fullmatch(r"(?i)[\s,]*(?:because|since|as|for)\b[^.!?\n]*\.?", rest):
        return option  # the reason is no part of it
    return f"{option}{rest}" if match is None else f"{option}{match['mark'] or ''} {rest}".strip() if rest else option


CERTAIN = 8.0  # logit of an answer that a rule decides; see `Judge.pairs`
READING_VERSION = 3  # version of the rules by which texts are read before the model; in signatures
LONG_REFERENCE = 20  # words from which a reference of several must share a word with the answer
SEPARATOR = "; "  # between references that are read together


def joined_references(references: Sequence[str], candidate: str) -> str:
    """Return the different references as one text, joined by "; ", the most similar to the candidate first.

    A model reads only the start of a long list, and the reference that decides should be in it. References that the
    candidate contains word for word come first, then by the share of their words in the candidate.

    >>> joined_references(["CA", "California", "california"], "It is in California.")
    'California; CA'
    """
    spoken, ranked = words(candidate), {}
    for reference in references:
        reference_keys = words(reference)
        key = " ".join(reference_keys) or reference
        if key not in ranked:
            ranked[key] = (*unlikeness(reference_keys, spoken), len(ranked), reference)
    return SEPARATOR.join(reference for *_, reference in sorted(ranked.values()))


def unlikeness(reference_keys: Sequence[str], spoken: Sequence[str]) -> tuple[bool, float]:
    """Return a sort key of the words of a reference, the likest to those of an answer first; see `joined_references`.

    >>> unlikeness(["paris", "france"], ["in", "paris"]), unlikeness(["paris"], ["in", "paris"])
    ((True, -0.5), (False, -1.0))
    """
    answer_keys = set(spoken)
    inside = reference_keys and f" {' '.join(reference_keys)} " in f" {' '.join(spoken)} "
    return not inside, -sum(word in answer_keys for word in reference_keys) / max(1, len(reference_keys))


def read_references(row: Row, joined: bool, best: bool) -> list[tuple[tuple[str, ...], bool | None]]:
    """Return [(references that are read together, verdict)] of a row: True or False by a rule, None for the model.

    `joined` puts all references into one entry, without those that a rule rejects. With `best`, a reference that
    matches by a rule is the only entry.
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
    """Return whether a reference can make an answer right; a judge may accept long references on other subjects."""
    if len(reference.split()) <= LONG_REFERENCE:
        return True
    content = " ".join(word for word in words(row.answer) if word not in COMMON)
    new = set(keys(content)) - set(keys(row.question))
    return not new or bool(new & set(keys(reference)))


def default_rules(loaded) -> Rules:
    """Return the rules applied before a judge; judges that read a prompt get answers whole, retractions included."""
    return Rules(("answer", "option", *EXACT)) if loaded.configuration == PROMPT else Rules()


class Judge(JudgeReader):
    """Computes the probability that a candidate is correct; `cut_rows` are rows of one call with cut text."""

    def __init__(self, loaded, batch_tokens: int = 4096, rules: Rules | None = None):
        super().__init__(loaded, batch_tokens)
        self.rules = rules or default_rules(loaded)
        self.cut_rows: set[int] = set()

    def probabilities(
        self,
        questions: Sequence[str],
        references: Sequence[Sequence[str]],
        predictions: Sequence[str],
        reference_aggregation: str | None = None,
        short_answers: Sequence[str] | None = None,
        early_stop: float | None = None,
    ) -> np.ndarray:
        """Return (n,) calibrated probabilities that answers are correct; 0 if it has no letter and is no reference.

        "joined" reads all references of a row at once, "max" and "mean" one at a time, "max" none behind one with the
        probability `early_stop`; None is the checkpoint's own. Only the linear judge reads short answers.
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
        """Return (pairs,) logits of a row and one of its references, -inf if not read, and (pairs,) rows of them.

        No model is needed where answer and reference are the same text, or are both a plain number: these are compared
        exactly, see `Rules`. For `joined` and `best` see
        `read_references`. `settled` says of (pairs,) logits and their (pairs,) rows which leave no need to read more
        of their row.
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
                lengths = self.loaded.long_answer, self.loaded.passage
                answer = passage(answer, row.question, row.references, keys, *lengths)
            for texts, right in read_references(row, joined, best):
                if right is not None:
                    ruled[len(rows)] = CERTAIN if right else -CERTAIN
                text = texts if whole else joined_references(texts, answer)
                triples.append((row.question, text, answer, *([short[i] or None] if short else [])))
                rows.append(i)
        logits, pair_rows = np.full(len(triples), -np.inf), np.array(rows, dtype=int)
        logits[list(ruled)] = list(ruled.values())
        asked = [number for number in range(len(triples)) if number not in ruled]
        if settled is not None:
            near = {number: unlikeness(*map(words, triples[number][1:3])) for number in asked}
            asked.sort(key=lambda number: (near[number], triples[number][1]))
        while asked:
            now, asked = asked, []
            if settled is not None:
                read = np.isfinite(logits)
                done = pair_rows[read][settled(logits[read], pair_rows[read])]
                now, asked = _next(now, rows, set(done.tolist()))
            logits[now] = self.logits([triples[number] for number in now])
        if self.cut:
            cut = set(self.cut)
            self.cut_rows.update(row for row, triple in zip(rows, triples, strict=True) if triple in cut)
        return logits, pair_rows


def _next(asked: Sequence[int], rows: Sequence[int], done: Container[int]) -> tuple[list[int], list[int]]:
    """Return the numbers of the first pair of every row that is not in `done`, and those of the rows' further pairs.

    >>> _next([0, 1, 2, 3, 4], [7, 7, 8, 9, 9], {8})
    ([0, 3], [1, 4])
    """
    first: dict[int, int] = {}
    left = [number for number in asked if rows[number] not in done]
    later = [number for number in left if first.setdefault(rows[number], number) != number]
    return list(first.values()), later


def aggregated(probabilities: np.ndarray, rows: np.ndarray, count: int, how: str) -> np.ndarray:
    """Return (count,) probabilities: "max" or "mean" (the paper's) over the pairs of each row, 0 without pairs.

    >>> aggregated(np.array([0.2, 0.6, 0.5]), np.array([0, 0, 2]), 3, "mean")
    array([0.4, 0. , 0.5])
    """
    out = np.zeros(count)
    if how == "mean":
        np.add.at(out, rows, probabilities)
        return out / np.maximum(1, np.bincount(rows, minlength=count))
    np.maximum.at(out, rows, probabilities)
    return out
