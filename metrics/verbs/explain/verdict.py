"""Why AVA judged one answer as it did: the reference that decided, and what speaks for and against it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from ...reports.report import print_field, say
from ...reports.table import page, probability_and_threshold, render, visible
from .explainer import Explainer


class Word(NamedTuple):
    """A word or phrase of an answer."""

    start: int  # in characters, as the end
    end: int
    effect: float  # the probability with it less the probability without it, -1 to 1


@dataclass(frozen=True)
class Verdict:
    """Why AVA judged one answer as it did."""

    question: str
    answer: str
    references: tuple[str, ...]
    reference: int  # number of the one that decided, from 0
    probability: float  # that the answer is correct
    threshold: float  # probability from which it counts as correct
    words: tuple[Word, ...]  # of the answer, in order
    reason: str  # one plain sentence
    warnings: tuple[str, ...]  # what a reader must know before the numbers
    signature: str  # what the numbers depend on

    @property
    def correct(self) -> bool:
        """Whether the judge calls the answer correct."""
        return self.probability >= self.threshold


def verdict(question: str, answer: str, references: Sequence[str], settings: Mapping | None = None) -> Verdict:
    """Return why AVA judged an answer as it did."""
    from ...ava.explaining import without_references
    from ...registry import make_scorer

    scorer = make_scorer("ava", settings)
    columns = scorer.checked({"questions": [question], "predictions": [answer], "references": [list(references)]})
    statistics, counts, result, _ = scorer.statistics(columns, explain=True)
    (explained,) = result["explanation"]
    return Verdict(
        question=columns["questions"][0],
        answer=columns["predictions"][0],
        references=tuple(columns["references"][0]),
        reference=explained["reference"],
        probability=explained["probability"],
        threshold=scorer.threshold,
        words=tuple(Word(start, end, effect) for _, effect, start, end in explained["words"]),
        reason=without_references(explained["reason"], columns["references"][0]),
        warnings=tuple(scorer.warnings(dict(enumerate(statistics.sum(axis=0))), counts)),
        signature=scorer.signature,
    )


def explainer(metric: str, settings: Mapping | None, corpus: object = None) -> Callable[..., Verdict]:
    """Return `verdict` with settings."""
    return partial(verdict, settings=settings)


# Least size of an effect, and the background of words that count for and against the answer. Black text on it has a
# contrast of at least 4.5 (WCAG AA).
STEPS = ((0.1, "#93c5fd", "#fdba74"), (0.3, "#60a5fa", "#fb923c"))
UNSEEN = STEPS[0][0]


def headline(judged: Verdict) -> str:
    """Return the verdict in a line; a probability is never shown as 0 or 1.

    >>> headline(Verdict("q", "a", ("r",), 0, 0.9999, 0.5, (), "", (), ""))
    'judged right: probability above 0.99; 0.50 or more counts as right'
    """
    called = "right" if judged.correct else "wrong"
    probability, threshold = probability_and_threshold(judged.probability, judged.threshold)
    return f"judged {called}: probability {probability}; {threshold} or more counts as right"


def _pieces(judged: Verdict) -> Iterator[tuple[str, float | None]]:
    """Yield the pieces of the answer, words that say something with their effect."""
    from ...ava.explaining import says_something

    texts = [judged.answer[word.start : word.end] for word in judged.words]
    telling = {text for text in texts if says_something(text)} or {*texts}
    end = 0
    for word in judged.words:
        if word.start > end:
            yield judged.answer[end : word.start], None
        text = judged.answer[word.start : word.end]
        yield text, word.effect if text in telling else None
        end = word.end
    if end < len(judged.answer):
        yield judged.answer[end:], None


def _step(effect: float | None) -> int:
    return sum(abs(effect or 0.0) >= least for least, *_ in STEPS)


def _references(judged: Verdict) -> list[tuple[str, bool]]:
    several = len(judged.references) > 1
    return [(text, several and number == judged.reference) for number, text in enumerate(judged.references)]


LABELS = 12  # columns of the labels in the terminal


def print_verdict(judged: Verdict, console, legend: bool = True) -> None:
    """Print a verdict: words with background colours, or without colours the effects as numbers.

    With `legend` what the marks mean and warnings too.
    """
    from rich.text import Text

    coloured = console.color_system is not None and not console.no_color
    answer = Text()
    for text, effect in _pieces(judged):
        step = _step(effect)
        colour = STEPS[step - 1][1 if (effect or 0.0) > 0 else 2]
        answer.append(visible(text), f"#000000 on {colour}" if coloured and step else "")
        if not coloured and step:
            answer.append(f"({effect:+.2f})")
    marks = {True: "  (decides the verdict)", False: ""}
    references = [("Reference", f"{text}{marks[decides]}") for text, decides in _references(judged)]
    answer = answer if answer.plain.strip() else Text("(empty)", "italic")
    fields = [("Question", judged.question), ("Answer", answer), *references]
    for label, text in [*fields, ("Verdict", headline(judged)), ("Reason", judged.reason)]:
        print_field(console, label, text, LABELS)
    if not legend:
        return
    console.print()
    if coloured:
        _, speaks_for, against = STEPS[0]
        marks = Text.assemble((" for ", f"#000000 on {speaks_for}"), " ", (" against ", f"#000000 on {against}"))
        print_field(console, "", marks + Text(f": {_LEGEND}"), 0)
    else:
        print_field(console, "(+0.10)", f"counts for the answer, (-0.10) against it: {_LEGEND}", LABELS)
    say(console, [f"note: {warning}" for warning in judged.warnings], "italic")


_LEGEND = (
    "without the word the judge's probability is that much lower or higher, which says nothing of whether the word is "
    "true. A wrong number or name is replaced with the reference's. "
    f"Effects below {UNSEEN:.2f} and those of words such as 'and' are not shown."
)


def verdict_html(*answers: Verdict, headings: Sequence[str] = ("",), verdicts: bool = True) -> str:
    """Return verdicts as one HTML page that needs nothing else: no script, no outside resource.

    Headings say which answers they are; without `verdicts` the page says the reasons alone. Warnings and signature are
    those of the last answer.
    """
    shown = [
        {
            "heading": heading,
            "headline": (line := headline(judged))[:1].upper() + line[1:] if verdicts else "",
            "reason": judged.reason,
            "question": judged.question,
            "parts": list(map(_marked, _pieces(judged))),
            "references": _references(judged),
        }
        for heading, judged in zip(headings, answers, strict=True)
    ]
    last = answers[-1]
    facts = {"unseen": f"{UNSEEN:.2f}", "warnings": list(last.warnings), "signature": last.signature}
    title = "AVA: the answers to read first" if len(answers) > 1 else f"AVA: {last.question}"
    return page(title, render("verdict.html", answers=shown, **facts), render("verdict.css", steps=STEPS))


def _marked(piece: tuple[str, float | None]) -> tuple[str, str, str]:
    """Return a piece of the answer with the class of its background and its effect; "" for none."""
    text, effect = piece
    step = _step(effect)
    return text, f"{'for' if (effect or 0.0) > 0 else 'against'}{step}" if step else "", f"{effect or 0.0:+.2f}"


EXPLAINER = Explainer(explainer, print_verdict, verdict_html)
