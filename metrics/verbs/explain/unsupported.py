"""Answers of files with sentences that no passage supports: the worst ones, and all such sentences in a file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.answers import attempts
from ...core.reading import the_first
from ...grounding.judging import evidence
from ...registry import OF_PASSAGES
from ...reports.viewer import ViewedAnswer
from ...rows.errors import bad_usage
from ...rows.reading import Item, Message, Progress, Skips, check_columns, ignore
from ...rows.sources import Source
from ...rows.writing import Writer
from ...scale.options import OnError, checked_columns, needed_columns
from ...scale.run import Reading, counted, map_in_order, window_predictions, worker_count
from .report import Explainer, of_row, viewed

OF_ROW, OF_SENTENCE = ("file", "line", "id", "system"), ("verdict", "probability", "passage", "nearest", "instead")
# The file with one line for every sentence that no passage supports has these columns; most are texts.
COLUMNS = dict.fromkeys((*OF_ROW, "question", "prediction", OF_PASSAGES, "sentence", *OF_SENTENCE), "text")
COLUMNS |= {"line": "integer", OF_PASSAGES: "number", "probability": "number", "passage": "integer"}
SYSTEMS = 10  # systems that are listed


@dataclass
class Counts:
    """Numbers of answers: `stating` and `unsupported` by system, `silent` by the kinds of `_kind`."""

    stating: Counter = field(default_factory=Counter)
    unsupported: Counter = field(default_factory=Counter)  # those with an unsupported sentence
    silent: Counter = field(default_factory=Counter)

    def headline(self, threshold: float, listed: int) -> str:
        """Return in how many answers a sentence is judged unsupported, and how many are listed if not all are."""
        unsupported, answers = self.unsupported.total(), self.stating.total() + self.silent.total()
        text = f"In {unsupported:,} of {answers:,} answers a sentence is judged unsupported (probability below"
        return f"{text} {threshold:.2f})" + f"; the worst {listed:,} below" * (listed < unsupported)

    def lines(self) -> list[str]:
        """Return up to two lines: how many answers state nothing, and of several systems the unsupported answers."""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.silent.items()))
        order = sorted(self.stating, key=lambda name: -self.unsupported[name] / max(self.stating[name], 1))
        counts = [f"{name} {self.unsupported[name]:,} of {self.stating[name]:,}" for name in order]
        which = ", of the answers that state something" * bool(kinds)
        by_system = f"By system{which}: {the_first(counts, SYSTEMS)}" if len(counts) > 1 else ""
        return [*[f"Not judged, as they state nothing: {kinds}"] * bool(kinds), *[by_system] * bool(by_system)]


def unsupported_answers(
    sources: Sequence[Source],
    explainer: Explainer,
    columns: Mapping[str, str] | None = None,
    worst: int = 5,
    output: str | None = None,
    on_error: OnError = "fail",
    notify: Message = ignore,
    problem: Message = ignore,
    progress: Progress = ignore,
) -> tuple[list[ViewedAnswer], Counts, Skips]:
    """Return the `worst` answers with a sentence that no passage supports, the counts of all, and the skipped rows.

    All such sentences are written to `output`, one a line. `progress` gets the number of answers that are done, and
    None. Memory does not grow with the number of answers.
    """
    scorer = explainer.scorer
    with bad_usage():
        columns = checked_columns(columns)
        check_columns(sources, columns)
        writer = None if output is None else Writer(output, COLUMNS, {}, [source.path for source in sources])
    skips, counts = Skips(on_error == "skip", problem), Counts()
    reading = Reading(sources, columns, skips, notify, needed_columns({scorer.name: scorer}))
    judge = counted(
        lambda window: _judged(explainer, window.items),
        lambda done: progress(scorer.name, done, None),
        scorer.passes,
    )
    windows = reading.windows(lambda: window_predictions([scorer]))
    listed: list[tuple[float, float, ViewedAnswer]] = []
    with writer or nullcontext():
        for _, (answers, rows_of_window) in map_in_order(judge, windows, worker_count([scorer])):
            explainer.counts.update(rows_of_window)
            lines: dict[str, list] = {name: [] for name in COLUMNS}
            for item, answer, sentences in answers:
                stating = [each for each in sentences if each["verdict"] != "states nothing"]
                unsupported = [each for each in stating if each["verdict"] != "supported"]
                counts.stating[item.system] += bool(stating)
                counts.unsupported[item.system] += bool(unsupported)
                if not stating:
                    counts.silent[_kind(item.predictions[0])] += 1
                for sentence in unsupported:
                    for name, value in _line(item, answer, sentence).items():
                        lines[name].append(value)
                if unsupported:
                    shown = [line for each in unsupported for line in evidence(each, item.contexts, scorer.threshold)]
                    least = min(each["probability"] for each in stating)
                    listed.append((answer.scores[scorer.main], least, replace(answer, evidence=shown)))
            listed = sorted(listed, key=lambda of: of[:2])[:worst]
            if writer:
                writer.write(lines)
    return [answer for *_, answer in listed], counts, skips


def _judged(explainer: Explainer, items: Sequence[Item]) -> tuple[list[tuple], Counter]:
    """Return (item, its answer as the viewer shows it, its sentences) of items, and counts of what to warn of."""
    scorer, contexts = explainer.scorer, [item.contexts for item in items]
    columns = {"questions": [item.text or "" for item in items], "contexts": contexts}
    columns |= {"predictions": [item.predictions[0] for item in items]}
    rows, result = scorer.explained(columns)
    scores = scorer.row_scores(result.values)
    answers = []
    for i, (item, row) in enumerate(zip(items, rows, strict=True)):
        scores_of_row = {name: float(column[i]) for name, column in scores.items()}
        answer = of_row(viewed(scorer, item.text or "", row, scores_of_row, item.contexts), item)
        answers.append((item, answer, result.details["explanation"][i]["sentences"]))
    return answers, scorer.all_counts(columns, result)


def _kind(answer: str) -> str:
    """Return "empty", "asking or greeting" or "declining" for an answer that states nothing."""
    if not any(map(str.isalnum, answer)):
        return "empty"
    return "asking or greeting" if attempts(answer) else "declining"


def _line(item: Item, answer: ViewedAnswer, sentence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the line of a sentence in the file."""
    passage, span = sentence["passage"], sentence["span"] or sentence["nearest"]
    line = {name: getattr(item, name) for name in OF_ROW} | {name: sentence[name] for name in OF_SENTENCE}
    line |= {"question": item.text, "prediction": item.predictions[0], OF_PASSAGES: answer.scores[OF_PASSAGES]}
    line |= {"sentence": sentence["text"], "passage": None if passage is None else passage + 1}
    return line | {"nearest": item.contexts[passage][slice(*span)] if span else None}
