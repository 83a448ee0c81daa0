"""The rules that decide some answers before or beside the model, and which of them a judge applies."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.answers import declines, extract_answer, identical
from ..core.assertions import asserted
from ..core.characters import readable, readable_answer
from .quantity_guard import Conflict, conflict

READING = ("answer", "assertion", "identity", "refusal", "passage")


@dataclass(frozen=True)
class Rules:
    """Which rules a judge applies; none of them, as in the paper, with `Rules(reading=False, quantities=False)`.

    Attributes:
        reading: whether only the answer in an output is judged (`answers.extract_answer`), and of that what it
            asserts (`assertions.asserted`); an answer identical to a reference is correct (`answers.identical`); one
            that only declines is correct where a reference declines too (`answers.declines`); and of a long answer
            one passage is read (`passages`).
        quantities: whether an answer whose quantity conflicts with the references is wrong (`quantity_guard`).
    """

    reading: bool = True
    quantities: bool = True

    @property
    def names(self) -> str:
        """The rules by name, for a signature.

        >>> Rules().names, Rules(quantities=False).names, Rules(False, False).names
        ('answer+assertion+identity+refusal+passage+quantity', 'answer+assertion+identity+refusal+passage', 'none')
        """
        return "+".join([*(READING if self.reading else ()), *(["quantity"] if self.quantities else [])]) or "none"

    def read(self, question: str, references: Sequence[str], output: str) -> tuple[str, list[str], str, list[str]]:
        """Return question, references and answer as they are read, and the references that the answer repeats."""
        question, references = readable(question), [readable(text) or text for text in references]
        if not self.reading:
            return question, references, readable(output), []
        answer = readable_answer(extract_answer(output), references)
        same = [text for text in references if identical(answer, text, question)]
        return question, references, answer if same else asserted(answer, question, references), same

    def declines(self, answer: str) -> bool:
        """Return whether an answer only declines, so that no model reads it."""
        return self.reading and declines(answer)

    def conflict(self, question: str, references: Sequence[str], answer: str) -> Conflict | None:
        """Return the quantity that makes an answer wrong, if there is one."""
        return conflict(question, references, answer) if self.quantities else None
