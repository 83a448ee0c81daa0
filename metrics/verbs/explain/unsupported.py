"""Answers with sentences that no passage supports: the worst ones of files, or one answer."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from ...core.scorer import Scorer
from ...registry import make_scorer
from ...rows.errors import Advice, FileError
from ...rows.items import Item
from ...rows.reading import Message, Progress, Reading, Skips, check_columns, ignore
from ...rows.sources import Source
from ...rows.writing import Writer
from ...scale.options import checked_columns, needed_columns
from ...scale.pipeline import WINDOW_CHARACTERS, counted, map_in_order, window_predictions, worker_count

COLUMNS = {  # of the file with one line for every sentence that no passage supports
    "file": "text",
    "line": "integer",
    "id": "text",
    "system": "text",
    "question": "text",
    "prediction": "text",
    "grounding": "number",
    "sentence": "text",
    "verdict": "text",
    "probability": "number",
    "passage": "integer",
    "nearest": "text",
    "instead": "text",
}


@dataclass(frozen=True)
class Judged:
    """A sentence that states something.

    Attributes:
        text: the sentence.
        verdict: "supported", "unsupported" or "contradicted".
        probability: that a passage supports it.
        passage: number of the closest passage, from 1; None where there is none.
        nearest: the sentence of that passage that shares most words with it; None if none shares one.
        instead: what the passage says in place of a number or name, or the negation that it lacks or has; or None.
    """

    text: str
    verdict: str
    probability: float
    passage: int | None
    nearest: str | None
    instead: str | None


@dataclass(frozen=True)
class GroundedAnswer:
    """An answer that was read beside its passages.

    Attributes:
        item: its row.
        prediction: the answer.
        sentences: those that state something, in order.
    """

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
    """What was found in files, or of one answer.

    Attributes:
        answers: those with an unsupported sentence, the worst first; or the one answer.
        read: {system: number of its answers}.
        unsupported: {system: number of its answers with an unsupported sentence}.
        skipped: bad rows that were left out.
        threshold: probability from which a sentence is supported.
        warnings: what a reader must know before the numbers.
        signature: what the numbers depend on.
        single: it is one answer, of no file.
    """

    answers: tuple[GroundedAnswer, ...]
    read: Mapping[str, int]
    unsupported: Mapping[str, int]
    skipped: int
    threshold: float
    warnings: tuple[str, ...]
    signature: str
    single: bool = False


def judged_answers(scorer: Scorer, items: Sequence[Item]) -> tuple[list[GroundedAnswer], Counter]:
    """Return answers with their sentences, and counts of what to warn of.

    Args:
        scorer: that of grounding.
        items: rows with contexts.
    """
    texts = [(item, text) for item in items for text in item.predictions]
    columns = {
        "questions": [item.text or "" for item, _ in texts],
        "predictions": [text for _, text in texts],
        "contexts": [item.contexts for item, _ in texts],
    }
    _, counts, details = scorer.statistics_with_details(columns, explain=True)
    found = []
    for (item, prediction), explained in zip(texts, details["explanation"], strict=True):
        stating = [sentence for sentence in explained["sentences"] if sentence["verdict"] != "states nothing"]
        sentences = tuple(_judged(sentence, item.contexts) for sentence in stating)
        found.append(GroundedAnswer(item, prediction, sentences))
    return found, counts


def _judged(sentence: Mapping[str, Any], passages: Sequence[str]) -> Judged:
    place, span = sentence["passage"], sentence["span"] or sentence["nearest"]
    return Judged(
        text=sentence["text"],
        verdict=sentence["verdict"],
        probability=sentence["probability"],
        passage=None if place is None else place + 1,
        nearest=passages[place][slice(*span)] if span else None,
        instead=sentence["instead"],
    )


def one_answer(
    question: str, answer: str, passages: Sequence[str], settings: Mapping[str, Any] | None = None
) -> Grounded:
    """Return what grounding finds in one answer.

    Args:
        question: the question, or "".
        answer: the answer.
        passages: at least one passage.
        settings: settings of grounding, such as `checkpoint` and `threshold`.

    Raises:
        ValueError: if a text or a setting is bad.
    """
    scorer = make_scorer("grounding", settings)
    columns = scorer.checked({"questions": [question], "predictions": [answer], "contexts": [list(passages)]})
    item = Item("", 0, None, "", columns["questions"][0], columns["predictions"], [], (None, None))
    item.contexts = columns["contexts"][0]
    (found,), counts = judged_answers(scorer, [item])
    return Grounded(
        answers=(found,),
        read={"": 1},
        unsupported={"": int(bool(found.unsupported))},
        skipped=0,
        threshold=scorer.threshold,
        warnings=tuple(scorer.warnings({}, counts)),
        signature=scorer.signature,
        single=True,
    )


class UnsupportedRun:
    """Finds the sentences of files that no passage supports, in memory that does not grow with them.

    Args:
        sources: the files, see `inputs.files`.
        columns: names of columns in the files, see `items.RowReader`.
        settings: settings of grounding.
        worst: number of answers to return.
        output: file for all sentences that no passage supports, one a line; its ending says the format.
        skip: leave bad rows out.

    Raises:
        ValueError: if an argument is bad. Nothing has been written yet.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        columns: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        worst: int = 5,
        output: str | None = None,
        skip: bool = False,
    ):
        self.sources, self.columns, self.worst, self.skip = sources, checked_columns(columns), worst, skip
        try:
            check_columns(sources, self.columns)
            self.writer = Writer(output, COLUMNS, {}, [one.path for one in sources]) if output is not None else None
        except FileError as error:
            raise ValueError(Advice(error)) from error
        self.scorer = make_scorer("grounding", settings)

    def found(self, notify: Message = ignore, problem: Message = ignore, progress: Progress = ignore) -> Grounded:
        """Read, judge and write.

        Args:
            notify: called with what a user must know about the input.
            problem: called with each bad row that is left out.
            progress: called with the metric, the answers that are done, and None.

        Raises:
            FileError: if a file cannot be read or written, or a row is bad.
        """
        reading = Reading(self.sources, self.columns, Skips(self.skip, problem), notify, self._needs)
        worst: list[GroundedAnswer] = []
        read, unsupported, counts = Counter(), Counter(), Counter()
        with self.writer or nullcontext() as writer:
            for answers, counts_of_window in self._judged(reading, progress):
                counts.update(counts_of_window)
                read.update(one.item.system for one in answers)
                bad = [one for one in answers if one.unsupported]
                unsupported.update(one.item.system for one in bad)
                worst = sorted(worst + bad, key=_badness)[: self.worst]
                if writer:
                    writer.write(_lines(bad))
        return Grounded(
            answers=tuple(worst),
            read=dict(read),
            unsupported={system: unsupported[system] for system in read},
            skipped=reading.skips.skipped,
            threshold=self.scorer.threshold,
            warnings=tuple(self.scorer.warnings({}, counts)),
            signature=self.scorer.signature,
        )

    def _judged(self, reading: Reading, progress: Progress) -> Iterator[tuple[list[GroundedAnswer], Counter]]:
        limits = window_predictions([self.scorer]), WINDOW_CHARACTERS
        run = counted(
            lambda window: judged_answers(self.scorer, window.items),
            lambda done: progress("grounding", done, None),
            self.scorer.passes,
            lambda window: len(window.items),
        )
        windows = reading.windows(lambda row_kind: limits)
        for _, found in map_in_order(run, windows, worker_count([self.scorer])):
            yield found

    def _needs(self, row_kind) -> dict[str, str]:
        return needed_columns({"grounding": self.scorer}, row_kind)


def _badness(answer: GroundedAnswer) -> tuple[float, float]:
    return answer.score, min(sentence.probability for sentence in answer.sentences)


def _lines(answers: Sequence[GroundedAnswer]) -> dict[str, list]:
    """Return the columns of the file."""
    pairs = [(answer, sentence) for answer in answers for sentence in answer.unsupported]
    return {
        **{name: [getattr(one.item, name) for one, _ in pairs] for name in ("file", "line", "id", "system")},
        "question": [one.item.text for one, _ in pairs],
        "prediction": [one.prediction for one, _ in pairs],
        "grounding": [one.score for one, _ in pairs],
        "sentence": [sentence.text for _, sentence in pairs],
        **{
            name: [getattr(sentence, name) for _, sentence in pairs]
            for name in ("verdict", "probability", "passage", "nearest", "instead")
        },
    }
