"""The sentences that no passage supports, in the terminal or as a page."""

from collections.abc import Iterator

from ...reports.table import page, render, visible
from .unsupported import Grounded, GroundedAnswer, Judged

SYSTEMS = 10  # systems that are listed


def probability(value: float) -> str:
    """Return a probability as text, never as 0 or 1.

    >>> probability(0.9999), probability(0.123), probability(0.0)
    ('above 0.99', '0.12', 'below 0.01')
    """
    return "above 0.99" if value > 0.99 else "below 0.01" if value < 0.01 else f"{value:.2f}"


def headline(found: Grounded) -> str:
    """Return what was found, in a line."""
    if found.single:
        (answer,) = found.answers
        if not answer.sentences:
            return "The answer states nothing that a passage could support."
        return f"{supported(answer)}; supported from a probability of {found.threshold:.2f}"
    bad, of = sum(found.unsupported.values()), sum(found.read.values())
    below = f"probability below {found.threshold:.2f}"
    said = f"{bad:,} of {of:,} answers have a sentence that no passage supports ({below})"
    return f"{said}; the worst {len(found.answers):,} below" if len(found.answers) < bad else said


def by_system(found: Grounded) -> str:
    """Return how many answers of each system have such a sentence, most first; nothing for one system."""
    if len(found.read) < 2:
        return ""
    order = sorted(found.read, key=lambda name: -found.unsupported[name] / found.read[name])
    listed = ", ".join(f"{name} {found.unsupported[name]:,} of {found.read[name]:,}" for name in order[:SYSTEMS])
    return f"By system: {listed}{f' and {len(order) - SYSTEMS:,} more' if len(order) > SYSTEMS else ''}"


def supported(answer: GroundedAnswer) -> str:
    """Return how many sentences of an answer are supported."""
    return f"{len(answer.sentences) - len(answer.unsupported)} of {len(answer.sentences)} sentences supported"


def heading(answer: GroundedAnswer, systems: int) -> str:
    """Return which row an answer is, and how many of its sentences are supported; of one answer nothing.

    Args:
        answer: the answer.
        systems: number of systems in the files.
    """
    item = answer.item
    if not item.file:
        return ""
    names = [f"id {item.id}"] * (item.id is not None) + [item.system] * (systems > 1)
    named = f" ({', '.join(names)})" if names else ""
    return f"{item.file}, line {item.line}{named}: {supported(answer)}"


def evidence(sentence: Judged) -> tuple[str, str] | None:
    """Return a label, and the evidence or what is nearest to it; None where no passage was read."""
    if sentence.passage is None:
        return None
    label = "Nearest" if sentence.verdict == "unsupported" else "Evidence"
    if sentence.nearest is None:
        return label, f"none; what was read of passage {sentence.passage} shares no content word with it"
    says = f" says {sentence.instead}" if sentence.instead else ""
    return label, f"passage {sentence.passage}{says}: {sentence.nearest}"


def _shown(found: Grounded, answer: GroundedAnswer) -> tuple[Judged, ...]:
    """Return the sentences to show: all of one answer, the unsupported ones of rows."""
    return answer.sentences if found.single else answer.unsupported


def _lines(found: Grounded) -> Iterator[tuple[str, str]]:
    """Yield labels and texts; an empty label stands for an empty line."""
    for place, answer in enumerate(found.answers):
        if place:
            yield "", ""
        if row := heading(answer, len(found.read)):
            yield "Row", row
        if answer.item.text:
            yield "Question", answer.item.text
        for sentence in _shown(found, answer):
            yield sentence.verdict.capitalize(), f"{sentence.text} (probability {probability(sentence.probability)})"
            if more := evidence(sentence):
                yield more


def print_unsupported(found: Grounded, console) -> None:
    """Print the answers with their sentences that no passage supports; of one answer all its sentences.

    Args:
        found: what was found.
        console: a `rich.console.Console`.
    """
    from rich.text import Text

    console.print(Text(visible(headline(found)), "bold"), soft_wrap=True)
    if systems := by_system(found):
        console.print(Text(visible(systems)), soft_wrap=True)
    if found.answers:
        console.print()
    for label, text in _lines(found):
        console.print(Text.assemble((f"{label:<14}" * bool(label), "bold"), visible(text)), soft_wrap=True)
    console.print()
    for warning in found.warnings:
        console.print(Text(f"note: {visible(warning)}", "italic"), soft_wrap=True)
    console.print(Text(visible(found.signature), "dim"), soft_wrap=True)


def unsupported_html(found: Grounded) -> str:
    """Return the same as one HTML page that needs nothing else: no script, no outside resource.

    Args:
        found: what was found.
    """
    answers = [
        {
            "heading": heading(answer, len(found.read)),
            "question": answer.item.text,
            "prediction": answer.prediction,
            "sentences": [
                (sentence.verdict, sentence.text, probability(sentence.probability), evidence(sentence))
                for sentence in _shown(found, answer)
            ],
        }
        for answer in found.answers
    ]
    body = render(
        "unsupported.html",
        headline=headline(found),
        by_system=by_system(found),
        answers=answers,
        threshold=f"{found.threshold:.2f}",
        warnings=list(found.warnings),
        signature=found.signature,
    )
    return page("Grounding: sentences that no passage supports", body, render("unsupported.css"))
