"""What a judge reads of a row, and what is compared exactly before the model: choices, quantities, abstentions.

A rule takes a wrapper off, or compares two values of one type. What the model reads, the model decides: nothing here
makes an answer right or wrong because of how it is phrased.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..core.answers import (
    abstention,
    declines,
    extract_answer,
    identical,
    once,
    short_forms,
    without_bag,
    without_demands,
    without_retracted,
)
from ..core.characters import readable, readable_answer
from ..core.choices import chosen, items, options, same_list
from ..core.quantities import NUMBER_IN_TEXT, compare, is_number_word, readings

READING = ("answer", "retraction", "demand", "repetition", "bag", "passage")
EXACT = ("identity", "abstention", "choice", "quantity", "list")


@dataclass(frozen=True)
class Verdict:
    """What an exact comparison says of an answer and a reference.

    Attributes:
        right: whether they are the same.
        rule: which comparison it was, of `EXACT`.
    """

    right: bool
    rule: str


@dataclass(frozen=True)
class Row:
    """A row as it is read.

    Attributes:
        question: the question.
        references: the references; of an option's letter its text.
        answer: the answer, without wrapping and without what it takes back.
        verdicts: per reference what an exact comparison says, None where the model decides.
    """

    question: str
    references: list[str]
    answer: str
    verdicts: list[Verdict | None]

    @property
    def is_reference(self) -> bool:
        """Whether the answer is a reference itself, such as "%"."""
        return any(verdict is not None and verdict.rule == "identity" for verdict in self.verdicts)


@dataclass(frozen=True)
class Rules:
    """Which rules a judge applies; none of them, as in the paper, with `Rules(())`.

    Attributes:
        names: of `READING`, what is taken off a text: "answer" (wrapping and reasoning, `answers.extract_answer`),
            "retraction" (what an answer takes back), "demand" (what it says to the grader), "repetition", "bag" (words
            of the reference in no order), "passage" (all but a passage of a long answer); of `EXACT`, what is compared
            before the model: "identity", "abstention", "choice" (options of a question), "quantity", "list".
    """

    names: tuple[str, ...] = READING + EXACT

    def __str__(self) -> str:
        """Return the rules by name, for a signature.

        >>> str(Rules()), str(Rules(()))
        ('answer+retraction+demand+repetition+bag+passage+identity+abstention+choice+quantity+list', 'none')
        """
        return "+".join(self.names) or "none"

    def read(self, question: str, references: Sequence[str], output: str) -> Row:
        """Return a row as a judge reads it, with the verdicts of exact comparisons."""
        question, texts = readable(question), [readable(text) or text for text in references]
        answer = readable(output)
        if "answer" in self.names:
            texts = [extract_answer(text) or text for text in texts]
            answer = readable_answer(extract_answer(output), texts)
        unchanged = answer
        if "retraction" in self.names:
            answer = without_retracted(answer, question)
        if "demand" in self.names:
            answer = without_demands(answer, texts)
        if "repetition" in self.names:
            answer = once(answer, texts)
        if "bag" in self.names:
            answer = without_bag(answer, texts)
        if "identity" in self.names:
            answer = unchanged if any(identical(unchanged, text, question) for text in texts) else answer
        verdicts = self._verdicts(question, texts, answer)
        given = options(question) if "choice" in self.names else {}
        if given:
            letters = [chosen(text, given) for text in texts]
            texts = [
                given[min(letter)] if letter and len(letter) == 1 else text
                for text, letter in zip(texts, letters, strict=True)
            ]
        return Row(question, texts, answer, verdicts)

    def _verdicts(self, question: str, references: Sequence[str], answer: str) -> list[Verdict | None]:
        """Return what exact comparisons say of an answer and each reference."""
        found: list[Verdict | None] = []
        several = len(set(references)) > 1
        values = _Values(question, answer)
        for reference in references:
            verdict = None
            for rule, comparison in _COMPARISONS.items():
                right = comparison(values, reference) if rule in self.names and verdict is None else None
                if right is not None and not (rule == "list" and several and not right):
                    verdict = Verdict(right, rule)
            found.append(verdict)
        return found

    def declines(self, answer: str) -> bool:
        """Return whether an answer only declines, so that no model reads it."""
        return "abstention" in self.names and declines(answer)


class _Values:
    """The values of an answer, each found when it is asked for."""

    def __init__(self, question: str, answer: str):
        self.question, self.answer = question, answer
        self.options = options(question)
        self._forms: list[str] | None = None

    @property
    def forms(self) -> list[str]:
        if self._forms is None:
            self._forms = short_forms(self.answer, self.question, is_number_word)
        return self._forms

    def of(self, text: str) -> list[str]:
        return self.forms if text is self.answer else short_forms(text, self.question, is_number_word)

    def choice(self, text: str) -> frozenset[str] | None:
        return next(filter(None, (chosen(form, self.options) for form in self.of(text)[:8])), None)

    def quantities(self, text: str) -> Iterator[str]:
        """Yield the forms of a text that are one quantity, the longest first."""
        if NUMBER_IN_TEXT.search(text):
            whole, *shorter = self.of(text)
            if readings(whole):
                yield whole
            kept = (form for form in shorter if form.strip(" .").lower() != "one")  # a pronoun
            yield from (form for form in kept if any(one.kind != "named" for one in readings(form)))

    def quantity(self, text: str) -> str | None:
        return next(self.quantities(text), None)


def said_quantity(question: str, answer: str) -> str:
    """Return the quantity of an answer in the fewest words, the answer where it is none.

    >>> said_quantity("When did it end?", "It ended in 1944."), said_quantity("Who?", "Ann")
    ('1944.', 'Ann')
    """
    *_, shortest = answer, *_Values(question, answer).quantities(answer)
    return shortest


def _same_choice(values: _Values, reference: str) -> bool | None:
    known = values.options or len(reference.strip(" .()*")) == 1 or reference[1:2] == ")"
    given = values.choice(reference) if known else None
    said = values.choice(values.answer) if given else None
    return None if not given or not said else given == said


def _same_quantity(values: _Values, reference: str) -> bool | None:
    given = values.quantity(reference)
    said = values.quantity(values.answer) if given else None
    return compare(given, said, values.question) if said else None


def _same_list(values: _Values, reference: str) -> bool | None:
    given = items(reference)
    if not given or (len(given) < 2 and len(items(values.answer) or ()) < 2):
        return None
    verdicts = [
        same_list(values.question, reference, form) for form in short_forms(values.answer, values.question)[:60]
    ]
    return True if True in verdicts else verdicts[0]


_COMPARISONS: dict[str, Callable[[_Values, str], bool | None]] = {
    "identity": lambda values, reference: identical(values.answer, reference, values.question) or None,
    "abstention": lambda values, reference: abstention(values.question, reference, values.answer),
    "choice": _same_choice,
    "quantity": _same_quantity,
    "list": _same_list,
}
