"""Answers with sentences that no passage supports: the worst ones of files, or one answer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from ...core.answers import attempts
from ...core.reading import one_line, the_first
from ...core.scorer import Scorer
from ...grounding.judging import WRONG_CITATION
from ...grounding.passages import passage_numbers
from ...registry import make_scorer
from ...reports.report import as_sentence, print_field, say
from ...reports.table import page, probability_and_threshold, render
from ...rows.errors import bad_usage
from ...rows.reading import GOOD, Item, Message, Progress, Skips, check_columns, ignore
from ...rows.sources import Source
from ...rows.writing import Writer
from ...scale.options import OnError, checked_columns, needed_columns
from ...scale.run import (
    Reading,
    counted,
    map_in_order,
    window_predictions,
    worker_count,
)
from ..inputs import name_of_row

OF_ROW, OF_SENTENCE = ("file", "line", "id", "system"), ("verdict", "probability", "passage", "nearest", "instead")
# The file with one line for every sentence that no passage supports has these columns; most are texts.
COLUMNS = dict.fromkeys((*OF_ROW, "question", "prediction", "grounding", "sentence", *OF_SENTENCE), "text")
COLUMNS |= {"line": "integer", "grounding": "number", "probability": "number", "passage": "integer"}


class Judged(NamedTuple):
    """A sentence that states something."""

    text: str
    verdict: str  # "supported", "unsupported", "contradicted" or "wrong citation"
    probability: float  # that a passage supports it
    passage: int | None  # number of the passage of the evidence or the nearest sentence, from 1
    nearest: str | None  # the sentence of the passages that shares most words with it
    instead: str | None  # what the passage says in place of a number, name or word, or the negation that differs
    citations: Sequence[int] = ()  # numbers that it cites
    cited: Sequence[int] = ()  # numbers of the passages that these mean, from 1


@dataclass(frozen=True)
class GroundedAnswer:
    """An answer that was read beside its passages, and those of its sentences that state something."""

    item: Item
    prediction: str
    sentences: tuple[Judged, ...]

    @property
    def unsupported(self) -> tuple[Judged, ...]:
        """The sentences that no passage supports."""
        return tuple(sentence for sentence in self.sentences if sentence.verdict != "supported")

    @property
    def score(self) -> float:
        """The share of supported sentences; 1 for an answer that states nothing."""
        return 1 - len(self.unsupported) / max(len(self.sentences), 1)


@dataclass(frozen=True)
class Grounded:
    """Answers of files with unsupported sentences, or one answer, with counts by system and the judge's facts."""

    answers: tuple[GroundedAnswer, ...]  # those with an unsupported sentence, the worst first; or the one answer
    stating: Mapping[str, int]  # {system: number of its answers that state something}
    unsupported: Mapping[str, int]  # {system: number of its answers with an unsupported sentence}
    skipped: int  # bad rows that were left out
    threshold: float  # probability from which a sentence is supported
    error_rate: str  # how often the judge errs, in words
    warnings: tuple[str, ...]  # what a reader must know before the numbers
    signature: str  # what the numbers depend on
    single: bool = False  # it is one answer, of no file
    rows: int = 0  # good rows of the files, also those whose answers state nothing
    silent: Mapping[str, int] = field(default_factory=dict)  # {kind: answers that state nothing}, see `_kind`


def judged_answers(scorer: Scorer, items: Sequence[Item]) -> tuple[list[GroundedAnswer], Counter]:
    """Return the answers of rows with contexts and their sentences, and counts of what to warn of."""
    texts = [(item, text) for item in items for text in item.predictions]
    columns = {
        "questions": [item.text or "" for item, _ in texts],
        "predictions": [text for _, text in texts],
        "contexts": [item.contexts for item, _ in texts],
    }
    _, counts, details, _ = scorer.statistics(columns, explain=True)
    answers = []
    for (item, prediction), explained in zip(texts, details["explanation"], strict=True):
        sentences, numbers = [], passage_numbers(item.contexts)
        for sentence in explained["sentences"]:
            if sentence["verdict"] == "states nothing":
                continue
            passage, span = sentence["passage"], sentence["span"] or sentence["nearest"]
            columns = {name: sentence[name] for name in ("text", "verdict", "probability", "instead", "citations")}
            columns["passage"] = None if passage is None else passage + 1
            columns["cited"] = [numbers[number] + 1 for number in sentence["citations"] if number in numbers]
            sentences.append(Judged(**columns, nearest=item.contexts[passage][slice(*span)] if span else None))
        answers.append(GroundedAnswer(item, prediction, tuple(sentences)))
    return answers, counts


def _kind(answer: str) -> str:
    """Return "empty", "asking or greeting" or "declining" for an answer that states nothing."""
    if not any(map(str.isalnum, answer)):
        return "empty"
    return "asking or greeting" if attempts(answer) else "declining"


def _of_judge(scorer: Scorer, counts: Counter) -> dict[str, Any]:
    """Return the fields of `Grounded` that describe the judge: threshold, error rate, signature, warnings."""
    facts = {name: getattr(scorer, name) for name in ("threshold", "error_rate", "signature")}
    return facts | {"warnings": tuple(scorer.warnings({}, counts))}


def one_answer(
    question: str, answer: str, passages: Sequence[str], settings: Mapping[str, Any] | None = None
) -> Grounded:
    """Return the `Grounded` of one answer and its passages."""
    scorer = make_scorer("grounding", settings)
    columns = scorer.checked({"questions": [question], "predictions": [answer], "contexts": [list(passages)]})
    item = Item("", 0, None, "", columns["questions"][0], columns["predictions"], [], (None, None))
    item.contexts = columns["contexts"][0]
    (answer,), counts = judged_answers(scorer, [item])
    unsupported = {"": int(bool(answer.unsupported))}
    return Grounded((answer,), {"": 1}, unsupported, 0, **_of_judge(scorer, counts), single=True)


def unsupported_sentences(
    sources: Sequence[Source],
    columns: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    worst: int = 5,
    output: str | None = None,
    on_error: OnError = "fail",
    notify: Message = ignore,
    problem: Message = ignore,
    progress: Progress = ignore,
) -> Grounded:
    """Find the sentences of files that no passage supports, in memory that does not grow with them.

    The `worst` answers are returned; all such sentences are written to `output`, one a line. Progress has the number
    of answers that are done, and None.
    """
    with bad_usage():
        columns = checked_columns(columns)
        check_columns(sources, columns)
        writer = None if output is None else Writer(output, COLUMNS, {}, [source.path for source in sources])
        scorer = make_scorer("grounding", settings)
    needs = partial(needed_columns, {"grounding": scorer})
    reading = Reading(sources, columns, Skips(on_error == "skip", problem), notify, needs)
    judge = counted(
        lambda window: judged_answers(scorer, window.items),
        lambda done: progress("grounding", done, None),
        scorer.passes,
    )
    windows = reading.windows(lambda row_kind: window_predictions([scorer]))
    worst_answers: list[GroundedAnswer] = []
    stating, unsupported, silent, counts = Counter(), Counter(), Counter(), Counter()
    with writer or nullcontext():
        for _, (answers, counts_of_window) in map_in_order(judge, windows, worker_count([scorer])):
            counts.update(counts_of_window)
            stating.update({answer.item.system: 0 for answer in answers})
            stating.update(answer.item.system for answer in answers if answer.sentences)
            silent.update(_kind(answer.prediction) for answer in answers if not answer.sentences)
            bad = [answer for answer in answers if answer.unsupported]
            unsupported.update(answer.item.system for answer in bad)
            worst_answers += bad
            worst_answers.sort(
                key=lambda answer: (answer.score, min(sentence.probability for sentence in answer.sentences))
            )
            del worst_answers[worst:]
            if writer:
                writer.write(_lines(bad))
    of_systems, rows = {system: unsupported[system] for system in stating}, reading.counts[GOOD]
    more = {**_of_judge(scorer, counts), "rows": rows, "silent": silent}
    return Grounded(tuple(worst_answers), dict(stating), of_systems, reading.skips.skipped, **more)


def _lines(answers: Sequence[GroundedAnswer]) -> dict[str, list]:
    """Return the columns of the file."""
    lines = [(answer, sentence) for answer in answers for sentence in answer.unsupported]
    columns = {name: [getattr(answer.item, name) for answer, _ in lines] for name in OF_ROW}
    columns["question"] = [answer.item.text for answer, _ in lines]
    columns["prediction"] = [answer.prediction for answer, _ in lines]
    columns["grounding"] = [answer.score for answer, _ in lines]
    columns["sentence"] = [sentence.text for _, sentence in lines]
    return columns | {name: [getattr(sentence, name) for _, sentence in lines] for name in OF_SENTENCE}


SYSTEMS = 10  # systems that are listed


def headline(grounded: Grounded) -> str:
    """Return one line with the number of unsupported answers of all, or of supported sentences of one answer."""
    if grounded.single:
        (answer,) = grounded.answers
        if not answer.sentences:
            return "The answer states nothing that a passage could support."
        return f"{supported(answer)}, from a probability of {grounded.threshold:.2f}"
    bad, silent = sum(grounded.unsupported.values()), sum(grounded.silent.values())
    answers = f"{bad:,} of {sum(grounded.stating.values()) + silent:,} answers"
    text = f"In {answers} a sentence is judged unsupported (probability below {grounded.threshold:.2f})"
    return f"{text}; the worst {len(grounded.answers):,} below" if len(grounded.answers) < bad else text


def not_judged(grounded: Grounded) -> str:
    """Return how many answers state nothing, by what they are; nothing where there are none."""
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(grounded.silent.items()))
    return f"Not judged, as they state nothing: {kinds}" if kinds else ""


def by_system(grounded: Grounded) -> str:
    """Return a line with each system's share of answers with an unsupported sentence; "" for one system."""
    if len(grounded.stating) < 2:
        return ""
    order = sorted(grounded.stating, key=lambda name: -grounded.unsupported[name] / max(grounded.stating[name], 1))
    counts = [f"{name} {grounded.unsupported[name]:,} of {grounded.stating[name]:,}" for name in order]
    stating = ", of the answers that state something" * bool(grounded.silent)
    return f"By system{stating}: {the_first(counts, SYSTEMS)}"


def supported(answer: GroundedAnswer) -> str:
    """Return how many sentences of an answer are supported."""
    return f"{len(answer.sentences) - len(answer.unsupported)} of {len(answer.sentences)} sentences judged supported"


def evidence(sentence: Judged) -> list[tuple[str, str]]:
    """Return labels of passages to read beside a sentence, each with the part that is evidence or nearest to it."""
    passage, no_word = f"passage {sentence.passage}", "none shares a content word with the sentence"
    if sentence.nearest is None:
        return [("passages", no_word)]
    if sentence.verdict == "unsupported":
        role = "cited" if sentence.passage in sentence.cited else "uncited" if sentence.cited else "nearest"
        return [*[("cited passages", no_word)] * (role == "uncited"), (f"{passage}, {role}", sentence.nearest)]
    if sentence.verdict == WRONG_CITATION:
        numbers = ", ".join(f"[{number}]" for number in sentence.citations)
        return [(passage, f"says it, not {numbers}: {sentence.nearest}")]
    return [(passage, _says(sentence.instead) + sentence.nearest)]


def _says(instead: str | None) -> str:
    """Return a lead-in for a passage, with the words that it has in place of a part of the sentence.

    >>> _says("1889"), _says('"is not"'), _says('without "not"'), _says(None)
    ('says "1889": ', 'says "is not": ', 'says it without "not": ', '')
    """
    if not instead:
        return ""
    return f"says it {instead}: " if instead.startswith("without") else f'says "{instead.strip(chr(34))}": '


def _shown_answers(grounded: Grounded) -> list[dict[str, Any]]:
    """Return what is printed for each answer: all sentences of a single answer, else only unsupported ones."""
    return [
        {
            "heading": f"{name_of_row(answer.item)}: {supported(answer)}" if answer.item.file else "",
            "question": answer.item.text,
            "prediction": answer.prediction,
            "sentences": [
                (s.verdict, s.text, probability_and_threshold(s.probability, grounded.threshold)[0], evidence(s))
                for s in (answer.sentences if grounded.single else answer.unsupported)
            ],
        }
        for answer in grounded.answers
    ]


LABELS = 22  # columns of the labels in the terminal
HOW_TO_READ = "Read each sentence beside the passage under it: does the passage say so?"


def print_unsupported(grounded: Grounded, console) -> None:
    """Print the answers with their sentences that no passage supports; of one answer all its sentences."""
    answers = _shown_answers(grounded)
    say(console, [headline(grounded)], "bold")
    say(console, [as_sentence(grounded.error_rate)], "bold yellow")
    read = HOW_TO_READ * any(answer["sentences"] for answer in answers)
    say(console, filter(None, [not_judged(grounded), by_system(grounded), read]), "")
    for answer in answers:
        console.print()
        say(console, filter(None, [answer["heading"]]), "bold")
        fields = [("Question", answer["question"])]
        for verdict, text, chance, passages in answer["sentences"]:
            fields.append((verdict.capitalize(), f"{one_line(text)} (probability {chance})"))
            fields += [(f"  {label}", text) for label, text in passages]
        for label, text in fields:
            if text:
                print_field(console, label, text, LABELS)
    if grounded.warnings:
        console.print()
    say(console, [f"note: {warning}" for warning in grounded.warnings], "italic")


def unsupported_html(grounded: Grounded, findings: bool = True) -> str:
    """Return answers and unsupported sentences as one HTML page without scripts and outside resources.

    Without `findings` the page has the sentences alone.
    """
    body = render(
        "unsupported.html",
        headline=headline(grounded) if findings else "",
        error_rate=as_sentence(grounded.error_rate),
        of_answers=list(
            filter(None, [not_judged(grounded), by_system(grounded), HOW_TO_READ * (not grounded.single)])
        ),
        answers=_shown_answers(grounded),
        threshold=f"{grounded.threshold:.2f}",
        warnings=list(grounded.warnings),
        signature=grounded.signature,
    )
    return page("Grounding: sentences that no passage supports", body, render("unsupported.css"))
