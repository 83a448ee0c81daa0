"""Rows of several systems that answer the same questions: found, and as reports show them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...core.scorer import Scorer
from ...rows.errors import SKIP_BAD_ROWS, FileError, name_column
from ...rows.reading import Item
from ...rows.sources import Source


@dataclass(slots=True)
class SystemRow:
    """A row of one system, where it stands, and what its file gives beside the texts.

    Attributes:
        item: the row.
        source: its file.
        given: scores in columns.
        slice: what `--by` sorts it by.
        recorded: scores that an earlier run wrote into the file, by name.
    """

    item: Item
    source: Source
    given: tuple[float, ...]
    slice: str = ""
    recorded: Mapping[str, float] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """File and line, for messages."""
        return f"{self.source.name}, {self.source.unit} {self.item.line}"


@dataclass(frozen=True)
class Matched:
    """Rows of several systems, question by question.

    Attributes:
        systems: names of the systems.
        rows: for every question one row per system, in their order.
        matched_by: what showed which rows belong together.
        left_out: number of questions that not all systems have.
    """

    systems: list[str]
    rows: list[list[SystemRow]]
    matched_by: str
    left_out: int

    @property
    def items(self) -> list[Item]:
        """The items question by question, all with the references of the first system."""
        return [
            replace(row.item, text=question[0].item.text, references=question[0].item.references)
            for question in self.rows
            for row in question
        ]

    def reported(self, number: int, scores: np.ndarray) -> dict[str, Any]:
        """Return what is reported of a question; `scores` are (systems,) scores of its row."""
        rows = self.rows[number]
        asked = rows[0].item
        return {
            "row": number + 1,
            "id": asked.id if self.matched_by == "id" else None,
            "text": asked.text,
            "references": asked.references,
            "difference": float(np.ptp(scores)),
            "best": self.systems[int(scores.argmax())],
            "worst": self.systems[int(scores.argmin())],
            "answers": {
                system: {"predictions": row.item.predictions, "score": float(score)}
                for system, row, score in zip(self.systems, rows, scores, strict=True)
            },
        }

    def scored(self, scorers: Mapping[str, Scorer], statistics: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
        """Return every question with the answers of all systems and their scores.

        Args:
            scorers: {metric: what computed it}.
            statistics: {metric: (questions, systems, k + 1) sums}.

        Returns:
            For every question "number" (from 1), "id", "question", "references", and "answers": system ->
            "prediction", "label" (of people; None without one) and "scores" (name of a row's score -> value).
        """
        scores: dict[str, np.ndarray] = {}
        for metric, sums in statistics.items():
            means = sums[..., :-1] / np.maximum(sums[..., -1:], 1)
            flat, scorer = means.reshape(-1, means.shape[-1]), scorers.get(metric)
            by_name = scorer.row_scores(flat) if scorer else {metric: flat[:, 0]}
            scores |= {name: np.asarray(values).reshape(means.shape[:2]) for name, values in by_name.items()}
        return [
            {
                "number": q + 1,
                "id": rows[0].item.id,
                "question": rows[0].item.text,
                "references": rows[0].item.references,
                "answers": {
                    system: {
                        "prediction": " | ".join(row.item.predictions),
                        "label": row.item.human[1],
                        "scores": {name: float(values[q, s]) for name, values in scores.items()},
                    }
                    for s, (system, row) in enumerate(zip(self.systems, rows, strict=True))
                },
            }
            for q, rows in enumerate(self.rows)
        ]


def _normal(text: str) -> str:
    return " ".join(text.split())


def _content(item: Item) -> tuple:
    """What makes two rows the same question; the order of references and blanks do not matter."""
    text = None if item.text is None else _normal(item.text)
    return text, tuple(sorted({_normal(reference) for reference in item.references}))


def _shown(item: Item) -> str:
    known = [f"id {item.id!r}"] * (item.id is not None) + [f"{item.text!r:.60}"] * (item.text is not None)
    return " ".join(known) or f"references {item.references!r:.60}"


def _counted(contents: Sequence[tuple]) -> list[tuple]:
    """Number repetitions, so that the k-th row with some content is matched with the k-th of another system."""
    seen: dict[tuple, int] = {}
    keys = []
    for content in contents:
        seen[content] = seen.get(content, 0) + 1
        keys.append((*content, seen[content]))
    return keys


def _keys(by_system: Mapping[str, list[SystemRow]]) -> tuple[str, dict[str, list]]:
    """Return what shows which rows belong together, and every row's key by it."""
    items = {system: [row.item for row in rows] for system, rows in by_system.items()}
    ids = {system: {item.id for item in rows} for system, rows in items.items()}
    systems = list(items)
    shared = any(ids[system] & set().union(*(ids[other] for other in systems[:i])) for i, system in enumerate(systems))
    if shared and not any(None in value for value in ids.values()):
        for system, rows in by_system.items():
            first: dict[str, SystemRow] = {}
            for row in rows:
                if row.item.id in first:
                    problem = f"{row.where}: id {row.item.id!r} of system {system!r} was there before, in "
                    fix = f"{first[row.item.id].where}; give every row of a system an id of its own, or leave the ids "
                    raise FileError(problem, fix, "unread with ", name_column("id", ""))
                first[row.item.id] = row
        return "id", {system: [item.id for item in rows] for system, rows in items.items()}
    contents = {system: [_content(item) for item in rows] for system, rows in items.items()}
    if not any(text is None for rows in contents.values() for text, _ in rows):
        return "question and references", {system: _counted(rows) for system, rows in contents.items()}
    if not all(references for rows in contents.values() for _, references in rows):
        problem = (
            "rows cannot be matched: they need an 'id' that the systems share, or a question with references; say "
        )
        raise FileError(problem, "which column it is with ", name_column("id"))
    # Without questions equal references ('yes') say little: only the order can show what belongs together.
    return "order of the rows and references", {system: list(range(len(rows))) for system, rows in items.items()}


def match(by_system: Mapping[str, list[SystemRow]], skip: bool, problem: Callable[[str], None]) -> Matched:
    """Find the rows of several systems that answer the same question.

    By id if all rows have one and systems share them; else by question (or context) and references; without
    questions by the order of the rows. However found, questions and references must be the same.

    Args:
        by_system: rows of every system.
        skip: leave out questions that not all systems answer, instead of raising.
        problem: called with each question that is left out.

    Raises:
        FileError: if the systems have different questions, naming file and row.
    """
    matched_by, keys = _keys(by_system)
    systems = list(by_system)
    first = systems[0]
    places = {system: {key: i for i, key in enumerate(keys[system])} for system in systems}
    bad: dict[object, None] = {}

    def report(key: object, message: str) -> None:
        if not skip:
            fix = (
                "; systems are compared on the same questions: add what is missing, or compare on the questions that "
            )
            raise FileError(message, fix, "all of them have with ", SKIP_BAD_ROWS)
        if key not in bad:
            bad[key] = None
            problem(message)

    names = {system: f"system {system!r} ({by_system[system][0].source.name})" for system in systems}
    for system in systems[1:]:
        for key, row in zip(keys[system], by_system[system], strict=True):
            place = places[first].get(key)
            if place is None:
                report(key, f"{row.where}: {_shown(row.item)} is not among the rows of {names[first]}")
                continue
            other = by_system[first][place]
            if matched_by != "question and references":
                text, references = _content(row.item)
                other_text, other_references = _content(other.item)
                both = text is not None and other_text is not None
                if both and text != other_text:
                    report(key, f"{row.where}: is about {text!r:.60}, but {other.where}, about {other_text!r:.60}")
                elif references and other_references and references != other_references:
                    report(
                        key,
                        f"{row.where}: has the references {row.item.references!r:.60}, but {other.where}, the "
                        f"references {other.item.references!r:.60}",
                    )
        for key, row in zip(keys[first], by_system[first], strict=True):
            if key not in places[system]:
                report(key, f"{row.where}: {_shown(row.item)} is not among the rows of {names[system]}")
    kept = [key for key in keys[first] if key not in bad]
    if not kept:
        raise FileError("no question is answered by every system; are these files about the same questions?")
    rows = [[by_system[system][places[system][key]] for system in systems] for key in kept]
    return Matched(systems, rows, matched_by, len(bad))
